//! What is asked of the machine: memory in large pages, lines of it ahead of time, a seed for hashes.

pub mod pages;
pub mod prefetch;
pub mod seeded_hash;
