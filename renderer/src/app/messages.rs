//! Messages from main, and requests and presence to main.

use super::{CreatedElements, PendingRequest, Workbench, build_view, dispatch::CommandQueue};
use crate::{
    commands::CommandId,
    features::review::ReviewPending,
    frame::MainRequest,
    main_connection::MainConnectionEvent,
    panels::notices::ToastTone,
    replica::ReplicaUpdate,
    saved_state::layout_to_text,
    tour::Tour,
    view::{WindowAction, nodes_of},
    welcome::WelcomePage,
    wording::count_noun,
};
use canvas::Canvas;
use egui::{Context, ViewportCommand};
use shared_protocol::{
    BoardId, Change, ElementId, Refusal, RefusalCode,
    messages::{DesignerActivity, Presence, WorkbenchRequest, WorkbenchResponse},
    review::ReviewResponse,
};
use std::collections::BTreeSet;

impl Workbench {
    /// Takes everything that has arrived, without waiting.
    pub fn receive(&mut self, context: &Context) {
        while let Some(incoming) = self.link.next() {
            match incoming {
                MainConnectionEvent::Message(message) => {
                    let received = self.replica.receive(message);
                    self.react(received, context);
                }
                MainConnectionEvent::Frames { session, generation, screen, memory } => {
                    let adopted = self.panels.preview.screens.adopt(session, generation, screen, &memory);
                    if let Err(error) = adopted {
                        tracing::error!(%session, %error, "the frames of a preview cannot be shown");
                    }
                }
                MainConnectionEvent::NotSent { request, why } => {
                    match request.and_then(|request| self.pending.remove(&request)) {
                        Some(PendingRequest::Bundle(ticket)) => {
                            let outcome = self.panels.specs.handle_send_failure(ticket);
                            self.spec_outcome(outcome, context);
                        }
                        Some(PendingRequest::Upstream(ticket)) => {
                            self.panels.managed_servers.handle_send_failure(ticket)
                        }
                        _ => {}
                    }
                    self.notices.show(ToastTone::Bad, "This is too much to send at once.", vec![why]);
                }
                MainConnectionEvent::Closed { why } => self.end(why.as_deref(), context),
            }
        }
    }

    fn react(&mut self, received: ReplicaUpdate, context: &Context) {
        match received {
            ReplicaUpdate::Ignored | ReplicaUpdate::Status | ReplicaUpdate::Bundles => {}
            ReplicaUpdate::Terraform => self.update_standings(),
            ReplicaUpdate::RunLines { run, first, lines } => {
                self.session.terraform.lines.push(run, first, lines)
            }
            // Outdated proposals are requested before the next frame.
            ReplicaUpdate::Review => {
                self.panels.audit.mark_stale();
                context.request_repaint_after(std::time::Duration::from_millis(1));
            }
            ReplicaUpdate::Previews => self.previews_told(context),
            ReplicaUpdate::PreviewFrame { session, generation } => {
                self.panels.preview.screens.record_generation(session, generation);
            }
            ReplicaUpdate::PreviewInstances { session, instances } => {
                self.panels.preview.screens.place(session, instances);
            }
            ReplicaUpdate::Opened(presence) => self.reset_for_workspace(&presence, context),
            ReplicaUpdate::Patched(changes) => self.patched(&changes, context),
            ReplicaUpdate::Registry => self.redraw_all(None),
            ReplicaUpdate::Answered { request, result } => self.route_response(request, result, context),
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
            let _ = self.loss_reason.set(why.unwrap_or("main has closed the connection").to_owned());
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

    fn patched(&mut self, changes: &[Change], context: &Context) {
        self.redraw_all(Some(changes));
        self.prune_missing();
        self.panels.log.mark_stale();
        if let Some(workspace) = self.replica.workspace() {
            self.notices.withdraw_undo(workspace.snapshot.revision());
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

    /// Routes a response to the feature that sent the request. This is the only place that matches answers with purposes.
    fn route_response(
        &mut self,
        request: u64,
        result: Result<WorkbenchResponse, Refusal>,
        context: &Context,
    ) {
        let pending = self.pending.remove(&request);
        let answer = match (result, pending) {
            (result, Some(PendingRequest::Bundle(ticket))) => {
                let outcome = self.panels.specs.handle_response(ticket, result);
                return self.spec_outcome(outcome, context);
            }
            (result, Some(PendingRequest::Upstream(ticket))) => {
                return self.upstream_answered(ticket, result);
            }
            (Err(refusal), pending) => return self.handle_refusal(pending, refusal, context),
            (Ok(answer), _) => answer,
        };
        let mut queue = CommandQueue::default();
        match (answer, pending) {
            (WorkbenchResponse::Applied(applied), Some(PendingRequest::Promote)) => {
                self.session.unsaved.clear();
                self.notices.show(ToastTone::Good, applied.summary, Vec::new());
            }
            (WorkbenchResponse::Applied(applied), Some(PendingRequest::Change { select_created: true })) => {
                self.session.created = CreatedElements::Select(applied.created);
                self.select_created(context);
            }
            (WorkbenchResponse::Applied(applied), Some(PendingRequest::Note)) => {
                self.session.created = CreatedElements::Write(applied.created);
                self.select_created(context);
            }
            (WorkbenchResponse::Applied(applied), Some(PendingRequest::Nudge)) => {
                self.nudge.acknowledge(applied.revision);
                self.send_nudge_backlog();
            }
            (WorkbenchResponse::Saved { files, .. }, _) if files.is_empty() => {
                self.notices.show(ToastTone::Good, "Saved", vec!["Nothing had changed.".to_owned()]);
            }
            (WorkbenchResponse::Saved { files, .. }, _) => {
                let what = format!("Saved {}", count_noun(files.len(), "file"));
                self.notices.show(ToastTone::Good, what, Vec::new());
            }
            (WorkbenchResponse::Log(entries), Some(PendingRequest::Inspector(_))) => {
                self.inspector.received_operations(entries)
            }
            (WorkbenchResponse::Log(entries), _) => self.panels.log.receive(entries),
            (WorkbenchResponse::AuditView(view), _) => self.panels.audit.receive(*view),
            (WorkbenchResponse::ProblemReport(text), _) => {
                if let Some(report) = &mut self.overlays.report {
                    report.receive(text);
                }
            }
            (WorkbenchResponse::Recents(recents), _) => {
                if let Some(welcome) = &mut self.overlays.welcome {
                    welcome.receive(recents);
                }
            }
            // A workspace was opened or created, so the choice is done.
            (WorkbenchResponse::Done, Some(PendingRequest::Welcome)) => self.overlays.welcome = None,
            (WorkbenchResponse::Templates(boards), _) => {
                if let Some(welcome) = &mut self.overlays.welcome {
                    welcome.receive_templates(boards);
                }
            }
            (WorkbenchResponse::PlainFolder(folder), _) => {
                self.overlays.welcome = Some(WelcomePage::for_folder(Some(folder)))
            }
            (WorkbenchResponse::Demo { tour }, _) => self.demo_started(tour),
            (WorkbenchResponse::Terraform(answer), pending) => {
                if pending == Some(PendingRequest::Welcome) {
                    self.imported_workspace();
                }
                let answers = &mut self.session.terraform;
                queue.sender(|commands| self.terraform.handle_response(answer, answers, commands));
            }
            (WorkbenchResponse::Preview(answer), pending) => self.preview_answered(answer, pending),
            (WorkbenchResponse::Text(text), Some(PendingRequest::Terraform(_))) => {
                queue.sender(|commands| self.terraform.received_prices(text, context, commands));
            }
            (WorkbenchResponse::Text(text), Some(PendingRequest::Agents { copy: true })) => {
                context.copy_text(text);
                let next = "Paste it into the configuration of your client.".to_owned();
                self.notices.show(ToastTone::Good, "Copied the configuration", vec![next]);
            }
            (WorkbenchResponse::Text(text), _) => self.notices.show(ToastTone::Good, text, Vec::new()),
            (WorkbenchResponse::Review(ReviewResponse::Origins(origins)), _) => {
                self.inspector.received_origins(origins)
            }
            (WorkbenchResponse::Review(answer), pending) => {
                let pending = match pending {
                    Some(PendingRequest::Review(pending)) => pending,
                    _ => ReviewPending::Other,
                };
                if let Some(view) = build_view(&self.replica, &self.session, &self.theme, self.badge_counts())
                {
                    queue.feature(&view, context, |cx| self.review.handle_response(answer, pending, cx));
                }
            }
            (WorkbenchResponse::Exported { path, .. }, Some(PendingRequest::AuditExport)) => {
                let next = format!("`draftboard audit verify {path}` checks it anywhere.");
                self.notices.show(ToastTone::Good, "Exported the audit", vec![path, next]);
            }
            (WorkbenchResponse::Exported { path, .. }, _) => {
                self.notices.show(ToastTone::Good, "Exported the board", vec![path]);
            }
            _ => {}
        }
        self.execute(queue, context);
    }

    fn handle_refusal(&mut self, pending: Option<PendingRequest>, refusal: Refusal, context: &Context) {
        let mut queue = CommandQueue::default();
        match pending {
            Some(PendingRequest::Review(pending)) => {
                queue.sender(|commands| self.review.handle_refusal(pending, refusal, commands));
                return self.execute(queue, context);
            }
            Some(PendingRequest::Terraform(pending)) => {
                let answers = &mut self.session.terraform;
                queue.sender(|commands| self.terraform.handle_refusal(pending, refusal, answers, commands));
                return self.execute(queue, context);
            }
            // A partial revert keeps the conflicting parts.
            Some(PendingRequest::Revert(revision)) if refusal.code == RefusalCode::Conflict => {
                let partly = WindowAction::Ask(WorkbenchRequest::Revert { revision, partial: true });
                return self.notices.offer(&refusal, "Revert partially", partly);
            }
            Some(PendingRequest::Inspector(pending)) => self.inspector.handle_refusal(pending),
            Some(PendingRequest::Log) => self.panels.log.forget_asking(),
            Some(PendingRequest::Audit) => self.panels.audit.forget_asking(),
            Some(PendingRequest::Nudge) => self.nudge.give_up(),
            Some(PendingRequest::PreviewLog(session)) => self.panels.preview.log.clear_request(session),
            Some(PendingRequest::Promote) => {
                let failed = refusal.failed.iter();
                let why = failed.map(|failed| (failed.address.clone(), failed.message.clone()));
                self.session.unsaved = why.collect();
            }
            Some(PendingRequest::Welcome | PendingRequest::Demo) => {
                if pending == Some(PendingRequest::Demo) {
                    self.tour = None;
                }
                if let Some(welcome) = &mut self.overlays.welcome {
                    return welcome.refuse(refusal);
                }
            }
            _ => {}
        }
        self.notices.refuse(&refusal);
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

    pub(super) fn send_request(&mut self, request: WorkbenchRequest, pending: PendingRequest) {
        match self.review.redirect(request) {
            Ok(edit @ MainRequest::Review(_)) => {
                self.request(edit, PendingRequest::Review(ReviewPending::Edit))
            }
            Ok(request) => self.request(request, pending),
            Err(refusal) => {
                self.notices.refuse(&refusal);
                self.nudge.give_up();
            }
        }
    }

    /// Sends a request to main. A full connection is reported and the request forgotten: nothing was changed.
    pub(super) fn request(&mut self, request: MainRequest, pending: PendingRequest) {
        let is_review = matches!(request, MainRequest::Review(_));
        let sent = match request {
            MainRequest::Review(request) => self.link.review(request),
            MainRequest::Request(request) => self.link.request(request),
        };
        let error = match sent {
            Ok(id) => {
                self.pending.insert(id, pending);
                return;
            }
            Err(error) => format!("{error}."),
        };
        match pending {
            PendingRequest::Bundle(ticket) => drop(self.panels.specs.handle_send_failure(ticket)),
            PendingRequest::Upstream(ticket) => self.panels.managed_servers.handle_send_failure(ticket),
            PendingRequest::Review(pending) => self.review.not_sent(pending),
            PendingRequest::Terraform(pending) => {
                let refusal = Refusal::new(RefusalCode::Internal, error.clone());
                self.terraform.handle_send_failure(pending, &refusal, &mut self.session.terraform);
            }
            _ => {}
        }
        let more = if is_review { "Nothing was decided." } else { "Nothing was changed." };
        let more = vec![format!("{more} Try again in a moment.")];
        self.notices.show(ToastTone::Bad, super::perform::capitalised(&error), more);
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
        if let Err(error) = self.link.request(WorkbenchRequest::Quit) {
            tracing::warn!(%error, "cannot notify main that the window closes");
        }
    }
}
