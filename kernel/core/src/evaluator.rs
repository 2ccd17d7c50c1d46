//! Any expression of XPath 1.0 on a document, in polynomial time and within a budget of steps.
//!
//! Expressions come as canonical texts ([`canonical`]) and are kept in one [`graph`], in which what many ask
//! is one part. What needs names that a document lacks comes to nothing ([`vanishing`]). Its nodes are
//! numbered when somebody asks ([`nodes`]), and each part is asked once of each node at most ([`conditions`],
//! [`scalars`], [`sets`]), or all its answers are found at once by following an axis back
//! ([`axes::reverse`]). A set that is the same at many nodes is looked through once (`recent`). What libxml2
//! says is right, wherever it says something else than the standard.

pub mod axes;
pub mod build;
pub mod canonical;
pub mod conditions;
pub mod expressions;
pub mod graph;
pub mod memory;
pub mod necessary;
pub mod nodes;
mod recent;
pub mod residuals;
pub mod scalars;
pub mod sets;
pub mod syntax;
pub mod text;
pub mod vanishing;
