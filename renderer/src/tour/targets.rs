//! Targets that the tour highlights with a ring. Panels record the position of each target as they draw it.

use canvas::theme::WorkbenchTheme;
use egui::{Context, CornerRadius, Id, LayerId, Order, Rect, Response, Stroke, StrokeKind, Ui};

/// A control or area of the review.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub(crate) enum TourTarget {
    /// The strip above the board while ghosts are shown.
    Ghosts,
    Consequences,
    /// The button that opens the plan options; `PlanNow` starts the plan.
    Plan,
    PlanNow,
    Decision,
}

impl TourTarget {
    fn id(self) -> Id {
        Id::unique(("tour", self))
    }
}

/// The position of a target and the pass in which it was drawn.
#[derive(Clone, Copy)]
struct TourTargetRect {
    rect: Rect,
    pass: u64,
}

/// A request to scroll to a target when it is next drawn.
#[derive(Clone, Copy)]
struct TourScrollRequest;

pub(crate) fn record_target(ui: &Ui, place: TourTarget, rect: Rect) {
    let seen = rect.intersect(ui.clip_rect());
    let pass = ui.ctx().cumulative_pass_nr();
    if seen.is_positive() {
        ui.ctx().data_mut(|data| data.insert_temp(place.id(), TourTargetRect { rect: seen, pass }));
    }
}

/// Records a button like [`record_target`] and scrolls to it when requested.
pub(crate) fn mark_button(ui: &Ui, place: TourTarget, response: &Response) {
    record_target(ui, place, response.rect);
    if ui.ctx().data(|data| data.get_temp::<TourScrollRequest>(place.id())).is_none() {
        return;
    }
    // A closing list takes the focus away once more, so the request repeats until the button has it.
    if response.has_focus() || !response.enabled() {
        ui.ctx().data_mut(|data| data.remove::<TourScrollRequest>(place.id()));
    } else {
        response.scroll_to_me(Some(egui::Align::Center));
        response.request_focus();
        ui.request_repaint();
    }
}

/// Scrolls to a button and focuses it when it is next drawn.
pub(crate) fn bring_into_view(context: &Context, place: TourTarget) {
    context.data_mut(|data| data.insert_temp(place.id(), TourScrollRequest));
    context.request_repaint();
}

/// Draws a ring around the first of these targets that was drawn in this pass.
pub(super) fn point_at(context: &Context, theme: &WorkbenchTheme, places: &[TourTarget]) {
    let pass = context.cumulative_pass_nr();
    let spot = |place: &TourTarget| context.data(|data| data.get_temp::<TourTargetRect>(place.id()));
    let Some(spot) = places.iter().filter_map(spot).find(|spot| spot.pass == pass) else { return };
    let painter = context.layer_painter(LayerId::new(Order::Middle, Id::unique("tour ring")));
    let rect = spot.rect.expand(3.0).intersect(context.content_rect().shrink(2.0));
    let corners = CornerRadius::same(7);
    let halo = Stroke::new(6.0, theme.accent.gamma_multiply(0.22));
    painter.rect_stroke(rect, corners, halo, StrokeKind::Outside);
    painter.rect_stroke(rect, corners, Stroke::new(2.0, theme.accent), StrokeKind::Outside);
}
