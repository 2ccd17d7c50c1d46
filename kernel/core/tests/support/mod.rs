//! What the tests of the index share: chance from a seed, random documents and conditions, the plain
//! meaning of a condition, and a trial that plays an index against that meaning.
//!
//! Nothing here is taken from the code under test but the types that go in and the reader, which has
//! tests of its own: a condition's meaning is written down a second time, as directly as possible.

#![allow(dead_code)] // each test uses its own part of this

pub mod chance;
pub mod conditions;
pub mod documents;
pub mod matching;
pub mod naive;
pub mod reading;
pub mod seeds;
pub mod shorthand;
pub mod trial;
