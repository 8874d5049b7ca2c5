//! Review: agents propose changes and people decide. Owns the queue, the open proposal, the canvas of the proposed
//! state and the decision.
//!
//! Must not know: how a decision is checked. Main checks every decision again; this side makes sure that a person
//! decides about the state that they saw. Nothing here decides by itself, and no single key confirms a removal.
//!
//! ```text
//! ReviewView (main's queue) ─► queue panel
//! ProposalDetails (the one in view, main sends each change) ─► ProposalReview (ticks, confirmations, newer version)
//!                                                               ├ ProposedWorkspace ─► canvas
//!                                                               └ proposal panel ─► Verdict ─► Accept
//! ```

mod call;
mod clashes;
mod closure;
mod codes;
mod comments;
mod consequences;
mod decide;
mod details;
mod elements;
mod files;
mod header;
mod list;
mod messages;
mod opened;
mod pages;
mod proposal;
mod proposed;
mod queue;
mod request_plan;
mod strip;
mod trial;
pub(crate) mod words;

pub(crate) use codes::codes_ui;
pub(crate) use messages::{ReviewContext, ReviewMessage, ReviewReply};
pub(crate) use opened::{ProposalPresentation, ProposalResendReason};
pub(crate) use proposed::ProposedWorkspace;

use crate::{replica::ReplicatedWorkspace, view::WindowAction, widgets::disclosure_ui};
use canvas::Canvas;
use opened::ProposalReview;
use shared_protocol::{
    BoardId, ProposalId, ProposalState, ProposalSubject, decisions::CloseProposal, review::ProposalDetails,
};
use std::{
    collections::{BTreeMap, BTreeSet},
    sync::Arc,
};

/// The maximum number of decided proposals in one request.
pub(crate) const MAX_HISTORY: u32 = 500;

#[derive(Default)]
pub(crate) struct ReviewFeature {
    review: Option<ProposalReview>,
    /// The proposal that a person opened and that has not arrived yet.
    selected: Option<ProposalId>,
    /// Proposals whose ghosts a person hid.
    hidden: BTreeSet<ProposalId>,
    pub(crate) canvases: BTreeMap<BoardId, Canvas>,
    generation: u32,
    queue: queue::ReviewQueueState,
    input: ReviewInput,
    /// The time until which the proposed state is shown.
    pub(crate) blink_until: f64,
    /// The part of the proposal to bring into view when the canvas is drawn next.
    pub(crate) reveal: ProposalReveal,
}

/// The part of a proposal that the canvas brings into view.
#[derive(Debug, Default)]
pub(crate) enum ProposalReveal {
    #[default]
    Nothing,
    Everything,
    Element(ProposalSubject),
}

impl ProposalReveal {
    pub(crate) fn everything(&mut self) {
        // A wish for one element is narrower and wins.
        if !matches!(self, Self::Element(_)) {
            *self = Self::Everything;
        }
    }
}

/// Input of the reviewer that is not sent yet.
#[derive(Default)]
struct ReviewInput {
    hold_button: crate::hold_button::HoldButton,
    /// The typed name of a removal.
    name: String,
    comment: String,
    /// The comment that was sent and is not confirmed yet.
    restored_comment: Option<String>,
    /// Sections that are open, by title, and those that a person folded.
    shows: BTreeSet<&'static str>,
    /// Files whose difference a person opened or folded.
    toggled_files: BTreeSet<(BoardId, String)>,
    plan: trial::TrialPlanForm,
}

impl ReviewInput {
    /// The heading of a section. Returns whether it is open.
    fn section_ui(
        &mut self,
        ui: &mut egui::Ui,
        theme: &canvas::theme::WorkbenchTheme,
        title: &'static str,
        count: Option<usize>,
    ) -> bool {
        let mut open = self.shows.contains(title);
        match disclosure_ui(ui, theme, title, count, &mut open) {
            true => self.shows.insert(title),
            false => self.shows.remove(title),
        };
        open
    }
}

impl ReviewFeature {
    pub(crate) fn open_review(&self) -> Option<&ProposalReview> {
        self.review.as_ref()
    }

    /// Returns whether a person reviews a proposal, and does not only see the ghosts of a draft.
    pub(crate) fn is_reviewing(&self) -> bool {
        self.review
            .as_ref()
            .is_some_and(|opened| !opened.is_followed && opened.look != ProposalPresentation::Edit)
    }

    pub(crate) fn look(&self) -> ProposalPresentation {
        self.review
            .as_ref()
            .filter(|opened| !opened.is_followed)
            .map_or(ProposalPresentation::Overlay, |opened| opened.look)
    }

    pub(crate) fn edited_workspace(&self) -> Option<&Arc<ProposedWorkspace>> {
        self.review.as_ref().filter(|opened| opened.look == ProposalPresentation::Edit)?.proposed.as_ref()
    }

    /// Opens a proposal, or keeps it when it is open already.
    fn open(&mut self, id: ProposalId) {
        self.hidden.remove(&id);
        match &mut self.review {
            Some(opened) if opened.id() == id => opened.is_followed = false,
            _ => self.selected = Some(id),
        }
    }

    fn close(&mut self, cx: &ReviewContext<'_>) {
        if let Some(opened) = self.review.take() {
            let proposal = opened.id();
            self.hidden.insert(proposal);
            cx.request(CloseProposal { proposal }, ReviewReply::Done);
        }
        self.input = ReviewInput::default();
        self.canvases.clear();
        self.selected = None;
    }

    pub(crate) fn reset(&mut self) {
        *self = Self { generation: self.generation, ..Self::default() };
    }

    /// Shows a proposal as it is now.
    pub(crate) fn show_details(
        &mut self,
        details: ProposalDetails,
        arrival: ProposalResendReason,
        cx: &ReviewContext<'_>,
    ) {
        if self.replace_details(details, arrival, cx) {
            self.go_to_proposal(cx);
        }
        // Moving the camera of an empty board takes nothing away from view.
        let snapshot = &cx.view.workspace.snapshot;
        if cx.view.board.is_some_and(|board| snapshot.nodes_on(board).next().is_none()) {
            self.reveal.everything();
        }
        if arrival != ProposalResendReason::News {
            cx.act(WindowAction::DropNudges);
        }
    }

    /// Opens a board that the proposal touches, with all of the proposal in view.
    fn go_to_proposal(&mut self, cx: &ReviewContext<'_>) {
        let Some(board) = self.first_board(cx.view.board) else { return };
        if cx.view.workspace.snapshot.board(board).is_some() {
            cx.act(WindowAction::OpenBoard(board));
            self.reveal.everything();
        }
    }

    /// Replaces the proposal in view, unless a person looks at another one. Returns whether a person has just opened it.
    fn replace_details(
        &mut self,
        details: ProposalDetails,
        arrival: ProposalResendReason,
        cx: &ReviewContext<'_>,
    ) -> bool {
        let id = details.brief.id;
        let wanted = self.selected.take_if(|wanted| *wanted == id).is_some();
        match &mut self.review {
            Some(opened) if opened.id() == id => opened.receive(details, arrival),
            // A person opened another proposal meanwhile.
            Some(opened) if !wanted && !opened.is_followed => return false,
            _ if !wanted && self.hidden.contains(&id) => return false,
            _ => {
                let mut opened = ProposalReview::new(details);
                opened.is_followed = !wanted;
                self.review = Some(opened);
                self.input = ReviewInput::default();
            }
        }
        let over = |opened: &mut ProposalReview| {
            let brief = &opened.proposal().brief;
            opened.is_followed && brief.state != ProposalState::Draft && !brief.needs_decision()
        };
        if self.review.as_mut().is_some_and(over) {
            self.close(cx);
            return false;
        }
        self.redraw(Some(cx.view.workspace));
        wanted
    }

    /// Allows another decision after one that failed.
    fn reset_decision(&mut self) {
        if let Some(opened) = &mut self.review {
            opened.deciding = opened::DecisionProgress::Not;
        }
    }

    /// Returns whether page images are shown enlarged over the window.
    pub(crate) fn is_enlarging(&self) -> bool {
        self.review.as_ref().is_some_and(|opened| opened.pages.is_enlarging())
    }

    /// Clears a comment that was accepted and restores one that was not.
    fn finish_comment(&mut self, taken: bool) {
        let said = self.input.restored_comment.take();
        if let Some(said) = said.filter(|_| !taken && self.input.comment.is_empty()) {
            self.input.comment = said;
        }
    }

    /// Recomputes the proposed state after a change of the workspace or the proposal.
    pub(crate) fn redraw(&mut self, workspace: Option<&ReplicatedWorkspace>) {
        let (Some(opened), Some(workspace)) = (&mut self.review, workspace) else { return };
        self.generation = self.generation.wrapping_add(1);
        // A decided proposal has no ghosts.
        let proposed = match opened.is_over() {
            true => None,
            false => ProposedWorkspace::build(workspace, opened.proposal(), self.generation),
        };
        if opened.is_over() {
            opened.look = ProposalPresentation::Overlay;
        } else if proposed.is_none()
            && matches!(opened.look, ProposalPresentation::Edit | ProposalPresentation::SideBySide)
        {
            opened.look = ProposalPresentation::List;
        }
        opened.proposed = proposed.map(Arc::new);
        match &opened.proposed {
            Some(proposed) => {
                self.canvases.retain(|board, _| proposed.after.board(*board).is_some());
                for (board, canvas) in &mut self.canvases {
                    canvas.document_changed(&proposed.after, *board, None);
                }
            }
            None => self.canvases.clear(),
        }
    }

    pub(crate) fn canvas(&mut self, board: BoardId, proposed: &ProposedWorkspace) -> &mut Canvas {
        self.canvases.entry(board).or_insert_with(|| {
            let mut canvas = Canvas::new();
            canvas.document_changed(&proposed.after, board, None);
            canvas
        })
    }

    /// The board to show first: the current one if the proposal touches it, else the first that it touches.
    fn first_board(&self, shown: Option<BoardId>) -> Option<BoardId> {
        let elements = &self.review.as_ref()?.proposal().elements;
        let boards = || elements.iter().filter_map(|element| element.board);
        shown.filter(|shown| boards().any(|board| board == *shown)).or_else(|| boards().next())
    }
}
