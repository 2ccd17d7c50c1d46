//! One reader and one tree for many documents: limits, names, and what a document leaves behind.

mod support;

use support::chance::Chance;
use support::reading::play;
use twigcast_kernel_core::document::build::Event;
use twigcast_kernel_core::document::read::{Limits, Reader, Unsure};
use twigcast_kernel_core::document::tree::Tree;

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
        internal_subset_bytes_max: 11,
        is_decoded: false,
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

/// A document that libxml2 has read, of one element with a namespace.
fn handed_over(namespace: &str) -> Vec<Event> {
    vec![Event::Start(namespace.into(), "a".into()), Event::End]
}

#[test]
fn a_namespace_that_came_as_events_is_checked_where_it_is_declared() {
    let (mut reader, mut tree) = (Reader::default(), Tree::default());
    for namespace in ["u v", "1:2", "a%", "http://[", "\u{e9}"] {
        let document = format!("<a xmlns:p='{namespace}'/>");
        for _ in 0..2 {
            reader
                .take(&handed_over(namespace), &mut tree)
                .expect("a document");
            assert_eq!(
                reader.read(document.as_bytes(), &Limits::default(), &mut tree),
                Err(Unsure::Namespace),
                "{namespace}"
            );
        }
    }
    reader
        .take(&handed_over("urn:plain"), &mut tree)
        .expect("a document");
    let plain = b"<a xmlns='urn:plain'/>";
    assert_eq!(reader.read(plain, &Limits::default(), &mut tree), Ok(()));
    assert_eq!(
        reader.names().get(tree.elements[0].name),
        ("urn:plain", "a")
    );
}

#[test]
fn nothing_is_kept_of_a_document_that_was_refused() {
    let refused: [&[u8]; 6] = [
        b"<new/",
        b"<a new='1'><new2/>&e;</a>",
        b"<a xmlns:p='urn:new'><b></a>",
        b"<p:new xmlns:p='urn:new' xmlns:q='u v'/>",
        b"<a><a-name-of-more-than-sixteen-bytes/></b>",
        b"<a/><new/>",
    ];
    for document in refused {
        let (mut reader, mut tree) = (Reader::default(), Tree::default());
        let kept = b"<a xmlns:k='urn:kept' k:x='1'/>";
        assert_eq!(reader.read(kept, &Limits::default(), &mut tree), Ok(()));
        let before = reader.remembered();
        assert!(
            reader
                .read(document, &Limits::default(), &mut tree)
                .is_err()
        );
        let unknown = [("", "new"), ("", "new2"), ("urn:new", "new"), ("", "b")];
        assert!(
            unknown
                .iter()
                .all(|it| reader.names().find(it.0, it.1).is_none()),
            "{document:?}"
        );
        assert!([0, before].contains(&reader.remembered()), "{document:?}");
    }
}

#[test]
fn a_document_of_known_names_that_is_refused_costs_no_memory_of_others() {
    let (mut reader, mut tree) = (Reader::default(), Tree::default());
    let kept = b"<a xmlns:k='urn:kept' k:x='1'/>";
    assert_eq!(reader.read(kept, &Limits::default(), &mut tree), Ok(()));
    assert!(
        reader
            .read(
                b"<a xmlns:k='urn:kept'>&e;</a>",
                &Limits::default(),
                &mut tree
            )
            .is_err()
    );
    assert_eq!((reader.names().len(), reader.names().generation()), (2, 0));
}

#[test]
fn events_that_are_no_document_leave_an_empty_tree() {
    let (mut reader, mut tree) = (Reader::default(), Tree::default());
    let events = [Event::Start("".into(), "a".into())];
    assert_eq!(reader.take(&events, &mut tree), Err(Unsure::Nesting));
    assert!(tree.elements.is_empty());
}

/// Names that hash alike under `rustc-hash`, whatever its seed: their third block of sixteen bytes
/// begins with what the first block was mixed to, so that what it ends with is multiplied by zero.
fn colliding_names(count: usize) -> Vec<String> {
    fn mixed(one: u64, other: u64) -> u64 {
        let product = u128::from(one) * u128::from(other);
        product as u64 ^ (product >> 64) as u64
    }
    let (seed, more) = (0x243f_6a88_85a3_08d3_u64, 0xa409_3822_299f_31d0_u64);
    let word = |text: &[u8]| u64::from_le_bytes(text.try_into().expect("eight bytes"));
    let letter = |byte: &u8| byte.is_ascii_alphanumeric();
    let mut starts = (0..).map(|number: u64| format!("n{number:015}"));
    let (start, third) = starts
        .find_map(|start| {
            let (x, y) = start.as_bytes().split_at(8);
            let third = mixed(seed ^ word(x), more ^ word(y)).to_le_bytes();
            let third = third.iter().all(letter).then_some(third)?;
            Some((start, String::from_utf8_lossy(&third).into_owned()))
        })
        .expect("there are many");
    let end = "0123456789abcdef";
    let names = (0..count).map(|number| format!("{start}{end}{third}{number:08}{end}"));
    names.collect()
}

#[test]
fn names_that_were_chosen_to_collide_are_told_apart() {
    let names = colliding_names(2_000);
    let (mut reader, mut tree) = (Reader::default(), Tree::default());
    let elements: String = names.iter().map(|name| format!("<{name}/>")).collect();
    let document = format!("<r>{elements}</r>");
    assert_eq!(
        reader.read(document.as_bytes(), &Limits::default(), &mut tree),
        Ok(())
    );
    let mut events = vec![Event::Start("".into(), "r".into())];
    for name in &names {
        events.extend([Event::Start("".into(), name.as_str().into()), Event::End]);
    }
    events.push(Event::End);
    let (mut reader, mut tree) = (Reader::default(), Tree::default());
    assert_eq!(reader.take(&events, &mut tree), Ok(()));
    assert_eq!(reader.names().len(), 2_001);
}

/// Pieces of documents, right and wrong ones, whose names and namespaces meet again and again.
const PIECES: &[&str] = &[
    "<a>",
    "</a>",
    "<a/>",
    "<p:a>",
    "</p:a>",
    "<p:a/>",
    "<q:b/>",
    "<b x=''/>",
    "<a p:x='' q:x=''/>",
    "<a xmlns='u'>",
    "<a xmlns='u v'>",
    "<a xmlns:p='u'>",
    "<a xmlns:p='u v'>",
    "<a xmlns=''>",
    "<a xmlns:q='u' xmlns:p='rel'>",
    "<b xmlns:q='1:2'/>",
    "<a xmlns:p='u' xmlns:p='u'/>",
    "</b>",
    "<a-name-of-more-than-sixteen-bytes>",
    "</a-name-of-more-than-sixteen-bytes>",
    "<xml:a/>",
    "<a xml:id='i'/>",
    "<p:a-name-of-more-than-sixteen-bytes xmlns:p='w'/>",
    "t",
    "&amp;",
    "&e;",
    "<xmlns:a/>",
    "<a xmlns:xml='u'/>",
    "<\u{e9}/>",
    "<a:b:c/>",
    "<a&/>",
    "<a b/>",
    "]]>",
    "<!---->",
];

fn made_up(chance: &mut Chance) -> String {
    let pieces: String = (0..chance.below(7)).map(|_| chance.pick(PIECES)).collect();
    match chance.below(4) {
        0 => pieces,
        1 => format!("<a xmlns:p='u'>{pieces}</a>"),
        2 => format!("<p:a xmlns:p='w' xmlns='u'>{pieces}</p:a>"),
        _ => format!("<a>{pieces}</a>"),
    }
}

/// What a reader makes of a document: every name in it, and all its texts; or why it would not.
fn read(reader: &mut Reader, tree: &mut Tree, document: &str) -> Result<Vec<String>, Unsure> {
    reader.read(document.as_bytes(), &Limits::default(), tree)?;
    let names = tree.elements.iter().map(|it| it.name);
    let names = names.chain(tree.attributes.iter().map(|it| it.name));
    let mut texts: Vec<String> = names
        .map(|name| format!("{:?}", reader.names().get(name)))
        .collect();
    texts.push(format!("{:?} {:?}", tree.text, tree.values));
    Ok(texts)
}

#[test]
fn a_reader_with_any_past_reads_as_a_fresh_one_does() {
    for seed in 0..300 {
        let mut chance = Chance::new(seed);
        let (mut warm, mut tree) = (Reader::default(), Tree::default());
        let (mut taken, mut refused) = (0, 0);
        for _ in 0..100 {
            if chance.one_in(5) {
                let namespace = chance.pick(&["u", "u v", "rel", "1:2", "w", "", "%"]);
                let events = [
                    Event::Start(namespace.into(), chance.pick(&["a", "b", "p:a"]).into()),
                    Event::Attribute(namespace.into(), "x".into(), "".into()),
                    Event::End,
                ];
                let whole = chance.pick(&[2, 3, 3]);
                assert_eq!(warm.take(&events[..whole], &mut tree).is_ok(), whole == 3);
            }
            let document = made_up(&mut chance);
            let fresh = read(&mut Reader::default(), &mut Tree::default(), &document);
            assert_eq!(
                read(&mut warm, &mut tree, &document),
                fresh,
                "seed {seed}: {document}"
            );
            if fresh.is_ok() {
                taken += 1;
            } else {
                refused += 1;
            }
        }
        assert!(taken > 0 && refused > 0, "seed {seed}");
    }
}
