//! The built-in modules: node types as data files, not code.
//!
//! Owns: the files under `modules/`, baked into the executable, and those under `schemas/`. What the format means is
//! `shared_protocol::registry`; how modules become the effective registry is `authority::Registry`. All three kinds of
//! board draw from here, which is why it is not part of the infrastructure crate.

use authority::Module;
use include_dir::{Dir, include_dir};
use std::sync::Arc;

static MODULES: Dir<'_> = include_dir!("$CARGO_MANIFEST_DIR/modules");
static SCHEMAS: Dir<'_> = include_dir!("$CARGO_MANIFEST_DIR/schemas");

/// What the providers themselves say about the Terraform types in use: arguments, nested blocks, attributes. One JSON
/// text a provider, cut down to those types. They are facts about the providers and settle what the modules leave open,
/// such as whether an argument is a number or a block.
pub fn provider_schemas() -> impl Iterator<Item = &'static str> {
    let mut files: Vec<_> = SCHEMAS.files().collect();
    files.sort_by_key(|file| file.path());
    files.into_iter().filter_map(|file| file.contents_utf8())
}

/// The built-in modules in the order in which they are composed: by file name.
pub fn built_in() -> Vec<Module> {
    let mut files: Vec<_> = MODULES.files().collect();
    files.sort_by_key(|file| file.path());
    files
        .into_iter()
        .filter_map(|file| {
            let stem = file.path().file_stem()?.to_string_lossy().into_owned();
            Some(Module { origin: format!("built-in/{stem}"), text: Arc::from(file.contents_utf8()?) })
        })
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use authority::Registry;
    use std::collections::BTreeMap;

    /// Words the canvas has a drawing for.
    const ICONS: &str = "server database network subnet gateway firewall shield key lock globe cloud bucket disk queue \
        bell function container cluster registry loadbalancer route dns monitor identity folder layers code data page \
        button text input checkbox select card image list badge tabs dialog row column grid form note arrow frame \
        requirement feature task threat decision actor box";

    #[test]
    fn every_built_in_entry_is_accepted() {
        let registry = Registry::compose(&built_in(), &BTreeMap::new());
        assert_eq!(registry.problems(), &[]);
        let count = |prefix: &str| registry.types().filter(|def| def.id.as_str().starts_with(prefix)).count();
        assert!(count("aws/") >= 12 && count("azurerm/") >= 12 && count("ui.") >= 12 && count("notes/") >= 1);
        assert!(registry.get(&"terraform/core/terraform_data".parse().unwrap()).is_some());
    }

    #[test]
    fn every_type_can_stand_somewhere_and_has_an_icon() {
        let registry = Registry::compose(&built_in(), &BTreeMap::new());
        for def in registry.types() {
            let somewhere =
                def.may_be_root() || registry.types().any(|container| def.may_stand_in(container));
            assert!(somewhere, "{} can stand nowhere", def.id);
            assert!(
                ICONS.split_whitespace().any(|icon| icon == def.icon),
                "{}: no icon `{}`",
                def.id,
                def.icon
            );
            for prop in def.props.iter().filter(|prop| !prop.targets.is_empty()) {
                let points = |pattern: &shared_protocol::registry::Pattern| {
                    registry.types().any(|t| pattern.matches(&t.id))
                };
                assert!(prop.targets.iter().all(points), "{}.{} points at nothing", def.id, prop.key);
            }
        }
    }
}
