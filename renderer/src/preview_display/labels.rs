//! Labels for preview states and targets.

use crate::view::FrameView;
use shared_protocol::preview_sessions::{PreviewSessionStatus, PreviewTarget};

pub(crate) fn state_words(state: &PreviewSessionStatus) -> &'static str {
    match state {
        PreviewSessionStatus::Creating => "Starting",
        PreviewSessionStatus::Loading => "Loading",
        PreviewSessionStatus::Ready => "Ready",
        PreviewSessionStatus::Reloading => "Reloading",
        PreviewSessionStatus::Stopped => "Stopped",
        PreviewSessionStatus::Failed(_) => "Failed",
    }
}

pub(crate) fn target_label(view: &FrameView<'_>, shown: &PreviewTarget) -> String {
    let component = |id: &str| {
        let known = view.previews.components.iter().find(|component| component.id == id);
        known.map_or_else(|| id.to_owned(), |component| component.title.clone())
    };
    match shown {
        PreviewTarget::Route(node) => {
            view.snapshot.node(*node).map_or_else(|| "a page".to_owned(), |node| node.label.clone())
        }
        PreviewTarget::Component { component: id } => component(id),
        PreviewTarget::Variant { component: id, variant } => format!("{} · {variant}", component(id)),
    }
}
