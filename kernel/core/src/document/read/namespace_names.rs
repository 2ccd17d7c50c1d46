//! Which namespace names are taken.
//!
//! To libxml2 a namespace name that is no URI reference (RFC 3986) makes a document wrong. Here only
//! a plain part of that grammar is known: no user, no address in brackets, ports of digits. Whatever
//! else somebody uses, libxml2 decides.

const LENGTH_MAX: usize = 1_000;

/// Whether libxml2 surely takes this namespace name, which is not empty.
pub(super) fn is_plain_address(name: &[u8]) -> bool {
    if name.len() > LENGTH_MAX {
        return false;
    }
    let (rest, fragment) = cut(name, b'#');
    let (path, query) = cut(rest, b'?');
    fragment.is_none_or(|part| are_allowed(part, b"/?:@"))
        && query.is_none_or(|part| are_allowed(part, b"/?:@"))
        && is_plain_hierarchy(path)
}

fn is_plain_hierarchy(text: &[u8]) -> bool {
    let (scheme, rest) = match text.iter().position(|&byte| byte == b':' || byte == b'/') {
        Some(end) if text[end] == b':' => (Some(&text[..end]), &text[end + 1..]),
        _ => (None, text),
    };
    if !scheme.is_none_or(is_scheme) {
        return false;
    }
    let Some(behind) = rest.strip_prefix(b"//") else {
        return are_allowed(rest, b"/:@");
    };
    let (host, path) = match behind.iter().position(|&byte| byte == b'/') {
        Some(end) => behind.split_at(end),
        None => (behind, &b""[..]),
    };
    scheme.is_some() && is_plain_host(host) && are_allowed(path, b"/:@")
}

fn is_scheme(text: &[u8]) -> bool {
    let plain = |&byte: &u8| byte.is_ascii_alphanumeric() || b"+-.".contains(&byte);
    text.first().is_some_and(u8::is_ascii_alphabetic) && text.iter().all(plain)
}

/// Characters that stand for themselves, and perhaps a port of up to five digits.
fn is_plain_host(text: &[u8]) -> bool {
    let (host, port) = cut(text, b':');
    let plain = |&byte: &u8| byte.is_ascii_alphanumeric() || b"-._~".contains(&byte);
    !host.is_empty()
        && host.iter().all(plain)
        && port.is_none_or(|digits| {
            (1..=5).contains(&digits.len()) && digits.iter().all(u8::is_ascii_digit)
        })
}

/// Whether there are only characters that stand for themselves, the given ones, and `%` with two
/// digits behind it.
fn are_allowed(text: &[u8], more: &[u8]) -> bool {
    let mut bytes = text.iter();
    while let Some(&byte) = bytes.next() {
        let allowed = match byte {
            b'%' => {
                bytes
                    .by_ref()
                    .take(2)
                    .filter(|digit| digit.is_ascii_hexdigit())
                    .count()
                    == 2
            }
            _ => {
                byte.is_ascii_alphanumeric()
                    || b"-._~!$&'()*+,;=".contains(&byte)
                    || more.contains(&byte)
            }
        };
        if !allowed {
            return false;
        }
    }
    true
}

/// What is in front of the first such byte, and what is behind it.
fn cut(text: &[u8], at: u8) -> (&[u8], Option<&[u8]>) {
    match text.iter().position(|&byte| byte == at) {
        Some(end) => (&text[..end], Some(&text[end + 1..])),
        None => (text, None),
    }
}
