//! Requests of window and terminals about sessions.

use crate::{
    previewed_workspace::PreviewedWorkspace,
    screenshot::{Screenshot, ScreenshotTarget},
    session::{PreviewSession, SessionEvent},
    thread::SessionsThread,
};
use shared_protocol::{
    Code, NodeId, Refusal,
    preview::{MAX_EVENTS, MAX_ID, Screen},
    previews::{
        MAX_SESSIONS, PreviewAnswer, PreviewGesture, PreviewRequest, SessionId, SessionState, Shown, Tried,
    },
    request::Responder,
};
use std::{
    path::PathBuf,
    time::{Duration, Instant},
};

pub(crate) const SCREENSHOT_TIMEOUT: Duration = Duration::from_secs(20);
const MAX_TRIED_VALUES: usize = 256;

impl SessionsThread {
    pub(crate) fn request(
        &mut self,
        request: PreviewRequest,
        responder: Responder<PreviewAnswer>,
        now: Instant,
    ) {
        let Some(workspace) = self.newest_workspace() else {
            return responder.send(Err(Refusal::new(Code::NoWorkspace, "No workspace is open")));
        };
        let done = |()| PreviewAnswer::Done;
        let answer = match request {
            PreviewRequest::Start { shows, screen } => self.begin(&workspace, shows, screen, now),
            PreviewRequest::List => Ok(PreviewAnswer::All(Box::new(self.view()))),
            PreviewRequest::Log { session, after } => {
                self.session(session).map(|session| PreviewAnswer::Log(session.log.after(after)))
            }
            PreviewRequest::Shot { session, path } => {
                return self.request_screenshot(session, path, responder, now);
            }
            PreviewRequest::Close(session) => self.close(session).map(done),
            PreviewRequest::Stop(session) => self.session(session).map(PreviewSession::stop).map(done),
            PreviewRequest::Restart(id) => self.restart(&workspace, id, now).map(done),
            PreviewRequest::Navigate { session, route } => {
                self.navigate(&workspace, session, route).map(done)
            }
            PreviewRequest::Screen { session, screen } => self.set_screen(session, screen, now).map(done),
            PreviewRequest::Mode { session, mode } => {
                self.session(session).map(|session| session.set_mode(mode, now)).map(done)
            }
            PreviewRequest::Select { session, instance } => {
                self.session(session).map(|session| session.select(instance)).map(done)
            }
        };
        responder.send(answer);
    }

    fn begin(
        &mut self,
        workspace: &PreviewedWorkspace,
        shows: Shown,
        screen: Screen,
        now: Instant,
    ) -> Result<PreviewAnswer, Refusal> {
        if self.sessions.values().filter(|session| session.picture_of.is_none()).count() >= MAX_SESSIONS {
            let message = format!("{MAX_SESSIONS} previews are open already");
            return Err(Refusal::new(Code::LimitExceeded, message).hint("Close one of them first."));
        }
        check_screen(screen)?;
        check_shown(workspace, &shows)?;
        let id = self.add(shows, screen);
        self.restart(workspace, id, now)?;
        Ok(PreviewAnswer::Started(id))
    }

    fn restart(
        &mut self,
        workspace: &PreviewedWorkspace,
        id: SessionId,
        now: Instant,
    ) -> Result<(), Refusal> {
        let session = self.sessions.get_mut(&id).ok_or_else(|| no_session(id))?;
        session.start(workspace, &self.launcher, now);
        Ok(())
    }

    pub(crate) fn navigate(
        &mut self,
        workspace: &PreviewedWorkspace,
        id: SessionId,
        route: NodeId,
    ) -> Result<(), Refusal> {
        check_shown(workspace, &Shown::Route(route))?;
        let session = self.session(id)?;
        if matches!(session.shows, Shown::Route(_)) {
            session.show(Shown::Route(route));
            return Ok(());
        }
        Err(Refusal::new(Code::BadRequest, "This preview shows one component and no pages")
            .hint("Start another preview on a page."))
    }

    fn set_screen(&mut self, id: SessionId, screen: Screen, now: Instant) -> Result<(), Refusal> {
        check_screen(screen)?;
        if self.session(id)?.set_screen(screen, now) == Some(SessionEvent::Memory) {
            self.send_memory(id);
        }
        Ok(())
    }

    fn request_screenshot(
        &mut self,
        id: SessionId,
        path: String,
        responder: Responder<PreviewAnswer>,
        now: Instant,
    ) {
        let path = PathBuf::from(path);
        if path.extension().is_none_or(|ending| !ending.eq_ignore_ascii_case("png")) {
            let message = format!("{} does not end in .png", path.display());
            return responder.send(Err(Refusal::new(Code::BadRequest, message).field("path")));
        }
        match self.session(id) {
            Ok(session) if session.lifecycle.state() == SessionState::Stopped => {
                let refusal = Refusal::new(Code::Conflict, format!("{id} is stopped and shows nothing"));
                responder.send(Err(refusal.hint("Restart it first.")));
            }
            Ok(session) => {
                let (deadline, target) =
                    (now + SCREENSHOT_TIMEOUT, ScreenshotTarget::File { path, responder });
                session.screenshots.push(Screenshot { deadline, target });
            }
            Err(refusal) => responder.send(Err(refusal)),
        }
    }

    /// Handles a gesture of the window. Drops everything beyond the limits.
    pub(crate) fn gesture(&mut self, id: SessionId, gesture: PreviewGesture) {
        let Ok(session) = self.session(id) else { return };
        match gesture {
            PreviewGesture::Input(mut events) => {
                events.truncate(MAX_EVENTS);
                if let Some(live) = session.lifecycle.live_mut() {
                    live.peer.queue_input(events);
                }
            }
            PreviewGesture::Try(mut tried) => {
                tried.truncate(MAX_TRIED_VALUES);
                tried.retain(|tried: &Tried| tried.instance.len() <= MAX_ID * 4 && tried.path.len() <= 1_024);
                session.try_out(tried);
            }
        }
    }

    pub(crate) fn session(&mut self, id: SessionId) -> Result<&mut PreviewSession, Refusal> {
        self.sessions
            .get_mut(&id)
            .filter(|session| session.picture_of.is_none())
            .ok_or_else(|| no_session(id))
    }
}

pub(crate) fn check_screen(screen: Screen) -> Result<(), Refusal> {
    if screen.is_valid() {
        return Ok(());
    }
    let message = format!("A screen of {} × {} cannot be shown", screen.width, screen.height);
    Err(Refusal::new(Code::BadRequest, message).field("screen").hint("Use sides from 1 to 4096."))
}

pub(crate) fn check_shown(workspace: &PreviewedWorkspace, shows: &Shown) -> Result<(), Refusal> {
    match shows {
        Shown::Route(route) if workspace.page(*route).is_some() => Ok(()),
        Shown::Route(route) => {
            let message = format!("{route} is not a page of an interface board");
            Err(Refusal::new(Code::NotFound, message).field("route"))
        }
        Shown::Component { component } | Shown::Variant { component, .. } => {
            let Some(found) = workspace.component(component) else {
                let known = workspace.components.iter().map(|known| known.id.as_str());
                let message = format!("There is no component `{component}`");
                return Err(Refusal::new(Code::NotFound, message)
                    .field("component")
                    .suggest(authority::similar(component, known)));
            };
            match shows {
                Shown::Variant { variant, .. } if !found.variants.contains(variant) => {
                    let message = format!("{component} has no variant `{variant}`");
                    let known = found.variants.iter().map(String::as_str);
                    Err(Refusal::new(Code::NotFound, message)
                        .field("variant")
                        .suggest(authority::similar(variant, known)))
                }
                _ => Ok(()),
            }
        }
    }
}

fn no_session(id: SessionId) -> Refusal {
    Refusal::new(Code::NotFound, format!("There is no {id}"))
        .hint("`draftboard preview list` lists the open previews.")
}
