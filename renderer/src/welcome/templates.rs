//! Templates with small drawings of their boards, drawn by the canvas.

use super::choice::paint_card;
use crate::{
    view::FrameView,
    widgets::{body_font, paint_icon, paint_line, small_font},
};
use authority::{ProblemIndex, Snapshot};
use canvas::{BoardScene, Camera, board_bounds, draw_board};
use egui::{Align2, CornerRadius, Rect, Response, Role, Sense, Ui, Vec2, WidgetInfo, pos2, vec2};
use shared_protocol::{GraphDocument, messages::WorkspaceTemplate};
use std::collections::BTreeSet;

const DRAWING_HEIGHT: f32 = 92.0;
const CAPTION_HEIGHT: f32 = 40.0;
const GAP: f32 = 8.0;
/// The padding around a drawing, with room for the container names outside their boxes.
const PADDING: f32 = 14.0;
/// Cards per row on a wide page; `FEW_COLUMNS` applies to a narrow one.
const COLUMNS: usize = 3;
const FEW_COLUMNS: usize = 2;
const NARROW_WIDTH: f32 = 440.0;

#[derive(Default)]
pub(super) struct TemplateGallery {
    /// The documents from main, until they are first drawn.
    documents: Option<Vec<(WorkspaceTemplate, GraphDocument)>>,
    /// Snapshots for drawing, with the types of the open workspace.
    boards: Vec<(WorkspaceTemplate, Snapshot)>,
}

impl TemplateGallery {
    pub(super) fn is_missing(&self) -> bool {
        self.documents.is_none() && self.boards.is_empty()
    }

    pub(super) fn receive(&mut self, documents: Vec<(WorkspaceTemplate, GraphDocument)>) {
        self.documents = Some(documents);
    }

    /// Returns the chosen template.
    pub(super) fn show_ui(&mut self, ui: &mut Ui, view: &FrameView<'_>) -> Option<WorkspaceTemplate> {
        for (template, document) in self.documents.take().into_iter().flatten() {
            match Snapshot::from_document(document, view.snapshot.registry().clone()) {
                Ok(snapshot) => self.boards.push((template, snapshot)),
                Err(error) => tracing::warn!(?error, ?template, "cannot draw a template"),
            }
        }
        let width = ui.available_width();
        let columns = if width < NARROW_WIDTH { FEW_COLUMNS } else { COLUMNS };
        let card = vec2(
            ((width - GAP * (columns - 1) as f32) / columns as f32).floor(),
            DRAWING_HEIGHT + CAPTION_HEIGHT,
        );
        let mut chosen = None;
        ui.spacing_mut().item_spacing = Vec2::splat(GAP);
        for row in WorkspaceTemplate::ALL.chunks(columns) {
            ui.horizontal(|ui| {
                for template in row {
                    let board = self.boards.iter().find(|(drawn, _)| drawn == template);
                    if card_ui(ui, view, *template, board.map(|(_, board)| board), card).clicked() {
                        chosen = Some(*template);
                    }
                }
            });
        }
        chosen
    }
}

fn template_texts(template: WorkspaceTemplate) -> (&'static str, &'static str) {
    match template {
        WorkspaceTemplate::Blank => ("Blank…", "One empty board"),
        WorkspaceTemplate::ThreeTier => ("Three tiers…", "Network, servers, database"),
        WorkspaceTemplate::Interface => ("Interface…", "Pages, a form, navigation"),
        WorkspaceTemplate::Spec => ("Spec…", "Requirements and tasks"),
        WorkspaceTemplate::Example => ("Example…", "All three, as one product"),
    }
}

fn card_ui(
    ui: &mut Ui,
    view: &FrameView<'_>,
    template: WorkspaceTemplate,
    board: Option<&Snapshot>,
    size: Vec2,
) -> Response {
    let theme = view.theme;
    let (title, text) = template_texts(template);
    let (rect, response) = ui.allocate_exact_size(size, Sense::click());
    response.widget_info(|| WidgetInfo::labeled(Role::Button, ui.is_enabled(), title));
    ui.ctx().accesskit_node_builder(response.id, |node| node.set_description(text));
    if !ui.is_rect_visible(rect) {
        return response;
    }
    paint_card(ui, theme, rect, &response, false);
    let (drawing, caption) = rect.shrink(1.0).split_top_bottom_at_y(rect.top() + DRAWING_HEIGHT);
    let corners = CornerRadius { nw: 7, ne: 7, sw: 0, se: 0 };
    ui.painter().rect_filled(drawing, corners, theme.canvas);
    match board.and_then(|snapshot| Some((snapshot, snapshot.boards().next()?.id))) {
        Some((snapshot, board)) => {
            let (problems, selection) = (ProblemIndex::default(), BTreeSet::new());
            let scene = BoardScene {
                snapshot,
                board,
                selection: &selection,
                problems: &problems,
                theme,
                read_only: true,
            };
            if let Some(bounds) = board_bounds(snapshot, board) {
                let painter = ui.painter().with_clip_rect(drawing.shrink(2.0).intersect(ui.clip_rect()));
                draw_board(&painter, &scene, Camera::fit(bounds, drawing, PADDING), None);
            }
        }
        None if template == WorkspaceTemplate::Blank => {
            let sign = Rect::from_center_size(drawing.center(), Vec2::splat(22.0));
            paint_icon(ui.painter(), "add", sign, theme.text_subtle);
        }
        None => {}
    }
    let caption = caption.shrink2(vec2(10.0, 4.0));
    let upper = Rect::from_min_max(caption.min, pos2(caption.right(), caption.center().y));
    let lower = Rect::from_min_max(pos2(caption.left(), caption.center().y), caption.max);
    paint_line(ui, upper, Align2::LEFT_CENTER, title, body_font(ui), theme.text);
    paint_line(ui, lower, Align2::LEFT_CENTER, text, small_font(ui), theme.text_muted);
    response
}
