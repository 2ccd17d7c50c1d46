//! A document as a plain list, to compare this reader with another one.

use super::{Limits, Reader, Unsure};
use crate::document::tree::{NONE, Tree};

/// One node of a document; owners and parents are counted among the elements.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Node {
    /// An element.
    Element {
        /// Its namespace, empty for none.
        namespace: String,
        /// Its local name.
        local: String,
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
        /// Its normalised value.
        value: String,
    },
    /// A text node.
    Text {
        /// The element it is a child of.
        owner: usize,
        /// Its text.
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
    let text = |from: &[u8], start: u32, end: u32| {
        String::from_utf8_lossy(&from[start as usize..end as usize]).into_owned()
    };
    let mut nodes = Vec::new();
    let mut texts = tree.texts.iter().peekable();
    for (index, element) in tree.elements.iter().enumerate() {
        while let Some(node) = texts.next_if(|node| node.end <= element.text_start) {
            let value = text(&tree.text, node.start, node.end);
            nodes.push(Node::Text {
                owner: node.owner as usize,
                value,
            });
        }
        let (namespace, local) = reader.names().get(element.name);
        let parent = (element.parent != NONE).then_some(element.parent as usize);
        nodes.push(Node::Element {
            namespace: namespace.into(),
            local: local.into(),
            parent,
        });
        let next = tree
            .elements
            .get(index + 1)
            .map(|next| next.attributes as usize);
        let last = next.unwrap_or(tree.attributes.len());
        for attribute in &tree.attributes[element.attributes as usize..last] {
            let (namespace, local) = reader.names().get(attribute.name);
            nodes.push(Node::Attribute {
                owner: index,
                namespace: namespace.into(),
                local: local.into(),
                value: text(&tree.values, attribute.start, attribute.end),
            });
        }
    }
    for node in texts {
        let value = text(&tree.text, node.start, node.end);
        nodes.push(Node::Text {
            owner: node.owner as usize,
            value,
        });
    }
    nodes
}
