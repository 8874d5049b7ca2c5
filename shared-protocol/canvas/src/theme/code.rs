//! The colours of code. There are few, so that the important parts stand out.

use super::{Theme, mix};
use egui::Color32;
use shared_protocol::registry::Accent;

/// A class of code token with its own colour.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Ink {
    Plain,
    /// Block types and keywords.
    Keyword,
    Text,
    Number,
    Comment,
    /// Braces, equals signs.
    Sign,
    /// References: `var.region`, `${…}`.
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

    /// The background of an added line.
    pub fn added(&self) -> Color32 {
        mix(self.surface_panel, self.success, 0.08)
    }

    /// The background of a removed line.
    pub fn removed(&self) -> Color32 {
        mix(self.surface_panel, self.danger, 0.08)
    }
}
