//! Documents to an index that has read others before, against the plain meaning of its patterns.

#![no_main]

#[path = "../../core/tests/support/mod.rs"]
mod support;

use std::cell::RefCell;

use libfuzzer_sys::fuzz_target;
use support::documents::Document;
use support::trial::Trial;

const SEED: u64 = 7;
const PATTERNS: usize = 200;

thread_local! {
    static TRIAL: RefCell<Trial> = RefCell::new(prepared());
}

fn prepared() -> Trial {
    let mut trial = Trial::new(SEED);
    trial.add_many(PATTERNS);
    trial
}

fuzz_target!(|content: &[u8]| {
    if let Ok(document) = Document::read(content) {
        TRIAL.with_borrow_mut(|trial| trial.check(&document, content));
    }
});
