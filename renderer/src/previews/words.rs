//! Labels for preview states and targets.

use crate::view::View;
use shared_protocol::previews::{SessionState, Shown};

pub(crate) fn state_words(state: &SessionState) -> &'static str {
    match state {
        SessionState::Creating => "Starting",
        SessionState::Loading => "Loading",
        SessionState::Ready => "Ready",
        SessionState::Reloading => "Reloading",
        SessionState::Stopped => "Stopped",
        SessionState::Failed(_) => "Failed",
    }
}

/// The label of a preview target.
pub(crate) fn shown_words(view: &View<'_>, shown: &Shown) -> String {
    let component = |id: &str| {
        let known = view.previews.components.iter().find(|component| component.id == id);
        known.map_or_else(|| id.to_owned(), |component| component.title.clone())
    };
    match shown {
        Shown::Route(node) => {
            view.snapshot.node(*node).map_or_else(|| "a page".to_owned(), |node| node.label.clone())
        }
        Shown::Component { component: id } => component(id),
        Shown::Variant { component: id, variant } => format!("{} · {variant}", component(id)),
    }
}
