//! Tools of servers and manifests as agents meet them: which are offered, and what a call goes through. A person has approved
//! each of them; its policy says whether each call asks a person again. Every call is in the audit.

use super::{Accepted, By, follow::Following, forms, keeper, views, words};
use mcp_server::{Asking, Call, Code, Done, Failure, Guest, Guests, Passing, Said, Tool as Offered, wait_of};
use serde_json::Value;
use shared_protocol::{
    Refusal,
    proposal::Act,
    review::{AuditEvent, MAX_SHOWN_TEXT},
    upstreams::{Policy, ToolCall, UpstreamsView},
};
use std::{collections::BTreeMap, sync::Arc};
use tokio::sync::mpsc;
use tokio_util::sync::CancellationToken;
use upstreams::{Answer, ManifestTool, McpService, Progress, Tool, ToolPolicy};
use uuid::Uuid;

/// Words about progress that may wait for an agent that does not take them.
const MOST_PROGRESS: usize = 64;

/// What is offered now. The tools stay the very same as long as none of them differs, so that nobody is told for nothing.
pub(super) fn guests(
    following: &Arc<Following>,
    before: &Guests,
    known: &mut BTreeMap<String, Guest>,
    view: Arc<UpstreamsView>,
) -> Guests {
    let service = &following.service;
    let of_servers = service.available_tools().into_iter().map(|tool| of_server(&tool));
    let of_manifests = service
        .manifest_tools()
        .into_iter()
        .filter(|tool| service.manifest_policy(tool) != ToolPolicy::Deny)
        .map(|tool| of_manifest(&tool));
    let now: BTreeMap<String, Guest> =
        of_servers.chain(of_manifests).map(|guest| (guest.name.clone(), guest)).collect();
    if now == *known {
        return before.with_upstreams(view);
    }
    let tools = now.values().map(|guest| {
        let (following, name) = (Arc::clone(following), guest.name.clone());
        Offered::guest(guest, move |call| -> Passing {
            let called = Called { following: Arc::clone(&following), name: name.clone() };
            Box::pin(async move { called.pass(call).await })
        })
    });
    let guests = Guests::new(tools, view);
    *known = now;
    guests
}

fn hint(annotations: Option<&Value>, name: &str) -> Option<bool> {
    annotations?.get(name)?.as_bool()
}

/// What a server says about itself can only make it look more dangerous, unless a person believes it.
fn of_server(tool: &Tool) -> Guest {
    let destructive = hint(tool.annotations.as_ref(), "destructiveHint");
    Guest {
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

fn of_manifest(tool: &ManifestTool) -> Guest {
    let says = |name: &str| hint(tool.annotations.as_ref(), name) == Some(true);
    let read_only = tool.only_reads();
    Guest {
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

/// Whose a tool is.
enum Whose {
    Server { id: Uuid, name: String },
    Manifest { path: String },
}

/// A tool as it stands at the moment of a call.
struct Found {
    whose: Whose,
    policy: Policy,
    destructive: bool,
    /// Of its definition, or of its manifest.
    hash: String,
    /// The server that arguments go to, if one does.
    server: Option<Uuid>,
}

/// Looks at one tool alone: this is on the way of every call.
fn find(service: &McpService, exposed: &str) -> Result<Found, Refusal> {
    if let Ok(tool) = service.manifest_tool(exposed) {
        return Ok(Found {
            policy: forms::policy(service.manifest_policy(&tool)),
            destructive: hint(tool.annotations.as_ref(), "destructiveHint") == Some(true),
            whose: Whose::Manifest { path: tool.path.display().to_string() },
            hash: tool.hash.clone(),
            server: tool.server().and_then(|slug| service.by_slug(slug)),
        });
    }
    let Some(tool) = service.offered(exposed) else {
        let message = format!(
            "{exposed:.64} is not offered any more: its server does not run, or a person has hidden it"
        );
        return Err(Refusal::new(shared_protocol::Code::ServiceUnavailable, message)
            .hint("list_upstreams tells which tools can be called."));
    };
    Ok(Found {
        policy: forms::policy(tool.policy),
        destructive: tool.destructive,
        hash: tool.hash,
        server: Some(tool.server),
        whose: Whose::Server { id: tool.server, name: tool.server_name },
    })
}

impl Whose {
    fn words(&self) -> &str {
        match self {
            Self::Server { name, .. } => name,
            Self::Manifest { path } => path,
        }
    }
}

/// One call of an agent.
struct Called {
    following: Arc<Following>,
    name: String,
}

impl Called {
    async fn pass(&self, call: Call) -> Result<String, Failure> {
        let service = &self.following.service;
        let found = find(service, &self.name)?;
        let arguments = Value::Object(call.arguments.clone());
        let client = call.client.proposer.name.clone();
        if found.server.is_some_and(|server| service.holds_secret(server, &arguments)) {
            self.note(&client, "refused: its arguments hold a secret").await;
            let message = "the arguments hold a secret of this server; it has its secrets already";
            return Err(Failure::new(Code::ValidationError, message).field("arguments"));
        }
        match found.policy {
            Policy::Deny => {
                self.note(&client, "refused: its policy is deny").await;
                Err(Failure::new(Code::Conflict, format!("a person has forbidden {}", self.name)))
            }
            Policy::Allow => {
                self.note(&client, "allowed by its policy; it begins").await;
                let (told, heard) = mpsc::channel(MOST_PROGRESS);
                let progress = call.progress.clone();
                let telling = tell_agent(heard, progress);
                let (answered, ()) = tokio::join!(
                    run(service, &found.whose, &self.name, &arguments, told, &call.cancelled),
                    telling
                );
                self.note(&client, &outcome(&answered)).await;
                answered.map(|answer| answer.json).map_err(Failure::from)
            }
            Policy::Ask => self.ask(call, &found, &arguments).await,
        }
    }

    /// Proposes the call, and waits for a person and for what comes of it.
    async fn ask(&self, call: Call, found: &Found, arguments: &Value) -> Result<String, Failure> {
        let service = &self.following.service;
        // A person is not asked about what could not be done anyway.
        match &found.whose {
            Whose::Server { id, .. } => service.check_arguments(*id, &self.name, arguments),
            Whose::Manifest { .. } => service.check_manifest_arguments(&self.name, arguments),
        }
        .map_err(|failure| Failure::from(views::refusal(failure)))?;
        let text = serde_json::to_string_pretty(arguments).unwrap_or_default();
        if text.len() > MAX_SHOWN_TEXT {
            let message =
                format!("the arguments have more than {MAX_SHOWN_TEXT} bytes, which nobody could review");
            return Err(Failure::new(Code::LimitExceeded, message).field("arguments"));
        }
        let act = Act::Call {
            tool: self.name.clone(),
            from: found.whose.words().to_owned(),
            arguments: text,
            destructive: found.destructive,
            definition: found.hash.clone(),
        };
        let submission = authority::proposals::Submission {
            title: format!("Call {}", self.name),
            ..authority::proposals::Submission::default()
        };
        // What was begun may have changed the real world already; a call that nobody waits for is still ended.
        let asking = Asking { act, submission, wait: wait_of(None)?, stops: true };
        let acted = call.act(asking).await?;
        match &acted.done.result {
            Ok(Value::Null) => Err(Failure::new(
                Code::ServiceUnavailable,
                format!("it was done ({}), and its answer is not kept any more", acted.done.words),
            )),
            Ok(result) => Ok(result.to_string()),
            Err(refusal) => Err(Failure::from(refusal.clone())),
        }
    }

    async fn note(&self, client: &str, what: &str) {
        note(&self.following, client, &self.name, what).await;
    }
}

/// A line of the audit. Arguments and answers are not in it: they may be private.
async fn note(following: &Arc<Following>, client: &str, tool: &str, what: &str) {
    let by = By { name: client.to_owned(), way: "agent" };
    let reason = format!("{}: {}", words::cut(tool), words::cut(what));
    following.audit(AuditEvent::Call, by, reason).await;
}

fn outcome(answered: &Result<Answer, Refusal>) -> String {
    match answered {
        Ok(answer) if answer.is_error => "it answered that it failed".to_owned(),
        Ok(_) => "it answered".to_owned(),
        Err(refusal) => format!("no answer: {}", refusal.message),
    }
}

/// Calls it once. Cancelling drops the call, which tells the server.
async fn run(
    service: &McpService,
    whose: &Whose,
    exposed: &str,
    arguments: &Value,
    progress: mpsc::Sender<Progress>,
    cancelled: &CancellationToken,
) -> Result<Answer, Refusal> {
    let calling = async {
        match whose {
            Whose::Server { id, .. } => {
                service.call_tool_with_progress(*id, exposed, arguments, Some(progress)).await
            }
            Whose::Manifest { .. } => {
                service.call_manifest_tool_with_progress(exposed, arguments, Some(progress)).await
            }
        }
    };
    tokio::select! {
        answered = calling => answered.map_err(views::refusal),
        () = cancelled.cancelled() => {
            let message = "the call was cancelled; whether it did its work is not known";
            Err(Refusal::new(shared_protocol::Code::Timeout, message))
        }
    }
}

fn progress_words(progress: &Progress) -> String {
    let Progress { progress, total, message } = progress;
    let far = match total {
        Some(total) => format!("{progress} of {total}"),
        None => progress.to_string(),
    };
    match message {
        Some(message) => format!("{message} ({far})"),
        None => far,
    }
}

async fn tell_agent(mut heard: mpsc::Receiver<Progress>, progress: mcp_server::Progress) {
    while let Some(step) = heard.recv().await {
        progress.tell(mcp_server::shown(&progress_words(&step)).into_owned(), None).await;
    }
}

/// Whether a call that a person has accepted may still be made: the tool is the one that was shown, and nobody has forbidden it
/// meanwhile.
fn still(service: &McpService, call: &ToolCall) -> Result<Found, Refusal> {
    let found = find(service, &call.tool)?;
    keeper::as_shown(call, &found.hash)?;
    if found.policy == Policy::Deny {
        let message =
            format!("a person has forbidden {} meanwhile; nothing was called", words::cut(&call.tool));
        return Err(Refusal::new(shared_protocol::Code::Conflict, message));
    }
    Ok(found)
}

/// Calls what a person has accepted; what it says and comes to goes to the call that waits, and stands with the proposal.
pub(super) async fn accepted(following: &Arc<Following>, accepted: &Accepted) {
    let Accepted { proposal, number, proposer, call } = accepted;
    let (proposal, doings) = (*proposal, &following.context.action_runs);
    doings.begin(proposal);
    let stop = CancellationToken::new();
    let stopping = stop.clone();
    doings.stops_with(proposal, move || stopping.cancel());
    let answered = match still(&following.service, call) {
        Ok(found) => {
            let arguments = serde_json::from_str(&call.arguments).unwrap_or_default();
            let begins = format!("accepted by a person as proposal {number}; it begins");
            note(following, proposer, &call.tool, &begins).await;
            let (told, mut heard) = mpsc::channel(MOST_PROGRESS);
            let telling = async {
                while let Some(step) = heard.recv().await {
                    doings.say(proposal, [Said { text: progress_words(&step), error: false }]);
                }
            };
            let (answered, ()) = tokio::join!(
                run(&following.service, &found.whose, &call.tool, &arguments, told, &stop),
                telling
            );
            answered
        }
        Err(refusal) => Err(refusal),
    };
    let words = outcome(&answered);
    note(following, proposer, &call.tool, &format!("proposal {number}: {words}")).await;
    let done = match answered {
        Ok(answer) => Done::well(words, answer.value()),
        Err(refusal) => Done::refused(refusal),
    };
    let (events, outcome) = (Arc::clone(&following.context.events), done.words.clone());
    drop(tokio::task::spawn_blocking(move || events.record_outcome(proposal, outcome)).await);
    doings.done(proposal, done);
}
