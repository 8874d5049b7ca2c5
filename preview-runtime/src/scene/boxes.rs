//! Builds nodes with their own box: the style in the current state and the content of controls.

use super::{
    ControlValue, ElementContent, ElementControl, ElementControlKind, ElementFlow, ElementKey, PictureFit,
    SceneElement, TextCaret,
    build::{ComponentBuildContext, InheritedStyle, SceneBuilder},
    controls,
};
use crate::look;
use components::{
    Align, BoundValue, Colour, ColourToken, ExpressionError, Justify, MAX_TEXT, RadiusStep, Style,
    StyleInsets, StyleRadius, StyleSheet, TypeStep, Value, ViewNode, ViewNodeKind, Weight, visible_text,
};
use std::sync::Arc;

impl SceneBuilder<'_> {
    /// Builds a node with its own box.
    pub(super) fn box_of(
        &mut self,
        node: &ViewNode,
        frame: &ComponentBuildContext<'_>,
        inherited: InheritedStyle,
        key: ElementKey,
    ) -> Result<Vec<usize>, ExpressionError> {
        let control = self.control(node, frame, key)?;
        let own = node.style.resolve(&frame.scope)?;
        let mut style = match controls::base(&node.kind) {
            Some(mut base) => {
                base.overlay(&own);
                base
            }
            None => own,
        };
        let mut ring = false;
        if let Some(control) = &control {
            let mut over = |sheet: &Option<StyleSheet>, holds: bool| -> Result<bool, ExpressionError> {
                if let (Some(sheet), true) = (sheet, holds) {
                    style.overlay(&sheet.resolve(&frame.scope)?);
                }
                Ok(sheet.is_some() && holds)
            };
            let live = !control.disabled;
            let states = &node.states;
            over(&states.hover, live && self.interaction.hovered.contains(&key))?;
            let focused = live && self.interaction.focused == Some(key);
            ring = focused && !over(&states.focus, focused)?;
            over(&states.pressed, live && self.interaction.pressed == Some(key))?;
            let shown = over(&states.disabled, control.disabled)?;
            if control.disabled && !shown && !matches!(control.kind, ElementControlKind::Plain) {
                style.opacity = Some(components::Opacity(0.5));
            }
        }
        let inherited = InheritedStyle {
            colour: style.colour.unwrap_or(inherited.colour),
            text: style.text.unwrap_or(inherited.text),
            weight: style.weight.unwrap_or(inherited.weight),
        };
        let content = match &node.kind {
            ViewNodeKind::Text { text } => ElementContent::Text(format_value(&text.eval(&frame.scope)?)),
            ViewNodeKind::Icon { icon } => {
                let name = icon.eval(&frame.scope)?;
                let name = name.as_str().unwrap_or_default();
                if name.is_empty() {
                    return Ok(Vec::new());
                }
                ElementContent::Icon(
                    look::icon(name).ok_or_else(|| type_mismatch(icon, node, "the name of an icon"))?,
                )
            }
            ViewNodeKind::Image { source, fit } => {
                let fit = match fit.eval(&frame.scope)?.as_str() {
                    Some("contain") => PictureFit::Contain,
                    Some("fill") => PictureFit::Fill,
                    _ => PictureFit::Cover,
                };
                let path = format_value(&source.eval(&frame.scope)?);
                self.check_picture(&path, node, frame);
                ElementContent::Picture { path, fit }
            }
            ViewNodeKind::Box | ViewNodeKind::Column => ElementContent::Box(ElementFlow::Column),
            ViewNodeKind::Grid => ElementContent::Box(ElementFlow::Grid),
            ViewNodeKind::Stack => ElementContent::Box(ElementFlow::Stack),
            _ => ElementContent::Box(ElementFlow::Row),
        };
        let Some(index) = self.element(content, style, inherited) else {
            return Ok(Vec::new());
        };
        let children = match &control {
            Some(control)
                if !matches!(control.kind, ElementControlKind::Plain | ElementControlKind::Button { .. }) =>
            {
                self.inside_of(control, node, frame, inherited)?
            }
            _ => self.nodes(&node.children, frame, inherited, key),
        };
        if let Some(element) = self.tree.elements.get_mut(index) {
            element.children = children;
            element.control = control;
            element.ring = ring;
        }
        Ok(vec![index])
    }

    fn control(
        &self,
        node: &ViewNode,
        frame: &ComponentBuildContext<'_>,
        key: ElementKey,
    ) -> Result<Option<ElementControl>, ExpressionError> {
        let scope = &frame.scope;
        let flag = |bound: &Option<BoundValue>| -> Result<bool, ExpressionError> {
            bound.as_ref().map_or(Ok(false), |bound| bound.eval(scope).map(|value| value.is_true()))
        };
        let text = |bound: &Option<BoundValue>| -> Result<Arc<str>, ExpressionError> {
            bound.as_ref().map_or(Ok("".into()), |bound| bound.eval(scope).map(|value| format_value(&value)))
        };
        let typed = self.interaction.typed.get(&key);
        let (kind, disabled) = match &node.kind {
            ViewNodeKind::Button { disabled, action } => {
                let action = text(action)?;
                let action = if action.is_empty() { "press".into() } else { action };
                (ElementControlKind::Button { action }, flag(disabled)?)
            }
            ViewNodeKind::Input { value, disabled, .. } => {
                let value = match typed {
                    Some(ControlValue::Text(text)) => text.as_str().into(),
                    _ => text(value)?,
                };
                (ElementControlKind::Input { value }, flag(disabled)?)
            }
            ViewNodeKind::Checkbox { checked, disabled } => {
                let ticked = match typed {
                    Some(ControlValue::Ticked(ticked)) => *ticked,
                    _ => flag(checked)?,
                };
                (ElementControlKind::Checkbox { ticked }, flag(disabled)?)
            }
            ViewNodeKind::Select { value, options, disabled, .. } => {
                let list = options.eval(scope)?;
                let items = list.try_iter().map_err(|_| type_mismatch(options, node, "a list of texts"))?;
                let options =
                    items.take(controls::MAX_SELECT_OPTIONS).map(|item| format_value(&item)).collect();
                let value = match typed {
                    Some(ControlValue::Text(text)) => text.as_str().into(),
                    _ => text(value)?,
                };
                (ElementControlKind::Select { value, options }, flag(disabled)?)
            }
            _ if node.states.hover.is_some() || node.states.pressed.is_some() => {
                (ElementControlKind::Plain, false)
            }
            _ => return Ok(None),
        };
        Ok(Some(ElementControl { key, disabled, kind, instance: frame.instance }))
    }

    /// Builds the content of an input, a checkbox or a select.
    fn inside_of(
        &mut self,
        control: &ElementControl,
        node: &ViewNode,
        frame: &ComponentBuildContext<'_>,
        inherited: InheritedStyle,
    ) -> Result<Vec<usize>, ExpressionError> {
        let focused = self.interaction.focused == Some(control.key) && !control.disabled;
        let muted = InheritedStyle { colour: Colour::Token(ColourToken::Faint), ..inherited };
        let (placeholder, secret) = match &node.kind {
            ViewNodeKind::Input { placeholder, secret, .. } => (placeholder.as_ref(), secret.as_ref()),
            ViewNodeKind::Select { placeholder, .. } => (placeholder.as_ref(), None),
            _ => (None, None),
        };
        let placeholder = placeholder
            .map(|bound| bound.eval(&frame.scope).map(|value| format_value(&value)))
            .transpose()?;
        let secret = secret.map(|bound| bound.eval(&frame.scope).map(|value| value.is_true())).transpose()?;
        let mut inside = Vec::new();
        let one_line = Style { lines: Some(components::Count(1)), ..Style::default() };
        match &control.kind {
            ElementControlKind::Checkbox { ticked: true } => {
                if let Some(check) = look::icon("check") {
                    inside.extend(self.element(ElementContent::Icon(check), controls::tick(), inherited));
                }
            }
            ElementControlKind::Input { value } | ElementControlKind::Select { value, .. } => {
                let empty = value.is_empty();
                let text = match (empty, secret) {
                    (true, _) => placeholder.unwrap_or_default(),
                    (false, Some(true)) => "•".repeat(value.chars().count().min(200)).into(),
                    (false, _) => Arc::clone(value),
                };
                let is_typed_into = focused && matches!(control.kind, ElementControlKind::Input { .. });
                if is_typed_into {
                    inside.extend(self.input_text(&text, empty, inherited, muted));
                } else {
                    let look = if empty { muted } else { inherited };
                    inside.extend(self.element(ElementContent::Text(text), one_line, look));
                }
                if matches!(control.kind, ElementControlKind::Select { .. }) {
                    let grow = Style { grow: Some(components::Share(1.0)), ..Style::default() };
                    inside.extend(self.element(ElementContent::Box(ElementFlow::Row), grow, inherited));
                    if let Some(down) = look::icon("chevron-down") {
                        inside.extend(self.element(ElementContent::Icon(down), controls::chevron(), muted));
                    }
                }
            }
            _ => {}
        }
        Ok(inside)
    }

    /// Builds the text of a focused field with its caret and selection. An empty field shows the caret before the
    /// placeholder.
    fn input_text(
        &mut self,
        text: &str,
        empty: bool,
        look: InheritedStyle,
        muted: InheritedStyle,
    ) -> Vec<usize> {
        let chars: Vec<char> = text.chars().collect();
        let length = if empty { 0 } else { chars.len() };
        let caret = self.interaction.caret.unwrap_or_else(|| TextCaret::new(length)).clamp(length);
        let selected = caret.range();
        let one_line = Style { lines: Some(components::Count(1)), ..Style::default() };
        let marked = Style { background: Some(Colour::Token(ColourToken::PrimarySoft)), ..one_line.clone() };
        let mut inside = Vec::new();
        let pieces = [
            (0..selected.start, &one_line),
            (selected.clone(), &marked),
            (selected.end..chars.len(), &one_line),
        ];
        for (piece, (range, style)) in pieces.into_iter().enumerate() {
            // The caret is at the start or the end of the selection.
            if (piece == 1 && caret.at == selected.start) || (piece == 2 && caret.at != selected.start) {
                inside.extend(self.element(ElementContent::Box(ElementFlow::Row), controls::caret(), look));
            }
            let part: String = chars.get(range).unwrap_or_default().iter().collect();
            if !part.is_empty() {
                let look = if empty { muted } else { look };
                inside.extend(self.element(ElementContent::Text(part.into()), style.clone(), look));
            }
        }
        inside
    }

    pub(super) fn element(
        &mut self,
        content: ElementContent,
        style: Style,
        inherited: InheritedStyle,
    ) -> Option<usize> {
        // One element beyond the limit is harmless; the next node stops the build.
        if self.stopped {
            return None;
        }
        self.tree.elements.push(SceneElement {
            content,
            colour: style.colour.unwrap_or(inherited.colour),
            text: style.text.unwrap_or(inherited.text),
            weight: style.weight.unwrap_or(inherited.weight),
            style,
            children: Vec::new(),
            control: None,
            ring: false,
            float: None,
        });
        Some(self.tree.elements.len() - 1)
    }

    /// Builds the marker for a failed expression.
    pub(super) fn build_error_marker(&mut self) -> Option<usize> {
        let inherited = InheritedStyle {
            colour: Colour::Token(ColourToken::OnDangerSoft),
            text: TypeStep::Caption,
            weight: Weight::Regular,
        };
        let style = Style {
            background: Some(Colour::Token(ColourToken::DangerSoft)),
            padding: Some(StyleInsets { top: 2.0, right: 6.0, bottom: 2.0, left: 6.0 }),
            radius: Some(StyleRadius::Step(RadiusStep::Small)),
            align: Some(Align::Center),
            justify: Some(Justify::Center),
            ..Style::default()
        };
        let text = self.element(ElementContent::Text("error".into()), Style::default(), inherited)?;
        let mark = self.element(ElementContent::Box(ElementFlow::Row), style, inherited)?;
        self.tree.elements.get_mut(mark)?.children = vec![text];
        Some(mark)
    }
}

/// Formats a value as text.
fn format_value(value: &Value) -> Arc<str> {
    match value.as_str() {
        Some(text) => visible_text(text, MAX_TEXT).into(),
        None if value.is_none() || value.is_undefined() => "".into(),
        None => visible_text(&value.to_string(), MAX_TEXT).into(),
    }
}

pub(super) fn type_mismatch(bound: &BoundValue, node: &ViewNode, expected: &str) -> ExpressionError {
    let (expression, place) = match bound {
        BoundValue::Computed(expression) => (expression.text().to_owned(), expression.place()),
        BoundValue::Fixed(value) => (visible_text(&value.to_string(), 60), node.place),
    };
    ExpressionError { expression, reason: format!("is not {expected}"), place }
}
