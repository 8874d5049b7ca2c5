//! The HTTP edge: one address, a bearer token, and limits on everything. Every request passes `guard` before it
//! reaches the protocol.

mod body;
mod guard;
mod permits;

use crate::{AgentService, clients::ClientKey};
use body::SplicedBody;
use bytes::Bytes;
use guard::RequestGuard;
use http::{Method, Request, Response, StatusCode};
use http_body_util::{BodyExt, Full, LengthLimitError, Limited, combinators::BoxBody};
use hyper::{body::Incoming, server::conn::http1, service::service_fn};
use hyper_util::rt::{TokioIo, TokioTimer};
use permits::RequestPermits;
use rmcp::{
    ServerHandler,
    transport::streamable_http_server::{
        SessionManager, StreamableHttpServerConfig, StreamableHttpService,
        session::local::{LocalSessionManager, SessionConfig},
    },
};
use serde_json::json;
use std::{
    convert::Infallible,
    io,
    net::{SocketAddr, TcpListener},
    sync::Arc,
    time::Duration,
};
use tokio::{
    io::AsyncWriteExt,
    net::TcpStream,
    sync::{Semaphore, broadcast},
    task::JoinHandle,
};
use tokio_util::sync::CancellationToken;

/// A legacy session expires after this idle time. The library default of five minutes breaks clients that wait for a
/// person.
const MAX_SESSION_IDLE_TIME: Duration = Duration::from_secs(24 * 60 * 60);
const MAX_CLOSING_TIME: Duration = Duration::from_millis(500);
/// Connections rejected with an answer at the same time; further ones are closed without an answer.
const MAX_REJECTED_CONNECTIONS: usize = 64;
const MAX_REJECT_TIME: Duration = Duration::from_secs(1);
const ACCEPT_PAUSE: Duration = Duration::from_millis(100);

/// Returns whether a presented token is valid. Token storage is unknown here.
pub type TokenCheck = Arc<dyn Fn(&str) -> bool + Send + Sync>;

/// Limits of the HTTP edge.
#[derive(Debug, Clone)]
pub struct HttpLimits {
    pub connections: usize,
    /// Requests in flight per client.
    pub requests_per_client: usize,
    pub body_bytes: usize,
    pub header_timeout: Duration,
    pub body_timeout: Duration,
}

impl Default for HttpLimits {
    fn default() -> Self {
        Self {
            connections: 256,
            requests_per_client: 64,
            body_bytes: 4 << 20,
            header_timeout: Duration::from_secs(60),
            body_timeout: Duration::from_secs(20),
        }
    }
}

/// One listening address. Stopping or dropping it closes the address.
pub struct HttpEdge {
    address: SocketAddr,
    stop: CancellationToken,
    listening: JoinHandle<()>,
}

impl HttpEdge {
    /// Serves `handler` on a bound listener. Must be called within a runtime.
    pub fn start<H: ServerHandler + Clone>(
        service: &AgentService,
        handler: H,
        listener: TcpListener,
        admits: TokenCheck,
        limits: HttpLimits,
    ) -> io::Result<Self> {
        let address = listener.local_addr()?;
        listener.set_nonblocking(true)?;
        let listener = tokio::net::TcpListener::from_std(listener)?;
        let stop = service.inner.stop.child_token();
        let mut sessions = LocalSessionManager::default();
        let mut session_config = SessionConfig::default();
        session_config.keep_alive = Some(MAX_SESSION_IDLE_TIME);
        sessions.session_config = session_config;
        let sessions = Arc::new(sessions);
        let guard = RequestGuard::new(address, admits);
        let config = StreamableHttpServerConfig::default()
            .with_cancellation_token(stop.child_token())
            .with_json_response(true)
            .with_allowed_hosts(guard.hosts().iter().cloned())
            .with_allowed_origins(guard.origins().iter().cloned())
            .enforce_origin_validation()
            .with_max_request_body_bytes(limits.body_bytes);
        let protocol = StreamableHttpService::new(move || Ok(handler.clone()), Arc::clone(&sessions), config);
        let site = Arc::new(HttpEdgeState {
            service: service.clone(),
            protocol,
            sessions,
            guard,
            permits: RequestPermits::new(limits.requests_per_client),
            limits,
            stop: stop.clone(),
        });
        tokio::spawn(close_ended_sessions(Arc::clone(&site), service.clients().ended_sessions()));
        let listening = tokio::spawn(accept(listener, site));
        Ok(Self { address, stop, listening })
    }

    pub fn address(&self) -> SocketAddr {
        self.address
    }

    /// Closes every connection and frees the address.
    pub async fn stop(mut self) {
        self.stop.cancel();
        if (&mut self.listening).await.is_err() {
            tracing::error!("the HTTP edge task panicked");
        }
    }
}

impl Drop for HttpEdge {
    fn drop(&mut self) {
        self.stop.cancel();
    }
}

struct HttpEdgeState<H: ServerHandler + Clone> {
    service: AgentService,
    protocol: StreamableHttpService<H, LocalSessionManager>,
    sessions: Arc<LocalSessionManager>,
    guard: RequestGuard,
    permits: RequestPermits,
    limits: HttpLimits,
    stop: CancellationToken,
}

async fn accept<H: ServerHandler + Clone>(listener: tokio::net::TcpListener, site: Arc<HttpEdgeState<H>>) {
    let places = Arc::new(Semaphore::new(site.limits.connections));
    let turned_away = Arc::new(Semaphore::new(MAX_REJECTED_CONNECTIONS));
    loop {
        let accepted = tokio::select! {
            () = site.stop.cancelled() => return,
            accepted = listener.accept() => accepted,
        };
        let stream = match accepted {
            Ok((stream, _)) => stream,
            Err(error) => {
                // Pauses because retrying at once, for example without free descriptors, would spin.
                tracing::warn!(%error, "accepting a connection failed");
                tokio::time::sleep(ACCEPT_PAUSE).await;
                continue;
            }
        };
        if let Ok(place) = Arc::clone(&places).try_acquire_owned() {
            let site = Arc::clone(&site);
            tokio::spawn(async move {
                serve(stream, &site).await;
                drop(place);
            });
        } else if let Ok(place) = Arc::clone(&turned_away).try_acquire_owned() {
            tokio::spawn(async move {
                reject_connection(stream).await;
                drop(place);
            });
        }
    }
}

async fn serve<H: ServerHandler + Clone>(stream: TcpStream, site: &Arc<HttpEdgeState<H>>) {
    // Answers are written in one piece, so delaying small packets has no benefit.
    let _ = stream.set_nodelay(true);
    let answering = service_fn(|request| {
        let site = Arc::clone(site);
        async move { Ok::<_, Infallible>(site.answer(request).await) }
    });
    let connection = http1::Builder::new()
        .timer(TokioTimer::new())
        .header_read_timeout(site.limits.header_timeout)
        .max_buf_size(64 * 1024)
        .serve_connection(TokioIo::new(stream), answering);
    tokio::pin!(connection);
    let ended = tokio::select! {
        ended = connection.as_mut() => ended,
        () = site.stop.cancelled() => {
            connection.as_mut().graceful_shutdown();
            tokio::time::timeout(MAX_CLOSING_TIME, connection).await.unwrap_or(Ok(()))
        }
    };
    if let Err(error) = ended {
        tracing::debug!(%error, "a connection closed early");
    }
}

async fn reject_connection(mut stream: TcpStream) {
    const ANSWER: &[u8] =
        b"HTTP/1.1 503 Service Unavailable\r\ncontent-type: application/json\r\nretry-after: 1\r\n\
        connection: close\r\ncontent-length: 81\r\n\r\n\
        {\"error\":{\"code\":\"LIMIT_EXCEEDED\",\"message\":\"Too many connections; close some\"}}\n";
    let _ = tokio::time::timeout(MAX_REJECT_TIME, async {
        stream.write_all(ANSWER).await?;
        stream.shutdown().await
    })
    .await;
}

/// Closes sessions in the protocol library after a person disconnected them.
async fn close_ended_sessions<H: ServerHandler + Clone>(
    site: Arc<HttpEdgeState<H>>,
    mut ended: broadcast::Receiver<String>,
) {
    loop {
        let session = tokio::select! {
            () = site.stop.cancelled() => return,
            session = ended.recv() => session,
        };
        match session {
            Ok(session) => {
                if let Err(error) = site.sessions.close_session(&session.into()).await {
                    tracing::debug!(%error, "the session was already closed");
                }
            }
            Err(broadcast::error::RecvError::Lagged(_)) => {}
            Err(broadcast::error::RecvError::Closed) => return,
        }
    }
}

type EdgeResponse = Response<SplicedBody>;

impl<H: ServerHandler + Clone> HttpEdgeState<H> {
    async fn answer(&self, request: Request<Incoming>) -> EdgeResponse {
        if let Err(refusal) = self.guard.check_caller(request.headers()) {
            return *refusal;
        }
        let path = request.uri().path();
        match (path, request.method()) {
            ("/health", &Method::GET) => {
                json_answer(StatusCode::OK, &json!({ "status": "ok", "version": self.service.inner.version }))
            }
            ("/health" | "/sessions", method) if method != Method::GET => guard::not_allowed("GET"),
            ("/sessions" | "/mcp", _) => match self.guard.check_token(request.headers()) {
                Err(refusal) => *refusal,
                Ok(()) if path == "/mcp" => self.handle_mcp(request).await,
                Ok(()) => self.sessions(),
            },
            _ => {
                guard::refuse(StatusCode::NOT_FOUND, "NOT_FOUND", "Nothing is served at this path; use /mcp")
            }
        }
    }

    fn sessions(&self) -> EdgeResponse {
        let sessions: Vec<_> = self.service.clients().legacy_sessions().into_iter().map(|(id, client)| {
            json!({ "id": format!("{id}…"), "client": client.name, "version": client.version, "since": client.since, "last": client.last })
        }).collect();
        json_answer(StatusCode::OK, &json!({ "sessions": sessions }))
    }

    async fn handle_mcp(&self, request: Request<Incoming>) -> EdgeResponse {
        let (parts, body) = request.into_parts();
        if !matches!(parts.method, Method::GET | Method::POST | Method::DELETE) {
            return guard::not_allowed("GET, POST, DELETE");
        }
        let body = match self.read_body(&parts, body).await {
            Ok(body) => body,
            Err(refusal) => return refusal,
        };
        let session = parts.headers.get("mcp-session-id").and_then(|id| id.to_str().ok()).map(str::to_owned);
        let asked = permits::RequestFacts::peek(session.as_deref(), &body);
        let permit = match asked.is_stream {
            true => None,
            false => match self.permits.acquire(asked.client) {
                Ok(permit) => Some(permit),
                Err(most) => return guard::too_many(most),
            },
        };
        let is_end = parts.method == Method::DELETE;
        let mut response = self.protocol.handle(Request::from_parts(parts, Full::new(body))).await;
        if is_end && response.status() == StatusCode::ACCEPTED {
            // Clients read 202 as a session that may not have ended and warn their users.
            *response.status_mut() = StatusCode::NO_CONTENT;
        }
        if is_end && let Some(session) = session {
            let key = ClientKey::Session(session);
            self.service.inner.notices.remove_session(&key);
            self.service.clients().remove(&key);
        }
        SplicedBody::respond(response, Arc::clone(&self.service.inner.splices), permit).await
    }

    /// Reads the body within its size and time limits.
    async fn read_body(&self, parts: &http::request::Parts, body: Incoming) -> Result<Bytes, EdgeResponse> {
        let most = self.limits.body_bytes;
        let too_large = || {
            guard::refuse(
                StatusCode::PAYLOAD_TOO_LARGE,
                "LIMIT_EXCEEDED",
                &format!("The request body is larger than {most} bytes; send less at a time"),
            )
        };
        let announced =
            parts.headers.get(http::header::CONTENT_LENGTH).and_then(|length| length.to_str().ok());
        if announced.and_then(|length| length.parse::<u64>().ok()).is_some_and(|length| length > most as u64)
        {
            return Err(too_large());
        }
        match tokio::time::timeout(self.limits.body_timeout, Limited::new(body, most).collect()).await {
            Ok(Ok(collected)) => Ok(collected.to_bytes()),
            Ok(Err(error)) if error.is::<LengthLimitError>() => Err(too_large()),
            Ok(Err(_)) => {
                Err(guard::refuse(StatusCode::BAD_REQUEST, "BAD_REQUEST", "The request body ended early"))
            }
            Err(_) => Err(guard::refuse(
                StatusCode::REQUEST_TIMEOUT,
                "TIMEOUT",
                "The request body arrived too slowly",
            )),
        }
    }
}

fn json_answer(status: StatusCode, value: &serde_json::Value) -> EdgeResponse {
    let mut response = Response::new(SplicedBody::from_pieces(vec![Bytes::from(value.to_string())]));
    *response.status_mut() = status;
    response
        .headers_mut()
        .insert(http::header::CONTENT_TYPE, http::HeaderValue::from_static("application/json"));
    response
}

type ProtocolBody = BoxBody<Bytes, Infallible>;
