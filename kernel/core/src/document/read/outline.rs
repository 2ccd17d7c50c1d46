//! A document as a plain list, to compare this reader with another one.

use super::{Limits, Reader, Unsure};
use crate::document::tree::{NONE, Remark, TextNode, Tree};

/// One node of a document; owners and parents are counted among the elements.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Node {
    /// An element.
    Element {
        /// Its namespace, empty for none.
        namespace: String,
        /// Its local name.
        local: String,
        /// Its prefix, empty for none.
        prefix: String,
        /// The element it is a child of; none for the root.
        parent: Option<usize>,
    },
    /// An attribute.
    Attribute {
        /// Its element.
        owner: usize,
        /// Its namespace, empty for none.
        namespace: String,
        /// Its local name.
        local: String,
        /// Its prefix, empty for none.
        prefix: String,
        /// Its normalised value.
        value: String,
        /// Whether the document declares it to be of the type ID.
        identifies: bool,
    },
    /// A text node.
    Text {
        /// The element it is a child of.
        owner: usize,
        /// Its text.
        value: String,
    },
    /// A comment or a processing instruction.
    Remark {
        /// The element it is a child of; none outside the root.
        owner: Option<usize>,
        /// The target of an instruction.
        target: Option<String>,
        /// What it says.
        value: String,
    },
}

/// All nodes in document order: each element, its attributes, then what is inside it.
pub fn outline(content: &[u8]) -> Result<Vec<Node>, Unsure> {
    let mut reader = Reader::default();
    let mut tree = Tree::default();
    reader.read(content, &Limits::default(), &mut tree)?;
    Ok(nodes(&reader, &tree))
}

fn nodes(reader: &Reader, tree: &Tree) -> Vec<Node> {
    let names = reader.names();
    let mut nodes = Vec::new();
    let mut texts = tree.texts.iter().enumerate().peekable();
    let mut remarks = tree.remarks.iter().peekable();
    for (index, element) in tree.elements.iter().enumerate() {
        loop {
            let number = texts.peek().map_or(tree.texts.len(), |(number, _)| *number);
            let is_due =
                |it: &&Remark| it.elements as usize <= index && it.texts as usize <= number;
            if let Some(remark) = remarks.next_if(is_due) {
                nodes.push(remark_node(tree, remark));
            } else if let Some((_, text)) =
                texts.next_if(|(_, text)| text.end <= element.text_start)
            {
                nodes.push(text_node(tree, text));
            } else {
                break;
            }
        }
        let (namespace, local) = names.get(element.name);
        nodes.push(Node::Element {
            namespace: namespace.into(),
            local: local.into(),
            prefix: names.prefix(element.prefix).into(),
            parent: some(element.parent),
        });
        let next = tree
            .elements
            .get(index + 1)
            .map(|next| next.attributes as usize);
        let last = next.unwrap_or(tree.attributes.len());
        for number in element.attributes as usize..last {
            let attribute = &tree.attributes[number];
            let (namespace, local) = names.get(attribute.name);
            nodes.push(Node::Attribute {
                owner: index,
                namespace: namespace.into(),
                local: local.into(),
                prefix: names.prefix(attribute.prefix).into(),
                value: text(&tree.values, attribute.start, attribute.end),
                identifies: tree.identifiers.contains(&(number as u32)),
            });
        }
    }
    for (number, node) in texts {
        while let Some(remark) = remarks.next_if(|it| it.texts as usize <= number) {
            nodes.push(remark_node(tree, remark));
        }
        nodes.push(text_node(tree, node));
    }
    nodes.extend(remarks.map(|remark| remark_node(tree, remark)));
    nodes
}

fn text_node(tree: &Tree, node: &TextNode) -> Node {
    Node::Text {
        owner: node.owner as usize,
        value: text(&tree.text, node.start, node.end),
    }
}

fn remark_node(tree: &Tree, remark: &Remark) -> Node {
    let target = text(&tree.remark_text, remark.target, remark.start);
    Node::Remark {
        owner: some(remark.owner),
        target: remark.is_instruction.then_some(target),
        value: text(&tree.remark_text, remark.start, remark.end),
    }
}

fn some(element: u32) -> Option<usize> {
    (element != NONE).then_some(element as usize)
}

fn text(from: &[u8], start: u32, end: u32) -> String {
    String::from_utf8_lossy(&from[start as usize..end as usize]).into_owned()
}
