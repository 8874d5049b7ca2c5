//! The board of a command, reached through a running Draftboard or directly.

use super::{WorkspaceArguments, format, workspace_at::ReachedWorkspace};
use shared_protocol::{
    Board, BoardId, BoardKind, NodeId, Refusal, RefusalCode,
    messages::ProblemSeverity,
    request::{Request, Responder},
    requests::{ReadDocument, WorkbenchRequest},
    terraform::TerraformFindingView,
};
use std::collections::HashMap;
use terraform_runs::TerraformRequest;

pub(super) struct ReachedBoard {
    workspace: ReachedWorkspace,
    pub(super) board: Board,
    names: HashMap<NodeId, String>,
}

impl ReachedBoard {
    /// Finds the named board, or the only infrastructure board.
    pub(super) fn find(at: &WorkspaceArguments, named: Option<&str>) -> Result<Self, Refusal> {
        let mut reached = ReachedWorkspace::resolve(at.workspace.as_deref())?;
        let document = reached.request(ReadDocument {})?;
        let mut boards: Vec<Board> =
            document.boards.into_iter().filter(|board| board.kind == BoardKind::Infrastructure).collect();
        let names: Vec<String> = boards.iter().map(|board| board.name.to_string()).collect();
        let all = format!("The infrastructure boards are {}.", names.join(", "));
        if let Some(named) = named {
            boards.retain(|board| board.name.as_str() == named || board.id.to_string() == named);
        }
        let board = match (boards.len(), boards.pop(), named) {
            (1, Some(board), _) => board,
            (_, Some(_), _) => {
                let message = format!("there are {} infrastructure boards: name one", names.len());
                return Err(Refusal::new(RefusalCode::BadRequest, message).field("board").hint(all));
            }
            (_, None, Some(named)) => {
                let message = format!("there is no infrastructure board `{named}`");
                return Err(Refusal::new(RefusalCode::NotFound, message).field("board").hint(all));
            }
            (_, None, None) => {
                return Err(Refusal::new(RefusalCode::NotFound, "there is no infrastructure board"));
            }
        };
        let names = document.nodes.into_iter().filter(|node| node.board == board.id);
        let names = names.map(|node| (node.id, node.name.to_string())).collect();
        Ok(Self { workspace: reached, board, names })
    }

    /// Sends a request about the board's Terraform.
    pub(super) fn request<R>(&mut self, request: R) -> Result<R::Response, Refusal>
    where
        R: Request<Frame = WorkbenchRequest>,
        TerraformRequest: From<(R, Responder<R::Response>)>,
    {
        self.workspace.terraform(request)
    }

    /// The name of a node; its id when it was removed.
    pub(super) fn name(&self, node: NodeId) -> String {
        self.names.get(&node).cloned().unwrap_or_else(|| node.to_string())
    }

    /// Prints findings to standard error. Returns whether one is an error.
    pub(super) fn print_findings(&self, findings: &[TerraformFindingView]) -> bool {
        for finding in findings {
            let severity = if finding.severity == ProblemSeverity::Error { "error" } else { "warning" };
            let node = finding.node.map(|node| format!("{}: ", self.name(node))).unwrap_or_default();
            let prop = finding.prop.as_ref().map(|prop| format!("{prop}: ")).unwrap_or_default();
            format::print_warning(&format!("{severity}: {node}{prop}{}", finding.message));
        }
        findings.iter().any(|finding| finding.severity == ProblemSeverity::Error)
    }
}

/// Finds a board of any kind by name or id.
pub(super) fn find_board(reached: &mut ReachedWorkspace, named: &str) -> Result<BoardId, Refusal> {
    let boards = reached.request(ReadDocument {})?.boards;
    let is_named = |board: &&Board| board.name.as_str() == named || board.id.to_string() == named;
    boards.iter().find(is_named).map(|board| board.id).ok_or_else(|| {
        let names: Vec<String> = boards.iter().map(|board| board.name.to_string()).collect();
        Refusal::new(RefusalCode::NotFound, format!("there is no board `{named}`"))
            .field("board")
            .hint(format!("The boards are {}.", names.join(", ")))
    })
}
