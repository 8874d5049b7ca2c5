//! The agents' side: the pill, its popover, the panel, the settings, the guide.

use crate::{dock::run_command, shop::Shop};
use egui_kittest::kittest::Queryable;
use shared_protocol::{
    mcp::{AgentTransport, McpClientView, McpMode, McpProtocolEra, McpView},
    messages::ToRenderer,
    requests::{
        DisconnectClient, PauseClient, ReadClientConfig, RestartAgents, RotateToken, SetAgentMode,
        TestConnection, WorkbenchRequest,
    },
};

fn listening() -> McpView {
    McpView {
        mode: McpMode::Observe,
        url: Some("http://127.0.0.1:7778/mcp".to_owned()),
        port: Some(7778),
        configured_port: 7777,
        bind: "127.0.0.1".to_owned(),
        error: None,
        config_path: "/home/ada/.config/draftboard/settings.toml".to_owned(),
        clients: Vec::new(),
    }
}

fn reader() -> McpClientView {
    McpClientView {
        id: 7,
        name: "Inspector".to_owned(),
        version: "2.1".to_owned(),
        transport: AgentTransport::Bridge,
        era: McpProtocolEra::Legacy,
        since: 0,
        last: 0,
        reading: "get_diagram".to_owned(),
        calls: 3,
        reads: 1,
        subscriptions: 2,
        paused: false,
        connected: true,
    }
}

fn with(view: McpView) -> Shop {
    let mut shop = Shop::open();
    shop.main.send(ToRenderer::Mcp(Box::new(view)));
    shop.window.run();
    shop
}

fn asked(shop: &mut Shop) -> Vec<WorkbenchRequest> {
    shop.settle()
}

#[test]
fn the_pill_says_whether_agents_are_let_in() {
    let error = McpView { error: Some("no port is free".to_owned()), url: None, port: None, ..listening() };
    let off = McpView { mode: McpMode::Off, ..listening() };
    let guarded = McpView { mode: McpMode::Guarded, ..listening() };
    for (view, words) in [
        (listening(), "MCP observing 7778"),
        (guarded, "MCP guarded 7778"),
        (off, "MCP off"),
        (error, "MCP error"),
    ] {
        assert!(with(view).shows(words), "{words}");
    }
}

#[test]
fn the_popover_has_what_one_needs_most() {
    let mut shop = with(listening());
    shop.window.get_by_label("MCP observing 7778").click();
    shop.window.run();
    assert!(shop.shows("http://127.0.0.1:7778/mcp"));
    for (button, request) in [
        ("Guarded", WorkbenchRequest::SetAgentMode(SetAgentMode { mode: McpMode::Guarded })),
        ("Rotate token", WorkbenchRequest::RotateToken(RotateToken {})),
        ("Restart", WorkbenchRequest::RestartAgents(RestartAgents {})),
        (
            "Copy configuration for VS Code",
            WorkbenchRequest::ReadClientConfig(ReadClientConfig { client: "vscode".to_owned() }),
        ),
    ] {
        shop.window.get_by_label(button).click();
        assert_eq!(asked(&mut shop), [request], "{button}");
    }
}

#[test]
fn the_panel_shows_who_reads_what_and_holds_or_ends_it() {
    let mut shop = with(McpView { clients: vec![reader()], ..listening() });
    run_command(&mut shop, "Agents");
    for button in ["Pause Inspector", "Disconnect Inspector"] {
        shop.window.get_by_label(button).click();
    }
    let (pause, end) = (
        WorkbenchRequest::PauseClient(PauseClient { client: 7 }),
        WorkbenchRequest::DisconnectClient(DisconnectClient { client: 7 }),
    );
    assert_eq!(asked(&mut shop), [pause, end]);
    let paused = McpClientView { paused: true, ..reader() };
    shop.main.send(ToRenderer::Mcp(Box::new(McpView { clients: vec![paused], ..listening() })));
    shop.window.run();
    assert!(shop.shows("Resume Inspector"));
}

#[test]
fn without_agents_the_panel_says_how_to_get_one() {
    let mut shop = with(listening());
    run_command(&mut shop, "Agents");
    assert!(shop.shows("No agents connected"));
    shop.window.get_by_label("Connect an agent…").click();
    shop.window.run();
    assert!(shop.shows("Claude Desktop"), "the guide is open");
}

#[test]
fn settings_change_the_port_and_test_the_connection() {
    let mut shop = with(listening());
    run_command(&mut shop, "Settings");
    shop.retype("Search settings", "mcp");
    assert!(shop.shows("Port 7777 is in use. The server listens on 7778."));
    shop.window.get_by_label("Test connection").click();
    assert_eq!(asked(&mut shop), [WorkbenchRequest::TestConnection(TestConnection {})]);
}

#[test]
fn an_open_bind_address_is_warned_of() {
    let mut shop = with(McpView { bind: "0.0.0.0".to_owned(), ..listening() });
    run_command(&mut shop, "Settings");
    assert!(shop.shows("so other machines may reach it"));
}

#[test]
fn a_copied_configuration_is_told() {
    let mut shop = with(listening());
    shop.window.get_by_label("MCP observing 7778").click();
    shop.window.run();
    shop.window.get_by_label("Copy configuration for Cursor").click();
    shop.settle();
    assert!(shop.shows("Copied the configuration"));
}
