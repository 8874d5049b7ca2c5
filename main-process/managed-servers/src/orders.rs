//! Opens the service, receives orders, and carries out each in a task of its own, so that a hanging server delays nothing else.

use super::{
    AcceptedToolCall, ManagedServerContext, ManagedServerDecisionCall, ManagedServerMsg,
    ManagedServerRequest, ManagedServersHandle, RequestOrigin, forms, internal, proxied_tools,
    publish::ManagedServerState, purpose, sources, too_many, views,
};
use mcp_client::{
    ManagedServerConfig, ManagedServersService, ManagedServersSetup, SERVER_BACKOFF, ToolSettings,
    best_secret_store, inherited_environment,
};
use processes::WardenCommandLine;
use shared_protocol::{
    Refusal, RefusalCode,
    decisions::{
        ApproveManifest, ApproveTools, CallTool, DeleteServer, EnableServer, SetManifestPolicy,
        SetManifestSecret, SetServerSecret, SetTool, UpdateServer,
    },
    managed_servers::{
        ManagedServersView, RegistryServer, ServerDetails, ServerForm, ServerId, ServerImportInput,
        ServerLogChunk, ToolCall, ToolCallPolicy, ToolCallResult,
    },
    request::Responder,
    requests::{
        AddServer, CallServerTool, DisableServer, ImportServers, ImportedServers, PreviewServerImport,
        ReadServerLog, RestartServer, SearchServerRegistry, ShowServer, StartServer, StopServer,
        WithdrawTool,
    },
    review::AuditEvent,
};
use std::{sync::Arc, time::Duration};
use tokio::{
    runtime::Handle,
    sync::{Semaphore, mpsc},
};
use uuid::Uuid;

/// The number of orders that are carried out at once.
const MAX_CONCURRENT_ORDERS: usize = 64;
/// The time that a request for a log waits for the first new line.
const LOG_WAIT: Duration = Duration::from_millis(1_500);
const LOG_INTERVAL: Duration = Duration::from_millis(150);

pub(super) async fn run(
    link: ManagedServersHandle,
    mut orders: mpsc::Receiver<ManagedServerMsg>,
    context: ManagedServerContext,
    runtime: Handle,
) {
    let context = Arc::new(context);
    let (of_setup, own) = (Arc::clone(&context), runtime.clone());
    let opened = tokio::task::spawn_blocking(move || open(&of_setup, own)).await;
    let problem = match opened {
        Ok(Ok(service)) => return serve(Arc::new(service), link, orders, context).await,
        Ok(Err(failure)) => failure.message,
        Err(error) => format!("Managed servers cannot be started: {error}"),
    };
    tracing::error!(problem, "managed servers are not started");
    let view = ManagedServersView { problem: Some(problem.clone()), ..ManagedServersView::default() };
    link.view.store(Arc::new(view.clone()));
    let events = Arc::clone(&context.events);
    drop(tokio::task::spawn_blocking(move || events.publish_view(view)).await);
    while let Some(order) = orders.recv().await {
        match order {
            ManagedServerMsg::Request { call: ManagedServerRequest::ListServers(_, responder), .. } => {
                responder.send(Ok(link.view().as_ref().clone()));
            }
            ManagedServerMsg::Request { call, .. } => {
                call.refuse(Refusal::new(RefusalCode::ServiceUnavailable, problem.clone()));
            }
            ManagedServerMsg::Decide { call, .. } => {
                call.refuse(Refusal::new(RefusalCode::ServiceUnavailable, problem.clone()));
            }
            ManagedServerMsg::Accepted(AcceptedToolCall { proposal, .. }) => {
                let refusal = Refusal::new(RefusalCode::ServiceUnavailable, problem.clone());
                context.action_runs.finish(proposal, mcp_server::ActionResult::from_refusal(refusal));
            }
            ManagedServerMsg::Stop(done) => {
                // Disconnected: the caller has stopped waiting.
                let _ = done.send(());
                return;
            }
        }
    }
}

/// Opens the service. Reads the keyring and files, so it may take a moment.
fn open(context: &ManagedServerContext, runtime: Handle) -> Result<ManagedServersService, Refusal> {
    let folders = &context.folders;
    let setup = ManagedServersSetup {
        config_file: folders.config.join("upstreams.json"),
        data: folders.data.clone(),
        environment: inherited_environment(),
        spawner: Arc::new(WardenCommandLine::new(&context.exe)),
        secrets: best_secret_store(&folders.config),
        internal: Arc::new(internal::DraftboardMethodTable(Arc::clone(&context.events))),
        backoff: SERVER_BACKOFF,
    };
    ManagedServersService::open(setup, runtime)
}

async fn serve(
    service: Arc<ManagedServersService>,
    link: ManagedServersHandle,
    mut orders: mpsc::Receiver<ManagedServerMsg>,
    context: Arc<ManagedServerContext>,
) {
    let places = views::ManagedServerPaths {
        config_file: context.folders.config.join("upstreams.json").display().to_string(),
        registry: context.folders.config.join("registry.json").display().to_string(),
    };
    // Set once: the process has one service.
    let _ = link.service.set(Arc::clone(&service));
    let following = Arc::new(ManagedServerState::new(Arc::clone(&service), link, context, places));
    service.launch_enabled();
    let followers = [
        tokio::spawn(Arc::clone(&following).publish_changes()),
        tokio::spawn(Arc::clone(&following).watch_files()),
    ];
    let places = Arc::new(Semaphore::new(MAX_CONCURRENT_ORDERS));
    while let Some(order) = orders.recv().await {
        let work = match order {
            ManagedServerMsg::Request { call, by } => PendingManagedServerMsg::Request(call, by),
            ManagedServerMsg::Decide { call, purpose, by } => {
                PendingManagedServerMsg::Decide(call, purpose, by)
            }
            ManagedServerMsg::Accepted(accepted) => {
                let following = Arc::clone(&following);
                tokio::spawn(async move { proxied_tools::call_accepted(&following, &accepted).await });
                continue;
            }
            ManagedServerMsg::Stop(done) => {
                for follower in &followers {
                    follower.abort();
                }
                // A server that does not end is in the log, and its warden continues to end it.
                if let Err(failure) = service.shutdown_all().await {
                    tracing::error!(%failure, "not all servers were ended");
                }
                // Disconnected: the caller has stopped waiting.
                let _ = done.send(());
                return;
            }
        };
        match Arc::clone(&places).try_acquire_owned() {
            Ok(place) => {
                let handler = ManagedServerMsgHandler { following: Arc::clone(&following) };
                tokio::spawn(async move {
                    match work {
                        PendingManagedServerMsg::Request(call, by) => handler.handle(call, &by).await,
                        PendingManagedServerMsg::Decide(call, purpose, by) => {
                            handler.decide(call, purpose, by).await
                        }
                    }
                    drop(place);
                });
            }
            Err(_) => match work {
                PendingManagedServerMsg::Request(call, _) => call.refuse(too_many()),
                PendingManagedServerMsg::Decide(call, ..) => call.refuse(too_many()),
            },
        }
    }
}

enum PendingManagedServerMsg {
    Request(ManagedServerRequest, RequestOrigin),
    Decide(ManagedServerDecisionCall, String, RequestOrigin),
}

/// Carries out one order.
struct ManagedServerMsgHandler {
    following: Arc<ManagedServerState>,
}

impl ManagedServerMsgHandler {
    fn service(&self) -> &Arc<ManagedServersService> {
        &self.following.service
    }

    async fn handle(&self, call: ManagedServerRequest, by: &RequestOrigin) {
        match call {
            ManagedServerRequest::ListServers(_, responder) => responder.send(Ok(self.following.view())),
            ManagedServerRequest::ShowServer(ShowServer { server }, responder) => {
                responder.send(self.show(&server).await);
            }
            ManagedServerRequest::ReadServerLog(ReadServerLog { server, from }, responder) => {
                responder.send(self.read_log(&server, from).await);
            }
            ManagedServerRequest::StartServer(StartServer { server }, responder) => {
                responder.send(self.control(&server, async |service, id| service.start(id).await).await);
            }
            ManagedServerRequest::StopServer(StopServer { server }, responder) => {
                responder.send(self.control(&server, async |service, id| service.stop(id).await).await);
            }
            ManagedServerRequest::RestartServer(RestartServer { server }, responder) => {
                responder.send(self.control(&server, async |service, id| service.restart(id).await).await);
            }
            ManagedServerRequest::DisableServer(DisableServer { server }, responder) => {
                responder
                    .send(self.control(&server, async |service, id| service.toggle(id, false).await).await);
            }
            ManagedServerRequest::AddServer(AddServer { form }, responder) => {
                responder.send(self.add(*form).await)
            }
            ManagedServerRequest::ListImportSources(_, responder) => {
                let root = self.following.root();
                responder.send(self.background(move |_| Ok(sources::list(root))).await);
            }
            ManagedServerRequest::PreviewServerImport(PreviewServerImport { source }, responder) => {
                let preview =
                    move |service: &ManagedServersService| Ok(views::import(&read_import(&source)?, service));
                responder.send(self.background(preview).await);
            }
            ManagedServerRequest::ImportServers(ImportServers { source, names }, responder) => {
                responder.send(self.background(move |service| import(service, &source, &names)).await);
            }
            ManagedServerRequest::SearchServerRegistry(request, responder) => {
                responder.send(self.search_registry(request).await);
            }
            ManagedServerRequest::WithdrawTool(WithdrawTool { server, tool }, responder) => {
                let withdraw = async |service: &ManagedServersService, id| service.withdraw(id, &tool);
                responder.send(self.control(&server, withdraw).await);
            }
            ManagedServerRequest::CallServerTool(CallServerTool { call }, responder) => {
                responder.send(self.call_allowed(&call, by).await);
            }
            ManagedServerRequest::ReloadManifests(_, responder) => {
                responder.send(self.read_manifests().await)
            }
        }
    }

    async fn decide(&self, call: ManagedServerDecisionCall, purpose: String, by: RequestOrigin) {
        let record = DecisionRecord { handler: self, purpose, by };
        let service = self.service();
        match call {
            ManagedServerDecisionCall::EnableServer(EnableServer { server }, responder) => {
                let enable = async |service: &ManagedServersService, id| service.toggle(id, true).await;
                record.finish(self.control(&server, enable).await, responder).await;
            }
            ManagedServerDecisionCall::ApproveTools(ApproveTools { server, tools }, responder) => {
                let approve = async |service: &ManagedServersService, id| service.approve_seen(id, &tools);
                record.finish(self.control(&server, approve).await, responder).await;
            }
            ManagedServerDecisionCall::SetTool(decision, responder) => {
                record.finish(self.set_tool(decision).await, responder).await;
            }
            ManagedServerDecisionCall::UpdateServer(UpdateServer { server, form }, responder) => {
                record.finish(self.update(&server, *form).await, responder).await;
            }
            ManagedServerDecisionCall::DeleteServer(DeleteServer { server }, responder) => {
                record.finish(self.delete(&server).await, responder).await;
            }
            ManagedServerDecisionCall::SetServerSecret(decision, responder) => {
                record.finish(self.set_secret(decision).await, responder).await;
            }
            ManagedServerDecisionCall::ApproveManifest(ApproveManifest { hash }, responder) => {
                let result = match service.approve_manifest(&hash) {
                    Ok(_) => self.read_manifests().await,
                    Err(error) => Err(error),
                };
                record.finish(result, responder).await;
            }
            ManagedServerDecisionCall::SetManifestPolicy(SetManifestPolicy { tool, policy }, responder) => {
                let result = service.set_manifest_policy(&tool, policy);
                record.finish(result, responder).await;
            }
            ManagedServerDecisionCall::SetManifestSecret(decision, responder) => {
                record.finish(self.set_manifest_secret(decision).await, responder).await;
            }
            ManagedServerDecisionCall::CallTool(CallTool { call }, responder) => {
                let result = self.call(&call, &record.by).await;
                record.finish(result, responder).await;
            }
        }
    }

    /// Changes a server and returns it as it is then.
    async fn control<T>(
        &self,
        server: &ServerId,
        change: impl AsyncFnOnce(&ManagedServersService, Uuid) -> Result<T, Refusal>,
    ) -> Result<ServerDetails, Refusal> {
        let id = self.find(server)?;
        change(self.service(), id).await?;
        self.details(id).await
    }

    async fn show(&self, server: &ServerId) -> Result<ServerDetails, Refusal> {
        self.details(self.find(server)?).await
    }

    async fn add(&self, form: ServerForm) -> Result<ServerDetails, Refusal> {
        let (mut config, secrets) = forms::config(form, None)?;
        forms::reset_trust(&mut config);
        let create = move |service: &ManagedServersService| service.create_with_secrets(config, &secrets);
        let created = self.background(create).await?;
        self.details(created.id).await
    }

    async fn set_tool(&self, decision: SetTool) -> Result<ServerDetails, Refusal> {
        let SetTool { server, tool, enabled, policy, idle_ms, total_ms } = decision;
        let id = self.find(&server)?;
        let mut config = self.config(id)?;
        config.tools.insert(tool, ToolSettings { enabled, policy, idle_ms, total_ms });
        self.service().update(config)?;
        self.details(id).await
    }

    async fn update(&self, server: &ServerId, form: ServerForm) -> Result<ServerDetails, Refusal> {
        let id = self.find(server)?;
        let (config, secrets) = forms::config(form, Some(&self.config(id)?))?;
        self.background(move |service| service.update_with_secrets(config, &secrets)).await?;
        self.details(id).await
    }

    async fn delete(&self, server: &ServerId) -> Result<(), Refusal> {
        let id = self.find(server)?;
        self.background(move |service| service.delete(id)).await?;
        Ok(())
    }

    async fn set_secret(&self, decision: SetServerSecret) -> Result<ServerDetails, Refusal> {
        let SetServerSecret { server, part, secret } = decision;
        let id = self.find(&server)?;
        let secret = forms::typed_secret(&part, &secret)?;
        self.background(move |service| service.set_secret(id, &part, &secret)).await?;
        self.details(id).await
    }

    async fn set_manifest_secret(&self, decision: SetManifestSecret) -> Result<(), Refusal> {
        let SetManifestSecret { manifest, credential, secret } = decision;
        let secret = forms::typed_secret(&credential, &secret)?;
        self.background(move |service| service.set_manifest_secret(&manifest, &credential, &secret)).await?;
        self.read_manifests().await
    }

    async fn search_registry(&self, request: SearchServerRegistry) -> Result<Vec<RegistryServer>, Refusal> {
        let place = request.registry.filter(|place| !place.trim().is_empty());
        let place = place.unwrap_or_else(|| self.following.places.registry.clone());
        let found = mcp_client::search_registry(place.trim(), &request.query).await?;
        Ok(found.iter().map(views::registry_server).collect())
    }

    /// Calls a tool whose policy needs no person.
    async fn call_allowed(&self, call: &ToolCall, by: &RequestOrigin) -> Result<ToolCallResult, Refusal> {
        match self.policy(&call.tool)? {
            ToolCallPolicy::Allow => self.call(call, by).await,
            ToolCallPolicy::Ask => Err(Refusal::new(
                RefusalCode::ConfirmationRequired,
                format!("{} needs a person's approval for each call.", purpose::shorten(&call.tool)),
            )
            .hint("Confirm the call with the code that Draftboard shows.")),
            ToolCallPolicy::Deny => Err(Refusal::new(
                RefusalCode::Conflict,
                format!("{} is denied by its policy.", purpose::shorten(&call.tool)),
            )
            .hint("Change its policy in the Managed servers panel.")),
        }
    }

    /// Runs work that waits for files or a keyring on a thread of its own.
    async fn background<T: Send + 'static>(
        &self,
        work: impl FnOnce(&ManagedServersService) -> Result<T, Refusal> + Send + 'static,
    ) -> Result<T, Refusal> {
        let service = Arc::clone(self.service());
        let done = tokio::task::spawn_blocking(move || work(&service)).await;
        done.unwrap_or_else(|error| Err(Refusal::new(RefusalCode::Internal, error.to_string())))
    }

    async fn details(&self, id: Uuid) -> Result<ServerDetails, Refusal> {
        self.background(move |service| views::details(service, id)).await
    }

    async fn read_manifests(&self) -> Result<(), Refusal> {
        let following = Arc::clone(&self.following);
        self.background(move |_| {
            following.read_manifests();
            Ok(())
        })
        .await
    }

    async fn read_log(&self, server: &ServerId, from: u64) -> Result<ServerLogChunk, Refusal> {
        let id = self.find(server)?;
        let end = tokio::time::Instant::now() + LOG_WAIT;
        loop {
            let part = views::log(self.service(), id, from).ok_or_else(|| views::unknown(&id.to_string()))?;
            if !part.lines.is_empty() || tokio::time::Instant::now() >= end {
                return Ok(part);
            }
            tokio::time::sleep(LOG_INTERVAL).await;
        }
    }

    /// Finds a server by id or slug.
    fn find(&self, named: &ServerId) -> Result<Uuid, Refusal> {
        if let Ok(id) = named.0.parse::<Uuid>()
            && self.service().get(id).is_some()
        {
            return Ok(id);
        }
        let servers = self.service().list();
        let found = servers.iter().find(|config| config.slug == named.0);
        found.map(|config| config.id).ok_or_else(|| {
            let known: Vec<&str> = servers.iter().map(|config| config.slug.as_str()).collect();
            let hint = match known.is_empty() {
                true => "No managed servers exist yet. Add one with `draftboard server add`.".to_owned(),
                false => format!("The managed servers are {}.", known.join(", ")),
            };
            let similar = authority::similar(&named.0, known.iter().copied());
            views::unknown(&named.0).hint(hint).suggest(similar)
        })
    }

    fn config(&self, id: Uuid) -> Result<ManagedServerConfig, Refusal> {
        self.service().get(id).ok_or_else(|| views::unknown(&id.to_string()))
    }

    /// The policy of a tool of a server or of a manifest, by the name that agents call.
    fn policy(&self, exposed: &str) -> Result<ToolCallPolicy, Refusal> {
        let service = self.service();
        if let Ok(tool) = service.manifest_tool(exposed) {
            return Ok(service.manifest_policy(&tool));
        }
        let tools =
            service.list().into_iter().flat_map(|config| service.tools(config.id)).collect::<Vec<_>>();
        let found = tools.iter().find(|tool| tool.exposed == exposed);
        found.map(|tool| tool.policy).ok_or_else(|| unknown_tool(exposed, &tools))
    }

    /// Carries out a person's own call.
    async fn call(&self, call: &ToolCall, by: &RequestOrigin) -> Result<ToolCallResult, Refusal> {
        let arguments = serde_json::from_str(&call.arguments).map_err(|error| {
            Refusal::new(RefusalCode::ValidationError, format!("The arguments are not JSON: {error}"))
                .field("arguments")
        })?;
        let service = self.service();
        let answered = if let Ok(tool) = service.manifest_tool(&call.tool) {
            refuse_changed(call, &tool.hash)?;
            service.call_manifest_tool(&call.tool, &arguments).await
        } else {
            let servers = service.list();
            let tools = servers.iter().flat_map(|config| service.tools(config.id)).collect::<Vec<_>>();
            let found = tools.iter().find(|tool| tool.exposed == call.tool);
            let found = found.ok_or_else(|| unknown_tool(&call.tool, &tools))?;
            refuse_changed(call, &found.hash)?;
            service.call_tool(found.server, &call.tool, &arguments).await
        };
        let came = match &answered {
            Ok(answer) if answer.is_error => "it returned an error".to_owned(),
            Ok(_) => "it succeeded".to_owned(),
            Err(failure) => failure.message.clone(),
        };
        let reason = format!("{}: {came}", purpose::shorten(&call.tool));
        self.following.audit(AuditEvent::Call, by.clone(), reason).await;
        let answer = answered?;
        Ok(ToolCallResult { json: answer.json, is_error: answer.is_error })
    }
}

/// A decision on its way into the audit.
struct DecisionRecord<'a> {
    handler: &'a ManagedServerMsgHandler,
    purpose: String,
    by: RequestOrigin,
}

impl DecisionRecord<'_> {
    /// Records the decision with its outcome, then responds.
    async fn finish<T: 'static>(self, result: Result<T, Refusal>, responder: Responder<T>) {
        let text = match &result {
            Ok(_) => self.purpose,
            Err(refusal) => format!("{}: {}", self.purpose, refusal.message),
        };
        self.handler.following.audit(AuditEvent::Upstream, self.by, text).await;
        responder.send(result);
    }
}

/// Refuses when the tool is not the one that was shown when the call was decided.
pub(super) fn refuse_changed(call: &ToolCall, hash: &str) -> Result<(), Refusal> {
    if call.definition.as_ref().is_none_or(|shown| shown == hash) {
        return Ok(());
    }
    let message =
        format!("{} has changed since it was shown. The call was not sent.", purpose::shorten(&call.tool));
    Err(Refusal::new(RefusalCode::Conflict, message)
        .hint("Review the tool as it is now, then call it again."))
}

fn unknown_tool(exposed: &str, tools: &[mcp_client::ManagedServerTool]) -> Refusal {
    let known = tools.iter().map(|tool| tool.exposed.as_str());
    Refusal::new(RefusalCode::NotFound, format!("No running server has a tool {exposed:.64}."))
        .suggest(authority::similar(exposed, known))
        .hint("`draftboard server tools` lists all tools.")
}

fn read_import(source: &ServerImportInput) -> Result<mcp_client::ImportReport, Refusal> {
    mcp_client::import(&sources::text(source)?)
}

fn import(
    service: &ManagedServersService,
    source: &ServerImportInput,
    names: &[String],
) -> Result<ImportedServers, Refusal> {
    let import = read_import(source)?;
    let (mut servers, mut refused) = (Vec::new(), import.refused);
    for server in import.servers.into_iter().filter(|server| names.contains(&server.config.name)) {
        let (name, mut config) = (server.config.name.clone(), server.config);
        forms::reset_trust(&mut config);
        match service.create_with_secrets(config, &server.secrets) {
            Ok(created) => servers.push(views::brief(service, &created)),
            Err(failure) => refused.push((name, failure.message)),
        }
    }
    refused.retain(|(name, _)| names.contains(name));
    Ok(ImportedServers { servers, refused })
}
