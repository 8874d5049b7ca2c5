//! Keyboard shortcuts. A key matches by its logical or its physical key, so that Shift+1 works on every layout.
//! Modifiers match exactly, so that Ctrl+Z does not match Ctrl+Shift+Z.

use egui::{Event, Key, Modifiers};

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct KeyChord {
    modifiers: Modifiers,
    key: Key,
}

impl KeyChord {
    pub(crate) const fn plain(key: Key) -> Self {
        Self { modifiers: Modifiers::NONE, key }
    }

    pub(crate) const fn ctrl(key: Key) -> Self {
        Self { modifiers: Modifiers::COMMAND, key }
    }

    pub(crate) const fn ctrl_shift(key: Key) -> Self {
        Self { modifiers: Modifiers::COMMAND.plus(Modifiers::SHIFT), key }
    }

    pub(crate) const fn shift(key: Key) -> Self {
        Self { modifiers: Modifiers::SHIFT, key }
    }

    pub(crate) const fn alt(key: Key) -> Self {
        Self { modifiers: Modifiers::ALT, key }
    }

    pub(crate) const fn alt_shift(key: Key) -> Self {
        Self { modifiers: Modifiers::ALT.plus(Modifiers::SHIFT), key }
    }

    fn matches(self, key: Key, physical: Option<Key>, modifiers: Modifiers) -> bool {
        // Characters such as `?` need Shift on some layouts only.
        let sign = matches!(self.key, Key::Questionmark | Key::Plus | Key::Equals | Key::Minus);
        let modifiers = if sign { Modifiers { shift: self.modifiers.shift, ..modifiers } } else { modifiers };
        let place = physical == Some(self.key) && !sign;
        (key == self.key || place) && modifiers.matches_exact(self.modifiers)
    }

    /// The text in menus and on the shortcut sheet.
    pub(crate) fn text(self) -> String {
        let mut text = String::new();
        let Modifiers { alt, ctrl, shift, mac_cmd, command } = self.modifiers;
        for (held, word) in [(ctrl || mac_cmd || command, "Ctrl+"), (alt, "Alt+"), (shift, "Shift+")] {
            if held {
                text.push_str(word);
            }
        }
        text.push_str(match self.key {
            Key::ArrowLeft => "Left",
            Key::ArrowRight => "Right",
            Key::ArrowUp => "Up",
            Key::ArrowDown => "Down",
            Key::Questionmark => "?",
            Key::Plus => "+",
            Key::Equals => "=",
            Key::Minus => "-",
            Key::Comma => ",",
            Key::Escape => "Esc",
            key => key.name(),
        });
        text
    }
}

/// Removes the presses of these keys from the input, so that no other handler sees them, and returns their number.
pub(crate) fn consume_presses(events: &mut Vec<Event>, keys: KeyChord) -> usize {
    let before = events.len();
    events.retain(|event| {
        !matches!(event, Event::Key { key, physical_key, pressed: true, modifiers, .. }
            if keys.matches(*key, *physical_key, *modifiers))
    });
    before - events.len()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn press(key: Key, physical_key: Option<Key>, modifiers: Modifiers) -> Vec<Event> {
        vec![Event::Key { key, physical_key, pressed: true, repeat: false, modifiers }]
    }

    #[test]
    fn keys_match_by_sign_or_by_place_and_with_exact_modifiers() {
        let ctrl = Modifiers { ctrl: true, command: true, ..Modifiers::NONE };
        let check = |mut events: Vec<Event>, keys: KeyChord| consume_presses(&mut events, keys) == 1;
        assert!(check(press(Key::Z, None, ctrl), KeyChord::ctrl(Key::Z)));
        assert!(!check(press(Key::Z, None, ctrl | Modifiers::SHIFT), KeyChord::ctrl(Key::Z)));
        assert!(check(
            press(Key::Exclamationmark, Some(Key::Num1), Modifiers::SHIFT),
            KeyChord::shift(Key::Num1)
        ));
        assert!(check(
            press(Key::Questionmark, Some(Key::Slash), Modifiers::SHIFT),
            KeyChord::plain(Key::Questionmark)
        ));
        assert!(!check(press(Key::F, None, Modifiers::SHIFT), KeyChord::plain(Key::F)));
        assert_eq!(KeyChord::ctrl_shift(Key::L).text(), "Ctrl+Shift+L");
    }
}
