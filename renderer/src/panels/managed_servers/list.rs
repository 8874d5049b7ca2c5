//! The list: servers with state and switch, unreadable entries, manifests, and the locations of the configuration.

use super::{
    AddServerMethod, ManagedServersPage, ManagedServersPanel, manifest,
    pending_requests::{ManagedServersContext, PendingServerAction},
    server, server_status,
};
use crate::{
    view::FrameView,
    widgets::{
        ListRow, body_font, more_ui, muted_ui, paint_icon, paint_line, paint_severity, row_background,
        row_ui, small_font, small_text_ui,
    },
    wording::{line, unix_millis},
};
use egui::{Align2, Rect, Role, Sense, Ui, Vec2, WidgetInfo, pos2, vec2};
use shared_protocol::{
    managed_servers::{ManifestBrief, ServerBrief, ServerState, UnreadableServer},
    messages::ProblemSeverity,
};
use std::time::Duration;

const SERVER_ROW_HEIGHT: f32 = 44.0;
/// The width of the switch and the button at the end of a row.
const CONTROLS_WIDTH: f32 = 122.0;
/// The maximum number of manifests, and of unreadable entries, listed.
const MAX_LISTED_ROWS: usize = 200;

impl ManagedServersPanel {
    /// `lit` is the page shown beside the list.
    pub(super) fn list_ui(&mut self, ui: &mut Ui, view: &FrameView<'_>, lit: &ManagedServersPage) {
        self.ways_ui(ui);
        let now = unix_millis();
        egui::ScrollArea::vertical().id_salt("upstreams").auto_shrink([false, false]).show(ui, |ui| {
            ui.spacing_mut().item_spacing.y = 0.0;
            for server in &view.managed_servers.servers {
                let selected = *lit == ManagedServersPage::Server(server.id.clone());
                self.server_ui(ui, view, server, selected, now);
            }
            if view.managed_servers.servers.is_empty() {
                muted_ui(ui, view.theme, "No managed servers yet.");
            }
            for entry in view.managed_servers.unreadable.iter().take(MAX_LISTED_ROWS) {
                unreadable_ui(ui, view, entry);
            }
            self.manifests_ui(ui, view);
            ui.add_space(8.0);
            places_ui(ui, view);
        });
        // Updates the countdown to the next attempt.
        if view
            .managed_servers
            .servers
            .iter()
            .any(|server| matches!(server.state, ServerState::Backoff { .. }))
        {
            ui.ctx().request_repaint_after(Duration::from_secs(1));
        }
    }

    fn ways_ui(&mut self, ui: &mut Ui) {
        ui.scope(|ui| {
            ui.spacing_mut().item_spacing = vec2(4.0, 4.0);
            ui.spacing_mut().button_padding = vec2(8.0, 2.0);
            ui.spacing_mut().interact_size.y = 24.0;
            ui.horizontal_wrapped(|ui| {
                for (way, words, name) in [
                    (AddServerMethod::Form, "Add…", "Add a server with a form"),
                    (AddServerMethod::Paste, "Paste…", "Add servers from pasted JSON"),
                    (AddServerMethod::Programs, "Import…", "Import servers from another program"),
                    (AddServerMethod::Registry, "Registry…", "Search a server registry"),
                ] {
                    if ui.button(words).on_hover_text(name).clicked() {
                        self.add(way);
                    }
                }
            });
        });
    }

    fn server_ui(
        &mut self,
        ui: &mut Ui,
        view: &FrameView<'_>,
        server: &ServerBrief,
        selected: bool,
        now: u64,
    ) {
        let theme = view.theme;
        let (rect, row) =
            ui.allocate_exact_size(vec2(ui.available_width(), SERVER_ROW_HEIGHT), Sense::click());
        if row.gained_focus() {
            row.scroll_to_me(None);
        }
        if row.clicked() {
            self.open(server.id.clone());
        }
        if !ui.is_rect_visible(rect) {
            return;
        }
        let says = server_status::summary(server, now);
        let name = format!("{}, {says}", line(&server.name));
        row.widget_info(|| WidgetInfo::selected(Role::Button, ui.is_enabled(), selected, &name));
        row_background(ui, theme, rect, &row, selected);
        let sign = Rect::from_center_size(pos2(rect.left() + 15.0, rect.center().y), Vec2::splat(16.0));
        server_status::paint_state(ui.painter(), theme, sign, &server.state);
        let text = Rect::from_min_max(
            pos2(rect.left() + 30.0, rect.top() + 4.0),
            pos2(rect.right() - CONTROLS_WIDTH, rect.bottom() - 4.0),
        );
        let (top, bottom) = text.split_top_bottom_at_y(text.center().y);
        paint_line(ui, top, Align2::LEFT_CENTER, &line(&server.name), body_font(ui), theme.text);
        paint_line(ui, bottom, Align2::LEFT_CENTER, &says, small_font(ui), theme.text_muted);
        row.on_hover_text(format!("{says}\n{}", server.runs));
        let room = Rect::from_min_max(
            pos2(rect.right() - CONTROLS_WIDTH + 4.0, rect.top() + 8.0),
            rect.max - vec2(6.0, 8.0),
        );
        let layout = egui::Layout::right_to_left(egui::Align::Center);
        let mut child =
            ui.new_child(egui::UiBuilder::new().max_rect(room).id_salt(&server.id.0).layout(layout));
        child.spacing_mut().button_padding = vec2(6.0, 2.0);
        let cx = &ManagedServersContext { view, asking: &self.pending };
        server::switch_ui(&mut child, server, cx);
        let busy = cx.doing(&server.id);
        if busy.is_none_or(|doing| doing == PendingServerAction::Enabling) {
            server::start_stop_ui(&mut child, server, true, cx);
        }
    }

    fn manifests_ui(&mut self, ui: &mut Ui, view: &FrameView<'_>) {
        ui.add_space(8.0);
        ui.spacing_mut().item_spacing.y = 3.0;
        muted_ui(ui, view.theme, "Manifests");
        let manifests = &view.managed_servers.manifests;
        for manifest in manifests.iter().take(MAX_LISTED_ROWS) {
            self.manifest_row_ui(ui, view, manifest);
        }
        more_ui(ui, view.theme, manifests.len(), MAX_LISTED_ROWS);
        if manifests.is_empty() {
            let text = "No manifests. A manifest is a JSON file that declares a program, an HTTP request or another server's \
                        tool as a tool.";
            small_text_ui(ui, view.theme.text_muted, text);
        }
        for folder in &view.managed_servers.manifest_folders {
            let text = format!("Manifest folder: {} ({})", folder.path, folder.origin.as_str());
            small_text_ui(ui, view.theme.text_subtle, text);
        }
    }

    fn manifest_row_ui(&mut self, ui: &mut Ui, view: &FrameView<'_>, manifest: &ManifestBrief) {
        let theme = view.theme;
        let title = manifest::title(manifest);
        let says = manifest::summary(manifest);
        let name = format!("Manifest {title}, {says}");
        let selected = self.open_page == ManagedServersPage::Manifest(manifest.path.clone());
        let row = ListRow { name: &name, selected, sense: Sense::click() };
        let response = row_ui(ui, theme, row, |ui, room| {
            let sign = Rect::from_center_size(pos2(room.left() + 9.0, room.center().y), Vec2::splat(16.0));
            match (manifest.problem.is_some(), manifest::needs_attention(manifest)) {
                (true, _) => paint_severity(ui.painter(), sign.center(), theme, ProblemSeverity::Error),
                (false, true) => paint_icon(ui.painter(), "shield", sign, theme.warning),
                (false, false) => paint_icon(ui.painter(), "page", sign, theme.text_muted),
            }
            let room = room.with_min_x(room.left() + 24.0);
            let half = room.with_min_x(room.center().x);
            let width = paint_line(ui, half, Align2::RIGHT_CENTER, &says, small_font(ui), theme.text_muted);
            let room = room.with_max_x(room.right() - width - 8.0);
            paint_line(ui, room, Align2::LEFT_CENTER, &title, body_font(ui), theme.text);
        });
        if response.on_hover_text(&manifest.path).clicked() {
            self.open_page = ManagedServersPage::Manifest(manifest.path.clone());
        }
    }
}

/// An unreadable entry of the configuration. The file is left unchanged.
fn unreadable_ui(ui: &mut Ui, view: &FrameView<'_>, entry: &UnreadableServer) {
    let theme = view.theme;
    let (name, reason) = (line(&entry.name), line(&entry.reason));
    let said = format!("{name}, cannot be read: {reason}");
    let (rect, row) = ui.allocate_exact_size(vec2(ui.available_width(), SERVER_ROW_HEIGHT), Sense::hover());
    row.widget_info(|| WidgetInfo::labeled(Role::ListItem, true, &said));
    paint_severity(ui.painter(), pos2(rect.left() + 15.0, rect.center().y), theme, ProblemSeverity::Error);
    let text = Rect::from_min_max(pos2(rect.left() + 30.0, rect.top() + 4.0), rect.max - vec2(6.0, 4.0));
    let (top, bottom) = text.split_top_bottom_at_y(text.center().y);
    paint_line(ui, top, Align2::LEFT_CENTER, &name, body_font(ui), theme.text);
    let why = format!("cannot be read · {reason}");
    paint_line(ui, bottom, Align2::LEFT_CENTER, &why, small_font(ui), theme.text_muted);
    row.on_hover_text(format!(
        "{reason}\nThe entry is unchanged. Correct it in {}.",
        view.managed_servers.config_file
    ));
}

/// The locations of the configuration and the secrets.
pub(super) fn places_ui(ui: &mut Ui, view: &FrameView<'_>) {
    let managed_servers = view.managed_servers;
    for (what, place) in
        [("Managed servers", &managed_servers.config_file), ("Secrets", &managed_servers.secrets_place)]
    {
        if !place.is_empty() {
            small_text_ui(ui, view.theme.text_subtle, format!("{what} are stored in {place}"));
        }
    }
}
