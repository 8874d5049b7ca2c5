//! The view that panels draw from and the actions that they request. A panel never touches the connection, the replica
//! or another panel.

mod action;
mod response;
pub(crate) mod spec_history;
mod spec_nodes;

pub(crate) use action::{ActionQueue, PickedPathPurpose, SpecAction, WindowAction};
pub(crate) use response::{ManagedServerResponse, SpecResponse, WelcomeResponse};
pub(crate) use spec_history::{SpecHistory, SpecPage};
pub(crate) use spec_nodes::{entity_of, entity_of_node, node_of};

use crate::{
    replica::ReplicatedWorkspace,
    terraform_answers::{TerraformAnswers, is_in_progress, of_board},
};
use authority::{ProblemIndex, Snapshot};
use canvas::{BoardScene, theme::WorkbenchTheme};
use shared_protocol::{
    Board, BoardId, BoardKind, EdgeId, ElementId, Node, NodeId, OverrideKey, TypeDef,
    bundle::BundlesView,
    managed_servers::ManagedServersView,
    mcp::McpView,
    messages::WorkspaceStatus,
    preview_sessions::{PreviewSessionView, PreviewTarget, PreviewsView, SelectedInstance},
    review::ReviewView,
    terraform::{BoardTerraformView, TerraformRunView, TerraformView},
    trace_link::TraceLinksView,
};
use std::collections::{BTreeMap, BTreeSet};

#[derive(Clone, Copy)]
pub(crate) struct FrameView<'a> {
    /// The workspace itself, also while the reviewer edits a proposal.
    pub(crate) workspace: &'a ReplicatedWorkspace,
    pub(crate) root: &'a str,
    pub(crate) name: &'a str,
    pub(crate) snapshot: &'a Snapshot,
    pub(crate) problems: &'a ProblemIndex,
    pub(crate) problem_counts: &'a BTreeMap<BoardId, usize>,
    pub(crate) status: &'a WorkspaceStatus,
    pub(crate) mcp: &'a McpView,
    pub(crate) bundles: &'a BundlesView,
    pub(crate) links: &'a TraceLinksView,
    pub(crate) history: &'a SpecHistory,
    /// The state of runs and plans that main sends by itself.
    pub(crate) terraform: &'a TerraformView,
    pub(crate) terraform_answers: &'a TerraformAnswers,
    pub(crate) review: &'a ReviewView,
    pub(crate) managed_servers: &'a ManagedServersView,
    /// A proposal is under review, which claims some keys.
    pub(crate) is_reviewing: bool,
    /// The snapshot is a proposal that the reviewer edits.
    pub(crate) is_proposed: bool,
    pub(crate) previews: &'a PreviewsView,
    pub(crate) visible_preview: Option<&'a PreviewSessionView>,
    pub(crate) is_previewing: bool,
    /// The inspector sets overrides instead of props.
    pub(crate) is_overriding: bool,
    /// Overrides that could not be saved to their source, and the reasons.
    pub(crate) unsaved: &'a BTreeMap<OverrideKey, String>,
    pub(crate) board: Option<BoardId>,
    pub(crate) selection: &'a BTreeSet<ElementId>,
    pub(crate) theme: &'a WorkbenchTheme,
    pub(crate) actions: &'a ActionQueue,
    /// The numbers of nodes and edges on the board.
    pub(crate) counts: (usize, usize),
}

impl<'a> FrameView<'a> {
    /// Requests an action, which is performed after the frame is drawn.
    pub(crate) fn act(&self, action: impl Into<WindowAction>) {
        self.actions.push(action);
    }

    pub(crate) fn board(&self) -> Option<&'a Board> {
        self.snapshot.board(self.board?)
    }

    pub(crate) fn scene(&self, board: BoardId) -> BoardScene<'a> {
        BoardScene {
            snapshot: self.snapshot,
            board,
            selection: self.selection,
            problems: self.problems,
            theme: self.theme,
            read_only: self.is_held(),
        }
    }

    pub(crate) fn board_kind(&self) -> Option<BoardKind> {
        self.board().map(|board| board.kind)
    }

    /// The board is locked until a person resolves its file.
    pub(crate) fn is_held(&self) -> bool {
        self.board.is_some_and(|board| self.is_board_held(board))
    }

    pub(crate) fn is_board_held(&self, board: BoardId) -> bool {
        self.status.held.iter().any(|held| held.board == board)
    }

    pub(crate) fn selected_nodes(&self) -> Vec<NodeId> {
        nodes_of(self.selection)
    }

    /// The part of the selected node that is selected in the preview, while overrides are set.
    pub(crate) fn part(&self) -> Option<&'a SelectedInstance> {
        let chosen = self.visible_preview.filter(|_| self.is_overriding)?.selected.as_ref()?;
        let within =
            chosen.instance.contains('/') && chosen.node.is_some_and(|node| self.selected_nodes() == [node]);
        within.then_some(chosen)
    }

    /// The component that the inspector edits while a component preview is visible and nothing on the board is
    /// selected: the selected part, else the component itself.
    pub(crate) fn isolated_component(&self) -> Option<IsolatedComponent<'a>> {
        let session = self.visible_preview.filter(|_| self.is_previewing && self.selection.is_empty())?;
        let (component, whole) = match &session.shows {
            PreviewTarget::Route(_) => return None,
            PreviewTarget::Component { component } => (component, component.clone()),
            PreviewTarget::Variant { component, variant } => (component, format!("{component}@{variant}")),
        };
        Some(match &session.selected {
            Some(part) if part.instance != whole => IsolatedComponent {
                instance: part.instance.clone(),
                component: &part.component,
                part: Some(part),
            },
            _ => IsolatedComponent { instance: whole, component, part: None },
        })
    }

    pub(crate) fn selected_edges(&self) -> Vec<EdgeId> {
        self.selection
            .iter()
            .filter_map(|id| if let ElementId::Edge(id) = id { Some(*id) } else { None })
            .collect()
    }

    pub(crate) fn infrastructure(&self) -> Option<BoardId> {
        self.board().filter(|board| board.kind == BoardKind::Infrastructure).map(|board| board.id)
    }

    pub(crate) fn deployed(&self) -> Option<&'a BoardTerraformView> {
        of_board(self.terraform, self.board?)
    }

    pub(crate) fn run_in_progress(&self) -> Option<&'a TerraformRunView> {
        self.deployed()?.run.as_ref().filter(|run| is_in_progress(run))
    }

    pub(crate) fn type_of(&self, node: &'a Node) -> Option<&'a TypeDef> {
        self.snapshot.type_of(node)
    }
}

/// A component in its own preview, or a part of it.
pub(crate) struct IsolatedComponent<'a> {
    /// The instance as overrides name it.
    pub(crate) instance: String,
    pub(crate) component: &'a str,
    pub(crate) part: Option<&'a SelectedInstance>,
}

pub(crate) fn nodes_of(elements: &BTreeSet<ElementId>) -> Vec<NodeId> {
    elements.iter().filter_map(|id| if let ElementId::Node(id) = id { Some(*id) } else { None }).collect()
}
