//! Tools that propose changes. Each adds to a draft or requests an action; a person decides.

mod batch;
mod connections;
mod interface;
mod lifecycle;
mod project;
mod resources;
mod runs;

use super::shape::REDACTED;
use crate::escape::escape_hidden;
use crate::{
    AgentCall, EnvelopeDiagnostic, EnvelopeMeta, SurfaceTool, ToolReply, schema, surface::parse_arguments,
};
use authority::{
    Snapshot,
    proposals::{
        AgentCallOutcome, AgentRequest, AgentResponse, CallingClient, DraftSelector, DraftStepOutcome,
        ProposalInput, ProposalSubmission,
    },
};
use rmcp::model::JsonObject;
use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::{Value, json};
use shared_protocol::{
    BoardId, Command, Node, NodeRef, Proposal, ProposalId, ProposalState, Refusal, RefusalCode,
    messages::{BoardProblem, ProblemSeverity},
};

pub(super) fn all() -> Vec<SurfaceTool> {
    let groups = [
        resources::all(),
        connections::all(),
        batch::all(),
        lifecycle::all(),
        project::all(),
        runs::all(),
        interface::all(),
    ];
    groups.into_iter().flatten().collect()
}

/// The arguments that all tools accept that change a draft. `split` chooses them, so none of them is unknown.
#[derive(Debug, Deserialize, JsonSchema)]
struct CommonArguments {
    /// draft to add to; default: your current draft
    proposal: Option<String>,
    /// true: submit this change immediately as a separate proposal
    #[serde(default)]
    submit: bool,
    #[serde(flatten)]
    submission: SubmissionArguments,
}

/// The arguments that describe a submission.
#[derive(Debug, Deserialize, JsonSchema)]
struct SubmissionArguments {
    /// one line for the reviewer; default: a summary
    title: Option<String>,
    #[serde(default)]
    rationale: String,
    /// your proposal that this one replaces
    supersedes: Option<String>,
}

const COMMON: [&str; 5] = ["proposal", "submit", "title", "rationale", "supersedes"];

/// Returns the schema of the tool's own arguments `A` with the common ones.
fn with_common<A: JsonSchema>() -> JsonObject {
    schema::join(schema::of::<A>(), schema::of::<CommonArguments>())
}

/// As [`with_common`], for an action, which is never part of a draft.
fn with_submission<A: JsonSchema>() -> JsonObject {
    schema::join(schema::of::<A>(), schema::of::<SubmissionArguments>())
}

/// Refuses an argument that contains `[redacted]`. The text stands for a hidden value, and writing it back would
/// overwrite that value.
fn refuse_redacted(path: &str, value: &Value) -> Result<(), Refusal> {
    match value {
        Value::String(text) if text.trim() == REDACTED => {
            let message = format!(
                "`{path}` is \"{REDACTED}\", a placeholder for a hidden value; writing it would overwrite the value"
            );
            Err(Refusal::new(RefusalCode::ValidationError, message)
                .field(path)
                .hint("Omit the field to keep its current value."))
        }
        Value::Array(items) => items
            .iter()
            .enumerate()
            .try_for_each(|(index, item)| refuse_redacted(&format!("{path}.{index}"), item)),
        Value::Object(fields) => {
            fields.iter().try_for_each(|(key, value)| refuse_redacted(&format!("{path}.{key}"), value))
        }
        _ => Ok(()),
    }
}

impl CommonArguments {
    /// Splits the arguments into the common ones and the tool's own.
    fn split(call: &AgentCall) -> Result<(Self, JsonObject), Refusal> {
        let (common, own): (JsonObject, JsonObject) =
            call.arguments.clone().into_iter().partition(|(key, _)| COMMON.contains(&key.as_str()));
        own.iter().try_for_each(|(key, value)| refuse_redacted(key, value))?;
        Ok((parse_arguments(&common)?, own))
    }

    fn named_draft(&self) -> Result<Option<ProposalId>, Refusal> {
        self.proposal.as_deref().map(|text| proposal_id(text, "proposal")).transpose()
    }

    /// Returns the target draft. A change that is submitted immediately is a separate proposal, unless it completes a
    /// named draft.
    fn draft(&self) -> Result<DraftSelector, Refusal> {
        Ok(match (self.named_draft()?, self.submit) {
            (Some(id), _) => DraftSelector::ById(id),
            (None, true) => DraftSelector::New,
            (None, false) => DraftSelector::Current,
        })
    }

    /// Returns the submission of an action, which is submitted on its own and never part of a draft.
    fn submission_of_act(&self, title: &str) -> Result<ProposalSubmission, Refusal> {
        let wrong = [("proposal", self.proposal.is_some()), ("submit", self.submit)];
        if let Some((field, _)) = wrong.iter().find(|(_, is_given)| *is_given) {
            let message = "This request is submitted immediately on its own and cannot be part of a draft";
            return Err(Refusal::new(RefusalCode::BadRequest, message)
                .field(*field)
                .hint("Omit this argument."));
        }
        let mut submission = self.submission.parse()?;
        if submission.title.trim().is_empty() {
            title.clone_into(&mut submission.title);
        }
        Ok(submission)
    }

    /// Returns the workspace with the draft applied, to resolve arguments.
    fn state(&self, call: &AgentCall) -> Result<Snapshot, Refusal> {
        let (workspace, review) = (call.workspace()?, &call.view.review);
        let draft = match self.draft()? {
            DraftSelector::ById(id) => Some(review.owned_by(id, &call.client)?),
            DraftSelector::Current => review.draft(None, &call.client)?,
            DraftSelector::New => None,
        };
        Ok(match draft {
            Some(draft) => review.overlay(&workspace.snapshot, draft)?,
            None => workspace.snapshot.clone(),
        })
    }

    /// Adds the commands to the draft, all or none.
    async fn propose(
        &self,
        call: &AgentCall,
        mut commands: Vec<Command>,
    ) -> Result<AgentCallOutcome, Refusal> {
        if self.submission.supersedes.is_some() && !self.submit {
            let message = "A draft cannot replace a proposal before it is submitted";
            return Err(Refusal::new(RefusalCode::BadRequest, message)
                .field("supersedes")
                .hint("Pass supersedes together with submit: true, or to submit_proposal."));
        }
        let command = match commands.len() {
            1 => commands.remove(0),
            _ => Command::Batch { summary: None, commands },
        };
        let submit = self.submit.then(|| self.submission.parse()).transpose()?;
        let what = ProposalInput::Command(Box::new(command));
        call.submit(AgentRequest::Propose { draft: self.draft()?, what, submit })
            .await
            .map_err(with_contract_fields)
    }
}

impl AgentCall {
    /// Submits a request to the review queue and waits until the result is durable.
    pub async fn submit(&self, request: AgentRequest) -> Result<AgentCallOutcome, Refusal> {
        let (sender, response) = tokio::sync::oneshot::channel();
        // A call that was cancelled has no receiver.
        let reply = Box::new(move |result| drop(sender.send(result)));
        self.review.submit(self.client.clone(), request, reply);
        response.await.map_err(|_| service_ended())?
    }

    /// Like [`AgentCall::submit`], for a thread that may block.
    pub fn submit_and_wait(&self, request: AgentRequest) -> Result<AgentCallOutcome, Refusal> {
        let (sender, response) = std::sync::mpsc::channel();
        let reply = Box::new(move |result| drop(sender.send(result)));
        self.review.submit(self.client.clone(), request, reply);
        response.recv().map_err(|_| service_ended())?
    }
}

fn service_ended() -> Refusal {
    Refusal::new(RefusalCode::ServiceUnavailable, "Draftboard quit before it answered")
        .hint("Call list_proposals to see whether the request was recorded.")
}

impl SubmissionArguments {
    /// Returns title, rationale and supersedes; without a title the queue generates one.
    fn parse(&self) -> Result<ProposalSubmission, Refusal> {
        let supersedes = self.supersedes.as_deref().map(|text| proposal_id(text, "supersedes"));
        Ok(ProposalSubmission {
            title: self.title.clone().unwrap_or_default(),
            rationale: self.rationale.clone(),
            supersedes: supersedes.transpose()?,
        })
    }
}

fn proposal_id(text: &str, field: &str) -> Result<ProposalId, Refusal> {
    text.parse().map_err(|error: shared_protocol::ids::IdError| {
        Refusal::new(RefusalCode::BadRequest, error.to_string()).field(field)
    })
}

/// Translates the core's field names to those of the contract.
fn with_contract_fields(mut failure: Refusal) -> Refusal {
    failure.field = failure.field.map(|field| {
        match &*field {
            "type" => "typeId",
            "parent" => "parentId",
            "node" => "instanceId",
            "edge" => "edgeId",
            other => other,
        }
        .into()
    });
    failure
}

/// Resolves a node in a snapshot by id, name or board/name.
fn node<'a>(
    state: &'a Snapshot,
    board: Option<BoardId>,
    named: &str,
    field: &str,
) -> Result<&'a Node, Refusal> {
    let found = match named.parse::<NodeRef>() {
        Ok(NodeRef::Id(id)) => state.node(id),
        Ok(NodeRef::Name(path)) => match (&path.board, board) {
            (Some(name), _) => {
                state.board_named(name).and_then(|board| state.node_named(board.id, &path.name))
            }
            (None, Some(board)) => state.node_named(board, &path.name),
            (None, None) => {
                let mut all = state.boards().filter_map(|board| state.node_named(board.id, &path.name));
                all.next().filter(|_| all.next().is_none())
            }
        },
        Err(_) => None,
    };
    found.ok_or_else(|| {
        let names = state.nodes().map(|node| node.name.as_str());
        Refusal::new(RefusalCode::NotFound, format!("Node `{}` does not exist", escape_hidden(named)))
            .field(field)
            .suggest(authority::similar(named, names))
            .hint("Use the instanceId, or board/name when several boards have a node of this name.")
    })
}

fn node_ref(text: &str, field: &str) -> Result<NodeRef, Refusal> {
    text.parse().map_err(|_| {
        Refusal::new(RefusalCode::NotFound, format!("Node `{}` does not exist", escape_hidden(text)))
            .field(field)
            .hint("Use the instanceId or the name of the node.")
    })
}

/// Builds the answer of a tool that added to a proposal: its own data and the state of the proposal.
fn reply(call: &AgentCall, outcome: &AgentCallOutcome, own: Value) -> Result<ToolReply, Refusal> {
    let mut data = proposal_fields(&call.client, outcome);
    if let (Value::Object(data), Value::Object(own)) = (&mut data, own) {
        data.extend(own);
    }
    let applied = outcome.accepted.as_ref().and_then(|granted| granted.applied.as_ref());
    let revision = applied.map_or(outcome.response.proposal.base, |applied| applied.revision);
    let mut reply = ToolReply::new(&data, EnvelopeMeta { revision: revision.0, ..EnvelopeMeta::default() })?;
    if let Some(DraftStepOutcome { findings, .. }) = &outcome.response.step {
        reply.diagnostics = findings.iter().map(diagnostic).collect();
    }
    Ok(reply)
}

/// Returns the state of the proposal in the form that all of these tools share.
pub fn proposal_fields(client: &CallingClient, outcome: &AgentCallOutcome) -> Value {
    let AgentResponse { proposal, started_draft: began, .. } = &outcome.response;
    let mut fields = json!({ "status": status(outcome), "proposal": summarize_proposal(proposal) });
    // Only its id leads back to this draft.
    if *began && !client.connected && proposal.state == ProposalState::Draft {
        fields["hint"] = json!(format!(
            "Pass proposal: \"{}\" in every further call for this proposal. Without it, each call starts a new draft.",
            proposal.id
        ));
    }
    if let Some(granted) = &outcome.accepted {
        fields["approval"] = json!(granted.approval);
        if let Some(applied) = &granted.applied {
            fields["revision"] = json!(applied.revision);
        }
    }
    fields
}

fn status(outcome: &AgentCallOutcome) -> &'static str {
    match (&outcome.accepted, &outcome.response.proposal.state) {
        (Some(_), _) => "accepted",
        (None, ProposalState::Open) => "submitted",
        (None, ProposalState::Withdrawn) => "withdrawn",
        _ => "proposed",
    }
}

fn summarize_proposal(proposal: &Proposal) -> Value {
    json!({
        "id": proposal.id,
        "number": proposal.number,
        "version": proposal.version,
        "state": proposal.state.as_str(),
        "calls": proposal.steps.len(),
    })
}

fn diagnostic(problem: &BoardProblem) -> EnvelopeDiagnostic {
    EnvelopeDiagnostic {
        severity: match problem.severity {
            ProblemSeverity::Error => "error",
            ProblemSeverity::Warning => "warning",
        },
        message: escape_hidden(&problem.message).into_owned(),
        element: Some(problem.element.to_string()),
        field: problem.field.clone(),
    }
}

/// The output schema that all of these tools share.
fn output_schema(own: Value) -> Value {
    let mut properties = json!({ "status": { "type": "string" }, "proposal": { "type": "object" } });
    if let (Value::Object(all), Value::Object(own)) = (&mut properties, own) {
        all.extend(own);
    }
    json!({ "type": "object", "properties": properties })
}
