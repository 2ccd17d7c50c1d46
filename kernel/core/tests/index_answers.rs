//! Many patterns against many documents: the index answers as their plain meaning does.

mod support;

use support::chance::Chance;
use support::conditions::random_set;
use support::documents::{Document, Shape};
use support::naive::satisfied;
use support::trial::matched;
use twigcast_kernel_core::index::Index;
use twigcast_kernel_core::matching::{BUDGET, Workspace};

#[test]
fn a_set_of_patterns_matches_what_its_conditions_mean() {
    let mut pairs = 0;
    for seed in 0..300 {
        let mut chance = Chance::new(seed);
        let size = 1 + chance.below(100);
        let set = random_set(&mut chance, size);
        let mut index = Index::default();
        for (id, condition) in set.iter().enumerate() {
            assert_eq!(index.add(id as i64, condition, false), Ok(()));
        }
        let (mut cold, mut warm) = (Workspace::default(), Workspace::default());
        for _ in 0..20 {
            let shape = Shape::any(&mut chance);
            let document = Document::grown(&mut chance, shape);
            let content = document.written(&mut chance);
            let holding = (0..size).filter(|&id| satisfied(&document, &set[id]));
            let expected: Vec<i64> = holding.map(|id| id as i64).collect();
            for (workspace, budget) in [(&mut cold, 0), (&mut warm, BUDGET)] {
                let (matches, candidates) =
                    matched(workspace, &index, content.as_bytes(), budget, &[]);
                let wrong = (0..size as i64)
                    .find(|id| matches.contains(id) != expected.contains(id))
                    .map(|id| &set[id as usize]);
                assert_eq!(matches, expected, "seed {seed} {content}\n{wrong:?}");
                assert!(candidates.is_empty());
                pairs += 1;
            }
        }
    }
    assert!(pairs >= 12_000);
}

#[test]
fn written_documents_are_read_as_they_were_grown() {
    for seed in 0..1_000 {
        let mut chance = Chance::new(seed);
        let shape = Shape::any(&mut chance);
        let document = Document::grown(&mut chance, shape);
        let content = document.written(&mut chance);
        let read = Document::read(content.as_bytes()).expect("plain");
        assert_eq!(format!("{document:?}"), format!("{read:?}"), "{content}");
    }
}

#[test]
fn random_patterns_are_neither_all_true_nor_all_false() {
    let mut chance = Chance::new(1);
    let set = random_set(&mut chance, 2_000);
    let shape = Shape {
        elements: 20,
        depth: 5,
    };
    let documents: Vec<_> = (0..10)
        .map(|_| Document::grown(&mut chance, shape))
        .collect();
    let often = |condition| {
        documents
            .iter()
            .filter(|it| satisfied(it, condition))
            .count()
    };
    let counts: Vec<usize> = set.iter().map(often).collect();
    let share = |range: std::ops::RangeInclusive<usize>| {
        counts.iter().filter(|it| range.contains(it)).count() * 100 / counts.len()
    };
    let (never, sometimes, always) = (share(0..=0), share(1..=9), share(10..=10));
    assert!(
        never < 70 && sometimes > 20 && always < 20,
        "{never} {sometimes} {always}"
    );
}
