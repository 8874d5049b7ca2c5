//! Spec bundles: folders of YAML entities with JSON Schemas, a type definition and lint rules. Loading, validating,
//! searching, traversing, exporting and changing them.
//!
//! Owns: the bundle format, the model with its reference graph and search index, the tools, prompts and resources as
//! plain functions, and writing changes. Must not know: MCP, sockets, async, windows, the workspace. It reads and
//! writes only below the folders it is given; the owner of [`Bundles`] decides about permissions.
//!
//! ```no_run
//! use bundles::{BundleSource, Bundles, TOOLS, call, commit, plan};
//! use serde_json::json;
//!
//! let sources = BundleSource::of_folders(&["specs/lockers".into()]);
//! let mut bundles = Bundles::load(&sources);
//! for (source, error) in bundles.load_failures() {
//!     eprintln!("{}: {error}", source.id);
//! }
//! // Offer the tools: names, descriptions and schemas are in one table.
//! for tool in TOOLS {
//!     println!("{} {} {}", tool.name, tool.is_read_only, tool.input_schema());
//! }
//! // Call one. The envelope holds the result or the error.
//! let envelope = call(&bundles, "search_entities", &json!({ "query": "door" }));
//! println!("{} {}", envelope.is_ok(), envelope.to_text());
//! // Change an entity: plan it, have it reviewed, then write it.
//! let change = json!({ "operation": "delete", "entityType": "Threat", "entityId": "THR-jam" });
//! match plan(&bundles, &json!({ "changes": [change], "dryRun": false })) {
//!     Ok(plan) if plan.is_possible() => commit(&mut bundles, &plan).expect("written"),
//!     Ok(plan) => println!("{:?}", plan.answer()),
//!     Err(refusal) => println!("{}", refusal.message),
//! }
//! // Follow the disk: the watcher reports a path, and one file is read again.
//! let _ = bundles.reload_file("specs/lockers/bundle/threats/THR-jam.yaml".as_ref());
//! ```

mod arguments;
mod bundle_set;
mod calendar;
mod changes;
mod collation;
mod coverage;
mod critique;
mod diagnostic;
mod envelope;
mod files;
mod lint;
mod model;
mod prompts;
mod resources;
mod schema;
mod search;
mod tools;
mod yaml;

pub use bundle_set::{BundleConfigError, BundleSource, Bundles};
pub use changes::{BundleChangePlan, BundleCommitError, PlannedFileEdit, commit, plan};
pub use coverage::RelationCoverage;
pub use critique::{PendingCritique, begin_critique};
pub use diagnostic::{BundleFinding, BundleFindingSeverity, BundleFindingSource};
pub use envelope::{BundleToolEnvelope, BundleToolResponse};
pub use files::BundleFileError;
pub use model::{Bundle, BundleEntity, BundleLoadError, BundleManifest, BundleTypeDefinition, ReferenceEdge};
pub use prompts::{ArgumentCompletion, BundlePrompt, BundlePromptArgument, PROMPTS, complete, prompt};
pub use resources::{
    BundleResource, BundleResourceContent, RESOURCES, TEMPLATES, list_resources, read_resource,
};
pub use tools::{BundleTool, TOOLS, call, call_writing};
pub use yaml::set_in_yaml;
