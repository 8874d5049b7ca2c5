//! The thread that keeps the sessions. It sleeps until an order comes, a preview says something or ends, or a deadline is
//! met, and never waits for any one of them.

use super::{
    Around, Link, Order, PictureReply,
    ground::Ground,
    peer::{Over, Peer},
    requests::{SHOT_LIMIT, check_screen, check_shown},
    session::{News, Session},
    shot::{Shot, To},
    spawner::Spawner,
    views,
    window::Window,
};
use crossbeam_channel::{Receiver, TryRecvError};
use processes::timespec;
use rustix::{
    event::{PollFd, PollFlags, poll},
    io::Errno,
};
use shared_protocol::{
    Code, NodeId, Refusal,
    messages::ToRenderer,
    preview::{Screen, Violation},
    previews::{PreviewsView, SessionId, Shown},
};
use std::{
    collections::{BTreeMap, BTreeSet},
    sync::Arc,
    time::{Duration, Instant},
};
use system_fonts::FontList;

/// Orders taken in one turn.
const MAX_TURN: usize = 256;
/// What is only looked at changes with the pointer; it is told at most this often.
const TELL_EVERY: Duration = Duration::from_millis(30);
/// How often a window that fell behind is looked at.
const CATCH_UP: Duration = Duration::from_millis(100);
/// Pictures for others that may be made at a time.
const MAX_APART: usize = 4;
/// How long to rest when the kernel refuses to let us wait, instead of trying again at full speed.
const REST: Duration = Duration::from_millis(50);
/// What an action says to go somewhere: `navigate:/orders`.
const NAVIGATE: &str = "navigate:";

pub(super) struct Worker {
    link: Link,
    orders: Receiver<Order>,
    around: Arc<dyn Around>,
    pub(super) spawner: Box<dyn Spawner>,
    pub(super) sessions: BTreeMap<SessionId, Session>,
    next: u32,
    window: Window,
    /// The state that the sessions were last told of.
    seen: Option<Arc<Ground>>,
    told: Option<PreviewsView>,
    next_tell: Instant,
    unavailable: Option<String>,
}

impl Worker {
    pub(super) fn new(
        link: Link,
        orders: Receiver<Order>,
        around: Arc<dyn Around>,
        spawner: Box<dyn Spawner>,
    ) -> Self {
        Self {
            link,
            orders,
            around,
            spawner,
            sessions: BTreeMap::new(),
            next: 1,
            window: Window::default(),
            seen: None,
            told: None,
            next_tell: Instant::now(),
            unavailable: None,
        }
    }

    pub(super) fn run(mut self) {
        loop {
            let now = Instant::now();
            if self.take_orders(now) {
                return;
            }
            self.follow(now);
            self.turn(now);
            self.tell(now);
            self.wait();
            self.hear(Instant::now());
        }
    }

    pub(super) fn ground(&self) -> Option<Arc<Ground>> {
        self.link.ground()
    }

    /// True when it is time to stop.
    fn take_orders(&mut self, now: Instant) -> bool {
        for _ in 0..MAX_TURN {
            match self.orders.try_recv() {
                Ok(Order::Request { request, reply }) => {
                    self.follow(now);
                    self.request(request, reply, now);
                }
                Ok(Order::Gesture { session, gesture }) => self.gesture(session, gesture),
                Ok(Order::Attach(queue)) => {
                    self.window.attach(queue);
                    // What the window before was trying out ended with it.
                    self.sessions.values_mut().for_each(Session::end_trying);
                    self.give_everything();
                }
                Ok(Order::Picture { ground, route, screen, reply }) => {
                    self.picture(*ground, route, screen, reply, now);
                }
                Ok(Order::Fonts { session, fonts }) => {
                    if let Some(session) = self.sessions.get_mut(&session) {
                        session.give_fonts(fonts, now);
                    }
                }
                Ok(Order::Look) => {}
                Ok(Order::Stop) | Err(TryRecvError::Disconnected) => return true,
                Err(TryRecvError::Empty) => {
                    // After all that was ordered before it.
                    if self.link.take_ended() {
                        self.sessions.values_mut().for_each(Session::end_trying);
                    }
                    return false;
                }
            }
        }
        // More waits: come back at once.
        self.link.wake();
        false
    }

    /// Takes the newest state of the workspace. With another workspace, the sessions of the one before end.
    fn follow(&mut self, now: Instant) {
        let Some(ground) = self.ground() else { return };
        match &self.seen {
            Some(seen) if Arc::ptr_eq(seen, &ground) => return,
            Some(seen) if !seen.is_same_workspace(&ground) => {
                // Whoever waits for a picture hears that there will be none.
                self.sessions.values_mut().for_each(Session::stop);
                self.sessions.clear();
            }
            _ => {}
        }
        for session in self.sessions.values_mut().filter(|session| session.apart.is_none()) {
            session.look(&ground, &*self.spawner, now);
        }
        self.seen = Some(ground);
    }

    pub(super) fn add(&mut self, shows: Shown, screen: Screen) -> SessionId {
        let id = SessionId(self.next);
        self.next += 1;
        self.sessions.insert(id, Session::new(id, shows, screen));
        id
    }

    pub(super) fn close(&mut self, id: SessionId) -> Result<(), Refusal> {
        self.session(id)?.stop();
        self.sessions.remove(&id);
        Ok(())
    }

    fn picture(&mut self, ground: Ground, route: NodeId, screen: Screen, reply: PictureReply, now: Instant) {
        let shows = Shown::Route(route);
        let apart = self.sessions.values().filter(|session| session.apart.is_some()).count();
        let checked = check_screen(screen).and_then(|()| check_shown(&ground, &shows)).and_then(|()| {
            match apart >= MAX_APART {
                true => Err(Refusal::new(Code::LimitExceeded, "too many pictures are being made")
                    .hint("Try again in a moment.")),
                false => Ok(()),
            }
        });
        if let Err(refusal) = checked {
            return reply(Err(refusal));
        }
        let id = self.add(shows, screen);
        if let Some(session) = self.sessions.get_mut(&id) {
            session.shots.push(Shot { until: now + SHOT_LIMIT, to: To::Pixels(reply) });
            session.apart = Some(ground.clone());
            session.start(&ground, &*self.spawner, now);
        }
    }

    // ---- turns --------------------------------------------------------------------------------------------------------

    fn turn(&mut self, now: Instant) {
        let Some(ground) = self.seen.clone() else { return };
        let ids: Vec<SessionId> = self.sessions.keys().copied().collect();
        for id in ids {
            let Some(session) = self.sessions.get_mut(&id) else { continue };
            session.restart_if_due(&ground, &*self.spawner, now);
            if let Err(over) = session.turn(&ground, now) {
                self.over(id, &over, now);
            }
            self.take_shots(id, now);
        }
    }

    fn hear(&mut self, now: Instant) {
        let Some(ground) = self.seen.clone() else { return };
        let ids: Vec<SessionId> = self.sessions.keys().copied().collect();
        for id in ids {
            let Some(session) = self.sessions.get_mut(&id) else { continue };
            match session.hear(&ground, now) {
                Ok(news) => news.into_iter().for_each(|news| self.news(id, news)),
                Err(over) => self.over(id, &over, now),
            }
        }
    }

    fn over(&mut self, id: SessionId, over: &Over, now: Instant) {
        let Some(ground) = self.seen.clone() else { return };
        if let Over::Broke(violation @ Violation::NoSandbox) = over {
            self.unavailable = Some(violation.to_string());
        }
        tracing::warn!(session = %id, "{over}");
        if let Some(session) = self.sessions.get_mut(&id) {
            session.over(over, &ground, now);
        }
    }

    fn news(&mut self, id: SessionId, news: News) {
        let Some(session) = self.sessions.get(&id) else { return };
        let is_apart = session.apart.is_some();
        match news {
            News::Missing(characters) => self.find_fonts(id, characters),
            _ if is_apart => {}
            News::Memory => self.give_memory(id),
            News::Frame { generation, sequence } => {
                let message = ToRenderer::PreviewFrame { session: id, generation, sequence };
                self.window.tell(message, None);
            }
            News::Boxes => self.give_boxes(id),
            News::Picked => {
                let ground = self.seen.as_deref();
                let picked = session.selected.as_ref().zip(ground);
                if let Some(node) = picked.and_then(|(picked, ground)| views::node_of(ground, picked)) {
                    self.around.chosen(node);
                }
            }
            News::Acted { instance, action } => self.acted(id, &instance, &action),
        }
    }

    /// Looks for fonts on a thread of its own: nothing here waits for a disk.
    fn find_fonts(&self, session: SessionId, characters: BTreeSet<char>) {
        let link = self.link.clone();
        let find = move || {
            let fonts = FontList::of_system().find(&characters);
            if link.send(Order::Fonts { session, fonts }).is_err() {
                tracing::warn!("fonts for a preview were found too late");
            }
        };
        if let Err(error) = std::thread::Builder::new().name("preview-fonts".to_owned()).spawn(find) {
            tracing::error!(%error, "no thread to find fonts for a preview");
        }
    }

    /// Something was pressed: a node that leads to a page, or an action that names one, goes there.
    fn acted(&mut self, id: SessionId, instance: &str, action: &str) {
        let Some(ground) = self.seen.clone() else { return };
        let Some(Session { shows: Shown::Route(here), .. }) = self.sessions.get(&id) else { return };
        let here = *here;
        let page = match action.strip_prefix(NAVIGATE) {
            Some(path) => ground.page_at(here, path),
            // What a component shows within itself leads nowhere by itself.
            None if instance.contains('/') || action == "change" => None,
            None => views::node_of(&ground, instance).and_then(|node| {
                let node = ground.snapshot.node(node)?;
                let targets: Vec<NodeId> = node.references.values().flatten().copied().collect();
                targets.into_iter().find(|target| ground.page(*target).is_some())
            }),
        };
        if let Some(page) = page.filter(|page| *page != here)
            && let Err(refusal) = self.navigate(&ground, id, page)
        {
            tracing::debug!(%refusal, "an action in a preview led nowhere");
        }
    }

    fn take_shots(&mut self, id: SessionId, now: Instant) {
        let Some(session) = self.sessions.get_mut(&id) else { return };
        let is_there = session.is_complete();
        let memory = session.peer.as_ref().and_then(|peer| peer.memory.clone()).filter(|_| is_there);
        if let Some(memory) = memory {
            for shot in std::mem::take(&mut session.shots) {
                shot.take(&memory, session.screen);
            }
        }
        let (late, waiting) =
            std::mem::take(&mut session.shots).into_iter().partition(|shot| shot.until <= now);
        session.shots = waiting;
        for shot in late {
            let refusal = Refusal::new(Code::Timeout, "there was no picture in time");
            shot.refuse(refusal.hint("Look at the preview's log: it may be broken or very slow."));
        }
        // What was made for a picture ends with it.
        if session.apart.is_some() && session.shots.is_empty() {
            self.sessions.remove(&id);
        }
    }

    // ---- the window ---------------------------------------------------------------------------------------------------

    pub(super) fn give_memory(&mut self, id: SessionId) {
        let Some(session) = self.sessions.get(&id).filter(|session| session.apart.is_none()) else { return };
        let Some(peer) = &session.peer else { return };
        if let Some(memory) = peer.memory.clone() {
            let (generation, screen) = (peer.generation, session.screen);
            let message = ToRenderer::PreviewMemory { session: id, generation, screen };
            self.window.tell(message, Some(memory));
        }
    }

    fn give_boxes(&mut self, id: SessionId) {
        let Some(session) = self.sessions.get(&id) else { return };
        let instances = views::boxes(&session.boxes, self.seen.as_deref());
        self.window.tell(ToRenderer::PreviewInstances { session: id, instances }, None);
    }

    /// A window is there, or missed something.
    fn give_everything(&mut self) {
        self.told = None;
        let ids: Vec<SessionId> = self.sessions.keys().copied().collect();
        for id in ids {
            self.give_memory(id);
            self.give_boxes(id);
            let frame = self.sessions.get(&id).and_then(|session| session.frame);
            if let Some((generation, sequence)) = frame {
                self.window.tell(ToRenderer::PreviewFrame { session: id, generation, sequence }, None);
            }
        }
        self.next_tell = Instant::now();
    }

    fn tell(&mut self, now: Instant) {
        if self.window.has_caught_up() {
            self.give_everything();
        }
        if now < self.next_tell {
            return;
        }
        let view = self.view();
        if self.told.as_ref() != Some(&view) {
            self.around.tell(&view);
            self.window.tell(ToRenderer::Previews(Box::new(view.clone())), None);
            self.told = Some(view);
            self.next_tell = now + TELL_EVERY;
        }
    }

    pub(super) fn view(&self) -> PreviewsView {
        let shown = self.sessions.values().filter(|session| session.apart.is_none());
        views::all(shown, self.seen.as_deref(), self.unavailable.as_ref())
    }

    // ---- waiting ------------------------------------------------------------------------------------------------------

    fn wait(&self) {
        let now = Instant::now();
        let mut descriptors = vec![PollFd::new(&self.link.wake, PollFlags::IN)];
        let mut deadline: Option<Instant> = None;
        for session in self.sessions.values() {
            deadline = deadline.into_iter().chain(session.deadline(now)).min();
            let Some(peer) = &session.peer else { continue };
            let send = if peer.wants_to_send() { PollFlags::OUT } else { PollFlags::empty() };
            descriptors.push(PollFd::from_borrowed_fd(peer.channel(), PollFlags::IN | send));
            for other in peer.process().into_iter().chain(peer.words()) {
                descriptors.push(PollFd::from_borrowed_fd(other, PollFlags::IN));
            }
        }
        let tell =
            (now < self.next_tell && self.told.as_ref() != Some(&self.view())).then_some(self.next_tell);
        let catch_up = self.window.is_behind().then_some(now + CATCH_UP);
        deadline = deadline.into_iter().chain(tell).chain(catch_up).min();
        // What came with a turn that was full waits already, and no descriptor will tell of it.
        let is_left = self.sessions.values().any(|session| session.peer.as_ref().is_some_and(Peer::has_more));
        let limit = match is_left {
            true => Some(Duration::ZERO),
            false => deadline.map(|deadline| deadline.saturating_duration_since(now)),
        };
        match poll(&mut descriptors, timespec(limit).as_ref()) {
            Ok(_) | Err(Errno::INTR) => {}
            Err(error) => {
                tracing::error!(%error, "previews cannot be waited for");
                std::thread::sleep(REST);
            }
        }
        // Takes the wake-ups off, however many there were.
        let _ = rustix::io::read(&self.link.wake, &mut [0_u8; 8]);
    }
}
