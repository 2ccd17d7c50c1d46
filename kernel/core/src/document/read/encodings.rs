//! Documents in other encodings than UTF-8, as UTF-8.
//!
//! UTF-16 is known by its mark, or by a declaration in two bytes a character; whatever it declares,
//! libxml2 goes by that. In the others ASCII means ASCII, every other byte is one character, and the
//! declaration names them. What a byte means is what it means to libxml2, which asks iconv beyond ASCII,
//! Latin-1 and UTF-16. Windows-1255 and Windows-1258 are not here: there iconv joins what follows each
//! other to one character.

/// A byte that has no meaning; no encoding has one for it in its upper half.
const UNDEFINED: char = '?';

/// What the highest bytes mean, up to 255; those above 127 and before them mean what they do in Latin-1.
struct Upper {
    /// `ISO-8859-` or `windows-`, and this number.
    number: &'static str,
    meanings: &'static str,
}

const ISO: [Upper; 15] = [
    Upper {
        number: "1",
        meanings: "",
    },
    Upper {
        number: "2",
        meanings: "\u{a0}Ą˘Ł¤ĽŚ§¨ŠŞŤŹ\u{ad}ŽŻ°ą˛ł´ľśˇ¸šşťź˝žżŔÁÂĂÄĹĆÇČÉĘËĚÍÎĎĐŃŇÓÔŐÖ×ŘŮÚŰÜÝŢßŕá\
             âăäĺćçčéęëěíîďđńňóôőö÷řůúűüýţ˙",
    },
    Upper {
        number: "3",
        meanings: "\u{a0}Ħ˘£¤?Ĥ§¨İŞĞĴ\u{ad}?Ż°ħ²³´µĥ·¸ışğĵ½?żÀÁÂ?ÄĊĈÇÈÉÊËÌÍÎÏ?ÑÒÓÔĠÖ×ĜÙÚÛÜŬŜßàá\
             â?äċĉçèéêëìíîï?ñòóôġö÷ĝùúûüŭŝ˙",
    },
    Upper {
        number: "4",
        meanings: "\u{a0}ĄĸŖ¤ĨĻ§¨ŠĒĢŦ\u{ad}Ž¯°ą˛ŗ´ĩļˇ¸šēģŧŊžŋĀÁÂÃÄÅÆĮČÉĘËĖÍÎĪĐŅŌĶÔÕÖ×ØŲÚÛÜŨŪßāá\
             âãäåæįčéęëėíîīđņōķôõö÷øųúûüũū˙",
    },
    Upper {
        number: "5",
        meanings: "\u{a0}ЁЂЃЄЅІЇЈЉЊЋЌ\u{ad}ЎЏАБВГДЕЖЗИЙКЛМНОПРСТУФХЦЧШЩЪЫЬЭЮЯабвгдежзийклмнопрс\
             туфхцчшщъыьэюя№ёђѓєѕіїјљњћќ§ўџ",
    },
    Upper {
        number: "6",
        meanings: "\u{a0}???¤???????،\u{ad}?????????????\u{61b}???\u{61f}?\u{621}\u{622}\u{623}\
             \u{624}\u{625}\u{626}\u{627}\u{628}\u{629}\u{62a}\u{62b}\u{62c}\u{62d}\
             \u{62e}\u{62f}\u{630}\u{631}\u{632}\u{633}\u{634}\u{635}\u{636}\u{637}\
             \u{638}\u{639}\u{63a}?????\u{640}\u{641}\u{642}\u{643}\u{644}\u{645}\u{646}\
             \u{647}\u{648}\u{649}\u{64a}\u{64b}\u{64c}\u{64d}\u{64e}\u{64f}\u{650}\
             \u{651}\u{652}?????????????",
    },
    Upper {
        number: "7",
        meanings: "\u{a0}‘’£€₯¦§¨©ͺ«¬\u{ad}?―°±²³΄΅Ά·ΈΉΊ»Ό½ΎΏΐΑΒΓΔΕΖΗΘΙΚΛΜΝΞΟΠΡ?ΣΤΥΦΧΨΩΪΫάέήίΰα\
             βγδεζηθικλμνξοπρςστυφχψωϊϋόύώ?",
    },
    Upper {
        number: "8",
        meanings: "\u{a0}?¢£¤¥¦§¨©×«¬\u{ad}®¯°±²³´µ¶·¸¹÷»¼½¾????????????????????????????????‗\
             \u{5d0}\u{5d1}\u{5d2}\u{5d3}\u{5d4}\u{5d5}\u{5d6}\u{5d7}\u{5d8}\u{5d9}\
             \u{5da}\u{5db}\u{5dc}\u{5dd}\u{5de}\u{5df}\u{5e0}\u{5e1}\u{5e2}\u{5e3}\
             \u{5e4}\u{5e5}\u{5e6}\u{5e7}\u{5e8}\u{5e9}\u{5ea}??\u{200e}\u{200f}?",
    },
    Upper {
        number: "9",
        meanings: "\u{a0}¡¢£¤¥¦§¨©\u{aa}«¬\u{ad}®¯°±²³´µ¶·¸¹\u{ba}»¼½¾¿ÀÁÂÃÄÅÆÇÈÉÊËÌÍÎÏĞÑÒÓÔÕÖ×\
             ØÙÚÛÜİŞßàáâãäåæçèéêëìíîïğñòóôõö÷øùúûüışÿ",
    },
    Upper {
        number: "10",
        meanings: "\u{a0}ĄĒĢĪĨĶ§ĻĐŠŦŽ\u{ad}ŪŊ°ąēģīĩķ·ļđšŧž―ūŋĀÁÂÃÄÅÆĮČÉĘËĖÍÎÏÐŅŌÓÔÕÖŨØŲÚÛÜÝÞßāá\
             âãäåæįčéęëėíîïðņōóôõöũøųúûüýþĸ",
    },
    Upper {
        number: "11",
        meanings: "\u{a0}\u{e01}\u{e02}\u{e03}\u{e04}\u{e05}\u{e06}\u{e07}\u{e08}\u{e09}\u{e0a}\
             \u{e0b}\u{e0c}\u{e0d}\u{e0e}\u{e0f}\u{e10}\u{e11}\u{e12}\u{e13}\u{e14}\
             \u{e15}\u{e16}\u{e17}\u{e18}\u{e19}\u{e1a}\u{e1b}\u{e1c}\u{e1d}\u{e1e}\
             \u{e1f}\u{e20}\u{e21}\u{e22}\u{e23}\u{e24}\u{e25}\u{e26}\u{e27}\u{e28}\
             \u{e29}\u{e2a}\u{e2b}\u{e2c}\u{e2d}\u{e2e}\u{e2f}\u{e30}\u{e31}\u{e32}\
             \u{e33}\u{e34}\u{e35}\u{e36}\u{e37}\u{e38}\u{e39}\u{e3a}????฿\u{e40}\u{e41}\
             \u{e42}\u{e43}\u{e44}\u{e45}ๆ\u{e47}\u{e48}\u{e49}\u{e4a}\u{e4b}\u{e4c}\
             \u{e4d}\u{e4e}๏๐๑๒๓๔๕๖๗๘๙๚๛????",
    },
    Upper {
        number: "13",
        meanings: "\u{a0}”¢£¤„¦§Ø©Ŗ«¬\u{ad}®Æ°±²³“µ¶·ø¹ŗ»¼½¾æĄĮĀĆÄÅĘĒČÉŹĖĢĶĪĻŠŃŅÓŌÕÖ×ŲŁŚŪÜŻŽßąį\
             āćäåęēčéźėģķīļšńņóōõö÷ųłśūüżž’",
    },
    Upper {
        number: "14",
        meanings: "\u{a0}Ḃḃ£ĊċḊ§Ẁ©ẂḋỲ\u{ad}®ŸḞḟĠġṀṁ¶ṖẁṗẃṠỳẄẅṡÀÁÂÃÄÅÆÇÈÉÊËÌÍÎÏŴÑÒÓÔÕÖṪØÙÚÛÜÝŶßàá\
             âãäåæçèéêëìíîïŵñòóôõöṫøùúûüýŷÿ",
    },
    Upper {
        number: "15",
        meanings: "\u{a0}¡¢£€¥Š§š©\u{aa}«¬\u{ad}®¯°±²³Žµ¶·ž¹\u{ba}»ŒœŸ¿ÀÁÂÃÄÅÆÇÈÉÊËÌÍÎÏÐÑÒÓÔÕÖ×\
             ØÙÚÛÜÝÞßàáâãäåæçèéêëìíîïðñòóôõö÷øùúûüýþÿ",
    },
    Upper {
        number: "16",
        meanings: "\u{a0}ĄąŁ€„Š§š©Ș«Ź\u{ad}źŻ°±ČłŽ”¶·žčș»ŒœŸżÀÁÂĂÄĆÆÇÈÉÊËÌÍÎÏĐŃÒÓÔŐÖŚŰÙÚÛÜĘȚßàá\
             âăäćæçèéêëìíîïđńòóôőöśűùúûüęțÿ",
    },
];

const WINDOWS: [Upper; 7] = [
    Upper {
        number: "1250",
        meanings: "€?‚?„…†‡?‰Š‹ŚŤŽŹ?‘’“”•–—?™š›śťžź\u{a0}ˇ˘Ł¤Ą¦§¨©Ş«¬\u{ad}®Ż°±˛ł´µ¶·¸ąş»Ľ˝ľżŔÁ\
             ÂĂÄĹĆÇČÉĘËĚÍÎĎĐŃŇÓÔŐÖ×ŘŮÚŰÜÝŢßŕáâăäĺćçčéęëěíîďđńňóôőö÷řůúűüýţ˙",
    },
    Upper {
        number: "1251",
        meanings: "ЂЃ‚ѓ„…†‡€‰Љ‹ЊЌЋЏђ‘’“”•–—?™љ›њќћџ\u{a0}ЎўЈ¤Ґ¦§Ё©Є«¬\u{ad}®Ї°±Ііґµ¶·ё№є»јЅѕїАБ\
             ВГДЕЖЗИЙКЛМНОПРСТУФХЦЧШЩЪЫЬЭЮЯабвгдежзийклмнопрстуфхцчшщъыьэюя",
    },
    Upper {
        number: "1252",
        meanings: "€?‚ƒ„…†‡ˆ‰Š‹Œ?Ž??‘’“”•–—˜™š›œ?žŸ\u{a0}¡¢£¤¥¦§¨©\u{aa}«¬\u{ad}®¯°±²³´µ¶·¸¹\
             \u{ba}»¼½¾¿ÀÁÂÃÄÅÆÇÈÉÊËÌÍÎÏÐÑÒÓÔÕÖ×ØÙÚÛÜÝÞßàáâãäåæçèéêëìíîïðñòóôõö÷øùúûüýþÿ",
    },
    Upper {
        number: "1253",
        meanings: "€?‚ƒ„…†‡?‰?‹?????‘’“”•–—?™?›????\u{a0}΅Ά£¤¥¦§¨©?«¬\u{ad}®―°±²³΄µ¶·ΈΉΊ»Ό½ΎΏΐΑ\
             ΒΓΔΕΖΗΘΙΚΛΜΝΞΟΠΡ?ΣΤΥΦΧΨΩΪΫάέήίΰαβγδεζηθικλμνξοπρςστυφχψωϊϋόύώ?",
    },
    Upper {
        number: "1254",
        meanings: "€?‚ƒ„…†‡ˆ‰Š‹Œ????‘’“”•–—˜™š›œ??Ÿ\u{a0}¡¢£¤¥¦§¨©\u{aa}«¬\u{ad}®¯°±²³´µ¶·¸¹\
             \u{ba}»¼½¾¿ÀÁÂÃÄÅÆÇÈÉÊËÌÍÎÏĞÑÒÓÔÕÖ×ØÙÚÛÜİŞßàáâãäåæçèéêëìíîïğñòóôõö÷øùúûüışÿ",
    },
    Upper {
        number: "1256",
        meanings: "€\u{67e}‚ƒ„…†‡ˆ‰\u{679}‹Œ\u{686}\u{698}\u{688}\u{6af}‘’“”•–—\u{6a9}™\u{691}›\
             œ\u{200c}\u{200d}\u{6ba}\u{a0}،¢£¤¥¦§¨©\u{6be}«¬\u{ad}®¯°±²³´µ¶·¸¹\u{61b}»¼½\
             ¾\u{61f}\u{6c1}\u{621}\u{622}\u{623}\u{624}\u{625}\u{626}\u{627}\u{628}\
             \u{629}\u{62a}\u{62b}\u{62c}\u{62d}\u{62e}\u{62f}\u{630}\u{631}\u{632}\
             \u{633}\u{634}\u{635}\u{636}×\u{637}\u{638}\u{639}\u{63a}\u{640}\u{641}\
             \u{642}\u{643}à\u{644}â\u{645}\u{646}\u{647}\u{648}çèéêë\u{649}\u{64a}îï\
             \u{64b}\u{64c}\u{64d}\u{64e}ô\u{64f}\u{650}÷\u{651}ù\u{652}ûü\u{200e}\
             \u{200f}\u{6d2}",
    },
    Upper {
        number: "1257",
        meanings: "€?‚?„…†‡?‰?‹?¨ˇ¸?‘’“”•–—?™?›?¯˛?\u{a0}?¢£¤?¦§Ø©Ŗ«¬\u{ad}®Æ°±²³´µ¶·ø¹ŗ»¼½¾æĄĮ\
             ĀĆÄÅĘĒČÉŹĖĢĶĪĻŠŃŅÓŌÕÖ×ŲŁŚŪÜŻŽßąįāćäåęēčéźėģķīļšńņóōõö÷ųłśūüżž˙",
    },
];

/// Other names, and the number after `ISO-8859-` of each.
const LATIN: [(&str, &str); 10] = [
    ("latin1", "1"),
    ("latin2", "2"),
    ("latin3", "3"),
    ("latin4", "4"),
    ("latin5", "9"),
    ("latin6", "10"),
    ("latin7", "13"),
    ("latin8", "14"),
    ("latin-9", "15"),
    ("latin10", "16"),
];

/// What the bytes of a document in an encoding with this name mean, and nothing if it is none of these.
fn named(name: &[u8]) -> Option<&'static Upper> {
    let name = std::str::from_utf8(name).ok()?.to_ascii_lowercase();
    let of = |table: &'static [Upper], number: &str| table.iter().find(|it| it.number == number);
    if let Some((_, number)) = LATIN.iter().find(|(latin, _)| name == *latin) {
        return of(&ISO, number);
    }
    let behind = |prefixes: &[&str]| prefixes.iter().find_map(|it| name.strip_prefix(it));
    match behind(&["iso-8859-", "iso_8859-", "iso8859-"]) {
        Some(number) => of(&ISO, number),
        None => of(&WINDOWS, behind(&["windows-", "cp"])?),
    }
}

/// Whether ASCII means ASCII in the encoding with this name, which libxml2 knows.
pub(super) fn extends_ascii(name: &[u8]) -> bool {
    is_ascii(name) || named(name).is_some()
}

fn is_ascii(name: &[u8]) -> bool {
    name.eq_ignore_ascii_case(b"ASCII") || name.eq_ignore_ascii_case(b"US-ASCII")
}

/// Whether it is the name of an encoding of all characters. Of documents in two bytes a character
/// libxml2 does not ask what they declare, so that these spellings may be such as it does not know.
pub(super) fn is_of_unicode(name: &[u8]) -> bool {
    let name = name.to_ascii_lowercase();
    let Some(name) = name.strip_prefix(b"utf") else {
        return false;
    };
    let width = name.strip_prefix(b"-").or(name.strip_prefix(b"_"));
    let Some(order) = width.unwrap_or(name).strip_prefix(b"16") else {
        return width.unwrap_or(name) == b"8";
    };
    let named = order.strip_prefix(b"-").or(order.strip_prefix(b"_"));
    order.is_empty() || matches!(named.unwrap_or(order), b"le" | b"be")
}

/// Appends a document that is in two bytes a character; whether it is one, and all of it is text.
pub(super) fn widened(content: &[u8], into: &mut String) -> bool {
    let (unit, rest): (fn([u8; 2]) -> u16, _) = match content {
        // UTF-32 has the same mark, and two zeros behind it.
        [0xff, 0xfe, 0, 0, ..] => return false,
        [0xff, 0xfe, rest @ ..] => (u16::from_le_bytes, rest),
        [0xfe, 0xff, rest @ ..] => (u16::from_be_bytes, rest),
        [b'<', 0, b'?', 0, ..] => (u16::from_le_bytes, content),
        [0, b'<', 0, b'?', ..] => (u16::from_be_bytes, content),
        _ => return false,
    };
    let (pairs, odd) = rest.as_chunks();
    into.reserve(pairs.len() + pairs.len() / 8);
    for character in char::decode_utf16(pairs.iter().map(|&pair| unit(pair))) {
        match character {
            Ok(character) => into.push(character),
            Err(_) => return false,
        }
    }
    odd.is_empty()
}

/// Appends a document in the encoding with this name; whether that is known, and all of it is text.
pub(super) fn recoded(content: &[u8], name: &[u8], into: &mut String) -> bool {
    let Some(upper) = named(name) else {
        return false;
    };
    let mut meanings = [UNDEFINED; 128];
    for (meaning, byte) in meanings.iter_mut().zip(0x80..=0xff_u8) {
        *meaning = char::from(byte);
    }
    let first = meanings.len() - upper.meanings.chars().count();
    for (meaning, character) in meanings[first..].iter_mut().zip(upper.meanings.chars()) {
        *meaning = character;
    }
    into.reserve(content.len() + content.len() / 4);
    let mut rest = content;
    while let Some(length) = rest.iter().position(|byte| !byte.is_ascii()) {
        let (plain, behind) = rest.split_at(length);
        into.push_str(std::str::from_utf8(plain).unwrap_or_default());
        let meaning = meanings[usize::from(behind[0] & 0x7f)];
        if meaning == UNDEFINED {
            return false;
        }
        into.push(meaning);
        rest = &behind[1..];
    }
    into.push_str(std::str::from_utf8(rest).unwrap_or_default());
    true
}
