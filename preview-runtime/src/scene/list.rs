//! The open list of a select, drawn last so that nothing covers it.

use super::{
    Content, Control, ControlKind, Flow, Key, Open,
    build::{Builder, Inherited},
    controls,
};
use components::Style;
use std::sync::Arc;

/// The maximum number of visible choices, around the selected one. The arrow keys reach the others.
const MOST_SEEN: usize = 12;

/// The height of a list with this many options.
pub(crate) fn list_height(options: usize) -> f32 {
    options.min(MOST_SEEN) as f32 * controls::CHOICE_HEIGHT + controls::LIST_EDGES
}

impl Builder<'_> {
    /// Builds the list of the open select, if it is on the page.
    pub(super) fn open_list(&mut self) -> Option<usize> {
        let open: Open = self.interaction.open?;
        let select = self.tree.elements.iter().find_map(|element| {
            element.control.as_ref().filter(|control| control.key == open.select && !control.disabled)
        });
        let Control { kind: ControlKind::Select { value, options }, instance, .. } = select?.clone() else {
            return None;
        };
        let chosen = options.iter().position(|option| *option == value);
        let first = chosen.unwrap_or(0).saturating_sub(MOST_SEEN / 2);
        let first = first.min(options.len().saturating_sub(MOST_SEEN));
        let mut rows = Vec::new();
        for (index, option) in options.iter().enumerate().skip(first).take(MOST_SEEN) {
            rows.extend(self.choice(open.select, index, option, chosen == Some(index), instance));
        }
        let list =
            self.element(Content::Box(Flow::Column), controls::list(open.width), Inherited::default())?;
        let element = self.tree.elements.get_mut(list)?;
        (element.children, element.float) = (rows, Some(open.at));
        Some(list)
    }

    fn choice(
        &mut self,
        select: Key,
        index: usize,
        option: &Arc<str>,
        is_chosen: bool,
        instance: usize,
    ) -> Option<usize> {
        let key = select.step(index);
        let style = controls::choice(is_chosen, self.interaction.hovered.contains(&key));
        let look = Inherited::default();
        let one_line = Style { lines: Some(components::Count(1)), ..Style::default() };
        let text = self.element(Content::Text(Arc::clone(option)), one_line, look);
        let row = self.element(Content::Box(Flow::Row), style, look)?;
        let element = self.tree.elements.get_mut(row)?;
        element.children = text.into_iter().collect();
        let kind = ControlKind::Choice { of: select, value: Arc::clone(option) };
        element.control = Some(Control { key, disabled: false, kind, instance });
        Some(row)
    }
}
