//! The managed_servers panel: MCP servers that Draftboard manages, and tool manifests.
//!
//! Owns: the selected page, forms being edited, pending requests. Must not know: how a server is started or called. Every
//! action is a request to main, or a decision that main validates again. A decision is bound to the definition shown when
//! the review began. Secrets are sent to the store and never displayed.

mod add;
mod configuration;
mod definition_diff;
mod delete;
mod draft;
mod form;
mod import;
mod list;
mod log;
mod manifest;
mod pending_requests;
mod registry;
mod secret_field;
mod server;
mod server_status;
mod tool;
mod tool_call;
mod tools;

pub(crate) use pending_requests::ServerPanelOutcome;

use crate::{
    view::{FrameView, ManagedServerResponse},
    widgets::{copyable_text_ui, empty_state_ui, full_width_ui, inset_ui, paint_severity},
};
use add::AddServerPage;
use egui::{Frame, Label, Margin, RichText, Sense, Ui, Vec2, vec2};
use pending_requests::{ManagedServersContext, PendingServerRequests, ServerRequestPurpose};
use server::ServerPage;
use shared_protocol::{
    Refusal,
    managed_servers::{ManagedServersView, ServerBrief, ServerId, ServerState},
    messages::ProblemSeverity,
    requests::ImportedServers,
};

/// Below this width the panel shows either the list or the selected page.
const TWO_COLUMN_WIDTH: f32 = 640.0;
const LIST_WIDTH: f32 = 330.0;

#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(crate) enum AddServerMethod {
    #[default]
    Form,
    Paste,
    Programs,
    Registry,
}

#[derive(Debug, Clone, Default, PartialEq, Eq)]
enum ManagedServersPage {
    /// The list, with the first server beside it where there is space.
    #[default]
    List,
    Server(ServerId),
    /// A manifest by its path.
    Manifest(String),
    Add,
}

#[derive(Default)]
pub(crate) struct ManagedServersPanel {
    pending: PendingServerRequests,
    open_page: ManagedServersPage,
    page: ServerPage,
    manifest: manifest::ManifestPage,
    add: AddServerPage,
}

pub(crate) fn count_needing_attention(view: &ManagedServersView) -> usize {
    let servers = view.servers.iter().filter(|server| server_status::needs_attention(server)).count();
    servers + view.manifests.iter().filter(|manifest| manifest::needs_attention(manifest)).count()
}

impl ManagedServersPanel {
    pub(crate) fn show_ui(&mut self, ui: &mut Ui, view: &FrameView<'_>) {
        if let Some(problem) = &view.managed_servers.problem {
            notice_ui(ui, view, ProblemSeverity::Error, problem);
        }
        self.forget_what_is_gone(view.managed_servers);
        let is_empty = view.managed_servers.servers.is_empty()
            && view.managed_servers.manifests.is_empty()
            && view.managed_servers.unreadable.is_empty();
        if is_empty && self.open_page != ManagedServersPage::Add {
            return self.empty_ui(ui, view);
        }
        let room = ui.available_rect_before_wrap();
        if room.width() < TWO_COLUMN_WIDTH {
            return match self.open_page {
                ManagedServersPage::List => self.list_ui(ui, view, &ManagedServersPage::List),
                _ => self.page_ui(ui, view, true),
            };
        }
        let (left, right) = room.split_left_right_at_x(room.left() + LIST_WIDTH);
        let column =
            |rect| egui::UiBuilder::new().max_rect(rect).layout(egui::Layout::top_down(egui::Align::Min));
        ui.scope_builder(column(left.with_max_x(left.right() - 8.0)), |ui| {
            let lit = self.current_page(view.managed_servers);
            self.list_ui(ui, view, &lit);
        });
        ui.painter().vline(left.right(), room.y_range(), egui::Stroke::new(1.0, view.theme.border));
        let right = right.with_min_x(right.left() + 10.0);
        ui.scope_builder(column(right), |ui| self.page_ui(ui, view, false));
    }

    /// The selected page. `alone` adds a button back to the list.
    fn page_ui(&mut self, ui: &mut Ui, view: &FrameView<'_>, alone: bool) {
        let cx = &ManagedServersContext { view, asking: &self.pending };
        let is_back = alone && ui.button("Back to list").clicked();
        match self.current_page(view.managed_servers) {
            ManagedServersPage::List => {
                let text = "Select a server or a manifest to see its tools.";
                empty_state_ui(ui, view.theme, "Nothing selected", text);
            }
            ManagedServersPage::Server(id) => self.page.show_ui(ui, cx, &id),
            ManagedServersPage::Manifest(path) => self.manifest.show_ui(ui, cx, &path),
            ManagedServersPage::Add => {
                if self.add.show_ui(ui, cx) {
                    self.open_page = ManagedServersPage::List;
                }
            }
        }
        if is_back {
            self.open_page = ManagedServersPage::List;
        }
    }

    /// The page beside the list; the first server until a person selects one.
    fn current_page(&self, view: &ManagedServersView) -> ManagedServersPage {
        match &self.open_page {
            ManagedServersPage::List => view
                .servers
                .first()
                .map_or(ManagedServersPage::List, |server| ManagedServersPage::Server(server.id.clone())),
            shown => shown.clone(),
        }
    }

    fn empty_ui(&mut self, ui: &mut Ui, view: &FrameView<'_>) {
        egui::ScrollArea::vertical().auto_shrink([false, false]).show(ui, |ui| {
            let text = "Draftboard can run MCP servers and offer their tools to connected agents. A new server is disabled, \
                        and agents cannot see its tools until you approve them.";
            empty_state_ui(ui, view.theme, "No managed servers yet", text);
            ui.add_space(6.0);
            ui.vertical_centered(|ui| {
                for (way, words) in [
                    (AddServerMethod::Form, "Add with a form…"),
                    (AddServerMethod::Paste, "Paste JSON from another client…"),
                    (AddServerMethod::Programs, "Import from Claude, VS Code or Cursor…"),
                    (AddServerMethod::Registry, "Search a registry…"),
                ] {
                    if ui.add(egui::Button::new(words).min_size(vec2(280.0, 0.0))).clicked() {
                        self.add(way);
                    }
                }
                ui.add_space(4.0);
                list::places_ui(ui, view);
            });
        });
    }

    pub(crate) fn open(&mut self, server: ServerId) {
        self.open_page = ManagedServersPage::Server(server);
    }

    /// Opens the page that adds servers, with the text that was typed in it before.
    pub(crate) fn add(&mut self, way: AddServerMethod) {
        self.add.method = way;
        self.open_page = ManagedServersPage::Add;
    }

    /// Clears the panel for another workspace. Pending requests stay, so that their answers are still matched.
    pub(crate) fn reset(&mut self) {
        *self = Self { pending: std::mem::take(&mut self.pending), ..Self::default() };
    }

    fn forget_what_is_gone(&mut self, view: &ManagedServersView) {
        let is_there = match &self.open_page {
            ManagedServersPage::Server(id) => {
                view.servers.iter().any(|server| server.id == *id) || self.page.is_new(id)
            }
            ManagedServersPage::Manifest(path) => {
                view.manifests.iter().any(|manifest| manifest.path == *path)
            }
            ManagedServersPage::List | ManagedServersPage::Add => true,
        };
        if !is_there {
            self.open_page = ManagedServersPage::List;
        }
    }

    pub(crate) fn receive(&mut self, request: u64, response: ManagedServerResponse) -> ServerPanelOutcome {
        let Some(purpose) = self.pending.close(request) else { return ServerPanelOutcome::Nothing };
        match response {
            ManagedServerResponse::Server(details) => {
                self.page.handle_success(&purpose);
                self.page.receive(details);
            }
            ManagedServerResponse::Done => {
                self.page.handle_success(&purpose);
                self.manifest.handle_success(&purpose);
            }
            ManagedServerResponse::Log(id, part) => self.page.log.receive(&id, part),
            ManagedServerResponse::Called(tool, result) => self.page.tools.receive_call(&tool, Ok(result)),
            ManagedServerResponse::Sources(sources) => self.add.programs.receive_sources(sources),
            ManagedServerResponse::Preview(view) => self.add.import_form().receive(view),
            ManagedServerResponse::Registry(found) => self.add.registry.receive(found),
            ManagedServerResponse::Imported(ImportedServers { servers, refused }) => {
                return self.handle_imported(&servers, refused);
            }
            ManagedServerResponse::Added(details) => {
                let name = details.brief.name.clone();
                self.add = AddServerPage::default();
                self.open_page = ManagedServersPage::Server(details.brief.id.clone());
                self.page.new = Some(details.brief.id.clone());
                self.page.receive(details);
                let next = "The server is disabled. Check what it runs, then enable it.".to_owned();
                return ServerPanelOutcome::Notify(format!("Added {name}"), vec![next]);
            }
            ManagedServerResponse::Deleted(id) => {
                self.page.close_server(&id);
                if self.open_page == ManagedServersPage::Server(id) {
                    self.open_page = ManagedServersPage::List;
                }
                let message = "Deleted the server, its approvals and its secrets".to_owned();
                return ServerPanelOutcome::Notify(message, Vec::new());
            }
            ManagedServerResponse::Refused(refusal) => return self.handle_refusal(purpose, refusal),
        }
        ServerPanelOutcome::Nothing
    }

    fn handle_imported(
        &mut self,
        servers: &[ServerBrief],
        refused: Vec<(String, String)>,
    ) -> ServerPanelOutcome {
        if let Some(first) = servers.first() {
            self.page.new = Some(first.id.clone());
            self.open_page = ManagedServersPage::Server(first.id.clone());
            self.add = AddServerPage::default();
        }
        let what = shared_protocol::text::count_noun(servers.len(), "server");
        let mut more: Vec<String> =
            refused.into_iter().map(|(name, why)| format!("{name} was skipped: {why}")).collect();
        more.push("Imported servers are disabled. Check what they run, then enable them.".to_owned());
        ServerPanelOutcome::Notify(format!("Imported {what}"), more)
    }

    /// Shows the refusal on the page it belongs to, or as a toast when that page is not visible.
    fn handle_refusal(&mut self, purpose: ServerRequestPurpose, refusal: Refusal) -> ServerPanelOutcome {
        match purpose {
            ServerRequestPurpose::Details(_)
            | ServerRequestPurpose::Log(_)
            | ServerRequestPurpose::Server { .. }
            | ServerRequestPurpose::Update(_) => self.page.refuse(&purpose, refusal),
            ServerRequestPurpose::Add
            | ServerRequestPurpose::Sources
            | ServerRequestPurpose::Preview
            | ServerRequestPurpose::Import
            | ServerRequestPurpose::Registry => {
                self.add.refuse(&purpose, refusal);
                ServerPanelOutcome::Nothing
            }
            ServerRequestPurpose::Call(tool) => {
                self.page.tools.receive_call(&tool, Err(&refusal));
                ServerPanelOutcome::Nothing
            }
            ServerRequestPurpose::Delete(_)
            | ServerRequestPurpose::Secret { .. }
            | ServerRequestPurpose::Manifest => ServerPanelOutcome::Refused(refusal),
        }
    }
}

fn brief<'a>(view: &'a FrameView<'_>, id: &ServerId) -> Option<&'a ServerBrief> {
    view.managed_servers.servers.iter().find(|server| server.id == *id)
}

fn is_failing(state: &ServerState) -> bool {
    matches!(state, ServerState::Error | ServerState::Backoff { .. })
}

fn notice_ui(ui: &mut Ui, view: &FrameView<'_>, severity: ProblemSeverity, text: &str) {
    box_ui(ui, view, |ui| {
        ui.horizontal_top(|ui| {
            let (mark, _) = ui.allocate_exact_size(Vec2::splat(16.0), Sense::hover());
            paint_severity(ui.painter(), mark.center() + vec2(0.0, 1.0), view.theme, severity);
            ui.add(Label::new(RichText::new(text).color(view.theme.text)).wrap());
        });
    });
}

fn box_ui(ui: &mut Ui, view: &FrameView<'_>, content: impl FnOnce(&mut Ui)) {
    let frame = Frame::new().fill(view.theme.hover).corner_radius(6).inner_margin(Margin::symmetric(8, 6));
    full_width_ui(ui, frame, content);
}

/// Output lines of a program in a monospaced block.
fn lines_ui(ui: &mut Ui, view: &FrameView<'_>, lines: &[String]) {
    inset_ui(ui, view.theme, Margin::symmetric(8, 4), |ui| {
        ui.spacing_mut().item_spacing.y = 1.0;
        for line in lines {
            let text = RichText::new(crate::wording::line(line)).monospace().color(view.theme.text);
            copyable_text_ui(ui, text);
        }
    });
}

/// The message and hints of a refusal as one text.
fn describe(refusal: &Refusal) -> String {
    let mut text = crate::panels::notices::capitalised(&refusal.message);
    for hint in &refusal.hints {
        if !text.ends_with(['.', '!', '?']) {
            text.push('.');
        }
        text.push(' ');
        text.push_str(hint);
    }
    text
}
