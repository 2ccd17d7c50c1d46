//! An index played against the plain meaning of its patterns: random adds, removes, documents, skips,
//! links, and now and then a trip through bytes.
//!
//! There are many ids and few distinct conditions, so that thousands of patterns cost the plain
//! meaning no more than some dozens do.

use std::collections::BTreeMap;

use twigcast_kernel_core::index::{Index, Refused};
use twigcast_kernel_core::matching::links::Links;
use twigcast_kernel_core::matching::workspace::{BUDGET, Found, Workspace};
use twigcast_kernel_core::pattern::Condition;

use super::chance::Chance;
use super::conditions::{random_condition, random_set};
use super::documents::{Document, Shape, changed};
use super::matching::{bounds, matched, matched_events, shifted};
use super::naive::{asks_document_value, satisfied};

/// Which numbers patterns have.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Ids {
    /// Small ones, many of them used again.
    Small,
    /// Any, negative ones too.
    Any,
    /// Those around the ends of what fits into 32 and 64 bits, and some small ones.
    Ends,
}

/// A pattern that the index holds: which condition, and whether it is for libxml2 to decide.
#[derive(Clone, Copy, Debug)]
struct Held {
    condition: usize,
    residual: bool,
}

/// An index and what it should hold.
pub struct Trial {
    /// Where the next choice comes from.
    pub chance: Chance,
    /// The index.
    pub index: Index,
    /// How many documents were compared with the plain meaning of all patterns.
    pub pairs: u64,
    conditions: Vec<Condition>,
    held: BTreeMap<i64, Held>,
    ids: Ids,
    residuals: bool,
    readers: Vec<(Workspace, usize)>,
    links: Option<(Links, Vec<Vec<i64>>)>,
}

/// What every pattern does with a document, in the order of ids.
type Truth = Vec<(i64, Held, bool)>;

impl Trial {
    /// An empty index; what happens to it depends on the seed alone.
    pub fn new(seed: u64) -> Self {
        let mut chance = Chance::new(seed);
        let size = 2 + chance.below(80);
        let conditions = random_set(&mut chance, size);
        let readers = (0..=chance.below(3))
            .map(|_| new_reader(&mut chance))
            .collect();
        Trial {
            index: Index::default(),
            pairs: 0,
            conditions,
            held: BTreeMap::new(),
            ids: chance.pick(&[Ids::Small, Ids::Small, Ids::Any, Ids::Ends]),
            residuals: chance.one_in(2),
            readers,
            links: None,
            chance,
        }
    }

    /// With these numbers for patterns.
    pub fn with_ids(mut self, ids: Ids) -> Self {
        self.ids = ids;
        self
    }

    /// How many patterns there should be.
    pub fn len(&self) -> usize {
        self.held.len()
    }

    /// Something happens to the index, and it still answers as it should.
    pub fn step(&mut self) {
        match self.chance.below(40) {
            0..=9 => {
                let count = self.amount();
                self.add_many(count);
            }
            10..=19 => {
                let count = self.amount();
                self.remove_many(count);
            }
            20 => self.pass_through_bytes(),
            21 => self.conditions.extend(random_set(&mut self.chance, 1)),
            22 => self.refuse_one(),
            23 => {
                let reader = new_reader(&mut self.chance);
                let place = self.chance.below(self.readers.len());
                self.readers[place] = reader;
            }
            24..=28 => self.check_document(),
            29 => self.check_events_document(),
            30 | 31 => self.check_changed_document(),
            _ => self.check_links(),
        }
        assert_eq!(self.index.len(), self.held.len());
        assert_eq!(self.index.is_empty(), self.held.is_empty());
    }

    /// Adds patterns under ids that are free.
    pub fn add_many(&mut self, count: usize) {
        for _ in 0..count {
            let id = self.id();
            let condition = self.chance.below(self.conditions.len());
            let residual = self.residuals && self.chance.one_in(4);
            let version = self.index.version();
            let added = self.index.add(id, &self.conditions[condition], residual);
            if let Some(known) = self.held.get(&id) {
                assert_eq!(added, Err(Refused::Taken), "{id} {known:?}");
                assert_eq!(self.index.version(), version);
            } else {
                assert_eq!(added, Ok(()));
                assert_ne!(self.index.version(), version);
                self.held.insert(
                    id,
                    Held {
                        condition,
                        residual,
                    },
                );
            }
        }
    }

    /// Removes patterns, and tries some ids that are not there.
    pub fn remove_many(&mut self, count: usize) {
        for _ in 0..count {
            let tried = self.id();
            let near = self
                .held
                .range(tried..)
                .next()
                .or_else(|| self.held.iter().next());
            let id = match near {
                Some((&known, _)) if !self.chance.one_in(10) => known,
                _ => tried,
            };
            assert_eq!(
                self.index.remove(id),
                self.held.remove(&id).is_some(),
                "{id}"
            );
            assert_eq!(self.index.find(id), None);
        }
    }

    /// Removes every pattern.
    pub fn remove_all(&mut self) {
        for id in self.held.keys() {
            assert!(self.index.remove(*id), "{id}");
        }
        self.held.clear();
    }

    /// The same patterns in a new index.
    pub fn afresh(&self) -> Index {
        let mut index = Index::default();
        for (&id, held) in &self.held {
            let added = index.add(id, &self.conditions[held.condition], held.residual);
            assert_eq!(added, Ok(()));
        }
        index
    }

    /// Writes the index; goes on with it, or with what is read back, at any alignment.
    pub fn pass_through_bytes(&mut self) {
        if self.chance.one_in(2) {
            let shift = self.chance.below(9);
            self.reload(shift);
        } else {
            self.index.to_bytes();
        }
    }

    /// Writes the index and goes on with what is read back, so many bytes into a buffer.
    pub fn reload(&mut self, shift: usize) {
        let bytes = self.index.to_bytes();
        self.index = Index::from_buffer(&shifted(&bytes, shift)).expect("just written");
        // Links and what a reader remembers are about one index.
        self.links = None;
        let budgets = self.readers.iter().map(|it| it.1);
        self.readers = budgets.map(|it| (Workspace::default(), it)).collect();
    }

    /// A random document gives the matches and candidates it should.
    pub fn check_document(&mut self) {
        let shape = Shape::any(&mut self.chance);
        let document = Document::grown(&mut self.chance, shape);
        let content = document.written(&mut self.chance);
        self.check(&document, content.as_bytes());
    }

    /// A document with some bytes changed is taken as the reader takes it, or not at all.
    pub fn check_changed_document(&mut self) {
        let shape = Shape::any(&mut self.chance);
        let content = Document::grown(&mut self.chance, shape).written(&mut self.chance);
        let content = changed(&mut self.chance, content.into_bytes());
        if let Ok(document) = Document::read(&content) {
            return self.check(&document, &content);
        }
        let (mut matches, mut candidates) = (vec![7], vec![8]);
        let found = Found {
            matches: &mut matches,
            candidates: &mut candidates,
            undecided: &mut Vec::new(),
        };
        let place = self.chance.below(self.readers.len());
        let (workspace, budget) = &mut self.readers[place];
        let read = workspace.matched(&self.index, &content, &bounds(*budget), &[], found);
        assert!(read.is_err(), "{}", String::from_utf8_lossy(&content));
        assert_eq!((matches, candidates), (vec![7], vec![8]));
    }

    /// So does a document with empty texts, which only another parser reports.
    pub fn check_events_document(&mut self) {
        let shape = Shape::any(&mut self.chance);
        let document = Document::grown(&mut self.chance, shape).emptied(&mut self.chance);
        self.check(&document, b"");
    }

    /// This document gives the matches and candidates it should, whether it is read here or, as now
    /// and then and always without content, read by another parser.
    pub fn check(&mut self, document: &Document, content: &[u8]) {
        let truth = self.truth(document);
        let skip = self.left_out();
        let place = self.chance.below(self.readers.len());
        let (workspace, budget) = &mut self.readers[place];
        let by_another_parser = content.is_empty() || self.chance.one_in(4);
        let given = if by_another_parser {
            matched_events(workspace, &self.index, document, *budget, &skip)
        } else {
            matched(workspace, &self.index, content, *budget, &skip)
        };
        let those = |residual: bool| -> Vec<i64> {
            let found = truth.iter().filter(|(id, held, holds)| {
                *holds && held.residual == residual && skip.binary_search(id).is_err()
            });
            found.map(|it| it.0).collect()
        };
        let expected = (those(false), those(true));
        if given != expected {
            let shown = if content.is_empty() {
                format!("{:?}", document.events())
            } else {
                String::from_utf8_lossy(content).into_owned()
            };
            self.explain(&truth, &given, &expected, &shown);
        }
        self.pairs += 1;
    }

    /// A random document goes to the links it should, for groups that may be older than the index.
    pub fn check_links(&mut self) {
        let shape = Shape::any(&mut self.chance);
        let document = Document::grown(&mut self.chance, shape);
        let content = document.written(&mut self.chance);
        let truth = self.truth(&document);
        let skip = self.left_out();
        let (links, groups) = self.links();
        let place = self.chance.below(self.readers.len());
        let (workspace, budget) = &mut self.readers[place];
        let bounds = bounds(*budget);
        let given = workspace.linked(&self.index, content.as_bytes(), &bounds, &links, &skip);
        let given = given.expect("a plain document");
        assert_eq!(given.len(), groups.len());
        for (group, given) in groups.iter().zip(given) {
            let matching: Vec<_> = group
                .iter()
                .filter(|id| skip.binary_search(id).is_err())
                .filter_map(|id| truth.binary_search_by_key(id, |it| it.0).ok())
                .map(|place| &truth[place])
                .filter(|it| it.2)
                .collect();
            let expected = match &matching[..] {
                [] => Some(false),
                some if some.iter().all(|it| it.1.residual) => None,
                _ => Some(true),
            };
            let those = group.iter().filter_map(|id| self.held.get(id));
            let those: Vec<_> = those
                .map(|it| (it, &self.conditions[it.condition]))
                .collect();
            assert_eq!(
                given, expected,
                "{content}\nskip {skip:?} group {group:?}: {those:?}"
            );
        }
        self.links = Some((links, groups));
        self.pairs += 1;
    }

    fn links(&mut self) -> (Links, Vec<Vec<i64>>) {
        match self.links.take() {
            Some((links, groups)) if !self.chance.one_in(4) => {
                if links.is_current(&self.index) {
                    return (links, groups);
                }
                (links.renewed(&self.index), groups)
            }
            _ => {
                let known: Vec<i64> = self.held.keys().copied().collect();
                let mut groups: Vec<Vec<i64>> = vec![Vec::new(); 1 + self.chance.below(6)];
                for id in known {
                    let group = self.chance.below(groups.len() + 2);
                    groups
                        .iter_mut()
                        .skip(group)
                        .take(1)
                        .for_each(|it| it.push(id));
                }
                let (unknown, group) = (self.id(), self.chance.below(groups.len()));
                groups[group].push(unknown);
                (Links::new(&self.index, groups.clone()), groups)
            }
        }
    }

    fn truth(&self, document: &Document) -> Truth {
        let mut known: Vec<Option<bool>> = vec![None; self.conditions.len()];
        let holds = |(&id, &held): (&i64, &Held)| {
            let known = &mut known[held.condition];
            let ask = || satisfied(document, &self.conditions[held.condition]);
            (id, held, *known.get_or_insert_with(ask))
        };
        self.held.iter().map(holds).collect()
    }

    fn explain(
        &self,
        truth: &Truth,
        given: &(Vec<i64>, Vec<i64>),
        expected: &(Vec<i64>, Vec<i64>),
        content: &str,
    ) -> ! {
        let differs = |id: &i64| {
            given.0.contains(id) != expected.0.contains(id)
                || given.1.contains(id) != expected.1.contains(id)
        };
        let wrong = truth.iter().find(|it| differs(&it.0));
        let Some((id, held, holds)) = wrong else {
            panic!("{given:?} instead of {expected:?}\n{content}");
        };
        let condition = &self.conditions[held.condition];
        panic!("pattern {id} ({held:?}), holds: {holds}\n{condition:?}\n{content}");
    }

    /// Some ids to be left out, known and unknown, ascending; mostly none.
    fn left_out(&mut self) -> Vec<i64> {
        if !self.chance.one_in(3) {
            return Vec::new();
        }
        let mut skip: Vec<i64> = self.held.keys().copied().collect();
        let times = 1 + self.chance.below(5);
        skip.retain(|_| self.chance.one_in(times));
        let unknown = 1 + self.chance.below(4);
        skip.extend((0..unknown).map(|_| self.id()));
        let ends = [i64::MIN, -64, -1, 0, i64::MAX];
        skip.push(self.chance.pick(&ends));
        skip.sort_unstable();
        skip
    }

    fn refuse_one(&mut self) {
        let condition = random_condition(&mut self.chance);
        if asks_document_value(&condition, true) {
            let (nodes, version) = (self.index.node_count(), self.index.version());
            let id = (i64::MIN..)
                .find(|it| !self.held.contains_key(it))
                .unwrap_or(0);
            let refused = self.index.add(id, &condition, false);
            assert_eq!(refused, Err(Refused::DocumentValue), "{condition:?}");
            let now = (self.index.node_count(), self.index.version());
            assert_eq!(now, (nodes, version));
        }
    }

    fn amount(&mut self) -> usize {
        match self.chance.below(50) {
            0 => 300 + self.chance.below(3000),
            1..=5 => 40,
            _ => 1 + self.chance.below(8),
        }
    }

    fn id(&mut self) -> i64 {
        let small = self.chance.below(5000) as i64;
        match self.ids {
            Ids::Small => small,
            Ids::Any => self.chance.next() as i64,
            Ids::Ends => {
                let ends = [
                    0,
                    -2000,
                    i64::from(u32::MAX) - 600,
                    i64::MIN,
                    i64::MAX - 5000,
                ];
                self.chance.pick(&ends) + small
            }
        }
    }
}

fn new_reader(chance: &mut Chance) -> (Workspace, usize) {
    let budgets = [0, 1, 200, 1001, 5000, BUDGET, BUDGET - 1, BUDGET - 1];
    (Workspace::default(), chance.pick(&budgets))
}
