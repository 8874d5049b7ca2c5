//! The state of a server as text, icon and colour, each of which is sufficient alone.

use crate::{view::FrameView, widgets::paint_icon, wording::line};
use canvas::theme::WorkbenchTheme;
use egui::{Color32, CornerRadius, Painter, Rect, Role, Sense, Stroke, Ui, Vec2, WidgetInfo, vec2};
use shared_protocol::managed_servers::{ServerBrief, ServerState, StartPhase};
use shared_protocol::text::count_noun;

pub(super) fn needs_attention(server: &ServerBrief) -> bool {
    server.enabled && server.waiting > 0
        || matches!(
            server.state,
            ServerState::NeedsApproval | ServerState::NeedsCredentials { .. } | ServerState::Error
        )
}

pub(super) fn colour(theme: &WorkbenchTheme, state: &ServerState) -> Color32 {
    match state {
        ServerState::Disabled | ServerState::Stopped | ServerState::Stopping => theme.text_subtle,
        ServerState::Starting(_) => theme.accent,
        ServerState::Running => theme.success,
        ServerState::Backoff { .. } | ServerState::NeedsApproval | ServerState::NeedsCredentials { .. } => {
            theme.warning
        }
        ServerState::Error => theme.danger,
    }
}

/// Paints the icon of a state; every state has a different one.
pub(super) fn paint_state(painter: &Painter, theme: &WorkbenchTheme, rect: Rect, state: &ServerState) {
    let (colour, c, r) = (colour(theme, state), rect.center(), rect.width().min(rect.height()) / 2.0);
    let stroke = Stroke::new(1.5, colour);
    match state {
        ServerState::Running => paint_icon(painter, "task", rect, colour),
        ServerState::NeedsApproval => paint_icon(painter, "shield", rect, colour),
        ServerState::NeedsCredentials { .. } => paint_icon(painter, "key", rect, colour),
        ServerState::Error => paint_icon(painter, "threat", rect, colour),
        ServerState::Disabled => {
            painter.circle_stroke(c, r * 0.72, stroke);
            let slash = vec2(r * 0.5, r * 0.5);
            painter.line_segment([c - slash, c + slash], stroke);
        }
        ServerState::Stopped => {
            let square = Rect::from_center_size(c, Vec2::splat(r * 1.1));
            painter.rect_stroke(square, CornerRadius::same(1), stroke, egui::StrokeKind::Middle);
        }
        ServerState::Stopping => {
            let square = Rect::from_center_size(c, Vec2::splat(r * 1.1));
            painter.rect_filled(square, CornerRadius::same(1), colour);
        }
        ServerState::Starting(_) => {
            let points =
                vec![c + vec2(-r * 0.5, -r * 0.7), c + vec2(r * 0.75, 0.0), c + vec2(-r * 0.5, r * 0.7)];
            painter.add(egui::Shape::convex_polygon(points, Color32::TRANSPARENT, stroke));
        }
        ServerState::Backoff { .. } => {
            painter.circle_stroke(c, r * 0.75, stroke);
            painter.line_segment([c, c - vec2(0.0, r * 0.5)], stroke);
            painter.line_segment([c, c + vec2(r * 0.4, 0.0)], stroke);
        }
    }
}

pub(super) fn state_ui(ui: &mut Ui, view: &FrameView<'_>, state: &ServerState) {
    let (rect, response) = ui.allocate_exact_size(Vec2::splat(16.0), Sense::hover());
    response.widget_info(|| WidgetInfo::labeled(Role::Image, true, state.label()));
    paint_state(ui.painter(), view.theme, rect, state);
}

/// `backing off after 2 failures, next attempt in 12 s`.
pub(super) fn describe_status(server: &ServerBrief, now: u64) -> String {
    match &server.state {
        ServerState::Starting(phase) => format!("starting, {}", phase.describe()),
        ServerState::Running => {
            let tools = count_noun(usize::try_from(server.tools).unwrap_or(usize::MAX), "tool");
            match server.waiting {
                0 => format!("running, {} of {tools} offered", server.offered),
                waiting => {
                    format!("running, {} of {tools} offered, {waiting} to approve", server.offered)
                }
            }
        }
        ServerState::Backoff { attempt, retry_at } => {
            format!(
                "backing off after {}, next attempt {}",
                count_noun(*attempt as usize, "failure"),
                format_time_until(now, *retry_at)
            )
        }
        ServerState::NeedsApproval => {
            let tools = count_noun(usize::try_from(server.waiting).unwrap_or(usize::MAX), "tool");
            format!("needs approval for {tools}")
        }
        ServerState::NeedsCredentials { missing } => {
            format!("needs credentials: {}", line(&missing.join(", ")))
        }
        state => state.label().to_owned(),
    }
}

/// The second line of a row: the state and its most important detail.
pub(super) fn summary(server: &ServerBrief, now: u64) -> String {
    let words = describe_status(server, now);
    let more = match (&server.state, &server.reason) {
        (ServerState::Error | ServerState::Backoff { .. }, Some(reason)) => Some(reason.as_str()),
        (ServerState::Starting(StartPhase::Installing), _) => server.last_lines.last().map(String::as_str),
        (ServerState::Disabled | ServerState::Stopped, Some(reason)) => Some(reason.as_str()),
        (ServerState::Disabled | ServerState::Stopped, None) => Some(server.runs.as_str()),
        _ => None,
    };
    more.map_or_else(|| words.clone(), |more| format!("{words} · {}", line(more)))
}

pub(super) fn format_time_until(now: u64, then: u64) -> String {
    match then.saturating_sub(now).div_ceil(1000) {
        0 => "now".to_owned(),
        seconds @ 1..=119 => format!("in {seconds} s"),
        seconds => format!("in {} min", seconds.div_ceil(60)),
    }
}

#[cfg(test)]
mod tests {
    use super::format_time_until;

    #[test]
    fn the_time_until_the_next_try_is_told_as_people_do() {
        for (milliseconds, words) in
            [(0, "now"), (200, "in 1 s"), (119_000, "in 119 s"), (121_000, "in 3 min")]
        {
            assert_eq!(format_time_until(5_000, 5_000 + milliseconds), words);
        }
        assert_eq!(format_time_until(5_000, 0), "now", "it is overdue");
    }
}
