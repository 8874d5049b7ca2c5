//! The messages of the review and their handling, and the responses of main to its requests.

use super::{
    ReviewFeature,
    opened::{DecisionStep, ProposalArrival, ProposalLook},
    words,
};
use crate::{
    frame::{CommandSender, Feature, FeatureContext, MainRequest},
    panel_id::PanelId,
    tour::targets::{TourTarget, bring_into_view},
    view::WindowAction,
};
use egui::Key;
use shared_protocol::{
    Command, ProposalId, ProposalState, ProposalSubject, Refusal, RefusalCode,
    messages::{AppliedCommand, WorkbenchRequest},
    review::{ProposalBrief, ReviewRequest, ReviewResponse, ReviewView},
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
    /// Ticks or unticks the focused element.
    Tick,
    /// Opens the choices of a decision and chooses none.
    Decide,
    /// Shows the proposed state for a moment.
    Blink,
    ShowPlan,
    SetLook(ProposalLook),
}

/// The purpose of a request of the reviewer.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum ReviewPending {
    Open,
    LookAgain,
    Edit,
    Decision,
    Comment,
    Revert(ProposalId),
    Consequences,
    Page,
    Plan,
    Other,
}

impl Feature for ReviewFeature {
    type Message = ReviewMessage;
    type Pending = ReviewPending;

    fn describe_request(request: &MainRequest) -> ReviewPending {
        let MainRequest::Review(request) = request else { return ReviewPending::Other };
        match request {
            ReviewRequest::Open(_) => ReviewPending::Open,
            ReviewRequest::LookAgain { .. } => ReviewPending::LookAgain,
            ReviewRequest::Edit { .. } => ReviewPending::Edit,
            ReviewRequest::Accept(_) | ReviewRequest::Reject { .. } => ReviewPending::Decision,
            ReviewRequest::Comment { .. } => ReviewPending::Comment,
            ReviewRequest::Revert { proposal, partial: false } => ReviewPending::Revert(*proposal),
            ReviewRequest::Consequences(_) => ReviewPending::Consequences,
            ReviewRequest::PagePictures { .. } => ReviewPending::Page,
            ReviewRequest::Plan { .. } => ReviewPending::Plan,
            _ => ReviewPending::Other,
        }
    }
}

/// Seconds that a button or a menu row shows the proposed state.
const BLINK_SECONDS: f64 = 1.2;

impl ReviewFeature {
    pub(crate) fn handle(&mut self, message: ReviewMessage, cx: &ReviewContext<'_>) {
        match message {
            ReviewMessage::Open(id) => {
                self.open(id);
                cx.push_action(WindowAction::ShowPanel(PanelId::Proposal));
                self.go_to_proposal(cx);
            }
            ReviewMessage::OpenNewest => {
                let newest = cx.view.review.proposals.iter().filter(|brief| brief.needs_decision());
                match newest.max_by_key(|brief| brief.number) {
                    Some(brief) => self.handle(ReviewMessage::Open(brief.id), cx),
                    None => cx.push_action(WindowAction::ShowPanel(PanelId::Review)),
                }
            }
            ReviewMessage::Close => {
                self.close();
                cx.push_action(WindowAction::ClosePanel(PanelId::Proposal));
            }
            ReviewMessage::Jump(subject) => self.jump(subject, cx),
            ReviewMessage::Focus(subject) => {
                if let Some(opened) = self.review.as_mut().filter(|opened| !opened.is_followed) {
                    opened.focus_subject(Some(subject));
                    cx.push_action(WindowAction::ShowPanel(PanelId::Proposal));
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
                    && opened.deciding == DecisionStep::Not
                {
                    opened.deciding = DecisionStep::Choosing { fresh: true };
                }
                cx.push_action(WindowAction::ShowPanel(PanelId::Proposal));
            }
            ReviewMessage::Blink => {
                // Holding the key shows it already.
                if !cx.egui.input(|input| input.key_down(Key::B)) {
                    self.blink_until = cx.egui.input(|input| input.time) + BLINK_SECONDS;
                }
            }
            ReviewMessage::ShowPlan => {
                cx.push_action(WindowAction::ShowPanel(PanelId::Proposal));
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

    /// Opens a board that the proposal touches, with all of the proposal in view.
    fn go_to_proposal(&mut self, cx: &ReviewContext<'_>) {
        let Some(board) = self.first_board(cx.view.board) else { return };
        if cx.view.workspace.snapshot.board(board).is_some() {
            cx.push_action(WindowAction::OpenBoard(board));
            self.reveal.everything();
        }
    }

    fn jump(&mut self, subject: ProposalSubject, cx: &ReviewContext<'_>) {
        let Some(opened) = &mut self.review else { return };
        if opened.look == ProposalLook::List {
            opened.look = ProposalLook::Overlay;
        }
        opened.focus = Some(subject.clone());
        let Some(board) = self.board_of(&subject) else { return };
        // A proposed board has no canvas of its own yet.
        if cx.view.workspace.snapshot.board(board).is_some() {
            cx.push_action(WindowAction::OpenBoard(board));
            self.reveal.element(subject);
        }
    }

    fn step(&mut self, forwards: bool, cx: &ReviewContext<'_>) {
        let Some(opened) = &mut self.review else { return };
        let look = opened.look;
        opened.step(forwards);
        if let Some(focus) = opened.focus.clone()
            && look != ProposalLook::List
        {
            self.jump(focus, cx);
        }
        cx.push_action(WindowAction::ShowPanel(PanelId::Proposal));
    }

    // ---- main ----------------------------------------------------------------------------------------------------------

    /// Requests a proposal that is missing or outdated. Called before each frame, so that ghosts follow a draft.
    pub(crate) fn request_outdated(&mut self, view: &ReviewView, commands: &CommandSender<Self>) {
        if let Some(id) = self.next_missing(view) {
            commands.request(ReviewRequest::Open(id));
        }
    }

    /// Turns a change into an edit of the proposal while the reviewer edits it. Every other request stays as it is.
    pub(crate) fn redirect(&self, request: WorkbenchRequest) -> Result<MainRequest, Refusal> {
        let editing = self.review.as_ref().filter(|opened| opened.look == ProposalLook::Edit);
        let Some(opened) = editing else { return Ok(request.into()) };
        let commands: Vec<Command> = match request {
            WorkbenchRequest::Run(command) => vec![command],
            WorkbenchRequest::Undo | WorkbenchRequest::Redo | WorkbenchRequest::Revert { .. } => {
                let refusal = Refusal::new(RefusalCode::BadRequest, "Edits to a proposal cannot be undone.");
                return Err(refusal.hint("Undo applies to the workspace. Finish editing first."));
            }
            other => return Ok(other.into()),
        };
        let proposal = opened.proposal();
        let (id, version, hash) = (proposal.brief.id, proposal.brief.version, proposal.hash);
        Ok(ReviewRequest::Edit { proposal: id, version, hash, commands }.into())
    }

    pub(crate) fn handle_response(
        &mut self,
        answer: ReviewResponse,
        pending: ReviewPending,
        cx: &ReviewContext<'_>,
    ) {
        match answer {
            ReviewResponse::Opened(proposal) => {
                if pending == ReviewPending::Comment {
                    self.commented(true);
                }
                let arrival = match pending {
                    ReviewPending::Edit => ProposalArrival::Edited,
                    ReviewPending::LookAgain => ProposalArrival::LookedAgain,
                    _ => ProposalArrival::News,
                };
                if self.receive(*proposal, arrival, Some(cx.view.workspace)) {
                    self.go_to_proposal(cx);
                }
                // Moving the camera of an empty board takes nothing away from view.
                let snapshot = &cx.view.workspace.snapshot;
                if cx.view.board.is_some_and(|board| snapshot.nodes_on(board).next().is_none()) {
                    self.reveal.everything();
                }
                if arrival != ProposalArrival::News {
                    cx.push_action(WindowAction::DropNudges);
                }
            }
            ReviewResponse::Decided { proposal, applied, notice } => {
                self.handle_decision(&proposal, applied, notice, cx);
            }
            ReviewResponse::Approval(_) => {
                cx.push_action(WindowAction::notify("Standing approval granted", Vec::new()))
            }
            ReviewResponse::History(older) => self.receive_history(older),
            ReviewResponse::Consequences(all) => {
                if let Some(opened) = &mut self.review {
                    opened.receive_consequences(*all);
                }
            }
            ReviewResponse::PagePictures(pictures) => {
                if let Some(opened) = &mut self.review {
                    opened.receive_pages(*pictures, cx.egui);
                }
            }
            ReviewResponse::Planning { .. } => self.plan_answered(true),
            ReviewResponse::PlanNeeds { proposal, board, secrets } => {
                self.plan_needs(proposal, board, secrets)
            }
            // Requested by the inspector.
            ReviewResponse::Origins(_) => {}
        }
    }

    fn handle_decision(
        &mut self,
        brief: &ProposalBrief,
        applied: Option<AppliedCommand>,
        notice: Option<String>,
        cx: &ReviewContext<'_>,
    ) {
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
        let details = [Some(words::title(brief)), notice].into_iter().flatten().collect();
        let button = undo.map(|revision| ("Undo", Box::new(WindowAction::TakeBack(revision))));
        cx.push_action(WindowAction::Notify { message, details, button });
        let Some(opened) = self.review.as_mut().filter(|opened| opened.id() == brief.id) else { return };
        if brief.needs_decision() {
            // The rest is another version, which is requested by its stamp. Nothing of it is ticked.
            opened.deciding = DecisionStep::Not;
            opened.expects_rest = true;
        } else {
            self.handle(ReviewMessage::Close, cx);
        }
    }

    pub(crate) fn handle_refusal(
        &mut self,
        pending: ReviewPending,
        refusal: Refusal,
        commands: &CommandSender<Self>,
    ) {
        match pending {
            ReviewPending::Open => self.give_up(),
            ReviewPending::Decision | ReviewPending::LookAgain | ReviewPending::Edit => {
                self.reset_decision();
                commands.push_action(WindowAction::DropNudges);
                // The proposal that is shown may be out of date.
                if let Some(opened) = &self.review {
                    commands.request(ReviewRequest::Open(opened.id()));
                }
            }
            ReviewPending::Comment => self.commented(false),
            ReviewPending::Consequences | ReviewPending::Page | ReviewPending::Plan => {
                self.handle_send_failure(pending)
            }
            ReviewPending::Revert(proposal) if refusal.code == RefusalCode::Conflict => {
                let partly = WindowAction::Review(ReviewRequest::Revert { proposal, partial: true });
                let (text, action) = ("Revert partially", Box::new(partly));
                return commands.push_action(WindowAction::Offer { refusal, text, action });
            }
            ReviewPending::Revert(_) | ReviewPending::Other => {}
        }
        commands.push_action(WindowAction::Refuse(refusal));
    }

    /// The request did not leave the window.
    pub(crate) fn not_sent(&mut self, pending: ReviewPending) {
        self.give_up();
        self.reset_decision();
        self.handle_send_failure(pending);
    }

    fn handle_send_failure(&mut self, pending: ReviewPending) {
        match (pending, &mut self.review) {
            (ReviewPending::Consequences, Some(opened)) => opened.without_consequences(),
            (ReviewPending::Page, Some(opened)) => opened.without_page(),
            (ReviewPending::Plan, _) => self.plan_answered(false),
            _ => {}
        }
    }
}
