//! Proxied tools: tools of servers and manifests that agents may call, and the checks of each call. A person has approved each
//! tool; its policy decides whether each call needs a person again. Every call is in the audit.

use super::{AcceptedToolCall, RequestOrigin, orders, publish::ManagedServerState, purpose};
use mcp_client::{CallProgress, ManagedServerTool, ManagedServersService, ManifestTool, ServerToolAnswer};
use mcp_server::{
    ActionOutputLine, ActionRequest, ActionResult, AgentCall, ForwardFuture, ProxiedTool, ProxiedTools,
    SurfaceTool as Offered, parse_wait_seconds,
};
use serde_json::Value;
use shared_protocol::{
    Refusal, RefusalCode,
    managed_servers::{ManagedServersView, ToolCall, ToolCallPolicy},
    proposal::ProposedAction,
    review::{AuditEvent, MAX_SHOWN_TEXT_BYTES},
};
use std::{collections::BTreeMap, sync::Arc};
use tokio::sync::mpsc;
use tokio_util::sync::CancellationToken;
use uuid::Uuid;

/// The number of progress messages that may wait for a slow agent.
const MAX_PROGRESS_MESSAGES: usize = 64;

/// The tools that are offered now. The list stays the same object as long as no tool differs, so that agents are not notified
/// in vain.
pub(super) fn tools(
    following: &Arc<ManagedServerState>,
    before: &ProxiedTools,
    known: &mut BTreeMap<String, ProxiedTool>,
    view: Arc<ManagedServersView>,
) -> ProxiedTools {
    let service = &following.service;
    let of_servers = service.available_tools().into_iter().map(|tool| of_server(&tool));
    let of_manifests = service
        .manifest_tools()
        .into_iter()
        .filter(|tool| service.manifest_policy(tool) != ToolCallPolicy::Deny)
        .map(|tool| of_manifest(&tool));
    let now: BTreeMap<String, ProxiedTool> =
        of_servers.chain(of_manifests).map(|guest| (guest.name.clone(), guest)).collect();
    if now == *known {
        return before.with_managed_servers(view);
    }
    let tools = now.values().map(|guest| {
        let (following, name) = (Arc::clone(following), guest.name.clone());
        Offered::proxied(guest, move |call| -> ForwardFuture {
            let called = ProxiedToolCall { following: Arc::clone(&following), name: name.clone() };
            Box::pin(async move { called.forward(call).await })
        })
    });
    let proxied_tools = ProxiedTools::new(tools, view);
    *known = now;
    proxied_tools
}

fn hint(annotations: Option<&Value>, name: &str) -> Option<bool> {
    annotations?.get(name)?.as_bool()
}

/// The annotations of a server can only make a tool more dangerous, unless a person trusts them.
fn of_server(tool: &ManagedServerTool) -> ProxiedTool {
    let destructive = hint(tool.annotations.as_ref(), "destructiveHint");
    ProxiedTool {
        name: tool.exposed.clone(),
        title: tool.title.clone(),
        description: tool.description.clone().unwrap_or_default(),
        input_schema: tool.input_schema.clone(),
        output_schema: tool.output_schema.clone(),
        read_only: tool.read_only,
        destructive: !tool.read_only && destructive != Some(false),
        idempotent: tool.read_only,
    }
}

fn of_manifest(tool: &ManifestTool) -> ProxiedTool {
    let says = |name: &str| hint(tool.annotations.as_ref(), name) == Some(true);
    let read_only = tool.only_reads();
    ProxiedTool {
        name: tool.exposed.clone(),
        title: tool.title.clone(),
        description: tool.description.clone().unwrap_or_default(),
        input_schema: tool.input_schema.clone(),
        output_schema: tool.output_schema.clone(),
        read_only,
        destructive: !read_only && says("destructiveHint"),
        idempotent: read_only || says("idempotentHint"),
    }
}

/// The server or manifest that a tool belongs to.
enum ToolOwner {
    Server { id: Uuid, name: String },
    Manifest { path: String },
}

/// A tool at the time of a call.
struct CallableTool {
    owner: ToolOwner,
    policy: ToolCallPolicy,
    destructive: bool,
    /// The hash of its definition or of its manifest.
    hash: String,
    /// The server that receives the arguments, if any.
    server: Option<Uuid>,
}

/// Finds one tool. Every call passes here, so it does not list all tools.
fn find(service: &ManagedServersService, exposed: &str) -> Result<CallableTool, Refusal> {
    if let Ok(tool) = service.manifest_tool(exposed) {
        return Ok(CallableTool {
            policy: service.manifest_policy(&tool),
            destructive: hint(tool.annotations.as_ref(), "destructiveHint") == Some(true),
            owner: ToolOwner::Manifest { path: tool.path.display().to_string() },
            hash: tool.hash.clone(),
            server: tool.server().and_then(|slug| service.by_slug(slug)),
        });
    }
    let Some(tool) = service.find_offered(exposed) else {
        let message = format!(
            "{exposed:.64} is not available: its server is not running, or a person has disabled it."
        );
        return Err(Refusal::new(RefusalCode::ServiceUnavailable, message)
            .hint("list_upstreams lists the available tools."));
    };
    Ok(CallableTool {
        policy: tool.policy,
        destructive: tool.destructive,
        hash: tool.hash,
        server: Some(tool.server),
        owner: ToolOwner::Server { id: tool.server, name: tool.server_name },
    })
}

impl ToolOwner {
    fn describe(&self) -> &str {
        match self {
            Self::Server { name, .. } => name,
            Self::Manifest { path } => path,
        }
    }
}

/// One call of an agent.
struct ProxiedToolCall {
    following: Arc<ManagedServerState>,
    name: String,
}

impl ProxiedToolCall {
    async fn forward(&self, call: AgentCall) -> Result<String, Refusal> {
        let service = &self.following.service;
        let found = find(service, &self.name)?;
        let arguments = Value::Object(call.arguments.clone());
        let client = call.client.proposer.name.clone();
        if found.server.is_some_and(|server| service.holds_secret(server, &arguments)) {
            self.record_audit(&client, "refused: its arguments contain a secret").await;
            let message = "The arguments contain a secret of this server. Leave it out; the server has its secrets already.";
            return Err(Refusal::new(RefusalCode::ValidationError, message).field("arguments"));
        }
        match found.policy {
            ToolCallPolicy::Deny => {
                self.record_audit(&client, "refused: its policy is deny").await;
                Err(Refusal::new(RefusalCode::Conflict, format!("{} is denied by its policy.", self.name)))
            }
            ToolCallPolicy::Allow => {
                self.record_audit(&client, "allowed by its policy; started").await;
                let (told, heard) = mpsc::channel(MAX_PROGRESS_MESSAGES);
                let progress = call.progress.clone();
                let telling = send_progress(heard, progress);
                let (answered, ()) = tokio::join!(
                    run(service, &found.owner, &self.name, &arguments, told, &call.cancelled),
                    telling
                );
                self.record_audit(&client, &outcome(&answered)).await;
                answered.map(|answer| answer.json)
            }
            ToolCallPolicy::Ask => self.propose(call, &found, &arguments).await,
        }
    }

    /// Proposes the call, and waits for the decision and the outcome.
    async fn propose(
        &self,
        call: AgentCall,
        found: &CallableTool,
        arguments: &Value,
    ) -> Result<String, Refusal> {
        let service = &self.following.service;
        // Invalid arguments are refused before a person is asked.
        match &found.owner {
            ToolOwner::Server { id, .. } => service.check_arguments(*id, &self.name, arguments),
            ToolOwner::Manifest { .. } => service.check_manifest_arguments(&self.name, arguments),
        }?;
        let text = serde_json::to_string_pretty(arguments).unwrap_or_default();
        if text.len() > MAX_SHOWN_TEXT_BYTES {
            let message = format!(
                "The arguments are larger than {MAX_SHOWN_TEXT_BYTES} bytes, which is too much to review."
            );
            return Err(Refusal::new(RefusalCode::LimitExceeded, message).field("arguments"));
        }
        let act = ProposedAction::Call {
            tool: self.name.clone(),
            from: found.owner.describe().to_owned(),
            arguments: text,
            destructive: found.destructive,
            definition: found.hash.clone(),
        };
        let submission = authority::proposals::ProposalSubmission {
            title: format!("Call {}", self.name),
            ..authority::proposals::ProposalSubmission::default()
        };
        // A call whose client has gone is cancelled, although it may have changed the real world already.
        let asking = ActionRequest { act, submission, wait: parse_wait_seconds(None)?, stops: true };
        let acted = call.propose_action(asking).await?;
        match &acted.result.result {
            Ok(Value::Null) => Err(Refusal::new(
                RefusalCode::ServiceUnavailable,
                format!("The call was sent ({}), but its result is no longer available.", acted.result.words),
            )),
            Ok(result) => Ok(result.to_string()),
            Err(refusal) => Err(refusal.clone()),
        }
    }

    async fn record_audit(&self, client: &str, what: &str) {
        record_audit(&self.following, client, &self.name, what).await;
    }
}

/// Records a call in the audit, without its arguments and answer: they may be private.
async fn record_audit(following: &Arc<ManagedServerState>, client: &str, tool: &str, what: &str) {
    let by = RequestOrigin { name: client.to_owned(), channel: "agent" };
    let reason = format!("{}: {}", purpose::shorten(tool), purpose::shorten(what));
    following.audit(AuditEvent::Call, by, reason).await;
}

fn outcome(answered: &Result<ServerToolAnswer, Refusal>) -> String {
    match answered {
        Ok(answer) if answer.is_error => "it returned an error".to_owned(),
        Ok(_) => "it succeeded".to_owned(),
        Err(refusal) => format!("no answer: {}", refusal.message),
    }
}

/// Calls the tool once. Cancelling drops the call, which notifies the server.
async fn run(
    service: &ManagedServersService,
    whose: &ToolOwner,
    exposed: &str,
    arguments: &Value,
    progress: mpsc::Sender<CallProgress>,
    cancelled: &CancellationToken,
) -> Result<ServerToolAnswer, Refusal> {
    let calling = async {
        match whose {
            ToolOwner::Server { id, .. } => {
                service.call_tool_with_progress(*id, exposed, arguments, Some(progress)).await
            }
            ToolOwner::Manifest { .. } => {
                service.call_manifest_tool_with_progress(exposed, arguments, Some(progress)).await
            }
        }
    };
    tokio::select! {
        answered = calling => answered,
        () = cancelled.cancelled() => {
            let message = "The call was cancelled. It may have taken effect.";
            Err(Refusal::new(RefusalCode::Timeout, message))
        }
    }
}

fn progress_text(progress: &CallProgress) -> String {
    let CallProgress { progress, total, message } = progress;
    let far = match total {
        Some(total) => format!("{progress} of {total}"),
        None => progress.to_string(),
    };
    match message {
        Some(message) => format!("{message} ({far})"),
        None => far,
    }
}

async fn send_progress(mut heard: mpsc::Receiver<CallProgress>, progress: mcp_server::ProgressReporter) {
    while let Some(step) = heard.recv().await {
        progress.report(mcp_server::escape_hidden(&progress_text(&step)).into_owned(), None).await;
    }
}

/// Finds the tool of an accepted call. Refuses when it has changed since it was shown, or was denied meanwhile.
fn find_accepted(service: &ManagedServersService, call: &ToolCall) -> Result<CallableTool, Refusal> {
    let found = find(service, &call.tool)?;
    orders::refuse_changed(call, &found.hash)?;
    if found.policy == ToolCallPolicy::Deny {
        let message =
            format!("{} was denied in the meantime. The call was not sent.", purpose::shorten(&call.tool));
        return Err(Refusal::new(RefusalCode::Conflict, message));
    }
    Ok(found)
}

/// Makes an accepted call. Its progress and outcome go to the waiting call, and the outcome is recorded with the proposal.
pub(super) async fn call_accepted(following: &Arc<ManagedServerState>, accepted: &AcceptedToolCall) {
    let AcceptedToolCall { proposal, number, proposer, call } = accepted;
    let (proposal, action_runs) = (*proposal, &following.context.action_runs);
    action_runs.begin(proposal);
    let stop = CancellationToken::new();
    let stopping = stop.clone();
    action_runs.stops_with(proposal, move || stopping.cancel());
    let answered = match find_accepted(&following.service, call) {
        Ok(found) => {
            let arguments = serde_json::from_str(&call.arguments).unwrap_or_default();
            let begins = format!("accepted by a person as proposal {number}; started");
            record_audit(following, proposer, &call.tool, &begins).await;
            let (told, mut heard) = mpsc::channel(MAX_PROGRESS_MESSAGES);
            let telling = async {
                while let Some(step) = heard.recv().await {
                    action_runs.append_output(
                        proposal,
                        [ActionOutputLine { text: progress_text(&step), error: false }],
                    );
                }
            };
            let (answered, ()) = tokio::join!(
                run(&following.service, &found.owner, &call.tool, &arguments, told, &stop),
                telling
            );
            answered
        }
        Err(refusal) => Err(refusal),
    };
    let words = outcome(&answered);
    record_audit(following, proposer, &call.tool, &format!("proposal {number}: {words}")).await;
    let done = match answered {
        Ok(answer) => ActionResult::ok(words, answer.value()),
        Err(refusal) => ActionResult::from_refusal(refusal),
    };
    let (events, outcome) = (Arc::clone(&following.context.events), done.words.clone());
    drop(tokio::task::spawn_blocking(move || events.record_outcome(proposal, outcome)).await);
    action_runs.finish(proposal, done);
}
