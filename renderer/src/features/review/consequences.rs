//! The consequences of a proposal: problems, costs, differences of Terraform files, plans, trace links and pages. Main
//! computes them when a person opens the proposal; the window requests them once per version.

use super::{
    ProposalReview, ReviewInput,
    trial::{TrialPlanTarget, scope_ui, takes_credentials, trial_ui, warning_ui},
    words,
};
use crate::{
    features::{
        review::{ReviewContext, ReviewMessage, ReviewReply},
        terraform::money,
    },
    tour::targets::{TourTarget, record_target},
    view::FrameView,
    widgets::{ROW_HEIGHT, disclosure_ui, inset_ui, muted_ui, severity_mark_ui},
};
use authority::Snapshot;
use egui::{RichText, Sense, Ui, vec2};
use shared_protocol::text::count_noun;
use shared_protocol::{
    ElementId, ProposalSubject,
    decisions::ReadConsequences,
    messages::ProblemSeverity,
    proposal::ContentHash,
    review::{BoardConsequences, CostDelta, FileLineCounts, ProposalConsequences},
};

const MAX_ROWS: usize = 100;
/// The maximum number of lines of a file difference.
const MAX_LINES: usize = 400;
/// Differences with more lines than this are folded at first.
const SHORT: u64 = 12;

#[derive(Debug, Default)]
pub(super) enum ConsequencesState {
    #[default]
    Nothing,
    /// Requested for this content.
    BundleProposalArguments(ContentHash),
    /// Not available for this content.
    Not(ContentHash),
    All(Box<ProposalConsequences>),
}

impl ConsequencesState {
    fn is_for(&self, content: ContentHash) -> bool {
        match self {
            Self::Nothing => false,
            Self::BundleProposalArguments(hash) | Self::Not(hash) => *hash == content,
            Self::All(all) => all.hash == content,
        }
    }
}

impl ProposalReview {
    pub(crate) fn receive_consequences(&mut self, mut all: ProposalConsequences) {
        if all.proposal != self.id() || all.hash != self.proposal().hash {
            return;
        }
        // Link names and files contain text of agents.
        for link in &mut all.links {
            *link = words::line(link);
        }
        for file in all.boards.iter_mut().flat_map(|board| &mut board.files) {
            file.text = file.text.lines().map(words::line).collect::<Vec<_>>().join("\n");
        }
        self.consequences = ConsequencesState::All(Box::new(all));
    }

    pub(crate) fn without_consequences(&mut self) {
        if let ConsequencesState::BundleProposalArguments(hash) = self.consequences {
            self.consequences = ConsequencesState::Not(hash);
        }
    }

    pub(super) fn consequences_ui(&mut self, ui: &mut Ui, cx: &ReviewContext<'_>, typed: &mut ReviewInput) {
        ui.add_space(4.0);
        ui.separator();
        let mut open = !typed.shows.contains("consequences folded");
        let heading = egui::Rect::from_min_size(ui.cursor().min, vec2(ui.available_width(), ROW_HEIGHT));
        record_target(ui, TourTarget::Consequences, heading);
        disclosure_ui(ui, cx.view.theme, "Consequences", None, &mut open);
        if !open {
            typed.shows.insert("consequences folded");
            return;
        }
        typed.shows.remove("consequences folded");
        let scope = self.partial_scope("For").filter(|_| self.has_changes());
        scope_ui(ui, cx.view.theme, scope.clone());
        self.checks_ui(ui, cx);
        let (id, content) = (self.id(), self.proposal().hash);
        if self.has_changes() && !self.is_followed && !self.consequences.is_for(content) {
            self.consequences = ConsequencesState::BundleProposalArguments(content);
            cx.request(ReadConsequences { proposal: id }, ReviewReply::Consequences);
        }
        match &self.consequences {
            ConsequencesState::BundleProposalArguments(_) => {
                drop(muted_ui(ui, cx.view.theme, "Computing costs and files…"))
            }
            ConsequencesState::Not(_) => {
                muted_ui(
                    ui,
                    cx.view.theme,
                    "Costs and files are unknown while the proposal conflicts with the workspace.",
                );
            }
            ConsequencesState::Nothing => {}
            ConsequencesState::All(all) => {
                let after = self.proposed.as_ref().map(|proposed| &proposed.after);
                let led_to = all_ui(ui, cx, all, scope.as_deref(), after, typed);
                // Scrolls the heading to the top if the plan button then stays in view.
                let span = led_to.map(|button| heading.union(button));
                if let Some(span) = span.filter(|span| span.height() <= ui.clip_rect().height()) {
                    ui.scroll_to_rect(span, Some(egui::Align::TOP));
                }
                self.pages.show_ui(ui, cx, all, scope);
            }
        }
    }

    /// Returns whether the proposal changes the workspace, and does not only run or call something.
    pub(super) fn has_changes(&self) -> bool {
        self.proposal().elements.iter().any(|element| element.subject != ProposalSubject::Act)
    }

    fn checks_ui(&self, ui: &mut Ui, cx: &ReviewContext<'_>) {
        let checks = &self.proposal().checks;
        let errors = checks.iter().filter(|check| check.severity == ProblemSeverity::Error).count();
        match (checks.len(), errors) {
            (0, _) => drop(muted_ui(ui, cx.view.theme, "Checks passed: no new problems.")),
            (all, 0) => drop(ui.label(format!("Checks: {}", count_noun(all, "new warning")))),
            (_, errors) => drop(ui.label(format!("Checks: {}", count_noun(errors, "new error")))),
        }
        let removals = self.proposal().elements.iter().filter(|element| element.destructive).count();
        if removals > 0 && checks.is_empty() {
            let are =
                if removals == 1 { "1 removal is".to_owned() } else { format!("{removals} removals are") };
            let text = format!(
                "{are} proposed. The checks do not detect whether the removed elements are still needed."
            );
            warning_ui(ui, cx.view.theme, ProblemSeverity::Warning, &text);
        }
        for check in checks.iter().take(MAX_ROWS) {
            let subject = match check.element {
                ElementId::Node(id) => ProposalSubject::Node(id),
                ElementId::Edge(id) => ProposalSubject::Edge(id),
                ElementId::Board(id) => ProposalSubject::Board(id),
            };
            line_ui(ui, cx, check.severity, &check.message, Some(subject));
        }
    }
}

/// Returns the place of the plan button when it got the keyboard in this frame.
fn all_ui(
    ui: &mut Ui,
    cx: &ReviewContext<'_>,
    all: &ProposalConsequences,
    scope: Option<&str>,
    after: Option<&Snapshot>,
    typed: &mut ReviewInput,
) -> Option<egui::Rect> {
    let mut led_to = None;
    for board in &all.boards {
        board_ui(ui, cx.view, board, all.boards.len() > 1, typed);
        scope_ui(ui, cx.view.theme, scope.map(str::to_owned));
        let ProposalConsequences { proposal, version, hash, .. } = *all;
        let takes_credentials = [Some(cx.view.snapshot), after]
            .into_iter()
            .flatten()
            .any(|snapshot| takes_credentials(snapshot, board.board));
        let planned = TrialPlanTarget { proposal, version, hash, board: board.board, takes_credentials };
        led_to = trial_ui(ui, cx, planned, typed).or(led_to);
    }
    if !all.links.is_empty() {
        ui.label(format!("{} will need review", count_noun(all.links.len(), "trace link")));
        for words in all.links.iter().take(MAX_ROWS) {
            line_ui(ui, cx, ProblemSeverity::Warning, words, None);
        }
    }
    led_to
}

fn board_ui(
    ui: &mut Ui,
    view: &FrameView<'_>,
    board: &BoardConsequences,
    is_named: bool,
    typed: &mut ReviewInput,
) {
    if is_named {
        ui.label(RichText::new(&board.name).strong());
    }
    if let Some(cost) = &board.cost {
        ui.add(egui::Label::new(RichText::new(cost_words(cost)).small()).wrap());
    }
    if let Some(problem) = &board.problem {
        muted_ui(ui, view.theme, words::line(problem));
    }
    match board.files.len() + board.more_files as usize {
        0 => drop(muted_ui(ui, view.theme, "Terraform: no file changes.")),
        count => {
            let words = format!("Terraform: {} would change", count_noun(count, "file"));
            ui.label(RichText::new(words).small());
        }
    }
    for file in &board.files {
        file_ui(ui, view, board, file, typed);
    }
    if board.more_files > 0 {
        muted_ui(ui, view.theme, format!("and {} more", board.more_files));
    }
}

/// `Costs: $120.00 a month → $148.00 (+$28.00), 2 without a price`
fn cost_words(cost: &CostDelta) -> String {
    let amount = |value: f64| money::amount(cost.currency.as_deref(), value);
    let unpriced = match cost.unpriced_after {
        0 => String::new(),
        count => format!("; {} unpriced", count_noun(count as usize, "resource")),
    };
    match (cost.before, cost.after) {
        (None | Some(0.0), None | Some(0.0)) if cost.unpriced_after > 0 => {
            let count = count_noun(cost.unpriced_after as usize, "resource");
            format!("Costs: {count} unpriced")
        }
        (before, after) => {
            let (before, after) = (before.unwrap_or(0.0), after.unwrap_or(0.0));
            let difference = after - before;
            let sign = if difference < 0.0 { "−" } else { "+" };
            match difference.abs() < 0.005 {
                true => format!("Costs: {} a month, unchanged{unpriced}", amount(after)),
                false => format!(
                    "Costs: {} → {} a month ({sign}{}){unpriced}",
                    amount(before),
                    amount(after),
                    amount(difference.abs())
                ),
            }
        }
    }
}

fn file_ui(
    ui: &mut Ui,
    view: &FrameView<'_>,
    board: &BoardConsequences,
    file: &FileLineCounts,
    typed: &mut ReviewInput,
) {
    let key = (board.board, file.path.clone());
    let title = format!("{}  +{} −{}", file.path, file.added, file.removed);
    let is_short = file.added + file.removed <= SHORT;
    let mut open = is_short != typed.toggled_files.contains(&key);
    let was = open;
    disclosure_ui(ui, view.theme, &title, None, &mut open);
    if open != was && !typed.toggled_files.remove(&key) {
        typed.toggled_files.insert(key);
    }
    if !open {
        return;
    }
    let theme = view.theme;
    // The heading shows the file name already.
    let lines = file.text.lines().skip(2);
    inset_ui(ui, theme, egui::Margin::symmetric(8, 6), |ui| {
        ui.spacing_mut().item_spacing.y = 0.0;
        let size = egui::TextStyle::Small.resolve(ui.style()).size;
        let font = egui::FontId::monospace(size);
        for line in lines.clone().take(MAX_LINES) {
            let colour = match line.chars().next() {
                Some('+') => theme.success,
                Some('-') => theme.danger,
                Some('@') => theme.text_subtle,
                _ => theme.text_muted,
            };
            let text = RichText::new(line).font(font.clone()).color(colour);
            ui.add(egui::Label::new(text).wrap_mode(egui::TextWrapMode::Truncate));
        }
        let more = lines.count().saturating_sub(MAX_LINES);
        if more > 0 {
            muted_ui(ui, theme, format!("and {}", count_noun(more, "more line")));
        }
    });
}

fn line_ui(
    ui: &mut Ui,
    cx: &ReviewContext<'_>,
    severity: ProblemSeverity,
    text: &str,
    subject: Option<ProposalSubject>,
) {
    ui.horizontal_top(|ui| {
        severity_mark_ui(ui, cx.view.theme, vec2(14.0, 16.0), severity);
        let label = egui::Label::new(RichText::new(text).small()).wrap();
        match subject {
            Some(subject) => {
                if ui.add(label.sense(Sense::click())).clicked() {
                    cx.send(ReviewMessage::Jump(subject));
                }
            }
            None => drop(ui.add(label)),
        }
    });
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn costs_are_told_with_what_is_not_known() {
        let cost = |before, after, unpriced_after| CostDelta {
            currency: Some("USD".to_owned()),
            before,
            after,
            unpriced_before: 0,
            unpriced_after,
        };
        let up = cost_words(&cost(Some(120.0), Some(148.0), 2));
        assert!(up.contains('→') && up.contains("(+") && up.ends_with("; 2 resources unpriced"), "{up}");
        assert!(cost_words(&cost(Some(10.0), Some(4.0), 0)).contains("(−"));
        assert!(cost_words(&cost(Some(10.0), Some(10.0), 0)).ends_with("unchanged"));
        assert_eq!(cost_words(&cost(None, Some(0.0), 3)), "Costs: 3 resources unpriced");
    }
}
