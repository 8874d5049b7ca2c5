//! One module per panel. Each draws from a [`crate::view::View`], pushes [`crate::view::Action`]s, and owns only its view
//! state: typed text, open sections, scroll positions.

pub(crate) mod agents;
pub(crate) mod audit;
pub(crate) mod hcl;
pub(crate) mod inspector;
pub(crate) mod log;
pub(crate) mod menu_bar;
pub(crate) mod notices;
pub(crate) mod outline;
pub(crate) mod palette;
pub(crate) mod preview;
pub(crate) mod problems;
pub(crate) mod status_bar;
pub(crate) mod terraform;
pub(crate) mod upstreams;

use crate::{
    specs::{Page, Specs},
    view::{Action, View},
};
use egui::{Margin, Ui};

/// Everything that stands in the dock. A new panel is a variant here, a row of [`PANELS`], its state and its arm in
/// [`Panels`], and a row in the table of commands; a test misses what is forgotten.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(crate) enum PanelId {
    Canvas,
    /// Pages of specs.
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
    Upstreams,
    Audit,
    Log,
}

/// Around the canvas.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(crate) enum Side {
    Left,
    Middle,
    /// A column of its own at the right of the canvas, to be seen together with it.
    Beside,
    Right,
    Bottom,
}

#[derive(Debug)]
pub(crate) struct PanelDef {
    pub(crate) id: PanelId,
    /// How it is remembered; never changes.
    pub(crate) word: &'static str,
    pub(crate) title: &'static str,
    /// Where it stands until somebody moves it.
    pub(crate) home: Side,
    /// Shown at first; a side is as its first panel says.
    pub(crate) open: bool,
    /// Closed until something calls for it: a page, a proposal.
    pub(crate) summoned: bool,
    pub(crate) margin: Margin,
}

const fn panel(id: PanelId, word: &'static str, title: &'static str, home: Side) -> PanelDef {
    let margin = match home {
        Side::Middle | Side::Beside => Margin::ZERO,
        Side::Right => Margin { left: 12, right: 8, top: 4, bottom: 0 },
        Side::Left | Side::Bottom => Margin { left: 8, right: 8, top: 4, bottom: 4 },
    };
    let open = matches!(home, Side::Left | Side::Right) || matches!(id, PanelId::Canvas);
    let summoned = matches!(id, PanelId::Reader | PanelId::Proposal);
    PanelDef { id, word, title, home, open, summoned, margin }
}

/// In the order in which they stand at their side at first.
pub(crate) const PANELS: &[PanelDef] = &[
    panel(PanelId::Canvas, "canvas", "Canvas", Side::Middle),
    panel(PanelId::Reader, "spec", "Spec", Side::Middle),
    panel(PanelId::Palette, "palette", "Palette", Side::Left),
    panel(PanelId::Outline, "outline", "Outline", Side::Left),
    panel(PanelId::Specs, "specs", "Specs", Side::Left),
    panel(PanelId::Inspector, "inspector", "Inspector", Side::Right),
    panel(PanelId::Proposal, "proposal", "Proposal", Side::Right),
    panel(PanelId::Preview, "preview", "Preview", Side::Beside),
    panel(PanelId::Problems, "problems", "Problems", Side::Bottom),
    panel(PanelId::Terraform, "terraform", "Terraform", Side::Bottom),
    panel(PanelId::Hcl, "hcl", "HCL", Side::Bottom),
    panel(PanelId::Review, "review", "Review", Side::Bottom),
    panel(PanelId::Agents, "agents", "Agents", Side::Bottom),
    panel(PanelId::Upstreams, "upstreams", "Upstreams", Side::Bottom),
    panel(PanelId::Audit, "audit", "Audit", Side::Bottom),
    panel(PanelId::Log, "log", "Log", Side::Bottom),
];

impl PanelId {
    pub(crate) fn def(self) -> &'static PanelDef {
        PANELS.iter().find(|def| def.id == self).unwrap_or(&PANELS[0])
    }

    pub(crate) fn word(self) -> &'static str {
        self.def().word
    }

    pub(crate) fn from_word(word: &str) -> Option<Self> {
        PANELS.iter().find(|def| def.word == word).map(|def| def.id)
    }
}

/// The state that panels keep between frames.
#[derive(Default)]
pub(crate) struct Panels {
    pub(crate) palette: palette::Palette,
    pub(crate) outline: outline::Outline,
    pub(crate) inspector: inspector::Inspector,
    pub(crate) audit: audit::AuditPanel,
    pub(crate) log: log::Log,
    pub(crate) problems: problems::ProblemList,
    pub(crate) specs: Specs,
    pub(crate) terraform: terraform::TerraformPanel,
    pub(crate) hcl: hcl::HclPanel,
    pub(crate) preview: preview::PreviewPanel,
    pub(crate) upstreams: upstreams::UpstreamsPanel,
}

impl Panels {
    pub(crate) fn show_ui(
        &mut self,
        panel: PanelId,
        ui: &mut Ui,
        view: &View<'_>,
        actions: &mut Vec<Action>,
    ) {
        match panel {
            // Drawn by the workbench, which owns the canvases and the review.
            PanelId::Canvas | PanelId::Review | PanelId::Proposal => {}
            PanelId::Palette => self.palette.show_ui(ui, view, actions),
            PanelId::Outline => self.outline.show_ui(ui, view, actions),
            PanelId::Reader => self.specs.reader_ui(ui, view, actions),
            PanelId::Specs => self.specs.navigator_ui(ui, view, actions),
            PanelId::Inspector => {
                self.specs.brief_ui(ui, view, actions);
                self.inspector.show_ui(ui, view, actions);
            }
            PanelId::Problems => self.problems.show_ui(ui, view, &mut self.specs, actions),
            PanelId::Terraform => self.terraform.show_ui(ui, view, actions),
            PanelId::Hcl => self.hcl.show_ui(ui, view, actions),
            PanelId::Preview => self.preview.show_ui(ui, view, actions),
            PanelId::Agents => agents::agents_ui(ui, view, actions),
            PanelId::Upstreams => self.upstreams.show_ui(ui, view, actions),
            PanelId::Audit => self.audit.show_ui(ui, view, actions),
            PanelId::Log => self.log.show_ui(ui, view, actions),
        }
    }

    /// The text of the tab, with a count where a panel has one.
    pub(crate) fn title(panel: PanelId, view: Option<&View<'_>>) -> String {
        let title = panel.def().title;
        if let (PanelId::Reader, Some(page)) = (panel, view.and_then(|view| view.history.current())) {
            return Page::title(page);
        }
        let count = match panel {
            PanelId::Problems => view.map_or(0, |view| problems::counts(view).0 + problems::counts(view).1),
            PanelId::Review => view.map_or(0, |view| view.review.waiting()),
            PanelId::Agents => view.map_or(0, |view| view.mcp.clients.len()),
            PanelId::Upstreams => view.map_or(0, |view| upstreams::wanting(view.upstreams)),
            _ => 0,
        };
        if count == 0 { title.to_owned() } else { format!("{title} ({count})") }
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
