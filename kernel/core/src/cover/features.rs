//! Features: what a twig needs, or has, whatever the documents.
//!
//! If a wider twig covers a narrower one, it is found in the document that the narrower one makes
//! when its `*` and `//` are filled with unknown elements (one of the canonical models of Miklau and
//! Suciu). So each name of the wider twig is a name of the narrower one, two names joined by `/` are
//! joined by `/` there, one name below another is below it there, and a node that must have a
//! certain value has it there. The same function therefore tells what a twig *needs* as the wider
//! side and what it *has* as the narrower one.
//!
//! A *signature* has a bit for each feature, many features to a bit: what the wider side needs must
//! be a subset of what the narrower one has.

use super::labels::Label;
use super::twig::{Node, Pattern};

/// Deeper twigs count as so deep.
pub const DEPTH_MAX: u8 = 254;

/// A feature as a number.
pub type Feature = u64;

const CHILD: u64 = 0;
const BELOW: u64 = 1;
const VALUE: u64 = 2;
const DEPTH: u64 = 3;

fn feature(sort: u64, one: u32, other: u32) -> Feature {
    sort << 62 | u64::from(one) << 31 | u64::from(other)
}

/// A set of 256 bits.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Signature([u64; 4]);

impl Signature {
    /// Nothing.
    pub const NONE: Signature = Signature([0; 4]);
    /// Everything.
    pub const ALL: Signature = Signature([u64::MAX; 4]);

    fn put(&mut self, feature: Feature) {
        let bit = feature.wrapping_mul(0x9E37_79B9_7F4A_7C15) >> 56;
        self.0[bit as usize / 64] |= 1 << (bit % 64);
    }

    fn meet(&mut self, other: &Signature) {
        self.0
            .iter_mut()
            .zip(other.0)
            .for_each(|(it, other)| *it &= other);
    }

    fn join(&mut self, other: &Signature) {
        self.0
            .iter_mut()
            .zip(other.0)
            .for_each(|(it, other)| *it |= other);
    }

    /// Whether all of it is in the other.
    #[inline]
    pub fn within(&self, other: &Signature) -> bool {
        let left = self.0.iter().zip(other.0);
        left.fold(0, |left, (it, other)| left | it & !other) == 0
    }
}

/// The number by which features speak of a node, if it has one.
fn spoken_of(twig: &[Node], at: usize) -> Option<u32> {
    if at == 0 {
        Some(0)
    } else {
        twig[at].label.exact()
    }
}

/// The features by which twigs are filed: names, names joined by `/`, values. Ascending, each once.
pub fn filed_features(twig: &[Node]) -> Vec<Feature> {
    let mut found = Vec::with_capacity(2 * twig.len());
    for (at, node) in twig.iter().enumerate().skip(1) {
        let Some(name) = spoken_of(twig, at) else {
            continue;
        };
        found.push(feature(BELOW, 0, name));
        if node.reach == 0
            && let Some(parent) = spoken_of(twig, node.parent.into())
        {
            found.push(feature(CHILD, parent, name));
        }
        if node.value != 0 {
            found.push(feature(VALUE, name, node.value));
        }
    }
    found.sort_unstable();
    found.dedup();
    found
}

/// All features as a signature: those above, names below names, and the depth.
fn signature_of(twig: &[Node]) -> Signature {
    let mut found = Signature::NONE;
    for feature in filed_features(twig) {
        found.put(feature);
    }
    for (at, node) in twig.iter().enumerate().skip(1) {
        let Some(name) = spoken_of(twig, at) else {
            continue;
        };
        let mut above = usize::from(node.parent);
        while above > 0 {
            if let Some(other) = spoken_of(twig, above) {
                found.put(feature(BELOW, other, name));
            }
            above = twig[above].parent.into();
        }
    }
    for level in 1..=depth_of(twig).min(16) {
        found.put(feature(DEPTH, 0, level.into()));
    }
    found
}

/// How many elements are inside each other at least, as far as is counted.
fn depth_of(twig: &[Node]) -> u8 {
    let mut depths = vec![0_usize; twig.len()];
    let mut deepest = 0;
    for (at, node) in twig.iter().enumerate().skip(1) {
        depths[at] = depths[usize::from(node.parent)] + usize::from(node.reach.max(1));
        if node.label.is_element() {
            deepest = deepest.max(depths[at]);
        }
    }
    deepest.min(DEPTH_MAX.into()) as u8
}

/// What one side of a pattern needs or has.
pub struct Traits {
    /// The features by which it is filed.
    pub features: Vec<Feature>,
    /// All of them as bits.
    pub signature: Signature,
    /// How many elements are inside each other.
    pub depth: u8,
}

impl Traits {
    fn of(twig: &[Node]) -> Self {
        Traits {
            features: filed_features(twig),
            signature: signature_of(twig),
            depth: depth_of(twig),
        }
    }

    /// What all the twigs have; `None` if there is no twig.
    fn shared<'a>(mut twigs: impl Iterator<Item = &'a [Node]>) -> Option<Self> {
        let first = Traits::of(twigs.next()?);
        Some(twigs.fold(first, |mut found, twig| {
            let other = Traits::of(twig);
            let has = |it: &Feature| other.features.binary_search(it).is_ok();
            found.features.retain(has);
            found.signature.meet(&other.signature);
            found.depth = found.depth.min(other.depth);
            found
        }))
    }
}

/// What a pattern needs as the wider side: all that each of its groups needs.
pub fn needed(pattern: Pattern) -> Traits {
    let mut found = Traits {
        features: Vec::new(),
        signature: Signature::NONE,
        depth: 0,
    };
    for traits in pattern.groups().filter_map(Traits::shared) {
        found.features.extend(traits.features);
        found.signature.join(&traits.signature);
        found.depth = found.depth.max(traits.depth);
    }
    found.features.sort_unstable();
    found.features.dedup();
    found
}

/// What a pattern has as the narrower side: what all of its grounds have. `None` if it has none.
pub fn had(pattern: Pattern) -> Option<Traits> {
    Traits::shared(pattern.grounds())
}

/// Whether a pattern needs one thing only: then whatever has that is covered.
///
/// A name somewhere, or at the root; two names joined by `/`; so many elements inside each other.
pub fn needs_one_thing(pattern: Pattern) -> bool {
    let mut groups = pattern.groups();
    let Some(mut group) = groups.next() else {
        return false;
    };
    let (Some(twig), None, None) = (group.next(), group.next(), groups.next()) else {
        return false;
    };
    if twig.iter().any(|node| node.tests != 0) || twig[0].label != Label::CONTEXT {
        return false;
    }
    let is_name = |node: &Node| node.label.exact().is_some();
    match twig {
        [_, leaf] if leaf.label == Label::ANY_ELEMENT => {
            (1..=DEPTH_MAX.into()).contains(&leaf.reach)
        }
        [_, leaf] => is_name(leaf) && leaf.reach <= 1,
        [_, top, leaf] => {
            let joined = leaf.parent == 1 && leaf.reach == 0;
            is_name(top) && is_name(leaf) && joined && top.reach == 1
        }
        _ => false,
    }
}
