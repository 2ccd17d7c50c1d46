//! An index as bytes and back: same answers, also when it changes afterwards, and no damage unseen.

mod support;

use support::chance::Chance;
use support::matching::shifted;
use support::trial::{Ids, Trial};
use twigcast_kernel_core::index::Index;
use twigcast_kernel_core::index::stored::Damaged;

fn small_index() -> Vec<u8> {
    let mut trial = Trial::new(5);
    trial.add_many(5);
    trial.check_document();
    trial.add_many(6);
    trial.remove_many(4);
    trial.index.to_bytes()
}

fn refusal(bytes: &[u8], shift: usize) -> Option<Damaged> {
    Index::from_buffer(&shifted(bytes, shift)).err()
}

#[test]
fn an_index_read_back_answers_as_before_wherever_its_bytes_lie() {
    for (seed, ids) in [
        (1, Ids::Small),
        (2, Ids::Any),
        (3, Ids::Ends),
        (4, Ids::Small),
    ] {
        let mut trial = Trial::new(seed).with_ids(ids);
        trial.add_many(300);
        trial.check_document();
        trial.add_many(100);
        for shift in 0..=8 {
            trial.reload(shift);
            assert_eq!(trial.index.len(), trial.len());
            trial.check_document();
            trial.check_links();
        }
    }
}

#[test]
fn an_index_read_back_takes_changes() {
    for seed in 0..20 {
        let mut trial = Trial::new(seed);
        trial.add_many(150);
        trial.remove_many(50);
        trial.reload(seed as usize % 9);
        for _ in 0..40 {
            trial.step();
        }
        trial.remove_all();
        let nothing = Index::default().node_count();
        assert_eq!(trial.index.node_count(), nothing, "{seed}");
    }
}

#[test]
fn bytes_written_twice_or_after_reading_are_the_same() {
    let mut trial = Trial::new(9);
    trial.add_many(500);
    trial.check_document();
    trial.remove_many(200);
    let first = trial.index.to_bytes();
    assert!(first == trial.index.to_bytes());
    trial.reload(3);
    assert!(first == trial.index.to_bytes());
}

#[test]
fn an_empty_index_can_be_written_and_read() {
    let bytes = Index::default().to_bytes();
    let mut index = Index::from_buffer(&shifted(&bytes, 0)).expect("just written");
    assert!(index.is_empty());
    assert!(bytes == index.to_bytes());
}

#[test]
fn an_index_read_where_it_lies_takes_no_memory_for_its_patterns() {
    let mut trial = Trial::new(6);
    trial.add_many(2_000);
    let held = trial.index.held();
    trial.reload(0);
    assert!(trial.index.held() * 10 < held);
}

#[test]
fn every_cut_is_refused() {
    let bytes = small_index();
    assert_eq!(refusal(&bytes, 0), None);
    for length in 0..bytes.len() {
        let expected = if length < 32 {
            Damaged::Foreign
        } else {
            Damaged::Changed
        };
        assert_eq!(refusal(&bytes[..length], 0), Some(expected), "{length}");
    }
    let longer = [&bytes[..], &[0]].concat();
    assert_eq!(refusal(&longer, 0), Some(Damaged::Changed));
}

#[test]
fn every_changed_byte_is_refused() {
    let bytes = small_index();
    let mut chance = Chance::new(11);
    for place in 0..bytes.len() {
        let mut changed = bytes.clone();
        changed[place] ^= 1 << chance.below(8);
        let found = refusal(&changed, 0).unwrap_or_else(|| panic!("byte {place}"));
        assert!(place >= 16 || found == Damaged::Foreign);
        changed[place] = changed[place].wrapping_add(1 + chance.below(254) as u8);
        let unchanged = changed[place] == bytes[place];
        assert_eq!(refusal(&changed, 1).is_none(), unchanged, "byte {place}");
    }
}

#[test]
fn random_damage_is_refused() {
    let bytes = small_index();
    let mut chance = Chance::new(12);
    for _ in 0..1_000 {
        let mut changed = bytes.clone();
        for _ in 0..=chance.below(20) {
            let (from, to) = (chance.below(bytes.len()), chance.below(bytes.len()));
            match chance.below(3) {
                0 => changed[to] = chance.next() as u8,
                1 => changed.swap(from, to),
                _ => {
                    let length = chance.below(bytes.len() - from.max(to));
                    changed.copy_within(from..from + length, to);
                }
            }
        }
        assert_eq!(refusal(&changed, 0).is_none(), changed == bytes);
    }
}

#[test]
fn a_header_that_promises_more_than_there_is_is_refused() {
    let bytes = small_index();
    for count in [0u64, 1, 1 << 10, (1 << 20) - 1, 1 << 20, u64::MAX] {
        let directory = count.wrapping_mul(8).wrapping_add(40);
        let wrapped = (bytes.len() as u64).wrapping_sub(directory);
        for length in [wrapped, 0, u64::MAX, wrapped.wrapping_add(1)] {
            let mut changed = bytes.clone();
            changed[16..24].copy_from_slice(&count.to_ne_bytes());
            changed[24..32].copy_from_slice(&length.to_ne_bytes());
            assert!(refusal(&changed, 0).is_some(), "{count} {length}");
        }
    }
}

#[test]
fn what_is_no_index_is_foreign() {
    for bytes in [
        &b""[..],
        b"PK",
        b"twigcast-index-",
        b"twigcast-index-2",
        b"twigcast-index-1",
    ] {
        assert_eq!(refusal(bytes, 0), Some(Damaged::Foreign));
    }
}
