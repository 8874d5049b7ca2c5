//! Window state saved between runs, as small strict JSON: the panel layout of each workspace, which main stores as opaque
//! text, and the user's settings for all workspaces, which main stores in `settings.toml`. Invalid state is replaced by
//! defaults, so the window always opens.

use crate::dock::DockLayout;
use egui::ThemePreference;
use serde::{Deserialize, Serialize};
use shared_protocol::messages::MAX_WINDOW_STATE_BYTES;

/// Interface scales in percent.
pub(crate) const UI_SCALES_PERCENT: [u16; 8] = [80, 90, 100, 110, 125, 150, 175, 200];

#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
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

/// The behaviour of the pointer on empty space.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub(crate) enum PointerStyle {
    /// Scrolling pans, dragging draws a selection frame.
    #[default]
    Design,
    /// Scrolling zooms, dragging pans.
    Map,
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub(crate) struct WindowSettings {
    pub(crate) theme: ThemeChoice,
    /// Interface scale in percent.
    pub(crate) scale: u16,
    pub(crate) reduced_motion: bool,
    pub(crate) pointer: PointerStyle,
    pub(crate) minimap: bool,
}

impl Default for WindowSettings {
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

/// The saved panel layout, possibly written by another version.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
struct SavedWindow {
    layout: DockLayout,
}

pub(crate) fn layout_from_text(text: &str) -> DockLayout {
    part::<SavedWindow>(text, "layout").map(|window| window.layout.normalised()).unwrap_or_default()
}

pub(crate) fn layout_to_text(layout: &DockLayout) -> String {
    serde_json::to_string(&SavedWindow { layout: layout.clone() }).unwrap_or_default()
}

fn part<T: serde::de::DeserializeOwned>(text: &str, what: &str) -> Option<T> {
    if text.is_empty() || text.len() > MAX_WINDOW_STATE_BYTES {
        return None;
    }
    let read = serde_json::from_str(text);
    read.inspect_err(
        |error| tracing::warn!(%error, what, "cannot read the saved window state; using defaults"),
    )
    .ok()
}

impl WindowSettings {
    pub(crate) fn from_text(text: &str) -> Self {
        let is_sound = |settings: &Self| UI_SCALES_PERCENT.contains(&settings.scale);
        part::<Self>(text, "settings").filter(is_sound).unwrap_or_default()
    }

    pub(crate) fn to_text(&self) -> String {
        serde_json::to_string(self).unwrap_or_default()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::panel_id::PanelId;

    fn settings() -> WindowSettings {
        WindowSettings {
            theme: ThemeChoice::HighContrast,
            scale: 150,
            reduced_motion: true,
            ..WindowSettings::default()
        }
    }

    fn layout() -> DockLayout {
        let mut layout = DockLayout::default();
        layout.show(PanelId::Outline);
        layout.close(PanelId::Inspector);
        layout
    }

    #[test]
    fn what_is_written_is_read() {
        assert_eq!(WindowSettings::from_text(&settings().to_text()), settings());
        assert_eq!(layout_from_text(&layout_to_text(&layout())), layout());
        let typed = r#"{"theme":"high-contrast","scale":150,"reduced_motion":true}"#;
        assert_eq!(WindowSettings::from_text(typed), settings());
    }

    #[test]
    fn what_is_not_sound_counts_as_nothing() {
        let (settings, layout) = (settings().to_text(), layout_to_text(&layout()));
        let long = " ".repeat(MAX_WINDOW_STATE_BYTES);
        for text in ["", "no", "[]", "{}", "null", r#"{"scale":101}"#, r#"{"theme":"plaid"}"#] {
            assert_eq!(WindowSettings::from_text(text), WindowSettings::default(), "{text}");
            assert_eq!(layout_from_text(text), DockLayout::default(), "{text}");
        }
        assert_eq!(WindowSettings::from_text(&format!("{settings}{long}")), WindowSettings::default());
        assert_eq!(layout_from_text(&format!("{layout}{long}")), DockLayout::default());
    }
}
