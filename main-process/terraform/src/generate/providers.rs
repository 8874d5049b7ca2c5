//! Generates `terraform.tf` and `providers.tf`: the providers in use, their versions and settings.

use super::{
    GenerateInput,
    addresses::{BlockAddress, BlockAddresses},
    files::MARKER,
};
use crate::hcl::{HclBody, HclExpression, is_identifier};
use shared_protocol::{NodeId, PropKey, PropValue};
use std::collections::{BTreeMap, BTreeSet};

const TERRAFORM_VERSION: &str = ">= 1.5";
/// Provider settings that are not written to the provider block.
const PROVIDER_META_ARGUMENTS: [&str; 2] = ["version", "source"];

/// The providers that a module uses, each with its aliases.
pub(super) type ProviderUses = BTreeMap<String, BTreeSet<String>>;

pub(super) fn record_provider_use(uses: &mut ProviderUses, place: &BlockAddress) {
    let provider = place.provider();
    if provider.is_empty() || provider == "terraform" {
        return;
    }
    let aliases = uses.entry(provider.to_owned()).or_default();
    aliases.extend(place.alias.as_ref().map(|alias| alias.to_string()));
}

/// Returns `terraform.tf` of the root module.
pub(super) fn terraform_file(input: &GenerateInput<'_>, uses: &ProviderUses) -> String {
    let mut body = HclBody::default();
    let version = input.settings.required_version.as_deref().unwrap_or(TERRAFORM_VERSION);
    body.add_argument("required_version", HclExpression::text(version));
    if let Some(required) = required_providers(input, uses, false) {
        body.add_block("required_providers", Vec::new(), required);
    }
    if let Some(backend) = &input.settings.backend {
        let mut config = HclBody::default();
        for (name, value) in backend.config.iter().filter(|(name, _)| is_identifier(name)) {
            config.add_argument(name, HclExpression::from_value(value));
        }
        body.add_block("backend", vec![backend.kind.clone()], config);
    }
    format!("{MARKER}\n{}", body.to_block("terraform", &[]))
}

/// Returns `terraform.tf` of a child module, which declares the provider aliases that it receives.
pub(super) fn module_file(input: &GenerateInput<'_>, uses: &ProviderUses) -> Option<String> {
    let mut body = HclBody::default();
    body.add_block("required_providers", Vec::new(), required_providers(input, uses, true)?);
    Some(format!("{MARKER}\n{}", body.to_block("terraform", &[])))
}

fn required_providers(input: &GenerateInput<'_>, uses: &ProviderUses, in_module: bool) -> Option<HclBody> {
    let mut body = HclBody::default();
    for (provider, aliases) in uses {
        let settings = input.settings.providers.get(provider);
        let text = |key: &str| settings.and_then(|settings| settings.get(key)?.as_text());
        let source = text("source").map_or_else(|| format!("hashicorp/{provider}"), str::to_owned);
        let mut fields = vec![("source".to_owned(), HclExpression::text(&source))];
        if let Some(version) = text("version").or_else(|| default_version(provider)).filter(|_| !in_module) {
            fields.push(("version".to_owned(), HclExpression::text(version)));
        }
        if in_module && !aliases.is_empty() {
            let aliases =
                aliases.iter().map(|alias| HclExpression::raw(format!("{provider}.{alias}"))).collect();
            fields.push(("configuration_aliases".to_owned(), HclExpression::List(aliases)));
        }
        body.add_argument(provider, HclExpression::Map(fields));
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
pub(super) fn providers_file(
    input: &GenerateInput<'_>,
    places: &BlockAddresses,
    uses: &ProviderUses,
) -> Option<String> {
    let mut blocks = Vec::new();
    for provider in uses.keys() {
        let holders = match provider.as_str() {
            "azurerm" => &places.subscriptions,
            "aws" => &places.regions,
            _ => &BTreeMap::new(),
        };
        let mut default = settings_of(input, provider);
        if let Some(first) = holders.values().next() {
            for (name, value) in node_arguments(input, *first) {
                if !default.iter().any(|(set, _)| *set == name) {
                    default.push((name, value));
                }
            }
        }
        blocks.push(provider_block(provider, None, default));
        for (name, holder) in holders {
            if places.get(*holder).is_some_and(|place| place.alias.is_some()) {
                let mut arguments = node_arguments(input, *holder);
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

type ProviderArguments = Vec<(String, HclExpression)>;

fn settings_of(input: &GenerateInput<'_>, provider: &str) -> ProviderArguments {
    let settings = input.settings.providers.get(provider);
    let arguments = settings.into_iter().flatten().filter(|(name, value)| {
        !PROVIDER_META_ARGUMENTS.contains(&name.as_str())
            && is_identifier(name)
            // Nested settings would be blocks; `features` is written separately.
            && !matches!(value, PropValue::Object(_))
    });
    arguments.map(|(name, value)| (name.clone(), HclExpression::from_value(value))).collect()
}

/// Returns the provider arguments of a subscription or region node.
fn node_arguments(input: &GenerateInput<'_>, holder: NodeId) -> ProviderArguments {
    let Some(node) = input.snapshot.node(holder) else { return Vec::new() };
    let value = |key: &str| {
        let key = PropKey::parse(key).ok()?;
        input.snapshot.effective_prop(node, &key).filter(|value| value.is_truthy())
    };
    let keys = ["subscription_id", "tenant_id", "region", "profile"];
    keys.into_iter()
        .filter_map(|key| Some((key.to_owned(), HclExpression::from_value(value(key)?))))
        .chain(value("assume_role_arn").map(|role| (ASSUME_ROLE.to_owned(), HclExpression::from_value(role))))
        .collect()
}

const ASSUME_ROLE: &str = "assume_role";

fn provider_block(provider: &str, alias: Option<&str>, arguments: ProviderArguments) -> String {
    let mut body = HclBody::default();
    if let Some(alias) = alias {
        body.add_argument("alias", HclExpression::text(alias));
    }
    let (roles, arguments): (ProviderArguments, ProviderArguments) =
        arguments.into_iter().partition(|(name, _)| name == ASSUME_ROLE);
    for (name, value) in arguments {
        body.add_argument(name, value);
    }
    for (_, role) in roles {
        let mut inner = HclBody::default();
        inner.add_argument("role_arn", role);
        body.add_block(ASSUME_ROLE, Vec::new(), inner);
    }
    if provider == "azurerm" {
        body.add_block("features", Vec::new(), HclBody::default());
    }
    body.to_block("provider", &[provider])
}
