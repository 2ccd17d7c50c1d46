//! A set of patterns compiled for matching: the trie of their linear paths and what hangs on it.
//!
//! Every linear path of every pattern, from the document node down, is a path in one trie whose edges
//! are a reach and a label; this is YFilter's shared automaton. An *atom* is a node of the trie, or
//! a node with a test of its value. A pattern is a conjunction of atoms, its *leaves*:
//!
//! - one leaf and nothing else: the pattern *reports* there, by the bit of its slot;
//! - several: it is a *twig*, registered under one leaf, its access; when that fires the twig is a
//!   candidate, and the bits of its other leaves are looked up;
//! - where branches part, the leaves must agree on the element: such a node is a *join*. If it met
//!   exactly one element in the document they cannot disagree, else the twig is verified;
//! - what a conjunction cannot say (`not`, a first node's value) is verified always.
//!
//! Numbers of slots, twigs, atoms, joins and nodes that are freed wait until readers have forgotten
//! the paths they remembered.

use crate::index::blocks::Blocks;
use crate::index::column::{Column, Spare, store};
pub use crate::index::records::{
    Entry, JOIN, NEEDS, NONE, Need, Node, Place, ROOT, Slot, Twig, VALUED, Valued, What, edge,
    label_mask,
};
use crate::index::table::{Table, hash_of};
use crate::pattern::plan::{Alternative, Leaf};

/// A set of patterns compiled for matching.
pub struct Layer {
    pub(crate) nodes: Column<Node>,
    pub(crate) edges: Table,
    pub(crate) entries: Column<Entry>,
    pub(crate) valued: Column<Valued>,
    pub(crate) valued_table: Table,
    pub(crate) slots: Column<Slot>,
    /// The id of each slot's pattern if that is a small number, else NONE.
    pub(crate) keys: Column<u32>,
    pub(crate) live: Column<u64>,
    pub(crate) slot_blocks: Blocks,
    pub(crate) twigs: Column<Twig>,
    pub(crate) twig_blocks: Blocks,
    /// How often each atom's bit is needed.
    pub(crate) atoms: Column<[u32; 2]>,
    /// How often each join's bit is needed.
    pub(crate) joins: Column<[u32; 2]>,
    /// The head of the twigs that every document is a candidate for, as an entry.
    pub(crate) always: u32,
    pub(crate) spare: [Spare; 5],
    /// Changes whenever what readers remember of this layer is no longer true.
    pub generation: u64,
    /// How many patterns there are.
    pub patterns: usize,
}

const NODES: usize = 0;
const ENTRIES: usize = 1;
const VALUEDS: usize = 2;
const ATOMS: usize = 3;
const JOINS: usize = 4;

impl Default for Layer {
    fn default() -> Self {
        let root = Node {
            parent: NONE,
            edge: NONE,
            kids: 0,
            near: 0,
            far: 0,
            payload: NONE,
            atom: NONE,
            join: NONE,
        };
        Layer {
            nodes: Column::Owned(vec![root]),
            edges: Table::default(),
            entries: Column::default(),
            valued: Column::default(),
            valued_table: Table::default(),
            slots: Column::default(),
            keys: Column::default(),
            live: Column::default(),
            slot_blocks: Blocks::default(),
            twigs: Column::default(),
            twig_blocks: Blocks::default(),
            atoms: Column::default(),
            joins: Column::default(),
            always: NONE,
            spare: Default::default(),
            generation: 0,
            patterns: 0,
        }
    }
}

impl Layer {
    /// The node an edge leads to, if there is one.
    #[inline]
    pub fn child(&self, node: u32, edge: u32) -> Option<u32> {
        let nodes: &[Node] = &self.nodes;
        self.edges.reader().find(hash_of(&(node, edge)), |it| {
            let found = &nodes[it as usize];
            found.parent == node && found.edge == edge
        })
    }

    /// The node an edge leads to, made if need be.
    pub fn reach(&mut self, node: u32, edge: u32) -> u32 {
        if let Some(child) = self.child(node, edge) {
            return child;
        }
        let record = Node {
            parent: node,
            edge,
            kids: 0,
            near: 0,
            far: 0,
            payload: NONE,
            atom: NONE,
            join: NONE,
        };
        let child = store(&mut self.nodes, &mut self.spare[NODES], record);
        let above = &mut self.nodes.edit()[node as usize];
        above.kids += 1;
        *(if edge & 1 == 1 {
            &mut above.far
        } else {
            &mut above.near
        }) |= label_mask(edge >> 1);
        self.edges.insert(hash_of(&(node, edge)), child);
        child
    }

    /// Registers one alternative of a pattern; its next place is `sibling`.
    pub fn insert(
        &mut self,
        pattern: u32,
        key: u32,
        alternative: &Alternative,
        sibling: u32,
    ) -> Place {
        if let ([leaf], false) = (&alternative.leaves[..], alternative.verify) {
            return self.insert_slot(pattern, key, *leaf, sibling);
        }
        let access = (alternative.leaves.iter().copied().enumerate())
            .max_by_key(|&(place, leaf)| (self.rarity(leaf), place));
        let kin = access.map_or(0, |(_, leaf)| self.kin(leaf));
        let number = self.twig_blocks.take(kin);
        let blank = Twig {
            pattern: NONE,
            key: NONE,
            needs: [NONE; NEEDS],
            verify: 0,
            tangled: 0,
            entry: NONE,
            sibling: NONE,
        };
        let size = self.twig_blocks.end();
        self.twigs.grow(size, blank);
        let mut twig = Twig {
            pattern,
            key,
            verify: u16::from(alternative.verify),
            tangled: u16::from(alternative.tangled),
            sibling,
            ..blank
        };
        let others =
            (0..alternative.leaves.len()).filter(|&it| access.map(|found| found.0) != Some(it));
        let mut room = twig.needs.iter_mut();
        for (leaf, room) in others.zip(room.by_ref()) {
            *room = self.need_atom(alternative.leaves[leaf]);
        }
        let wanted = alternative.leaves.len().saturating_sub(1) + 2 * alternative.joins.len();
        if wanted > NEEDS {
            twig.verify = 1;
        }
        if twig.verify == 0 {
            for join in &alternative.joins {
                if let (Some(bit), Some(clause)) = (room.next(), room.next()) {
                    (*bit, *clause) = (JOIN | self.need_join(join.node), join.clause);
                }
            }
        }
        let owner = access.map_or(NONE, |(_, leaf)| self.owner(leaf));
        twig.entry = self.hang(owner, What::Twig(number));
        self.twigs.edit()[number as usize] = twig;
        Place::Twig(number)
    }

    /// Forgets what was registered at a place. Gives the pattern's next place.
    pub fn remove(&mut self, place: Place) -> Option<Place> {
        let (entry, sibling) = match place {
            Place::Slot(number) => {
                let slot = &mut self.slots.edit()[number as usize];
                let found = (slot.entry, slot.sibling);
                slot.pattern = NONE;
                self.live.edit()[number as usize / 64] &= !(1 << (number % 64));
                self.slot_blocks.retire(number);
                found
            }
            Place::Twig(number) => {
                let twig = &mut self.twigs.edit()[number as usize];
                let (gone, found) = (*twig, (twig.entry, twig.sibling));
                twig.pattern = NONE;
                self.twig_blocks.retire(number);
                for need in gone.needs() {
                    self.release_need(need);
                }
                found
            }
        };
        self.unhang(entry);
        Place::from_packed(sibling)
    }

    /// The atoms a twig needs, its access first, as their owners.
    pub fn leaves(&self, twig: &Twig) -> Vec<u32> {
        let access = self.entries[twig.entry as usize].owner;
        let others = twig.needs().filter_map(|need| match need {
            Need::Atom(bit) => Some(self.atoms[bit as usize][1]),
            Need::Join(..) => None,
        });
        std::iter::once(access).chain(others).collect()
    }

    /// Whether every document is a candidate for a twig.
    pub fn is_always(&self, twig: u32) -> bool {
        self.entries[self.twigs[twig as usize].entry as usize].owner == NONE
    }

    /// How many twigs every document is a candidate for.
    pub fn unfiltered(&self) -> usize {
        let (mut count, mut entry) = (0, self.always);
        while entry != NONE {
            (count, entry) = (count + 1, self.entries[entry as usize].next);
        }
        count
    }

    /// How many numbers wait until what readers remember is forgotten.
    pub fn waiting(&self) -> usize {
        self.spare.iter().map(Spare::waiting).sum::<usize>()
            + self.slot_blocks.waiting()
            + self.twig_blocks.waiting()
    }

    /// What readers remember is to be forgotten, so that freed numbers can be used again.
    pub fn settle(&mut self) {
        self.generation += 1;
        self.spare.iter_mut().for_each(Spare::settle);
        self.slot_blocks.settle();
        self.twig_blocks.settle();
        let (slots, twigs) = (self.slot_blocks.end(), self.twig_blocks.end());
        self.slots.edit().truncate(slots);
        self.keys.edit().truncate(slots);
        self.live.edit().truncate(slots.div_ceil(64));
        self.twigs.edit().truncate(twigs);
    }

    /// How many bytes of our own memory it takes.
    pub fn held(&self) -> usize {
        self.nodes.held()
            + self.edges.held()
            + self.entries.held()
            + self.valued.held()
            + self.valued_table.held()
            + self.slots.held()
            + self.keys.held()
            + self.live.held()
            + self.slot_blocks.held()
            + self.twigs.held()
            + self.twig_blocks.held()
            + self.atoms.held()
            + self.joins.held()
            + self.spare.iter().map(Spare::held).sum::<usize>()
    }

    /// The entries in use: one for each alternative of a pattern, and for each test at a node.
    pub fn entry_count(&self) -> usize {
        self.entries.len() - self.spare[ENTRIES].unused()
    }

    /// The nodes of the trie in use.
    pub fn node_count(&self) -> usize {
        self.edges.len() + 1
    }

    fn insert_slot(&mut self, pattern: u32, key: u32, leaf: Leaf, sibling: u32) -> Place {
        let number = self.slot_blocks.take(self.kin(leaf));
        let size = self.slot_blocks.end();
        self.slots.grow(
            size,
            Slot {
                pattern: NONE,
                entry: NONE,
                sibling: NONE,
            },
        );
        self.keys.grow(size, NONE);
        self.live.grow(size.div_ceil(64), 0);
        let owner = self.owner(leaf);
        let entry = self.hang(owner, What::Slot(number));
        self.slots.edit()[number as usize] = Slot {
            pattern,
            entry,
            sibling,
        };
        self.keys.edit()[number as usize] = key;
        self.live.edit()[number as usize / 64] |= 1 << (number % 64);
        Place::Slot(number)
    }

    /// The kin of a leaf: its label, that of the node above, and its test.
    fn kin(&self, leaf: Leaf) -> u64 {
        let node = &self.nodes[leaf.node as usize];
        let above = if node.parent == NONE {
            NONE
        } else {
            self.nodes[node.parent as usize].edge
        };
        u64::from(node.edge) << 32
            ^ u64::from(above >> 1)
            ^ u64::from(leaf.test.wrapping_add(1)) << 20
    }

    /// How rare a leaf seems: a test is seldom passed, a long path seldom met.
    fn rarity(&self, leaf: Leaf) -> u32 {
        let mut steps = 0;
        let mut node = leaf.node;
        while node != ROOT {
            steps += 1;
            node = self.nodes[node as usize].parent;
        }
        steps + if leaf.test == NONE { 0 } else { 1000 }
    }

    fn owner(&mut self, leaf: Leaf) -> u32 {
        if leaf.test == NONE {
            leaf.node
        } else {
            VALUED | self.value(leaf.node, leaf.test)
        }
    }

    /// The atom for a test at a node, made if need be.
    fn value(&mut self, node: u32, test: u32) -> u32 {
        let hash = hash_of(&(node, test));
        let valued: &[Valued] = &self.valued;
        let is_it = |it: u32| valued[it as usize].node == node && valued[it as usize].test == test;
        if let Some(found) = self.valued_table.reader().find(hash, is_it) {
            return found;
        }
        let record = Valued {
            node,
            test,
            payload: NONE,
            atom: NONE,
            entry: NONE,
        };
        let made = store(&mut self.valued, &mut self.spare[VALUEDS], record);
        self.valued_table.insert(hash, made);
        let entry = self.hang(node, What::Valued(made));
        self.valued.edit()[made as usize].entry = entry;
        made
    }

    fn payload(&mut self, owner: u32) -> &mut u32 {
        if owner == NONE {
            &mut self.always
        } else if owner & VALUED == 0 {
            &mut self.nodes.edit()[owner as usize].payload
        } else {
            &mut self.valued.edit()[(owner & !VALUED) as usize].payload
        }
    }

    fn hang(&mut self, owner: u32, what: What) -> u32 {
        let head = *self.payload(owner);
        let record = Entry {
            next: head,
            before: NONE,
            what: what.packed(),
            owner,
        };
        let entry = store(&mut self.entries, &mut self.spare[ENTRIES], record);
        if head != NONE {
            self.entries.edit()[head as usize].before = entry;
        }
        *self.payload(owner) = entry;
        entry
    }

    fn unhang(&mut self, entry: u32) {
        let Entry {
            next,
            before,
            owner,
            ..
        } = self.entries[entry as usize];
        if before == NONE {
            *self.payload(owner) = next;
        } else {
            self.entries.edit()[before as usize].next = next;
        }
        if next != NONE {
            self.entries.edit()[next as usize].before = before;
        }
        self.spare[ENTRIES].put(entry);
        self.tidy(owner);
    }

    fn need_atom(&mut self, leaf: Leaf) -> u32 {
        let owner = self.owner(leaf);
        let atom = self.atom(owner);
        let bit = if atom == NONE {
            let bit = store(&mut self.atoms, &mut self.spare[ATOMS], [0, owner]);
            self.set_atom(owner, bit);
            bit
        } else {
            atom
        };
        self.atoms.edit()[bit as usize][0] += 1;
        bit
    }

    fn need_join(&mut self, node: u32) -> u32 {
        let join = self.nodes[node as usize].join;
        let bit = if join == NONE {
            let bit = store(&mut self.joins, &mut self.spare[JOINS], [0, node]);
            self.nodes.edit()[node as usize].join = bit;
            bit
        } else {
            join
        };
        self.joins.edit()[bit as usize][0] += 1;
        bit
    }

    fn release_need(&mut self, need: Need) {
        let (uses, bit) = match need {
            Need::Atom(bit) => (&mut self.atoms, bit),
            Need::Join(bit, _) => (&mut self.joins, bit),
        };
        let [left, owner] = &mut uses.edit()[bit as usize];
        *left -= 1;
        let (left, owner) = (*left, *owner);
        if left > 0 {
            return;
        }
        if let Need::Atom(_) = need {
            self.set_atom(owner, NONE);
            self.spare[ATOMS].retire(bit);
        } else {
            self.nodes.edit()[owner as usize].join = NONE;
            self.spare[JOINS].retire(bit);
        }
        self.tidy(owner);
    }

    fn atom(&self, owner: u32) -> u32 {
        if owner & VALUED == 0 {
            self.nodes[owner as usize].atom
        } else {
            self.valued[(owner & !VALUED) as usize].atom
        }
    }

    fn set_atom(&mut self, owner: u32, bit: u32) {
        if owner & VALUED == 0 {
            self.nodes.edit()[owner as usize].atom = bit;
        } else {
            self.valued.edit()[(owner & !VALUED) as usize].atom = bit;
        }
    }

    /// Frees an atom on which nothing hangs any more.
    fn tidy(&mut self, owner: u32) {
        if owner == NONE {
            return;
        }
        if owner & VALUED == 0 {
            self.prune(owner);
            return;
        }
        let number = owner & !VALUED;
        let valued = self.valued[number as usize];
        if valued.payload == NONE && valued.atom == NONE && valued.entry != NONE {
            self.valued_table
                .remove(hash_of(&(valued.node, valued.test)), number);
            self.valued.edit()[number as usize].entry = NONE;
            self.spare[VALUEDS].retire(number);
            self.unhang(valued.entry);
        }
    }

    /// Frees a node that leads nowhere, and those above that only led to it.
    pub fn prune(&mut self, node: u32) {
        let mut node = node;
        while node != ROOT {
            let record = self.nodes[node as usize];
            let used = record.kids > 0 || record.payload != NONE;
            if used || record.atom != NONE || record.join != NONE || record.parent == NONE {
                return;
            }
            self.edges
                .remove(hash_of(&(record.parent, record.edge)), node);
            let nodes = self.nodes.edit();
            nodes[node as usize].parent = NONE;
            let above = &mut nodes[record.parent as usize];
            above.kids -= 1;
            if above.kids == 0 {
                (above.near, above.far) = (0, 0);
            }
            self.spare[NODES].retire(node);
            node = record.parent;
        }
    }
}
