//! Runs the recorded verdicts of the v0 workbench schemas against the decoders.

use std::collections::BTreeSet;

use serde::Serialize;
use serde::de::DeserializeOwned;
use serde_json::{Value, json};
use shared_protocol::v0;

/// Vectors that v0 accepted and that are refused on purpose: (shape, vector, reason).
const DEVIATIONS: &[(&str, &str, &str)] = &[
    ("PropExposure", "editable min>max accepted", "no value can be both at least 9 and at most 1"),
    ("OverrideOp", "set path without slash accepted", "a JSON Pointer is empty or starts with a slash"),
    ("PreviewSessionTarget", "app schemeless host:port", "parses as scheme `localhost:`, not as a host"),
    ("PreviewSessionTarget", "app file url accepted", "a preview must not open local files"),
];

type Roundtrip = fn(&str) -> Result<Value, String>;

fn roundtrip<T: DeserializeOwned + Serialize>(json: &str) -> Result<Value, String> {
    let decoded: T = serde_json::from_str(json).map_err(|error| error.to_string())?;
    // A failed write produces a `null` that no vector expects.
    Ok(serde_json::to_value(&decoded).unwrap_or_default())
}

fn decoder(shape: &str) -> Option<Roundtrip> {
    Some(match shape {
        "ApplyEditsResult" => roundtrip::<v0::ApplyEditsResult>,
        "ComponentRegistry" => roundtrip::<v0::ComponentRegistry>,
        "ControlDefinition" => roundtrip::<v0::ControlDefinition>,
        "FileEdit" => roundtrip::<v0::WorkspaceFileEdit>,
        "GraphEdge" => roundtrip::<v0::GraphEdge>,
        "GraphNode" => roundtrip::<v0::GraphNode>,
        "GraphPatch" => roundtrip::<v0::GraphPatch>,
        "GraphQuery" => roundtrip::<v0::GraphQuery>,
        "GraphSnapshot" => roundtrip::<v0::GraphSnapshot>,
        "HostCommand" => roundtrip::<v0::HostCommand>,
        "InspectorSectionContribution" => roundtrip::<v0::InspectorSectionContribution>,
        "InstanceDescriptor" => roundtrip::<v0::InstanceDescriptor>,
        "OverrideOp" => roundtrip::<v0::OverrideOp>,
        "OverridePatch" => roundtrip::<v0::OverridePatch>,
        "PersistedOverridesFile" => roundtrip::<v0::PersistedOverridesFile>,
        "PreviewLaunchResult" => roundtrip::<v0::PreviewLaunchResult>,
        "PreviewLauncherDescriptor" => roundtrip::<v0::PreviewLauncherDescriptor>,
        "PreviewLogEntry" => roundtrip::<v0::PreviewLogEntry>,
        "PreviewSessionState" => roundtrip::<v0::PreviewSessionState>,
        "PreviewSessionTarget" => roundtrip::<v0::PreviewSessionTarget>,
        "PropExposure" => roundtrip::<v0::PropExposure>,
        "RuntimeEvent" => roundtrip::<v0::RuntimeEvent>,
        "SavePlan" => roundtrip::<v0::SavePlan>,
        "SaveResult" => roundtrip::<v0::SaveResult>,
        "SelectionChangedEvent" => roundtrip::<v0::SelectionChangedEvent>,
        "SetPreviewViewportRequest" => roundtrip::<v0::SetPreviewViewportRequest>,
        "SkaffaConfig" => roundtrip::<v0::WorkbenchConfig>,
        "SourceRef" => roundtrip::<v0::SourceRef>,
        "WorkspaceOpenError" => roundtrip::<v0::WorkspaceOpenError>,
        _ => return None,
    })
}

#[test]
fn verdicts_match_except_where_listed() {
    let file: Value = serde_json::from_str(include_str!("fixtures/v0-vectors.json")).unwrap();
    let vectors = file["vectors"].as_array().unwrap();
    let (mut accepted, mut rejected) = (0, 0);
    let mut deviating = BTreeSet::new();
    let mut problems = Vec::new();
    for vector in vectors {
        let (shape, name) = (vector["shape"].as_str().unwrap(), vector["name"].as_str().unwrap());
        let decode = decoder(shape).unwrap_or_else(|| panic!("no decoder for {shape}"));
        let expected = vector.get("normalized").unwrap_or(&vector["input"]);
        let is_accept = match vector["verdict"].as_str() {
            Some("accept") => true,
            Some("reject") => false,
            other => panic!("{shape} / {name}: verdict {other:?}"),
        };
        match (decode(&vector["input"].to_string()), is_accept) {
            (Ok(actual), true) if actual == *expected => accepted += 1,
            (Ok(actual), true) => {
                problems.push(format!("{shape} / {name}: wrote {actual} instead of {expected}"))
            }
            (Err(_), false) => rejected += 1,
            (Err(_), true) if DEVIATIONS.iter().any(|row| (row.0, row.1) == (shape, name)) => {
                deviating.insert((shape, name));
            }
            (Err(error), true) => problems.push(format!("{shape} / {name}: refused: {error}")),
            (Ok(_), false) => problems.push(format!("{shape} / {name}: accepted")),
        }
    }
    for (shape, name, _) in DEVIATIONS {
        if !deviating.contains(&(*shape, *name)) {
            problems.push(format!("{shape} / {name}: listed as a deviation but does not deviate"));
        }
    }
    assert!(problems.is_empty(), "{problems:#?}");
    assert_eq!(vectors.len(), 101);
    assert_eq!(accepted + rejected + deviating.len(), vectors.len());
}

/// Shapes and cases that the vectors do not cover.
#[test]
fn more_that_is_accepted() {
    let same = |decode: Roundtrip, json: Value| assert_eq!(decode(&json.to_string()), Ok(json));
    same(
        roundtrip::<v0::ComponentRegistryEntry>,
        json!({ "typeId": "a", "displayName": "A", "tags": ["t"], "description": "d", "props": {
            "n": { "propName": "n", "label": "N", "group": "g", "order": 1.5, "exposure": {
                "kind": "editable", "control": { "kind": "slot", "slotName": "s", "editable": false },
                "uiDefaultValue": null,
                "constraints": { "required": true, "min": 1, "max": 1, "pattern": "^[a-z]+\\/\\d$" } } },
            "o": { "propName": "o", "exposure": { "kind": "opaque", "reason": "r" } } },
            "implementation": { "kind": "file", "filePath": "a.tsx" } }),
    );
    same(
        roundtrip::<v0::ComponentRegistryEntry>,
        json!({ "typeId": "a", "displayName": "A", "props": {}, "implementation": [
            { "kind": "package", "specifier": "x", "exportName": "Y" }] }),
    );
    same(
        roundtrip::<v0::PersistedOverridesFile>,
        json!({ "schemaVersion": "v0", "updatedAt": "2026-01-01T00:00:00.000Z",
            "app": { "overrides": [{ "instanceId": "i", "path": "/a~1b", "value": null,
                "componentTypeId": "t", "instanceLocator": null }] },
            "component": { "overrides": [] } }),
    );
    same(roundtrip::<v0::SelectionChangedEvent>, json!({ "sessionId": "s", "selected": null }));
    same(roundtrip::<v0::GraphQuery>, json!({ "type": "getSnapshot" }));
    same(
        roundtrip::<v0::HostCommand>,
        json!({ "type": "host.init", "sessionId": "s", "initialOverrides": [] }),
    );
    same(roundtrip::<v0::InstanceRef>, json!({ "sessionId": "s", "instanceId": "i" }));
    same(roundtrip::<v0::ValidationResult>, json!({ "ok": true }));
    same(
        roundtrip::<v0::ApplyEditsResult>,
        json!({ "ok": false, "error": { "code": "ioError", "filePath": "a", "message": "m" } }),
    );
    same(
        roundtrip::<v0::DraftOverride>,
        json!({ "sessionId": "s", "instanceId": "i", "path": "", "value": [1.0e300] }),
    );
    same(
        roundtrip::<v0::PreviewSessionTarget>,
        json!({ "type": "component", "componentTypeId": "c", "harnessUrl": "http://[::1]:1/" }),
    );
    same(
        roundtrip::<v0::PreviewSessionTarget>,
        json!({ "type": "app", "url": "http://a", "launcherId": "" }),
    );
    for ty in v0::PreviewSessionType::ALL {
        same(roundtrip::<v0::PreviewSessionType>, json!(ty.as_str()));
    }
}

/// Inputs that plain serde derives or v0 would accept.
#[test]
fn more_that_is_refused() {
    let refused = |decode: Roundtrip, json: &str| assert!(decode(json).is_err(), "accepted {json}");
    // An array is no object, a number no tag, an object no string.
    refused(roundtrip::<v0::InstanceRef>, r#"["s","i"]"#);
    refused(roundtrip::<v0::ControlDefinition>, r#"["boolean"]"#);
    refused(roundtrip::<v0::ControlDefinition>, r#"{"kind":2}"#);
    refused(roundtrip::<v0::PropExposure>, r#"{"kind":"editable","control":{"kind":2}}"#);
    refused(roundtrip::<v0::PropExposure>, r#"{"kind":"editable","control":["boolean"]}"#);
    refused(roundtrip::<v0::PreviewSessionState>, r#"{"loading":null}"#);
    refused(roundtrip::<v0::ValidationResult>, r#"{"ok":"true"}"#);
    refused(roundtrip::<v0::ValidationResult>, r#"{"ok":false}"#);
    refused(roundtrip::<v0::ValidationResult>, r#"{}"#);
    // `null` is not absent, and absent is not `null`.
    refused(roundtrip::<v0::PropExposure>, r#"{"kind":"opaque","reason":null}"#);
    refused(roundtrip::<v0::WorkbenchConfig>, r#"{"modules":null}"#);
    refused(roundtrip::<v0::WorkbenchConfig>, r#"{"modules":["a"]}"#);
    refused(roundtrip::<v0::PersistedOverride>, r#"{"instanceId":"i","path":"/a"}"#);
    refused(roundtrip::<v0::ComponentRegistry>, r#"{"components":{}}"#);
    // Stricter than v0.
    refused(
        roundtrip::<v0::PropExposure>,
        r#"{"kind":"editable","control":{"kind":"string"},"constraints":{"pattern":"("}}"#,
    );
    refused(roundtrip::<v0::OverrideOp>, r#"{"op":"clear","instanceId":"i","path":"/a~2"}"#);
    refused(roundtrip::<v0::PersistedOverride>, r#"{"instanceId":"i","path":"a","value":1}"#);
    refused(roundtrip::<v0::PreviewLaunchResult>, r#"{"url":"file:///x"}"#);
    refused(
        roundtrip::<v0::PreviewSessionTarget>,
        r#"{"type":"component","componentTypeId":"c","harnessUrl":"localhost:1"}"#,
    );
    // Depth is bounded by the JSON reader, never by the stack.
    let deep = format!(
        r#"{{"op":"set","instanceId":"i","path":"","value":{}1{}}}"#,
        "[".repeat(9999),
        "]".repeat(9999)
    );
    refused(roundtrip::<v0::OverrideOp>, &deep);
}
