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
pub(crate) mod codes;
mod comments;
mod consequences;
mod decide;
mod details;
mod elements;
mod files;
mod header;
mod list;
pub(crate) mod opened;
mod pages;
mod proposal;
pub(crate) mod proposed;
mod queue;
mod request_plan;
pub(crate) mod strip;
mod trial;
pub(crate) mod words;

use crate::replica::Workspace;
use canvas::Canvas;
use opened::{Arrival, Look, Opened};
use proposed::Proposed;
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
pub(crate) struct Review {
    opened: Option<Opened>,
    /// A person wants to see this one.
    wanted: Option<ProposalId>,
    /// Main was asked for it.
    asked: Option<ProposalId>,
    /// Ghosts that somebody has sent away.
    hidden: BTreeSet<ProposalId>,
    /// The boards as they would be, for the views that show all of them.
    canvases: BTreeMap<BoardId, Canvas>,
    generation: u32,
    queue: queue::QueueState,
    typed: Typed,
    /// The state as it would be is shown for a moment, until then.
    pub(crate) blink_until: f64,
}

/// What is typed or held and not yet said.
#[derive(Default)]
struct Typed {
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
    plan: trial::Form,
}

impl Review {
    pub(crate) fn opened(&self) -> Option<&Opened> {
        self.opened.as_ref()
    }

    pub(crate) fn opened_mut(&mut self) -> Option<&mut Opened> {
        self.opened.as_mut()
    }

    /// A person looks at a proposal, and not only at somebody's ghosts.
    pub(crate) fn is_reviewing(&self) -> bool {
        self.opened.as_ref().is_some_and(|opened| !opened.is_followed && opened.look != Look::Edit)
    }

    pub(crate) fn look(&self) -> Look {
        self.opened.as_ref().filter(|opened| !opened.is_followed).map_or(Look::Overlay, |opened| opened.look)
    }

    /// The state that the reviewer changes, while they do.
    pub(crate) fn edited(&self) -> Option<&Arc<Proposed>> {
        self.opened.as_ref().filter(|opened| opened.look == Look::Edit)?.proposed.as_ref()
    }

    /// A person wants to look at this one. It stays as it is when it is open already.
    pub(crate) fn open(&mut self, id: ProposalId) {
        self.hidden.remove(&id);
        match &mut self.opened {
            Some(opened) if opened.id() == id => opened.is_followed = false,
            _ => self.wanted = Some(id),
        }
    }

    pub(crate) fn close(&mut self) {
        if let Some(opened) = self.opened.take() {
            self.hidden.insert(opened.id());
        }
        self.typed = Typed::default();
        self.canvases.clear();
        self.wanted = None;
    }

    pub(crate) fn reset(&mut self) {
        *self = Self { generation: self.generation, ..Self::default() };
    }

    /// What main should be asked for now: what a person wants, else what is another than it was, else what somebody
    /// writes. One at a time, so that a busy agent costs no more than the window can draw.
    pub(crate) fn missing(&mut self, view: &ReviewView) -> Option<ProposalId> {
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
        arrival: Arrival,
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
                let mut opened = Opened::new(proposal);
                opened.is_followed = !wanted;
                self.opened = Some(opened);
                self.typed = Typed::default();
            }
        }
        let over = |opened: &mut Opened| {
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
    pub(crate) fn give_up(&mut self) {
        self.wanted = None;
        self.asked = None;
    }

    /// The decision was not carried out; what is shown may be decided about again once it is looked at.
    pub(crate) fn refused(&mut self) {
        if let Some(opened) = &mut self.opened {
            opened.deciding = opened::Deciding::Not;
        }
    }

    /// Pages are shown large, over everything else.
    pub(crate) fn is_enlarging(&self) -> bool {
        self.opened.as_ref().is_some_and(|opened| opened.pages.is_enlarging())
    }

    /// A plan of what is proposed has begun, or was refused.
    pub(crate) fn plan_answered(&mut self, has_begun: bool) {
        self.typed.plan.answered(has_begun);
    }

    /// Before it can be planned, a person has to give these values.
    pub(crate) fn plan_needs(&mut self, proposal: ProposalId, board: BoardId, secrets: Vec<String>) {
        if self.opened.as_ref().is_some_and(|opened| opened.id() == proposal) {
            self.typed.plan.needs(board, secrets);
        }
    }

    /// A comment was taken, or it was not and stays where it was typed.
    pub(crate) fn commented(&mut self, taken: bool) {
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
            false => Proposed::of(workspace, opened.proposal(), self.generation),
        };
        if opened.is_over() {
            opened.look = Look::Overlay;
        } else if proposed.is_none() && matches!(opened.look, Look::Edit | Look::SideBySide) {
            opened.look = Look::List;
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
    pub(crate) fn canvas(&mut self, board: BoardId, proposed: &Proposed) -> &mut Canvas {
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
    pub(crate) fn first_board(&self, shown: Option<BoardId>) -> Option<BoardId> {
        let elements = &self.opened.as_ref()?.proposal().elements;
        let boards = || elements.iter().filter_map(|element| element.board);
        shown.filter(|shown| boards().any(|board| board == *shown)).or_else(|| boards().next())
    }

    /// The board on which an element is drawn.
    pub(crate) fn board_of(&self, subject: &Subject) -> Option<BoardId> {
        self.opened.as_ref()?.element(subject)?.board
    }

    pub(crate) fn receive_history(&mut self, older: Vec<ProposalBrief>) {
        self.queue.older = Some(older);
    }
}
