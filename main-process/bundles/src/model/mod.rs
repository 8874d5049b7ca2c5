//! A loaded bundle: its entities, the graph of their references, and its findings.
//!
//! Indexes are updated incrementally: a changed file costs its own parsing and its entries in the registry, the graph
//! and the search index. Findings about the whole bundle are computed on demand and cached until the next change.

mod bundle;
pub(crate) mod checks;
mod definition;
mod describe;
mod entities;
mod entity;
mod graph;
mod load;
mod reload;

pub use bundle::Bundle;
pub(crate) use bundle::Kind;
pub use definition::{Definition, Manifest};
pub(crate) use definition::{Relation, TypeInfo};
pub use entity::Entity;
pub(crate) use entity::{Reference, references};
pub use graph::Edge;
pub use load::LoadError;
