//! Opens the service, receives orders, and carries out each in a task of its own, so that a hanging server delays nothing else.

use super::{
    AcceptedCall, ManagedServerContext, ManagedServerOrder, ManagedServersHandle, RequestOrigin, forms,
    internal, proxied_tools, publish::ManagedServerState, purpose, sources, too_many, views,
};
use processes::WardenCommand;
use shared_protocol::{
    Refusal, RefusalCode,
    request::Responder,
    review::AuditEvent,
    upstreams::{
        ManagedServerDecision, ManagedServerRequest, ManagedServerResponse, ManagedServersView, ServerId,
        ServerImportInput, ToolCall, ToolCallPolicy, ToolCallResult,
    },
};
use std::{sync::Arc, time::Duration};
use tokio::{
    runtime::Handle,
    sync::{Semaphore, mpsc},
};
use upstreams::{
    McpConfig, McpService, McpServiceSetup, SERVER_BACKOFF, ToolSettings, best_secret_store,
    inherited_environment,
};
use uuid::Uuid;

/// The number of orders that are carried out at once.
const MAX_CONCURRENT_ORDERS: usize = 64;
/// The time that a request for a log waits for the first new line.
const LOG_WAIT: Duration = Duration::from_millis(1_500);
const LOG_INTERVAL: Duration = Duration::from_millis(150);

pub(super) async fn run(
    link: ManagedServersHandle,
    mut orders: mpsc::Receiver<ManagedServerOrder>,
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
            ManagedServerOrder::Request { request: ManagedServerRequest::List, responder, .. } => {
                responder.send(Ok(ManagedServerResponse::View(Box::new(link.view().as_ref().clone()))));
            }
            ManagedServerOrder::Request { responder, .. } | ManagedServerOrder::Decide { responder, .. } => {
                responder.send(Err(Refusal::new(RefusalCode::ServiceUnavailable, problem.clone())));
            }
            ManagedServerOrder::Accepted(AcceptedCall { proposal, .. }) => {
                let refusal = Refusal::new(RefusalCode::ServiceUnavailable, problem.clone());
                context.action_runs.finish(proposal, mcp_server::ActionResult::from_refusal(refusal));
            }
            ManagedServerOrder::Stop(done) => {
                // Disconnected: the caller has stopped waiting.
                let _ = done.send(());
                return;
            }
        }
    }
}

/// Opens the service. Reads the keyring and files, so it may take a moment.
fn open(context: &ManagedServerContext, runtime: Handle) -> Result<McpService, upstreams::UpstreamError> {
    let folders = &context.folders;
    let setup = McpServiceSetup {
        config_file: folders.config.join("upstreams.json"),
        data: folders.data.clone(),
        environment: inherited_environment(),
        spawner: Arc::new(WardenCommand::new(&context.exe)),
        secrets: best_secret_store(&folders.config),
        internal: Arc::new(internal::InternalMethodTable(Arc::clone(&context.events))),
        backoff: SERVER_BACKOFF,
    };
    McpService::open(setup, runtime)
}

async fn serve(
    service: Arc<McpService>,
    link: ManagedServersHandle,
    mut orders: mpsc::Receiver<ManagedServerOrder>,
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
        let (work, responder) = match order {
            ManagedServerOrder::Request { request, by, responder } => {
                (PendingOrder::Request(request, by), responder)
            }
            ManagedServerOrder::Decide { decision, by, responder } => {
                (PendingOrder::Decide(decision, by), responder)
            }
            ManagedServerOrder::Accepted(accepted) => {
                let following = Arc::clone(&following);
                tokio::spawn(async move { proxied_tools::call_accepted(&following, &accepted).await });
                continue;
            }
            ManagedServerOrder::Stop(done) => {
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
                let handler = OrderHandler { following: Arc::clone(&following) };
                tokio::spawn(async move {
                    handler.handle(work, responder).await;
                    drop(place);
                });
            }
            Err(_) => responder.send(Err(too_many())),
        }
    }
}

enum PendingOrder {
    Request(ManagedServerRequest, RequestOrigin),
    Decide(ManagedServerDecision, RequestOrigin),
}

/// Carries out one order.
struct OrderHandler {
    following: Arc<ManagedServerState>,
}

impl OrderHandler {
    fn service(&self) -> &Arc<McpService> {
        &self.following.service
    }

    async fn handle(&self, work: PendingOrder, responder: Responder<ManagedServerResponse>) {
        let result = match work {
            PendingOrder::Request(request, by) => self.request(request, &by).await,
            PendingOrder::Decide(decision, by) => {
                let purpose = purpose::describe(&decision, &self.following.view());
                let result = self.decide(decision, &by).await;
                let text = purpose.unwrap_or_else(|refusal| refusal.message);
                let text = match &result {
                    Ok(_) => text,
                    Err(refusal) => format!("{text}: {}", refusal.message),
                };
                self.following.audit(AuditEvent::Upstream, by, text).await;
                result
            }
        };
        responder.send(result);
    }

    async fn request(
        &self,
        request: ManagedServerRequest,
        by: &RequestOrigin,
    ) -> Result<ManagedServerResponse, Refusal> {
        let service = self.service();
        match request {
            ManagedServerRequest::List => Ok(ManagedServerResponse::View(Box::new(self.following.view()))),
            ManagedServerRequest::Show { server } => self.server_answer(self.find(&server)?).await,
            ManagedServerRequest::Log { server, from } => self.log(self.find(&server)?, from).await,
            ManagedServerRequest::Start { server } => {
                let id = self.find(&server)?;
                service.start(id).await.map_err(views::refusal)?;
                self.server_answer(id).await
            }
            ManagedServerRequest::Stop { server } => {
                let id = self.find(&server)?;
                service.stop(id).await.map_err(views::refusal)?;
                self.server_answer(id).await
            }
            ManagedServerRequest::Restart { server } => {
                let id = self.find(&server)?;
                service.restart(id).await.map_err(views::refusal)?;
                self.server_answer(id).await
            }
            ManagedServerRequest::Disable { server } => {
                let id = self.find(&server)?;
                service.toggle(id, false).await.map_err(views::refusal)?;
                self.server_answer(id).await
            }
            ManagedServerRequest::Add { form } => {
                let (mut config, secrets) = forms::config(*form, None)?;
                forms::reset_trust(&mut config);
                let created = self
                    .background(move |service| {
                        service.create_with_secrets(config, &secrets).map_err(views::refusal)
                    })
                    .await?;
                self.server_answer(created.id).await
            }
            ManagedServerRequest::Sources => {
                let root = self.following.root();
                self.background(move |_| Ok(ManagedServerResponse::Sources(sources::list(root)))).await
            }
            ManagedServerRequest::PreviewImport { source } => {
                self.background(move |service| {
                    let import = read_import(&source)?;
                    Ok(ManagedServerResponse::Import(Box::new(views::import(&import, service))))
                })
                .await
            }
            ManagedServerRequest::Import { source, names } => {
                self.background(move |service| import(service, &source, &names)).await
            }
            ManagedServerRequest::SearchRegistry { registry, query } => {
                let place = registry.filter(|place| !place.trim().is_empty());
                let place = place.unwrap_or_else(|| self.following.places.registry.clone());
                let found = upstreams::search_registry(place.trim(), &query).await.map_err(views::refusal)?;
                Ok(ManagedServerResponse::Registry(found.iter().map(views::registry_server).collect()))
            }
            ManagedServerRequest::Withdraw { server, tool } => {
                let id = self.find(&server)?;
                service.withdraw(id, &tool).map_err(views::refusal)?;
                self.server_answer(id).await
            }
            ManagedServerRequest::Call(call) => match self.policy(&call.tool)? {
                ToolCallPolicy::Allow => self.call(&call, by).await,
                ToolCallPolicy::Ask => Err(Refusal::new(
                    RefusalCode::ConfirmationRequired,
                    format!("{} needs a person's approval for each call.", purpose::shorten(&call.tool)),
                )
                .hint("Confirm the call with the code that Draftboard shows.")),
                ToolCallPolicy::Deny => Err(Refusal::new(
                    RefusalCode::Conflict,
                    format!("{} is denied by its policy.", purpose::shorten(&call.tool)),
                )
                .hint("Change its policy under Upstreams.")),
            },
            ManagedServerRequest::ReloadManifests => {
                let following = Arc::clone(&self.following);
                self.background(move |_| {
                    following.read_manifests();
                    Ok(ManagedServerResponse::View(Box::new(following.view())))
                })
                .await
            }
        }
    }

    async fn decide(
        &self,
        decision: ManagedServerDecision,
        by: &RequestOrigin,
    ) -> Result<ManagedServerResponse, Refusal> {
        let service = self.service();
        match decision {
            ManagedServerDecision::Enable { server } => {
                let id = self.find(&server)?;
                service.toggle(id, true).await.map_err(views::refusal)?;
                self.server_answer(id).await
            }
            ManagedServerDecision::Approve { server, tools } => {
                let id = self.find(&server)?;
                service.approve_seen(id, &tools).map_err(views::refusal)?;
                self.server_answer(id).await
            }
            ManagedServerDecision::SetTool { server, tool, enabled, policy, idle_ms, total_ms } => {
                let id = self.find(&server)?;
                let mut config = self.config(id)?;
                let policy = forms::tool_policy(policy);
                config.tools.insert(tool, ToolSettings { enabled, policy, idle_ms, total_ms });
                service.update(config).map_err(views::refusal)?;
                self.server_answer(id).await
            }
            ManagedServerDecision::Update { server, form } => {
                let id = self.find(&server)?;
                let (config, secrets) = forms::config(*form, Some(&self.config(id)?))?;
                self.background(move |service| {
                    service.update_with_secrets(config, &secrets).map_err(views::refusal)
                })
                .await?;
                self.server_answer(id).await
            }
            ManagedServerDecision::Delete { server } => {
                let id = self.find(&server)?;
                self.background(move |service| service.delete(id).map_err(views::refusal)).await?;
                Ok(ManagedServerResponse::Done)
            }
            ManagedServerDecision::SetSecret { server, part, secret } => {
                let id = self.find(&server)?;
                let secret = forms::typed_secret(&part, &secret)?;
                self.background(move |service| {
                    service.set_secret(id, &part, &secret).map_err(views::refusal)
                })
                .await?;
                self.server_answer(id).await
            }
            ManagedServerDecision::ApproveManifest { hash } => {
                service.approve_manifest(&hash).map_err(views::refusal)?;
                self.read_manifests().await
            }
            ManagedServerDecision::SetManifestPolicy { tool, policy } => {
                service.set_manifest_policy(&tool, forms::tool_policy(policy)).map_err(views::refusal)?;
                Ok(ManagedServerResponse::View(Box::new(self.following.view())))
            }
            ManagedServerDecision::SetManifestSecret { manifest, credential, secret } => {
                let secret = forms::typed_secret(&credential, &secret)?;
                self.background(move |service| {
                    service.set_manifest_secret(&manifest, &credential, &secret).map_err(views::refusal)
                })
                .await?;
                self.read_manifests().await
            }
            ManagedServerDecision::Call(call) => self.call(&call, by).await,
        }
    }

    /// Runs work that waits for files or a keyring on a thread of its own.
    async fn background<T: Send + 'static>(
        &self,
        work: impl FnOnce(&McpService) -> Result<T, Refusal> + Send + 'static,
    ) -> Result<T, Refusal> {
        let service = Arc::clone(self.service());
        let done = tokio::task::spawn_blocking(move || work(&service)).await;
        done.unwrap_or_else(|error| Err(Refusal::new(RefusalCode::Internal, error.to_string())))
    }

    async fn server_answer(&self, id: Uuid) -> Result<ManagedServerResponse, Refusal> {
        let details = self.background(move |service| views::details(service, id)).await?;
        Ok(ManagedServerResponse::Server(Box::new(details)))
    }

    async fn read_manifests(&self) -> Result<ManagedServerResponse, Refusal> {
        let following = Arc::clone(&self.following);
        self.background(move |_| {
            following.read_manifests();
            Ok(ManagedServerResponse::View(Box::new(following.view())))
        })
        .await
    }

    async fn log(&self, id: Uuid, from: u64) -> Result<ManagedServerResponse, Refusal> {
        let end = tokio::time::Instant::now() + LOG_WAIT;
        loop {
            let part = views::log(self.service(), id, from).ok_or_else(|| views::unknown(&id.to_string()))?;
            if !part.lines.is_empty() || tokio::time::Instant::now() >= end {
                return Ok(ManagedServerResponse::Log(part));
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
            let known = servers.iter().map(|config| config.slug.as_str());
            views::unknown(&named.0).suggest(authority::similar(&named.0, known))
        })
    }

    fn config(&self, id: Uuid) -> Result<McpConfig, Refusal> {
        self.service().get(id).ok_or_else(|| views::unknown(&id.to_string()))
    }

    /// The policy of a tool of a server or of a manifest, by the name that agents call.
    fn policy(&self, exposed: &str) -> Result<ToolCallPolicy, Refusal> {
        let service = self.service();
        if let Ok(tool) = service.manifest_tool(exposed) {
            return Ok(forms::policy(service.manifest_policy(&tool)));
        }
        let tools =
            service.list().into_iter().flat_map(|config| service.tools(config.id)).collect::<Vec<_>>();
        let found = tools.iter().find(|tool| tool.exposed == exposed);
        found.map(|tool| forms::policy(tool.policy)).ok_or_else(|| unknown_tool(exposed, &tools))
    }

    /// Carries out a person's own call.
    async fn call(&self, call: &ToolCall, by: &RequestOrigin) -> Result<ManagedServerResponse, Refusal> {
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
        let answer = answered.map_err(views::refusal)?;
        Ok(ManagedServerResponse::Called(ToolCallResult { json: answer.json, is_error: answer.is_error }))
    }
}

/// Refuses when the tool is not the one that was shown when the call was decided.
pub(super) fn refuse_changed(call: &ToolCall, hash: &str) -> Result<(), Refusal> {
    if call.definition.as_ref().is_none_or(|shown| shown == hash) {
        return Ok(());
    }
    let message =
        format!("{} has changed since it was shown. Nothing was called.", purpose::shorten(&call.tool));
    Err(Refusal::new(RefusalCode::Conflict, message)
        .hint("Review the tool as it is now, then call it again."))
}

fn unknown_tool(exposed: &str, tools: &[upstreams::UpstreamTool]) -> Refusal {
    let known = tools.iter().map(|tool| tool.exposed.as_str());
    Refusal::new(RefusalCode::NotFound, format!("No running server has a tool {exposed:.64}."))
        .suggest(authority::similar(exposed, known))
        .hint("`draftboard upstream tools` lists all tools.")
}

fn read_import(source: &ServerImportInput) -> Result<upstreams::ImportReport, Refusal> {
    upstreams::import(&sources::text(source)?).map_err(views::refusal)
}

fn import(
    service: &McpService,
    source: &ServerImportInput,
    names: &[String],
) -> Result<ManagedServerResponse, Refusal> {
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
    Ok(ManagedServerResponse::Imported { servers, refused })
}
