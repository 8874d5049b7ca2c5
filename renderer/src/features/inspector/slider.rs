//! Sliders for numbers with a minimum and a maximum. The preview shows the value while it is dragged.

use super::{InspectorFeature, controls::PropField, overrides::instance_of};
use crate::{features::inspector::InspectorContext, view::WindowAction};
use egui::{Slider, Ui};
use shared_protocol::{
    NodeId, PropKey, PropValue,
    preview_sessions::{PreviewGesture, TransientPropValue},
};

impl InspectorFeature {
    pub(super) fn slider_ui(&mut self, ui: &mut Ui, field: PropField<'_>) {
        let PropField { cx, subjects, prop } = field;
        let (Some(min), Some(max)) = (prop.min, prop.max) else { return };
        if min.partial_cmp(&max) != Some(std::cmp::Ordering::Less) {
            return;
        }
        let stored = field.effective().and_then(PropValue::as_number).unwrap_or(min);
        let slid = self.dragged_value.take_if(|(key, _)| *key == prop.key).map(|(_, number)| number);
        let mut number = slid.unwrap_or(stored);
        let step = prop.step.unwrap_or(if prop.whole { 1.0 } else { 0.0 });
        ui.spacing_mut().slider_width = (ui.available_width() - 4.0).max(40.0);
        let slider = Slider::new(&mut number, min..=max).show_value(false).step_by(step);
        let response = ui.add(slider).accessible_name(format!("{} slider", prop.label));
        let Some(value) = PropValue::number(number) else { return };
        if response.dragged() {
            // A dragged value is shown in the preview; releasing it saves it.
            self.dragged_value = Some((prop.key.clone(), number));
            if slid != Some(number) {
                self.try_out(cx, subjects.ids, &prop.key, value);
            }
        } else if number != stored && (slid.is_some() || response.changed()) {
            self.editing = None;
            self.reset_preview(cx);
            field.set(Some(value));
        }
    }

    /// Shows a value in the current preview without saving it.
    pub(super) fn try_out(
        &mut self,
        cx: &InspectorContext<'_>,
        nodes: &[NodeId],
        key: &PropKey,
        value: PropValue,
    ) {
        let Some(session) = cx.view.visible_preview.filter(|_| cx.view.is_previewing) else { return };
        let tried = nodes.iter().map(|node| TransientPropValue {
            instance: instance_of(cx.view, *node).to_string(),
            path: format!("/{key}"),
            value: value.clone(),
        });
        self.preview_session = Some(session.id);
        cx.act(WindowAction::Gesture(session.id, PreviewGesture::Try(tried.collect())));
    }

    /// Resets the preview to the saved values.
    pub(super) fn reset_preview(&mut self, cx: &InspectorContext<'_>) {
        if let Some(session) = self.preview_session.take() {
            cx.act(WindowAction::Gesture(session, PreviewGesture::Try(Vec::new())));
        }
    }
}
