//! Responses on their way back: waiting for one, and encoding one for the connection that sent the request.

use crossbeam_channel::bounded;
use serde::Serialize;
use serde_json::Value;
use shared_protocol::{
    Refusal, RefusalCode,
    framing::encode_response,
    request::{Responder, ResponseChannel},
};
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

/// The window's channel: the response travels in the encoding of processes.
pub(crate) struct WindowResponder(pub(crate) Responder<Vec<u8>>);

impl ResponseChannel for WindowResponder {
    fn typed<T: Serialize + Send + 'static>(self) -> Responder<T> {
        Responder::new(move |result: Result<T, Refusal>| {
            self.0.send(result.and_then(|response| encode_response(&response)));
        })
    }
}

/// A terminal's channel: the response travels as JSON.
pub(crate) struct JsonResponder(pub(crate) Responder<Value>);

impl ResponseChannel for JsonResponder {
    fn typed<T: Serialize + Send + 'static>(self) -> Responder<T> {
        Responder::new(move |result: Result<T, Refusal>| {
            self.0.send(result.and_then(|response| {
                serde_json::to_value(response).map_err(|error| {
                    Refusal::new(RefusalCode::Internal, format!("the response has no JSON form: {error}"))
                })
            }));
        })
    }
}
