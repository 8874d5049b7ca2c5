//! Read-only values, rendered by schema: Markdown, chips, badges and tables.

use super::{
    SpecAction,
    entity_look::{ChipSymbol, EntityChip, badge_ui, chip_ui, paint_mark, type_look},
    history::SpecPage,
    schema::{ListPresentation, SchemaChoice, SchemaField, SchemaFieldKind},
    table::table_ui,
};
use crate::{
    markdown::markdown_ui,
    view::FrameView,
    widgets::{TabButton, copyable_text_ui, full_width_ui, muted_ui, small_font, tab_ui},
};
use canvas::theme::WorkbenchTheme;
use egui::{Frame, RichText, Sense, Stroke, Ui, pos2, vec2};
use shared_protocol::{
    OrderedValue,
    bundle::{EntityRef, RelationView},
};

/// The context of values: the frame and their entity.
pub(super) struct EntityValueContext<'a> {
    pub(super) view: &'a FrameView<'a>,
    pub(super) bundle: &'a str,
    pub(super) outgoing: &'a [RelationView],
}

pub(super) fn value_ui(
    ui: &mut Ui,
    around: &EntityValueContext<'_>,
    kind: &SchemaFieldKind,
    value: &OrderedValue,
) {
    let theme = around.view.theme;
    match (kind, value) {
        (_, OrderedValue::Null) => drop(muted_ui(ui, theme, "No value")),
        (SchemaFieldKind::Reference(types), OrderedValue::Text(id)) => {
            ui.horizontal_wrapped(|ui| reference_ui(ui, around, types, id));
        }
        (SchemaFieldKind::Choice(choices), OrderedValue::Text(value)) => {
            ui.horizontal_wrapped(|ui| badge_ui(ui, theme, choice_of(choices, value), value));
        }
        (SchemaFieldKind::Long { markdown: true }, OrderedValue::Text(text)) => markdown_ui(ui, theme, text),
        (SchemaFieldKind::List { of, look }, OrderedValue::List(items)) => {
            list_ui(ui, around, of, look, items)
        }
        (SchemaFieldKind::Object { fields, as_chips: true }, OrderedValue::Map(_)) => {
            flags_ui(ui, theme, fields, value)
        }
        (SchemaFieldKind::Object { fields, .. }, OrderedValue::Map(_)) => {
            block(ui, theme, |ui| members_ui(ui, around, fields, value));
        }
        (_, OrderedValue::Bool(on)) => {
            ui.horizontal(|ui| {
                let (mark, _) = ui.allocate_exact_size(vec2(16.0, 18.0), Sense::hover());
                paint_mark(ui, theme, mark.center(), *on);
                ui.label(if *on { "Yes" } else { "No" });
            });
        }
        (_, OrderedValue::Text(text)) => drop(text_ui(ui, theme, text)),
        (_, OrderedValue::Number(number)) => drop(text_ui(ui, theme, &number.to_string())),
        (_, OrderedValue::List(items))
            if items.iter().all(|item| matches!(item, OrderedValue::Text(_) | OrderedValue::Number(_))) =>
        {
            list_ui(ui, around, &SchemaFieldKind::Text, &ListPresentation::Plain, items);
        }
        _ => drop(copyable_text_ui(ui, RichText::new(value.to_pretty_json()).monospace().color(theme.text))),
    }
}

pub(super) fn text_ui(ui: &mut Ui, theme: &WorkbenchTheme, text: &str) -> egui::Response {
    copyable_text_ui(ui, RichText::new(text).color(theme.text))
}

pub(super) fn choice_of<'a>(choices: &'a [SchemaChoice], value: &str) -> Option<&'a SchemaChoice> {
    choices.iter().find(|choice| choice.value == value)
}

/// Shows the fields of an object that have a value, with labels above.
pub(super) fn members_ui(
    ui: &mut Ui,
    around: &EntityValueContext<'_>,
    fields: &[SchemaField],
    value: &OrderedValue,
) {
    for field in fields.iter().filter(|field| !field.hidden) {
        let Some(inner) = value.get(&field.name) else { continue };
        muted_ui(ui, around.view.theme, field.label.as_str());
        ui.push_id(&field.name, |ui| value_ui(ui, around, &field.kind, inner));
        ui.add_space(4.0);
    }
    for (name, inner) in value.members().filter(|(name, _)| !fields.iter().any(|field| field.name == *name)) {
        muted_ui(ui, around.view.theme, super::schema::humanise(name));
        ui.push_id(name, |ui| value_ui(ui, around, &SchemaFieldKind::Json, inner));
        ui.add_space(4.0);
    }
}

pub(super) fn block<R>(ui: &mut Ui, theme: &WorkbenchTheme, content: impl FnOnce(&mut Ui) -> R) -> R {
    let edge = Stroke::new(1.0, theme.border);
    let card = Frame::new().fill(theme.surface_card).stroke(edge).corner_radius(6).inner_margin(12);
    full_width_ui(ui, card, content).inner
}

fn list_ui(
    ui: &mut Ui,
    around: &EntityValueContext<'_>,
    of: &SchemaFieldKind,
    look: &ListPresentation,
    items: &[OrderedValue],
) {
    let theme = around.view.theme;
    if items.is_empty() {
        muted_ui(ui, theme, "None");
        return;
    }
    match (of, look) {
        (_, ListPresentation::Tabs { label, chosen }) => tabs_ui(ui, around, of, (label, chosen), items),
        (SchemaFieldKind::Reference(types), _) => {
            ui.horizontal_wrapped(|ui| {
                ui.spacing_mut().item_spacing = vec2(6.0, 6.0);
                for id in items.iter().filter_map(OrderedValue::as_text) {
                    reference_ui(ui, around, types, id);
                }
            });
        }
        (SchemaFieldKind::Choice(choices), _) => {
            ui.horizontal_wrapped(|ui| {
                for value in items.iter().filter_map(OrderedValue::as_text) {
                    badge_ui(ui, theme, choice_of(choices, value), value);
                }
            });
        }
        (_, ListPresentation::Chips) => {
            ui.horizontal_wrapped(|ui| {
                ui.spacing_mut().item_spacing = vec2(6.0, 6.0);
                for item in items {
                    let text = in_line(item);
                    let chip = EntityChip {
                        text: &text,
                        name: &text,
                        sign: ChipSymbol::None,
                        background: theme.hover,
                        edge: None,
                    };
                    chip_ui(ui, theme, &chip, Sense::hover());
                }
            });
        }
        (SchemaFieldKind::Object { fields, .. }, _) => table_ui(ui, around, fields, items),
        _ => {
            for (place, item) in items.iter().enumerate() {
                ui.push_id(place, |ui| bullet_ui(ui, around, of, item));
            }
        }
    }
}

fn bullet_ui(ui: &mut Ui, around: &EntityValueContext<'_>, of: &SchemaFieldKind, item: &OrderedValue) {
    ui.horizontal_top(|ui| {
        let (mark, _) = ui.allocate_exact_size(vec2(12.0, 18.0), Sense::hover());
        ui.painter().circle_filled(
            pos2(mark.left() + 4.0, mark.center().y),
            2.2,
            around.view.theme.text_subtle,
        );
        ui.vertical(|ui| value_ui(ui, around, of, item));
    });
}

/// Formats a value as one line: text as is, lists with commas, maps as JSON.
pub(super) fn in_line(value: &OrderedValue) -> String {
    match value {
        OrderedValue::Bool(on) => if *on { "yes" } else { "no" }.to_owned(),
        OrderedValue::Text(text) => text.lines().next().unwrap_or_default().to_owned(),
        OrderedValue::List(items) => items.iter().map(in_line).collect::<Vec<_>>().join(", "),
        OrderedValue::Null | OrderedValue::Number(_) | OrderedValue::Map(_) => value.to_string(),
    }
}

fn flags_ui(ui: &mut Ui, theme: &WorkbenchTheme, fields: &[SchemaField], value: &OrderedValue) {
    ui.horizontal_wrapped(|ui| {
        ui.spacing_mut().item_spacing = vec2(6.0, 6.0);
        for (name, inner) in value.members() {
            let label =
                fields.iter().find(|field| field.name == *name).map_or(name, |field| field.label.as_str());
            let on = inner.as_bool().unwrap_or_default();
            let spoken = format!("{label}: {}", in_line(inner));
            let chip = EntityChip {
                text: label,
                name: &spoken,
                sign: ChipSymbol::Mark(on),
                background: theme.hover,
                edge: None,
            };
            chip_ui(ui, theme, &chip, Sense::hover());
        }
    });
}

/// Shows one item at a time, initially the chosen one.
fn tabs_ui(
    ui: &mut Ui,
    around: &EntityValueContext<'_>,
    of: &SchemaFieldKind,
    (label, chosen): (&str, &str),
    items: &[OrderedValue],
) {
    let theme = around.view.theme;
    let is_chosen =
        |item: &OrderedValue| item.get(chosen).and_then(OrderedValue::as_bool).unwrap_or_default();
    let id = ui.make_persistent_id("item");
    let first = items.iter().position(is_chosen).unwrap_or_default();
    let mut open: usize = ui.data(|data| data.get_temp(id)).unwrap_or(first).min(items.len() - 1);
    block(ui, theme, |ui| {
        ui.horizontal_wrapped(|ui| {
            ui.set_height(28.0);
            ui.spacing_mut().item_spacing.x = 0.0;
            for (place, item) in items.iter().enumerate() {
                let name = item.get(label).map_or_else(|| format!("Item {}", place + 1), in_line);
                let text = if is_chosen(item) { format!("{name} (chosen)") } else { name };
                let tab = TabButton {
                    id: id.with(place),
                    text: &text,
                    is_selected: place == open,
                    sense: Sense::click(),
                };
                if tab_ui(ui, theme, tab).clicked() {
                    open = place;
                }
            }
        });
        ui.add_space(8.0);
        ui.push_id(open, |ui| match of {
            SchemaFieldKind::Object { fields, .. } => {
                let fields: Vec<SchemaField> =
                    fields.iter().filter(|field| field.name != label).cloned().collect();
                let mut rest = items[open].clone();
                rest.set(label, None);
                rest.set(chosen, None);
                members_ui(ui, around, &fields, &rest);
            }
            of => value_ui(ui, around, of, &items[open]),
        });
    });
    ui.data_mut(|data| data.insert_temp(id, open));
}

/// Shows a reference as a chip that opens the entity.
pub(super) fn reference_ui(ui: &mut Ui, around: &EntityValueContext<'_>, types: &[String], id: &str) {
    let relation = around.outgoing.iter().find(|relation| relation.entity.id == id);
    let title = relation.and_then(|relation| relation.title.as_deref());
    let entity = relation.map(|relation| relation.entity.clone()).or_else(|| {
        let entity_type = types.first()?.clone();
        Some(EntityRef { bundle: around.bundle.to_owned(), entity_type, id: id.to_owned() })
    });
    let missing = relation.is_some_and(|relation| relation.title.is_none());
    match entity {
        Some(entity) if !missing => entity_chip_ui(ui, around.view, &entity, title),
        _ => drop(missing_chip_ui(ui, around.view.theme, id)),
    }
}

pub(super) fn entity_chip_ui(ui: &mut Ui, view: &FrameView<'_>, entity: &EntityRef, title: Option<&str>) {
    let (icon, accent) = type_look(&entity.entity_type);
    let shown = title.filter(|title| !title.is_empty() && *title != entity.id);
    let name = format!("Open {}", entity.id);
    let chip = EntityChip {
        text: shown.unwrap_or(&entity.id),
        name: &name,
        sign: ChipSymbol::Icon(icon, view.theme.accent(accent)),
        background: view.theme.tile(accent),
        edge: None,
    };
    let more = format!("{} {}\n{}", entity.entity_type, entity.id, shown.unwrap_or_default());
    if chip_ui(ui, view.theme, &chip, Sense::click()).on_hover_text(more.trim_end()).clicked() {
        view.act(SpecAction::Open(SpecPage::Entity(entity.clone())));
    }
}

fn missing_chip_ui(ui: &mut Ui, theme: &WorkbenchTheme, id: &str) -> egui::Response {
    let (text, name) = (format!("{id} is missing"), format!("Missing {id}"));
    let chip = EntityChip {
        text: &text,
        name: &name,
        sign: ChipSymbol::Trouble,
        background: theme.surface_panel,
        edge: Some(theme.danger),
    };
    chip_ui(ui, theme, &chip, Sense::hover()).on_hover_text("This bundle has no entity with this id.")
}

pub(super) fn text_width(ui: &Ui, text: &str) -> f32 {
    ui.painter().layout_no_wrap(text.to_owned(), small_font(ui), ui.visuals().text_color()).size().x
}
