//! The page of an entity: header, fields in schema order and groups, referrers, trace links and file. To add a section,
//! add a line to [`entity_ui`].

use super::{
    SpecAction,
    answers::LoadedEntity,
    entity_look::{badge_ui, paint_entity_mark},
    findings::{EntityFinding, EntityFindings},
    history::SpecPage,
    schema::{EntityFormSchema, FieldProminence, SchemaField, SchemaFieldKind, humanise, phrase},
    values::{EntityValueContext, block, choice_of, entity_chip_ui, in_line, value_ui},
};
use crate::{
    view::FrameView,
    widgets::{TabButton, copyable_text_ui, more_ui, muted_ui, severity_mark_ui, small_text_ui, tab_ui},
};
use canvas::theme::WorkbenchTheme;
use egui::{CornerRadius, Rect, RichText, Sense, Ui, Vec2, pos2, vec2};
use shared_protocol::text::{count_noun, truncate_chars};
use shared_protocol::{
    OrderedValue,
    bundle::{EntityRef, RelationView},
    messages::ProblemSeverity,
    trace_link::TraceLinkEnd,
};
use std::collections::BTreeMap;

/// The maximum width of the text column, for readability.
const MAX_COLUMN_WIDTH: f32 = 780.0;
const LABEL_WIDTH: f32 = 150.0;
/// Below this width, labels are placed above their values.
const NARROW_WIDTH: f32 = 520.0;
/// The maximum number of shown referrers of one kind; the rest are counted.
const MAX_SHOWN_REFERRERS: usize = 60;

#[derive(Debug, Default)]
pub(crate) struct SpecReaderState {
    /// The open group of each entity type.
    groups: BTreeMap<String, String>,
    /// A field to scroll to, once.
    pub(crate) scroll_target: Option<String>,
    /// The highlighted field, until another page is shown.
    pub(crate) lit: Option<String>,
}

impl SpecReaderState {
    /// Scrolls to a field of the current or next page.
    pub(crate) fn go_to(&mut self, field: &str) {
        self.scroll_target = Some(field.to_owned());
        self.lit = Some(field.to_owned());
    }
}

/// Lays out a centred column of readable width.
pub(super) fn column_ui<R>(ui: &mut Ui, content: impl FnOnce(&mut Ui) -> R) -> R {
    let room = ui.available_width();
    let width = (room - 44.0).clamp(120.0, MAX_COLUMN_WIDTH);
    let left = ((room - width) / 2.0).max(8.0).floor();
    ui.horizontal_top(|ui| {
        ui.spacing_mut().item_spacing.x = 0.0;
        ui.add_space(left);
        ui.vertical(|ui| {
            ui.spacing_mut().item_spacing.x = 8.0;
            ui.set_width(width);
            content(ui)
        })
        .inner
    })
    .inner
}

pub(super) fn entity_ui(
    ui: &mut Ui,
    view: &FrameView<'_>,
    entity: &LoadedEntity,
    reading: &mut SpecReaderState,
) {
    let theme = view.theme;
    let findings = EntityFindings::from_diagnostics(&entity.view.diagnostics);
    let around =
        EntityValueContext { view, bundle: &entity.view.entity.bundle, outgoing: &entity.view.outgoing };
    let fields = visible_fields(entity, &findings);
    ui.add_space(16.0);
    title_ui(ui, theme, &entity.view.entity, &entity.view.title);
    header_values_ui(ui, theme, entity, &findings);
    let has_field = |name: &str| fields.iter().any(|field| field.name == name);
    for finding in findings.elsewhere(has_field) {
        finding_ui(ui, theme, finding);
    }
    let group = groups_ui(ui, theme, &entity.schema, &entity.view.entity.entity_type, reading);
    for field in fields.iter().filter(|field| is_in_group(&entity.schema, field, group.as_deref())) {
        let value = entity.data.get(&field.name);
        field_ui(ui, &around, field, value, &findings, reading);
    }
    if group.is_none() || group.as_ref() == entity.schema.groups.first().map(|(key, _)| key) {
        referrers_ui(ui, view, &entity.view.incoming);
    }
    ui.add_space(16.0);
    crate::trace_links::section_ui(ui, view, &TraceLinkEnd::Entity(entity.view.entity.clone()));
    file_ui(ui, view, entity);
    ui.add_space(32.0);
}

pub(super) fn title_ui(ui: &mut Ui, theme: &WorkbenchTheme, entity: &EntityRef, title: &str) {
    ui.horizontal_top(|ui| {
        let (mark, _) = ui.allocate_exact_size(Vec2::splat(38.0), Sense::hover());
        paint_entity_mark(ui, mark, theme, &entity.entity_type);
        ui.add_space(4.0);
        ui.vertical(|ui| {
            ui.spacing_mut().item_spacing.y = 2.0;
            let kind = format!("{}  ·  {}", humanise(&entity.entity_type), entity.id);
            copyable_text_ui(ui, RichText::new(kind).small().color(theme.text_muted));
            let title = if title.is_empty() { &entity.id } else { title };
            copyable_text_ui(ui, RichText::new(title).size(22.0).color(theme.text));
        });
    });
    ui.add_space(6.0);
}

/// Shows the fields that belong in the header, such as states and dates.
fn header_values_ui(ui: &mut Ui, theme: &WorkbenchTheme, entity: &LoadedEntity, findings: &EntityFindings) {
    let mut fields = entity.schema.fields.iter().filter(|field| is_in_header(field));
    let found = findings.count(ProblemSeverity::Error) + findings.count(ProblemSeverity::Warning);
    if found == 0 && !fields.any(|field| entity.data.get(&field.name).is_some()) {
        return;
    }
    ui.horizontal_wrapped(|ui| {
        ui.spacing_mut().item_spacing = vec2(8.0, 6.0);
        for field in entity.schema.fields.iter().filter(|field| is_in_header(field)) {
            match (&field.kind, entity.data.get(&field.name)) {
                (SchemaFieldKind::Choice(choices), Some(OrderedValue::Text(value))) => {
                    badge_ui(ui, theme, choice_of(choices, value), value).on_hover_text(&field.label);
                }
                (_, Some(value)) => {
                    muted_ui(ui, theme, format!("{} {}", field.label, date_of(&in_line(value))));
                }
                (_, None) => {}
            }
        }
        for (severity, word) in [(ProblemSeverity::Error, "error"), (ProblemSeverity::Warning, "warning")] {
            let count = findings.count(severity);
            if count > 0 {
                ui.horizontal(|ui| {
                    ui.spacing_mut().item_spacing.x = 2.0;
                    severity_mark_ui(ui, theme, Vec2::splat(16.0), severity);
                    muted_ui(ui, theme, count_noun(count, word));
                });
            }
        }
    });
    ui.add_space(4.0);
}

/// Formats `2025-05-02T08:30:00Z` as `2025-05-02 08:30`.
fn date_of(text: &str) -> String {
    match text.split_once('T') {
        Some((day, time)) if day.len() == 10 => format!("{day} {}", time.get(..5).unwrap_or(time)),
        _ => text.to_owned(),
    }
}

pub(super) fn is_in_header(field: &SchemaField) -> bool {
    !field.hidden && (field.in_header || matches!(field.name.as_str(), "state" | "status"))
}

/// Returns the fields below the header: schema fields with a value or a finding, followed by fields that only the entity
/// has.
fn visible_fields(entity: &LoadedEntity, findings: &EntityFindings) -> Vec<SchemaField> {
    let schema = &entity.schema;
    let mut fields: Vec<SchemaField> = schema
        .fields
        .iter()
        .filter(|field| {
            let value = entity.data.get(&field.name);
            let is_title = value.and_then(OrderedValue::as_text) == Some(&entity.view.title)
                && findings.worst_severity(&field.name).is_none();
            let told = value.is_some() || findings.worst_severity(&field.name).is_some();
            let in_header = is_in_header(field) && findings.worst_severity(&field.name).is_none();
            told && !field.hidden && !is_title && !in_header && field.name != schema.id_field
        })
        .cloned()
        .collect();
    let known = |name: &str| schema.field(name).is_some() || name == schema.id_field;
    fields.extend(
        entity.data.members().filter(|(name, _)| !known(name)).map(|(name, _)| SchemaField::unknown(name)),
    );
    fields
}

/// Draws tabs for the groups of the schema. Returns the open group, or `None` when there are fewer than two.
pub(super) fn groups_ui(
    ui: &mut Ui,
    theme: &WorkbenchTheme,
    schema: &EntityFormSchema,
    entity_type: &str,
    reading: &mut SpecReaderState,
) -> Option<String> {
    if schema.groups.len() < 2 {
        return None;
    }
    let wanted = reading
        .scroll_target
        .as_deref()
        .and_then(|name| schema.field(name))
        .and_then(|field| field.group.clone());
    let open = wanted.or_else(|| reading.groups.get(entity_type).cloned());
    let known = |key: &String| schema.groups.iter().any(|(group, _)| group == key);
    let mut open = open.filter(known).unwrap_or_else(|| schema.groups[0].0.clone());
    ui.horizontal_wrapped(|ui| {
        ui.set_height(30.0);
        ui.spacing_mut().item_spacing.x = 0.0;
        for (key, title) in &schema.groups {
            let id = ui.make_persistent_id(("group", key));
            let tab = TabButton { id, text: title, is_selected: *key == open, sense: Sense::click() };
            if tab_ui(ui, theme, tab).clicked() {
                open.clone_from(key);
            }
        }
    });
    ui.add_space(4.0);
    reading.groups.insert(entity_type.to_owned(), open.clone());
    Some(open)
}

/// Returns whether a field belongs to the open group. Fields without a group belong to the first.
pub(super) fn is_in_group(schema: &EntityFormSchema, field: &SchemaField, open: Option<&str>) -> bool {
    let Some(open) = open else { return true };
    let first = schema.groups.first().map(|(key, _)| key.as_str());
    let known = |key: &&str| schema.groups.iter().any(|(group, _)| group == key);
    field.group.as_deref().filter(known).or(first) == Some(open)
}

fn field_ui(
    ui: &mut Ui,
    around: &EntityValueContext<'_>,
    field: &SchemaField,
    value: Option<&OrderedValue>,
    findings: &EntityFindings,
    reading: &mut SpecReaderState,
) {
    let theme = around.view.theme;
    let top = ui.cursor().min;
    let mut beside = false;
    let show = |ui: &mut Ui| match value {
        Some(value) => drop(ui.push_id(&field.name, |ui| value_ui(ui, around, &field.kind, value))),
        None => drop(muted_ui(ui, theme, "Not set")),
    };
    match field.weight {
        FieldProminence::Hero => {
            ui.add_space(6.0);
            block(ui, theme, |ui| {
                heading_ui(ui, theme, field, 17.0);
                show(ui);
            });
            ui.add_space(4.0);
        }
        FieldProminence::Primary => {
            ui.add_space(10.0);
            heading_ui(ui, theme, field, 15.5);
            show(ui);
        }
        FieldProminence::Usual if field.kind.is_wide() || ui.available_width() < NARROW_WIDTH => {
            ui.add_space(6.0);
            label_ui(ui, theme, field);
            show(ui);
        }
        FieldProminence::Usual => {
            beside = true;
            ui.horizontal_top(|ui| {
                let label = egui::Layout::left_to_right(egui::Align::Center);
                ui.allocate_ui_with_layout(vec2(LABEL_WIDTH, 24.0), label, |ui| {
                    ui.set_min_size(vec2(LABEL_WIDTH, 24.0));
                    label_ui(ui, theme, field);
                });
                ui.vertical(|ui| {
                    ui.add_space(drop_of(&field.kind));
                    show(ui);
                });
            });
        }
    }
    for finding in findings.at_field(&field.name) {
        ui.horizontal_top(|ui| {
            ui.add_space(if beside { LABEL_WIDTH } else { 0.0 });
            finding_ui(ui, theme, finding);
        });
    }
    jump_ui(ui, theme, field, top, reading);
    ui.add_space(4.0);
}

/// The vertical offset that aligns a value with labels and chips.
pub(super) fn drop_of(kind: &SchemaFieldKind) -> f32 {
    match kind {
        SchemaFieldKind::Choice(_) | SchemaFieldKind::Reference(_) => 0.0,
        SchemaFieldKind::List { .. } | SchemaFieldKind::Object { .. } => 0.0,
        _ => 3.0,
    }
}

/// Scrolls to the target field and highlights it.
pub(super) fn jump_ui(
    ui: &Ui,
    theme: &WorkbenchTheme,
    field: &SchemaField,
    top: egui::Pos2,
    reading: &mut SpecReaderState,
) {
    let room = Rect::from_min_max(top, pos2(top.x + 1.0, ui.min_rect().bottom()));
    if reading.lit.as_ref() == Some(&field.name) {
        let bar = Rect::from_min_max(pos2(top.x - 10.0, top.y), pos2(top.x - 7.0, room.bottom()));
        ui.painter().rect_filled(bar, CornerRadius::same(1), theme.accent);
    }
    if reading.scroll_target.as_ref() == Some(&field.name) {
        ui.scroll_to_rect(room, Some(egui::Align::Center));
        reading.scroll_target = None;
    }
}

fn heading_ui(ui: &mut Ui, theme: &WorkbenchTheme, field: &SchemaField, size: f32) {
    ui.label(RichText::new(&field.label).size(size).color(theme.text));
    ui.add_space(2.0);
}

fn label_ui(ui: &mut Ui, theme: &WorkbenchTheme, field: &SchemaField) {
    let label =
        ui.add(egui::Label::new(RichText::new(&field.label).small().color(theme.text_muted)).truncate());
    if !field.description.is_empty() {
        label.on_hover_text(&field.description);
    }
}

pub(super) fn finding_ui(ui: &mut Ui, theme: &WorkbenchTheme, finding: &EntityFinding) {
    ui.horizontal_top(|ui| {
        severity_mark_ui(ui, theme, Vec2::splat(14.0), finding.severity);
        let part = if finding.part.is_empty() { String::new() } else { format!("{}: ", finding.part) };
        small_text_ui(ui, theme.text, format!("{part}{}", finding.message));
    });
}

/// A heading of a section that is not a field.
pub(super) fn section_ui(ui: &mut Ui, theme: &WorkbenchTheme, title: &str) {
    ui.add_space(16.0);
    ui.separator();
    ui.add_space(4.0);
    ui.label(RichText::new(title).size(15.5).color(theme.text));
    ui.add_space(2.0);
}

/// Lists the referrers, grouped by type and field.
fn referrers_ui(ui: &mut Ui, view: &FrameView<'_>, incoming: &[RelationView]) {
    let theme = view.theme;
    section_ui(ui, theme, "Referenced by");
    if incoming.is_empty() {
        muted_ui(ui, theme, "Nothing references this entity.");
        return;
    }
    let mut kinds: Vec<(&str, &str, Vec<&RelationView>)> = Vec::new();
    for relation in incoming {
        let (kind, field) = (relation.entity.entity_type.as_str(), relation.field.as_str());
        match kinds.iter_mut().find(|(known, of, _)| (*known, *of) == (kind, field)) {
            Some((.., relations)) => relations.push(relation),
            None => kinds.push((kind, field, vec![relation])),
        }
    }
    for (kind, field, relations) in kinds {
        ui.add_space(4.0);
        muted_ui(ui, theme, format!("{}  ·  {}", humanise(kind), phrase(field)));
        ui.horizontal_wrapped(|ui| {
            ui.spacing_mut().item_spacing = vec2(6.0, 6.0);
            for relation in relations.iter().take(MAX_SHOWN_REFERRERS) {
                ui.push_id((&relation.entity.id, field), |ui| {
                    entity_chip_ui(ui, view, &relation.entity, relation.title.as_deref());
                });
            }
            more_ui(ui, theme, relations.len(), MAX_SHOWN_REFERRERS);
        });
    }
}

fn file_ui(ui: &mut Ui, view: &FrameView<'_>, entity: &LoadedEntity) {
    let bundle = view.bundles.bundles.iter().find(|bundle| bundle.id == entity.view.entity.bundle);
    let folder = bundle.map(|bundle| bundle.folder.as_str()).unwrap_or_default();
    let path =
        if folder.is_empty() { entity.view.file.clone() } else { format!("{folder}/{}", entity.view.file) };
    ui.add_space(16.0);
    ui.separator();
    ui.horizontal(|ui| {
        ui.add(
            egui::Label::new(RichText::new(&path).small().color(view.theme.text_subtle))
                .selectable(true)
                .truncate(),
        );
        if ui.small_button("Copy").accessible_name("Copy file path").clicked() {
            ui.ctx().copy_text(format!("{}/{path}", view.root));
        }
    });
}

/// A summary of the entity of a map node, for the inspector.
pub(super) fn brief_ui(ui: &mut Ui, view: &FrameView<'_>, entity: &LoadedEntity) {
    let theme = view.theme;
    title_ui(ui, theme, &entity.view.entity, &entity.view.title);
    header_values_ui(ui, theme, entity, &EntityFindings::from_diagnostics(&entity.view.diagnostics));
    let long = entity.schema.fields.iter().filter(|field| matches!(field.kind, SchemaFieldKind::Long { .. }));
    let text = long.filter_map(|field| entity.data.text(&field.name)).next();
    if let Some(text) = text {
        crate::markdown::markdown_ui(ui, theme, &truncate_chars(text, 280));
    }
    let (out, back) = (entity.view.outgoing.len(), entity.view.incoming.len());
    muted_ui(ui, theme, format!("{} · referenced by {back}", count_noun(out, "reference")));
    ui.add_space(4.0);
    if ui.button("Open entity").clicked() {
        view.act(SpecAction::Open(SpecPage::Entity(entity.view.entity.clone())));
    }
}
