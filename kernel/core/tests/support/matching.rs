//! How an index is asked in tests, and where its bytes may lie.

use std::sync::Arc;

use twigcast_kernel_core::document::read::Limits;
use twigcast_kernel_core::evaluator::expressions::COST_MAX;
use twigcast_kernel_core::index::Index;
use twigcast_kernel_core::index::column::Buffer;
use twigcast_kernel_core::matching::workspace::{Bounds, Found, LARGE_FROM, STEPS_MAX, Workspace};

use super::documents::Document;

/// The limits that documents are read with, and this budget for paths. With an odd budget every
/// document counts as large.
pub fn bounds(budget: usize) -> Bounds {
    Bounds {
        limits: Limits::default(),
        budget,
        large_from: if budget % 2 == 1 { 0 } else { LARGE_FROM },
        steps_max: STEPS_MAX,
        cost_max: COST_MAX,
    }
}

/// The same with so many steps for each document.
pub fn bounds_with(budget: usize, steps_max: u64) -> Bounds {
    Bounds {
        steps_max,
        ..bounds(budget)
    }
}

/// Matches, candidates and what is undecided.
pub fn decided(
    workspace: &mut Workspace,
    index: &Index,
    content: &[u8],
    bounds: &Bounds,
    skip: &[i64],
) -> [Vec<i64>; 3] {
    let (mut matches, mut candidates, mut undecided) = (Vec::new(), Vec::new(), Vec::new());
    let found = Found {
        matches: &mut matches,
        candidates: &mut candidates,
        undecided: &mut undecided,
    };
    let read = workspace.matched(index, content, bounds, skip, found);
    let shown = String::from_utf8_lossy(content);
    assert_eq!(read, Ok(()), "{shown}");
    [matches, candidates, undecided]
}

/// The matches and the candidates.
pub fn matched(
    workspace: &mut Workspace,
    index: &Index,
    content: &[u8],
    budget: usize,
    skip: &[i64],
) -> (Vec<i64>, Vec<i64>) {
    let bounds = bounds(budget);
    let [matches, candidates, undecided] = decided(workspace, index, content, &bounds, skip);
    assert!(undecided.is_empty());
    (matches, candidates)
}

/// The same for a document that another parser has read.
pub fn matched_events(
    workspace: &mut Workspace,
    index: &Index,
    document: &Document,
    budget: usize,
    skip: &[i64],
) -> (Vec<i64>, Vec<i64>) {
    let (mut matches, mut candidates, mut undecided) = (Vec::new(), Vec::new(), Vec::new());
    let found = Found {
        matches: &mut matches,
        candidates: &mut candidates,
        undecided: &mut undecided,
    };
    let events = document.events();
    let read = workspace.matched_events(index, &events, &bounds(budget), skip, found);
    assert_eq!(read, Ok(()), "{events:?}");
    assert!(undecided.is_empty());
    (matches, candidates)
}

/// The bytes in a buffer, so many bytes behind where the allocator put it.
pub fn shifted(bytes: &[u8], shift: usize) -> Arc<dyn Buffer> {
    let mut content = vec![0; shift];
    content.extend_from_slice(bytes);
    Arc::new(Shifted { content, shift })
}

struct Shifted {
    content: Vec<u8>,
    shift: usize,
}

impl Buffer for Shifted {
    fn bytes(&self) -> &[u8] {
        &self.content[self.shift..]
    }
}
