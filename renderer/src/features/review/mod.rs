//! Review: agents propose, people decide. Owns what a reviewer sees and does in the window: the queue, the opened
//! proposal, the canvas with the proposal on it, the decision.
//!
//! Must not know: how a decision is checked. Whatever is shown here, main looks at all of it again; this side makes sure
//! that a person decides about what they saw. Nothing here decides by itself, and nothing destructive is one key away.
//!
//! ```text
//! ReviewView (main's queue) ─► queue panel
//!        stamp is another ─► Open ─► OpenedProposal ─► Opened (ticks, confirmations, what changed meanwhile)
//!                                                       ├ Proposed (the state as it would be) ─► canvas
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
pub(crate) use proposed::ProposedState;

use crate::replica::Workspace;
use canvas::Canvas;
use opened::{ProposalArrival, ProposalReview};
use shared_protocol::{
    BoardId, ProposalId, ProposalState, Subject,
    review::{OpenedProposal, ProposalBrief, ReviewView},
};
use std::{
    collections::{BTreeMap, BTreeSet},
    sync::Arc,
};

/// Decided proposals that are asked for at once.
pub(crate) const MAX_HISTORY: u32 = 500;

#[derive(Default)]
pub(crate) struct ReviewFeature {
    opened: Option<ProposalReview>,
    /// A person wants to see this one.
    wanted: Option<ProposalId>,
    /// Main was asked for it.
    asked: Option<ProposalId>,
    /// Ghosts that somebody has sent away.
    hidden: BTreeSet<ProposalId>,
    /// The boards as they would be, for the views that show all of them.
    canvases: BTreeMap<BoardId, Canvas>,
    generation: u32,
    queue: queue::ReviewQueueState,
    typed: ReviewInput,
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
    Element(Subject),
}

impl ProposalReveal {
    pub(crate) fn everything(&mut self) {
        // One element is the narrower wish.
        if !matches!(self, Self::Element(_)) {
            *self = Self::Everything;
        }
    }

    fn element(&mut self, subject: Subject) {
        *self = Self::Element(subject);
    }
}

/// What is typed or held and not yet said.
#[derive(Default)]
struct ReviewInput {
    holding: crate::hold::Holding,
    /// The name of a destructive element.
    name: String,
    comment: String,
    /// The comment that main was asked to take and has not answered for yet.
    said: Option<String>,
    /// Headings that are open.
    shows: BTreeSet<&'static str>,
    /// Files whose difference was opened or folded by hand.
    turned: BTreeSet<(BoardId, String)>,
    plan: trial::TrialPlanForm,
}

impl ReviewFeature {
    pub(crate) fn opened(&self) -> Option<&ProposalReview> {
        self.opened.as_ref()
    }

    /// A person looks at a proposal, and not only at somebody's ghosts.
    pub(crate) fn is_reviewing(&self) -> bool {
        self.opened.as_ref().is_some_and(|opened| !opened.is_followed && opened.look != ProposalLook::Edit)
    }

    pub(crate) fn look(&self) -> ProposalLook {
        self.opened
            .as_ref()
            .filter(|opened| !opened.is_followed)
            .map_or(ProposalLook::Overlay, |opened| opened.look)
    }

    /// The state that the reviewer changes, while they do.
    pub(crate) fn edited(&self) -> Option<&Arc<ProposedState>> {
        self.opened.as_ref().filter(|opened| opened.look == ProposalLook::Edit)?.proposed.as_ref()
    }

    /// A person wants to look at this one. It stays as it is when it is open already.
    fn open(&mut self, id: ProposalId) {
        self.hidden.remove(&id);
        match &mut self.opened {
            Some(opened) if opened.id() == id => opened.is_followed = false,
            _ => self.wanted = Some(id),
        }
    }

    fn close(&mut self) {
        if let Some(opened) = self.opened.take() {
            self.hidden.insert(opened.id());
        }
        self.typed = ReviewInput::default();
        self.canvases.clear();
        self.wanted = None;
    }

    pub(crate) fn reset(&mut self) {
        *self = Self { generation: self.generation, ..Self::default() };
    }

    /// What main should be asked for now: what a person wants, else what is another than it was, else what somebody
    /// writes. One at a time, so that a busy agent costs no more than the window can draw.
    fn missing(&mut self, view: &ReviewView) -> Option<ProposalId> {
        if self.asked.is_some() {
            return None;
        }
        let brief = |id: ProposalId| view.proposals.iter().find(|brief| brief.id == id);
        let outdated = self.opened.as_ref().and_then(|opened| {
            brief(opened.id()).filter(|brief| brief.stamp != opened.stamp()).map(|brief| brief.id)
        });
        let is_free = self.opened.as_ref().is_none_or(|opened| opened.is_followed);
        let writing =
            |brief: &&ProposalBrief| brief.state == ProposalState::Draft && !self.hidden.contains(&brief.id);
        let followed = view.proposals.iter().filter(writing).max_by_key(|brief| brief.number);
        let followed = followed
            .map(|brief| brief.id)
            .filter(|id| is_free && self.opened.as_ref().is_none_or(|opened| opened.id() != *id));
        self.asked = self.wanted.or(outdated).or(followed);
        self.asked
    }

    /// Gives back whether it is a proposal that a person has just opened.
    pub(crate) fn receive(
        &mut self,
        proposal: OpenedProposal,
        arrival: ProposalArrival,
        workspace: Option<&Workspace>,
    ) -> bool {
        let id = proposal.brief.id;
        if self.asked == Some(id) {
            self.asked = None;
        }
        let wanted = self.wanted.take_if(|wanted| *wanted == id).is_some();
        match &mut self.opened {
            Some(opened) if opened.id() == id => opened.receive(proposal, arrival),
            // Somebody has opened another one meanwhile.
            Some(opened) if !wanted && !opened.is_followed => return false,
            _ => {
                let mut opened = ProposalReview::new(proposal);
                opened.is_followed = !wanted;
                self.opened = Some(opened);
                self.typed = ReviewInput::default();
            }
        }
        let over = |opened: &mut ProposalReview| {
            let brief = &opened.proposal().brief;
            opened.is_followed && brief.state != ProposalState::Draft && !brief.waits()
        };
        if self.opened.as_mut().is_some_and(over) {
            self.close();
            return false;
        }
        self.draw_anew(workspace);
        wanted
    }

    /// Asking failed: whatever was wanted is not there.
    fn give_up(&mut self) {
        self.wanted = None;
        self.asked = None;
    }

    /// Allows another decision after one that failed.
    fn reset_decision(&mut self) {
        if let Some(opened) = &mut self.opened {
            opened.deciding = opened::DecisionStep::Not;
        }
    }

    /// Pages are shown large, over everything else.
    pub(crate) fn is_enlarging(&self) -> bool {
        self.opened.as_ref().is_some_and(|opened| opened.pages.is_enlarging())
    }

    /// A plan of what is proposed has begun, or was refused.
    fn plan_answered(&mut self, has_begun: bool) {
        self.typed.plan.answered(has_begun);
    }

    /// Before it can be planned, a person has to give these values.
    fn plan_needs(&mut self, proposal: ProposalId, board: BoardId, secrets: Vec<String>) {
        if self.opened.as_ref().is_some_and(|opened| opened.id() == proposal) {
            self.typed.plan.needs(board, secrets);
        }
    }

    /// A comment was taken, or it was not and stays where it was typed.
    fn commented(&mut self, taken: bool) {
        let said = self.typed.said.take();
        if let Some(said) = said.filter(|_| !taken && self.typed.comment.is_empty()) {
            self.typed.comment = said;
        }
    }

    /// The workspace or the proposal is another: the state as it would be is, too.
    pub(crate) fn draw_anew(&mut self, workspace: Option<&Workspace>) {
        let (Some(opened), Some(workspace)) = (&mut self.opened, workspace) else { return };
        self.generation = self.generation.wrapping_add(1);
        // What is over leaves no ghosts of what cannot happen any more.
        let proposed = match opened.is_over() {
            true => None,
            false => ProposedState::of(workspace, opened.proposal(), self.generation),
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

    /// The canvas of a board as it would be.
    pub(crate) fn canvas(&mut self, board: BoardId, proposed: &ProposedState) -> &mut Canvas {
        self.canvases.entry(board).or_insert_with(|| {
            let mut canvas = Canvas::new();
            canvas.document_changed(&proposed.after, board, None);
            canvas
        })
    }

    pub(crate) fn known_canvas(&self, board: BoardId) -> Option<&Canvas> {
        self.canvases.get(&board)
    }

    /// Where a person should look first: the board that is shown if anything is proposed there, else the first that is.
    fn first_board(&self, shown: Option<BoardId>) -> Option<BoardId> {
        let elements = &self.opened.as_ref()?.proposal().elements;
        let boards = || elements.iter().filter_map(|element| element.board);
        shown.filter(|shown| boards().any(|board| board == *shown)).or_else(|| boards().next())
    }

    /// The board on which an element is drawn.
    fn board_of(&self, subject: &Subject) -> Option<BoardId> {
        self.opened.as_ref()?.element(subject)?.board
    }

    fn receive_history(&mut self, older: Vec<ProposalBrief>) {
        self.queue.older = Some(older);
    }
}
