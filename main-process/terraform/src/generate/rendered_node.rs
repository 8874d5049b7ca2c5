//! The output of one rendered node.

use super::addresses::BlockAddress;
use crate::hcl::{HclBody, HclExpression};
use shared_protocol::{NodeId, terraform::TerraformFindingView};
use std::sync::Arc;

#[derive(Debug, Default)]
pub(crate) struct RenderedNode {
    /// Blocks for `main.tf` with their addresses, each with a trailing newline.
    pub(crate) blocks: Vec<(String, String)>,
    pub(crate) variables: Vec<TerraformVariable>,
    pub(crate) outputs: Vec<(String, HclBody)>,
    pub(crate) locals: Vec<(String, HclExpression)>,
    /// Attributes that are read across a module boundary.
    pub(crate) crossings: Vec<CrossModuleAttribute>,
    /// Nodes that must be written before this one.
    pub(crate) after: Vec<NodeId>,
    /// The entries of all nodes that this node refers to.
    pub(crate) used_addresses: Vec<(NodeId, Arc<BlockAddress>)>,
    pub(crate) findings: Vec<TerraformFindingView>,
    /// The node uses the client config data source.
    pub(crate) uses_client_config: bool,
    /// The node uses the common tags.
    pub(crate) common_tags: bool,
}

#[derive(Debug, Clone, PartialEq)]
pub struct TerraformVariable {
    pub name: String,
    /// The type constraint, in Terraform syntax.
    pub kind: String,
    pub description: String,
    pub default: Option<HclExpression>,
    pub sensitive: bool,
    pub nullable: bool,
    /// Lines that are added to its block unchanged.
    pub(crate) extra: String,
    /// The node that the variable belongs to.
    pub node: Option<NodeId>,
}

impl TerraformVariable {
    pub(crate) fn new(name: String, kind: &str, description: String) -> Self {
        Self {
            name,
            kind: kind.to_owned(),
            description,
            default: None,
            sensitive: false,
            nullable: true,
            extra: String::new(),
            node: None,
        }
    }

    pub(crate) fn to_block(&self) -> String {
        let mut body = HclBody::default();
        body.add_argument("type", HclExpression::raw(&self.kind));
        if !self.description.is_empty() {
            body.add_argument("description", HclExpression::text(&self.description));
        }
        if let Some(default) = self.default.as_ref().filter(|_| !self.sensitive) {
            body.add_argument("default", default.clone());
        }
        if self.sensitive {
            body.add_argument("sensitive", HclExpression::raw("true"));
        }
        if !self.nullable {
            body.add_argument("nullable", HclExpression::raw("false"));
        }
        if !self.extra.is_empty() {
            body.items.push(crate::hcl::HclStatement::Verbatim(self.extra.clone()));
        }
        body.to_block("variable", &[&self.name])
    }
}

/// An attribute that is read in another module.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct CrossModuleAttribute {
    pub(crate) from: Option<Arc<str>>,
    pub(crate) to: Option<Arc<str>>,
    /// The name of both the output and the variable.
    pub(crate) name: String,
    /// The attribute address in the source module.
    pub(crate) source: String,
    pub(crate) sensitive: bool,
    pub(crate) kind: &'static str,
}
