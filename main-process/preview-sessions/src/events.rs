//! The notifications that preview sessions send to the rest of the process.

use shared_protocol::{NodeId, preview_sessions::PreviewsView};

/// Receives what changes in the sessions. No method may block: the sessions' thread calls them.
pub trait PreviewEvents: Send + Sync {
    /// At least one session differs from the last view.
    fn publish_view(&self, view: &PreviewsView);

    /// A person picked this node in a preview.
    fn select_node(&self, node: NodeId);
}
