//! Documents, one after the other, to one reader and to new ones; a byte 1 parts them.

#![no_main]

#[path = "../../core/tests/support/mod.rs"]
mod support;

use libfuzzer_sys::fuzz_target;
use support::reading::Warm;

fuzz_target!(|content: &[u8]| {
    let mut warm = Warm::default();
    for document in content.split(|byte| *byte == 1) {
        let _ = warm.compare(document);
    }
});
