//! One board in a window: the view, the active gesture, and the steps of a frame.

mod input;
mod motion;

use crate::{
    BoardScene, Camera, CanvasEvent, a11y,
    camera::{fit_viewport, rect_of, rounded_point, sanitised, zoomed_at},
    deploy_status::BoardDeployStatus,
    draw::{self, BoardPainter, DrawCache, ElementHighlights, minimap::MinimapPlacement},
    gesture::{Gesture, resize},
    hit::{self, CanvasHit},
    index::BoardIndex,
    label_editor::{LabelEditOutcome, LabelEditor},
    proposed_board::CanvasProposal,
};
use authority::Snapshot;
use egui::{CursorIcon, Key, Pos2, Rect, Response, Role, Sense, Ui, WidgetInfo};
use shared_protocol::{BoardId, BoardPoint, Change, ElementId, NodeId, Placement, messages::BoardViewport};
use std::time::Duration;

/// Seconds to keep dropped nodes in place while the authority decides.
const DROP_PREVIEW_SECONDS: f64 = 0.5;
/// The distance from the view's edge, in points, at which a gesture pans the view, and the speed in points per second.
const EDGE_PAN_MARGIN: f32 = 24.0;
const EDGE_PAN_SPEED: f32 = 900.0;
/// The maximum zoom when zooming to a few nodes.
const MAX_FIT_ZOOM: f32 = 1.5;
/// The maximum number of edges to route around nodes per frame after a large change.
const ROUTES_PER_FRAME: usize = 40;
/// The frame interval while a status sign is animated.
const SIGN_FRAME_INTERVAL: Duration = Duration::from_millis(50);
/// The minimum zoom at which names are readable.
const MIN_READABLE_ZOOM: f32 = 0.4;

/// The view of one board: camera, gesture, caches.
pub struct Canvas {
    viewport: BoardViewport,
    /// The viewport last reported to the owner.
    reported_viewport: BoardViewport,
    view: Option<Rect>,
    pixels_per_point: f32,
    /// The area to show as soon as the size of the view is known.
    pending_fit: Option<FitViewRequest>,
    index: BoardIndex,
    store: DrawCache,
    gesture: Gesture,
    hovered: Option<CanvasHit>,
    rename: Option<LabelEditor>,
    rename_wanted: Option<NodeId>,
    /// The time until which dropped nodes keep their preview places.
    dropped_until: Option<f64>,
    pointer: Option<Pos2>,
    minimap: bool,
    map_style: bool,
    reduced_motion: bool,
    flight: Option<motion::ViewAnimation>,
    glide: Option<motion::NodeAnimation>,
    standings: Option<BoardDeployStatus>,
    proposal: Option<CanvasProposal>,
    shown_page: Option<NodeId>,
    events: Vec<CanvasEvent>,
}

#[derive(Clone, Copy)]
struct FitViewRequest {
    bounds: Placement,
    padding: f32,
    most: f32,
}

impl Default for Canvas {
    fn default() -> Self {
        Self::new()
    }
}

impl Canvas {
    pub fn new() -> Self {
        let viewport = BoardViewport { x: 0.0, y: 0.0, zoom: 1.0 };
        Self {
            viewport,
            reported_viewport: viewport,
            view: None,
            pixels_per_point: 1.0,
            pending_fit: None,
            index: BoardIndex::default(),
            store: DrawCache::default(),
            gesture: Gesture::Idle,
            hovered: None,
            rename: None,
            rename_wanted: None,
            dropped_until: None,
            pointer: None,
            minimap: true,
            map_style: false,
            reduced_motion: true,
            flight: None,
            glide: None,
            standings: None,
            proposal: None,
            shown_page: None,
            events: Vec::new(),
        }
    }

    // ---- the view --------------------------------------------------------------------------------------------------

    pub fn viewport(&self) -> BoardViewport {
        self.viewport
    }

    /// Sets the viewport at once and cancels a pending one.
    pub fn set_viewport(&mut self, viewport: BoardViewport) {
        self.viewport = sanitised(viewport);
        self.reported_viewport = self.viewport;
        self.pending_fit = None;
    }

    /// Shows the whole board with `padding` screen points around it.
    pub fn zoom_to_fit(&mut self, scene: &BoardScene<'_>, padding: f32) {
        self.sync_index(scene);
        match self.index.bounds() {
            Some(bounds) => self.show_area(FitViewRequest { bounds, padding, most: 1.0 }),
            None => self.viewport = BoardViewport { x: 0.0, y: 0.0, zoom: 1.0 },
        }
    }

    pub fn zoom_to(&mut self, scene: &BoardScene<'_>, nodes: &[NodeId]) {
        self.sync_index(scene);
        let areas = nodes.iter().filter_map(|id| self.index.slot(*id)).map(|slot| slot.area);
        if let Some(bounds) = areas.reduce(Placement::union) {
            self.show_area(FitViewRequest { bounds, padding: 80.0, most: MAX_FIT_ZOOM });
        }
    }

    fn show_area(&mut self, wanted: FitViewRequest) {
        match self.view {
            Some(view) => self.animate_to_area(wanted, view),
            None => self.pending_fit = Some(wanted),
        }
    }

    pub fn zoom_by(&mut self, factor: f32) {
        let view = self.view.unwrap_or(Rect::ZERO);
        self.animate_to(zoomed_at(self.destination(), factor, view.center(), view));
    }

    pub fn set_zoom(&mut self, zoom: f32) {
        self.animate_to(sanitised(BoardViewport { zoom, ..self.destination() }));
    }

    /// Returns the board position of the pointer while it is over the canvas.
    pub fn pointer_board_position(&self) -> Option<BoardPoint> {
        self.pointer.map(|at| self.camera().to_point(at))
    }

    /// Returns the board position of the view's middle.
    pub fn centre(&self) -> BoardPoint {
        rounded_point(egui::pos2(self.viewport.x, self.viewport.y))
    }

    /// Returns the innermost container at a board point: the parent of an element added there.
    pub fn container_at(&self, at: BoardPoint) -> Option<NodeId> {
        hit::container_at(&self.index, at)
    }

    /// Whether a gesture or a rename is active, which Esc cancels.
    pub fn is_busy(&self) -> bool {
        self.gesture.is_active() || self.rename.is_some()
    }

    /// Shows or hides the minimap, which appears while the board is only partly in view.
    pub fn set_minimap(&mut self, shown: bool) {
        self.minimap = shown;
    }

    /// Turns on map style: scrolling zooms and dragging empty space pans; Shift draws a marquee.
    pub fn set_map_style(&mut self, on: bool) {
        self.map_style = on;
    }

    pub fn set_deploy_status(&mut self, standings: Option<BoardDeployStatus>) {
        self.standings = standings;
    }

    pub fn set_shown_page(&mut self, page: Option<NodeId>) {
        self.shown_page = page;
    }

    pub fn set_proposal(&mut self, proposal: Option<CanvasProposal>) {
        self.proposal = proposal;
    }

    /// Shows a part of the board, unless it is already in view and readable.
    pub fn reveal(&mut self, area: Placement) {
        let seen = self.view.is_some_and(|view| view.contains_rect(self.camera().rect_to_screen(area)));
        if !seen || self.viewport.zoom < MIN_READABLE_ZOOM {
            self.show_area(FitViewRequest { bounds: area, padding: 40.0, most: 1.0 });
        }
    }

    fn camera(&self) -> Camera {
        Camera::new(self.viewport, self.view.unwrap_or(Rect::ZERO), self.pixels_per_point)
    }

    // ---- the document ----------------------------------------------------------------------------------------------

    /// Updates the canvas after a change of the document. `changes` led to `snapshot`; without them the index is rebuilt.
    pub fn document_changed(&mut self, snapshot: &Snapshot, board: BoardId, changes: Option<&[Change]>) {
        let before = changes.map(|changes| self.before_change(snapshot, changes)).unwrap_or_default();
        match changes {
            Some(changes) => self.index.update(snapshot, board, changes),
            None => self.index.rebuild(snapshot, board),
        }
        self.dropped_until = None;
        self.after_change(board, snapshot, before);
    }

    /// Starts inline editing of a node's label in the next frame.
    pub fn rename(&mut self, node: NodeId) {
        if self.rename.as_ref().is_none_or(|rename| rename.node() != node) {
            self.rename_wanted = Some(node);
        }
    }

    /// Rebuilds the index if a change was not reported, so that the canvas always shows the scene's state.
    fn sync_index(&mut self, scene: &BoardScene<'_>) {
        if !self.index.is_current(scene.snapshot, scene.board) {
            self.index.rebuild(scene.snapshot, scene.board);
            self.dropped_until = None;
            self.glide = None;
        }
    }

    // ---- a frame ---------------------------------------------------------------------------------------------------

    /// Draws the board into the available space and returns the user actions.
    pub fn show(&mut self, ui: &mut Ui, scene: &BoardScene<'_>) -> Vec<CanvasEvent> {
        let (rect, response) = ui.allocate_exact_size(ui.available_size(), Sense::click_and_drag());
        if !rect.is_positive() || !rect.is_finite() {
            return Vec::new();
        }
        let title = scene.snapshot.board(scene.board).map_or("", |board| board.title.as_str());
        response.widget_info(|| WidgetInfo::labeled(Role::Canvas, true, format!("Board {title}")));
        self.sync_index(scene);
        self.view = Some(rect);
        self.pixels_per_point = ui.pixels_per_point();
        if let Some(wanted) = self.pending_fit.take() {
            // The first view of a board is not animated.
            self.viewport = fit_viewport(wanted.bounds, rect, wanted.padding, wanted.most);
        }
        self.advance_animations(ui, scene);
        self.expire_drop_preview(ui, scene);
        if self.index.has_pending_routes() && !self.gesture.is_active() {
            self.index.route_pending(scene.snapshot, ROUTES_PER_FRAME);
            ui.request_repaint();
        }
        self.pointer = response.hover_pos().or_else(|| response.interact_pointer_pos());
        self.navigate(ui, &response);
        self.gestures(ui, &response, scene);
        if !self.gesture.is_active() {
            self.clicks(ui, &response, scene);
        }
        self.hover(&response, scene);
        let overview = self.overview(ui, scene, rect);
        self.paint(ui, scene, rect, overview);
        self.set_cursor(ui, &response, scene);
        self.show_sign_tooltips(ui, scene);
        self.describe(ui, scene);
        self.edit_label(ui, scene);
        if self.viewport != self.reported_viewport {
            self.reported_viewport = self.viewport;
            self.events.push(CanvasEvent::ViewportChanged);
        }
        std::mem::take(&mut self.events)
    }

    fn expire_drop_preview(&mut self, ui: &Ui, scene: &BoardScene<'_>) {
        let Some(until) = self.dropped_until else { return };
        let left = until - ui.input(|input| input.time);
        if left <= 0.0 {
            self.dropped_until = None;
            self.index.clear_preview(scene.snapshot);
        } else {
            ui.request_repaint_after(Duration::from_secs_f64(left + 0.01));
        }
    }

    fn hover(&mut self, response: &Response, scene: &BoardScene<'_>) {
        let idle = matches!(self.gesture, Gesture::Idle) && self.rename.is_none();
        self.hovered = match response.hover_pos().filter(|_| idle && response.hovered()) {
            Some(at) => hit::hit_test(scene, &self.index, &self.camera(), at),
            None => None,
        };
    }

    /// Returns the position of the minimap, if it is shown; a press in it moves the view.
    fn overview(&mut self, ui: &Ui, scene: &BoardScene<'_>, rect: Rect) -> Option<MinimapPlacement> {
        if !self.minimap {
            return None;
        }
        let steady = !self.gesture.is_active() && self.dropped_until.is_none();
        let visible = self.camera().visible_area();
        let place = self.store.minimap.place(&self.index, scene, rect, visible, steady)?;
        let response = ui.interact(place.rect, ui.make_persistent_id("minimap"), Sense::click_and_drag());
        response.widget_info(|| WidgetInfo::labeled(Role::Image, true, "Minimap"));
        let held = response.is_pointer_button_down_on() || response.clicked();
        if let Some(at) = response.interact_pointer_pos().filter(|_| held) {
            let middle = place.to_board(at);
            self.viewport = sanitised(BoardViewport { x: middle.x, y: middle.y, ..self.viewport });
        }
        Some(place)
    }

    fn paint(&mut self, ui: &Ui, scene: &BoardScene<'_>, rect: Rect, overview: Option<MinimapPlacement>) {
        let painter = ui.painter_at(rect);
        let gesture = &self.gesture;
        let takes = |node: NodeId| match gesture {
            Gesture::Connect(connecting) => connecting.accepts(scene, node),
            _ => None,
        };
        let marks = ElementHighlights {
            hovered: self.hovered.clone(),
            drop: if let Gesture::Move(moving) = gesture { moving.drop_mark() } else { None },
            into_edge: if let Gesture::Move(moving) = gesture { moving.edge_mark() } else { None },
            takes_connection: matches!(gesture, Gesture::Connect(_)).then_some(&takes),
            renamed: self.rename.as_ref().map(LabelEditor::node),
            standings: self.standings.as_ref(),
            shown_page: self.shown_page,
            turn: if self.reduced_motion {
                0.0
            } else {
                draw::deploy_signs::turn_angle(ui.input(|input| input.time))
            },
        };
        let camera = self.camera();
        let pen = BoardPainter::new(&painter, camera, scene, &self.index, &marks);
        draw::draw(&pen, &mut self.store);
        if self.store.texts.is_behind() {
            ui.request_repaint();
        }
        if self.store.is_turning && !self.reduced_motion {
            ui.request_repaint_after(SIGN_FRAME_INTERVAL);
        }
        if self.index.nodes().next().is_none() && self.proposal.is_none() {
            draw::overlay::draw_empty_hint(&pen);
        }
        if let Some(proposal) = &self.proposal {
            draw::proposal::draw(&pen, &mut self.store, proposal);
            if self.store.proposed.texts.is_behind() {
                ui.request_repaint();
            }
        }
        draw::overlay::draw(&pen, &mut self.store, gesture, self.pointer);
        if let Some(place) = overview {
            self.store.minimap.draw(&pen, place);
        }
    }

    fn show_sign_tooltips(&self, ui: &Ui, scene: &BoardScene<'_>) {
        let Some(node) = self.hovered.as_ref().and_then(CanvasHit::node) else { return };
        let standing = self.standings.as_ref().and_then(|standings| standings.get(node));
        if let (Some(standing), Some(slot)) = (standing, self.index.slot(node)) {
            let camera = self.camera();
            let rect = camera.rect_to_screen(slot.area);
            draw::deploy_signs::show_sign_tooltips(ui, scene.theme, rect, camera.zoom(), node, standing);
        }
    }

    fn set_cursor(&self, ui: &Ui, response: &Response, scene: &BoardScene<'_>) {
        let icon = self.gesture.cursor().or_else(|| {
            let at = response
                .hover_pos()
                .filter(|_| response.hovered() && matches!(self.gesture, Gesture::Idle))?;
            if !ui.egui_wants_keyboard_input() && ui.input(|input| input.key_down(Key::Space)) {
                return Some(CursorIcon::Grab);
            }
            match resize::handle_at(scene, &self.index, &self.camera(), at) {
                Some(handle) => Some(handle.cursor()),
                None => matches!(self.hovered, Some(CanvasHit::Port { .. })).then_some(CursorIcon::Crosshair),
            }
        });
        if let Some(icon) = icon {
            ui.set_cursor_icon(icon);
        }
    }

    fn describe(&mut self, ui: &Ui, scene: &BoardScene<'_>) {
        let camera = self.camera();
        let edge = match self.hovered {
            Some(CanvasHit::Edge(id)) => Some(id),
            _ => None,
        };
        if let Some(proposal) = &self.proposal {
            self.events.extend(a11y::describe_proposal(ui, proposal, &camera));
        }
        let drawn = (self.store.drawn_nodes(), self.store.drawn_edges());
        let standings = self.standings.as_ref();
        self.events.extend(a11y::describe(ui, scene, &self.index, &camera, drawn, edge, standings));
    }

    fn edit_label(&mut self, ui: &mut Ui, scene: &BoardScene<'_>) {
        if !scene.read_only && !ui.egui_wants_keyboard_input() && ui.input(|input| input.key_pressed(Key::F2))
        {
            let mut selected = scene.selection.iter();
            if let (Some(ElementId::Node(id)), None) = (selected.next(), selected.next()) {
                self.rename(*id);
            }
        }
        if let Some(node) = self.rename_wanted.take().filter(|_| !scene.read_only) {
            self.rename = LabelEditor::start(scene, &self.index, node);
            self.bring_into_view(node);
            ui.request_repaint();
        }
        let camera = self.camera();
        if let Some(rename) = &mut self.rename
            && let LabelEditOutcome::Finished(event) = rename.show(ui, scene, &self.index, &camera)
        {
            self.rename = None;
            self.events.extend(event.map(|event| *event));
        }
    }

    fn bring_into_view(&mut self, node: NodeId) {
        let Some(slot) = self.index.slot(node) else { return };
        let camera = self.camera();
        if !camera.view().intersects(camera.rect_to_screen(slot.area)) {
            let middle = rect_of(slot.area).center();
            self.viewport = sanitised(BoardViewport { x: middle.x, y: middle.y, ..self.viewport });
        }
    }
}

impl std::fmt::Debug for Canvas {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Canvas")
            .field("viewport", &self.viewport)
            .field("busy", &self.is_busy())
            .finish_non_exhaustive()
    }
}
