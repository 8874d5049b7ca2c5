//! Expressions and bodies that people wrote: whether they are what they claim, and what they name.

use crate::reach::lexical;
use hcl_edit::{
    expr::{Expression, Traversal, TraversalOperator},
    visit::{Visit, visit_traversal},
};

/// Whether a text is one expression, and the addresses (`type.name`, `data.type.name`, `module.name`) it names.
pub(crate) fn check(text: &str) -> Result<Vec<String>, String> {
    let expression: Expression =
        text.trim().parse().map_err(|error: hcl_edit::parser::Error| summary(&error))?;
    lexical::check_expression(text, &expression)?;
    let mut names = Names::default();
    names.visit_expr(&expression);
    Ok(names.0)
}

/// Whether a text is arguments and blocks.
pub(crate) fn check_body(text: &str) -> Result<(), String> {
    let body = hcl_edit::parser::parse_body(text).map_err(|error| summary(&error))?;
    // It is written with a line end.
    lexical::check_body(&format!("{text}\n"), &body)
}

fn summary(error: &hcl_edit::parser::Error) -> String {
    let location = error.location();
    format!("line {}, column {}: {}", location.line(), location.column(), error.message())
}

#[derive(Default)]
struct Names(Vec<String>);

impl Visit for Names {
    fn visit_traversal(&mut self, traversal: &Traversal) {
        let mut parts = Vec::new();
        if let Expression::Variable(first) = &traversal.expr {
            parts.push(first.as_str().to_owned());
            for operator in &traversal.operators {
                match operator.value() {
                    TraversalOperator::GetAttr(name) => parts.push(name.as_str().to_owned()),
                    _ => break,
                }
            }
            // `resource.type.name` is the long form of `type.name`.
            if parts[0] == "resource" && parts.len() > 2 {
                parts.remove(0);
            }
            let wanted = if parts[0] == "data" { 3 } else { 2 };
            if parts.len() >= wanted {
                self.0.push(parts[..wanted].join("."));
            }
        }
        visit_traversal(self, traversal);
    }
}
