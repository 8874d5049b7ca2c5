//! The messages of the review and their handling, and the responses of main to its requests.

use super::{
    ProposalReveal, ReviewFeature,
    opened::{DecisionProgress, ProposalPresentation, ProposalResendReason},
    words,
};
use crate::{
    frame::{Feature, FeatureContext},
    panel_id::PanelId,
    tour::targets::{TourTarget, bring_into_view},
    view::WindowAction,
};
use egui::Key;
use shared_protocol::{
    ProposalId, ProposalState, ProposalSubject, Refusal, RefusalCode,
    decisions::{DecidedProposal, EditProposal, OpenProposal, RevertProposal, ReviewPlanStart},
    messages::AppliedCommand,
    review::{ProposalBrief, ProposalConsequences, ProposalDetails, ProposedPagePictures},
};

pub(crate) type ReviewContext<'a> = FeatureContext<'a, ReviewFeature>;

#[derive(Debug, Clone)]
pub(crate) enum ReviewMessage {
    Open(ProposalId),
    /// Opens the newest proposal that waits for a decision, or the queue when none does.
    OpenNewest,
    Close,
    /// Brings an element of the proposal into view on its board.
    Jump(ProposalSubject),
    /// Opens the row of an element that was clicked on the board.
    Focus(ProposalSubject),
    Step {
        forwards: bool,
    },
    Tick,
    /// Opens the choices of a decision and chooses none.
    Decide,
    /// Shows the proposed state for a moment.
    Blink,
    ShowPlan,
    SetLook(ProposalPresentation),
}

/// A response of main to a request of the reviewer.
#[derive(Debug)]
pub(crate) enum ReviewReply {
    Opened(Result<ProposalDetails, Refusal>),
    Rebased(Result<ProposalDetails, Refusal>),
    Edited(Result<ProposalDetails, Refusal>),
    Commented(Result<ProposalDetails, Refusal>),
    Decided(Result<DecidedProposal, Refusal>),
    Reverted {
        proposal: ProposalId,
        result: Result<AppliedCommand, Refusal>,
    },
    History(Result<Vec<ProposalBrief>, Refusal>),
    Consequences(Result<ProposalConsequences, Refusal>),
    Pages(Result<ProposedPagePictures, Refusal>),
    PlanStarted {
        proposal: ProposalId,
        result: Result<ReviewPlanStart, Refusal>,
    },
    /// A request whose effect shows by itself.
    Done(Result<(), Refusal>),
}

impl Feature for ReviewFeature {
    type Message = ReviewMessage;
    type Reply = ReviewReply;
}

/// Seconds that a button or a menu row shows the proposed state.
const BLINK_SECONDS: f64 = 1.2;

impl ReviewFeature {
    pub(crate) fn handle(&mut self, message: ReviewMessage, cx: &ReviewContext<'_>) {
        match message {
            ReviewMessage::Open(id) => {
                self.open(id);
                cx.request(OpenProposal { proposal: id }, ReviewReply::Opened);
                cx.act(WindowAction::ShowPanel(PanelId::Proposal));
                self.go_to_proposal(cx);
            }
            ReviewMessage::OpenNewest => {
                let newest = cx.view.review.proposals.iter().filter(|brief| brief.needs_decision());
                match newest.max_by_key(|brief| brief.number) {
                    Some(brief) => self.handle(ReviewMessage::Open(brief.id), cx),
                    None => cx.act(WindowAction::ShowPanel(PanelId::Review)),
                }
            }
            ReviewMessage::Close => {
                self.close(cx);
                cx.act(WindowAction::ClosePanel(PanelId::Proposal));
            }
            ReviewMessage::Jump(subject) => self.jump(subject, cx),
            ReviewMessage::Focus(subject) => {
                if let Some(opened) = self.review.as_mut().filter(|opened| !opened.is_followed) {
                    opened.focus_subject(Some(subject));
                    cx.act(WindowAction::ShowPanel(PanelId::Proposal));
                }
            }
            ReviewMessage::Step { forwards } => self.step(forwards, cx),
            ReviewMessage::Tick => {
                if let Some(opened) = &mut self.review
                    && let Some(focus) = opened.focus.clone()
                {
                    opened.tick(&focus);
                }
            }
            ReviewMessage::Decide => {
                if let Some(opened) = &mut self.review
                    && opened.deciding == DecisionProgress::Not
                {
                    opened.deciding = DecisionProgress::Choosing { fresh: true };
                }
                cx.act(WindowAction::ShowPanel(PanelId::Proposal));
            }
            ReviewMessage::Blink => {
                // Holding the key shows it already.
                if !cx.egui.input(|input| input.key_down(Key::B)) {
                    self.blink_until = cx.egui.input(|input| input.time) + BLINK_SECONDS;
                }
            }
            ReviewMessage::ShowPlan => {
                cx.act(WindowAction::ShowPanel(PanelId::Proposal));
                bring_into_view(cx.egui, TourTarget::Plan);
            }
            ReviewMessage::SetLook(look) => {
                if let Some(opened) = &mut self.review {
                    opened.look = look;
                    self.reveal.everything();
                }
            }
        }
    }

    fn jump(&mut self, subject: ProposalSubject, cx: &ReviewContext<'_>) {
        let Some(opened) = &mut self.review else { return };
        if opened.look == ProposalPresentation::List {
            opened.look = ProposalPresentation::Overlay;
        }
        opened.focus = Some(subject.clone());
        let Some(board) = opened.element(&subject).and_then(|element| element.board) else { return };
        // A proposed board has no canvas of its own yet.
        if cx.view.workspace.snapshot.board(board).is_some() {
            cx.act(WindowAction::OpenBoard(board));
            self.reveal = ProposalReveal::Element(subject);
        }
    }

    fn step(&mut self, forwards: bool, cx: &ReviewContext<'_>) {
        let Some(opened) = &mut self.review else { return };
        let look = opened.look;
        opened.step(forwards);
        if let Some(focus) = opened.focus.clone()
            && look != ProposalPresentation::List
        {
            self.jump(focus, cx);
        }
        cx.act(WindowAction::ShowPanel(PanelId::Proposal));
    }

    // ---- main ----------------------------------------------------------------------------------------------------------

    /// Begins an edit of the proposal, without commands yet, while the reviewer edits it.
    pub(crate) fn begin_edit(&self) -> Option<EditProposal> {
        let opened = self.review.as_ref().filter(|opened| opened.look == ProposalPresentation::Edit)?;
        let details = opened.proposal();
        let (proposal, version, hash) = (details.brief.id, details.brief.version, details.hash);
        Some(EditProposal { proposal, version, hash, commands: Vec::new() })
    }

    /// Returns why nothing can be undone now.
    pub(crate) fn refuse_undo(&self) -> Option<Refusal> {
        self.review.as_ref().filter(|opened| opened.look == ProposalPresentation::Edit)?;
        let refusal = Refusal::new(RefusalCode::BadRequest, "Edits to a proposal cannot be undone.");
        Some(refusal.hint("Undo applies to the workspace. Finish editing first."))
    }

    pub(crate) fn receive(&mut self, reply: ReviewReply, cx: &ReviewContext<'_>) {
        match reply {
            ReviewReply::Opened(Ok(details)) => self.show_details(details, ProposalResendReason::News, cx),
            ReviewReply::Rebased(Ok(details)) => {
                self.show_details(details, ProposalResendReason::LookedAgain, cx)
            }
            ReviewReply::Edited(Ok(details)) => self.show_details(details, ProposalResendReason::Edited, cx),
            ReviewReply::Commented(Ok(details)) => {
                self.finish_comment(true);
                self.show_details(details, ProposalResendReason::News, cx);
            }
            ReviewReply::Decided(Ok(decided)) => self.handle_decision(decided, cx),
            ReviewReply::History(Ok(older)) => self.queue.older = Some(older),
            ReviewReply::Consequences(Ok(all)) => {
                if let Some(opened) = &mut self.review {
                    opened.receive_consequences(all);
                }
            }
            ReviewReply::Pages(Ok(pictures)) => {
                if let Some(opened) = &mut self.review {
                    opened.receive_pages(pictures, cx.egui);
                }
            }
            ReviewReply::PlanStarted { result: Ok(ReviewPlanStart::Started { .. }), .. } => {
                self.input.plan.finish(true)
            }
            ReviewReply::PlanStarted {
                proposal,
                result: Ok(ReviewPlanStart::NeedsValues { board, secrets }),
            } => {
                if self.review.as_ref().is_some_and(|opened| opened.id() == proposal) {
                    self.input.plan.require_secrets(board, secrets);
                }
            }
            ReviewReply::Reverted { result: Ok(_), .. } | ReviewReply::Done(Ok(())) => {}
            ReviewReply::Opened(Err(refusal)) => {
                self.selected = None;
                cx.act(WindowAction::Refuse(refusal));
            }
            ReviewReply::Decided(Err(refusal))
            | ReviewReply::Rebased(Err(refusal))
            | ReviewReply::Edited(Err(refusal)) => {
                self.reset_decision();
                cx.act(WindowAction::DropNudges);
                cx.act(WindowAction::Refuse(refusal));
                // The proposal that is shown may be out of date.
                if let Some(opened) = &self.review {
                    cx.request(OpenProposal { proposal: opened.id() }, ReviewReply::Opened);
                }
            }
            ReviewReply::Commented(Err(refusal)) => {
                self.finish_comment(false);
                cx.act(WindowAction::Refuse(refusal));
            }
            ReviewReply::Consequences(Err(refusal)) => {
                if let Some(opened) = &mut self.review {
                    opened.without_consequences();
                }
                cx.act(WindowAction::Refuse(refusal));
            }
            ReviewReply::Pages(Err(refusal)) => {
                if let Some(opened) = &mut self.review {
                    opened.without_page();
                }
                cx.act(WindowAction::Refuse(refusal));
            }
            ReviewReply::PlanStarted { result: Err(refusal), .. } => {
                self.input.plan.finish(false);
                cx.act(WindowAction::Refuse(refusal));
            }
            ReviewReply::Reverted { proposal, result: Err(refusal) }
                if refusal.code == RefusalCode::Conflict =>
            {
                let partly = WindowAction::request(RevertProposal { proposal, partial: true });
                cx.act(WindowAction::Offer { refusal, text: "Revert partially", action: Box::new(partly) });
            }
            ReviewReply::Reverted { result: Err(refusal), .. }
            | ReviewReply::History(Err(refusal))
            | ReviewReply::Done(Err(refusal)) => cx.act(WindowAction::Refuse(refusal)),
        }
    }

    fn handle_decision(&mut self, decided: DecidedProposal, cx: &ReviewContext<'_>) {
        let DecidedProposal { proposal: brief, applied, notice } = decided;
        let (message, undo) = match (&brief.state, &applied) {
            (ProposalState::Rejected { .. }, _) => (format!("Rejected proposal {}", brief.number), None),
            (ProposalState::Accepted, _) => {
                (format!("Accepted proposal {}", brief.number), applied.map(|applied| applied.revision))
            }
            (_, Some(applied)) => {
                (format!("Accepted part of proposal {}", brief.number), Some(applied.revision))
            }
            _ => (format!("Decided proposal {}", brief.number), None),
        };
        let notice = notice.as_deref().map(words::line);
        let details = [Some(words::title(&brief)), notice].into_iter().flatten().collect();
        let button = undo.map(|revision| ("Undo", Box::new(WindowAction::TakeBack(revision))));
        cx.act(WindowAction::Notify { message, details, button });
        let Some(opened) = self.review.as_mut().filter(|opened| opened.id() == brief.id) else { return };
        if brief.needs_decision() {
            // The rest is another version, which may have arrived already. Nothing of it is ticked.
            opened.deciding = DecisionProgress::Not;
            opened.expects_rest = opened.newer_version().is_none();
            opened.show_newer();
            self.redraw(Some(cx.view.workspace));
        } else {
            self.handle(ReviewMessage::Close, cx);
        }
    }
}
