//! What evaluating takes: steps for all that is looked at, and memory within its bound.

use twigcast_kernel_core::document::read::Limits;
use twigcast_kernel_core::evaluator::expressions::{Alone, Costs, Expressions, Verdict};
use twigcast_kernel_core::evaluator::memory::ANSWERS_BYTES_MAX;

const WITHOUT_END: Costs = Costs {
    one: 1 << 40,
    all: 1 << 40,
};

/// What a document says to expressions, and who was asked.
fn asked(texts: &[&str], document: &str, costs: Costs) -> (Vec<Verdict>, Alone) {
    let mut expressions = Expressions::default();
    let numbers: Vec<u32> = texts
        .iter()
        .map(|it| expressions.add(it).expect("it is taken in"))
        .collect();
    let mut alone = Alone::default();
    let limits = Limits::default();
    let read = alone
        .reader
        .read(document.as_bytes(), &limits, &mut alone.tree);
    assert_eq!(read, Ok(()));
    let names = (&alone.tree, alone.reader.names());
    let found = alone.evaluator.decide(&expressions, names, costs, &numbers);
    (found, alone)
}

/// So many siblings, each with a number of its own.
fn siblings(count: usize) -> String {
    let all: String = (0..count).map(|it| format!("<b k='{it}'/>")).collect();
    format!("<a>{all}<c>x</c></a>")
}

#[test]
fn a_set_that_stays_the_same_is_looked_through_once() {
    for (text, expected) in [
        ("//b[sum(../b/@k) = 1]", false),
        ("//b[sum(../b/@k) = 79800]", true),
        ("//b[count(../b[@k * 2 = 7]) = 1]", false),
        ("//b[count(../b[@k * 2 = 8]) = 1]", true),
        ("//b[//@k = ./@m | ../c]", false),
        ("//b[../b/@k = @k]", true),
        ("//b[//b/@k < @k - 400]", false),
        ("//b[//b/@k > @k]", true),
        ("//b[@k > //b/@k][@k > //b[@k > 398]/@k]", false),
        ("//b[../c = ../b/@k]", false),
        ("//b[@k = //b/@k][. = //b/@k]", false),
    ] {
        let (found, few) = asked(&[text], &siblings(400), WITHOUT_END);
        assert_eq!(found, [Verdict::Known(expected)], "{text}");
        if !expected {
            let (_, many) = asked(&[text], &siblings(1_600), WITHOUT_END);
            let (few, many) = (few.evaluator.steps, many.evaluator.steps);
            assert!(many < 6 * few, "{text}: {few} {many}");
        }
    }
}

#[test]
fn what_was_known_of_a_set_is_not_said_of_another() {
    // Two parents with children of their own.
    let family = |start: usize| -> String {
        let all: String = (start..start + 20)
            .map(|it| format!("<b>{it}</b>"))
            .collect();
        format!("<a>{all}</a>")
    };
    let document = format!("<r>{}{}</r>", family(100), family(200));
    for (text, expected) in [
        ("count(//b[sum(../b) = 2190]) = 20", true),
        ("count(//b[sum(../b) = 4190]) = 20", true),
        ("count(//b[../b = 105]) = 20", true),
        ("count(//b[. = ../b]) = 40", true),
        ("count(//b[../b = //a[2]/b]) = 20", true),
        ("count(//b[../b < //a[2]/b]) = 40", true),
        ("count(//b[//a[2]/b < ../b]) = 20", true),
        ("count(//b[. < ../b]) = 38", true),
    ] {
        let (found, _) = asked(&[text], &document, WITHOUT_END);
        assert_eq!(found, [Verdict::Known(expected)], "{text}");
    }
}

#[test]
fn every_part_that_is_looked_at_is_a_step() {
    let sum = ["position()"; 100].join(" + ");
    let any: Vec<String> = (0..100).map(|it| format!("@k = {it}.5")).collect();
    let long = format!("concat({})", ["@k"; 100].join(", "));
    for condition in [
        format!("{sum} = 0.5"),
        any.join(" or "),
        format!("{long} = ''"),
    ] {
        let text = format!("//b[{condition}]");
        let (_, alone) = asked(&[&text], &siblings(100), WITHOUT_END);
        assert!(alone.evaluator.steps > 100 * 95, "{condition}");
    }
}

#[test]
fn who_is_alone_is_evaluated_once() {
    let costs = Costs {
        one: 1_000,
        all: 1_000_000,
    };
    let text = "//b[@k = preceding::b/@k]";
    let (found, alone) = asked(&[text], &siblings(400), costs);
    assert_eq!(found, [Verdict::Costly]);
    assert_eq!(alone.evaluator.in_rounds, 0);
    assert!(alone.evaluator.steps < 2_000, "{}", alone.evaluator.steps);
}

#[test]
fn what_is_remembered_of_a_document_is_bounded_and_given_back() {
    let document = format!("<a>{}<c/></a>", "<b/>".repeat(100_000));
    // Each makes a set of all those nodes.
    let texts: Vec<String> = (0..200)
        .map(|it| format!("count(//b | //c[. = '{it}']) = 100000"))
        .collect();
    let texts: Vec<&str> = texts.iter().map(String::as_str).collect();
    let (found, alone) = asked(&texts, &document, WITHOUT_END);
    assert_eq!(found, vec![Verdict::Known(true); texts.len()]);
    let most = alone.evaluator.answers_most();
    assert!(
        (ANSWERS_BYTES_MAX / 2..=ANSWERS_BYTES_MAX).contains(&most),
        "{most}"
    );
    assert!(
        alone.evaluator.held() < ANSWERS_BYTES_MAX / 4,
        "{}",
        alone.evaluator.held()
    );
}
