//! Cases that were answered wrongly once, or that chance is unlikely to find, each as small as it can be.

mod support;

use std::collections::HashMap;

use support::matching::{bounds, matched};
use support::shorthand::{always, attribute, below, both, child, element, number, string, text};
use twigcast_kernel_core::index::Index;
use twigcast_kernel_core::index::table::hash_of;
use twigcast_kernel_core::matching::links::Links;
use twigcast_kernel_core::matching::workspace::{BUDGET, Workspace};
use twigcast_kernel_core::pattern::{Condition, Constant, Operator, Test};

fn index_of(patterns: &[Condition]) -> Index {
    let mut index = Index::default();
    for (id, condition) in patterns.iter().enumerate() {
        assert_eq!(index.add(id as i64, condition, false), Ok(()));
    }
    index
}

fn matches(patterns: &[Condition], document: &str) -> Vec<i64> {
    let index = index_of(patterns);
    matched(
        &mut Workspace::default(),
        &index,
        document.as_bytes(),
        BUDGET,
        &[],
    )
    .0
}

#[test]
fn no_value_is_equal_to_what_is_not_a_number() {
    let nan = below(element("a"), number(Operator::Equal, f64::NAN));
    assert_eq!(matches(&[nan], "<a>x</a>"), []);
}

#[test]
fn a_join_below_another_ones_elements_is_looked_at_too() {
    // //a[b][c] and //a/d[e][f]: the second join lies below the first, which says nothing of it.
    let leaf = |name| child(element(name), always());
    let first = below(element("a"), both(leaf("b"), leaf("c")));
    let second = below(
        element("a"),
        child(element("d"), both(leaf("e"), leaf("f"))),
    );
    let patterns = [both(first, second)];
    let apart = "<r><a><b/><c/><d><e/></d></a><a><d><f/></d></a></r>";
    let together = "<r><a><b/><c/></a><a><d><e/><f/></d><d/></a></r>";
    assert_eq!(matches(&patterns, apart), []);
    assert_eq!(matches(&patterns, together), [0]);
}

#[test]
fn where_a_value_may_have_passed_a_test_for_order_is_looked_at_in_large_documents_too() {
    // //b[. < 2][.//text() >= 3] has worked out the elements above `. < 2`, which need not pass it.
    let small = || number(Operator::Less, 2.0);
    let first = both(small(), below(text(), number(Operator::AtLeast, 3.0)));
    let second = both(small(), below(element("b"), below(text(), always())));
    let patterns = [below(element("b"), first), below(element("b"), second)];
    let filling = "<z/>".repeat(2_000);
    let document = format!("<a><b><b><c>1</c></b><a>10</a><a/>10</b>{filling}</a>");
    assert_eq!(matches(&patterns, &document), []);
}

#[test]
fn both_zeros_are_equal_to_zero_and_to_nothing_else() {
    let equals = |constant| below(element("a"), number(Operator::Equal, constant));
    let patterns = [equals(0.0), equals(-0.0), equals(1.0), equals(2.0)];
    assert_eq!(matches(&patterns, "<a>0</a>"), [0, 1]);
    assert_eq!(matches(&patterns, "<a>-0</a>"), [0, 1]);
    assert_eq!(matches(&patterns, "<a>1</a>"), [2]);
    assert_eq!(matches(&patterns, "<a>2</a>"), [3]);
}

#[test]
fn an_id_below_zero_skips_no_other() {
    let index = index_of(&[child(element("a"), Condition::All(Vec::new()))]);
    for skip in [-64, -5, -1, i64::MIN] {
        let found = matched(&mut Workspace::default(), &index, b"<a/>", BUDGET, &[skip]);
        assert_eq!(found.0, [0], "{skip}");
    }
}

#[test]
fn links_made_before_an_index_is_written_are_made_ready_again() {
    let named = |name| child(element(name), Condition::All(Vec::new()));
    let mut index = index_of(&[named("a")]);
    let mut workspace = Workspace::default();
    matched(&mut workspace, &index, b"<a/>", BUDGET, &[]);
    assert_eq!(index.add(1, &named("b"), false), Ok(())); // to the fresh layer
    let mut links = Links::new(&index, vec![vec![0], vec![1]]);
    index.to_bytes(); // which pours it out
    if !links.is_current(&index) {
        links = links.renewed(&index);
    }
    let decided = workspace.linked(&index, b"<b/>", &bounds(BUDGET), &links, &[]);
    assert_eq!(decided, Ok(vec![Some(false), Some(true)]));
}

#[test]
fn strings_with_one_hash_are_told_apart() {
    let mut seen = HashMap::new();
    let found = (0..2_000_000).find_map(|number: u32| {
        let text = number.to_string();
        let before = seen.insert(hash_of(text.as_bytes()), text.clone())?;
        Some([before, text])
    });
    let [one, other] = found.expect("two of so many strings have one hash");
    let equals = |text: &str| below(element("a"), string(Operator::Equal, text));
    let patterns = [equals(&one), equals(&other)];
    let documents = [&one, &other].map(|text| format!("<a>{text}</a>"));
    assert_eq!(matches(&patterns, &documents[0]), [0]);
    assert_eq!(matches(&patterns, &documents[1]), [1]);
    assert_eq!(matches(&patterns[..1], &documents[1]), []);
}

#[test]
fn the_first_node_of_no_steps_is_the_node_itself() {
    let test = Test {
        operator: Operator::Equal,
        constant: Constant::Text("1".into()),
    };
    let itself = || Condition::First(Vec::new(), test.clone());
    let patterns = [element("a"), attribute("x"), text()].map(|label| below(label, itself()));
    assert_eq!(matches(&patterns, "<a x='1'>1</a>"), [0, 1, 2]);
    assert_eq!(matches(&patterns, "<a x='2'>2</a>"), []);
}
