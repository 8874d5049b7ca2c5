//! The signs `+ − ~` and an arrow as strokes, so that no font needs the glyphs; and the values before and after.

use super::super::BoardPainter;
use crate::{WorkbenchTheme, batch::ShapeBatch, proposed_board::ProposedChangeSign};
use egui::{
    Color32, FontId, Painter, Pos2, Rect, Stroke, StrokeKind,
    text::{LayoutJob, TextFormat},
    vec2,
};
use shared_protocol::review::FieldChange;
use shared_protocol::text::truncate_chars;

/// The maximum number of characters of a value; the list shows the whole value.
const MAX_VALUE_CHARS: usize = 32;

/// The width of the rim around a sign's disc, which separates it from the background.
const RIM: f32 = 1.5;
/// The size of the sign relative to the disc's radius.
const GLYPH: f32 = 0.55;

/// Emits the lines of a sign around a point.
pub(crate) fn glyph(sign: ProposedChangeSign, at: Pos2, reach: f32, mut line: impl FnMut(&[Pos2])) {
    let point = |x: f32, y: f32| at + vec2(x, y) * reach;
    match sign {
        ProposedChangeSign::Added => {
            line(&[point(-1.0, 0.0), point(1.0, 0.0)]);
            line(&[point(0.0, -1.0), point(0.0, 1.0)]);
        }
        ProposedChangeSign::Removed => line(&[point(-1.0, 0.0), point(1.0, 0.0)]),
        ProposedChangeSign::Changed => line(&[
            point(-1.0, 0.25),
            point(-0.65, -0.25),
            point(-0.25, -0.3),
            point(0.25, 0.3),
            point(0.65, 0.25),
            point(1.0, -0.25),
        ]),
        ProposedChangeSign::Moved => {
            line(&[point(-1.0, 0.0), point(1.0, 0.0)]);
            line(&[point(0.3, -0.7), point(1.0, 0.0), point(0.3, 0.7)]);
        }
    }
}

/// Adds a sign on a disc of its colour to a batch; `shown` fades the colours of an unselected element.
pub(crate) fn draw_badge(
    pen: &BoardPainter<'_>,
    batch: &mut ShapeBatch,
    at: Pos2,
    sign: ProposedChangeSign,
    shown: impl Fn(Color32) -> Color32,
) {
    let theme = pen.scene.theme;
    let radius = (9.0 * pen.camera.zoom()).clamp(6.0, 12.0);
    batch.disc(at, radius + RIM, shown(theme.surface_card));
    batch.disc(at, radius, shown(sign.colour(theme)));
    let line = stroke(theme, radius, sign);
    glyph(sign, at, radius * GLYPH, |points| batch.line(points, line.width, shown(line.color)));
}

/// Paints a single sign on a disc of its colour.
pub(crate) fn paint(
    painter: &Painter,
    theme: &WorkbenchTheme,
    at: Pos2,
    radius: f32,
    sign: ProposedChangeSign,
) {
    painter.circle_filled(at, radius + RIM, theme.surface_card);
    painter.circle_filled(at, radius, sign.colour(theme));
    let line = stroke(theme, radius, sign);
    glyph(sign, at, radius * GLYPH, |points| {
        painter.add(egui::Shape::line(points.to_vec(), line));
    });
}

fn stroke(theme: &WorkbenchTheme, radius: f32, sign: ProposedChangeSign) -> Stroke {
    let ink = if sign == ProposedChangeSign::Moved { theme.accent_text } else { theme.status_text };
    Stroke::new((radius * 0.22).max(1.25), ink)
}

/// Draws the changed fields below a node: the value before, struck through, and the value after.
pub(crate) fn notes(pen: &BoardPainter<'_>, painter: &Painter, rect: Rect, notes: &[FieldChange]) {
    let theme = pen.scene.theme;
    let mut top = rect.bottom() + 6.0;
    for note in notes {
        let font = FontId::proportional(11.0);
        let plain = |colour: Color32| TextFormat::simple(font.clone(), colour);
        let mut job = LayoutJob::default();
        job.append(&note.field, 0.0, plain(theme.text_muted));
        if let Some(before) = &note.before {
            let struck =
                TextFormat { strikethrough: Stroke::new(1.0, theme.danger), ..plain(theme.text_muted) };
            job.append(&short(before), 6.0, struck);
        }
        match &note.after {
            Some(after) => job.append(&short(after), 6.0, plain(theme.text)),
            None => job.append("not set", 6.0, plain(theme.text_muted)),
        }
        job.wrap.max_rows = 1;
        let galley = painter.layout_job(job);
        let pill = Rect::from_min_size(Pos2::new(rect.left(), top), galley.size() + vec2(12.0, 4.0));
        let line = Stroke::new(1.0, theme.warning);
        painter.rect(pill, pill.height() / 2.0, theme.surface_raised, line, StrokeKind::Inside);
        painter.galley(pill.min + vec2(6.0, 2.0), galley, theme.text);
        top = pill.bottom() + 3.0;
    }
}

fn short(text: &str) -> String {
    truncate_chars(&text.replace(['\n', '\r', '\t'], " "), MAX_VALUE_CHARS)
}
