//! Review: agents propose changes and people decide. Owns the queue, the open proposal, the canvas of the proposed
//! state and the decision.
//!
//! Must not know: how a decision is checked. Main checks every decision again; this side makes sure that a person
//! decides about the state that they saw. Nothing here decides by itself, and no single key confirms a removal.
//!
//! ```text
//! ReviewView (main's queue) ─► queue panel
//!            stamp differs ─► Open ─► OpenedProposal ─► ProposalReview (ticks, confirmations, newer version)
//!                                                       ├ ProposedWorkspace ─► canvas
//!                                                       └ proposal panel ─► Verdict ─► Accept
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
pub(crate) use messages::{ReviewContext, ReviewMessage, ReviewPending};
pub(crate) use opened::ProposalLook;
pub(crate) use proposed::ProposedWorkspace;

use crate::replica::ReplicatedWorkspace;
use canvas::Canvas;
use opened::{ProposalArrival, ProposalReview};
use shared_protocol::{
    BoardId, ProposalId, ProposalState, ProposalSubject,
    review::{ProposalBrief, ProposalDetails, ReviewView},
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
    /// The proposal that main was asked for.
    requested: Option<ProposalId>,
    /// Proposals whose ghosts a person hid.
    hidden: BTreeSet<ProposalId>,
    /// Canvases of the proposed state.
    canvases: BTreeMap<BoardId, Canvas>,
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

    fn element(&mut self, subject: ProposalSubject) {
        *self = Self::Element(subject);
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
    /// Sections that are open.
    shows: BTreeSet<&'static str>,
    /// Files whose difference a person opened or folded.
    toggled_files: BTreeSet<(BoardId, String)>,
    plan: trial::TrialPlanForm,
}

impl ReviewFeature {
    pub(crate) fn open_review(&self) -> Option<&ProposalReview> {
        self.review.as_ref()
    }

    /// Returns whether a person reviews a proposal, and does not only see the ghosts of a draft.
    pub(crate) fn is_reviewing(&self) -> bool {
        self.review.as_ref().is_some_and(|opened| !opened.is_followed && opened.look != ProposalLook::Edit)
    }

    pub(crate) fn look(&self) -> ProposalLook {
        self.review
            .as_ref()
            .filter(|opened| !opened.is_followed)
            .map_or(ProposalLook::Overlay, |opened| opened.look)
    }

    /// The proposed state while the reviewer edits it.
    pub(crate) fn edited_workspace(&self) -> Option<&Arc<ProposedWorkspace>> {
        self.review.as_ref().filter(|opened| opened.look == ProposalLook::Edit)?.proposed.as_ref()
    }

    /// Opens a proposal, or keeps it when it is open already.
    fn open(&mut self, id: ProposalId) {
        self.hidden.remove(&id);
        match &mut self.review {
            Some(opened) if opened.id() == id => opened.is_followed = false,
            _ => self.selected = Some(id),
        }
    }

    fn close(&mut self) {
        if let Some(opened) = self.review.take() {
            self.hidden.insert(opened.id());
        }
        self.input = ReviewInput::default();
        self.canvases.clear();
        self.selected = None;
    }

    pub(crate) fn reset(&mut self) {
        *self = Self { generation: self.generation, ..Self::default() };
    }

    /// Returns the proposal to request: one that a person opened, else one that is outdated, else a draft. One at a
    /// time, so that a busy agent does not cost more than the window can draw.
    fn next_missing(&mut self, view: &ReviewView) -> Option<ProposalId> {
        if self.requested.is_some() {
            return None;
        }
        let brief = |id: ProposalId| view.proposals.iter().find(|brief| brief.id == id);
        let outdated = self.review.as_ref().and_then(|opened| {
            brief(opened.id()).filter(|brief| brief.stamp != opened.stamp()).map(|brief| brief.id)
        });
        let is_free = self.review.as_ref().is_none_or(|opened| opened.is_followed);
        let writing =
            |brief: &&ProposalBrief| brief.state == ProposalState::Draft && !self.hidden.contains(&brief.id);
        let followed = view.proposals.iter().filter(writing).max_by_key(|brief| brief.number);
        let followed = followed
            .map(|brief| brief.id)
            .filter(|id| is_free && self.review.as_ref().is_none_or(|opened| opened.id() != *id));
        self.requested = self.selected.or(outdated).or(followed);
        self.requested
    }

    /// Returns whether a person has just opened this proposal.
    pub(crate) fn receive(
        &mut self,
        proposal: ProposalDetails,
        arrival: ProposalArrival,
        workspace: Option<&ReplicatedWorkspace>,
    ) -> bool {
        let id = proposal.brief.id;
        if self.requested == Some(id) {
            self.requested = None;
        }
        let wanted = self.selected.take_if(|wanted| *wanted == id).is_some();
        match &mut self.review {
            Some(opened) if opened.id() == id => opened.receive(proposal, arrival),
            // A person opened another proposal meanwhile.
            Some(opened) if !wanted && !opened.is_followed => return false,
            _ => {
                let mut opened = ProposalReview::new(proposal);
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
            self.close();
            return false;
        }
        self.redraw(workspace);
        wanted
    }

    /// Forgets a request that failed.
    fn give_up(&mut self) {
        self.selected = None;
        self.requested = None;
    }

    /// Allows another decision after one that failed.
    fn reset_decision(&mut self) {
        if let Some(opened) = &mut self.review {
            opened.deciding = opened::DecisionStep::Not;
        }
    }

    /// Returns whether page images are shown enlarged over the window.
    pub(crate) fn is_enlarging(&self) -> bool {
        self.review.as_ref().is_some_and(|opened| opened.pages.is_enlarging())
    }

    /// Main started the plan of a proposal, or refused it.
    fn plan_answered(&mut self, has_begun: bool) {
        self.input.plan.handle_response(has_begun);
    }

    /// Main needs values for these variables before it can plan.
    fn plan_needs(&mut self, proposal: ProposalId, board: BoardId, secrets: Vec<String>) {
        if self.review.as_ref().is_some_and(|opened| opened.id() == proposal) {
            self.input.plan.require_secrets(board, secrets);
        }
    }

    /// Clears a comment that was accepted and restores one that was not.
    fn commented(&mut self, taken: bool) {
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
            opened.look = ProposalLook::Overlay;
        } else if proposed.is_none() && matches!(opened.look, ProposalLook::Edit | ProposalLook::SideBySide) {
            opened.look = ProposalLook::List;
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

    /// The canvas of a board in the proposed state.
    pub(crate) fn canvas(&mut self, board: BoardId, proposed: &ProposedWorkspace) -> &mut Canvas {
        self.canvases.entry(board).or_insert_with(|| {
            let mut canvas = Canvas::new();
            canvas.document_changed(&proposed.after, board, None);
            canvas
        })
    }

    pub(crate) fn known_canvas(&self, board: BoardId) -> Option<&Canvas> {
        self.canvases.get(&board)
    }

    /// The board to show first: the current one if the proposal touches it, else the first that it touches.
    fn first_board(&self, shown: Option<BoardId>) -> Option<BoardId> {
        let elements = &self.review.as_ref()?.proposal().elements;
        let boards = || elements.iter().filter_map(|element| element.board);
        shown.filter(|shown| boards().any(|board| board == *shown)).or_else(|| boards().next())
    }

    /// The board that an element is on.
    fn board_of(&self, subject: &ProposalSubject) -> Option<BoardId> {
        self.review.as_ref()?.element(subject)?.board
    }

    fn receive_history(&mut self, older: Vec<ProposalBrief>) {
        self.queue.older = Some(older);
    }
}
