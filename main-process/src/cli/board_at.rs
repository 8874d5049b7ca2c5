//! The infrastructure board that a command means, reached through a running Draftboard or directly.

use super::{
    At, format,
    workspace_at::{self, Reached},
};
use shared_protocol::{
    Board, BoardKind, Code, NodeId, Refusal,
    messages::{Answer, Request, Severity},
    terraform::{Finding, TerraformAnswer, TerraformRequest},
};
use std::collections::HashMap;

pub(super) struct BoardAt {
    reached: Reached,
    pub(super) board: Board,
    names: HashMap<NodeId, String>,
}

impl BoardAt {
    /// The named board, or the only one that becomes Terraform.
    pub(super) fn find(at: &At, named: Option<&str>) -> Result<Self, Refusal> {
        let mut reached = Reached::workspace(&workspace_at::find(at.workspace.as_deref())?)?;
        let Answer::Document(document) = reached.request(Request::Document)? else { return Err(unasked()) };
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
                return Err(Refusal::new(Code::BadRequest, message).field("board").hint(all));
            }
            (_, None, Some(named)) => {
                let message = format!("there is no infrastructure board `{named}`");
                return Err(Refusal::new(Code::NotFound, message).field("board").hint(all));
            }
            (_, None, None) => {
                return Err(Refusal::new(Code::NotFound, "there is no infrastructure board"));
            }
        };
        let names = document.nodes.into_iter().filter(|node| node.board == board.id);
        let names = names.map(|node| (node.id, node.name.to_string())).collect();
        Ok(Self { reached, board, names })
    }

    pub(super) fn ask(&mut self, request: TerraformRequest) -> Result<TerraformAnswer, Refusal> {
        match self.reached.request(Request::Terraform(request))? {
            Answer::Terraform(answer) => Ok(answer),
            _ => Err(unasked()),
        }
    }

    pub(super) fn ask_text(&mut self, request: TerraformRequest) -> Result<String, Refusal> {
        match self.reached.request(Request::Terraform(request))? {
            Answer::Text(text) => Ok(text),
            _ => Err(unasked()),
        }
    }

    pub(super) fn cancel(&mut self, request: TerraformRequest) -> Result<(), Refusal> {
        self.reached.request(Request::Terraform(request)).map(drop)
    }

    /// As people know it; its id when it is gone.
    pub(super) fn name(&self, node: NodeId) -> String {
        self.names.get(&node).cloned().unwrap_or_else(|| node.to_string())
    }

    /// Tells what is wrong, on standard error. True when there is an error among it.
    pub(super) fn complain(&self, findings: &[Finding]) -> bool {
        for finding in findings {
            let severity = if finding.severity == Severity::Error { "error" } else { "warning" };
            let node = finding.node.map(|node| format!("{}: ", self.name(node))).unwrap_or_default();
            let prop = finding.prop.as_ref().map(|prop| format!("{prop}: ")).unwrap_or_default();
            format::complain(&format!("{severity}: {node}{prop}{}", finding.message));
        }
        findings.iter().any(|finding| finding.severity == Severity::Error)
    }
}

pub(super) fn unasked() -> Refusal {
    Refusal::new(Code::Internal, "an answer that was not asked for")
}
