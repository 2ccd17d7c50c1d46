//! What the reader makes of documents, to compare it with another one.
//!
//! File names come from the standard input, a line each. Each file gives a line with its name and
//! `ok` or the reason why the reader is unsure, and then a line for each of its nodes, in document
//! order: a JSON array like those of the Python function `outline`.

use std::fmt::Write as _;
use std::io::{BufRead, Write as _};

use twigcast_kernel_core::document::read::{Node, outline};

fn main() -> std::io::Result<()> {
    let mut output = std::io::BufWriter::new(std::io::stdout().lock());
    for name in std::io::stdin().lock().lines() {
        let name = name?;
        match outline(&std::fs::read(&name)?) {
            Ok(nodes) => {
                writeln!(output, "{name}: ok")?;
                for node in nodes {
                    writeln!(output, "{}", line(&node))?;
                }
            }
            Err(reason) => writeln!(output, "{name}: {reason}")?,
        }
    }
    Ok(())
}

fn line(node: &Node) -> String {
    match node {
        Node::Element {
            namespace,
            local,
            prefix,
            parent,
        } => {
            let parent = parent.map_or("null".to_owned(), |parent| parent.to_string());
            format!(
                "[\"element\", {}, {}, {}, {parent}]",
                quoted(namespace),
                quoted(local),
                quoted(prefix)
            )
        }
        Node::Attribute {
            owner,
            namespace,
            local,
            prefix,
            value,
            identifies,
        } => {
            let parts = [namespace, local, prefix, value].map(|part| quoted(part));
            format!(
                "[\"attribute\", {owner}, {}, {identifies}]",
                parts.join(", ")
            )
        }
        Node::Text { owner, value } => format!("[\"text\", {owner}, {}]", quoted(value)),
        Node::Remark {
            owner,
            target,
            value,
        } => {
            let owner = owner.map_or("null".to_owned(), |owner| owner.to_string());
            let target = target.as_deref().map_or("null".to_owned(), quoted);
            format!("[\"remark\", {owner}, {target}, {}]", quoted(value))
        }
    }
}

/// A string as JSON writes it.
fn quoted(text: &str) -> String {
    let mut quoted = String::from('"');
    for character in text.chars() {
        match character {
            '"' | '\\' => quoted.extend(['\\', character]),
            '\0'..='\u{1f}' => {
                write!(quoted, "\\u{:04x}", character as u32).expect("strings take everything");
            }
            _ => quoted.push(character),
        }
    }
    quoted.push('"');
    quoted
}
