//! One reader and one tree for many documents: limits, names, and what a document leaves behind.

mod support;

use support::reading::play;
use twigcast_kernel_core::read::{Limits, Reader, Unsure};
use twigcast_kernel_core::tree::Tree;

fn outcome(document: &str, limits: Limits) -> Result<(), Unsure> {
    Reader::default().read(document.as_bytes(), &limits, &mut Tree::default())
}

#[test]
fn limits_are_the_most_that_is_taken() {
    let limits = Limits {
        bytes_max: 60,
        elements_max: 3,
        depth_max: 2,
        attributes_max: 2,
        name_length_max: 9,
    };
    let cases = [
        (
            "bytes",
            format!("<a>{}</a>", "t".repeat(53)),
            format!("<a>{}</a>", "t".repeat(54)),
        ),
        (
            "elements",
            "<a><b/><c/></a>".into(),
            "<a><b/><c/><d/></a>".into(),
        ),
        ("levels", "<a><b/></a>".into(), "<a><b><c/></b></a>".into()),
        (
            "attributes",
            "<a x='' y='' xmlns='u'/>".into(),
            "<a x='' y='' z=''/>".into(),
        ),
        ("a name", "<n12345678/>".into(), "<n123456789/>".into()),
        (
            "a name",
            "<a n12345678=''/>".into(),
            "<a n123456789=''/>".into(),
        ),
        (
            "a namespace",
            "<a xmlns='n12345678'/>".into(),
            "<a xmlns='n123456789'/>".into(),
        ),
    ];
    for (what, within, beyond) in cases {
        assert_eq!(outcome(&within, limits), Ok(()), "{what}");
        assert_eq!(outcome(&beyond, limits), Err(Unsure::Limit(what)));
    }
}

#[test]
fn no_limit_reaches_beyond_the_depth_of_libxml2() {
    let nested = |levels| format!("{}{}", "<a>".repeat(levels), "</a>".repeat(levels));
    let limits = Limits {
        depth_max: 1_000,
        ..Limits::default()
    };
    assert_eq!(outcome(&nested(256), limits), Ok(()));
    assert_eq!(outcome(&nested(257), limits), Err(Unsure::Limit("levels")));
}

#[test]
fn a_tree_is_empty_when_the_reader_is_unsure() {
    let (mut reader, mut tree) = (Reader::default(), Tree::default());
    reader
        .read(b"<a x='1'>t</a>", &Limits::default(), &mut tree)
        .expect("a plain document");
    assert_eq!(
        (tree.elements.len(), tree.attributes.len(), tree.texts.len()),
        (1, 1, 1)
    );
    assert!(
        reader
            .read(b"<a x='1'>t</b>", &Limits::default(), &mut tree)
            .is_err()
    );
    assert!(tree.elements.is_empty() && tree.attributes.is_empty() && tree.texts.is_empty());
    assert!(tree.text.is_empty() && tree.values.is_empty());
}

#[test]
fn a_document_that_breaks_off_leaves_no_declaration_behind() {
    let (mut reader, mut tree) = (Reader::default(), Tree::default());
    assert!(
        reader
            .read(
                b"<a xmlns='u' xmlns:p='v'><b>",
                &Limits::default(),
                &mut tree
            )
            .is_err()
    );
    assert_eq!(
        reader.read(b"<p:a/>", &Limits::default(), &mut tree),
        Err(Unsure::Namespace)
    );
    assert!(
        reader
            .read(b"<c xmlns:q='v' <", &Limits::default(), &mut tree)
            .is_err()
    );
    assert_eq!(reader.read(b"<a/>", &Limits::default(), &mut tree), Ok(()));
    assert_eq!(reader.names().get(tree.elements[0].name), ("", "a"));
}

#[test]
fn string_values_are_slices_of_the_text() {
    let (mut reader, mut tree) = (Reader::default(), Tree::default());
    let document = b"<a>1<b>2<c/>3</b><!--x-->4<d>5</d></a>";
    reader
        .read(document, &Limits::default(), &mut tree)
        .expect("a plain document");
    let values: Vec<_> = tree
        .elements
        .iter()
        .map(|element| &tree.text[element.text_start as usize..element.text_end as usize])
        .collect();
    assert_eq!(values, [&b"12345"[..], b"23", b"", b"5"]);
    let ends: Vec<_> = tree.elements.iter().map(|element| element.end).collect();
    assert_eq!(ends, [4, 3, 3, 4]);
}

#[test]
fn names_keep_their_numbers_from_document_to_document() {
    let (mut reader, mut tree) = (Reader::default(), Tree::default());
    reader
        .read(b"<a xmlns:p='u' p:x='1'/>", &Limits::default(), &mut tree)
        .expect("plain");
    let (element, attribute) = (tree.elements[0].name, tree.attributes[0].name);
    reader
        .read(
            b"<b><q:x xmlns:q='u'/><a/></b>",
            &Limits::default(),
            &mut tree,
        )
        .expect("plain");
    assert_eq!(
        (tree.elements[1].name, tree.elements[2].name),
        (attribute, element)
    );
    assert_eq!(reader.names().find("u", "x"), Some(attribute));
    assert_eq!(reader.names().find("", "x"), None);
    assert_eq!((reader.names().len(), reader.names().generation()), (3, 0));
}

#[test]
fn too_many_names_are_forgotten_before_the_next_document() {
    let (mut reader, mut tree) = (Reader::default(), Tree::default());
    let many: String = (0..70_000).map(|number| format!("<n{number}/>")).collect();
    let document = format!("<r>{many}</r>");
    reader
        .read(document.as_bytes(), &Limits::default(), &mut tree)
        .expect("plain");
    assert_eq!(
        reader.names().get(tree.elements[70_000].name),
        ("", "n69999")
    );
    assert_eq!(reader.names().generation(), 0);
    reader
        .read(b"<r/>", &Limits::default(), &mut tree)
        .expect("plain");
    assert_eq!((reader.names().len(), reader.names().generation()), (1, 1));
    assert_eq!(reader.names().get(tree.elements[0].name), ("", "r"));
}

#[test]
fn no_cut_and_no_changed_byte_makes_the_reader_panic() {
    let document = "\u{feff}<?xml version='1.0' encoding='UTF-8'?><!DOCTYPE a SYSTEM 'b'><p:a \
        xmlns:p='urn:x' xml:id='i' é=\"1&#65;\">t&lt;\r\n<![CDATA[x]]><!--c--><?q r?><b/></p:a><!--d-->";
    let (mut reader, mut tree) = (Reader::default(), Tree::default());
    let bytes = document.as_bytes();
    assert_eq!(reader.read(bytes, &Limits::default(), &mut tree), Ok(()));
    for place in 0..bytes.len() {
        let whole = reader.read(&bytes[..place], &Limits::default(), &mut tree);
        assert_eq!(
            whole.is_ok(),
            place == bytes.len() - "<!--d-->".len(),
            "{place}"
        );
        for byte in 0..=255 {
            let mut changed = bytes.to_vec();
            changed[place] = byte;
            if reader.read(&changed, &Limits::default(), &mut tree).is_ok() {
                assert!(!tree.elements.is_empty());
            }
        }
    }
}

#[test]
fn what_a_reader_sees_does_not_depend_on_what_it_has_read() {
    let sure: usize = (0..40).map(|seed| play(seed, 100)).sum();
    assert!((400..3_600).contains(&sure), "{sure}");
}
