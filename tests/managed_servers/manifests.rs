//! Manifests as an agent meets them: called, noticed when they come and change, approved and given what they need from a terminal.

use crate::{ManagedServerReviewFixture, call, home_with, serve, text, until_offered};
use serde_json::{Value, json};
use std::{fs, path::Path};
use test_support::wait_for;

fn status(id: &str, tool: &str) -> Value {
    json!({"id": id, "tools": [{"name": tool, "description": "Status", "inputSchema": {"type": "object"}}],
           "implementation": {"methods": {tool: "server.status"}}})
}

fn write(folder: &Path, name: &str, manifest: &Value) {
    fs::create_dir_all(folder).unwrap();
    fs::write(folder.join(name), manifest.to_string()).unwrap();
}

#[test]
fn an_agent_calls_a_manifest_s_tool_and_hears_when_another_comes() {
    let home = home_with(&[]);
    let workspace = home.workspace("workspace", "blank");
    let folder = home.path("config/draftboard/manifests");
    write(&folder, "status.json", &status("status", "server_status"));
    let running = serve(&home, &workspace);
    let mut agent = crate::Agent::greeted(&home, &workspace, crate::Era::Handshake, &[]);
    until_offered(&mut agent, "draftboard_server_status");
    let answer = agent.ask(1, "tools/call", call("draftboard_server_status", json!({})));
    assert_eq!(answer["result"]["structuredContent"]["status"], "running", "{answer}");
    agent.rest();
    write(&folder, "more.json", &status("more", "more_status"));
    agent.hear("the list has changed", |message| message["method"] == "notifications/tools/list_changed");
    until_offered(&mut agent, "draftboard_more_status");
    fs::remove_file(folder.join("more.json")).unwrap();
    wait_for("it is gone with its file", || {
        (!crate::tool_names(&mut agent).contains(&"draftboard_more_status".to_owned())).then_some(())
    });
    drop(agent);
    assert_eq!(running.stop().code, Some(0));
}

#[test]
fn a_workspace_s_manifest_is_approved_given_its_credential_and_allowed_from_a_terminal() {
    let home = home_with(&[]);
    let workspace = home.workspace("workspace", "blank");
    let folder = workspace.join("manifests");
    let manifest = json!({"id": "teller", "requires": {"credentials": [{"id": "key"}]},
        "tools": [{"name": "tell", "inputSchema": {"type": "object"}}],
        "implementation": {"type": "script", "runtime": "sh", "entrypoint": "tell.sh", "env": {"KEY": "{credential:key:token}"},
                           "toolBindings": {"tell": {"action": "x"}}}});
    write(&folder, "teller.json", &manifest);
    fs::write(folder.join("tell.sh"), "echo ${#KEY}").unwrap();
    let Some(mut desk) = ManagedServerReviewFixture::open(&home, workspace) else { return };
    let mut agent = desk.agent();
    let path = folder.join("teller.json");
    let path = path.to_str().unwrap();
    wait_for("it is read", || desk.run(&["upstream", "list"]).out.contains("needs approval").then_some(()));
    // A program that has only a shell decides nothing.
    for asked in [
        vec!["manifest", "approve", path],
        vec!["manifest", "policy", "draftboard_tell", "allow"],
        vec!["manifest", "secret", "teller", "key"],
    ] {
        let refused = desk.run(&asked);
        assert!(
            refused.code == Some(1) && refused.err.contains("a person at a terminal"),
            "{asked:?} {refused:?}"
        );
    }
    let approved = desk.decides(&["manifest", "approve", path], &[]);
    assert!(approved.code == Some(0) && approved.out.contains("runs sh"), "{approved:?}");
    until_offered(&mut agent, "draftboard_tell");
    let given =
        desk.decides(&["manifest", "secret", "teller", "key"], &[("Credential key", "hunter2-hunter2")]);
    assert_eq!(given.code, Some(0), "{given:?}");
    assert_eq!(desk.decides(&["manifest", "policy", "draftboard_tell", "allow"], &[]).code, Some(0));
    let answer = agent.ask(1, "tools/call", call("draftboard_tell", json!({})));
    assert_eq!(text(&answer), "15", "{answer}");
    // The one of this id in the user's own folder would be another.
    write(&home.path("config/draftboard/manifests"), "teller.json", &manifest);
    fs::write(home.path("config/draftboard/manifests/tell.sh"), "echo ${#KEY}").unwrap();
    let list = || desk.run(&["upstream", "list"]).out;
    let listed =
        wait_for("both are read", || Some(list()).filter(|out| out.contains("already uses the id teller")));
    assert!(listed.contains("workspace/manifests/teller.json"), "{listed}");
}

#[test]
fn a_check_tells_good_files_from_bad_ones_by_its_exit_code() {
    let home = home_with(&[]);
    let check = |manifests: &[(&str, Value)]| {
        let folder = home.path("checked");
        drop(fs::remove_dir_all(&folder));
        for (name, manifest) in manifests {
            write(&folder, name, manifest);
        }
        home.run(&["manifest", "check", folder.to_str().unwrap(), "--json"])
    };
    let mut hidden = status("hidden", "hidden");
    hidden["tools"][0]["mcpExpose"] = json!(false);
    let good = check(&[("a.json", status("a", "one")), ("b.json", hidden)]);
    assert_eq!(good.code, Some(0), "{good:?}");
    assert_eq!(good.data()[0]["tools"][0]["name"], "draftboard_one");
    let mut unbound = status("a", "one");
    unbound["implementation"]["methods"] = json!({});
    let mut schema = status("a", "one");
    schema["tools"][0]["inputSchema"] = json!({"type": "no such type"});
    for (what, manifests) in [
        ("a name that is taken", vec![("a.json", status("a", "one")), ("b.json", status("b", "one"))]),
        ("an id that is taken", vec![("a.json", status("a", "one")), ("b.json", status("a", "two"))]),
        ("nothing is bound", vec![("a.json", unbound)]),
        ("a schema that cannot be used", vec![("a.json", schema)]),
        ("a key that is not known", vec![("a.json", json!({"id": "a", "toolz": []}))]),
    ] {
        let bad = check(&manifests);
        assert_eq!((bad.code, bad.json()["ok"].clone()), (Some(1), json!(false)), "{what}: {bad:?}");
    }
}
