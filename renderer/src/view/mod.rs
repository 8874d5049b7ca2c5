//! The view that panels draw from and the actions that they may ask for. A panel never touches the connection, the
//! replica or another panel.

mod action;
pub(crate) mod spec_history;
mod spec_nodes;

pub(crate) use action::{Action, Ask, Purpose, SpecAction};
pub(crate) use spec_history::{History, Page};
pub(crate) use spec_nodes::{entity_of, entity_of_node, node_of};

use crate::{
    replica::Workspace,
    terraform_answers::{TerraformAnswers, is_going, of_board},
};
use authority::{Problems, Snapshot};
use canvas::theme::Theme;
use shared_protocol::{
    Board, BoardId, BoardKind, EdgeId, ElementId, Node, NodeId, OverrideKey, TypeDef,
    bundle::BundlesView,
    link::LinksView,
    mcp::McpView,
    messages::Status,
    previews::{PreviewsView, SelectedInstance, SessionView, Shown},
    review::ReviewView,
    terraform::{BoardTerraform, RunView, TerraformView},
    upstreams::UpstreamsView,
};
use std::collections::{BTreeMap, BTreeSet};

/// One frame's picture of the workspace.
#[derive(Clone, Copy)]
pub(crate) struct View<'a> {
    /// The workspace itself, also while the reviewer edits a proposal.
    pub(crate) workspace: &'a Workspace,
    pub(crate) root: &'a str,
    pub(crate) name: &'a str,
    pub(crate) snapshot: &'a Snapshot,
    pub(crate) problems: &'a Problems,
    /// How many there are on each board that has any.
    pub(crate) problem_counts: &'a BTreeMap<BoardId, usize>,
    pub(crate) status: &'a Status,
    pub(crate) mcp: &'a McpView,
    pub(crate) bundles: &'a BundlesView,
    pub(crate) links: &'a LinksView,
    /// Where the reader of specs is.
    pub(crate) history: &'a History,
    /// What main tells of runs and plans by itself.
    pub(crate) terraform: &'a TerraformView,
    /// What it answered about the Terraform of the board.
    pub(crate) terraform_answers: &'a TerraformAnswers,
    pub(crate) review: &'a ReviewView,
    /// Managed servers and manifests.
    pub(crate) upstreams: &'a UpstreamsView,
    /// A proposal is looked at, and some keys belong to that.
    pub(crate) is_reviewing: bool,
    /// What is shown is a proposal that the reviewer edits, and not the workspace.
    pub(crate) is_proposed: bool,
    pub(crate) previews: &'a PreviewsView,
    /// The session that the preview panel shows, or would.
    pub(crate) looked_at: Option<&'a SessionView>,
    /// It can be seen.
    pub(crate) is_previewing: bool,
    /// What is set in the inspector is laid over the props of instances, and not into the board.
    pub(crate) is_overriding: bool,
    /// Overrides that could not be saved to their source, and why.
    pub(crate) unsaved: &'a BTreeMap<OverrideKey, String>,
    pub(crate) board: Option<BoardId>,
    pub(crate) selection: &'a BTreeSet<ElementId>,
    pub(crate) theme: &'a Theme,
    /// Nodes and edges on the board.
    pub(crate) counts: (usize, usize),
}

impl<'a> View<'a> {
    pub(crate) fn board(&self) -> Option<&'a Board> {
        self.snapshot.board(self.board?)
    }

    pub(crate) fn board_kind(&self) -> Option<BoardKind> {
        self.board().map(|board| board.kind)
    }

    /// The board waits for a decision; nothing on it may change.
    pub(crate) fn is_held(&self) -> bool {
        self.board.is_some_and(|board| self.holds(board))
    }

    pub(crate) fn holds(&self, board: BoardId) -> bool {
        self.status.held.iter().any(|held| held.board == board)
    }

    pub(crate) fn selected_nodes(&self) -> Vec<NodeId> {
        nodes_of(self.selection)
    }

    /// What is chosen in the preview within the one node that is selected, while overrides are set.
    pub(crate) fn part(&self) -> Option<&'a SelectedInstance> {
        let chosen = self.looked_at.filter(|_| self.is_overriding)?.selected.as_ref()?;
        let within =
            chosen.instance.contains('/') && chosen.node.is_some_and(|node| self.selected_nodes() == [node]);
        within.then_some(chosen)
    }

    /// What the inspector is about while a component by itself is seen and nothing on the board is selected: what is chosen
    /// in its preview, else all of it.
    pub(crate) fn alone(&self) -> Option<Alone<'a>> {
        let session = self.looked_at.filter(|_| self.is_previewing && self.selection.is_empty())?;
        let (component, whole) = match &session.shows {
            Shown::Route(_) => return None,
            Shown::Component { component } => (component, component.clone()),
            Shown::Variant { component, variant } => (component, format!("{component}@{variant}")),
        };
        Some(match &session.selected {
            Some(part) if part.instance != whole => {
                Alone { instance: part.instance.clone(), component: &part.component, part: Some(part) }
            }
            _ => Alone { instance: whole, component, part: None },
        })
    }

    pub(crate) fn selected_edges(&self) -> Vec<EdgeId> {
        self.selection
            .iter()
            .filter_map(|id| if let ElementId::Edge(id) = id { Some(*id) } else { None })
            .collect()
    }

    /// The board, if it is one that becomes Terraform.
    pub(crate) fn infrastructure(&self) -> Option<BoardId> {
        self.board().filter(|board| board.kind == BoardKind::Infrastructure).map(|board| board.id)
    }

    /// What main says of the board's Terraform by itself.
    pub(crate) fn deployed(&self) -> Option<&'a BoardTerraform> {
        of_board(self.terraform, self.board?)
    }

    /// The run that goes on.
    pub(crate) fn going(&self) -> Option<&'a RunView> {
        self.deployed()?.run.as_ref().filter(|run| is_going(run))
    }

    pub(crate) fn type_of(&self, node: &'a Node) -> Option<&'a TypeDef> {
        self.snapshot.type_of(node)
    }
}

/// A component in a preview of its own, or something within it.
pub(crate) struct Alone<'a> {
    /// As overrides name it.
    pub(crate) instance: String,
    pub(crate) component: &'a str,
    pub(crate) part: Option<&'a SelectedInstance>,
}

pub(crate) fn nodes_of(elements: &BTreeSet<ElementId>) -> Vec<NodeId> {
    elements.iter().filter_map(|id| if let ElementId::Node(id) = id { Some(*id) } else { None }).collect()
}
