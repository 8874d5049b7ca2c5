//! The prompts: structured tasks for an agent, with the relevant context from a bundle.
//!
//! Each prompt is one text of limited size. It is refused if an entity is missing.

mod bundle;
mod completion;
mod entity;
mod formatting;
mod portfolio;
mod table;

pub use completion::{ArgumentCompletion, complete};
pub use table::{BundlePrompt, BundlePromptArgument, PROMPTS};

use crate::{Bundles, arguments::CallArguments};
use serde_json::Value;
use shared_protocol::{Refusal, RefusalCode};

/// Returns the text of a prompt.
pub fn prompt(bundles: &Bundles, name: &str, arguments: &Value) -> Result<String, Refusal> {
    let arguments = &CallArguments::parse(arguments)?;
    let text = match name {
        "implement-requirement" => entity::implement_requirement(bundles, arguments),
        "explain-entity" => entity::explain(bundles, arguments),
        "trace-dependency" => entity::trace(bundles, arguments),
        "generate-test-cases" => entity::test_cases(bundles, arguments),
        "audit-profile" => bundle::audit(bundles, arguments),
        "coverage-analysis" => bundle::coverage(bundles, arguments),
        "suggest-relations" => bundle::suggest_relations(bundles, arguments),
        "bundle-health" => bundle::health(bundles, arguments),
        "summarize-bundle" => portfolio::summarize(bundles, arguments),
        "diff-bundles" => portfolio::diff(bundles, arguments),
        "create-roadmap" => portfolio::roadmap(bundles, arguments),
        _ => Err(Refusal::new(RefusalCode::NotFound, format!("Prompt {name} not found"))),
    }?;
    Ok(formatting::truncate_chars(&text, formatting::MAX_PROMPT_CHARS))
}
