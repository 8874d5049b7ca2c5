//! One session: its state, what it is told when, and what follows when its process ends.

use super::{
    ground::Ground,
    log::Log,
    peer::{Over, Peer},
    scene::{Page, Stamp},
    shot::Shot,
    spawner::Spawner,
};
use base64::{Engine as _, engine::general_purpose::STANDARD};
use crash_reports::{self, CrashRole};
use journal::{WorkspaceFiles, WorkspacePath};
use processes::{Backoff, RestartDecision, RestartPolicy};
use shared_protocol::{
    Code, Refusal,
    preview::{FromPreview, InstanceBox, Mode, OverrideStatus, Screen, ToPreview},
    previews::{Failed, LogLevel, SessionId, SessionProblem, SessionState, Shown, Tried},
    v0::PreviewLogLevel,
};
use std::{
    collections::{BTreeMap, BTreeSet},
    sync::Arc,
    time::{Duration, Instant},
};
use system_fonts::FontFile;
use workspace::now as moment;

/// Crashes in a row before it waits for a person.
const MAX_CRASHES: u32 = 5;
/// How often pictures are looked at, at most.
const LOOK_EVERY: Duration = Duration::from_secs(1);
/// Overrides that find nothing and are named at once.
const MOST_UNMATCHED: usize = 20;
/// Bytes of one picture.
const MOST_PICTURE_BYTES: usize = 4 << 20;
/// From the hello to the first frame of what is asked for, beyond the budget of each step.
const LOAD_LIMIT: Duration = Duration::from_secs(20);

/// What a session did that others should hear of.
#[derive(Debug, PartialEq)]
pub(super) enum News {
    /// There is a new frame memory.
    Memory,
    Frame {
        generation: u32,
        sequence: u64,
    },
    Boxes,
    /// Somebody chose an instance in it.
    Picked,
    /// It has no font for these.
    Missing(BTreeSet<char>),
    /// Something in it was pressed or changed.
    Acted {
        instance: String,
        action: String,
    },
}

/// Where fonts are that a session lacked. A picture is taken when they are on the screen.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
enum FontWait {
    #[default]
    Nothing,
    Finding,
    /// On their way; the answer to this question says that they were taken.
    Sent(u64),
    /// The next frame shows them.
    Taken,
}

/// After a crash, components are shown one after the other, to find the one that does it.
#[derive(Debug, Clone, PartialEq, Eq)]
struct Careful {
    order: Vec<String>,
    shown: usize,
}

pub(super) struct Session {
    pub(super) id: SessionId,
    pub(super) shows: Shown,
    pub(super) screen: Screen,
    pub(super) mode: Mode,
    pub(super) state: SessionState,
    pub(super) title: String,
    pub(super) selected: Option<String>,
    pub(super) hovered: Option<String>,
    pub(super) problems: Vec<SessionProblem>,
    /// Components that are left out, with the text that did it.
    pub(super) quarantined: BTreeMap<String, Arc<str>>,
    pub(super) log: Log,
    pub(super) frame_micros: u64,
    pub(super) boxes: Vec<InstanceBox>,
    pub(super) peer: Option<Peer>,
    /// The newest frame.
    pub(super) frame: Option<(u32, u64)>,
    pub(super) shots: Vec<Shot>,
    font_wait: FontWait,
    /// A state of its own, for a picture that nobody else sees.
    pub(super) apart: Option<Ground>,
    tried: Vec<Tried>,
    policy: RestartPolicy,
    again: Option<Instant>,
    /// The process ended since it last was ready.
    crashed: bool,
    careful: Option<Careful>,
    loading_since: Option<Instant>,
    /// What it shows is not what it should.
    dirty: bool,
    /// Overrides that found nothing on the screen.
    unmatched: BTreeSet<String>,
    /// When to look at the pictures again.
    next_look: Instant,
}

impl Session {
    pub(super) fn new(id: SessionId, shows: Shown, screen: Screen) -> Self {
        Self {
            id,
            shows,
            screen,
            mode: Mode::default(),
            state: SessionState::Creating,
            title: String::new(),
            selected: None,
            hovered: None,
            problems: Vec::new(),
            quarantined: BTreeMap::new(),
            log: Log::default(),
            frame_micros: 0,
            boxes: Vec::new(),
            peer: None,
            frame: None,
            shots: Vec::new(),
            font_wait: FontWait::default(),
            apart: None,
            tried: Vec::new(),
            policy: RestartPolicy::new(Backoff::of_role(MAX_CRASHES - 1)),
            again: None,
            crashed: false,
            careful: None,
            loading_since: None,
            dirty: false,
            unmatched: BTreeSet::new(),
            next_look: Instant::now(),
        }
    }

    // ---- the process --------------------------------------------------------------------------------------------------

    /// Starts a process in place of the one there may be.
    pub(super) fn start(&mut self, ground: &Ground, spawner: &dyn Spawner, now: Instant) {
        self.peer = None;
        self.again = None;
        self.state = SessionState::Creating;
        self.loading_since = None;
        self.boxes.clear();
        self.hovered = None;
        self.frame = None;
        self.font_wait = FontWait::Nothing;
        let page = self.whole_page(ground);
        self.title.clone_from(&page.title);
        self.careful = (self.crashed && matches!(self.shows, Shown::Route(_)))
            .then(|| Careful { order: page.used(), shown: 0 })
            .filter(|careful| !careful.order.is_empty());
        self.policy.record_start(now);
        match spawner.spawn() {
            Ok(spawned) => self.peer = Some(Peer::new(spawned, spawner.build(), now)),
            Err(error) => self.failed(error, Vec::new(), now),
        }
    }

    /// As somebody asked: what happened before does not count any more.
    pub(super) fn start_afresh(&mut self, ground: &Ground, spawner: &dyn Spawner, now: Instant) {
        self.policy = RestartPolicy::new(Backoff::of_role(MAX_CRASHES - 1));
        self.crashed = false;
        self.quarantined.clear();
        self.start(ground, spawner, now);
    }

    pub(super) fn stop(&mut self) {
        self.peer = None;
        self.again = None;
        self.boxes.clear();
        self.hovered = None;
        self.state = SessionState::Stopped;
        self.refuse_shots(&Refusal::new(Code::Conflict, "the preview was stopped"));
    }

    /// Its process is over. It starts again after a while, without the component that ended it twice, or waits for a person.
    pub(super) fn over(&mut self, over: &Over, ground: &Ground, now: Instant) {
        let words = self.peer.as_mut().map(Peer::last_words).unwrap_or_default();
        if let Over::Exited(reason) = over {
            crash_reports::record_child(CrashRole::Preview, None, *reason, None, &words);
        }
        let shown_something = self.peer.as_ref().is_some_and(|peer| peer.sent.page().is_some());
        let what = over.to_string();
        for line in &words {
            self.log.add(LogLevel::Error, line);
        }
        if shown_something {
            self.find_culprit(ground);
        }
        self.crashed = true;
        self.failed(what, words, now);
    }

    fn failed(&mut self, what: String, detail: Vec<String>, now: Instant) {
        self.peer = None;
        self.boxes.clear();
        self.hovered = None;
        self.log.add(LogLevel::Error, &what);
        let decision = self.policy.record_failure(now);
        let is_alone = match &self.shows {
            Shown::Component { component } | Shown::Variant { component, .. } => {
                self.quarantined.contains_key(component)
            }
            Shown::Route(_) => false,
        };
        let after = match decision {
            RestartDecision::RestartAfter { delay: after, .. } if !is_alone => Some(after),
            _ => None,
        };
        self.again = after.map(|after| now + after);
        let again_at = after.map(|after| moment().time.saturating_add(after.as_millis() as u64));
        let what = if is_alone { format!("{what}, twice; it is left out until it is changed") } else { what };
        self.state = SessionState::Failed(Failed { what, detail, again_at });
        if again_at.is_none() {
            self.refuse_shots(&Refusal::new(Code::Internal, "the preview ended before there was a picture"));
        }
    }

    /// Whose turn it was when the process ended, the second time.
    fn find_culprit(&mut self, ground: &Ground) {
        let culprit = match (&self.careful, &self.shows) {
            (Some(careful), _) => careful.order.get(careful.shown).cloned(),
            (None, Shown::Component { component } | Shown::Variant { component, .. }) if self.crashed => {
                Some(component.clone())
            }
            _ => None,
        };
        let text = |id: &str| {
            let file = &ground.component(id)?.file;
            ground.texts().remove(file)
        };
        if let Some((id, text)) = culprit.and_then(|id| Some((id.clone(), text(&id)?))) {
            self.log.add(LogLevel::Error, &format!("{id} ended the preview twice and is left out"));
            self.quarantined.insert(id, text);
        }
    }

    // ---- what it shows ------------------------------------------------------------------------------------------------

    fn whole_page(&self, ground: &Ground) -> Page {
        let left_out = self.quarantined.keys().cloned().collect();
        Page::of(self.apart.as_ref().unwrap_or(ground), &self.shows, &self.tried, &left_out)
    }

    fn page(&self, ground: &Ground) -> Page {
        let page = self.whole_page(ground);
        match &self.careful {
            Some(careful) => {
                let until = (careful.shown + 1).min(careful.order.len());
                page.only(careful.order.get(..until).unwrap_or_default())
            }
            None => page,
        }
    }

    /// The workspace is other than it was. One that waits for a person because of a file starts again when it was changed.
    pub(super) fn look(&mut self, ground: &Ground, spawner: &dyn Spawner, now: Instant) {
        let texts = ground.texts();
        let known = self.quarantined.len();
        self.quarantined.retain(|id, text| {
            ground.component(id).and_then(|component| texts.get(&component.file)) == Some(text)
        });
        let is_mended = self.quarantined.len() < known;
        match &self.state {
            SessionState::Failed(Failed { again_at: None, .. }) if is_mended => {
                self.start_afresh(ground, spawner, now);
            }
            _ => self.dirty = true,
        }
        if self.peer.is_none() {
            self.title = self.whole_page(ground).title;
        }
    }

    pub(super) fn show(&mut self, shows: Shown) {
        self.shows = shows;
        self.tried.clear();
        self.selected = None;
        self.dirty = true;
    }

    /// Whoever tried something out is gone.
    pub(super) fn end_trying(&mut self) {
        if !self.tried.is_empty() {
            self.try_out(Vec::new());
        }
    }

    pub(super) fn try_out(&mut self, tried: Vec<Tried>) {
        self.tried = tried;
        self.dirty = true;
    }

    pub(super) fn set_screen(&mut self, screen: Screen, now: Instant) -> Option<News> {
        self.screen = screen;
        let peer = self.peer.as_mut().filter(|peer| peer.greeted)?;
        if let Err(error) = peer.give_screen(screen) {
            self.log.add(LogLevel::Error, &error);
            return None;
        }
        peer.ask(now);
        Some(News::Memory)
    }

    pub(super) fn set_mode(&mut self, mode: Mode, now: Instant) {
        self.mode = mode;
        if mode == Mode::Interact {
            self.hovered = None;
        }
        if let Some(peer) = self.peer.as_mut().filter(|peer| peer.greeted) {
            // A word is never too large.
            let _ = peer.say(&ToPreview::Mode { mode }, None);
            peer.ask(now);
        }
    }

    /// Tells the process what is new, if it has done what it was told before.
    fn bring_up_to_date(&mut self, ground: &Ground, now: Instant) {
        let Some(peer) = self.peer.as_ref().filter(|peer| peer.greeted && !peer.is_busy()) else { return };
        let has_input = peer.has_input();
        if self.dirty {
            self.dirty = false;
            let page = self.page(ground);
            self.title.clone_from(&page.title);
            let missing = page.missing.clone();
            self.say_page(page, &ground.files, now);
            if let Some(missing) = missing {
                self.log.add(LogLevel::Warn, &missing);
            }
        }
        if has_input && let Some(peer) = &mut self.peer {
            peer.say_input();
            peer.ask(now);
        }
    }

    fn say_page(&mut self, page: Page, files: &WorkspaceFiles, now: Instant) {
        let Some(peer) = &mut self.peer else { return };
        let pictures = page.pictures();
        let mut said = peer.sent.towards(page);
        // Before what shows them.
        let mut messages = Vec::new();
        for path in pictures {
            let stamp = stamp(files, &path);
            if peer.sent.pictures.insert(path.clone(), stamp) != Some(stamp) {
                messages.extend(picture(files, path));
            }
        }
        messages.append(&mut said.messages);
        let mut refused = Vec::new();
        for message in &messages {
            if let Err(error) = peer.say(message, None) {
                refused.push(error);
            }
        }
        if !messages.is_empty() {
            peer.ask(now);
        }
        for error in refused {
            self.log.add(LogLevel::Error, &format!("something is too large for the preview: {error}"));
        }
        if said.reloads && self.state == SessionState::Ready {
            self.state = SessionState::Reloading;
            self.loading_since = Some(now);
        }
    }

    // ---- turns --------------------------------------------------------------------------------------------------------

    /// Hears what the process said. An error is its end.
    pub(super) fn hear(&mut self, ground: &Ground, now: Instant) -> Result<Vec<News>, Over> {
        let Some(peer) = &mut self.peer else { return Ok(Vec::new()) };
        peer.hear_words();
        let heard = peer.hear(now)?;
        let mut news = Vec::new();
        for message in heard {
            self.take(message, ground, &mut news, now);
        }
        Ok(news)
    }

    /// Says what is to be said and keeps an eye on the clock. An error is the end of the process.
    pub(super) fn turn(&mut self, ground: &Ground, now: Instant) -> Result<(), Over> {
        self.look_at_pictures(ground, now);
        self.bring_up_to_date(ground, now);
        let Some(peer) = &mut self.peer else { return Ok(()) };
        peer.beat(now);
        peer.flush()?;
        if let Some(over) = peer.has_ended() {
            return Err(over);
        }
        let is_loading_too_long =
            self.loading_since.is_some_and(|since| now.saturating_duration_since(since) > LOAD_LIMIT);
        if peer.is_late(now) || is_loading_too_long { Err(Over::Silent) } else { Ok(()) }
    }

    /// Pictures are no part of the state and nobody watches them: they are looked at when there is something else to do,
    /// which a question after the process is every few seconds.
    fn look_at_pictures(&mut self, ground: &Ground, now: Instant) {
        let Some(peer) = &self.peer else { return };
        if now < self.next_look {
            return;
        }
        self.next_look = now + LOOK_EVERY;
        let is_other = |(path, before): (&String, &Stamp)| stamp(&ground.files, path) != *before;
        self.dirty |= peer.sent.pictures.iter().any(is_other);
    }

    /// A restart that is due.
    pub(super) fn restart_if_due(&mut self, ground: &Ground, spawner: &dyn Spawner, now: Instant) {
        if self.again.is_some_and(|again| again <= now) {
            self.start(ground, spawner, now);
        }
    }

    pub(super) fn deadline(&self, now: Instant) -> Option<Instant> {
        let loading = self.loading_since.map(|since| since + LOAD_LIMIT);
        let peer = self.peer.as_ref().map(|peer| peer.deadline(now));
        let shots = self.shots.iter().map(|shot| shot.until);
        self.again.into_iter().chain(peer).chain(loading.filter(|_| self.peer.is_some())).chain(shots).min()
    }

    fn take(&mut self, message: FromPreview, ground: &Ground, news: &mut Vec<News>, now: Instant) {
        match message {
            FromPreview::Hello { sandbox, .. } => {
                tracing::debug!(?sandbox, session = %self.id, "a preview is locked in");
                self.greet(now, news);
            }
            FromPreview::Frame { generation, sequence, revision, micros } => {
                self.frame_micros = micros;
                self.frame = Some((generation, sequence));
                news.push(News::Frame { generation, sequence });
                if self.font_wait == FontWait::Taken {
                    self.font_wait = FontWait::Nothing;
                }
                let is_present = self.peer.as_ref().is_some_and(|peer| {
                    peer.sent.revision == revision && peer.generation == generation && revision > 0
                });
                if is_present && self.careful.is_none() {
                    self.is_ready();
                }
            }
            FromPreview::Missing { characters } => {
                if self.peer.as_mut().is_some_and(Peer::may_ask_for_fonts) {
                    self.font_wait = FontWait::Finding;
                    news.push(News::Missing(characters.chars().collect()));
                }
            }
            FromPreview::Instances { instances, .. } => {
                self.boxes = instances;
                if self.careful.is_none()
                    && self
                        .selected
                        .as_ref()
                        .is_some_and(|id| !self.boxes.iter().any(|found| found.id == *id))
                {
                    self.selected = None;
                }
                news.push(News::Boxes);
            }
            FromPreview::Overrides { statuses, .. } => {
                // What is not shown at present, such as an item that a list does not have, is known here alone.
                let page = self.peer.as_ref().and_then(|peer| peer.sent.page());
                let overrides = page.map_or(&[][..], |page| &page.overrides);
                let unmatched: BTreeSet<String> = overrides
                    .iter()
                    .zip(&statuses)
                    .filter(|(_, status)| **status != OverrideStatus::Applied)
                    .map(|(over, _)| format!("{}{}", over.instance, over.path))
                    .collect();
                for address in unmatched.difference(&self.unmatched).take(MOST_UNMATCHED) {
                    let message = format!("the override of {address} finds nothing on the screen");
                    self.log.add(LogLevel::Warn, &message);
                }
                self.unmatched = unmatched;
            }
            FromPreview::Problems { problems } => {
                let shown = problems.into_iter().map(|problem| SessionProblem {
                    file: components::visible(&problem.file, 400),
                    line: problem.line,
                    column: problem.column,
                    message: components::visible(&problem.message, 1_000),
                    instance: problem.instance,
                });
                self.problems = shown.collect();
            }
            FromPreview::Hovered { instance } => self.hovered = instance,
            FromPreview::Picked { instance } => {
                self.selected = instance.filter(|id| self.boxes.iter().any(|found| found.id == *id));
                news.push(News::Picked);
            }
            FromPreview::Action { instance, action, value } => {
                let value = if value.is_null() { String::new() } else { format!(" = {value}") };
                self.log.add(LogLevel::Info, &format!("{instance}: {action}{value}"));
                news.push(News::Acted { instance, action });
            }
            FromPreview::Log { level, message } => self.log.add(level_of(level), &message),
            FromPreview::Pong { .. } => {
                let answered = self.peer.as_ref().map_or(0, Peer::answered);
                if matches!(self.font_wait, FontWait::Sent(asked) if asked <= answered) {
                    self.font_wait = FontWait::Taken;
                }
                if let Some(careful) = &mut self.careful
                    && self.peer.as_ref().is_some_and(|peer| !peer.is_busy() && peer.sent.page().is_some())
                {
                    careful.shown += 1;
                    if careful.shown >= careful.order.len() {
                        self.careful = None;
                    }
                    self.dirty = true;
                    // All was shown already: nothing more will come.
                    if self.careful.is_none() {
                        let page = self.page(ground);
                        if self.peer.as_ref().and_then(|peer| peer.sent.page()) == Some(&page) {
                            self.is_ready();
                        }
                    }
                }
            }
        }
    }

    /// The process is locked in: it gets a screen, and what it is to show follows in the next turn.
    fn greet(&mut self, now: Instant, news: &mut Vec<News>) {
        let (id, screen, mode) = (self.id, self.screen, self.mode);
        let Some(peer) = &mut self.peer else { return };
        // A few words are never too large.
        let _ = peer.say(&ToPreview::Welcome { session: id.to_string() }, None);
        match peer.give_screen(screen) {
            Ok(()) => news.push(News::Memory),
            Err(error) => self.log.add(LogLevel::Error, &error),
        }
        if let Some(peer) = &mut self.peer {
            let _ = peer.say(&ToPreview::Mode { mode }, None);
        }
        self.state = SessionState::Loading;
        self.loading_since = Some(now);
        self.dirty = true;
    }

    /// Fonts were looked for; there may be none.
    pub(super) fn give_fonts(&mut self, fonts: Vec<FontFile>, now: Instant) {
        let asked = self.peer.as_mut().and_then(|peer| peer.give_fonts(fonts, now));
        self.font_wait = asked.map_or(FontWait::Nothing, FontWait::Sent);
    }

    /// What it shows is complete: a picture of it can be taken.
    pub(super) fn is_complete(&self) -> bool {
        self.state == SessionState::Ready && self.font_wait == FontWait::Nothing
    }

    fn is_ready(&mut self) {
        self.loading_since = None;
        self.crashed = false;
        if matches!(self.state, SessionState::Loading | SessionState::Reloading) {
            self.state = SessionState::Ready;
        }
    }

    fn refuse_shots(&mut self, refusal: &Refusal) {
        for shot in self.shots.drain(..) {
            shot.refuse(refusal.clone());
        }
    }
}

fn stamp(files: &WorkspaceFiles, path: &str) -> Stamp {
    let path = WorkspacePath::parse(path).ok()?;
    let about = std::fs::metadata(files.root().join(path.as_str())).ok()?;
    Some((about.modified().ok()?, about.len()))
}

/// A picture of the workspace. One that is not there, or is too large, is left out: the preview says so in its place.
fn picture(files: &WorkspaceFiles, path: String) -> Option<ToPreview> {
    let bytes = files.read(&WorkspacePath::parse(path.as_str()).ok()?).ok()?;
    (bytes.len() <= MOST_PICTURE_BYTES).then(|| ToPreview::Image { path, png: STANDARD.encode(&bytes) })
}

fn level_of(level: PreviewLogLevel) -> LogLevel {
    match level {
        PreviewLogLevel::Debug => LogLevel::Debug,
        PreviewLogLevel::Info => LogLevel::Info,
        PreviewLogLevel::Warn => LogLevel::Warn,
        PreviewLogLevel::Error => LogLevel::Error,
    }
}
