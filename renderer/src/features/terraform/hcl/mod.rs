//! The HCL panel: the files of a board, their differences from the workspace, and the node of each line. A click on a
//! line selects its node; selecting a node shows its block.

mod code;

mod file;
mod list;
mod tokens;

use crate::{
    features::terraform::TerraformContext,
    terraform_answers::TerraformReply,
    view::FrameView,
    widgets::{empty_state_ui, muted_ui},
};
use code::{HclCodeView, code_ui};
use egui::{Ui, vec2};
use file::HclFileRows;
use shared_protocol::text::count_noun;
use shared_protocol::{BoardId, NodeId, requests::WriteHcl, terraform::HclView};

/// Below this width the files are in a drop-down list.
const ROOMY: f32 = 520.0;
const LIST: f32 = 220.0;

#[derive(Default)]
pub(crate) struct HclPanel {
    files: Vec<HclFileRows>,
    /// The board and version of the answer that the files were built from.
    made_for: Option<(BoardId, u64)>,
    selected_file: String,
    /// The node whose block was shown last.
    followed: Option<NodeId>,
    go_to: Option<usize>,
}

impl HclPanel {
    pub(crate) fn show_ui(&mut self, ui: &mut Ui, cx: &TerraformContext<'_>) {
        let Some(board) = cx.view.infrastructure() else {
            let text = "Only infrastructure boards have Terraform files.";
            return empty_state_ui(ui, cx.view.theme, "No files for this board", text);
        };
        let Some(hcl) = cx.view.terraform_answers.hcl.get(board) else {
            return match cx.view.terraform_answers.hcl.refused.as_deref() {
                Some(why) => super::panel::refused_ui(ui, cx.view, why),
                None => drop(muted_ui(ui, cx.view.theme, "Generating files…")),
            };
        };
        if hcl.files.is_empty() {
            let text = "Add resources to the board to generate Terraform files.";
            return empty_state_ui(ui, cx.view.theme, "Nothing to write yet", text);
        }
        self.update(board, hcl, cx.view.terraform_answers.hcl.version);
        self.show_selected_block(cx.view);
        self.toolbar_ui(ui, cx, hcl);
        self.files_ui(ui, cx, hcl);
    }

    /// Rebuilds only files that have changed.
    fn update(&mut self, board: BoardId, hcl: &HclView, version: u64) {
        if self.made_for == Some((board, version)) {
            return;
        }
        self.made_for = Some((board, version));
        let mut before = std::mem::take(&mut self.files);
        for file in &hcl.files {
            let same = before.iter().position(|made| made.is_for(file));
            self.files.push(match same.map(|place| before.swap_remove(place)) {
                Some(mut made) => {
                    made.assign_nodes(&hcl.spans);
                    made
                }
                None => HclFileRows::build(file, &hcl.spans),
            });
        }
        if self.files.iter().all(|file| file.path != self.selected_file) {
            // The main file first.
            let first = self.files.iter().find(|file| file.path == "main.tf").or(self.files.first());
            self.selected_file = first.map(|file| file.path.clone()).unwrap_or_default();
            self.followed = None;
        }
    }

    fn show_selected_block(&mut self, view: &FrameView<'_>) {
        let selected = match view.selected_nodes()[..] {
            [only] => Some(only),
            _ => None,
        };
        if selected == self.followed {
            return;
        }
        self.followed = selected;
        let Some(node) = selected else { return };
        let here = self.files.iter().find(|file| file.path == self.selected_file && file.contains_node(node));
        let Some(file) = here.or_else(|| self.files.iter().find(|file| file.contains_node(node))) else {
            return;
        };
        self.go_to = file.rows_of(node).map(|rows| rows.start);
        self.selected_file.clone_from(&file.path);
    }

    fn toolbar_ui(&mut self, ui: &mut Ui, cx: &TerraformContext<'_>, hcl: &HclView) {
        let unwritten = self.files.iter().filter(|file| file.differs()).count() + hcl.removed.len();
        ui.scope(|ui| {
            ui.spacing_mut().button_padding = vec2(8.0, 2.0);
            ui.spacing_mut().interact_size.y = 24.0;
            ui.horizontal(|ui| {
                let write = ui.add_enabled(unwritten > 0, egui::Button::new("Write files"));
                let write = write
                    .on_hover_text("Writes changed files to the board's folder and removes obsolete ones")
                    .on_disabled_hover_text("The files in the workspace are up to date");
                if write.clicked() {
                    cx.request(WriteHcl { board: hcl.board }, TerraformReply::Written);
                }
                if let Some(file) = self.files.iter().find(|file| file.path == self.selected_file)
                    && ui.button("Copy file").on_hover_text(format!("Copies {}", file.path)).clicked()
                {
                    ui.ctx().copy_text(file.text().to_owned());
                }
                if ui.available_width() < ROOMY - 200.0 {
                    self.chooser_ui(ui);
                }
                let text = match unwritten {
                    0 => "All files are written".to_owned(),
                    count => format!("{} not written", count_noun(count, "file")),
                };
                muted_ui(ui, cx.view.theme, text);
                if hcl.revision < cx.view.snapshot.revision() {
                    muted_ui(ui, cx.view.theme, "· updating…");
                }
            });
        });
    }

    fn chooser_ui(&mut self, ui: &mut Ui) {
        egui::ComboBox::from_id_salt("file").selected_text(&self.selected_file).show_ui(ui, |ui| {
            for file in &self.files {
                ui.selectable_value(&mut self.selected_file, file.path.clone(), &file.path);
            }
        });
    }

    fn files_ui(&mut self, ui: &mut Ui, cx: &TerraformContext<'_>, hcl: &HclView) {
        let room = ui.available_rect_before_wrap();
        let mut code = room;
        let column =
            |rect| egui::UiBuilder::new().max_rect(rect).layout(egui::Layout::top_down(egui::Align::Min));
        if room.width() >= ROOMY {
            let (left, right) = room.split_left_right_at_x(room.left() + LIST);
            ui.scope_builder(column(left.with_max_x(left.right() - 8.0)), |ui| {
                list::list_ui(ui, cx, hcl, &self.files, &mut self.selected_file);
            });
            ui.painter().vline(left.right(), room.y_range(), egui::Stroke::new(1.0, cx.view.theme.border));
            code = right.with_min_x(right.left() + 1.0);
        }
        let Some(file) = self.files.iter().find(|file| file.path == self.selected_file) else { return };
        let marked = self.followed.and_then(|node| file.rows_of(node));
        let shown = HclCodeView { file, marked, go_to: self.go_to.take() };
        let clicked = ui.scope_builder(column(code), |ui| code_ui(ui, cx, &shown)).inner;
        if clicked.is_some() {
            // A click in the code does not scroll.
            self.followed = clicked;
        }
    }
}
