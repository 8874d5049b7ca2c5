//! Responses on their way back: waiting for one, and encoding one for the connection that sent the request.

use crossbeam_channel::bounded;
use serde::Serialize;
use serde_json::Value;
use shared_protocol::{Refusal, RefusalCode, messages::WorkbenchResponse, request::Responder};
use std::time::Duration;

/// Starts a request and waits for its response.
pub(crate) fn wait_for<T: Send + 'static>(
    limit: Duration,
    start: impl FnOnce(Responder<T>),
) -> Result<T, Refusal> {
    let (sender, receiver) = bounded(1);
    // A receiver that gave up is gone.
    start(Responder::new(move |result| drop(sender.send(result))));
    receiver.recv_timeout(limit).unwrap_or_else(|_| {
        Err(Refusal::new(RefusalCode::Timeout, "no response in time; the request may still be carried out")
            .hint("`draftboard log` and `draftboard review list` show whether it was."))
    })
}

/// The way back to the sender of a request. The connection decides the encoding, the request the type.
pub(crate) trait ResponseChannel {
    /// `shell` wraps the response for the window, whose wire is not typed yet.
    fn typed<T: Serialize + Send + 'static>(self, shell: fn(T) -> WorkbenchResponse) -> Responder<T>;
}

/// The window's channel.
impl ResponseChannel for Responder<WorkbenchResponse> {
    fn typed<T: Serialize + Send + 'static>(self, shell: fn(T) -> WorkbenchResponse) -> Responder<T> {
        self.map(shell)
    }
}

/// A terminal's channel: the response travels as JSON of its own type.
pub(crate) struct JsonResponder(pub(crate) Responder<Value>);

impl JsonResponder {
    pub(crate) fn encode<T: Serialize + Send + 'static>(self) -> Responder<T> {
        Responder::new(move |result: Result<T, Refusal>| {
            self.0.send(result.and_then(|response| {
                serde_json::to_value(response).map_err(|error| {
                    Refusal::new(RefusalCode::Internal, format!("the response has no JSON form: {error}"))
                })
            }));
        })
    }
}

impl ResponseChannel for JsonResponder {
    fn typed<T: Serialize + Send + 'static>(self, _: fn(T) -> WorkbenchResponse) -> Responder<T> {
        self.encode()
    }
}
