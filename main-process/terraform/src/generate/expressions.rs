//! Checks user-written expressions and bodies, and collects the addresses that they use.

use crate::reach::lexical;
use hcl_edit::{
    expr::{Expression, Traversal, TraversalOperator},
    visit::{Visit, visit_traversal},
};

/// Checks that a text is a single expression. Returns the addresses in it (`type.name`, `data.type.name`,
/// `module.name`).
pub(crate) fn check_expression(text: &str) -> Result<Vec<String>, String> {
    let expression: Expression =
        text.trim().parse().map_err(|error: hcl_edit::parser::Error| describe_parse_error(&error))?;
    lexical::check_expression(text, &expression)?;
    let mut names = AddressCollector::default();
    names.visit_expr(&expression);
    Ok(names.0)
}

/// Checks that a text consists of arguments and blocks.
pub(crate) fn check_body(text: &str) -> Result<(), String> {
    let body = hcl_edit::parser::parse_body(text).map_err(|error| describe_parse_error(&error))?;
    // The text is written with a trailing newline.
    lexical::check_body(&format!("{text}\n"), &body)
}

fn describe_parse_error(error: &hcl_edit::parser::Error) -> String {
    let location = error.location();
    format!("line {}, column {}: {}", location.line(), location.column(), error.message())
}

#[derive(Default)]
struct AddressCollector(Vec<String>);

impl Visit for AddressCollector {
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
