//! The output of a run. Only lines in view are laid out. The list stays at its end until a person scrolls.

use crate::{
    terraform_answers::is_in_progress,
    view::FrameView,
    widgets::{muted_ui, paint_severity},
};
use egui::{Label, RichText, Role, Sense, TextStyle, Ui, WidgetInfo, vec2};
use shared_protocol::{
    messages::ProblemSeverity,
    terraform::{TerraformRunLine, TerraformRunView},
};

const ROW: f32 = 17.0;
const GUTTER: f32 = 18.0;

pub(super) fn output_ui(ui: &mut Ui, view: &FrameView<'_>, run: &TerraformRunView) {
    let Some(output) =
        view.terraform_answers.lines.lines_of(run.id).filter(|output| !output.lines.is_empty())
    else {
        let text = match (is_in_progress(run), run.lines) {
            (true, _) => "No output yet.",
            (false, 0) => "No output.",
            (false, _) => "Loading the log…",
        };
        muted_ui(ui, view.theme, text);
        return;
    };
    if output.first > 0 {
        let text = format!("The first {} lines are in the log {}.", output.first, run.log);
        muted_ui(ui, view.theme, text);
    }
    ui.spacing_mut().item_spacing.y = 0.0;
    ui.spacing_mut().interact_size.y = ROW;
    egui::ScrollArea::both()
        .id_salt(("output", run.id))
        .auto_shrink([false, false])
        .stick_to_bottom(true)
        .show_rows(ui, ROW, output.lines.len(), |ui, range| {
            for line in output.lines.range(range) {
                line_ui(ui, view, line);
            }
        });
}

fn line_ui(ui: &mut Ui, view: &FrameView<'_>, line: &TerraformRunLine) {
    let theme = view.theme;
    ui.horizontal(|ui| {
        ui.set_height(ROW);
        ui.spacing_mut().item_spacing.x = 0.0;
        let (gutter, sign) = ui.allocate_exact_size(vec2(GUTTER, ROW), Sense::hover());
        let colour = if line.error { theme.danger } else { theme.text };
        let text = RichText::new(&line.text).text_style(TextStyle::Monospace).color(colour);
        ui.add(Label::new(text).selectable(true).extend());
        if line.error {
            sign.widget_info(|| WidgetInfo::labeled(Role::Image, true, "Error"));
            paint_severity(ui.painter(), gutter.center() - vec2(2.0, 0.0), theme, ProblemSeverity::Error);
        }
    });
}
