//! Answers within bounds: where one would be too large for a message, it holds fewer items and says so.

use super::{BundleChangeExecutor, bundles_of, links};
use bundles::{BundleToolEnvelope, Bundles, call, plan};
use mcp_server::{AgentCall, AgentView, MAX_ENVELOPE_BYTES, RawEnvelope};
use serde_json::{Value, json};
use shared_protocol::{OrderedValue, Refusal, RefusalCode};

/// Bytes of findings beside the data.
const MAX_FINDINGS_BYTES: usize = MAX_ENVELOPE_BYTES * 4 / 9;
/// How often an answer is made smaller before it is refused.
const MAX_TRIES: usize = 8;
const CUT: &str = "the byte budget of one answer is used up";

pub(super) fn answer(tool: &str, call: &AgentCall, changes: &dyn BundleChangeExecutor) -> RawEnvelope {
    let bundles = bundles_of(&call.view);
    let arguments = Value::Object(call.arguments.clone());
    if tool == "apply_changes" {
        let arguments = changes.arguments(call);
        return encode_envelope(apply_or_dry_run(call, &arguments, changes), &call.view);
    }
    within_bounds(bundles, tool, arguments, &call.view)
}

/// A dry run, or the change itself if the caller may make it.
fn apply_or_dry_run(
    call: &AgentCall,
    arguments: &Value,
    changes: &dyn BundleChangeExecutor,
) -> BundleToolEnvelope {
    let result = changes.base(call).and_then(|base| {
        let plan = plan(base.as_ref().unwrap_or(bundles_of(&call.view)), arguments)?;
        match plan.is_dry_run() || !plan.is_possible() {
            true => plan.answer(),
            false => changes.apply(call, &plan),
        }
    });
    BundleToolEnvelope { tool: "apply_changes".to_owned(), result }
}

/// The refusal where nobody may make changes.
pub(crate) fn not_allowed(message: &str) -> Refusal {
    Refusal::new(RefusalCode::ActuationDisabled, message).field("dryRun")
}

fn within_bounds(bundles: &Bundles, tool: &str, mut arguments: Value, view: &AgentView) -> RawEnvelope {
    let mut was_cut = false;
    for _ in 0..MAX_TRIES {
        let mut envelope = call(bundles, tool, &arguments);
        if tool == "get_context" {
            links::add(&mut envelope, &arguments, view);
        }
        was_cut |= cut_findings(&mut envelope);
        if was_cut {
            set_meta(&mut envelope, "cut", CUT.into());
        }
        let count = items(&envelope);
        let answer = encode_envelope(envelope, view);
        let size = answer.json.len();
        if size <= MAX_ENVELOPE_BYTES {
            return answer;
        }
        was_cut = true;
        let fewer =
            count.map(|count| (count * MAX_ENVELOPE_BYTES / size * 9 / 10).min(count.saturating_sub(1)));
        match fewer.filter(|fewer| *fewer > 0) {
            Some(fewer) if reduce_page_size(tool, &mut arguments, fewer) => {}
            _ => break,
        }
    }
    let message = format!(
        "The answer would be larger than {MAX_ENVELOPE_BYTES} bytes: request less (fewer entities, summaries, no schemas, no reference graph)"
    );
    let refusal = Refusal::new(RefusalCode::LimitExceeded, message);
    encode_envelope(BundleToolEnvelope { tool: tool.to_owned(), result: Err(refusal) }, view)
}

/// How many items an answer holds, by what it says itself.
fn items(envelope: &BundleToolEnvelope) -> Option<usize> {
    let meta = &envelope.result.as_ref().ok()?.meta;
    let number = |key: &str| match meta.get(key)? {
        OrderedValue::Number(number) => usize::try_from(number.as_u64()?).ok(),
        _ => None,
    };
    ["returned", "entityCount", "relatedCount", "found"].into_iter().find_map(number)
}

/// False for a tool that cannot be asked for fewer.
fn reduce_page_size(tool: &str, arguments: &mut Value, fewer: usize) -> bool {
    let argument = match tool {
        "list_entities" | "list_entity_summaries" | "search_entities" => "limit",
        "get_bundle_snapshot" => "maxEntities",
        "get_context" => "maxRelated",
        "read_entities" => {
            if let Some(ids) = arguments.get_mut("ids").and_then(Value::as_array_mut) {
                ids.truncate(fewer);
            }
            return true;
        }
        _ => return false,
    };
    arguments[argument] = json!(fewer);
    true
}

/// Keeps the first findings where there are too many. What all of them come to is in the data.
fn cut_findings(envelope: &mut BundleToolEnvelope) -> bool {
    let Ok(answer) = &mut envelope.result else { return false };
    let mut bytes = 0;
    let fits = |finding: &&OrderedValue| {
        bytes += serde_json::to_string(finding).map_or(0, |text| text.len() + 1);
        bytes <= MAX_FINDINGS_BYTES
    };
    let (total, fitting) = (answer.diagnostics.len(), answer.diagnostics.iter().take_while(fits).count());
    answer.diagnostics.truncate(fitting);
    if fitting < total {
        set_meta(envelope, "totalDiagnostics", total.into());
    }
    fitting < total
}

fn set_meta(envelope: &mut BundleToolEnvelope, key: &str, value: OrderedValue) {
    if let Ok(answer) = &mut envelope.result
        && let OrderedValue::Map(members) = &mut answer.meta
    {
        members.set(key, value);
    }
}

/// An envelope as it is sent, with the state that it is of.
pub(super) fn encode_envelope(mut envelope: BundleToolEnvelope, view: &AgentView) -> RawEnvelope {
    // Bundles that are served by themselves have no revision; each state of theirs has a number.
    let revision = view.workspace.as_ref().map_or(view.generation, |workspace| workspace.revision().0);
    set_meta(&mut envelope, "revision", usize::try_from(revision).unwrap_or(usize::MAX).into());
    let is_error = !envelope.is_ok();
    RawEnvelope { json: visible(&envelope.to_text()), is_error }
}

pub(super) fn fault(tool: &str) -> RawEnvelope {
    let error = json!({ "code": "INTERNAL", "message": "the tool failed unexpectedly; see the log" });
    let json = json!({ "ok": false, "tool": tool, "error": error }).to_string();
    RawEnvelope { json, is_error: true }
}

/// The same JSON, in which characters that hide or turn around text are written as escapes. They can only stand in texts.
fn visible(json: &str) -> String {
    let is_hidden = |c: char| {
        matches!(c, '\u{7f}'..='\u{9f}' | '\u{ad}' | '\u{61c}' | '\u{200b}'..='\u{200f}' | '\u{2028}'..='\u{202e}'
            | '\u{2060}'..='\u{206f}' | '\u{feff}' | '\u{fff9}'..='\u{fffb}')
    };
    if !json.contains(is_hidden) {
        return json.to_owned();
    }
    let mut text = String::with_capacity(json.len() + 64);
    for c in json.chars() {
        match is_hidden(c) {
            true => text.push_str(&format!("\\u{:04x}", u32::from(c))),
            false => text.push(c),
        }
    }
    text
}

#[cfg(test)]
mod tests {
    use super::{super::PublishedBundles, *};
    use bundles::Bundle;
    use std::{collections::BTreeMap, path::Path, sync::Arc};

    /// Many notes, each of them wrong and long, and one that is too long for any message.
    fn large() -> Arc<Bundles> {
        let types = json!({"entities": [{"entityType": "Note", "idField": "id", "directory": "notes"}]});
        let schema = json!({"type": "object", "required": ["title"]});
        let mut texts: BTreeMap<String, Arc<str>> = BTreeMap::new();
        let mut put = |path: &str, text: String| drop(texts.insert(path.to_owned(), Arc::from(text)));
        let manifest = "metadata: {name: large}\nspec: {bundleTypeDefinition: types.json, schemas: {documents: {Note: note.json}}}\n";
        put("sdd-bundle.yaml", manifest.to_owned());
        put("types.json", types.to_string());
        put("note.json", schema.to_string());
        for number in 0..3_000 {
            put(
                &format!("notes/{number:04}.yaml"),
                format!("id: N-{number:04}\ndescription: {}\n", "x".repeat(1_000)),
            );
        }
        put("notes/whale.yaml", format!("id: whale\ntitle: w\ndescription: {}\n", "x".repeat(1_000_000)));
        let mut bundles = Bundles::default();
        bundles.insert(Arc::new(Bundle::from_texts("large", Path::new("large"), texts).unwrap()));
        Arc::new(bundles)
    }

    #[test]
    fn what_is_too_large_for_a_message_is_cut_and_says_so_or_is_refused() {
        let bundles = large();
        let view = AgentView {
            generation: 4,
            specs: Some(Arc::new(PublishedBundles(Arc::clone(&bundles), Arc::default()))),
            ..AgentView::default()
        };
        let ask = |tool: &str, arguments: Value| -> Value {
            let written = within_bounds(&bundles, tool, arguments, &view);
            assert!(written.json.len() <= MAX_ENVELOPE_BYTES, "{tool}: {} bytes", written.json.len());
            serde_json::from_str(&written.json).unwrap()
        };
        let whole = ask("get_bundle_snapshot", json!({"includeRefGraph": false}));
        assert_eq!((&whole["meta"]["cut"], &whole["meta"]["truncated"]), (&json!(CUT), &json!(true)));
        let count = whole["meta"]["entityCount"].as_u64().unwrap();
        assert!((100..3_000).contains(&count), "{count}");
        assert_eq!(whole["meta"]["revision"], 4);
        let page =
            ask("list_entity_summaries", json!({"include": ["description"], "limit": 200, "offset": 2_900}));
        assert!(
            page["meta"]["hasMore"] == true && page["meta"]["returned"].as_u64().unwrap() < 101,
            "{}",
            page["meta"]
        );
        let findings = ask("validate_bundle", json!({}));
        assert_eq!(findings["data"]["summary"]["totalErrors"], 3_000);
        assert!(findings["diagnostics"].as_array().unwrap().len() < 3_000 && findings["meta"]["cut"] == CUT);
        let whale = ask("read_entity", json!({"entityType": "Note", "id": "whale"}));
        assert_eq!(whale["error"]["code"], "LIMIT_EXCEEDED");
        let small = ask("read_entity", json!({"entityType": "Note", "id": "N-0001"}));
        assert!(small["ok"] == true && small["meta"].get("cut").is_none());
    }

    #[test]
    fn what_hides_is_written_out_and_means_the_same() {
        let json = serde_json::to_string("a\u{202e}b\u{200b}\u{e9}").unwrap();
        let seen = visible(&json);
        assert_eq!(seen, "\"a\\u202eb\\u200b\u{e9}\"");
        assert_eq!(serde_json::from_str::<String>(&seen).unwrap(), "a\u{202e}b\u{200b}\u{e9}");
    }
}
