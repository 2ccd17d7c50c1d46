//! All nodes of a document under numbers in document order.
//!
//! The document node is 0; behind each element come its attributes, then what is inside it. So the
//! descendants of a node are the nodes between it and its end but its attributes.

use crate::document::tree::{NONE, Names, Tree};

/// The kind of a node.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[allow(missing_docs)]
pub enum NodeKind {
    Document,
    Element,
    Attribute,
    Text,
    Comment,
    Instruction,
}

/// One node.
#[derive(Clone, Copy, Debug)]
pub struct Node {
    /// Its kind.
    pub kind: NodeKind,
    /// Its number in the list of the tree for nodes of this kind.
    pub place: u32,
    /// Of an element or attribute, its name.
    pub name: u32,
    /// The node that it is inside of, or belongs to.
    pub parent: u32,
    /// One past its last descendant or attribute.
    pub end: u32,
    /// The child of its parent before it.
    pub previous: u32,
}

/// The nodes of one document.
#[derive(Default, Debug)]
pub struct Nodes {
    all: Vec<Node>,
    /// The nodes of each kind, in document order.
    by_kind: [Vec<u32>; KINDS],
    /// The elements and attributes, those of one kind and name side by side, in document order.
    by_label: Vec<u32>,
    /// Where those of a label are: see [`label_of`].
    spans: Vec<(u32, u32)>,
    /// The labels that the document has.
    labels: Vec<u32>,
    last_children: Vec<u32>,
    unseen: u32,
    /// The string-value of the document node, where entities that stand in content were declared.
    with_entities: Option<Vec<u8>>,
}

/// The texts of declared entities, which can stand inside each other, are at most so many times as long
/// as the document's.
const ENTITY_TEXTS: usize = 4;

/// How many kinds of nodes there are.
const KINDS: usize = 6;

/// Kind and name of an element or attribute as one number.
fn label_of(kind: NodeKind, name: u32) -> usize {
    name as usize * 2 + usize::from(kind == NodeKind::Attribute)
}

/// The document node.
pub const DOCUMENT: u32 = 0;

impl Nodes {
    /// Numbers the nodes of a tree.
    pub fn number(&mut self, tree: &Tree) {
        self.all.clear();
        self.by_kind.iter_mut().for_each(Vec::clear);
        for &label in &self.labels {
            self.spans[label as usize] = (0, 0);
        }
        self.labels.clear();
        self.last_children.clear();
        self.push(NodeKind::Document, 0, NONE, NONE);
        let mut remarks = Behind {
            tree,
            text: 0,
            remark: 0,
        };
        remarks.push(self, 0, 0);
        for (place, element) in tree.elements.iter().enumerate() {
            let parent = self.of_element(element.parent);
            let number = self.push(NodeKind::Element, place as u32, element.name, parent);
            let attributes_end = match tree.elements.get(place + 1) {
                Some(next) => next.attributes as usize,
                None => tree.attributes.len(),
            };
            for at in element.attributes as usize..attributes_end {
                let name = tree.attributes[at].name;
                self.push(NodeKind::Attribute, at as u32, name, number);
            }
            let texts_end = match tree.elements.get(place + 1) {
                Some(next) => next.texts as usize,
                None => tree.texts.len(),
            };
            remarks.push(self, place as u32 + 1, texts_end);
        }
        self.close();
        self.sort_by_label();
        self.unseen = self.unseen_behind(tree);
        self.with_entities = tree
            .subset_has_nodes
            .then(|| text_with_entities(tree))
            .flatten();
    }

    /// The node that `preceding` never finds.
    pub fn unseen(&self) -> u32 {
        self.unseen
    }

    /// libxml2 turns back at the first child of the document, without looking at it, where it comes to
    /// it from below. So what stands behind the root element is not told that this precedes it.
    fn unseen_behind(&self, tree: &Tree) -> u32 {
        let elements = self.of_kind(NodeKind::Element);
        let root = elements.first().copied().unwrap_or(NONE);
        let is_first = root == DOCUMENT + 1 && !tree.has_doctype;
        let has_children = root != NONE && self.last_children[root as usize] != NONE;
        if is_first && has_children { root } else { NONE }
    }

    /// How many nodes there are.
    pub fn len(&self) -> usize {
        self.all.len()
    }

    /// Whether no document was numbered.
    pub fn is_empty(&self) -> bool {
        self.all.is_empty()
    }

    /// A node by its number.
    #[inline]
    pub fn get(&self, node: u32) -> &Node {
        &self.all[node as usize]
    }

    /// Every node.
    pub fn all(&self) -> &[Node] {
        &self.all
    }

    /// The element with this place among the elements.
    pub fn of_element(&self, element: u32) -> u32 {
        if element == NONE {
            DOCUMENT
        } else {
            self.of_kind(NodeKind::Element)[element as usize]
        }
    }

    /// The nodes of a kind, in document order.
    pub fn of_kind(&self, kind: NodeKind) -> &[u32] {
        &self.by_kind[kind as usize]
    }

    /// The elements or attributes of a name, in document order.
    #[inline]
    pub fn named(&self, kind: NodeKind, name: u32) -> &[u32] {
        match self.spans.get(label_of(kind, name)) {
            Some(&(start, end)) => &self.by_label[start as usize..end as usize],
            None => &[],
        }
    }

    /// The names that the document has for elements or attributes.
    pub fn names_of(&self, kind: NodeKind) -> impl Iterator<Item = u32> + '_ {
        let own = move |label: &&u32| **label % 2 == u32::from(kind == NodeKind::Attribute);
        self.labels.iter().filter(own).map(|label| label / 2)
    }

    /// The string-value of the document node: what all text of its root element is, unless there are
    /// declared entities. Nothing if only libxml2 knows.
    pub fn text_of_document<'a>(&'a self, tree: &'a Tree) -> Option<&'a [u8]> {
        match tree.subset_has_nodes {
            true => self.with_entities.as_deref(),
            false => Some(&tree.text),
        }
    }

    /// How many bytes are held.
    pub fn held(&self) -> usize {
        let kinds: usize = self.by_kind.iter().map(Vec::capacity).sum();
        self.all.capacity() * size_of::<Node>()
            + self.spans.capacity() * size_of::<(u32, u32)>()
            + (kinds + self.by_label.capacity() + self.labels.capacity()) * 4
            + self.last_children.capacity() * 4
    }

    fn push(&mut self, kind: NodeKind, place: u32, name: u32, parent: u32) -> u32 {
        let number = self.all.len() as u32;
        let mut previous = NONE;
        if kind != NodeKind::Attribute && parent != NONE {
            previous = std::mem::replace(&mut self.last_children[parent as usize], number);
        }
        self.all.push(Node {
            kind,
            place,
            name,
            parent,
            end: number + 1,
            previous,
        });
        self.last_children.push(NONE);
        self.by_kind[kind as usize].push(number);
        if matches!(kind, NodeKind::Element | NodeKind::Attribute) {
            self.count(label_of(kind, name));
        }
        number
    }

    /// One more node of a label.
    #[inline]
    fn count(&mut self, label: usize) {
        if label >= self.spans.len() {
            self.spans.resize(label + 1, (0, 0));
        }
        let count = &mut self.spans[label].1;
        if *count == 0 {
            self.labels.push(label as u32);
        }
        *count += 1;
    }

    /// Puts elements and attributes of one label side by side; how many there are is counted.
    fn sort_by_label(&mut self) {
        let mut start = 0;
        for &label in &self.labels {
            let span = &mut self.spans[label as usize];
            let count = std::mem::replace(span, (start, start)).1;
            start += count;
        }
        self.by_label.clear();
        self.by_label.resize(start as usize, 0);
        for kind in [NodeKind::Element, NodeKind::Attribute] {
            for &number in &self.by_kind[kind as usize] {
                let name = self.all[number as usize].name;
                let end = &mut self.spans[label_of(kind, name)].1;
                self.by_label[*end as usize] = number;
                *end += 1;
            }
        }
    }

    /// Finds where nodes end, from the last to the first.
    fn close(&mut self) {
        for number in (1..self.all.len()).rev() {
            let Node { end, parent, .. } = self.all[number];
            let outer = &mut self.all[parent as usize];
            outer.end = outer.end.max(end);
        }
    }
}

/// The string-value of a document node whose declarations have nodes: libxml2 counts the text of every
/// declared entity that stands in content, in the order of their declarations, then that of the root.
fn text_with_entities(tree: &Tree) -> Option<Vec<u8>> {
    let used = tree.entity_texts.iter().filter(|it| it.0 != NONE);
    let spans: Vec<_> = used.map(|it| it.0 as usize..it.1 as usize).collect();
    let length: usize = spans.iter().map(ExactSizeIterator::len).sum();
    if spans.is_empty() || length > ENTITY_TEXTS * tree.text.len() {
        return None;
    }
    let mut whole = Vec::with_capacity(length + tree.text.len());
    for span in spans {
        whole.extend_from_slice(&tree.text[span]);
    }
    whole.extend_from_slice(&tree.text);
    Some(whole)
}

/// The texts, comments and instructions that were not numbered yet.
struct Behind<'a> {
    tree: &'a Tree,
    text: usize,
    remark: usize,
}

impl Behind<'_> {
    /// Numbers those before the element with this place, of the texts those before `texts_end`.
    fn push(&mut self, nodes: &mut Nodes, element: u32, texts_end: usize) {
        loop {
            let remark = self.tree.remarks.get(self.remark);
            let remark = remark.filter(|it| it.elements <= element);
            match remark {
                Some(remark) if remark.texts as usize <= self.text || self.text >= texts_end => {
                    let kind = if remark.is_instruction {
                        NodeKind::Instruction
                    } else {
                        NodeKind::Comment
                    };
                    let parent = nodes.of_element(remark.owner);
                    nodes.push(kind, self.remark as u32, NONE, parent);
                    self.remark += 1;
                }
                _ if self.text < texts_end => {
                    let parent = nodes.of_element(self.tree.texts[self.text].owner);
                    nodes.push(NodeKind::Text, self.text as u32, NONE, parent);
                    self.text += 1;
                }
                _ => return,
            }
        }
    }
}

/// A document as the evaluator sees it.
#[derive(Clone, Copy)]
pub struct Document<'a> {
    /// What was read.
    pub tree: &'a Tree,
    /// What names its numbers stand for.
    pub names: &'a Names,
    /// All of its nodes.
    pub nodes: &'a Nodes,
}

impl<'a> Document<'a> {
    /// The string-value of a node; that of the document node only where it is known.
    pub fn value(&self, node: u32) -> &'a [u8] {
        let node = self.nodes.get(node);
        let place = node.place as usize;
        let (from, start, end): (&'a [u8], u32, u32) = match node.kind {
            NodeKind::Document => {
                return self.nodes.text_of_document(self.tree).unwrap_or_default();
            }
            NodeKind::Element => {
                let element = &self.tree.elements[place];
                (&self.tree.text, element.text_start, element.text_end)
            }
            NodeKind::Text => {
                let text = &self.tree.texts[place];
                (&self.tree.text, text.start, text.end)
            }
            NodeKind::Attribute => {
                let attribute = &self.tree.attributes[place];
                (&self.tree.values, attribute.start, attribute.end)
            }
            NodeKind::Comment | NodeKind::Instruction => {
                let remark = &self.tree.remarks[place];
                (&self.tree.remark_text, remark.start, remark.end)
            }
        };
        &from[start as usize..end as usize]
    }

    /// The target of a processing instruction.
    pub fn target(&self, node: &Node) -> &'a [u8] {
        let remark = &self.tree.remarks[node.place as usize];
        &self.tree.remark_text[remark.target as usize..remark.start as usize]
    }

    /// The prefix that the name of an element or attribute was written with.
    pub fn prefix(&self, node: &Node) -> &'a str {
        let prefix = match node.kind {
            NodeKind::Element => self.tree.elements[node.place as usize].prefix,
            _ => self.tree.attributes[node.place as usize].prefix,
        };
        self.names.prefix(prefix)
    }

    /// The first child of a node, or where it would be.
    pub fn first_child(&self, node: u32) -> u32 {
        let it = self.nodes.get(node);
        if it.kind != NodeKind::Element {
            return node + 1;
        }
        let place = it.place as usize;
        let begin = self.tree.elements[place].attributes;
        let end = match self.tree.elements.get(place + 1) {
            Some(next) => next.attributes,
            None => self.tree.attributes.len() as u32,
        };
        node + 1 + (end - begin)
    }
}
