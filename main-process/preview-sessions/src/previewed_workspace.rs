//! The state of the workspace that previews show: the last one that the writer published, or a draft.

use authority::Snapshot;
use journal::WorkspaceFiles;
use shared_protocol::{BoardKind, Node, NodeId, PropKey, PropValue, preview_sessions::ComponentView};
use std::{collections::BTreeMap, sync::Arc};
use workspace::{Workspace, component_texts, components_of, kit};

/// The node type of pages.
pub(crate) const PAGE_TYPE: &str = "ui.route";

#[derive(Clone)]
pub struct PreviewedWorkspace {
    pub(crate) files: Arc<WorkspaceFiles>,
    pub(crate) snapshot: Snapshot,
    pub(crate) components: Arc<Vec<ComponentView>>,
}

impl PreviewedWorkspace {
    pub(crate) fn from_workspace(workspace: &Workspace) -> Self {
        Self {
            files: Arc::clone(workspace.files()),
            snapshot: workspace.snapshot().clone(),
            components: Arc::clone(workspace.components()),
        }
    }

    /// The same workspace in another state, such as a draft, which may contain components of its own.
    pub fn with_snapshot(&self, snapshot: Snapshot) -> Self {
        let components = match component_texts(&snapshot).eq(component_texts(&self.snapshot)) {
            true => Arc::clone(&self.components),
            false => Arc::new(components_of(&snapshot)),
        };
        Self { files: Arc::clone(&self.files), snapshot, components }
    }

    pub(crate) fn is_same(&self, other: &Self) -> bool {
        self.is_same_workspace(other)
            && self.snapshot.revision() == other.snapshot.revision()
            && Arc::ptr_eq(self.snapshot.registry(), other.snapshot.registry())
            && Arc::ptr_eq(&self.components, &other.components)
    }

    pub(crate) fn is_same_workspace(&self, other: &Self) -> bool {
        Arc::ptr_eq(&self.files, &other.files)
    }

    /// The texts of the component files, and of the built-in components for types without one.
    pub(crate) fn texts(&self) -> BTreeMap<String, Arc<str>> {
        let own = component_texts(&self.snapshot).map(|(path, text)| (path.to_string(), Arc::clone(text)));
        let is_needed = |file: &str| self.components.iter().any(|component| component.file == *file);
        let built_in = kit().iter().filter(|(file, _)| is_needed(file)).cloned();
        own.chain(built_in).collect()
    }

    pub(crate) fn component(&self, id: &str) -> Option<&ComponentView> {
        self.components.iter().find(|component| component.id == id)
    }

    /// A page is a route on an interface board.
    pub fn page(&self, id: NodeId) -> Option<&Node> {
        let node = self.snapshot.node(id).filter(|node| node.type_id.as_str() == PAGE_TYPE)?;
        let board = self.snapshot.board(node.board)?;
        (board.kind == BoardKind::Interface).then_some(node)
    }

    /// The page on the same board with this path.
    pub(crate) fn page_at(&self, beside: NodeId, path: &str) -> Option<NodeId> {
        let board = self.snapshot.node(beside)?.board;
        let key = PropKey::parse("path").ok()?;
        let mut pages = self.snapshot.nodes_on(board).filter(|node| node.type_id.as_str() == PAGE_TYPE);
        let found = pages
            .find(|node| self.snapshot.effective_prop(node, &key).and_then(PropValue::as_text) == Some(path));
        found.map(|node| node.id)
    }

    /// The title of a page, or its label.
    pub(crate) fn title_of(&self, node: &Node) -> String {
        let key = PropKey::parse("title").ok();
        let title =
            key.and_then(|key| self.snapshot.effective_prop(node, &key)?.as_text().map(str::to_owned));
        title.filter(|title| !title.trim().is_empty()).unwrap_or_else(|| node.label.clone())
    }
}
