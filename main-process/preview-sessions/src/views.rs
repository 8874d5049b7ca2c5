//! Sessions as window and agents see them.

use crate::{previewed_workspace::PreviewedWorkspace, session::PreviewSession};
use shared_protocol::{
    NodeId,
    preview_sessions::{
        PreviewInstanceBox, PreviewSessionView, PreviewTarget, PreviewsView, SelectedInstance,
    },
    preview_wire::InstanceBox,
};

pub(crate) fn previews_view<'s>(
    sessions: impl Iterator<Item = &'s PreviewSession>,
    workspace: Option<&PreviewedWorkspace>,
    unavailable: Option<&String>,
) -> PreviewsView {
    PreviewsView {
        sessions: sessions.map(|session| session_view(session, workspace)).collect(),
        components: workspace.map(|workspace| workspace.components.as_ref().clone()).unwrap_or_default(),
        unavailable: unavailable.cloned(),
    }
}

fn session_view(session: &PreviewSession, workspace: Option<&PreviewedWorkspace>) -> PreviewSessionView {
    PreviewSessionView {
        id: session.id,
        shows: session.shows.clone(),
        title: session.title.clone(),
        state: session.lifecycle.state(),
        screen: session.screen,
        mode: session.mode,
        route: if let PreviewTarget::Route(route) = session.shows { Some(route) } else { None },
        selected: session.selected.as_ref().and_then(|id| selected(session, workspace, id)),
        hovered: session.lifecycle.live_preview().and_then(|live| live.hovered.clone()),
        problems: session.problems.clone(),
        quarantined: session.quarantined.keys().cloned().collect(),
        logged: session.log.total(),
        frame_micros: session.frame_micros,
    }
}

/// The preview reports the file of an instance; it is shown only when the workspace has a component with this file.
fn selected(
    session: &PreviewSession,
    workspace: Option<&PreviewedWorkspace>,
    id: &str,
) -> Option<SelectedInstance> {
    let found = session.boxes().iter().find(|found| found.id == id)?;
    let known = workspace
        .is_some_and(|workspace| workspace.components.iter().any(|known| known.file == found.file))
        && !components::is_built_in(&found.file);
    Some(SelectedInstance {
        instance: found.id.clone(),
        component: found.component.clone(),
        node: workspace.and_then(|workspace| node_of(workspace, &found.id)),
        file: if known { found.file.clone() } else { String::new() },
        line: if known { found.line } else { 0 },
    })
}

/// The node of an instance, or of the instance that contains it.
pub(crate) fn node_of(workspace: &PreviewedWorkspace, instance: &str) -> Option<NodeId> {
    let id = instance.split('/').next()?.parse().ok()?;
    workspace.snapshot.node(id).map(|node| node.id)
}

pub(crate) fn boxes(
    boxes: &[InstanceBox],
    workspace: Option<&PreviewedWorkspace>,
) -> Vec<PreviewInstanceBox> {
    let shown = |found: &InstanceBox| PreviewInstanceBox {
        id: found.id.clone(),
        component: found.component.clone(),
        parent: found.parent.clone(),
        node: workspace
            .filter(|_| !found.id.contains('/'))
            .and_then(|workspace| node_of(workspace, &found.id)),
        rect: found.rect,
        clip: found.clip,
    };
    boxes.iter().map(shown).collect()
}
