//! The MCP service: all managed servers, with the contract's method names.

mod manifests;

use crate::{
    actor::{
        CallProgress, ServerActorHandle, ServerActorMsg, ServerDeps, ServerRunState, SharedServerState,
        ToolDefinitions,
    },
    call::{ServerToolAnswer, ServerToolCall},
    config::{self, ManagedServerConfig, ManagedServerSource, ServerConfigStore, UnreadableConfigEntry},
    launch::inherited_environment,
    manifest::{DraftboardMethods, LoadedManifests},
    secrets::{FileSecrets, Secret, SecretStore, secret_name},
    status::{ManagedServerStatus, ServerStatusDetails},
    tools::{
        ApprovedDefinition, ManagedServerTool, OfferedTool, ToolApprovalState, ToolDefinition, exposed_name,
        split_exposed_name,
    },
};
use processes::{Backoff, ProcessGroupSpawner, ProgramSpawner};
use serde_json::Value;
use shared_protocol::{Refusal, managed_servers::ToolCallPolicy};
use std::{
    collections::{BTreeMap, BTreeSet},
    ffi::OsString,
    path::{Path, PathBuf},
    sync::{Arc, Mutex, MutexGuard, PoisonError},
    time::{Duration, Instant},
};
use tokio::{
    runtime::Handle as Runtime,
    sync::{mpsc, oneshot, watch},
    task::JoinHandle,
};
use uuid::Uuid;

/// A server is restarted six times in a row; then only a person starts it again.
pub const SERVER_BACKOFF: Backoff = Backoff {
    first_delay: Duration::from_millis(500),
    max_delay: Duration::from_secs(60),
    healthy_after: Duration::from_secs(60),
    max_restarts: 6,
    has_jitter: true,
};

/// The paths and services that the MCP service uses.
pub struct ManagedServersSetup {
    /// `upstreams.json` in the user's configuration folder.
    pub config_file: PathBuf,
    /// The folder for installed packages.
    pub data: PathBuf,
    /// The environment that servers inherit.
    pub environment: Vec<(OsString, OsString)>,
    pub spawner: Arc<dyn ProgramSpawner>,
    pub secrets: Arc<dyn SecretStore>,
    /// The methods of Draftboard that manifests may call.
    pub internal: Arc<dyn DraftboardMethods>,
    pub backoff: Backoff,
}

impl ManagedServersSetup {
    /// The default setup: process groups, secrets in a file, and only the internal method `server.status`.
    pub fn new(config_folder: &Path, data: &Path) -> Self {
        Self {
            config_file: config_folder.join("upstreams.json"),
            data: data.to_owned(),
            environment: inherited_environment(),
            spawner: Arc::new(ProcessGroupSpawner),
            secrets: Arc::new(FileSecrets::new(&config_folder.join("secrets.json"))),
            internal: Arc::new(StatusMethodOnly),
            backoff: SERVER_BACKOFF,
        }
    }
}

/// Provides only `server.status`.
struct StatusMethodOnly;

impl DraftboardMethods for StatusMethodOnly {
    fn has_method(&self, method: &str) -> bool {
        method == "server.status"
    }

    fn call(&self, method: &str, _: &Value) -> Result<Value, Refusal> {
        match method {
            "server.status" => {
                Ok(serde_json::json!({"status": "running", "version": env!("CARGO_PKG_VERSION")}))
            }
            _ => Err(Refusal::not_found(format!("Draftboard has no method {method:.64}"))),
        }
    }
}

pub struct ManagedServersService {
    store: ServerConfigStore,
    deps: Arc<ServerDeps>,
    internal: Arc<dyn DraftboardMethods>,
    manifests: Mutex<Arc<LoadedManifests>>,
    servers: Mutex<BTreeMap<Uuid, ServerActorHandle>>,
    /// Actors of deleted servers that may still be stopping.
    stopping: Mutex<Vec<JoinHandle<()>>>,
    changed: watch::Sender<u64>,
    runtime: Runtime,
}

impl ManagedServersService {
    /// Opens the service without starting servers; see [`Self::launch_enabled`].
    pub fn open(setup: ManagedServersSetup, runtime: Runtime) -> Result<Self, Refusal> {
        let store = ServerConfigStore::open(&setup.config_file)?;
        let surroundings = Arc::new(ServerDeps {
            environment: setup.environment,
            data: setup.data,
            spawner: setup.spawner,
            secrets: setup.secrets,
            backoff: setup.backoff,
        });
        let service = Self {
            store,
            deps: surroundings,
            internal: setup.internal,
            manifests: Mutex::default(),
            servers: Mutex::default(),
            stopping: Mutex::default(),
            changed: watch::Sender::new(0),
            runtime,
        };
        for config in service.store.list() {
            service.spawn_actor(config);
        }
        Ok(service)
    }

    fn spawn_actor(&self, config: Arc<ManagedServerConfig>) {
        let id = config.id;
        let handle = ServerActorHandle::new(config, self.deps.clone(), self.changed.clone(), &self.runtime);
        self.servers().insert(id, handle);
    }

    /// Notified whenever any state of the service changes.
    pub fn changes(&self) -> watch::Receiver<u64> {
        self.changed.subscribe()
    }

    /// Returns the entries of the file that cannot be parsed; they stay unchanged.
    pub fn unreadable(&self) -> Vec<UnreadableConfigEntry> {
        self.store.unreadable()
    }

    // Queries.

    pub fn list(&self) -> Vec<ManagedServerConfig> {
        self.store.list().iter().map(|config| config.as_ref().clone()).collect()
    }

    pub fn get(&self, id: Uuid) -> Option<ManagedServerConfig> {
        self.store.get(id).map(|config| config.as_ref().clone())
    }

    pub fn status(&self, id: Uuid) -> Option<ManagedServerStatus> {
        let config = self.store.get(id)?;
        Some(self.status_of(&config, self.server_state(id)?.state()))
    }

    pub fn details(&self, id: Uuid) -> Option<ServerStatusDetails> {
        let config = self.store.get(id)?;
        let shared = self.server_state(id)?;
        let tools = self.tools(id);
        let link = shared.session();
        Some(ServerStatusDetails {
            status: self.status_of(&config, shared.state()),
            protocol: link.as_ref().map(|link| link.protocol.clone()),
            server: link.and_then(|link| link.server.clone()),
            tools: tools.len(),
            waiting: tools.iter().filter(|tool| tool.approval != ToolApprovalState::Approved).count(),
            last_failure: shared.last_failure(),
            exit: shared.exit(),
        })
    }

    fn status_of(&self, config: &ManagedServerConfig, state: ServerRunState) -> ManagedServerStatus {
        match state {
            ServerRunState::Connected(link) => {
                let tools = self.tools_of(config, &link.definitions());
                let offered: Vec<String> =
                    tools.iter().filter(|tool| tool.is_offered()).map(|tool| tool.exposed.clone()).collect();
                let waits = |tool: &&ManagedServerTool| tool.approval != ToolApprovalState::Approved;
                if offered.is_empty() && tools.iter().any(|tool| waits(&tool)) {
                    let waiting = tools.iter().filter(waits).map(|tool| tool.exposed.clone()).collect();
                    return ManagedServerStatus::NeedsApproval { tools: waiting };
                }
                ManagedServerStatus::Running { tools: offered }
            }
            ServerRunState::Stopping => ManagedServerStatus::Stopping,
            _ if !config.enabled => ManagedServerStatus::Disabled,
            ServerRunState::Stopped => ManagedServerStatus::Stopped,
            ServerRunState::Starting(phase) => ManagedServerStatus::Starting { phase },
            ServerRunState::Backoff { attempt, retry_at, failure } => {
                let left = retry_at.saturating_duration_since(Instant::now()).as_millis();
                let retry_in_ms = u64::try_from(left).unwrap_or(u64::MAX);
                ManagedServerStatus::Backoff { attempt, retry_in_ms, message: failure.message }
            }
            ServerRunState::NeedsCredentials { missing, .. } => {
                ManagedServerStatus::NeedsCredentials { missing }
            }
            ServerRunState::Failed(failure) => ManagedServerStatus::Error { message: failure.message },
        }
    }

    /// Returns the last log lines of a server, and the number of dropped ones.
    pub fn log(&self, id: Uuid) -> Option<(Vec<String>, u64)> {
        Some(self.server_state(id)?.log.lines())
    }

    // Starting and stopping.

    /// Starts all enabled servers concurrently without waiting. Failed servers are retried.
    pub fn launch_enabled(&self) {
        for config in self.store.list().iter().filter(|config| config.enabled) {
            if let Some(orders) = self.order_sender(config.id) {
                // A full queue already contains a start order.
                let _ = orders.try_send(ServerActorMsg::Launch);
            }
        }
    }

    /// Starts a server. Returns when it runs or with the reason it does not.
    pub async fn start(&self, id: Uuid) -> Result<(), Refusal> {
        self.check_enabled(id)?;
        self.order(id, ServerActorMsg::Start).await
    }

    /// Stops a server. Returns when the process and all its children have ended.
    pub async fn stop(&self, id: Uuid) -> Result<(), Refusal> {
        self.order(id, ServerActorMsg::Stop).await
    }

    pub async fn restart(&self, id: Uuid) -> Result<(), Refusal> {
        self.check_enabled(id)?;
        self.order(id, ServerActorMsg::Restart).await
    }

    fn check_enabled(&self, id: Uuid) -> Result<(), Refusal> {
        let config = self.store.get(id).ok_or_else(|| unknown(id))?;
        if config.enabled {
            return Ok(());
        }
        Err(Refusal::conflict(format!("{} is disabled: enable it first", config.name)))
    }

    /// Enables or disables a server. When it fails to start, it is disabled again and the reason is returned.
    pub async fn toggle(&self, id: Uuid, enabled: bool) -> Result<(), Refusal> {
        let config = self.get(id).ok_or_else(|| unknown(id))?;
        self.update(ManagedServerConfig { enabled, ..config.clone() })?;
        if !enabled {
            return self.stop(id).await;
        }
        let started = self.start(id).await;
        if started.is_err() {
            // Keeps other changes made meanwhile.
            if let Some(current) = self.get(id) {
                self.update(ManagedServerConfig { enabled: config.enabled, ..current })?;
            }
        }
        started
    }

    /// Stops all servers concurrently and returns when no process is left.
    pub async fn shutdown_all(&self) -> Result<(), Refusal> {
        let ids: Vec<Uuid> = self.servers().keys().copied().collect();
        let mut stopping = Vec::new();
        for id in ids {
            let (reply, answer) = oneshot::channel();
            if let Some(orders) = self.order_sender(id)
                && orders.send(ServerActorMsg::Stop(reply)).await.is_ok()
            {
                stopping.push(answer);
            }
        }
        for answer in stopping {
            // A finished actor has already ended its process.
            let _ = answer.await;
        }
        let leaving = std::mem::take(&mut *self.stopping.lock().unwrap_or_else(PoisonError::into_inner));
        for task in leaving {
            let _ = task.await;
        }
        Ok(())
    }

    async fn order(
        &self,
        id: Uuid,
        order: impl FnOnce(oneshot::Sender<Result<(), Refusal>>) -> ServerActorMsg,
    ) -> Result<(), Refusal> {
        let orders = self.order_sender(id).ok_or_else(|| unknown(id))?;
        let (reply, answer) = oneshot::channel();
        let gone = || Refusal::conflict("The server was removed");
        orders.send(order(reply)).await.map_err(|_| gone())?;
        answer.await.map_err(|_| gone())?
    }

    // Tools.

    /// Returns the tools agents can call: approved and enabled tools of running servers, sorted by name.
    pub fn available_tools(&self) -> Vec<ManagedServerTool> {
        let configs = self.store.list();
        let mut tools: Vec<ManagedServerTool> = configs
            .iter()
            .flat_map(|config| self.tools(config.id))
            .filter(ManagedServerTool::is_offered)
            .collect();
        tools.sort_by(|a, b| a.exposed.cmp(&b.exposed));
        tools
    }

    /// Returns all tools of a running server, including hidden ones.
    pub fn tools(&self, id: Uuid) -> Vec<ManagedServerTool> {
        let found = self.store.get(id).zip(self.server_state(id).and_then(|shared| shared.session()));
        found.map(|(config, link)| self.tools_of(&config, &link.definitions())).unwrap_or_default()
    }

    fn tools_of(
        &self,
        config: &ManagedServerConfig,
        definitions: &ToolDefinitions,
    ) -> Vec<ManagedServerTool> {
        let approved = self.store.approved(config.id);
        definitions.values().map(|definition| ManagedServerTool::new(config, definition, &approved)).collect()
    }

    /// Returns the server of an exposed tool name.
    pub fn find_tool_provider(&self, tool_name: &str) -> Option<Uuid> {
        self.find_offered(tool_name).map(|tool| tool.server)
    }

    /// Returns an offered tool by its exposed name. Reads only one server and one tool, because every call uses this.
    pub fn find_offered(&self, exposed: &str) -> Option<OfferedTool> {
        let (slug, _) = split_exposed_name(exposed)?;
        let config = self.store.by_slug(slug)?;
        let definitions = self.server_state(config.id)?.session()?.definitions();
        let definition = find_exposed(&definitions, &config, exposed)?;
        let settings = config.tools.get(definition.name());
        let policy = settings.map_or(ToolCallPolicy::Ask, |settings| settings.policy);
        let seen = self.store.approved_definition(config.id, definition.name())?;
        let is_offered = seen.matches(definition)
            && settings.is_none_or(|settings| settings.enabled)
            && policy != ToolCallPolicy::Deny;
        let says = definition.part("annotations").and_then(|hints| hints.get("destructiveHint"));
        is_offered.then(|| OfferedTool {
            server: config.id,
            server_name: config.name.clone(),
            policy,
            destructive: says == Some(&Value::Bool(true)),
            hash: definition.hash().to_owned(),
        })
    }

    /// Approves a tool in its current form. `hash` identifies the definition that the person has seen; if it has
    /// changed since, nothing is approved.
    pub fn approve(&self, id: Uuid, tool: &str, hash: &str) -> Result<(), Refusal> {
        self.approve_seen(id, &[(tool.to_owned(), hash.to_owned())])
    }

    /// Approves several tools, each by the hash of the definition that the person has seen: all or none.
    pub fn approve_seen(&self, id: Uuid, seen: &[(String, String)]) -> Result<(), Refusal> {
        let definitions = self.definitions(id)?;
        let mut approved = Vec::new();
        for (tool, hash) in seen {
            let definition = find(&definitions, tool)?;
            if definition.hash() != hash {
                let message = format!("{tool} has changed since you reviewed it: review it again");
                return Err(Refusal::conflict(message));
            }
            approved.push(definition);
        }
        self.record_approval(id, &approved)
    }

    /// Approves all tools in their current form.
    pub fn approve_all(&self, id: Uuid) -> Result<(), Refusal> {
        let definitions = self.definitions(id)?;
        self.record_approval(id, &definitions.values().collect::<Vec<_>>())
    }

    fn record_approval(&self, id: Uuid, definitions: &[&Arc<ToolDefinition>]) -> Result<(), Refusal> {
        let seen = definitions.iter().map(|definition| {
            (definition.name().to_owned(), Arc::new(ApprovedDefinition::new(definition.value().clone())))
        });
        self.store.approve(id, seen.collect())?;
        self.notify_changed();
        Ok(())
    }

    /// Withdraws an approval.
    pub fn withdraw(&self, id: Uuid, tool: &str) -> Result<(), Refusal> {
        self.store.get(id).ok_or_else(|| unknown(id))?;
        self.store.withdraw(id, tool)?;
        self.notify_changed();
        Ok(())
    }

    fn definitions(&self, id: Uuid) -> Result<Arc<ToolDefinitions>, Refusal> {
        let config = self.store.get(id).ok_or_else(|| unknown(id))?;
        let link = self.server_state(id).and_then(|shared| shared.session());
        Ok(link.ok_or_else(|| not_running(&config))?.definitions())
    }

    /// Checks whether a call with these arguments would be sent.
    pub fn check_arguments(&self, id: Uuid, tool: &str, arguments: &Value) -> Result<(), Refusal> {
        let config = self.store.get(id).ok_or_else(|| unknown(id))?;
        let shared = self.server_state(id).ok_or_else(|| unknown(id))?;
        let link = shared.session().ok_or_else(|| not_running(&config))?;
        let definitions = link.definitions();
        let definition = find_named(&definitions, &config, tool)?;
        let approved = self.store.approved_definition(id, definition.name());
        ServerToolCall { config: &config, definition, approved, session: link.clone(), shared: &shared }
            .check(arguments)
    }

    /// Calls a tool by its own or its exposed name. A call is never sent twice.
    pub async fn call_tool(
        &self,
        mcp_id: Uuid,
        tool_name: &str,
        arguments: &Value,
    ) -> Result<ServerToolAnswer, Refusal> {
        self.call_tool_with_progress(mcp_id, tool_name, arguments, None).await
    }

    /// Calls a tool with progress. Dropping the future cancels the call.
    pub async fn call_tool_with_progress(
        &self,
        mcp_id: Uuid,
        tool_name: &str,
        arguments: &Value,
        progress: Option<mpsc::Sender<CallProgress>>,
    ) -> Result<ServerToolAnswer, Refusal> {
        let config = self.store.get(mcp_id).ok_or_else(|| unknown(mcp_id))?;
        let shared = self.server_state(mcp_id).ok_or_else(|| unknown(mcp_id))?;
        let link = shared.session().ok_or_else(|| not_running(&config))?;
        let definitions = link.definitions();
        let definition = find_named(&definitions, &config, tool_name)?;
        let approved = self.store.approved_definition(mcp_id, definition.name());
        let call =
            ServerToolCall { config: &config, definition, approved, session: link.clone(), shared: &shared };
        call.run(arguments, progress).await
    }

    // Configurations.

    /// Saves a new server without starting it.
    pub fn create(&self, config: ManagedServerConfig) -> Result<ManagedServerConfig, Refusal> {
        self.create_with_secrets(config, &[])
    }

    /// Checks that all required secrets of a registry server are provided before it is saved. A person who writes a
    /// configuration manually may provide them later.
    fn check_required_secrets(
        &self,
        config: &ManagedServerConfig,
        secrets: &[(String, Secret)],
    ) -> Result<(), Refusal> {
        if !matches!(config.source, ManagedServerSource::Official { .. }) {
            return Ok(());
        }
        for (part, reference, _) in config.secret_refs().filter(|(_, _, required)| *required) {
            let is_given = secrets.iter().any(|(given, _)| given == part);
            if !is_given && self.deps.secrets.get(reference)?.is_none() {
                let field =
                    if part == "auth" { "transport.auth".to_owned() } else { format!("env_vars.{part}") };
                let message = format!("Missing required credentials: {part} has no value");
                return Err(Refusal::validation(&field, message));
            }
        }
        Ok(())
    }

    fn save_new(
        &self,
        mut config: ManagedServerConfig,
        secrets: &[(String, Secret)],
    ) -> Result<ManagedServerConfig, Refusal> {
        config.name = config.name.trim().to_owned();
        config::check(&config)?;
        self.check_required_secrets(&config, secrets)?;
        if self.store.get(config.id).is_some() {
            return Err(Refusal::conflict("A server with this id already exists").field("id"));
        }
        let others = self.store.list();
        config.slug = config::slug_for(&config.name, |slug| others.iter().any(|other| other.slug == slug));
        let config = self.store.insert(config)?;
        self.notify_changed();
        Ok(config.as_ref().clone())
    }

    /// Saves a new server with the secrets of an import or a form, all or nothing.
    pub fn create_with_secrets(
        &self,
        mut config: ManagedServerConfig,
        secrets: &[(String, Secret)],
    ) -> Result<ManagedServerConfig, Refusal> {
        for (part, _) in secrets {
            config.refer_to_own_secret(part);
        }
        let created = self.save_new(config, secrets)?;
        let store = &self.deps.secrets;
        let kept =
            secrets.iter().try_for_each(|(part, secret)| store.set(&secret_name(created.id, part), secret));
        if let Err(failure) = kept {
            self.delete(created.id)?;
            return Err(failure);
        }
        Ok(created)
    }

    /// Replaces a configuration. A running server restarts when its launch settings changed and stops when it is
    /// disabled.
    pub fn update(&self, mut config: ManagedServerConfig) -> Result<(), Refusal> {
        let current = self.store.get(config.id).ok_or_else(|| unknown(config.id))?;
        config.name = config.name.trim().to_owned();
        config.slug = current.slug.clone();
        config::check(&config)?;
        self.store.insert(config)?;
        self.notify_changed();
        Ok(())
    }

    /// Deletes a server with its approvals and secrets, and stops it.
    pub fn delete(&self, id: Uuid) -> Result<(), Refusal> {
        let config = self.store.get(id).ok_or_else(|| unknown(id))?;
        self.store.remove(id)?;
        self.notify_changed();
        for (_, reference, _) in
            config.secret_refs().filter(|(_, reference, _)| reference.starts_with(&secret_name(id, "")))
        {
            self.deps.secrets.remove(reference)?;
        }
        Ok(())
    }

    // Secrets.

    /// Returns the location of secrets, for people.
    pub fn secrets_place(&self) -> String {
        self.deps.secrets.location()
    }

    /// Stores the secret of a variable, or of the URL as `auth`, and refers to it in the configuration.
    pub fn set_secret(&self, id: Uuid, part: &str, secret: &Secret) -> Result<(), Refusal> {
        let mut config = self.get(id).ok_or_else(|| unknown(id))?;
        config.refer_to_own_secret(part);
        config::check(&config)?;
        self.deps.secrets.set(&secret_name(id, part), secret)?;
        self.update(config)
    }

    /// Replaces a configuration and stores the secrets that came with it.
    pub fn update_with_secrets(
        &self,
        mut config: ManagedServerConfig,
        secrets: &[(String, Secret)],
    ) -> Result<(), Refusal> {
        for (part, _) in secrets {
            config.refer_to_own_secret(part);
        }
        config::check(&config)?;
        self.check_required_secrets(&config, secrets)?;
        for (part, secret) in secrets {
            self.deps.secrets.set(&secret_name(config.id, part), secret)?;
        }
        self.update(config)
    }

    /// Returns the parts of a configuration whose secret is stored. A keyring may prompt the user first.
    pub fn secrets_set(&self, config: &ManagedServerConfig) -> Result<BTreeSet<String>, Refusal> {
        let mut set = BTreeSet::new();
        for (part, reference, _) in config.secret_refs() {
            if self.deps.secrets.get(reference)?.is_some() {
                set.insert(part.to_owned());
            }
        }
        Ok(set)
    }

    /// Returns whether arguments contain a secret of a started server.
    pub fn holds_secret(&self, id: Uuid, arguments: &Value) -> bool {
        let shared = self.server_state(id).filter(|shared| shared.log.has_secrets());
        shared.is_some_and(|shared| {
            let text = arguments.to_string();
            shared.log.redact(&text) != text
        })
    }

    /// Returns a server by its slug.
    pub fn by_slug(&self, slug: &str) -> Option<Uuid> {
        self.store.by_slug(slug).map(|config| config.id)
    }

    /// Loads changes written by another Draftboard process of the same user.
    pub fn refresh(&self) -> Result<(), Refusal> {
        if self.store.refresh()? {
            self.notify_changed();
        }
        Ok(())
    }

    /// Reconciles actors with saved configurations: creates missing ones, updates changed ones and removes the rest.
    fn reconcile_actors(&self) {
        let kept = self.store.list();
        for config in &kept {
            let is_new = match self.servers().get(&config.id) {
                Some(server) => {
                    server.config.send_if_modified(|known| {
                        let differs = *known != *config;
                        if differs {
                            *known = config.clone();
                        }
                        differs
                    });
                    false
                }
                None => true,
            };
            if is_new {
                self.spawn_actor(config.clone());
            }
        }
        let mut leaving = self.stopping.lock().unwrap_or_else(PoisonError::into_inner);
        leaving.retain(|task| !task.is_finished());
        let mut servers = self.servers();
        let gone: Vec<Uuid> =
            servers.keys().filter(|id| !kept.iter().any(|config| config.id == **id)).copied().collect();
        leaving.extend(gone.iter().filter_map(|id| servers.remove(id)).map(ServerActorHandle::into_task));
    }

    fn notify_changed(&self) {
        self.reconcile_actors();
        self.changed.send_modify(|count| *count += 1);
    }

    fn server_state(&self, id: Uuid) -> Option<Arc<SharedServerState>> {
        self.servers().get(&id).map(|server| server.shared.clone())
    }

    fn order_sender(&self, id: Uuid) -> Option<mpsc::Sender<ServerActorMsg>> {
        self.servers().get(&id).map(|server| server.orders.clone())
    }

    fn servers(&self) -> MutexGuard<'_, BTreeMap<Uuid, ServerActorHandle>> {
        self.servers.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

fn unknown(id: Uuid) -> Refusal {
    Refusal::not_found(format!("Server {id} does not exist"))
}

fn not_running(config: &ManagedServerConfig) -> Refusal {
    Refusal::unavailable(format!("{} is not running: start it first", config.name))
}

/// Returns a definition by the server's own tool name or by the exposed one.
fn find_named<'a>(
    definitions: &'a ToolDefinitions,
    config: &ManagedServerConfig,
    tool: &str,
) -> Result<&'a Arc<ToolDefinition>, Refusal> {
    find_exposed(definitions, config, tool).map_or_else(|| find(definitions, tool), Ok)
}

/// Returns a definition by its exposed name. Most names are exposed unchanged, so only the others are searched one by
/// one.
fn find_exposed<'a>(
    definitions: &'a ToolDefinitions,
    config: &ManagedServerConfig,
    exposed: &str,
) -> Option<&'a Arc<ToolDefinition>> {
    let (_, rest) = split_exposed_name(exposed).filter(|(slug, _)| *slug == config.slug)?;
    let is_it = |name: &str| exposed_name(&config.slug, name) == exposed;
    let same = definitions.get(rest).filter(|_| is_it(rest));
    same.or_else(|| definitions.iter().find(|(name, _)| is_it(name)).map(|(_, definition)| definition))
}

fn find<'a>(definitions: &'a ToolDefinitions, tool: &str) -> Result<&'a Arc<ToolDefinition>, Refusal> {
    definitions
        .get(tool)
        .ok_or_else(|| Refusal::not_found(format!("This server has no tool {tool:.128}")).field("tool"))
}
