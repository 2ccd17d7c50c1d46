//! The matching kernel of Twigcast, without Python.
//!
//! A document is read into arrays ([`read`], [`tree`]); patterns are kept in an [`index`]; a
//! [`matching::Workspace`] finds the patterns a document satisfies and remembers what it learned
//! about label paths on the way ([`paths`]).

pub mod blocks;
pub mod build;
mod chance;
pub mod classes;
pub mod clause;
pub mod column;
pub mod cover;
mod gather;
pub mod index;
pub mod instances;
pub mod judge;
pub mod layer;
pub mod lexicon;
pub mod links;
pub mod marks;
pub mod matching;
pub mod pages;
pub mod paths;
pub mod pattern;
pub mod plan;
pub mod postings;
pub mod prefetch;
pub mod read;
pub mod records;
pub mod rounds;
pub mod side;
pub mod steps;
pub mod stored;
pub mod table;
pub mod tree;
pub mod value;
pub mod verify;
