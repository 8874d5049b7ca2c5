//! The lines of a file. Only lines in view are laid out. A click selects the node of a line.

use super::{
    file::{HclFileRows, HclLineState, HclRow},
    tokens::tokens,
};
use crate::{
    features::terraform::TerraformContext,
    view::{FrameView, WindowAction},
};
use canvas::theme::{CodeToken, WorkbenchTheme};
use egui::{
    Align2, FontId, Role, Sense, TextStyle, Ui, WidgetInfo,
    text::{LayoutJob, TextFormat},
    vec2,
};
use shared_protocol::{ElementId, NodeId};
use std::ops::Range;

pub(super) const ROW: f32 = 18.0;
const NUMBER: f32 = 40.0;
const SIGN: f32 = 18.0;

/// The file to show, with marks and scroll position.
pub(super) struct HclCodeView<'a> {
    pub(super) file: &'a HclFileRows,
    /// Rows of the selected node.
    pub(super) marked: Option<Range<usize>>,
    /// Scrolls to this row.
    pub(super) go_to: Option<usize>,
}

/// Returns the node whose line was clicked.
pub(super) fn code_ui(ui: &mut Ui, cx: &TerraformContext<'_>, shown: &HclCodeView<'_>) -> Option<NodeId> {
    let file = shown.file;
    let font = TextStyle::Monospace.resolve(ui.style());
    ui.spacing_mut().item_spacing.y = 0.0;
    let mut area = egui::ScrollArea::both().id_salt(("code", &file.path)).auto_shrink([false, false]);
    if let Some(row) = shown.go_to {
        // Scrolling past the end would jump back.
        let furthest = (file.rows.len() as f32 * ROW - ui.available_height()).max(0.0);
        let middle = row as f32 * ROW - ui.available_height() / 3.0;
        area = area.vertical_scroll_offset(middle.clamp(0.0, furthest));
    }
    let mut clicked = None;
    area.show_rows(ui, ROW, file.rows.len(), |ui, range| {
        for place in range {
            let Some(row) = file.rows.get(place) else { continue };
            let marked = shown.marked.as_ref().is_some_and(|rows| rows.contains(&place));
            if row_ui(ui, cx.view, file, row, marked, &font) {
                clicked = file.owner(row);
            }
        }
    });
    if let Some(node) = clicked {
        cx.act(WindowAction::Reveal(ElementId::Node(node)));
    }
    clicked
}

fn row_ui(
    ui: &mut Ui,
    view: &FrameView<'_>,
    file: &HclFileRows,
    row: &HclRow,
    marked: bool,
    font: &FontId,
) -> bool {
    let (theme, line) = (view.theme, file.line(row));
    let galley = ui.painter().layout_job(coloured(theme, line, row, font));
    let width = (NUMBER + SIGN + galley.size().x + 12.0).max(ui.available_width());
    // Lines take no keyboard focus: nodes are selected in the outline and shown here.
    let (rect, response) = ui.allocate_exact_size(vec2(width, ROW), Sense::CLICK);
    let word = match row.state {
        HclLineState::Same => "Line",
        HclLineState::Added => "New line",
        HclLineState::Gone => "Removed line",
    };
    response.widget_info(|| {
        WidgetInfo::selected(Role::Button, true, marked, format!("{word} {}: {line}", row.number))
    });
    let ground = match row.state {
        HclLineState::Added => Some(theme.added_colour()),
        HclLineState::Gone => Some(theme.removed()),
        HclLineState::Same if marked => Some(theme.hover),
        HclLineState::Same if response.hovered() && file.owner(row).is_some() => Some(theme.hover),
        HclLineState::Same => None,
    };
    let painter = ui.painter();
    if let Some(ground) = ground {
        painter.rect_filled(rect, 0, ground);
    }
    if marked {
        painter.rect_filled(rect.with_max_x(rect.left() + 3.0), 0, theme.accent);
    }
    let middle = rect.center().y;
    if row.state != HclLineState::Gone {
        let at = egui::pos2(rect.left() + NUMBER - 6.0, middle);
        let small = FontId::new(font.size - 1.5, font.family.clone());
        painter.text(at, Align2::RIGHT_CENTER, row.number, small, theme.text_subtle);
    }
    let (sign, colour) = match row.state {
        HclLineState::Same => ("", theme.text_subtle),
        HclLineState::Added => ("+", theme.success),
        HclLineState::Gone => ("−", theme.danger),
    };
    let at = egui::pos2(rect.left() + NUMBER + SIGN / 2.0 - 2.0, middle);
    painter.text(at, Align2::CENTER_CENTER, sign, font.clone(), colour);
    let at = egui::pos2(rect.left() + NUMBER + SIGN, middle - galley.size().y / 2.0);
    painter.galley(at, galley, theme.text);
    response.clicked()
}

fn coloured(theme: &WorkbenchTheme, line: &str, row: &HclRow, font: &FontId) -> LayoutJob {
    let mut job = LayoutJob { break_on_newline: false, ..LayoutJob::default() };
    let mut add = |text: &str, ink: CodeToken| {
        job.append(text, 0.0, TextFormat::simple(font.clone(), theme.code(ink)));
    };
    let mut end = 0;
    for (range, ink) in tokens(line, row.within) {
        add(line.get(end..range.start).unwrap_or_default(), CodeToken::Plain);
        add(line.get(range.clone()).unwrap_or_default(), ink);
        end = range.end;
    }
    add(line.get(end..).unwrap_or_default(), CodeToken::Plain);
    job
}
