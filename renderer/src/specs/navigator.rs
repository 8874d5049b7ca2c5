//! The navigator: a bundle as a tree with a filter and keyboard navigation. Only visible rows are drawn.

use super::{
    SpecAction,
    answers::{EntityList, SpecAnswers, SpecQuestion},
    entity_look::paint_entity_mark,
    history::SpecPage,
    navigator_lines::{NavigatorFilter, NavigatorLine, NavigatorLineKind, lines},
};
use crate::{
    commands::CommandId,
    view::{ActionQueue, FrameView},
    widgets::{
        ROW_HEIGHT, body_font, empty_state_ui, icon_button_ui, list_rows_ui, muted_ui, paint_disclosure,
        paint_line, paint_severity, row_background, search_field_ui, severity_mark_ui, small_font,
        small_text_ui,
    },
};
use egui::{Align2, EventFilter, Key, Modifiers, Rect, RichText, Sense, Ui, Vec2, pos2, vec2};
use shared_protocol::{
    bundle::{BundleView, EntityRef},
    messages::ProblemSeverity,
};
use std::collections::BTreeSet;

const INDENT: f32 = 12.0;

#[derive(Default)]
pub(crate) struct SpecNavigator {
    filter: String,
    /// Lines whose expanded state differs from the initial one.
    toggled: BTreeSet<String>,
    cursor: Option<String>,
    lines: Vec<NavigatorLine>,
    /// The inputs of the cached lines.
    made_from: Option<(String, u64, u64, String)>,
    /// The page that was last scrolled to.
    followed: Option<SpecPage>,
    /// A line to scroll to once it exists.
    reveal: Option<String>,
}

impl SpecNavigator {
    /// `drafts`: entities with unsaved changes.
    pub(crate) fn show_ui(
        &mut self,
        ui: &mut Ui,
        view: &FrameView<'_>,
        answers: &mut SpecAnswers,
        chosen: &mut Option<String>,
        drafts: &BTreeSet<EntityRef>,
    ) {
        let Some(bundle) = selected_bundle(view, chosen.as_deref()) else {
            return nothing_ui(ui, view);
        };
        self.header_ui(ui, view, bundle, chosen);
        failures_ui(ui, view);
        answers.want(view.bundles, SpecQuestion::Entities(bundle.id.clone()));
        let known = answers.entities.get(&bundle.id);
        let Some(list) = known.and_then(|known| known.value.as_ref()) else {
            match known.and_then(|known| known.refused.as_ref()) {
                Some(refusal) => {
                    empty_state_ui(ui, view.theme, "Cannot list the entities", &refusal.to_string())
                }
                None => empty_state_ui(ui, view.theme, "Loading the bundle…", ""),
            }
            return;
        };
        let version = known.map_or(0, |known| known.version);
        let now = (bundle.id.clone(), bundle.generation, version, self.filter.clone());
        if self.made_from.as_ref() != Some(&now) {
            self.lines =
                lines(bundle, list, &NavigatorFilter { filter: &self.filter, toggled: &self.toggled });
            self.made_from = Some(now);
        }
        if self.lines.is_empty() {
            return empty_state_ui(ui, view.theme, "No matches", "Try another title or part of an id.");
        }
        self.reveal_opened(view, list);
        let lines = std::mem::take(&mut self.lines);
        self.tree_ui(ui, view, list, &lines, drafts);
        self.lines = lines;
    }

    fn header_ui(
        &mut self,
        ui: &mut Ui,
        view: &FrameView<'_>,
        bundle: &BundleView,
        chosen: &mut Option<String>,
    ) {
        ui.horizontal(|ui| {
            ui.spacing_mut().item_spacing.x = 2.0;
            let buttons = if bundle.has_knowledge { 3.0 } else { 2.0 };
            let room = vec2((ui.available_width() - buttons * 24.0 - 2.0).max(40.0), 26.0);
            ui.allocate_ui_with_layout(room, egui::Layout::left_to_right(egui::Align::Center), |ui| {
                switcher_ui(ui, view, bundle, chosen);
            });
            if icon_button_ui(ui, view.theme, "add", "New entity…").clicked() {
                view.act(CommandId::NewEntity);
            }
            if bundle.has_knowledge && icon_button_ui(ui, view.theme, "page", "Domain knowledge").clicked() {
                view.act(SpecAction::Open(SpecPage::Knowledge(bundle.id.clone())));
            }
            if icon_button_ui(ui, view.theme, "monitor", "Coverage").clicked() {
                view.act(SpecAction::Open(SpecPage::Coverage(bundle.id.clone())));
            }
        });
        ui.add_space(2.0);
        let field =
            search_field_ui(ui, view.theme, &mut self.filter, "Filter by id or title", "Filter entities");
        // Arrow down moves from the field into the matches.
        let (down, enter) = (Key::ArrowDown, Key::Enter);
        if field.has_focus() && ui.input_mut(|input| input.consume_key(Modifiers::NONE, down)) {
            if let Some(first) = self.lines.first() {
                self.cursor = Some(first.key.clone());
                ui.memory_mut(|memory| memory.request_focus(row_id(&first.key)));
            }
        } else if field.lost_focus() && ui.input(|input| input.key_pressed(enter)) {
            let first = self.lines.iter().find(|line| matches!(line.kind, NavigatorLineKind::Entity(_)));
            self.cursor = first.map(|line| line.key.clone());
            if let Some(entity) = first.and_then(|line| entity_of_key(&bundle.id, &line.key)) {
                view.act(SpecAction::Open(SpecPage::Entity(entity)));
            }
        }
        ui.add_space(4.0);
    }

    /// Expands and scrolls to an entity that was opened elsewhere, once.
    fn reveal_opened(&mut self, view: &FrameView<'_>, list: &EntityList) {
        let page = view.history.current();
        if self.followed.as_ref() == page {
            return;
        }
        self.followed = page.cloned();
        let Some(entity) = page.and_then(SpecPage::entity) else { return };
        let key = format!("entity {}/{}", entity.entity_type, entity.id);
        let known = list.entities.iter().any(|summary| summary.entity == *entity);
        if known && self.filter.is_empty() && !self.lines.iter().any(|line| line.key == key) {
            for line in &self.lines {
                let holds = match &line.kind {
                    NavigatorLineKind::Type { name, open, .. } => *name == entity.entity_type && !open,
                    NavigatorLineKind::Category { open, .. } => !open,
                    NavigatorLineKind::Entity(_) => false,
                };
                // A collapsed category may contain the entity; its types keep their state.
                if holds && !self.toggled.remove(&line.key) {
                    self.toggled.insert(line.key.clone());
                }
            }
            self.made_from = None;
        }
        self.cursor = Some(key.clone());
        self.reveal = known.then_some(key);
    }

    fn tree_ui(
        &mut self,
        ui: &mut Ui,
        view: &FrameView<'_>,
        list: &EntityList,
        lines: &[NavigatorLine],
        drafts: &BTreeSet<EntityRef>,
    ) {
        let moved = self.keys(ui, list, lines, view.actions);
        let place_of = |key: &String| lines.iter().position(|line| line.key == *key);
        let reveal = self.reveal.as_ref().and_then(place_of);
        if reveal.is_some() {
            self.reveal = None;
        }
        list_rows_ui(ui, ROW_HEIGHT, lines.len(), |ui, range| {
            if let Some(place) = moved.or(reveal) {
                let top = ui.max_rect().top() + (place as f32 - range.start as f32) * ROW_HEIGHT;
                let row = Rect::from_min_size(pos2(ui.max_rect().left(), top), vec2(1.0, ROW_HEIGHT));
                ui.scroll_to_rect(row, None);
            }
            for line in lines.get(range).unwrap_or_default() {
                self.line_ui(ui, view, list, line, drafts);
            }
        });
    }

    /// Handles the keyboard. Returns the line to scroll to.
    fn keys(
        &mut self,
        ui: &Ui,
        list: &EntityList,
        lines: &[NavigatorLine],
        actions: &ActionQueue,
    ) -> Option<usize> {
        let cursor = self.cursor.clone()?;
        if !ui.memory(|memory| memory.has_focus(row_id(&cursor))) {
            return None;
        }
        let place = lines.iter().position(|line| line.key == cursor)?;
        let pressed = |key: Key| ui.input_mut(|input| input.consume_key(Modifiers::NONE, key));
        let line = &lines[place];
        let page = (ui.available_height() / ROW_HEIGHT) as usize;
        let next = if pressed(Key::ArrowDown) {
            place + 1
        } else if pressed(Key::ArrowUp) {
            place.checked_sub(1)?
        } else if pressed(Key::PageDown) {
            (place + page).min(lines.len() - 1)
        } else if pressed(Key::PageUp) {
            place.saturating_sub(page)
        } else if pressed(Key::Home) {
            0
        } else if pressed(Key::End) {
            lines.len() - 1
        } else if pressed(Key::ArrowRight) {
            match line.is_open() {
                Some(false) => return self.toggle(&cursor),
                _ => place + 1,
            }
        } else if pressed(Key::ArrowLeft) {
            match line.is_open() {
                Some(true) => return self.toggle(&cursor),
                _ => lines[..place].iter().rposition(|above| above.depth < line.depth)?,
            }
        } else if pressed(Key::Enter) {
            self.activate(list, line, actions);
            return None;
        } else {
            return None;
        };
        let key = &lines.get(next)?.key;
        self.cursor = Some(key.clone());
        ui.memory_mut(|memory| memory.request_focus(row_id(key)));
        Some(next)
    }

    fn toggle(&mut self, key: &str) -> Option<usize> {
        if !self.toggled.remove(key) {
            self.toggled.insert(key.to_owned());
        }
        self.made_from = None;
        None
    }

    fn activate(&mut self, list: &EntityList, line: &NavigatorLine, actions: &ActionQueue) {
        match &line.kind {
            NavigatorLineKind::Entity(place) => {
                if let Some(summary) = list.entities.get(*place) {
                    self.followed = Some(SpecPage::Entity(summary.entity.clone()));
                    actions.push(SpecAction::Open(SpecPage::Entity(summary.entity.clone())));
                }
            }
            _ => drop(self.toggle(&line.key)),
        }
    }

    fn line_ui(
        &mut self,
        ui: &mut Ui,
        view: &FrameView<'_>,
        list: &EntityList,
        line: &NavigatorLine,
        drafts: &BTreeSet<EntityRef>,
    ) {
        let summary =
            if let NavigatorLineKind::Entity(place) = line.kind { list.entities.get(place) } else { None };
        let current = view.history.current().and_then(SpecPage::entity);
        let selected = summary.is_some_and(|summary| current == Some(&summary.entity));
        let id = row_id(&line.key);
        let (rect, _) = ui.allocate_exact_size(vec2(ui.available_width(), ROW_HEIGHT), Sense::hover());
        let response = ui.interact(rect, id, Sense::click());
        let name = match (&line.kind, summary) {
            (NavigatorLineKind::Category { title, .. } | NavigatorLineKind::Type { title, .. }, _) => {
                title.clone()
            }
            (_, Some(summary)) => format!("{} {}", summary.entity.id, summary.title),
            _ => String::new(),
        };
        response.widget_info(|| egui::WidgetInfo::selected(egui::Role::TreeItem, true, selected, &name));
        if response.has_focus() {
            // Arrow keys move within the tree, not between widgets.
            let filter =
                EventFilter { vertical_arrows: true, horizontal_arrows: true, ..EventFilter::default() };
            ui.memory_mut(|memory| memory.set_focus_lock_filter(id, filter));
            self.cursor = Some(line.key.clone());
        }
        if response.clicked() {
            self.cursor = Some(line.key.clone());
            response.request_focus();
            self.activate(list, line, view.actions);
        }
        let theme = view.theme;
        row_background(ui, theme, rect, &response, selected);
        let room = rect.shrink2(vec2(4.0, 0.0)).with_min_x(rect.left() + 4.0 + line.depth as f32 * INDENT);
        let arrow = Rect::from_min_size(room.min, vec2(14.0, ROW_HEIGHT));
        match (&line.kind, summary) {
            (NavigatorLineKind::Category { title, open, count }, _) => {
                paint_disclosure(ui.painter(), arrow, *open, theme.text_subtle);
                let room = paint_count(ui, theme, room, *count);
                let room = room.with_min_x(room.left() + 18.0);
                paint_line(ui, room, Align2::LEFT_CENTER, title, small_font(ui), theme.text_muted);
            }
            (NavigatorLineKind::Type { name, title, open, count, worst }, _) => {
                paint_disclosure(ui.painter(), arrow, *open, theme.text_subtle);
                let mark =
                    Rect::from_center_size(pos2(room.left() + 26.0, room.center().y), Vec2::splat(17.0));
                paint_entity_mark(ui, mark, theme, name);
                let mut room = paint_count(ui, theme, room, *count);
                if let Some(worst) = worst.filter(|_| !open) {
                    paint_severity(ui.painter(), pos2(room.right() - 6.0, room.center().y), theme, worst);
                    room.max.x -= 18.0;
                }
                let room = room.with_min_x(mark.right() + 7.0);
                paint_line(ui, room, Align2::LEFT_CENTER, title, body_font(ui), theme.text);
            }
            (NavigatorLineKind::Entity(_), Some(summary)) => {
                let mut room = room.with_min_x(room.left() + 18.0);
                let worst = match (summary.errors, summary.warnings) {
                    (0, 0) => None,
                    (0, _) => Some(ProblemSeverity::Warning),
                    _ => Some(ProblemSeverity::Error),
                };
                if let Some(worst) = worst {
                    paint_severity(ui.painter(), pos2(room.right() - 6.0, room.center().y), theme, worst);
                    room.max.x -= 18.0;
                }
                if drafts.contains(&summary.entity) {
                    ui.painter().circle_filled(pos2(room.left() - 8.0, room.center().y), 3.0, theme.accent);
                }
                let title = if summary.title.is_empty() { &summary.entity.id } else { &summary.title };
                let width = paint_id(ui, theme, room, title, &summary.entity.id);
                let room = room.with_max_x(room.right() - width);
                paint_line(ui, room, Align2::LEFT_CENTER, title, body_font(ui), theme.text);
            }
            _ => {}
        }
        if let Some(summary) = summary {
            let state = summary.status.as_deref().map(|status| format!("\n{status}")).unwrap_or_default();
            let draft = if drafts.contains(&summary.entity) { "\nUnsaved changes" } else { "" };
            response.on_hover_text(format!("{}\n{}{state}{draft}", summary.title, summary.entity.id));
        }
    }
}

fn switcher_ui(ui: &mut Ui, view: &FrameView<'_>, bundle: &BundleView, chosen: &mut Option<String>) {
    let combo = egui::ComboBox::from_id_salt("bundle")
        .selected_text(RichText::new(&bundle.title).strong())
        .width(ui.available_width())
        .truncate();
    let response = combo.show_ui(ui, |ui| {
        for each in &view.bundles.bundles {
            let text = format!("{}  ·  {}", each.title, each.folder);
            if ui.selectable_label(each.id == bundle.id, text).clicked() {
                *chosen = Some(each.id.clone());
            }
        }
    });
    response.response.accessible_name("Bundle").on_hover_text(&bundle.folder);
}

/// Returns the chosen bundle, or else the first.
pub(crate) fn selected_bundle<'a>(view: &FrameView<'a>, chosen: Option<&str>) -> Option<&'a BundleView> {
    let bundles = &view.bundles.bundles;
    bundles.iter().find(|bundle| Some(bundle.id.as_str()) == chosen).or_else(|| bundles.first())
}

fn entity_of_key(bundle: &str, key: &str) -> Option<EntityRef> {
    let (entity_type, id) = key.strip_prefix("entity ")?.split_once('/')?;
    Some(EntityRef { bundle: bundle.to_owned(), entity_type: entity_type.to_owned(), id: id.to_owned() })
}

fn row_id(key: &str) -> egui::Id {
    egui::Id::unique(("spec row", key))
}

fn paint_count(ui: &Ui, theme: &canvas::WorkbenchTheme, room: Rect, count: u64) -> Rect {
    let width =
        paint_line(ui, room, Align2::RIGHT_CENTER, &count.to_string(), small_font(ui), theme.text_subtle);
    room.with_max_x(room.right() - width - 8.0)
}

/// Paints the id at the right if it fits beside the title without truncation. Returns the width it used.
fn paint_id(ui: &Ui, theme: &canvas::WorkbenchTheme, room: Rect, title: &str, id: &str) -> f32 {
    if title == id {
        return 0.0;
    }
    let lay = |text: &str, font| ui.painter().layout_no_wrap(text.to_owned(), font, theme.text_subtle);
    let (title, id) = (lay(title, body_font(ui)).size().x, lay(id, small_font(ui)));
    let width = id.size().x + 10.0;
    if width > room.width() - title.min(room.width() * 0.6) {
        return 0.0;
    }
    let at = pos2(room.right() - id.size().x, room.center().y - id.size().y / 2.0);
    ui.painter().galley(at, id, theme.text_subtle);
    width
}

/// Lists configured folders that do not contain a valid bundle.
fn failures_ui(ui: &mut Ui, view: &FrameView<'_>) {
    for (folder, reason) in &view.bundles.failed {
        egui::Frame::new().fill(view.theme.hover).corner_radius(4).inner_margin(6).show(ui, |ui| {
            ui.set_width(ui.available_width());
            ui.horizontal_top(|ui| {
                severity_mark_ui(ui, view.theme, Vec2::splat(14.0), ProblemSeverity::Error);
                ui.vertical(|ui| {
                    ui.spacing_mut().item_spacing.y = 1.0;
                    ui.add(egui::Label::new(RichText::new(folder).small().strong()).wrap());
                    small_text_ui(ui, view.theme.text_muted, reason);
                });
            });
        });
        ui.add_space(2.0);
    }
}

/// The empty state, with instructions to add a bundle.
fn nothing_ui(ui: &mut Ui, view: &FrameView<'_>) {
    if view.bundles.failed.is_empty() {
        empty_state_ui(ui, view.theme, "No specs", "A spec bundle is a folder with an sdd-bundle.yaml.");
    } else {
        empty_state_ui(
            ui,
            view.theme,
            "No bundle could be loaded",
            "Fix the problems below. The bundles reload automatically.",
        );
        ui.add_space(6.0);
        failures_ui(ui, view);
    }
    ui.add_space(8.0);
    ui.vertical_centered(|ui| {
        muted_ui(ui, view.theme, "Set the bundle folders in draftboard.toml");
        let line = r#"bundles = ["specs/*"]"#;
        let code = RichText::new(line).monospace().color(view.theme.text);
        egui::Frame::new()
            .fill(view.theme.hover)
            .corner_radius(4)
            .inner_margin(6)
            .show(ui, |ui| ui.label(code));
        if ui.small_button("Copy").accessible_name("Copy the line for draftboard.toml").clicked() {
            ui.ctx().copy_text(line.to_owned());
        }
    });
}
