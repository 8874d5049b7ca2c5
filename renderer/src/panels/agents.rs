//! The agents panel: each client with its last request, and buttons to pause or disconnect it.

use crate::{
    agents::pill::activity_colour,
    commands::CommandId,
    view::{ActionQueue, FrameView, WindowAction},
    widgets::{body_font, empty_state_ui, list_rows_ui, paint_line, small_font},
    wording::{ago, unix_millis},
};
use egui::{Align2, Rect, RichText, Sense, Ui, pos2, vec2};
use shared_protocol::{
    mcp::{AgentTransport, McpClientView, McpMode, McpProtocolEra},
    requests::{DisconnectClient, PauseClient, ResumeClient},
};
use std::time::Duration;

const ROW_HEIGHT: f32 = 40.0;
/// The width of the buttons at the end of a row.
const BUTTONS_WIDTH: f32 = 176.0;
/// A client counts as active for this many milliseconds after a request.
const ACTIVE_MS: u64 = 5_000;

pub(crate) fn agents_ui(ui: &mut Ui, view: &FrameView<'_>) {
    let clients = &view.mcp.clients;
    if clients.is_empty() {
        let (title, text) = match view.mcp.mode {
            McpMode::Off => ("Agent access is off", "Select Observe in the MCP menu at the bottom right."),
            _ => (
                "No agents connected",
                "Copy the configuration for your client from the MCP menu at the bottom right.",
            ),
        };
        empty_state_ui(ui, view.theme, title, text);
        ui.vertical_centered(|ui| {
            if ui.button("Connect an agent…").clicked() {
                view.act(CommandId::SetupGuide);
            }
        });
        return;
    }
    let now = unix_millis();
    list_rows_ui(ui, ROW_HEIGHT, clients.len(), |ui, range| {
        for client in clients.get(range).unwrap_or_default() {
            client_ui(ui, view, client, now);
        }
    });
    // Repaints when the activity marks expire.
    if clients.iter().any(|client| is_active(client, now)) {
        ui.ctx().request_repaint_after(Duration::from_millis(ACTIVE_MS));
    }
}

fn is_active(client: &McpClientView, now: u64) -> bool {
    !client.paused && now.saturating_sub(client.last) < ACTIVE_MS
}

fn client_ui(ui: &mut Ui, view: &FrameView<'_>, client: &McpClientView, now: u64) {
    let theme = view.theme;
    let (rect, _) = ui.allocate_exact_size(vec2(ui.available_width(), ROW_HEIGHT), Sense::hover());
    if !ui.is_rect_visible(rect) {
        return;
    }
    let dot = pos2(rect.left() + 10.0, rect.top() + 13.0);
    ui.painter().circle_filled(dot, 3.5, activity_colour(theme, is_active(client, now)));
    let text =
        Rect::from_min_max(pos2(rect.left() + 22.0, rect.top() + 3.0), rect.max - vec2(BUTTONS_WIDTH, 3.0));
    let top = text.with_max_y(text.center().y);
    let bottom = text.with_min_y(text.center().y);
    let name = if client.version.is_empty() {
        client.name.clone()
    } else {
        format!("{} {}", client.name, client.version)
    };
    paint_line(ui, top, Align2::LEFT_CENTER, &name, body_font(ui), theme.text);
    paint_line(
        ui,
        bottom,
        Align2::LEFT_CENTER,
        &describe_activity(client, now),
        small_font(ui),
        theme.text_muted,
    );
    let buttons = Rect::from_min_max(
        pos2(rect.right() - BUTTONS_WIDTH + 4.0, rect.top() + 8.0),
        rect.max - vec2(4.0, 8.0),
    );
    let layout = egui::Layout::right_to_left(egui::Align::Center);
    let mut child = ui.new_child(egui::UiBuilder::new().max_rect(buttons).id_salt(client.id).layout(layout));
    buttons_ui(&mut child, client, view.actions);
}

fn buttons_ui(ui: &mut Ui, client: &McpClientView, actions: &ActionQueue) {
    let name = &client.name;
    if client.connected {
        let end =
            ui.button(RichText::new("Disconnect").small()).accessible_name(format!("Disconnect {name}"));
        if end.clicked() {
            actions.push(WindowAction::request(DisconnectClient { client: client.id }));
        }
    }
    let (word, action) = if client.paused {
        ("Resume", WindowAction::request(ResumeClient { client: client.id }))
    } else {
        ("Pause", WindowAction::request(PauseClient { client: client.id }))
    };
    let hold = ui.button(RichText::new(word).small()).accessible_name(format!("{word} {name}"));
    if hold.on_hover_text("Requests from a paused client are refused").clicked() {
        actions.push(action);
    }
}

/// Describes the last request and its time, the counters, and the transport.
fn describe_activity(client: &McpClientView, now: u64) -> String {
    let over = match client.transport {
        AgentTransport::Http => "HTTP",
        AgentTransport::Bridge => "bridge",
    };
    let era = match client.era {
        McpProtocolEra::Legacy => "session",
        McpProtocolEra::Modern => "stateless",
    };
    let state = match (client.paused, client.reading.is_empty()) {
        (true, _) => "paused".to_owned(),
        (false, true) => "no requests yet".to_owned(),
        (false, false) => format!("{} {}", client.reading, ago(now, client.last)),
    };
    let watched = if client.subscriptions > 0 {
        format!(" · {} subscribed", client.subscriptions)
    } else {
        String::new()
    };
    format!("{state} · {} calls, {} reads{watched} · {over}, {era}", client.calls, client.reads)
}
