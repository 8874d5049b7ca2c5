//! The upstreams panel: MCP servers that Draftboard manages, and tool manifests.
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

pub(crate) use pending_requests::UpstreamOutcome;

use crate::{
    view::{FrameView, UpstreamResponse},
    widgets::{empty_state_ui, paint_severity},
};
use add::AddServerPage;
use egui::{CornerRadius, Frame, Label, Margin, RichText, Sense, Ui, Vec2, vec2};
use pending_requests::{PendingUpstreamRequests, UpstreamPurpose, UpstreamsContext};
use server::ServerPage;
use shared_protocol::{
    Refusal,
    messages::ProblemSeverity,
    requests::ImportedServers,
    upstreams::{ServerBrief, ServerId, ServerState, UpstreamsView},
};

/// Below this width the panel shows either the list or the selected page.
const TWO_COLUMN_WIDTH: f32 = 640.0;
const LIST_WIDTH: f32 = 330.0;

/// A way to add servers.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(crate) enum AddServerMethod {
    #[default]
    Form,
    Paste,
    Programs,
    Registry,
}

#[derive(Debug, Clone, Default, PartialEq, Eq)]
enum UpstreamsPage {
    /// The list, with the first server beside it where there is space.
    #[default]
    List,
    Server(ServerId),
    /// A manifest by its path.
    Manifest(String),
    Add,
}

#[derive(Default)]
pub(crate) struct UpstreamsPanel {
    asking: PendingUpstreamRequests,
    shown: UpstreamsPage,
    page: ServerPage,
    manifest: manifest::ManifestPage,
    add: AddServerPage,
}

/// The number of servers and manifests that need attention.
pub(crate) fn wanting(view: &UpstreamsView) -> usize {
    let servers = view.servers.iter().filter(|server| server_status::wants_a_person(server)).count();
    servers + view.manifests.iter().filter(|manifest| manifest::wants_a_person(manifest)).count()
}

impl UpstreamsPanel {
    pub(crate) fn show_ui(&mut self, ui: &mut Ui, view: &FrameView<'_>) {
        if let Some(problem) = &view.upstreams.problem {
            notice_ui(ui, view, ProblemSeverity::Error, problem);
        }
        self.forget_what_is_gone(view.upstreams);
        let is_empty = view.upstreams.servers.is_empty()
            && view.upstreams.manifests.is_empty()
            && view.upstreams.unreadable.is_empty();
        if is_empty && self.shown != UpstreamsPage::Add {
            return self.empty_ui(ui, view);
        }
        let room = ui.available_rect_before_wrap();
        if room.width() < TWO_COLUMN_WIDTH {
            return match self.shown {
                UpstreamsPage::List => self.list_ui(ui, view, &UpstreamsPage::List),
                _ => self.page_ui(ui, view, true),
            };
        }
        let (left, right) = room.split_left_right_at_x(room.left() + LIST_WIDTH);
        let column =
            |rect| egui::UiBuilder::new().max_rect(rect).layout(egui::Layout::top_down(egui::Align::Min));
        ui.scope_builder(column(left.with_max_x(left.right() - 8.0)), |ui| {
            let lit = self.in_sight(view.upstreams);
            self.list_ui(ui, view, &lit);
        });
        ui.painter().vline(left.right(), room.y_range(), egui::Stroke::new(1.0, view.theme.border));
        let right = right.with_min_x(right.left() + 10.0);
        ui.scope_builder(column(right), |ui| self.page_ui(ui, view, false));
    }

    /// The selected page. `alone` adds a button back to the list.
    fn page_ui(&mut self, ui: &mut Ui, view: &FrameView<'_>, alone: bool) {
        let cx = &UpstreamsContext { view, asking: &self.asking };
        let is_back = alone && ui.button("Back to list").clicked();
        match self.in_sight(view.upstreams) {
            UpstreamsPage::List => {
                let text = "Select a server or a manifest to see its tools.";
                empty_state_ui(ui, view.theme, "Nothing selected", text);
            }
            UpstreamsPage::Server(id) => self.page.show_ui(ui, cx, &id),
            UpstreamsPage::Manifest(path) => self.manifest.show_ui(ui, cx, &path),
            UpstreamsPage::Add => {
                if self.add.show_ui(ui, cx) {
                    self.shown = UpstreamsPage::List;
                }
            }
        }
        if is_back {
            self.shown = UpstreamsPage::List;
        }
    }

    /// The page beside the list; the first server until a person selects one.
    fn in_sight(&self, view: &UpstreamsView) -> UpstreamsPage {
        match &self.shown {
            UpstreamsPage::List => view
                .servers
                .first()
                .map_or(UpstreamsPage::List, |server| UpstreamsPage::Server(server.id.clone())),
            shown => shown.clone(),
        }
    }

    fn empty_ui(&mut self, ui: &mut Ui, view: &FrameView<'_>) {
        egui::ScrollArea::vertical().auto_shrink([false, false]).show(ui, |ui| {
            let text = "Draftboard can run MCP servers and offer their tools to connected agents. A new server is disabled, \
                        and agents cannot see its tools until you approve them.";
            empty_state_ui(ui, view.theme, "No upstream servers yet", text);
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
        self.shown = UpstreamsPage::Server(server);
    }

    pub(crate) fn add(&mut self, way: AddServerMethod) {
        self.add.begin(way);
        self.shown = UpstreamsPage::Add;
    }

    /// Clears the panel for another workspace. Pending requests stay, so that their answers are still matched.
    pub(crate) fn reset(&mut self) {
        *self = Self { asking: std::mem::take(&mut self.asking), ..Self::default() };
    }

    fn forget_what_is_gone(&mut self, view: &UpstreamsView) {
        let is_there = match &self.shown {
            UpstreamsPage::Server(id) => {
                view.servers.iter().any(|server| server.id == *id) || self.page.is_new(id)
            }
            UpstreamsPage::Manifest(path) => view.manifests.iter().any(|manifest| manifest.path == *path),
            UpstreamsPage::List | UpstreamsPage::Add => true,
        };
        if !is_there {
            self.shown = UpstreamsPage::List;
        }
    }

    /// Takes the response to a request of the panel.
    pub(crate) fn receive(&mut self, request: u64, response: UpstreamResponse) -> UpstreamOutcome {
        let Some(purpose) = self.asking.close(request) else { return UpstreamOutcome::Nothing };
        match response {
            UpstreamResponse::Server(details) => {
                self.page.done(&purpose);
                self.page.receive(details);
            }
            UpstreamResponse::Done => {
                self.page.done(&purpose);
                self.manifest.done(&purpose);
            }
            UpstreamResponse::Log(id, part) => self.page.receive_log(&id, part),
            UpstreamResponse::Called(tool, result) => self.page.receive_call(&tool, Ok(result)),
            UpstreamResponse::Sources(sources) => self.add.receive_sources(sources),
            UpstreamResponse::Preview(view) => self.add.receive_preview(view),
            UpstreamResponse::Registry(found) => self.add.receive_registry(found),
            UpstreamResponse::Imported(ImportedServers { servers, refused }) => {
                return self.imported(&servers, refused);
            }
            UpstreamResponse::Added(details) => {
                let name = details.brief.name.clone();
                self.add = AddServerPage::default();
                self.shown = UpstreamsPage::Server(details.brief.id.clone());
                self.page.expect(&details.brief.id);
                self.page.receive(details);
                let next = "The server is disabled. Check what it runs, then enable it.".to_owned();
                return UpstreamOutcome::Notify(format!("Added {name}"), vec![next]);
            }
            UpstreamResponse::Deleted(id) => {
                self.page.forget(&id);
                if self.shown == UpstreamsPage::Server(id) {
                    self.shown = UpstreamsPage::List;
                }
                let message = "Deleted the server, its approvals and its secrets".to_owned();
                return UpstreamOutcome::Notify(message, Vec::new());
            }
            UpstreamResponse::Refused(refusal) => return self.refused(purpose, refusal),
        }
        UpstreamOutcome::Nothing
    }

    fn imported(&mut self, servers: &[ServerBrief], refused: Vec<(String, String)>) -> UpstreamOutcome {
        if let Some(first) = servers.first() {
            self.page.expect(&first.id);
            self.shown = UpstreamsPage::Server(first.id.clone());
            self.add = AddServerPage::default();
        }
        let what = shared_protocol::text::counted(servers.len(), "server");
        let mut more: Vec<String> =
            refused.into_iter().map(|(name, why)| format!("{name} was skipped: {why}")).collect();
        more.push("Imported servers are disabled. Check what they run, then enable them.".to_owned());
        UpstreamOutcome::Notify(format!("Imported {what}"), more)
    }

    /// Shows the refusal on the page it belongs to, or as a toast when that page is not visible.
    fn refused(&mut self, purpose: UpstreamPurpose, refusal: Refusal) -> UpstreamOutcome {
        match purpose {
            UpstreamPurpose::Details(_)
            | UpstreamPurpose::Log(_)
            | UpstreamPurpose::Server { .. }
            | UpstreamPurpose::Update(_) => self.page.refuse(&purpose, refusal),
            UpstreamPurpose::Add
            | UpstreamPurpose::Sources
            | UpstreamPurpose::Preview
            | UpstreamPurpose::Import
            | UpstreamPurpose::Registry => {
                self.add.refuse(&purpose, refusal);
                UpstreamOutcome::Nothing
            }
            UpstreamPurpose::Call(tool) => {
                self.page.receive_call(&tool, Err(&refusal));
                UpstreamOutcome::Nothing
            }
            UpstreamPurpose::Delete(_) | UpstreamPurpose::Secret { .. } | UpstreamPurpose::Manifest => {
                UpstreamOutcome::Refused(refusal)
            }
        }
    }
}

fn brief<'a>(view: &'a FrameView<'_>, id: &ServerId) -> Option<&'a ServerBrief> {
    view.upstreams.servers.iter().find(|server| server.id == *id)
}

fn is_failing(state: &ServerState) -> bool {
    matches!(state, ServerState::Error | ServerState::Backoff { .. })
}

/// A boxed text with a severity icon.
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
    Frame::new()
        .fill(view.theme.hover)
        .corner_radius(CornerRadius::same(6))
        .inner_margin(Margin::symmetric(8, 6))
        .show(ui, |ui| {
            ui.set_width(ui.available_width());
            content(ui);
        });
}

/// Output lines of a program in a monospaced block.
fn lines_ui(ui: &mut Ui, view: &FrameView<'_>, lines: &[String]) {
    Frame::new()
        .fill(view.theme.surface_inset)
        .corner_radius(CornerRadius::same(4))
        .inner_margin(Margin::symmetric(8, 4))
        .show(ui, |ui| {
            ui.set_width(ui.available_width());
            ui.spacing_mut().item_spacing.y = 1.0;
            for line in lines {
                let text = RichText::new(crate::wording::line(line)).monospace().color(view.theme.text);
                ui.add(Label::new(text).selectable(true).wrap());
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
