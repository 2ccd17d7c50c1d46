//! Random conditions of all forms, many of them alike.

use twigcast_kernel_core::pattern::{Condition, Constant, Kind, Label, Operator, Step, Test};

use super::chance::Chance;
use super::documents::{ATTRIBUTES, ELEMENTS, NAMESPACES, VALUES};
use super::naive::asks_document_value;

/// A set of conditions that an index takes. Every third is an earlier one with a part exchanged, so
/// that they share much.
pub fn random_set(chance: &mut Chance, size: usize) -> Vec<Condition> {
    let mut set: Vec<Condition> = Vec::new();
    while set.len() < size {
        let made = if !set.is_empty() && chance.one_in(3) {
            let mut changed = set[chance.below(set.len())].clone();
            exchange(chance, &mut changed);
            changed
        } else {
            random_condition(chance)
        };
        if !asks_document_value(&made, true) {
            set.push(made);
        }
    }
    set
}

/// A condition on the document node. It may ask for that node's value, which an index refuses.
pub fn random_condition(chance: &mut Chance) -> Condition {
    match chance.below(30) {
        0 => condition(chance, 3, None),
        1 => many_alternatives(chance),
        2 => many_branches(chance),
        3 => overlapping_twigs(chance),
        4..=9 => tangled_twigs(chance),
        10..=15 => path(chance, 4),
        16..=21 => twig(chance, 2),
        _ => Condition::Exists(Box::new(step(chance, 3))),
    }
}

/// Any condition on a node of some kind (`None`: the document node).
fn condition(chance: &mut Chance, depth: usize, kind: Option<Kind>) -> Condition {
    let leaf = matches!(kind, Some(Kind::Attribute | Kind::Text));
    let short = depth == 0 || leaf && !chance.one_in(4);
    match chance.below(if short { 5 } else { 16 }) {
        0 | 1 => always(),
        2 if kind.is_none() => always(),
        2 | 3 if kind.is_some() => Condition::Value(test(chance)),
        2..=4 => match chance.below(12) {
            0 => never(),
            1..=3 => Condition::SelfIs(label(chance)),
            _ => always(),
        },
        5..=8 => Condition::Exists(Box::new(step(chance, depth - 1))),
        9..=11 => Condition::All(parts(chance, depth - 1, kind)),
        12 => Condition::Any(parts(chance, depth - 1, kind)),
        13 => Condition::Not(Box::new(condition(chance, depth - 1, kind))),
        14 => Condition::AtDocument(Box::new(condition(chance, depth - 1, None))),
        _ => first(chance, depth - 1),
    }
}

/// A plain path, perhaps with a test at its end.
fn path(chance: &mut Chance, length: usize) -> Condition {
    let (far, mut label) = (chance.one_in(3), label(chance));
    if length > 1 && !chance.one_in(4) {
        label.kind = Kind::Element;
    }
    let then = if label.kind == Kind::Element && length > 1 && !chance.one_in(3) {
        path(chance, length - 1)
    } else if chance.one_in(2) {
        Condition::Value(test(chance))
    } else {
        always()
    };
    named(far, label, then)
}

/// Elements with branches, and nothing an index would have to look for but their joins.
fn twig(chance: &mut Chance, depth: usize) -> Condition {
    let branches = 1 + chance.below(3);
    let then = Condition::All((0..branches).map(|_| branch(chance, depth)).collect());
    named(chance.one_in(2), element(chance), then)
}

fn branch(chance: &mut Chance, depth: usize) -> Condition {
    match chance.below(4) {
        0 if depth > 0 => twig(chance, depth - 1),
        1 => path(chance, 2),
        _ => named(chance.one_in(4), element(chance), always()),
    }
}

/// Twigs at one element that have a branch in common, so that their joins have one node.
fn overlapping_twigs(chance: &mut Chance) -> Condition {
    let (far, label) = (chance.one_in(2), element(chance));
    let [one, middle, other] = [(); 3].map(|()| branch(chance, 0));
    let twigs = [vec![one, middle.clone()], vec![middle, other]];
    let twigs = twigs.map(|parts| named(far, label.clone(), Condition::All(parts)));
    Condition::All(twigs.into())
}

/// Twigs side by side at the document node that begin alike: `//a[b][c] and //a/d[e][f]`. Their joins
/// lie at and below the same nodes of a trie, whichever twig they belong to, and the elements found
/// for one twig say nothing about the other.
fn tangled_twigs(chance: &mut Chance) -> Condition {
    let length = 1 + chance.below(3);
    let trunk: Vec<(bool, Label)> = (0..length)
        .map(|_| (chance.one_in(2), element(chance)))
        .collect();
    let count = 2 + chance.below(2);
    let twigs = (0..count).map(|_| {
        let twig = twig_along(chance, &trunk);
        match chance.below(8) {
            0 => Condition::Not(Box::new(twig)),
            1 => Condition::Any(vec![twig, twig_along(chance, &trunk)]),
            _ => twig,
        }
    });
    let twigs: Vec<Condition> = twigs.collect();
    if chance.one_in(8) {
        return Condition::Any(twigs);
    }
    Condition::All(twigs)
}

/// A twig along the first steps of a trunk, with branches at some of them and always at the last.
fn twig_along(chance: &mut Chance, trunk: &[(bool, Label)]) -> Condition {
    let length = 1 + chance.below(trunk.len());
    let mut then: Option<Condition> = None;
    for (far, label) in trunk[..length].iter().rev() {
        let count = if then.is_none() {
            1 + chance.below(3)
        } else {
            chance.below(6) / 4
        };
        let mut parts: Vec<Condition> = (0..count).map(|_| branch(chance, 1)).collect();
        parts.extend(then);
        then = Some(named(*far, label.clone(), Condition::All(parts)));
    }
    then.unwrap_or_else(always)
}

/// Several `or`s at once: mostly short ones, now and then one as long as a watch list, or with parts
/// that are no paths.
fn many_alternatives(chance: &mut Chance) -> Condition {
    let count = 1 + chance.below(4);
    let options = |chance: &mut Chance| {
        let most = if chance.one_in(4) { 80 } else { 5 };
        let size = 1 + chance.below(most);
        let plain = !chance.one_in(4);
        let option = |chance: &mut Chance| match plain {
            true => path(chance, 2),
            false => condition(chance, 2, Some(Kind::Element)),
        };
        Condition::Any((0..size).map(|_| option(chance)).collect())
    };
    let all = Condition::All((0..count).map(|_| options(chance)).collect());
    if chance.one_in(2) {
        return all;
    }
    named(true, element(chance), all)
}

fn many_branches(chance: &mut Chance) -> Condition {
    let label = element(chance);
    let count = 4 + chance.below(7);
    let then = Condition::All((0..count).map(|_| path(chance, 1)).collect());
    named(chance.one_in(2), label, then)
}

fn first(chance: &mut Chance, depth: usize) -> Condition {
    let count = 1 + chance.below(3) - usize::from(chance.one_in(12));
    let mut steps: Vec<Step> = (0..count).map(|_| step(chance, depth.min(1))).collect();
    for step in steps.iter_mut().rev().skip(1) {
        if !chance.one_in(12) {
            step.label.kind = Kind::Element;
        }
    }
    Condition::First(steps.into_iter().map(plain_text).collect(), test(chance))
}

fn parts(chance: &mut Chance, depth: usize, kind: Option<Kind>) -> Vec<Condition> {
    (0..chance.below(4))
        .map(|_| condition(chance, depth, kind))
        .collect()
}

fn step(chance: &mut Chance, depth: usize) -> Step {
    let label = label(chance);
    let then = condition(chance, depth, Some(label.kind));
    Step {
        far: chance.one_in(2),
        label,
        then,
    }
}

fn element(chance: &mut Chance) -> Label {
    loop {
        let label = label(chance);
        if label.kind == Kind::Element {
            return label;
        }
    }
}

fn label(chance: &mut Chance) -> Label {
    let kind = chance.pick(&[
        Kind::Element,
        Kind::Element,
        Kind::Element,
        Kind::Element,
        Kind::Attribute,
        Kind::Text,
    ]);
    if kind == Kind::Text {
        return Label {
            kind,
            namespace: None,
            local: None,
        };
    }
    let namespace = match chance.below(8) {
        0 => Some(chance.pick(&NAMESPACES)),
        1 | 2 => None,
        _ => Some(""),
    };
    let names: &[&str] = if kind == Kind::Element {
        &ELEMENTS
    } else {
        &ATTRIBUTES
    };
    let local = match chance.below(20) {
        0..=3 => None,
        4 => Some("z"), // which no document has
        _ => Some(chance.word(names)),
    };
    Label {
        kind,
        namespace: namespace.map(Into::into),
        local: local.map(Into::into),
    }
}

fn test(chance: &mut Chance) -> Test {
    let operator = Operator::from_number(chance.below(8) as u8).unwrap_or(Operator::Equal);
    let textual = matches!(operator, Operator::Contains | Operator::StartsWith);
    let constant = if textual || chance.one_in(2) {
        let value = if chance.one_in(12) {
            ""
        } else {
            chance.word(&VALUES)
        };
        Constant::Text(value.into())
    } else {
        let numbers = [
            1.0,
            2.0,
            3.0,
            10.0,
            -1.0,
            0.0,
            -0.0,
            0.5,
            f64::NAN,
            f64::INFINITY,
            12.0,
        ];
        Constant::Number(chance.pick(&numbers))
    };
    Test { operator, constant }
}

/// Texts have no names.
fn plain_text(mut step: Step) -> Step {
    if step.label.kind == Kind::Text {
        (step.label.namespace, step.label.local) = (None, None);
    }
    step
}

/// Exchanges one part of a condition for another.
fn exchange(chance: &mut Chance, whole: &mut Condition) {
    if chance.one_in(4) {
        *whole = condition(chance, 1, Some(Kind::Element));
        return;
    }
    match whole {
        Condition::Exists(step) if chance.one_in(4) => step.far = !step.far,
        Condition::Exists(step) => exchange(chance, &mut step.then),
        Condition::First(_, known) => *known = test(chance),
        Condition::Value(known) => *known = test(chance),
        Condition::SelfIs(known) => *known = label(chance),
        Condition::All(parts) | Condition::Any(parts) if !parts.is_empty() => {
            let place = chance.below(parts.len());
            exchange(chance, &mut parts[place]);
        }
        Condition::All(_) | Condition::Any(_) => *whole = path(chance, 2),
        Condition::Not(part) | Condition::AtDocument(part) => exchange(chance, part),
    }
}

fn named(far: bool, label: Label, then: Condition) -> Condition {
    Condition::Exists(Box::new(plain_text(Step { far, label, then })))
}

fn always() -> Condition {
    Condition::All(Vec::new())
}

fn never() -> Condition {
    Condition::Any(Vec::new())
}
