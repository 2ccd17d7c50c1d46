//! Canonical texts of expressions: XPath 1.0 with `{uri}name` and `*:name`.

mod lexer;
mod parse;

pub use parse::{CHAINED_MAX, NESTED_MAX, parse};
