//! The upstreams panel: MCP servers that Draftboard manages, and tool manifests.
//!
//! Owns: the selected page, forms being edited, pending requests. Must not know: how a server is started or called. Every
//! action is a request to main, or a decision that main validates again. A decision is bound to the definition shown when
//! the review began. Secrets are sent to the store and never displayed.

mod add;
mod asking;
mod configuration;
mod credentials;
mod delete;
mod difference;
mod draft;
mod form;
mod import;
mod list;
mod log;
mod manifest;
mod registry;
mod server;
mod standing;
mod tool;
mod tools;
mod trying;

pub(crate) use asking::Outcome;

use crate::{
    view::{Action, View},
    widgets::{empty_state_ui, paint_severity},
};
use add::Add;
use asking::{Asking, Purpose};
use egui::{CornerRadius, Frame, Label, Margin, RichText, Sense, Ui, Vec2, vec2};
use server::ServerPage;
use shared_protocol::{
    Refusal,
    messages::{Answer, Severity},
    upstreams::{ServerBrief, ServerId, ServerState, UpstreamAnswer, UpstreamsView},
};

/// Below this width the panel shows either the list or the selected page.
const ROOMY: f32 = 640.0;
const LIST: f32 = 330.0;

/// A way to add servers.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(crate) enum Way {
    #[default]
    Form,
    Paste,
    Programs,
    Registry,
}

#[derive(Debug, Clone, Default, PartialEq, Eq)]
enum Shown {
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
    asking: Asking,
    shown: Shown,
    page: ServerPage,
    manifest: manifest::ManifestPage,
    add: Add,
}

/// The number of servers and manifests that need attention.
pub(crate) fn wanting(view: &UpstreamsView) -> usize {
    let servers = view.servers.iter().filter(|server| standing::wants_a_person(server)).count();
    servers + view.manifests.iter().filter(|manifest| manifest::wants_a_person(manifest)).count()
}

impl UpstreamsPanel {
    pub(crate) fn show_ui(&mut self, ui: &mut Ui, view: &View<'_>, actions: &mut Vec<Action>) {
        if let Some(problem) = &view.upstreams.problem {
            notice_ui(ui, view, Severity::Error, problem);
        }
        self.forget_what_is_gone(view.upstreams);
        let is_empty = view.upstreams.servers.is_empty()
            && view.upstreams.manifests.is_empty()
            && view.upstreams.unreadable.is_empty();
        if is_empty && self.shown != Shown::Add {
            return self.empty_ui(ui, view);
        }
        let room = ui.available_rect_before_wrap();
        if room.width() < ROOMY {
            return match self.shown {
                Shown::List => self.list_ui(ui, view, &Shown::List, actions),
                _ => self.page_ui(ui, view, true, actions),
            };
        }
        let (left, right) = room.split_left_right_at_x(room.left() + LIST);
        let column =
            |rect| egui::UiBuilder::new().max_rect(rect).layout(egui::Layout::top_down(egui::Align::Min));
        ui.scope_builder(column(left.with_max_x(left.right() - 8.0)), |ui| {
            let lit = self.in_sight(view.upstreams);
            self.list_ui(ui, view, &lit, actions);
        });
        ui.painter().vline(left.right(), room.y_range(), egui::Stroke::new(1.0, view.theme.border));
        let right = right.with_min_x(right.left() + 10.0);
        ui.scope_builder(column(right), |ui| self.page_ui(ui, view, false, actions));
    }

    /// The selected page. `alone` adds a button back to the list.
    fn page_ui(&mut self, ui: &mut Ui, view: &View<'_>, alone: bool, actions: &mut Vec<Action>) {
        let is_back = alone && ui.button("Back to list").clicked();
        match self.in_sight(view.upstreams) {
            Shown::List => {
                let text = "Select a server or a manifest to see its tools.";
                empty_state_ui(ui, view.theme, "Nothing selected", text);
            }
            Shown::Server(id) => self.page.show_ui(ui, view, &id, &mut self.asking, actions),
            Shown::Manifest(path) => self.manifest.show_ui(ui, view, &path, &mut self.asking, actions),
            Shown::Add => {
                if self.add.show_ui(ui, view, &mut self.asking, actions) {
                    self.shown = Shown::List;
                }
            }
        }
        if is_back {
            self.shown = Shown::List;
        }
    }

    /// The page beside the list; the first server until a person selects one.
    fn in_sight(&self, view: &UpstreamsView) -> Shown {
        match &self.shown {
            Shown::List => {
                view.servers.first().map_or(Shown::List, |server| Shown::Server(server.id.clone()))
            }
            shown => shown.clone(),
        }
    }

    fn empty_ui(&mut self, ui: &mut Ui, view: &View<'_>) {
        egui::ScrollArea::vertical().auto_shrink([false, false]).show(ui, |ui| {
            let text = "Draftboard can run MCP servers and offer their tools to connected agents. A new server is disabled, \
                        and agents cannot see its tools until you approve them.";
            empty_state_ui(ui, view.theme, "No upstream servers yet", text);
            ui.add_space(6.0);
            ui.vertical_centered(|ui| {
                for (way, words) in [
                    (Way::Form, "Add with a form…"),
                    (Way::Paste, "Paste JSON from another client…"),
                    (Way::Programs, "Import from Claude, VS Code or Cursor…"),
                    (Way::Registry, "Search a registry…"),
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
        self.shown = Shown::Server(server);
    }

    pub(crate) fn add(&mut self, way: Way) {
        self.add.begin(way);
        self.shown = Shown::Add;
    }

    /// Clears the panel for another workspace. Pending requests stay, so that their answers are still matched.
    pub(crate) fn reset(&mut self) {
        *self = Self { asking: std::mem::take(&mut self.asking), ..Self::default() };
    }

    fn forget_what_is_gone(&mut self, view: &UpstreamsView) {
        let is_there = match &self.shown {
            Shown::Server(id) => view.servers.iter().any(|server| server.id == *id) || self.page.is_new(id),
            Shown::Manifest(path) => view.manifests.iter().any(|manifest| manifest.path == *path),
            Shown::List | Shown::Add => true,
        };
        if !is_there {
            self.shown = Shown::List;
        }
    }

    /// Handles a request that did not reach main.
    pub(crate) fn lost(&mut self, ticket: u64) {
        if let Some(purpose) = self.asking.close(ticket) {
            self.page.lost(&purpose);
        }
    }

    pub(crate) fn answered(&mut self, ticket: u64, result: Result<Answer, Refusal>) -> Outcome {
        let Some(purpose) = self.asking.close(ticket) else { return Outcome::Nothing };
        match result {
            Ok(Answer::Upstream(answer)) => self.received(purpose, answer),
            Ok(_) => self.received(purpose, UpstreamAnswer::Done),
            Err(refusal) => self.refused(purpose, refusal),
        }
    }

    fn received(&mut self, purpose: Purpose, answer: UpstreamAnswer) -> Outcome {
        match (purpose, answer) {
            (Purpose::Log(id), UpstreamAnswer::Log(part)) => self.page.receive_log(&id, part),
            (Purpose::Call(tool), UpstreamAnswer::Called(result)) => {
                self.page.receive_call(&tool, Ok(result))
            }
            (Purpose::Sources, UpstreamAnswer::Sources(sources)) => self.add.receive_sources(sources),
            (Purpose::Preview, UpstreamAnswer::Import(view)) => self.add.receive_preview(*view),
            (Purpose::Registry, UpstreamAnswer::Registry(found)) => self.add.receive_registry(found),
            (Purpose::Import, UpstreamAnswer::Imported { servers, refused }) => {
                return self.imported(&servers, refused);
            }
            (Purpose::Add, UpstreamAnswer::Server(details)) => {
                let name = details.brief.name.clone();
                self.add = Add::default();
                self.shown = Shown::Server(details.brief.id.clone());
                self.page.expect(&details.brief.id);
                self.page.receive(*details);
                let next = "The server is disabled. Check what it runs, then enable it.".to_owned();
                return Outcome::Told(format!("Added {name}"), vec![next]);
            }
            (Purpose::Delete(id), _) => {
                self.page.forget(&id);
                if self.shown == Shown::Server(id) {
                    self.shown = Shown::List;
                }
                return Outcome::Told(
                    "Deleted the server, its approvals and its secrets".to_owned(),
                    Vec::new(),
                );
            }
            (purpose, UpstreamAnswer::Server(details)) => {
                self.page.done(&purpose);
                self.page.receive(*details);
            }
            (purpose, _) => {
                self.page.done(&purpose);
                self.manifest.done(&purpose);
            }
        }
        Outcome::Nothing
    }

    fn imported(&mut self, servers: &[ServerBrief], refused: Vec<(String, String)>) -> Outcome {
        if let Some(first) = servers.first() {
            self.page.expect(&first.id);
            self.shown = Shown::Server(first.id.clone());
            self.add = Add::default();
        }
        let what = crate::wording::counted(servers.len(), "server");
        let mut more: Vec<String> =
            refused.into_iter().map(|(name, why)| format!("{name} was skipped: {why}")).collect();
        more.push("Imported servers are disabled. Check what they run, then enable them.".to_owned());
        Outcome::Told(format!("Imported {what}"), more)
    }

    /// Shows the refusal on the page it belongs to, or as a toast when that page is not visible.
    fn refused(&mut self, purpose: Purpose, refusal: Refusal) -> Outcome {
        match purpose {
            Purpose::Details(_) | Purpose::Log(_) | Purpose::Server { .. } | Purpose::Update(_) => {
                self.page.refuse(&purpose, refusal)
            }
            Purpose::Add | Purpose::Sources | Purpose::Preview | Purpose::Import | Purpose::Registry => {
                self.add.refuse(&purpose, refusal);
                Outcome::Nothing
            }
            Purpose::Call(tool) => {
                self.page.receive_call(&tool, Err(&refusal));
                Outcome::Nothing
            }
            Purpose::Delete(_) | Purpose::Secret { .. } | Purpose::Manifest => Outcome::Refused(refusal),
        }
    }
}

fn brief<'a>(view: &'a View<'_>, id: &ServerId) -> Option<&'a ServerBrief> {
    view.upstreams.servers.iter().find(|server| server.id == *id)
}

fn is_failing(state: &ServerState) -> bool {
    matches!(state, ServerState::Error | ServerState::Backoff { .. })
}

/// A boxed text with a severity icon.
fn notice_ui(ui: &mut Ui, view: &View<'_>, severity: Severity, text: &str) {
    box_ui(ui, view, |ui| {
        ui.horizontal_top(|ui| {
            let (mark, _) = ui.allocate_exact_size(Vec2::splat(16.0), Sense::hover());
            paint_severity(ui.painter(), mark.center() + vec2(0.0, 1.0), view.theme, severity);
            ui.add(Label::new(RichText::new(text).color(view.theme.text)).wrap());
        });
    });
}

fn box_ui(ui: &mut Ui, view: &View<'_>, content: impl FnOnce(&mut Ui)) {
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
fn lines_ui(ui: &mut Ui, view: &View<'_>, lines: &[String]) {
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
fn told(refusal: &Refusal) -> String {
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
