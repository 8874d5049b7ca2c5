//! Hostile bundles: each produces a finding, the rest of the bundle stays usable, and nothing outside it is accessed.
#![allow(clippy::unwrap_used, clippy::panic, clippy::print_stdout, reason = "a test")]

mod support;

use bundles::{Bundles, call, call_writing};
use serde_json::{Value, json};
use std::{
    fs::{self, File},
    os::unix::fs::symlink,
    path::Path,
};

fn bundle() -> tempfile::TempDir {
    let folder = tempfile::tempdir().unwrap();
    support::new_bundle(&folder.path().join("bundle"));
    support::note(&folder.path().join("bundle"), "good", "id: good\ntitle: Fine\n");
    folder
}

fn findings(bundles: &Bundles) -> Vec<String> {
    let bundle = bundles.iter().next().unwrap();
    assert!(bundle.entity("Note", "good").is_some(), "the rest stays usable");
    bundle
        .diagnostics()
        .iter()
        .filter(|finding| finding.is_error())
        .map(|finding| finding.message.clone())
        .collect()
}

fn finding_of(text: &[u8]) -> String {
    let folder = bundle();
    fs::write(folder.path().join("bundle/notes/bad.yaml"), text).unwrap();
    let found = findings(&support::load(&folder.path().join("bundle")));
    assert_eq!(found.len(), 1, "{found:?}");
    assert!(found[0].len() < 1000);
    found.into_iter().next().unwrap()
}

#[test]
fn files_that_are_too_much() {
    let folder = bundle();
    let huge = File::create(folder.path().join("bundle/notes/huge.yaml")).unwrap();
    huge.set_len(1024 * 1024 * 1024).unwrap();
    let found = findings(&support::load(&folder.path().join("bundle")));
    assert!(found.len() == 1 && found[0].contains("larger than"), "{found:?}");

    let mut bomb = String::from("a0: &a0 [x,x,x,x,x,x,x,x,x,x]\n");
    for level in 1..12 {
        let before = format!("*a{}", level - 1);
        bomb.push_str(&format!("a{level}: &a{level} [{}]\n", [before.as_str(); 10].join(",")));
    }
    assert!(finding_of(bomb.as_bytes()).contains("values"));
    assert!(finding_of("- ".repeat(10_000).as_bytes()).contains("deep"));
    finding_of("[".repeat(10_000).as_bytes());
    finding_of("{a: ".repeat(10_000).as_bytes());
    let mut keys = String::from("id: many\n");
    (0..80_000).for_each(|key| keys.push_str(&format!("k{key}: 1\n")));
    assert!(findings_contain(keys.as_bytes(), "additional properties"));
}

#[test]
fn many_files_are_too_much_as_well() {
    let folder = bundle();
    for index in 0..18 {
        let large = File::create(folder.path().join(format!("bundle/notes/large-{index:02}.yaml"))).unwrap();
        large.set_len(4_000_000).unwrap();
    }
    let bundles = support::load(&folder.path().join("bundle"));
    let found = findings(&bundles);
    assert!(found.iter().any(|found| found.contains("left out")), "{found:?}");
}

fn findings_contain(text: &[u8], words: &str) -> bool {
    let folder = bundle();
    fs::write(folder.path().join("bundle/notes/bad.yaml"), text).unwrap();
    findings(&support::load(&folder.path().join("bundle"))).iter().any(|found| found.contains(words))
}

#[test]
fn texts_that_are_none() {
    assert!(finding_of(b"id: x\ntitle: \xff\xfe\n").contains("UTF-8"));
    finding_of(b"id: \"a\nb: ");
    finding_of(b"id: [x]\n");
    finding_of(b"!!binary x");
    finding_of(b"%YAML 9.9\n%TAG ! x\n---\n? ? ?\n");
}

#[test]
fn links_lead_nowhere() {
    let folder = bundle();
    let secret = folder.path().join("secret");
    fs::create_dir(&secret).unwrap();
    fs::write(secret.join("s.yaml"), "id: secret\ntitle: Secret\n").unwrap();
    let inside = folder.path().join("bundle");
    symlink(secret.join("s.yaml"), inside.join("notes/link.yaml")).unwrap();
    symlink("/dev/zero", inside.join("notes/zero.yaml")).unwrap();
    let types = json!({"entities": [
        {"entityType": "Note", "directory": "notes"},
        {"entityType": "Up", "directory": "../secret"},
        {"entityType": "Root", "directory": "/etc"},
        {"entityType": "Link", "directory": "linked"}
    ]});
    symlink(&secret, inside.join("linked")).unwrap();
    fs::write(inside.join("types.json"), types.to_string()).unwrap();
    let manifest = "spec:\n  bundleTypeDefinition: types.json\n  schemas: {documents: {Note: note.json, Up: ../secret/s.yaml}}\n  domainKnowledge: {path: ../secret/s.yaml}\n  lintConfig: {path: linked/s.yaml}\n";
    fs::write(inside.join("sdd-bundle.yaml"), manifest).unwrap();
    let bundles = support::load(&inside);
    let found = findings(&bundles);
    assert_eq!(found.len(), 6, "{found:#?}");
    let everything = call(&bundles, "get_bundle_snapshot", &json!({})).to_text();
    assert!(!everything.contains("Secret"));
    assert!(bundles.iter().next().unwrap().domain_knowledge().is_none());
}

fn refused(folder: &Path, change: Value) -> String {
    let mut bundles = support::load(&folder.join("bundle"));
    let arguments =
        json!({"changes": [change], "dryRun": false, "validate": "none", "referencePolicy": "none"});
    let answer = call_writing(&mut bundles, "apply_changes", &arguments);
    assert!(!answer.is_ok(), "{}", answer.to_text());
    answer.to_text()
}

#[test]
fn ids_stay_ids() {
    let folder = bundle();
    for id in [
        "../out",
        "../../out",
        "/tmp/out",
        "a/b",
        "a\\b",
        ".hidden",
        "..",
        "a\0b",
        "a\nb",
        "",
        " ",
        &"x".repeat(300),
    ] {
        refused(folder.path(), json!({"operation": "create", "entityType": "Note", "entityId": id}));
    }
    let entries: Vec<_> = fs::read_dir(folder.path()).unwrap().collect();
    assert_eq!(entries.len(), 1, "nothing outside the bundle: {entries:?}");
    // Names with a special meaning in other languages have none here.
    let mut bundles = support::load(&folder.path().join("bundle"));
    let set = |path: &str| {
        json!({"changes": [{"operation": "update", "entityType": "Note", "entityId": "good", "fieldPath": path, "value": 1}],
            "dryRun": false, "validate": "none"})
    };
    assert!(call_writing(&mut bundles, "apply_changes", &set("__proto__.polluted")).is_ok());
    let text = fs::read_to_string(folder.path().join("bundle/notes/good.yaml")).unwrap();
    assert_eq!(text, "id: good\ntitle: Fine\n__proto__:\n  polluted: 1\n");
    assert!(!call_writing(&mut bundles, "apply_changes", &set(&vec!["a"; 5000].join("."))).is_ok());
    let create = json!({"changes": [{"operation": "create", "entityType": "Note", "entityId": "__proto__"}], "dryRun": false});
    assert!(call_writing(&mut bundles, "apply_changes", &create).is_ok());
}

#[test]
fn a_change_does_not_follow_links_either() {
    let folder = bundle();
    let outside = folder.path().join("outside.yaml");
    fs::write(&outside, "id: x\n").unwrap();
    symlink(&outside, folder.path().join("bundle/notes/x.yaml")).unwrap();
    refused(
        folder.path(),
        json!({"operation": "create", "entityType": "Note", "entityId": "x", "data": {"title": "New"}}),
    );
    assert_eq!(fs::read_to_string(&outside).unwrap(), "id: x\n");
}

#[test]
fn patterns_that_never_end() {
    let folder = bundle();
    let inside = folder.path().join("bundle");
    let pattern = "^(?:(a+)\\1?)+$(?<!b)";
    let schema = json!({"properties": {"title": {"pattern": pattern}}});
    fs::write(inside.join("note.json"), schema.to_string()).unwrap();
    fs::write(inside.join("lint.json"), json!({"rules": {"slow": {"type": "regex", "targetEntities": ["Note"], "field": "title", "pattern": pattern}}}).to_string()).unwrap();
    let manifest = fs::read_to_string(inside.join("sdd-bundle.yaml")).unwrap();
    fs::write(inside.join("sdd-bundle.yaml"), format!("{manifest}  lintConfig: {{path: lint.json}}\n"))
        .unwrap();
    support::note(&inside, "slow", &format!("id: slow\ntitle: {}!\n", "a".repeat(2000)));
    let found = findings(&support::load(&inside));
    assert!(found.len() >= 2, "{found:?}");
}

#[test]
fn schemas_that_turn_in_circles() {
    let branching: String = (0..30).map(|index| format!("\"p{index}\": {{\"$ref\": \"#\"}},")).collect();
    let branching = format!("{{\"properties\": {{{branching} \"id\": {{}}}}}}");
    for schema in [
        r##"{"$ref": "#"}"##,
        r##"{"allOf": [{"$ref": "#"}]}"##,
        r##"{"$defs": {"a": {"$ref": "#/$defs/b"}, "b": {"$ref": "#/$defs/a"}}, "$ref": "#/$defs/a"}"##,
        r##"{"$id": "https://example.invalid/x", "$dynamicRef": "#x", "$dynamicAnchor": "x"}"##,
        &branching,
    ] {
        let folder = bundle();
        fs::write(folder.path().join("bundle/note.json"), schema).unwrap();
        let bundles = support::load(&folder.path().join("bundle"));
        assert!(bundles.iter().next().unwrap().entity("Note", "good").is_some());
        bundles.iter().next().unwrap().diagnostics();
    }
}

#[test]
fn records_of_changes_that_are_not_ours() {
    for (record, touched) in [
        (r#"{"format":1,"edits":[{"path":"../out.yaml","before":null,"after":"x"}]}"#, "out.yaml"),
        (r#"{"format":1,"edits":[{"path":"run.sh","before":null,"after":"x"}]}"#, "bundle/run.sh"),
        (r#"{"format":9,"edits":[]}"#, "bundle/x"),
        ("{", "bundle/x"),
    ] {
        let folder = bundle();
        fs::create_dir(folder.path().join("bundle/.draftboard")).unwrap();
        fs::write(folder.path().join("bundle/.draftboard/bundle-changes.json"), record).unwrap();
        let found = findings(&support::load(&folder.path().join("bundle")));
        assert!(found.len() == 1 && found[0].contains("interrupted"), "{found:?}");
        assert!(!folder.path().join(touched).exists());
    }
    // The local folder is a link to another folder.
    let folder = bundle();
    let elsewhere = folder.path().join("elsewhere");
    fs::create_dir(&elsewhere).unwrap();
    symlink(&elsewhere, folder.path().join("bundle/.draftboard")).unwrap();
    refused(folder.path(), json!({"operation": "create", "entityType": "Note", "entityId": "x"}));
    assert_eq!(fs::read_dir(&elsewhere).unwrap().count(), 0);
}
