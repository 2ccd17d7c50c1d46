//! Patterns that come and go between documents: both layers, ids of all sorts, several readers at all
//! budgets, links, skips and trips through bytes; and what is left behind when they are gone.

mod support;

use support::chance::Chance;
use support::matching::matched;
use support::shorthand::{always, attribute, below, both, child, element, string};
use support::trial::{Ids, Trial};
use twigcast_kernel_core::index::{FRESH_MAX, Index};
use twigcast_kernel_core::matching::workspace::{BUDGET, Workspace};
use twigcast_kernel_core::pattern::{Condition, Operator};

#[test]
fn answers_stay_right_under_random_changes() {
    let mut pairs = 0;
    for seed in 0..60 {
        let mut trial = Trial::new(seed);
        for _ in 0..100 {
            trial.step();
        }
        pairs += trial.pairs;
    }
    assert!(pairs >= 2_000, "{pairs}");
}

#[test]
fn answers_stay_right_while_the_fresh_layer_fills_and_is_poured_out() {
    for ids in [Ids::Small, Ids::Any, Ids::Ends] {
        let mut trial = Trial::new(7).with_ids(ids);
        trial.add_many(40);
        trial.check_document();
        for _ in 0..25 {
            trial.add_many(FRESH_MAX / 8);
            trial.remove_many(FRESH_MAX / 30);
            trial.check_document();
            trial.check_links();
        }
        assert!(trial.len() > FRESH_MAX);
    }
}

#[test]
fn a_full_fresh_layer_answers_as_the_one_before_and_the_one_after() {
    let (mut index, mut workspace) = (Index::default(), Workspace::default());
    let named = |id: usize| child(element(["a", "b", "b"][id % 3]), always());
    for id in 0..2 * FRESH_MAX + 2 {
        assert_eq!(index.add(id as i64, &named(id), false), Ok(()));
        if id % FRESH_MAX < 2 || id % FRESH_MAX > FRESH_MAX - 3 {
            let expected: Vec<i64> = (0..=id as i64).filter(|id| id % 3 == 0).collect();
            let (matches, _) = matched(&mut workspace, &index, b"<a/>", BUDGET, &[]);
            assert_eq!(matches, expected);
        }
    }
}

#[test]
fn answers_stay_right_while_many_patterns_shrink_to_few() {
    for (seed, ids) in [(1, Ids::Small), (2, Ids::Any), (3, Ids::Ends)] {
        let mut trial = Trial::new(seed).with_ids(ids);
        trial.add_many(6_000);
        trial.check_document();
        trial.add_many(1_000);
        while trial.len() > 0 {
            trial.remove_many(trial.len() / 3 + 1);
            trial.check_document();
            trial.check_links();
            trial.add_many(3 - trial.len().min(3));
            trial.remove_many(3);
        }
    }
}

#[test]
fn an_index_from_which_all_is_removed_is_as_empty_as_a_new_one() {
    let empty = Index::default();
    for seed in 0..24 {
        let mut trial = Trial::new(seed);
        for _ in 0..30 {
            trial.step();
        }
        trial.add_many(if seed % 4 == 0 { 4_000 } else { 100 });
        trial.check_document();
        trial.remove_all();
        assert_eq!(trial.index.node_count(), empty.node_count(), "{seed}");
        assert_eq!((trial.index.len(), trial.index.residual()), (0, 0));
        assert_eq!((trial.index.distinct(), trial.index.unfiltered()), (0, 0));
        assert_eq!(trial.index.all_ids(), [0; 0]);
        trial.check_document();
        let held = trial.index.held();
        assert!(held < 150_000, "seed {seed}: {held}");
        trial.add_many(50);
        trial.check_document();
    }
}

#[test]
fn an_index_has_the_nodes_of_one_built_afresh_from_what_is_left() {
    for seed in 0..30 {
        let mut trial = Trial::new(seed);
        for _ in 0..60 {
            trial.step();
        }
        let mut afresh = trial.afresh();
        trial.index.to_bytes(); // pours the fresh layer out
        assert_eq!(trial.index.node_count(), afresh.node_count(), "{seed}");
        assert_eq!(trial.index.residual(), afresh.residual());
        assert_eq!(trial.index.distinct(), afresh.distinct());
        assert_eq!(trial.index.unfiltered(), afresh.unfiltered());
        let mut ids = [trial.index.all_ids(), afresh.all_ids()];
        ids.iter_mut().for_each(|it| it.sort_unstable());
        assert_eq!(ids[0], ids[1]);
        let written = [trial.index.to_bytes().len(), afresh.to_bytes().len()];
        assert!(written[0] < 4 * written[1] + 500_000, "{seed} {written:?}");
    }
}

/// A pattern that nobody else has: names, values and shape of its own.
fn of_its_own(number: usize) -> Condition {
    let value = string(Operator::Equal, &format!("value {number}"));
    let inner = element(&format!("e{number}"));
    let end = child(attribute(&format!("x{number}")), value);
    match number % 3 {
        0 => child(element("a"), below(inner, end)),
        1 => below(inner, both(end, child(element("b"), always()))),
        _ => below(inner, Condition::Not(Box::new(end))),
    }
}

#[test]
fn memory_is_used_again_by_patterns_that_are_always_new() {
    let (mut index, mut workspace) = (Index::default(), Workspace::default());
    let mut most = [0, 0];
    for number in 0..20_000 {
        assert_eq!(index.add(number as i64, &of_its_own(number), false), Ok(()));
        if number >= 300 {
            assert!(index.remove(number as i64 - 300));
        }
        if number % 100 == 0 {
            let name = format!("<e{number} x{number}='value {number}'><b/></e{number}>");
            let (matches, _) = matched(&mut workspace, &index, name.as_bytes(), BUDGET, &[]);
            let hit = number % 3 == 1;
            assert_eq!(matches, if hit { vec![number as i64] } else { vec![] });
        }
        let half = usize::from(number >= 10_000);
        most[half] = index.held().max(most[half]);
    }
    assert!(most[1] < most[0] * 5 / 4, "{most:?}");
}

#[test]
fn ids_are_used_again_in_any_order() {
    let mut chance = Chance::new(3);
    let (mut index, mut workspace) = (Index::default(), Workspace::default());
    let named = |even: bool| below(element(if even { "a" } else { "b" }), always());
    let mut truth = [None; 16];
    for _ in 0..3_000 {
        let (id, even) = (chance.below(16), chance.one_in(2));
        if truth[id].take().is_some() {
            assert!(index.remove(id as i64));
        } else {
            truth[id] = Some(even);
            assert_eq!(index.add(id as i64, &named(even), false), Ok(()));
        }
        let expected = (0..16).filter(|&id| truth[id as usize] == Some(true));
        let (matches, _) = matched(&mut workspace, &index, b"<r><a/></r>", BUDGET, &[]);
        assert_eq!(matches, expected.collect::<Vec<i64>>());
    }
}
