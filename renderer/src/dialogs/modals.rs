//! Modals with fields and two buttons. Enter confirms, Esc cancels.

use crate::{
    view::{FrameView, PickedPathPurpose, SpecAction, WindowAction},
    widgets::{focus_stroke, modal_frame, more_ui, muted_ui},
};
use canvas::theme::WorkbenchTheme;
use egui::{Context, Id, Key, RichText, TextEdit, Ui};
use shared_protocol::{
    BoardId, BoardKind, BoardName, Command, bundle::EntityRef, limits::MAX_LABEL_CHARS,
    messages::WorkspaceTemplate,
};

#[derive(Debug, Clone, PartialEq)]
pub(crate) enum ModalDialog {
    NewBoard {
        kind: BoardKind,
        title: String,
    },
    RenameBoard {
        board: BoardId,
        title: String,
        name: String,
    },
    RemoveBoard {
        board: BoardId,
    },
    Path {
        purpose: PickedPathPurpose,
        path: String,
        why: String,
    },
    /// Includes the references to the entity.
    DeleteEntity {
        entity: EntityRef,
        referrers: Vec<String>,
    },
    DrawMap {
        bundle: String,
        around: Option<EntityRef>,
        depth: u32,
    },
}

impl ModalDialog {
    pub(crate) fn new_board(kind: BoardKind) -> Self {
        Self::NewBoard { kind, title: String::new() }
    }

    pub(super) fn path(purpose: PickedPathPurpose, root: &str, why: String) -> Self {
        let path = match &purpose {
            PickedPathPurpose::ImportTerraform => root.to_owned(),
            PickedPathPurpose::OpenWorkspace | PickedPathPurpose::OpenTerraform => {
                super::start_folder(root).display().to_string()
            }
            PickedPathPurpose::NewWorkspace { template } => {
                let name = match template {
                    WorkspaceTemplate::Blank => "workspace",
                    WorkspaceTemplate::ThreeTier => "three-tiers",
                    WorkspaceTemplate::Interface => "interface",
                    WorkspaceTemplate::Spec => "spec",
                    WorkspaceTemplate::Example => "example",
                };
                super::start_folder(root).join(name).display().to_string()
            }
            PickedPathPurpose::Export { suggestion, .. } => format!("{root}/{suggestion}"),
            PickedPathPurpose::ExportAudit => format!("{root}/{}", PickedPathPurpose::AUDIT_FILE),
        };
        Self::Path { purpose, path, why }
    }

    fn title(&self) -> &'static str {
        match self {
            Self::NewBoard { .. } => "New board",
            Self::RenameBoard { .. } => "Rename board",
            Self::RemoveBoard { .. } => "Remove board",
            Self::DeleteEntity { .. } => "Delete entity",
            Self::DrawMap { .. } => "Draw map",
            Self::Path { purpose, .. } => purpose.title(),
        }
    }

    fn button(&self) -> &'static str {
        match self {
            Self::NewBoard { .. } => "Create",
            Self::RenameBoard { .. } => "Rename",
            Self::RemoveBoard { .. } => "Remove",
            Self::DeleteEntity { .. } => "Delete",
            Self::DrawMap { .. } => "Draw",
            Self::Path { purpose: PickedPathPurpose::OpenWorkspace, .. } => "Open",
            Self::Path { purpose: PickedPathPurpose::NewWorkspace { .. }, .. } => "Create",
            Self::Path {
                purpose: PickedPathPurpose::Export { .. } | PickedPathPurpose::ExportAudit, ..
            } => "Export",
            Self::Path {
                purpose: PickedPathPurpose::ImportTerraform | PickedPathPurpose::OpenTerraform,
                ..
            } => "Import",
        }
    }

    /// Returns `false` when the modal closes.
    pub(super) fn show_ui(&mut self, context: &Context, view: &FrameView<'_>) -> bool {
        let is_destructive = matches!(self, Self::RemoveBoard { .. } | Self::DeleteEntity { .. });
        let (title, button) = (self.title(), self.button());
        let look = ModalTexts { title, button, width: 360.0, is_destructive, confirms_with_enter: true };
        let outcome = look.show_ui(context, view.theme, |ui| {
            self.fields_ui(ui, view);
            self.verdict(view)
        });
        match outcome {
            ModalOutcome::Open => return true,
            ModalOutcome::Closed => {}
            ModalOutcome::Confirmed(action) => view.act(action),
        }
        false
    }

    fn fields_ui(&mut self, ui: &mut Ui, view: &FrameView<'_>) {
        match self {
            Self::NewBoard { kind, title } => {
                muted_ui(ui, view.theme, "Kind");
                ui.horizontal(|ui| {
                    for each in BoardKind::ALL {
                        ui.selectable_value(kind, each, kind_title(each));
                    }
                });
                muted_ui(ui, view.theme, kind_text(*kind));
                ui.add_space(6.0);
                text_ui(ui, view, "Board title", title, true);
            }
            Self::RenameBoard { title, name, .. } => {
                text_ui(ui, view, "Board title", title, true);
                ui.add_space(6.0);
                text_ui(ui, view, "Board name", name, false);
                muted_ui(ui, view.theme, "The board file has the same name.");
            }
            Self::RemoveBoard { board } => {
                let title = view.snapshot.board(*board).map_or("this board", |board| board.title.as_str());
                let nodes = view.snapshot.nodes_on(*board).count();
                let what = shared_protocol::text::count_noun(nodes, "node");
                ui.label(format!("Removes “{title}” and the {what} on it. Undo restores them."));
            }
            Self::DeleteEntity { entity, referrers } => delete_ui(ui, view, entity, referrers),
            Self::DrawMap { bundle, around, depth } => map_ui(ui, view, bundle, around, depth),
            Self::Path { path, why, .. } => {
                muted_ui(ui, view.theme, why.as_str());
                ui.add_space(4.0);
                text_ui(ui, view, "Path", path, true);
            }
        }
    }

    fn verdict(&self, view: &FrameView<'_>) -> Result<WindowAction, String> {
        match self {
            Self::NewBoard { kind, title } => match check_title(title) {
                Ok(title) => Ok(WindowAction::Run(Command::AddBoard { kind: *kind, title, name: None })),
                Err(why) => Err(why),
            },
            Self::RenameBoard { board, title, name } => {
                match (check_title(title), BoardName::parse(name.as_str())) {
                    (Ok(title), Ok(name)) => {
                        let taken = view.snapshot.board_named(&name).is_some_and(|other| other.id != *board);
                        if taken {
                            return Err(format!("Another board is already named {name}."));
                        }
                        let (title, name) = (Some(title), Some(name));
                        Ok(WindowAction::Run(Command::UpdateBoard { board: (*board).into(), title, name }))
                    }
                    (Err(why), _) => Err(why),
                    (_, Err(error)) => Err(format!("{error}.")),
                }
            }
            Self::RemoveBoard { board } => {
                Ok(WindowAction::Run(Command::RemoveBoard { board: (*board).into() }))
            }
            Self::DeleteEntity { referrers, .. } if !referrers.is_empty() => Err(String::new()),
            Self::DeleteEntity { entity, .. } => Ok(WindowAction::Spec(SpecAction::Delete(entity.clone()))),
            Self::DrawMap { bundle, around, depth } => {
                let (bundle, around, depth) = (bundle.clone(), around.clone(), *depth);
                Ok(WindowAction::Spec(SpecAction::DrawMap { bundle, around, depth }))
            }
            Self::Path { purpose, path, .. } => {
                let ending = path.rsplit('.').next().unwrap_or_default();
                match purpose {
                    _ if path.trim().is_empty() => Err(String::new()),
                    PickedPathPurpose::Export { .. } if !matches!(ending, "png" | "svg" | "md") => {
                        Err("The path must end in .png, .svg or .md.".to_owned())
                    }
                    _ => Ok(purpose.action(path.trim().to_owned())),
                }
            }
        }
    }
}

/// The title and buttons of a modal.
pub(crate) struct ModalTexts {
    pub(crate) title: &'static str,
    pub(crate) button: &'static str,
    pub(crate) width: f32,
    pub(crate) is_destructive: bool,
    pub(crate) confirms_with_enter: bool,
}

pub(crate) enum ModalOutcome<T> {
    Open,
    Closed,
    Confirmed(T),
}

impl ModalTexts {
    /// `fields_ui` returns the value that the button confirms, or the reason that it cannot be pressed.
    pub(crate) fn show_ui<T>(
        &self,
        context: &Context,
        theme: &WorkbenchTheme,
        fields_ui: impl FnOnce(&mut Ui) -> Result<T, String>,
    ) -> ModalOutcome<T> {
        let response =
            egui::Modal::new(Id::unique("modal")).frame(modal_frame(context)).show(context, |ui| {
                ui.set_width(self.width);
                ui.label(RichText::new(self.title).heading());
                ui.add_space(8.0);
                let verdict = fields_ui(ui);
                if let Err(why) = &verdict
                    && !why.is_empty()
                {
                    ui.label(RichText::new(why).small().color(theme.danger));
                }
                ui.add_space(12.0);
                self.buttons_ui(ui, theme, verdict)
            });
        match response.inner {
            ModalOutcome::Open if response.should_close() => ModalOutcome::Closed,
            outcome => outcome,
        }
    }

    fn buttons_ui<T>(
        &self,
        ui: &mut Ui,
        theme: &WorkbenchTheme,
        verdict: Result<T, String>,
    ) -> ModalOutcome<T> {
        let (fill, text) = if self.is_destructive {
            (theme.danger, theme.status_text)
        } else {
            (theme.accent, theme.accent_text)
        };
        ui.with_layout(egui::Layout::right_to_left(egui::Align::Center), |ui| {
            let ready = verdict.is_ok();
            let color = if ready { text } else { theme.text_subtle };
            let button = egui::Button::new(RichText::new(self.button).color(color));
            let button = button.min_size(egui::vec2(84.0, 28.0));
            let button = if ready { button.fill(fill) } else { button };
            let pressed = ui.add_enabled(ready, button).clicked();
            let entered = self.confirms_with_enter && ui.input(|input| input.key_pressed(Key::Enter));
            let cancelled = ui.add(egui::Button::new("Cancel").min_size(egui::vec2(84.0, 28.0))).clicked();
            match verdict {
                Ok(value) if pressed || entered => ModalOutcome::Confirmed(value),
                _ if cancelled => ModalOutcome::Closed,
                _ => ModalOutcome::Open,
            }
        })
        .inner
    }
}

/// Referrers that are named; more are counted.
const MAX_LISTED_REFERRERS: usize = 8;
/// The choices for the depth of a map around an entity.
const MAP_DEPTHS: [(u32, &str); 3] = [(1, "Neighbours"), (2, "Two steps"), (3, "Three steps")];

fn delete_ui(ui: &mut Ui, view: &FrameView<'_>, entity: &EntityRef, referrers: &[String]) {
    if referrers.is_empty() {
        let text = format!("Deletes {} and its file. Nothing references it. Undo restores it.", entity.id);
        ui.label(text);
        return;
    }
    let count = referrers.len();
    let what = if count == 1 { "1 reference points".to_owned() } else { format!("{count} references point") };
    ui.label(format!("{} cannot be deleted: {what} to it. Remove the references first.", entity.id));
    ui.add_space(4.0);
    for referrer in referrers.iter().take(MAX_LISTED_REFERRERS) {
        muted_ui(ui, view.theme, format!("• {referrer}"));
    }
    more_ui(ui, view.theme, count, MAX_LISTED_REFERRERS);
}

fn map_ui(ui: &mut Ui, view: &FrameView<'_>, bundle: &str, around: &mut Option<EntityRef>, depth: &mut u32) {
    match around {
        Some(entity) => {
            let id = entity.id.clone();
            ui.label(format!("Draws {id} and the entities connected to it on a spec board."));
            ui.add_space(6.0);
            muted_ui(ui, view.theme, "Depth");
            ui.horizontal(|ui| {
                for (each, text) in MAP_DEPTHS {
                    ui.selectable_value(depth, each, text);
                }
            });
            if ui.button("Draw the whole bundle instead").clicked() {
                *around = None;
            }
        }
        None => {
            ui.label(format!(
                "Draws every entity of {bundle} and the references between them on a spec board."
            ));
        }
    }
    muted_ui(ui, view.theme, "Drawing the map again updates the board. Undo reverts it.");
}

fn check_title(title: &str) -> Result<String, String> {
    let title = title.trim();
    match title.chars().count() {
        0 => Err(String::new()),
        length if length > MAX_LABEL_CHARS => {
            Err(format!("A title can have at most {MAX_LABEL_CHARS} characters."))
        }
        _ => Ok(title.to_owned()),
    }
}

fn text_ui(ui: &mut Ui, view: &FrameView<'_>, label: &str, text: &mut String, first: bool) {
    let label = muted_ui(ui, view.theme, label);
    let edit = TextEdit::singleline(text).desired_width(f32::INFINITY).margin(egui::Margin::symmetric(8, 5));
    let field = focus_stroke(ui, view.theme, |ui| ui.add(edit)).labelled_by(label.id);
    // The first field takes keyboard focus, unless another widget has it.
    if first && ui.memory(|memory| memory.focused().is_none()) {
        field.request_focus();
    }
}

pub(crate) fn kind_title(kind: BoardKind) -> &'static str {
    match kind {
        BoardKind::Infrastructure => "Infrastructure",
        BoardKind::Interface => "Interface",
        BoardKind::Spec => "Spec",
    }
}

pub(crate) fn kind_text(kind: BoardKind) -> &'static str {
    match kind {
        BoardKind::Infrastructure => "Cloud resources that become Terraform.",
        BoardKind::Interface => "Pages and components with a live preview.",
        BoardKind::Spec => "Requirements, decisions and their relations.",
    }
}
