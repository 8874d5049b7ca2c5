//! Functions that read files. A path is safe only when it is a constant below the module folder.

use hcl_edit::{
    expr::{Expression, FuncCall, TraversalOperator},
    template::Element,
};

const FILE_FUNCTIONS: [&str; 10] = [
    "file",
    "filebase64",
    "fileexists",
    "fileset",
    "filemd5",
    "filesha1",
    "filesha256",
    "filesha512",
    "filebase64sha256",
    "filebase64sha512",
];

/// Functions that cannot be analyzed: a template calls other functions, an absolute path reveals the user and
/// machine, and a value that is no longer sensitive appears in messages.
const UNSAFE_FUNCTIONS: [&str; 5] =
    ["templatefile", "templatestring", "pathexpand", "abspath", "nonsensitive"];
/// File name parts of states, plans and variable values.
const SECRET_FILE_MARKS: [&str; 3] = [".tfstate", ".tfplan", ".tfvars"];

/// Describes the call when it may read outside the module folder or runs provider code.
pub(super) fn unsafe_call(call: &FuncCall) -> Option<String> {
    let name = call.name.name.as_str();
    if call.name.is_namespaced() {
        return Some(format!("the provider function {name}()"));
    }
    if UNSAFE_FUNCTIONS.contains(&name) {
        return Some(format!("the function {name}()"));
    }
    if !FILE_FUNCTIONS.contains(&name) {
        return None;
    }
    let is_safe = match (name, call.args.get(0), call.args.get(1)) {
        ("fileset", Some(folder), Some(pattern)) => {
            (is_module_folder(folder) || safe_constant_path(folder).is_some())
                && safe_constant_path(pattern).is_some_and(|pattern| !pattern.contains(['{', '[']))
        }
        ("fileset", ..) => false,
        (_, Some(path), _) => safe_constant_path(path).is_some(),
        (_, None, _) => false,
    };
    (!is_safe || call.args.expand_final()).then(|| format!("the function {name}()"))
}

/// Returns the file that a safe call reads.
pub(super) fn constant_file(call: &FuncCall) -> Option<String> {
    let name = call.name.name.as_str();
    if call.name.is_namespaced() || name == "fileset" || !FILE_FUNCTIONS.contains(&name) {
        return None;
    }
    safe_constant_path(call.args.get(0)?)
}

/// Returns a constant path below the module folder, unless the file is hidden or may contain secrets.
fn safe_constant_path(path: &Expression) -> Option<String> {
    match path {
        Expression::String(text) => safe_path(text.value()),
        Expression::Parenthesis(inner) => safe_constant_path(inner.inner()),
        Expression::StringTemplate(template) => {
            let elements: Vec<&Element> = template.iter().collect();
            match elements[..] {
                [Element::Literal(text)] => safe_path(text),
                [Element::Interpolation(folder), Element::Literal(rest)]
                    if is_module_folder(&folder.expr) =>
                {
                    safe_path(rest.strip_prefix('/')?)
                }
                _ => None,
            }
        }
        _ => None,
    }
}

fn safe_path(text: &str) -> Option<String> {
    let mut names = Vec::new();
    for part in text.split('/') {
        match part {
            "" | "." => {}
            hidden if hidden.starts_with('.') => return None,
            secret if SECRET_FILE_MARKS.iter().any(|ending| secret.to_ascii_lowercase().contains(ending)) => {
                return None;
            }
            name => names.push(name),
        }
    }
    let is_plain = !names.is_empty() && !text.starts_with(['/', '~']) && !text.contains(['\\', '\0']);
    is_plain.then(|| names.join("/"))
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
