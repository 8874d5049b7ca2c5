//! The panels of the dock: ids, titles and first places.

use egui::Margin;

/// A panel of the dock. A new panel is a variant here, a row of [`PANELS`], its state and its arm in the window, and a
/// row in the command table. The compiler requires the arm and a test the command of each row; nothing requires the row.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(crate) enum PanelId {
    Canvas,
    Reader,
    Palette,
    Outline,
    Specs,
    Inspector,
    Problems,
    Terraform,
    Hcl,
    Review,
    Proposal,
    Preview,
    Agents,
    ManagedServers,
    Audit,
    Log,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(crate) enum PanelSide {
    Left,
    Middle,
    /// A column between the canvas and the right side.
    Beside,
    Right,
    Bottom,
}

#[derive(Debug)]
pub(crate) struct PanelDef {
    pub(crate) id: PanelId,
    /// The key in the saved layout; never changes.
    pub(crate) word: &'static str,
    pub(crate) title: &'static str,
    /// The side until a person moves it.
    pub(crate) home: PanelSide,
    /// Shown at first; a side follows its first panel.
    pub(crate) open: bool,
    /// Closed until a page or a proposal opens it.
    pub(crate) opens_on_request: bool,
    pub(crate) margin: Margin,
}

const fn panel(id: PanelId, word: &'static str, title: &'static str, home: PanelSide) -> PanelDef {
    let margin = match home {
        PanelSide::Middle | PanelSide::Beside => Margin::ZERO,
        PanelSide::Right => Margin { left: 12, right: 8, top: 4, bottom: 0 },
        PanelSide::Left | PanelSide::Bottom => Margin { left: 8, right: 8, top: 4, bottom: 4 },
    };
    let open = matches!(home, PanelSide::Left | PanelSide::Right) || matches!(id, PanelId::Canvas);
    let summoned = matches!(id, PanelId::Reader | PanelId::Proposal);
    PanelDef { id, word, title, home, open, opens_on_request: summoned, margin }
}

/// In their first order on each side.
pub(crate) const PANELS: &[PanelDef] = &[
    panel(PanelId::Canvas, "canvas", "Canvas", PanelSide::Middle),
    panel(PanelId::Reader, "spec", "Spec", PanelSide::Middle),
    panel(PanelId::Palette, "palette", "Palette", PanelSide::Left),
    panel(PanelId::Outline, "outline", "Outline", PanelSide::Left),
    panel(PanelId::Specs, "specs", "Specs", PanelSide::Left),
    panel(PanelId::Inspector, "inspector", "Inspector", PanelSide::Right),
    panel(PanelId::Proposal, "proposal", "Proposal", PanelSide::Right),
    panel(PanelId::Preview, "preview", "Preview", PanelSide::Beside),
    panel(PanelId::Problems, "problems", "Problems", PanelSide::Bottom),
    panel(PanelId::Terraform, "terraform", "Terraform", PanelSide::Bottom),
    panel(PanelId::Hcl, "hcl", "HCL", PanelSide::Bottom),
    panel(PanelId::Review, "review", "Review", PanelSide::Bottom),
    panel(PanelId::Agents, "agents", "Agents", PanelSide::Bottom),
    panel(PanelId::ManagedServers, "upstreams", "Managed servers", PanelSide::Bottom),
    panel(PanelId::Audit, "audit", "Audit", PanelSide::Bottom),
    panel(PanelId::Log, "log", "Log", PanelSide::Bottom),
];

impl PanelId {
    pub(crate) fn definition(self) -> &'static PanelDef {
        PANELS.iter().find(|def| def.id == self).unwrap_or(&PANELS[0])
    }

    pub(crate) fn keyword(self) -> &'static str {
        self.definition().word
    }

    pub(crate) fn from_word(word: &str) -> Option<Self> {
        PANELS.iter().find(|def| def.word == word).map(|def| def.id)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::commands::{CommandId, find};
    use std::collections::BTreeSet;

    #[test]
    fn every_panel_has_a_row_a_word_of_its_own_and_a_command() {
        let words: BTreeSet<&str> = PANELS.iter().map(|def| def.word).collect();
        assert_eq!(words.len(), PANELS.len());
        for def in PANELS {
            assert_eq!(PanelId::from_word(def.word), Some(def.id));
            let command = find(CommandId::Panel(def.id));
            assert_eq!(command.is_some(), def.id != PanelId::Canvas, "{:?}", def.id);
        }
    }
}
