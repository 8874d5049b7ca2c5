//! Functions that read files. A path counts as safe only when it is a constant strictly below the module folder.

use hcl_edit::{
    expr::{Expression, FuncCall, TraversalOperator},
    template::Element,
};

const READING: [&str; 11] = [
    "file",
    "filebase64",
    "fileexists",
    "templatefile",
    "fileset",
    "filemd5",
    "filesha1",
    "filesha256",
    "filesha512",
    "filebase64sha256",
    "filebase64sha512",
];

/// The call in words when it may read outside the module folder, or runs code of a provider.
pub(super) fn unsafe_call(call: &FuncCall) -> Option<String> {
    let name = call.name.name.as_str();
    if call.name.is_namespaced() {
        return Some(format!("the provider function {name}()"));
    }
    if !READING.contains(&name) {
        return None;
    }
    let is_safe = match (name, call.args.get(0), call.args.get(1)) {
        ("fileset", Some(folder), Some(pattern)) => {
            (is_module_folder(folder) || is_below(folder)) && is_below(pattern)
        }
        ("fileset", ..) => false,
        (_, Some(path), _) => is_below(path),
        (_, None, _) => false,
    };
    (!is_safe || call.args.expand_final()).then(|| format!("the function {name}()"))
}

fn is_below(path: &Expression) -> bool {
    match path {
        Expression::String(text) => is_below_text(text.value()),
        Expression::Parenthesis(inner) => is_below(inner.inner()),
        Expression::StringTemplate(template) => {
            let elements: Vec<&Element> = template.iter().collect();
            match elements[..] {
                [Element::Literal(text)] => is_below_text(text),
                [Element::Interpolation(folder), Element::Literal(rest)] => {
                    is_module_folder(&folder.expr) && rest.strip_prefix('/').is_some_and(is_below_text)
                }
                _ => false,
            }
        }
        _ => false,
    }
}

fn is_below_text(text: &str) -> bool {
    let mut has_name = false;
    for part in text.split('/') {
        match part {
            ".." => return false,
            "" | "." => {}
            _ => has_name = true,
        }
    }
    has_name && !text.starts_with(['/', '~', '\\']) && !text.contains('\\')
}

fn is_module_folder(expression: &Expression) -> bool {
    match expression {
        Expression::Traversal(traversal) => {
            let is_path = matches!(&traversal.expr, Expression::Variable(root) if root.as_str() == "path");
            let operators: Vec<&TraversalOperator> =
                traversal.operators.iter().map(|operator| operator.value()).collect();
            is_path
                && matches!(operators[..], [TraversalOperator::GetAttr(name)] if name.as_str() == "module")
        }
        Expression::StringTemplate(template) => {
            let elements: Vec<&Element> = template.iter().collect();
            matches!(elements[..], [Element::Interpolation(only)] if is_module_folder(&only.expr))
        }
        _ => false,
    }
}
