//! Batches of changes, concurrent edits of files, and reloading.
#![allow(clippy::unwrap_used, clippy::panic, clippy::print_stdout, reason = "a test")]

mod support;

use bundles::{Bundle, Bundles, call, call_writing, commit, plan};
use serde_json::{Value, json};
use std::{collections::BTreeMap, fs, path::Path, sync::Arc};
use test_support::RandomSource;

fn bundle() -> tempfile::TempDir {
    let folder = tempfile::tempdir().unwrap();
    support::new_bundle(folder.path());
    support::note(folder.path(), "a", "# about a\nid: a   # its id\ntitle: 'First'\nnext: b\n");
    support::note(folder.path(), "b", "id: b\ntitle: Second\n");
    folder
}

fn change(operation: &str, id: &str) -> Value {
    json!({"operation": operation, "entityType": "Note", "entityId": id})
}

fn update(id: &str, field: &str, value: Value) -> Value {
    json!({"operation": "update", "entityType": "Note", "entityId": id, "fieldPath": field, "value": value})
}

fn apply(bundles: &mut Bundles, changes: Value) -> Value {
    call_writing(bundles, "apply_changes", &json!({"changes": changes, "dryRun": false})).to_json()
}

fn text(folder: &Path, id: &str) -> String {
    fs::read_to_string(folder.join(format!("notes/{id}.yaml"))).unwrap()
}

#[test]
fn later_changes_see_earlier_ones() {
    let folder = bundle();
    let mut bundles = support::load(folder.path());
    let mut c = change("create", "c");
    c["data"] = json!({"title": "Third", "next": "d"});
    let mut d = change("create", "d");
    d["data"] = json!({"title": "Fourth", "next": "c"});
    let answer = apply(&mut bundles, json!([c, d, update("a", "next", json!("d")), change("delete", "b")]));
    assert_eq!(answer["ok"], true, "{answer}");
    assert_eq!(text(folder.path(), "a"), "# about a\nid: a   # its id\ntitle: 'First'\nnext: d\n");
    assert_eq!(text(folder.path(), "c"), "id: c\ntitle: Third\nnext: d\n");
    assert!(!folder.path().join("notes/b.yaml").exists());
    assert_eq!(bundles.iter().next().unwrap().diagnostics(), &[]);
    assert_eq!(support::load(folder.path()).iter().next().unwrap().diagnostics(), &[]);
}

#[test]
fn delete_and_create_of_one_id_keeps_the_new_one() {
    let folder = bundle();
    let mut bundles = support::load(folder.path());
    let mut again = change("create", "a");
    again["data"] = json!({"title": "Anew"});
    let answer = apply(&mut bundles, json!([change("delete", "a"), again]));
    assert_eq!(answer["ok"], true, "{answer}");
    assert_eq!(text(folder.path(), "a"), "id: a\ntitle: Anew\n");
    let both = apply(&mut bundles, json!([change("create", "z"), change("delete", "z")]));
    assert_eq!((both["ok"].clone(), folder.path().join("notes/z.yaml").exists()), (json!(true), false));
}

#[test]
fn what_changed_meanwhile_is_not_overwritten() {
    let folder = bundle();
    let mut bundles = support::load(folder.path());
    let arguments = json!({"changes": [update("b", "title", json!("Mine")), update("a", "title", json!("Mine"))], "dryRun": false});
    let planned = plan(&bundles, &arguments).unwrap();
    support::note(folder.path(), "a", "id: a\ntitle: Theirs\n");
    let error = commit(&mut bundles, &planned).unwrap_err();
    assert!(error.to_string().contains("notes/a.yaml changed"), "{error}");
    assert_eq!(text(folder.path(), "b"), "id: b\ntitle: Second\n");
    // The refusal reloaded the file, so the second attempt succeeds.
    let answer = call_writing(&mut bundles, "apply_changes", &arguments).to_json();
    assert_eq!(answer["ok"], true, "{answer}");
    assert_eq!(text(folder.path(), "a"), "id: a\ntitle: Mine\n");
    // A file appeared at the path of a new entity.
    support::note(folder.path(), "n", "id: n\n");
    assert_eq!(apply(&mut bundles, json!([change("create", "n")]))["error"]["code"], "STALE");
}

#[test]
fn a_clean_dry_run_means_that_the_write_succeeds() {
    let folder = bundle();
    let mut bundles = support::load(folder.path());
    for changes in [
        json!([update("a", "title", json!("x"))]),
        json!([update("a", "bogus", json!("x"))]),
        json!([update("a", "id", json!("x"))]),
        json!([update("a", "next", json!("gone"))]),
        json!([change("delete", "b")]),
        json!([{"operation": "create", "entityType": "Nope", "entityId": "x"}]),
        json!([update("a", "title", json!("Longer"))]),
    ] {
        let dry = call(&bundles, "apply_changes", &json!({"changes": changes})).to_json();
        let wet = apply(&mut bundles, changes);
        assert_eq!(dry["ok"], wet["ok"], "{dry}\n{wet}");
        assert_eq!(dry["error"]["code"], wet["error"]["code"]);
    }
    let dry = plan(&bundles, &json!({"changes": [update("a", "title", json!("Never"))]})).unwrap();
    assert!(commit(&mut bundles, &dry).is_err() && !text(folder.path(), "a").contains("Never"));
    let refused = call(&bundles, "apply_changes", &json!({"changes": [], "dryRun": false})).to_json();
    assert_eq!(refused["error"]["code"], "ACTUATION_DISABLED");
}

#[test]
fn warn_tells_and_does() {
    let folder = bundle();
    let mut bundles = support::load(folder.path());
    let arguments = json!({"changes": [update("a", "title", json!("x")), update("a", "other", json!(1)), update("b", "next", json!("gone"))],
        "dryRun": false, "validate": "warn", "referencePolicy": "warn"});
    let answer = call_writing(&mut bundles, "apply_changes", &arguments).to_json();
    assert_eq!(answer["ok"], true, "{answer}");
    assert!(answer["diagnostics"].as_array().unwrap().len() >= 4);
    let orphan = json!({"changes": [change("delete", "b")], "dryRun": false, "deleteMode": "orphan"});
    let answer = call_writing(&mut bundles, "apply_changes", &orphan).to_json();
    assert_eq!((&answer["ok"], &answer["diagnostics"][0]["severity"]), (&json!(true), &json!("warning")));
}

#[test]
fn edits_by_others_are_followed_file_by_file() {
    let folder = bundle();
    let mut bundles = support::load(folder.path());
    let found = |bundles: &Bundles| -> Vec<String> {
        bundles
            .iter()
            .next()
            .unwrap()
            .diagnostics()
            .iter()
            .filter_map(|finding| finding.code.clone())
            .collect()
    };
    let hits = |bundles: &Bundles, query: &str| {
        call(bundles, "search_entities", &json!({"query": query})).to_json()["meta"]["total"].clone()
    };
    assert_eq!(found(&bundles), Vec::<String>::new());
    fs::remove_file(folder.path().join("notes/b.yaml")).unwrap();
    assert!(bundles.reload_file(&folder.path().canonicalize().unwrap().join("notes/b.yaml")).unwrap());
    assert_eq!(found(&bundles), ["broken-ref"]);
    assert_eq!(hits(&bundles, "second"), 0);
    // A duplicate takes over the id when the first file disappears, and gives it back.
    support::note(folder.path(), "z", "id: a\ntitle: Copy\n");
    bundles.refresh().unwrap();
    assert_eq!((hits(&bundles, "copy"), hits(&bundles, "first")), (json!(0), json!(1)));
    fs::rename(folder.path().join("notes/a.yaml"), folder.path().join("notes/zz.yaml")).unwrap();
    bundles.refresh().unwrap();
    assert_eq!((hits(&bundles, "copy"), hits(&bundles, "first")), (json!(1), json!(0)));
    fs::remove_file(folder.path().join("notes/z.yaml")).unwrap();
    bundles.refresh().unwrap();
    assert_eq!((hits(&bundles, "copy"), hits(&bundles, "first")), (json!(0), json!(1)));
    let watched = bundles.iter().next().unwrap().watched_folders();
    assert!(watched.iter().any(|folder| folder.ends_with("notes")) && watched.len() == 2, "{watched:?}");
    // Configuration files affect the whole bundle.
    fs::write(folder.path().join("note.json"), r#"{"properties":{"title":{"maxLength":3}}}"#).unwrap();
    bundles.refresh().unwrap();
    assert!(found(&bundles).contains(&"maxLength".to_owned()), "{:?}", found(&bundles));
    assert!(!bundles.reload_file(&folder.path().join("elsewhere.txt")).unwrap());
}

#[test]
fn a_model_that_follows_equals_one_that_is_loaded() {
    let folder = tempfile::tempdir().unwrap();
    support::new_bundle(folder.path());
    let mut bundles = support::load(folder.path());
    let mut random = RandomSource::new(7);
    for step in 0..60 {
        let (file, id, next) = (random.below(6), random.below(5), random.below(6));
        let path = folder.path().join(format!("notes/f{file}.yaml"));
        match random.below(4) {
            0 => drop(fs::remove_file(&path)),
            1 => fs::write(&path, format!("id: n{id}\ntitle: \"step {step}\n")).unwrap(),
            _ => fs::write(&path, format!("id: n{id}\ntitle: step {step}\nnext: n{next}\n")).unwrap(),
        }
        bundles
            .reload_file(&folder.path().canonicalize().unwrap().join(format!("notes/f{file}.yaml")))
            .unwrap();
        let fresh = support::load(folder.path());
        for (tool, arguments) in [
            ("get_bundle_snapshot", json!({})),
            ("search_entities", json!({"query": "step", "limit": 100})),
            ("list_entity_summaries", json!({})),
        ] {
            let (followed, loaded) = (call(&bundles, tool, &arguments), call(&fresh, tool, &arguments));
            assert_eq!(followed.to_json(), loaded.to_json(), "step {step}");
        }
    }
}

#[test]
fn texts_that_somebody_else_keeps() {
    let folder = bundle();
    let mut texts = BTreeMap::new();
    for path in ["sdd-bundle.yaml", "types.json", "note.json", "notes/a.yaml", "notes/b.yaml"] {
        texts.insert(path.to_owned(), Arc::from(fs::read_to_string(folder.path().join(path)).unwrap()));
    }
    let mut bundles = Bundles::default();
    bundles.insert(Arc::new(Bundle::from_texts("kept", Path::new("specs/kept"), texts).unwrap()));
    let arguments =
        json!({"changes": [update("a", "title", json!("Planned")), change("create", "c")], "dryRun": false});
    let planned = plan(&bundles, &arguments).unwrap();
    assert!(commit(&mut bundles, &planned).unwrap_err().to_string().contains("stored elsewhere"));
    assert!(bundles.get("kept").unwrap().entity("Note", "c").is_none());
    // The caller writes the texts, and the bundle is updated.
    let edits = planned.edits().iter();
    let edits = edits.map(|edit| (edit.path().to_owned(), edit.after.as_deref().map(Arc::from)));
    assert!(bundles.get_mut("kept").unwrap().set_texts(edits).unwrap());
    let kept = bundles.get_mut("kept").unwrap();
    assert_eq!(kept.entity("Note", "a").unwrap().data().text("title"), Some("Planned"));
    assert!(kept.entity("Note", "c").is_some());
    assert_eq!(kept.ids_in("notes/b.yaml"), Some(vec!["b"]));
    assert!(kept.set_texts([("notes/b.yaml".to_owned(), None)]).unwrap());
    assert!(kept.diagnostics().iter().any(|finding| finding.code.as_deref() == Some("broken-ref")));
    assert!(kept.set_texts([("note.json".to_owned(), Some(Arc::from("{")))]).unwrap());
    assert!(!kept.set_texts([("../out.yaml".to_owned(), Some(Arc::from("id: x")))]).unwrap());
    assert_eq!(call(&bundles, "validate_bundle", &json!({})).to_json()["data"]["summary"]["isValid"], false);
}
