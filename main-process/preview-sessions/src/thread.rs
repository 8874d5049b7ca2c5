//! The thread that owns the sessions. It sleeps until an order or a message arrives, a process ends or a deadline passes,
//! and never waits for a single one of them.

use crate::{
    PreviewEvents, PreviewSessionsMsg, PreviewsHandle,
    launcher::PreviewLauncher,
    peer::{PreviewPeer, PreviewPeerFailure},
    previewed_workspace::PreviewedWorkspace,
    requests::{SCREENSHOT_TIMEOUT, check_screen, check_shown},
    screenshot::{Screenshot, ScreenshotTarget},
    session::{PreviewSession, SessionEvent},
    views,
    window_queue::PreviewWindowQueue,
};
use crossbeam_channel::{Receiver, TryRecvError};
use processes::timespec;
use rustix::{
    event::{PollFd, PollFlags, poll},
    io::Errno,
};
use shared_protocol::{
    NodeId, Refusal, RefusalCode,
    messages::ToRenderer,
    preview_sessions::{PreviewId, PreviewImage, PreviewTarget, PreviewsView},
    preview_wire::{PreviewProtocolViolation, PreviewScreen},
    request::Responder,
};
use std::{
    collections::{BTreeMap, BTreeSet},
    sync::Arc,
    time::{Duration, Instant},
};
use system_fonts::SystemFontList;

const MAX_TURN_ORDERS: usize = 256;
/// Views change with the pointer, so they are sent at most this often.
const VIEW_INTERVAL: Duration = Duration::from_millis(30);
/// How often the queue of a window that fell behind is checked.
const CATCH_UP_INTERVAL: Duration = Duration::from_millis(100);
/// Sessions for pictures of other states.
const MAX_PICTURE_SESSIONS: usize = 4;
/// The pause after a failed `poll`, which would otherwise repeat at full speed.
const POLL_ERROR_PAUSE: Duration = Duration::from_millis(50);
/// The prefix of an action that opens a page: `navigate:/orders`.
const NAVIGATE: &str = "navigate:";

pub(crate) struct SessionsThread {
    link: PreviewsHandle,
    orders: Receiver<PreviewSessionsMsg>,
    events: Arc<dyn PreviewEvents>,
    pub(crate) launcher: PreviewLauncher,
    pub(crate) sessions: BTreeMap<PreviewId, PreviewSession>,
    next_id: u32,
    window: PreviewWindowQueue,
    /// The state that the sessions were last updated to.
    workspace: Option<Arc<PreviewedWorkspace>>,
    published: Option<PreviewsView>,
    next_publish: Instant,
    /// The reason why this machine can show no preview.
    unavailable: Option<String>,
}

impl SessionsThread {
    pub(crate) fn new(
        link: PreviewsHandle,
        orders: Receiver<PreviewSessionsMsg>,
        events: Arc<dyn PreviewEvents>,
        launcher: PreviewLauncher,
    ) -> Self {
        Self {
            link,
            orders,
            events,
            launcher,
            sessions: BTreeMap::new(),
            next_id: 1,
            window: PreviewWindowQueue::default(),
            workspace: None,
            published: None,
            next_publish: Instant::now(),
            unavailable: None,
        }
    }

    pub(crate) fn run(mut self) {
        loop {
            let now = Instant::now();
            if self.take_orders(now) {
                return;
            }
            self.sync_workspace(now);
            self.run_turn(now);
            self.publish(now);
            self.wait();
            self.receive(Instant::now());
        }
    }

    pub(crate) fn newest_workspace(&self) -> Option<Arc<PreviewedWorkspace>> {
        self.link.workspace()
    }

    /// Returns true after an order to stop.
    fn take_orders(&mut self, now: Instant) -> bool {
        for _ in 0..MAX_TURN_ORDERS {
            match self.orders.try_recv() {
                Ok(PreviewSessionsMsg::Request(call)) => {
                    self.sync_workspace(now);
                    self.handle(call, now);
                }
                Ok(PreviewSessionsMsg::Gesture { session, gesture }) => self.gesture(session, gesture),
                Ok(PreviewSessionsMsg::Attach(queue)) => {
                    self.window.attach(queue);
                    // The tries of the window before end with it.
                    self.sessions.values_mut().for_each(PreviewSession::end_trying);
                    self.send_everything();
                }
                Ok(PreviewSessionsMsg::Picture { workspace, route, screen, responder }) => {
                    self.picture(*workspace, route, screen, responder, now);
                }
                Ok(PreviewSessionsMsg::Fonts { session, fonts }) => {
                    if let Some(session) = self.sessions.get_mut(&session) {
                        session.send_fonts(fonts, now);
                    }
                }
                Ok(PreviewSessionsMsg::Update) => {}
                Ok(PreviewSessionsMsg::Stop) | Err(TryRecvError::Disconnected) => return true,
                Err(TryRecvError::Empty) => {
                    // Only after every order before it.
                    if self.link.take_try_ended() {
                        self.sessions.values_mut().for_each(PreviewSession::end_trying);
                    }
                    return false;
                }
            }
        }
        // More orders wait.
        self.link.wake();
        false
    }

    /// Takes the newest state of the workspace. Another workspace ends the sessions of the one before.
    fn sync_workspace(&mut self, now: Instant) {
        let Some(newest) = self.newest_workspace() else { return };
        match &self.workspace {
            Some(seen) if Arc::ptr_eq(seen, &newest) => return,
            Some(seen) if !seen.is_same_workspace(&newest) => {
                // Stopping refuses the screenshots that wait.
                self.sessions.values_mut().for_each(PreviewSession::stop);
                self.sessions.clear();
            }
            _ => {}
        }
        for session in self.sessions.values_mut().filter(|session| session.picture_of.is_none()) {
            session.update(&newest, &self.launcher, now);
        }
        self.workspace = Some(newest);
    }

    pub(crate) fn add(&mut self, shows: PreviewTarget, screen: PreviewScreen) -> PreviewId {
        let id = PreviewId(self.next_id);
        self.next_id += 1;
        self.sessions.insert(id, PreviewSession::new(id, shows, screen));
        id
    }

    pub(crate) fn close(&mut self, id: PreviewId) -> Result<(), Refusal> {
        self.session(id)?.stop();
        self.sessions.remove(&id);
        Ok(())
    }

    fn picture(
        &mut self,
        workspace: PreviewedWorkspace,
        route: NodeId,
        screen: PreviewScreen,
        responder: Responder<PreviewImage>,
        now: Instant,
    ) {
        let shows = PreviewTarget::Route(route);
        let drawn = self.sessions.values().filter(|session| session.picture_of.is_some()).count();
        let checked = check_screen(screen).and_then(|()| check_shown(&workspace, &shows)).and_then(|()| {
            match drawn >= MAX_PICTURE_SESSIONS {
                true => Err(Refusal::new(RefusalCode::LimitExceeded, "Too many pages are being rendered")
                    .hint("Try again in a moment.")),
                false => Ok(()),
            }
        });
        if let Err(refusal) = checked {
            return responder.send(Err(refusal));
        }
        let id = self.add(shows, screen);
        if let Some(session) = self.sessions.get_mut(&id) {
            let (deadline, target) = (now + SCREENSHOT_TIMEOUT, ScreenshotTarget::Pixels(responder));
            session.screenshots.push(Screenshot { deadline, target });
            session.picture_of = Some(workspace.clone());
            session.start(&workspace, &self.launcher, now);
        }
    }

    // ---- turns --------------------------------------------------------------------------------------------------------

    fn run_turn(&mut self, now: Instant) {
        let Some(workspace) = self.workspace.clone() else { return };
        let ids: Vec<PreviewId> = self.sessions.keys().copied().collect();
        for id in ids {
            let Some(session) = self.sessions.get_mut(&id) else { continue };
            session.restart_if_due(&workspace, &self.launcher, now);
            if let Err(failure) = session.run_turn(&workspace, now) {
                self.handle_failure(id, &failure, now);
            }
            self.take_screenshots(id, now);
        }
    }

    fn receive(&mut self, now: Instant) {
        let Some(workspace) = self.workspace.clone() else { return };
        let ids: Vec<PreviewId> = self.sessions.keys().copied().collect();
        for id in ids {
            let Some(session) = self.sessions.get_mut(&id) else { continue };
            match session.receive(&workspace, now) {
                Ok(events) => events.into_iter().for_each(|event| self.handle_event(id, event)),
                Err(failure) => self.handle_failure(id, &failure, now),
            }
        }
    }

    fn handle_failure(&mut self, id: PreviewId, failure: &PreviewPeerFailure, now: Instant) {
        let Some(workspace) = self.workspace.clone() else { return };
        if let PreviewPeerFailure::Violated(violation @ PreviewProtocolViolation::NoSandbox) = failure {
            self.unavailable = Some(violation.to_string());
        }
        tracing::warn!(session = %id, "{failure}");
        if let Some(session) = self.sessions.get_mut(&id) {
            session.handle_failure(failure, &workspace, now);
        }
    }

    fn handle_event(&mut self, id: PreviewId, event: SessionEvent) {
        let Some(session) = self.sessions.get(&id) else { return };
        let is_for_picture = session.picture_of.is_some();
        match event {
            SessionEvent::MissingCharacters(characters) => self.find_fonts(id, characters),
            _ if is_for_picture => {}
            SessionEvent::Memory => self.send_memory(id),
            SessionEvent::Frame { generation, sequence } => {
                let message = ToRenderer::PreviewFrame { session: id, generation, sequence };
                self.window.send(message, None);
            }
            SessionEvent::Boxes => self.send_boxes(id),
            SessionEvent::Picked => {
                let picked = session.selected.as_ref().zip(self.workspace.as_deref());
                if let Some(node) = picked.and_then(|(picked, workspace)| views::node_of(workspace, picked)) {
                    self.events.select_node(node);
                }
            }
            SessionEvent::Action { instance, action } => self.follow_action(id, &instance, &action),
        }
    }

    /// Searches fonts on a thread of its own, because nothing here waits for a disk.
    fn find_fonts(&self, session: PreviewId, characters: BTreeSet<char>) {
        let link = self.link.clone();
        let find = move || {
            let fonts = SystemFontList::of_system().find(&characters);
            if link.send(PreviewSessionsMsg::Fonts { session, fonts }).is_err() {
                tracing::warn!("fonts for a preview came too late");
            }
        };
        if let Err(error) = std::thread::Builder::new().name("preview-fonts".to_owned()).spawn(find) {
            tracing::error!(%error, "no thread to search fonts for a preview");
        }
    }

    /// Opens the page that an action names, or that the pressed node refers to.
    fn follow_action(&mut self, id: PreviewId, instance: &str, action: &str) {
        let Some(workspace) = self.workspace.clone() else { return };
        let Some(PreviewSession { shows: PreviewTarget::Route(here), .. }) = self.sessions.get(&id) else {
            return;
        };
        let here = *here;
        let page = match action.strip_prefix(NAVIGATE) {
            Some(path) => workspace.page_at(here, path),
            // Instances within a component refer to no page.
            None if instance.contains('/') || action == "change" => None,
            None => views::node_of(&workspace, instance).and_then(|node| {
                let node = workspace.snapshot.node(node)?;
                let targets: Vec<NodeId> = node.references.values().flatten().copied().collect();
                targets.into_iter().find(|target| workspace.page(*target).is_some())
            }),
        };
        if let Some(page) = page.filter(|page| *page != here)
            && let Err(refusal) = self.navigate(&workspace, id, page)
        {
            tracing::debug!(%refusal, "an action in a preview opened no page");
        }
    }

    fn take_screenshots(&mut self, id: PreviewId, now: Instant) {
        let Some(session) = self.sessions.get_mut(&id) else { return };
        let memory = session.peer().filter(|_| session.is_complete()).and_then(|peer| peer.memory.clone());
        if let Some(memory) = memory {
            for screenshot in std::mem::take(&mut session.screenshots) {
                screenshot.capture(&memory, session.screen);
            }
        }
        let (late, waiting) =
            std::mem::take(&mut session.screenshots).into_iter().partition(|shot| shot.deadline <= now);
        session.screenshots = waiting;
        for screenshot in late {
            let refusal = Refusal::new(RefusalCode::Timeout, "The preview did not render in time");
            screenshot
                .refuse(refusal.hint("Check the preview's log: a component may be broken or very slow."));
        }
        // A session for a picture ends with it.
        if session.picture_of.is_some() && session.screenshots.is_empty() {
            self.sessions.remove(&id);
        }
    }

    // ---- the window ---------------------------------------------------------------------------------------------------

    pub(crate) fn send_memory(&mut self, id: PreviewId) {
        let Some(session) = self.sessions.get(&id).filter(|session| session.picture_of.is_none()) else {
            return;
        };
        let Some(peer) = session.peer() else { return };
        if let Some(memory) = peer.memory.clone() {
            let (generation, screen) = (peer.generation, session.screen);
            let message = ToRenderer::PreviewMemory { session: id, generation, screen };
            self.window.send(message, Some(memory));
        }
    }

    fn send_boxes(&mut self, id: PreviewId) {
        let Some(session) = self.sessions.get(&id) else { return };
        let instances = views::boxes(session.boxes(), self.workspace.as_deref());
        self.window.send(ToRenderer::PreviewInstances { session: id, instances }, None);
    }

    /// For a window that attached, or that missed a message.
    fn send_everything(&mut self) {
        self.published = None;
        let ids: Vec<PreviewId> = self.sessions.keys().copied().collect();
        for id in ids {
            self.send_memory(id);
            self.send_boxes(id);
            let frame = self.sessions.get(&id).and_then(|session| session.lifecycle.live_preview()?.frame);
            if let Some((generation, sequence)) = frame {
                self.window.send(ToRenderer::PreviewFrame { session: id, generation, sequence }, None);
            }
        }
        self.next_publish = Instant::now();
    }

    fn publish(&mut self, now: Instant) {
        if self.window.take_recovered() {
            self.send_everything();
        }
        if now < self.next_publish {
            return;
        }
        let view = self.view();
        if self.published.as_ref() != Some(&view) {
            self.events.publish_view(&view);
            self.window.send(ToRenderer::Previews(Box::new(view.clone())), None);
            self.published = Some(view);
            self.next_publish = now + VIEW_INTERVAL;
        }
    }

    pub(crate) fn view(&self) -> PreviewsView {
        let shown = self.sessions.values().filter(|session| session.picture_of.is_none());
        views::previews_view(shown, self.workspace.as_deref(), self.unavailable.as_ref())
    }

    // ---- waiting ------------------------------------------------------------------------------------------------------

    fn wait(&self) {
        let now = Instant::now();
        let mut descriptors = vec![PollFd::new(&self.link.wake, PollFlags::IN)];
        let mut deadline: Option<Instant> = None;
        for session in self.sessions.values() {
            deadline = deadline.into_iter().chain(session.deadline(now)).min();
            let Some(peer) = session.peer() else { continue };
            let send = if peer.has_outgoing() { PollFlags::OUT } else { PollFlags::empty() };
            descriptors.push(PollFd::from_borrowed_fd(peer.channel(), PollFlags::IN | send));
            for other in peer.process().into_iter().chain(peer.stderr()) {
                descriptors.push(PollFd::from_borrowed_fd(other, PollFlags::IN));
            }
        }
        let publish = (now < self.next_publish && self.published.as_ref() != Some(&self.view()))
            .then_some(self.next_publish);
        let catch_up = self.window.is_behind().then_some(now + CATCH_UP_INTERVAL);
        deadline = deadline.into_iter().chain(publish).chain(catch_up).min();
        // Messages beyond the limit of a turn were read already, so no descriptor announces them.
        let has_more =
            self.sessions.values().any(|session| session.peer().is_some_and(PreviewPeer::has_more));
        let limit = match has_more {
            true => Some(Duration::ZERO),
            false => deadline.map(|deadline| deadline.saturating_duration_since(now)),
        };
        match poll(&mut descriptors, timespec(limit).as_ref()) {
            Ok(_) | Err(Errno::INTR) => {}
            Err(error) => {
                tracing::error!(%error, "poll for previews failed");
                std::thread::sleep(POLL_ERROR_PAUSE);
            }
        }
        // Resets the counter of wake-ups.
        let _ = rustix::io::read(&self.link.wake, &mut [0_u8; 8]);
    }
}
