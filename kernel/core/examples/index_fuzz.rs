//! Plays the index against the plain meaning of its patterns, for ever or for so many cases.
//!
//!     index_fuzz [FIRST_SEED [CASES]]
//!
//! Each seed is one case: an index with its readers, and some hundred random changes, documents (whole
//! and damaged), links and trips through bytes. A case that fails prints its seed and ends the run;
//! `index_fuzz SEED 1` repeats it.

#[path = "../tests/support/mod.rs"]
mod support;

use std::process::ExitCode;

use support::seeds::play_seeds;
use support::trial::Trial;

const STEPS: usize = 150;

fn main() -> ExitCode {
    play_seeds("index_fuzz", case)
}

/// Plays one case; how many documents were compared.
fn case(seed: u64) -> u64 {
    let mut trial = Trial::new(seed);
    for _ in 0..STEPS {
        trial.step();
    }
    trial.pairs
}
