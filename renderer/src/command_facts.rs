//! Derives from the view which commands are enabled.

use crate::{
    commands::CommandFacts,
    preview_display::preview_target,
    view::{FrameView, SpecPage, entity_of},
};

impl<'a> CommandFacts<'a> {
    pub(crate) fn from_view(view: Option<&FrameView<'a>>) -> Self {
        let Some(view) = view else { return Self::default() };
        Self {
            workspace: true,
            board: view.board().is_some(),
            held: view.is_held(),
            infrastructure: view.infrastructure().is_some(),
            running: view.run_in_progress().is_some(),
            nodes: view.selected_nodes().len(),
            edges: view.selected_edges().len(),
            bundle: !view.bundles.bundles.is_empty(),
            knowledge: view.bundles.bundles.iter().any(|bundle| bundle.has_knowledge),
            entity: view.history.current().and_then(SpecPage::entity).is_some(),
            entity_node: entity_of(view).is_some(),
            back: view.history.can_go_back(),
            forward: view.history.can_go_forward(),
            // Undo applies to the workspace, not to the proposal.
            undo: view.status.undo.as_deref().filter(|_| !view.is_proposed),
            redo: view.status.redo.as_deref().filter(|_| !view.is_proposed),
            waiting_proposal: view.review.proposals.iter().any(|brief| brief.needs_decision()),
            reviewing: view.is_reviewing,
            showable: preview_target(view).is_some(),
            preview: view.visible_preview.is_some(),
        }
    }
}
