//! A loaded bundle: its entities, the graph of their references, and its findings.
//!
//! Indexes are updated incrementally: a changed file costs its own parsing and its entries in the registry, the graph
//! and the search index. Findings about the whole bundle are computed on demand and cached until the next change.

mod bundle;
pub(crate) mod checks;
mod definition;
mod describe;
mod entity;
mod entity_files;
mod graph;
mod load;
mod reload;

pub use bundle::Bundle;
pub(crate) use bundle::LoadedEntityType;
pub use definition::{BundleManifest, BundleTypeDefinition};
pub(crate) use definition::{EntityTypeDefinition, RelationDefinition};
pub use entity::BundleEntity;
pub(crate) use entity::{EntityReference, references};
pub use graph::ReferenceEdge;
pub use load::BundleLoadError;
