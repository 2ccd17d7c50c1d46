//! The matching kernel of Twigcast, without Python.
//!
//! | module | is |
//! | --- | --- |
//! | [`document`] | bytes read into arrays |
//! | [`pattern`] | what is asked of a document, cut into clauses and leaves |
//! | [`index`] | all patterns of a matcher, in two layers |
//! | [`matching`] | one document against an index: [`matching::workspace::Workspace`] |
//! | [`evaluator`] | any expression of XPath 1.0 on a document |
//! | [`cover`] | which patterns can cover which |
//! | [`dump`] | where records of a large document begin and end |
//! | [`sys`] | pages and cache lines |

pub mod cover;
pub mod document;
pub mod dump;
pub mod evaluator;
pub mod index;
pub mod matching;
pub mod pattern;
pub mod sys;
