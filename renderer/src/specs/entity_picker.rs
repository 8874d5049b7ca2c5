//! A picker for references: searches the entities of the allowed types.

use super::{
    answers::EntityList,
    entity_look::{ChipSymbol, EntityChip, chip_ui, type_look},
};
use crate::{
    picker::{PickerEntry, PickerIcon, SearchPicker},
    widgets::close_button_ui,
};
use canvas::theme::WorkbenchTheme;
use egui::{Id, Popup, PopupCloseBehavior, Response, Sense, Ui};

/// The maximum number of listed entities; a longer query narrows the list.
const MAX_CANDIDATES: usize = 60;
const WIDTH: f32 = 380.0;

#[derive(Debug, Default)]
pub(super) struct EntityPicker {
    open: Option<(Id, SearchPicker)>,
}

impl EntityPicker {
    /// Shows a chosen entity with a remove button. Returns `true` when it is removed.
    pub(super) fn selected_entity_ui(
        &self,
        ui: &mut Ui,
        theme: &WorkbenchTheme,
        list: Option<&EntityList>,
        id: &str,
        of: &str,
    ) -> bool {
        let known = list.and_then(|list| list.entities.iter().find(|summary| summary.entity.id == id));
        let missing = list.is_some() && known.is_none();
        let title =
            known.map_or(id, |summary| if summary.title.is_empty() { id } else { summary.title.as_str() });
        let (icon, accent) = type_look(known.map_or("", |summary| summary.entity.entity_type.as_str()));
        let sign = if missing { ChipSymbol::Trouble } else { ChipSymbol::Icon(icon, theme.accent(accent)) };
        let name = if missing { format!("Missing {id}") } else { id.to_owned() };
        let edge = missing.then_some(theme.danger);
        ui.horizontal(|ui| {
            ui.spacing_mut().item_spacing.x = 0.0;
            let chip = EntityChip { text: title, name: &name, sign, background: theme.tile(accent), edge };
            chip_ui(ui, theme, &chip, Sense::hover()).on_hover_text(id);
            close_button_ui(ui, theme, &format!("Remove {id} from {of}")).clicked()
        })
        .inner
    }

    /// Shows the list below a button. Returns the chosen id.
    pub(super) fn popup_ui(
        &mut self,
        button: &Response,
        id: Id,
        theme: &WorkbenchTheme,
        list: Option<&EntityList>,
        types: &[String],
        taken: &[String],
    ) -> Option<String> {
        if button.clicked() {
            self.open = Some((id, SearchPicker::default()));
        }
        let picker = self.open.as_mut().filter(|(open, _)| *open == id).map(|(_, picker)| picker)?;
        let mut chosen = None;
        let popup =
            Popup::menu(button).id(id).close_behavior(PopupCloseBehavior::CloseOnClickOutside).width(WIDTH);
        popup.show(|ui| {
            ui.set_width(WIDTH);
            let found = candidates(list, types, taken, &picker.query);
            let entries: Vec<PickerEntry<'_>> = found
                .iter()
                .map(|(id, title, kind)| PickerEntry {
                    title: if title.is_empty() { (*id).to_owned() } else { (*title).to_owned() },
                    note: (*id).to_owned(),
                    mark: PickerIcon::Icon(type_look(kind).0),
                })
                .collect();
            let hint = if types.is_empty() {
                "Search entities".to_owned()
            } else {
                format!("Search {}", types.join(", "))
            };
            if let Some(place) = picker.show_ui(ui, theme, "Search entities", &hint, &entries) {
                chosen = found.get(place).map(|(id, ..)| (*id).to_owned());
                ui.close();
            }
        });
        if chosen.is_some() {
            Popup::close_id(&button.ctx, id);
            self.open = None;
        }
        chosen
    }
}

/// Returns id, title and type of the matching entities, in bundle order.
fn candidates<'a>(
    list: Option<&'a EntityList>,
    types: &[String],
    taken: &[String],
    query: &str,
) -> Vec<(&'a str, &'a str, &'a str)> {
    let Some(list) = list else { return Vec::new() };
    list.matching(query)
        .map(|place| &list.entities[place])
        .filter(|summary| types.is_empty() || types.contains(&summary.entity.entity_type))
        .filter(|summary| !taken.contains(&summary.entity.id))
        .take(MAX_CANDIDATES)
        .map(|summary| {
            (summary.entity.id.as_str(), summary.title.as_str(), summary.entity.entity_type.as_str())
        })
        .collect()
}
