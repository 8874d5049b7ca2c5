//! Translates pointer and keyboard input into gestures, selections and view changes.

use super::{Canvas, DROP_PREVIEW_SECONDS, EDGE_PAN_MARGIN, EDGE_PAN_SPEED};
use crate::{
    BoardScene, Camera, CanvasEvent,
    camera::{sanitised, zoomed_at},
    gesture::{
        Gesture, GestureOutcome, PointerSample, connect::ConnectGesture, drag::MoveGesture,
        marquee::MarqueeGesture, resize,
    },
    hit::{self, CanvasHit, HitNodePart},
    index::DrawnNodeKind,
    theme::size,
};
use egui::{Event, Key, Modifiers, PointerButton, Pos2, Response, Ui, vec2};
use shared_protocol::{ElementId, ProposalSubject, messages::BoardViewport};
use std::{collections::BTreeSet, time::Duration};

/// The zoom per point of scrolling in map style: a wheel notch is about a fifth.
const ZOOM_PER_POINT: f32 = 0.004;

impl Canvas {
    /// Scrolling pans; Ctrl with scrolling and pinching zoom to the pointer. In map style, scrolling zooms.
    pub(super) fn navigate(&mut self, ui: &Ui, response: &Response) {
        let Some(view) = self.view else { return };
        if !response.contains_pointer() && !self.gesture.is_active() {
            return;
        }
        let (zoom, pan, pointer) = ui.input(|input| {
            (
                input.zoom_delta(),
                input.translation_delta(),
                input.pointer.latest_pos().unwrap_or(view.center()),
            )
        });
        let scrolled = self.map_style && pan.y != 0.0 && pan.is_finite();
        let zoom = if scrolled { zoom * (pan.y * ZOOM_PER_POINT).exp() } else { zoom };
        if zoom != 1.0 {
            self.viewport = zoomed_at(self.viewport, zoom, pointer, view);
        } else if pan != egui::Vec2::ZERO && pan.is_finite() {
            self.pan_by(pan);
        }
    }

    fn pan_by(&mut self, screen: egui::Vec2) {
        let BoardViewport { x, y, zoom } = self.viewport;
        self.viewport = sanitised(BoardViewport { x: x - screen.x / zoom, y: y - screen.y / zoom, zoom });
    }

    pub(super) fn gestures(&mut self, ui: &Ui, response: &Response, scene: &BoardScene<'_>) {
        let (down, press_origin, latest) = ui.input(|input| {
            (input.pointer.any_down(), input.pointer.press_origin(), input.pointer.latest_pos())
        });
        if self.gesture.is_active() && ui.input_mut(|input| input.consume_key(Modifiers::NONE, Key::Escape)) {
            return self.cancel_gesture(scene);
        }
        if response.drag_started()
            && let Some(origin) = press_origin
        {
            self.begin(ui, response, scene, origin);
        }
        if self.gesture.is_active() {
            let pointer = response.interact_pointer_pos().or(latest);
            if let Some(pointer) = pointer {
                self.pan_at_edge(ui, pointer);
                self.step(ui, scene, pointer);
            }
            if response.drag_stopped() {
                // The button is still down, so Esc stopped the drag, even if another widget consumed the key.
                if down {
                    return self.cancel_gesture(scene);
                }
                self.finish(ui, scene);
            }
        }
        if !down && !response.dragged() {
            self.gesture = Gesture::Idle;
        }
    }

    fn begin(&mut self, ui: &Ui, response: &Response, scene: &BoardScene<'_>, origin: Pos2) {
        let camera = self.camera();
        let at = camera.to_board(origin);
        let space = ui.input(|input| input.key_down(Key::Space));
        if response.drag_started_by(PointerButton::Middle)
            || (space && response.drag_started_by(PointerButton::Primary))
        {
            self.gesture = Gesture::Pan(at);
            return;
        }
        if !response.drag_started_by(PointerButton::Primary) {
            return;
        }
        self.index.clear_preview(scene.snapshot);
        self.dropped_until = None;
        self.glide = None;
        self.hovered = None;
        self.gesture = self.gesture_at(ui, scene, &camera, origin).unwrap_or_default();
    }

    fn gesture_at(
        &mut self,
        ui: &Ui,
        scene: &BoardScene<'_>,
        camera: &Camera,
        origin: Pos2,
    ) -> Option<Gesture> {
        let at = camera.to_board(origin);
        let pans = self.map_style && !ui.input(|input| input.modifiers.shift);
        let marquee =
            || Some(if pans { Gesture::Pan(at) } else { Gesture::Marquee(MarqueeGesture::start(scene, at)) });
        if scene.read_only {
            return marquee();
        }
        if let Some(handle) = resize::handle_at(scene, &self.index, camera, origin) {
            return Gesture::resize(scene, &self.index, handle, at);
        }
        match hit::hit_test(scene, &self.index, camera, origin) {
            None | Some(CanvasHit::Edge(_)) => marquee(),
            Some(CanvasHit::Port { node, port, direction }) => {
                let connecting = ConnectGesture::start(scene, &self.index, node, port, direction, at)?;
                Some(Gesture::Connect(Box::new(connecting)))
            }
            Some(CanvasHit::Node { id, part: HitNodePart::Inside }) if !scene.is_selected(id) => marquee(),
            Some(CanvasHit::Node { id, .. }) => {
                let mut selection = scene.selection.clone();
                if !scene.is_selected(id) {
                    if !ui.input(|input| input.modifiers.shift) {
                        selection.clear();
                    }
                    selection.insert(ElementId::Node(id));
                    self.events.push(CanvasEvent::Select(selection.clone()));
                }
                let moving = MoveGesture::start(scene, &self.index, &selection, id, at)?;
                Some(Gesture::Move(Box::new(moving)))
            }
        }
    }

    fn step(&mut self, ui: &Ui, scene: &BoardScene<'_>, pointer: Pos2) {
        let camera = self.camera();
        if let Gesture::Pan(anchor) = self.gesture {
            let moved = camera.to_board(pointer) - anchor;
            let BoardViewport { x, y, zoom } = self.viewport;
            self.viewport = sanitised(BoardViewport { x: x - moved.x, y: y - moved.y, zoom });
            return;
        }
        let modifiers = ui.input(|input| input.modifiers);
        let moment = PointerSample { at: camera.to_board(pointer), modifiers, zoom: camera.zoom() };
        self.gesture.step(scene, &mut self.index, moment, &mut self.events);
    }

    /// Pans the view when a gesture reaches its edge.
    fn pan_at_edge(&mut self, ui: &Ui, pointer: Pos2) {
        let Some(view) = self.view.filter(|_| self.gesture.pans_at_edge()) else { return };
        let inner = view.shrink(EDGE_PAN_MARGIN.min(view.width().min(view.height()) / 4.0));
        let past = pointer - inner.clamp(pointer);
        if past == egui::Vec2::ZERO {
            return;
        }
        let time = ui.input(|input| input.stable_dt.min(0.05));
        let speed = (past / EDGE_PAN_MARGIN).clamp(vec2(-1.0, -1.0), vec2(1.0, 1.0)) * EDGE_PAN_SPEED;
        self.pan_by(-speed * time);
        ui.request_repaint();
    }

    fn finish(&mut self, ui: &Ui, scene: &BoardScene<'_>) {
        match self.gesture.finish() {
            GestureOutcome::Nothing => self.index.clear_preview(scene.snapshot),
            GestureOutcome::Event(event) => {
                self.index.clear_preview(scene.snapshot);
                self.events.push(event);
            }
            GestureOutcome::Moved(event) => {
                self.dropped_until = Some(ui.input(|input| input.time) + DROP_PREVIEW_SECONDS);
                ui.request_repaint_after(Duration::from_secs_f64(DROP_PREVIEW_SECONDS));
                self.events.push(event);
            }
        }
    }

    fn cancel_gesture(&mut self, scene: &BoardScene<'_>) {
        self.events.extend(self.gesture.cancel(scene));
        self.index.clear_preview(scene.snapshot);
    }

    pub(super) fn clicks(&mut self, ui: &Ui, response: &Response, scene: &BoardScene<'_>) {
        let Some(at) = response.interact_pointer_pos() else { return };
        let camera = self.camera();
        if response.secondary_clicked() {
            let element = hit::hit_test(scene, &self.index, &camera, at).map(|hit| hit.element());
            if let Some(element) = element.filter(|element| !scene.selection.contains(element)) {
                self.events.push(CanvasEvent::Select([element].into()));
            }
            self.events.push(CanvasEvent::ContextMenu { at, element, board_point: camera.to_point(at) });
        } else if response.double_clicked() {
            self.double_click(scene, &camera, at);
        } else if response.clicked() {
            if self.click_proposal(scene, &camera, at) {
                return;
            }
            let hit = hit::hit_test(scene, &self.index, &camera, at).map(|hit| hit.element());
            let wanted = select_clicked(scene, hit, click_modifiers(ui));
            if wanted != *scene.selection {
                self.events.push(CanvasEvent::Select(wanted));
            }
        }
    }

    /// Handles a click on an element of the proposal. Returns `true` when the board itself is not a target.
    fn click_proposal(&mut self, scene: &BoardScene<'_>, camera: &Camera, at: Pos2) -> bool {
        let Some(proposal) = &self.proposal else { return false };
        let reach = size::EDGE_REACH / camera.zoom();
        let Some(subject) = proposal.board.hit(camera.to_board(at), reach).cloned() else { return false };
        let is_there = match subject {
            ProposalSubject::Node(id) => scene.snapshot.node(id).is_some(),
            ProposalSubject::Edge(id) => scene.snapshot.edge(id).is_some(),
            _ => false,
        };
        // An existing card has priority over the frame of a proposed container.
        let on_board = hit::hit_test(scene, &self.index, camera, at).and_then(|hit| hit.node());
        let is_card = |id| self.index.slot(id).is_some_and(|slot| !slot.is_container());
        if !is_there && proposal.board.is_container(&subject) && on_board.is_some_and(is_card) {
            return false;
        }
        self.events.push(CanvasEvent::Proposed(subject));
        !is_there
    }

    fn double_click(&mut self, scene: &BoardScene<'_>, camera: &Camera, at: Pos2) {
        let add = CanvasEvent::QuickAdd { at: camera.to_point(at), from: None };
        match hit::hit_test(scene, &self.index, camera, at) {
            None if !scene.read_only => self.events.push(add),
            Some(CanvasHit::Node { part: HitNodePart::Inside, .. }) if !scene.read_only => {
                self.events.push(add)
            }
            Some(CanvasHit::Node { id, part: HitNodePart::Label }) if !scene.read_only => self.rename(id),
            Some(CanvasHit::Node { id, .. })
                if self.index.slot(id).is_some_and(|slot| slot.kind != DrawnNodeKind::Container) =>
            {
                self.events.push(CanvasEvent::Open(id));
            }
            _ => {}
        }
    }
}

fn select_clicked(
    scene: &BoardScene<'_>,
    hit: Option<ElementId>,
    modifiers: Modifiers,
) -> BTreeSet<ElementId> {
    match hit {
        Some(element) if modifiers.shift => {
            let mut wanted = scene.selection.clone();
            if !wanted.remove(&element) {
                wanted.insert(element);
            }
            wanted
        }
        Some(element) => [element].into(),
        None if modifiers.shift => scene.selection.clone(),
        None => BTreeSet::new(),
    }
}

/// Returns the modifiers at the time of the click: they may have changed again within the frame.
fn click_modifiers(ui: &Ui) -> Modifiers {
    ui.input(|input| {
        let with_click = input.events.iter().rev().find_map(|event| match event {
            Event::PointerButton { modifiers, .. } => Some(*modifiers),
            _ => None,
        });
        with_click.unwrap_or(input.modifiers)
    })
}
