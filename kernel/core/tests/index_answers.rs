//! Many patterns against many documents: the index answers as their plain meaning does.

mod support;

use support::chance::Chance;
use support::conditions::random_set;
use support::documents::{Document, Shape};
use support::matching::matched;
use support::naive::satisfied;
use support::shorthand::{always, below, element};
use twigcast_kernel_core::index::Index;
use twigcast_kernel_core::matching::workspace::{BUDGET, Workspace};

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
fn a_condition_that_is_read_back_means_the_same() {
    for seed in 0..40 {
        let mut chance = Chance::new(seed);
        let set = random_set(&mut chance, 30);
        let shape = Shape::any(&mut chance);
        let document = Document::grown(&mut chance, shape);
        let mut index = Index::default();
        for (id, condition) in set.iter().enumerate() {
            assert_eq!(index.add(id as i64, condition, false), Ok(()));
        }
        for (id, condition) in set.iter().enumerate() {
            let number = index.find(id as i64).expect("just added");
            let back = index.condition(number);
            let answers = [condition, &back].map(|it| satisfied(&document, it));
            assert_eq!(answers[0], answers[1], "{condition:?}\n{back:?}");
        }
    }
}

#[test]
fn readers_on_several_threads_give_the_same_answers() {
    let mut chance = Chance::new(77);
    let set = random_set(&mut chance, 60);
    let mut index = Index::default();
    for (id, condition) in set.iter().enumerate() {
        assert_eq!(index.add(id as i64, condition, false), Ok(()));
    }
    let documents: Vec<Document> = (0..60)
        .map(|_| {
            let shape = Shape::any(&mut chance);
            Document::grown(&mut chance, shape)
        })
        .collect();
    let (index, set, documents) = (&index, &set, &documents);
    std::thread::scope(|scope| {
        for thread in 0..4 {
            scope.spawn(move || {
                let (mut chance, mut workspace) = (Chance::new(thread), Workspace::default());
                for document in documents {
                    let content = document.written(&mut chance);
                    let holding = (0..set.len()).filter(|&id| satisfied(document, &set[id]));
                    let expected: Vec<i64> = holding.map(|id| id as i64).collect();
                    let budget = 3_000 * thread as usize;
                    let found = matched(&mut workspace, index, content.as_bytes(), budget, &[]);
                    assert_eq!(found.0, expected);
                }
            });
        }
    });
}

#[test]
fn what_a_reader_remembers_stays_near_its_budget() {
    let mut chance = Chance::new(5);
    let set = random_set(&mut chance, 50);
    let mut index = Index::default();
    for (id, condition) in set.iter().enumerate() {
        assert_eq!(index.add(id as i64, condition, false), Ok(()));
    }
    let (mut workspace, budget) = (Workspace::default(), 40_000);
    let shape = Shape {
        elements: 70,
        depth: 12,
        width: 5,
    };
    for _ in 0..100 {
        let document = Document::grown(&mut chance, shape);
        let content = document.written(&mut chance);
        matched(&mut workspace, &index, content.as_bytes(), budget, &[]);
        let counters = workspace.counters();
        assert!(counters.bytes < 2 * budget as u64, "{counters:?}");
    }
    assert!(workspace.counters().forgotten > 0);
}

#[test]
fn names_that_a_reader_forgot_are_told_apart_again() {
    let named = |number: usize| below(element(&format!("n{number}")), always());
    let mut index = Index::default();
    for number in 0..10 {
        assert_eq!(index.add(number as i64, &named(number), false), Ok(()));
    }
    let mut workspace = Workspace::default();
    let many: String = (0..70_000).rev().map(|it| format!("<n{it}/>")).collect();
    let documents = [
        "<n3/>",
        &format!("<r>{many}</r>"),
        "<n7><n4/></n7>",
        "<n3/>",
    ];
    let expected = [vec![3], (0..10).collect(), vec![4, 7], vec![3]];
    for (document, expected) in documents.iter().zip(expected) {
        let found = matched(&mut workspace, &index, document.as_bytes(), BUDGET, &[]);
        assert_eq!(found.0, expected);
    }
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
        width: 5,
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
