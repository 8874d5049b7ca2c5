//! The welcome page: what the product is, the ways in, and the workspaces of before. A page over the window; the workspace
//! below stays open until another one is chosen.

mod choice;
mod recents;
mod templates;

use crate::{
    agents::guide,
    commands::CommandId,
    icon::paint_mark,
    panels::notices::{capitalised, message_ui},
    view::{Action, Purpose, View},
    widgets::{close_button_ui, modal_frame, muted_ui},
};
use choice::{Choice, choice_ui};
use egui::{Context, CornerRadius, Frame, Id, Margin, RichText, Sense, Stroke, Ui, vec2};
use shared_protocol::{
    Document, Refusal,
    messages::{PlainFolder, Recent, Request, Template},
};
use templates::Templates;

const MAX_WIDTH: f32 = 1060.0;
const MAX_HEIGHT: f32 = 640.0;
/// From this width on, templates and recents stand beside the choices, not below.
const TWO_COLUMNS: f32 = 700.0;
/// Left and right of the page, and above and below its scrolling part.
const MARGIN: f32 = 56.0;
const MARK: f32 = 44.0;

/// The product in three lines.
const LINES: [&str; 3] = [
    "Draw infrastructure, interfaces and specs as one graph on one canvas.",
    "Agents read it live. What they propose is drawn as ghosts and waits for your yes.",
    "Terraform, plans, costs and previews follow from the picture, before anything changes.",
];

#[derive(Default)]
pub(crate) struct Welcome {
    /// None until main has answered.
    recents: Option<Vec<Recent>>,
    templates: Templates,
    has_asked: bool,
    /// The keyboard has been put on the first thing to press.
    is_focused: bool,
    /// In the last frame.
    size: egui::Vec2,
    /// A workspace is being opened or made, in words.
    waiting: Option<String>,
    /// Why the last request failed.
    refused: Option<Refusal>,
    /// What was to be opened is a folder and no workspace.
    folder: Option<PlainFolder>,
}

impl Welcome {
    /// With what can be done about a folder that is no workspace.
    pub(crate) fn about(folder: Option<PlainFolder>) -> Self {
        Self { folder, ..Self::default() }
    }

    pub(crate) fn receive(&mut self, recents: Vec<Recent>) {
        self.recents = Some(recents);
    }

    pub(crate) fn receive_templates(&mut self, boards: Vec<(Template, Document)>) {
        self.templates.receive(boards);
    }

    /// Opening or making failed: the page says why, and asks for the recents again, which say so as well.
    pub(crate) fn refuse(&mut self, refusal: Refusal) {
        self.waiting = None;
        self.refused = Some(refusal);
        self.has_asked = false;
    }

    pub(crate) fn wait(&mut self, what: impl Into<String>) {
        self.waiting = Some(what.into());
        self.refused = None;
    }

    /// Gives back `false` when it is closed.
    pub(crate) fn show_ui(&mut self, context: &Context, view: &View<'_>, actions: &mut Vec<Action>) -> bool {
        if !std::mem::replace(&mut self.has_asked, true) {
            actions.push(Action::Ask(Request::Recents));
            if self.templates.is_missing() {
                actions.push(Action::Ask(Request::Templates));
            }
        }
        let page = egui::Modal::new(Id::unique("welcome")).frame(modal_frame(context).inner_margin(24));
        let response = page.show(context, |ui| {
            let room = context.content_rect();
            ui.set_width(MAX_WIDTH.min(room.width() - MARGIN - 48.0));
            let close = heading_ui(ui, view);
            self.news_ui(ui, view, actions);
            // As tall with few recents as with many, so that nothing moves when they arrive.
            let whole = MAX_HEIGHT.min(room.height() - MARGIN - 48.0);
            let height = (whole - ui.min_rect().height()).max(120.0);
            egui::ScrollArea::vertical()
                .max_height(height)
                .min_scrolled_height(height)
                .auto_shrink([false, false])
                .show(ui, |ui| {
                    ui.add_enabled_ui(self.waiting.is_none(), |ui| self.page_ui(ui, view, actions));
                });
            !close
        });
        // A page that grew stands in the middle again with the next frame only.
        let size = response.response.rect.size();
        if std::mem::replace(&mut self.size, size) != size {
            context.request_repaint();
        }
        response.inner && !response.should_close()
    }

    /// What is going on, what failed, or what to do about a folder.
    fn news_ui(&mut self, ui: &mut Ui, view: &View<'_>, actions: &mut Vec<Action>) {
        if let Some(what) = &self.waiting {
            ui.label(what.as_str());
            ui.add_space(8.0);
        } else if let Some(refusal) = &self.refused {
            boxed_ui(ui, view, view.theme.danger, |ui| {
                message_ui(ui, &capitalised(&refusal.message), view.theme.danger);
                for hint in &refusal.hints {
                    muted_ui(ui, view.theme, hint.as_str());
                }
            });
        }
        if let Some(folder) = self.folder.clone() {
            boxed_ui(ui, view, view.theme.accent, |ui| self.folder_ui(ui, view, &folder, actions));
        }
    }

    fn folder_ui(&mut self, ui: &mut Ui, view: &View<'_>, folder: &PlainFolder, actions: &mut Vec<Action>) {
        if folder.is_workspace {
            return self.existing_ui(ui, view, &folder.path, actions);
        }
        ui.label(RichText::new(format!("{} is not a workspace yet", folder.path)).strong());
        let text = if folder.has_terraform {
            "It has Terraform files and no draftboard.toml. Importing draws a copy of them as a board of a new workspace \
             beside this folder; your files stay as they are."
        } else {
            "It has no draftboard.toml. A workspace made here adds that file, a folder for boards and a journal, and leaves \
             everything else alone."
        };
        muted_ui(ui, view.theme, text);
        ui.add_space(4.0);
        ui.add_enabled_ui(self.waiting.is_none(), |ui| {
            ui.horizontal_wrapped(|ui| {
                if folder.has_terraform {
                    let import = ui.button("Import its Terraform");
                    self.focus_first(&import);
                    if import.clicked() {
                        self.wait(format!("Importing {}…", folder.path));
                        actions.push(Action::Ask(Request::ImportFolder(folder.path.clone())));
                    }
                }
                let create = ui.button("Create a workspace here");
                self.focus_first(&create);
                if create.clicked() {
                    self.wait(format!("Making a workspace in {}…", folder.path));
                    let (path, template) = (folder.path.clone(), Template::Blank);
                    actions.push(Action::Ask(Request::New { path, template }));
                }
                if ui.button("Choose another folder…").clicked() {
                    actions.push(Action::AskPath(Purpose::OpenWorkspace));
                }
            });
        });
    }

    /// A new workspace was to be made where one is already.
    fn existing_ui(&mut self, ui: &mut Ui, view: &View<'_>, path: &str, actions: &mut Vec<Action>) {
        ui.label(RichText::new(format!("{path} is a workspace already")).strong());
        let text = "Nothing was changed in it. Open it, or choose a template again and another folder.";
        muted_ui(ui, view.theme, text);
        ui.add_space(4.0);
        ui.add_enabled_ui(self.waiting.is_none(), |ui| {
            let open = ui.button("Open this workspace");
            self.focus_first(&open);
            if open.clicked() {
                self.wait(format!("Opening {path}…"));
                actions.push(Action::Ask(Request::Open(path.to_owned())));
            }
        });
    }

    /// Puts the keyboard on the first thing to press, once.
    fn focus_first(&mut self, first: &egui::Response) {
        if !std::mem::replace(&mut self.is_focused, true) {
            first.request_focus();
        }
    }

    fn page_ui(&mut self, ui: &mut Ui, view: &View<'_>, actions: &mut Vec<Action>) {
        let width = ui.available_width();
        if width < TWO_COLUMNS {
            self.choices_ui(ui, view, actions);
            ui.add_space(14.0);
            self.rest_ui(ui, view, actions);
            return;
        }
        ui.horizontal_top(|ui| {
            ui.vertical(|ui| {
                ui.set_width((width * 0.39).round());
                self.choices_ui(ui, view, actions);
            });
            ui.add_space(20.0);
            ui.vertical(|ui| {
                // Clear of the scroll bar.
                ui.set_width(ui.available_width() - 8.0);
                self.rest_ui(ui, view, actions);
            });
        });
    }

    fn rest_ui(&mut self, ui: &mut Ui, view: &View<'_>, actions: &mut Vec<Action>) {
        section_ui(ui, view, "New workspace");
        if let Some(template) = self.templates.show_ui(ui, view) {
            actions.push(Action::AskPath(Purpose::NewWorkspace { template }));
        }
        ui.add_space(14.0);
        section_ui(ui, view, "Recent");
        if let Some(path) = recents::recents_ui(ui, view, self.recents.as_deref(), actions) {
            self.wait(format!("Opening {path}…"));
            actions.push(Action::Ask(Request::Open(path)));
        }
    }

    fn choices_ui(&mut self, ui: &mut Ui, view: &View<'_>, actions: &mut Vec<Action>) {
        section_ui(ui, view, "Start");
        let demo = Choice {
            icon: "decision",
            title: "Show me a proposal",
            text: "A scripted agent proposes a change to a copy of the example, with one edit that does harm. You decide. \
                   It takes a minute and no network.",
            is_main: true,
        };
        let first = choice_ui(ui, view.theme, demo);
        self.focus_first(&first);
        if first.clicked() {
            self.wait("Setting up the demo…");
            actions.push(Action::Ask(Request::StartDemo));
        }
        let example = Choice {
            icon: "layers",
            title: "Try the example",
            text: "Parcel lockers: infrastructure, an interface and a spec. The copy is yours.",
            is_main: false,
        };
        if choice_ui(ui, view.theme, example).clicked() {
            self.wait("Opening the example…");
            actions.push(Action::Ask(Request::OpenExample));
        }
        let terraform = Choice {
            icon: "code",
            title: "Open Terraform folder…",
            text: "Imports a copy into a new workspace beside it; your files stay as they are.",
            is_main: false,
        };
        if choice_ui(ui, view.theme, terraform).clicked() {
            actions.push(Action::AskPath(Purpose::OpenTerraform));
        }
        let agent =
            Choice { icon: "cluster", title: "Connect an agent…", text: guide::CLIENTS, is_main: false };
        if choice_ui(ui, view.theme, agent).clicked() {
            actions.push(Action::Do(CommandId::SetupGuide));
        }
        let folder = Choice {
            icon: "folder",
            title: "Open folder…",
            text: "A workspace: a folder with a draftboard.toml.",
            is_main: false,
        };
        if choice_ui(ui, view.theme, folder).clicked() {
            actions.push(Action::AskPath(Purpose::OpenWorkspace));
        }
    }
}

/// Gives back whether the page should close.
fn heading_ui(ui: &mut Ui, view: &View<'_>) -> bool {
    let theme = view.theme;
    let close = ui.horizontal_top(|ui| {
        let (mark, _) = ui.allocate_exact_size(egui::Vec2::splat(MARK), Sense::hover());
        paint_mark(ui.painter(), mark, theme);
        ui.add_space(6.0);
        ui.vertical(|ui| {
            ui.set_width(ui.available_width() - 30.0);
            ui.label(RichText::new("Welcome to Draftboard").heading().size(22.0));
            ui.spacing_mut().item_spacing.y = 3.0;
            for line in LINES {
                ui.add(egui::Label::new(RichText::new(line).color(theme.text_muted)).wrap());
            }
        });
        close_button_ui(ui, theme, "Close the welcome page").clicked()
    });
    ui.add_space(12.0);
    close.inner
}

fn section_ui(ui: &mut Ui, view: &View<'_>, title: &str) {
    ui.label(RichText::new(title).color(view.theme.text_muted));
    ui.add_space(2.0);
}

fn boxed_ui(ui: &mut Ui, view: &View<'_>, edge: egui::Color32, content: impl FnOnce(&mut Ui)) {
    Frame::new()
        .fill(view.theme.surface_card)
        .stroke(Stroke::new(1.0, edge))
        .corner_radius(CornerRadius::same(6))
        .inner_margin(Margin::symmetric(14, 10))
        .show(ui, |ui| {
            ui.set_width(ui.available_width());
            ui.spacing_mut().item_spacing = vec2(8.0, 4.0);
            content(ui);
        });
    ui.add_space(10.0);
}
