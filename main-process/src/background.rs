//! Work beside the thread that received a request.

use shared_protocol::request::Responder;

/// Runs `work` on a named thread. A thread that cannot start drops the responder, which sends a refusal.
pub(crate) fn spawn<T: Send + 'static>(
    name: &str,
    responder: Responder<T>,
    work: impl FnOnce(Responder<T>) + Send + 'static,
) {
    let spawned = std::thread::Builder::new().name(name.to_owned()).spawn(move || work(responder));
    if let Err(error) = spawned {
        tracing::error!(%error, name, "the thread for a request did not start");
    }
}
