//! Compares an answer with a recorded one and returns the paths that differ.

use serde_json::Value;

/// Members with free text, or that depend on the clock.
const NOT_COMPARED: [&str; 4] = ["message", "alternative", "rawResponse", "characterCount"];

pub(crate) fn differences(expected: &Value, actual: &Value) -> Vec<String> {
    let mut found = Vec::new();
    compare(expected, actual, "", &mut found);
    found
}

fn compare(expected: &Value, actual: &Value, place: &str, found: &mut Vec<String>) {
    let mut differ = || found.push(format!("{place}: {} instead of {}", short(actual), short(expected)));
    match (expected, actual) {
        (Value::Object(wanted), Value::Object(given)) => {
            for (key, value) in wanted.iter().filter(|(key, _)| !NOT_COMPARED.contains(&key.as_str())) {
                match given.get(key) {
                    Some(other) => compare(value, other, &format!("{place}/{key}"), found),
                    None => found.push(format!("{place}/{key}: missing")),
                }
            }
        }
        (Value::Array(wanted), Value::Array(given))
            if place.ends_with("diagnostics") || place.ends_with("stdout") =>
        {
            compare_lists(&in_order(wanted), &in_order(given), place, found);
        }
        (Value::Array(wanted), Value::Array(given)) => compare_lists(wanted, given, place, found),
        (Value::Number(a), Value::Number(b)) => {
            // A fraction may have lost digits in a narrower type.
            let (a, b) = (a.as_f64().unwrap_or(f64::NAN), b.as_f64().unwrap_or(f64::NAN));
            if a != b && (a.fract() == 0.0 || (a - b).abs() > 1e-6) {
                differ();
            }
        }
        (Value::String(wanted), Value::String(given)) => {
            if !matches(wanted, given) {
                differ();
            }
        }
        _ if expected == actual => {}
        _ => differ(),
    }
}

fn compare_lists(wanted: &[Value], given: &[Value], place: &str, found: &mut Vec<String>) {
    if wanted.len() != given.len() {
        found.push(format!("{place}: {} items instead of {}", given.len(), wanted.len()));
    }
    for (index, (a, b)) in wanted.iter().zip(given).enumerate() {
        compare(a, b, &format!("{place}/{index}"), found);
    }
}

/// Sorts the findings of one schema about one entity, whose order is undefined.
fn in_order(findings: &[Value]) -> Vec<Value> {
    let key =
        |finding: &Value| ["bundleId", "entityType", "entityId", "source"].map(|key| finding[key].clone());
    let text = |finding: &Value| {
        ["code", "path", "field"].map(|key| finding[key].as_str().unwrap_or_default().to_owned())
    };
    let mut sorted = findings.to_vec();
    let is_schema = |finding: &Value| {
        let code = finding["code"].as_str().unwrap_or_default();
        finding["source"] != "lint" && !code.contains(['-', '.']) && !code.is_empty()
    };
    let mut start = 0;
    while start < sorted.len() {
        let mut end = start + 1;
        while end < sorted.len()
            && is_schema(&sorted[start])
            && is_schema(&sorted[end])
            && key(&sorted[end]) == key(&sorted[start])
        {
            end += 1;
        }
        sorted[start..end].sort_by_key(text);
        start = end;
    }
    sorted
}

/// Compares a text with a recorded one that has placeholders for variable parts.
fn matches(wanted: &str, given: &str) -> bool {
    for placeholder in ["{{TIMESTAMP}}", "{{NOW}}"] {
        if let Some((before, after)) = wanted.split_once(placeholder) {
            return given.starts_with(before) && given.ends_with(after);
        }
    }
    wanted == given
}

fn short(value: &Value) -> String {
    value.to_string().chars().take(90).collect()
}
