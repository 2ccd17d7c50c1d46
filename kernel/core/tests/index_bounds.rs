//! Work is bounded in steps: what is answered is right whatever the bound, and the dearest is left open.

mod support;

use support::chance::Chance;
use support::conditions::random_set;
use support::documents::{Document, Shape};
use support::matching::{bounds_with, decided};
use support::naive::satisfied;
use support::shorthand::{always, attribute, below, both, child, element, string, text};
use twigcast_kernel_core::index::Index;
use twigcast_kernel_core::matching::workspace::{BUDGET, Counters, STEPS_MAX, Workspace};
use twigcast_kernel_core::pattern::{Condition, Constant, Kind, Operator, Step, Test};

fn index_of(patterns: &[Condition]) -> Index {
    let mut index = Index::default();
    for (id, condition) in patterns.iter().enumerate() {
        assert_eq!(index.add(id as i64, condition, false), Ok(()));
    }
    index
}

fn asked(patterns: &[Condition], document: &str, steps_max: u64) -> ([Vec<i64>; 3], Counters) {
    let mut workspace = Workspace::default();
    let (index, bounds) = (index_of(patterns), bounds_with(BUDGET, steps_max));
    let found = decided(&mut workspace, &index, document.as_bytes(), &bounds, &[]);
    (found, workspace.counters())
}

fn nested(depth: usize, inside: &str) -> String {
    format!(
        "<r>{}{inside}{}</r>",
        "<a>".repeat(depth),
        "</a>".repeat(depth)
    )
}

/// `.//a[not(.//a[not(…)])]`, so many times.
fn denials(levels: usize) -> Condition {
    (0..levels).fold(below(element("a"), always()), |inner, _| {
        below(element("a"), Condition::Not(Box::new(inner)))
    })
}

/// `.//a//a//…//b`
fn chain(levels: usize) -> Condition {
    let last = below(element("b"), always());
    (0..levels).fold(last, |inner, _| below(element("a"), inner))
}

/// `.//a[string(.//a[string(…) = 'x']) = 'x']`, so many times.
fn firsts(levels: usize) -> Condition {
    let test = || Test {
        operator: Operator::Unequal,
        constant: Constant::Text("x".into()),
    };
    (0..levels).fold(below(element("b"), always()), |inner, _| {
        let step = Step {
            far: true,
            label: element("a"),
            then: inner,
        };
        below(element("a"), Condition::First(vec![step], test()))
    })
}

#[test]
fn patterns_inside_each_other_take_steps_in_proportion_to_their_parts_and_the_document() {
    for levels in [4, 8, 16, 32] {
        for depth in [40, 60, 250] {
            let inner = [denials(levels), chain(levels), firsts(levels)];
            for (number, inner) in inner.into_iter().enumerate() {
                let whole = below(element("a"), Condition::Not(Box::new(inner)));
                let (found, counters) = asked(&[whole], &nested(depth, ""), STEPS_MAX);
                assert!(found[2].is_empty());
                let per_part = counters.steps / (levels as u64 + 1);
                let most = 40 * (depth as u64 + 200);
                assert!(per_part < most, "{number} {levels} {depth}: {counters:?}");
            }
        }
    }
}

#[test]
fn what_is_answered_within_few_steps_is_right_and_less_is_answered_with_fewer() {
    let (mut open, mut whole, mut abandoned) = (0, 0, 0);
    for seed in 0..150 {
        let mut chance = Chance::new(seed);
        let size = 1 + chance.below(60);
        let set = random_set(&mut chance, size);
        let index = index_of(&set);
        let shape = Shape::any(&mut chance);
        let document = Document::grown(&mut chance, shape);
        let content = document.written(&mut chance);
        let mut workspace = Workspace::default();
        let mut before: Option<Vec<i64>> = None;
        for steps_max in [0, 16, 64, 256, 1024, 4096, 16_384, 1 << 20, STEPS_MAX] {
            let bounds = bounds_with(BUDGET - usize::from(seed % 2 == 0), steps_max);
            let [matches, _, undecided] =
                decided(&mut workspace, &index, content.as_bytes(), &bounds, &[]);
            for (id, condition) in set.iter().enumerate() {
                let id = id as i64;
                if undecided.contains(&id) {
                    assert!(!matches.contains(&id));
                    open += 1;
                    continue;
                }
                let holds = satisfied(&document, condition);
                assert_eq!(
                    matches.contains(&id),
                    holds,
                    "{seed} {steps_max} {condition:?}\n{content}"
                );
                whole += 1;
            }
            if let Some(before) = before {
                let new = undecided.iter().find(|id| !before.contains(id));
                assert_eq!(
                    new, None,
                    "{seed} {steps_max}: open with more steps, not with fewer"
                );
            }
            before = Some(undecided);
        }
        assert_eq!(before, Some(Vec::new()), "{seed}");
        abandoned += workspace.counters().abandoned;
    }
    assert!(
        open > 1_000 && whole > 20_000 && abandoned > 100,
        "{open} {whole} {abandoned}"
    );
}

/// `.//a/b/@x = 'a'` and the like, of the first of these nodes.
fn random_first(chance: &mut Chance) -> Condition {
    let count = 1 + chance.below(3);
    let step = |place: usize, chance: &mut Chance| {
        let name = chance.pick(&["a", "b", "*"]);
        let label = match chance.below(if place + 1 == count { 3 } else { 1 }) {
            0 => element(name),
            1 => attribute("*"),
            _ => text(),
        };
        let then = if label.kind == Kind::Element && chance.one_in(3) {
            below(element("c"), always())
        } else {
            always()
        };
        let far = chance.one_in(2);
        Step { far, label, then }
    };
    let steps = (0..count).map(|place| step(place, chance)).collect();
    let test = Test {
        operator: chance.pick(&[Operator::Equal, Operator::Contains, Operator::StartsWith]),
        constant: Constant::Text(chance.pick(&["1", "2", "a", "ab", "b"]).into()),
    };
    Condition::First(steps, test)
}

#[test]
fn what_is_read_off_tables_is_right() {
    // Not there, and asked for at every element: after that, every clause gets a table.
    let absent =
        (0..100).map(|it| below(element("*"), child(element(&format!("z{it}")), always())));
    let long = Condition::Not(Box::new(Condition::Any(absent.collect())));
    let mut holding = 0;
    for seed in 0..60 {
        let mut chance = Chance::new(seed);
        let mut set = random_set(&mut chance, 30);
        set.extend((0..30).map(|_| below(element("*"), random_first(&mut chance))));
        let set: Vec<Condition> = set
            .into_iter()
            .map(|it| both(long.clone(), Condition::AtDocument(Box::new(it))))
            .collect();
        let index = index_of(&set);
        let (elements, depth, width) = chance.pick(&[(150, 40, 3), (150, 6, 9)]);
        let shape = Shape {
            elements,
            depth,
            width,
        };
        let document = Document::grown(&mut chance, shape);
        let content = document.written(&mut chance);
        let bounds = bounds_with(BUDGET, STEPS_MAX);
        let mut workspace = Workspace::default();
        let [matches, ..] = decided(&mut workspace, &index, content.as_bytes(), &bounds, &[]);
        for (id, condition) in set.iter().enumerate() {
            let is_found = matches.contains(&(id as i64));
            let expected = satisfied(&document, condition);
            assert_eq!(is_found, expected, "{seed} {condition:?}\n{content}");
            holding += usize::from(expected);
        }
    }
    assert!(holding > 500, "{holding}");
}

#[test]
fn first_nodes_below_nested_elements_are_found_in_one_pass() {
    let test = || Test {
        operator: Operator::Contains,
        constant: Constant::Text("x".into()),
    };
    let step = |name: &str, then: Condition| Step {
        far: true,
        label: element(name),
        then,
    };
    let pattern = |it: usize| {
        let last = step("b", string(Operator::Equal, &it.to_string()));
        let steps = vec![step("a", always()), step("a", always()), last];
        below(element("a"), Condition::First(steps, test()))
    };
    let patterns: Vec<Condition> = (0..50).map(pattern).collect();
    let (width, document) = (2_000, nested(250, &"<b>x</b>".repeat(2_000)));
    let (found, counters) = asked(&patterns, &document, STEPS_MAX);
    assert_eq!(found, <[Vec<i64>; 3]>::default());
    assert!(counters.steps < 50 * 40 * width, "{counters:?}");
}

#[test]
fn the_dearest_are_left_open_and_no_other() {
    let cheap = |number: usize| {
        let name = format!("c{number}");
        below(
            element("a"),
            both(
                child(element(&name), always()),
                child(element("d"), always()),
            ),
        )
    };
    let dear = |levels| below(element("a"), Condition::Not(Box::new(chain(levels))));
    let mut patterns: Vec<Condition> = (20..30).map(dear).collect();
    patterns.extend((0..50).map(cheap));
    let children: String = (0..50).map(|it| format!("<c{it}/>")).collect();
    let document = nested(250, &format!("{children}<d/><a><a/></a><b/>"));
    let (_, counters) = asked(&patterns, &document, STEPS_MAX);
    let (found, short) = asked(&patterns, &document, counters.steps / 2);
    assert_eq!((short.in_rounds, counters.in_rounds), (1, 0));
    assert!(
        !found[2].is_empty() && found[2].iter().all(|&id| id < 10),
        "{found:?}"
    );
    assert!((10..60).all(|id| found[0].contains(&id)), "{found:?}");
}

#[test]
fn equal_patterns_are_charged_once_where_steps_are_short() {
    // So few elements that answers about them are not remembered, and so few steps that no table is made.
    let dear = below(
        element("a"),
        Condition::Not(Box::new(below(element("b"), always()))),
    );
    let document = nested(50, "<b/>");
    let (_, alone) = asked(std::slice::from_ref(&dear), &document, STEPS_MAX);
    assert!((1_000..4_000).contains(&alone.steps), "{alone:?}");
    // What is done before the rounds, which are enough for each of them.
    let (count, steps_max) = (1_000, 1_000 * alone.steps);
    let (found, counters) = asked(&vec![dear; count], &document, steps_max);
    assert_eq!((found, counters.in_rounds), (<[Vec<i64>; 3]>::default(), 1));
    let in_rounds = counters.steps - (steps_max / 4 + steps_max / 2);
    assert!(in_rounds < 2 * alone.steps, "{counters:?} {alone:?}");
}

#[test]
fn alternatives_of_one_pattern_are_told_apart_where_steps_are_short() {
    let dear = |levels| below(element("a"), Condition::Not(Box::new(chain(levels))));
    let valued = |value: &str| child(attribute("k"), string(Operator::Equal, value));
    let either = Condition::Any(vec![valued("1"), valued("2")]);
    let cheap = below(element("t"), both(either, child(element("p"), always())));
    let patterns: Vec<Condition> = (20..30).map(dear).chain([cheap]).collect();
    // Both values are there, and one of them together with what else is asked for.
    for inside in [["<p/>", ""], ["", "<p/>"]] {
        let [one, two] = inside;
        let items = format!("<t k='1'>{one}</t><t k='2'>{two}</t><t><p/></t>").repeat(500);
        let document = nested(250, &format!("{items}<a><a/></a><b/>"));
        let (_, whole) = asked(&patterns, &document, STEPS_MAX);
        let (found, counters) = asked(&patterns, &document, whole.steps / 2);
        assert_eq!((counters.in_rounds, counters.abandoned), (1, 0));
        assert!(found[0].contains(&10), "{inside:?}: {found:?}");
    }
}

#[test]
fn all_needles_are_looked_for_in_one_pass() {
    let contains = |it: usize| string(Operator::Contains, &format!("z{it:03}"));
    let starts = |it: usize| string(Operator::StartsWith, &format!("z{it:03}"));
    let mut patterns = Vec::new();
    for it in 0..100 {
        patterns.push(below(element("a"), contains(it)));
        patterns.push(below(element("b"), starts(it)));
        patterns.push(below(element("b"), child(text(), contains(it))));
        patterns.push(below(element("b"), child(attribute("k"), starts(it))));
        patterns.push(below(element("a"), Condition::Not(Box::new(contains(it)))));
    }
    let inside =
        "<b k='z001 z002'>z003<c/>z0</b>04z005<b>z006z0<c>07</c></b><b k=' z008'> z009</b>";
    let document = nested(200, inside);
    let (many, counters) = asked(&patterns, &document, STEPS_MAX);
    assert_eq!(counters.abandoned, 0);
    // Few enough steps to have needles put off, and enough to look for them.
    let (few, counters) = asked(&patterns, &document, 64 * 30_000);
    assert_eq!(
        (few[0].len(), counters.abandoned),
        (many[0].len(), 0),
        "{counters:?}"
    );
    assert_eq!(few, many);
}
