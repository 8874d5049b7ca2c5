//! One session: what it shows, what its process is sent and when, and the consequences when the process ends. Its states
//! are in [`crate::lifecycle`].

use crate::{
    launcher::PreviewLauncher,
    lifecycle::{ComponentProbe, FontDelivery, LivePreview, SessionLifecycle},
    peer::{PreviewPeer, PreviewPeerFailure},
    previewed_workspace::PreviewedWorkspace,
    scene::{PageScene, PictureFileStamp},
    screenshot::Screenshot,
    session_log::SessionLogLines,
};
use base64::{Engine as _, engine::general_purpose::STANDARD};
use crash_reports::CrashRole;
use journal::{WorkspaceFiles, WorkspacePath};
use processes::{Backoff, RestartDecision, RestartPolicy};
use shared_protocol::{
    Refusal, RefusalCode,
    preview_sessions::{
        LogLevel, PreviewFailure, PreviewId, PreviewSourceProblem, PreviewTarget, TransientPropValue,
    },
    preview_wire::{FromPreview, PreviewProblem, PreviewScreen, SceneOverrideStatus, ToPreview},
    preview_wire::{InstanceBox, PreviewMode},
    v0::PreviewLogLevel,
};
use std::{
    collections::{BTreeMap, BTreeSet},
    sync::Arc,
    time::{Duration, Instant},
};
use system_fonts::FontFile;

/// Restarts in a row before the session waits for a person.
const MAX_RESTARTS: u32 = 4;
const PICTURE_CHECK_INTERVAL: Duration = Duration::from_secs(1);
/// Overrides without an instance that one message reports.
const MAX_REPORTED_OVERRIDES: usize = 20;
const MAX_PICTURE_BYTES: usize = 4 << 20;

/// A change in a session that the window or others must learn of.
#[derive(Debug, PartialEq)]
pub(crate) enum SessionEvent {
    /// There is a new frame memory.
    Memory,
    Frame {
        generation: u32,
        sequence: u64,
    },
    Boxes,
    /// A person picked an instance in it.
    Picked,
    /// The process has no font for these.
    MissingCharacters(BTreeSet<char>),
    /// Something in it was pressed or changed.
    Action {
        instance: String,
        action: String,
    },
}

pub(crate) struct PreviewSession {
    pub(crate) id: PreviewId,
    pub(crate) shows: PreviewTarget,
    pub(crate) screen: PreviewScreen,
    pub(crate) mode: PreviewMode,
    pub(crate) lifecycle: SessionLifecycle,
    restart_policy: RestartPolicy,
    pub(crate) title: String,
    pub(crate) selected: Option<String>,
    pub(crate) problems: Vec<PreviewSourceProblem>,
    /// Components that are left out, each with the text that crashed the process.
    pub(crate) quarantined: BTreeMap<String, Arc<str>>,
    /// Values that are shown and not saved.
    transient_values: Vec<TransientPropValue>,
    /// Overrides that were reported to match nothing on the screen.
    unmatched: BTreeSet<String>,
    pub(crate) log: SessionLogLines,
    pub(crate) frame_micros: u64,
    pub(crate) screenshots: Vec<Screenshot>,
    /// The state that a session for one picture draws, in place of the workspace. Nobody else sees such a session.
    pub(crate) picture_of: Option<PreviewedWorkspace>,
}

impl PreviewSession {
    pub(crate) fn new(id: PreviewId, shows: PreviewTarget, screen: PreviewScreen) -> Self {
        Self {
            id,
            shows,
            screen,
            mode: PreviewMode::default(),
            lifecycle: SessionLifecycle::Stopped,
            restart_policy: RestartPolicy::new(Backoff::of_role(MAX_RESTARTS)),
            title: String::new(),
            selected: None,
            problems: Vec::new(),
            quarantined: BTreeMap::new(),
            transient_values: Vec::new(),
            unmatched: BTreeSet::new(),
            log: SessionLogLines::default(),
            frame_micros: 0,
            screenshots: Vec::new(),
            picture_of: None,
        }
    }

    pub(crate) fn peer(&self) -> Option<&PreviewPeer> {
        self.lifecycle.live_preview().map(|live| &live.peer)
    }

    /// The peer, once its process is in its sandbox.
    fn greeted_peer(&mut self) -> Option<&mut PreviewPeer> {
        self.lifecycle.live_mut().map(|live| &mut live.peer).filter(|peer| peer.is_greeted())
    }

    pub(crate) fn boxes(&self) -> &[InstanceBox] {
        self.lifecycle.live_preview().map_or(&[], |live| &live.boxes)
    }

    // ---- the process --------------------------------------------------------------------------------------------------

    /// Starts a process in place of the present one, and forgets earlier crashes and the quarantine.
    pub(crate) fn start(&mut self, workspace: &PreviewedWorkspace, launcher: &PreviewLauncher, now: Instant) {
        self.restart_policy.reset();
        self.quarantined.clear();
        self.start_process(workspace, launcher, false, now);
    }

    pub(crate) fn restart_if_due(
        &mut self,
        workspace: &PreviewedWorkspace,
        launcher: &PreviewLauncher,
        now: Instant,
    ) {
        if let SessionLifecycle::Restarting { at, after_crash, .. } = self.lifecycle
            && at <= now
        {
            self.start_process(workspace, launcher, after_crash, now);
        }
    }

    fn start_process(
        &mut self,
        workspace: &PreviewedWorkspace,
        launcher: &PreviewLauncher,
        after_crash: bool,
        now: Instant,
    ) {
        // Ends the present process before the next one starts.
        self.lifecycle.stop();
        let page = self.whole_page(workspace);
        let probes = after_crash && matches!(self.shows, PreviewTarget::Route(_));
        let probe = probes.then(|| ComponentProbe::new(page.used_components())).flatten();
        self.title = page.title;
        self.restart_policy.record_start(now);
        match (launcher.start)() {
            Ok(process) => {
                let peer = PreviewPeer::new(process, launcher.build.clone(), now);
                self.lifecycle.start(peer, probe, after_crash, now);
            }
            Err(error) => self.fail(error.to_string(), Vec::new(), after_crash, now),
        }
    }

    pub(crate) fn stop(&mut self) {
        self.lifecycle.stop();
        self.refuse_screenshots(&Refusal::new(RefusalCode::Conflict, "The preview was stopped"));
    }

    /// Handles the end of the process: quarantines the component that ended it twice, and restarts or gives up.
    pub(crate) fn handle_failure(
        &mut self,
        failure: &PreviewPeerFailure,
        workspace: &PreviewedWorkspace,
        now: Instant,
    ) {
        let Some(live) = self.lifecycle.live_mut() else { return };
        let last_lines = live.peer.last_stderr_lines();
        if let PreviewPeerFailure::Exited(reason) = failure {
            crash_reports::record_child(CrashRole::Preview, None, *reason, None, &last_lines);
        }
        for line in &last_lines {
            self.log.add(LogLevel::Error, line);
        }
        self.quarantine_culprit(workspace);
        self.fail(failure.to_string(), last_lines, true, now);
    }

    fn fail(&mut self, what: String, detail: Vec<String>, after_crash: bool, now: Instant) {
        self.log.add(LogLevel::Error, &what);
        let decision = self.restart_policy.record_failure(now);
        let is_only_component = match &self.shows {
            PreviewTarget::Component { component } | PreviewTarget::Variant { component, .. } => {
                self.quarantined.contains_key(component)
            }
            PreviewTarget::Route(_) => false,
        };
        let delay = match decision {
            RestartDecision::RestartAfter { delay, .. } if !is_only_component => Some(delay),
            _ => None,
        };
        let wall_clock = workspace::time_and_seed().time;
        let again_at = delay.map(|delay| wall_clock.saturating_add(delay.as_millis() as u64));
        let what = match is_only_component {
            true => format!("{what}, twice. The component is disabled until its file changes."),
            false => what,
        };
        self.lifecycle.fail(
            PreviewFailure { what, detail, again_at },
            delay.map(|delay| now + delay),
            after_crash,
        );
        if delay.is_none() {
            let refusal =
                Refusal::new(RefusalCode::Internal, "The preview ended before it rendered the page");
            self.refuse_screenshots(&refusal.hint("Open the preview's log to see why."));
        }
    }

    /// The culprit is the component that the probe added last, or the only one, when the process crashed before as well.
    fn quarantine_culprit(&mut self, workspace: &PreviewedWorkspace) {
        let Some(live) = self.lifecycle.live_preview().filter(|live| live.peer.sent.page().is_some()) else {
            return;
        };
        let culprit = match (live.probe(), &self.shows) {
            (Some(probe), _) => probe.current().cloned(),
            (None, PreviewTarget::Component { component } | PreviewTarget::Variant { component, .. })
                if live.is_after_crash() =>
            {
                Some(component.clone())
            }
            _ => None,
        };
        let text = |id: &str| workspace.texts().remove(&workspace.component(id)?.file);
        if let Some((id, text)) = culprit.and_then(|id| Some((id.clone(), text(&id)?))) {
            self.log.add(LogLevel::Error, &format!("{id} crashed the preview twice and is disabled"));
            self.quarantined.insert(id, text);
        }
    }

    // ---- what it shows ------------------------------------------------------------------------------------------------

    fn whole_page(&self, workspace: &PreviewedWorkspace) -> PageScene {
        let left_out = self.quarantined.keys().cloned().collect();
        PageScene::build(
            self.picture_of.as_ref().unwrap_or(workspace),
            &self.shows,
            &self.transient_values,
            &left_out,
        )
    }

    /// The page as the process is to show it now: while probing, with some of its components.
    fn page(&self, workspace: &PreviewedWorkspace) -> PageScene {
        let page = self.whole_page(workspace);
        match self.lifecycle.live_preview().and_then(LivePreview::probe) {
            Some(probe) => page.restricted_to(probe.visible_components()),
            None => page,
        }
    }

    /// Takes a new state of the workspace. A session that failed because of a component file starts again when the file
    /// changed.
    pub(crate) fn update(
        &mut self,
        workspace: &PreviewedWorkspace,
        launcher: &PreviewLauncher,
        now: Instant,
    ) {
        let texts = workspace.texts();
        let known = self.quarantined.len();
        self.quarantined.retain(|id, text| {
            workspace.component(id).and_then(|component| texts.get(&component.file)) == Some(text)
        });
        let is_mended = self.quarantined.len() < known;
        if matches!(self.lifecycle, SessionLifecycle::Failed(_)) && is_mended {
            self.start(workspace, launcher, now);
        } else {
            self.mark_stale();
        }
        if self.peer().is_none() {
            self.title = self.whole_page(workspace).title;
        }
    }

    fn mark_stale(&mut self) {
        if let Some(live) = self.lifecycle.live_mut() {
            live.is_stale = true;
        }
    }

    pub(crate) fn show(&mut self, shows: PreviewTarget) {
        self.shows = shows;
        self.transient_values.clear();
        self.selected = None;
        self.mark_stale();
    }

    pub(crate) fn select(&mut self, instance: Option<String>) {
        let live = self.lifecycle.live_preview();
        self.selected = instance.filter(|id| live.is_some_and(|live| live.shows_instance(id)));
    }

    /// Drops the values that a window tried out before it closed.
    pub(crate) fn end_trying(&mut self) {
        if !self.transient_values.is_empty() {
            self.try_out(Vec::new());
        }
    }

    pub(crate) fn try_out(&mut self, tried: Vec<TransientPropValue>) {
        self.transient_values = tried;
        self.mark_stale();
    }

    pub(crate) fn set_screen(&mut self, screen: PreviewScreen, now: Instant) -> Option<SessionEvent> {
        self.screen = screen;
        let peer = self.greeted_peer()?;
        if let Err(error) = peer.send_screen(screen) {
            self.log.add(LogLevel::Error, &error);
            return None;
        }
        peer.ping(now);
        Some(SessionEvent::Memory)
    }

    pub(crate) fn set_mode(&mut self, mode: PreviewMode, now: Instant) {
        self.mode = mode;
        if mode == PreviewMode::Interact
            && let Some(live) = self.lifecycle.live_mut()
        {
            live.hovered = None;
        }
        if let Some(peer) = self.greeted_peer() {
            // A mode is never too large.
            let _ = peer.send(&ToPreview::Mode { mode }, None);
            peer.ping(now);
        }
    }

    /// Sends the newest page and waiting input, if the process has handled everything sent before.
    fn send_updates(&mut self, workspace: &PreviewedWorkspace, now: Instant) {
        let Some(live) =
            self.lifecycle.live_preview().filter(|live| live.peer.is_greeted() && !live.peer.is_busy())
        else {
            return;
        };
        let has_input = live.peer.has_input();
        if live.is_stale {
            let page = self.page(workspace);
            self.title.clone_from(&page.title);
            let missing = page.missing.clone();
            self.send_page(page, &workspace.files, now);
            if let Some(missing) = missing {
                self.log.add(LogLevel::Warn, &missing);
            }
        }
        if has_input && let Some(live) = self.lifecycle.live_mut() {
            live.peer.send_input();
            live.peer.ping(now);
        }
    }

    fn send_page(&mut self, page: PageScene, files: &WorkspaceFiles, now: Instant) {
        let Some(live) = self.lifecycle.live_mut() else { return };
        live.is_stale = false;
        let peer = &mut live.peer;
        let pictures = page.pictures();
        let mut update = peer.sent.update_to(page);
        // Pictures go before the page that shows them.
        let mut messages = Vec::new();
        for path in pictures {
            let stamp = stamp_of(files, &path);
            if peer.sent.pictures.insert(path.clone(), stamp) != Some(stamp) {
                messages.extend(picture_message(files, path));
            }
        }
        messages.append(&mut update.messages);
        for message in &messages {
            if let Err(error) = peer.send(message, None) {
                let message = format!("A file or the page is too large for the preview: {error}");
                self.log.add(LogLevel::Error, &message);
            }
        }
        if !messages.is_empty() {
            peer.ping(now);
        }
        if update.reloads {
            live.reload(now);
        }
    }

    // ---- turns --------------------------------------------------------------------------------------------------------

    /// Handles the messages of the process. An error is its end.
    pub(crate) fn receive(
        &mut self,
        workspace: &PreviewedWorkspace,
        now: Instant,
    ) -> Result<Vec<SessionEvent>, PreviewPeerFailure> {
        let Some(live) = self.lifecycle.live_mut() else { return Ok(Vec::new()) };
        live.peer.read_stderr();
        let received = live.peer.receive(now)?;
        let mut events = Vec::new();
        for message in received {
            self.handle_message(message, workspace, &mut events, now);
        }
        Ok(events)
    }

    /// Sends what is due and checks the deadlines. An error is the end of the process.
    pub(crate) fn run_turn(
        &mut self,
        workspace: &PreviewedWorkspace,
        now: Instant,
    ) -> Result<(), PreviewPeerFailure> {
        self.check_pictures(workspace, now);
        self.send_updates(workspace, now);
        let Some(live) = self.lifecycle.live_mut() else { return Ok(()) };
        live.peer.ping_if_idle(now);
        live.peer.flush()?;
        if let Some(failure) = live.peer.exit() {
            return Err(failure);
        }
        if live.peer.is_late(now) || live.is_loading_too_long(now) {
            return Err(PreviewPeerFailure::TimedOut);
        }
        Ok(())
    }

    /// Pictures are no part of the snapshot and no watcher covers them, so turns compare their stamps; the ping of an idle
    /// process makes a turn every few seconds.
    fn check_pictures(&mut self, workspace: &PreviewedWorkspace, now: Instant) {
        let Some(live) = self.lifecycle.live_mut().filter(|live| live.next_picture_check <= now) else {
            return;
        };
        live.next_picture_check = now + PICTURE_CHECK_INTERVAL;
        let is_changed =
            |(path, sent): (&String, &PictureFileStamp)| stamp_of(&workspace.files, path) != *sent;
        live.is_stale |= live.peer.sent.pictures.iter().any(is_changed);
    }

    pub(crate) fn deadline(&self, now: Instant) -> Option<Instant> {
        let screenshots = self.screenshots.iter().map(|screenshot| screenshot.deadline);
        self.lifecycle.deadline(now).into_iter().chain(screenshots).min()
    }

    fn handle_message(
        &mut self,
        message: FromPreview,
        workspace: &PreviewedWorkspace,
        events: &mut Vec<SessionEvent>,
        now: Instant,
    ) {
        let Some(live) = self.lifecycle.live_mut() else { return };
        match message {
            FromPreview::Hello { sandbox, .. } => {
                tracing::debug!(?sandbox, session = %self.id, "preview sandboxed");
                self.send_hello(now, events);
            }
            FromPreview::Frame { generation, sequence, revision, micros } => {
                self.frame_micros = micros;
                live.frame = Some((generation, sequence));
                events.push(SessionEvent::Frame { generation, sequence });
                if live.font_delivery == FontDelivery::Received {
                    live.font_delivery = FontDelivery::Complete;
                }
                let peer = &live.peer;
                if revision > 0 && peer.sent.revision == revision && peer.generation == generation {
                    live.page_shown();
                }
            }
            FromPreview::Missing { characters } => {
                if live.peer.allow_font_request() {
                    live.font_delivery = FontDelivery::Searching;
                    events.push(SessionEvent::MissingCharacters(characters.chars().collect()));
                }
            }
            FromPreview::Instances { instances, .. } => {
                live.boxes = instances;
                if live.probe().is_none() && self.selected.as_ref().is_some_and(|id| !live.shows_instance(id))
                {
                    self.selected = None;
                }
                events.push(SessionEvent::Boxes);
            }
            FromPreview::Overrides { statuses, .. } => self.report_unmatched(&statuses),
            FromPreview::Problems { problems } => {
                self.problems = problems.into_iter().map(session_problem).collect();
            }
            FromPreview::Hovered { instance } => live.hovered = instance,
            FromPreview::Picked { instance } => {
                self.select(instance);
                events.push(SessionEvent::Picked);
            }
            FromPreview::Action { instance, action, value } => {
                let value = if value.is_null() { String::new() } else { format!(" = {value}") };
                self.log.add(LogLevel::Info, &format!("{instance}: {action}{value}"));
                events.push(SessionEvent::Action { instance, action });
            }
            FromPreview::Log { level, message } => self.log.add(log_level(level), &message),
            FromPreview::Pong { .. } => self.handle_pong(workspace),
        }
    }

    /// Sends the screen and the mode to a process that said hello. The page follows in the next turn.
    fn send_hello(&mut self, now: Instant, events: &mut Vec<SessionEvent>) {
        let Some(live) = self.lifecycle.live_mut() else { return };
        // Neither this nor the mode is ever too large.
        let _ = live.peer.send(&ToPreview::Welcome { session: self.id.to_string() }, None);
        match live.peer.send_screen(self.screen) {
            Ok(()) => events.push(SessionEvent::Memory),
            Err(error) => self.log.add(LogLevel::Error, &error),
        }
        let _ = live.peer.send(&ToPreview::Mode { mode: self.mode }, None);
        live.record_hello(now);
    }

    fn handle_pong(&mut self, workspace: &PreviewedWorkspace) {
        let Some(live) = self.lifecycle.live_mut() else { return };
        if matches!(live.font_delivery, FontDelivery::Sent(ping) if ping <= live.peer.last_pong()) {
            live.font_delivery = FontDelivery::Received;
        }
        if live.peer.is_busy() || live.peer.sent.page().is_none() || !live.advance_probe() {
            return;
        }
        // The last step of a probe shows the whole page already, unless the workspace changed: no further frame comes.
        let page = self.page(workspace);
        if let Some(live) = self.lifecycle.live_mut()
            && live.peer.sent.page() == Some(&page)
        {
            live.page_shown();
        }
    }

    /// Logs overrides that match nothing on the screen, each once. Only the process knows them: an item that a list lacks
    /// at present is an example.
    fn report_unmatched(&mut self, statuses: &[SceneOverrideStatus]) {
        let page = self.peer().and_then(|peer| peer.sent.page());
        let overrides = page.map_or(&[][..], |page| &page.overrides);
        let unmatched: BTreeSet<String> = overrides
            .iter()
            .zip(statuses)
            .filter(|(_, status)| **status != SceneOverrideStatus::Applied)
            .map(|(over, _)| format!("{}{}", over.instance, over.path))
            .collect();
        for address in unmatched.difference(&self.unmatched).take(MAX_REPORTED_OVERRIDES) {
            self.log.add(LogLevel::Warn, &format!("The override of {address} matches nothing on the screen"));
        }
        self.unmatched = unmatched;
    }

    /// Sends the fonts that were found for the process; there may be none.
    pub(crate) fn send_fonts(&mut self, fonts: Vec<FontFile>, now: Instant) {
        if let Some(live) = self.lifecycle.live_mut() {
            let ping = live.peer.send_fonts(fonts, now);
            live.font_delivery = ping.map_or(FontDelivery::Complete, FontDelivery::Sent);
        }
    }

    /// Returns true when the screen shows the whole page in its own fonts, so that a screenshot may be taken.
    pub(crate) fn is_complete(&self) -> bool {
        let live = self.lifecycle.live_preview();
        live.is_some_and(|live| live.is_ready() && live.font_delivery == FontDelivery::Complete)
    }

    fn refuse_screenshots(&mut self, refusal: &Refusal) {
        for screenshot in self.screenshots.drain(..) {
            screenshot.refuse(refusal.clone());
        }
    }
}

fn session_problem(problem: PreviewProblem) -> PreviewSourceProblem {
    PreviewSourceProblem {
        file: components::visible_text(&problem.file, 400),
        line: problem.line,
        column: problem.column,
        message: components::visible_text(&problem.message, 1_000),
        instance: problem.instance,
    }
}

fn stamp_of(files: &WorkspaceFiles, path: &str) -> PictureFileStamp {
    let path = WorkspacePath::parse(path).ok()?;
    let metadata = std::fs::metadata(files.root().join(path.as_str())).ok()?;
    Some((metadata.modified().ok()?, metadata.len()))
}

/// A picture of the workspace. `None` for one that is missing or too large: the preview shows a note in its place.
fn picture_message(files: &WorkspaceFiles, path: String) -> Option<ToPreview> {
    let bytes = files.read(&WorkspacePath::parse(path.as_str()).ok()?).ok()?;
    (bytes.len() <= MAX_PICTURE_BYTES).then(|| ToPreview::Image { path, png: STANDARD.encode(&bytes) })
}

fn log_level(level: PreviewLogLevel) -> LogLevel {
    match level {
        PreviewLogLevel::Debug => LogLevel::Debug,
        PreviewLogLevel::Info => LogLevel::Info,
        PreviewLogLevel::Warn => LogLevel::Warn,
        PreviewLogLevel::Error => LogLevel::Error,
    }
}
