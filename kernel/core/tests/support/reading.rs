//! One reader for many documents, compared with a new one for each.

use twigcast_kernel_core::document::read::{Limits, Reader, Unsure};
use twigcast_kernel_core::document::tree::Tree;

use super::chance::Chance;
use super::documents::{Document, Shape, changed};

/// Declarations, references and bytes that readers have to be careful with, to be put anywhere.
const PIECES: [&[u8]; 34] = [
    b" xmlns='u'",
    b" xmlns='u v'",
    b" xmlns='rel'",
    b" xmlns=''",
    b" xmlns:p='u v'",
    b" xmlns:p=''",
    b" xmlns:q='urn:p'",
    b" p:x='1'",
    b" q:x='1'",
    b" xml:id='i'",
    b" xml:id='1'",
    b" xml:space='x'",
    b"&#xDC00;",
    b"&#xD800;",
    b"&#0;",
    b"&#13;",
    b"&e;",
    b"&lt;",
    b"<![CDATA[",
    b"]]>",
    b"<!--",
    b"-->",
    b"<?a?>",
    b"<!DOCTYPE a>",
    b"\r\n",
    b"\0",
    b"\xc3\xa9",
    b"\xed\xa0\x80",
    b"\xef\xbb\xbf",
    b"\xff",
    b"<p:a/>",
    b"<b>",
    b"</b>",
    b"<\xc3\xa9/>",
];

/// What may stand in front of a document.
const DECLARATIONS: [&str; 6] = [
    "<!DOCTYPE a SYSTEM 'a.dtd'>",
    "<!DOCTYPE a [<!ENTITY e '<b x=\"&f;\">1</b>2'><!ENTITY f '3'>]>",
    "<!DOCTYPE a SYSTEM 'a.dtd' [<!ATTLIST a x NMTOKEN #IMPLIED><!ATTLIST b x ID 'd'>]>",
    "<!DOCTYPE a [<!ENTITY e '<p:a xmlns:p=\"urn:e\"/>&f;'><!ENTITY f '<c/>&#60;b>4</b>'>%p;]>",
    "<?xml version='1.0' encoding='ISO-8859-2'?>",
    "<!DOCTYPE a [<!ENTITY e '<b>'>]>",
];

/// A reader that has read before, and the tree it reads into.
#[derive(Default)]
pub struct Warm {
    reader: Reader,
    tree: Tree,
}

impl Warm {
    /// Reads a document, and panics if a new reader sees another one in it.
    pub fn compare(&mut self, content: &[u8]) -> Result<(), Unsure> {
        let (mut reader, mut tree) = (Reader::default(), Tree::default());
        let fresh = reader.read(content, &Limits::default(), &mut tree);
        let warm = self
            .reader
            .read(content, &Limits::default(), &mut self.tree);
        let shown = String::from_utf8_lossy(content);
        assert_eq!(warm, fresh, "{shown}");
        assert_eq!(
            shape(&self.reader, &self.tree),
            shape(&reader, &tree),
            "{shown}"
        );
        warm
    }
}

/// All that a tree holds, with names in the place of their numbers.
fn shape(reader: &Reader, tree: &Tree) -> String {
    let mut shape = format!("{:?} {:?} {:?}", tree.texts, tree.text, tree.values);
    shape += &format!("{:?} {:?}", tree.remarks, tree.remark_text);
    shape += &format!("{:?} {:?}", tree.identifiers, tree.has_subset);
    for element in &tree.elements {
        let mut element = *element;
        shape += &format!("{:?}", reader.names().get(element.name));
        shape += reader.names().prefix(element.prefix);
        (element.name, element.prefix) = (0, 0);
        shape += &format!("{element:?}");
    }
    for attribute in &tree.attributes {
        let name = reader.names().get(attribute.name);
        let prefix = reader.names().prefix(attribute.prefix);
        shape += &format!("{prefix:?} {name:?} {} {}", attribute.start, attribute.end);
    }
    shape
}

/// A document, whole or damaged.
pub fn random_content(chance: &mut Chance) -> Vec<u8> {
    let shape = Shape::any(chance);
    let mut content = Document::grown(chance, shape).written(chance).into_bytes();
    while chance.one_in(2) {
        let (place, piece) = (chance.below(content.len()), chance.pick(&PIECES));
        // Most pieces belong behind a name, into a start tag.
        let behind = content[place..].iter().position(|it| b" />".contains(it));
        let place = place + behind.unwrap_or(0);
        content.splice(place..place, piece.iter().copied());
    }
    if chance.one_in(3) {
        content = changed(chance, content);
    }
    if chance.one_in(4) {
        content.splice(0..0, chance.pick(&DECLARATIONS).bytes());
    }
    if chance.one_in(16)
        && let Ok(text) = std::str::from_utf8(&content)
    {
        let wide = text.encode_utf16().flat_map(u16::to_le_bytes);
        content = b"\xff\xfe".iter().copied().chain(wide).collect();
    }
    content
}

/// Plays one case: so many documents to one reader; how many it was sure of.
pub fn play(seed: u64, documents: usize) -> usize {
    let mut chance = Chance::new(seed);
    let mut warm = Warm::default();
    (0..documents)
        .filter(|_| warm.compare(&random_content(&mut chance)).is_ok())
        .count()
}
