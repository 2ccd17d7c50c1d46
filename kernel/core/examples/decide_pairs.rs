//! Compares the answers of the evaluator with those of a file.
//!
//!     decide_pairs FILE
//!
//! A line `d HEX` is a document; a line `1 HEX` or `0 HEX` after it is the canonical text of an
//! expression that holds of it, or does not. All bytes stand as hexadecimal digits. What differs is
//! printed, and ends the program with 1. Each document is asked twice: with answers found one by one
//! where that is cheap, and with all answers of a condition found at once.

use std::process::ExitCode;

use twigcast_kernel_core::document::read::Limits;
use twigcast_kernel_core::evaluator::expressions::{Alone, Costs, Expressions, Verdict};

/// A document, and what is known of expressions on it.
struct Case {
    document: Vec<u8>,
    answers: Vec<(bool, String)>,
}

fn main() -> ExitCode {
    let Some(path) = std::env::args().nth(1) else {
        eprintln!("usage: decide_pairs FILE");
        return ExitCode::from(2);
    };
    let text = match std::fs::read_to_string(&path) {
        Ok(text) => text,
        Err(error) => {
            eprintln!("{path}: {error}");
            return ExitCode::from(2);
        }
    };
    let Some(cases) = cases(&text) else {
        eprintln!("{path}: not a file of pairs");
        return ExitCode::from(2);
    };
    let different: usize = cases.iter().map(differences).sum();
    let pairs: usize = cases.iter().map(|case| case.answers.len()).sum();
    println!("{different} of {pairs} pairs differ");
    ExitCode::from(u8::from(different > 0))
}

fn cases(text: &str) -> Option<Vec<Case>> {
    let mut found: Vec<Case> = Vec::new();
    for line in text.lines() {
        let (kind, digits) = line.split_once(' ')?;
        let bytes = bytes(digits)?;
        match kind {
            "d" => found.push(Case {
                document: bytes,
                answers: Vec::new(),
            }),
            _ => {
                let answer = (kind == "1", String::from_utf8(bytes).ok()?);
                found.last_mut()?.answers.push(answer);
            }
        }
    }
    Some(found)
}

fn bytes(digits: &str) -> Option<Vec<u8>> {
    let pairs = digits.as_bytes().chunks(2);
    let pairs = pairs.map(|pair| u8::from_str_radix(std::str::from_utf8(pair).ok()?, 16).ok());
    pairs.collect()
}

fn differences(case: &Case) -> usize {
    let mut expressions = Expressions::default();
    let numbers: Vec<Option<u32>> = case
        .answers
        .iter()
        .map(|(_, text)| expressions.add(text))
        .collect();
    let asked: Vec<u32> = numbers.iter().flatten().copied().collect();
    let mut alone = Alone::default();
    let read = alone
        .reader
        .read(&case.document, &Limits::default(), &mut alone.tree);
    if read.is_err() {
        println!("not read: {}", String::from_utf8_lossy(&case.document));
        return case.answers.len();
    }
    let document = (&alone.tree, alone.reader.names());
    let mut different = 0;
    for visits_each in [None, Some(0)] {
        alone.evaluator.visits_each = visits_each;
        let verdicts = alone
            .evaluator
            .decide(&expressions, document, Costs::default(), &asked);
        let taken = numbers
            .iter()
            .zip(&case.answers)
            .filter(|(number, _)| number.is_some());
        for (verdict, (_, (holds, text))) in verdicts.iter().zip(taken) {
            if *verdict != Verdict::Known(*holds) {
                different += 1;
                println!(
                    "{text}\n  on {}\n  is {holds}, not {verdict:?}",
                    String::from_utf8_lossy(&case.document)
                );
            }
        }
    }
    different
}
