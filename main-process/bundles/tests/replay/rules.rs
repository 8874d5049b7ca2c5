//! General rules for differences from the recorded answers. Each is a decision of the contract or the fix of a known
//! defect, and defines the expected answer exactly.

use bundles::{Bundles, call};
use serde_json::{Value, json};

pub(crate) const NESTED: &str = "References nested in objects are part of the graph and checked, and so are the types of targets (defects: nested references unseen, ref-type check dead)";
pub(crate) const STRICT: &str =
    "A dry run is as strict as the write (contract: validate and referencePolicy default to strict)";
pub(crate) const NAME: &str = "Search covers `name` as well (names were left out)";
pub(crate) const PREFIX: &str = "Completions are filtered by what is typed (defect: completions unfiltered)";
pub(crate) const FAILURE: &str = "A prompt that cannot be made is an error, with the same words (defect: prompt failures look like successes)";
pub(crate) const ENVELOPE: &str =
    "What was refused without an envelope is refused in one (contract: all tools return the envelope)";
pub(crate) const TEXT: &str = "Texts for a model have the same parts; numbers and words in them may differ";

/// Removes the additions from nested references and type checks. Returns whether there were any.
pub(crate) fn without_nested(answer: &mut Value) -> bool {
    let mut removed = Removed::default();
    strip(answer, &mut removed);
    if removed.findings == 0 && removed.related == 0 && removed.edges == 0 {
        return false;
    }
    let less = |value: &mut Value, by: u64| {
        if let Some(count) = value.as_u64() {
            *value = json!(count - by.min(count));
        }
    };
    for (pointer, by) in [
        ("/data/summary/totalErrors", removed.findings),
        ("/meta/diagnosticCount", removed.findings),
        ("/meta/relatedCount", removed.related),
    ] {
        if let Some(value) = answer.pointer_mut(pointer) {
            less(value, by);
        }
    }
    let is_valid = answer.pointer("/data/summary/totalErrors") == Some(&json!(0));
    if let Some(value) = answer.pointer_mut("/data/summary/isValid") {
        *value = json!(is_valid);
    }
    if answer["exit"].is_number() {
        let errors =
            answer["stdout"].as_array().into_iter().flatten().any(|finding| finding["severity"] == "error");
        answer["exit"] = json!(i32::from(errors));
    }
    true
}

#[derive(Default)]
struct Removed {
    findings: u64,
    related: u64,
    edges: u64,
}

fn strip(value: &mut Value, removed: &mut Removed) {
    match value {
        Value::Array(items) => {
            items.retain(|item| {
                let text = |key: &str| item[key].as_str().unwrap_or_default();
                let is_nested_path = text("path").matches('/').count() > 1 || text("path").contains('.');
                let is_nested = (text("code") == "broken-ref" || item["source"] == "lint") && is_nested_path;
                let finding = is_nested || text("code") == "ref-type-mismatch";
                let related = item.get("relation").is_some() && text("field").contains('.');
                let edge = text("fromField").contains('.');
                removed.findings += u64::from(finding);
                removed.related += u64::from(related);
                removed.edges += u64::from(edge);
                !(finding || related || edge)
            });
            items.iter_mut().for_each(|item| strip(item, removed));
        }
        Value::Object(members) => members.values_mut().for_each(|member| strip(member, removed)),
        _ => {}
    }
}

/// Changes the recorded policies of a dry run without explicit policies to strict.
pub(crate) fn strict_dry_run(arguments: &Value, recorded: &mut Value) -> bool {
    let mut changed = false;
    for part in ["/data", "/error/details"] {
        if let Some(echo) = recorded.pointer_mut(part).filter(|echo| echo["dryRun"] == true) {
            for key in ["validate", "referencePolicy"] {
                if arguments.get(key).is_none() && echo[key] == "warn" {
                    echo[key] = json!("strict");
                    changed = true;
                }
            }
        }
    }
    changed
}

/// Removes results that match only by name.
pub(crate) fn without_names(bundles: &Bundles, arguments: &Value, answer: &mut Value) -> bool {
    let mut all = arguments.clone();
    all["limit"] = json!(100);
    all["offset"] = json!(0);
    let all = call(bundles, "search_entities", &all).to_json();
    let results = all["data"]["results"].as_array().cloned().unwrap_or_default();
    let by_name = results.iter().filter(|result| result["match"] == "name").count() as u64;
    match answer.pointer_mut("/meta/total") {
        Some(total) if by_name > 0 => {
            *total = json!(total.as_u64().unwrap() - by_name);
            true
        }
        _ => false,
    }
}

pub(crate) fn filtered(typed: &str, recorded: &mut Value) -> bool {
    let Some(values) = recorded["values"].as_array_mut() else { return false };
    values.retain(|value| value.as_str().unwrap().starts_with(typed));
    recorded["total"] = json!(recorded["values"].as_array().unwrap().len());
    !typed.is_empty()
}

/// Returns whether two texts have the same headings in the same order, ignoring numbers.
pub(crate) fn same_parts(a: &str, b: &str) -> bool {
    let parts = |text: &str| -> Vec<String> {
        let headings = text.lines().filter(|line| line.starts_with('#'));
        headings.map(|line| line.replace(|c: char| c.is_ascii_digit(), "")).collect()
    };
    parts(a) == parts(b)
}
