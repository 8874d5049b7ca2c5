//! Handles input: hovering, pressing and typing in interact mode, and picking an instance in inspect mode.

use super::{PreviewRuntimeSession, hit};
use crate::scene::{
    ControlValue, ElementControl, ElementControlKind, ElementKey, MAX_ENTERED_VALUES, OpenList, TextCaret,
    list_height,
};
use components::{MAX_TEXT, invisible};
use egui::{Pos2, pos2};
use serde_json::Value;
use shared_protocol::preview_wire::{
    FromPreview, MAX_PREVIEW_ID_CHARS, MAX_PREVIEW_TEXT_CHARS, PreviewEditKey, PreviewInputEvent, PreviewMode,
};
use std::{collections::BTreeSet, ops::Range};

/// The gap between a select and its list.
const LIST_GAP: f32 = 4.0;
const MAX_FIELD_CHARS: usize = 2_000;

impl PreviewRuntimeSession {
    pub(super) fn input(&mut self, event: PreviewInputEvent) {
        match (self.mode, event) {
            (_, PreviewInputEvent::Scroll { dy }) => self.scroll(dy),
            (PreviewMode::Inspect, PreviewInputEvent::Move { x, y }) => self.inspect_hover(point(x, y)),
            (PreviewMode::Inspect, PreviewInputEvent::Leave) => self.inspect_hover(None),
            (PreviewMode::Inspect, PreviewInputEvent::Press { x, y }) => {
                let instance = point(x, y).and_then(|at| self.instance_at(at));
                self.outgoing.push(FromPreview::Picked { instance });
            }
            (PreviewMode::Inspect, _) => {}
            (PreviewMode::Interact, PreviewInputEvent::Move { x, y }) => self.hover(point(x, y)),
            (PreviewMode::Interact, PreviewInputEvent::Leave) => self.hover(None),
            (PreviewMode::Interact, PreviewInputEvent::Press { x, y }) => self.press(point(x, y)),
            (PreviewMode::Interact, PreviewInputEvent::Release { x, y }) => self.release(point(x, y)),
            (PreviewMode::Interact, PreviewInputEvent::Type { text }) => self.type_text(&text),
            (PreviewMode::Interact, PreviewInputEvent::Key { key }) => self.key(key),
        }
    }

    fn scroll(&mut self, dy: f32) {
        let Some(painter) = &self.painter else { return };
        let most = (self.last_frame.layout.height - painter.screen().height as f32).max(0.0);
        let dy = if dy.is_finite() { dy } else { 0.0 };
        let scroll = (self.interaction.scroll + dy).clamp(0.0, most);
        if scroll != self.interaction.scroll {
            self.interaction.scroll = scroll;
            self.dirty = true;
        }
    }

    fn instance_at(&self, at: Pos2) -> Option<String> {
        let found = hit::instance_at(&self.last_frame.tree, &self.last_frame.layout, at)?;
        let placed = self.last_frame.tree.instances.get(found)?;
        Some(placed.id.chars().take(MAX_PREVIEW_ID_CHARS).collect())
    }

    fn inspect_hover(&mut self, at: Option<Pos2>) {
        let instance = at.and_then(|at| self.instance_at(at));
        if self.reported.hovered != instance {
            self.reported.hovered.clone_from(&instance);
            self.outgoing.push(FromPreview::Hovered { instance });
        }
    }

    fn hover(&mut self, at: Option<Pos2>) {
        let hovered: BTreeSet<ElementKey> = at
            .map(|at| hit::controls_at(&self.last_frame.tree, &self.last_frame.layout, at))
            .unwrap_or_default()
            .iter()
            .map(|control| control.key)
            .collect();
        if self.interaction.hovered != hovered {
            self.interaction.hovered = hovered;
            self.dirty = true;
        }
    }

    fn control_at(&self, at: Option<Pos2>) -> Option<ElementControl> {
        let found = hit::controls_at(&self.last_frame.tree, &self.last_frame.layout, at?);
        found.last().filter(|control| !control.disabled).map(|control| (*control).clone())
    }

    fn press(&mut self, at: Option<Pos2>) {
        self.hover(at);
        let control = self.control_at(at);
        // Any press closes an open list; a press on a choice closes it on release, after the selection.
        let is_choice =
            control.as_ref().is_some_and(|control| matches!(control.kind, ElementControlKind::Choice { .. }));
        self.closed = self.interaction.open.map(|open| open.select);
        if !is_choice {
            self.interaction.open = None;
        }
        self.interaction.pressed = control.as_ref().map(|control| control.key);
        self.interaction.caret = None;
        if is_choice {
            self.dirty = true;
            return;
        }
        self.interaction.focused = control
            .filter(|control| !matches!(control.kind, ElementControlKind::Plain))
            .map(|control| control.key);
        self.dirty = true;
    }

    /// Activates a control when the pointer is released where it was pressed.
    fn release(&mut self, at: Option<Pos2>) {
        let pressed = self.interaction.pressed.take();
        if pressed.is_none() {
            return;
        }
        self.dirty = true;
        if let Some(control) = self.control_at(at).filter(|control| Some(control.key) == pressed) {
            self.activate(&control);
            if matches!(control.kind, ElementControlKind::Choice { .. }) {
                self.interaction.open = None;
            }
        }
    }

    fn activate(&mut self, control: &ElementControl) {
        match &control.kind {
            ElementControlKind::Button { action } => self.run_control_action(control, action, Value::Null),
            ElementControlKind::Checkbox { ticked } => {
                let ticked = !ticked;
                self.set_control_value(control.key, ControlValue::Ticked(ticked));
                self.run_control_action(control, "change", Value::Bool(ticked));
            }
            ElementControlKind::Select { .. } => self.open_list(control),
            ElementControlKind::Choice { of, value } => {
                self.set_control_value(*of, ControlValue::Text(value.to_string()));
                self.run_control_action(control, "change", Value::from(&**value));
            }
            ElementControlKind::Input { .. } | ElementControlKind::Plain => {}
        }
    }

    /// Opens the list below the select, with the same width. Pressing the select again closes it.
    fn open_list(&mut self, control: &ElementControl) {
        if self.closed == Some(control.key) {
            return;
        }
        let elements = self.last_frame.tree.elements.iter();
        let found = elements
            .zip(&self.last_frame.layout.rects)
            .find(|(element, _)| element.control.as_ref().is_some_and(|other| other.key == control.key));
        let Some((_, rect)) = found else { return };
        let ElementControlKind::Select { options, .. } = &control.kind else { return };
        let height = list_height(options.len());
        let room = self.painter.as_ref().map_or(0.0, |painter| painter.screen().height as f32);
        // Opens above the select when there is no room below.
        let is_below = rect.bottom() + LIST_GAP + height <= room || rect.top() < LIST_GAP + height;
        let y = if is_below { rect.bottom() + LIST_GAP } else { rect.top() - LIST_GAP - height };
        let at = [rect.left(), y + self.interaction.scroll];
        self.interaction.open = Some(OpenList { select: control.key, at, width: rect.width() });
        self.dirty = true;
    }

    fn set_control_value(&mut self, key: ElementKey, typed: ControlValue) {
        if self.interaction.typed.len() < MAX_ENTERED_VALUES || self.interaction.typed.contains_key(&key) {
            self.interaction.typed.insert(key, typed);
            self.dirty = true;
        }
    }

    fn run_control_action(&mut self, control: &ElementControl, action: &str, value: Value) {
        let Some(placed) = self.last_frame.tree.instances.get(control.instance) else { return };
        let cut = |text: &str, most: usize| text.chars().take(most).collect::<String>();
        let value = match value {
            Value::String(text) => Value::String(cut(&text, MAX_PREVIEW_TEXT_CHARS)),
            other => other,
        };
        let (instance, action) = (cut(&placed.id, MAX_PREVIEW_ID_CHARS), cut(action, MAX_PREVIEW_ID_CHARS));
        self.outgoing.push(FromPreview::Action { instance, action, value });
    }

    fn focused(&self) -> Option<ElementControl> {
        let focused = self.interaction.focused?;
        let mut controls =
            self.last_frame.tree.elements.iter().filter_map(|element| element.control.as_ref());
        controls.find(|control| control.key == focused && !control.disabled).cloned()
    }

    /// Returns the focused field, its current text and the caret.
    fn field(&self) -> Option<(ElementControl, Vec<char>, TextCaret)> {
        let control = self.focused()?;
        let ElementControlKind::Input { value } = &control.kind else { return None };
        // Includes text typed since the last frame.
        let now: Vec<char> = match self.interaction.typed.get(&control.key) {
            Some(ControlValue::Text(text)) => text.chars().collect(),
            _ => value.chars().collect(),
        };
        let caret = self.interaction.caret.unwrap_or_else(|| TextCaret::new(now.len())).clamp(now.len());
        Some((control, now, caret))
    }

    fn type_text(&mut self, text: &str) {
        let Some((control, now, caret)) = self.field() else { return };
        let room = (MAX_FIELD_CHARS + caret.range().len()).saturating_sub(now.len());
        let typed = text.chars().take(MAX_TEXT).filter(|c| !c.is_control() && !invisible(*c)).take(room);
        let typed: Vec<char> = typed.collect();
        if !typed.is_empty() {
            self.replace(&control, now, caret.range(), &typed);
        }
    }

    fn replace(&mut self, control: &ElementControl, mut now: Vec<char>, range: Range<usize>, with: &[char]) {
        self.interaction.caret = Some(TextCaret::new(range.start + with.len()));
        now.splice(range, with.iter().copied());
        let text: String = now.into_iter().collect();
        self.set_control_value(control.key, ControlValue::Text(text.clone()));
        self.run_control_action(control, "change", Value::String(text));
    }

    fn key(&mut self, key: PreviewEditKey) {
        match key {
            PreviewEditKey::Escape if self.interaction.open.is_some() => {
                self.interaction.open = None;
                self.dirty = true;
            }
            PreviewEditKey::Escape => {
                (self.interaction.focused, self.interaction.caret) = (None, None);
                self.dirty = true;
            }
            PreviewEditKey::Tab | PreviewEditKey::BackTab => self.move_focus(key == PreviewEditKey::BackTab),
            PreviewEditKey::Enter => {
                if let Some(control) = self.focused() {
                    match control.kind {
                        ElementControlKind::Input { .. } => {
                            self.run_control_action(&control, "submit", Value::Null)
                        }
                        ElementControlKind::Select { .. } if self.interaction.open.take().is_some() => {
                            self.dirty = true;
                        }
                        _ => {
                            self.closed = None;
                            self.activate(&control);
                        }
                    }
                }
            }
            PreviewEditKey::Up | PreviewEditKey::Down => self.choose_beside(key == PreviewEditKey::Up),
            PreviewEditKey::Backspace | PreviewEditKey::Delete => {
                let Some((control, now, caret)) = self.field() else { return };
                let range = match (caret.range(), key) {
                    (selected, _) if !selected.is_empty() => selected,
                    (at, PreviewEditKey::Backspace) => at.start.saturating_sub(1)..at.start,
                    (at, _) => at.start..(at.start + 1).min(now.len()),
                };
                if !range.is_empty() {
                    self.replace(&control, now, range, &[]);
                }
            }
            _ => self.move_caret(key),
        }
    }

    fn move_caret(&mut self, key: PreviewEditKey) {
        let Some((_, now, caret)) = self.field() else { return };
        let selected = caret.range();
        let at = match key {
            PreviewEditKey::Left if !selected.is_empty() => selected.start,
            PreviewEditKey::Right if !selected.is_empty() => selected.end,
            PreviewEditKey::Left | PreviewEditKey::SelectLeft => caret.at.saturating_sub(1),
            PreviewEditKey::Right | PreviewEditKey::SelectRight => (caret.at + 1).min(now.len()),
            PreviewEditKey::Home | PreviewEditKey::SelectHome => 0,
            _ => now.len(),
        };
        let anchor = match key {
            PreviewEditKey::SelectLeft
            | PreviewEditKey::SelectRight
            | PreviewEditKey::SelectHome
            | PreviewEditKey::SelectEnd => caret.anchor,
            PreviewEditKey::SelectAll => 0,
            _ => at,
        };
        self.interaction.caret = Some(TextCaret { at, anchor });
        self.dirty = true;
    }

    /// Selects the next or previous option of a select, without wrapping.
    fn choose_beside(&mut self, before: bool) {
        let Some(control) = self.focused() else { return };
        let ElementControlKind::Select { value, options } = &control.kind else { return };
        let value = match self.interaction.typed.get(&control.key) {
            Some(ControlValue::Text(text)) => text.as_str(),
            _ => value,
        };
        let present = options.iter().position(|option| **option == *value);
        let next = match (present, before) {
            (None, _) => 0,
            (Some(present), true) => present.saturating_sub(1),
            (Some(present), false) => (present + 1).min(options.len().saturating_sub(1)),
        };
        if let Some(option) = options.get(next).filter(|_| present != Some(next)).cloned() {
            self.set_control_value(control.key, ControlValue::Text(option.to_string()));
            self.run_control_action(&control, "change", Value::from(&*option));
        }
    }

    /// Moves the focus in drawing order, with wrapping.
    fn move_focus(&mut self, back: bool) {
        let keys: Vec<ElementKey> = self
            .last_frame
            .tree
            .elements
            .iter()
            .filter_map(|element| element.control.as_ref())
            .filter(|control| {
                let is_passed =
                    matches!(control.kind, ElementControlKind::Plain | ElementControlKind::Choice { .. });
                !control.disabled && !is_passed
            })
            .map(|control| control.key)
            .collect();
        let present = keys.iter().position(|key| Some(*key) == self.interaction.focused);
        let next = match (present, back) {
            (None, false) => 0,
            (None, true) => keys.len().saturating_sub(1),
            (Some(present), false) => (present + 1) % keys.len(),
            (Some(present), true) => (present + keys.len() - 1) % keys.len(),
        };
        self.interaction.focused = keys.get(next).copied();
        (self.interaction.caret, self.interaction.open) = (None, None);
        self.dirty = true;
    }
}

/// Returns `None` when a coordinate is not finite.
fn point(x: f32, y: f32) -> Option<Pos2> {
    (x.is_finite() && y.is_finite()).then_some(pos2(x, y))
}
