//! What the window remembers of itself between runs, as a small strict JSON that main keeps without looking inside.
//! What cannot be read, or is out of bounds, counts as nothing: a window opens in any case.

use crate::panels::{BottomTab, LeftTab, Panels};
use egui::{Rangef, ThemePreference};
use serde::{Deserialize, Serialize};
use shared_protocol::messages::MAX_WINDOW_STATE;

pub(crate) const LEFT_SIZES: Rangef = Rangef { min: 160.0, max: 400.0 };
pub(crate) const INSPECTOR_SIZES: Rangef = Rangef { min: 200.0, max: 520.0 };
pub(crate) const BOTTOM_SIZES: Rangef = Rangef { min: 110.0, max: 480.0 };
/// Percent, from the smallest that can be read to twice the size.
pub(crate) const SCALES: [u16; 8] = [80, 90, 100, 110, 125, 150, 175, 200];

#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(crate) enum ThemeChoice {
    #[default]
    System,
    Light,
    Dark,
    HighContrast,
}

impl From<ThemeChoice> for ThemePreference {
    fn from(choice: ThemeChoice) -> Self {
        match choice {
            ThemeChoice::System => Self::System,
            ThemeChoice::Light => Self::Light,
            ThemeChoice::Dark | ThemeChoice::HighContrast => Self::Dark,
        }
    }
}

/// What a person chose on the settings page.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields, default)]
pub(crate) struct Settings {
    pub(crate) theme: ThemeChoice,
    /// Of the whole window, in percent.
    pub(crate) scale: u16,
    pub(crate) reduced_motion: bool,
}

impl Default for Settings {
    fn default() -> Self {
        Self { theme: ThemeChoice::default(), scale: 100, reduced_motion: false }
    }
}

/// A panel: open or not, and how large if somebody has made it so.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
struct Panel {
    open: bool,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    size: Option<f32>,
}

impl Panel {
    fn is_sound(&self, sizes: Rangef) -> bool {
        self.size.is_none_or(|size| sizes.contains(size))
    }
}

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub(crate) struct Remembered {
    #[serde(default)]
    pub(crate) settings: Settings,
    left: Panel,
    left_tab: LeftTab,
    inspector: Panel,
    bottom: Panel,
    bottom_tab: BottomTab,
}

impl Default for Remembered {
    fn default() -> Self {
        Self::of(&Settings::default(), &Panels::default())
    }
}

impl Remembered {
    pub(crate) fn of(settings: &Settings, panels: &Panels) -> Self {
        // Whole points are enough, and the same text comes out of the same look.
        let panel = |open: bool, size: Option<f32>, sizes: Rangef| Panel {
            open,
            size: size.map(|size| sizes.clamp(size.round())),
        };
        Self {
            settings: settings.clone(),
            left: panel(panels.left_open, panels.left_size.chosen, LEFT_SIZES),
            left_tab: panels.left_tab,
            inspector: panel(panels.inspector_open, panels.inspector_size.chosen, INSPECTOR_SIZES),
            bottom: panel(panels.bottom_open, panels.bottom_size.chosen, BOTTOM_SIZES),
            bottom_tab: panels.bottom_tab,
        }
    }

    /// Puts the panels where they were.
    pub(crate) fn arrange(&self, panels: &mut Panels) {
        panels.left_open = self.left.open;
        panels.left_size.restore(self.left.size);
        panels.left_tab = self.left_tab;
        panels.inspector_open = self.inspector.open;
        panels.inspector_size.restore(self.inspector.size);
        panels.bottom_open = self.bottom.open;
        panels.bottom_size.restore(self.bottom.size);
        panels.bottom_tab = self.bottom_tab;
        panels.generation += 1;
    }

    pub(crate) fn from_text(text: &str) -> Self {
        if text.is_empty() || text.len() > MAX_WINDOW_STATE {
            return Self::default();
        }
        match serde_json::from_str::<Self>(text) {
            Ok(remembered) if remembered.is_sound() => remembered,
            Ok(_) => {
                tracing::warn!("what the window remembered is out of bounds; it begins anew");
                Self::default()
            }
            Err(error) => {
                tracing::warn!(%error, "what the window remembered cannot be read; it begins anew");
                Self::default()
            }
        }
    }

    pub(crate) fn to_text(&self) -> String {
        serde_json::to_string(self).unwrap_or_default()
    }

    fn is_sound(&self) -> bool {
        SCALES.contains(&self.settings.scale)
            && self.left.is_sound(LEFT_SIZES)
            && self.inspector.is_sound(INSPECTOR_SIZES)
            && self.bottom.is_sound(BOTTOM_SIZES)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_written_is_read() {
        let mut panels = Panels { left_open: false, left_tab: LeftTab::Outline, ..Panels::default() };
        panels.bottom_size.restore(Some(300.4));
        let settings = Settings { theme: ThemeChoice::Dark, scale: 150, reduced_motion: true };
        let before = Remembered::of(&settings, &panels);
        let after = Remembered::from_text(&before.to_text());
        assert_eq!(before, after);
        let mut arranged = Panels::default();
        after.arrange(&mut arranged);
        assert_eq!(Remembered::of(&settings, &arranged), before);
    }

    #[test]
    fn what_is_not_sound_counts_as_nothing() {
        let good =
            Remembered { left: Panel { open: false, size: Some(200.0) }, ..Remembered::default() }.to_text();
        assert_ne!(Remembered::from_text(&good), Remembered::default());
        let long = format!("{good}{}", " ".repeat(MAX_WINDOW_STATE));
        let bad = [
            "",
            "no",
            "[]",
            "{}",
            &good.replace("200.0", "9000.0"),
            &good.replace("\"scale\":100", "\"scale\":101"),
            &good.replace("\"scale\":100", "\"scale\":-1"),
            &good.replacen('{', "{\"more\":1,", 1),
            &good[..good.len() - 1],
            &long,
        ];
        for text in bad {
            assert_eq!(Remembered::from_text(text), Remembered::default(), "{text:.80}");
        }
    }
}
