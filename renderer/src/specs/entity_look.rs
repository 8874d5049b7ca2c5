//! Icons and colours of entity types and values, consistent everywhere, and the chips and badges that use them. Text
//! always has the theme's text colour on a soft background, so colour alone never carries meaning.

use super::schema::{SchemaChoice, humanise};
use crate::widgets::{focus_ring, paint_icon, paint_severity, small_font};
use canvas::theme::WorkbenchTheme;
use egui::{
    Color32, CornerRadius, Rect, Response, Role, Sense, Stroke, StrokeKind, Ui, Vec2, WidgetInfo, pos2, vec2,
};
use shared_protocol::{messages::ProblemSeverity, registry::Accent};

const CHIP_HEIGHT: f32 = 24.0;
const MAX_CHIP_WIDTH: f32 = 420.0;

/// Icon and colour of types by a word in their name.
const TYPE_LOOKS: &[(&str, &str, Accent)] = &[
    ("requirement", "requirement", Accent::Blue),
    ("feature", "feature", Accent::Green),
    ("task", "task", Accent::Teal),
    ("threat", "threat", Accent::Red),
    ("risk", "threat", Accent::Orange),
    ("adr", "decision", Accent::Purple),
    ("decision", "decision", Accent::Purple),
    ("actor", "actor", Accent::Orange),
    ("component", "container", Accent::Grey),
    ("profile", "identity", Accent::Yellow),
    ("policy", "shield", Accent::Yellow),
    ("principle", "shield", Accent::Yellow),
    ("constraint", "lock", Accent::Yellow),
    ("protocol", "route", Accent::Teal),
    ("schema", "data", Accent::Grey),
    ("scenario", "list", Accent::Pink),
    ("fixture", "checkbox", Accent::Pink),
    ("test", "checkbox", Accent::Pink),
    ("question", "note", Accent::Yellow),
    ("error", "bell", Accent::Red),
    ("health", "monitor", Accent::Green),
    ("telemetry", "monitor", Accent::Teal),
    ("view", "layers", Accent::Purple),
];

const FALLBACK_ACCENTS: [Accent; 7] =
    [Accent::Blue, Accent::Teal, Accent::Green, Accent::Purple, Accent::Orange, Accent::Pink, Accent::Yellow];

/// Returns the icon and colour of an entity type.
pub(crate) fn type_look(name: &str) -> (&'static str, Accent) {
    let lower = name.to_lowercase();
    let known = TYPE_LOOKS.iter().find(|(word, ..)| lower.contains(word));
    known.map_or(("page", FALLBACK_ACCENTS[place_of(&lower)]), |(_, icon, accent)| (icon, *accent))
}

/// Returns the colour of a value: from the schema, from the meaning of the word, or else a stable fallback.
pub(crate) fn value_accent(choice: Option<&SchemaChoice>, value: &str) -> Accent {
    match choice.and_then(|choice| choice.tone.as_deref()) {
        Some("success") => return Accent::Green,
        Some("info") => return Accent::Blue,
        Some("warning") => return Accent::Yellow,
        Some("error") => return Accent::Red,
        Some("neutral") => return Accent::Grey,
        _ => {}
    }
    match value.to_lowercase().as_str() {
        "accepted" | "approved" | "done" | "active" | "implemented" | "resolved" => Accent::Green,
        "proposed" | "in-progress" | "in_progress" | "open" | "review" => Accent::Blue,
        "deprecated" | "medium" | "superseded" => Accent::Yellow,
        "rejected" | "critical" | "blocked" => Accent::Red,
        "high" => Accent::Orange,
        "draft" | "planned" | "low" | "unknown" => Accent::Grey,
        other => FALLBACK_ACCENTS[place_of(other)],
    }
}

/// A stable hash of a word, the same in every run.
fn place_of(word: &str) -> usize {
    word.bytes().fold(0_usize, |sum, byte| (sum * 31 + usize::from(byte)) % 65_521) % FALLBACK_ACCENTS.len()
}

/// Paints the mark of a type: its icon on a tile of its colour.
pub(crate) fn paint_entity_mark(ui: &Ui, rect: Rect, theme: &WorkbenchTheme, entity_type: &str) {
    let (icon, accent) = type_look(entity_type);
    ui.painter().rect_filled(rect, CornerRadius::same(4), theme.tile(accent));
    paint_icon(ui.painter(), icon, rect.shrink(rect.width() * 0.18), theme.accent(accent));
}

/// Shows a value as a badge: a coloured dot and its title.
pub(crate) fn badge_ui(
    ui: &mut Ui,
    theme: &WorkbenchTheme,
    choice: Option<&SchemaChoice>,
    value: &str,
) -> Response {
    let title = choice.map_or_else(|| humanise(value), |choice| choice.title.clone());
    let accent = value_accent(choice, value);
    let look = EntityChip {
        text: &title,
        name: &title,
        sign: ChipSymbol::Dot(theme.accent(accent)),
        background: theme.tile(accent),
        edge: None,
    };
    let response = chip_ui(ui, theme, &look, Sense::hover());
    match choice {
        Some(choice) if !choice.description.is_empty() => response.on_hover_text(&choice.description),
        _ => response,
    }
}

pub(crate) enum ChipSymbol {
    None,
    Dot(Color32),
    Icon(&'static str, Color32),
    /// A tick for yes, a bar for no.
    Mark(bool),
    Trouble,
}

pub(crate) struct EntityChip<'a> {
    pub(crate) text: &'a str,
    /// The accessible name.
    pub(crate) name: &'a str,
    pub(crate) sign: ChipSymbol,
    pub(crate) background: Color32,
    pub(crate) edge: Option<Color32>,
}

pub(crate) fn chip_ui(ui: &mut Ui, theme: &WorkbenchTheme, chip: &EntityChip<'_>, sense: Sense) -> Response {
    let lead = if matches!(chip.sign, ChipSymbol::None) { 10.0 } else { 26.0 };
    let most = ui.available_size_before_wrap().x.max(ui.max_rect().width()).min(MAX_CHIP_WIDTH);
    let mut job = egui::text::LayoutJob::simple_singleline(chip.text.to_owned(), small_font(ui), theme.text);
    job.wrap = egui::text::TextWrapping::truncate_at_width((most - lead - 10.0).max(24.0));
    let galley = ui.painter().layout_job(job);
    let (rect, response) = ui.allocate_exact_size(vec2(lead + galley.size().x + 10.0, CHIP_HEIGHT), sense);
    let role = if sense.senses_click() { Role::Button } else { Role::Label };
    response.widget_info(|| WidgetInfo::labeled(role, ui.is_enabled(), chip.name));
    if ui.is_rect_visible(rect) {
        let corners = CornerRadius::same(12);
        let hot = sense.senses_click() && response.hovered();
        ui.painter().rect_filled(rect, corners, if hot { theme.pressed } else { chip.background });
        let edge = if hot { Some(theme.border_strong) } else { chip.edge };
        if let Some(edge) = edge {
            ui.painter().rect_stroke(rect, corners, Stroke::new(1.0, edge), StrokeKind::Inside);
        }
        focus_ring(ui, theme, rect, &response);
        let middle = pos2(rect.left() + 14.0, rect.center().y);
        match chip.sign {
            ChipSymbol::None => {}
            ChipSymbol::Dot(color) => drop(ui.painter().circle_filled(middle, 4.0, color)),
            ChipSymbol::Icon(icon, color) => {
                paint_icon(ui.painter(), icon, Rect::from_center_size(middle, Vec2::splat(14.0)), color);
            }
            ChipSymbol::Mark(on) => paint_mark(ui, theme, middle, on),
            ChipSymbol::Trouble => paint_severity(ui.painter(), middle, theme, ProblemSeverity::Error),
        }
        let at = pos2(rect.left() + lead, rect.center().y - galley.size().y / 2.0);
        ui.painter().galley(at, galley, theme.text);
    }
    if sense.senses_click() { response.on_hover_cursor(egui::CursorIcon::PointingHand) } else { response }
}

/// A tick for yes, a bar for no.
pub(crate) fn paint_mark(ui: &Ui, theme: &WorkbenchTheme, middle: egui::Pos2, on: bool) {
    if on {
        let stroke = Stroke::new(1.8, theme.success);
        let (a, b, c) = (middle + vec2(-4.5, 0.0), middle + vec2(-1.5, 3.0), middle + vec2(4.5, -3.5));
        ui.painter().line_segment([a, b], stroke);
        ui.painter().line_segment([b, c], stroke);
    } else {
        let stroke = Stroke::new(1.8, theme.text_subtle);
        ui.painter().line_segment([middle - vec2(4.0, 0.0), middle + vec2(4.0, 0.0)], stroke);
    }
}

/// A button with an arrow head: back, forward or up.
pub(crate) fn arrow_button_ui(ui: &mut Ui, theme: &WorkbenchTheme, towards: Vec2, name: &str) -> Response {
    let (rect, response) = ui.allocate_exact_size(Vec2::splat(24.0), Sense::click());
    response.widget_info(|| WidgetInfo::labeled(Role::Button, ui.is_enabled(), name));
    if ui.is_rect_visible(rect) {
        if response.hovered() && ui.is_enabled() {
            ui.painter().rect_filled(rect, CornerRadius::same(4), theme.hover);
        }
        focus_ring(ui, theme, rect, &response);
        let color = if ui.is_enabled() { theme.text_muted } else { theme.border };
        let stroke = Stroke::new(1.7, color);
        let (tip, side) = (rect.center() + towards * 3.0, towards.rot90() * 4.5);
        for end in [side, -side] {
            ui.painter().line_segment([tip, rect.center() - towards * 2.0 + end], stroke);
        }
    }
    response.on_hover_text(name)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn looks_are_stable_and_the_schema_has_the_last_word() {
        assert_eq!(type_look("Requirement"), ("requirement", Accent::Blue));
        assert_eq!(type_look("Widget"), type_look("Widget"));
        let choice = SchemaChoice {
            value: "draft".into(),
            title: "Draft".into(),
            description: String::new(),
            tone: Some("error".into()),
        };
        assert_eq!(value_accent(Some(&choice), "draft"), Accent::Red);
        assert_eq!(value_accent(None, "draft"), Accent::Grey);
        assert_eq!(value_accent(None, "mauve"), value_accent(None, "MAUVE"));
    }
}
