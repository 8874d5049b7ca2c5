//! What the window remembers of itself between runs, as a small strict JSON that main keeps without looking inside.
//! What cannot be read, or is out of bounds, counts as nothing: a window opens in any case.

use crate::dock::Place;
use egui::ThemePreference;
use serde::{Deserialize, Serialize};
use shared_protocol::messages::MAX_WINDOW_STATE;

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

/// What the pointer does on empty space.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(crate) enum PointerStyle {
    /// Scrolling pans, dragging draws a frame.
    #[default]
    Design,
    /// Scrolling zooms, dragging pans.
    Map,
}

/// What a person chose on the settings page.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub(crate) struct Settings {
    pub(crate) theme: ThemeChoice,
    /// Of the whole window, in percent.
    pub(crate) scale: u16,
    pub(crate) reduced_motion: bool,
    pub(crate) pointer: PointerStyle,
    pub(crate) minimap: bool,
}

impl Default for Settings {
    fn default() -> Self {
        Self {
            theme: ThemeChoice::default(),
            scale: 100,
            reduced_motion: false,
            pointer: PointerStyle::default(),
            minimap: true,
        }
    }
}

#[derive(Debug, Clone, Default, PartialEq, Serialize)]
#[serde(rename_all = "camelCase")]
pub(crate) struct Remembered {
    pub(crate) settings: Settings,
    pub(crate) layout: Place,
}

/// As it was written, perhaps by another version: each part is taken or left by itself.
#[derive(Deserialize)]
struct Written {
    #[serde(default)]
    settings: serde_json::Value,
    #[serde(default)]
    layout: serde_json::Value,
}

impl Remembered {
    pub(crate) fn from_text(text: &str) -> Self {
        if text.is_empty() || text.len() > MAX_WINDOW_STATE {
            return Self::default();
        }
        let Written { settings, layout } = match serde_json::from_str(text) {
            Ok(written) => written,
            Err(error) => {
                tracing::warn!(%error, "what the window remembered cannot be read; it begins anew");
                return Self::default();
            }
        };
        let settings = part::<Settings>(settings, "settings").filter(Settings::is_sound).unwrap_or_default();
        let layout = part::<Place>(layout, "layout").map(Place::settled).unwrap_or_default();
        Self { settings, layout }
    }

    pub(crate) fn to_text(&self) -> String {
        serde_json::to_string(self).unwrap_or_default()
    }
}

fn part<T: serde::de::DeserializeOwned>(value: serde_json::Value, what: &str) -> Option<T> {
    if value.is_null() {
        return None;
    }
    match serde_json::from_value(value) {
        Ok(part) => Some(part),
        Err(error) => {
            tracing::warn!(%error, what, "a part of what the window remembered cannot be read; it begins anew");
            None
        }
    }
}

impl Settings {
    fn is_sound(&self) -> bool {
        SCALES.contains(&self.scale)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::panels::PanelId;

    fn changed() -> Remembered {
        let settings =
            Settings { theme: ThemeChoice::Dark, scale: 150, reduced_motion: true, ..Settings::default() };
        let mut layout = Place::default();
        layout.show(PanelId::Outline);
        layout.close(PanelId::Inspector);
        Remembered { settings, layout }
    }

    #[test]
    fn what_is_written_is_read() {
        let before = changed();
        assert_eq!(Remembered::from_text(&before.to_text()), before);
    }

    #[test]
    fn what_is_not_sound_counts_as_nothing() {
        let good = changed().to_text();
        let long = format!("{good}{}", " ".repeat(MAX_WINDOW_STATE));
        for text in ["", "no", "[]", "{}", "null", &good[..good.len() - 1], &long] {
            assert_eq!(Remembered::from_text(text), Remembered::default(), "{text:.80}");
        }
    }

    #[test]
    fn one_part_that_is_not_sound_does_not_take_the_other_along() {
        let good = changed();
        for bad in ["101", "-1", "\"large\""] {
            let text = good.to_text().replace("\"scale\":150", &format!("\"scale\":{bad}"));
            let read = Remembered::from_text(&text);
            assert_eq!(read, Remembered { settings: Settings::default(), layout: good.layout.clone() });
        }
        let older = r#"{"settings":{"theme":"dark","scale":150,"reducedMotion":true},"left":{"open":true}}"#;
        let read = Remembered::from_text(older);
        assert_eq!(read, Remembered { settings: good.settings, layout: Place::default() });
    }
}
