//! What main said, and what the window tells it.

use super::{Pending, Workbench, review::Asked};
use crate::{
    commands::CommandId,
    link::Incoming,
    panels::notices::Tone,
    remembered::layout_to_text,
    replica::Received,
    tour::Tour,
    view::{Action, nodes_of},
    welcome::Welcome,
    wording::counted,
};
use canvas::Canvas;
use egui::{Context, ViewportCommand};
use shared_protocol::{
    BoardId, Change, Code, ElementId, Refusal,
    messages::{Answer, Doing, Presence, Request},
    review::ReviewRequest,
};
use std::collections::BTreeSet;

impl Workbench {
    /// Takes everything that has arrived. Never waits.
    pub fn receive(&mut self, context: &Context) {
        while let Some(incoming) = self.link.next() {
            match incoming {
                Incoming::Message(message) => {
                    let received = self.replica.receive(message);
                    self.react(received, context);
                }
                Incoming::Frames { session, generation, screen, memory } => {
                    let adopted = self.panels.preview.screens.adopt(session, generation, screen, &memory);
                    if let Err(error) = adopted {
                        tracing::error!(%session, %error, "the frames of a preview cannot be shown");
                    }
                }
                Incoming::NotSent { request, why } => {
                    match request.and_then(|request| self.pending.remove(&request)) {
                        Some(Pending::Bundle(ticket)) => {
                            let outcome = self.panels.specs.lost(ticket);
                            self.spec_outcome(outcome, context);
                        }
                        Some(Pending::Upstream(ticket)) => self.panels.upstreams.lost(ticket),
                        _ => {}
                    }
                    self.notices.tell(Tone::Bad, "This is too much to send at once.", vec![why]);
                }
                Incoming::Closed { why } => self.end(why.as_deref(), context),
            }
        }
    }

    fn react(&mut self, received: Received, context: &Context) {
        match received {
            Received::Ignored | Received::Status | Received::Bundles => {}
            Received::Terraform => self.terraform_told(),
            Received::RunLines { run, first, lines } => self.session.terraform.lines.push(run, first, lines),
            // Asked for before the next frame.
            Received::Review => {
                self.panels.audit.changed();
                context.request_repaint_after(std::time::Duration::from_millis(1));
            }
            Received::Previews => self.previews_told(context),
            Received::PreviewFrame { session, generation } => {
                self.panels.preview.screens.announced(session, generation);
            }
            Received::PreviewInstances { session, instances } => {
                self.panels.preview.screens.place(session, instances);
            }
            Received::Opened(presence) => self.opened(&presence, context),
            Received::Patched(changes) => self.patched(&changes, context),
            Received::Registry => self.redraw_all(None),
            Received::Answered { request, result } => self.answered(request, result, context),
            Received::Raise => {
                context.send_viewport_cmd(ViewportCommand::Minimized(false));
                context.send_viewport_cmd(ViewportCommand::Focus);
            }
            Received::CrashReport { headline } => self.notices.tell_with(
                Tone::Bad,
                "Draftboard ended unexpectedly",
                vec![headline, "Nothing was sent. Acknowledged changes are in the journal.".to_owned()],
                Some(("Show report", Action::Do(CommandId::ReportProblem))),
            ),
            Received::Welcome(folder) => self.overlays.welcome = Some(Welcome::about(folder)),
            Received::Resync => {
                if let Err(error) = self.link.resync() {
                    tracing::error!(%error, "cannot ask for the workspace again");
                }
            }
            Received::Broken(why) => self.end(Some(&why), context),
        }
    }

    /// Main is gone or not to be trusted: the window has nothing to show any more. Main starts another one if it lives.
    fn end(&mut self, why: Option<&str>, context: &Context) {
        if let Some(why) = why {
            tracing::error!(why, "the window ends");
        }
        if !self.leaving {
            // Set once: the first reason is the one that counts.
            let _ = self.lost.set(why.unwrap_or("main has closed the connection").to_owned());
        }
        self.leaving = true;
        context.send_viewport_cmd(ViewportCommand::Close);
    }

    /// A new workspace takes the window over; the same one again (after a resync) leaves the designer where they were.
    fn opened(&mut self, presence: &Presence, context: &Context) {
        let Some(workspace) = self.replica.workspace() else { return };
        let known = self.opened_root.as_deref() == Some(workspace.root.as_str());
        if !known {
            self.opened_root = Some(workspace.root.clone());
            self.tour.take_if(|tour| matches!(tour, Tour::Going(_)));
            self.notices.clear();
            self.canvases.clear();
            self.fitted.clear();
            self.session.terraform.reset();
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
            self.panels.upstreams.reset();
            self.restore(presence, context);
        }
        self.panels.log.reset();
        self.panels.audit.reset();
        self.panels.inspector.operations = Default::default();
        self.redraw_all(None);
        self.keep_what_exists();
    }

    fn patched(&mut self, changes: &[Change], context: &Context) {
        self.redraw_all(Some(changes));
        self.keep_what_exists();
        self.panels.log.changed();
        if let Some(workspace) = self.replica.workspace() {
            self.notices.withdraw_undo(workspace.snapshot.revision());
        }
        self.select_awaited(context);
        self.send_nudge_backlog();
    }

    /// Tells each canvas what changed; `None` means everything.
    fn redraw_all(&mut self, changes: Option<&[Change]>) {
        let Some(workspace) = self.replica.workspace() else { return };
        self.canvases.retain(|board, _| workspace.snapshot.board(*board).is_some());
        for (board, canvas) in &mut self.canvases {
            canvas.document_changed(&workspace.snapshot, *board, changes);
        }
        self.review.draw_anew(self.replica.workspace());
    }

    /// Drops what is gone from the selection, and moves to another board if this one went.
    pub(super) fn keep_what_exists(&mut self) {
        let Some(workspace) = self.replica.workspace() else { return };
        let snapshot = self.session.edited.as_ref().map_or(&workspace.snapshot, |edited| &edited.after);
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

    fn answered(&mut self, request: u64, result: Result<Answer, Refusal>, context: &Context) {
        let pending = self.pending.remove(&request);
        if let Some(Pending::Bundle(ticket)) = pending {
            let outcome = self.panels.specs.answered(ticket, result);
            return self.spec_outcome(outcome, context);
        }
        if let Some(Pending::Upstream(ticket)) = pending {
            return self.upstream_answered(ticket, result);
        }
        let answer = match result {
            Ok(answer) => answer,
            Err(refusal) => {
                match pending {
                    Some(Pending::Log) => self.panels.log.forget_asking(),
                    Some(Pending::Audit) => self.panels.audit.forget_asking(),
                    Some(Pending::Nudge) => self.nudge.give_up(),
                    Some(Pending::Operations) => self.panels.inspector.operations.receive(Vec::new()),
                    Some(Pending::Review(asked)) => self.review_refused(asked),
                    Some(Pending::PreviewLog(session)) => self.panels.preview.log.lost(session),
                    Some(Pending::Promote) => {
                        let failed = refusal.failed.iter();
                        let why = failed.map(|failed| (failed.address.clone(), failed.message.clone()));
                        self.session.unsaved = why.collect();
                    }
                    _ => {}
                }
                if let Some(Pending::Terraform(asked)) = pending
                    && !self.session.terraform.refuse(asked, &refusal)
                {
                    return;
                }
                if pending == Some(Pending::Demo) {
                    self.tour = None;
                }
                if let (Some(Pending::Welcome | Pending::Demo), Some(welcome)) =
                    (pending, &mut self.overlays.welcome)
                {
                    return welcome.refuse(refusal);
                }
                match pending {
                    // What is in the way stays; the rest can still be taken back.
                    Some(Pending::Revert(revision)) if refusal.code == Code::Conflict => {
                        let partly = Action::Ask(Request::Revert { revision, partial: true });
                        self.notices.offer(&refusal, "Revert what can be", partly);
                    }
                    Some(Pending::Review(Asked::Revert(proposal))) if refusal.code == Code::Conflict => {
                        let partly = Action::Review(ReviewRequest::Revert { proposal, partial: true });
                        self.notices.offer(&refusal, "Revert what can be", partly);
                    }
                    _ => self.notices.refuse(&refusal),
                }
                return;
            }
        };
        match answer {
            Answer::Applied(applied) => match pending {
                Some(Pending::Promote) => {
                    self.session.unsaved.clear();
                    self.notices.tell(Tone::Good, applied.summary, Vec::new());
                }
                Some(Pending::Change { select_created: true }) => {
                    self.session.awaited = applied.created;
                    self.select_awaited(context);
                }
                Some(Pending::Note) => {
                    self.session.awaited = applied.created;
                    self.session.write_awaited = true;
                    self.select_awaited(context);
                }
                Some(Pending::Nudge) => {
                    self.nudge.answered(applied.revision);
                    self.send_nudge_backlog();
                }
                _ => {}
            },
            Answer::Saved { files, .. } => {
                let more =
                    if files.is_empty() { vec!["Nothing had changed.".to_owned()] } else { Vec::new() };
                let what = if files.is_empty() {
                    "Saved".to_owned()
                } else {
                    format!("Saved {}", counted(files.len(), "file"))
                };
                self.notices.tell(Tone::Good, what, more);
            }
            Answer::Log(entries) if pending == Some(Pending::Operations) => {
                self.panels.inspector.operations.receive(entries);
            }
            Answer::Log(entries) => self.panels.log.receive(entries),
            Answer::AuditView(view) => self.panels.audit.receive(*view),
            Answer::ProblemReport(text) => {
                if let Some(report) = &mut self.overlays.report {
                    report.receive(text);
                }
            }
            Answer::Recents(recents) => {
                if let Some(welcome) = &mut self.overlays.welcome {
                    welcome.receive(recents);
                }
            }
            // A workspace was opened or made: the choice is done.
            Answer::Done if pending == Some(Pending::Welcome) => self.overlays.welcome = None,
            Answer::Templates(boards) => {
                if let Some(welcome) = &mut self.overlays.welcome {
                    welcome.receive_templates(boards);
                }
            }
            Answer::PlainFolder(folder) => self.overlays.welcome = Some(Welcome::about(Some(folder))),
            Answer::Demo { tour } => self.demo_started(tour),
            Answer::Terraform(answer) => {
                if pending == Some(Pending::Welcome) {
                    self.imported_workspace();
                }
                self.terraform_answered(answer, context);
            }
            Answer::Preview(answer) => self.preview_answered(answer, pending),
            Answer::Text(text) => match pending {
                Some(Pending::Terraform(_)) => {
                    context.copy_text(text);
                    let next =
                        "Fill it in and keep it as a .json file in the folder prices of the workspace."
                            .to_owned();
                    self.notices.tell(Tone::Good, "Copied the missing prices", vec![next]);
                }
                Some(Pending::Agents { copy: true }) => {
                    context.copy_text(text);
                    let next = "Paste it into the configuration of your client.".to_owned();
                    self.notices.tell(Tone::Good, "Copied the configuration", vec![next]);
                }
                _ => self.notices.tell(Tone::Good, text, Vec::new()),
            },
            Answer::Review(answer) => {
                let asked = if let Some(Pending::Review(asked)) = pending { Some(asked) } else { None };
                self.review_answered(answer, asked, context);
            }
            Answer::Exported { path, .. } if pending == Some(Pending::AuditExport) => {
                let next = format!("`draftboard audit verify {path}` checks it anywhere.");
                self.notices.tell(Tone::Good, "Exported the audit", vec![path, next]);
            }
            Answer::Exported { path, .. } => self.notices.tell(Tone::Good, "Exported the board", vec![path]),
            _ => {}
        }
    }

    /// The answer and the patch may come in either order; what was made is selected when both are here.
    pub(super) fn select_awaited(&mut self, context: &Context) {
        let Some(workspace) = self.replica.workspace() else { return };
        let awaited = &self.session.awaited;
        let here = |element: &ElementId| match element {
            ElementId::Node(id) => workspace.snapshot.node(*id).is_some(),
            ElementId::Edge(id) => workspace.snapshot.edge(*id).is_some(),
            ElementId::Board(id) => workspace.snapshot.board(*id).is_some(),
        };
        if awaited.is_empty() || !awaited.iter().all(here) {
            return;
        }
        let awaited: BTreeSet<ElementId> = std::mem::take(&mut self.session.awaited).into_iter().collect();
        let board =
            awaited.iter().find_map(|id| if let ElementId::Board(id) = id { Some(*id) } else { None });
        if let Some(board) = board {
            return self.open_board(board, context);
        }
        // What came inside something else that came is part of it.
        let outermost: BTreeSet<ElementId> = nodes_of(&awaited)
            .into_iter()
            .filter(|id| {
                let parent = workspace.snapshot.node(*id).and_then(|node| node.parent);
                parent.is_none_or(|parent| !awaited.contains(&ElementId::Node(parent)))
            })
            .map(ElementId::Node)
            .collect();
        let nodes = nodes_of(&outermost);
        let board = nodes.first().and_then(|id| workspace.snapshot.node(*id)).map(|node| node.board);
        if std::mem::take(&mut self.session.write_awaited)
            && let (Some(canvas), [note]) =
                (board.and_then(|board| self.canvases.get_mut(&board)), nodes.as_slice())
        {
            canvas.rename(*note);
        }
        self.session.reveal = nodes;
        self.select(outermost, context);
    }

    /// Asks main for something. A full queue is told and forgotten: nothing was changed.
    pub(super) fn ask(&mut self, request: Request, pending: Pending) {
        let Some(request) = self.edit_proposal(request) else { return };
        match self.link.request(request) {
            Ok(id) => drop(self.pending.insert(id, pending)),
            Err(error) => {
                if let Pending::Bundle(ticket) = pending {
                    self.panels.specs.lost(ticket);
                }
                if let Pending::Upstream(ticket) = pending {
                    self.panels.upstreams.lost(ticket);
                }
                let more = vec!["Nothing was changed. Try again in a moment.".to_owned()];
                let message = format!("{error}.");
                if let Pending::Terraform(asked) = pending {
                    let refusal = Refusal::new(Code::Internal, message.clone());
                    self.session.terraform.refuse(asked, &refusal);
                }
                self.notices.tell(Tone::Bad, super::perform::capitalised(&message), more);
            }
        }
    }

    pub(super) fn presence_changed(&mut self, context: &Context) {
        let now = context.input(|input| input.time);
        self.presence.changed(now, context);
    }

    pub(super) fn tell_presence(&mut self, context: &Context) {
        // Where the view comes to rest counts, not the way there.
        let flying =
            self.session.board.and_then(|board| self.canvases.get(&board)).is_some_and(Canvas::is_flying);
        let now = context.input(|input| input.time);
        if !flying
            && self.presence.is_due(now, context)
            && let Err(error) = self.link.presence(self.present())
        {
            tracing::warn!(%error, "presence was not told");
        }
    }

    /// Something lies over the window and has the keyboard.
    pub(super) fn has_popup(&self) -> bool {
        self.dialogs.is_open() || self.overlays.take_keys() || self.review.is_enlarging()
    }

    pub(super) fn notice_doing(&mut self, context: &Context, had_popup: bool) {
        if had_popup && !self.has_popup() {
            // Its field lets go of the keyboard in the next frame only.
            context.request_repaint();
        }
        let doing = if context.dragged_id().is_some() {
            Doing::Dragging
        } else if self.has_popup() || context.text_edit_focused() {
            Doing::Typing
        } else {
            Doing::Nothing
        };
        if std::mem::replace(&mut self.doing, doing) != doing {
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
            doing: self.doing,
            window: layout_to_text(&self.told_layout),
            settings: if self.has_changed_settings { self.settings.to_text() } else { String::new() },
        }
    }

    /// The window is being closed by a person: main should end too, and know where they were.
    pub(super) fn leave(&mut self) {
        self.leaving = true;
        if self.presence.is_waiting()
            && let Err(error) = self.link.presence(self.present())
        {
            tracing::warn!(%error, "presence was not told");
        }
        if let Err(error) = self.link.request(Request::Quit) {
            tracing::warn!(%error, "main was not told that the window closes");
        }
    }
}
