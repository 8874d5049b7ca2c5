//! The notifications that preview sessions send to the rest of the process.

use shared_protocol::{NodeId, preview_sessions::PreviewsView};

/// Receives what changes in the sessions. No method may block: the sessions' thread calls them.
pub trait PreviewEvents: Send + Sync {
    /// Publishes the view; at least one session differs from the last one.
    fn publish_view(&self, view: &PreviewsView);

    /// Selects the node that a person picked in a preview.
    fn select_node(&self, node: NodeId);
}
