//! Shows a list of objects as a table with one column per field, sized by content within limits. Without enough room for
//! columns, each object becomes a card.

use super::{
    entity::drop_of,
    schema::{SchemaField, SchemaFieldKind},
    values::{EntityValueContext, block, in_line, members_ui, text_width, value_ui},
};
use crate::widgets::{more_ui, paint_line, small_font};
use egui::{Align2, Rect, Stroke, Ui, UiBuilder, pos2, vec2};
use shared_protocol::OrderedValue;

/// The maximum number of shown objects; the rest are counted.
const MAX_TABLE_ROWS: usize = 200;
const MIN_COLUMN_WIDTH: f32 = 70.0;
const MAX_COLUMN_WIDTH: f32 = 360.0;
const COLUMN_GAP: f32 = 14.0;

pub(super) fn table_ui(
    ui: &mut Ui,
    around: &EntityValueContext<'_>,
    fields: &[SchemaField],
    items: &[OrderedValue],
) {
    let theme = around.view.theme;
    let columns: Vec<&SchemaField> = fields
        .iter()
        .filter(|field| !field.hidden && items.iter().any(|item| item.get(&field.name).is_some()))
        .collect();
    let nested = columns.iter().any(|field| match &field.kind {
        SchemaFieldKind::Object { .. } => true,
        SchemaFieldKind::List { of, .. } => matches!(**of, SchemaFieldKind::Object { .. }),
        _ => false,
    });
    let more = items
        .iter()
        .any(|item| item.members().any(|(name, _)| !fields.iter().any(|field| field.name == *name)));
    let room = ui.available_width();
    let widths = widths(ui, &columns, items, room - 16.0);
    match widths.filter(|_| !nested && !more) {
        Some(widths) => {
            header_ui(ui, around, &columns, &widths, room);
            for (place, item) in items.iter().take(MAX_TABLE_ROWS).enumerate() {
                ui.push_id(place, |ui| row_ui(ui, around, &columns, &widths, item));
            }
        }
        None => {
            for (place, item) in items.iter().take(MAX_TABLE_ROWS).enumerate() {
                ui.push_id(place, |ui| block(ui, theme, |ui| members_ui(ui, around, fields, item)));
                ui.add_space(4.0);
            }
        }
    }
    more_ui(ui, theme, items.len(), MAX_TABLE_ROWS);
}

/// Returns the column widths, or `None` when the columns would be too narrow.
fn widths(ui: &Ui, columns: &[&SchemaField], items: &[OrderedValue], room: f32) -> Option<Vec<f32>> {
    if columns.is_empty() {
        return None;
    }
    let gaps = COLUMN_GAP * (columns.len() - 1) as f32;
    let free = room - gaps;
    if free < MIN_COLUMN_WIDTH * columns.len() as f32 {
        return None;
    }
    let wish = |field: &SchemaField| {
        let texts = items.iter().take(20).filter_map(|item| item.get(&field.name)).map(in_line);
        let chip = if matches!(
            field.kind,
            SchemaFieldKind::Reference(_) | SchemaFieldKind::Choice(_) | SchemaFieldKind::List { .. }
        ) {
            40.0
        } else {
            0.0
        };
        let widest = texts
            .map(|text| text_width(ui, &text) * 1.15 + chip)
            .fold(text_width(ui, &field.label), f32::max);
        widest.clamp(MIN_COLUMN_WIDTH, MAX_COLUMN_WIDTH)
    };
    let wishes: Vec<f32> = columns.iter().map(|field| wish(field)).collect();
    let sum: f32 = wishes.iter().sum();
    let floor = MIN_COLUMN_WIDTH * columns.len() as f32;
    let widths = if sum <= free {
        // The last column takes the remaining width.
        let last = wishes.len() - 1;
        wishes
            .iter()
            .enumerate()
            .map(|(at, wish)| if at == last { wish + free - sum } else { *wish })
            .collect()
    } else {
        let kept = (free - floor) / (sum - floor);
        wishes.iter().map(|wish| MIN_COLUMN_WIDTH + (wish - MIN_COLUMN_WIDTH) * kept).collect()
    };
    Some(widths)
}

fn header_ui(
    ui: &mut Ui,
    around: &EntityValueContext<'_>,
    columns: &[&SchemaField],
    widths: &[f32],
    room: f32,
) {
    let (rect, _) = ui.allocate_exact_size(vec2(room, 22.0), egui::Sense::hover());
    let mut left = rect.left() + 8.0;
    for (field, width) in columns.iter().zip(widths) {
        let cell = Rect::from_min_size(pos2(left, rect.top()), vec2(*width, rect.height()));
        paint_line(ui, cell, Align2::LEFT_CENTER, &field.label, small_font(ui), around.view.theme.text_muted);
        left += width + COLUMN_GAP;
    }
    let stroke = Stroke::new(1.0, around.view.theme.border_strong);
    ui.painter().hline(rect.x_range(), rect.bottom(), stroke);
}

fn row_ui(
    ui: &mut Ui,
    around: &EntityValueContext<'_>,
    columns: &[&SchemaField],
    widths: &[f32],
    item: &OrderedValue,
) {
    let (room, top) = (ui.available_width(), ui.cursor().top());
    let mut left = ui.cursor().left() + 8.0;
    let mut bottom = top + 26.0;
    for (field, width) in columns.iter().zip(widths) {
        let cell =
            Rect::from_min_size(pos2(left, top + 5.0 + drop_of(&field.kind)), vec2(*width, f32::INFINITY));
        let mut child = ui.new_child(UiBuilder::new().max_rect(cell).id_salt(&field.name));
        if let Some(value) = item.get(&field.name) {
            value_ui(&mut child, around, &field.kind, value);
        }
        bottom = bottom.max(child.min_rect().bottom() + 5.0);
        left += width + COLUMN_GAP;
    }
    let rect = Rect::from_min_max(pos2(ui.cursor().left(), top), pos2(ui.cursor().left() + room, bottom));
    ui.advance_cursor_after_rect(rect);
    ui.painter().hline(rect.x_range(), rect.bottom(), Stroke::new(1.0, around.view.theme.border));
}
