//! A searchable list of types for a new entity.

use super::{SpecAction, entity_look::type_look, history::SpecPage};
use crate::{
    picker::{PickerEntry, PickerMark, SearchPicker, rank},
    view::{FrameView, WindowAction},
};
use egui::{Align2, Context, Frame, Id, Key, Modifiers, Order, vec2};
use shared_protocol::bundle::{BundleView, EntityTypeView};

const WIDTH: f32 = 360.0;

pub(crate) struct NewEntityPicker {
    bundle: String,
    picker: SearchPicker,
    fresh: bool,
}

impl NewEntityPicker {
    pub(crate) fn new(bundle: &BundleView) -> Self {
        Self { bundle: bundle.id.clone(), picker: SearchPicker::default(), fresh: true }
    }

    /// Returns `false` when the list closes.
    pub(crate) fn show_ui(
        &mut self,
        context: &Context,
        view: &FrameView<'_>,
        actions: &mut Vec<WindowAction>,
    ) -> bool {
        if context.input_mut(|input| input.consume_key(Modifiers::NONE, Key::Escape)) {
            return false;
        }
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
                mark: PickerMark::Icon(type_look(&kind.name).0),
                enabled: true,
            })
            .collect();
        let area = egui::Area::new(Id::unique("new entity"))
            .order(Order::Foreground)
            .anchor(Align2::CENTER_TOP, vec2(0.0, 96.0))
            .show(context, |ui| {
                Frame::popup(ui.style())
                    .show(ui, |ui| {
                        ui.set_width(WIDTH);
                        let hint = format!("Type of the new entity in {}", bundle.title);
                        self.picker.show_ui(ui, view.theme, ("Type of the new entity", &hint), &entries)
                    })
                    .inner
            });
        if let Some((_, kind)) = area.inner.and_then(|place| found.get(place)) {
            let page = SpecPage::New { bundle: bundle.id.clone(), entity_type: kind.name.clone() };
            actions.push(WindowAction::Spec(SpecAction::Open(page)));
            return false;
        }
        // The click that opened the list may still be active in this frame.
        let fresh = std::mem::replace(&mut self.fresh, false);
        fresh || !area.response.clicked_elsewhere()
    }
}
