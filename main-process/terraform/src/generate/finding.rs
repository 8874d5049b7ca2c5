//! Findings about the generated files.

use shared_protocol::{NodeId, PropKey, messages::ProblemSeverity};

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct TerraformFinding {
    /// An error when Terraform would reject the files.
    pub severity: ProblemSeverity,
    pub node: Option<NodeId>,
    pub prop: Option<PropKey>,
    pub message: String,
}

impl TerraformFinding {
    pub(crate) fn error(node: NodeId, prop: Option<&PropKey>, message: impl Into<String>) -> Self {
        Self {
            severity: ProblemSeverity::Error,
            node: Some(node),
            prop: prop.cloned(),
            message: message.into(),
        }
    }

    pub(crate) fn warning(node: Option<NodeId>, message: impl Into<String>) -> Self {
        Self { severity: ProblemSeverity::Warning, node, prop: None, message: message.into() }
    }
}
