//! The review queue: proposals that wait for a decision, then drafts, then decided ones.

use super::{
    MAX_HISTORY, ReviewFeature,
    header::{chips_ui, counts_ui},
    words,
};
use crate::{
    commands::CommandId,
    features::review::{ReviewContext, ReviewMessage, ReviewReply},
    view::WindowAction,
    widgets::{body_font, disclosure_ui, empty_state_ui, muted_ui, paint_line, row_background, small_font},
    wording::{ago, unix_millis},
};
use canvas::theme::WorkbenchTheme;
use egui::{Align2, Rect, RichText, Role, Sense, Ui, WidgetInfo, pos2, vec2};
use shared_protocol::{
    ProposalState,
    decisions::{ListDecided, RevertProposal},
    mcp::McpMode,
    requests::SetAgentMode,
    review::{MAX_DECIDED_PROPOSALS, ProposalBrief},
};

const ROW: f32 = 44.0;
const BUTTON: f32 = 84.0;

#[derive(Default)]
pub(super) struct ReviewQueueState {
    shows_decided: bool,
    /// Older decided proposals, once a person requested them.
    pub(super) older: Option<Vec<ProposalBrief>>,
}

impl ReviewFeature {
    pub(crate) fn queue_ui(&mut self, ui: &mut Ui, cx: &ReviewContext<'_>) {
        let proposals = &cx.view.review.proposals;
        if proposals.is_empty() {
            return empty_ui(ui, cx);
        }
        let open = self.review.as_ref().map(super::ProposalReview::id);
        let now = unix_millis();
        let waiting = proposals.iter().filter(|brief| brief.needs_decision());
        let drafts = proposals.iter().filter(|brief| brief.state == ProposalState::Draft);
        let is_decided =
            |brief: &&ProposalBrief| !brief.needs_decision() && brief.state != ProposalState::Draft;
        let mut waiting: Vec<&ProposalBrief> = waiting.collect();
        waiting.sort_by(|a, b| a.queue_order(b));
        let mut drafts: Vec<&ProposalBrief> = drafts.collect();
        drafts.sort_by(|a, b| a.queue_order(b));
        let known: Vec<&ProposalBrief> = match &self.queue.older {
            Some(older) => older.iter().filter(is_decided).collect(),
            None => proposals.iter().filter(is_decided).collect(),
        };
        let mut decided = known;
        decided.sort_by_key(|brief| std::cmp::Reverse(brief.number));
        let shows_decided = &mut self.queue.shows_decided;
        let has_older = self.queue.older.is_none() && decided.len() >= MAX_DECIDED_PROPOSALS;
        egui::ScrollArea::vertical().auto_shrink([false, false]).show(ui, |ui| {
            ui.spacing_mut().item_spacing.y = 1.0;
            let row = |ui: &mut Ui, brief: &ProposalBrief| {
                row_ui(ui, cx, brief, open == Some(brief.id), now);
            };
            heading_ui(ui, cx.view.theme, "Waiting for your decision", waiting.len());
            if waiting.is_empty() {
                muted_ui(ui, cx.view.theme, "No proposals to review.");
            }
            waiting.iter().for_each(|brief| row(ui, brief));
            if !drafts.is_empty() {
                heading_ui(ui, cx.view.theme, "Drafts", drafts.len());
                drafts.iter().for_each(|brief| row(ui, brief));
            }
            if !decided.is_empty() {
                ui.add_space(4.0);
                if disclosure_ui(ui, cx.view.theme, "Decided", Some(decided.len()), shows_decided) {
                    decided.iter().for_each(|brief| row(ui, brief));
                    if has_older && ui.button("Show older ones").clicked() {
                        cx.request(ListDecided { limit: MAX_HISTORY }, ReviewReply::History);
                    }
                }
            }
        });
    }
}

fn heading_ui(ui: &mut Ui, theme: &WorkbenchTheme, text: &str, count: usize) {
    ui.add_space(4.0);
    ui.label(RichText::new(format!("{text} · {count}")).small().color(theme.text_muted));
}

fn empty_ui(ui: &mut Ui, cx: &ReviewContext<'_>) {
    let guarded = cx.view.mcp.mode == McpMode::Guarded;
    let (title, text) = if guarded {
        (
            "Nothing to review",
            "Proposals of agents appear here and as ghosts on the board. Nothing changes \
             before you accept it.",
        )
    } else {
        (
            "Agents cannot propose changes",
            "In guarded mode agents may propose changes. They appear here and as ghosts on the board. Nothing \
             changes before you accept it.",
        )
    };
    egui::ScrollArea::vertical().auto_shrink([false, false]).show(ui, |ui| {
        empty_state_ui(ui, cx.view.theme, title, text);
        ui.add_space(6.0);
        ui.vertical_centered(|ui| {
            if !guarded && ui.button("Enable guarded mode").clicked() {
                cx.act(WindowAction::request(SetAgentMode { mode: McpMode::Guarded }));
            }
            if ui.button("Connect an agent…").clicked() {
                cx.act(CommandId::SetupGuide);
            }
        });
    });
}

fn row_ui(ui: &mut Ui, cx: &ReviewContext<'_>, brief: &ProposalBrief, is_open: bool, now: u64) {
    let theme = cx.view.theme;
    let (rect, response) = ui.allocate_exact_size(vec2(ui.available_width(), ROW), Sense::click());
    let title = words::title(brief);
    let name = format!("Proposal {}, {title}", brief.number);
    response.widget_info(|| WidgetInfo::selected(Role::Button, ui.is_enabled(), is_open, &name));
    if response.clicked() {
        cx.send(ReviewMessage::Open(brief.id));
    }
    if !ui.is_rect_visible(rect) {
        return;
    }
    row_background(ui, theme, rect, &response, is_open);
    let number = Rect::from_min_size(rect.min + vec2(6.0, 0.0), vec2(34.0, ROW));
    paint_line(
        ui,
        number,
        Align2::LEFT_CENTER,
        &format!("{}", brief.number),
        small_font(ui),
        theme.text_muted,
    );
    let end = pos2(rect.right() - BUTTON - 8.0, rect.bottom() - 3.0);
    let text = Rect::from_min_max(pos2(number.right(), rect.top() + 3.0), end);
    let (top, bottom) = (text.with_max_y(text.center().y), text.with_min_y(text.center().y));
    // Risk labels come first, then the agent's title.
    let mut line = ui.new_child(
        egui::UiBuilder::new()
            .max_rect(top)
            .id_salt(("risks", brief.number))
            .layout(egui::Layout::left_to_right(egui::Align::Center)),
    );
    line.spacing_mut().item_spacing.x = 4.0;
    chips_ui(&mut line, theme, &brief.risks);
    let rest = top
        .with_min_x(line.min_rect().right().max(top.left()) + if brief.risks.is_empty() { 0.0 } else { 6.0 });
    paint_line(ui, rest, Align2::LEFT_CENTER, &title, body_font(ui), theme.text);
    let mut line = ui.new_child(
        egui::UiBuilder::new()
            .max_rect(bottom)
            .id_salt(("counts", brief.number))
            .layout(egui::Layout::left_to_right(egui::Align::Center)),
    );
    counts_ui(&mut line, theme, brief);
    let rest = bottom.with_min_x(line.min_rect().right() + 8.0);
    paint_line(ui, rest, Align2::LEFT_CENTER, &describe_brief(brief, now), small_font(ui), theme.text_muted);
    let room = Rect::from_center_size(
        pos2(rect.right() - BUTTON / 2.0 - 4.0, rect.center().y),
        vec2(BUTTON - 8.0, 24.0),
    );
    let mut child = ui.new_child(egui::UiBuilder::new().max_rect(room).id_salt(("button", brief.number)));
    child.spacing_mut().button_padding.y = 0.0;
    button_ui(&mut child, brief, room.size(), cx);
}

fn button_ui(ui: &mut Ui, brief: &ProposalBrief, size: egui::Vec2, cx: &ReviewContext<'_>) {
    let button = |text: &str| egui::Button::new(RichText::new(text).small());
    if !brief.needs_decision() && brief.state != ProposalState::Draft && !brief.revisions.is_empty() {
        let name = format!("Revert proposal {}", brief.number);
        let revert = ui.add_sized(size, button("Revert")).accessible_name(name);
        if revert.on_hover_text("Reverts the accepted changes and keeps later ones").clicked() {
            let proposal = brief.id;
            cx.request(RevertProposal { proposal, partial: false }, move |result| ReviewReply::Reverted {
                proposal,
                result,
            });
        }
        return;
    }
    let (word, name) =
        if brief.needs_decision() { ("Review", "Review proposal") } else { ("View", "View proposal") };
    if ui.add_sized(size, button(word)).accessible_name(format!("{name} {}", brief.number)).clicked() {
        cx.send(ReviewMessage::Open(brief.id));
    }
}

/// Proposer, age and state.
fn describe_brief(brief: &ProposalBrief, now: u64) -> String {
    let who = words::proposer_label(&brief.proposer);
    let age = ago(now, brief.created);
    let state = match &brief.state {
        ProposalState::Draft => "draft".to_owned(),
        ProposalState::Open => words::expiry(now, brief.expires),
        ProposalState::Stale { .. } => {
            format!("outdated · {}", words::expiry(now, brief.expires))
        }
        ProposalState::Accepted => match &brief.decided {
            Some(decided) => format!("accepted by {} {}", words::line(&decided.by), ago(now, decided.time)),
            None => "accepted".to_owned(),
        },
        ProposalState::Rejected { by, reason } => {
            format!("rejected by {}: {}", words::line(by), words::line(reason))
        }
        state => state.as_str().to_owned(),
    };
    let state = if brief.is_partly_accepted() { format!("partly accepted · {state}") } else { state };
    let comments = match brief.comments {
        0 => String::new(),
        count => format!(" · {}", shared_protocol::text::count_noun(count as usize, "comment")),
    };
    format!("{who} · {age} · {state}{comments}")
}
