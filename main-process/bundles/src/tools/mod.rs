//! The tools: a table of definitions, and the dispatch of calls.

mod conformance;
mod context;
mod export;
mod list;
mod markdown;
mod read;
mod schema;
mod search;
mod snapshot;
mod table;
mod traversal;
mod validate;

pub(crate) use conformance::rules as conformance_rules;
pub(crate) use schema::find as find_schema;
pub use table::{BundleTool, TOOLS};
pub(crate) use traversal::{ReachedEntity, TraversalDirection, traverse};

use crate::{
    Bundles,
    arguments::CallArguments,
    changes, critique,
    envelope::{BundleToolEnvelope, ToolResult},
};
use serde_json::Value;
use shared_protocol::{Refusal, RefusalCode};

/// Calls a tool without writing; `apply_changes` only as a dry run. Errors are part of the envelope.
pub fn call(bundles: &Bundles, tool: &str, arguments: &Value) -> BundleToolEnvelope {
    BundleToolEnvelope { tool: tool.to_owned(), result: answer(bundles, tool, arguments) }
}

/// Like [`call`], but `apply_changes` with `dryRun: false` writes. For callers that need no approval.
pub fn call_writing(bundles: &mut Bundles, tool: &str, arguments: &Value) -> BundleToolEnvelope {
    if tool != "apply_changes" {
        return call(bundles, tool, arguments);
    }
    BundleToolEnvelope { tool: tool.to_owned(), result: changes::apply(bundles, arguments) }
}

fn answer(bundles: &Bundles, tool: &str, arguments: &Value) -> ToolResult {
    let arguments_read = CallArguments::parse(arguments)?;
    let arguments_read = &arguments_read;
    match tool {
        "list_bundles" => list::bundles(bundles, arguments_read),
        "get_bundle_schema" => schema::bundle(bundles, arguments_read),
        "get_entity_schema" => schema::entity(bundles, arguments_read),
        "get_entity_relations" => schema::relations(bundles, arguments_read),
        "get_bundle_snapshot" => snapshot::get(bundles, arguments_read),
        "read_entity" => read::read_one(bundles, arguments_read),
        "read_entities" => read::read_many(bundles, arguments_read),
        "list_entities" => list::entities(bundles, arguments_read),
        "list_entity_summaries" => list::summaries(bundles, arguments_read),
        "get_context" => context::get(bundles, arguments_read),
        "get_conformance_context" => conformance::get(bundles, arguments_read),
        "search_entities" => search::search(bundles, arguments_read),
        "validate_bundle" => validate::validate(bundles, arguments_read),
        "export_entity_markdown" => markdown::export(bundles, arguments_read),
        "export_context" => export::export(bundles, arguments_read),
        "critique_bundle" => critique::unsupported(bundles, arguments),
        "apply_changes" => changes::preview(bundles, arguments),
        _ => Err(Refusal::new(RefusalCode::NotFound, format!("Tool {tool} not found"))),
    }
}
