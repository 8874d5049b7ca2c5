//! The core through `check`-style cases and through random command sequences.

mod choosing_again;
mod commands;
mod extremes;
mod integrity;
mod links;
mod overrides;
mod problems;
mod properties;
mod proposal_properties;
mod proposals;
mod random;
mod registry;
mod reverting;
mod sources;

use crate::{CommandDecision, ModuleSource, Snapshot, TypeRegistry, decide};
use include_dir::{Dir, include_dir};
use shared_protocol::{Change, Command, NodeId, Refusal};
use std::{
    collections::BTreeMap,
    sync::{Arc, LazyLock},
};

static MODULES: Dir<'_> = include_dir!("$CARGO_MANIFEST_DIR/../../main-process/catalogue/modules");

/// The shipped catalogue, so that the tests hold for real types.
pub(super) fn catalogue() -> Arc<TypeRegistry> {
    static COMPOSED: LazyLock<Arc<TypeRegistry>> = LazyLock::new(compose);
    COMPOSED.clone()
}

fn compose() -> Arc<TypeRegistry> {
    let files: BTreeMap<_, _> = MODULES.files().map(|file| (file.path(), file)).collect();
    let modules: Vec<ModuleSource> = files
        .into_values()
        .map(|file| ModuleSource {
            origin: file.path().display().to_string(),
            text: Arc::from(file.contents_utf8().unwrap()),
        })
        .collect();
    let registry = TypeRegistry::compose(&modules, &BTreeMap::new());
    assert_eq!(registry.problems(), &[]);
    Arc::new(registry)
}

/// A workspace to run commands on.
pub(super) struct AuthorityFixture {
    pub(super) state: Snapshot,
    pub(super) seed: u64,
    pub(super) log: Vec<Vec<Change>>,
}

impl AuthorityFixture {
    pub(super) fn empty() -> Self {
        Self { state: Snapshot::new(catalogue()), seed: 7, log: Vec::new() }
    }

    /// One infrastructure board named `main`.
    pub(super) fn with_board() -> Self {
        let mut bench = Self::empty();
        bench.json(r#"{"addBoard":{"kind":"infrastructure","title":"Main"}}"#);
        bench
    }

    pub(super) fn run(&mut self, command: &Command) -> Result<CommandDecision, Refusal> {
        self.seed += 1;
        let decision = decide(&self.state, command, self.seed)?;
        if !decision.changes.is_empty() {
            self.state.apply(self.state.revision().next(), &decision.changes).expect("a decision applies");
            self.log.push(decision.changes.clone());
        }
        Ok(decision)
    }

    /// Runs a command that must be accepted.
    pub(super) fn json(&mut self, command: &str) -> CommandDecision {
        let command = serde_json::from_str(command).expect(command);
        self.run(&command).unwrap_or_else(|refusal| panic!("{command:?}: {refusal}"))
    }

    /// Runs a command that must be refused without any change.
    pub(super) fn refused(&mut self, command: &str) -> Refusal {
        let command = serde_json::from_str(command).expect(command);
        let before = self.state.clone();
        let refusal = self.run(&command).expect_err("a refusal");
        assert_eq!(self.state, before);
        refusal
    }

    pub(super) fn node(&self, name: &str) -> NodeId {
        let name = name.parse().expect(name);
        let found = self.state.boards().find_map(|board| self.state.node_named(board.id, &name));
        found.unwrap_or_else(|| panic!("no node {name}")).id
    }
}
