//! Runs the server: handles messages in order, listens where the settings say, and keeps window and discovery up to date.

use crate::{
    AgentServerAddress, AgentServerEvents, AgentServerHandle, AgentServerMsg, AgentServerRequest,
    SettingsOverrides, listen,
    settings::{self, AgentSettings},
    workbench_adapter::WorkbenchAdapter,
};
use clap::ValueEnum as _;
use connect::{BridgeCommand, ClientFolders, ConfigScope, ConnectableClient, example};
use mcp_server::{
    AgentService, ReviewSubmitter,
    http::{HttpEdge, HttpLimits, TokenCheck},
};
use preview_sessions::PreviewsHandle;
use processes::instance::InstanceToken;
use shared_protocol::{
    Refusal, RefusalCode,
    mcp::{McpMode, McpView},
    request::Responder,
    requests::{DisconnectClient, PauseClient, ReadClientConfig, ResumeClient, SetAgentMode, SetAgentPort},
};
use std::{io, os::unix::net::UnixStream, path::PathBuf, sync::Arc, thread::JoinHandle, time::Duration};
use terraform_runs::TerraformHandle;
use tokio::{
    io::{AsyncReadExt, AsyncWriteExt},
    runtime::Handle,
    sync::{mpsc, oneshot},
    time::timeout,
};
use workspace::time_and_seed;

const WORKERS: usize = 2;
/// For pictures, files, keyrings that ask their user, and servers that start or stop.
const MAX_BLOCKING_THREADS: usize = 32;
/// The window shows the activity of clients at most this often.
const SHOW_EVERY: Duration = Duration::from_millis(250);
const TEST_LIMIT: Duration = Duration::from_secs(3);
const STOP_LIMIT: Duration = Duration::from_secs(2);

/// The running agents' side.
pub struct RunningAgentServer {
    pub thread: JoinHandle<()>,
    /// The address where it listens.
    pub url: Option<String>,
    /// Its runtime, for other parts that wait for sockets and processes. Ends with it.
    pub runtime: Handle,
}

/// The parts of the process that the agents' side uses.
pub struct AgentServerDeps {
    pub events: Arc<dyn AgentServerEvents>,
    pub terraform: TerraformHandle,
    pub previews: PreviewsHandle,
    /// The user's settings file.
    pub settings: PathBuf,
}

/// Starts the agents' side on a thread of its own, and returns when it listens or has logged why it does not.
pub fn start(
    handle: AgentServerHandle,
    waiting: mpsc::Receiver<AgentServerMsg>,
    deps: AgentServerDeps,
    overrides: SettingsOverrides,
) -> io::Result<RunningAgentServer> {
    let runtime = tokio::runtime::Builder::new_multi_thread()
        .worker_threads(WORKERS)
        .max_blocking_threads(MAX_BLOCKING_THREADS)
        .thread_name("mcp")
        .enable_io()
        .enable_time()
        .build()?;
    let runtime_handle = runtime.handle().clone();
    let secret = InstanceToken::generate()?;
    let token = InstanceToken::generate()?;
    let (ready, is_ready) = oneshot::channel();
    let AgentServerDeps { events, terraform, previews, settings } = deps;
    let recording = Arc::clone(&events);
    let thread = std::thread::Builder::new().name("mcp-messages".to_owned()).spawn(move || {
        runtime.block_on(async move {
            let (published, action_runs) = (Arc::clone(&handle.published), Arc::clone(&handle.action_runs));
            let adapter =
                WorkbenchAdapter { published, action_runs, events: Arc::clone(&events), terraform, previews };
            let mut controller = AgentServerController::new(
                handle,
                events,
                adapter,
                overrides,
                settings,
                token,
                secret.reveal(),
            );
            controller.begin();
            // The starter is gone.
            let _ = ready.send(controller.url());
            controller.run(waiting).await;
        });
        runtime_ends(runtime);
    })?;
    // An error is a fault of that thread, which logs it.
    let url = is_ready.blocking_recv().ok().flatten();
    let (recorded, is_recorded) = std::sync::mpsc::channel();
    recording.run_after_recording(Box::new(move || {
        // The receiver may have given up.
        let _ = recorded.send(());
    }));
    if let Err(error) = is_recorded.recv_timeout(STOP_LIMIT) {
        tracing::warn!(%error, "the discovery record may be late");
    }
    Ok(RunningAgentServer { thread, url, runtime: runtime_handle })
}

/// Does not wait for a picture that is being drawn.
fn runtime_ends(runtime: tokio::runtime::Runtime) {
    runtime.shutdown_timeout(STOP_LIMIT);
}

struct AgentServerController {
    handle: AgentServerHandle,
    events: Arc<dyn AgentServerEvents>,
    service: AgentService,
    path: PathBuf,
    settings: AgentSettings,
    /// Overrides the setting for the open workspace.
    workspace_mode: Option<McpMode>,
    token: InstanceToken,
    edge: Option<HttpEdge>,
    error: Option<String>,
}

impl AgentServerController {
    fn new(
        handle: AgentServerHandle,
        events: Arc<dyn AgentServerEvents>,
        adapter: WorkbenchAdapter,
        overrides: SettingsOverrides,
        path: PathBuf,
        token: InstanceToken,
        secret: &str,
    ) -> Self {
        let (mut settings, error) = match settings::read(&path) {
            Ok(settings) => (settings, None),
            Err(error) => {
                tracing::warn!(%error, "the settings are ignored");
                (AgentSettings::default(), Some(error.to_string()))
            }
        };
        settings.mode = overrides.mode.unwrap_or(settings.mode);
        settings.port = overrides.port.unwrap_or(settings.port);
        let version = env!("CARGO_PKG_VERSION");
        let review: Arc<dyn ReviewSubmitter> = Arc::clone(&events) as _;
        let service =
            AgentService::new(Arc::new(adapter), review, crate::surface(), version, settings.mode, secret);
        Self { handle, events, service, path, settings, workspace_mode: None, token, edge: None, error }
    }

    fn begin(&mut self) {
        let service = self.service.clone();
        tokio::spawn(async move { service.watch().await });
        self.handle.set_mode(self.settings.mode);
        self.listen();
        self.record_address();
    }

    async fn run(mut self, mut waiting: mpsc::Receiver<AgentServerMsg>) {
        let mut clients = self.service.clients().watch_changes();
        // The window shows the address before the first client connects.
        let mut shown = self.view();
        self.events.publish_view(shown.clone());
        loop {
            tokio::select! {
                message = waiting.recv() => match message {
                    Some(AgentServerMsg::Request(call)) => self.handle(call).await,
                    Some(AgentServerMsg::Bridge(stream)) => self.serve_bridge(stream),
                    Some(AgentServerMsg::WorkspaceMode(mode)) => {
                        self.workspace_mode = mode;
                        self.apply_mode();
                    }
                    Some(AgentServerMsg::Stop) | None => break,
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
                self.events.publish_view(view.clone());
                shown = view;
            }
        }
        self.service.stop();
        self.close().await;
    }

    fn listen(&mut self) {
        if self.settings.mode == McpMode::Off {
            return;
        }
        let token = self.token.clone();
        let admits: TokenCheck = Arc::new(move |presented| token.matches(presented));
        let started = listen::bind(self.settings.bind, self.settings.port).and_then(|listener| {
            HttpEdge::start(&self.service, self.service.agent(), listener, admits, HttpLimits::default())
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

    async fn restart_listening(&mut self) {
        self.close().await;
        self.error = None;
        self.listen();
        self.record_address();
    }

    fn url(&self) -> Option<String> {
        self.edge.as_ref().map(|edge| format!("http://{}/mcp", edge.address()))
    }

    /// Records for local tools where the server listens.
    fn record_address(&self) {
        let address = self.url().map(|url| AgentServerAddress { url, token: self.token.clone() });
        self.events.record_address(address);
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
            clients: self.service.clients().list(time_and_seed().time),
        }
    }

    fn serve_bridge(&self, stream: UnixStream) {
        let service = self.service.clone();
        tokio::spawn(async move {
            let stream = stream
                .set_nonblocking(true)
                .and_then(|()| stream.set_read_timeout(None))
                .and_then(|()| stream.set_write_timeout(None))
                .and_then(|()| tokio::net::UnixStream::from_std(stream));
            match stream {
                Ok(stream) => service.serve_bridge_stream(stream).await,
                Err(error) => tracing::error!(%error, "a bridge was not taken over"),
            }
        });
    }

    async fn handle(&mut self, call: AgentServerRequest) {
        match call {
            AgentServerRequest::ViewAgents(_, responder) => self.respond(Ok(self.view()), responder),
            AgentServerRequest::SetAgentMode(SetAgentMode { mode }, responder) => {
                let result = self.set_mode(mode).await;
                self.respond(result, responder);
            }
            AgentServerRequest::SetAgentPort(SetAgentPort { port }, responder) => {
                let result = self.set_port(port).await;
                self.respond(result, responder);
            }
            AgentServerRequest::RestartAgents(_, responder) => {
                let result = self.restart().await;
                self.respond(result, responder);
            }
            AgentServerRequest::RotateToken(_, responder) => {
                let result = self.rotate().await;
                self.respond(result, responder);
            }
            AgentServerRequest::PauseClient(PauseClient { client }, responder) => {
                self.respond(response_if_known(self.service.clients().pause(client, true)), responder);
            }
            AgentServerRequest::ResumeClient(ResumeClient { client }, responder) => {
                self.respond(response_if_known(self.service.clients().pause(client, false)), responder);
            }
            AgentServerRequest::DisconnectClient(DisconnectClient { client }, responder) => {
                self.respond(response_if_known(self.service.clients().disconnect(client)), responder);
            }
            AgentServerRequest::TestConnection(_, responder) => self.test(responder),
            AgentServerRequest::ReadClientConfig(ReadClientConfig { client }, responder) => {
                self.respond(self.client_config(&client), responder);
            }
        }
    }

    /// Responds when the discovery record is up to date.
    fn respond<T: Send + 'static>(&self, result: Result<T, Refusal>, responder: Responder<T>) {
        self.events.run_after_recording(Box::new(move || responder.send(result)));
    }

    fn save_settings(&self) -> Result<(), Refusal> {
        settings::write(&self.path, &self.settings).map_err(|error| {
            tracing::warn!(%error, "a setting was not saved");
            Refusal::new(RefusalCode::StorageError, error.to_string())
        })
    }

    fn mode(&self) -> McpMode {
        self.workspace_mode.unwrap_or(self.settings.mode)
    }

    /// Applies the mode to the server and to bridges.
    fn apply_mode(&self) {
        self.handle.set_mode(self.mode());
        self.service.set_mode(self.mode());
    }

    async fn set_mode(&mut self, mode: McpMode) -> Result<McpView, Refusal> {
        self.settings.mode = mode;
        self.workspace_mode = None;
        self.apply_mode();
        if (mode == McpMode::Off) == self.edge.is_some() {
            self.restart_listening().await;
        }
        self.save_settings()?;
        Ok(self.view())
    }

    async fn set_port(&mut self, port: u16) -> Result<McpView, Refusal> {
        if port < 1024 {
            return Err(Refusal::new(RefusalCode::ValidationError, "a port is a number from 1024 to 65535")
                .field("port"));
        }
        self.settings.port = port;
        self.restart_listening().await;
        self.save_settings()?;
        Ok(self.view())
    }

    async fn restart(&mut self) -> Result<McpView, Refusal> {
        let unreadable =
            |error: settings::SettingsError| Refusal::new(RefusalCode::ValidationError, error.to_string());
        self.settings = settings::read(&self.path).map_err(unreadable)?;
        self.apply_mode();
        self.restart_listening().await;
        Ok(self.view())
    }

    /// Ends the streams that were opened with the old token.
    async fn rotate(&mut self) -> Result<McpView, Refusal> {
        self.token = InstanceToken::generate()
            .map_err(|error| Refusal::new(RefusalCode::Internal, error.to_string()))?;
        self.restart_listening().await;
        Ok(self.view())
    }

    /// The entry for a client's configuration. The bridge needs no address and no token, so the entry holds no secret and
    /// does not change at the next start.
    fn client_config(&self, client: &str) -> Result<String, Refusal> {
        let names =
            || ConnectableClient::value_variants().iter().filter_map(ConnectableClient::to_possible_value);
        let unknown = || {
            Refusal::new(RefusalCode::NotFound, format!("there is no configuration for `{client}`"))
                .field("client")
                .suggest(names().map(|name| name.get_name().to_owned()))
        };
        let known = ConnectableClient::from_str(client, true).map_err(|_| unknown())?;
        let home = || {
            Refusal::new(RefusalCode::NotFound, "your home folder is unknown").hint("Set HOME to its path.")
        };
        let places = ClientFolders::of_user(self.handle.published.root()).ok_or_else(home)?;
        let target = known.target(ConfigScope::User, &places).ok_or_else(unknown)?;
        let exe = std::env::current_exe()
            .map_err(|error| Refusal::new(RefusalCode::Internal, error.to_string()))?;
        let bridge = BridgeCommand {
            command: exe.display().to_string(),
            workspace: target.workspace.clone(),
            launch: false,
        };
        Ok(example(&target, &bridge))
    }

    /// Connects over the network as a client does. Responds later, so that other messages are handled meanwhile.
    fn test(&self, responder: Responder<String>) {
        let Some(address) = self.edge.as_ref().map(HttpEdge::address) else {
            let why = self.error.clone().unwrap_or_else(|| "agent access is off".to_owned());
            return responder.send(Err(Refusal::new(RefusalCode::Conflict, why)));
        };
        tokio::spawn(async move {
            let asked = timeout(TEST_LIMIT, health(address)).await;
            responder.send(match asked {
                Ok(Ok(text)) => Ok(text),
                Ok(Err(error)) => {
                    Err(Refusal::new(RefusalCode::Conflict, format!("{address} does not respond: {error}"))
                        .hint("Restart the server."))
                }
                Err(_) => Err(Refusal::new(
                    RefusalCode::Timeout,
                    format!("{address} did not respond within {TEST_LIMIT:?}"),
                )),
            });
        });
    }
}

fn response_if_known(is_known: bool) -> Result<(), Refusal> {
    match is_known {
        true => Ok(()),
        false => Err(Refusal::new(RefusalCode::NotFound, "this client is no longer connected")),
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
