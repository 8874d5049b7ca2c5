//! Converts literal expressions to values.

use hcl_edit::{
    expr::{Expression, ObjectKey, TraversalOperator},
    template::Element,
};
use shared_protocol::PropValue;
use std::{collections::BTreeMap, sync::Arc};

/// Returns the value of an expression without references or computation.
pub(super) fn literal(expression: &Expression) -> Option<PropValue> {
    Some(match expression {
        Expression::Null(_) => PropValue::Null,
        Expression::Bool(value) => PropValue::Bool(*value.value()),
        Expression::Number(number) => PropValue::number(number.value().as_f64()?)?,
        Expression::String(text) => PropValue::text(text.value().as_str()),
        Expression::StringTemplate(template) => {
            let mut text = String::new();
            for element in template.iter() {
                match element {
                    Element::Literal(literal) => text.push_str(literal.value()),
                    _ => return None,
                }
            }
            PropValue::text(text)
        }
        Expression::HeredocTemplate(heredoc) => {
            let mut text = String::new();
            for element in heredoc.template.iter() {
                match element {
                    Element::Literal(literal) => text.push_str(literal.value()),
                    _ => return None,
                }
            }
            // Indented heredocs have their own dedent rules; the expression text is kept instead.
            if matches!(heredoc.indent(), Some(indent) if indent > 0) {
                return None;
            }
            PropValue::text(text)
        }
        Expression::Array(items) => PropValue::List(items.iter().map(literal).collect::<Option<_>>()?),
        Expression::Object(object) => {
            let mut fields = BTreeMap::new();
            for (key, value) in object.iter() {
                let key = match key {
                    ObjectKey::Ident(name) => name.as_str().to_owned(),
                    ObjectKey::Expression(key) => match literal(key)? {
                        PropValue::Text(text) => text.to_string(),
                        _ => return None,
                    },
                };
                fields.insert(Arc::from(key), literal(value.expr())?);
            }
            PropValue::Object(fields)
        }
        Expression::Parenthesis(inner) => literal(inner.inner())?,
        Expression::UnaryOp(operation) if operation.operator.value().as_str() == "-" => {
            match literal(&operation.expr)? {
                PropValue::Number(number) => PropValue::number(-number.get())?,
                _ => return None,
            }
        }
        _ => return None,
    })
}

/// Returns a literal value, or the text of the expression.
pub(super) fn value_of(expression: &Expression) -> PropValue {
    literal(expression).unwrap_or_else(|| PropValue::of_expression(expression.to_string().trim()))
}

/// Splits `type.name.attribute…` into the address and the rest.
pub(super) fn traversal(expression: &Expression) -> Option<(String, String)> {
    let Expression::Traversal(traversal) = expression else { return None };
    let Expression::Variable(first) = &traversal.expr else { return None };
    let mut text = first.as_str().to_owned();
    let address_parts = if text == "data" { 3 } else { 2 };
    let (mut count, mut address) = (1, None);
    for operator in &traversal.operators {
        match operator.value() {
            TraversalOperator::GetAttr(name) => {
                if count == address_parts {
                    address = Some(std::mem::take(&mut text));
                }
                if !text.is_empty() {
                    text.push('.');
                }
                text.push_str(name.as_str());
            }
            TraversalOperator::Index(index) => match literal(index)? {
                PropValue::Number(number) => text.push_str(&format!("[{number}]")),
                _ => return None,
            },
            TraversalOperator::LegacyIndex(index) => text.push_str(&format!("[{}]", index.value())),
            _ => return None,
        }
        count += 1;
    }
    Some((address?, text))
}
