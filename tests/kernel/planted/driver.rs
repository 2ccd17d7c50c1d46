//! Asks a kernel with planted faults what is known, for each fault until an answer is wrong.
//!
//! A line `d HEX` of the file is a document; a line `1 HEX` or `0 HEX` after it is the canonical text
//! of an expression that holds of it, or does not. A line of the output is the number of a fault and
//! what showed it, if anything did; 0 is the kernel without a fault.

use std::panic::{AssertUnwindSafe, catch_unwind, set_hook};

use twigcast_kernel_core::document::read::Limits;
use twigcast_kernel_core::evaluator::expressions::{Alone, COST_MAX, Costs, Expressions, Verdict};
use twigcast_kernel_core::index::Index;
use twigcast_kernel_core::matching::workspace::{
    BUDGET, Bounds, Found, LARGE_FROM, STEPS_MAX, Workspace,
};
use twigcast_kernel_core::planted;

struct Case {
    document: Vec<u8>,
    answers: Vec<(bool, String)>,
}

/// Expressions asked together: few enough that a wrong one is found soon.
const TOGETHER: usize = 300;

fn main() {
    let mut arguments = std::env::args().skip(1);
    let file = arguments.next().expect("the file of cases");
    let count: u32 = arguments.next().expect("how many faults").parse().expect("a number");
    let text = std::fs::read_to_string(file).expect("a file that can be read");
    let cases = cases(&text);
    set_hook(Box::new(|_| {}));
    for fault in 0..=count {
        planted::plant(fault);
        let found = catch_unwind(AssertUnwindSafe(|| cases.iter().find_map(difference)));
        let shown = found.unwrap_or_else(|_| Some("a panic".into()));
        println!("{fault}\t{}", shown.unwrap_or_default().replace(['\n', '\t'], " "));
    }
}

fn cases(text: &str) -> Vec<Case> {
    let mut found: Vec<Case> = Vec::new();
    for line in text.lines() {
        let (kind, digits) = line.split_once(' ').expect("a kind and bytes");
        let digit = |place: usize| u8::from_str_radix(&digits[place..place + 2], 16);
        let bytes: Result<Vec<u8>, _> = (0..digits.len()).step_by(2).map(digit).collect();
        let bytes = bytes.expect("hexadecimal digits");
        match kind {
            "d" => found.push(Case { document: bytes, answers: Vec::new() }),
            _ => {
                let text = String::from_utf8(bytes).expect("a text");
                found.last_mut().expect("a document").answers.push((kind == "1", text));
            }
        }
    }
    found
}

/// What is answered wrongly: found one by one, all at once, or by the index.
fn difference(case: &Case) -> Option<String> {
    case.answers.chunks(TOGETHER).find_map(|answers| {
        evaluated(&case.document, answers, None)
            .or_else(|| evaluated(&case.document, answers, Some(0)))
            .or_else(|| indexed(&case.document, answers))
    })
}

fn evaluated(document: &[u8], answers: &[(bool, String)], each: Option<u64>) -> Option<String> {
    let mut expressions = Expressions::default();
    let added: Vec<_> = answers.iter().filter_map(|it| Some((expressions.add(&it.1)?, it))).collect();
    let asked: Vec<u32> = added.iter().map(|it| it.0).collect();
    let mut alone = Alone::default();
    alone.evaluator.visits_each = each;
    let read = alone.reader.read(document, &Limits::default(), &mut alone.tree);
    assert!(read.is_ok(), "a document that the kernel does not read");
    let tree = (&alone.tree, alone.reader.names());
    let verdicts = alone.evaluator.decide(&expressions, tree, Costs::default(), &asked);
    let mut both = verdicts.iter().zip(&added);
    let (verdict, (_, (_, text))) = both.find(|it| *it.0 != Verdict::Known(it.1.1.0))?;
    let way = if each.is_some() { "all at once" } else { "one by one" };
    Some(format!("{text} ({way}: {verdict:?})"))
}

fn indexed(document: &[u8], answers: &[(bool, String)]) -> Option<String> {
    let mut index = Index::default();
    for (id, (_, text)) in answers.iter().enumerate() {
        assert!(index.add_expression(id as i64, text).is_ok(), "an expression that is refused");
    }
    let bounds = Bounds {
        limits: Limits::default(),
        budget: BUDGET,
        large_from: LARGE_FROM,
        steps_max: STEPS_MAX,
        cost_max: COST_MAX,
    };
    let (mut matches, mut candidates, mut undecided) = (Vec::new(), Vec::new(), Vec::new());
    let found = Found {
        matches: &mut matches,
        candidates: &mut candidates,
        undecided: &mut undecided,
    };
    let read = Workspace::default().matched(&index, document, &bounds, &[], found);
    assert!(read.is_ok(), "a document that the kernel does not read");
    let is_wrong = |it: &(usize, &(bool, String))| {
        let id = it.0 as i64;
        index.find(id).is_some() && matches.contains(&id) != it.1.0
    };
    let (_, (_, text)) = answers.iter().enumerate().find(is_wrong)?;
    Some(format!("{text} (by the index)"))
}
