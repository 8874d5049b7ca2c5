//! Generates `terraform.tf` and `providers.tf`: the providers in use, their versions and settings.

use super::{
    Input,
    files::MARKER,
    places::{Place, Places},
};
use crate::hcl::{Body, Expression, is_identifier};
use shared_protocol::{NodeId, PropKey, Value};
use std::collections::{BTreeMap, BTreeSet};

const TERRAFORM_VERSION: &str = ">= 1.5";
/// Provider settings that are not written to the provider block.
const ABOUT_THE_PROVIDER: [&str; 2] = ["version", "source"];

/// The providers that a module uses, each with its aliases.
pub(super) type Uses = BTreeMap<String, BTreeSet<String>>;

pub(super) fn note(uses: &mut Uses, place: &Place) {
    let provider = place.provider();
    if provider.is_empty() || provider == "terraform" {
        return;
    }
    let aliases = uses.entry(provider.to_owned()).or_default();
    aliases.extend(place.alias.as_ref().map(|alias| alias.to_string()));
}

/// Returns `terraform.tf` of the root module.
pub(super) fn terraform_file(input: &Input<'_>, uses: &Uses) -> String {
    let mut body = Body::default();
    let version = input.settings.required_version.as_deref().unwrap_or(TERRAFORM_VERSION);
    body.argument("required_version", Expression::text(version));
    if let Some(required) = required_providers(input, uses, false) {
        body.block("required_providers", Vec::new(), required);
    }
    if let Some(backend) = &input.settings.backend {
        let mut config = Body::default();
        for (name, value) in backend.config.iter().filter(|(name, _)| is_identifier(name)) {
            config.argument(name, Expression::of(value));
        }
        body.block("backend", vec![backend.kind.clone()], config);
    }
    format!("{MARKER}\n{}", body.to_block("terraform", &[]))
}

/// Returns `terraform.tf` of a child module, which declares the provider aliases that it receives.
pub(super) fn module_file(input: &Input<'_>, uses: &Uses) -> Option<String> {
    let mut body = Body::default();
    body.block("required_providers", Vec::new(), required_providers(input, uses, true)?);
    Some(format!("{MARKER}\n{}", body.to_block("terraform", &[])))
}

fn required_providers(input: &Input<'_>, uses: &Uses, in_module: bool) -> Option<Body> {
    let mut body = Body::default();
    for (provider, aliases) in uses {
        let settings = input.settings.providers.get(provider);
        let text = |key: &str| settings.and_then(|settings| settings.get(key)?.as_text());
        let source = text("source").map_or_else(|| format!("hashicorp/{provider}"), str::to_owned);
        let mut fields = vec![("source".to_owned(), Expression::text(&source))];
        if let Some(version) = text("version").or_else(|| default_version(provider)).filter(|_| !in_module) {
            fields.push(("version".to_owned(), Expression::text(version)));
        }
        if in_module && !aliases.is_empty() {
            let aliases =
                aliases.iter().map(|alias| Expression::raw(format!("{provider}.{alias}"))).collect();
            fields.push(("configuration_aliases".to_owned(), Expression::List(aliases)));
        }
        body.argument(provider, Expression::Map(fields));
    }
    (!body.is_empty()).then_some(body)
}

fn default_version(provider: &str) -> Option<&'static str> {
    match provider {
        "azurerm" => Some("~> 4.0"),
        "aws" => Some("~> 6.0"),
        _ => None,
    }
}

/// Returns `providers.tf`: the default provider, and one alias for each subscription or region when there are
/// several.
pub(super) fn providers_file(input: &Input<'_>, places: &Places, uses: &Uses) -> Option<String> {
    let mut blocks = Vec::new();
    for provider in uses.keys() {
        let holders = match provider.as_str() {
            "azurerm" => &places.subscriptions,
            "aws" => &places.regions,
            _ => &BTreeMap::new(),
        };
        let mut default = settings_of(input, provider);
        if let Some(first) = holders.values().next() {
            for (name, value) in own_arguments(input, *first) {
                if !default.iter().any(|(set, _)| *set == name) {
                    default.push((name, value));
                }
            }
        }
        blocks.push(provider_block(provider, None, default));
        for (name, holder) in holders {
            if places.get(*holder).is_some_and(|place| place.alias.is_some()) {
                let mut arguments = own_arguments(input, *holder);
                for (name, value) in settings_of(input, provider) {
                    if !arguments.iter().any(|(set, _)| *set == name) {
                        arguments.push((name, value));
                    }
                }
                blocks.push(provider_block(provider, Some(name.as_str()), arguments));
            }
        }
    }
    (!blocks.is_empty()).then(|| format!("{MARKER}\n{}", blocks.join("\n")))
}

type Arguments = Vec<(String, Expression)>;

fn settings_of(input: &Input<'_>, provider: &str) -> Arguments {
    let settings = input.settings.providers.get(provider);
    let arguments = settings.into_iter().flatten().filter(|(name, value)| {
        !ABOUT_THE_PROVIDER.contains(&name.as_str())
            && is_identifier(name)
            // Nested settings would be blocks; `features` is written separately.
            && !matches!(value, Value::Object(_))
    });
    arguments.map(|(name, value)| (name.clone(), Expression::of(value))).collect()
}

/// Returns the provider arguments of a subscription or region node.
fn own_arguments(input: &Input<'_>, holder: NodeId) -> Arguments {
    let Some(node) = input.snapshot.node(holder) else { return Vec::new() };
    let value = |key: &str| {
        let key = PropKey::parse(key).ok()?;
        input.snapshot.effective_prop(node, &key).filter(|value| value.is_truthy())
    };
    let keys = ["subscription_id", "tenant_id", "region", "profile"];
    keys.into_iter()
        .filter_map(|key| Some((key.to_owned(), Expression::of(value(key)?))))
        .chain(value("assume_role_arn").map(|role| (ASSUME_ROLE.to_owned(), Expression::of(role))))
        .collect()
}

const ASSUME_ROLE: &str = "assume_role";

fn provider_block(provider: &str, alias: Option<&str>, arguments: Arguments) -> String {
    let mut body = Body::default();
    if let Some(alias) = alias {
        body.argument("alias", Expression::text(alias));
    }
    let (roles, arguments): (Arguments, Arguments) =
        arguments.into_iter().partition(|(name, _)| name == ASSUME_ROLE);
    for (name, value) in arguments {
        body.argument(name, value);
    }
    for (_, role) in roles {
        let mut inner = Body::default();
        inner.argument("role_arn", role);
        body.block(ASSUME_ROLE, Vec::new(), inner);
    }
    if provider == "azurerm" {
        body.block("features", Vec::new(), Body::default());
    }
    body.to_block("provider", &[provider])
}
