//! The welcome page: introduction, start choices, templates and recent workspaces. It covers the window; the current
//! workspace stays open until another one is chosen.

mod choice;
mod recents;
mod templates;

use crate::{
    agents::guide,
    app_icon::paint_mark,
    commands::CommandId,
    panels::notices::{capitalised, message_ui},
    view::{FrameView, PickedPathPurpose, WelcomeResponse, WindowAction},
    widgets::{close_button_ui, modal_frame, muted_ui},
};
use choice::{WelcomeChoice, choice_ui};
use egui::{Context, CornerRadius, Frame, Id, Margin, RichText, Sense, Stroke, Ui, vec2};
use shared_protocol::{
    GraphDocument, Refusal,
    messages::{RecentWorkspace, WelcomeFolder, WorkspaceTemplate},
    requests::{ListRecents, ListTemplates},
};
use templates::TemplateGallery;

const MAX_PAGE_WIDTH: f32 = 1060.0;
const MAX_PAGE_HEIGHT: f32 = 640.0;
const TWO_COLUMNS_MIN_WIDTH: f32 = 700.0;
const MARGIN: f32 = 56.0;
const MARK_SIZE: f32 = 44.0;

const INTRODUCTION: [&str; 3] = [
    "Draw infrastructure, interfaces and specs as one graph on one canvas.",
    "Agents read the boards live. Their proposals appear as ghosts until you accept or reject them.",
    "Check Terraform code, plans, costs and previews before anything changes.",
];

#[derive(Default)]
pub(crate) struct WelcomePage {
    /// `None` until main answers.
    recents: Option<Vec<RecentWorkspace>>,
    templates: TemplateGallery,
    has_asked: bool,
    /// The first button has received keyboard focus.
    is_focused: bool,
    size: egui::Vec2,
    /// The progress message while a workspace is opened or created.
    waiting: Option<String>,
    refused: Option<Refusal>,
    /// The chosen folder, when it is not a workspace.
    folder: Option<WelcomeFolder>,
}

impl WelcomePage {
    /// Creates the page with the options for a folder that is not a workspace.
    pub(crate) fn for_folder(folder: Option<WelcomeFolder>) -> Self {
        Self { folder, ..Self::default() }
    }

    pub(crate) fn receive(&mut self, recents: Vec<RecentWorkspace>) {
        self.recents = Some(recents);
    }

    pub(crate) fn receive_templates(&mut self, boards: Vec<(WorkspaceTemplate, GraphDocument)>) {
        self.templates.receive(boards);
    }

    /// Shows a failed request and reloads the recent workspaces, which then show the problem too.
    pub(crate) fn refuse(&mut self, refusal: Refusal) {
        self.waiting = None;
        self.refused = Some(refusal);
        self.has_asked = false;
    }

    pub(crate) fn wait(&mut self, what: impl Into<String>) {
        self.waiting = Some(what.into());
        self.refused = None;
    }

    /// Returns `false` when the page closes.
    pub(crate) fn show_ui(&mut self, context: &Context, view: &FrameView<'_>) -> bool {
        if !std::mem::replace(&mut self.has_asked, true) {
            view.act(WindowAction::welcome(ListRecents {}, WelcomeResponse::Recents));
            if self.templates.is_missing() {
                view.act(WindowAction::welcome(ListTemplates {}, WelcomeResponse::Templates));
            }
        }
        let page = egui::Modal::new(Id::unique("welcome")).frame(modal_frame(context).inner_margin(24));
        let response = page.show(context, |ui| {
            let room = context.content_rect();
            ui.set_width(MAX_PAGE_WIDTH.min(room.width() - MARGIN - 48.0));
            let close = heading_ui(ui, view);
            self.news_ui(ui, view);
            // The height does not depend on the recent workspaces, so that nothing moves when they arrive.
            let whole = MAX_PAGE_HEIGHT.min(room.height() - MARGIN - 48.0);
            let height = (whole - ui.min_rect().height()).max(120.0);
            egui::ScrollArea::vertical()
                .max_height(height)
                .min_scrolled_height(height)
                .auto_shrink([false, false])
                .show(ui, |ui| {
                    ui.add_enabled_ui(self.waiting.is_none(), |ui| self.page_ui(ui, view));
                });
            !close
        });
        // A page that changed size is centred again only in the next frame.
        let size = response.response.rect.size();
        if std::mem::replace(&mut self.size, size) != size {
            context.request_repaint();
        }
        response.inner && !response.should_close()
    }

    /// Shows the progress, the last refusal, or the options for a folder.
    fn news_ui(&mut self, ui: &mut Ui, view: &FrameView<'_>) {
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
            boxed_ui(ui, view, view.theme.accent, |ui| self.folder_ui(ui, view, &folder));
        }
    }

    fn folder_ui(&mut self, ui: &mut Ui, view: &FrameView<'_>, folder: &WelcomeFolder) {
        if folder.is_workspace {
            return self.existing_ui(ui, view, &folder.path);
        }
        ui.label(RichText::new(format!("{} is not a workspace yet", folder.path)).strong());
        let text = if folder.has_terraform {
            "It has Terraform files but no draftboard.toml. Importing creates a new workspace next to this folder, with a \
                         board drawn from a copy of the files. Your files do not change."
        } else {
            "It has no draftboard.toml. Creating a workspace here adds that file, a folder for boards and a journal. Other \
                         files do not change."
        };
        muted_ui(ui, view.theme, text);
        ui.add_space(4.0);
        ui.add_enabled_ui(self.waiting.is_none(), |ui| {
            ui.horizontal_wrapped(|ui| {
                if folder.has_terraform {
                    let import = ui.button("Import Terraform files");
                    self.focus_first(&import);
                    if import.clicked() {
                        self.wait(format!("Importing {}…", folder.path));
                        view.act(PickedPathPurpose::OpenTerraform.action(folder.path.clone()));
                    }
                }
                let create = ui.button("Create a workspace here");
                self.focus_first(&create);
                if create.clicked() {
                    self.wait(format!("Creating a workspace in {}…", folder.path));
                    let (path, template) = (folder.path.clone(), WorkspaceTemplate::Blank);
                    view.act(PickedPathPurpose::NewWorkspace { template }.action(path));
                }
                if ui.button("Choose another folder…").clicked() {
                    view.act(WindowAction::AskPath(PickedPathPurpose::OpenWorkspace));
                }
            });
        });
    }

    /// Shows the options when a new workspace was requested in an existing one.
    fn existing_ui(&mut self, ui: &mut Ui, view: &FrameView<'_>, path: &str) {
        ui.label(RichText::new(format!("{path} is already a workspace")).strong());
        let text = "It was not changed. Open it, or choose a template and another folder.";
        muted_ui(ui, view.theme, text);
        ui.add_space(4.0);
        ui.add_enabled_ui(self.waiting.is_none(), |ui| {
            let open = ui.button("Open this workspace");
            self.focus_first(&open);
            if open.clicked() {
                self.wait(format!("Opening {path}…"));
                view.act(WindowAction::open_workspace(path.to_owned()));
            }
        });
    }

    /// Moves keyboard focus to the first button, once.
    fn focus_first(&mut self, first: &egui::Response) {
        if !std::mem::replace(&mut self.is_focused, true) {
            first.request_focus();
        }
    }

    fn page_ui(&mut self, ui: &mut Ui, view: &FrameView<'_>) {
        let width = ui.available_width();
        if width < TWO_COLUMNS_MIN_WIDTH {
            self.choices_ui(ui, view);
            ui.add_space(14.0);
            self.rest_ui(ui, view);
            return;
        }
        ui.horizontal_top(|ui| {
            ui.vertical(|ui| {
                ui.set_width((width * 0.39).round());
                self.choices_ui(ui, view);
            });
            ui.add_space(20.0);
            ui.vertical(|ui| {
                // Leaves room for the scroll bar.
                ui.set_width(ui.available_width() - 8.0);
                self.rest_ui(ui, view);
            });
        });
    }

    fn rest_ui(&mut self, ui: &mut Ui, view: &FrameView<'_>) {
        section_ui(ui, view, "New workspace");
        if let Some(template) = self.templates.show_ui(ui, view) {
            view.act(WindowAction::AskPath(PickedPathPurpose::NewWorkspace { template }));
        }
        ui.add_space(14.0);
        section_ui(ui, view, "Recent");
        if let Some(path) = recents::recents_ui(ui, view, self.recents.as_deref()) {
            self.wait(format!("Opening {path}…"));
            view.act(WindowAction::open_workspace(path));
        }
    }

    fn choices_ui(&mut self, ui: &mut Ui, view: &FrameView<'_>) {
        section_ui(ui, view, "Start");
        let demo = WelcomeChoice {
            icon: "decision",
            title: "Show me a proposal",
            text: "A scripted agent proposes a change to a copy of the example, including one harmful change. You review it and \
                               decide. Takes a minute and works offline.",
            is_main: true,
        };
        let first = choice_ui(ui, view.theme, demo);
        self.focus_first(&first);
        if first.clicked() {
            self.wait("Setting up the demo…");
            view.act(WindowAction::StartDemo);
        }
        let example = WelcomeChoice {
            icon: "layers",
            title: "Try the example",
            text: "Parcel lockers: infrastructure, an interface and a spec. Opens your own copy.",
            is_main: false,
        };
        if choice_ui(ui, view.theme, example).clicked() {
            self.wait("Opening the example…");
            view.act(WindowAction::open_example());
        }
        let terraform = WelcomeChoice {
            icon: "code",
            title: "Open Terraform folder…",
            text: "Imports a copy into a new workspace next to the folder. Your files do not change.",
            is_main: false,
        };
        if choice_ui(ui, view.theme, terraform).clicked() {
            view.act(WindowAction::AskPath(PickedPathPurpose::OpenTerraform));
        }
        let agent = WelcomeChoice {
            icon: "cluster",
            title: "Connect an agent…",
            text: guide::SUPPORTED_CLIENTS,
            is_main: false,
        };
        if choice_ui(ui, view.theme, agent).clicked() {
            view.act(CommandId::SetupGuide);
        }
        let folder = WelcomeChoice {
            icon: "folder",
            title: "Open folder…",
            text: "Opens a workspace, which is a folder with a draftboard.toml.",
            is_main: false,
        };
        if choice_ui(ui, view.theme, folder).clicked() {
            view.act(WindowAction::AskPath(PickedPathPurpose::OpenWorkspace));
        }
    }
}

/// Returns whether the page should close.
fn heading_ui(ui: &mut Ui, view: &FrameView<'_>) -> bool {
    let theme = view.theme;
    let close = ui.horizontal_top(|ui| {
        let (mark, _) = ui.allocate_exact_size(egui::Vec2::splat(MARK_SIZE), Sense::hover());
        paint_mark(ui.painter(), mark, theme);
        ui.add_space(6.0);
        ui.vertical(|ui| {
            ui.set_width(ui.available_width() - 30.0);
            ui.label(RichText::new("Welcome to Draftboard").heading().size(22.0));
            ui.spacing_mut().item_spacing.y = 3.0;
            for line in INTRODUCTION {
                ui.add(egui::Label::new(RichText::new(line).color(theme.text_muted)).wrap());
            }
        });
        close_button_ui(ui, theme, "Close the welcome page").clicked()
    });
    ui.add_space(12.0);
    close.inner
}

fn section_ui(ui: &mut Ui, view: &FrameView<'_>, title: &str) {
    ui.label(RichText::new(title).color(view.theme.text_muted));
    ui.add_space(2.0);
}

fn boxed_ui(ui: &mut Ui, view: &FrameView<'_>, edge: egui::Color32, content: impl FnOnce(&mut Ui)) {
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
