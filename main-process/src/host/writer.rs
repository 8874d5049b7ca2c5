//! The writer's thread. Jobs that wait together are decided together and share one write to the disk.

mod aside;
mod audit;
mod consequences;
mod page_pictures;
mod reviewing;

use super::{
    Host, Job, Launch, Parts, Reply, Session, Signal,
    announce::Announcer,
    answer::{self, ask, mutation},
    codes::Codes,
    launching::{self, Failed, Welcome},
    notify::Notifier,
    subscriber::Subscriber,
    terraform_responder, upstream_responder,
};
use crate::{
    demo,
    mcp::{self, Address},
    renderer_link::user_name,
    terraform_worker, upstreams,
};
use authority::proposals::{AgentAsk, AgentOutcome, Client};
use crash_reports::{self, CrashStore};
use crossbeam_channel::{Receiver, RecvTimeoutError, Sender};
use journal::FileChanged;
use mcp_server::AskReply;
use processes::GuardedChild;
use reviewing::Reviewed;
use shared_protocol::{
    Actor, ActorKind, Code, ElementId, NodeId, Refusal,
    mcp::McpMode,
    messages::{Answer, Applied, InstanceView, Patch, PlainFolder, Presence, Request, ToRenderer},
    review::AuditEvent,
};
use std::{
    path::Path,
    sync::Arc,
    time::{Duration, Instant},
};
use user_folders as paths;
use workspace::now;
use workspace::{Mutation, Noticed, Workspace, template_boards};

/// Jobs taken at once.
const MAX_GROUP: usize = 256;
/// How long a line of the audit waits for others.
const NOTES_WAIT: Duration = Duration::from_millis(5);
/// How long it may take until a deleted journal or lock is noticed while nothing is changed.
const LOOK_AFTER_STORAGE: Duration = Duration::from_secs(2);
/// How often a renderer that fell behind is looked at.
const CATCH_UP: Duration = Duration::from_millis(50);

pub(super) struct Writer {
    session: Session,
    host: Host,
    signals: Sender<Signal>,
    renderer: Subscriber,
    window: bool,
    /// What the first window shows over the workspace.
    welcome: Option<Welcome>,
    /// The scripted agent of the demo, while that is the workspace that is open.
    demo: Option<GuardedChild>,
    failed: Failed,
    agents: mcp::Link,
    terraform: terraform_worker::Link,
    upstreams: upstreams::Link,
    /// Where agents connect; each workspace's record has it.
    address: Option<Address>,
    codes: Codes,
    notifier: Notifier,
    /// When the journal and the lock were last looked at.
    storage_seen: Instant,
    /// `None` with a window, which shows the review queue itself.
    announcer: Option<Announcer>,
}

/// What waits for its group.
enum Waiting {
    Mutation {
        mutation: Mutation,
        actor: Actor,
        reply: Reply,
    },
    Ask {
        client: Box<Client>,
        ask: Box<AgentAsk>,
        reply: AskReply,
    },
    /// Two for each call of a tool: one write to the disk does for many of them.
    Note {
        event: AuditEvent,
        by: upstreams::By,
        reason: String,
    },
}

/// What the group made of it.
enum Decided {
    Mutation(Reply, Result<Applied, Refusal>),
    Ask(AskReply, Box<Result<AgentOutcome, Refusal>>),
    Note,
}

impl Writer {
    pub(super) fn new(
        launch: Launch,
        host: Host,
        signals: Sender<Signal>,
        window: bool,
        parts: Parts,
    ) -> Self {
        let Parts { agents, terraform, upstreams, .. } = parts;
        let Launch { mut session, welcome, failed, approval } = launch;
        agents.published.show(&session.workspace);
        terraform.show(&session.workspace);
        host.previews.show(&session.workspace);
        upstreams.show(session.workspace.root());
        session.serve(&host, &agents);
        session.workspace.price_with(Arc::new(terraform.clone()));
        let settings = mcp::window_settings(&paths::settings()).unwrap_or_else(|error| {
            tracing::warn!(%error, "the window's settings are not used");
            String::new()
        });
        let renderer = Subscriber::new(settings);
        let mut writer = Self {
            session,
            host,
            signals,
            renderer,
            window,
            welcome,
            demo: None,
            failed,
            agents,
            terraform,
            upstreams,
            address: None,
            codes: Codes::default(),
            notifier: Notifier::default(),
            storage_seen: Instant::now(),
            announcer: (!window).then(Announcer::default),
        };
        if let Some(announcer) = &mut writer.announcer {
            let workspace = &writer.session.workspace;
            announcer.at_start(&workspace.desk().queue, workspace.root());
        }
        if let Some(scope) = approval {
            writer.approve(scope, user_name());
        }
        writer
    }

    pub(super) fn run(mut self, jobs: &Receiver<Job>) {
        loop {
            let limit = if self.renderer.is_behind() { CATCH_UP } else { self.until_expiry() };
            let limit = limit.min(LOOK_AFTER_STORAGE);
            let first = match jobs.recv_timeout(limit) {
                Ok(job) => job,
                Err(RecvTimeoutError::Timeout) => {
                    self.renderer.catch_up(&self.session.workspace);
                    self.look_after_storage();
                    self.sweep();
                    self.publish();
                    self.tell_review();
                    continue;
                }
                Err(RecvTimeoutError::Disconnected) => break,
            };
            let mut waiting = Vec::new();
            let mut stop = false;
            for job in std::iter::once(first).chain(jobs.try_iter()).take(MAX_GROUP) {
                stop |= self.take(job, &mut waiting);
            }
            self.gather_notes(jobs, &mut waiting, &mut stop);
            self.flush(&mut waiting);
            self.look_after_storage();
            self.publish();
            self.renderer.catch_up(&self.session.workspace);
            self.renderer.tell_registry(&self.session.workspace);
            self.renderer.tell_status(&self.session.workspace);
            self.renderer.tell_links(&self.session.workspace);
            self.renderer.tell_bundles(&self.session.workspace);
            self.tell_review();
            if stop {
                break;
            }
        }
        self.session.close();
    }

    /// Notices a journal or lock that was deleted, also when requests keep coming that change nothing.
    fn look_after_storage(&mut self) {
        if self.storage_seen.elapsed() >= LOOK_AFTER_STORAGE {
            self.session.workspace.look_after_storage();
            self.storage_seen = Instant::now();
            self.renderer.tell_status(&self.session.workspace);
        }
    }

    /// Nobody waits for lines of the audit: they wait a moment for others, and go to the disk before anything else is done.
    fn gather_notes(&mut self, jobs: &Receiver<Job>, waiting: &mut Vec<Waiting>, stop: &mut bool) {
        let end = Instant::now() + NOTES_WAIT;
        let are_notes = |waiting: &[Waiting]| {
            !waiting.is_empty() && waiting.iter().all(|waiting| matches!(waiting, Waiting::Note { .. }))
        };
        while !*stop && are_notes(waiting) && waiting.len() < MAX_GROUP {
            match jobs.recv_deadline(end) {
                Ok(job) => *stop |= self.take(job, waiting),
                Err(_) => return,
            }
        }
    }

    /// Mutations gather; anything else is done in its turn. True when it is time to stop.
    fn take(&mut self, job: Job, waiting: &mut Vec<Waiting>) -> bool {
        let (request, actor, reply) = match job {
            Job::Request { request, actor, reply } => (request, actor, reply),
            Job::Mutate { mutation, actor, reply } => {
                waiting.push(Waiting::Mutation { mutation, actor, reply });
                return false;
            }
            Job::Ask { client, ask, reply } => {
                waiting.push(Self::asked(client, ask, reply));
                return false;
            }
            Job::Note { event, by, reason } => {
                waiting.push(Waiting::Note { event, by, reason });
                return false;
            }
            other => {
                self.flush(waiting);
                return self.other(other);
            }
        };
        if let Some(mutation) = mutation(&request) {
            waiting.push(Waiting::Mutation { mutation, actor, reply });
            return false;
        }
        self.flush(waiting);
        self.answer(request, &actor, reply);
        false
    }

    fn other(&mut self, job: Job) -> bool {
        let workspace = &mut self.session.workspace;
        match job {
            Job::Stop => return true,
            Job::Presence(mut presence) if presence.is_sound() => {
                let settings = std::mem::take(&mut presence.settings);
                workspace.set_presence(presence);
                self.keep_window_settings(settings);
            }
            Job::Chosen(node) => choose(workspace, node),
            Job::Presence(_) => tracing::warn!("a selection or viewport out of bounds was ignored"),
            Job::Attach(queue) => {
                self.renderer.attach(queue, workspace);
                if let Some(Welcome { folder }) = self.welcome.take() {
                    self.renderer.tell(ToRenderer::Welcome { folder });
                }
                self.offer_crash_report();
            }
            Job::Resync => self.renderer.resync(workspace),
            Job::FileChanged(changed) => self.file_changed(&changed),
            Job::McpAnswer { reply, result } => reply(result),
            Job::Mcp(view) => self.renderer.tell_agents(*view),
            Job::McpAddress(address) => {
                self.session.announce(address.as_ref());
                self.address = address;
            }
            Job::Terraform(view) => self.renderer.tell_terraform(view),
            Job::RunLines { run, first, lines } => {
                self.renderer.tell(ToRenderer::RunLines { run, first, lines });
            }
            Job::Review { request, name, reply } => {
                let Some((request, reply)) = self.review_aside(request, &name, reply) else { return false };
                let result = self.review(request, name);
                self.publish();
                self.renderer.tell_status(&self.session.workspace);
                self.tell_review();
                reply(result);
            }
            Job::TerminalReview { connection, request, name, reply } => {
                match self.terminal_review(connection, request, &name) {
                    Reviewed::Now(result) => {
                        self.publish();
                        reply(*result);
                    }
                    Reviewed::Upstream(decision) => self.upstream_confirmed(*decision, name, reply),
                }
            }
            Job::Upstreams(view) => self.renderer.tell_upstreams(view),
            Job::Upstream { decision, name, reply } => {
                let by = upstreams::By { name, way: "window" };
                self.upstreams.decide(decision, by, upstream_responder(reply));
            }
            Job::CameOf { proposal, outcome } => self.came_of(proposal, outcome),
            Job::Request { .. } | Job::Mutate { .. } | Job::Ask { .. } | Job::Note { .. } => {}
        }
        false
    }

    /// Decides the group, makes it durable, shows it, acknowledges it.
    fn flush(&mut self, waiting: &mut Vec<Waiting>) {
        if waiting.is_empty() {
            return;
        }
        let mut group = self.session.workspace.begin();
        let decided: Vec<Decided> = waiting
            .drain(..)
            .map(|waiting| match waiting {
                Waiting::Mutation { mutation, actor, reply } => {
                    Decided::Mutation(reply, group.run(&mutation, &actor, now()))
                }
                Waiting::Ask { client, ask, reply } => {
                    Decided::Ask(reply, Box::new(group.ask(&client, &ask, now())))
                }
                Waiting::Note { event, by, reason } => {
                    group.writes_down(event, (by.name, by.way), reason, now());
                    Decided::Note
                }
            })
            .collect();
        let committed = group.commit();
        let failed = committed.as_ref().err().cloned();
        self.broadcast(committed.unwrap_or_default());
        // Whoever hears that it is done can see it.
        self.publish();
        for decided in decided {
            match decided {
                Decided::Mutation(reply, result) => reply(kept(&failed, result).map(Answer::Applied)),
                Decided::Ask(reply, result) => {
                    let result = kept(&failed, *result);
                    self.follow_up(&result);
                    reply(result);
                }
                Decided::Note => {
                    if let Some(refusal) = &failed {
                        tracing::error!(%refusal, "a line of the audit was not written");
                    }
                }
            }
        }
    }

    /// What a standing approval has accepted is done at once.
    fn follow_up(&mut self, result: &Result<AgentOutcome, Refusal>) {
        let Ok(AgentOutcome { done, accepted }) = result else { return };
        if let Some(announcer) = &mut self.announcer {
            let workspace = &self.session.workspace;
            announcer.submitted(&done.proposal, &workspace.desk().queue, workspace.root());
        }
        match (&done.proposal.act, accepted) {
            (Some(act), Some(_)) => {
                let act = act.clone();
                self.carry_out(&done.proposal, &act, None);
            }
            (Some(act), None) => {
                if done.began {
                    self.tell_of_grave(&done.proposal, act);
                }
                self.plan_request(&done.proposal);
            }
            _ => {}
        }
    }

    /// Shows what there is now to those who read without asking the writer.
    fn publish(&self) {
        self.agents.published.show(&self.session.workspace);
        self.terraform.show(&self.session.workspace);
        self.host.previews.show(&self.session.workspace);
        self.upstreams.show(self.session.workspace.root());
    }

    fn broadcast(&mut self, patches: Vec<Patch>) {
        for patch in patches {
            self.renderer.tell(ToRenderer::Patch(patch.without_sources()));
        }
    }

    fn answer(&mut self, request: Request, actor: &Actor, reply: Reply) {
        let workspace: &mut Workspace = &mut self.session.workspace;
        let result = match request {
            Request::Open(path) if actor.kind == ActorKind::Window => self.open_or_ask(&path),
            Request::Open(path) => self.open(&path),
            Request::New { path, .. }
                if actor.kind == ActorKind::Window && Path::new(&path).join("draftboard.toml").exists() =>
            {
                Ok(Answer::PlainFolder(PlainFolder { path, has_terraform: false, is_workspace: true }))
            }
            Request::New { path, template } => {
                launching::create_at(Path::new(&path), template).and_then(|()| self.open(&path))
            }
            Request::OpenExample => self.open_example(),
            Request::ProblemReport => Ok(Answer::ProblemReport(crash_reports::problem_report())),
            Request::StartDemo => self.start_demo(),
            Request::CloseTour => paths::close_tour().map(|()| Answer::Done).map_err(|error| {
                Refusal::new(Code::StorageError, format!("that the tour is closed was not written down: {error}"))
                    .hint("It comes again with the next demo. Free some space, or check your folder ~/.local/state.")
            }),
            Request::ImportFolder(folder) => {
                launching::import_beside(Path::new(&folder), actor).map(|(session, answer)| {
                    self.take_over(session);
                    Answer::Terraform(answer)
                })
            }
            Request::Templates => Ok(Answer::Templates(template_boards())),
            Request::Recents => return recents_aside(self.failed.clone(), reply),
            Request::ForgetRecent(path) => {
                let path = Path::new(&path);
                paths::forget(path);
                self.failed.remove(path);
                return recents_aside(self.failed.clone(), reply);
            }
            Request::Raise if !self.window => Err(without_window()),
            Request::Raise => {
                self.renderer.tell(ToRenderer::Raise);
                Ok(Answer::Done)
            }
            Request::Quit => {
                // Full: the end is asked for already.
                let _ = self.signals.try_send(Signal::Quit);
                Ok(Answer::Done)
            }
            Request::Instance => {
                let (pid, window) = (Some(std::process::id()), self.window);
                let on_screen = workspace.presence().on_screen().filter(|_| window);
                Ok(Answer::Instance(InstanceView { pid, window, on_screen, ..answer::at_rest(workspace) }))
            }
            Request::Export { board, path } => return export_aside(workspace, board, path, reply),
            Request::AuditView { before, limit } => {
                return audit::view_aside(self.host.clone(), actor.clone(), (before, limit), reply);
            }
            Request::AuditExport { path } => {
                return audit::export_aside(self.host.clone(), actor.clone(), path, reply);
            }
            Request::Mcp(request) => return self.agents.request(request, reply),
            Request::Terraform(request) => {
                return self.terraform.request(request, actor.clone(), terraform_responder(reply));
            }
            Request::Preview(request) => return self.host.previews.request(request, reply),
            Request::Upstream(request) => {
                let way = if actor.kind == ActorKind::Window { "window" } else { "terminal" };
                let by = upstreams::By { name: actor.name.clone(), way };
                return self.upstreams.request(request, by, upstream_responder(reply));
            }
            other => {
                let asked = ask(workspace, &other, actor, now());
                self.broadcast(asked.patches);
                asked.result
            }
        };
        self.publish();
        self.renderer.tell_status(&self.session.workspace);
        self.renderer.tell_bundles(&self.session.workspace);
        reply(result);
    }

    /// Opens another workspace in place of this one; when that fails, this one stays.
    fn open(&mut self, path: &str) -> Result<Answer, Refusal> {
        let path = Path::new(path);
        if path.canonicalize().is_ok_and(|path| path == self.session.workspace.root()) {
            return Ok(Answer::Done);
        }
        let session = Session::open(path).inspect_err(|error| {
            self.failed.insert(path.to_owned(), error.to_string());
        })?;
        self.failed.remove(path);
        self.take_over(session);
        Ok(Answer::Done)
    }

    /// As [`Self::open`] for a window, which can ask what to do about a folder that is no workspace.
    fn open_or_ask(&mut self, path: &str) -> Result<Answer, Refusal> {
        match launching::plain_folder(Path::new(path)) {
            Some(folder) => Ok(Answer::PlainFolder(folder)),
            None => self.open(path),
        }
    }

    /// Opens a fresh copy of the example and starts the scripted agent on it. The mode is guarded there and nowhere else.
    fn start_demo(&mut self) -> Result<Answer, Refusal> {
        if !self.window {
            return Err(without_window());
        }
        if self.demo.is_some() {
            // The copy that is about to be replaced must not be the one that is open.
            self.take_over(launching::open_example()?);
        }
        let root = demo::prepare()?;
        self.take_over(Session::open_unlisted(&root)?);
        self.agents.set_mode_here(Some(McpMode::Guarded));
        self.demo = Some(demo::start_agent(&root)?);
        Ok(Answer::Demo { tour: !paths::is_tour_closed() })
    }

    fn open_example(&mut self) -> Result<Answer, Refusal> {
        if !paths::example().canonicalize().is_ok_and(|path| path == self.session.workspace.root()) {
            let session = launching::open_example()?;
            self.take_over(session);
        }
        Ok(Answer::Done)
    }

    /// Keeps what the user chose in the window, for every workspace. What cannot be written holds for this run.
    fn keep_window_settings(&mut self, settings: String) {
        if settings.is_empty() || settings == self.renderer.settings {
            return;
        }
        if let Err(error) = mcp::keep_window_settings(&paths::settings(), &settings) {
            tracing::warn!(%error, "the window's settings were not kept");
        }
        self.renderer.settings = settings;
    }

    fn take_over(&mut self, mut session: Session) {
        if self.demo.take().is_some() {
            self.agents.set_mode_here(None);
        }
        connect::keep_mcp_json(session.workspace().root());
        session.serve(&self.host, &self.agents);
        session.announce(self.address.as_ref());
        session.workspace.price_with(Arc::new(self.terraform.clone()));
        std::mem::replace(&mut self.session, session).close();
        self.renderer.replace(&self.session.workspace);
    }

    /// Tells the window of a process that ended unexpectedly, once.
    fn offer_crash_report(&mut self) {
        let store = CrashStore::of_user();
        let Some(report) = store.unoffered() else { return };
        self.renderer.tell(ToRenderer::CrashReport { headline: report.headline() });
        if let Err(error) = store.mark_offered(&report) {
            tracing::warn!(%error, "a crash report will be offered again");
        }
    }

    fn file_changed(&mut self, changed: &FileChanged) {
        let workspace = &mut self.session.workspace;
        let noticed = match changed {
            FileChanged::Path(path) => workspace.file_changed(path, now()),
            FileChanged::Everything => workspace.everything_changed(now()),
        };
        self.noticed(noticed);
    }

    fn noticed(&mut self, noticed: Noticed) {
        if noticed.registry_changed {
            self.renderer.tell_registry(&self.session.workspace);
        }
        self.session.watch_sources();
        self.broadcast(noticed.patches);
    }
}

/// What somebody chose in a preview is what they have before their eyes. A window follows by itself and says so.
fn choose(workspace: &mut Workspace, node: NodeId) {
    let Some(board) = workspace.snapshot().node(node).map(|node| node.board) else { return };
    let selection = vec![ElementId::Node(node)];
    let presence = Presence { board: Some(board), selection, ..workspace.presence().clone() };
    workspace.set_presence(presence);
}

/// A result that counts only when its group was kept.
fn kept<T>(failed: &Option<Refusal>, result: Result<T, Refusal>) -> Result<T, Refusal> {
    match failed {
        Some(refusal) => result.and(Err(refusal.clone())),
        None => result,
    }
}

fn without_window() -> Refusal {
    let pid = std::process::id();
    Refusal::new(
        Code::Conflict,
        format!("the workspace is open in a Draftboard without a window (pid {pid})"),
    )
    .hint(format!("Stop that one to open a window: kill {pid}"))
}

/// A recent workspace may be on a disk that does not answer; the writer goes on meanwhile.
fn recents_aside(failed: Failed, reply: Reply) {
    let work = move || reply(Ok(Answer::Recents(launching::recents(&failed))));
    if let Err(error) = std::thread::Builder::new().name("recents".to_owned()).spawn(work) {
        tracing::error!(%error, "no thread for the recent workspaces");
    }
}

/// Drawing may take a while; the writer goes on meanwhile.
fn export_aside(workspace: &Workspace, board: shared_protocol::BoardId, path: String, reply: Reply) {
    let snapshot = workspace.snapshot().clone();
    let work = move || {
        let drawn = crate::export::export(&snapshot, board, Path::new(&path));
        reply(drawn.map(|bytes| Answer::Exported { path, bytes }));
    };
    if let Err(error) = std::thread::Builder::new().name("export".to_owned()).spawn(work) {
        tracing::error!(%error, "no thread for the export");
    }
}
