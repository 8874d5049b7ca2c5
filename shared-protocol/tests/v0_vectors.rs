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
];

type Roundtrip = fn(&str) -> Result<Value, String>;

fn roundtrip<T: DeserializeOwned + Serialize>(json: &str) -> Result<Value, String> {
    let decoded: T = serde_json::from_str(json).map_err(|error| error.to_string())?;
    // A failed write produces a `null` that no vector expects.
    Ok(serde_json::to_value(&decoded).unwrap_or_default())
}

fn decoder(shape: &str) -> Option<Roundtrip> {
    Some(match shape {
        "ControlDefinition" => roundtrip::<v0::ControlDefinition>,
        "OverrideOp" => roundtrip::<v0::OverrideOp>,
        "PersistedOverridesFile" => roundtrip::<v0::PersistedOverridesFile>,
        "PropExposure" => roundtrip::<v0::PropExposure>,
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
    assert_eq!(vectors.len(), 24);
    assert_eq!(accepted + rejected + deviating.len(), vectors.len());
}

/// Shapes and cases that the vectors do not cover.
#[test]
fn more_that_is_accepted() {
    let same = |decode: Roundtrip, json: Value| assert_eq!(decode(&json.to_string()), Ok(json));
    same(
        roundtrip::<v0::PropExposure>,
        json!({ "kind": "editable", "control": { "kind": "slot", "slotName": "s", "editable": false },
            "constraints": { "required": true, "min": 1, "max": 1, "pattern": "^[a-z]+\\/\\d$" } }),
    );
    same(roundtrip::<v0::PropExposure>, json!({ "kind": "opaque", "reason": "r" }));
    same(
        roundtrip::<v0::PersistedOverridesFile>,
        json!({ "schemaVersion": "v0", "updatedAt": "2026-01-01T00:00:00.000Z",
            "app": { "overrides": [{ "instanceId": "i", "path": "/a~1b", "value": null,
                "componentTypeId": "t", "instanceLocator": null }] },
            "component": { "overrides": [] } }),
    );
    same(roundtrip::<v0::PersistedOverride>, json!({ "instanceId": "i", "path": "", "value": [1.0e300] }));
}

/// Inputs that plain serde derives or v0 would accept.
#[test]
fn more_that_is_refused() {
    let refused = |decode: Roundtrip, json: &str| assert!(decode(json).is_err(), "accepted {json}");
    // An array is no object, a number no tag, an object no string.
    refused(roundtrip::<v0::ControlDefinition>, r#"["boolean"]"#);
    refused(roundtrip::<v0::ControlDefinition>, r#"{"kind":2}"#);
    refused(roundtrip::<v0::PropExposure>, r#"{"kind":"editable","control":{"kind":2}}"#);
    refused(roundtrip::<v0::PropExposure>, r#"{"kind":"editable","control":["boolean"]}"#);
    refused(roundtrip::<v0::ValidationCode>, r#"{"notFound":null}"#);
    // `null` is not absent, and absent is not `null`.
    refused(roundtrip::<v0::PropExposure>, r#"{"kind":"opaque","reason":null}"#);
    refused(roundtrip::<v0::PersistedOverride>, r#"{"instanceId":"i","path":"/a"}"#);
    // Stricter than v0.
    refused(
        roundtrip::<v0::PropExposure>,
        r#"{"kind":"editable","control":{"kind":"string"},"constraints":{"pattern":"("}}"#,
    );
    refused(roundtrip::<v0::OverrideOp>, r#"{"op":"clear","instanceId":"i","path":"/a~2"}"#);
    refused(roundtrip::<v0::PersistedOverride>, r#"{"instanceId":"i","path":"a","value":1}"#);
    // Depth is bounded by the JSON reader, never by the stack.
    let deep = format!(
        r#"{{"op":"set","instanceId":"i","path":"","value":{}1{}}}"#,
        "[".repeat(9999),
        "]".repeat(9999)
    );
    refused(roundtrip::<v0::OverrideOp>, &deep);
}
