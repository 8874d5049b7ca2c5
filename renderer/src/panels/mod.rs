//! One module per panel. Each draws from a [`crate::view::FrameView`], pushes [`crate::view::WindowAction`]s, and owns only its view
//! state: typed text, open sections, scroll positions.

pub(crate) mod agents;
pub(crate) mod audit;
pub(crate) mod log;
pub(crate) mod managed_servers;
pub(crate) mod menu_bar;
pub(crate) mod notices;
pub(crate) mod outline;
pub(crate) mod palette;
pub(crate) mod preview;
pub(crate) mod problems;
pub(crate) mod status_bar;

use crate::{
    panel_id::PanelId,
    specs::SpecsFeature,
    view::{FrameView, SpecPage},
};
use egui::Ui;

#[derive(Default)]
pub(crate) struct PanelStates {
    pub(crate) palette: palette::PalettePanel,
    pub(crate) outline: outline::OutlinePanel,
    pub(crate) audit: audit::AuditPanel,
    pub(crate) log: log::LogPanel,
    pub(crate) problems: problems::ProblemsPanel,
    pub(crate) specs: SpecsFeature,
    pub(crate) preview: preview::PreviewPanel,
    pub(crate) managed_servers: managed_servers::ManagedServersPanel,
}

impl PanelStates {
    pub(crate) fn show_ui(&mut self, panel: PanelId, ui: &mut Ui, view: &FrameView<'_>) {
        match panel {
            // Drawn by the workbench, which owns the canvases and these features.
            PanelId::Canvas
            | PanelId::Inspector
            | PanelId::Terraform
            | PanelId::Hcl
            | PanelId::Review
            | PanelId::Proposal => {}
            PanelId::Palette => self.palette.show_ui(ui, view),
            PanelId::Outline => self.outline.show_ui(ui, view),
            PanelId::Reader => self.specs.reader_ui(ui, view),
            PanelId::Specs => self.specs.navigator_ui(ui, view),
            PanelId::Problems => self.problems.show_ui(ui, view, &mut self.specs),
            PanelId::Preview => self.preview.show_ui(ui, view),
            PanelId::Agents => agents::agents_ui(ui, view),
            PanelId::ManagedServers => self.managed_servers.show_ui(ui, view),
            PanelId::Audit => self.audit.show_ui(ui, view),
            PanelId::Log => self.log.show_ui(ui, view),
        }
    }

    /// The text of the tab, with a count where a panel has one.
    pub(crate) fn title(panel: PanelId, view: Option<&FrameView<'_>>) -> String {
        let title = panel.definition().title;
        if let (PanelId::Reader, Some(page)) = (panel, view.and_then(|view| view.history.current())) {
            return SpecPage::title(page);
        }
        let count = match panel {
            PanelId::Problems => view.map_or(0, |view| problems::counts(view).0 + problems::counts(view).1),
            PanelId::Review => view.map_or(0, |view| view.review.undecided_count()),
            PanelId::Agents => view.map_or(0, |view| view.mcp.clients.len()),
            PanelId::ManagedServers => {
                view.map_or(0, |view| managed_servers::count_needing_attention(view.managed_servers))
            }
            _ => 0,
        };
        if count == 0 { title.to_owned() } else { format!("{title} ({count})") }
    }
}
