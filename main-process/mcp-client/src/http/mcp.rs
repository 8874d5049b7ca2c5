//! Streamable HTTP in both protocol eras: the HTTP client interface of `rmcp`.

use super::{HttpClient, HttpError, events::BoundedEventStream, read};
use bytes::Bytes;
use futures_core::Stream;
use http::{HeaderMap, HeaderName, HeaderValue, Method, Request, StatusCode, header};
use http_body_util::Full;
use hyper::body::Incoming;
use rmcp::{
    model::{ClientJsonRpcMessage, ClientRequest, ErrorData, JsonRpcMessage, ServerJsonRpcMessage},
    transport::streamable_http_client::{
        AuthRequiredError, HttpStatusError, InsufficientScopeError, StreamableHttpClient,
        StreamableHttpError, StreamableHttpPostResponse,
    },
};
use sse_stream::{Sse, SseStream};
use std::{borrow::Cow, collections::HashMap, pin::Pin, sync::Arc};

const EVENTS: &str = "text/event-stream";
const JSON: &str = "application/json";
const SESSION: HeaderName = HeaderName::from_static("mcp-session-id");
const LAST_EVENT: HeaderName = HeaderName::from_static("last-event-id");
/// The maximum bytes of a plain answer and of each event.
const MAX_HTTP_MESSAGE_BYTES: usize = 16 << 20;
const MAX_ERROR_BODY_BYTES: usize = 64 << 10;
/// The error code of legacy servers for an unknown session (some send it with 400, others with 404).
const NO_SUCH_SESSION: i32 = -32_000;

type McpHttpError = StreamableHttpError<HttpError>;
type CustomHeaders = HashMap<HeaderName, HeaderValue>;
type EventStream = Pin<Box<dyn Stream<Item = Result<Sse, sse_stream::Error>> + Send>>;

#[derive(Clone)]
pub(crate) struct McpHttpClient {
    http: HttpClient,
}

impl McpHttpClient {
    pub(crate) fn new(http: HttpClient) -> Self {
        Self { http }
    }

    async fn send(&self, parts: McpRequestParts<'_>) -> Result<http::Response<Incoming>, McpHttpError> {
        let mut request = Request::builder().method(parts.method).uri(parts.uri);
        request = request.header(header::ACCEPT, format!("{EVENTS}, {JSON}"));
        if let Some(token) = parts.token {
            request = request.header(header::AUTHORIZATION, format!("Bearer {token}"));
        }
        if let Some(session) = parts.session {
            request = request.header(SESSION, session.as_ref());
        }
        for (name, value) in parts.headers {
            if [header::ACCEPT, SESSION, LAST_EVENT].contains(&name) {
                return Err(StreamableHttpError::ReservedHeaderConflict(name.to_string()));
            }
            request = request.header(name, value);
        }
        if let Some(event) = parts.last_event {
            request = request.header(LAST_EVENT, event);
        }
        if parts.body.is_some() {
            request = request.header(header::CONTENT_TYPE, JSON);
        }
        let request = request
            .body(Full::new(parts.body.unwrap_or_default()))
            .map_err(|error| StreamableHttpError::Client(HttpError::Request(error.to_string())))?;
        let response = self.http.send(request).await.map_err(StreamableHttpError::Client)?;
        let status = response.status();
        if status.is_redirection() {
            let place = response.headers().get(header::LOCATION).and_then(|place| place.to_str().ok());
            let message =
                format!("the server redirects to {}: use that URL instead", place.unwrap_or("another URL"));
            return Err(StreamableHttpError::UnexpectedServerResponse(Cow::Owned(message)));
        }
        match status {
            StatusCode::UNAUTHORIZED => {
                Err(StreamableHttpError::AuthRequired(AuthRequiredError::new(challenge(&response))))
            }
            StatusCode::FORBIDDEN => Err(StreamableHttpError::InsufficientScope(
                InsufficientScopeError::new(challenge(&response), None),
            )),
            _ => Ok(response),
        }
    }
}

struct McpRequestParts<'a> {
    method: Method,
    uri: &'a str,
    session: Option<Arc<str>>,
    token: Option<String>,
    headers: CustomHeaders,
    last_event: Option<String>,
    body: Option<Bytes>,
}

fn challenge(response: &http::Response<Incoming>) -> String {
    let text = response.headers().get(header::WWW_AUTHENTICATE).and_then(|value| value.to_str().ok());
    text.unwrap_or("without a challenge").to_owned()
}

fn has_content_type(headers: &HeaderMap, kind: &str) -> bool {
    headers.get(header::CONTENT_TYPE).is_some_and(|value| value.as_bytes().starts_with(kind.as_bytes()))
}

fn stream(body: Incoming, most: usize) -> EventStream {
    Box::pin(SseStream::new(BoundedEventStream::new(body, most)))
}

impl StreamableHttpClient for McpHttpClient {
    type Error = HttpError;

    async fn post_message(
        &self,
        uri: Arc<str>,
        message: ClientJsonRpcMessage,
        session: Option<Arc<str>>,
        token: Option<String>,
        headers: CustomHeaders,
    ) -> Result<StreamableHttpPostResponse, McpHttpError> {
        self.post_message_with_max_sse_event_size(
            uri,
            message,
            session,
            token,
            headers,
            MAX_HTTP_MESSAGE_BYTES,
        )
        .await
    }

    async fn post_message_with_max_sse_event_size(
        &self,
        uri: Arc<str>,
        message: ClientJsonRpcMessage,
        session: Option<Arc<str>>,
        token: Option<String>,
        headers: CustomHeaders,
        most: usize,
    ) -> Result<StreamableHttpPostResponse, McpHttpError> {
        let body = Some(Bytes::from(serde_json::to_vec(&message)?));
        let in_session = session.is_some();
        let parts = McpRequestParts {
            method: Method::POST,
            uri: &uri,
            session,
            token,
            headers,
            last_event: None,
            body,
        };
        let response = self.send(parts).await?;
        let status = response.status();
        let expects_answer = matches!(message, JsonRpcMessage::Request(_));
        if matches!(status, StatusCode::ACCEPTED | StatusCode::NO_CONTENT) {
            return Ok(StreamableHttpPostResponse::Accepted);
        }
        let (head, body) = response.into_parts();
        let fresh_session = head.headers.get(&SESSION).and_then(|id| id.to_str().ok()).map(str::to_owned);
        if !status.is_success() {
            let text = read(body, MAX_ERROR_BODY_BYTES).await.unwrap_or_default();
            return status_error(&message, in_session, status, &head.headers, &text, fresh_session);
        }
        if has_content_type(&head.headers, EVENTS) {
            return Ok(StreamableHttpPostResponse::Sse(stream(body, most), fresh_session));
        }
        let bytes = read(body, MAX_HTTP_MESSAGE_BYTES).await.map_err(StreamableHttpError::Client)?;
        if !expects_answer {
            // Some servers answer 200 with an empty or meaningless body instead of 202.
            return Ok(StreamableHttpPostResponse::Accepted);
        }
        if !has_content_type(&head.headers, JSON) {
            let kind = head
                .headers
                .get(header::CONTENT_TYPE)
                .map(|kind| String::from_utf8_lossy(kind.as_bytes()).into_owned());
            return Err(StreamableHttpError::UnexpectedContentType(kind));
        }
        Ok(StreamableHttpPostResponse::Json(serde_json::from_slice(&bytes)?, fresh_session))
    }

    async fn delete_session(
        &self,
        uri: Arc<str>,
        session: Arc<str>,
        token: Option<String>,
        headers: CustomHeaders,
    ) -> Result<(), McpHttpError> {
        let session = Some(session);
        let parts = McpRequestParts {
            method: Method::DELETE,
            uri: &uri,
            session,
            token,
            headers,
            last_event: None,
            body: None,
        };
        let status = self.send(parts).await?.status();
        // Servers may not support deleting sessions.
        if status.is_success() || status == StatusCode::METHOD_NOT_ALLOWED {
            return Ok(());
        }
        Err(HttpStatusError::new(status.as_u16(), None).into())
    }

    async fn get_stream(
        &self,
        uri: Arc<str>,
        session: Option<Arc<str>>,
        last_event: Option<String>,
        token: Option<String>,
        headers: CustomHeaders,
    ) -> Result<EventStream, McpHttpError> {
        self.get_stream_with_max_sse_event_size(
            uri,
            session,
            last_event,
            token,
            headers,
            MAX_HTTP_MESSAGE_BYTES,
        )
        .await
    }

    async fn get_stream_with_max_sse_event_size(
        &self,
        uri: Arc<str>,
        session: Option<Arc<str>>,
        last_event: Option<String>,
        token: Option<String>,
        headers: CustomHeaders,
        most: usize,
    ) -> Result<EventStream, McpHttpError> {
        let parts = McpRequestParts {
            method: Method::GET,
            uri: &uri,
            session,
            token,
            headers,
            last_event,
            body: None,
        };
        let response = self.send(parts).await?;
        match response.status() {
            StatusCode::METHOD_NOT_ALLOWED => Err(StreamableHttpError::ServerDoesNotSupportSse),
            status if !status.is_success() => Err(HttpStatusError::new(status.as_u16(), None).into()),
            _ if !has_content_type(response.headers(), EVENTS) => {
                Err(StreamableHttpError::UnexpectedContentType(None))
            }
            _ => Ok(stream(response.into_body(), most)),
        }
    }
}

/// Interprets a 4xx or 5xx status, whose body is often a protocol message.
fn status_error(
    message: &ClientJsonRpcMessage,
    in_session: bool,
    status: StatusCode,
    headers: &HeaderMap,
    body: &[u8],
    session: Option<String>,
) -> Result<StreamableHttpPostResponse, McpHttpError> {
    let said = match serde_json::from_slice::<ServerJsonRpcMessage>(body) {
        Ok(JsonRpcMessage::Error(error)) => Some(error),
        _ => None,
    };
    if in_session {
        let unknown = said.as_ref().is_some_and(|said| said.error.code.0 == NO_SUCH_SESSION);
        if status == StatusCode::NOT_FOUND || (status == StatusCode::BAD_REQUEST && unknown) {
            return Err(StreamableHttpError::SessionExpired);
        }
    } else if let JsonRpcMessage::Request(request) = message
        && matches!(request.request, ClientRequest::DiscoverRequest(_))
        && status.is_client_error()
    {
        // A legacy server refuses `server/discover` in its own way. Returned with the request id it counts as an
        // answer, and the legacy handshake follows.
        let error = said.map_or_else(
            || ErrorData::invalid_request(format!("server/discover was refused with HTTP {status}"), None),
            |said| said.error,
        );
        let answer = ServerJsonRpcMessage::error(error, Some(request.id.clone()));
        return Ok(StreamableHttpPostResponse::Json(answer, None));
    }
    match said {
        Some(said) if said.id.is_some() => {
            Ok(StreamableHttpPostResponse::Json(JsonRpcMessage::Error(said), session))
        }
        _ => {
            let retry_after =
                headers.get(header::RETRY_AFTER).and_then(|value| value.to_str().ok()).map(str::to_owned);
            Err(HttpStatusError::new(status.as_u16(), retry_after).into())
        }
    }
}
