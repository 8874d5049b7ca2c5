//! Converts validator errors to findings with the codes and texts of the contract.

use super::SchemaFinding;
use jsonschema::{
    ValidationError,
    error::{TypeKind, ValidationErrorKind as Kind},
};
use std::collections::BTreeSet;

/// The maximum number of findings for one entity.
const MOST: usize = 200;

pub(super) fn of<'a>(errors: impl Iterator<Item = ValidationError<'a>>) -> Vec<SchemaFinding> {
    let mut findings = Vec::new();
    let mut conditions = BTreeSet::new();
    for error in errors {
        add(&mut findings, &mut conditions, &error);
        if findings.len() >= MOST {
            findings.truncate(MOST);
            break;
        }
    }
    findings
}

fn add(findings: &mut Vec<SchemaFinding>, conditions: &mut BTreeSet<String>, error: &ValidationError<'_>) {
    let pointer = error.instance_path().as_str();
    let path = if pointer.is_empty() { "/" } else { pointer };
    let mut push = |code: &str, words: String| {
        findings.push(SchemaFinding {
            code: code.to_owned(),
            path: path.to_owned(),
            message: format!("{path} {words}"),
        });
    };
    match error.kind() {
        // One finding per property, because each can be fixed separately.
        Kind::AdditionalProperties { unexpected } | Kind::UnevaluatedProperties { unexpected } => {
            let keyword = error.kind().keyword();
            let words = if keyword == "additionalProperties" { "additional" } else { "unevaluated" };
            for property in unexpected {
                push(keyword, format!("must NOT have {words} properties ({property:?})"));
            }
        }
        Kind::AnyOf { context } | Kind::OneOfNotValid { context } => {
            for branch in context {
                branch.iter().for_each(|error| add(findings, conditions, error));
            }
            let keyword = error.kind().keyword();
            let words = if keyword == "anyOf" {
                "must match a schema in anyOf"
            } else {
                "must match exactly one schema in oneOf"
            };
            let message = format!("{path} {words}");
            findings.push(SchemaFinding { code: keyword.to_owned(), path: path.to_owned(), message });
        }
        kind => push(kind.keyword(), words(kind, error)),
    }
    // An additional finding names the condition that applied.
    let place = error.evaluation_path().as_str();
    for branch in ["then", "else"] {
        let Some(at) = place.find(&format!("/{branch}/")) else { continue };
        if conditions.insert(format!("{path} {}", &place[..at + branch.len() + 1])) {
            let message = format!("/ must match \"{branch}\" schema");
            findings.push(SchemaFinding { code: "if".to_owned(), path: "/".to_owned(), message });
        }
    }
}

fn words(kind: &Kind, error: &ValidationError<'_>) -> String {
    let limit = |words: &str, limit: &dyn std::fmt::Display, unit: &str| {
        format!("must NOT have {words} than {limit} {unit}")
    };
    match kind {
        Kind::Required { property } => {
            format!("must have required property '{}'", property.as_str().unwrap_or_default())
        }
        Kind::Type { kind: TypeKind::Single(wanted) } => format!("must be {wanted}"),
        Kind::Type { kind: TypeKind::Multiple(wanted) } => {
            let names: Vec<String> = wanted.into_iter().map(|name| name.to_string()).collect();
            format!("must be {}", names.join(","))
        }
        Kind::Enum { options } => format!("must be equal to one of the allowed values: {options}"),
        Kind::Constant { expected_value } => format!("must be equal to constant {expected_value}"),
        Kind::Pattern { pattern } => format!("must match pattern \"{pattern}\""),
        Kind::BacktrackLimitExceeded { .. } => {
            "could not be compared with its pattern, which takes too long".into()
        }
        Kind::Format { format } => format!("must match format \"{format}\""),
        Kind::MinLength { limit: least } => limit("fewer", least, "characters"),
        Kind::MaxLength { limit: most } => limit("more", most, "characters"),
        Kind::MinItems { limit: least } => limit("fewer", least, "items"),
        Kind::MaxItems { limit: most } => limit("more", most, "items"),
        Kind::AdditionalItems { limit: most } => limit("more", most, "items"),
        Kind::MinProperties { limit: least } => limit("fewer", least, "properties"),
        Kind::MaxProperties { limit: most } => limit("more", most, "properties"),
        Kind::Minimum { limit } => format!("must be >= {limit}"),
        Kind::Maximum { limit } => format!("must be <= {limit}"),
        Kind::ExclusiveMinimum { limit } => format!("must be > {limit}"),
        Kind::ExclusiveMaximum { limit } => format!("must be < {limit}"),
        Kind::MultipleOf { multiple_of } => format!("must be multiple of {multiple_of}"),
        Kind::UniqueItems => "must NOT have duplicate items".to_owned(),
        Kind::Not { .. } => "must NOT be valid".to_owned(),
        Kind::FalseSchema => "is not allowed".to_owned(),
        Kind::OneOfMultipleValid { .. } => "must match exactly one schema in oneOf".to_owned(),
        Kind::PropertyNames { error } => format!("property name must be valid: {error}"),
        _ => error.to_string(),
    }
}
