//! The URLs that a preview may open.

use std::fmt;

use serde::{Deserialize, Serialize};
use thiserror::Error;

/// An `http` or `https` URL with a host, stored as written. The caller decides which hosts are allowed.
#[derive(Clone, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(try_from = "String")]
pub struct HttpUrl(String);

/// The reason why a string is not a preview URL.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Error)]
pub enum HttpUrlError {
    /// No scheme, or one that must not reach a preview (`file:`, `javascript:`, …).
    #[error("expected a URL starting with http:// or https://")]
    Scheme,
    /// A missing or invalid host or port.
    #[error("the URL has no valid host")]
    Host,
    /// Spaces, control characters or backslashes, which URL parsers treat differently.
    #[error("the URL contains a space, control character or backslash")]
    Character,
    /// A `user@` before the host, which disguises the real host.
    #[error("the URL must not contain a user name or password")]
    Credentials,
}

impl HttpUrl {
    /// Validates `text`.
    pub fn parse(text: impl Into<String>) -> Result<Self, HttpUrlError> {
        let text = text.into();
        if text.contains(|c: char| c.is_whitespace() || c.is_control() || c == '\\') {
            return Err(HttpUrlError::Character);
        }
        let authority = authority(&text).ok_or(HttpUrlError::Scheme)?;
        if authority.contains('@') {
            return Err(HttpUrlError::Credentials);
        }
        let (host, port) = split_port(authority);
        let port_is_valid = port.is_none_or(|port| {
            port.bytes().all(|b| b.is_ascii_digit()) && (port.is_empty() || port.parse::<u16>().is_ok())
        });
        match is_host(host) && port_is_valid {
            true => Ok(Self(text)),
            false => Err(HttpUrlError::Host),
        }
    }

    /// The URL as written.
    pub fn as_str(&self) -> &str {
        &self.0
    }

    /// The host as written, without port; IPv6 addresses keep their brackets.
    pub fn host(&self) -> &str {
        authority(&self.0).map_or("", |authority| split_port(authority).0)
    }
}

impl TryFrom<String> for HttpUrl {
    type Error = HttpUrlError;

    fn try_from(text: String) -> Result<Self, Self::Error> {
        Self::parse(text)
    }
}

impl fmt::Display for HttpUrl {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

/// The part between `http(s)://` and the path.
fn authority(url: &str) -> Option<&str> {
    let (scheme, rest) = url.split_once("://")?;
    let is_http = scheme.eq_ignore_ascii_case("http") || scheme.eq_ignore_ascii_case("https");
    is_http.then(|| rest.split(['/', '?', '#']).next().unwrap_or(rest))
}

fn split_port(authority: &str) -> (&str, Option<&str>) {
    match authority.rsplit_once(':') {
        Some((host, port)) if !port.contains(']') => (host, Some(port)),
        _ => (authority, None),
    }
}

fn is_host(host: &str) -> bool {
    match host.strip_prefix('[') {
        Some(rest) => rest.strip_suffix(']').is_some_and(|ip| ip.parse::<std::net::Ipv6Addr>().is_ok()),
        None => {
            !host.is_empty() && !host.contains(['[', ']', '<', '>', '^', '|', '%', ':', '"', '`', '{', '}'])
        }
    }
}

#[cfg(test)]
mod tests {
    use super::{HttpUrl, HttpUrlError};

    #[test]
    fn http_with_a_host_passes() {
        for (good, host) in [
            ("http://a", "a"),
            ("HTTPS://Example.test:8443/x?y=a@b#z", "Example.test"),
            ("http://localhost:5173/", "localhost"),
            ("http://[::1]:80?q", "[::1]"),
            ("http://[::1]", "[::1]"),
            ("http://bücher.test", "bücher.test"),
        ] {
            assert_eq!(HttpUrl::parse(good).map(|url| url.host().to_owned()), Ok(host.to_owned()), "{good}");
        }
    }

    #[test]
    fn others_are_refused() {
        use HttpUrlError::{Character, Credentials, Host, Scheme};
        for (bad, why) in [
            ("", Scheme),
            ("/demo", Scheme),
            ("localhost", Scheme),
            ("localhost:5173", Scheme),
            ("//host/x", Scheme),
            ("http:host", Scheme),
            ("file:///etc/passwd", Scheme),
            ("javascript:alert(1)//http://a", Scheme),
            ("http://", Host),
            ("http:///x", Host),
            ("http://:80", Host),
            ("http://a:x", Host),
            ("http://a:65536", Host),
            ("http://a:+1", Host),
            ("http://a:1:2", Host),
            ("http://[::1", Host),
            ("http://[x]", Host),
            ("http://a%2fb", Host),
            ("http://localhost@evil.test", Credentials),
            ("http://a\\b", Character),
            (" http://a", Character),
            ("http://a\n", Character),
        ] {
            assert_eq!(HttpUrl::parse(bad), Err(why), "{bad:?}");
        }
    }
}
