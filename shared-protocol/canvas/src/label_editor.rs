//! Inline editing of a label, or of a note's text on several lines.

use crate::{
    BoardScene, Camera, CanvasEvent,
    camera::rect_of,
    draw::{node_layout, note},
    index::{BoardIndex, DrawnNodeKind},
    theme::size,
};
use egui::{FontId, Id, Key, Margin, Modifiers, Rect, TextEdit, Ui, vec2};
use shared_protocol::{Command, NodeId, NodeRef, PropKey, PropValue, limits::MAX_LABEL_CHARS};
use std::collections::BTreeMap;

pub(crate) struct LabelEditor {
    node: NodeId,
    text: String,
    before: String,
    /// Whether the text of a note is edited, not a label.
    is_note: bool,
    /// Whether the field has received the keyboard focus.
    focused: bool,
}

pub(crate) enum LabelEditOutcome {
    Active,
    Finished(Option<Box<CanvasEvent>>),
}

impl LabelEditor {
    pub(crate) fn start(scene: &BoardScene<'_>, index: &BoardIndex, node: NodeId) -> Option<Self> {
        let slot = index.slot(node)?;
        let found = scene.snapshot.node(node)?;
        let is_note = slot.kind == DrawnNodeKind::Note
            && scene.snapshot.type_of(found).is_some_and(|def| def.prop("text").is_some());
        let text = if is_note {
            let face = note::face(scene.snapshot, found);
            if face.is_empty { String::new() } else { face.text.to_owned() }
        } else {
            found.label.clone()
        };
        Some(Self { node, before: text.clone(), text, is_note, focused: false })
    }

    pub(crate) fn node(&self) -> NodeId {
        self.node
    }

    fn field(&self, index: &BoardIndex, camera: &Camera) -> Option<Rect> {
        let slot = index.slot(self.node)?;
        let board = match slot.kind {
            DrawnNodeKind::Note => rect_of(slot.area).shrink(4.0),
            DrawnNodeKind::Card => node_layout::card_face(slot.area).label,
            DrawnNodeKind::Container => node_layout::header(slot.area).text,
        };
        let rect = Rect::from_min_max(camera.to_screen(board.min), camera.to_screen(board.max));
        // The field keeps a usable size when the label is too small.
        let least = if self.is_note { vec2(160.0, 64.0) } else { vec2(120.0, 24.0) };
        let size = rect.size().max(least);
        Some(Rect::from_min_size(egui::pos2(rect.left(), rect.center().y - size.y / 2.0), size))
    }

    pub(crate) fn show(
        &mut self,
        ui: &mut Ui,
        scene: &BoardScene<'_>,
        index: &BoardIndex,
        camera: &Camera,
    ) -> LabelEditOutcome {
        let Some(rect) = self.field(index, camera) else { return LabelEditOutcome::Finished(None) };
        let escaped = ui.input_mut(|input| input.consume_key(Modifiers::NONE, Key::Escape));
        if escaped {
            return LabelEditOutcome::Finished(None);
        }
        let sent = self.is_note && ui.input_mut(|input| input.consume_key(Modifiers::COMMAND, Key::Enter));
        let id = Id::unique("canvas rename").with(self.node.bits());
        let base = if self.is_note { size::NOTE_TEXT } else { size::LABEL };
        let font = FontId::proportional((base * camera.zoom()).clamp(12.0, 40.0));
        let field = if self.is_note {
            TextEdit::multiline(&mut self.text)
        } else {
            TextEdit::singleline(&mut self.text)
        };
        let field = field
            .id(id)
            .font(font)
            .margin(Margin::symmetric(4, 2))
            .desired_width(rect.width())
            .char_limit(if self.is_note { 4_000 } else { MAX_LABEL_CHARS })
            .text_color(scene.theme.text);
        let name = if self.is_note { "Note text" } else { "Label" };
        let response = ui.put(rect, field).accessible_name(name);
        if !self.focused {
            self.focused = true;
            response.request_focus();
            self.select_all(ui, id);
            return LabelEditOutcome::Active;
        }
        if sent || response.lost_focus() || !response.has_focus() {
            return LabelEditOutcome::Finished(self.command().map(Box::new));
        }
        LabelEditOutcome::Active
    }

    fn select_all(&self, ui: &Ui, id: Id) {
        use egui::text::{CCursor, CCursorRange};
        let mut state = egui::text_edit::TextEditState::load(ui.ctx(), id).unwrap_or_default();
        let all = CCursorRange::two(CCursor::new(0), CCursor::new(self.text.chars().count()));
        state.cursor.set_char_range(Some(all));
        state.store(ui.ctx(), id);
    }

    /// Returns the command for the edited text, or `None` when it did not change.
    fn command(&self) -> Option<CanvasEvent> {
        let text = if self.is_note { self.text.trim_end() } else { self.text.trim() };
        if text == self.before || (text.is_empty() && !self.is_note) {
            return None;
        }
        let (mut label, mut set, mut unset) = (None, BTreeMap::new(), Vec::new());
        match (self.is_note, PropKey::parse("text").ok()) {
            (true, Some(key)) if text.is_empty() => unset.push(key),
            (true, Some(key)) => drop(set.insert(key, PropValue::text(text))),
            _ => label = Some(text.to_owned()),
        }
        let node = NodeRef::Id(self.node);
        let references = BTreeMap::new();
        Some(CanvasEvent::Run(Command::UpdateNode { node, name: None, label, set, unset, references }))
    }
}
