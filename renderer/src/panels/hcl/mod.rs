//! The board as files: what would be written, how that differs from what is there, and which lines are whose. A click
//! on a line selects its node; selecting a node shows its block.

mod code;
mod file;
mod list;
mod tokens;

use crate::{
    panels::status_bar::counted,
    terraform::ask,
    view::{Action, View},
    widgets::{empty_state_ui, muted_ui},
};
use code::{Shown, code_ui};
use egui::{Ui, vec2};
use file::File;
use shared_protocol::{
    BoardId, NodeId,
    terraform::{HclView, TerraformRequest},
};

/// Narrower than this, files are chosen from a list to drop down.
const ROOMY: f32 = 520.0;
const LIST: f32 = 220.0;

#[derive(Default)]
pub(crate) struct HclPanel {
    files: Vec<File>,
    /// The answer that the files were made from.
    made_for: Option<(BoardId, u64)>,
    chosen: String,
    /// The node whose block was shown last.
    followed: Option<NodeId>,
    go_to: Option<usize>,
}

impl HclPanel {
    pub(crate) fn show_ui(&mut self, ui: &mut Ui, view: &View<'_>, actions: &mut Vec<Action>) {
        let Some(board) = view.infrastructure() else {
            let text = "Infrastructure boards do: each is a folder of Terraform files.";
            return empty_state_ui(ui, view.theme, "This board does not become files", text);
        };
        let Some(hcl) = view.known.hcl(board) else {
            return match view.known.hcl_refused() {
                Some(why) => super::terraform::refused_ui(ui, view, why),
                None => drop(muted_ui(ui, view.theme, "Making the files…")),
            };
        };
        if hcl.files.is_empty() {
            let text = "Add resources to the board and they are written as Terraform here.";
            return empty_state_ui(ui, view.theme, "Nothing to write yet", text);
        }
        self.update(board, hcl, view.known.hcl_version());
        self.follow(view);
        self.toolbar_ui(ui, view, hcl, actions);
        self.files_ui(ui, view, hcl, actions);
    }

    /// Only files that have changed are made anew.
    fn update(&mut self, board: BoardId, hcl: &HclView, version: u64) {
        if self.made_for == Some((board, version)) {
            return;
        }
        self.made_for = Some((board, version));
        let mut before = std::mem::take(&mut self.files);
        for file in &hcl.files {
            let same = before.iter().position(|made| made.is_of(file));
            self.files.push(match same.map(|place| before.swap_remove(place)) {
                Some(mut made) => {
                    made.belongs(&hcl.spans);
                    made
                }
                None => File::of(file, &hcl.spans),
            });
        }
        if self.files.iter().all(|file| file.path != self.chosen) {
            // What people look for is in there.
            let first = self.files.iter().find(|file| file.path == "main.tf").or(self.files.first());
            self.chosen = first.map(|file| file.path.clone()).unwrap_or_default();
            self.followed = None;
        }
    }

    /// Somebody has selected another node: its block is shown.
    fn follow(&mut self, view: &View<'_>) {
        let selected = match view.selected_nodes()[..] {
            [only] => Some(only),
            _ => None,
        };
        if selected == self.followed {
            return;
        }
        self.followed = selected;
        let Some(node) = selected else { return };
        let here = self.files.iter().find(|file| file.path == self.chosen && file.holds(node));
        let Some(file) = here.or_else(|| self.files.iter().find(|file| file.holds(node))) else { return };
        self.go_to = file.rows_of(node).map(|rows| rows.start);
        self.chosen.clone_from(&file.path);
    }

    fn toolbar_ui(&mut self, ui: &mut Ui, view: &View<'_>, hcl: &HclView, actions: &mut Vec<Action>) {
        let unwritten = self.files.iter().filter(|file| file.differs()).count() + hcl.removed.len();
        ui.scope(|ui| {
            ui.spacing_mut().button_padding = vec2(8.0, 2.0);
            ui.spacing_mut().interact_size.y = 24.0;
            ui.horizontal(|ui| {
                let write = ui.add_enabled(unwritten > 0, egui::Button::new("Write files"));
                let write = write
                    .on_hover_text(
                        "Writes what differs to the board's folder, and removes what is needed no more",
                    )
                    .on_disabled_hover_text("The files in the workspace are as they would be written");
                if write.clicked() {
                    ask(actions, TerraformRequest::Write { board: hcl.board });
                }
                if let Some(file) = self.files.iter().find(|file| file.path == self.chosen)
                    && ui.button("Copy file").on_hover_text(format!("Copies {}", file.path)).clicked()
                {
                    ui.ctx().copy_text(file.text().to_owned());
                }
                if ui.available_width() < ROOMY - 200.0 {
                    self.chooser_ui(ui);
                }
                let text = match unwritten {
                    0 => "All files are written".to_owned(),
                    count => format!("{} not written", counted(count, "file")),
                };
                muted_ui(ui, view.theme, text);
                if hcl.revision < view.snapshot.revision() {
                    muted_ui(ui, view.theme, "· updating…");
                }
            });
        });
    }

    fn chooser_ui(&mut self, ui: &mut Ui) {
        egui::ComboBox::from_id_salt("file").selected_text(&self.chosen).show_ui(ui, |ui| {
            for file in &self.files {
                ui.selectable_value(&mut self.chosen, file.path.clone(), &file.path);
            }
        });
    }

    fn files_ui(&mut self, ui: &mut Ui, view: &View<'_>, hcl: &HclView, actions: &mut Vec<Action>) {
        let room = ui.available_rect_before_wrap();
        let mut code = room;
        let column =
            |rect| egui::UiBuilder::new().max_rect(rect).layout(egui::Layout::top_down(egui::Align::Min));
        if room.width() >= ROOMY {
            let (left, right) = room.split_left_right_at_x(room.left() + LIST);
            ui.scope_builder(column(left.with_max_x(left.right() - 8.0)), |ui| {
                list::list_ui(ui, view, hcl, &self.files, &mut self.chosen, actions);
            });
            ui.painter().vline(left.right(), room.y_range(), egui::Stroke::new(1.0, view.theme.border));
            code = right.with_min_x(right.left() + 1.0);
        }
        let Some(file) = self.files.iter().find(|file| file.path == self.chosen) else { return };
        let marked = self.followed.and_then(|node| file.rows_of(node));
        let shown = Shown { file, marked, go_to: self.go_to.take() };
        let clicked = ui.scope_builder(column(code), |ui| code_ui(ui, view, &shown, actions)).inner;
        if clicked.is_some() {
            // Who clicks here is here already: nothing scrolls.
            self.followed = clicked;
        }
    }
}
