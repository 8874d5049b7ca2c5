//! The effective types of a workspace: built-in modules, the workspace's own modules, its components, and the adjustments of
//! `draftboard.toml`.

use super::components;
use authority::{Module, Registry};
use journal::{ProjectConfig, WorkspaceFiles};
use shared_protocol::messages::RegistryView;
use std::{collections::BTreeMap, sync::Arc};

/// Returns the types, and the modules that could not be read with the reason.
pub(super) fn compose(
    files: &WorkspaceFiles,
    config: &ProjectConfig,
    library: &::components::Library,
) -> (Arc<Registry>, Vec<(String, String)>) {
    let mut modules = catalogue::built_in();
    let mut unreadable = Vec::new();
    for (origin, text) in files.read_modules(&config.modules) {
        match text {
            Ok(text) => modules.push(Module { origin, text: Arc::from(text) }),
            Err(error) => unreadable.push((origin, error.to_string())),
        }
    }
    if library.components().any(|component| !::components::is_built_in(&component.file)) {
        let base = Registry::compose(&modules, &BTreeMap::new());
        modules.extend(components::modules(library, &base));
    }
    (Arc::new(Registry::compose(&modules, &config.types)), unreadable)
}

pub(super) fn view(registry: &Registry) -> RegistryView {
    RegistryView {
        types: registry.types().map(|def| def.as_ref().clone()).collect(),
        rules: registry.rules().to_vec(),
        problems: registry.problems().to_vec(),
    }
}
