//! The managed_servers panel: how servers stand and why, what a person decides about them and in which words, and the ways to add
//! one. What is sent is read off the fake main.

use crate::{
    dock::run_command,
    managed_servers_answers::{brief, form, id, manifest, of, running, tell, tool},
    shop::Shop,
};
use egui::{Key, Theme, accesskit::Role};
use egui_kittest::kittest::{NodeT, Queryable};
use shared_protocol::{
    Refusal, RefusalCode,
    decisions::{
        ApproveManifest, ApproveTools, CallTool, DeleteServer, EnableServer, ManagedServerDecision,
        SetManifestPolicy, SetManifestSecret, SetServerSecret, SetTool, UpdateServer,
    },
    managed_servers::{
        AuthForm, ImportSource, ImportedServerView, ManifestOrigin, PackageKind, RegistryOffer,
        RegistryServer, ServerBrief, ServerDetails, ServerExit, ServerForm, ServerImportInput,
        ServerImportPreview, ServerState, StartPhase, ToolApproval, ToolCall, ToolCallPolicy, ToolCallResult,
        ToolDefinitionChange, TypedSecret, UnreadableServer, VariableForm, VariableValue,
    },
    proposal::ProposedAction,
    requests::{
        AddServer, DisableServer, ImportServers, ListImportSources, PreviewServerImport, ReloadManifests,
        RestartServer, SearchServerRegistry, StartServer, StopServer, WithdrawTool, WorkbenchRequest,
    },
};

fn with(servers: Vec<ServerDetails>) -> Shop {
    with_size((1440.0, 1500.0), servers)
}

fn with_size(size: (f32, f32), servers: Vec<ServerDetails>) -> Shop {
    let mut shop = Shop::open_as(size, Theme::Light, |_| {});
    shop.main.managed_servers.servers = servers;
    tell(&mut shop, |_| {});
    run_command(&mut shop, "Managed servers");
    shop.settle();
    shop
}

fn press(shop: &mut Shop, name: &str) -> Vec<WorkbenchRequest> {
    shop.window.get_by_label(name).scroll_to_me();
    shop.window.run();
    shop.window.get_by_label(name).click();
    asked(shop)
}

fn asked(shop: &mut Shop) -> Vec<WorkbenchRequest> {
    shop.settle()
}

/// What was decided by pressing it.
fn decided(shop: &mut Shop, name: &str) -> Vec<ManagedServerDecision> {
    assert_eq!(press(shop, name), [], "{name} asks for a decision, and for nothing else");
    std::mem::take(&mut shop.main.managed_servers.decided)
}

fn failed(name: &str, state: ServerState) -> ServerDetails {
    of(ServerBrief {
        reason: Some("the package could not be found".to_owned()),
        exit: Some(ServerExit { code: Some(127), signal: None }),
        last_lines: vec!["npm error 404 Not Found".to_owned(), "npm error code E404".to_owned()],
        ..brief(name, state)
    })
}

fn later() -> u64 {
    let now = std::time::SystemTime::now().duration_since(std::time::UNIX_EPOCH).unwrap().as_millis() as u64;
    now + 3_600_000
}

#[test]
fn every_state_is_said_in_words() {
    let states = [
        (ServerState::Disabled, "disabled"),
        (ServerState::Stopped, "stopped"),
        (ServerState::Starting(StartPhase::Credentials), "starting, looking up secrets"),
        (ServerState::Starting(StartPhase::Installing), "starting, fetching the package"),
        (ServerState::Starting(StartPhase::Connecting), "starting, connecting"),
        (ServerState::Running, "running, 0 of 0 tools offered"),
        (ServerState::Stopping, "stopping"),
        (
            ServerState::Backoff { attempt: 3, retry_at: later() },
            "backing off after 3 failures, next attempt in 60 min",
        ),
        (ServerState::NeedsApproval, "needs approval for 0 tools"),
        (ServerState::NeedsCredentials { missing: vec!["API_KEY".to_owned()] }, "needs credentials: API_KEY"),
        (ServerState::Error, "error"),
    ];
    for (state, words) in states {
        let mut shop = with(vec![of(brief("Files", state.clone()))]);
        let name = format!("Files, {words}");
        assert_eq!(shop.window.query_all_by_label_contains(&name).count(), 1, "{name}");
        assert!(
            shop.window.query_by_role_and_label(Role::Image, state.label()).is_some(),
            "{words} has a sign"
        );
        shop.settle();
    }
}

#[test]
fn a_failure_says_why_with_exit_code_and_last_lines() {
    for state in [ServerState::Error, ServerState::Backoff { attempt: 2, retry_at: later() }] {
        let mut shop = with(vec![failed("Files", state)]);
        for words in ["The package could not be found", "ended with code 127", "npm error code E404"] {
            assert!(shop.shows(words), "{words}");
        }
        press(&mut shop, "Show full log");
        assert!(shop.shows("Follow log"));
    }
}

#[test]
fn switching_on_is_a_decision_and_a_failed_start_takes_it_back() {
    let mut shop = with(vec![of(brief("Files", ServerState::Disabled))]);
    let switch = "Files enabled";
    shop.main.managed_servers.refuse = Some(
        Refusal::new(RefusalCode::ServiceUnavailable, "npx is not on the path").hint("Install Node.js."),
    );
    // The switch of the row and that of the page are the same.
    assert_eq!(shop.window.query_all_by_label(switch).count(), 2);
    shop.window.query_all_by_label(switch).next().unwrap().click();
    assert_eq!(asked(&mut shop), []);
    assert_eq!(
        shop.main.managed_servers.decided,
        [ManagedServerDecision::EnableServer(EnableServer { server: id("Files") })]
    );
    assert!(shop.shows("The server was disabled again. Npx is not on the path. Install Node.js."));
    assert!(shop.shows("Show full log"), "what it wrote is one press away");
    for node in shop.window.query_all_by_label(switch) {
        assert_eq!(node.accesskit_node().toggled(), Some(egui::accesskit::Toggled::False));
    }
}

#[test]
fn switching_off_starting_and_stopping_are_requests() {
    let server = id("Files");
    let mut shop = with(vec![running("Files", Vec::new())]);
    shop.window.query_all_by_label("Files enabled").next().unwrap().click();
    assert_eq!(asked(&mut shop), [WorkbenchRequest::DisableServer(DisableServer { server: server.clone() })]);
    assert_eq!(
        press(&mut shop, "Stop Files"),
        [WorkbenchRequest::StopServer(StopServer { server: server.clone() })]
    );
    assert_eq!(
        press(&mut shop, "Stop"),
        [WorkbenchRequest::StopServer(StopServer { server: server.clone() })]
    );
    assert_eq!(
        press(&mut shop, "Restart"),
        [WorkbenchRequest::RestartServer(RestartServer { server: server.clone() })]
    );
    for (state, button, request) in [
        (
            ServerState::Stopped,
            "Start Files",
            WorkbenchRequest::StartServer(StartServer { server: server.clone() }),
        ),
        (ServerState::Error, "Start", WorkbenchRequest::StartServer(StartServer { server: server.clone() })),
        (
            ServerState::Starting(StartPhase::Installing),
            "Stop Files",
            WorkbenchRequest::StopServer(StopServer { server: server.clone() }),
        ),
        (
            ServerState::Backoff { attempt: 1, retry_at: later() },
            "Try now Files",
            WorkbenchRequest::RestartServer(RestartServer { server: server.clone() }),
        ),
    ] {
        let mut shop = with(vec![of(brief("Files", state))]);
        assert_eq!(press(&mut shop, button), [request]);
        assert!(shop.main.managed_servers.decided.is_empty());
    }
}

#[test]
fn fetching_the_package_is_a_step_of_its_own() {
    let starting = ServerBrief {
        last_lines: vec!["npm http fetch GET 200 @modelcontextprotocol/server-files".to_owned()],
        ..brief("Files", ServerState::Starting(StartPhase::Installing))
    };
    let shop = with(vec![of(starting)]);
    assert!(shop.shows("1. looking up secrets (done)"));
    assert!(shop.shows("2. fetching the package (now)"));
    assert!(shop.shows("3. connecting (next)"));
    assert!(
        shop.window.query_by_label("npm http fetch GET 200 @modelcontextprotocol/server-files").is_some()
    );
}

#[test]
fn missing_credentials_lead_to_a_masked_field() {
    let state = ServerState::NeedsCredentials { missing: vec!["API_KEY".to_owned()] };
    let mut shop = with(vec![of(brief("Files", state))]);
    press(&mut shop, "Set API_KEY");
    let field = shop.window.get_by_label("Secret API_KEY");
    assert_eq!(field.accesskit_node().role(), Role::PasswordInput, "it is masked");
    field.type_text("hunter2-hunter2");
    shop.window.run();
    assert!(!shop.says("hunter2-hunter2"), "what is typed is not shown");
    let secret = TypedSecret("hunter2-hunter2".to_owned());
    let decision = ManagedServerDecision::SetServerSecret(SetServerSecret {
        server: id("Files"),
        part: "API_KEY".to_owned(),
        secret,
    });
    assert_eq!(decided(&mut shop, "Save secret"), [decision]);
    assert!(shop.window.query_by_label("Secret API_KEY").is_none(), "the field is gone");
}

fn waiting() -> ServerDetails {
    let tools = vec![
        tool("list", ToolApproval::New),
        tool("read", ToolApproval::Approved),
        tool("write", ToolApproval::New),
    ];
    let mut details = running("Files", tools);
    details.brief.state = ServerState::NeedsApproval;
    details
}

#[test]
fn new_tools_are_approved_together_after_a_look() {
    let mut shop = with(vec![waiting()]);
    press(&mut shop, "Review tools");
    assert!(shop.shows("What list does, in the words of the server.") && shop.shows("files__write"));
    assert!(!shop.shows("files__read"), "what is approved already is not looked at again");
    let pin = |name: &str| (name.to_owned(), format!("hash-of-{name}"));
    let approve = ManagedServerDecision::ApproveTools(ApproveTools {
        server: id("Files"),
        tools: vec![pin("list"), pin("write")],
    });
    assert_eq!(decided(&mut shop, "Approve 2 tools"), [approve]);
}

#[test]
fn what_changes_during_the_look_is_not_approved_with_the_rest() {
    let mut shop = with(vec![waiting()]);
    press(&mut shop, "Review 2 new tools…");
    let server = &mut shop.main.managed_servers.servers[0];
    (server.tools[2].hash, server.brief.stamp) = ("another".to_owned(), 2);
    tell(&mut shop, |_| {});
    assert!(shop.shows("1 tool changed or disappeared during the review"));
    let tools = vec![("list".to_owned(), "hash-of-list".to_owned())];
    assert_eq!(
        decided(&mut shop, "Approve 1 tool"),
        [ManagedServerDecision::ApproveTools(ApproveTools { server: id("Files"), tools })]
    );
}

#[test]
fn one_tool_is_approved_as_it_was_seen() {
    let mut shop = with(vec![waiting()]);
    press(&mut shop, "Tool list, new");
    assert!(shop.shows("Unverified annotations: read-only (readOnlyHint)."), "a hint is a claim");
    assert!(shop.shows("files__list"));
    let server = &mut shop.main.managed_servers.servers[0];
    (server.tools[0].hash, server.brief.stamp) = ("newer".to_owned(), 2);
    tell(&mut shop, |_| {});
    assert!(
        shop.window.query_by_label("Approve list").is_none(),
        "not by a click that was meant for another"
    );
    press(&mut shop, "I have reviewed the new version");
    let tools = vec![("list".to_owned(), "newer".to_owned())];
    assert_eq!(
        decided(&mut shop, "Approve list"),
        [ManagedServerDecision::ApproveTools(ApproveTools { server: id("Files"), tools })]
    );
}

#[test]
fn a_changed_definition_is_shown_before_and_after() {
    let change = ToolDefinitionChange {
        path: "description".to_owned(),
        before: Some("Reads a file.\nAsks first.".to_owned()),
        after: Some("Reads a file.\nSends it to a friend.\u{202e}".to_owned()),
    };
    let mut shop = with(vec![running("Files", vec![tool("read", ToolApproval::Changed(vec![change]))])]);
    press(&mut shop, "Tool read, changed");
    for words in ["  Reads a file.", "− Asks first.", "+ Sends it to a friend.\\u{202e}"] {
        assert!(shop.window.query_by_label(words).is_some(), "{words}");
    }
    let tools = vec![("read".to_owned(), "hash-of-read".to_owned())];
    assert_eq!(
        decided(&mut shop, "Approve read"),
        [ManagedServerDecision::ApproveTools(ApproveTools { server: id("Files"), tools })]
    );
}

#[test]
fn tools_are_switched_and_given_a_policy_one_by_one() {
    let mut shop = with(vec![running("Files", vec![tool("read", ToolApproval::Approved)])]);
    let set = |enabled, policy| {
        ManagedServerDecision::SetTool(SetTool {
            server: id("Files"),
            tool: "read".to_owned(),
            enabled,
            policy,
            idle_ms: None,
            total_ms: None,
        })
    };
    assert_eq!(decided(&mut shop, "read offered to agents"), [set(false, ToolCallPolicy::Ask)]);
    assert_eq!(decided(&mut shop, "Allow for read"), [set(true, ToolCallPolicy::Allow)]);
    assert_eq!(decided(&mut shop, "Deny for read"), [set(true, ToolCallPolicy::Deny)]);
    press(&mut shop, "Tool read, approved");
    let withdraw =
        WorkbenchRequest::WithdrawTool(WithdrawTool { server: id("Files"), tool: "read".to_owned() });
    assert_eq!(press(&mut shop, "Withdraw approval"), [withdraw]);
}

#[test]
fn a_tool_is_given_times_of_its_own_and_loses_them() {
    let mut own = tool("read", ToolApproval::Approved);
    (own.idle_ms, own.total_ms) = (Some(5_000), Some(9_000));
    let mut shop = with(vec![running("Files", vec![own])]);
    press(&mut shop, "Tool read, approved");
    let set = ManagedServerDecision::SetTool(SetTool {
        server: id("Files"),
        tool: "read".to_owned(),
        enabled: true,
        policy: ToolCallPolicy::Ask,
        idle_ms: None,
        total_ms: None,
    });
    assert_eq!(decided(&mut shop, "Use server timeouts"), [set]);
}

#[test]
fn a_person_tries_a_tool_as_it_is_shown_and_sees_what_came_of_it() {
    let mut shop = with(vec![running("Files", vec![tool("read", ToolApproval::Approved)])]);
    press(&mut shop, "Tool read, approved");
    press(&mut shop, "Try it…");
    let json = "{\"content\":[{\"type\":\"text\",\"text\":\"what it holds\"}]}".to_owned();
    shop.main.managed_servers.called = Some(ToolCallResult { json, is_error: false });
    let call = ManagedServerDecision::CallTool(CallTool {
        call: ToolCall {
            tool: "files__read".to_owned(),
            arguments: "{}".to_owned(),
            definition: Some("hash-of-read".to_owned()),
        },
    });
    assert_eq!(decided(&mut shop, "Call tool"), std::slice::from_ref(&call));
    assert!(shop.shows("Result:") && shop.shows("what it holds"));
    shop.main.managed_servers.refuse =
        Some(Refusal::new(RefusalCode::Conflict, "it is not what was shown any more"));
    assert_eq!(decided(&mut shop, "Call tool"), [call]);
    assert!(shop.shows("It is not what was shown any more") && !shop.shows("what it holds"));
}

#[test]
fn a_trusted_server_is_named_as_such() {
    let mut trusted = running("Files", vec![tool("read", ToolApproval::Approved)]);
    trusted.form.trusted = true;
    let mut shop = with(vec![trusted]);
    press(&mut shop, "Tool read, approved");
    assert!(shop.shows("Trusted annotations: read-only"));
}

#[test]
fn hundreds_of_tools_are_found_by_their_words_and_cost_little() {
    let tools = (0..600).map(|number| tool(&format!("tool_{number:03}"), ToolApproval::Approved)).collect();
    let mut shop = with_size((1440.0, 900.0), vec![running("Files", tools)]);
    let rows = shop.window.query_all_by_label_contains("Tool tool_").count();
    assert!((1..60).contains(&rows), "{rows} rows are there");
    shop.retype("Find a tool", "tool_599");
    assert!(shop.window.query_by_label("Tool tool_599, approved").is_some());
    assert_eq!(shop.window.query_all_by_label_contains("Tool tool_").count(), 1);
}

#[test]
fn what_a_server_wrote_is_shown_and_can_be_copied() {
    let mut shop = with(vec![running("Files", Vec::new())]);
    shop.main.managed_servers.log =
        vec!["Secure MCP Filesystem Server".to_owned(), "running on stdio".to_owned()];
    press(&mut shop, "Server log");
    assert!(shop.shows("Secure MCP Filesystem Server") && shop.shows("running on stdio"));
    shop.main.managed_servers.log.push("one more".to_owned());
    shop.window.run_steps(12);
    shop.settle();
    assert!(shop.shows("one more"), "it is followed");
    shop.window.get_by_label("Copy all").click();
    shop.window.step();
    let copied = shop.window.output().platform_output.commands.iter().find_map(|command| match command {
        egui::OutputCommand::CopyText(text) => Some(text.clone()),
        _ => None,
    });
    assert_eq!(copied.as_deref(), Some("Secure MCP Filesystem Server\nrunning on stdio\none more"));
}

#[test]
fn the_configuration_is_shown_in_full_and_no_secret_with_it() {
    let mut shop = with(vec![running("Files", Vec::new())]);
    press(&mut shop, "Configuration");
    for words in ["@modelcontextprotocol/server-files@2026.8.31", "/srv/shared", "eu-west-1", "files__…"] {
        assert!(shop.shows(words), "{words}");
    }
    assert!(shop.window.query_by_label("set").is_some(), "the secret is there, and no more is said of it");
    press(&mut shop, "Replace API_KEY");
    shop.window.get_by_label("Secret API_KEY").type_text("another");
    shop.window.run();
    shop.press(Key::Enter);
    shop.settle();
    let secret = TypedSecret("another".to_owned());
    let decision = ManagedServerDecision::SetServerSecret(SetServerSecret {
        server: id("Files"),
        part: "API_KEY".to_owned(),
        secret,
    });
    assert_eq!(shop.main.managed_servers.decided, [decision]);
}

#[test]
fn an_edit_is_a_decision_and_leaves_secrets_where_they_are() {
    let mut shop = with(vec![running("Files", Vec::new())]);
    press(&mut shop, "Edit…");
    shop.retype("Argument 1", "/srv/other");
    press(&mut shop, "Add argument");
    shop.retype("Argument 2", "--read-only");
    let mut expected = form("Files");
    expected.args = vec!["/srv/other".to_owned(), "--read-only".to_owned()];
    let update =
        ManagedServerDecision::UpdateServer(UpdateServer { server: id("Files"), form: Box::new(expected) });
    assert_eq!(decided(&mut shop, "Save changes"), [update]);
    assert!(shop.window.query_by_label("Save changes").is_none(), "it is done");
}

#[test]
fn a_refused_edit_stays_open_and_says_which_field() {
    let mut shop = with(vec![running("Files", Vec::new())]);
    press(&mut shop, "Edit…");
    shop.main.managed_servers.refuse =
        Some(Refusal::new(RefusalCode::ValidationError, "a folder that is not there").field("folder"));
    press(&mut shop, "Save changes");
    assert!(shop.shows("A folder that is not there (folder)"));
    assert!(shop.window.query_by_label("Save changes").is_some());
}

#[test]
fn deleting_takes_more_than_a_click() {
    let mut shop = with(vec![running("Files", Vec::new())]);
    press(&mut shop, "Delete…");
    assert!(shop.shows("This cannot be undone."));
    press(&mut shop, "Hold to delete Files");
    shop.retype("Name of the server to delete", "Fil");
    shop.press(Key::Enter);
    shop.settle();
    assert!(shop.main.managed_servers.decided.is_empty(), "neither a click nor half a name");
    shop.retype("Name of the server to delete", "Files");
    shop.press(Key::Enter);
    shop.settle();
    assert_eq!(
        shop.main.managed_servers.decided,
        [ManagedServerDecision::DeleteServer(DeleteServer { server: id("Files") })]
    );
}

#[test]
fn without_servers_the_panel_explains_itself_and_offers_the_ways() {
    for (button, sign) in [
        ("Add with a form…", "Package"),
        ("Paste JSON from another client…", "Pasted JSON"),
        ("Import from Claude, VS Code or Cursor…", "Search again"),
        ("Search a registry…", "Search the registry"),
    ] {
        let mut shop = with(Vec::new());
        assert!(
            shop.shows("No managed servers yet")
                && shop.shows("agents cannot see its tools until you approve them")
        );
        press(&mut shop, button);
        assert!(shop.says(sign), "{button}");
    }
}

#[test]
fn a_server_is_added_by_form_with_its_secret_on_the_way_to_the_store() {
    let mut shop = with(Vec::new());
    run_command(&mut shop, "Add managed server");
    shop.retype("Name", "Weather");
    press(&mut shop, "PyPI");
    shop.retype("Package", "mcp-weather==1.0");
    press(&mut shop, "venv");
    press(&mut shop, "Add argument");
    shop.retype("Argument 1", "--metric");
    press(&mut shop, "Add variable");
    shop.retype("Variable 1 name", "WEATHER_KEY");
    press(&mut shop, "Variable 1 is secret");
    press(&mut shop, "Variable 1 is required");
    shop.window.get_by_label("Variable 1 value").focus();
    shop.window.run();
    shop.window.get_by_label("Variable 1 value").type_text("hunter2-hunter2");
    shop.window.run();
    assert!(!shop.says("hunter2-hunter2"));
    shop.retype("Folder", "/srv");
    let mut expected = ServerForm::new(PackageKind::Pypi);
    (expected.name, expected.identifier) = ("Weather".to_owned(), "mcp-weather==1.0".to_owned());
    (expected.runtime, expected.folder) = (Some("venv".to_owned()), Some("/srv".to_owned()));
    expected.args = vec!["--metric".to_owned()];
    let value = VariableValue::Typed(TypedSecret("hunter2-hunter2".to_owned()));
    expected.variables =
        vec![VariableForm { name: "WEATHER_KEY".to_owned(), value, required: true, description: None }];
    let add = WorkbenchRequest::AddServer(AddServer { form: Box::new(expected) });
    assert_eq!(press(&mut shop, "Add as disabled"), [add]);
    assert!(shop.shows("Added Weather") && shop.main.managed_servers.decided.is_empty());
}

#[test]
fn a_refused_form_keeps_what_was_typed() {
    let mut shop = with(Vec::new());
    run_command(&mut shop, "Add managed server");
    assert!(shop.window.get_by_label("Add as disabled").accesskit_node().is_disabled());
    assert!(shop.shows("Enter a name."));
    shop.retype("Name", "Web");
    press(&mut shop, "HTTP");
    press(&mut shop, "Bearer token");
    shop.retype("Address", "ftp://example.org");
    shop.main.managed_servers.refuse = Some(
        Refusal::new(RefusalCode::ValidationError, "an address begins with http:// or https://")
            .field("identifier"),
    );
    press(&mut shop, "Add as disabled");
    assert!(shop.shows("An address begins with http:// or https:// (identifier)"));
    shop.retype("Address", "https://example.org/mcp");
    let mut expected = ServerForm::new(PackageKind::Http);
    (expected.name, expected.identifier) = ("Web".to_owned(), "https://example.org/mcp".to_owned());
    expected.auth = AuthForm::Bearer(VariableValue::Secret { set: false });
    assert_eq!(
        press(&mut shop, "Add as disabled"),
        [WorkbenchRequest::AddServer(AddServer { form: Box::new(expected) })]
    );
}

fn found_in_text() -> ServerImportPreview {
    let imported = |name: &str, known| ImportedServerView {
        form: form(name),
        runs: format!("npx {name} /srv/shared"),
        notes: vec!["autoApprove is not taken over; Draftboard asks for each call.".to_owned()],
        known,
    };
    ServerImportPreview {
        servers: vec![imported("Notes", false), imported("Files", true)],
        refused: vec![("Old".to_owned(), "it speaks SSE, which is not supported".to_owned())],
        skipped: vec![("draftboard".to_owned(), "it is Draftboard itself".to_owned())],
    }
}

#[test]
fn pasted_json_shows_what_it_holds_before_it_is_taken_over() {
    let mut shop = with(Vec::new());
    press(&mut shop, "Paste JSON from another client…");
    let text = "{\"mcpServers\":{}}";
    shop.window.get_by_role_and_label(Role::MultilineTextInput, "Pasted JSON").focus();
    shop.window.run();
    shop.window.get_by_role_and_label(Role::MultilineTextInput, "Pasted JSON").type_text(text);
    shop.window.run();
    let source = ServerImportInput::Text(TypedSecret(text.to_owned()));
    let preview = WorkbenchRequest::PreviewServerImport(PreviewServerImport { source: source.clone() });
    assert_eq!(press(&mut shop, "Preview import"), std::slice::from_ref(&preview));
    assert!(shop.shows("Line 1 is not JSON. Paste all of the file."));
    shop.main.managed_servers.import = Some(found_in_text());
    assert_eq!(press(&mut shop, "Preview import"), [preview]);
    for words in [
        "npx Notes /srv/shared",
        "autoApprove is not taken over",
        "API_KEY: secret, will be stored in the keyring of this system",
        "A server with this name exists",
        "Old cannot be imported: it speaks SSE",
    ] {
        assert!(shop.shows(words), "{words}");
    }
    let import = |names: &[&str]| {
        WorkbenchRequest::ImportServers(ImportServers {
            source: source.clone(),
            names: names.iter().map(|name| (*name).to_owned()).collect(),
        })
    };
    assert_eq!(press(&mut shop, "Import 1 server as disabled"), [import(&["Notes"])]);
    assert!(shop.shows("Imported 1 server"));
}

#[test]
fn servers_of_other_programs_are_taken_over() {
    let mut shop = with(Vec::new());
    let path = "/home/ada/.config/Claude/claude_desktop_config.json";
    shop.main.managed_servers.sources =
        vec![ImportSource { program: "Claude Desktop".to_owned(), path: path.to_owned() }];
    shop.main.managed_servers.import = Some(found_in_text());
    assert_eq!(
        press(&mut shop, "Import from Claude, VS Code or Cursor…"),
        [WorkbenchRequest::ListImportSources(ListImportSources {})]
    );
    let source = ServerImportInput::File(path.to_owned());
    let look = format!("Preview import from Claude Desktop {path}");
    assert_eq!(
        press(&mut shop, &look),
        [WorkbenchRequest::PreviewServerImport(PreviewServerImport { source: source.clone() })]
    );
    press(&mut shop, "Import Files");
    let names = vec!["Notes".to_owned(), "Files".to_owned()];
    assert_eq!(
        press(&mut shop, "Import 2 servers as disabled"),
        [WorkbenchRequest::ImportServers(ImportServers { source, names })]
    );
}

#[test]
fn a_registry_fills_the_form_and_says_when_it_cannot_be_reached() {
    let mut shop = with(Vec::new());
    run_command(&mut shop, "Search server registry");
    let why =
        Refusal::new(RefusalCode::NetworkError, "the registry cannot be reached").hint("Check the network.");
    shop.main.managed_servers.registry = Some(Err(why));
    shop.retype("Search the registry", "time");
    let search = |registry: Option<&str>| {
        WorkbenchRequest::SearchServerRegistry(SearchServerRegistry {
            registry: registry.map(str::to_owned),
            query: "time".to_owned(),
        })
    };
    assert_eq!(press(&mut shop, "Search"), [search(None)]);
    assert!(shop.shows("The registry cannot be reached. Check the network."));
    let mut offered = form("Timer");
    offered.variables[1].value = VariableValue::Secret { set: false };
    offered.registry = Some(("io.example/timer".to_owned(), "2.0.0".to_owned()));
    let offer = RegistryOffer {
        form: offered.clone(),
        runs: "npx @example/timer@2.0.0".to_owned(),
        required: vec!["args.zone".to_owned(), "API_KEY".to_owned()],
    };
    let found = RegistryServer {
        name: "io.example/timer".to_owned(),
        description: "Tells the time".to_owned(),
        version: "2.0.0".to_owned(),
        deprecated: true,
        offers: vec![offer],
        unsupported: vec!["mcpb".to_owned()],
    };
    shop.main.managed_servers.registry = Some(Ok(vec![found]));
    shop.retype("Registry", "/srv/index.json");
    assert_eq!(press(&mut shop, "Search"), [search(Some("/srv/index.json"))]);
    assert!(shop.shows("Tells the time") && shop.shows("Not supported: mcpb") && shop.shows("2.0.0"));
    assert!(shop.shows("Deprecated: its author advises against using it"));
    press(&mut shop, "Use io.example/timer with npm");
    assert!(shop.shows("Required: argument zone, API_KEY."));
    assert_eq!(shop.field("Package"), offered.identifier);
    // What the registry says it cannot do without is asked for here, and nothing is sent before.
    assert!(shop.shows("Enter a value for API_KEY."));
    assert!(press(&mut shop, "Add as disabled").is_empty());
    shop.window.get_by_label("Variable 2 value").focus();
    shop.window.run();
    shop.window.get_by_label("Variable 2 value").type_text("hunter2-hunter2");
    shop.window.run();
    offered.variables[1].value = VariableValue::Typed(TypedSecret("hunter2-hunter2".to_owned()));
    assert_eq!(
        press(&mut shop, "Add as disabled"),
        [WorkbenchRequest::AddServer(AddServer { form: Box::new(offered) })]
    );
}

#[test]
fn manifests_are_listed_approved_and_given_credentials_and_a_policy() {
    let mut shop = with(Vec::new());
    let (theirs, own) =
        ("/home/ada/shop/manifests/weather.json", "/home/ada/.config/draftboard/manifests/w.json");
    tell(&mut shop, |view| {
        let broken = shared_protocol::managed_servers::ManifestBrief {
            id: None,
            problem: Some("line 3, column 4: a comma is missing".to_owned()),
            tools: Vec::new(),
            ..manifest("/home/ada/shop/manifests/broken.json", ManifestOrigin::User)
        };
        view.manifests =
            vec![manifest(theirs, ManifestOrigin::Workspace), manifest(own, ManifestOrigin::User), broken];
    });
    assert!(shop.shows("Managed servers (3)"), "all three want something of a person");
    assert!(shop.shows("Manifest folder: /home/ada/shop/manifests (workspace)"));
    press(&mut shop, "Manifest broken.json, not used · user");
    assert!(shop.shows("line 3, column 4: a comma is missing. Correct the file"));
    press(&mut shop, "Manifest weather, needs approval · workspace");
    assert!(shop.shows(theirs) && shop.shows("runs the script weather.py") && shop.shows("a1b2c3d4"));
    assert!(shop.shows("Hidden from agents: mcpExpose is false"));
    assert!(shop.window.query_by_label("Allow for weather_now").is_none(), "first it has to be approved");
    let approve = ManagedServerDecision::ApproveManifest(ApproveManifest { hash: "a1b2c3d4".to_owned() });
    assert_eq!(decided(&mut shop, "Approve manifest"), [approve]);
    press(&mut shop, "Manifest weather, needs credentials · user");
    press(&mut shop, "Set key");
    shop.window.get_by_label("Secret key").type_text("hunter2-hunter2");
    shop.window.run();
    let secret = ManagedServerDecision::SetManifestSecret(SetManifestSecret {
        manifest: "weather".to_owned(),
        credential: "key".to_owned(),
        secret: TypedSecret("hunter2-hunter2".to_owned()),
    });
    assert_eq!(decided(&mut shop, "Save secret"), [secret]);
    let policy = ManagedServerDecision::SetManifestPolicy(SetManifestPolicy {
        tool: "weather_now".to_owned(),
        policy: ToolCallPolicy::Allow,
    });
    assert_eq!(decided(&mut shop, "Allow for weather_now"), [policy]);
    assert_eq!(press(&mut shop, "Reload manifests"), [WorkbenchRequest::ReloadManifests(ReloadManifests {})]);
}

#[test]
fn a_manifest_that_changes_under_the_eyes_is_not_approved_by_that_click() {
    let mut shop = with(Vec::new());
    let path = "/home/ada/shop/manifests/weather.json";
    let show = |shop: &mut Shop, hash: &str| {
        tell(shop, |view| {
            let mut manifest = manifest(path, ManifestOrigin::Workspace);
            manifest.hash = Some(hash.to_owned());
            view.manifests = vec![manifest];
        });
    };
    show(&mut shop, "one");
    press(&mut shop, "Manifest weather, needs approval · workspace");
    show(&mut shop, "two");
    assert!(shop.window.query_by_label("Approve manifest").is_none());
    press(&mut shop, "I have reviewed the new version");
    let approve = ManagedServerDecision::ApproveManifest(ApproveManifest { hash: "two".to_owned() });
    assert_eq!(decided(&mut shop, "Approve manifest"), [approve]);
}

#[test]
fn what_cannot_be_read_and_what_is_wrong_with_all_of_it_is_said() {
    let mut shop = with(vec![running("Files", Vec::new())]);
    tell(&mut shop, |view| {
        view.problem =
            Some("upstreams.json cannot be read. Correct it, then open Draftboard again.".to_owned());
        view.unreadable =
            vec![UnreadableServer { name: "Old".to_owned(), reason: "kind is missing".to_owned() }];
    });
    assert!(shop.shows("upstreams.json cannot be read"));
    assert!(shop.shows("Old, cannot be read: kind is missing"));
}

#[test]
fn a_server_is_found_by_name_and_the_tab_says_how_many_want_something() {
    let servers =
        vec![running("Files", Vec::new()), failed("Weather", ServerState::Error), waiting_named("Notes")];
    let mut shop = with(servers);
    assert!(shop.shows("Managed servers (2)"));
    run_command(&mut shop, "Weather");
    shop.settle();
    assert!(shop.shows("ended with code 127"));
}

fn waiting_named(name: &str) -> ServerDetails {
    let mut details = running(name, vec![tool("list", ToolApproval::New)]);
    details.brief.state = ServerState::NeedsApproval;
    details
}

#[test]
fn everything_is_reached_by_keyboard() {
    let mut shop = with(vec![
        running("Files", vec![tool("read", ToolApproval::Approved)]),
        failed("Weather", ServerState::Error),
    ]);
    shop.window.get_by_label_contains("Weather, error").focus();
    shop.press(Key::Enter);
    shop.settle();
    assert!(shop.shows("ended with code 127"), "Enter opens a server");
    shop.window.get_by_label_contains("Files, running").focus();
    shop.press(Key::Space);
    shop.settle();
    shop.window.get_by_label("Tool read, approved").focus();
    shop.press(Key::Enter);
    shop.settle();
    assert!(shop.shows("files__read"), "and a tool");
    shop.window.get_by_label("Allow for read").focus();
    shop.press(Key::Space);
    shop.settle();
    let allow = ManagedServerDecision::SetTool(SetTool {
        server: id("Files"),
        tool: "read".to_owned(),
        enabled: true,
        policy: ToolCallPolicy::Allow,
        idle_ms: None,
        total_ms: None,
    });
    assert_eq!(shop.main.managed_servers.decided, [allow]);
}

#[test]
fn a_call_that_an_agent_asks_for_shows_server_tool_and_every_argument() {
    let mut shop = Shop::open();
    let id = shop.main.propose(3, "Write the notes", &[]);
    let mut proposal = shop.main.reviews.opened[&id].clone();
    proposal.brief.act = Some(ProposedAction::Call {
        tool: "files__write_file".to_owned(),
        from: "Files".to_owned(),
        arguments: "{\"path\":\"/srv/notes.txt\",\"content\":\"one\\ntwo\\u202e\"}".to_owned(),
        destructive: true,
        definition: "abc".to_owned(),
    });
    shop.main.put(proposal);
    shop.settle();
    run_command(&mut shop, "Review");
    shop.settle();
    shop.window.get_by_label("Review proposal 3").click();
    shop.settle();
    for words in ["Server Files", "Tool files__write_file", "path", "/srv/notes.txt", "one\ntwo\\u{202e}"] {
        assert!(shop.shows(words), "{words}");
    }
    assert!(shop.shows("The tool is annotated as destructive."));
}

#[test]
fn in_a_narrow_dock_the_list_and_what_is_chosen_take_turns() {
    let servers = vec![
        running("Files", vec![tool("read", ToolApproval::Approved)]),
        failed("Weather", ServerState::Error),
    ];
    let mut shop = with_size((800.0, 900.0), servers);
    shop.window.get_by_role_and_label(Role::Tab, "Managed servers (1)").click_secondary();
    shop.window.run();
    shop.window.get_by_label("Move to the right").click();
    shop.settle();
    assert!(shop.window.query_by_label("Tool read, approved").is_none(), "the list alone");
    press(&mut shop, "Files, running, 1 of 1 tool offered");
    assert!(shop.window.query_by_label("Tool read, approved").is_some());
    press(&mut shop, "Tool read, approved");
    let set = ManagedServerDecision::SetTool(SetTool {
        server: id("Files"),
        tool: "read".to_owned(),
        enabled: true,
        policy: ToolCallPolicy::Deny,
        idle_ms: None,
        total_ms: None,
    });
    assert_eq!(decided(&mut shop, "Deny for read"), [set]);
    shop.picture("managed_servers-narrow-light");
    run_command(&mut shop, "High contrast theme");
    shop.settle();
    shop.picture("managed_servers-narrow-high-contrast");
    press(&mut shop, "Back to list");
    assert!(shop.shows("Weather, error"));
    shop.picture("managed_servers-narrow-list-high-contrast");
}

#[test]
fn draws_at_every_size_and_theme() {
    let change = ToolDefinitionChange {
        path: "inputSchema.properties.path.description".to_owned(),
        before: Some("A path below the shared folder.".to_owned()),
        after: Some("Any path of the system.".to_owned()),
    };
    for (theme, word) in [(Theme::Light, "light"), (Theme::Dark, "dark")] {
        for size in [(1440.0, 900.0), (1024.0, 700.0)] {
            let mut shop = Shop::open_as(size, theme, |_| {});
            let mut files = running(
                "Files",
                vec![
                    tool("list_directory", ToolApproval::Approved),
                    tool("read_text_file", ToolApproval::Changed(vec![change.clone()])),
                    tool("write_file", ToolApproval::New),
                    tool("move_file", ToolApproval::New),
                ],
            );
            files.brief.waiting = 3;
            let creds = ServerState::NeedsCredentials { missing: vec!["WEATHER_KEY".to_owned()] };
            shop.main.managed_servers.servers = vec![
                files,
                failed("Git", ServerState::Backoff { attempt: 3, retry_at: later() }),
                failed("Memory", ServerState::Error),
                of(ServerBrief {
                    last_lines: vec!["npm http fetch GET 200 server-time".to_owned()],
                    ..brief("Time", ServerState::Starting(StartPhase::Installing))
                }),
                of(brief("Weather", creds)),
                of(brief("Old one", ServerState::Disabled)),
                of(brief("Stopped one", ServerState::Stopped)),
                waiting_named("Notes"),
            ];
            tell(&mut shop, |view| {
                view.manifests =
                    vec![manifest("/home/ada/shop/manifests/weather.json", ManifestOrigin::Workspace)];
                view.unreadable =
                    vec![UnreadableServer { name: "Odd".to_owned(), reason: "kind is missing".to_owned() }];
            });
            run_command(&mut shop, "Managed servers");
            shop.settle();
            // More room than it has at first, as somebody who works here would make.
            let tab = shop.window.get_by_role_and_label(Role::Tab, "Managed servers (5)").rect();
            let edge = egui::pos2(size.0 / 2.0, tab.top() - 1.0);
            shop.drag(edge, edge - egui::vec2(0.0, size.1 * 0.25));
            let picture = |shop: &mut Shop, what: &str| {
                shop.picture(&format!("managed_servers-{what}-{word}-{}", size.0))
            };
            picture(&mut shop, "list");
            press(&mut shop, "Tool read_text_file, changed");
            picture(&mut shop, "changed");
            for server in ["Memory", "Time", "Weather", "Git"] {
                let name = format!("{server}, ");
                shop.select(&name);
                shop.settle();
                picture(&mut shop, &server.to_lowercase());
            }
            press(&mut shop, "Edit…");
            picture(&mut shop, "edit");
            press(&mut shop, "Import…");
            picture(&mut shop, "import");
        }
    }
}
