//! The prompts, and completing their arguments.

use super::bundles_of;
use bundles::{BundleErrorCode, BundleRefusal, PROMPTS, complete, prompt};
use mcp_server::{CompletionRequest, CompletionValues, SurfacePrompt, ToolError};
use serde_json::Value;

pub(super) fn all() -> impl Iterator<Item = SurfacePrompt> {
    PROMPTS.iter().map(|known| {
        let arguments: Vec<(&str, &str, bool)> = known
            .arguments
            .iter()
            .map(|argument| (argument.name, argument.description, argument.is_required))
            .collect();
        SurfacePrompt::new(
            known.name,
            &title(known.name),
            known.description,
            &arguments,
            |call| {
                let arguments = Value::Object(call.arguments.clone());
                prompt(bundles_of(&call.view), known.name, &arguments).map_err(failure)
            },
            |asked| complete_argument(known.name, asked),
        )
    })
}

/// `implement-requirement` as people write it.
fn title(name: &str) -> String {
    let words = name.replace('-', " ");
    let mut letters = words.chars();
    letters.next().map_or(String::new(), |first| first.to_uppercase().chain(letters).collect())
}

/// Completions for an argument of a prompt or of a resource template.
pub(super) fn complete_argument(of_what: &str, asked: &CompletionRequest<'_>) -> CompletionValues {
    let found =
        complete(bundles_of(asked.view), of_what, asked.argument, asked.prefix, asked.filled_arguments);
    found.map(|found| CompletionValues { values: found.values, total: found.total }).unwrap_or_default()
}

pub(super) fn failure(refusal: BundleRefusal) -> ToolError {
    let code = match refusal.code {
        BundleErrorCode::BadRequest => mcp_server::ToolErrorCode::BadRequest,
        BundleErrorCode::NotFound => mcp_server::ToolErrorCode::NotFound,
        BundleErrorCode::ValidationError => mcp_server::ToolErrorCode::ValidationError,
        BundleErrorCode::ReferenceError => mcp_server::ToolErrorCode::ReferenceError,
        BundleErrorCode::DeleteBlocked => mcp_server::ToolErrorCode::DeleteBlocked,
        BundleErrorCode::Stale => mcp_server::ToolErrorCode::Stale,
        BundleErrorCode::LimitExceeded => mcp_server::ToolErrorCode::LimitExceeded,
        BundleErrorCode::ActuationDisabled => mcp_server::ToolErrorCode::ActuationDisabled,
        BundleErrorCode::UnsupportedCapability => mcp_server::ToolErrorCode::UnsupportedCapability,
        BundleErrorCode::Internal => mcp_server::ToolErrorCode::Internal,
    };
    let failure = ToolError::new(code, refusal.message);
    match refusal.field {
        Some(field) => failure.field(field),
        None => failure,
    }
}
