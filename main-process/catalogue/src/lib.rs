//! The built-in modules: node types as data files.
//!
//! Owns: the files under `modules/` and `schemas/`, embedded in the executable. `shared_protocol::registry` defines
//! their format; `authority::Registry` composes modules into the effective registry. All three kinds of boards use
//! them, so they are not part of the `terraform` crate.

use authority::ModuleSource;
use include_dir::{Dir, include_dir};
use std::sync::Arc;

static MODULES: Dir<'_> = include_dir!("$CARGO_MANIFEST_DIR/modules");
static SCHEMAS: Dir<'_> = include_dir!("$CARGO_MANIFEST_DIR/schemas");

/// Returns the provider schemas of the Terraform types in use: arguments, nested blocks, attributes. One JSON text
/// per provider, reduced to those types. They define what the modules leave open, such as whether an argument is a
/// number or a block.
pub fn provider_schemas() -> impl Iterator<Item = &'static str> {
    let mut files: Vec<_> = SCHEMAS.files().collect();
    files.sort_by_key(|file| file.path());
    files.into_iter().filter_map(|file| file.contents_utf8())
}

/// Returns the built-in modules in composition order: by file name.
pub fn built_in() -> Vec<ModuleSource> {
    let mut files: Vec<_> = MODULES.files().collect();
    files.sort_by_key(|file| file.path());
    files
        .into_iter()
        .filter_map(|file| {
            let stem = file.path().file_stem()?.to_string_lossy().into_owned();
            Some(ModuleSource { origin: format!("built-in/{stem}"), text: Arc::from(file.contents_utf8()?) })
        })
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use authority::TypeRegistry;
    use std::collections::BTreeMap;

    /// The icon names that the canvas can draw.
    const ICONS: &str = "server database network subnet gateway firewall shield key lock globe cloud bucket disk queue \
        bell function container cluster registry loadbalancer route dns monitor identity folder layers code data page \
        button text input checkbox select card image list badge tabs dialog row column grid form note arrow frame \
        requirement feature task threat decision actor box";

    #[test]
    fn every_built_in_entry_is_accepted() {
        let registry = TypeRegistry::compose(&built_in(), &BTreeMap::new());
        assert_eq!(registry.problems(), &[]);
        let count = |prefix: &str| registry.types().filter(|def| def.id.as_str().starts_with(prefix)).count();
        assert!(count("aws/") >= 12 && count("azurerm/") >= 12 && count("ui.") >= 12 && count("notes/") >= 1);
        assert!(registry.get(&"terraform/core/terraform_data".parse().unwrap()).is_some());
    }

    #[test]
    fn every_type_can_stand_somewhere_and_has_an_icon() {
        let registry = TypeRegistry::compose(&built_in(), &BTreeMap::new());
        for def in registry.types() {
            let somewhere =
                def.may_be_root() || registry.types().any(|container| def.is_allowed_in(container));
            assert!(somewhere, "{} can stand nowhere", def.id);
            assert!(
                ICONS.split_whitespace().any(|icon| icon == def.icon),
                "{}: no icon `{}`",
                def.id,
                def.icon
            );
            for prop in def.props.iter().filter(|prop| !prop.targets.is_empty()) {
                let points = |pattern: &shared_protocol::registry::TypePattern| {
                    registry.types().any(|t| pattern.matches(&t.id))
                };
                assert!(prop.targets.iter().all(points), "{}.{} points at nothing", def.id, prop.key);
            }
        }
    }
}
