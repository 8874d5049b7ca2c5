//! Sessions as window and agents know them.

use super::{ground::Ground, session::Session};
use shared_protocol::{
    NodeId,
    preview::InstanceBox,
    previews::{PreviewsView, SelectedInstance, SessionView, Shown, ShownInstance},
};

pub(super) fn all<'s>(
    sessions: impl Iterator<Item = &'s Session>,
    ground: Option<&Ground>,
    unavailable: Option<&String>,
) -> PreviewsView {
    PreviewsView {
        sessions: sessions.map(|session| one(session, ground)).collect(),
        components: ground.map(|ground| ground.components.as_ref().clone()).unwrap_or_default(),
        unavailable: unavailable.cloned(),
    }
}

fn one(session: &Session, ground: Option<&Ground>) -> SessionView {
    SessionView {
        id: session.id,
        shows: session.shows.clone(),
        title: session.title.clone(),
        state: session.state.clone(),
        screen: session.screen,
        mode: session.mode,
        route: if let Shown::Route(route) = session.shows { Some(route) } else { None },
        selected: session.selected.as_ref().and_then(|id| selected(session, ground, id)),
        hovered: session.hovered.clone(),
        problems: session.problems.clone(),
        quarantined: session.quarantined.keys().cloned().collect(),
        logged: session.log.logged(),
        frame_micros: session.frame_micros,
    }
}

/// Where a file is said to be is a claim of the preview: it counts only where the workspace has such a component.
fn selected(session: &Session, ground: Option<&Ground>, id: &str) -> Option<SelectedInstance> {
    let found = session.boxes.iter().find(|found| found.id == id)?;
    let known = ground.is_some_and(|ground| ground.components.iter().any(|known| known.file == found.file))
        && !components::is_built_in(&found.file);
    Some(SelectedInstance {
        instance: found.id.clone(),
        component: found.component.clone(),
        node: ground.and_then(|ground| node_of(ground, &found.id)),
        file: if known { found.file.clone() } else { String::new() },
        line: if known { found.line } else { 0 },
    })
}

/// The node that an instance is, or is part of.
pub(super) fn node_of(ground: &Ground, instance: &str) -> Option<NodeId> {
    let id = instance.split('/').next()?.parse().ok()?;
    ground.snapshot.node(id).map(|node| node.id)
}

pub(super) fn boxes(boxes: &[InstanceBox], ground: Option<&Ground>) -> Vec<ShownInstance> {
    let shown = |found: &InstanceBox| ShownInstance {
        id: found.id.clone(),
        component: found.component.clone(),
        parent: found.parent.clone(),
        node: ground.filter(|_| !found.id.contains('/')).and_then(|ground| node_of(ground, &found.id)),
        rect: found.rect,
        clip: found.clip,
    };
    boxes.iter().map(shown).collect()
}
