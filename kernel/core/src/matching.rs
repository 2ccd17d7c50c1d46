//! One document against an index: label paths that are remembered, values, what the bits leave
//! open, and the steps that all of it may take.

mod collect_fired;
pub mod decide;
pub mod fired;
pub mod instances;
pub mod layer_scan;
pub mod links;
pub mod paths;
pub mod postings;
pub mod rounds;
mod sink;
pub mod steps;
pub mod value;
pub mod verify;
pub mod workspace;
