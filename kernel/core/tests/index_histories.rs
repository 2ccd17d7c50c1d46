//! The same patterns give the same answer, however they came to be there: also where steps are short.

mod support;

use support::chance::Chance;
use support::conditions::random_set;
use support::documents::{Document, Shape};
use support::matching::{bounds_with, shifted};
use twigcast_kernel_core::document::read::Unsure;
use twigcast_kernel_core::index::Index;
use twigcast_kernel_core::matching::workspace::{BUDGET, Bounds, Found, STEPS_MAX, Workspace};
use twigcast_kernel_core::pattern::Condition;

/// Matches, candidates and what is undecided; the index is settled if need be.
fn decided(index: &mut Index, content: &str, bounds: &Bounds) -> [Vec<i64>; 3] {
    let mut workspace = Workspace::default();
    loop {
        let mut lists = [Vec::new(), Vec::new(), Vec::new()];
        let [matches, candidates, undecided] = &mut lists;
        let found = Found {
            matches,
            candidates,
            undecided,
        };
        match workspace.matched(index, content.as_bytes(), bounds, &[], found) {
            Ok(()) => return lists,
            Err(reason) => assert_eq!(reason, Unsure::Scattered, "{content}"),
        }
        assert!(index.is_scattered());
        index.settle();
    }
}

/// The patterns in random order, with others that come and go, documents in between, and trips through
/// bytes.
fn lived(chance: &mut Chance, set: &[Condition]) -> Index {
    let mut index = Index::default();
    let mut left: Vec<usize> = (0..set.len()).collect();
    let mut guests: Vec<i64> = Vec::new();
    while !left.is_empty() || !guests.is_empty() {
        match chance.below(8) {
            0 if !guests.is_empty() => {
                let guest = guests.swap_remove(chance.below(guests.len()));
                assert!(index.remove(guest));
            }
            1 if !left.is_empty() => {
                let guest = 1_000 + chance.below(1_000) as i64;
                let condition = &set[chance.below(set.len())];
                if index.add(guest, condition, chance.below(2) == 0).is_ok() {
                    guests.push(guest);
                }
            }
            2 => {
                let bounds = bounds_with(BUDGET, STEPS_MAX);
                decided(&mut index, "<a><b k='x'>y</b></a>", &bounds);
            }
            3 if chance.below(8) == 0 => {
                let bytes = index.to_bytes();
                index = Index::from_buffer(&shifted(&bytes, 8)).expect("as written");
            }
            _ if !left.is_empty() => {
                let id = left.swap_remove(chance.below(left.len()));
                assert_eq!(index.add(id as i64, &set[id], id.is_multiple_of(5)), Ok(()));
            }
            _ => {}
        }
    }
    index
}

#[test]
fn the_same_patterns_leave_the_same_open() {
    let (mut open, mut scattered) = (0, 0);
    for seed in 0..300 {
        let mut chance = Chance::new(seed);
        let size = 1 + chance.below(60);
        let set = random_set(&mut chance, size);
        let shape = Shape::any(&mut chance);
        let document = Document::grown(&mut chance, shape);
        let content = document.written(&mut chance);
        for steps_max in [64, 256, 512, 1024, 2048, 4096, 8192, 16_384, 65_536] {
            let bounds = bounds_with(BUDGET - usize::from(seed % 2 == 0), steps_max);
            let mut index = Index::default();
            for (id, condition) in set.iter().enumerate() {
                assert_eq!(index.add(id as i64, condition, id % 5 == 0), Ok(()));
            }
            let expected = decided(&mut index, &content, &bounds);
            let mut other = lived(&mut chance, &set);
            scattered += usize::from(other.is_scattered());
            let found = decided(&mut other, &content, &bounds);
            assert_eq!(found, expected, "{seed} {steps_max}\n{content}");
            open += expected[2].len();
        }
    }
    assert!(open > 1_000 && scattered > 1_000, "{open} {scattered}");
}
