//! Plays the index against the plain meaning of its patterns, for ever or for so many cases.
//!
//!     index_fuzz [FIRST_SEED [CASES]]
//!
//! Each seed is one case: an index with its readers, and some hundred random changes, documents (whole
//! and damaged), links and trips through bytes. A case that fails prints its seed and ends the run;
//! `index_fuzz SEED 1` repeats it.

#[path = "../tests/support/mod.rs"]
mod support;

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::process::ExitCode;

use support::trial::Trial;

const STEPS: usize = 150;
const CASES_PER_LINE: u64 = 200;

fn main() -> ExitCode {
    let mut arguments = std::env::args().skip(1).map(|it| it.parse::<u64>());
    let (Ok(first), Ok(cases)) = (
        arguments.next().unwrap_or(Ok(0)),
        arguments.next().unwrap_or(Ok(u64::MAX)),
    ) else {
        eprintln!("index_fuzz [FIRST_SEED [CASES]]");
        return ExitCode::from(2);
    };
    let mut pairs = 0;
    for seed in first..first.saturating_add(cases) {
        match catch_unwind(AssertUnwindSafe(|| case(seed))) {
            Ok(compared) => pairs += compared,
            Err(_) => {
                println!("seed {seed} fails");
                return ExitCode::FAILURE;
            }
        }
        if (seed - first + 1).is_multiple_of(CASES_PER_LINE) {
            println!("{} cases, {pairs} documents compared", seed - first + 1);
        }
    }
    println!("{cases} cases, {pairs} documents compared");
    ExitCode::SUCCESS
}

/// Plays one case; how many documents were compared.
fn case(seed: u64) -> u64 {
    let mut trial = Trial::new(seed);
    for _ in 0..STEPS {
        trial.step();
    }
    trial.pairs
}
