//! The deployment status of a board's nodes: planned actions, running operations, drift and findings. Plain data from
//! the owner of the canvas.

use shared_protocol::{
    NodeId,
    messages::ProblemSeverity,
    terraform::{BoardTerraformView, DeploymentState, PlannedAction, TerraformRunState},
};
use std::collections::HashMap;

/// The status of one node; at least one field is set.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct NodeDeployStatus {
    pub planned: Option<PlannedAction>,
    pub deployment: Option<DeploymentState>,
    /// A change of the real resource outside of Terraform.
    pub drifted: Option<PlannedAction>,
    /// The most severe finding of the last run.
    pub finding: Option<ProblemSeverity>,
}

impl NodeDeployStatus {
    /// Describes the status for assistive technology: `will be replaced, created, drifted`.
    pub fn describe(&self) -> String {
        let mut words = Vec::new();
        words.extend(self.planned.map(planned_words));
        words.extend(self.deployment.map(DeploymentState::as_str));
        words.extend(self.drifted.map(|_| "drifted"));
        words.extend(self.finding.map(|severity| match severity {
            ProblemSeverity::Error => "error in the last run",
            ProblemSeverity::Warning => "warning in the last run",
        }));
        words.join(", ")
    }
}

pub fn planned_words(action: PlannedAction) -> &'static str {
    match action {
        PlannedAction::Create => "will be created",
        PlannedAction::Update => "will be updated",
        PlannedAction::Replace => "will be replaced",
        PlannedAction::Delete => "will be deleted",
        PlannedAction::Read => "will be read",
    }
}

/// The status of every node of a board that has one.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct BoardDeployStatus {
    nodes: HashMap<NodeId, NodeDeployStatus>,
    /// Whether a run is active; the signs of running operations are animated.
    pub is_running: bool,
}

impl BoardDeployStatus {
    /// Returns `None` when no node has a status, so that drawing skips the lookup.
    pub fn from_board(board: &BoardTerraformView) -> Option<Self> {
        let mut nodes: HashMap<NodeId, NodeDeployStatus> = HashMap::new();
        for &(node, deployment) in &board.statuses {
            nodes.entry(node).or_default().deployment = Some(deployment);
        }
        for &(node, action) in &board.planned {
            nodes.entry(node).or_default().planned = Some(action);
        }
        for &(node, action) in &board.drifted {
            nodes.entry(node).or_default().drifted = Some(action);
        }
        for finding in &board.findings {
            if let Some(node) = finding.node {
                let worst = &mut nodes.entry(node).or_default().finding;
                *worst = Some(worst.map_or(finding.severity, |found| found.min(finding.severity)));
            }
        }
        let state = board.run.as_ref().map(|run| run.state);
        let is_running = matches!(state, Some(TerraformRunState::Running | TerraformRunState::Cancelling));
        (!nodes.is_empty()).then_some(Self { nodes, is_running })
    }

    pub fn get(&self, node: NodeId) -> Option<NodeDeployStatus> {
        self.nodes.get(&node).copied()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use shared_protocol::{
        BoardId,
        terraform::{PlanState, TerraformFindingView},
    };

    fn board() -> BoardTerraformView {
        BoardTerraformView {
            board: BoardId::from_bits(1),
            run: None,
            statuses: Vec::new(),
            planned: Vec::new(),
            drifted: Vec::new(),
            findings: Vec::new(),
            plan: PlanState::None,
            interrupted: None,
        }
    }

    #[test]
    fn a_board_with_nothing_to_say_costs_nothing() {
        assert_eq!(BoardDeployStatus::from_board(&board()), None);
    }

    #[test]
    fn all_that_is_known_of_a_node_stands_together_in_words() {
        let node = NodeId::from_bits(7);
        let finding = |severity| TerraformFindingView {
            severity,
            node: Some(node),
            prop: None,
            message: String::new(),
            detail: String::new(),
        };
        let known = BoardTerraformView {
            statuses: vec![(node, DeploymentState::Created)],
            planned: vec![(node, PlannedAction::Replace)],
            drifted: vec![(node, PlannedAction::Update)],
            findings: vec![finding(ProblemSeverity::Warning), finding(ProblemSeverity::Error)],
            ..board()
        };
        let standings = BoardDeployStatus::from_board(&known).unwrap();
        let words = standings.get(node).unwrap().describe();
        assert_eq!(words, "will be replaced, created, drifted, error in the last run");
        assert_eq!(standings.get(NodeId::from_bits(8)), None);
    }
}
