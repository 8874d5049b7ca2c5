//! The effective types of a workspace: built-in modules, the workspace's own modules, its components, and the adjustments of
//! `draftboard.toml`.

use super::components;
use authority::{ModuleSource, TypeRegistry};
use journal::{ProjectConfig, WorkspaceFiles};
use shared_protocol::messages::RegistryView;
use std::{collections::BTreeMap, sync::Arc};

/// Returns the types, and the modules that could not be read with the reason.
pub(super) fn compose(
    files: &WorkspaceFiles,
    config: &ProjectConfig,
    library: &::components::ComponentLibrary,
) -> (Arc<TypeRegistry>, Vec<(String, String)>) {
    let mut modules = catalogue::built_in();
    let mut unreadable = Vec::new();
    for (origin, text) in files.read_modules(&config.modules) {
        match text {
            Ok(text) => modules.push(ModuleSource { origin, text: Arc::from(text) }),
            Err(error) => unreadable.push((origin, error.to_string())),
        }
    }
    if library.components().any(|component| !::components::is_built_in(&component.file)) {
        let base = TypeRegistry::compose(&modules, &BTreeMap::new());
        modules.extend(components::modules(library, &base));
    }
    (Arc::new(TypeRegistry::compose(&modules, &config.types)), unreadable)
}

pub(super) fn view(registry: &TypeRegistry) -> RegistryView {
    RegistryView {
        types: registry.types().map(|def| def.as_ref().clone()).collect(),
        rules: registry.rules().to_vec(),
        problems: registry.problems().to_vec(),
    }
}
