//! The colours of code: few, so that what matters stands out.

use super::{Theme, mix};
use egui::Color32;
use shared_protocol::registry::Accent;

/// The parts of code that are told apart.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Ink {
    Plain,
    /// What a block is, and words of the language.
    Keyword,
    Text,
    Number,
    Comment,
    /// Braces, equals signs.
    Sign,
    /// What leads elsewhere: `var.region`, `${…}`.
    Reference,
}

impl Ink {
    pub const ALL: [Self; 7] =
        [Self::Plain, Self::Keyword, Self::Text, Self::Number, Self::Comment, Self::Sign, Self::Reference];
}

impl Theme {
    pub fn code(&self, ink: Ink) -> Color32 {
        match ink {
            Ink::Plain => self.text,
            Ink::Keyword => self.accent(Accent::Purple),
            Ink::Text => self.accent(Accent::Green),
            Ink::Number => self.accent(Accent::Orange),
            Ink::Comment => self.text_subtle,
            Ink::Sign => self.text_muted,
            Ink::Reference => self.accent(Accent::Blue),
        }
    }

    /// Behind a line that is new.
    pub fn added(&self) -> Color32 {
        mix(self.surface_panel, self.success, 0.08)
    }

    /// Behind a line that goes.
    pub fn removed(&self) -> Color32 {
        mix(self.surface_panel, self.danger, 0.08)
    }
}
