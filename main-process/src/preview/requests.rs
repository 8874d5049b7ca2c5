//! What window and terminals ask about sessions.

use super::{
    ground::Ground,
    session::{News, Session},
    shot::{Shot, To},
    worker::Worker,
};
use crate::host::Reply;
use shared_protocol::{
    Code, Refusal,
    messages::Answer,
    preview::{MAX_EVENTS, MAX_ID, Screen},
    previews::{
        MAX_SESSIONS, PreviewAnswer, PreviewGesture, PreviewRequest, SessionId, SessionState, Shown, Tried,
    },
};
use std::{
    path::PathBuf,
    time::{Duration, Instant},
};

/// How long somebody waits for a picture.
pub(super) const SHOT_LIMIT: Duration = Duration::from_secs(20);
/// Values tried at once.
const MAX_TRIED: usize = 256;

impl Worker {
    pub(super) fn request(&mut self, request: PreviewRequest, reply: Reply, now: Instant) {
        let Some(ground) = self.ground() else {
            return reply(Err(Refusal::new(Code::NoWorkspace, "no workspace is open")));
        };
        let answer = match request {
            PreviewRequest::Start { shows, screen } => self.begin(&ground, shows, screen, now),
            PreviewRequest::List => Ok(Answer::Preview(PreviewAnswer::All(Box::new(self.view())))),
            PreviewRequest::Log { session, after } => self
                .session(session)
                .map(|session| Answer::Preview(PreviewAnswer::Log(session.log.after(after)))),
            PreviewRequest::Shot { session, path } => return self.shot(session, path, reply, now),
            PreviewRequest::Close(session) => self.close(session).map(|()| Answer::Done),
            PreviewRequest::Stop(session) => self.session(session).map(|session| {
                session.stop();
                Answer::Done
            }),
            PreviewRequest::Restart(id) => self.restart(&ground, id, now).map(|()| Answer::Done),
            PreviewRequest::Navigate { session, route } => {
                self.navigate(&ground, session, route).map(|()| Answer::Done)
            }
            PreviewRequest::Screen { session, screen } => {
                self.set_screen(session, screen, now).map(|()| Answer::Done)
            }
            PreviewRequest::Mode { session, mode } => self.session(session).map(|session| {
                session.set_mode(mode, now);
                Answer::Done
            }),
            PreviewRequest::Select { session, instance } => self.session(session).map(|session| {
                let is_shown = |id: &String| session.boxes.iter().any(|found| found.id == *id);
                session.selected = instance.filter(is_shown);
                Answer::Done
            }),
        };
        reply(answer);
    }

    fn begin(
        &mut self,
        ground: &Ground,
        shows: Shown,
        screen: Screen,
        now: Instant,
    ) -> Result<Answer, Refusal> {
        if self.sessions.values().filter(|session| session.apart.is_none()).count() >= MAX_SESSIONS {
            let message = format!("{MAX_SESSIONS} previews are open already");
            return Err(Refusal::new(Code::LimitExceeded, message).hint("Close one of them first."));
        }
        check_screen(screen)?;
        check_shown(ground, &shows)?;
        let id = self.add(shows, screen);
        if let Some(session) = self.sessions.get_mut(&id) {
            session.start(ground, &*self.spawner, now);
        }
        Ok(Answer::Preview(PreviewAnswer::Started(id)))
    }

    fn restart(&mut self, ground: &Ground, id: SessionId, now: Instant) -> Result<(), Refusal> {
        let session = self.sessions.get_mut(&id).ok_or_else(|| no_session(id))?;
        session.start_afresh(ground, &*self.spawner, now);
        Ok(())
    }

    pub(super) fn navigate(
        &mut self,
        ground: &Ground,
        id: SessionId,
        route: shared_protocol::NodeId,
    ) -> Result<(), Refusal> {
        check_shown(ground, &Shown::Route(route))?;
        let session = self.session(id)?;
        if matches!(session.shows, Shown::Route(_)) {
            session.show(Shown::Route(route));
            return Ok(());
        }
        Err(Refusal::new(Code::BadRequest, "this preview shows one component and no pages")
            .hint("Start another preview on a page."))
    }

    fn set_screen(&mut self, id: SessionId, screen: Screen, now: Instant) -> Result<(), Refusal> {
        check_screen(screen)?;
        let news = self.session(id)?.set_screen(screen, now);
        if news == Some(News::Memory) {
            self.give_memory(id);
        }
        Ok(())
    }

    fn shot(&mut self, id: SessionId, path: String, reply: Reply, now: Instant) {
        let path = PathBuf::from(path);
        if path.extension().is_none_or(|ending| !ending.eq_ignore_ascii_case("png")) {
            let message = format!("{} does not end in .png", path.display());
            return reply(Err(Refusal::new(Code::BadRequest, message).field("path")));
        }
        match self.session(id) {
            Ok(Session { state: SessionState::Stopped, .. }) => reply(Err(Refusal::new(
                Code::Conflict,
                format!("{id} is stopped, so there is nothing to see"),
            )
            .hint("Start it again first."))),
            Ok(session) => session.shots.push(Shot { until: now + SHOT_LIMIT, to: To::File { path, reply } }),
            Err(refusal) => reply(Err(refusal)),
        }
    }

    /// What the window does in a session. Whatever is out of bounds is left out.
    pub(super) fn gesture(&mut self, id: SessionId, gesture: PreviewGesture) {
        let Ok(session) = self.session(id) else { return };
        match gesture {
            PreviewGesture::Input(mut events) => {
                events.truncate(MAX_EVENTS);
                if let Some(peer) = &mut session.peer {
                    peer.input(events);
                }
            }
            PreviewGesture::Try(mut tried) => {
                tried.truncate(MAX_TRIED);
                tried.retain(|tried: &Tried| tried.instance.len() <= MAX_ID * 4 && tried.path.len() <= 1_024);
                session.try_out(tried);
            }
        }
    }

    pub(super) fn session(&mut self, id: SessionId) -> Result<&mut Session, Refusal> {
        self.sessions.get_mut(&id).filter(|session| session.apart.is_none()).ok_or_else(|| no_session(id))
    }
}

pub(super) fn check_screen(screen: Screen) -> Result<(), Refusal> {
    if screen.is_valid() {
        return Ok(());
    }
    let message = format!("a screen of {} × {} cannot be shown", screen.width, screen.height);
    Err(Refusal::new(Code::BadRequest, message).field("screen").hint("Use sides from 1 to 4096."))
}

pub(super) fn check_shown(ground: &Ground, shows: &Shown) -> Result<(), Refusal> {
    match shows {
        Shown::Route(route) if ground.page(*route).is_some() => Ok(()),
        Shown::Route(route) => {
            let message = format!("{route} is not a page of an interface board");
            Err(Refusal::new(Code::NotFound, message).field("route"))
        }
        Shown::Component { component } | Shown::Variant { component, .. } => {
            let Some(found) = ground.component(component) else {
                let known = ground.components.iter().map(|known| known.id.as_str());
                let message = format!("there is no component `{component}`");
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
    Refusal::new(Code::NotFound, format!("there is no {id}"))
        .hint("`draftboard preview list` shows the previews that there are.")
}
