//! What the fired bits mean: which twigs match.

use rustc_hash::FxHashMap;

use crate::index::Index;
use crate::index::layer::{JOIN, NEEDS, NONE, Node, Twig, What};
use crate::matching::instances::Walked;
use crate::matching::layer_scan::LayerScan;
use crate::matching::paths::Known;
use crate::matching::postings::{Seen, is_below};
use crate::matching::steps::Answer;
use crate::matching::verify::{At, Verifier};

/// What the fired bits alone say about a twig.
pub enum FromBits {
    /// Whether it matches.
    Known(bool),
    /// That depends on these joins, or on more than joins.
    Doubt(Doubts),
}

/// Joins that met more than one element, each with the clause that must hold at one of these.
#[derive(Clone, Copy, Default)]
pub struct Doubts {
    joins: [(u32, u32); NEEDS / 2],
    count: usize,
}

impl Doubts {
    /// The joins and their clauses.
    pub fn joins(&self) -> &[(u32, u32)] {
        &self.joins[..self.count]
    }
}

/// What looking at a twig asks of a document: twigs that ask the same have the same answer.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Question {
    layer: usize,
    /// The pattern's clause.
    clause: u32,
    /// The joins in doubt with their clauses, unless it is the clause of the pattern that is asked for.
    joins: Vec<(u32, u32)>,
    /// The leaves, where it is their places that are joined.
    leaves: Vec<u32>,
}

/// Decides twigs of a document that has been walked.
pub struct TwigDecider<'a> {
    /// The patterns.
    pub index: &'a Index,
    /// What fired in each layer.
    pub scans: &'a mut [LayerScan; 2],
    /// Looks where the fired bits do not decide.
    pub verifier: Verifier<'a>,
    /// Whether the places of leaves were kept.
    pub is_large: bool,
    /// How many twigs it had to look for.
    pub verified: u64,
    /// What the alternatives of one pattern have asked.
    pub known: FxHashMap<Question, bool>,
}

impl TwigDecider<'_> {
    /// Whether a twig whose access fired, or that has none, matches.
    pub fn holds(&mut self, layer: usize, twig: &Twig) -> Answer {
        match self.from_bits(layer, twig) {
            FromBits::Known(known) => Ok(known),
            FromBits::Doubt(doubts) => self.look(layer, twig, doubts.joins()),
        }
    }

    /// What the fired bits alone say about a twig.
    #[inline]
    pub fn from_bits(&self, layer: usize, twig: &Twig) -> FromBits {
        let fired = &self.scans[layer].fired;
        let mut doubts = Doubts::default();
        let mut place = 0;
        while place < NEEDS && twig.needs[place] != NONE {
            let need = twig.needs[place];
            if need & JOIN == 0 {
                if !fired.has_atom(need) {
                    return FromBits::Known(false);
                }
                place += 1;
            } else {
                if fired.is_ambiguous(need & !JOIN) {
                    doubts.joins[doubts.count] = (need & !JOIN, twig.needs[place + 1]);
                    doubts.count += 1;
                }
                place += 2;
            }
        }
        if twig.verify == 0 && doubts.count == 0 {
            FromBits::Known(true)
        } else {
            FromBits::Doubt(doubts)
        }
    }

    /// Forgets what was worked out about the document by looking.
    pub fn forget(&mut self) {
        self.known.clear();
        self.verifier.remembered.begin();
        for scan in self.scans.iter_mut() {
            scan.instances.begin();
            scan.postings.begin();
        }
    }

    /// The twigs of a layer that no leaf selects.
    pub fn always(&self, layer: usize) -> Vec<u32> {
        let layer = &self.index.layers[layer];
        let mut found = Vec::new();
        let mut entry = layer.always;
        while entry != NONE {
            let record = &layer.entries[entry as usize];
            if let What::Twig(number) = record.what() {
                found.push(number);
            }
            entry = record.next;
        }
        found
    }

    /// Looks at the elements of the joins in doubt; at the whole document if that is not enough.
    ///
    /// The alternatives of a pattern often ask the same, and a long list of values would ask it for each
    /// of them that is in the document. So they are looked at once. (The first alternative that was
    /// registered has no sibling: it is looked at as if it were alone.)
    #[inline]
    pub fn look(&mut self, number: usize, twig: &Twig, doubts: &[(u32, u32)]) -> Answer {
        if twig.sibling == NONE || self.joins_places(number, twig) {
            return self.look_anew(number, twig, doubts);
        }
        self.look_once(number, twig, doubts)
    }

    fn look_once(&mut self, number: usize, twig: &Twig, doubts: &[(u32, u32)]) -> Answer {
        let question = self.question(number, twig, doubts);
        if let Some(&known) = self.known.get(&question) {
            self.verifier.steps.take(1)?;
            return Ok(known);
        }
        let found = self.look_anew(number, twig, doubts)?;
        self.known.insert(question, found);
        Ok(found)
    }

    /// What looking at a twig asks.
    pub fn question(&self, number: usize, twig: &Twig, doubts: &[(u32, u32)]) -> Question {
        let is_whole = self.asks_whole(number, twig);
        Question {
            layer: number,
            clause: self.index.pattern(twig.pattern).clause,
            joins: if is_whole {
                Vec::new()
            } else {
                doubts.to_vec()
            },
            leaves: if self.joins_places(number, twig) {
                self.index.layers[number].leaves(twig)
            } else {
                Vec::new()
            },
        }
    }

    /// Whether the whole pattern is looked for in the whole document.
    fn asks_whole(&self, number: usize, twig: &Twig) -> bool {
        twig.verify != 0 || self.scans[number].fresh_from > 0
    }

    /// Whether the places of a twig's leaves are joined.
    fn joins_places(&self, number: usize, twig: &Twig) -> bool {
        self.is_large && twig.tangled == 0 && !self.asks_whole(number, twig)
    }

    fn look_anew(&mut self, number: usize, twig: &Twig, doubts: &[(u32, u32)]) -> Answer {
        self.verified += 1;
        self.verifier.begin_pattern();
        if self.asks_whole(number, twig) {
            let clause = self.index.pattern(twig.pattern).clause;
            return self.verifier.holds(clause, At::Document);
        }
        let joins_places = self.joins_places(number, twig);
        let LayerScan {
            paths,
            fired,
            element_paths,
            instances,
            hits,
            postings,
            ..
        } = &mut self.scans[number];
        let (tree, layer) = (self.verifier.tree, &self.index.layers[number]);
        if joins_places {
            let known = Known {
                layer,
                clauses: self.verifier.clauses,
                classes: self.verifier.classes,
            };
            let seen = Seen {
                known,
                tree,
                paths,
                element_paths,
                hits,
            };
            let joins = doubts
                .iter()
                .map(|&(join, clause)| (layer.joins[join as usize][1], clause));
            let joins: Vec<(u32, u32)> = joins.collect();
            return postings.agree(seen, &layer.leaves(twig), &joins, &mut self.verifier);
        }
        // The clause of a join asks for all that is below it, further joins included, unless branches
        // that have no part in it run below it too.
        let nodes: &[Node] = &layer.nodes;
        let node = |join: u32| layer.joins[join as usize][1];
        let is_inner = |join: u32| {
            let mut others = doubts.iter().filter(|other| other.0 != join);
            others.any(|other| is_below(nodes, node(join), node(other.0)))
        };
        for &(join, clause) in doubts {
            if doubts.len() > 1 && twig.tangled == 0 && is_inner(join) {
                continue;
            }
            let walked = Walked {
                paths,
                element_paths,
                fired,
            };
            let count = instances.count(join, walked, &mut self.verifier.steps)?;
            let meets = |element: u32| paths.meets(element_paths[element as usize], join);
            let holds = match self.verifier.holds_at_owner(clause, count, meets)? {
                Some(known) => known,
                None => holds_at_one(&mut self.verifier, clause, instances.of(join))?,
            };
            if !holds {
                return Ok(false);
            }
        }
        Ok(true)
    }

    /// Whether a pattern matches, by its clause alone: where bits were not collected.
    pub fn look_everywhere(&mut self, pattern: u32) -> Answer {
        let clause = self.index.pattern(pattern).clause;
        if let Some(constant) = self.verifier.constant(clause)? {
            return Ok(constant);
        }
        self.verified += 1;
        self.verifier.begin_pattern();
        self.verifier.holds(clause, At::Document)
    }
}

fn holds_at_one(
    verifier: &mut Verifier,
    clause: u32,
    elements: impl Iterator<Item = u32>,
) -> Answer {
    for element in elements {
        if verifier.holds(clause, At::Element(element))? {
            return Ok(true);
        }
    }
    Ok(false)
}
