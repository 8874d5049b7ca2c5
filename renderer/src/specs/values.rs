//! Read-only values, rendered by schema: Markdown, chips, badges and tables.

use super::{
    SpecAction,
    history::Page,
    json::Json,
    look::{Chip, Sign, badge_ui, chip_ui, paint_mark, type_look},
    schema::{Choice, Field, Kind, ListLook},
    table::table_ui,
};
use crate::{
    markdown::markdown_ui,
    view::Action,
    widgets::{Tab, muted_ui, small_font, tab_ui},
};
use canvas::theme::Theme;
use egui::{CornerRadius, Frame, RichText, Sense, Stroke, Ui, pos2, vec2};
use shared_protocol::bundle::{EntityRef, RelationView};

/// The context of values: the theme and their entity.
pub(super) struct Around<'a> {
    pub(super) theme: &'a Theme,
    pub(super) bundle: &'a str,
    /// The outgoing references of the entity.
    pub(super) outgoing: &'a [RelationView],
}

pub(super) fn value_ui(
    ui: &mut Ui,
    around: &Around<'_>,
    kind: &Kind,
    value: &Json,
    actions: &mut Vec<Action>,
) {
    let theme = around.theme;
    match (kind, value) {
        (_, Json::Null) => drop(muted_ui(ui, theme, "No value")),
        (Kind::Reference(types), Json::Text(id)) => {
            ui.horizontal_wrapped(|ui| reference_ui(ui, around, types, id, actions));
        }
        (Kind::Choice(choices), Json::Text(value)) => {
            ui.horizontal_wrapped(|ui| badge_ui(ui, theme, choice_of(choices, value), value));
        }
        (Kind::Long { markdown: true }, Json::Text(text)) => markdown_ui(ui, theme, text),
        (Kind::List { of, look }, Json::List(items)) => list_ui(ui, around, of, look, items, actions),
        (Kind::Object { fields, as_chips: true }, Json::Map(_)) => flags_ui(ui, theme, fields, value),
        (Kind::Object { fields, .. }, Json::Map(_)) => {
            block(ui, theme, |ui| members_ui(ui, around, fields, value, actions));
        }
        (_, Json::Bool(on)) => {
            ui.horizontal(|ui| {
                let (mark, _) = ui.allocate_exact_size(vec2(16.0, 18.0), Sense::hover());
                paint_mark(ui, theme, mark.center(), *on);
                ui.label(if *on { "Yes" } else { "No" });
            });
        }
        (_, Json::Text(text)) => drop(text_ui(ui, theme, text)),
        (_, Json::Number(number)) => drop(text_ui(ui, theme, &number.to_string())),
        (_, Json::List(items))
            if items.iter().all(|item| matches!(item, Json::Text(_) | Json::Number(_))) =>
        {
            list_ui(ui, around, &Kind::Text, &ListLook::Plain, items, actions);
        }
        _ => drop(
            ui.add(
                egui::Label::new(RichText::new(value.to_pretty()).monospace().color(theme.text))
                    .wrap()
                    .selectable(true),
            ),
        ),
    }
}

pub(super) fn text_ui(ui: &mut Ui, theme: &Theme, text: &str) -> egui::Response {
    ui.add(egui::Label::new(RichText::new(text).color(theme.text)).wrap().selectable(true))
}

pub(super) fn choice_of<'a>(choices: &'a [Choice], value: &str) -> Option<&'a Choice> {
    choices.iter().find(|choice| choice.value == value)
}

/// Shows the fields of an object that have a value, with labels above.
pub(super) fn members_ui(
    ui: &mut Ui,
    around: &Around<'_>,
    fields: &[Field],
    value: &Json,
    actions: &mut Vec<Action>,
) {
    for field in fields.iter().filter(|field| !field.hidden) {
        let Some(inner) = value.get(&field.name) else { continue };
        muted_ui(ui, around.theme, field.label.as_str());
        ui.push_id(&field.name, |ui| value_ui(ui, around, &field.kind, inner, actions));
        ui.add_space(4.0);
    }
    for (name, inner) in
        value.members().iter().filter(|(name, _)| !fields.iter().any(|field| field.name == *name))
    {
        muted_ui(ui, around.theme, super::schema::words(name));
        ui.push_id(name, |ui| value_ui(ui, around, &Kind::Json, inner, actions));
        ui.add_space(4.0);
    }
}

/// Draws a card around its content.
pub(super) fn block<R>(ui: &mut Ui, theme: &Theme, content: impl FnOnce(&mut Ui) -> R) -> R {
    Frame::new()
        .fill(theme.surface_card)
        .stroke(Stroke::new(1.0, theme.border))
        .corner_radius(CornerRadius::same(6))
        .inner_margin(12)
        .show(ui, |ui| {
            ui.set_width(ui.available_width());
            content(ui)
        })
        .inner
}

fn list_ui(
    ui: &mut Ui,
    around: &Around<'_>,
    of: &Kind,
    look: &ListLook,
    items: &[Json],
    actions: &mut Vec<Action>,
) {
    let theme = around.theme;
    if items.is_empty() {
        muted_ui(ui, theme, "None");
        return;
    }
    match (of, look) {
        (_, ListLook::Tabs { label, chosen }) => tabs_ui(ui, around, of, (label, chosen), items, actions),
        (Kind::Reference(types), _) => {
            ui.horizontal_wrapped(|ui| {
                ui.spacing_mut().item_spacing = vec2(6.0, 6.0);
                for id in items.iter().filter_map(Json::as_text) {
                    reference_ui(ui, around, types, id, actions);
                }
            });
        }
        (Kind::Choice(choices), _) => {
            ui.horizontal_wrapped(|ui| {
                for value in items.iter().filter_map(Json::as_text) {
                    badge_ui(ui, theme, choice_of(choices, value), value);
                }
            });
        }
        (_, ListLook::Chips) => {
            ui.horizontal_wrapped(|ui| {
                ui.spacing_mut().item_spacing = vec2(6.0, 6.0);
                for item in items {
                    let text = item.in_line();
                    let chip =
                        Chip { text: &text, name: &text, sign: Sign::None, ground: theme.hover, edge: None };
                    chip_ui(ui, theme, &chip, Sense::hover());
                }
            });
        }
        (Kind::Object { fields, .. }, _) => table_ui(ui, around, fields, items, actions),
        _ => {
            for (place, item) in items.iter().enumerate() {
                ui.push_id(place, |ui| bullet_ui(ui, around, of, item, actions));
            }
        }
    }
}

fn bullet_ui(ui: &mut Ui, around: &Around<'_>, of: &Kind, item: &Json, actions: &mut Vec<Action>) {
    ui.horizontal_top(|ui| {
        let (mark, _) = ui.allocate_exact_size(vec2(12.0, 18.0), Sense::hover());
        ui.painter().circle_filled(pos2(mark.left() + 4.0, mark.center().y), 2.2, around.theme.text_subtle);
        ui.vertical(|ui| value_ui(ui, around, of, item, actions));
    });
}

/// Shows boolean members as chips.
fn flags_ui(ui: &mut Ui, theme: &Theme, fields: &[Field], value: &Json) {
    ui.horizontal_wrapped(|ui| {
        ui.spacing_mut().item_spacing = vec2(6.0, 6.0);
        for (name, inner) in value.members() {
            let label = fields
                .iter()
                .find(|field| field.name == *name)
                .map_or(name.as_str(), |field| field.label.as_str());
            let on = inner.as_bool().unwrap_or_default();
            let spoken = format!("{label}: {}", inner.in_line());
            let chip =
                Chip { text: label, name: &spoken, sign: Sign::Mark(on), ground: theme.hover, edge: None };
            chip_ui(ui, theme, &chip, Sense::hover());
        }
    });
}

/// Shows one item at a time, initially the chosen one.
fn tabs_ui(
    ui: &mut Ui,
    around: &Around<'_>,
    of: &Kind,
    (label, chosen): (&str, &str),
    items: &[Json],
    actions: &mut Vec<Action>,
) {
    let theme = around.theme;
    let is_chosen = |item: &Json| item.get(chosen).and_then(Json::as_bool).unwrap_or_default();
    let id = ui.make_persistent_id("item");
    let first = items.iter().position(is_chosen).unwrap_or_default();
    let mut open: usize = ui.data(|data| data.get_temp(id)).unwrap_or(first).min(items.len() - 1);
    block(ui, theme, |ui| {
        ui.horizontal_wrapped(|ui| {
            ui.set_height(28.0);
            ui.spacing_mut().item_spacing.x = 0.0;
            for (place, item) in items.iter().enumerate() {
                let name = item.get(label).map_or_else(|| format!("Item {}", place + 1), Json::in_line);
                let text = if is_chosen(item) { format!("{name} (chosen)") } else { name };
                let tab =
                    Tab { id: id.with(place), text: &text, chosen: place == open, sense: Sense::click() };
                if tab_ui(ui, theme, tab).clicked() {
                    open = place;
                }
            }
        });
        ui.add_space(8.0);
        ui.push_id(open, |ui| match of {
            Kind::Object { fields, .. } => {
                let fields: Vec<Field> = fields.iter().filter(|field| field.name != label).cloned().collect();
                let mut rest = items[open].clone();
                rest.set(label, None);
                rest.set(chosen, None);
                members_ui(ui, around, &fields, &rest, actions);
            }
            of => value_ui(ui, around, of, &items[open], actions),
        });
    });
    ui.data_mut(|data| data.insert_temp(id, open));
}

/// Shows a reference as a chip that opens the entity.
pub(super) fn reference_ui(
    ui: &mut Ui,
    around: &Around<'_>,
    types: &[String],
    id: &str,
    actions: &mut Vec<Action>,
) {
    let relation = around.outgoing.iter().find(|relation| relation.entity.id == id);
    let title = relation.and_then(|relation| relation.title.as_deref());
    let entity = relation.map(|relation| relation.entity.clone()).or_else(|| {
        let entity_type = types.first()?.clone();
        Some(EntityRef { bundle: around.bundle.to_owned(), entity_type, id: id.to_owned() })
    });
    let missing = relation.is_some_and(|relation| relation.title.is_none());
    match entity {
        Some(entity) if !missing => entity_chip_ui(ui, around.theme, &entity, title, actions),
        _ => drop(missing_chip_ui(ui, around.theme, id)),
    }
}

pub(super) fn entity_chip_ui(
    ui: &mut Ui,
    theme: &Theme,
    entity: &EntityRef,
    title: Option<&str>,
    actions: &mut Vec<Action>,
) {
    let (icon, accent) = type_look(&entity.entity_type);
    let shown = title.filter(|title| !title.is_empty() && *title != entity.id);
    let name = format!("Open {}", entity.id);
    let chip = Chip {
        text: shown.unwrap_or(&entity.id),
        name: &name,
        sign: Sign::Icon(icon, theme.accent(accent)),
        ground: theme.tile(accent),
        edge: None,
    };
    let more = format!("{} {}\n{}", entity.entity_type, entity.id, shown.unwrap_or_default());
    if chip_ui(ui, theme, &chip, Sense::click()).on_hover_text(more.trim_end()).clicked() {
        actions.push(Action::Spec(SpecAction::Open(Page::Entity(entity.clone()))));
    }
}

fn missing_chip_ui(ui: &mut Ui, theme: &Theme, id: &str) -> egui::Response {
    let (text, name) = (format!("{id} is missing"), format!("Missing {id}"));
    let chip = Chip {
        text: &text,
        name: &name,
        sign: Sign::Trouble,
        ground: theme.surface_panel,
        edge: Some(theme.danger),
    };
    chip_ui(ui, theme, &chip, Sense::hover()).on_hover_text("This bundle has no entity with this id.")
}

/// The width of a text on one line.
pub(super) fn text_width(ui: &Ui, text: &str) -> f32 {
    ui.painter().layout_no_wrap(text.to_owned(), small_font(ui), ui.visuals().text_color()).size().x
}
