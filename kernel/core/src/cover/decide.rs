//! Whether one pattern covers another: yes, no, or for somebody else to decide.
//!
//! The steps are those of `twigcast.covering.containment.covers`, which is the oracle, so that the
//! answers agree:
//!
//! 1. a homomorphism: yes;
//! 2. no `//` in the narrower twig, or two single paths, or nothing in the wider one that could lie
//!    on unknown elements: no;
//! 3. the canonical models (Miklau and Suciu, *Containment and equivalence for a fragment of XPath*,
//!    2004), in classes that are cut in two where neither a homomorphism nor a model settles them,
//!    within a budget of steps.
//!
//! What is left open: patterns that are too large, questions that exceed the budget, and tests that
//! depend on what is around their node, wherever the answer hangs on them.

use super::labels::Label;
use super::target::{Ground, Knowledge, Mask, Masks};
use super::twig::{Node, Pattern, asks_for_levels, has_far_edges, is_path, longest_row_of_stars};

/// Whether a pattern covers another.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Verdict {
    /// It does not.
    No,
    /// It does.
    Yes,
    /// Somebody else has to decide.
    Open,
}

/// What stands in the place of a `//`: so many elements, then one level, or any number of levels.
#[derive(Clone, Copy, PartialEq, Eq)]
struct Chain {
    elements: usize,
    is_open: bool,
}

/// How many nodes a model can have.
const MODEL_MAX: usize = u128::NODES_MAX;

/// Decides pairs of patterns; keeps its memory for the next.
#[derive(Default)]
pub struct CoverDecider {
    model: Masks<u128>,
    nodes: Vec<Node>,
    steps: usize,
}

impl CoverDecider {
    /// Whether the wider pattern covers the one whose grounds these are, within so many steps.
    pub fn decide<M: Mask>(
        &mut self,
        wider: Pattern,
        grounds: &[Ground<M>],
        budget: usize,
        knowledge: &mut Knowledge,
    ) -> Verdict {
        if wider.shape.unclear {
            return Verdict::Open;
        }
        if wider.shape.never {
            let nowhere = grounds.is_empty();
            return if nowhere { Verdict::Yes } else { Verdict::No };
        }
        knowledge.hopeful = false;
        knowledge.met_unclear = false;
        self.steps = budget;
        let found = self.all_covered(wider, grounds, knowledge);
        if !knowledge.met_unclear {
            return found;
        }
        if found == Verdict::Yes && self.steps == budget {
            return found;
        }
        // What was unclear counted as no. If the answer is no even where it counts as yes, it is no.
        knowledge.hopeful = true;
        self.steps = budget;
        match self.all_covered(wider, grounds, knowledge) {
            Verdict::No => Verdict::No,
            _ => Verdict::Open,
        }
    }

    fn all_covered<M: Mask>(
        &mut self,
        wider: Pattern,
        grounds: &[Ground<M>],
        knowledge: &mut Knowledge,
    ) -> Verdict {
        let mut verdict = Verdict::Yes;
        for ground in grounds {
            for group in wider.groups() {
                match self.covered(group, ground, knowledge) {
                    Verdict::No => return Verdict::No,
                    Verdict::Open => verdict = Verdict::Open,
                    Verdict::Yes => {}
                }
            }
        }
        verdict
    }

    /// Whether the twigs of a group together cover a ground.
    fn covered<'w, M: Mask>(
        &mut self,
        mut group: impl Iterator<Item = &'w [Node]> + Clone,
        ground: &Ground<M>,
        knowledge: &mut Knowledge,
    ) -> Verdict {
        let mut twigs = group.clone();
        if twigs.any(|twig| knowledge.lies_on(twig, ground)) {
            return Verdict::Yes;
        }
        if !has_far_edges(ground.nodes) {
            return Verdict::No;
        }
        if is_path(ground.nodes) {
            let mut twigs = group.clone();
            if twigs.next().is_some_and(is_path) && twigs.next().is_none() {
                return Verdict::No;
            }
        }
        if !group.clone().any(asks_for_levels) {
            return Verdict::No;
        }
        let widers: Vec<&[Node]> = group
            .by_ref()
            .filter(|twig| knowledge.has_place_for_all(twig, ground))
            .collect();
        if !widers.iter().any(|twig| asks_for_levels(twig)) {
            return Verdict::No;
        }
        self.matches_every_model(&widers, ground.nodes, knowledge)
            .unwrap_or(Verdict::Open)
    }

    /// Whether each model of the ground matches one of the twigs; `None` where it is too much.
    fn matches_every_model(
        &mut self,
        widers: &[&[Node]],
        ground: &[Node],
        knowledge: &mut Knowledge,
    ) -> Option<Verdict> {
        let below = ground[1..].iter();
        let far = below.filter(|node| node.reach > 0).count();
        let rows = widers.iter().map(|twig| longest_row_of_stars(twig));
        let longest = 1 + rows.max().unwrap_or(0);
        let mut models = Models {
            decider: self,
            widers,
            ground,
            knowledge,
            longest,
        };
        let open = Chain {
            elements: 0,
            is_open: true,
        };
        let whole = vec![open; far];
        if !models.match_shortest(&whole)? || !models.match_longest(&whole)? {
            return Some(Verdict::No);
        }
        let mut left = vec![whole];
        while let Some(chains) = left.pop() {
            if models.match_all(&chains)? {
                continue;
            }
            let Some(cut) = chains.iter().position(|chain| chain.is_open) else {
                return Some(Verdict::No);
            };
            let (short, long) = models.halves(chains, cut);
            // The shortest model of the one and the longest of the other were looked at before.
            if !models.match_longest(&short)? || !models.match_shortest(&long)? {
                return Some(Verdict::No);
            }
            left.push(long);
            left.push(short);
        }
        Some(Verdict::Yes)
    }
}

/// The models of one ground, in classes: a chain for each of its nodes that are far below.
struct Models<'j, 'w, 'k, 'a> {
    decider: &'j mut CoverDecider,
    widers: &'w [&'w [Node]],
    ground: &'w [Node],
    knowledge: &'k mut Knowledge<'a>,
    longest: usize,
}

impl Models<'_, '_, '_, '_> {
    /// Whether one of the twigs is sure to match every model of the class.
    fn match_all(&mut self, chains: &[Chain]) -> Option<bool> {
        self.decider.stretch(self.ground, chains)?;
        let size: usize = self.widers.iter().map(|twig| twig.len()).sum();
        let steps = size * self.decider.nodes.len();
        self.decider.steps = self.decider.steps.checked_sub(steps)?;
        let model = self.decider.model.ground(&self.decider.nodes);
        let mut widers = self.widers.iter();
        Some(widers.any(|twig| self.knowledge.lies_on(twig, &model)))
    }

    /// The same of the model whose chains are no longer than the class says.
    fn match_shortest(&mut self, chains: &[Chain]) -> Option<bool> {
        let closed: Vec<Chain> = chains.iter().map(|&chain| closed(chain)).collect();
        self.match_all(&closed)
    }

    /// The same of the model whose open chains are as long as makes a difference.
    fn match_longest(&mut self, chains: &[Chain]) -> Option<bool> {
        let full = Chain {
            elements: self.longest,
            is_open: false,
        };
        let stretched = |&chain: &Chain| if chain.is_open { full } else { chain };
        let chains: Vec<Chain> = chains.iter().map(stretched).collect();
        self.match_all(&chains)
    }

    /// The class cut in two: one chain closed as it is, or one element longer.
    fn halves(&self, chains: Vec<Chain>, cut: usize) -> (Vec<Chain>, Vec<Chain>) {
        let (mut short, mut long) = (chains.clone(), chains);
        short[cut] = closed(short[cut]);
        let elements = long[cut].elements + 1;
        long[cut] = Chain {
            elements,
            is_open: elements < self.longest,
        };
        (short, long)
    }
}

fn closed(chain: Chain) -> Chain {
    Chain {
        is_open: false,
        ..chain
    }
}

impl CoverDecider {
    /// Puts the twig with these chains above its far nodes into `nodes`; `None` if it is too large.
    fn stretch(&mut self, twig: &[Node], chains: &[Chain]) -> Option<()> {
        let added: usize = chains.iter().map(|chain| chain.elements).sum();
        if twig.len() + added > MODEL_MAX {
            return None;
        }
        self.nodes.clear();
        let mut places = [0_u16; MODEL_MAX];
        let mut chains = chains.iter();
        self.nodes.push(twig[0]);
        for (at, node) in twig.iter().enumerate().skip(1) {
            let mut made = *node;
            made.parent = places[usize::from(node.parent)];
            if node.reach > 0 {
                let chain = chains.next()?;
                for _ in 0..chain.elements {
                    self.nodes.push(Node {
                        label: Label::ANY_ELEMENT,
                        parent: made.parent,
                        reach: 0,
                        tests: 0,
                        value: 0,
                    });
                    made.parent = self.nodes.len() as u16 - 1;
                }
                made.reach = chain.is_open.into();
            }
            places[at] = self.nodes.len() as u16;
            self.nodes.push(made);
        }
        Some(())
    }
}
