//! The review in the window: what main is asked for, what it answers, and what the board shows meanwhile.

use super::{Pending, Workbench, view_of};
use crate::{
    features::review::{
        opened::{Arrival, Deciding, Look},
        words,
    },
    panel_id::PanelId,
    panels::notices::Tone,
    view::Action,
};
use canvas::{Layer, Scene, ShownProposal};
use egui::{Context, Key, Panel, Ui};
use shared_protocol::{
    BoardId, Command, ProposalId, ProposalState, Subject,
    messages::{Applied, Request},
    review::{ProposalBrief, ReviewAnswer, ReviewRequest},
};

/// What a request of the reviewer was for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Asked {
    /// To see it.
    Open,
    /// To have it fitted to what is there now.
    LookAgain,
    Edit,
    Decision,
    /// To say something to the agent.
    Comment,
    /// To take back what was accepted of it.
    Revert(ProposalId),
    Origins,
    Consequences,
    Page,
    Plan,
    Other,
}

impl Asked {
    fn of(request: &ReviewRequest) -> Self {
        match request {
            ReviewRequest::Open(_) => Self::Open,
            ReviewRequest::LookAgain { .. } => Self::LookAgain,
            ReviewRequest::Edit { .. } => Self::Edit,
            ReviewRequest::Accept(_) | ReviewRequest::Reject { .. } => Self::Decision,
            ReviewRequest::Comment { .. } => Self::Comment,
            ReviewRequest::Revert { proposal, partial: false } => Self::Revert(*proposal),
            ReviewRequest::Origins(_) => Self::Origins,
            ReviewRequest::Consequences(_) => Self::Consequences,
            ReviewRequest::PagePictures { .. } => Self::Page,
            ReviewRequest::Plan { .. } => Self::Plan,
            _ => Self::Other,
        }
    }
}

/// A press of a button or a row of the menu shows it for so long, in seconds.
const BLINK: f64 = 1.2;

impl Workbench {
    pub(super) fn ask_review(&mut self, request: ReviewRequest) {
        let asked = Asked::of(&request);
        match self.link.review(request) {
            Ok(id) => drop(self.pending.insert(id, Pending::Review(asked))),
            Err(error) => {
                self.review.give_up();
                self.review.refused();
                if matches!(asked, Asked::Consequences | Asked::Page | Asked::Plan) {
                    self.review_refused(asked);
                }
                let more = vec!["Nothing was decided. Try again in a moment.".to_owned()];
                self.notices.tell(Tone::Bad, super::perform::capitalised(&format!("{error}.")), more);
            }
        }
    }

    /// Asks for what is another than it was; before every frame, so that ghosts follow whoever writes.
    pub(super) fn follow_review(&mut self, context: &Context) {
        if self.replica.workspace().is_some()
            && let Some(id) = self.review.missing(self.replica.review())
        {
            self.ask_review(ReviewRequest::Open(id));
        }
        self.session.reviewing = self.review.is_reviewing();
        let edited = self.review.edited().cloned();
        let was = self.session.edited.is_some();
        self.session.edited = edited;
        if was != self.session.edited.is_some() {
            // What is half typed belongs to the state that was shown.
            context.memory_mut(|memory| memory.stop_text_input());
            self.counts = None;
            self.keep_what_exists();
        }
    }

    pub(super) fn review_answered(&mut self, answer: ReviewAnswer, asked: Option<Asked>, context: &Context) {
        match answer {
            ReviewAnswer::Opened(proposal) => {
                if asked == Some(Asked::Comment) {
                    self.review.commented(true);
                }
                let arrival = match asked {
                    Some(Asked::Edit) => Arrival::Edited,
                    Some(Asked::LookAgain) => Arrival::LookedAgain,
                    _ => Arrival::News,
                };
                if self.review.receive(*proposal, arrival, self.replica.workspace()) {
                    self.go_to_proposal(context);
                }
                // Where nothing else is, nobody is taken away from anything.
                self.session.reveal_proposal |= self.is_board_empty();
                self.counts = None;
                if arrival != Arrival::News {
                    self.nudge.give_up();
                }
            }
            ReviewAnswer::Decided { proposal, applied, notice } => self.decided(&proposal, applied, notice),
            ReviewAnswer::Approval(_) => {
                self.notices.tell(Tone::Good, "The standing approval holds from now on", Vec::new());
            }
            ReviewAnswer::History(older) => self.review.receive_history(older),
            ReviewAnswer::Consequences(all) => {
                if let Some(opened) = self.review.opened_mut() {
                    opened.receive_consequences(*all);
                }
            }
            ReviewAnswer::PagePictures(pictures) => {
                if let Some(opened) = self.review.opened_mut() {
                    opened.receive_pages(*pictures, context);
                }
            }
            ReviewAnswer::Planning { .. } => self.review.plan_answered(true),
            ReviewAnswer::PlanNeeds { proposal, board, secrets } => {
                self.review.plan_needs(proposal, board, secrets);
            }
            ReviewAnswer::Origins(origins) => self.panels.inspector.operations.receive_origins(origins),
        }
    }

    fn decided(&mut self, brief: &ProposalBrief, applied: Option<Applied>, notice: Option<String>) {
        let is_open = self.review.opened().is_some_and(|opened| opened.id() == brief.id);
        let title = words::title(brief);
        let (what, undo) = match (&brief.state, &applied) {
            (ProposalState::Rejected { .. }, _) => (format!("Rejected proposal {}", brief.number), None),
            (ProposalState::Accepted, _) => {
                (format!("Accepted proposal {}", brief.number), applied.map(|applied| applied.revision))
            }
            (_, Some(applied)) => {
                (format!("Accepted a part of proposal {}", brief.number), Some(applied.revision))
            }
            _ => (format!("Decided about proposal {}", brief.number), None),
        };
        let more: Vec<String> =
            [Some(title), notice.as_deref().map(words::line)].into_iter().flatten().collect();
        let undo = undo.map(|revision| ("Undo", Action::TakeBack(revision)));
        self.notices.tell_with(Tone::Good, what, more, undo);
        if is_open {
            if brief.waits() {
                // What is left is another version; it is asked for by its stamp. Nothing of it is ticked.
                self.review.refused();
                if let Some(opened) = self.review.opened_mut() {
                    opened.expects_rest = true;
                }
            } else {
                self.close_proposal();
            }
        }
    }

    pub(super) fn close_proposal(&mut self) {
        self.review.close();
        self.dock.close(PanelId::Proposal);
    }

    pub(super) fn review_refused(&mut self, asked: Asked) {
        match asked {
            Asked::Open => self.review.give_up(),
            Asked::Decision | Asked::LookAgain | Asked::Edit => {
                self.review.refused();
                self.nudge.give_up();
                // Whatever is in the way, what is shown may be out of date.
                if let Some(opened) = self.review.opened() {
                    let id = opened.id();
                    self.ask_review(ReviewRequest::Open(id));
                }
            }
            Asked::Origins => self.panels.inspector.operations.receive_origins(Vec::new()),
            Asked::Consequences => {
                if let Some(opened) = self.review.opened_mut() {
                    opened.without_consequences();
                }
            }
            Asked::Page => {
                if let Some(opened) = self.review.opened_mut() {
                    opened.without_page();
                }
            }
            Asked::Plan => self.review.plan_answered(false),
            Asked::Comment => self.review.commented(false),
            Asked::Revert(_) | Asked::Other => {}
        }
    }

    /// A change of what is proposed, if that is what is edited; else it is for the workspace.
    pub(super) fn edit_proposal(&mut self, request: Request) -> Option<Request> {
        let Some(opened) = self.review.opened().filter(|opened| opened.look == Look::Edit) else {
            return Some(request);
        };
        let commands: Vec<Command> = match request {
            Request::Run(command) => vec![command],
            Request::Undo | Request::Redo | Request::Revert { .. } => {
                let more = vec!["Undo belongs to the workspace. Leave the editing first.".to_owned()];
                self.notices.tell(Tone::Bad, "What is proposed cannot be undone step by step.", more);
                self.nudge.give_up();
                return None;
            }
            other => return Some(other),
        };
        let proposal = opened.proposal();
        let (version, hash) = (proposal.brief.version, proposal.hash);
        let edit = ReviewRequest::Edit { proposal: proposal.brief.id, version, hash, commands };
        self.ask_review(edit);
        None
    }

    pub(super) fn open_proposal(&mut self, id: ProposalId, context: &Context) {
        self.review.open(id);
        self.dock.show(PanelId::Proposal);
        self.go_to_proposal(context);
    }

    /// To a board that it is on, with all of it in view.
    fn go_to_proposal(&mut self, context: &Context) {
        let Some(board) = self.review.first_board(self.session.board) else { return };
        if self.workspace().is_some_and(|workspace| workspace.snapshot.board(board).is_some()) {
            self.open_board(board, context);
            self.session.reveal_proposal = true;
            self.show_board();
        }
    }

    fn is_board_empty(&self) -> bool {
        let board = self.session.board.zip(self.workspace());
        board.is_some_and(|(board, workspace)| workspace.snapshot.nodes_on(board).next().is_none())
    }

    fn show_board(&mut self) {
        if !self.dock.is_in_front(PanelId::Canvas) {
            self.dock.show(PanelId::Canvas);
        }
    }

    /// The board of the element, with the element in view.
    pub(super) fn jump(&mut self, subject: Subject, context: &Context) {
        let Some(opened) = self.review.opened_mut() else { return };
        if opened.look == Look::List {
            opened.look = Look::Overlay;
        }
        opened.focus = Some(subject.clone());
        let Some(board) = self.review.board_of(&subject) else { return };
        // A board that is not there yet can only be shown as it would be.
        if self.workspace().is_some_and(|workspace| workspace.snapshot.board(board).is_some()) {
            self.open_board(board, context);
            self.session.reveal_proposed = Some(subject);
            self.show_board();
        }
    }

    pub(super) fn review_step(&mut self, forwards: bool, context: &Context) {
        let Some(opened) = self.review.opened_mut() else { return };
        let look = opened.look;
        opened.step(forwards);
        if let Some(focus) = opened.focus.clone()
            && look != Look::List
        {
            self.jump(focus, context);
        }
        self.dock.show(PanelId::Proposal);
    }

    pub(super) fn review_tick(&mut self) {
        if let Some(opened) = self.review.opened_mut()
            && let Some(focus) = opened.focus.clone()
        {
            opened.tick(&focus);
        }
    }

    /// Opens the choices; nothing is chosen by it.
    pub(super) fn review_decide(&mut self) {
        if let Some(opened) = self.review.opened_mut()
            && opened.deciding == Deciding::Not
        {
            opened.deciding = Deciding::Choosing { fresh: true };
        }
        self.dock.show(PanelId::Proposal);
    }

    pub(super) fn review_blink(&mut self, context: &Context) {
        // Holding the key is enough by itself.
        if !context.input(|input| input.key_down(Key::B)) {
            self.review.blink_until = context.input(|input| input.time) + BLINK;
        }
    }

    pub(super) fn set_look(&mut self, look: Look) {
        if let Some(opened) = self.review.opened_mut() {
            opened.look = look;
            self.session.reveal_proposal = true;
        }
    }

    // ---- the board ----------------------------------------------------------------------------------------------------

    /// The board with whatever is proposed on it.
    pub(super) fn board_ui(&mut self, ui: &mut Ui, actions: &mut Vec<Action>) {
        if self.review.opened().is_none() {
            return self.canvas_ui(ui, actions);
        }
        let blinking = self.is_blinking(ui);
        let look = self.review.look();
        let mut held = false;
        Panel::top("proposal strip").frame(egui::Frame::NONE).show(ui, |ui| {
            let counts = self.counted();
            let view = view_of(&self.replica, &self.session, &self.theme, counts);
            if let (Some(view), Some(opened)) = (view, self.review.opened_mut()) {
                held = crate::features::review::strip::strip_ui(ui, &view, opened, blinking, actions);
            }
        });
        // With more room or less, what is touched may have to come nearer or go further away.
        self.session.reveal_proposal |= look != self.review.look();
        if held {
            let now = ui.input(|input| input.time);
            self.review.blink_until = self.review.blink_until.max(now + 0.1);
            ui.request_repaint();
        }
        egui::CentralPanel::no_frame().show(ui, |ui| match self.review.look() {
            Look::List => {
                let counts = self.counted();
                let view = view_of(&self.replica, &self.session, &self.theme, counts);
                if let Some(view) = view {
                    self.review.list_ui(ui, &view, actions);
                }
            }
            Look::SideBySide => self.side_by_side_ui(ui, actions),
            Look::Overlay if blinking => self.after_ui(ui, None),
            Look::Overlay | Look::Edit => self.canvas_ui(ui, actions),
        });
    }

    fn is_blinking(&self, ui: &Ui) -> bool {
        let Some(opened) = self.review.opened().filter(|opened| !opened.is_followed) else { return false };
        let (now, held) = ui.input(|input| (input.time, input.key_down(Key::B) && !input.modifiers.any()));
        let typing = ui.ctx().text_edit_focused();
        let blinks = (held && !typing) || now < self.review.blink_until;
        if now < self.review.blink_until {
            ui.request_repaint_after(std::time::Duration::from_secs_f64(
                self.review.blink_until - now + 0.01,
            ));
        }
        blinks && opened.look == Look::Overlay && opened.proposed.is_some()
    }

    fn side_by_side_ui(&mut self, ui: &mut Ui, actions: &mut Vec<Action>) {
        let rect = ui.max_rect();
        let gap = 2.0;
        let middle = rect.center().x;
        let left = rect.with_max_x(middle - gap / 2.0);
        let right = rect.with_min_x(middle + gap / 2.0);
        let child = |ui: &mut Ui, rect, salt: &str| {
            let mut child = ui.new_child(egui::UiBuilder::new().max_rect(rect).id_salt(salt));
            child.set_clip_rect(rect.intersect(ui.clip_rect()));
            child
        };
        let before = self.viewport();
        self.canvas_ui(&mut child(ui, left, "before"), actions);
        if self.viewport() != before {
            ui.request_repaint();
        }
        self.after_ui(&mut child(ui, right, "after"), Some(Layer::After));
        ui.painter().rect_filled(
            rect.with_min_x(left.right()).with_max_x(right.left()),
            0.0,
            self.theme.border_strong,
        );
        for (rect, word) in [(left, "Now"), (right, "As it would be")] {
            self.caption(ui, rect, word);
        }
    }

    fn caption(&self, ui: &Ui, rect: egui::Rect, word: &str) {
        let font = egui::TextStyle::Small.resolve(ui.style());
        let galley = ui.painter().layout_no_wrap(word.to_owned(), font, self.theme.text);
        let place = egui::Rect::from_min_size(
            rect.min + egui::vec2(10.0, 8.0),
            galley.size() + egui::vec2(14.0, 6.0),
        );
        ui.painter().rect_filled(place, place.height() / 2.0, self.theme.surface_raised);
        ui.painter().galley(place.min + egui::vec2(7.0, 3.0), galley, self.theme.text);
    }

    /// The board as it would be, to look at. It has the camera of the board as it is.
    fn after_ui(&mut self, ui: &mut Ui, layer: Option<Layer>) {
        let Some(board) = self.session.board else { return };
        let shown = layer.and_then(|layer| self.shown_proposal(board, layer));
        let viewport = self.viewport();
        let Some(proposed) = self.review.opened().and_then(|opened| opened.proposed.clone()) else { return };
        let canvas = self.review.canvas(board, &proposed);
        if let Some(viewport) = viewport.filter(|viewport| *viewport != canvas.viewport()) {
            canvas.set_viewport(viewport);
        }
        canvas.set_minimap(false);
        canvas.set_proposal(shown);
        let selection = std::collections::BTreeSet::new();
        let scene = Scene {
            snapshot: &proposed.after,
            board,
            selection: &selection,
            problems: &proposed.problems,
            theme: &self.theme,
            read_only: true,
        };
        canvas.show(ui, &scene);
        let moved = canvas.viewport();
        if viewport != Some(moved)
            && let Some(canvas) = self.canvases.get_mut(&board)
        {
            canvas.set_viewport(moved);
            ui.request_repaint();
        }
    }

    fn viewport(&self) -> Option<shared_protocol::messages::Viewport> {
        self.canvases.get(&self.session.board?).map(|canvas| canvas.viewport())
    }

    pub(super) fn shown_proposal(&self, board: BoardId, layer: Layer) -> Option<ShownProposal> {
        let opened = self.review.opened()?;
        let proposed = opened.proposed.as_ref()?.board(board)?;
        let (board, chosen) = (proposed.clone(), opened.drawn().clone());
        Some(ShownProposal { board, chosen, focus: opened.focus.clone(), layer })
    }
}
