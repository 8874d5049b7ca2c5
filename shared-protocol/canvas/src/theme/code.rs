//! The colours of code. There are few, so that the important parts stand out.

use super::{WorkbenchTheme, mix};
use egui::Color32;
use shared_protocol::registry::Accent;

/// A class of code token with its own colour.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum CodeToken {
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

impl CodeToken {
    pub const ALL: [Self; 7] =
        [Self::Plain, Self::Keyword, Self::Text, Self::Number, Self::Comment, Self::Sign, Self::Reference];
}

impl WorkbenchTheme {
    pub fn code(&self, ink: CodeToken) -> Color32 {
        match ink {
            CodeToken::Plain => self.text,
            CodeToken::Keyword => self.accent(Accent::Purple),
            CodeToken::Text => self.accent(Accent::Green),
            CodeToken::Number => self.accent(Accent::Orange),
            CodeToken::Comment => self.text_subtle,
            CodeToken::Sign => self.text_muted,
            CodeToken::Reference => self.accent(Accent::Blue),
        }
    }

    pub fn added_colour(&self) -> Color32 {
        mix(self.surface_panel, self.success, 0.08)
    }

    pub fn removed(&self) -> Color32 {
        mix(self.surface_panel, self.danger, 0.08)
    }
}
