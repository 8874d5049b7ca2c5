//! The workspace as the writer showed it last.

use authority::Snapshot;
use journal::WorkspaceFiles;
use shared_protocol::{BoardKind, Node, NodeId, PropKey, Value, previews::ComponentView};
use std::{collections::BTreeMap, sync::Arc};
use workspace::{Workspace, component_texts, components_of, kit};

/// The type of pages.
pub(super) const PAGE: &str = "ui.route";

#[derive(Clone)]
pub(crate) struct Ground {
    pub(super) files: Arc<WorkspaceFiles>,
    pub(super) snapshot: Snapshot,
    pub(super) components: Arc<Vec<ComponentView>>,
}

impl Ground {
    pub(super) fn of(workspace: &Workspace) -> Self {
        Self {
            files: Arc::clone(workspace.files()),
            snapshot: workspace.snapshot().clone(),
            components: Arc::clone(workspace.components()),
        }
    }

    /// The same workspace in another state, such as a draft, which may bring components of its own.
    pub(crate) fn with(&self, snapshot: Snapshot) -> Self {
        let components = match component_texts(&snapshot).eq(component_texts(&self.snapshot)) {
            true => Arc::clone(&self.components),
            false => Arc::new(components_of(&snapshot)),
        };
        Self { files: Arc::clone(&self.files), snapshot, components }
    }

    pub(super) fn is_same(&self, other: &Self) -> bool {
        self.is_same_workspace(other)
            && self.snapshot.revision() == other.snapshot.revision()
            && Arc::ptr_eq(self.snapshot.registry(), other.snapshot.registry())
            && Arc::ptr_eq(&self.components, &other.components)
    }

    pub(super) fn is_same_workspace(&self, other: &Self) -> bool {
        Arc::ptr_eq(&self.files, &other.files)
    }

    /// The texts of the component files, and of what is built in for the types that have none.
    pub(super) fn texts(&self) -> BTreeMap<String, Arc<str>> {
        let own = component_texts(&self.snapshot).map(|(path, text)| (path.to_string(), Arc::clone(text)));
        let is_needed = |file: &str| self.components.iter().any(|component| component.file == *file);
        let built_in = kit().iter().filter(|(file, _)| is_needed(file)).cloned();
        own.chain(built_in).collect()
    }

    pub(super) fn component(&self, id: &str) -> Option<&ComponentView> {
        self.components.iter().find(|component| component.id == id)
    }

    /// A page: a route on an interface board.
    pub(crate) fn page(&self, id: NodeId) -> Option<&Node> {
        let node = self.snapshot.node(id).filter(|node| node.type_id.as_str() == PAGE)?;
        let board = self.snapshot.board(node.board)?;
        (board.kind == BoardKind::Interface).then_some(node)
    }

    /// The page on the same board with this path.
    pub(super) fn page_at(&self, beside: NodeId, path: &str) -> Option<NodeId> {
        let board = self.snapshot.node(beside)?.board;
        let key = PropKey::parse("path").ok()?;
        let mut pages = self.snapshot.nodes_on(board).filter(|node| node.type_id.as_str() == PAGE);
        let found = pages
            .find(|node| self.snapshot.effective_prop(node, &key).and_then(Value::as_text) == Some(path));
        found.map(|node| node.id)
    }

    /// What people call a page.
    pub(super) fn title_of(&self, node: &Node) -> String {
        let key = PropKey::parse("title").ok();
        let title =
            key.and_then(|key| self.snapshot.effective_prop(node, &key)?.as_text().map(str::to_owned));
        title.filter(|title| !title.trim().is_empty()).unwrap_or_else(|| node.label.clone())
    }
}
