//! The tools of a server, with a search, a filter for tools that need approval, and the review of new tools.

use super::{
    box_ui,
    pending_requests::{ManagedServersContext, PendingServerAction},
    tool,
};
use crate::{
    picker::rank,
    widgets::{muted_ui, primary_button, search_field_ui},
};
use egui::{RichText, Ui};
use shared_protocol::{
    Refusal,
    decisions::ApproveTools,
    managed_servers::{ServerDetails, ToolApproval, ToolCallResult, ToolView},
    text::count_noun,
};

/// The search field appears above this number of tools.
const SEARCH_THRESHOLD: usize = 8;
const MAX_TOOLS_PER_REVIEW: usize = 50;

#[derive(Default)]
pub(super) struct ToolList {
    query: String,
    only_waiting: bool,
    open: Option<tool::OpenToolPage>,
    /// The new tools under review, each with the hash of the definition shown.
    look: Option<Vec<(String, String)>>,
    /// Starts the review when the tools are loaded.
    pub(super) focus_review: bool,
}

impl ToolList {
    pub(super) fn receive_call(&mut self, tool: &str, result: Result<ToolCallResult, &Refusal>) {
        if let Some(open) = self.open.as_mut().filter(|open| open.exposed == tool) {
            open.call_form.receive(result);
        }
    }

    pub(super) fn show_ui(&mut self, ui: &mut Ui, cx: &ManagedServersContext<'_>, details: &ServerDetails) {
        let theme = cx.view.theme;
        if details.tools.is_empty() {
            let text = if details.brief.state.is_connected() {
                "This server offers no tools."
            } else {
                "Tools are listed while the server runs."
            };
            muted_ui(ui, theme, text);
            return;
        }
        let new = || details.tools.iter().filter(|tool| tool.approval == ToolApproval::New);
        if std::mem::take(&mut self.focus_review) && new().next().is_some() {
            self.look = Some(new().take(MAX_TOOLS_PER_REVIEW).map(tool::pin).collect());
        }
        if self.look.is_some() {
            return self.look_ui(ui, cx, details);
        }
        let waiting = details.tools.iter().filter(|tool| tool.approval != ToolApproval::Approved).count();
        let count = new().count();
        if waiting > 0 {
            ui.horizontal_wrapped(|ui| {
                ui.checkbox(&mut self.only_waiting, format!("Only the {waiting} to approve"));
                if count > 1 && ui.button(format!("Review {count} new tools…")).clicked() {
                    self.focus_review = true;
                }
            });
        } else {
            self.only_waiting = false;
        }
        if details.tools.len() > SEARCH_THRESHOLD {
            search_field_ui(ui, theme, &mut self.query, "Find a tool", "Find a tool");
        }
        let is_wide = ui.available_width() > 520.0;
        ui.spacing_mut().item_spacing.y = 1.0;
        let mut found = 0;
        for tool in &details.tools {
            let is_waiting = tool.approval != ToolApproval::Approved;
            if (self.only_waiting && !is_waiting)
                || rank(&self.query, &tool.name, &tool.description).is_none()
            {
                continue;
            }
            found += 1;
            let mut open = self.open.take_if(|open| open.opened_definition.0 == tool.name);
            tool::tool_ui(ui, cx, details, tool, is_wide, &mut open);
            if open.is_some() {
                self.open = open;
            }
        }
        if found == 0 {
            muted_ui(ui, theme, "No matching tools. Try a different search.");
        }
    }

    /// The review: the full definitions of all new tools, with the approval at the end.
    fn look_ui(&mut self, ui: &mut Ui, cx: &ManagedServersContext<'_>, details: &ServerDetails) {
        let theme = cx.view.theme;
        let look = self.look.take().unwrap_or_default();
        let now = |(name, hash): &(String, String)| -> Option<&ToolView> {
            details.tools.iter().find(|tool| tool.name == *name && tool.hash == *hash)
        };
        let shown: Vec<&ToolView> =
            look.iter().filter_map(now).filter(|tool| tool.approval == ToolApproval::New).collect();
        let gone = look.len() - shown.len();
        let mut is_left = ui.button("Back to all tools").clicked();
        muted_ui(ui, theme, "The full definitions of all new tools. Approve them at the end of the list.");
        if gone > 0 {
            let what = count_noun(gone, "tool");
            muted_ui(
                ui,
                theme,
                format!("{what} changed or disappeared during the review and will not be approved."),
            );
        }
        for tool in &shown {
            ui.push_id(&tool.name, |ui| {
                box_ui(ui, cx.view, |ui| {
                    ui.label(RichText::new(crate::wording::line(&tool.name)).strong());
                    tool::definition_ui(ui, cx.view, details, tool);
                });
            });
        }
        let is_free = cx.doing(&details.brief.id).is_none();
        let text = format!("Approve {}", count_noun(shown.len(), "tool"));
        let button = primary_button(theme, text);
        if !shown.is_empty() && ui.add_enabled(is_free, button).clicked() {
            let server = details.brief.id.clone();
            let tools = shown.iter().map(|tool| tool::pin(tool)).collect();
            cx.control(&details.brief.id, PendingServerAction::Deciding, ApproveTools { server, tools });
            is_left = true;
        }
        if !is_left && !shown.is_empty() {
            self.look = Some(look);
        }
    }
}
