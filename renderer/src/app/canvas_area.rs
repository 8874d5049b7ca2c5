//! The canvas of the open board: drawing, dropping, and its events.

use super::{Workbench, build_view, dispatch::CommandQueue};
use crate::{
    context_menu::ContextMenu,
    features::review::{ProposalPresentation, ProposalReveal, ReviewMessage},
    first_board::first_board_ui,
    node_placement::{container_at, parent_for},
    panels::palette::DraggedType,
    quick_add::QuickAdd,
    saved_state::PointerStyle,
    view::{FrameView, WindowAction},
    widgets::{body_font, paint_type_mark, small_font},
};
use canvas::{BoardDeployStatus, Canvas, CanvasEvent, ProposalLayer};
use egui::{CornerRadius, DragAndDrop, Id, LayerId, Order, Rect, Stroke, StrokeKind, Ui, Vec2, vec2};
use shared_protocol::{
    BoardPoint, ElementId, NodeId, TypeDef,
    messages::{BoardViewport, ViewRect},
};

const FIT_PADDING: f32 = 48.0;

impl Workbench {
    pub(super) fn canvas_ui(&mut self, ui: &mut Ui, queue: &mut CommandQueue) {
        let (counts, reveal) = (self.badge_counts(), std::mem::take(&mut self.session.reveal));
        let reveal_proposal = std::mem::take(&mut self.review.reveal);
        let layer = match self.review.look() {
            ProposalPresentation::SideBySide => ProposalLayer::Before,
            ProposalPresentation::Edit => ProposalLayer::After,
            ProposalPresentation::Overlay | ProposalPresentation::List => ProposalLayer::Over,
        };
        let proposal = self.session.board.and_then(|board| self.shown_proposal(board, layer));
        let viewport = self.session.board.and_then(|board| self.canvases.get(&board)).map(Canvas::viewport);
        let Some(view) = build_view(&self.replica, &self.session, &self.theme, counts) else { return };
        let Some(board) = view.board else {
            first_board_ui(ui, &view);
            return queue.collect(view.actions);
        };
        let rect = ui.max_rect();
        let area = ViewRect { x: rect.left(), y: rect.top(), w: rect.width(), h: rect.height() };
        let moved = self.canvas_area.replace(area) != Some(area);
        let canvas = match self.session.review.edited_workspace() {
            Some(edited) => self.review.canvas(board, edited),
            None => self.canvases.entry(board).or_insert_with(|| {
                let mut canvas = Canvas::new();
                canvas.document_changed(view.snapshot, board, None);
                canvas.set_deploy_status(view.deployed().and_then(BoardDeployStatus::from_board));
                canvas
            }),
        };
        // The proposed state has the camera of the board.
        if let Some(viewport) = viewport.filter(|viewport| view.is_proposed && *viewport != canvas.viewport())
        {
            canvas.set_viewport(viewport);
        }
        let reveal_area = proposal.as_ref().and_then(|shown| match &reveal_proposal {
            ProposalReveal::Element(subject) => shown.board.area(subject),
            ProposalReveal::Everything => shown.board.bounds(),
            ProposalReveal::Nothing => None,
        });
        canvas.set_proposal(proposal);
        canvas.set_shown_page(
            view.visible_preview.filter(|_| view.is_previewing).and_then(|session| session.route),
        );
        let scene = view.scene(board);
        // The first view of a board is not animated.
        canvas.set_reduced_motion(self.settings.reduced_motion || !self.fitted.contains(&board));
        canvas.set_minimap(self.settings.minimap);
        canvas.set_map_style(self.settings.pointer == PointerStyle::Map);
        let mut events = canvas.show(ui, &scene);
        if moved {
            events.push(CanvasEvent::ViewportChanged);
        }
        if self.fitted.insert(board) {
            // The canvas has its size now. Small boards are not enlarged.
            canvas.zoom_to_fit(&scene, FIT_PADDING);
            if canvas.viewport().zoom > 1.0 {
                canvas.set_zoom(1.0);
            }
            ui.request_repaint();
            events.push(CanvasEvent::ViewportChanged);
        }
        if let Some(area) = reveal_area {
            canvas.reveal(area);
            ui.request_repaint();
            events.push(CanvasEvent::ViewportChanged);
        }
        if let Some(viewport) = viewport_showing(&view, canvas.viewport(), rect.size(), &reveal) {
            canvas.set_viewport(viewport);
            ui.request_repaint();
            events.push(CanvasEvent::ViewportChanged);
        }
        let viewport = canvas.viewport();
        drop_ui(ui, &view, viewport, rect);
        queue.collect(view.actions);
        if view.is_proposed
            && let Some(canvas) = self.canvases.get_mut(&board).filter(|canvas| canvas.viewport() != viewport)
        {
            canvas.set_viewport(viewport);
        }
        self.handle_canvas_events(ui, events, queue);
    }

    fn handle_canvas_events(&mut self, ui: &Ui, events: Vec<CanvasEvent>, queue: &mut CommandQueue) {
        for event in events {
            match event {
                CanvasEvent::Select(selection) => queue.act(WindowAction::Select(selection)),
                CanvasEvent::Run(command) => queue.act(WindowAction::Run(command)),
                CanvasEvent::ViewportChanged => self.presence_changed(ui.ctx()),
                CanvasEvent::QuickAdd { at, from } => {
                    let screen = ui.pointer_latest_pos().unwrap_or(ui.max_rect().center());
                    self.overlays.quick_add = Some(QuickAdd::new(screen, at, from));
                }
                CanvasEvent::ContextMenu { at, element, .. } => {
                    let on_element = element.is_some_and(|element| !matches!(element, ElementId::Board(_)));
                    self.overlays.context_menu = Some(ContextMenu::new(at, on_element));
                }
                CanvasEvent::Refused(refusal) => queue.act(WindowAction::Refuse(refusal)),
                CanvasEvent::Open(node) => queue.act(self.open_node(node)),
                CanvasEvent::Proposed(subject) => {
                    queue.send(ReviewMessage::Focus(subject));
                }
            }
        }
    }
}

/// The zoom at which names are readable.
const READABLE: f32 = 0.4;
/// The zoom that reveals nodes whose names are not readable.
const NEAR: f32 = 0.7;

/// The viewport that shows these nodes, or `None` when they are in view.
fn viewport_showing(
    view: &FrameView<'_>,
    now: BoardViewport,
    size: Vec2,
    nodes: &[NodeId],
) -> Option<BoardViewport> {
    let all =
        nodes.iter().filter_map(|id| view.snapshot.absolute_placement(*id)).reduce(|a, b| a.union(b))?;
    let (half_w, half_h) = (size.x / now.zoom / 2.0, size.y / now.zoom / 2.0);
    let inside = all.x as f32 >= now.x - half_w
        && all.right() as f32 <= now.x + half_w
        && all.y as f32 >= now.y - half_h
        && all.bottom() as f32 <= now.y + half_h;
    // Zooms in when names are not readable, and keeps a readable zoom.
    let zoom = if now.zoom < READABLE { NEAR } else { now.zoom };
    let middle = (all.x as f32 + all.w as f32 / 2.0, all.y as f32 + all.h as f32 / 2.0);
    (!inside || zoom > now.zoom).then_some(BoardViewport { x: middle.0, y: middle.1, zoom })
}

/// A ghost at the pointer for a node dragged from the palette. It shows whether the node may be dropped here.
fn drop_ui(ui: &Ui, view: &FrameView<'_>, viewport: BoardViewport, rect: Rect) {
    let Some(dragged) = DragAndDrop::payload::<DraggedType>(ui.ctx()) else { return };
    let (Some(pointer), Some(def)) = (ui.pointer_latest_pos(), view.snapshot.registry().get(&dragged.0))
    else {
        return;
    };
    // The canvas is not hovered during a drag.
    let from_middle = (pointer - rect.center()) / viewport.zoom;
    let point = BoardPoint {
        x: (viewport.x + from_middle.x).round() as i32,
        y: (viewport.y + from_middle.y).round() as i32,
    };
    let at = rect.contains(pointer).then_some(point);
    let refusal = match (view.board(), at) {
        (Some(_), Some(_)) if view.is_held() => {
            Some("This board is held until you choose a version".to_owned())
        }
        (Some(board), Some(at)) => {
            let inner = container_at(view.snapshot, board.id, at);
            parent_for(view.snapshot, board, inner, def).err().map(|refusal| refusal.message)
        }
        _ => None,
    };
    ghost_ui(ui, view, pointer, def, refusal.as_deref());
    if ui.input(|input| input.pointer.any_released())
        && let Some(at) = at
    {
        DragAndDrop::clear_payload(ui.ctx());
        if !view.is_held() {
            view.act(WindowAction::AddAt { type_id: dragged.0.clone(), at });
        }
    }
}

fn ghost_ui(ui: &Ui, view: &FrameView<'_>, pointer: egui::Pos2, def: &TypeDef, refusal: Option<&str>) {
    let theme = view.theme;
    let painter = ui.ctx().layer_painter(LayerId::new(Order::Tooltip, Id::unique("dragged type")));
    let title = painter.layout_no_wrap(def.title.clone(), body_font(ui), theme.text);
    let why = refusal.map(|why| painter.layout(why.to_owned(), small_font(ui), theme.danger, 220.0));
    let text_width = title.size().x.max(why.as_ref().map_or(0.0, |why| why.size().x));
    let height = 34.0 + why.as_ref().map_or(0.0, |why| why.size().y + 4.0);
    let card = Rect::from_min_size(pointer + vec2(12.0, 12.0), vec2(text_width + 52.0, height));
    let edge = if refusal.is_some() { theme.danger } else { theme.accent };
    painter.rect(card, CornerRadius::same(6), theme.surface_card, Stroke::new(1.0, edge), StrokeKind::Inside);
    let mark = Rect::from_min_size(card.min + vec2(8.0, 7.0), Vec2::splat(20.0));
    paint_type_mark(&painter, mark, theme, Some(def));
    painter.galley(card.min + vec2(36.0, 17.0 - title.size().y / 2.0), title, theme.text);
    if let Some(why) = why {
        painter.galley(card.min + vec2(36.0, 32.0), why, theme.danger);
    }
}
