//! The HTTP client for servers, manifests and registries. It follows no redirects, so that a credential never reaches
//! another host than the configured one, and limits the bytes it reads.

mod events;
mod mcp;

pub(crate) use mcp::McpHttpClient;

use bytes::Bytes;
use http::{Request, Response};
use http_body_util::{BodyExt as _, Full, Limited};
use hyper::body::Incoming;
use hyper_rustls::{ConfigBuilderExt as _, HttpsConnector};
use hyper_util::{
    client::legacy::{Client, connect::HttpConnector},
    rt::TokioExecutor,
};
use std::{
    error::Error as _,
    sync::{Arc, OnceLock},
    time::Duration,
};

#[derive(Debug, Clone, thiserror::Error)]
pub(crate) enum HttpError {
    #[error("the server cannot be reached: {0}")]
    Unreachable(String),
    #[error("the connection was lost: {0}")]
    ConnectionLost(String),
    #[error("the answer is larger than {0} bytes")]
    TooLarge(usize),
    #[error("the request is invalid: {0}")]
    Request(String),
}

#[derive(Clone)]
pub(crate) struct HttpClient {
    inner: Client<HttpsConnector<HttpConnector>, Full<Bytes>>,
}

impl HttpClient {
    pub(crate) fn new(connect: Duration) -> Result<Self, HttpError> {
        let mut connector = HttpConnector::new();
        connector.enforce_http(false);
        connector.set_connect_timeout(Some(connect));
        connector.set_nodelay(true);
        let connector = HttpsConnector::from((connector, tls()?));
        let inner = Client::builder(TokioExecutor::new())
            .pool_idle_timeout(Duration::from_secs(30))
            .pool_timer(hyper_util::rt::TokioTimer::new())
            .build(connector);
        Ok(Self { inner })
    }

    /// Returns when the response head has arrived.
    pub(crate) async fn send(&self, request: Request<Full<Bytes>>) -> Result<Response<Incoming>, HttpError> {
        self.inner.request(request).await.map_err(|error| HttpError::Unreachable(root_cause(&error)))
    }
}

/// Reads a body up to a limit.
pub(crate) async fn read(body: Incoming, most: usize) -> Result<Bytes, HttpError> {
    let collected = Limited::new(body, most).collect().await;
    collected.map(http_body_util::Collected::to_bytes).map_err(|error| {
        if error.is::<http_body_util::LengthLimitError>() {
            HttpError::TooLarge(most)
        } else {
            HttpError::ConnectionLost(error.to_string())
        }
    })
}

/// Returns the innermost source, because the client's own error says little.
fn root_cause(error: &hyper_util::client::legacy::Error) -> String {
    let mut story = error.to_string();
    let mut source = error.source();
    while let Some(current) = source {
        story = current.to_string();
        source = current.source();
    }
    story
}

/// Loads the system's certificates once.
fn tls() -> Result<rustls::ClientConfig, HttpError> {
    static TLS: OnceLock<Result<rustls::ClientConfig, String>> = OnceLock::new();
    let config = TLS.get_or_init(|| {
        let provider = Arc::new(rustls::crypto::ring::default_provider());
        let builder =
            rustls::ClientConfig::builder_with_provider(provider).with_safe_default_protocol_versions();
        let roots = builder.map_err(|error| error.to_string())?.with_native_roots();
        Ok(roots.map_err(|error| format!("the system's certificates: {error}"))?.with_no_client_auth())
    });
    config.clone().map_err(HttpError::Request)
}

/// Percent-encodes a value for a path or a query: everything except letters, digits and `-._~`, slashes included.
pub(crate) fn percent_encode(value: &str) -> String {
    let mut text = String::with_capacity(value.len());
    for byte in value.bytes() {
        if byte.is_ascii_alphanumeric() || b"-._~".contains(&byte) {
            text.push(char::from(byte));
        } else {
            text.push_str(&format!("%{byte:02X}"));
        }
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_value_cannot_leave_its_place() {
        assert_eq!(percent_encode("a/../b?x=1&y#é"), "a%2F..%2Fb%3Fx%3D1%26y%23%C3%A9");
    }
}
