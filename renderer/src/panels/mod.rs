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

#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(crate) enum LeftTab {
    #[default]
    Palette,
    Outline,
}

#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(crate) enum BottomTab {
    #[default]
    Problems,
    Log,
}

/// What every panel keeps between frames, and which are open.
pub(crate) struct Panels {
    pub(crate) left_open: bool,
    pub(crate) left_tab: LeftTab,
    pub(crate) inspector_open: bool,
    pub(crate) bottom_open: bool,
    pub(crate) bottom_tab: BottomTab,
    pub(crate) palette: palette::Palette,
    pub(crate) outline: outline::Outline,
    pub(crate) inspector: inspector::Inspector,
    pub(crate) log: log::Log,
}

impl Default for Panels {
    fn default() -> Self {
        Self {
            left_open: true,
            left_tab: LeftTab::default(),
            inspector_open: true,
            bottom_open: false,
            bottom_tab: BottomTab::default(),
            palette: palette::Palette::default(),
            outline: outline::Outline::default(),
            inspector: inspector::Inspector::default(),
            log: log::Log::default(),
        }
    }
}
