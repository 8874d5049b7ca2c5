//! The prompts, and completing their arguments.

use super::of;
use bundles::{Code, PROMPTS, Refusal, complete, prompt};
use mcp_server::{Completed, Completing, Failure, Prompt};
use serde_json::Value;

pub(super) fn all() -> impl Iterator<Item = Prompt> {
    PROMPTS.iter().map(|known| {
        let arguments: Vec<(&str, &str, bool)> = known
            .arguments
            .iter()
            .map(|argument| (argument.name, argument.description, argument.is_required))
            .collect();
        Prompt::new(
            known.name,
            &title(known.name),
            known.description,
            &arguments,
            |call| {
                let arguments = Value::Object(call.arguments.clone());
                prompt(of(&call.view), known.name, &arguments).map_err(failure)
            },
            |asked| completed(known.name, asked),
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
pub(super) fn completed(of_what: &str, asked: &Completing<'_>) -> Completed {
    let found = complete(of(asked.view), of_what, asked.argument, asked.typed, asked.given);
    found.map(|found| Completed { values: found.values, total: found.total }).unwrap_or_default()
}

pub(super) fn failure(refusal: Refusal) -> Failure {
    let code = match refusal.code {
        Code::BadRequest => mcp_server::Code::BadRequest,
        Code::NotFound => mcp_server::Code::NotFound,
        Code::ValidationError => mcp_server::Code::ValidationError,
        Code::ReferenceError => mcp_server::Code::ReferenceError,
        Code::DeleteBlocked => mcp_server::Code::DeleteBlocked,
        Code::Stale => mcp_server::Code::Stale,
        Code::LimitExceeded => mcp_server::Code::LimitExceeded,
        Code::ActuationDisabled => mcp_server::Code::ActuationDisabled,
        Code::UnsupportedCapability => mcp_server::Code::UnsupportedCapability,
        Code::Internal => mcp_server::Code::Internal,
    };
    let failure = Failure::new(code, refusal.message);
    match refusal.field {
        Some(field) => failure.field(field),
        None => failure,
    }
}
