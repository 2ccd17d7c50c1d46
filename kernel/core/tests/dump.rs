//! Records of a dump, against a search that is as plain as can be.

mod support;

use support::chance::Chance;
use twigcast_kernel_core::dump::{Row, alike, find};

const NAMES: [Option<&[u8]>; 4] = [None, Some(b"r"), Some(b"rec"), Some(b"")];

/// What random texts are made of: all that the search looks at, whole and broken.
const PIECES: [&[u8]; 48] = [
    b"<rec>",
    b"<rec>",
    b"</rec>",
    b"</rec>",
    b"</rec>",
    b"<rec/>",
    b"<rec a='1'>",
    b"<rec b=\"x>y\" >",
    b"<rec a='/>'/>",
    b"<rec xmlns='u'>",
    b"<rec\txml:lang=\"de\"\n>",
    b"<rec a='xmlns'>",
    b"<rec xmlx='1' a='2'>",
    b"<rec a='1' xml:lang = 'x'>",
    b"<rec a>",
    b"<rec a=1>",
    b"<rec a='<'>",
    b"<rec a='1'b='2'>",
    b"<rec / >",
    b"</rec >",
    b"</rec a='1'>",
    b"<p:rec>",
    b"</p:rec>",
    b"<p:q:rec>",
    b"<:rec>",
    b"</:rec>",
    b"<recs>",
    b"</recs>",
    b"<r>",
    b"</r>",
    b"<r/>",
    b"<1>",
    b"<\xc3\xa9>",
    b"<!-- <rec> -->",
    b"<!-->-->",
    b"<!--",
    b"-->",
    b"<![CDATA[</rec>]]>",
    b"<![CDATA[",
    b"]]>",
    b"<?rec ?>",
    b"<?",
    b"?>",
    b"<!X>",
    b"<",
    b"/>",
    b" text > \n",
    b"\xff\0",
];

/// Records that are whole, and what may stand between them.
const RECORDS: [&[u8]; 6] = [
    b"<rec/>",
    b"<rec a='1'>x</rec>\n",
    b"<rec><!-- <rec> --><rec/><p:rec></p:rec></rec>",
    b"<rec xmlns='u' b='2'><![CDATA[</rec>]]></rec>",
    b" <!-- x --><rec><b/></rec>",
    b"<?rec ?>",
];

fn random_text(chance: &mut Chance, pieces_max: usize) -> Vec<u8> {
    let count = chance.below(pieces_max + 1);
    let pieces = (0..count).flat_map(|_| chance.pick(&PIECES));
    let mut text: Vec<u8> = pieces.copied().collect();
    if !text.is_empty() && chance.one_in(4) {
        let place = chance.below(text.len());
        text[place] = chance.pick(b"<>/!?:-'\" r");
    }
    text
}

/// What [`find`] finds, said once more.
fn found_plainly(text: &[u8], start: usize, local: Option<&[u8]>) -> Option<usize> {
    (start..text.len()).find(|&at| text[at] == b'<' && counts(&text[at + 1..], local))
}

fn counts(rest: &[u8], local: Option<&[u8]>) -> bool {
    let Some(local) = local else { return true };
    if rest.starts_with(b"!") || rest.starts_with(b"?") {
        return true;
    }
    let name = rest.strip_prefix(b"/").unwrap_or(rest);
    let Some(length) = name.iter().position(|byte| b" \t\r\n/>".contains(byte)) else {
        return false;
    };
    let parts: Vec<_> = name[..length].split(|byte| *byte == b':').collect();
    match parts[..] {
        [only] => only == local,
        [prefix, last] => {
            last == local && !prefix.is_empty() && !prefix.iter().any(|byte| b"<!?".contains(byte))
        }
        _ => false,
    }
}

fn places(text: &str, tag: &str, local: &str) -> Vec<String> {
    let row = alike(
        text.as_bytes(),
        0,
        text.len(),
        tag.as_bytes(),
        Some(local.as_bytes()),
    );
    let records = row.places.chunks(2);
    let mut told: Vec<_> = records
        .map(|pair| text[pair[0] as usize..pair[1] as usize].to_owned())
        .collect();
    told.push(text[row.reached..].to_owned());
    told
}

#[test]
fn find_finds_what_a_plain_search_finds() {
    let mut chance = Chance::new(1);
    for _ in 0..20_000 {
        let text = random_text(&mut chance, 12);
        let local = chance.pick(&NAMES);
        let start = chance.below(text.len() + 2);
        let end = chance.below(text.len() + 2);
        let cut = &text[..end.min(text.len())];
        assert_eq!(
            find(&text, start, end, local),
            found_plainly(cut, start, local),
            "{:?} {start} {end} {local:?}",
            String::from_utf8_lossy(&text),
        );
    }
}

#[test]
fn prefixes_are_seen_far_into_a_text() {
    for size in [0, 16_000, 16_384, 40_000] {
        let mut text = b"<x>".repeat(size / 3);
        text.extend(b"<averylongprefix:rec>");
        let place = size / 3 * 3;
        assert_eq!(find(&text, 0, text.len(), Some(b"rec")), Some(place));
        text.splice(place + 1..place + 1, vec![b'p'; 20_000]);
        assert_eq!(find(&text, 0, text.len(), Some(b"rec")), Some(place));
    }
}

#[test]
fn a_row_ends_in_front_of_what_is_not_plain() {
    for (text, expected) in [
        ("<rec/> <rec>a</rec>", &["<rec/>", "<rec>a</rec>", ""][..]),
        (
            "<rec><rec/><p:rec></x:rec></rec>!",
            &["<rec><rec/><p:rec></x:rec></rec>", "!"],
        ),
        (
            "<rec/><!-- <rec/> --> <?rec?><rec a='1' />",
            &["<rec/>", "<rec a='1' />", ""],
        ),
        ("<rec/><!-- --> ", &["<rec/>", " "]),
        ("<rec/><x/><rec/>", &["<rec/>", "<x/><rec/>"]),
        ("<rec/></r>", &["<rec/>", "</r>"]),
        ("<rec/> <p:rec/>", &["<rec/>", " <p:rec/>"]),
        ("<rec><rec></rec>", &["<rec><rec></rec>"]),
        ("<rec></p:rec>", &["<rec></p:rec>"]),
        ("<rec><rec a></rec></rec>", &["<rec><rec a></rec></rec>"]),
        ("<rec></rec a></rec>", &["<rec></rec a></rec>"]),
        ("<rec><!X></rec>", &["<rec><!X></rec>"]),
        ("<rec/><!-- ", &["<rec/>", "<!-- "]),
        ("<rec/><!X>", &["<rec/>", "<!X>"]),
        ("<rec xmlns:p='u'/>", &["<rec xmlns:p='u'/>"]),
        (
            "<rec a='xmlns' b='xml:lang'/>",
            &["<rec a='xmlns' b='xml:lang'/>", ""],
        ),
        ("", &[""]),
    ] {
        assert_eq!(places(text, "<rec", "rec"), expected, "{text}");
    }
}

#[test]
fn declarations_are_those_of_the_model() {
    let model = "<rec no='1' xmlns:p='u' xml:lang = \"en\">";
    for (text, is_alike) in [
        ("<rec xmlns:p='u' xml:lang=\"en\"/>", true),
        ("<rec xmlns:p='u' no='2' xml:lang\n=\n\"en\" b=''/>", true),
        ("<rec xml:lang=\"en\" xmlns:p='u'/>", false),
        ("<rec xmlns:p='u' xml:lang='en'/>", false),
        ("<rec xmlns:p='v' xml:lang=\"en\"/>", false),
        ("<rec xmlns:p='u'/>", false),
        ("<rec xmlns:p='u' xml:lang=\"en\" xmlns='u'/>", false),
        ("<rec/>", false),
    ] {
        let row = alike(
            text.as_bytes(),
            0,
            text.len(),
            model.as_bytes(),
            Some(b"rec"),
        );
        assert_eq!(!row.places.is_empty(), is_alike, "{text}");
    }
}

#[test]
fn without_a_local_name_all_tags_count() {
    let text = b"<a><b><c/></b></a><a></b></a>";
    let row = alike(text, 0, text.len(), b"<a>", None);
    assert_eq!(row.places, [0, 18]);
}

#[test]
fn wherever_a_text_ends_the_records_in_front_are_the_same() {
    let mut chance = Chance::new(2);
    let mut records = 0;
    for _ in 0..2_000 {
        let count = chance.below(4);
        let mut text: Vec<u8> = (0..count)
            .flat_map(|_| chance.pick(&RECORDS))
            .copied()
            .collect();
        text.extend(random_text(&mut chance, 8));
        let local = chance.pick(&[None, Some(b"rec".as_slice())]);
        let tag = chance.pick(&RECORDS);
        let whole = alike(&text, 0, text.len(), tag, local);
        records += whole.places.len() / 2;
        for end in 0..=text.len() {
            let part = alike(&text, 0, end, tag, local);
            assert!(whole.places.starts_with(&part.places));
            assert_eq!(part, alike(&text[..end], 0, usize::MAX, tag, local));
            assert!(part.reached <= whole.reached.min(end));
            // Whoever goes on from there finds the rest.
            let rest = alike(&text, part.reached, text.len(), tag, local);
            let both: Vec<_> = part.places.iter().chain(&rest.places).copied().collect();
            assert_eq!(both, whole.places);
            assert_eq!(rest.reached, whole.reached);
        }
        check_bounds(&text, &whole);
    }
    assert!(records > 1_000, "{records}");
}

fn check_bounds(text: &[u8], row: &Row) {
    let mut last = 0;
    for pair in row.places.chunks(2) {
        let (start, end) = (pair[0] as usize, pair[1] as usize);
        assert!(last <= start && start < end && end <= text.len());
        assert!(text[start] == b'<' && text[end - 1] == b'>');
        last = end;
    }
    assert!(last <= row.reached && row.reached <= text.len());
}

#[test]
fn no_bytes_make_it_fail() {
    let mut chance = Chance::new(3);
    for _ in 0..20_000 {
        let text = random_text(&mut chance, 10);
        let tag = random_text(&mut chance, 2);
        let local = random_text(&mut chance, 1);
        let start = chance.pick(&[0, 1, text.len(), text.len() + 1, usize::MAX]);
        let end = chance.pick(&[0, 1, text.len(), text.len() + 1, usize::MAX]);
        find(&text, start, end, Some(&local));
        alike(&text, start, end, &tag, Some(&local));
        alike(&text, start, end, &tag, None);
    }
}
