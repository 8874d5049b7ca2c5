//! Findings about the generated files.

use shared_protocol::{NodeId, PropKey};

#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum TerraformFindingSeverity {
    /// Terraform would reject the files.
    Error,
    Warning,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct TerraformFinding {
    pub severity: TerraformFindingSeverity,
    pub node: Option<NodeId>,
    pub prop: Option<PropKey>,
    pub message: String,
}

impl TerraformFinding {
    pub(crate) fn error(node: NodeId, prop: Option<&PropKey>, message: impl Into<String>) -> Self {
        Self {
            severity: TerraformFindingSeverity::Error,
            node: Some(node),
            prop: prop.cloned(),
            message: message.into(),
        }
    }

    pub(crate) fn warning(node: Option<NodeId>, message: impl Into<String>) -> Self {
        Self { severity: TerraformFindingSeverity::Warning, node, prop: None, message: message.into() }
    }
}
