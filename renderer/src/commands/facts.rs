//! The state that decides which commands are enabled.

use crate::{
    previews::showable,
    specs::{Page, entity_of},
    view::View,
};

#[derive(Debug, Clone, Copy, Default)]
pub(crate) struct Facts<'a> {
    pub(crate) workspace: bool,
    pub(crate) board: bool,
    pub(crate) held: bool,
    /// The board generates Terraform files.
    pub(crate) infrastructure: bool,
    /// A Terraform run of the board is in progress.
    pub(crate) running: bool,
    pub(crate) nodes: usize,
    pub(crate) edges: usize,
    pub(crate) undo: Option<&'a str>,
    pub(crate) redo: Option<&'a str>,
    /// The workspace has a spec bundle.
    pub(crate) bundle: bool,
    /// A spec bundle has domain knowledge.
    pub(crate) knowledge: bool,
    /// The reader shows an entity.
    pub(crate) entity: bool,
    /// The selected node represents an entity.
    pub(crate) entity_node: bool,
    pub(crate) back: bool,
    pub(crate) forward: bool,
    pub(crate) reviewing: bool,
    /// The selection can be previewed.
    pub(crate) showable: bool,
    /// A preview session is open.
    pub(crate) preview: bool,
}

impl<'a> Facts<'a> {
    pub(crate) fn of(view: Option<&View<'a>>) -> Self {
        let Some(view) = view else { return Self::default() };
        Self {
            workspace: true,
            board: view.board().is_some(),
            held: view.is_held(),
            infrastructure: view.infrastructure().is_some(),
            running: view.going().is_some(),
            nodes: view.selected_nodes().len(),
            edges: view.selected_edges().len(),
            bundle: !view.bundles.bundles.is_empty(),
            knowledge: view.bundles.bundles.iter().any(|bundle| bundle.has_knowledge),
            entity: view.history.current().and_then(Page::entity).is_some(),
            entity_node: entity_of(view).is_some(),
            back: view.history.can_go_back(),
            forward: view.history.can_go_forward(),
            // What would be undone is the workspace's, and not the proposal's.
            undo: view.status.undo.as_deref().filter(|_| !view.is_proposed),
            redo: view.status.redo.as_deref().filter(|_| !view.is_proposed),
            reviewing: view.is_reviewing,
            showable: showable(view).is_some(),
            preview: view.looked_at.is_some(),
        }
    }
}
