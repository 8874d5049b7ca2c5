//! `draftboard connect` and `mcp.json`, through the executable.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, clippy::print_stdout, reason = "a test")]

mod support;

use serde_json::{Value, json};
use std::{fs, path::Path};
use support::home::{DRAFTBOARD, HomeFixture, Running};

fn read(path: &Path) -> Value {
    serde_json::from_str(&fs::read_to_string(path).unwrap()).unwrap()
}

#[test]
fn a_client_s_configuration_gains_an_entry_and_keeps_the_rest() {
    let home = HomeFixture::new();
    let file = home.path("config/Claude/claude_desktop_config.json");
    fs::create_dir_all(file.parent().unwrap()).unwrap();
    fs::write(
        &file,
        r#"{"theme": "dark", "mcpServers": {"other": {"command": "x", "env": {"KEY": "secret"}}}}"#,
    )
    .unwrap();
    let before = fs::read_to_string(&file).unwrap();

    let printed = home.run(&["connect", "claude-desktop", "--print"]);
    assert!(printed.out.contains(file.to_str().unwrap()) && printed.out.contains("\"mcp\""), "{printed:?}");
    assert!(!printed.out.contains("secret"), "{printed:?}");
    assert_eq!(fs::read_to_string(&file).unwrap(), before, "--print changes nothing");

    let workspace = home.workspace("workspace", "blank");
    let folder = workspace.to_str().unwrap();
    let done = home.run(&["connect", "claude-desktop", "-w", folder, "--launch", "--json"]).data();
    assert_eq!(done["written"], true);
    let expected = json!({"command": DRAFTBOARD, "args": ["mcp", "--workspace", folder, "--launch"]});
    let after = read(&file);
    assert_eq!(after["mcpServers"]["draftboard"], expected);
    assert_eq!(
        (&after["theme"], &after["mcpServers"]["other"]["env"]["KEY"]),
        (&json!("dark"), &json!("secret"))
    );
    assert_eq!(fs::read_to_string(done["backup"].as_str().unwrap()).unwrap(), before);

    let again = home.run(&["connect", "claude-desktop", "-w", folder, "--launch"]);
    assert!(again.out.contains("already"), "{again:?}");
}

#[test]
fn a_workspace_s_own_configuration_names_no_folder_of_this_machine_s() {
    let home = HomeFixture::new();
    let workspace = home.workspace("workspace", "blank");
    let folder = workspace.to_str().unwrap();
    let vscode = workspace.join(".vscode/mcp.json");
    fs::create_dir(vscode.parent().unwrap()).unwrap();
    fs::write(&vscode, "{\n  // the team's\n  \"servers\": {},\n}\n").unwrap();
    for (client, file) in [
        ("vscode", &vscode),
        ("cursor", &workspace.join(".cursor/mcp.json")),
        ("claude-code", &workspace.join(".mcp.json")),
    ] {
        let done = home.run(&["connect", client, "-w", folder, "--json"]).data();
        assert_eq!(done["file"], file.to_str().unwrap());
        let text = fs::read_to_string(file).unwrap();
        assert!(text.contains("draftboard") && !text.contains(folder), "{text}");
    }
    assert!(fs::read_to_string(&vscode).unwrap().contains("// the team's"));
    assert_eq!(home.run(&["connect", "claude-desktop", "--scope", "project", "-w", folder]).code, Some(1));
    assert_eq!(home.run(&["connect", "vscode", "--scope", "project"]).code, Some(1), "no workspace here");
    assert_eq!(home.run(&["connect", "emacs"]).code, Some(2));
}

#[test]
fn what_is_not_understood_is_left_alone_and_shown_how_to_mend() {
    let home = HomeFixture::new();
    fs::create_dir(home.path("home/.cursor")).unwrap();
    let file = home.path("home/.cursor/mcp.json");
    fs::write(&file, "{ broken").unwrap();
    let refused = home.run(&["connect", "cursor"]);
    assert_eq!((refused.code, refused.out.as_str()), (Some(1), ""), "{refused:?}");
    for word in ["was not changed", "manually", "\"mcpServers\""] {
        assert!(refused.err.contains(word), "{word}: {refused:?}");
    }
    assert_eq!(fs::read_to_string(&file).unwrap(), "{ broken");
}

#[test]
fn a_started_workspace_has_an_mcp_json_without_a_secret() {
    let home = HomeFixture::new();
    let workspace = home.workspace("workspace", "blank");
    let running = Running::serve(&home, &workspace);
    let file = workspace.join(".draftboard/mcp.json");
    let entry = read(&file)["mcpServers"]["draftboard"].clone();
    assert_eq!(entry, json!({"command": DRAFTBOARD, "args": ["mcp", "--workspace", workspace]}));
    assert_eq!(running.stop().code, Some(0));
}
