//! Documents with declarations and in other encodings: what is taken, as what, and what is not.

use twigcast_kernel_core::document::read::{Limits, Node, Reader, Unsure, outline};
use twigcast_kernel_core::document::tree::Tree;

/// The nodes in one line; remarks count, namespaces do not.
fn shown(content: &[u8]) -> Result<String, Unsure> {
    let texts = outline(content)?.into_iter().map(|node| match node {
        Node::Element { local, .. } => local,
        Node::Attribute {
            local,
            value,
            identifies,
            ..
        } => format!("@{local}{}{value}", if identifies { "#" } else { "=" }),
        Node::Text { value, .. } => format!("{value:?}"),
        Node::Remark { target, value, .. } => match target {
            Some(target) => format!("<?{target} {value}?>"),
            None => format!("<!--{value}-->"),
        },
    });
    Ok(texts.collect::<Vec<_>>().join(" "))
}

/// A document with this internal subset.
fn declared(subset: &str, document: &str) -> Result<String, Unsure> {
    shown(format!("<!DOCTYPE a [{subset}]>{document}").as_bytes())
}

fn taken(subset: &str, document: &str) -> String {
    declared(subset, document).unwrap_or_else(|reason| panic!("{subset} {document}: {reason}"))
}

#[test]
fn entities_are_replaced_in_content_and_in_values() {
    let subset = "<!ENTITY e 'x&f;z'><!ENTITY f \"y\">";
    assert_eq!(taken(subset, "<a>1&e;2&e;</a>"), r#"a "1xyz2xyz""#);
    assert_eq!(taken(subset, "<a k='1&e;&f;'/>"), "a @k=1xyzy");
    assert_eq!(taken("<!ENTITY e ''>", "<a k='&e;'>&e;</a>"), "a @k=");
    assert_eq!(taken("<!ENTITY e 'é'>", "<a>&e;</a>"), "a \"é\"");
}

#[test]
fn a_value_is_as_long_as_entities_make_it() {
    let subset = format!("<!ENTITY e '{}'>", "x".repeat(1_000));
    let document = |references: usize| {
        // So much in front that entities may add as much.
        let front = format!("<!--{}-->", "-x".repeat(1_500_000));
        format!("{front}<a k='{}'/>", "&e;".repeat(references))
    };
    let refused = declared(&subset, &document(10_000));
    assert_eq!(refused, Err(Unsure::Limit("a value")));
    assert!(declared(&subset, &document(9_999)).is_ok());
}

#[test]
fn the_first_declaration_of_an_entity_counts_and_the_five_of_xml_stay() {
    let subset = "<!ENTITY e '1'><!ENTITY e '2'><!ENTITY lt 'x'><!ENTITY amp '&#38;#38;'>";
    assert_eq!(taken(subset, "<a>&e;&lt;&amp;</a>"), r#"a "1<&""#);
}

#[test]
fn the_text_of_an_entity_is_content_of_its_own() {
    let whole = "<!ENTITY e '1<b k=\"2\">3</b><!--c--><?t i?><![CDATA[<]]>4'>";
    assert_eq!(
        taken(whole, "<a>0&e;5</a>"),
        r#"a "01" b @k=2 "3" <!--c--> <?t i?> "<45""#
    );
    for half in [
        "<b>", "</b>", "</a><a>", "</>", "<b></b", "<!--", "<b", "&#60;b", "</",
    ] {
        let subset = format!("<!ENTITY e '{half}'>");
        assert!(declared(&subset, "<a>&e;</a>").is_err(), "{half}");
        assert!(declared(&subset, "<a><b>&e;</b></a>").is_err(), "{half}");
        assert!(declared(&subset, "<a/>").is_ok(), "{half}");
    }
}

#[test]
fn character_references_in_entities_are_replaced_where_they_are_declared() {
    assert_eq!(taken("<!ENTITY e '&#60;b/>'>", "<a>&e;</a>"), "a b");
    assert_eq!(
        taken("<!ENTITY e '&#38;#60;b'>", "<a k='&e;'>&e;</a>"),
        r#"a @k=<b "<b""#
    );
    assert!(declared("<!ENTITY e '&#60;'>", "<a k='&e;'/>").is_err());
    assert!(declared("<!ENTITY e '<b/>'>", "<a k='&e;'/>").is_err());
    assert!(declared("<!ENTITY e ']]>'>", "<a>&e;</a>").is_err());
    assert_eq!(taken("<!ENTITY e '>'>", "<a>]]&e;</a>"), r#"a "]]>""#);
}

#[test]
fn white_space_of_entities_is_what_libxml2_makes_of_it() {
    let subset = "<!ENTITY e '1\r\n2&#13;3&#38;#13;4'>";
    assert_eq!(
        taken(subset, "<a k='&e;'>&e;</a>"),
        "a @k=1  2 3\r4 \"1\\n2\\n3\\r4\""
    );
}

#[test]
fn the_text_of_an_entity_knows_no_namespace_from_around_it() {
    let subset = "<!ENTITY e '<b/>'><!ENTITY f '<p:b/>'><!ENTITY g '<p:b xmlns:p=\"u\"/>'>";
    let nodes = outline(format!("<!DOCTYPE a [{subset}]><a xmlns='u'>&e;<c/></a>").as_bytes());
    let namespaces: Vec<_> = nodes
        .expect("a document")
        .into_iter()
        .map(|node| match node {
            Node::Element { namespace, .. } => namespace,
            other => panic!("{other:?}"),
        })
        .collect();
    assert_eq!(namespaces, ["u", "", "u"]);
    assert_eq!(
        declared(subset, "<a xmlns:p='u'>&f;</a>"),
        Err(Unsure::Namespace)
    );
    assert_eq!(taken(subset, "<a>&g;&g;</a>"), "a b b");
    let many: String = (0..65).map(|it| format!(" xmlns:p{it}='u'")).collect();
    assert!(declared(subset, &format!("<a{many}>&e;</a>")).is_err());
}

#[test]
fn references_to_what_nobody_reads_are_left_out() {
    let read = |before: &str| shown(format!("{before}<a k='1&e;2'>3&e;4<b/>&e;</a>").as_bytes());
    let left_out = Ok(r#"a @k=12 "34" b"#.to_owned());
    assert_eq!(read("<!DOCTYPE a SYSTEM 'a.dtd'>"), left_out);
    assert_eq!(read("<!DOCTYPE a PUBLIC 'p' 'a.dtd' []>"), left_out);
    assert_eq!(read("<!DOCTYPE a [%p;]>"), left_out);
    assert_eq!(read("<!DOCTYPE a [<!ENTITY % p SYSTEM 'a'>%p;]>"), left_out);
    for wrong in [
        "",
        "<!DOCTYPE a>",
        "<!DOCTYPE a []>",
        "<!DOCTYPE a [<!ENTITY % p 'a'>%p;]>",
        "<!DOCTYPE a SYSTEM 'a.dtd' [<!ENTITY e SYSTEM 'e'>]>",
        "<?xml version='1.0' standalone='yes'?><!DOCTYPE a SYSTEM 'a.dtd'>",
        "<?xml version='1.0' standalone='yes'?><!DOCTYPE a [%p;]>",
    ] {
        assert_eq!(read(wrong), Err(Unsure::Entity), "{wrong}");
    }
}

#[test]
fn growth_is_bounded_as_in_libxml2() {
    let lol = |levels: usize| {
        let first = "<!ENTITY e0 'lollollol'>".to_owned();
        let nested = (1..=levels).map(|it| {
            let inside = format!("&e{};", it - 1).repeat(10);
            format!("<!ENTITY e{it} '{inside}'>")
        });
        let subset: String = std::iter::once(first).chain(nested).collect();
        declared(&subset, &format!("<a>&e{levels};</a>")).map(|nodes| nodes.len())
    };
    assert_eq!(lol(4), Ok(90_004));
    let too_much = Err(Unsure::Limit("what entities come to"));
    assert_eq!(lol(5), too_much);
    assert_eq!(lol(11), too_much);
    assert_eq!(lol(12), Err(Unsure::Limit("entities inside each other")));
    let subset = format!("<!ENTITY e '{}'>", "x".repeat(1_000));
    let many = |count: usize| declared(&subset, &format!("<a>{}</a>", "&e;".repeat(count)));
    assert!(many(900).is_ok());
    assert_eq!(many(1_000), Err(Unsure::Limit("what entities come to")));
    for looped in ["<!ENTITY e '&e;'>", "<!ENTITY e '&f;'><!ENTITY f '&e;'>"] {
        let loops = Err(Unsure::Limit("entities inside each other"));
        assert_eq!(declared(looped, "<a>&e;</a>"), loops);
        assert_eq!(declared(looped, "<a k='&e;'/>"), loops);
        assert!(declared(looped, "<a/>").is_ok());
    }
    let defaults = format!("<!ATTLIST a k CDATA '{}'>", "x".repeat(1_000));
    let elements = |count: usize| declared(&defaults, &format!("<b>{}</b>", "<a/>".repeat(count)));
    assert!(elements(900).is_ok());
    assert_eq!(elements(1_000), Err(Unsure::Limit("what entities come to")));
}

#[test]
fn types_of_attributes_take_their_blanks() {
    let subset = "<!ATTLIST a k NMTOKENS #IMPLIED k CDATA ' ' l (x|y) 'x' p:m NMTOKEN #REQUIRED>";
    assert_eq!(
        taken(
            subset,
            "<a j=' 1  2 ' k=' 1&#32;\n 2&#10; ' l='' xmlns:p='u' p:m=' 3 ' m=' 4 '/>"
        ),
        "a @j= 1  2  @k=1 2\n @l= @m=3 @m= 4 "
    );
    assert_eq!(taken(subset, "<b k=' 1 '/>"), "b @k= 1 ");
    assert_eq!(taken("<!ATTLIST a k CDATA 'd'>", "<a/>"), "a");
}

#[test]
fn identifiers_are_those_that_are_declared() {
    let subset = "<!ATTLIST b k ID #IMPLIED><!ENTITY e '<b k=\"i\"/>'>";
    assert_eq!(
        taken(subset, "<a k='i'><b k=' i ' l='j'/><b k='1 2'/></a>"),
        "a @k=i b @k#i @l=j b @k#1 2"
    );
    let twice = "<a><b k='i'/><b k=' i'/></a>";
    assert_eq!(declared(subset, twice), Err(Unsure::Duplicate));
    for odd in ["<a><b k=''/></a>", "<a>&e;</a>"] {
        assert_eq!(declared(subset, odd), Err(Unsure::Identifier));
    }
    let two = "<!ATTLIST b k ID #IMPLIED l ID #IMPLIED>";
    assert_eq!(declared(two, "<a/>"), Err(Unsure::DocumentType));
}

#[test]
fn a_tree_tells_of_its_subset_and_keeps_no_identifiers_of_another() {
    let (mut reader, mut tree) = (Reader::default(), Tree::default());
    let subset = b"<!DOCTYPE a [<!ATTLIST a k ID #IMPLIED>]><a j='' k='i'/>";
    for (content, identifiers, has_subset) in [
        (&subset[..], vec![1], true),
        (b"<a k='i'/>", vec![], false),
        (b"<!DOCTYPE a SYSTEM 'a'><a/>", vec![], false),
    ] {
        assert_eq!(reader.read(content, &Limits::default(), &mut tree), Ok(()));
        assert_eq!(tree.identifiers, identifiers);
        assert_eq!(tree.has_subset, has_subset);
    }
}

#[test]
fn declarations_have_their_grammar() {
    for right in [
        "<!ELEMENT a EMPTY>",
        "<!ELEMENT a ANY >",
        "<!ELEMENT a (#PCDATA)>",
        "<!ELEMENT a (#PCDATA)*>",
        "<!ELEMENT a ( #PCDATA | b|p:c )*>",
        "<!ELEMENT a (b,(c|d)*,e?)+>",
        "<!ELEMENT a ((((b))))>",
        "<!ATTLIST a>",
        "<!ATTLIST a\tk\nCDATA #IMPLIED >",
        "<!ATTLIST a k NOTATION ( n|m ) 'n'>",
        "<!ATTLIST a k ( 1|b:c ) #FIXED \"1\">",
        "<!ATTLIST a xml:lang NMTOKEN 'de'>",
        "<!ATTLIST a p:k CDATA #IMPLIED xmlns:p CDATA #IMPLIED>",
        "<!NOTATION n SYSTEM '<'>",
        "<!NOTATION n PUBLIC 'p'>",
        "<!NOTATION n PUBLIC 'p' 's' >",
        "<!ENTITY e SYSTEM 's'><!ENTITY e PUBLIC 'p' 's' NDATA n >",
        "<!ENTITY % p '&#37;&e;'>",
        "<!-- ]> ' -->",
        "<?p ]> ?>",
        "<!ENTITY e ']>'>",
        " \n",
    ] {
        assert_eq!(taken(right, "<a/>"), "a", "{right}");
    }
    for wrong in [
        "x",
        "<",
        "<!",
        "]",
        "<a/>",
        "%",
        "%p",
        "% p;",
        "<!ELEMENT a>",
        "<!ELEMENT a EMPT>",
        "<!ELEMENT a ()>",
        "<!ELEMENT a (b,c|d)>",
        "<!ELEMENT a (b ?)>",
        "<!ELEMENT a (b,)>",
        "<!ELEMENT a (#PCDATA|b)>",
        "<!ELEMENT a (#PCDATA b)*>",
        "<!ELEMENT a (b",
        "<!ELEMENT a ANY><!ELEMENT a ANY>",
        "<!ELEMENTa ANY>",
        "<!ATTLIST>",
        "<!ATTLIST a k>",
        "<!ATTLIST a k CDATA>",
        "<!ATTLIST a k CDATA'x'>",
        "<!ATTLIST a k CDAT #IMPLIED>",
        "<!ATTLIST a k () 'x'>",
        "<!ATTLIST a k (x|) 'x'>",
        "<!ATTLIST a k (x y) 'x'>",
        "<!ATTLIST a k NOTATION(n) 'n'>",
        "<!ATTLIST a k CDATA '<'>",
        "<!ATTLIST a k CDATA '&e;'>",
        "<!ATTLIST a k NMTOKEN 'x y'>",
        "<!ATTLIST a k IDREF '1'>",
        "<!ATTLIST a k CDATA #FIXED'x'>",
        "<!ATTLIST a k CDATA #IMPLIEDl CDATA #IMPLIED>",
        "<!ATTLIST a xmlns CDATA 'u'>",
        "<!ATTLIST a xmlns:p CDATA 'u'>",
        "<!ATTLIST a p:k CDATA 'u'>",
        "<!ATTLIST a xmlns NMTOKEN #IMPLIED>",
        "<!ATTLIST a xml:id ID #IMPLIED>",
        "<!NOTATION n SYSTEM 's'><!NOTATION n SYSTEM 's'>",
        "<!NOTATION n>",
        "<!NOTATION n 'p'>",
        "<!NOTATION n PUBLIC '{'>",
        "<!ENTITY>",
        "<!ENTITY e>",
        "<!ENTITY e ''",
        "<!ENTITY e'x'>",
        "<!ENTITY p:e 'x'>",
        "<!ENTITY e SYSTEM 's#'>",
        "<!ENTITY e SYSTEM 's'NDATA n>",
        "<!ENTITY % e SYSTEM 's' NDATA n>",
        "<!ENTITY e '&'>",
        "<!ENTITY e '&f'>",
        "<!ENTITY e '&#0;'>",
        "<!ENTITY e '%p;'>",
        "<!ENTITY e '%'>",
        "<!ENTITY e SYSTEM 's'><!ENTITY e ''>",
        "<!ENTITY %p 'x'>",
        "<![INCLUDE[]]>",
        "<?xml x?>",
        "<!-- -- -->",
        "<!---",
        "<?p",
        "<!ENTITY e 'x\u{1}'>",
    ] {
        assert!(declared(wrong, "<a/>").is_err(), "{wrong}");
    }
    let deep = |depth: usize| format!("<!ELEMENT a {}b{}>", "(".repeat(depth), ")".repeat(depth));
    assert!(declared(&deep(32), "<a/>").is_ok());
    assert!(declared(&deep(33), "<a/>").is_err());
    assert!(declared(&deep(100_000), "<a/>").is_err());
}

#[test]
fn utf_16_is_known_by_its_mark_or_its_declaration() {
    let text = "<?xml version='1.0' encoding='utf_16'?><a>é\u{2028}😀</a>";
    let units = |order: fn(u16) -> [u8; 2], text: &str| -> Vec<u8> {
        text.encode_utf16().flat_map(order).collect()
    };
    let plain = Ok("a \"é\\u{2028}😀\"".to_owned());
    for (order, mark) in [
        (u16::to_le_bytes as fn(u16) -> [u8; 2], &b"\xff\xfe"[..]),
        (u16::to_be_bytes, b"\xfe\xff"),
    ] {
        let content = units(order, text);
        assert_eq!(shown(&content), plain);
        assert_eq!(shown(&[mark, &content].concat()), plain);
        let bare = units(order, &text[text.find("<a").expect("a root")..]);
        assert_eq!(shown(&[mark, &bare].concat()), plain);
        assert!(shown(&bare).is_err());
        assert!(shown(&[mark, mark, &bare].concat()).is_err());
        assert!(shown(&[mark, &bare, b"\0"].concat()).is_err());
    }
    let lying = "<?xml version='1.0' encoding='UTF-7'?><a/>";
    assert!(shown(&[b"\xff\xfe", &units(u16::to_le_bytes, lying)[..]].concat()).is_err());
}

#[test]
fn bytes_mean_what_the_declared_encoding_says() {
    for (name, byte, meaning) in [
        ("ISO-8859-1", 0xe9, "é"),
        ("iso8859-1", 0x80, "\u{80}"),
        ("latin1", 0xff, "ÿ"),
        ("ISO-8859-15", 0xa4, "€"),
        ("ISO_8859-5", 0xd0, "а"),
        ("latin5", 0xf0, "ğ"),
        ("windows-1252", 0x80, "€"),
        ("CP1251", 0xff, "я"),
        ("windows-1256", 0xff, "\u{6d2}"),
    ] {
        let head = format!("<?xml version='1.0' encoding='{name}'?><a>");
        let content = [head.as_bytes(), &[byte], b"</a>"].concat();
        assert_eq!(shown(&content), Ok(format!("a {meaning:?}")), "{name}");
    }
    for (name, byte) in [
        ("windows-1252", 0x81),
        ("ISO-8859-3", 0xa5),
        ("ISO-8859-12", 0xa5),
    ] {
        let head = format!("<?xml version='1.0' encoding='{name}'?><a>");
        let content = [head.as_bytes(), &[byte], b"</a>"].concat();
        assert_eq!(shown(&content), Err(Unsure::Encoding), "{name}");
    }
    // Names are characters of the document, not bytes.
    let content = b"<?xml version='1.0' encoding='ISO-8859-1'?><\xe9 \xe8='\xea'/>";
    assert_eq!(shown(content), Ok("é @è=ê".to_owned()));
}
