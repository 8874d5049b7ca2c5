//! The launcher: which workspace to work on. A page over the window; what is open stays open until something else is.

use crate::{
    dialogs::Purpose,
    view::{Action, View},
    widgets::{
        body_font, close_button_ui, empty_state_ui, focus_ring, modal_frame, muted_ui, paint_icon,
        paint_line, small_font,
    },
};
use canvas::theme::Theme;
use egui::{
    Align2, Context, CornerRadius, Id, Rect, Response, RichText, Role, Sense, Stroke, StrokeKind, Ui, Vec2,
    WidgetInfo, pos2, vec2,
};
use shared_protocol::{
    Refusal,
    messages::{Recent, Request, Template},
};

const WIDEST: f32 = 860.0;
/// From here on recents stand beside the rest, not below.
const TWO_COLUMNS: f32 = 620.0;
const CARD: f32 = 48.0;
const RECENT: f32 = 46.0;

#[derive(Debug, Default)]
pub(crate) struct Launcher {
    /// None until main has said.
    recents: Option<Vec<Recent>>,
    asked: bool,
    /// Something was opened or made and the answer is not here yet.
    waiting: Option<String>,
    /// Why what was asked for last did not work.
    refused: Option<Refusal>,
}

impl Launcher {
    pub(crate) fn receive(&mut self, recents: Vec<Recent>) {
        self.recents = Some(recents);
    }

    /// Opening or making did not work: it is said here, and again beside the workspace.
    pub(crate) fn refuse(&mut self, refusal: Refusal) {
        self.waiting = None;
        self.refused = Some(refusal);
        self.asked = false;
    }

    /// Gives back `false` when it is closed.
    pub(crate) fn show_ui(&mut self, context: &Context, view: &View<'_>, actions: &mut Vec<Action>) -> bool {
        if !std::mem::replace(&mut self.asked, true) {
            actions.push(Action::Ask(Request::Recents));
        }
        let page = egui::Modal::new(Id::unique("launcher")).frame(modal_frame(context));
        let response = page.show(context, |ui| {
            let room = context.content_rect();
            ui.set_width(WIDEST.min(room.width() - 60.0));
            let close = self.heading_ui(ui, view);
            let height = (room.height() - 150.0).max(120.0);
            egui::ScrollArea::vertical()
                .max_height(height)
                .min_scrolled_height(height)
                .auto_shrink([false, true])
                .show(ui, |ui| {
                    ui.add_enabled_ui(self.waiting.is_none(), |ui| self.page_ui(ui, view, actions));
                });
            !close
        });
        response.inner && !response.should_close()
    }

    /// Gives back whether it should close.
    fn heading_ui(&self, ui: &mut Ui, view: &View<'_>) -> bool {
        let close = ui.horizontal(|ui| {
            ui.label(RichText::new("Choose a workspace").heading());
            let end = egui::Layout::right_to_left(egui::Align::Center);
            ui.with_layout(end, |ui| close_button_ui(ui, view.theme, "Close launcher").clicked()).inner
        });
        match (&self.waiting, &self.refused) {
            (Some(what), _) => drop(muted_ui(ui, view.theme, what.as_str())),
            (None, Some(refusal)) => {
                ui.label(RichText::new(capitalised(&refusal.message)).color(view.theme.danger));
                for hint in &refusal.hints {
                    muted_ui(ui, view.theme, hint.as_str());
                }
            }
            (None, None) => drop(muted_ui(ui, view.theme, format!("{} is open now.", view.root))),
        }
        ui.add_space(10.0);
        close.inner
    }

    fn page_ui(&mut self, ui: &mut Ui, view: &View<'_>, actions: &mut Vec<Action>) {
        let width = ui.available_width();
        if width < TWO_COLUMNS {
            self.begin_ui(ui, view.theme, actions);
            ui.add_space(12.0);
            self.recents_ui(ui, view, actions);
            return;
        }
        ui.horizontal_top(|ui| {
            let half = (width - 24.0) / 2.0;
            ui.vertical(|ui| {
                ui.set_width(half);
                self.begin_ui(ui, view.theme, actions);
            });
            ui.add_space(16.0);
            ui.vertical(|ui| {
                ui.set_width(ui.available_width() - 6.0);
                self.recents_ui(ui, view, actions);
            });
        });
    }

    fn begin_ui(&mut self, ui: &mut Ui, theme: &Theme, actions: &mut Vec<Action>) {
        section_ui(ui, theme, "Open");
        let folder =
            Card { icon: "folder", title: "Open folder…", text: "A folder with a draftboard.toml" };
        if card_ui(ui, theme, folder).clicked() {
            actions.push(Action::AskPath(Purpose::OpenWorkspace));
        }
        let example =
            Card { icon: "page", title: "Open the example", text: "Your own copy, to try things on" };
        if card_ui(ui, theme, example).clicked() {
            self.wait("Opening the example…");
            actions.push(Action::Ask(Request::OpenExample));
        }
        ui.add_space(8.0);
        section_ui(ui, theme, "New from a template");
        for template in Template::ALL {
            if card_ui(ui, theme, template_card(template)).clicked() {
                actions.push(Action::AskPath(Purpose::NewWorkspace { template }));
            }
        }
    }

    fn recents_ui(&mut self, ui: &mut Ui, view: &View<'_>, actions: &mut Vec<Action>) {
        section_ui(ui, view.theme, "Recent");
        let Some(recents) = &self.recents else {
            muted_ui(ui, view.theme, "Looking…");
            return;
        };
        if recents.is_empty() {
            empty_state_ui(ui, view.theme, "Nothing yet", "Workspaces that you open are listed here.");
            return;
        }
        let mut chosen = None;
        for recent in recents {
            match recent_ui(ui, view, recent) {
                Some(Chosen::Open) => chosen = Some(recent.path.clone()),
                Some(Chosen::Forget) => {
                    actions.push(Action::Ask(Request::ForgetRecent(recent.path.clone())));
                }
                None => {}
            }
        }
        if let Some(path) = chosen {
            self.wait(format!("Opening {path}…"));
            actions.push(Action::Ask(Request::Open(path)));
        }
    }

    pub(crate) fn wait(&mut self, what: impl Into<String>) {
        self.waiting = Some(what.into());
        self.refused = None;
    }
}

fn section_ui(ui: &mut Ui, theme: &Theme, title: &str) {
    ui.label(RichText::new(title).color(theme.text_muted));
    ui.add_space(2.0);
}

#[derive(Clone, Copy)]
struct Card {
    icon: &'static str,
    title: &'static str,
    text: &'static str,
}

fn template_card(template: Template) -> Card {
    let (icon, title, text) = match template {
        Template::Blank => ("note", "Blank…", "One empty infrastructure board"),
        Template::ThreeTier => {
            ("cloud", "Three-tier infrastructure…", "Network, web servers, database, queue")
        }
        Template::Interface => ("page", "Interface…", "Pages, a form and how they lead to each other"),
        Template::Spec => ("requirement", "Spec…", "Requirements, features, decisions, tasks"),
        Template::Example => ("folder", "Example…", "All three, as one product"),
    };
    Card { icon, title, text }
}

fn card_ui(ui: &mut Ui, theme: &Theme, card: Card) -> Response {
    let (rect, response) = ui.allocate_exact_size(vec2(ui.available_width(), CARD), Sense::click());
    response.widget_info(|| WidgetInfo::labeled(Role::Button, ui.is_enabled(), card.title));
    if ui.is_rect_visible(rect) {
        paint_card(ui, theme, rect, &response);
        let icon = Rect::from_center_size(pos2(rect.left() + 24.0, rect.center().y), Vec2::splat(20.0));
        paint_icon(ui.painter(), card.icon, icon, theme.accent);
        let room =
            Rect::from_min_max(pos2(icon.right() + 12.0, rect.top() + 6.0), rect.max - vec2(10.0, 6.0));
        let (upper, lower) = room.split_top_bottom_at_fraction(0.5);
        paint_line(ui, upper, Align2::LEFT_CENTER, card.title, body_font(ui), theme.text);
        paint_line(ui, lower, Align2::LEFT_CENTER, card.text, small_font(ui), theme.text_muted);
    }
    response
}

fn paint_card(ui: &Ui, theme: &Theme, rect: Rect, response: &Response) {
    let edge = if response.hovered() { theme.accent } else { theme.border };
    let corners = CornerRadius::same(6);
    ui.painter().rect(rect, corners, theme.surface_card, Stroke::new(1.0, edge), StrokeKind::Inside);
    focus_ring(ui, theme, rect, response);
}

enum Chosen {
    Open,
    Forget,
}

fn recent_ui(ui: &mut Ui, view: &View<'_>, recent: &Recent) -> Option<Chosen> {
    let theme = view.theme;
    let mut chosen = None;
    let height = if recent.problem.is_some() { RECENT + 18.0 } else { RECENT };
    let (rect, _) = ui.allocate_exact_size(vec2(ui.available_width(), height), Sense::hover());
    let mut row = ui.new_child(egui::UiBuilder::new().max_rect(rect).id_salt(&recent.path));
    let card = rect.with_max_x(rect.right() - 26.0);
    let response = row.allocate_rect(card, Sense::click());
    let name = format!("Open {}", recent.name);
    response.widget_info(|| WidgetInfo::labeled(Role::Button, row.is_enabled(), &name));
    row.ctx().accesskit_node_builder(response.id, |node| {
        node.set_description(recent.problem.clone().unwrap_or_else(|| recent.path.clone()));
    });
    if ui.is_rect_visible(rect) {
        paint_card(&row, theme, card, &response);
        let lines = 2.0 + f32::from(u8::from(recent.problem.is_some()));
        let room = card.shrink2(vec2(12.0, 6.0));
        let line = |index: f32| {
            let step = room.height() / lines;
            Rect::from_min_size(pos2(room.left(), room.top() + step * index), vec2(room.width(), step))
        };
        paint_line(&row, line(0.0), Align2::LEFT_CENTER, &recent.name, body_font(&row), theme.text);
        paint_line(&row, line(1.0), Align2::LEFT_CENTER, &recent.path, small_font(&row), theme.text_muted);
        if let Some(problem) = &recent.problem {
            paint_line(&row, line(2.0), Align2::LEFT_CENTER, problem, small_font(&row), theme.danger);
        }
    }
    let full = recent.problem.as_ref().unwrap_or(&recent.path);
    if response.on_hover_text(full).clicked() {
        chosen = Some(Chosen::Open);
    }
    let cross = Rect::from_center_size(pos2(rect.right() - 12.0, rect.center().y), Vec2::splat(20.0));
    let mut end = row.new_child(egui::UiBuilder::new().max_rect(cross));
    if close_button_ui(&mut end, theme, &format!("Remove {} from the list", recent.name)).clicked() {
        chosen = Some(Chosen::Forget);
    }
    chosen
}

fn capitalised(text: &str) -> String {
    let mut chars = text.chars();
    chars.next().map_or_else(String::new, |first| first.to_uppercase().chain(chars).collect())
}
