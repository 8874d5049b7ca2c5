//! Resource names by the naming convention of the project.

use super::addresses::BlockAddress;
use crate::settings::NamingConvention;
use shared_protocol::{TypeDef, registry::NamingRules};

/// Applies the naming convention to a short name; returns the short name when there is no convention.
pub(crate) fn conventional_name(
    convention: Option<&NamingConvention>,
    def: &TypeDef,
    place: &BlockAddress,
    slug: &str,
) -> String {
    let made = match (convention, &def.abbreviation) {
        (Some(convention), Some(abbreviation)) => expand_template(convention, abbreviation, place, slug),
        _ => slug.to_owned(),
    };
    apply_naming_rules(&def.naming, made)
}

fn expand_template(
    convention: &NamingConvention,
    abbreviation: &str,
    place: &BlockAddress,
    slug: &str,
) -> String {
    let words = [
        ("{type}", abbreviation),
        ("{env}", place.environment.as_deref().unwrap_or(&convention.env)),
        ("{region}", place.region.as_deref().unwrap_or(&convention.region)),
        ("{org}", convention.org.as_str()),
        ("{name}", slug),
    ];
    let mut name = convention.template.clone();
    for (token, word) in words {
        if !word.is_empty() {
            name = name.replace(token, word);
            continue;
        }
        // An empty word is removed together with its separator.
        for sign in ['-', '_', '.'] {
            name = name.replace(&format!("{token}{sign}"), "").replace(&format!("{sign}{token}"), "");
        }
        name = name.replace(token, "");
    }
    name
}

fn apply_naming_rules(rules: &NamingRules, mut name: String) -> String {
    if rules.lowercase {
        name = name.to_lowercase();
    }
    if rules.no_hyphens {
        name.retain(|c| c != '-');
    }
    if let Some(most) = rules.max {
        name = name.chars().take(most as usize).collect();
    }
    name.trim_end_matches('-').to_owned()
}
