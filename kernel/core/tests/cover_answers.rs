//! The cover index against the plain meaning of covering: canonical models built one by one, and the
//! wider twig looked for in each of them, node by node.

mod support;

use std::collections::BTreeMap;

use support::chance::Chance;
use twigcast_kernel_core::cover::CoverIndex;
use twigcast_kernel_core::cover::twig::{Given, Node};
use twigcast_kernel_core::cover::value_tests::Answer;
use twigcast_kernel_core::pattern::Kind;

const BUDGET: usize = 10_000_000;

// The plain meaning.

/// A label; `None` stands for any namespace or any name.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
struct Name {
    kind: Kind,
    namespace: Option<&'static str>,
    local: Option<&'static str>,
}

const STAR: Name = name(Kind::Element, None, None);

const fn name(kind: Kind, namespace: Option<&'static str>, local: Option<&'static str>) -> Name {
    Name {
        kind,
        namespace,
        local,
    }
}

/// A node of a twig; or, where every part of its label is known and it has no reach, of a document.
#[derive(Clone, Debug)]
struct Plain {
    /// `None` for the document node.
    label: Option<Name>,
    parent: usize,
    reach: usize,
    /// Tests as bits; a node has the tests of a narrower twig, and must have those of a wider one.
    tests: u32,
}

type Twig = Vec<Plain>;

/// A pattern: groups of which each needs one twig, and grounds of which one holds.
#[derive(Clone, Debug)]
struct Whole {
    groups: Vec<Vec<Twig>>,
    grounds: Vec<Twig>,
}

/// The bits of tests that leave one value only, of which a node has one at most.
const VALUES: u32 = 0b11;

fn covers(wider: &Whole, narrower: &Whole) -> bool {
    let holds = |model: &Twig| {
        let mut groups = wider.groups.iter();
        groups.all(|group| group.iter().any(|twig| found_in(twig, model)))
    };
    let twigs = wider.groups.iter().flatten();
    let longest = 1 + twigs.map(row_of_stars).max().unwrap_or(0);
    let mut models = narrower.grounds.iter().flat_map(|it| models(it, longest));
    models.all(|model| holds(&model))
}

fn row_of_stars(twig: &Twig) -> usize {
    let mut rows = vec![0; twig.len()];
    for at in 1..twig.len() {
        if twig[at].label == Some(STAR) {
            let joined = twig[at].reach == 0;
            rows[at] = 1 + if joined { rows[twig[at].parent] } else { 0 };
        }
    }
    rows.into_iter().max().unwrap_or(0)
}

/// All canonical models: each `//` is a chain of up to so many unknown elements.
fn models(twig: &Twig, longest: usize) -> Vec<Twig> {
    let far = twig.iter().filter(|node| node.reach > 0).count() as u32;
    let base = longest + 1;
    (0..base.pow(far))
        .map(|mut choice| {
            let mut model: Twig = Vec::new();
            let mut places = Vec::new();
            for node in twig {
                let mut parent = places.get(node.parent).copied().unwrap_or(0);
                if node.reach > 0 {
                    for _ in 0..choice % base {
                        model.push(Plain {
                            label: Some(known(STAR)),
                            parent,
                            reach: 0,
                            tests: 0,
                        });
                        parent = model.len() - 1;
                    }
                    choice /= base;
                }
                places.push(model.len());
                model.push(Plain {
                    label: node.label.map(known),
                    parent,
                    reach: 0,
                    tests: node.tests,
                });
            }
            model
        })
        .collect()
}

/// The label with unknown names where it had none.
fn known(label: Name) -> Name {
    Name {
        namespace: label.namespace.or(Some("?")),
        local: label.local.or(Some("?")),
        ..label
    }
}

fn found_in(twig: &Twig, model: &Twig) -> bool {
    lies_at(twig, 0, model, 0)
}

fn lies_at(twig: &Twig, node: usize, model: &Twig, place: usize) -> bool {
    let (wanted, there) = (&twig[node], &model[place]);
    let fits = match (wanted.label, there.label) {
        (None, _) => true,
        (Some(_), None) => false,
        (Some(one), Some(other)) => {
            one.kind == other.kind
                && (one.namespace.is_none() || one.namespace == other.namespace)
                && (one.local.is_none() || one.local == other.local)
        }
    };
    let mut below = (1..twig.len()).filter(|&it| twig[it].parent == node);
    fits && wanted.tests & !there.tests == 0
        && below.all(|child| {
            (1..model.len()).any(|other| {
                let reach = twig[child].reach;
                let levels = levels_between(model, place, other);
                let is_there = levels.is_some_and(|levels| match reach {
                    0 => levels == 1,
                    _ => levels >= reach,
                });
                is_there && lies_at(twig, child, model, other)
            })
        })
}

/// How many levels one node is below another, if it is.
fn levels_between(model: &Twig, above: usize, mut below: usize) -> Option<usize> {
    let mut levels = 0;
    while below != above {
        if below == 0 {
            return None;
        }
        below = model[below].parent;
        levels += 1;
    }
    (levels > 0).then_some(levels)
}

// Random patterns.

#[derive(Clone, Copy, Debug)]
struct Style {
    nodes: usize,
    tests: bool,
    labels: bool,
    choices: bool,
}

fn random_label(chance: &mut Chance, style: Style) -> Name {
    const NONE: Option<&str> = Some("");
    if style.labels && chance.one_in(3) {
        return chance.pick(&[
            name(Kind::Element, Some("urn:p"), Some("a")),
            name(Kind::Element, Some("urn:p"), None),
            name(Kind::Element, None, Some("a")),
            name(Kind::Element, None, Some("b")),
        ]);
    }
    chance.pick(&[
        name(Kind::Element, NONE, Some("a")),
        name(Kind::Element, NONE, Some("a")),
        name(Kind::Element, NONE, Some("b")),
        STAR,
    ])
}

fn random_twig(chance: &mut Chance, style: Style) -> Twig {
    let mut twig = vec![Plain {
        label: None,
        parent: 0,
        reach: 0,
        tests: 0,
    }];
    let mut far = 0;
    for at in 1..=1 + chance.below(style.nodes) {
        let parent = if at == 1 {
            0
        } else {
            at - 1 - chance.below(at.min(3)).min(at - 2)
        };
        let mut node = Plain {
            label: Some(random_label(chance, style)),
            parent,
            reach: usize::from(chance.one_in(3)),
            tests: 0,
        };
        far += usize::from(node.reach > 0);
        if far > 3 {
            node.reach = 0;
        }
        if style.tests && chance.one_in(3) {
            node.tests = chance.pick(&[0b01, 0b10, 0b100, 0b1000, 0b1100, 0b0101, 0b0110]);
        }
        if style.labels && at > 1 && chance.one_in(6) {
            node.label = Some(chance.pick(&[
                name(Kind::Attribute, Some(""), Some("a")),
                name(Kind::Attribute, None, None),
                name(Kind::Attribute, Some("urn:p"), None),
                name(Kind::Text, None, None),
            ]));
        }
        // Nothing is below attributes and texts.
        while twig[node.parent]
            .label
            .is_some_and(|it| it.kind != Kind::Element)
        {
            node.parent = twig[node.parent].parent;
        }
        twig.push(node);
    }
    twig
}

fn random_whole(chance: &mut Chance, style: Style) -> Whole {
    let counts: &[usize] = if style.choices {
        &[1, 1, 1, 2, 2, 0]
    } else {
        &[1]
    };
    let mut row = || -> Vec<Twig> {
        let count = chance.pick(counts);
        (0..count).map(|_| random_twig(chance, style)).collect()
    };
    let grounds = row();
    let groups = if grounds.len() == 1 && counts.len() == 1 && grounds[0].len() % 2 == 0 {
        // The same twig on both sides, as most patterns are.
        vec![vec![grounds[0].clone()]]
    } else if counts.len() == 1 {
        vec![row()]
    } else {
        (0..1 + grounds.len() % 2).map(|_| row()).collect()
    };
    Whole { groups, grounds }
}

// The index under test.

/// The twig with fewer nodes, as wider sides are handed in: runs of `*` with a `//` among them, or at
/// the end of a path, are distinguished by reaches alone.
fn condensed(twig: &Twig) -> Twig {
    let mut twig = twig.clone();
    loop {
        let children = |node: usize, twig: &Twig| -> Vec<usize> {
            let below = 1..twig.len();
            below.filter(|&it| twig[it].parent == node).collect()
        };
        let is_bare = |node: &Plain| node.label == Some(STAR) && node.tests == 0;
        let run = (1..twig.len()).find_map(|node| match children(node, &twig)[..] {
            [child] if is_bare(&twig[node]) => {
                let is_end = is_bare(&twig[child]) && children(child, &twig).is_empty();
                let is_far = twig[node].reach + twig[child].reach > 0;
                (is_end || is_far).then_some((node, child))
            }
            _ => None,
        });
        let Some((node, child)) = run else {
            for leaf in 1..twig.len() {
                if is_bare(&twig[leaf]) && children(leaf, &twig).is_empty() {
                    twig[leaf].reach = twig[leaf].reach.max(1);
                }
            }
            return twig;
        };
        twig[child].reach = twig[node].reach.max(1) + twig[child].reach.max(1);
        twig[child].parent = twig[node].parent;
        twig.remove(node);
        for other in &mut twig {
            other.parent -= usize::from(other.parent > node);
        }
    }
}

/// An index, and the sets of tests that its numbers stand for.
#[derive(Default)]
struct Asked {
    index: CoverIndex,
    sets: BTreeMap<u32, u32>,
    /// One answer in so many is left unclear; never if 0.
    unclear: u32,
    budget: usize,
}

impl Asked {
    fn given(&mut self, whole: &Whole) -> Given {
        let mut given = Given::default();
        for group in &whole.groups {
            let twigs = group.iter().map(|it| self.nodes(&condensed(it))).collect();
            given.groups.push(twigs);
        }
        given.grounds = whole.grounds.iter().map(|it| self.nodes(it)).collect();
        given
    }

    fn nodes(&mut self, twig: &Twig) -> Vec<Node> {
        twig.iter()
            .map(|node| {
                use twigcast_kernel_core::cover::labels::Label;
                let label = node.label.map_or(Label::CONTEXT, |it| {
                    self.index.labels.take(it.kind, it.namespace, it.local)
                });
                let tests = self.set(node.tests);
                Node {
                    label,
                    parent: node.parent as u16,
                    reach: node.reach as u16,
                    tests,
                    value: self.index.tests.value(tests),
                }
            })
            .collect()
    }

    fn set(&mut self, bits: u32) -> u32 {
        if bits == 0 {
            return 0;
        }
        if let Some((&set, _)) = self.sets.iter().find(|(_, it)| **it == bits) {
            self.index.tests.take(set);
            return set;
        }
        let value = (bits & VALUES != 0).then(|| (bits & VALUES).to_string());
        let set = self.index.tests.insert(value.as_deref());
        self.sets.insert(set, bits);
        set
    }

    fn forget(&mut self, unused: Vec<u32>) {
        for set in unused {
            self.sets.remove(&set);
        }
    }

    fn add(&mut self, number: i64, whole: &Whole) {
        let given = self.given(whole);
        let unused = self.index.add(number, &given);
        self.forget(unused);
    }

    fn remove(&mut self, number: i64) {
        let unused = self.index.remove(number).expect("it is there");
        self.forget(unused);
    }

    /// Sorted: sure and open, of those that cover and of those that are covered.
    fn search(&mut self, whole: &Whole) -> [(Vec<i64>, Vec<i64>); 2] {
        let given = self.given(whole);
        let (sets, unclear) = (self.sets.clone(), self.unclear);
        let mut ask = |stronger: u32, weaker: u32| {
            if unclear > 0 && (stronger + weaker).is_multiple_of(unclear) {
                return Answer::Unclear;
            }
            let bits = |set: u32| sets.get(&set).copied().unwrap_or(0);
            if bits(weaker) & !bits(stronger) == 0 {
                Answer::Yes
            } else {
                Answer::No
            }
        };
        let found = [
            self.index.covering(&given, self.budget, &mut ask),
            self.index.covered(&given, self.budget, &mut ask),
        ];
        let unused = self.index.release(given.nodes());
        self.forget(unused);
        found.map(|mut found| {
            found.sure.sort_unstable();
            found.open.sort_unstable();
            (found.sure, found.open)
        })
    }
}

/// Adds, removes and searches at random; how many coverings were found and how many were open.
fn play(seed: u64, style: Style, unclear: u32, budget: usize) -> (usize, usize) {
    let mut chance = Chance::new(seed);
    let mut asked = Asked {
        unclear,
        budget,
        ..Asked::default()
    };
    let mut held: BTreeMap<i64, Whole> = BTreeMap::new();
    let (mut sure, mut open) = (0, 0);
    for turn in 0..60 {
        let number = chance.below(25) as i64 - 5;
        if held.remove(&number).is_some() {
            asked.remove(number);
        } else {
            let whole = random_whole(&mut chance, style);
            asked.add(number, &whole);
            held.insert(number, whole);
        }
        if turn % 4 > 0 {
            continue;
        }
        let probe = random_whole(&mut chance, style);
        let found = asked.search(&probe);
        for (way, (yes, maybe)) in found.into_iter().enumerate() {
            for (number, whole) in &held {
                let (wider, narrower) = if way == 0 {
                    (whole, &probe)
                } else {
                    (&probe, whole)
                };
                let truth = covers(wider, narrower);
                let seen = yes.binary_search(number).is_ok();
                let left = maybe.binary_search(number).is_ok();
                assert!(!(seen && left));
                assert!(
                    left || seen == truth,
                    "{seed}: {wider:?}\n{narrower:?}\n{truth}"
                );
                sure += usize::from(seen);
                open += usize::from(left);
            }
        }
    }
    for number in held.into_keys() {
        asked.remove(number);
    }
    assert!(asked.sets.is_empty());
    assert_eq!(asked.index.held(), 0);
    assert_eq!((asked.index.len(), asked.index.feature_count()), (0, 0));
    (sure, open)
}

fn play_all(style: Style, unclear: u32) -> (usize, usize) {
    let plays = (0..150).map(|seed| play(seed, style, unclear, BUDGET));
    plays.fold((0, 0), |sum, it| (sum.0 + it.0, sum.1 + it.1))
}

const TREES: Style = Style {
    nodes: 5,
    tests: false,
    labels: false,
    choices: false,
};

#[test]
fn trees_are_all_decided_and_rightly() {
    let (sure, open) = play_all(TREES, 0);
    assert!(sure > 1000, "{sure}");
    assert_eq!(open, 0);
}

#[test]
fn labels_of_all_kinds_are_decided_rightly() {
    let style = Style {
        labels: true,
        ..TREES
    };
    let (sure, open) = play_all(style, 0);
    assert!(sure > 500, "{sure}");
    assert_eq!(open, 0);
}

#[test]
fn tests_of_nodes_are_decided_rightly() {
    let style = Style {
        tests: true,
        nodes: 4,
        ..TREES
    };
    let (sure, open) = play_all(style, 0);
    assert!(sure > 500, "{sure}");
    assert_eq!(open, 0);
}

#[test]
fn choices_are_decided_rightly() {
    let style = Style {
        choices: true,
        nodes: 3,
        ..TREES
    };
    let (sure, open) = play_all(style, 0);
    assert!(sure > 500, "{sure}");
    assert_eq!(open, 0);
}

#[test]
fn what_is_unclear_leaves_the_answer_open_and_never_makes_it_wrong() {
    let style = Style {
        tests: true,
        labels: true,
        choices: true,
        nodes: 3,
    };
    let (sure, open) = play_all(style, 3);
    assert!(sure > 500, "{sure}");
    assert!(open > 10, "{open}");
}

#[test]
fn a_budget_too_small_leaves_answers_open_and_never_makes_them_wrong() {
    let plays = (0..150).map(|seed| play(seed, TREES, 0, 60));
    let open: usize = plays.map(|(_, open)| open).sum();
    assert!(open > 10, "{open}");
}

#[test]
fn a_pattern_too_large_is_left_open() {
    let mut chance = Chance::new(1);
    let mut asked = Asked::default();
    let label = Some(name(Kind::Element, Some(""), Some("a")));
    let twig = |nodes: usize| -> Twig {
        let node = |at: usize| Plain {
            label: if at == 0 { None } else { label },
            parent: at.saturating_sub(1),
            reach: 0,
            tests: 0,
        };
        (0..nodes).map(node).collect()
    };
    let whole = |nodes: usize| Whole {
        groups: vec![vec![twig(nodes)]],
        grounds: vec![twig(nodes)],
    };
    // More nodes than a mask has bits, and more than are looked at in any way.
    for (number, nodes) in [(1, 129), (2, 5000), (3, 128)] {
        asked.add(number, &whole(nodes));
    }
    let [_, covered] = asked.search(&whole(10));
    assert_eq!(covered, (vec![3], vec![1, 2]));
    let [covering, _] = asked.search(&whole(130));
    assert_eq!(covering, (vec![], vec![1, 2, 3]));
    let [covering, covered] = asked.search(&whole(5000));
    assert_eq!(covering, (vec![], vec![1, 2, 3]));
    assert_eq!(covered, (vec![], vec![1, 2, 3]));
    let [covering, covered] = asked.search(&random_whole(&mut chance, TREES));
    assert!(covering.1 == [2] && covered.1.contains(&2));
    (1..=3).for_each(|number| asked.remove(number));
    assert_eq!(asked.index.held(), 0);
}

#[test]
fn memory_is_given_back_while_patterns_leave_and_answers_stay() {
    let style = Style { nodes: 12, ..TREES };
    let mut chance = Chance::new(3);
    let mut asked = Asked {
        budget: BUDGET,
        ..Asked::default()
    };
    let probe = random_whole(&mut chance, TREES);
    let wholes: Vec<Whole> = (0..3000)
        .map(|_| random_whole(&mut chance, style))
        .collect();
    for (number, whole) in wholes.iter().enumerate() {
        asked.add(number as i64, whole);
    }
    let (held, before) = (asked.index.held(), asked.search(&probe));
    for number in (0..3000).filter(|number| number % 10 > 0) {
        asked.remove(number);
    }
    let stay = |numbers: &Vec<i64>| -> Vec<i64> {
        let numbers = numbers.iter().copied();
        numbers.filter(|number| number % 10 == 0).collect()
    };
    let left = before.map(|(sure, open)| (stay(&sure), stay(&open)));
    assert!(left.iter().any(|(sure, _)| sure.len() > 10), "{left:?}");
    assert_eq!(asked.search(&probe), left);
    let nodes: usize = asked.index.node_count();
    assert!(asked.index.held() < held / 2, "{held}, {nodes}");
    for number in (0..3000).filter(|number| number % 10 == 0) {
        asked.remove(number);
    }
    assert_eq!(asked.index.held(), 0);
}
