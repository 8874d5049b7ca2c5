//! The signs of a node's deployment status: the planned action at its upper left corner, its state at the lower right,
//! drift at the lower left. Each is a shape, a sign and a colour, never a colour alone.

use super::{BoardPainter, DrawCache};
use crate::{
    deploy_status::{NodeDeployStatus, planned_words},
    index::IndexedNode,
    theme::{WorkbenchTheme, size},
};
use egui::{Color32, CornerRadius, Painter, Pos2, Rect, Sense, Shape, Stroke, Ui, Vec2, pos2, vec2};
use shared_protocol::text::capitalize;
use shared_protocol::{
    NodeId,
    terraform::{DeploymentState, PlannedAction},
};
use std::f32::consts::TAU;

/// Seconds for a full turn of an animated sign.
const TURN_SECONDS: f64 = 1.6;
const LEGEND_ROW: f32 = 20.0;

pub(crate) fn turn_angle(time: f64) -> f32 {
    ((time / TURN_SECONDS).fract() as f32) * TAU
}

impl BoardPainter<'_> {
    pub(super) fn deploy_status(&self, node: NodeId) -> Option<NodeDeployStatus> {
        self.marks.standings.and_then(|standings| standings.get(node))
    }
}

/// Returns the frame colour of a node whose status should be visible from afar: failed and running operations before
/// planned ones.
pub(super) fn ring(theme: &WorkbenchTheme, standing: NodeDeployStatus) -> Option<Color32> {
    match standing.deployment {
        Some(state @ (DeploymentState::Creating | DeploymentState::Updating | DeploymentState::Failed)) => {
            Some(deployment_colour(theme, state))
        }
        _ => standing
            .planned
            .filter(|action| *action != PlannedAction::Read)
            .map(|action| action_colour(theme, action)),
    }
}

pub(super) fn draw(pen: &BoardPainter<'_>, store: &mut DrawCache, slot: &IndexedNode, rect: Rect) {
    let Some(standing) = pen.deploy_status(slot.id) else { return };
    let theme = pen.scene.theme;
    let places = DeploySignPositions::layout(rect, pen.zoom());
    if let Some(action) = standing.planned {
        paint_action(pen.painter, places.planned, places.radius, theme, action);
    }
    if standing.drifted.is_some() {
        paint_drift(pen.painter, places.drifted, places.radius, theme);
    }
    if let Some(state) = standing.deployment {
        let moves = matches!(state, DeploymentState::Creating | DeploymentState::Updating);
        let runs = pen.marks.standings.is_some_and(|standings| standings.is_running);
        store.is_turning |= moves && runs;
        let turn = if runs { pen.marks.turn } else { 0.0 };
        paint_deployment(pen.painter, places.deployment, places.radius, theme, state, turn);
    }
}

struct DeploySignPositions {
    planned: Pos2,
    drifted: Pos2,
    deployment: Pos2,
    radius: f32,
}

impl DeploySignPositions {
    fn layout(rect: Rect, zoom: f32) -> Self {
        let radius = (size::BADGE_RADIUS * zoom).clamp(4.0, 16.0);
        let inwards = radius * 0.5;
        Self {
            planned: rect.left_top() + vec2(inwards, inwards),
            drifted: rect.left_bottom() + vec2(inwards, -inwards),
            deployment: rect.right_bottom() - vec2(inwards, inwards),
            radius,
        }
    }
}

/// Adds tooltips to the signs of a node: its status, and the legend of all signs.
pub(crate) fn show_sign_tooltips(
    ui: &Ui,
    theme: &WorkbenchTheme,
    rect: Rect,
    zoom: f32,
    node: NodeId,
    standing: NodeDeployStatus,
) {
    let places = DeploySignPositions::layout(rect, zoom);
    let shown = [
        standing.planned.map(|_| places.planned),
        standing.drifted.map(|_| places.drifted),
        standing.deployment.map(|_| places.deployment),
    ];
    for (number, at) in shown.into_iter().enumerate() {
        let Some(at) = at else { continue };
        let sign = Rect::from_center_size(at, Vec2::splat(places.radius * 2.5));
        let response = ui.interact(sign, ui.make_persistent_id((node, "sign", number)), Sense::hover());
        response.on_hover_ui(|ui| {
            ui.label(capitalize(&standing.describe()));
            ui.separator();
            legend_ui(ui, theme);
        });
    }
}

/// Shows every sign with its meaning.
pub fn legend_ui(ui: &mut Ui, theme: &WorkbenchTheme) {
    use DeploymentState as D;
    use PlannedAction as P;
    ui.spacing_mut().item_spacing = vec2(16.0, 0.0);
    ui.horizontal_top(|ui| {
        ui.vertical(|ui| {
            for action in [P::Create, P::Update, P::Replace, P::Delete, P::Read] {
                entry_ui(ui, theme, planned_words(action), |painter, at| {
                    paint_action(painter, at, 7.0, theme, action);
                });
            }
            let words = "has drifted from the applied state";
            entry_ui(ui, theme, words, |painter, at| paint_drift(painter, at, 7.0, theme));
        });
        ui.vertical(|ui| {
            for state in [D::Pending, D::Creating, D::Updating, D::Created, D::Failed, D::Destroyed] {
                entry_ui(ui, theme, state.as_str(), |painter, at| {
                    paint_deployment(painter, at, 7.0, theme, state, 0.0);
                });
            }
        });
    });
}

fn entry_ui(ui: &mut Ui, theme: &WorkbenchTheme, words: &str, paint: impl FnOnce(&Painter, Pos2)) {
    ui.horizontal(|ui| {
        ui.spacing_mut().item_spacing.x = 6.0;
        let (sign, _) = ui.allocate_exact_size(vec2(18.0, LEGEND_ROW), Sense::hover());
        paint(ui.painter(), sign.center());
        ui.label(egui::RichText::new(words).small().color(theme.text_muted));
    });
}

pub fn action_colour(theme: &WorkbenchTheme, action: PlannedAction) -> Color32 {
    match action {
        PlannedAction::Create => theme.success,
        PlannedAction::Update => theme.accent,
        PlannedAction::Replace => theme.warning,
        PlannedAction::Delete => theme.danger,
        PlannedAction::Read => theme.text_subtle,
    }
}

pub fn deployment_colour(theme: &WorkbenchTheme, state: DeploymentState) -> Color32 {
    match state {
        DeploymentState::Pending | DeploymentState::Destroyed => theme.text_subtle,
        DeploymentState::Creating | DeploymentState::Updating => theme.accent,
        DeploymentState::Created => theme.success,
        DeploymentState::Failed => theme.danger,
    }
}

/// Paints a planned action: a square with `+`, `~`, `±`, `−`, or a ring for a read.
pub fn paint_action(
    painter: &Painter,
    centre: Pos2,
    radius: f32,
    theme: &WorkbenchTheme,
    action: PlannedAction,
) {
    let square = |side: f32| Rect::from_center_size(centre, Vec2::splat(side * 2.0));
    let corners = |side: f32| CornerRadius::from(side * 0.4);
    painter.rect_filled(square(radius + 1.5), corners(radius + 1.5), theme.surface_card);
    painter.rect_filled(square(radius), corners(radius), action_colour(theme, action));
    let pen = glyph(radius, theme.status_text);
    let reach = radius * 0.52;
    match action {
        PlannedAction::Create => draw_plus(painter, centre, reach, pen),
        PlannedAction::Update => tilde(painter, centre, reach, pen),
        PlannedAction::Replace => {
            draw_plus(painter, centre - vec2(0.0, radius * 0.18), reach * 0.78, pen);
            bar(painter, centre + vec2(0.0, radius * 0.6), reach * 0.78, pen);
        }
        PlannedAction::Delete => bar(painter, centre, reach, pen),
        PlannedAction::Read => {
            painter.circle_stroke(centre, reach * 0.7, pen);
        }
    }
}

/// Paints a deployment state: a disc with a tick, a cross or a bar; a ring for pending; an arc for a running operation.
pub fn paint_deployment(
    painter: &Painter,
    centre: Pos2,
    radius: f32,
    theme: &WorkbenchTheme,
    state: DeploymentState,
    turn: f32,
) {
    let colour = deployment_colour(theme, state);
    painter.circle_filled(centre, radius + 1.5, theme.surface_card);
    let line = glyph(radius, colour);
    let reach = radius * 0.42;
    match state {
        DeploymentState::Pending => {
            painter.circle_stroke(centre, radius - 0.75, Stroke::new(1.5, colour));
            painter.circle_filled(centre, radius * 0.22, colour);
        }
        DeploymentState::Creating | DeploymentState::Updating => {
            painter.circle_stroke(centre, radius - 0.75, Stroke::new(1.5, theme.border));
            arc(painter, centre, radius - 0.75, turn, line);
            match state {
                DeploymentState::Creating => draw_plus(painter, centre, reach, line),
                _ => tilde(painter, centre, reach, line),
            }
        }
        DeploymentState::Created => {
            painter.circle_filled(centre, radius, colour);
            let points = vec![
                centre + vec2(-radius * 0.45, 0.02 * radius),
                centre + vec2(-radius * 0.12, radius * 0.36),
                centre + vec2(radius * 0.48, -radius * 0.36),
            ];
            painter.add(Shape::line(points, glyph(radius, theme.status_text)));
        }
        DeploymentState::Failed => {
            painter.circle_filled(centre, radius, colour);
            let pen = glyph(radius, theme.status_text);
            painter.line_segment([centre + vec2(-reach, -reach), centre + vec2(reach, reach)], pen);
            painter.line_segment([centre + vec2(-reach, reach), centre + vec2(reach, -reach)], pen);
        }
        DeploymentState::Destroyed => {
            painter.circle_filled(centre, radius, colour);
            bar(painter, centre, radius * 0.52, glyph(radius, theme.surface_card));
        }
    }
}

/// Paints the drift sign: a diamond with "≠".
pub fn paint_drift(painter: &Painter, centre: Pos2, radius: f32, theme: &WorkbenchTheme) {
    let diamond = |reach: f32| {
        vec![
            centre - vec2(0.0, reach),
            centre + vec2(reach, 0.0),
            centre + vec2(0.0, reach),
            centre - vec2(reach, 0.0),
        ]
    };
    painter.add(Shape::convex_polygon(diamond(radius * 1.2 + 2.0), theme.surface_card, Stroke::NONE));
    painter.add(Shape::convex_polygon(diamond(radius * 1.2), theme.warning, Stroke::NONE));
    let pen = Stroke::new((radius * 0.18).max(1.0), theme.status_text);
    let reach = radius * 0.45;
    for up in [-0.2, 0.2] {
        bar(painter, centre + vec2(0.0, radius * up), reach, pen);
    }
    painter.line_segment(
        [centre + vec2(-reach * 0.5, reach * 0.95), centre + vec2(reach * 0.5, -reach * 0.95)],
        pen,
    );
}

fn glyph(radius: f32, colour: Color32) -> Stroke {
    Stroke::new((radius * 0.24).max(1.2), colour)
}

fn draw_plus(painter: &Painter, centre: Pos2, reach: f32, pen: Stroke) {
    bar(painter, centre, reach, pen);
    painter.line_segment([centre - vec2(0.0, reach), centre + vec2(0.0, reach)], pen);
}

fn bar(painter: &Painter, centre: Pos2, reach: f32, pen: Stroke) {
    painter.line_segment([centre - vec2(reach, 0.0), centre + vec2(reach, 0.0)], pen);
}

fn tilde(painter: &Painter, centre: Pos2, reach: f32, pen: Stroke) {
    let points = (0..=8_u8).map(|step| {
        let share = f32::from(step) / 8.0;
        let (x, y) = (reach * (share * 2.0 - 1.0), -(share * TAU).sin() * reach * 0.45);
        pos2(centre.x + x * 1.1, centre.y + y)
    });
    painter.add(Shape::line(points.collect(), pen));
}

/// Three quarters of a circle.
fn arc(painter: &Painter, centre: Pos2, radius: f32, turn: f32, pen: Stroke) {
    let points = (0..=18_u8).map(|step| {
        let angle = turn + TAU * 0.75 * f32::from(step) / 18.0;
        centre + vec2(angle.cos(), angle.sin()) * radius
    });
    painter.add(Shape::line(points.collect(), pen));
}
