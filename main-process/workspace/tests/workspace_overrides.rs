//! Overrides are part of the state: an operation each, in their file at once, taken in when somebody else writes there, and
//! never overwritten unseen.
#![allow(clippy::unwrap_used, clippy::panic, reason = "a test")]

mod workspace_fixture;

use shared_protocol::ActorKind;
use std::{fs, path::Path};
use workspace_fixture::WorkspaceFixture;

const FILE: &str = ".draftboard/overrides.v0.json";

fn write(root: &Path, file: &str, text: &str) {
    let file = root.join(file);
    fs::create_dir_all(file.parent().unwrap()).unwrap();
    fs::write(file, text).unwrap();
}

/// A page with a button, and an override of its label.
fn page() -> WorkspaceFixture {
    let mut bench = WorkspaceFixture::new();
    bench.run(r#"{"addBoard":{"kind":"interface","title":"App"}}"#);
    bench.run(r#"{"addNode":{"board":"app","type":"ui.route","name":"home"}}"#);
    bench.run(r#"{"addNode":{"board":"app","type":"ui.button","parent":"home","name":"go"}}"#);
    set(&mut bench, "/label", r#""Open""#);
    bench
}

fn instance(bench: &WorkspaceFixture) -> String {
    let node = bench.ws().snapshot().nodes().find(|node| node.name.as_str() == "go").unwrap();
    node.id.to_string()
}

fn set(bench: &mut WorkspaceFixture, path: &str, value: &str) {
    let instance = instance(bench);
    let command = format!(
        r#"{{"setOverrides":{{"set":[{{"instance":"{instance}","path":"{path}","value":{value}}}]}}}}"#
    );
    bench.run(&command);
}

fn values(bench: &WorkspaceFixture) -> Vec<String> {
    let overrides = bench.ws().snapshot().overrides();
    overrides.map(|(key, over)| format!("{}={}", key.path, over.value.to_json())).collect()
}

fn on_disk(bench: &WorkspaceFixture) -> String {
    fs::read_to_string(bench.root().join(FILE)).unwrap()
}

#[test]
fn an_override_is_in_the_file_at_once_and_comes_back() {
    let mut bench = page();
    let file: serde_json::Value = serde_json::from_str(&on_disk(&bench)).unwrap();
    assert_eq!(file["schemaVersion"], "v0");
    let first = &file["app"]["overrides"][0];
    assert_eq!((&first["path"], &first["value"]), (&"/label".into(), &"Open".into()));
    assert_eq!(
        (&first["componentTypeId"], &first["instanceLocator"]["name"]),
        (&"ui.button".into(), &"go".into())
    );
    assert_eq!(file.get("component"), None, "only lists that hold something");
    let operations = bench.log().len();
    bench.reopen();
    assert_eq!(values(&bench), [r#"/label="Open""#]);
    assert_eq!(bench.log().len(), operations, "nothing of this was taken for somebody else's edit");
    bench.undo();
    assert_eq!(values(&bench), [] as [&str; 0]);
    assert!(!on_disk(&bench).contains("Open"));
}

#[test]
fn what_others_write_is_an_operation_of_theirs() {
    let mut bench = page();
    let theirs = on_disk(&bench).replace("Open", "Theirs");
    write(bench.root(), FILE, &theirs);
    bench.look_at(FILE);
    assert_eq!(values(&bench), [r#"/label="Theirs""#]);
    assert_eq!(bench.log()[0].actor.kind, ActorKind::External);
    // While Draftboard was away, too.
    bench.close();
    fs::remove_file(bench.root().join(FILE)).unwrap();
    bench.open();
    assert_eq!(values(&bench), [] as [&str; 0]);
    bench.undo();
    assert_eq!(values(&bench), [r#"/label="Theirs""#]);
}

#[test]
fn an_edit_that_was_not_noticed_yet_is_kept_aside() {
    let mut bench = page();
    let theirs = on_disk(&bench).replace("Open", "Theirs");
    write(bench.root(), FILE, &theirs);
    set(&mut bench, "/disabled", "true");
    assert_eq!(values(&bench), ["/disabled=true", r#"/label="Open""#]);
    let aside =
        fs::read_to_string(bench.root().join(".draftboard/aside/overrides-replaced-1.v0.json")).unwrap();
    assert_eq!(aside, theirs);
}

#[test]
fn a_file_that_cannot_be_read_is_named_and_never_lost() {
    let mut bench = page();
    bench.close();
    write(bench.root(), FILE, "{ not json");
    bench.open();
    assert_eq!(values(&bench), [r#"/label="Open""#], "the journal has them");
    assert!(
        bench.notices().iter().any(|notice| notice.contains("overrides.v0.json")),
        "{:?}",
        bench.notices()
    );
    assert_eq!(on_disk(&bench), "{ not json");
    set(&mut bench, "/disabled", "true");
    assert!(on_disk(&bench).contains("disabled") && bench.notices().is_empty());
    let aside = bench.root().join(".draftboard/aside/overrides-replaced-1.v0.json");
    assert_eq!(fs::read_to_string(aside).unwrap(), "{ not json");
}

#[test]
fn the_file_of_an_older_workbench_is_read_once() {
    let text = |value: &str| {
        format!(
            r#"{{"schemaVersion":"v0","updatedAt":"2026-01-01T00:00:00Z","app":{{"overrides":[
                {{"instanceId":"inst_r1","path":"/label","value":"{value}","componentTypeId":"ui.button",
                  "instanceLocator":{{"kind":"renderIndex","index":0}}}}]}}}}"#
        )
    };
    for folder in [".scaffa", ".skaffa"] {
        let old = format!("{folder}/overrides.v0.json");
        let mut bench = WorkspaceFixture::with_files(|root| write(root, &old, &text("Old")));
        assert_eq!(values(&bench), [r#"/label="Old""#], "{folder}");
        assert!(bench.log().is_empty(), "the start is no edit");
        write(bench.root(), &old, &text("Newer"));
        bench.reopen();
        assert_eq!(values(&bench), [r#"/label="Old""#]);
        bench.run(r#"{"clearOverrides":"orphaned"}"#);
        bench.reopen();
        assert_eq!(values(&bench), [] as [&str; 0], "what was cleared does not come back");
    }
}

#[test]
fn a_damaged_file_of_an_older_workbench_is_named_and_left_alone() {
    let old = ".scaffa/overrides.v0.json";
    let bench = WorkspaceFixture::with_files(|root| write(root, old, "{ not json"));
    assert!(bench.notices().iter().any(|notice| notice.contains(old)), "{:?}", bench.notices());
    assert_eq!(fs::read_to_string(bench.root().join(old)).unwrap(), "{ not json");
    assert_eq!(values(&bench), [] as [&str; 0]);
}

const CARD: &str = "# the card\nformat: 1\nid: ui.card\ntitle: Card\nprops:\n  title: { control: string, default: Plain } # said once\n  \
    items: { control: json, default: [a] }\nvariants:\n  - { id: wide, title: Wide, props: { title: Very wide } }\nview:\n  type: column\n  \
    children:\n    - { type: component, component: ui.badge } # the badge\n    \
    - { type: component, component: ui.button, props: { label: =props.title } }\n    \
    - { type: each, items: =props.items, children: [{ type: component, component: ui.badge, id: item }] }\n";

fn card() -> WorkspaceFixture {
    let mut bench = WorkspaceFixture::with_files(|root| write(root, "components/card.component.yaml", CARD));
    bench.run(r#"{"addBoard":{"kind":"interface","title":"App"}}"#);
    bench.run(r#"{"addNode":{"board":"app","type":"ui.route","name":"home"}}"#);
    bench.run(r#"{"addNode":{"board":"app","type":"ui.card","parent":"home","name":"go"}}"#);
    bench
}

fn lay(bench: &mut WorkspaceFixture, scope: &str, instance: &str, path: &str, value: &str) {
    bench.run(&format!(
        r#"{{"setOverrides":{{"set":[{{"scope":"{scope}","instance":"{instance}","path":"{path}","value":{value}}}]}}}}"#
    ));
}

fn text_of(bench: &WorkspaceFixture) -> String {
    fs::read_to_string(bench.root().join("components/card.component.yaml")).unwrap()
}

#[test]
fn parts_variants_and_defaults_are_promoted_into_the_file_that_says_them() {
    let mut bench = card();
    let node = instance(&bench);
    lay(&mut bench, "app", &node, "/title", r#""On the board""#);
    lay(&mut bench, "app", &format!("{node}/ui.badge"), "/text", r#""Hot""#);
    lay(&mut bench, "component", "ui.card@wide", "/title", r#""Wider""#);
    lay(&mut bench, "component", "ui.card", "/title", r#""Default""#);
    let operations = bench.log().len();
    bench.run(r#"{"promoteOverrides":"all"}"#);
    assert_eq!(bench.log().len(), operations + 1, "one operation");
    let text = text_of(&bench);
    for kept in ["# the card", "# said once", "# the badge", "label: =props.title"] {
        assert!(text.contains(kept), "{kept}: {text}");
    }
    let component = components::read("card.component.yaml", &text).unwrap();
    assert_eq!(component.prop("title").unwrap().default, Some("Default".into()));
    assert_eq!(component.variant("wide").unwrap().props["title"], "Wider");
    let uses = component.view.uses();
    let badge = uses.iter().find(|used| &*used.part.name == "ui.badge").unwrap();
    assert!(
        matches!(&badge.props[0], (name, components::BoundValue::Fixed(value)) if &**name == "text" && value.as_str() == Some("Hot"))
    );
    assert_eq!(values(&bench), [] as [&str; 0]);
    bench.undo();
    assert_eq!((text_of(&bench), values(&bench).len()), (CARD.to_owned(), 4));
}

#[test]
fn what_cannot_be_promoted_is_named_each_with_its_reason_and_nothing_changes() {
    let mut bench = card();
    let node = instance(&bench);
    lay(&mut bench, "app", &node, "/title", r#""Fine""#);
    lay(&mut bench, "app", &format!("{node}/ui.button"), "/label", r#""Computed""#);
    lay(&mut bench, "app", &format!("{node}/#item[0]"), "/text", r#""One of several""#);
    lay(&mut bench, "app", &format!("{node}/ui.badge"), "/text", r#""=1 + 1""#);
    lay(&mut bench, "component", "ui.button", "/label", r#""Built in""#);
    let refusal = bench.try_run(r#"{"promoteOverrides":"all"}"#).unwrap_err();
    let failed: Vec<(String, &str)> =
        refusal.failed.iter().map(|failed| (failed.address.to_string(), failed.code.as_str())).collect();
    let address = |rest: &str| format!("{node}{rest}");
    assert_eq!(
        failed,
        [
            (address("/#item[0]/text"), "unsupportedPattern"),
            (address("/ui.badge/text"), "unsupportedPattern"),
            (address("/ui.button/label"), "unsupportedPattern"),
            ("ui.button/label (component)".to_owned(), "unpromotable"),
        ],
        "{refusal}"
    );
    assert_eq!((text_of(&bench), values(&bench).len()), (CARD.to_owned(), 5));
    // The ones that can be are not held up when they are asked for.
    let one = format!(r#"{{"promoteOverrides":{{"these":[{{"instance":"{node}","path":"/title"}}]}}}}"#);
    bench.run(&one);
    assert_eq!(values(&bench).len(), 4);
}
