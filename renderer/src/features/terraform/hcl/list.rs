//! The files of a board, the effect of writing them, and findings about them.

use super::file::HclFileRows;
use crate::{
    features::terraform::TerraformContext,
    view::{FrameView, WindowAction},
    widgets::{ListRow, muted_ui, paint_ends, paint_line, paint_severity, row_ui, small_font},
};
use egui::{Align2, Sense, Ui, pos2};
use shared_protocol::text::count_noun;
use shared_protocol::{
    ElementId,
    messages::ProblemSeverity,
    terraform::{HclView, TerraformFindingView},
};

/// The maximum number of findings here; the problems panel lists all.
const MAX_FINDINGS: usize = 50;

pub(super) fn list_ui(
    ui: &mut Ui,
    cx: &TerraformContext<'_>,
    hcl: &HclView,
    files: &[HclFileRows],
    chosen: &mut String,
) {
    ui.spacing_mut().item_spacing.y = 0.0;
    egui::ScrollArea::vertical().id_salt("files").auto_shrink([false, false]).show(ui, |ui| {
        for file in files {
            if file_ui(ui, cx.view, file, *chosen == file.path) {
                chosen.clone_from(&file.path);
            }
        }
        for path in &hcl.removed {
            file_status_ui(ui, cx.view, path, "will be removed", None);
        }
        for path in &hcl.in_the_way {
            let why =
                "A file that Draftboard did not write has this name. Move or rename it, then write again.";
            file_status_ui(ui, cx.view, path, "blocked", Some(why));
        }
        if !hcl.findings.is_empty() {
            ui.add_space(8.0);
            muted_ui(ui, cx.view.theme, count_noun(hcl.findings.len(), "finding"));
            ui.add_space(2.0);
        }
        for finding in hcl.findings.iter().take(MAX_FINDINGS) {
            finding_ui(ui, cx, finding);
        }
    });
}

/// `+3 −1`, or that the file does not exist yet.
fn difference(file: &HclFileRows) -> String {
    match (file.differs(), file.is_written()) {
        (false, _) => String::new(),
        (true, false) => "not written".to_owned(),
        (true, true) => format!("+{} −{}", file.added, file.removed_count),
    }
}

fn file_ui(ui: &mut Ui, view: &FrameView<'_>, file: &HclFileRows, selected: bool) -> bool {
    let difference = difference(file);
    let name = if difference.is_empty() { file.path.clone() } else { format!("{} {difference}", file.path) };
    let theme = view.theme;
    let response = row_ui(ui, theme, ListRow { name: &name, selected, sense: Sense::click() }, |ui, room| {
        paint_ends(ui, room, (&file.path, theme.text), (&difference, theme.warning))
    });
    let hint = match (file.differs(), file.is_written()) {
        (false, _) => "Same as in the workspace",
        (true, false) => "New file",
        (true, true) => "Not written yet: added and removed lines",
    };
    response.on_hover_text(hint).clicked()
}

/// A file that is not shown, and what happens to it.
fn file_status_ui(ui: &mut Ui, view: &FrameView<'_>, path: &str, fate: &str, why: Option<&str>) {
    let theme = view.theme;
    let name = format!("{path} {fate}");
    let row = ListRow { name: &name, selected: false, sense: Sense::hover() };
    let response = row_ui(ui, theme, row, |ui, room| {
        paint_ends(ui, room, (path, theme.text_muted), (fate, theme.warning));
    });
    if let Some(why) = why {
        response.on_hover_text(why);
    }
}

fn finding_ui(ui: &mut Ui, cx: &TerraformContext<'_>, finding: &TerraformFindingView) {
    let theme = cx.view.theme;
    let word = match finding.severity {
        ProblemSeverity::Error => "Error",
        ProblemSeverity::Warning => "Warning",
    };
    let label = finding.node.and_then(|id| cx.view.snapshot.node(id)).map(|node| node.label.as_str());
    let text = label.map_or_else(|| finding.message.clone(), |label| format!("{label}: {}", finding.message));
    let name = format!("{word} in HCL: {text}");
    let row = ListRow { name: &name, selected: false, sense: Sense::click() };
    let response = row_ui(ui, theme, row, |ui, room| {
        paint_severity(ui.painter(), pos2(room.left() + 7.0, room.center().y), theme, finding.severity);
        let room = room.with_min_x(room.left() + 20.0);
        paint_line(ui, room, Align2::LEFT_CENTER, &text, small_font(ui), theme.text);
    });
    let response = response.on_hover_text(&text);
    if let Some(node) = finding.node.filter(|_| response.clicked()) {
        cx.act(match &finding.prop {
            Some(prop) => WindowAction::GoToField(ElementId::Node(node), prop.clone()),
            None => WindowAction::Reveal(ElementId::Node(node)),
        });
    }
}
