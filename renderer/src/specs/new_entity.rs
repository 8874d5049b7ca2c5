//! A searchable list of types for a new entity.

use super::{SpecAction, entity_look::type_look, history::SpecPage};
use crate::{
    picker::{PickerEntry, PickerIcon, PickerPopup, SearchPicker, rank},
    view::FrameView,
    widgets::PopupPosition,
};
use egui::Context;
use shared_protocol::bundle::{BundleView, EntityTypeView};
use std::ops::ControlFlow;

const WIDTH: f32 = 360.0;

pub(crate) struct NewEntityPicker {
    bundle: String,
    picker: SearchPicker,
}

impl NewEntityPicker {
    pub(crate) fn new(bundle: &BundleView) -> Self {
        Self { bundle: bundle.id.clone(), picker: SearchPicker::default() }
    }

    /// Returns `false` when the list closes.
    pub(crate) fn show_ui(&mut self, context: &Context, view: &FrameView<'_>) -> bool {
        let Some(bundle) = view.bundles.bundles.iter().find(|bundle| bundle.id == self.bundle) else {
            return false;
        };
        let mut found: Vec<(u32, &EntityTypeView)> = bundle
            .types
            .iter()
            .filter_map(|kind| Some((rank(&self.picker.query, &kind.name, &kind.title)?, kind)))
            .collect();
        found.sort_by_key(|(rank, _)| *rank);
        let entries: Vec<PickerEntry<'_>> = found
            .iter()
            .map(|(_, kind)| PickerEntry {
                title: super::schema::humanise(&kind.name),
                note: kind.category.as_deref().map(super::schema::humanise).unwrap_or_default(),
                mark: PickerIcon::Icon(type_look(&kind.name).0),
            })
            .collect();
        let popup = PickerPopup {
            id: "new entity",
            place: PopupPosition::Top(96.0),
            width: WIDTH,
            name: "Type of the new entity",
            hint: &format!("Type of the new entity in {}", bundle.title),
        };
        let ControlFlow::Break(chosen) = self.picker.popup_ui(context, view.theme, popup, &entries, |_| {})
        else {
            return true;
        };
        if let Some((_, kind)) = chosen.and_then(|place| found.get(place)) {
            let page = SpecPage::New { bundle: bundle.id.clone(), entity_type: kind.name.clone() };
            view.act(SpecAction::Open(page));
        }
        false
    }
}
