//! Random documents: first the nodes, then one of the many ways to write them as XML.

use twigcast_kernel_core::document::build::Event;
use twigcast_kernel_core::document::read::{self, Unsure};
use twigcast_kernel_core::pattern::Kind;

use super::chance::Chance;

/// Names of elements.
pub const ELEMENTS: [&str; 4] = ["a", "b", "c", "d"];
/// Names of attributes; one is an element's too.
pub const ATTRIBUTES: [&str; 3] = ["x", "a", "y"];
/// Namespaces; most names have none.
pub const NAMESPACES: [&str; 3] = ["", "urn:p", "urn:q"];
/// Values of attributes and texts: numbers, what nearly is one, and words that begin alike.
pub const VALUES: [&str; 20] = [
    "1", "2", "3", "10", "-1", "0", "-0", "0.5", ".5", "2.", "1e1", " 2 ", "+1", "-", "a", "ab",
    "abc", "b", "é<&>", "a a",
];

/// A node; its number in the document is its place in document order.
#[derive(Clone, Debug)]
pub struct Node {
    /// What it is; `None` for the document node.
    pub kind: Option<Kind>,
    /// Its namespace, empty for none.
    pub namespace: String,
    /// Its local name, empty for texts.
    pub local: String,
    /// Its string-value.
    pub value: String,
    /// Its attributes, then what is inside.
    pub children: Vec<usize>,
}

/// A document; node 0 is the document node.
#[derive(Clone, Debug)]
pub struct Document {
    /// The nodes in document order.
    pub nodes: Vec<Node>,
}

/// How large documents become.
#[derive(Clone, Copy, Debug)]
pub struct Shape {
    /// Roughly how many elements there may be.
    pub elements: usize,
    /// How many may be inside each other.
    pub depth: usize,
    /// One more than an element has children.
    pub width: usize,
}

impl Shape {
    /// Small documents mostly; now and then a larger or a deep one.
    pub fn any(chance: &mut Chance) -> Self {
        let (elements, depth, width) = chance.pick(&[
            (14, 5, 5),
            (14, 5, 5),
            (14, 5, 5),
            (25, 3, 9),
            (25, 3, 9),
            (70, 6, 5),
            (30, 30, 5),
            (1, 1, 5),
        ]);
        Shape {
            elements,
            depth,
            width,
        }
    }
}

impl Document {
    /// A random document.
    pub fn grown(chance: &mut Chance, shape: Shape) -> Self {
        let mut document = Document { nodes: Vec::new() };
        document.put(None, "", "");
        let mut left = shape.elements.saturating_sub(1);
        let name = random_name(chance);
        document.element(chance, 0, name, shape, &mut left);
        document.fill_values(0);
        document
    }

    /// The document that the reader takes these bytes for.
    pub fn read(content: &[u8]) -> Result<Self, Unsure> {
        let mut document = Document { nodes: Vec::new() };
        document.put(None, "", "");
        let mut elements = Vec::new();
        for node in read::outline(content)? {
            let (above, made) = match node {
                read::Node::Element {
                    namespace,
                    local,
                    parent,
                    ..
                } => {
                    let made = document.put(Some(Kind::Element), &namespace, &local);
                    elements.push(made);
                    (parent.map_or(0, |it| elements[it]), made)
                }
                read::Node::Attribute {
                    owner,
                    namespace,
                    local,
                    value,
                    ..
                } => {
                    let made = document.put(Some(Kind::Attribute), &namespace, &local);
                    document.nodes[made].value = value;
                    (elements[owner], made)
                }
                read::Node::Text { owner, value } => {
                    let made = document.put(Some(Kind::Text), "", "");
                    document.nodes[made].value = value;
                    (elements[owner], made)
                }
                read::Node::Remark { .. } => continue,
            };
            document.nodes[above].children.push(made);
        }
        document.fill_values(0);
        Ok(document)
    }

    /// The same document with some of its texts empty, as only another parser reports it.
    pub fn emptied(mut self, chance: &mut Chance) -> Self {
        for node in &mut self.nodes {
            if node.kind == Some(Kind::Text) && chance.one_in(2) {
                node.value.clear();
            }
        }
        self.fill_values(0);
        self
    }

    /// What happens in the document, as another parser would report it.
    pub fn events(&self) -> Vec<Event> {
        let mut events = Vec::new();
        self.push_events(self.nodes[0].children[0], &mut events);
        events
    }

    fn push_events(&self, node: usize, events: &mut Vec<Event>) {
        let Node {
            namespace, local, ..
        } = self.nodes[node].clone();
        let value = || self.nodes[node].value.clone();
        match self.nodes[node].kind {
            Some(Kind::Attribute) => events.push(Event::Attribute(
                namespace.into(),
                local.into(),
                value().into(),
            )),
            Some(Kind::Text) => events.push(Event::Text(value().into())),
            _ => {
                events.push(Event::Start(namespace.into(), local.into()));
                let children = &self.nodes[node].children;
                children
                    .iter()
                    .for_each(|&child| self.push_events(child, events));
                events.push(Event::End);
            }
        }
    }

    fn put(&mut self, kind: Option<Kind>, namespace: &str, local: &str) -> usize {
        self.nodes.push(Node {
            kind,
            namespace: namespace.into(),
            local: local.into(),
            value: String::new(),
            children: Vec::new(),
        });
        self.nodes.len() - 1
    }

    fn leaf(&mut self, owner: usize, kind: Kind, name: (&str, &str), value: &str) {
        let made = self.put(Some(kind), name.0, name.1);
        self.nodes[made].value = value.into();
        self.nodes[owner].children.push(made);
    }

    /// An element and what is inside. Many have children of one name, like the records of a table.
    fn element(
        &mut self,
        chance: &mut Chance,
        above: usize,
        (namespace, local): (&str, &str),
        shape: Shape,
        left: &mut usize,
    ) {
        let made = self.put(Some(Kind::Element), namespace, local);
        self.nodes[above].children.push(made);
        for local in ATTRIBUTES {
            if chance.one_in(4) {
                let name = (random_namespace(chance), local);
                self.leaf(made, Kind::Attribute, name, chance.word(&VALUES));
            }
        }
        let least = if above == 0 {
            3
        } else {
            usize::from(shape.depth > 6)
        };
        let children = chance.below(shape.width).max(least);
        let record = chance.one_in(2).then(|| random_name(chance));
        for _ in 0..children {
            if chance.one_in(3) {
                self.leaf(made, Kind::Text, ("", ""), chance.word(&VALUES));
            } else if *left > 0 && shape.depth > 1 {
                *left -= 1;
                let name = record.unwrap_or_else(|| random_name(chance));
                let depth = shape.depth - 1;
                self.element(chance, made, name, Shape { depth, ..shape }, left);
            }
        }
    }

    /// The string-values of elements: all texts inside, in order.
    fn fill_values(&mut self, node: usize) -> String {
        let children = self.nodes[node].children.clone();
        let mut value = String::new();
        for child in children {
            match self.nodes[child].kind {
                Some(Kind::Element) => value += &self.fill_values(child),
                Some(Kind::Text) => value += &self.nodes[child].value,
                _ => {}
            }
        }
        self.nodes[node].value.clone_from(&value);
        value
    }

    /// The document as XML, in one of many ways.
    pub fn written(&self, chance: &mut Chance) -> String {
        let mut out = String::new();
        if chance.one_in(3) {
            out += "<?xml version='1.0' encoding='UTF-8'?>\n<!-- <a/> -->";
        }
        let root = self.nodes[0].children[0];
        self.write_element(chance, root, None, &mut out);
        if chance.one_in(5) {
            out += "<?end a?>";
        }
        out
    }

    /// `default` is the default namespace around; `None` outside the root.
    fn write_element(
        &self,
        chance: &mut Chance,
        node: usize,
        default: Option<&str>,
        out: &mut String,
    ) {
        let Node {
            namespace,
            local,
            children,
            ..
        } = &self.nodes[node];
        let plain = namespace.is_empty() || chance.one_in(3);
        let tag = if plain {
            local.clone()
        } else {
            format!("{}:{local}", prefix(namespace))
        };
        *out += &format!("<{tag}");
        if default.is_none() {
            *out += " xmlns:p='urn:p' xmlns:q=\"urn:q\"";
        }
        let mut inside = default.unwrap_or("");
        if plain && namespace != inside {
            *out += &format!(" xmlns='{namespace}'");
            inside = namespace;
        }
        let is_attribute = |child: &&usize| self.nodes[**child].kind == Some(Kind::Attribute);
        for &child in children.iter().filter(is_attribute) {
            let Node {
                namespace,
                local,
                value,
                ..
            } = &self.nodes[child];
            let colon = if namespace.is_empty() { "" } else { ":" };
            let name = format!("{}{colon}{local}", prefix(namespace));
            *out += &format!(" {name}=\"{}\"", escaped(chance, value));
        }
        if self.nodes[node].children.iter().all(|it| is_attribute(&it)) && chance.one_in(2) {
            *out += "/>";
            return;
        }
        *out += ">";
        self.write_content(chance, node, inside, out);
        *out += &format!("</{tag}>");
    }

    fn write_content(&self, chance: &mut Chance, node: usize, default: &str, out: &mut String) {
        let mut after_text = false;
        for &child in &self.nodes[node].children {
            let Node { kind, value, .. } = &self.nodes[child];
            if *kind == Some(Kind::Attribute) {
                continue;
            }
            // Two texts in a row are two nodes only if something invisible parts them.
            if after_text && *kind == Some(Kind::Text) || chance.one_in(12) {
                *out += chance.pick(&["<!--a-->", "<?a b?>", "<!----><?a?>"]);
            }
            after_text = *kind == Some(Kind::Text);
            if after_text {
                write_text(chance, value, out);
            } else {
                self.write_element(chance, child, Some(default), out);
            }
        }
    }
}

fn random_name(chance: &mut Chance) -> (&'static str, &'static str) {
    (random_namespace(chance), chance.word(&ELEMENTS))
}

fn random_namespace(chance: &mut Chance) -> &'static str {
    if chance.one_in(8) {
        chance.pick(&NAMESPACES)
    } else {
        ""
    }
}

fn prefix(namespace: &str) -> &str {
    namespace.strip_prefix("urn:").unwrap_or("")
}

fn write_text(chance: &mut Chance, text: &str, out: &mut String) {
    if chance.one_in(4) {
        *out += &format!("<![CDATA[{text}]]>");
    } else if chance.one_in(4) {
        let middle = text.chars().next().map_or(0, char::len_utf8);
        *out += &format!(
            "{}<![CDATA[{}]]>",
            escaped(chance, &text[..middle]),
            &text[middle..]
        );
    } else {
        *out += &escaped(chance, text);
    }
}

fn escaped(chance: &mut Chance, text: &str) -> String {
    let mut out = String::new();
    for character in text.chars() {
        if matches!(character, '<' | '&' | '>') || chance.one_in(12) {
            out += &format!("&#{};", u32::from(character));
        } else {
            out.push(character);
        }
    }
    out
}

/// Some bytes copied to elsewhere, cut out or exchanged: markup gets into new places.
pub fn changed(chance: &mut Chance, mut content: Vec<u8>) -> Vec<u8> {
    for _ in 0..=chance.below(3) {
        let (from, to) = (chance.below(content.len()), chance.below(content.len()));
        let end = (from + 1 + chance.below(12)).min(content.len());
        match chance.below(4) {
            0 => content[to] = chance.pick(b"<>&'\"/ =;ab1\n-]"),
            1 if end - from < content.len() => drop(content.drain(from..end)),
            _ => {
                let piece = content[from..end].to_vec();
                content.splice(to..to, piece);
            }
        }
    }
    content
}
