//! The open list of a select, drawn last so that nothing covers it.

use super::{
    ElementContent, ElementControl, ElementControlKind, ElementFlow, ElementKey, OpenList,
    build::{InheritedStyle, SceneBuilder},
    controls,
};
use components::Style;
use std::sync::Arc;

/// The maximum number of visible choices, around the selected one. The arrow keys reach the others.
const MAX_VISIBLE_CHOICES: usize = 12;

/// The height of a list with this many options.
pub(crate) fn list_height(options: usize) -> f32 {
    options.min(MAX_VISIBLE_CHOICES) as f32 * controls::CHOICE_HEIGHT + controls::LIST_EDGES
}

impl SceneBuilder<'_> {
    /// Builds the list of the open select, if it is on the page.
    pub(super) fn open_list(&mut self) -> Option<usize> {
        let open: OpenList = self.interaction.open?;
        let select = self.tree.elements.iter().find_map(|element| {
            element.control.as_ref().filter(|control| control.key == open.select && !control.disabled)
        });
        let ElementControl { kind: ElementControlKind::Select { value, options }, instance, .. } =
            select?.clone()
        else {
            return None;
        };
        let chosen = options.iter().position(|option| *option == value);
        let first = chosen.unwrap_or(0).saturating_sub(MAX_VISIBLE_CHOICES / 2);
        let first = first.min(options.len().saturating_sub(MAX_VISIBLE_CHOICES));
        let mut rows = Vec::new();
        for (index, option) in options.iter().enumerate().skip(first).take(MAX_VISIBLE_CHOICES) {
            rows.extend(self.build_choice(open.select, index, option, chosen == Some(index), instance));
        }
        let list = self.element(
            ElementContent::Box(ElementFlow::Column),
            controls::list(open.width),
            InheritedStyle::default(),
        )?;
        let element = self.tree.elements.get_mut(list)?;
        (element.children, element.float) = (rows, Some(open.at));
        Some(list)
    }

    fn build_choice(
        &mut self,
        select: ElementKey,
        index: usize,
        option: &Arc<str>,
        is_chosen: bool,
        instance: usize,
    ) -> Option<usize> {
        let key = select.step(index);
        let style = controls::choice(is_chosen, self.interaction.hovered.contains(&key));
        let look = InheritedStyle::default();
        let one_line = Style { lines: Some(components::Count(1)), ..Style::default() };
        let text = self.element(ElementContent::Text(Arc::clone(option)), one_line, look);
        let row = self.element(ElementContent::Box(ElementFlow::Row), style, look)?;
        let element = self.tree.elements.get_mut(row)?;
        element.children = text.into_iter().collect();
        let kind = ElementControlKind::Choice { of: select, value: Arc::clone(option) };
        element.control = Some(ElementControl { key, disabled: false, kind, instance });
        Some(row)
    }
}
