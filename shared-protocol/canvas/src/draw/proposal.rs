//! A proposal over the board: ghosts for additions, a strike through removals, a ring and the values before and after on
//! changes, an arrow from the old place to the new one. Unselected elements are faint.

mod signs;

use super::{BoardPainter, DrawCache, container, edge, node, node_layout, rounded_frame};
use crate::{
    BoardScene, WorkbenchTheme,
    batch::{ShapeBatch, rounded},
    index::route::EdgeRoute,
    lod::DetailLevel,
    proposed_board::{CanvasProposal, ProposalLayer, ProposedChangeSign, ProposedEdge, ProposedNode},
    theme::{mix, size},
};
use egui::{Color32, Painter, Pos2, Rect, Stroke, StrokeKind, vec2};
use shared_protocol::{Placement, ProposalSubject};
pub(crate) use signs::paint;
use signs::{draw_badge, notes};

const DASH: (f32, f32) = (6.0, 4.0);
const FAINT_OPACITY: f32 = 0.5;
const MIN_ARROW_LENGTH: f32 = 18.0;

pub(crate) fn draw(pen: &BoardPainter<'_>, store: &mut DrawCache, shown: &CanvasProposal) {
    let board = &*shown.board;
    let scene = BoardScene { snapshot: &board.after, ..*pen.scene };
    let after = BoardPainter::new(pen.painter, pen.camera, &scene, pen.index, pen.marks);
    // A separate text cache, because a moved node is drawn twice.
    std::mem::swap(&mut store.texts, &mut store.proposed.texts);
    store.texts.begin_frame(pen.painter, pen.zoom(), pen.is_patient);
    let view = pen.camera.visible_area().expand((24.0 / pen.zoom()) as i32 + 1);
    let layer = shown.layer;
    let nodes = board.nodes.iter().filter(|node| layer.includes(node.sign) && is_near(node, view));
    let nodes: Vec<&ProposedNode> = nodes.collect();
    let edges =
        board.edges.iter().filter(|edge| layer.includes(edge.sign) && edge.route.area().overlaps(view));
    let edges: Vec<&ProposedEdge> = edges.collect();
    let mut faint = pen.painter.clone();
    faint.multiply_opacity(FAINT_OPACITY);
    let sketch = ProposalPainter { pen, faint: &faint, after: &after, proposal: shown };
    let mut lines = std::mem::take(&mut store.proposed.lines);
    lines.begin_frame(pen.painter.pixels_per_point());
    if pen.detail <= DetailLevel::Blocks {
        edges.iter().for_each(|edge| sketch.edge(store, &mut lines, edge));
        nodes.iter().for_each(|node| sketch.block(&mut lines, node));
        pen.painter.add(lines.shape());
    } else {
        let first_card = nodes.partition_point(|node| node.slot.is_container());
        nodes[..first_card].iter().for_each(|node| sketch.node(store, &mut lines, node));
        edges.iter().for_each(|edge| sketch.edge(store, &mut lines, edge));
        pen.painter.add(lines.shape());
        if pen.detail == DetailLevel::Titles {
            let mut backs = std::mem::take(&mut store.proposed.backs);
            backs.begin_frame(pen.painter.pixels_per_point());
            nodes[first_card..].iter().for_each(|node| sketch.draw_back(&mut backs, node));
            pen.painter.add(backs.shape());
            store.proposed.backs = backs;
        }
        let mut outlines = std::mem::take(&mut store.proposed.outlines);
        outlines.begin_frame(pen.painter.pixels_per_point());
        nodes[first_card..].iter().for_each(|node| sketch.node(store, &mut outlines, node));
        pen.painter.add(outlines.shape());
        store.proposed.outlines = outlines;
        let mut badges = std::mem::take(&mut store.proposed.badges);
        badges.begin_frame(pen.painter.pixels_per_point());
        edges.iter().for_each(|edge| sketch.edge_badge(&mut badges, edge));
        nodes.iter().for_each(|node| sketch.draw_badge(&mut badges, node));
        pen.painter.add(badges.shape());
        store.proposed.badges = badges;
        if pen.detail == DetailLevel::Full {
            nodes.iter().for_each(|node| sketch.notes(node));
        }
    }
    store.proposed.lines = lines;
    std::mem::swap(&mut store.texts, &mut store.proposed.texts);
}

fn is_near(node: &ProposedNode, view: Placement) -> bool {
    node.slot.area.overlaps(view) || node.from.is_some_and(|from| from.union(node.slot.area).overlaps(view))
}

/// Caches and buffers that are reused between frames.
#[derive(Default)]
pub(crate) struct ProposalDrawCache {
    pub(crate) texts: crate::text::TextCache,
    lines: ShapeBatch,
    outlines: ShapeBatch,
    badges: ShapeBatch,
    backs: ShapeBatch,
}

struct ProposalPainter<'a> {
    pen: &'a BoardPainter<'a>,
    faint: &'a Painter,
    /// The pen for the proposed state.
    after: &'a BoardPainter<'a>,
    proposal: &'a CanvasProposal,
}

impl ProposalPainter<'_> {
    fn is_accepted(&self, subject: &ProposalSubject) -> bool {
        self.proposal.selected.contains(subject)
    }

    fn colour(&self, sign: ProposedChangeSign, subject: &ProposalSubject) -> Color32 {
        self.fade(subject)(sign.colour(self.pen.scene.theme))
    }

    fn painter(&self, subject: &ProposalSubject) -> &Painter {
        if self.is_accepted(subject) { self.pen.painter } else { self.faint }
    }

    /// Returns the area of a node on the layer below.
    fn area(&self, node: &ProposedNode) -> Placement {
        match self.proposal.layer {
            ProposalLayer::Before => node.from.unwrap_or(node.slot.area),
            ProposalLayer::Over | ProposalLayer::After => node.slot.area,
        }
    }

    /// Returns the route of an edge, and whether it exists on the board below and has a route there.
    fn route(&self, edge: &ProposedEdge) -> (EdgeRoute, bool) {
        let there = self.pen.index.edge_slot(edge.id);
        there.map_or((edge.route, false), |slot| (slot.route, true))
    }

    fn node(&self, store: &mut DrawCache, lines: &mut ShapeBatch, node: &ProposedNode) {
        let rect = self.pen.camera.rect_to_screen(self.area(node));
        let colour = self.colour(node.sign, &node.subject);
        let over = self.proposal.layer == ProposalLayer::Over;
        if let Some(from) = node.from.filter(|_| over && !node.is_only_resized()) {
            self.draw_move_arrow(lines, self.pen.camera.rect_to_screen(from), rect, colour);
        }
        match node.sign {
            ProposedChangeSign::Removed => self.draw_strike(lines, node, rect, colour),
            ProposedChangeSign::Moved if over && node.is_only_resized() => {
                dashed(lines, rect, self.radius(node), colour)
            }
            _ if self.is_ghost(node) => self.ghost(store, lines, node, rect, colour),
            _ => self.ring(node, rect, colour),
        }
        if self.proposal.focus.as_ref() == Some(&node.subject) {
            let line = Stroke::new(2.0, self.pen.scene.theme.focus);
            let radius = self.radius(node) + 5.0;
            self.pen.painter.rect_stroke(rect.expand(5.0), radius, line, StrokeKind::Middle);
        }
    }

    fn radius(&self, node: &ProposedNode) -> f32 {
        let radius = if node.slot.is_container() { size::CONTAINER_RADIUS } else { size::CARD_RADIUS };
        radius * self.pen.zoom()
    }

    fn is_ghost(&self, node: &ProposedNode) -> bool {
        let is_elsewhere = node.sign == ProposedChangeSign::Added || node.from.is_some();
        let is_marked = node.sign == ProposedChangeSign::Removed
            || (node.sign == ProposedChangeSign::Moved && node.is_only_resized());
        self.proposal.layer == ProposalLayer::Over && is_elsewhere && !is_marked
    }

    /// Adds the background of a card to a batch; the tile's colour replaces the icon.
    fn draw_back(&self, backs: &mut ShapeBatch, node: &ProposedNode) {
        if !self.is_ghost(node) {
            return;
        }
        let (theme, shown) = (self.pen.scene.theme, self.fade(&node.subject));
        let (sign, rect) = (node.sign.colour(theme), self.pen.camera.rect_to_screen(self.area(node)));
        let line = Stroke::new(1.5, shown(sign));
        backs.frame(rect, self.radius(node), shown(card_fill(theme, sign)), line);
        if let Some(tile) = node_layout::card_face(node.slot.area).tile {
            let radius = size::TILE_RADIUS * self.pen.zoom();
            backs.frame(self.pen.place(tile), radius, shown(theme.block(node.slot.accent)), Stroke::NONE);
        }
    }

    /// Draws an added node, or a moved node at its new place.
    fn ghost(
        &self,
        store: &mut DrawCache,
        lines: &mut ShapeBatch,
        node: &ProposedNode,
        rect: Rect,
        colour: Color32,
    ) {
        let (theme, painter) = (self.pen.scene.theme, self.painter(&node.subject));
        let radius = self.radius(node);
        let sign = node.sign.colour(theme);
        let is_near = self.pen.detail == DetailLevel::Full;
        if node.slot.is_container() {
            // The content must stay visible through it.
            let line = if is_near { Stroke::NONE } else { Stroke::new(1.5, sign) };
            rounded_frame::draw(painter, rect, radius, sign.gamma_multiply(0.07), line);
            container::title(self.after, store, &node.slot, painter);
        } else if is_near {
            rounded_frame::draw(painter, rect, radius, card_fill(theme, sign), Stroke::NONE);
            node::content(self.after, store, &node.slot, painter);
        } else {
            node::title(self.after, store, &node.slot, painter);
        }
        if is_near {
            dashed(lines, rect.shrink(0.75), radius, colour);
        }
    }

    fn draw_strike(&self, lines: &mut ShapeBatch, node: &ProposedNode, rect: Rect, colour: Color32) {
        let (theme, painter) = (self.pen.scene.theme, self.painter(&node.subject));
        let wash = theme.canvas.gamma_multiply(if node.slot.is_container() { 0.35 } else { 0.62 });
        rounded_frame::draw(
            painter,
            rect,
            self.radius(node),
            wash,
            Stroke::new(1.5, ProposedChangeSign::Removed.colour(theme)),
        );
        let inner = rect.shrink(self.radius(node) * 0.35);
        lines.line(&[inner.left_bottom(), inner.right_top()], 1.5, colour);
    }

    fn ring(&self, node: &ProposedNode, rect: Rect, colour: Color32) {
        let (around, radius) = (rect.expand(3.0), self.radius(node) + 3.0);
        rounded_frame::draw(self.pen.painter, around, radius, Color32::TRANSPARENT, Stroke::new(2.0, colour));
    }

    /// Draws an arrow from the old place to the new one.
    fn draw_move_arrow(&self, lines: &mut ShapeBatch, from: Rect, to: Rect, colour: Color32) {
        let radius = size::CARD_RADIUS * self.pen.zoom();
        if self.pen.detail == DetailLevel::Full {
            dashed(lines, from.expand(2.0), radius, colour);
        } else {
            let line = Stroke::new(1.5, colour);
            rounded_frame::draw(self.pen.painter, from.expand(2.0), radius, Color32::TRANSPARENT, line);
        }
        let (start, end) = (from.center(), to.center());
        let length = start.distance(end);
        if length < MIN_ARROW_LENGTH {
            return;
        }
        let along = (end - start) / length;
        let tip = border_point(to, start).unwrap_or(end);
        let base = tip - along * 9.0;
        let across = vec2(-along.y, along.x) * 4.5;
        if start.distance(base) > 4.0 && !to.contains(start) {
            lines.line(&[start, base], 1.5, colour);
            lines.triangle([tip, base + across, base - across], colour);
        }
    }

    fn edge(&self, store: &mut DrawCache, lines: &mut ShapeBatch, edge: &ProposedEdge) {
        let colour = self.colour(edge.sign, &edge.subject);
        let (route, is_there) = self.route(edge);
        let points: Vec<Pos2> = route.points().iter().map(|&at| self.pen.camera.to_screen(at)).collect();
        let focused = self.proposal.focus.as_ref() == Some(&edge.subject);
        let width = if focused { 3.5 } else { 2.0 };
        if !is_there && self.pen.detail >= DetailLevel::Titles {
            rounded(&points, size::EDGE_RADIUS * self.pen.zoom(), &mut store.screen_points);
            edge::arrow(self.pen, lines, &mut store.screen_points, colour);
            match self.pen.detail {
                DetailLevel::Full => dashes(lines, &store.screen_points, width, colour),
                _ => lines.line(&store.screen_points, width, colour),
            }
        } else {
            lines.line(&points, if is_there { width + 1.5 } else { width }, colour);
        }
    }

    /// Draws a node when zoomed out: a block or its outline, with its sign if there is room.
    fn block(&self, lines: &mut ShapeBatch, node: &ProposedNode) {
        let rect = self.pen.camera.rect_to_screen(self.area(node));
        let rect = Rect::from_center_size(rect.center(), rect.size().max(vec2(4.0, 4.0)));
        let colour = self.colour(node.sign, &node.subject);
        if let Some(from) = node.from.filter(|_| self.proposal.layer == ProposalLayer::Over) {
            let start = self.pen.camera.rect_to_screen(from).center();
            lines.line(&[start, rect.center()], 1.0, colour);
        }
        match node.sign {
            ProposedChangeSign::Added if !node.slot.is_container() => lines.block(rect, colour),
            _ => {
                let corners = [rect.left_top(), rect.right_top(), rect.right_bottom(), rect.left_bottom()];
                lines.line(&[corners[0], corners[1], corners[2], corners[3], corners[0]], 2.0, colour);
            }
        }
        if node.sign == ProposedChangeSign::Removed {
            lines.line(&[rect.left_bottom(), rect.right_top()], 1.5, colour);
        }
        if self.proposal.focus.as_ref() == Some(&node.subject) {
            let line = Stroke::new(2.0, self.pen.scene.theme.focus);
            self.pen.painter.rect_stroke(rect.expand(3.0), 2.0, line, StrokeKind::Middle);
        }
        if rect.width() >= 16.0 && rect.height() >= 9.0 {
            let ink = match node.sign {
                ProposedChangeSign::Added if !node.slot.is_container() => self.pen.scene.theme.status_text,
                _ => colour,
            };
            let middle =
                if node.slot.is_container() { rect.left_top() + vec2(8.0, 7.0) } else { rect.center() };
            signs::glyph(node.sign, middle, 3.5, |points| lines.line(points, 1.5, ink));
        }
    }

    /// Returns the function that fades the colours of an unselected element.
    fn fade(&self, subject: &ProposalSubject) -> impl Fn(Color32) -> Color32 {
        let chosen = self.is_accepted(subject);
        move |colour| if chosen { colour } else { colour.gamma_multiply(FAINT_OPACITY) }
    }

    fn draw_badge(&self, badges: &mut ShapeBatch, node: &ProposedNode) {
        let at = self.pen.camera.rect_to_screen(self.area(node)).left_top();
        draw_badge(self.pen, badges, at, node.sign, self.fade(&node.subject));
    }

    fn notes(&self, node: &ProposedNode) {
        let rect = self.pen.camera.rect_to_screen(self.area(node));
        notes(self.pen, self.painter(&node.subject), rect, &node.notes);
    }

    fn edge_badge(&self, badges: &mut ShapeBatch, edge: &ProposedEdge) {
        let (route, _) = self.route(edge);
        let longest =
            route.segments().max_by(|a, b| a[0].distance_sq(a[1]).total_cmp(&b[0].distance_sq(b[1])));
        let Some([a, b]) = longest else { return };
        let middle = self.pen.camera.to_screen(a + (b - a) / 2.0);
        draw_badge(self.pen, badges, middle, edge.sign, self.fade(&edge.subject));
    }
}

fn card_fill(theme: &WorkbenchTheme, sign: Color32) -> Color32 {
    mix(theme.surface_card, sign, 0.10).gamma_multiply(0.94)
}

/// Returns the point where a line from outside to the middle enters a rectangle.
fn border_point(rect: Rect, from: Pos2) -> Option<Pos2> {
    let way = from - rect.center();
    if rect.contains(from) || way == egui::Vec2::ZERO {
        return None;
    }
    let share = |half: f32, part: f32| if part == 0.0 { f32::INFINITY } else { half / part.abs() };
    let scale = share(rect.width() / 2.0, way.x).min(share(rect.height() / 2.0, way.y));
    Some(rect.center() + way * scale)
}

fn dashed(lines: &mut ShapeBatch, rect: Rect, radius: f32, colour: Color32) {
    let corners =
        [rect.left_top(), rect.right_top(), rect.right_bottom(), rect.left_bottom(), rect.left_top()];
    let start = Pos2::new(rect.center().x, rect.top());
    let mut outline = Vec::new();
    rounded(&[start, corners[1], corners[2], corners[3], corners[4], start], radius, &mut outline);
    dashes(lines, &outline, 1.5, colour);
}

fn dashes(lines: &mut ShapeBatch, points: &[Pos2], width: f32, colour: Color32) {
    let (mut drawn, mut left) = (true, DASH.0);
    let mut run: Vec<Pos2> = points.first().copied().into_iter().collect();
    for pair in points.windows(2) {
        let [mut from, to] = [pair[0], pair[1]];
        let mut rest = from.distance(to);
        while rest > left {
            from += (to - from) * (left / rest);
            rest -= left;
            if drawn {
                run.push(from);
                lines.line(&run, width, colour);
            }
            run.clear();
            run.push(from);
            drawn = !drawn;
            left = if drawn { DASH.0 } else { DASH.1 };
        }
        left -= rest;
        if drawn {
            run.push(to);
        }
    }
    if drawn && run.len() > 1 {
        lines.line(&run, width, colour);
    }
}
