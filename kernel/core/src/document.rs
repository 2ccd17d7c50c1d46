//! A document as arrays: read from bytes or built from events, its names sorted into classes.

pub mod build;
pub mod classes;
pub mod read;
pub mod tree;
