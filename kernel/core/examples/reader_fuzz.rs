//! Plays a reader that is kept against new ones, for ever or for so many cases.
//!
//!     reader_fuzz [FIRST_SEED [CASES]]
//!
//! Each seed is one case: some hundred documents, whole and damaged, to one reader. What it takes,
//! what it is unsure of and what it sees must not depend on what it has read before. A case that
//! fails prints its seed and ends the run; `reader_fuzz SEED 1` repeats it.

#[path = "../tests/support/mod.rs"]
mod support;

use std::process::ExitCode;

use support::reading::play;
use support::seeds::play_seeds;

const DOCUMENTS: usize = 150;

fn main() -> ExitCode {
    play_seeds("reader_fuzz", |seed| play(seed, DOCUMENTS) as u64)
}
