//! A tree from events, for documents that were read by somebody else.

use std::sync::Arc;

use crate::document::read::Unsure;
use crate::document::tree::{Attribute, Element, NONE, Names, TextNode, Tree};

/// What happens in a document, in order. Attributes follow the start of their element.
///
/// Names are shared: a document has few, and a namespace can be long.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Event {
    /// An element begins, with this namespace and name, which has its prefix if it has one.
    Start(Arc<str>, Arc<str>),
    /// It has an attribute, with this namespace, name (with its prefix) and value.
    Attribute(Arc<str>, Arc<str>, Box<str>),
    /// A text node, which may be empty.
    Text(Box<str>),
    /// A comment.
    Comment(Box<str>),
    /// A processing instruction: target and content.
    Instruction(Box<str>, Box<str>),
    /// There are declarations.
    Subset,
    /// The element ends.
    End,
}

/// Fills a tree. Fails where the events are no document's.
pub fn build(events: &[Event], names: &mut Names, tree: &mut Tree) -> Result<(), Unsure> {
    tree.clear();
    let mut open: Vec<u32> = Vec::new();
    let mut in_tag = false; // whether an attribute may follow
    for event in events {
        match event {
            Event::Start(namespace, name) => {
                if open.is_empty() && !tree.elements.is_empty() {
                    return Err(Unsure::Nesting);
                }
                let (name, prefix) = numbers(names, namespace, name)?;
                let element = Element {
                    name,
                    prefix,
                    parent: open.last().copied().unwrap_or(NONE),
                    end: 0,
                    attributes: tree.attributes.len() as u32,
                    texts: tree.texts.len() as u32,
                    text_start: tree.text.len() as u32,
                    text_end: 0,
                };
                open.push(tree.elements.len() as u32);
                tree.elements.push(element);
            }
            Event::Attribute(namespace, name, value) => {
                if !in_tag {
                    return Err(Unsure::Nesting);
                }
                let start = tree.values.len() as u32;
                tree.values.extend_from_slice(value.as_bytes());
                let end = tree.values.len() as u32;
                let (name, prefix) = numbers(names, namespace, name)?;
                tree.attributes.push(Attribute {
                    name,
                    prefix,
                    start,
                    end,
                });
            }
            Event::Text(value) => {
                let &owner = open.last().ok_or(Unsure::Nesting)?;
                let start = tree.text.len() as u32;
                tree.text.extend_from_slice(value.as_bytes());
                tree.texts.push(TextNode {
                    owner,
                    start,
                    end: tree.text.len() as u32,
                });
            }
            Event::Comment(content) => {
                let owner = open.last().copied().unwrap_or(NONE);
                tree.push_remark(owner, None, content.as_bytes());
            }
            Event::Instruction(target, content) => {
                let owner = open.last().copied().unwrap_or(NONE);
                tree.push_remark(owner, Some(target.as_bytes()), content.as_bytes());
            }
            Event::Subset => {
                (tree.has_doctype, tree.has_subset) = (true, true);
                (tree.subset_has_remarks, tree.subset_has_nodes) = (true, true);
            }
            Event::End => {
                let element = open.pop().ok_or(Unsure::Nesting)?;
                let end = tree.elements.len() as u32;
                let text_end = tree.text.len() as u32;
                let record = &mut tree.elements[element as usize];
                (record.end, record.text_end) = (end, text_end);
            }
        }
        in_tag = matches!(event, Event::Start(..) | Event::Attribute(..));
    }
    if open.is_empty() && !tree.elements.is_empty() {
        Ok(())
    } else {
        Err(Unsure::Nesting)
    }
}

/// The numbers of a name and of its prefix.
fn numbers(names: &mut Names, namespace: &str, name: &str) -> Result<(u32, u32), Unsure> {
    let (prefix, local) = name.split_once(':').unwrap_or(("", name));
    let prefix = names.namespace(prefix.as_bytes()).ok_or(Unsure::Crowded)?;
    let namespace = names
        .namespace(namespace.as_bytes())
        .ok_or(Unsure::Crowded)?;
    let name = names
        .intern(namespace, local.as_bytes())
        .ok_or(Unsure::Crowded)?;
    Ok((name, prefix))
}
