//! Messages from main, and requests and presence to main.

use super::{
    CreatedElements, Workbench, build_view,
    dispatch::{CommandQueue, WindowCommand},
};
use crate::{
    commands::CommandId,
    features::review::{ProposalResendReason, ReviewReply},
    main_connection::MainConnectionEvent,
    main_request::{EncodedResponse, MainRequest},
    panels::notices::ToastTone,
    replica::ReplicaUpdate,
    saved_state::layout_to_text,
    tour::Tour,
    view::{WindowAction, nodes_of},
    welcome::WelcomePage,
};
use canvas::Canvas;
use egui::{Context, ViewportCommand};
use shared_protocol::{
    BoardId, Change, Command, ElementId, OperationKind, Refusal,
    decisions::{EditProposal, WindowRequest},
    messages::{AppliedCommand, DesignerActivity, Presence, ToRenderer},
    request::Request,
    requests::{Quit, RunCommand, WorkbenchRequest},
    review::ProposalDetails,
};
use std::collections::BTreeSet;

impl Workbench {
    /// Takes everything that has arrived, without waiting.
    pub fn receive(&mut self, context: &Context) {
        let mut newest = None;
        while let Some(incoming) = self.link.next_event() {
            match incoming {
                // Drawn once, however often an agent has changed it since the last frame.
                MainConnectionEvent::Message(ToRenderer::Proposal(details)) => newest = Some(details),
                MainConnectionEvent::Message(message) => {
                    let update = self.replica.receive(message);
                    self.react(update, context);
                }
                MainConnectionEvent::Frames { session, generation, screen, memory } => {
                    let adopted = self.panels.preview.screens.adopt(session, generation, screen, &memory);
                    if let Err(error) = adopted {
                        tracing::error!(%session, %error, "the frames of a preview cannot be shown");
                    }
                }
                MainConnectionEvent::NotSent { request, refusal } => {
                    self.receive_response(request, Err(refusal), context);
                }
                MainConnectionEvent::Closed { why } => self.end(why.as_deref(), context),
            }
        }
        if let Some(details) = newest {
            self.show_proposal(*details, context);
        }
    }

    /// Shows a draft that an agent writes or a proposal that a person opened. The tour keeps all ghosts in view.
    fn show_proposal(&mut self, details: ProposalDetails, context: &Context) {
        let mut queue = CommandQueue::default();
        let Some(view) = build_view(&self.replica, &self.session, &self.theme, self.badge_counts()) else {
            return;
        };
        queue.feature(&view, context, |cx| self.review.show_details(details, ProposalResendReason::News, cx));
        if matches!(self.tour, Some(Tour::Going(_))) {
            self.review.reveal.everything();
        }
        self.execute(queue, context);
    }

    fn react(&mut self, received: ReplicaUpdate, context: &Context) {
        match received {
            ReplicaUpdate::Ignored | ReplicaUpdate::Status | ReplicaUpdate::Bundles => {}
            ReplicaUpdate::Terraform => self.update_standings(),
            ReplicaUpdate::RunLines { run, first, lines } => {
                self.session.terraform.lines.push(run, first, lines)
            }
            ReplicaUpdate::Review => self.panels.audit.mark_stale(),
            ReplicaUpdate::Previews => self.update_previews(context),
            ReplicaUpdate::PreviewFrame { session, generation } => {
                self.panels.preview.screens.record_generation(session, generation);
            }
            ReplicaUpdate::PreviewInstances { session, instances } => {
                self.panels.preview.screens.place(session, instances);
            }
            ReplicaUpdate::Opened(presence) => self.reset_for_workspace(&presence, context),
            ReplicaUpdate::Patched { kind, changes } => self.patched(kind, &changes, context),
            ReplicaUpdate::Registry => self.redraw_all(None),
            ReplicaUpdate::Response { request, result } => self.receive_response(request, result, context),
            ReplicaUpdate::Raise => {
                context.send_viewport_cmd(ViewportCommand::Minimized(false));
                context.send_viewport_cmd(ViewportCommand::Focus);
            }
            ReplicaUpdate::CrashReport { headline } => self.notices.show_with_actions(
                ToastTone::Bad,
                "Draftboard ended unexpectedly",
                vec![headline, "Nothing was sent. Acknowledged changes are in the journal.".to_owned()],
                Some(("Show report", WindowAction::Do(CommandId::ReportProblem))),
            ),
            ReplicaUpdate::Welcome(folder) => self.overlays.welcome = Some(WelcomePage::for_folder(folder)),
            ReplicaUpdate::Resync => {
                if let Err(error) = self.link.resync() {
                    tracing::error!(%error, "cannot ask for the workspace again");
                }
            }
            ReplicaUpdate::Broken(why) => self.end(Some(&why), context),
        }
    }

    /// Closes the window when main is gone or sent something invalid. Main starts another window if it is alive.
    fn end(&mut self, why: Option<&str>, context: &Context) {
        if let Some(why) = why {
            tracing::error!(why, "the window ends");
        }
        if !self.is_quitting {
            // The first reason counts.
            let _ = self.loss_reason.set(why.map(str::to_owned));
        }
        self.is_quitting = true;
        context.send_viewport_cmd(ViewportCommand::Close);
    }

    /// A new workspace resets the window. The same one after a resync keeps the designer's place.
    fn reset_for_workspace(&mut self, presence: &Presence, context: &Context) {
        let Some(workspace) = self.replica.workspace() else { return };
        let known = self.opened_root.as_deref() == Some(workspace.root.as_str());
        if !known {
            self.opened_root = Some(workspace.root.clone());
            self.tour.take_if(|tour| matches!(tour, Tour::Going(_)));
            self.notices.clear();
            self.canvases.clear();
            self.fitted.clear();
            self.session.terraform.reset();
            self.terraform.reset();
            self.counts = None;
            self.review.reset();
            self.session.board = presence.board;
            self.session.selection = presence.selection.iter().copied().collect();
            for (board, viewport) in &presence.viewports {
                if workspace.snapshot.board(*board).is_some() {
                    self.canvases.entry(*board).or_default().set_viewport(*viewport);
                    self.fitted.insert(*board);
                }
            }
            self.session.history = Default::default();
            self.panels.specs.reset();
            self.panels.managed_servers.reset();
            self.restore(presence, context);
        }
        self.panels.log.reset();
        self.panels.audit.reset();
        self.inspector.forget_history();
        self.redraw_all(None);
        self.prune_missing();
    }

    fn patched(&mut self, kind: OperationKind, changes: &[Change], context: &Context) {
        self.redraw_all(Some(changes));
        self.prune_missing();
        self.panels.log.mark_stale();
        if let Some(workspace) = self.replica.workspace() {
            self.notices.withdraw_undo(workspace.snapshot.revision());
        }
        if let OperationKind::Undo(undone) | OperationKind::Revert(undone) = kind {
            self.notices.dismiss_about(undone);
        }
        self.select_created(context);
        self.send_nudge_backlog();
    }

    /// Notifies each canvas of changes; `None` means everything.
    fn redraw_all(&mut self, changes: Option<&[Change]>) {
        let Some(workspace) = self.replica.workspace() else { return };
        self.canvases.retain(|board, _| workspace.snapshot.board(*board).is_some());
        for (board, canvas) in &mut self.canvases {
            canvas.document_changed(&workspace.snapshot, *board, changes);
        }
        self.review.redraw(self.replica.workspace());
    }

    /// Removes missing elements from the selection, and opens another board if this one is gone.
    pub(super) fn prune_missing(&mut self) {
        let Some(workspace) = self.replica.workspace() else { return };
        let snapshot =
            self.session.review.edited_workspace().map_or(&workspace.snapshot, |edited| &edited.after);
        if self.session.board.and_then(|board| snapshot.board(board)).is_none() {
            let mut boards: Vec<_> = snapshot.boards().collect();
            boards.sort_by(|a, b| a.kind.cmp(&b.kind).then_with(|| a.name.cmp(&b.name)));
            self.session.board = boards.first().map(|board| board.id);
        }
        let board = self.session.board;
        self.session.selection.retain(|element| match element {
            ElementId::Node(id) => snapshot.node(*id).is_some_and(|node| Some(node.board) == board),
            ElementId::Edge(id) => snapshot.edge(*id).is_some_and(|edge| Some(edge.board) == board),
            ElementId::Board(_) => false,
        });
    }

    /// Hands a response to the sender of its request. A response that is not one to a request of the window, or not of its
    /// type, ends the connection.
    fn receive_response(&mut self, request: u64, response: EncodedResponse, context: &Context) {
        let Some(handler) = self.pending.remove(&request) else {
            return self.end(Some("the main process answered a request that was not sent"), context);
        };
        match handler(response) {
            Ok(Some(command)) => self.execute_one(command, context),
            Ok(None) => {}
            Err(error) => self.end(Some(&format!("a response of the main process: {error}")), context),
        }
    }

    /// Selects created elements once the response and the patch have both arrived, in either order.
    pub(super) fn select_created(&mut self, context: &Context) {
        let Some(workspace) = self.replica.workspace() else { return };
        let (created, is_written_on) = match &self.session.created {
            CreatedElements::None => return,
            CreatedElements::Select(created) => (created, false),
            CreatedElements::Write(created) => (created, true),
        };
        let here = |element: &ElementId| match element {
            ElementId::Node(id) => workspace.snapshot.node(*id).is_some(),
            ElementId::Edge(id) => workspace.snapshot.edge(*id).is_some(),
            ElementId::Board(id) => workspace.snapshot.board(*id).is_some(),
        };
        if created.is_empty() || !created.iter().all(here) {
            return;
        }
        let created: BTreeSet<ElementId> = created.iter().copied().collect();
        self.session.created = CreatedElements::None;
        let board =
            created.iter().find_map(|id| if let ElementId::Board(id) = id { Some(*id) } else { None });
        if let Some(board) = board {
            return self.open_board(board, context);
        }
        // A node inside another created node is part of it.
        let outermost: BTreeSet<ElementId> = nodes_of(&created)
            .into_iter()
            .filter(|id| {
                let parent = workspace.snapshot.node(*id).and_then(|node| node.parent);
                parent.is_none_or(|parent| !created.contains(&ElementId::Node(parent)))
            })
            .map(ElementId::Node)
            .collect();
        let nodes = nodes_of(&outermost);
        let board = nodes.first().and_then(|id| workspace.snapshot.node(*id)).map(|node| node.board);
        if is_written_on
            && let (Some(canvas), [note]) =
                (board.and_then(|board| self.canvases.get_mut(&board)), nodes.as_slice())
        {
            canvas.rename(*note);
        }
        self.session.reveal = nodes;
        self.select(outermost, context);
    }

    /// Changes the workspace, or the proposal that the reviewer edits.
    pub(super) fn change(
        &mut self,
        command: Command,
        then: impl Fn(Result<AppliedCommand, Refusal>) -> Option<WindowAction> + 'static,
    ) {
        match self.review.begin_edit() {
            Some(edit) => {
                let edit = EditProposal { commands: vec![command], ..edit };
                self.send(MainRequest::new(edit, |result| {
                    Some(WindowCommand::Reply(ReviewReply::Edited(result).into()))
                }));
            }
            None => self.request(RunCommand { command }, then),
        }
    }

    /// Undoes, repeats or reverts an operation, unless the reviewer edits a proposal.
    pub(super) fn request_undo<R: Request<Response = AppliedCommand, Frame = WorkbenchRequest>>(
        &mut self,
        request: R,
        then: impl Fn(Result<AppliedCommand, Refusal>) -> Option<WindowAction> + 'static,
    ) {
        match self.review.refuse_undo() {
            Some(refusal) => self.notices.refuse(&refusal),
            None => self.request(request, then),
        }
    }

    /// Sends a request to main and performs the action that its response becomes.
    pub(super) fn request<R: Request>(
        &mut self,
        request: R,
        then: impl Fn(Result<R::Response, Refusal>) -> Option<WindowAction> + 'static,
    ) where
        WindowRequest: From<R::Frame>,
    {
        self.send(MainRequest::new(request, then).map(WindowCommand::Action));
    }

    pub(super) fn send(&mut self, request: MainRequest<WindowCommand>) {
        let id = self.link.request(*request.request);
        self.pending.insert(id, request.handler);
    }

    pub(super) fn presence_changed(&mut self, context: &Context) {
        let now = context.input(|input| input.time);
        self.presence.schedule(now, context);
    }

    pub(super) fn send_presence(&mut self, context: &Context) {
        // Only the place where the camera stops is sent.
        let flying =
            self.session.board.and_then(|board| self.canvases.get(&board)).is_some_and(Canvas::is_flying);
        let now = context.input(|input| input.time);
        if !flying
            && self.presence.is_due(now, context)
            && let Err(error) = self.link.presence(self.present())
        {
            tracing::warn!(%error, "presence could not be sent");
        }
    }

    /// Returns whether a popup or dialog has the keyboard.
    pub(super) fn has_popup(&self) -> bool {
        self.dialogs.is_open()
            || self.terraform.is_dialog_open()
            || self.overlays.take_keys()
            || self.review.is_enlarging()
    }

    pub(super) fn update_activity(&mut self, context: &Context, had_popup: bool) {
        if had_popup && !self.has_popup() {
            // The field of the popup releases the keyboard in the next frame.
            context.request_repaint();
        }
        let doing = if context.dragged_id().is_some() {
            DesignerActivity::Dragging
        } else if self.has_popup() || context.text_edit_focused() {
            DesignerActivity::Typing
        } else {
            DesignerActivity::Nothing
        };
        if std::mem::replace(&mut self.activity, doing) != doing {
            self.presence_changed(context);
        }
    }

    fn present(&self) -> Presence {
        let viewport = |board: &BoardId| self.canvases.get(board).map(|canvas| (*board, canvas.viewport()));
        Presence {
            board: self.session.board,
            selection: self.session.selection.iter().copied().collect(),
            viewports: self.fitted.iter().filter_map(viewport).collect(),
            area: self.canvas_area,
            doing: self.activity,
            window: layout_to_text(&self.sent_layout),
            settings: if self.has_changed_settings { self.settings.to_text() } else { String::new() },
        }
    }

    /// A person closes the window: main must end as well and know the last presence.
    pub(super) fn leave(&mut self) {
        self.is_quitting = true;
        if self.presence.is_waiting()
            && let Err(error) = self.link.presence(self.present())
        {
            tracing::warn!(%error, "presence could not be sent");
        }
        self.request(Quit {}, WindowAction::of_refusal);
    }
}
