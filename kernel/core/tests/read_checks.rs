//! Every check of the reader: what it takes, as which nodes, and what it leaves to libxml2.

use twigcast_kernel_core::document::read::{Limits, Node, Reader, Unsure, outline};
use twigcast_kernel_core::document::tree::{NONE, Tree};

/// A document's nodes in one line: `{namespace}name`, `@name=value`, `"text"`.
fn taken(document: &str) -> String {
    let nodes =
        outline(document.as_bytes()).unwrap_or_else(|reason| panic!("{document}: {reason}"));
    let full = |namespace: &str, local: &str| match namespace {
        "" => local.to_owned(),
        _ => format!("{{{namespace}}}{local}"),
    };
    let texts = nodes.iter().filter_map(|node| match node {
        Node::Element {
            namespace, local, ..
        } => Some(full(namespace, local)),
        Node::Attribute {
            namespace,
            local,
            value,
            ..
        } => Some(format!("@{}={value}", full(namespace, local))),
        Node::Text { value, .. } => Some(format!("{value:?}")),
        Node::Remark { .. } => None,
    });
    texts.collect::<Vec<_>>().join(" ")
}

fn assert_unsure(reason: Unsure, documents: &[&str]) {
    for document in documents {
        assert_eq!(outline(document.as_bytes()), Err(reason), "{document}");
    }
}

#[test]
fn elements_attributes_and_texts_come_in_document_order() {
    assert_eq!(
        taken("<a x='1' y=\"2\">s<b z='3'>t</b>u<c/></a>"),
        r#"a @x=1 @y=2 "s" b @z=3 "t" "u" c"#
    );
}

#[test]
fn parents_and_owners_are_counted_among_the_elements() {
    let nodes = outline(b"<a><b>t</b><c><d x='1'/></c></a>").expect("a plain document");
    let owners: Vec<_> = nodes
        .iter()
        .map(|node| match node {
            Node::Element { parent, .. } => *parent,
            Node::Attribute { owner, .. } | Node::Text { owner, .. } => Some(*owner),
            Node::Remark { owner, .. } => *owner,
        })
        .collect();
    assert_eq!(owners, [None, Some(0), Some(1), Some(0), Some(2), Some(3)]);
}

#[test]
fn a_text_node_ends_at_tags_comments_and_instructions_but_not_at_sections() {
    assert_eq!(
        taken("<a>s<![CDATA[<t>]]>&amp;&#117;<!--c-->v<?p i?>w</a>"),
        r#"a "s<t>&u" "v" "w""#
    );
    assert_eq!(taken("<a>s<![CDATA[]]></a>"), r#"a "s""#);
    assert_unsure(
        Unsure::EmptySection,
        &["<a><![CDATA[]]></a>", "<a>s<b/><![CDATA[]]><c/></a>"],
    );
}

#[test]
fn line_ends_are_normalised_but_not_references_to_them() {
    assert_eq!(
        taken("<a>1\r\n2\r3\n&#13;&#10;<![CDATA[\r\n]]></a>"),
        r#"a "1\n2\n3\n\r\n\n""#
    );
}

#[test]
fn white_space_in_values_becomes_blanks_but_not_references_to_it() {
    assert_eq!(
        taken("<a x='1\t2\n3\r\n4\r5&#9;&#xA;&#xD;'/>"),
        "a @x=1 2 3 4 5\t\n\r"
    );
    assert_eq!(
        taken("<a x=' \"1\" ' y='a long value of many words'/>"),
        "a @x= \"1\"  @y=a long value of many words"
    );
}

#[test]
fn references_stand_for_characters() {
    assert_eq!(
        taken("<a x='&lt;&quot;&apos;'>&lt;&gt;&amp;&#65;&#x1F600;</a>"),
        "a @x=<\"' \"<>&A😀\""
    );
    assert_unsure(
        Unsure::Entity,
        &[
            "<a>&e;</a>",
            "<a>&</a>",
            "<a>& </a>",
            "<a x='&e;'/>",
            "<a>&amp </a>",
        ],
    );
    assert_unsure(
        Unsure::Reference,
        &[
            "<a>&#0;</a>",
            "<a>&#xD800;</a>",
            "<a>&#xFFFE;</a>",
            "<a>&#x110000;</a>",
            "<a>&#;</a>",
            "<a>&#x;</a>",
            "<a>&#65</a>",
            "<a>&#XA;</a>",
            "<a>&#11;</a>",
            "<a>&#99999999999;</a>",
            "<a x='&#1;'/>",
        ],
    );
}

#[test]
fn characters_that_xml_forbids_are_found_anywhere() {
    for place in [
        "<a>\u{1}</a>",
        "<a x='\u{b}'/>",
        "<a><!--\u{1f}--></a>",
        "<a/>\0",
        "<a>\u{ffff}</a>",
        "<a><?p \u{fffe}?></a>",
    ] {
        assert_eq!(
            outline(place.as_bytes()),
            Err(Unsure::Character),
            "{place:?}"
        );
    }
    assert_eq!(
        taken("<a>\u{7f}\u{85}\u{fffd}\u{1ffff}</a>"),
        "a \"\\u{7f}\\u{85}\u{fffd}\\u{1ffff}\""
    );
}

#[test]
fn bytes_that_are_not_utf_8_are_left_to_libxml2() {
    for bytes in [
        &b"<a>\xff</a>"[..],
        b"<a>\xc0\xaf</a>",
        b"<a>\xed\xa0\x80</a>",
        b"<?xml version='1.0' encoding='windows-1252'?><a>\x81</a>",
        b"<?xml version='1.0' encoding='windows-1255'?><a>\xe0</a>",
        b"\xfe\xff\0<\0a\0/\0>\0",
        b"\xfe\xff\0<\0a\0>\xdc\0\0<\0/\0a\0>",
        b"\xff\xfe\0\0<\0\0\0",
    ] {
        assert_eq!(outline(bytes), Err(Unsure::Encoding));
    }
}

#[test]
fn names_are_those_of_the_fifth_edition() {
    assert_eq!(
        taken("<a.b-c_1 é·='1'><Ω/><\u{10000}/></a.b-c_1>"),
        "a.b-c_1 @é·=1 Ω \u{10000}"
    );
    assert_unsure(
        Unsure::Name,
        &[
            "<1/>",
            "<-a/>",
            "<a:1/>",
            "<·a/>",
            "<a ×='1'/>",
            "<×/>",
            "< a/>",
            "<a:b:c xmlns:a='u'/>",
            "<:a/>",
            "<a: xmlns:a='u'/>",
            "<a x:='1'/>",
            "<a ='1'/>",
            "<\u{f0000}/>",
        ],
    );
    let long = format!("<{}/>", "a".repeat(50_001));
    assert_eq!(outline(long.as_bytes()), Err(Unsure::Limit("a name")));
}

#[test]
fn short_and_long_names_are_told_apart_by_all_their_bytes() {
    let names: Vec<_> = (1..40)
        .map(|length| "abcdefghij".repeat(4)[..length].to_owned())
        .collect();
    let tags: String = names
        .iter()
        .map(|name| format!("<{name} {name}=''></{name}>"))
        .collect();
    let texts: Vec<_> = names
        .iter()
        .map(|name| format!("{name} @{name}="))
        .collect();
    assert_eq!(
        taken(&format!("<r>{tags}</r>")),
        format!("r {}", texts.join(" "))
    );
}

#[test]
fn prefixes_stand_for_namespaces_even_those_declared_behind_them() {
    assert_eq!(
        taken("<p:a p:x='1' y='2' xmlns:p='u'><b xmlns='v' z='3'><c/></b><b/></p:a>"),
        "{u}a @{u}x=1 @y=2 {v}b @z=3 {v}c b"
    );
    assert_eq!(taken("<a xmlns='u'><b xmlns=''/><c/></a>"), "{u}a b {u}c");
    assert_eq!(
        taken("<p:a xmlns:p='u'><p:a xmlns:p='v'/><p:a/></p:a>"),
        "{u}a {v}a {u}a"
    );
    let xml = "http://www.w3.org/XML/1998/namespace";
    assert_eq!(taken("<a xml:lang='en'/>"), format!("a @{{{xml}}}lang=en"));
    assert_eq!(taken(&format!("<a xmlns:xml='{xml}'/>")), "a");
}

#[test]
fn a_scope_is_the_same_wherever_it_comes_again() {
    assert_eq!(
        taken("<r><a xmlns='u'/><a/><a xmlns='u'/><a xmlns='v'/><a xmlns='u'/></r>"),
        "r {u}a a {u}a {v}a {u}a"
    );
}

#[test]
fn namespaces_that_are_undeclared_reserved_or_odd_are_left_to_libxml2() {
    assert_unsure(
        Unsure::Namespace,
        &[
            "<p:a/>",
            "<a p:x='1'/>",
            "<a><b xmlns:p='u'/><p:c/></a>",
            "<xmlns:a/>",
            "<a xmlns:p=''/>",
            "<a xmlns:xmlns='u'/>",
            "<a xmlns:xml='u'/>",
            "<a xmlns='http://www.w3.org/XML/1998/namespace'/>",
            "<a xmlns:p='http://www.w3.org/XML/1998/namespace'/>",
            "<a xmlns='http://www.w3.org/2000/xmlns/'/>",
            "<a xmlns:p='http://www.w3.org/2000/xmlns/'/>",
            "<a xmlns='a b'/>",
            "<a xmlns='é'/>",
            "<a xmlns='%4'/>",
            "<a xmlns='1:2'/>",
            "<a xmlns='http://h:x/'/>",
            "<a xmlns='{u}'/>",
            "<a xmlns='a#b#c'/>",
            "<a xmlns=' u'/>",
        ],
    );
}

#[test]
fn plain_namespace_names_of_all_kinds_are_taken() {
    for name in [
        "http://example.org/a/b#c",
        "urn:oasis:names:tc:cap:1.2",
        "DAV:",
        "../a?b=c;d",
        "%41",
        "https://example.org:8080",
        "mailto:a@b",
        "tag:x,2004:y",
        "#f",
        "uuid:C2F41010-65B3",
    ] {
        assert_eq!(
            taken(&format!("<a xmlns='{name}'/>")),
            format!("{{{name}}}a")
        );
    }
}

#[test]
fn nothing_comes_twice_in_a_tag() {
    assert_unsure(
        Unsure::Duplicate,
        &[
            "<a x='' x=''/>",
            "<a xmlns='u' xmlns='v'/>",
            "<a xmlns:p='u' xmlns:p='u'/>",
            "<a xmlns:p='u' p:x='' p:x=''/>",
            "<a xmlns:p='u' xmlns:q='u' p:x='' q:x=''/>",
        ],
    );
    assert_eq!(
        taken("<a x='' xmlns:p='u' p:x=''><b x=''/></a>"),
        "a @x= @{u}x= b @x="
    );
}

#[test]
fn identifiers_are_ascii_names_and_unique() {
    assert_eq!(
        taken("<a xml:id='i'><b xml:id='j'/></a>")
            .matches("id=")
            .count(),
        2
    );
    assert_unsure(
        Unsure::Identifier,
        &[
            "<a xml:id='1'/>",
            "<a xml:id=' i'/>",
            "<a xml:id='i j'/>",
            "<a xml:id=''/>",
            "<a xml:id='é'/>",
        ],
    );
    assert_unsure(Unsure::Duplicate, &["<a xml:id='i'><b xml:id='i'/></a>"]);
}

#[test]
fn tags_are_well_formed() {
    assert_eq!(taken("<a\n x\t=\r'1' ><b\t/></a\n>"), "a @x=1 b");
    assert_unsure(
        Unsure::Markup,
        &[
            "<a x='1'y='2'/>",
            "<a x/>",
            "<a x=1/>",
            "<a x='1/>",
            "<a x='<'/>",
            "<a/ >",
            "<a\"/>",
            "<a x='1'",
            "<a>\u{20}<!a></a>",
            "<a><!-x-></a>",
        ],
    );
}

#[test]
fn tags_match_and_there_is_one_root() {
    assert_unsure(
        Unsure::Nesting,
        &[
            "<a></b>",
            "<a><b></a></b>",
            "<a></a",
            "<a></aa>",
            "<aa></a>",
            "<a></a x='1'>",
            "<a>",
            "<a>text",
            "<a/>text",
            "<a/><b/>",
            "<a/></a>",
            "<a/><!DOCTYPE a>",
            "<abcdefghijklmnopqrst></abcdefghijklmnopqrsu>",
            "<abcdefghijk></abcdefghijl>",
        ],
    );
    assert_unsure(
        Unsure::Markup,
        &["", " ", "text", "text<a/>", "<!--c-->", "\u{feff}"],
    );
}

#[test]
fn the_end_of_a_section_is_not_for_text() {
    assert_unsure(
        Unsure::SectionEnd,
        &["<a>]]></a>", "<a>a long text, and then ]]> </a>"],
    );
    assert_eq!(taken("<a>]]&gt;]] ><![CDATA[]]]]></a>"), r#"a "]]>]] >]]""#);
    assert_eq!(taken("<a x=']]>'/>"), "a @x=]]>");
}

#[test]
fn comments_and_instructions_are_well_formed() {
    assert_eq!(
        taken("<!-- <a> - & --><?p?><a><?p ? > <b>?><!----></a><?xmlp x?><!--e-->\n"),
        "a"
    );
    assert_unsure(
        Unsure::Markup,
        &[
            "<a><!-- -- --></a>",
            "<a><!-- ---></a>",
            "<a><!-- </a>",
            "<a><?p </a>",
            "<a><?p?x?></a>",
            "<a><!--></a>",
        ],
    );
    assert_unsure(
        Unsure::Declaration,
        &[
            "<a><?xml x?></a>",
            "<a><?XmL?></a>",
            "<a/><?xml version='1.0'?>",
            " <?xml version='1.0'?><a/>",
            "<?xml-model encoding='x'?><a/>",
        ],
    );
    assert_unsure(Unsure::Name, &["<a><? p?></a>", "<a><?1?></a>"]);
    assert_unsure(Unsure::Markup, &["<a><?p:q r?></a>"]);
}

#[test]
fn the_declaration_is_that_of_xml_1_0_in_a_known_encoding() {
    for head in [
        "<?xml version='1.0'?>",
        "\u{feff}<?xml version=\"1.0\" encoding=\"utf-8\"?>",
        "<?xml\nversion = '1.0' encoding='US-ASCII' standalone='no' ?>",
        "<?xml version='1.0' standalone='yes'?>",
        "<?xml version='1.0' encoding='ISO-8859-1'?>",
        "\u{feff}",
    ] {
        assert_eq!(taken(&format!("{head}<a/>")), "a");
    }
    assert_unsure(
        Unsure::Declaration,
        &[
            "<?xml version='1.1'?><a/>",
            "<?xml version='1.0' standalone='on'?><a/>",
        ],
    );
    assert_unsure(
        Unsure::Markup,
        &[
            "<?xml encoding='UTF-8'?><a/>",
            "<?xml version='1.0'encoding='UTF-8'?><a/>",
            "<?xml version='1.0' standalone='yes' encoding='UTF-8'?><a/>",
            "<?xml version='1.0'><a/>",
            "<?xml ?><a/>",
        ],
    );
    assert_unsure(
        Unsure::Encoding,
        &[
            "<?xml version='1.0' encoding='UTF-16'?><a/>",
            "<?xml version='1.0' encoding='ascii'?><a>é</a>",
            "<?xml version='1.0' encoding='utf-7'?><a/>",
        ],
    );
}

#[test]
fn a_document_type_without_internal_subset_changes_nothing() {
    for kind in [
        "a",
        "b",
        "a SYSTEM 'a.dtd'",
        "a PUBLIC \"-//A//B 'C'\" 'a.dtd' ",
        "a\nSYSTEM\t\"<'>\"",
    ] {
        assert_eq!(taken(&format!("<!DOCTYPE {kind}><!--c--><a/>")), "a");
    }
    assert_unsure(
        Unsure::DocumentType,
        &[
            "<!DOCTYPE a [] []><a/>",
            "<!DOCTYPE a [> <a/>",
            "<!DOCTYPE a PUBLIC '{' 'b'><a/>",
            "<!DOCTYPE a b><a/>",
        ],
    );
    assert_unsure(
        Unsure::Markup,
        &[
            "<!DOCTYPE a PUBLIC 'b'><a/>",
            "<!DOCTYPE a SYSTEM><a/>",
            "<!DOCTYPEa><a/>",
        ],
    );
    assert_unsure(
        Unsure::Name,
        &["<!DOCTYPE a><!DOCTYPE a><a/>", "<!doctype a><a/>"],
    );
}

#[test]
fn comments_instructions_and_prefixes_are_recorded() {
    let content = b"<!--a\r\nb--><?p?><r xmlns:q='u'>1<?t  x y ?>2<q:e q:k=''/><!----></r><?z?>";
    let (mut reader, mut tree) = (Reader::default(), Tree::default());
    assert_eq!(reader.read(content, &Limits::default(), &mut tree), Ok(()));
    let text = |start: u32, end: u32| {
        String::from_utf8_lossy(&tree.remark_text[start as usize..end as usize]).into_owned()
    };
    let seen: Vec<_> = tree
        .remarks
        .iter()
        .map(|it| {
            let place = (it.owner, it.elements, it.texts, it.is_instruction);
            (place, text(it.target, it.start), text(it.start, it.end))
        })
        .collect();
    let expected = [
        ((NONE, 0, 0, false), "", "a\nb"),
        ((NONE, 0, 0, true), "p", ""),
        ((0, 1, 1, true), "t", "x y "),
        ((0, 2, 2, false), "", ""),
        ((NONE, 2, 2, true), "z", ""),
    ];
    let expected = expected.map(|(place, target, text)| (place, target.into(), text.into()));
    assert_eq!(seen, expected);
    let prefixes: Vec<_> = tree
        .elements
        .iter()
        .map(|it| reader.names().prefix(it.prefix))
        .collect();
    assert_eq!(prefixes, ["", "q"]);
    assert_eq!(reader.names().prefix(tree.attributes[0].prefix), "q");
}
