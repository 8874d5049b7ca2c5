//! One file per panel. Each draws from a [`crate::view::View`], pushes [`crate::view::Action`]s, and keeps only what is
//! nobody else's business: what is typed, open, or scrolled.

pub(crate) mod inspector;
pub(crate) mod log;
pub(crate) mod menu_bar;
pub(crate) mod notices;
pub(crate) mod outline;
pub(crate) mod palette;
pub(crate) mod problems;
pub(crate) mod status_bar;

use serde::{Deserialize, Serialize};

#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(crate) enum LeftTab {
    #[default]
    Palette,
    Outline,
}

#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(crate) enum BottomTab {
    #[default]
    Problems,
    Log,
}

/// How large a panel is: what somebody chose, else what fits the window.
#[derive(Debug, Clone, Copy, Default)]
pub(crate) struct PanelSize {
    pub(crate) chosen: Option<f32>,
    /// As it was drawn last, in a window of this size.
    seen: Option<(f32, egui::Vec2)>,
}

impl PanelSize {
    pub(crate) fn restore(&mut self, chosen: Option<f32>) {
        *self = Self { chosen, seen: None };
    }

    /// A panel that changes while its window does not was dragged by somebody.
    pub(crate) fn see(&mut self, size: f32, window: egui::Vec2) {
        if let Some((before, then)) = self.seen
            && then == window
            && (before - size).abs() > 0.5
        {
            self.chosen = Some(size);
        }
        self.seen = Some((size, window));
    }
}

/// What every panel keeps between frames, and which are open.
pub(crate) struct Panels {
    /// Raised when the panels are put somewhere else at once, so that what egui kept of the old ones is not used.
    pub(crate) generation: u32,
    pub(crate) left_open: bool,
    pub(crate) left_size: PanelSize,
    pub(crate) left_tab: LeftTab,
    pub(crate) inspector_open: bool,
    pub(crate) inspector_size: PanelSize,
    pub(crate) bottom_open: bool,
    pub(crate) bottom_size: PanelSize,
    pub(crate) bottom_tab: BottomTab,
    pub(crate) palette: palette::Palette,
    pub(crate) outline: outline::Outline,
    pub(crate) inspector: inspector::Inspector,
    pub(crate) log: log::Log,
    pub(crate) problems: problems::ProblemList,
}

impl Default for Panels {
    fn default() -> Self {
        Self {
            generation: 0,
            left_open: true,
            left_size: PanelSize::default(),
            left_tab: LeftTab::default(),
            inspector_open: true,
            inspector_size: PanelSize::default(),
            bottom_open: false,
            bottom_size: PanelSize::default(),
            bottom_tab: BottomTab::default(),
            palette: palette::Palette::default(),
            outline: outline::Outline::default(),
            inspector: inspector::Inspector::default(),
            log: log::Log::default(),
            problems: problems::ProblemList::default(),
        }
    }
}
