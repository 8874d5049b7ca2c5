//! Managed servers from a terminal, through the executable.

use crate::{ManagedServerReviewFixture, fixture, home_with, serve, until_running};
use serde_json::json;
use std::fs;
use test_support::python_interpreter;

#[test]
fn tools_are_listed_and_called_logs_read_and_a_server_restarted() {
    let policies =
        json!({"echo": {"enabled": true, "policy": "allow"}, "env": {"enabled": true, "policy": "allow"}});
    let home = home_with(&[("plain", "plain", policies)]);
    let workspace = home.workspace("workspace", "blank");
    let running = serve(&home, &workspace);
    until_running(&home, &workspace, &["plain"]);
    let run = |arguments: &[&str]| home.run(&[arguments, &["-w", workspace.to_str().unwrap()]].concat());
    let listed = run(&["upstream", "tools", "plain"]);
    assert!(listed.code == Some(0) && listed.out.contains("plain__echo"), "{listed:?}");
    let called = run(&["upstream", "call", "plain__echo", "text=hello"]);
    assert!(called.code == Some(0) && called.out.trim() == "hello", "{called:?}");
    assert_eq!(run(&["upstream", "call", "plain__env", "name=REGION"]).code, Some(0));
    let logs = run(&["upstream", "logs", "plain"]);
    assert!(logs.code == Some(0) && logs.out.contains("telling"), "{logs:?}");
    let before = home.processes();
    let restarted = run(&["upstream", "restart", "plain"]);
    assert!(restarted.code == Some(0) && restarted.out.contains("running"), "{restarted:?}");
    assert_ne!(home.processes(), before, "another process");
    assert_eq!(running.stop().code, Some(0));
    home.assert_deserted();
}

#[test]
fn servers_are_imported_and_found_in_a_registry_and_what_is_required_is_given_first() {
    let home = home_with(&[]);
    let workspace = home.workspace("workspace", "blank");
    let running = serve(&home, &workspace);
    let run = |arguments: &[&str]| home.run(&[arguments, &["-w", workspace.to_str().unwrap()]].concat());
    let config = home.path("claude.json");
    let servers = json!({"mcpServers": {
        "clock": {"command": "/opt/clock", "env": {"CLOCK_TOKEN": "hunter2-hunter2"}},
        "draftboard": {"command": "draftboard", "args": ["mcp"]}}});
    fs::write(&config, servers.to_string()).unwrap();
    let dry = run(&["upstream", "import", config.to_str().unwrap(), "--dry-run"]);
    assert!(
        dry.code == Some(0) && dry.out.contains("+ clock") && dry.out.contains("draftboard is skipped"),
        "{dry:?}"
    );
    let imported = run(&["upstream", "import", config.to_str().unwrap(), "--json"]);
    assert_eq!(
        (imported.code, imported.data()["servers"][0]["slug"].as_str()),
        (Some(0), Some("clock")),
        "{imported:?}"
    );
    let kept = fs::read_to_string(home.path("config/draftboard/upstreams.json")).unwrap();
    assert!(kept.contains("CLOCK_TOKEN") && !kept.contains("hunter2"), "{kept}");
    let exposed =
        json!({"mcpServers": {"open": {"command": "/opt/open", "args": ["--api-key", "hunter2-hunter2"]}}});
    fs::write(&config, exposed.to_string()).unwrap();
    let refused = run(&["upstream", "import", config.to_str().unwrap()]);
    assert!(
        refused.code == Some(1) && refused.out.contains("--api-key") && !refused.out.contains("hunter2"),
        "{refused:?}"
    );

    let index = home.path("index.json");
    let package = json!({"registryType": "npm", "identifier": "@example/timer", "version": "2.0.0",
        "environmentVariables": [{"name": "TIMER_KEY", "isRequired": true, "isSecret": true}]});
    let entries = json!({"servers": [{"server": {"name": "io.example/timer", "description": "Tells the time", "version": "2.0.0", "packages": [package]}}]});
    fs::write(&index, entries.to_string()).unwrap();
    let found = run(&["upstream", "search", "timer", "--registry", index.to_str().unwrap(), "--json"]);
    assert_eq!(found.code, Some(0), "{found:?}");
    let form = &found.data()[0]["offers"][0]["form"];
    // MC-NT4 through the executable: the form as the registry filled it in is not kept, and the field is named.
    let mut client = crate::Client::connect(&home, &workspace).unwrap();
    let refused = client.request(json!({"addServer": {"form": form}})).unwrap().unwrap_err();
    assert_eq!(refused["code"], "VALIDATION_ERROR", "{refused}");
    assert_eq!(refused["field"], "env_vars.TIMER_KEY", "{refused}");
    let mut given = form.clone();
    given["variables"][0]["value"] = json!({"typed": "hunter3-hunter3"});
    let added = client.request(json!({"addServer": {"form": given}})).unwrap().unwrap();
    assert_eq!(added["brief"]["slug"], "timer", "{added}");
    assert_eq!(running.stop().code, Some(0));
}

#[test]
fn a_server_is_changed_and_a_tool_given_its_times_with_the_code() {
    let home = home_with(&[("plain", "plain", json!({}))]);
    let workspace = home.workspace("workspace", "blank");
    let Some(mut desk) = ManagedServerReviewFixture::open(&home, workspace.clone()) else { return };
    until_running(&home, &workspace, &["plain"]);
    let refused = desk.run(&["upstream", "edit", "plain", "--name", "Mine"]);
    assert!(refused.code == Some(1) && refused.err.contains("a person at a terminal"), "{refused:?}");
    let times = desk.decides(&["upstream", "times", "plain__echo", "--idle-ms", "1234"], &[]);
    assert_eq!(times.code, Some(0), "{times:?}");
    let script = fixture();
    let script = script.to_str().unwrap();
    let edit = ["upstream", "edit", "plain", "--name", "Mine", "--env", "REGION=north", "--limit", "calls=3"];
    let edited = desk.decides(&edit, &[]);
    assert_eq!(edited.code, Some(0), "{edited:?}");
    let shown = desk.run(&["upstream", "show", "plain", "--json"]).data();
    assert_eq!(shown["form"]["name"], "Mine", "{shown}");
    assert_eq!(shown["form"]["limits"]["calls"], 3);
    assert_eq!(shown["form"]["args"], json!([script, "plain"]), "what was not named stays");
    assert_eq!(shown["form"]["identifier"], json!(python_interpreter()));
    until_running(&home, &workspace, &["plain"]);
    let shown = desk.run(&["upstream", "show", "plain", "--json"]).data();
    let echo = shown["tools"].as_array().unwrap().iter().find(|tool| tool["name"] == "echo").unwrap();
    assert_eq!((echo["idleMs"].clone(), echo["totalMs"].clone()), (json!(1234), json!(null)), "{echo}");
}
