//! The output of one rendered node.

use super::{finding::Finding, places::Place};
use crate::hcl::{Body, Expression};
use shared_protocol::NodeId;
use std::sync::Arc;

#[derive(Debug, Default)]
pub(crate) struct Rendered {
    /// Blocks for `main.tf` with their addresses, each with a trailing newline.
    pub(crate) blocks: Vec<(String, String)>,
    pub(crate) variables: Vec<Variable>,
    pub(crate) outputs: Vec<(String, Body)>,
    pub(crate) locals: Vec<(String, Expression)>,
    /// Attributes that are read across a module boundary.
    pub(crate) crossings: Vec<Crossing>,
    /// Nodes that must be written before this one.
    pub(crate) after: Vec<NodeId>,
    /// The entries of all nodes that this node refers to.
    pub(crate) refers: Vec<(NodeId, Arc<Place>)>,
    pub(crate) findings: Vec<Finding>,
    /// The node uses the client config data source.
    pub(crate) asks_client: bool,
    /// The node uses the common tags.
    pub(crate) common_tags: bool,
}

#[derive(Debug, Clone, PartialEq)]
pub struct Variable {
    pub name: String,
    /// The type constraint, in Terraform syntax.
    pub kind: String,
    pub description: String,
    pub default: Option<Expression>,
    pub sensitive: bool,
    pub nullable: bool,
    /// Lines that are added to its block unchanged.
    pub(crate) extra: String,
    /// The node that the variable belongs to.
    pub node: Option<NodeId>,
}

impl Variable {
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
        let mut body = Body::default();
        body.argument("type", Expression::raw(&self.kind));
        if !self.description.is_empty() {
            body.argument("description", Expression::text(&self.description));
        }
        if let Some(default) = self.default.as_ref().filter(|_| !self.sensitive) {
            body.argument("default", default.clone());
        }
        if self.sensitive {
            body.argument("sensitive", Expression::raw("true"));
        }
        if !self.nullable {
            body.argument("nullable", Expression::raw("false"));
        }
        if !self.extra.is_empty() {
            body.items.push(crate::hcl::Item::Verbatim(self.extra.clone()));
        }
        body.to_block("variable", &[&self.name])
    }
}

/// An attribute that is read in another module.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Crossing {
    pub(crate) from: Option<Arc<str>>,
    pub(crate) to: Option<Arc<str>>,
    /// The name of both the output and the variable.
    pub(crate) name: String,
    /// The attribute address in the source module.
    pub(crate) source: String,
    pub(crate) sensitive: bool,
    pub(crate) kind: &'static str,
}
