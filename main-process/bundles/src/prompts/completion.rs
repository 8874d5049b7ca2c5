//! Completes arguments of prompts and resource templates by prefix.

use super::PROMPTS;
use crate::{Bundle, Bundles, resources::TEMPLATES};
use shared_protocol::{Refusal, RefusalCode};
use std::collections::BTreeMap;

/// The maximum number of values in a completion.
const MAX_COMPLETIONS: usize = 100;

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ArgumentCompletion {
    pub values: Vec<String>,
    /// The total number of matches.
    pub total: usize,
    pub has_more: bool,
}

/// Completes an argument of a prompt, named by `of`, or of a resource template, whose URI is `of`.
///
/// `given` contains the arguments that are already set, which narrow the matches.
pub fn complete(
    bundles: &Bundles,
    of: &str,
    argument: &str,
    typed: &str,
    given: &BTreeMap<String, String>,
) -> Result<ArgumentCompletion, Refusal> {
    let prompt = PROMPTS.iter().find(|prompt| prompt.name == of);
    let template = TEMPLATES.iter().find(|template| template.uri == of);
    if prompt.is_none() && template.is_none() {
        return Err(Refusal::new(RefusalCode::NotFound, format!("Prompt {of} not found")));
    }
    let given = |name: &str| given.get(name).map(String::as_str);
    let bundle = || bundles.resolve(given("bundleId")).ok();
    let fixed = prompt
        .and_then(|prompt| prompt.arguments.iter().find(|known| known.name == argument))
        .map_or(&[][..], |argument| argument.values);
    let ids = |kind: Option<&str>| -> Vec<&str> {
        let Some((bundle, kind)) = bundle().zip(kind) else { return Vec::new() };
        bundle.entities_of(kind).map(|entity| entity.id()).collect()
    };
    let all: Vec<&str> = match argument {
        _ if !fixed.is_empty() => fixed.to_vec(),
        "bundleId" | "bundleA" | "bundleB" => bundles.iter().map(Bundle::id).collect(),
        "type" | "entityType" => bundle().map(|bundle| bundle.entity_types().collect()).unwrap_or_default(),
        "id" | "entityId" => ids(given("entityType").or_else(|| given("type"))),
        "requirementId" => ids(Some("Requirement")),
        "profileId" => ids(Some("Profile")),
        _ => Vec::new(),
    };
    let typed = typed.to_lowercase();
    let fitting: Vec<&str> =
        all.into_iter().filter(|value| value.to_lowercase().starts_with(&typed)).collect();
    Ok(ArgumentCompletion {
        total: fitting.len(),
        has_more: fitting.len() > MAX_COMPLETIONS,
        values: fitting.into_iter().take(MAX_COMPLETIONS).map(str::to_owned).collect(),
    })
}
