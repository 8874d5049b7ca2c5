//! Tools, prompts and resources work as declared and are bounded, in both schema vocabularies.
#![allow(clippy::unwrap_used, clippy::panic, reason = "a test")]

mod support;

use bundles::{
    BundleSource, Bundles, PROMPTS, TOOLS, Tool, call, complete, list_resources, prompt, read_resource,
};
use serde_json::{Map, Value, json};
use std::{
    collections::BTreeMap,
    fs,
    path::{Path, PathBuf},
};

fn recorded(names: &[&str]) -> Bundles {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/fixtures/bundles");
    let folders: Vec<PathBuf> = names.iter().map(|name| folder.join(name)).collect();
    Bundles::load(&BundleSource::of_folders(&folders))
}

/// Arguments that are valid for any tool or prompt.
fn arguments(bundle: &str) -> Value {
    json!({
        "bundleId": bundle, "bundleA": bundle, "bundleB": bundle, "entityType": "Requirement", "id": "REQ-deposit-001",
        "entityId": "REQ-deposit-001", "ids": ["REQ-deposit-001"], "query": "cell", "requirementId": "REQ-deposit-001",
        "profileId": "PROF-BASIC", "targets": [{"entityType": "Requirement", "entityId": "REQ-deposit-001"}],
        "changes": [{"operation": "delete", "entityType": "Threat", "entityId": "THR-jam"}]
    })
}

#[test]
fn every_tool_answers_as_it_says() {
    let bundles = recorded(&["parcel"]);
    let output = jsonschema::validator_for(&Tool::output_schema()).unwrap();
    for tool in TOOLS {
        let mut given = if tool.name == "list_bundles" { json!({}) } else { arguments("parcel") };
        let schema = tool.input_schema();
        assert!(jsonschema::validator_for(&schema).unwrap().is_valid(&given), "{}: {schema}", tool.name);
        let answer = call(&bundles, tool.name, &given);
        assert!(answer.is_ok() || tool.name == "critique_bundle", "{}", answer.to_text());
        assert!(output.is_valid(&answer.to_json()), "{}", answer.to_text());
        assert_eq!(serde_json::from_str::<Value>(&answer.to_text()).unwrap(), answer.to_json());
        // An invalid argument is refused or accepted, and never causes a panic.
        let names: Vec<String> = given.as_object().unwrap().keys().cloned().collect();
        for name in names {
            let good = given[&name].take();
            for odd in [
                json!(null),
                json!(-1),
                json!(1e300),
                json!([]),
                json!({}),
                json!([{}]),
                json!("\u{0}"),
                json!([1]),
            ] {
                given[&name] = odd;
                let answer = call(&bundles, tool.name, &given);
                assert!(output.is_valid(&answer.to_json()), "{}", answer.to_text());
            }
            given[&name] = good;
        }
    }
    let refused = call(&bundles, "get_context", &json!({"entityType": "Task"})).to_json();
    assert_eq!(
        (&refused["error"]["code"], &refused["error"]["field"]),
        (&json!("BAD_REQUEST"), &json!("id"))
    );
}

#[test]
fn every_prompt_is_made_and_bounded() {
    let folder = tempfile::tempdir().unwrap();
    support::new_bundle(folder.path());
    support::note(folder.path(), "n", &format!("id: n\ntitle: {}\n", "long ".repeat(100_000)));
    let types = json!({"entities": [{"entityType": "Requirement", "directory": "notes"}]});
    fs::write(folder.path().join("types.json"), types.to_string()).unwrap();
    let large = support::load(folder.path());
    let small = recorded(&["parcel"]);
    for known in PROMPTS {
        let mut given = arguments("parcel");
        assert!(prompt(&small, known.name, &given).unwrap().contains("## Your Task"), "{}", known.name);
        for argument in known.arguments {
            for value in argument.values {
                let mut given = given.clone();
                given[argument.name] = json!(value);
                let answer = prompt(&small, known.name, &given);
                assert!(answer.is_ok() || argument.name == "entityType", "{}: {answer:?}", known.name);
            }
            if argument.is_required {
                let without: Map<String, Value> = given
                    .as_object()
                    .unwrap()
                    .iter()
                    .filter(|(key, _)| *key != argument.name)
                    .map(|(k, v)| (k.clone(), v.clone()))
                    .collect();
                assert!(prompt(&small, known.name, &Value::Object(without)).is_err(), "{}", known.name);
            }
        }
        let id = large.iter().next().unwrap().id();
        given["bundleId"] = json!(id);
        (given["bundleA"], given["bundleB"]) = (json!(id), json!(id));
        (given["entityId"], given["requirementId"]) = (json!("n"), json!("n"));
        if let Ok(text) = prompt(&large, known.name, &given) {
            assert!(text.chars().count() <= 60_001, "{}", known.name);
        }
    }
    assert!(prompt(&small, "nope", &json!({})).is_err());
}

#[test]
fn every_listed_resource_can_be_read() {
    let bundles = recorded(&["parcel", "minimal"]);
    let listed = list_resources(&bundles);
    assert_eq!(listed.len(), 2 + 9 + 2);
    for uri in &listed {
        assert!(!read_resource(&bundles, uri).unwrap().text.is_empty(), "{uri}");
    }
    assert!(
        read_resource(&bundles, "bundle://parcel/entity/Actor/ACT%2Dcourier")
            .unwrap()
            .text
            .contains("Courier")
    );
    for uri in [
        "",
        "bundle://",
        "file:///etc/passwd",
        "bundle://parcel/../../x",
        "bundle://parcel/entity/Actor/%zz",
        "bundle://nope/manifest",
    ] {
        assert!(read_resource(&bundles, uri).is_err(), "{uri}");
    }
}

#[test]
fn completions_fit_what_is_typed() {
    let bundles = recorded(&["parcel"]);
    let values = |of: &str, argument: &str, typed: &str| {
        let given = BTreeMap::from([("entityType".to_owned(), "Requirement".to_owned())]);
        complete(&bundles, of, argument, typed, &given).unwrap().values
    };
    assert_eq!(values("explain-entity", "entityId", "req-p"), ["REQ-pickup-001", "REQ-pickup-002"]);
    assert_eq!(values("explain-entity", "audience", "new"), ["new-team-member"]);
    assert_eq!(values("explain-entity", "entityType", "ad"), ["ADR"]);
    assert_eq!(values("audit-profile", "profileId", "zzz"), Vec::<String>::new());
}

#[test]
fn both_vocabularies_mean_the_same() {
    let (head, legacy) = (recorded(&["parcel"]), recorded(&["parcel-legacy"]));
    let facts = |bundles: &Bundles| {
        let bundle = bundles.iter().next().unwrap();
        let edges: Vec<String> =
            bundle.edges().map(|edge| format!("{} {} {}", edge.from.id(), edge.field, edge.to_id)).collect();
        let findings: Vec<_> = bundle
            .diagnostics()
            .iter()
            .map(|finding| (finding.code.clone(), finding.entity_id.clone()))
            .collect();
        (bundle.entity_count(), edges, findings)
    };
    assert_eq!(facts(&head), facts(&legacy));
    assert_eq!(facts(&head).1.len(), 38);
}

#[test]
fn a_broken_part_disables_only_itself() {
    let folder = tempfile::tempdir().unwrap();
    support::new_bundle(folder.path());
    support::note(folder.path(), "n", "id: n\ntitle: x\n");
    let codes = || -> Vec<String> {
        let bundles = support::load(folder.path());
        let found = bundles.iter().next().unwrap().diagnostics();
        found.iter().map(|finding| finding.code.clone().unwrap_or_else(|| "-".to_owned())).collect()
    };
    assert_eq!(codes(), ["minLength", "orphan-entity"]);
    // Unions, unknown formats and foreign keywords are valid.
    fs::write(
        folder.path().join("note.json"),
        r#"{"properties":{"title":{"type":["string","null"],"minLength":2,"format":"odd","x-any":1,"anyOf":[{"minLength":3},{"maxLength":0}]}}}"#,
    )
    .unwrap();
    assert_eq!(codes(), ["minLength", "minLength", "maxLength", "anyOf", "orphan-entity"]);
    for broken in [
        "{",
        r#"{"properties":{"title":{"pattern":"("}}}"#,
        r##"{"$ref":"https://example.invalid/none.json"}"##,
    ] {
        fs::write(folder.path().join("note.json"), broken).unwrap();
        assert_eq!(codes(), ["-", "orphan-entity"], "{broken}");
    }
    let manifest = fs::read_to_string(folder.path().join("sdd-bundle.yaml")).unwrap();
    fs::write(
        folder.path().join("sdd-bundle.yaml"),
        format!("{manifest}  lintConfig: {{path: lint.json}}\n"),
    )
    .unwrap();
    assert_eq!(codes().last().unwrap(), "gate.lintConfig.load");
    fs::write(
        folder.path().join("lint.json"),
        r#"{"rules":{"a":{"type":"regex"},"b":{"type":"required-field","targetEntities":["Note"],"field":"next"},"c":1}}"#,
    )
    .unwrap();
    assert_eq!(codes()[2..], ["lint.rule.invalid", "b"]);
}

#[test]
fn the_best_match_comes_first() {
    let folder = tempfile::tempdir().unwrap();
    support::new_bundle(folder.path());
    fs::write(folder.path().join("note.json"), "{}").unwrap();
    for (id, text) in [
        ("a1", "description: the front door opens"),
        ("a2", "statement: a front door"),
        ("a3", "name: Front door"),
        ("a4", "title: front DOOR"),
        ("front-door", "title: Gate"),
        ("a5", "title: door\ndescription: at the front"),
        ("a6", "title: A window"),
    ] {
        support::note(folder.path(), id, &format!("id: {id}\n{text}\n"));
    }
    let bundles = support::load(folder.path());
    let found = |query: &str| -> Vec<String> {
        let answer = call(&bundles, "search_entities", &json!({"query": query})).to_json();
        let results = answer["data"]["results"].as_array().unwrap().clone();
        results
            .iter()
            .map(|result| format!("{} {}", result["id"].as_str().unwrap(), result["match"].as_str().unwrap()))
            .collect()
    };
    let together = ["a4 title", "a3 name", "a2 statement", "a1 description"];
    assert_eq!(found("front door")[..4], together);
    // Entities that contain both words separately follow.
    assert_eq!(found("front door")[4..], ["front-door id", "a5 description"]);
    assert_eq!(
        found("FRONT-door"),
        ["front-door id", "a4 title", "a3 name", "a2 statement", "a1 description", "a5 description"]
    );
    assert_eq!(found("indo"), ["a6 title"]);
    assert_eq!(found("nothing"), Vec::<String>::new());
    assert_eq!(found("-"), ["front-door id"]);
}

#[test]
fn bundles_can_be_shared_between_threads() {
    fn shared<T: Send + Sync + Clone>() {}
    shared::<Bundles>();
}
