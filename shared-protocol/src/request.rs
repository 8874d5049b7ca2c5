//! Requests that name their response, and the way back to their sender.

use crate::{Refusal, RefusalCode};
use serde::{Serialize, de::DeserializeOwned};

/// A request that names its response, so that no caller has to tell responses apart.
pub trait Request: Serialize + DeserializeOwned + Send + 'static {
    type Response: Serialize + DeserializeOwned + Send + 'static;
    /// The enum in which the request travels.
    type Frame: From<Self>;
}

/// Declares requests and the enum in which they travel.
macro_rules! requests {
    ($(#[$frame_meta:meta])* $frame:ident {
        $($(#[$meta:meta])* $name:ident {
            $($(#[$field_meta:meta])* $field:ident: $type:ty),* $(,)?
        } -> $response:ty;)*
    }) => {
        $(#[$frame_meta])*
        #[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
        #[serde(rename_all = "camelCase")]
        pub enum $frame { $($name($name)),* }

        $(
            $(#[$meta])*
            #[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
            #[serde(rename_all = "camelCase", deny_unknown_fields)]
            pub struct $name { $($(#[$field_meta])* pub $field: $type),* }

            impl Request for $name {
                type Response = $response;
                type Frame = $frame;
            }

            impl From<$name> for $frame {
                fn from(request: $name) -> Self {
                    Self::$name(request)
                }
            }
        )*
    };
}
pub(crate) use requests;

/// Declares the requests that the queue of a service holds, each with its responder.
#[macro_export]
macro_rules! service_calls {
    ($(#[$meta:meta])* $visibility:vis enum $calls:ident { $($name:ident),* $(,)? }) => {
        $(#[$meta])*
        $visibility enum $calls {
            $($name($name, $crate::request::Responder<<$name as $crate::request::Request>::Response>)),*
        }

        impl $calls {
            /// Answers a request that is not handled.
            $visibility fn refuse(self, refusal: $crate::Refusal) {
                match self {
                    $(Self::$name(_, responder) => responder.send(Err(refusal))),*
                }
            }
        }

        $(
            impl From<($name, $crate::request::Responder<<$name as $crate::request::Request>::Response>)> for $calls {
                fn from(
                    (request, responder): ($name, $crate::request::Responder<<$name as $crate::request::Request>::Response>),
                ) -> Self {
                    Self::$name(request, responder)
                }
            }
        )*
    };
}

/// The way back to the sender of a request. The connection decides the encoding, the request the type.
pub trait ResponseChannel: Send + 'static {
    fn typed<T: Serialize + Send + 'static>(self) -> Responder<T>;
}

type SendResponse<T> = Box<dyn FnOnce(Result<T, Refusal>) + Send>;

/// Sends the response to one request, exactly once: dropping it unanswered sends a refusal, so no sender waits in vain.
pub struct Responder<T> {
    send: Option<SendResponse<T>>,
}

impl<T: 'static> Responder<T> {
    pub fn new(send: impl FnOnce(Result<T, Refusal>) + Send + 'static) -> Self {
        Self { send: Some(Box::new(send)) }
    }

    pub fn send(mut self, result: Result<T, Refusal>) {
        if let Some(send) = self.send.take() {
            send(result);
        }
    }

    /// Adapts the responder to a part that answers with another type.
    pub fn map<U: 'static>(mut self, convert: impl FnOnce(U) -> T + Send + 'static) -> Responder<U> {
        let send = self.send.take();
        Responder::new(move |result: Result<U, Refusal>| {
            if let Some(send) = send {
                send(result.map(convert));
            }
        })
    }
}

impl<T> Drop for Responder<T> {
    fn drop(&mut self) {
        if let Some(send) = self.send.take() {
            send(Err(Refusal::new(RefusalCode::Internal, "the request was dropped before it was answered")
                .hint("Try again. The log names the cause.")));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::sync::mpsc;

    #[test]
    fn a_dropped_responder_sends_a_refusal() {
        let (sender, receiver) = mpsc::channel();
        let send = move |result: Result<u32, Refusal>| sender.send(result).unwrap();
        drop(Responder::new(send.clone()).map(|text: String| text.len() as u32));
        assert_eq!(receiver.recv().unwrap().unwrap_err().code, RefusalCode::Internal);
        Responder::new(send).map(|text: String| text.len() as u32).send(Ok("abc".to_owned()));
        assert_eq!(receiver.recv().unwrap().unwrap(), 3);
        assert!(receiver.recv().is_err(), "each responder sends once");
    }
}
