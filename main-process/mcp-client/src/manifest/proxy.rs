//! Proxy tools: one HTTP request per call. Arguments are encoded for their position; credentials are added here and
//! never displayed.

use super::{
    format::{AuthStrategy, ProxyAuth, ProxyBinding, ProxyImplementationSpec},
    template::ArgumentTemplate,
};
use crate::http::{HttpClient, HttpError, percent_encode, read};
use base64::{Engine as _, prelude::BASE64_STANDARD};
use bytes::Bytes;
use http::{HeaderName, HeaderValue, Method, Request, Uri, header};
use http_body_util::Full;
use serde_json::Value;
use shared_protocol::{Refusal, RefusalCode};
use std::time::Duration;

const DEFAULT_TIMEOUT: u64 = 30_000;
const CONNECT: Duration = Duration::from_secs(10);
pub(super) const METHODS: [&str; 5] = ["GET", "POST", "PUT", "PATCH", "DELETE"];

/// Returns the problem of the configuration, if any.
pub(super) fn check(proxy: &ProxyImplementationSpec) -> Result<(), String> {
    let uri: Uri =
        proxy.base_url.parse().map_err(|_| format!("baseUrl {:.100} is not a valid URL", proxy.base_url))?;
    let secure = match uri.scheme_str() {
        Some("https") => true,
        Some("http") => false,
        _ => return Err("baseUrl must start with https:// or http://".to_owned()),
    };
    let host = uri.host().unwrap_or_default().trim_matches(['[', ']']);
    let local = host == "localhost" || host.parse::<std::net::IpAddr>().is_ok_and(|ip| ip.is_loopback());
    if !secure && !local && proxy.auth.is_some() {
        return Err("baseUrl must use https to send credentials, except to this machine".to_owned());
    }
    if uri.query().is_some() || proxy.base_url.contains(['{', '@', '#']) {
        return Err("baseUrl must be a plain URL without query, user or placeholders".to_owned());
    }
    for (tool, binding) in &proxy.tool_bindings {
        if !METHODS.contains(&binding.method.as_str()) {
            return Err(format!("{tool}: method must be one of {}", METHODS.join(", ")));
        }
        if !binding.path.starts_with('/') || binding.path.contains(['?', '#']) {
            return Err(format!("{tool}: path must start with a slash and have no query"));
        }
    }
    Ok(())
}

pub(super) async fn call(
    proxy: &ProxyImplementationSpec,
    tool: &str,
    template: &ArgumentTemplate<'_>,
    most: usize,
) -> Result<Value, Refusal> {
    let binding = proxy
        .tool_bindings
        .get(tool)
        .ok_or_else(|| Refusal::not_found(format!("The manifest has no binding for {tool}")))?;
    let request = request(proxy, binding, template)?;
    let limit = Duration::from_millis(proxy.timeout_ms.unwrap_or(DEFAULT_TIMEOUT));
    let lost = |error: HttpError| match error {
        HttpError::TooLarge(most) => Refusal::new(
            RefusalCode::LimitExceeded,
            format!("The answer of {tool} is larger than {most} bytes"),
        ),
        error => Refusal::network(format!("{tool}: {error}")),
    };
    let answered = tokio::time::timeout(limit, async {
        let response = HttpClient::new(CONNECT)?.send(request).await?;
        let (head, body) = response.into_parts();
        Ok((head, read(body, most).await?))
    });
    let answered = answered
        .await
        .map_err(|_| Refusal::network(format!("{tool} took longer than {} ms", limit.as_millis())))?;
    let (head, body) = answered.map_err(lost)?;
    if !head.status.is_success() {
        let said = String::from_utf8_lossy(&body);
        return Err(Refusal::unavailable(format!(
            "{tool} failed with HTTP {}: {:.300}",
            head.status,
            said.trim()
        )));
    }
    let kind = head.headers.get(header::CONTENT_TYPE).and_then(|kind| kind.to_str().ok()).unwrap_or_default();
    let value = if body.is_empty() {
        Value::Null
    } else if kind.contains("json") {
        serde_json::from_slice(&body).map_err(|error| {
            Refusal::unavailable(format!("The answer of {tool} is not valid JSON: {error}"))
        })?
    } else {
        Value::String(String::from_utf8_lossy(&body).into_owned())
    };
    match &binding.response_path {
        Some(path) => select_path(&value, path)
            .cloned()
            .ok_or_else(|| Refusal::unavailable(format!("The answer of {tool} has no value at {path}"))),
        None => Ok(value),
    }
}

/// Selects a value by a path such as `$.items[0].name` or `items.0.name`.
fn select_path<'a>(value: &'a Value, path: &str) -> Option<&'a Value> {
    let path = path.strip_prefix('$').unwrap_or(path).replace('[', ".").replace(']', "");
    path.split('.').filter(|part| !part.is_empty()).try_fold(value, |value, part| match value {
        Value::Array(items) => items.get(part.parse::<usize>().ok()?),
        other => other.get(part),
    })
}

fn request(
    proxy: &ProxyImplementationSpec,
    binding: &ProxyBinding,
    template: &ArgumentTemplate<'_>,
) -> Result<Request<Full<Bytes>>, Refusal> {
    let missing =
        || Refusal::validation("arguments", format!("An argument of the path {} is missing", binding.path));
    let path = template.text(&binding.path, percent_encode)?.ok_or_else(missing)?;
    if path.split('/').any(|part| part == "." || part == "..") {
        return Err(Refusal::validation("arguments", "A path segment must not be . or .."));
    }
    let mut query = Vec::new();
    for (name, value) in &binding.query {
        if let Some(value) = template.text(value, percent_encode)? {
            query.push(format!("{}={value}", percent_encode(name)));
        }
    }
    let method = Method::from_bytes(binding.method.as_bytes()).map_err(|_| missing())?;
    let mut request = Request::builder().method(method.clone()).header(header::ACCEPT, "application/json");
    for (name, value) in &binding.headers {
        if let Some(value) = template.text(value, str::to_owned)? {
            request = request.header(header_name(name)?, header_value(&value)?);
        }
    }
    if let Some(auth) = &proxy.auth {
        match credential(auth, template)? {
            PlacedCredential::Header(name, value) => request = request.header(name, value),
            PlacedCredential::Query(name, value) => {
                query.push(format!("{}={}", percent_encode(&name), percent_encode(&value)))
            }
        }
    }
    let body = match &binding.body_template {
        Some(body) => template.value(body)?,
        None if matches!(method, Method::POST | Method::PUT | Method::PATCH) => {
            Some(Value::Object(template.arguments.clone()))
        }
        None => None,
    };
    if body.is_some() {
        request = request.header(header::CONTENT_TYPE, "application/json");
    }
    let query = if query.is_empty() { String::new() } else { format!("?{}", query.join("&")) };
    let body = body.map(|body| body.to_string()).unwrap_or_default();
    request
        .uri(format!("{}{path}{query}", proxy.base_url.trim_end_matches('/')))
        .body(Full::new(Bytes::from(body)))
        .map_err(|_| Refusal::validation("arguments", "These arguments do not form a valid request"))
}

enum PlacedCredential {
    Header(HeaderName, HeaderValue),
    Query(String, String),
}

fn credential(auth: &ProxyAuth, template: &ArgumentTemplate<'_>) -> Result<PlacedCredential, Refusal> {
    let field = |name: &str| template.credentials.field(&auth.credential_id, name);
    let named = |otherwise: &'static str| auth.token_field.as_deref().unwrap_or(otherwise);
    match auth.strategy {
        AuthStrategy::Bearer => {
            let value = format!("Bearer {}", field(named("access_token"))?);
            Ok(PlacedCredential::Header(header::AUTHORIZATION, header_value(&value)?))
        }
        AuthStrategy::ApiKeyHeader => {
            let name = header_name(auth.header_name.as_deref().unwrap_or("X-API-Key"))?;
            Ok(PlacedCredential::Header(name, header_value(&field(named("api_key"))?)?))
        }
        AuthStrategy::ApiKeyQuery => {
            let name = auth.query_param.clone().unwrap_or_else(|| "api_key".to_owned());
            Ok(PlacedCredential::Query(name, field(named("api_key"))?))
        }
        AuthStrategy::Basic => {
            let both = BASE64_STANDARD.encode(format!("{}:{}", field("username")?, field("password")?));
            Ok(PlacedCredential::Header(header::AUTHORIZATION, header_value(&format!("Basic {both}"))?))
        }
    }
}

fn header_name(name: &str) -> Result<HeaderName, Refusal> {
    HeaderName::try_from(name)
        .map_err(|_| Refusal::validation("headers", format!("{name:.64} is not a valid header name")))
}

fn header_value(value: &str) -> Result<HeaderValue, Refusal> {
    let mut value = HeaderValue::from_str(value)
        .map_err(|_| Refusal::validation("headers", "A header value contains invalid characters"))?;
    value.set_sensitive(true);
    Ok(value)
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn a_part_is_picked_in_either_writing() {
        let value = json!({"items": [{"name": "one"}]});
        assert_eq!(select_path(&value, "$.items[0].name"), Some(&json!("one")));
        assert_eq!(select_path(&value, "items.0.name"), Some(&json!("one")));
        assert_eq!(select_path(&value, "$"), Some(&value));
        assert_eq!(select_path(&value, "$.other"), None);
    }
}
