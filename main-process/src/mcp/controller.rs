//! Runs the server: takes orders one by one, listens where the settings say, and keeps window and discovery up to date.

use super::{Address, Link, Order, Overrides, Settings, bench::Bench, listen, settings};
use crate::{
    host::{Host, Job, Reply},
    terraform_worker,
};
use clap::ValueEnum as _;
use connect::{Bridge, Client, Places, Scope, example};
use mcp_server::{
    Service,
    http::{Admits, Edge, Limits},
};
use processes::instance::Token;
use shared_protocol::{
    Actor, ActorKind, Code, Refusal,
    mcp::{McpMode, McpRequest, McpView},
    messages::{Answer, Request},
};
use std::{io, os::unix::net::UnixStream, path::PathBuf, sync::Arc, thread::JoinHandle, time::Duration};
use tokio::{
    io::{AsyncReadExt, AsyncWriteExt},
    runtime::Handle,
    sync::{mpsc, oneshot},
    time::timeout,
};
use workspace::now;

const WORKERS: usize = 2;
/// Pictures, files, keyrings that ask their user, servers that are being started or ended.
const MOST_BLOCKING: usize = 32;
/// What clients do is shown at most this often.
const SHOW_EVERY: Duration = Duration::from_millis(250);
const TEST_LIMIT: Duration = Duration::from_secs(3);
const STOP_LIMIT: Duration = Duration::from_secs(2);

/// The agents' side, running.
pub(crate) struct Started {
    pub(crate) thread: JoinHandle<()>,
    /// Where it listens.
    pub(crate) url: Option<String>,
    /// What it runs on, for others that wait for sockets and processes. Ends with it.
    pub(crate) runtime: Handle,
}

/// Starts the agents' side on a thread of its own, and waits until it listens or has said why it does not.
pub(crate) fn start(
    link: Link,
    waiting: mpsc::Receiver<Order>,
    host: Host,
    terraform: terraform_worker::Link,
    overrides: Overrides,
) -> io::Result<Started> {
    start_with(link, waiting, host, terraform, overrides, settings::path())
}

/// As [`start`], with the settings' place given.
pub(super) fn start_with(
    link: Link,
    waiting: mpsc::Receiver<Order>,
    host: Host,
    terraform: terraform_worker::Link,
    overrides: Overrides,
    path: PathBuf,
) -> io::Result<Started> {
    let runtime = tokio::runtime::Builder::new_multi_thread()
        .worker_threads(WORKERS)
        .max_blocking_threads(MOST_BLOCKING)
        .thread_name("mcp")
        .enable_io()
        .enable_time()
        .build()?;
    let handle = runtime.handle().clone();
    let secret = Token::generate()?;
    let token = Token::generate()?;
    let (ready, is_ready) = oneshot::channel();
    let asking = host.clone();
    let thread = std::thread::Builder::new().name("mcp-orders".to_owned()).spawn(move || {
        runtime.block_on(async move {
            let (published, doings) = (Arc::clone(&link.published), Arc::clone(&link.doings));
            let bench = Bench { published, doings, host: host.clone(), terraform };
            let mut controller = Controller::new(link, host, bench, overrides, path, token, secret.reveal());
            controller.begin();
            // Gone: nobody waits for it.
            let _ = ready.send(controller.url());
            controller.run(waiting).await;
        });
        runtime_ends(runtime);
    })?;
    // An error is a fault of that thread, which its log tells.
    let url = is_ready.blocking_recv().ok().flatten();
    // The writer takes jobs in turn: when this is answered, the discovery record holds the address.
    let actor = Actor::new(ActorKind::Terminal, "");
    if let Err(refusal) = asking.request(Request::Instance, actor, STOP_LIMIT) {
        tracing::warn!(%refusal, "the discovery record may be late");
    }
    Ok(Started { thread, url, runtime: handle })
}

/// A picture that is being drawn is not waited for.
fn runtime_ends(runtime: tokio::runtime::Runtime) {
    runtime.shutdown_timeout(STOP_LIMIT);
}

struct Controller {
    link: Link,
    host: Host,
    service: Service,
    path: PathBuf,
    settings: Settings,
    /// Holds in place of the setting while a certain workspace is open.
    mode_here: Option<McpMode>,
    token: Token,
    edge: Option<Edge>,
    error: Option<String>,
}

impl Controller {
    fn new(
        link: Link,
        host: Host,
        bench: Bench,
        overrides: Overrides,
        path: PathBuf,
        token: Token,
        secret: &str,
    ) -> Self {
        let (mut settings, error) = match settings::read(&path) {
            Ok(settings) => (settings, None),
            Err(error) => {
                tracing::warn!(%error, "the settings are not used");
                (Settings::default(), Some(error.to_string()))
            }
        };
        settings.mode = overrides.mode.unwrap_or(settings.mode);
        settings.port = overrides.port.unwrap_or(settings.port);
        let version = env!("CARGO_PKG_VERSION");
        let service = Service::new(Arc::new(bench), super::surface(), version, settings.mode, secret);
        Self { link, host, service, path, settings, mode_here: None, token, edge: None, error }
    }

    fn begin(&mut self) {
        let service = self.service.clone();
        tokio::spawn(async move { service.watch().await });
        self.link.set_mode(self.settings.mode);
        self.listen();
        self.announce();
    }

    async fn run(mut self, mut waiting: mpsc::Receiver<Order>) {
        let mut clients = self.service.clients().changed();
        // Where it listens is known before anybody comes.
        let mut shown = self.view();
        self.tell(Job::Mcp(Box::new(shown.clone())));
        loop {
            tokio::select! {
                order = waiting.recv() => match order {
                    Some(Order::Request { request, reply }) => self.take(request, reply).await,
                    Some(Order::Bridge(stream)) => self.converse(stream),
                    Some(Order::ModeHere(mode)) => {
                        self.mode_here = mode;
                        self.apply_mode();
                    }
                    Some(Order::Stop) | None => break,
                },
                changed = clients.changed() => {
                    if changed.is_err() {
                        break;
                    }
                    tokio::time::sleep(SHOW_EVERY).await;
                    clients.mark_unchanged();
                }
            }
            let view = self.view();
            if shown != view {
                self.tell(Job::Mcp(Box::new(view.clone())));
                shown = view;
            }
        }
        self.service.stop();
        self.close().await;
    }

    fn tell(&self, job: Job) {
        if let Err(refusal) = self.host.send(job) {
            tracing::debug!(%refusal, "the writer is gone");
        }
    }

    fn listen(&mut self) {
        if self.settings.mode == McpMode::Off {
            return;
        }
        let token = self.token.clone();
        let admits: Admits = Arc::new(move |presented| token.matches(presented));
        let started = listen::bind(self.settings.bind, self.settings.port).and_then(|listener| {
            Edge::start(&self.service, self.service.agent(), listener, admits, Limits::default())
                .map_err(|error| format!("the server did not start: {error}"))
        });
        match started {
            Ok(edge) => self.edge = Some(edge),
            Err(error) => {
                tracing::error!(%error, "agents cannot connect over HTTP");
                self.error = Some(error);
            }
        }
    }

    async fn close(&mut self) {
        if let Some(edge) = self.edge.take() {
            edge.stop().await;
        }
    }

    async fn listen_anew(&mut self) {
        self.close().await;
        self.error = None;
        self.listen();
        self.announce();
    }

    fn url(&self) -> Option<String> {
        self.edge.as_ref().map(|edge| format!("http://{}/mcp", edge.address()))
    }

    /// Tells local tools where to find the server.
    fn announce(&self) {
        let address = self.url().map(|url| Address { url, token: self.token.clone() });
        self.tell(Job::McpAddress(address));
    }

    fn view(&self) -> McpView {
        McpView {
            mode: self.mode(),
            url: self.url(),
            port: self.edge.as_ref().map(|edge| edge.address().port()),
            configured_port: self.settings.port,
            bind: self.settings.bind.to_string(),
            error: self.error.clone(),
            config_path: self.path.display().to_string(),
            clients: self.service.clients().list(now().time),
        }
    }

    fn converse(&self, stream: UnixStream) {
        let service = self.service.clone();
        tokio::spawn(async move {
            let stream = stream
                .set_nonblocking(true)
                .and_then(|()| stream.set_read_timeout(None))
                .and_then(|()| stream.set_write_timeout(None))
                .and_then(|()| tokio::net::UnixStream::from_std(stream));
            match stream {
                Ok(stream) => service.converse(stream).await,
                Err(error) => tracing::error!(%error, "a bridge was not taken over"),
            }
        });
    }

    async fn take(&mut self, request: McpRequest, reply: Reply) {
        let result = match request {
            McpRequest::View => Ok(Answer::Mcp(Box::new(self.view()))),
            McpRequest::SetMode(mode) => self.set_mode(mode).await,
            McpRequest::SetPort(port) => self.set_port(port).await,
            McpRequest::Restart => self.restart().await,
            McpRequest::RotateToken => self.rotate().await,
            McpRequest::Pause { client } => known(self.service.clients().pause(client, true)),
            McpRequest::Resume { client } => known(self.service.clients().pause(client, false)),
            McpRequest::Disconnect { client } => known(self.service.clients().disconnect(client)),
            McpRequest::TestConnection => return self.test(reply),
            McpRequest::ClientConfig { client } => self.client_config(&client).map(Answer::Text),
        };
        // Through the writer, which takes jobs in turn: whoever hears this finds the new address on record.
        self.tell(Job::McpAnswer { reply, result });
    }

    fn keep(&self) -> Result<(), Refusal> {
        settings::write(&self.path, &self.settings).map_err(|error| {
            tracing::warn!(%error, "a setting was not kept");
            Refusal::new(Code::StorageError, error.to_string())
        })
    }

    fn mode(&self) -> McpMode {
        self.mode_here.unwrap_or(self.settings.mode)
    }

    /// Tells everybody who asks for the mode.
    fn apply_mode(&self) {
        self.link.set_mode(self.mode());
        self.service.set_mode(self.mode());
    }

    async fn set_mode(&mut self, mode: McpMode) -> Result<Answer, Refusal> {
        self.settings.mode = mode;
        self.mode_here = None;
        self.apply_mode();
        if (mode == McpMode::Off) == self.edge.is_some() {
            self.listen_anew().await;
        }
        self.keep()?;
        Ok(Answer::Mcp(Box::new(self.view())))
    }

    async fn set_port(&mut self, port: u16) -> Result<Answer, Refusal> {
        if port < 1024 {
            return Err(Refusal::new(Code::ValidationError, "a port goes from 1024 to 65535").field("port"));
        }
        self.settings.port = port;
        self.listen_anew().await;
        self.keep()?;
        Ok(Answer::Mcp(Box::new(self.view())))
    }

    async fn restart(&mut self) -> Result<Answer, Refusal> {
        let unreadable =
            |error: settings::SettingsError| Refusal::new(Code::ValidationError, error.to_string());
        self.settings = settings::read(&self.path).map_err(unreadable)?;
        self.apply_mode();
        self.listen_anew().await;
        Ok(Answer::Mcp(Box::new(self.view())))
    }

    /// Streams opened with the old token end with it.
    async fn rotate(&mut self) -> Result<Answer, Refusal> {
        self.token = Token::generate().map_err(|error| Refusal::new(Code::Internal, error.to_string()))?;
        self.listen_anew().await;
        Ok(Answer::Mcp(Box::new(self.view())))
    }

    /// What a person puts into a client's configuration. The bridge needs no address and no token, so nothing here is
    /// secret and nothing changes at the next start.
    fn client_config(&self, client: &str) -> Result<String, Refusal> {
        let names = || Client::value_variants().iter().filter_map(Client::to_possible_value);
        let unknown = || {
            Refusal::new(Code::NotFound, format!("there is no configuration for `{client}`"))
                .field("client")
                .suggest(names().map(|name| name.get_name().to_owned()))
        };
        let known = Client::from_str(client, true).map_err(|_| unknown())?;
        let home =
            || Refusal::new(Code::NotFound, "your home folder is not known").hint("Set HOME to its path.");
        let places = Places::of_user(self.link.published.root()).ok_or_else(home)?;
        let target = known.target(Scope::User, &places).ok_or_else(unknown)?;
        let exe = std::env::current_exe().map_err(|error| Refusal::new(Code::Internal, error.to_string()))?;
        let bridge =
            Bridge { command: exe.display().to_string(), workspace: target.workspace.clone(), launch: false };
        Ok(example(&target, &bridge))
    }

    /// Over the network, as a client would; the answer comes later, so that orders go on meanwhile.
    fn test(&self, reply: Reply) {
        let Some(address) = self.edge.as_ref().map(Edge::address) else {
            let why = self.error.clone().unwrap_or_else(|| "agents are switched off".to_owned());
            return reply(Err(Refusal::new(Code::Conflict, why)));
        };
        tokio::spawn(async move {
            let asked = timeout(TEST_LIMIT, health(address)).await;
            reply(match asked {
                Ok(Ok(text)) => Ok(Answer::Text(text)),
                Ok(Err(error)) => {
                    Err(Refusal::new(Code::Conflict, format!("{address} does not answer: {error}"))
                        .hint("Restart the server."))
                }
                Err(_) => Err(Refusal::new(
                    Code::Timeout,
                    format!("{address} did not answer within {TEST_LIMIT:?}"),
                )),
            });
        });
    }
}

fn known(is_known: bool) -> Result<Answer, Refusal> {
    match is_known {
        true => Ok(Answer::Done),
        false => Err(Refusal::new(Code::NotFound, "this client is not there any more")),
    }
}

async fn health(address: std::net::SocketAddr) -> io::Result<String> {
    let mut stream = tokio::net::TcpStream::connect(address).await?;
    let ask = format!("GET /health HTTP/1.1\r\nhost: {address}\r\nconnection: close\r\n\r\n");
    stream.write_all(ask.as_bytes()).await?;
    let mut answer = String::new();
    stream.take(16 * 1024).read_to_string(&mut answer).await?;
    match (answer.starts_with("HTTP/1.1 200"), answer.split_once("\r\n\r\n")) {
        (true, Some((_, body))) => Ok(body.trim().to_owned()),
        _ => Err(io::Error::other(answer.lines().next().unwrap_or("nothing").to_owned())),
    }
}
