//! Small widgets that several panels share. All colours come from the theme.

use canvas::theme::WorkbenchTheme;
use egui::{
    Align2, Color32, CornerRadius, FontId, Key, Modifiers, Painter, Rect, Response, RichText, Role, Sense,
    Stroke, StrokeKind, TextStyle, Ui, Vec2, WidgetInfo, pos2, vec2,
};
use shared_protocol::{BoardKind, TypeDef, messages::ProblemSeverity, registry::Accent};
use std::ops::{ControlFlow, Range};

/// The height of a row in lists and trees.
pub(crate) const ROW_HEIGHT: f32 = 26.0;

/// Paints an icon of the shell, or else of the type icon set.
pub(crate) fn paint_icon(painter: &Painter, name: &str, rect: Rect, color: Color32) {
    let stroke = Stroke::new(1.5, color);
    let (c, r) = (rect.center(), rect.width().min(rect.height()) / 2.0);
    match name {
        "search" => {
            painter.circle_stroke(c - Vec2::splat(r * 0.18), r * 0.62, stroke);
            painter.line_segment([c + Vec2::splat(r * 0.28), c + Vec2::splat(r * 0.85)], stroke);
        }
        "add" => {
            painter.line_segment([c - vec2(r * 0.75, 0.0), c + vec2(r * 0.75, 0.0)], stroke);
            painter.line_segment([c - vec2(0.0, r * 0.75), c + vec2(0.0, r * 0.75)], stroke);
        }
        _ => canvas::paint_icon(painter, name, rect, color),
    }
}

pub(crate) fn icon_ui(ui: &mut Ui, name: &str, size: f32, color: Color32) {
    let (rect, _) = ui.allocate_exact_size(Vec2::splat(size), Sense::hover());
    paint_icon(ui.painter(), name, rect, color);
}

/// Paints the mark of a type: its icon on a tile of its accent colour.
pub(crate) fn paint_type_mark(painter: &Painter, rect: Rect, theme: &WorkbenchTheme, def: Option<&TypeDef>) {
    let accent = def.map_or(Accent::Grey, |def| def.accent);
    let icon = def.map_or("box", |def| def.icon.as_str());
    painter.rect_filled(rect, CornerRadius::same(4), theme.tile(accent));
    paint_icon(painter, icon, rect.shrink(rect.width() * 0.18), theme.accent(accent));
}

/// An icon button. Its accessible name is also its tooltip.
pub(crate) fn icon_button_ui(ui: &mut Ui, theme: &WorkbenchTheme, icon: &str, name: &str) -> Response {
    let (rect, response) = ui.allocate_exact_size(Vec2::splat(22.0), Sense::click());
    response.widget_info(|| WidgetInfo::labeled(Role::Button, ui.is_enabled(), name));
    if ui.is_rect_visible(rect) {
        if response.hovered() || response.has_focus() {
            ui.painter().rect_filled(rect, CornerRadius::same(4), theme.hover);
        }
        focus_ring(ui, theme, rect, &response);
        let color = match (ui.is_enabled(), response.hovered()) {
            (false, _) => theme.text_subtle,
            (true, true) => theme.text,
            (true, false) => theme.text_muted,
        };
        paint_icon(ui.painter(), icon, rect.shrink(4.0), color);
    }
    response.on_hover_text(name)
}

pub(crate) fn focus_ring(ui: &Ui, theme: &WorkbenchTheme, rect: Rect, response: &Response) {
    if response.has_focus() {
        ui.painter().rect_stroke(
            rect,
            CornerRadius::same(4),
            Stroke::new(1.5, theme.focus),
            StrokeKind::Inside,
        );
    }
}

pub(crate) struct ListRow<'a> {
    /// The accessible name.
    pub(crate) name: &'a str,
    pub(crate) selected: bool,
    pub(crate) sense: Sense,
}

/// Draws a row over the full width. `paint` draws the content into the given rectangle.
pub(crate) fn row_ui(
    ui: &mut Ui,
    theme: &WorkbenchTheme,
    row: ListRow<'_>,
    paint: impl FnOnce(&mut Ui, Rect),
) -> Response {
    let (rect, response) = ui.allocate_exact_size(vec2(ui.available_width(), ROW_HEIGHT), row.sense);
    response.widget_info(|| WidgetInfo::selected(Role::Button, ui.is_enabled(), row.selected, row.name));
    if ui.is_rect_visible(rect) {
        row_background(ui, theme, rect, &response, row.selected);
        paint(ui, rect.shrink2(vec2(6.0, 0.0)));
    }
    response
}

/// Paints the selection or the pointer behind a row, and its focus ring.
pub(crate) fn row_background(
    ui: &Ui,
    theme: &WorkbenchTheme,
    rect: Rect,
    response: &Response,
    is_selected: bool,
) {
    if is_selected {
        ui.painter().rect_filled(rect, CornerRadius::same(4), theme.selection);
    } else if response.hovered() {
        ui.painter().rect_filled(rect, CornerRadius::same(4), theme.hover);
    }
    focus_ring(ui, theme, rect, response);
}

/// A scrolled list of rows over the whole panel. `draw_ui` gets the range of visible rows.
pub(crate) fn list_rows_ui(
    ui: &mut Ui,
    height: f32,
    rows: usize,
    draw_ui: impl FnOnce(&mut Ui, Range<usize>),
) {
    ui.spacing_mut().item_spacing.y = 0.0;
    egui::ScrollArea::vertical().auto_shrink([false, false]).show_rows(ui, height, rows, draw_ui);
}

/// Paints one line of text in a rectangle, truncated with `…`. Returns its width.
pub(crate) fn paint_line(
    ui: &Ui,
    rect: Rect,
    align: Align2,
    text: &str,
    font: FontId,
    color: Color32,
) -> f32 {
    let mut job = egui::text::LayoutJob::simple_singleline(text.to_owned(), font, color);
    job.wrap = egui::text::TextWrapping::truncate_at_width(rect.width().max(0.0));
    let galley = ui.painter().layout_job(job);
    let place = align.align_size_within_rect(galley.size(), rect);
    let width = galley.size().x;
    ui.painter().galley(place.min, galley, color);
    width
}

/// Paints a note at the right and the title in the space that it leaves.
pub(crate) fn paint_ends(ui: &Ui, rect: Rect, title: (&str, Color32), note: (&str, Color32)) {
    let width = paint_line(ui, rect, Align2::RIGHT_CENTER, note.0, small_font(ui), note.1);
    let rect = rect.with_max_x(rect.right() - width - 8.0);
    paint_line(ui, rect, Align2::LEFT_CENTER, title.0, body_font(ui), title.1);
}

pub(crate) fn body_font(ui: &Ui) -> FontId {
    TextStyle::Body.resolve(ui.style())
}

pub(crate) fn small_font(ui: &Ui) -> FontId {
    TextStyle::Small.resolve(ui.style())
}

pub(crate) fn muted_ui(ui: &mut Ui, theme: &WorkbenchTheme, text: impl Into<String>) -> Response {
    ui.label(RichText::new(text).small().color(theme.text_muted))
}

/// Small text that also wraps in a horizontal layout.
pub(crate) fn small_text_ui(ui: &mut Ui, color: Color32, text: impl Into<String>) -> Response {
    ui.add(egui::Label::new(RichText::new(text).small().color(color)).wrap())
}

/// Text that a person may select and copy.
pub(crate) fn copyable_text_ui(ui: &mut Ui, text: impl Into<egui::WidgetText>) -> Response {
    ui.add(egui::Label::new(text).selectable(true).wrap())
}

/// Counts what a list leaves out after its first `most` entries.
pub(crate) fn more_ui(ui: &mut Ui, theme: &WorkbenchTheme, count: usize, most: usize) {
    if count > most {
        muted_ui(ui, theme, format!("and {} more", count - most));
    }
}

/// The button of the action that a form or a dialog leads to.
pub(crate) fn primary_button<'a>(theme: &WorkbenchTheme, text: impl Into<String>) -> egui::Button<'a> {
    egui::Button::new(RichText::new(text).color(theme.accent_text)).fill(theme.accent)
}

/// Shows a name and its value as one wrapping text, so that the value is always fully visible.
pub(crate) fn named_text_ui(ui: &mut Ui, theme: &WorkbenchTheme, name: &str, value: &str) -> Response {
    let mut job = egui::text::LayoutJob::default();
    let format = |font, color| egui::TextFormat::simple(font, color);
    // A screen reader also reads it as one text.
    job.append(&format!("{name} "), 0.0, format(small_font(ui), theme.text_muted));
    job.append(value, 4.0, format(TextStyle::Monospace.resolve(ui.style()), theme.text));
    ui.add(egui::Label::new(job).selectable(true).wrap())
}

pub(crate) fn empty_state_ui(ui: &mut Ui, theme: &WorkbenchTheme, title: &str, text: &str) {
    ui.add_space(24.0);
    ui.vertical_centered(|ui| {
        ui.label(RichText::new(title).color(theme.text));
        ui.add_space(2.0);
        muted_ui(ui, theme, text);
    });
}

/// Draws text fields inside with the theme's focus colour.
pub(crate) fn focus_stroke<R>(ui: &mut Ui, theme: &WorkbenchTheme, content: impl FnOnce(&mut Ui) -> R) -> R {
    validity_stroke(ui, theme, true, content)
}

/// Draws text fields inside with the theme's focus colour, or as fields whose text is not valid.
pub(crate) fn validity_stroke<R>(
    ui: &mut Ui,
    theme: &WorkbenchTheme,
    is_valid: bool,
    content: impl FnOnce(&mut Ui) -> R,
) -> R {
    ui.scope(|ui| {
        let focus = if is_valid { theme.focus } else { theme.danger };
        ui.visuals_mut().selection.stroke = Stroke::new(1.5, focus);
        if !is_valid {
            let widgets = &mut ui.visuals_mut().widgets;
            for state in [&mut widgets.inactive, &mut widgets.hovered, &mut widgets.active] {
                state.bg_stroke = Stroke::new(1.0, theme.danger);
            }
        }
        content(ui)
    })
    .inner
}

/// A small button that fills a place in a row.
pub(crate) fn row_button_ui(
    ui: &mut Ui,
    rect: Rect,
    salt: impl std::hash::Hash + std::fmt::Debug,
    text: &str,
) -> Response {
    let mut child = ui.new_child(egui::UiBuilder::new().max_rect(rect).id_salt(salt));
    child.spacing_mut().interact_size.y = rect.height();
    child.spacing_mut().button_padding.y = 0.0;
    child.add_sized(rect.size(), egui::Button::new(RichText::new(text).small()))
}

/// The gap between groups of buttons in a toolbar.
pub(crate) fn toolbar_gap_ui(ui: &mut Ui, theme: &WorkbenchTheme, width: f32) {
    let (rect, _) = ui.allocate_exact_size(vec2(width, 24.0), Sense::hover());
    let line = Stroke::new(1.0, theme.border);
    ui.painter().vline(rect.center().x, rect.shrink(4.0).y_range(), line);
}

/// Chooses between all findings and those of one severity.
pub(crate) fn severity_filter_ui(
    ui: &mut Ui,
    only: &mut Option<ProblemSeverity>,
    errors: usize,
    warnings: usize,
) {
    for (severity, text) in [
        (None, format!("All {}", errors + warnings)),
        (Some(ProblemSeverity::Error), format!("Errors {errors}")),
        (Some(ProblemSeverity::Warning), format!("Warnings {warnings}")),
    ] {
        ui.selectable_value(only, severity, RichText::new(text).small());
    }
}

pub(crate) fn modal_frame(context: &egui::Context) -> egui::Frame {
    egui::Frame::popup(&context.global_style()).inner_margin(18)
}

/// Shows a page over the window, as wide as there is room up to `width`. Returns `false` when the page closes.
pub(crate) fn page_modal_ui(
    context: &egui::Context,
    id: &'static str,
    width: f32,
    content: impl FnOnce(&mut Ui) -> bool,
) -> bool {
    let page = egui::Modal::new(egui::Id::unique(id)).frame(modal_frame(context));
    let response = page.show(context, |ui| {
        ui.set_width(width.min(context.content_rect().width() - 80.0));
        content(ui)
    });
    response.inner && !response.should_close()
}

/// Paints a finding in a row: its severity, its text, and where it is in the part from `share` on.
pub(crate) fn paint_finding(
    ui: &Ui,
    theme: &WorkbenchTheme,
    rect: Rect,
    severity: ProblemSeverity,
    (text, place): (&str, &str),
    share: f32,
) {
    paint_severity(ui.painter(), pos2(rect.left() + 7.0, rect.center().y), theme, severity);
    let rect = rect.with_min_x(rect.left() + 22.0);
    let half = rect.with_min_x(rect.left() + rect.width() * share);
    let width = paint_line(ui, half, Align2::RIGHT_CENTER, place, small_font(ui), theme.text_muted);
    let rect = rect.with_max_x(rect.right() - width - 12.0);
    paint_line(ui, rect, Align2::LEFT_CENTER, text, body_font(ui), theme.text);
}

/// A block of the full width on the inset surface: quoted text, output, details.
pub(crate) fn inset_ui<R>(
    ui: &mut Ui,
    theme: &WorkbenchTheme,
    margin: impl Into<egui::Margin>,
    content: impl FnOnce(&mut Ui) -> R,
) -> egui::InnerResponse<R> {
    let frame = egui::Frame::new().fill(theme.surface_inset).corner_radius(4).inner_margin(margin);
    full_width_ui(ui, frame, content)
}

pub(crate) fn full_width_ui<R>(
    ui: &mut Ui,
    frame: egui::Frame,
    content: impl FnOnce(&mut Ui) -> R,
) -> egui::InnerResponse<R> {
    frame.show(ui, |ui| {
        ui.set_width(ui.available_width());
        content(ui)
    })
}

pub(crate) enum PopupPosition {
    /// At the top of the window, this far down.
    Top(f32),
    At(egui::Pos2),
}

/// Shows content above everything else. Breaks with what was chosen in it, or with nothing on Escape or a click elsewhere.
pub(crate) fn popup_ui<T>(
    context: &egui::Context,
    id: &'static str,
    place: PopupPosition,
    is_first_frame: bool,
    content: impl FnOnce(&mut Ui) -> Option<T>,
) -> ControlFlow<Option<T>> {
    if context.input_mut(|input| input.consume_key(Modifiers::NONE, Key::Escape)) {
        return ControlFlow::Break(None);
    }
    let area = egui::Area::new(egui::Id::unique(id)).order(egui::Order::Foreground);
    let area = match place {
        PopupPosition::Top(down) => area.anchor(Align2::CENTER_TOP, vec2(0.0, down)),
        PopupPosition::At(place) => area.fixed_pos(place).constrain(true),
    };
    let shown = area.show(context, content);
    // The click or key that opened the popup may still be active in its first frame.
    let is_left = !is_first_frame && shown.response.clicked_elsewhere();
    if is_left || shown.inner.is_some() { ControlFlow::Break(shown.inner) } else { ControlFlow::Continue(()) }
}

pub(crate) fn search_field_ui(
    ui: &mut Ui,
    theme: &WorkbenchTheme,
    text: &mut String,
    hint: &str,
    name: &str,
) -> Response {
    let room = ui.available_width();
    let edit = egui::TextEdit::singleline(text)
        .hint_text(hint.to_owned())
        .desired_width(room)
        .margin(egui::Margin { left: 26, right: 24, top: 5, bottom: 5 });
    let response = focus_stroke(ui, theme, |ui| ui.add(edit)).accessible_name(name);
    let middle = response.rect.center().y;
    let lens = Rect::from_center_size(pos2(response.rect.left() + 14.0, middle), Vec2::splat(14.0));
    paint_icon(ui.painter(), "search", lens, theme.text_subtle);
    if !text.is_empty() {
        let cross = Rect::from_center_size(pos2(response.rect.right() - 13.0, middle), Vec2::splat(16.0));
        let clear = ui.interact(cross, response.id.with("clear"), Sense::click());
        clear.widget_info(|| WidgetInfo::labeled(Role::Button, true, format!("Clear {name}")));
        paint_cross(
            ui.painter(),
            cross.shrink(4.5),
            if clear.hovered() { theme.text } else { theme.text_subtle },
        );
        if clear.clicked() {
            text.clear();
        }
    }
    response
}

pub(crate) fn paint_cross(painter: &Painter, rect: Rect, color: Color32) {
    let stroke = Stroke::new(1.5, color);
    painter.line_segment([rect.left_top(), rect.right_bottom()], stroke);
    painter.line_segment([rect.right_top(), rect.left_bottom()], stroke);
}

pub(crate) fn close_button_ui(ui: &mut Ui, theme: &WorkbenchTheme, name: &str) -> Response {
    let (rect, response) = ui.allocate_exact_size(Vec2::splat(20.0), Sense::click());
    response.widget_info(|| WidgetInfo::labeled(Role::Button, true, name));
    focus_ring(ui, theme, rect, &response);
    paint_cross(
        ui.painter(),
        rect.shrink(6.0),
        if response.hovered() { theme.text } else { theme.text_muted },
    );
    response.on_hover_text(name)
}

pub(crate) fn paint_disclosure(painter: &Painter, rect: Rect, open: bool, color: Color32) {
    let (c, r) = (rect.center(), 3.5);
    let points = if open {
        vec![c + vec2(-r, -r * 0.6), c + vec2(r, -r * 0.6), c + vec2(0.0, r * 0.8)]
    } else {
        vec![c + vec2(-r * 0.6, -r), c + vec2(r * 0.8, 0.0), c + vec2(-r * 0.6, r)]
    };
    painter.add(egui::Shape::convex_polygon(points, color, Stroke::NONE));
}

/// A heading that expands and collapses a section. Returns whether the section is open.
pub(crate) fn disclosure_ui(
    ui: &mut Ui,
    theme: &WorkbenchTheme,
    title: &str,
    count: Option<usize>,
    open: &mut bool,
) -> bool {
    let (rect, response) = ui.allocate_exact_size(vec2(ui.available_width(), 24.0), Sense::click());
    response.widget_info(|| WidgetInfo::selected(Role::DisclosureTriangle, ui.is_enabled(), *open, title));
    if response.clicked() {
        *open = !*open;
    }
    if ui.is_rect_visible(rect) {
        focus_ring(ui, theme, rect, &response);
        let arrow = Rect::from_min_size(rect.min, vec2(14.0, rect.height()));
        paint_disclosure(ui.painter(), arrow, *open, theme.text_subtle);
        let color = if response.hovered() { theme.text } else { theme.text_muted };
        let room = Rect::from_min_max(
            pos2(rect.left() + 16.0, rect.top()),
            pos2(rect.right() - 36.0, rect.bottom()),
        );
        paint_line(ui, room, Align2::LEFT_CENTER, title, small_font(ui), color);
        if let Some(count) = count {
            let room = rect.shrink2(vec2(6.0, 0.0));
            paint_line(ui, room, Align2::RIGHT_CENTER, &count.to_string(), small_font(ui), theme.text_subtle);
        }
    }
    *open
}

/// Paints a severity as shape and colour: a disc with a bar for errors, a triangle for warnings.
pub(crate) fn paint_severity(
    painter: &Painter,
    centre: egui::Pos2,
    theme: &WorkbenchTheme,
    severity: ProblemSeverity,
) {
    match severity {
        ProblemSeverity::Error => {
            painter.circle_filled(centre, 5.5, theme.danger);
            let bar = Rect::from_center_size(centre, vec2(6.0, 1.8));
            painter.rect_filled(bar, CornerRadius::ZERO, theme.surface_panel);
        }
        ProblemSeverity::Warning => {
            let points = vec![centre + vec2(0.0, -5.5), centre + vec2(6.0, 5.0), centre + vec2(-6.0, 5.0)];
            painter.add(egui::Shape::convex_polygon(points, theme.warning, Stroke::NONE));
        }
    }
}

pub(crate) fn severity_mark_ui(ui: &mut Ui, theme: &WorkbenchTheme, size: Vec2, severity: ProblemSeverity) {
    let (mark, _) = ui.allocate_exact_size(size, Sense::hover());
    paint_severity(ui.painter(), mark.center(), theme, severity);
}

pub(crate) struct TabButton<'a> {
    pub(crate) id: egui::Id,
    pub(crate) text: &'a str,
    pub(crate) is_selected: bool,
    pub(crate) sense: Sense,
}

/// Draws a tab: plain text, underlined when selected.
pub(crate) fn tab_ui(ui: &mut Ui, theme: &WorkbenchTheme, tab: TabButton<'_>) -> Response {
    let color = if tab.is_selected { theme.text } else { theme.text_muted };
    let galley = ui.painter().layout_no_wrap(tab.text.to_owned(), body_font(ui), color);
    let (_, rect) = ui.allocate_space(vec2(galley.size().x + 20.0, ui.available_height()));
    let response = ui.interact(rect, tab.id, tab.sense);
    response.widget_info(|| WidgetInfo::selected(Role::Tab, ui.is_enabled(), tab.is_selected, tab.text));
    if ui.is_rect_visible(rect) {
        focus_ring(ui, theme, rect.shrink(1.0), &response);
        let color = if response.hovered() { theme.text } else { color };
        let at = Align2::CENTER_CENTER.align_size_within_rect(galley.size(), rect).min;
        ui.painter().galley_with_override_text_color(at, galley, color);
        if tab.is_selected {
            let line = Rect::from_min_max(
                pos2(rect.left() + 8.0, rect.bottom() - 2.0),
                pos2(rect.right() - 8.0, rect.bottom()),
            );
            ui.painter().rect_filled(line, CornerRadius::same(1), theme.accent);
        }
    }
    response
}

/// A button that collapses a group of panels.
pub(crate) fn fold_button_ui(ui: &mut Ui, theme: &WorkbenchTheme, name: &str) -> Response {
    let (rect, response) = ui.allocate_exact_size(Vec2::splat(20.0), Sense::click());
    response.widget_info(|| WidgetInfo::labeled(Role::Button, true, name));
    focus_ring(ui, theme, rect, &response);
    let color = if response.hovered() { theme.text } else { theme.text_muted };
    let c = rect.center();
    ui.painter().line_segment([c - vec2(5.0, 0.0), c + vec2(5.0, 0.0)], Stroke::new(1.5, color));
    response.on_hover_text(name)
}

pub(crate) fn kind_icon(kind: BoardKind) -> &'static str {
    match kind {
        BoardKind::Infrastructure => "cloud",
        BoardKind::Interface => "page",
        BoardKind::Spec => "requirement",
    }
}
