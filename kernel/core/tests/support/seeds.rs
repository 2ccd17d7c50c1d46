//! Cases by seeds, one after the other, for programs that look for faults.

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::process::ExitCode;

const CASES_PER_LINE: u64 = 200;

/// Plays a case for each seed that the command line asks for; `case` returns how many documents it
/// compared. The first that fails ends the run.
pub fn play_seeds(program: &str, case: impl Fn(u64) -> u64) -> ExitCode {
    let mut arguments = std::env::args().skip(1).map(|it| it.parse::<u64>());
    let (Ok(first), Ok(cases)) = (
        arguments.next().unwrap_or(Ok(0)),
        arguments.next().unwrap_or(Ok(u64::MAX)),
    ) else {
        eprintln!("{program} [FIRST_SEED [CASES]]");
        return ExitCode::from(2);
    };
    let mut documents = 0;
    for seed in first..first.saturating_add(cases) {
        match catch_unwind(AssertUnwindSafe(|| case(seed))) {
            Ok(compared) => documents += compared,
            Err(_) => {
                println!("seed {seed} fails");
                return ExitCode::FAILURE;
            }
        }
        if (seed - first + 1).is_multiple_of(CASES_PER_LINE) {
            println!("{} cases, {documents} documents compared", seed - first + 1);
        }
    }
    println!("{cases} cases, {documents} documents compared");
    ExitCode::SUCCESS
}
