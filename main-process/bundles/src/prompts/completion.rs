//! Completing arguments of prompts and resource templates, by what is typed so far.

use super::PROMPTS;
use crate::{
    Bundle, Bundles,
    envelope::{Code, Refusal},
    resources::TEMPLATES,
};
use std::collections::BTreeMap;

/// How many values a completion may hold.
const MOST: usize = 100;

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Completion {
    pub values: Vec<String>,
    /// How many there are in all.
    pub total: usize,
    pub has_more: bool,
}

/// What is completed: an argument of a prompt by its name, or of a resource template by its URI.
///
/// `given` holds the arguments that are filled in already, which narrow what fits.
pub fn complete(
    bundles: &Bundles,
    of: &str,
    argument: &str,
    typed: &str,
    given: &BTreeMap<String, String>,
) -> Result<Completion, Refusal> {
    let prompt = PROMPTS.iter().find(|prompt| prompt.name == of);
    let template = TEMPLATES.iter().find(|template| template.uri == of);
    if prompt.is_none() && template.is_none() {
        return Err(Refusal::new(Code::NotFound, format!("Prompt {of} not found")));
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
    Ok(Completion {
        total: fitting.len(),
        has_more: fitting.len() > MOST,
        values: fitting.into_iter().take(MOST).map(str::to_owned).collect(),
    })
}
