//! Collects the references and function calls of expressions.

use super::{
    BlockReference,
    functions::{constant_file, unsafe_call},
};
use hcl_edit::{
    expr::{Expression, FuncCall, Traversal, TraversalOperator},
    template::ForTemplateExpr,
    visit::{Visit, visit_expr, visit_for_template_expr, visit_func_call},
};
use std::collections::BTreeSet;

/// Visits any part of a body, including templates and nested blocks.
pub(super) struct ReferenceCollector<'a> {
    pub(super) folder: &'a str,
    /// The name that `self` refers to.
    pub(super) own: Option<&'a str>,
    pub(super) references: BTreeSet<BlockReference>,
    pub(super) unsafe_calls: Vec<String>,
    /// Files that functions read, by path in the folder.
    pub(super) files: BTreeSet<String>,
}

impl<'a> ReferenceCollector<'a> {
    pub(super) fn new(folder: &'a str, own: Option<&'a str>) -> Self {
        Self { folder, own, references: BTreeSet::new(), unsafe_calls: Vec::new(), files: BTreeSet::new() }
    }

    fn record_reference(&mut self, root: &str, operators: &[&TraversalOperator]) {
        let key = |name: String| (self.folder.to_owned(), name);
        let named = |at: usize| operators.get(at).and_then(|operator| constant_name(operator));
        let reference = match root {
            "local" | "var" => match named(0) {
                Some(name) => BlockReference::One(key(format!("{root}.{name}"))),
                None => BlockReference::Every(key(format!("{root}."))),
            },
            "data" | "ephemeral" => match (named(0), named(1)) {
                (Some(kind), Some(name)) => BlockReference::One(key(format!("{root}.{kind}.{name}"))),
                (Some(kind), None) => BlockReference::Every(key(format!("{root}.{kind}."))),
                _ => BlockReference::Every(key(format!("{root}."))),
            },
            "module" => match named(0) {
                // An index or a splat may follow the name.
                Some(name) => {
                    let rest = operators.iter().skip(1);
                    let output = rest.filter(|operator| !is_index(operator)).find_map(|o| constant_name(o));
                    BlockReference::Output(key(format!("module.{name}")), output)
                }
                None => BlockReference::Every(key("module.".to_owned())),
            },
            "self" => match self.own {
                Some(own) => BlockReference::One(key(own.to_owned())),
                None => return,
            },
            "each" | "count" | "terraform" => return,
            // The working directory reveals who runs the program.
            "path" => {
                let is_plain = named(0).is_some_and(|name| matches!(name.as_str(), "module" | "root"));
                if !is_plain {
                    self.unsafe_calls.push("path.cwd".to_owned());
                }
                return;
            }
            // The long form of `type.name`.
            "resource" => match (named(0), named(1)) {
                (Some(kind), Some(name)) => BlockReference::One(key(format!("resource.{kind}.{name}"))),
                (Some(kind), None) => BlockReference::Every(key(format!("resource.{kind}."))),
                _ => BlockReference::Every(key("resource.".to_owned())),
            },
            kind => match named(0) {
                Some(name) => BlockReference::One(key(format!("resource.{kind}.{name}"))),
                None => BlockReference::Every(key(format!("resource.{kind}."))),
            },
        };
        self.references.insert(reference);
    }
}

/// Returns a constant attribute name.
fn constant_name(operator: &TraversalOperator) -> Option<String> {
    match operator {
        TraversalOperator::GetAttr(name) => Some(name.as_str().to_owned()),
        TraversalOperator::Index(Expression::String(name)) => Some(name.value().clone()),
        _ => None,
    }
}

/// Returns whether the operator selects an instance instead of an attribute.
fn is_index(operator: &TraversalOperator) -> bool {
    match operator {
        TraversalOperator::GetAttr(_) => false,
        // `module.m["a"].x` is the instance `a`; `module.m["x"]` alone is treated the same way, as any output.
        TraversalOperator::Index(_)
        | TraversalOperator::AttrSplat(_)
        | TraversalOperator::FullSplat(_)
        | TraversalOperator::LegacyIndex(_) => true,
    }
}

impl Visit for ReferenceCollector<'_> {
    fn visit_expr(&mut self, node: &Expression) {
        match node {
            Expression::Variable(root) => self.record_reference(root.as_str(), &[]),
            other => visit_expr(self, other),
        }
    }

    fn visit_traversal(&mut self, node: &Traversal) {
        let operators: Vec<&TraversalOperator> =
            node.operators.iter().map(|operator| operator.value()).collect();
        match &node.expr {
            Expression::Variable(root) => self.record_reference(root.as_str(), &operators),
            other => self.visit_expr(other),
        }
        for operator in operators {
            self.visit_traversal_operator(operator);
        }
    }

    /// The default visitor skips the collection of a template `for`.
    fn visit_for_template_expr(&mut self, node: &ForTemplateExpr) {
        self.visit_expr(&node.collection_expr);
        visit_for_template_expr(self, node);
    }

    fn visit_func_call(&mut self, node: &FuncCall) {
        self.unsafe_calls.extend(unsafe_call(node));
        self.files.extend(constant_file(node));
        visit_func_call(self, node);
    }
}
