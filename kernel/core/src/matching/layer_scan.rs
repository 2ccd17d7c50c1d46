//! A document with regard to one layer: its walk through the path dictionary, and what fired.

use crate::document::classes::{Classes, NOTHING};
use crate::document::tree::{NONE, Tree};
use crate::index::Index;
use crate::matching::fired::FiredBits;
use crate::matching::instances::Instances;
use crate::matching::paths::{Known, Paths, Search};
use crate::matching::postings::{Hits, Postings};

/// What is known of a document with regard to one layer.
#[derive(Default)]
pub struct LayerScan {
    /// The paths remembered.
    pub paths: Paths,
    /// What fired.
    pub fired: FiredBits,
    /// The path of each element.
    pub element_paths: Vec<u32>,
    /// The elements at ambiguous joins.
    pub instances: Instances,
    /// What else happened in a large document.
    pub hits: Hits,
    /// Where atoms fired in a large document.
    pub postings: Postings,
    /// Elements before this one have paths that were forgotten since.
    pub fresh_from: u32,
    /// How many more parts of texts may be found that were put off.
    pub found_left: u64,
    /// Whether the document has more to be learned than it may take: too few of its bits are set then,
    /// and patterns have to be looked at one by one.
    pub abandoned: bool,
}

/// A document and the classes of its names.
#[derive(Clone, Copy)]
pub struct Read<'a> {
    /// The document.
    pub tree: &'a Tree,
    /// Which labels names have.
    pub classes: &'a Classes,
    /// The class of each element.
    pub element_classes: &'a [u32],
    /// The class of each attribute.
    pub attribute_classes: &'a [u32],
    /// Whether the places of leaves are kept.
    pub is_large: bool,
}

/// How much may be remembered, and done, on the way through a document.
#[derive(Clone, Copy, Debug)]
pub struct Room {
    /// Bytes of paths.
    pub bytes: usize,
    /// What the paths of the document may have to be learned in all.
    pub weight_max: u64,
    /// Steps of looking for parts of texts one by one, before that is put off.
    pub searched_max: u64,
    /// How many such parts may be found then.
    pub found_max: u64,
}

impl Room {
    /// What a layer leaves to the next: a document has one sum for all of them.
    pub fn after(self, scan: &LayerScan) -> Room {
        Room {
            bytes: self.bytes,
            weight_max: self.weight_max.saturating_sub(scan.paths.weight),
            searched_max: self.searched_max.saturating_sub(scan.paths.searched()),
            found_max: scan.found_left,
        }
    }
}

impl LayerScan {
    /// Walks a document in order, and sets the bits of what each path fires in one layer of an index.
    pub fn run(&mut self, index: &Index, number: usize, read: Read, renumbered: bool, room: Room) {
        let layer = &index.layers[number];
        self.paths
            .begin(layer, renumbered, room.bytes, room.searched_max);
        self.fired.begin(layer);
        self.instances.begin();
        self.hits.begin();
        self.postings.begin();
        self.element_paths.clear();
        self.fresh_from = 0;
        self.abandoned = false;
        self.found_left = room.found_max;
        if layer.patterns > 0 {
            let known = Known {
                layer,
                clauses: &index.clauses,
                classes: read.classes,
            };
            let large = read.is_large;
            let mut walk = Walk {
                scan: self,
                known,
                read,
                room,
                large,
            };
            let is_whole = walk.run() && walk.search();
            self.abandoned = !is_whole;
        }
    }
}

struct Walk<'a> {
    scan: &'a mut LayerScan,
    known: Known<'a>,
    read: Read<'a>,
    room: Room,
    large: bool,
}

impl Walk<'_> {
    /// From the first node to the last; false if there was too much to be learned.
    fn run(&mut self) -> bool {
        let tree = self.read.tree;
        let texts_matter = self.read.classes.text() != NOTHING;
        let mut text = 0;
        for (element, record) in tree.elements.iter().enumerate() {
            while texts_matter && text < record.texts {
                self.text(text);
                text += 1;
            }
            let path = self.element(element as u32, record.parent);
            if self.scan.paths.weight > self.room.weight_max {
                return false;
            }
            if self.scan.paths.is_valued(path) {
                let value = &tree.text[record.text_start as usize..record.text_end as usize];
                self.value(path, element as u32, value);
            }
            let next = tree.elements.get(element + 1);
            let end = next.map_or(tree.attributes.len(), |it| it.attributes as usize);
            for attribute in record.attributes as usize..end {
                let class = self.read.attribute_classes[attribute];
                if class != NOTHING {
                    let it = &tree.attributes[attribute];
                    self.leaf(
                        element as u32,
                        class,
                        &tree.values[it.start as usize..it.end as usize],
                    );
                }
            }
        }
        for text in text..if texts_matter {
            tree.texts.len() as u32
        } else {
            0
        } {
            self.text(text);
        }
        true
    }

    /// Looks for what was put off; false if that is too much.
    fn search(&mut self) -> bool {
        if !self.scan.paths.has_put_off() {
            return true;
        }
        let scan = &mut *self.scan;
        let mut search = Search {
            paths: &mut scan.paths,
            fired: &mut scan.fired,
            element_paths: &scan.element_paths,
            known: self.known,
            read: self.read,
            left: self.room.found_max,
        };
        // The paths of elements must not have been forgotten.
        let is_whole = scan.fresh_from == 0 && search.run();
        scan.found_left = search.left;
        is_whole
    }

    #[inline]
    fn element(&mut self, element: u32, parent: u32) -> u32 {
        let class = self.read.element_classes[element as usize];
        let path = self.step(parent, class);
        self.scan.element_paths.push(path);
        self.scan.paths.touch(path, &mut self.scan.fired);
        path
    }

    fn text(&mut self, text: u32) {
        let it = &self.read.tree.texts[text as usize];
        let value = &self.read.tree.text[it.start as usize..it.end as usize];
        self.leaf(it.owner, self.read.classes.text(), value);
    }

    #[inline]
    fn leaf(&mut self, owner: u32, class: u32, value: &[u8]) {
        let path = self.step(owner, class);
        self.scan.paths.touch(path, &mut self.scan.fired);
        if self.large {
            self.scan.hits.leaves.push((path, owner));
        }
        if self.scan.paths.is_valued(path) {
            self.value(path, owner, value);
        }
    }

    #[inline]
    fn value(&mut self, path: u32, element: u32, value: &[u8]) {
        let scan = &mut *self.scan;
        let passed = scan
            .paths
            .value(path, value, self.known.clauses, &mut scan.fired);
        if self.large {
            scan.hits
                .tests
                .extend(passed.into_iter().flatten().map(|test| (test, element)));
        }
    }

    /// The path of a node of some class below an element.
    #[inline]
    fn step(&mut self, owner: u32, class: u32) -> u32 {
        let above = self.path_of(owner);
        match self.scan.paths.known(above, class) {
            Some(path) => path,
            None => self.learn(owner, above, class),
        }
    }

    #[inline]
    fn path_of(&mut self, element: u32) -> u32 {
        if element == NONE {
            self.scan.paths.start()
        } else if element >= self.scan.fresh_from {
            self.scan.element_paths[element as usize]
        } else {
            self.relearn(element)
        }
    }

    /// Learns a path below an element; if there is no room for it, forgets the others first.
    #[cold]
    fn learn(&mut self, owner: u32, above: u32, class: u32) -> u32 {
        if self.scan.paths.held() <= self.room.bytes {
            return self.scan.paths.learn(above, class, self.known);
        }
        self.scan.paths.forgotten += 1;
        self.scan.paths.forget(self.known.layer);
        self.scan.fresh_from = self.scan.element_paths.len() as u32;
        let above = self.path_of(owner);
        self.scan.paths.learn(above, class, self.known)
    }

    /// The path of an element, whatever was forgotten: learned again from the root down.
    #[cold]
    fn relearn(&mut self, element: u32) -> u32 {
        let mut chain = Vec::new();
        let mut at = element;
        while at != NONE {
            chain.push(self.read.element_classes[at as usize]);
            at = self.read.tree.elements[at as usize].parent;
        }
        let paths = &mut self.scan.paths;
        chain.into_iter().rev().fold(paths.start(), |path, class| {
            paths
                .known(path, class)
                .unwrap_or_else(|| paths.learn(path, class, self.known))
        })
    }
}
