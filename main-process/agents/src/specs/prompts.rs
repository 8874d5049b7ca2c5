//! The prompts, and completing their arguments.

use super::bundles_of;
use bundles::{PROMPTS, complete, prompt};
use mcp_server::{CompletionRequest, CompletionValues, SurfacePrompt};
use serde_json::Value;
use shared_protocol::Refusal;

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
    shared_protocol::text::capitalize(&name.replace('-', " "))
}

/// Completions for an argument of a prompt or of a resource template.
pub(super) fn complete_argument(of_what: &str, asked: &CompletionRequest<'_>) -> CompletionValues {
    let found =
        complete(bundles_of(asked.view), of_what, asked.argument, asked.prefix, asked.filled_arguments);
    found.map(|found| CompletionValues { values: found.values, total: found.total }).unwrap_or_default()
}

/// A refusal where answers have no envelope: without the details, which only the envelope of a tool holds.
pub(super) fn failure(refusal: Refusal) -> Refusal {
    Refusal { details: None, ..refusal }
}
