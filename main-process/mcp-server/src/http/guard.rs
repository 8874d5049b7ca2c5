//! Checks each request for the host name, then the origin, then the token, so that a web page learns nothing from the
//! answer.

use super::{EdgeResponse, TokenCheck, json_answer};
use http::{HeaderMap, HeaderValue, StatusCode, header};
use serde_json::json;
use std::net::SocketAddr;

pub(super) struct RequestGuard {
    hosts: Vec<String>,
    origins: Vec<String>,
    admits: TokenCheck,
}

impl RequestGuard {
    /// Allows the names of this address. Only pages served by the edge itself, of which there are none, would be
    /// allowed origins.
    pub(super) fn new(address: SocketAddr, admits: TokenCheck) -> Self {
        let port = address.port();
        let mut names = vec!["127.0.0.1".to_owned(), "localhost".to_owned(), "[::1]".to_owned()];
        if !address.ip().is_loopback() && !address.ip().is_unspecified() {
            names.push(match address.ip() {
                std::net::IpAddr::V4(ip) => ip.to_string(),
                std::net::IpAddr::V6(ip) => format!("[{ip}]"),
            });
        }
        let hosts: Vec<String> = names.into_iter().map(|name| format!("{name}:{port}")).collect();
        let origins = hosts.iter().map(|host| format!("http://{host}")).collect();
        Self { hosts, origins, admits }
    }

    pub(super) fn hosts(&self) -> &[String] {
        &self.hosts
    }

    pub(super) fn origins(&self) -> &[String] {
        &self.origins
    }

    /// Requires exactly one allowed host, and no origin or an allowed one.
    pub(super) fn check_caller(&self, headers: &HeaderMap) -> Result<(), Box<EdgeResponse>> {
        if !is_only(headers, &header::HOST, &self.hosts) {
            let why = "This host name is not served here";
            return Err(Box::new(refuse(StatusCode::FORBIDDEN, "BAD_REQUEST", why)));
        }
        if headers.contains_key(header::ORIGIN) && !is_only(headers, &header::ORIGIN, &self.origins) {
            let why = "Web pages may not use this server";
            return Err(Box::new(refuse(StatusCode::FORBIDDEN, "BAD_REQUEST", why)));
        }
        Ok(())
    }

    /// Accepts the token only in its header; a token in a URL ends up in logs and histories.
    pub(super) fn check_token(&self, headers: &HeaderMap) -> Result<(), Box<EdgeResponse>> {
        let mut given = headers.get_all(header::AUTHORIZATION).iter();
        let token = given.next().and_then(|value| value.to_str().ok()).and_then(bearer);
        if given.next().is_none() && token.is_some_and(|token| (self.admits)(token)) {
            return Ok(());
        }
        let mut answer = refuse(
            StatusCode::UNAUTHORIZED,
            "BAD_REQUEST",
            "A valid token is required: Authorization: Bearer …. Draftboard creates a new token at each start",
        );
        answer.headers_mut().insert(header::WWW_AUTHENTICATE, HeaderValue::from_static("Bearer"));
        Err(Box::new(answer))
    }
}

fn is_only(headers: &HeaderMap, name: &header::HeaderName, allowed: &[String]) -> bool {
    let mut values = headers.get_all(name).iter();
    let (first, second) = (values.next(), values.next());
    let text = first.and_then(|value| value.to_str().ok()).unwrap_or_default();
    second.is_none() && allowed.iter().any(|allowed| allowed.eq_ignore_ascii_case(text))
}

fn bearer(value: &str) -> Option<&str> {
    let (scheme, token) = value.split_once(' ')?;
    scheme.eq_ignore_ascii_case("bearer").then(|| token.trim())
}

/// Also closes the connection.
pub(super) fn refuse(status: StatusCode, code: &str, message: &str) -> EdgeResponse {
    let mut answer = json_answer(status, &json!({ "error": { "code": code, "message": message } }));
    answer.headers_mut().insert(header::CONNECTION, HeaderValue::from_static("close"));
    answer
}

pub(super) fn not_allowed(allow: &'static str) -> EdgeResponse {
    let mut answer = refuse(StatusCode::METHOD_NOT_ALLOWED, "BAD_REQUEST", &format!("Use {allow}"));
    answer.headers_mut().insert(header::ALLOW, HeaderValue::from_static(allow));
    answer
}

pub(super) fn too_many(most: usize) -> EdgeResponse {
    let message = format!("This client has {most} requests in flight; wait for some to finish");
    let mut answer = json_answer(
        StatusCode::TOO_MANY_REQUESTS,
        &json!({ "error": { "code": "LIMIT_EXCEEDED", "message": message } }),
    );
    answer.headers_mut().insert(header::RETRY_AFTER, HeaderValue::from_static("1"));
    answer
}
