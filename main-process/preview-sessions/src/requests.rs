//! Requests of window and terminals about sessions.

use crate::{
    PreviewSessionRequest,
    previewed_workspace::PreviewedWorkspace,
    screenshot::{Screenshot, ScreenshotTarget},
    session::{PreviewSession, SessionEvent},
    thread::SessionsThread,
};
use shared_protocol::{
    NodeId, Refusal, RefusalCode,
    preview_sessions::{
        MAX_PREVIEW_SESSIONS, PreviewGesture, PreviewId, PreviewSessionStatus, PreviewTarget,
        TransientPropValue,
    },
    preview_wire::{MAX_INPUT_EVENTS, MAX_PREVIEW_ID_CHARS, PreviewScreen},
    request::Responder,
    requests::{
        CapturePreview, ClosePreview, ExportedFile, NavigatePreview, ReadPreviewLog, RestartPreview,
        SelectInstance, SetPreviewMode, SetPreviewScreen, StartPreview, StopPreview,
    },
};
use std::{
    path::PathBuf,
    time::{Duration, Instant},
};

pub(crate) const SCREENSHOT_TIMEOUT: Duration = Duration::from_secs(20);
const MAX_TRIED_VALUES: usize = 256;

impl SessionsThread {
    pub(crate) fn handle(&mut self, call: PreviewSessionRequest, now: Instant) {
        let Some(workspace) = self.newest_workspace() else {
            return call.refuse(Refusal::new(RefusalCode::NoWorkspace, "No workspace is open"));
        };
        match call {
            PreviewSessionRequest::ListPreviews(_, responder) => responder.send(Ok(self.view())),
            PreviewSessionRequest::StartPreview(StartPreview { shows, screen }, responder) => {
                responder.send(self.begin(&workspace, shows, screen, now));
            }
            PreviewSessionRequest::StopPreview(StopPreview { session }, responder) => {
                responder.send(self.session(session).map(PreviewSession::stop));
            }
            PreviewSessionRequest::RestartPreview(RestartPreview { session }, responder) => {
                responder.send(self.restart(&workspace, session, now));
            }
            PreviewSessionRequest::ClosePreview(ClosePreview { session }, responder) => {
                responder.send(self.close(session));
            }
            PreviewSessionRequest::NavigatePreview(NavigatePreview { session, route }, responder) => {
                responder.send(self.navigate(&workspace, session, route));
            }
            PreviewSessionRequest::SetPreviewScreen(SetPreviewScreen { session, screen }, responder) => {
                responder.send(self.set_screen(session, screen, now));
            }
            PreviewSessionRequest::SetPreviewMode(SetPreviewMode { session, mode }, responder) => {
                responder.send(self.session(session).map(|session| session.set_mode(mode, now)));
            }
            PreviewSessionRequest::SelectInstance(SelectInstance { session, instance }, responder) => {
                responder.send(self.session(session).map(|session| session.select(instance)));
            }
            PreviewSessionRequest::ReadPreviewLog(ReadPreviewLog { session, after }, responder) => {
                responder.send(self.session(session).map(|session| session.log.lines_after(after)));
            }
            PreviewSessionRequest::CapturePreview(CapturePreview { session, path }, responder) => {
                self.request_screenshot(session, path, responder, now);
            }
        }
    }

    fn begin(
        &mut self,
        workspace: &PreviewedWorkspace,
        shows: PreviewTarget,
        screen: PreviewScreen,
        now: Instant,
    ) -> Result<PreviewId, Refusal> {
        if self.sessions.values().filter(|session| session.picture_of.is_none()).count()
            >= MAX_PREVIEW_SESSIONS
        {
            let message = format!("{MAX_PREVIEW_SESSIONS} previews are already open");
            return Err(Refusal::new(RefusalCode::LimitExceeded, message).hint("Close one of them first."));
        }
        check_screen(screen)?;
        check_shown(workspace, &shows)?;
        let id = self.add(shows, screen);
        self.restart(workspace, id, now)?;
        Ok(id)
    }

    fn restart(
        &mut self,
        workspace: &PreviewedWorkspace,
        id: PreviewId,
        now: Instant,
    ) -> Result<(), Refusal> {
        let session = self.sessions.get_mut(&id).ok_or_else(|| no_session(id))?;
        session.start(workspace, &self.launcher, now);
        Ok(())
    }

    pub(crate) fn navigate(
        &mut self,
        workspace: &PreviewedWorkspace,
        id: PreviewId,
        route: NodeId,
    ) -> Result<(), Refusal> {
        check_shown(workspace, &PreviewTarget::Route(route))?;
        let session = self.session(id)?;
        if matches!(session.shows, PreviewTarget::Route(_)) {
            session.show(PreviewTarget::Route(route));
            return Ok(());
        }
        Err(Refusal::new(RefusalCode::BadRequest, "This preview shows a component, not a page")
            .hint("Start another preview on a page."))
    }

    fn set_screen(&mut self, id: PreviewId, screen: PreviewScreen, now: Instant) -> Result<(), Refusal> {
        check_screen(screen)?;
        if self.session(id)?.set_screen(screen, now) == Some(SessionEvent::Memory) {
            self.send_memory(id);
        }
        Ok(())
    }

    fn request_screenshot(
        &mut self,
        id: PreviewId,
        path: String,
        responder: Responder<ExportedFile>,
        now: Instant,
    ) {
        let path = PathBuf::from(path);
        if path.extension().is_none_or(|ending| !ending.eq_ignore_ascii_case("png")) {
            let message = format!("{} does not end in .png", path.display());
            return responder.send(Err(Refusal::new(RefusalCode::BadRequest, message).field("path")));
        }
        match self.session(id) {
            Ok(session) if session.lifecycle.state() == PreviewSessionStatus::Stopped => {
                let refusal =
                    Refusal::new(RefusalCode::Conflict, format!("{id} is stopped and shows nothing"));
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
    pub(crate) fn gesture(&mut self, id: PreviewId, gesture: PreviewGesture) {
        let Ok(session) = self.session(id) else { return };
        match gesture {
            PreviewGesture::Input(mut events) => {
                events.truncate(MAX_INPUT_EVENTS);
                if let Some(live) = session.lifecycle.live_mut() {
                    live.peer.queue_input(events);
                }
            }
            PreviewGesture::Try(mut tried) => {
                tried.truncate(MAX_TRIED_VALUES);
                tried.retain(|tried: &TransientPropValue| {
                    tried.instance.len() <= MAX_PREVIEW_ID_CHARS * 4 && tried.path.len() <= 1_024
                });
                session.try_out(tried);
            }
        }
    }

    pub(crate) fn session(&mut self, id: PreviewId) -> Result<&mut PreviewSession, Refusal> {
        self.sessions
            .get_mut(&id)
            .filter(|session| session.picture_of.is_none())
            .ok_or_else(|| no_session(id))
    }
}

pub(crate) fn check_screen(screen: PreviewScreen) -> Result<(), Refusal> {
    if screen.is_valid() {
        return Ok(());
    }
    let message = format!("The screen size {} × {} is out of range", screen.width, screen.height);
    Err(Refusal::new(RefusalCode::BadRequest, message).field("screen").hint("Use sides from 1 to 4096."))
}

pub(crate) fn check_shown(workspace: &PreviewedWorkspace, shows: &PreviewTarget) -> Result<(), Refusal> {
    match shows {
        PreviewTarget::Route(route) if workspace.page(*route).is_some() => Ok(()),
        PreviewTarget::Route(route) => {
            let message = format!("{route} is not a page of an interface board");
            Err(Refusal::new(RefusalCode::NotFound, message).field("route"))
        }
        PreviewTarget::Component { component } | PreviewTarget::Variant { component, .. } => {
            let Some(found) = workspace.component(component) else {
                let known = workspace.components.iter().map(|known| known.id.as_str());
                let message = format!("There is no component `{component}`");
                return Err(Refusal::new(RefusalCode::NotFound, message)
                    .field("component")
                    .suggest(authority::similar(component, known)));
            };
            match shows {
                PreviewTarget::Variant { variant, .. } if !found.variants.contains(variant) => {
                    let message = format!("{component} has no variant `{variant}`");
                    let known = found.variants.iter().map(String::as_str);
                    Err(Refusal::new(RefusalCode::NotFound, message)
                        .field("variant")
                        .suggest(authority::similar(variant, known)))
                }
                _ => Ok(()),
            }
        }
    }
}

fn no_session(id: PreviewId) -> Refusal {
    Refusal::new(RefusalCode::NotFound, format!("There is no {id}"))
        .hint("`draftboard preview list` lists the open previews.")
}
