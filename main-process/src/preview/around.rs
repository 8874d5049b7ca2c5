//! What the process around does for the previews.

use shared_protocol::{NodeId, previews::PreviewsView};

pub(crate) trait Around: Send + Sync {
    /// Something about a session is other than it was. Must not wait.
    fn tell(&self, view: &PreviewsView);

    /// Somebody chose this node in a preview. Must not wait.
    fn chosen(&self, node: NodeId);
}
