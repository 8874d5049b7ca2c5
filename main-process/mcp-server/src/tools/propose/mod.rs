//! Tools that would change something. Each adds to a proposal, or asks for something that waits for a person; none decides.

mod batch;
mod connections;
mod interface;
mod lifecycle;
mod project;
mod resources;
mod runs;

use super::shape::REDACTED;
use crate::{Call, Code, Diagnostic, Failure, Meta, Reply, Tool, shown, surface::parsed};
use authority::{
    Snapshot,
    proposals::{AgentAsk, AgentDone, AgentOutcome, Client, Draft, StepDone, Submission, Wanted},
};
use rmcp::model::JsonObject;
use serde::Deserialize;
use serde_json::{Value, json};
use shared_protocol::{
    BoardId, Command, Node, NodeRef, Proposal, ProposalId, ProposalState,
    messages::{Problem, Severity},
};

pub(super) fn all() -> Vec<Tool> {
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

/// Arguments that every tool of this kind takes.
#[derive(Debug, Default, Deserialize)]
#[serde(deny_unknown_fields)]
struct Common {
    proposal: Option<String>,
    #[serde(default)]
    submit: bool,
    title: Option<String>,
    #[serde(default)]
    rationale: String,
    supersedes: Option<String>,
}

const COMMON: [&str; 5] = ["proposal", "submit", "title", "rationale", "supersedes"];

/// The schema of a tool's arguments with the common ones.
fn with_common(mut own: Value) -> Value {
    if let Value::Object(fields) = &mut own {
        fields.insert(
            "proposal".to_owned(),
            json!({ "type": "string", "description": "draft to add to; default: this connection's" }),
        );
        fields.insert(
            "submit".to_owned(),
            json!({ "type": "boolean", "description": "a proposal of its own, for review at once" }),
        );
        of_submission(fields);
    }
    own
}

/// What an agent may say about what it submits.
fn of_submission(fields: &mut JsonObject) {
    fields.insert(
        "title".to_owned(),
        json!({ "type": "string", "description": "default: what it does, in words" }),
    );
    fields.insert("rationale".to_owned(), json!({ "type": "string" }));
    fields.insert(
        "supersedes".to_owned(),
        json!({ "type": "string", "description": "a proposal of yours that this replaces once submitted" }),
    );
}

/// Refuses an argument that holds `[redacted]`: it stands for a value that agents are not shown, and writing it back would
/// replace that value by these words.
fn refuse_redacted(path: &str, value: &Value) -> Result<(), Failure> {
    match value {
        Value::String(text) if text.trim() == REDACTED => {
            let message = format!(
                "`{path}` is \"{REDACTED}\", which stands for a value that agents are not shown; writing it would replace that value"
            );
            Err(Failure::new(Code::ValidationError, message)
                .field(path)
                .hint("Leave the field out: what is not given stays as it is."))
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

impl Common {
    /// The common arguments and the tool's own.
    fn split(call: &Call) -> Result<(Self, JsonObject), Failure> {
        let (common, own): (JsonObject, JsonObject) =
            call.arguments.clone().into_iter().partition(|(key, _)| COMMON.contains(&key.as_str()));
        own.iter().try_for_each(|(key, value)| refuse_redacted(key, value))?;
        Ok((parsed(&common)?, own))
    }

    fn named(&self) -> Result<Option<ProposalId>, Failure> {
        self.proposal.as_deref().map(|text| proposal_id(text, "proposal")).transpose()
    }

    /// Which draft is meant. What is submitted at once is a proposal of its own, unless it completes a named draft.
    fn draft(&self) -> Result<Draft, Failure> {
        Ok(match (self.named()?, self.submit) {
            (Some(id), _) => Draft::Named(id),
            (None, true) => Draft::New,
            (None, false) => Draft::Current,
        })
    }

    /// What is said about it; without a title the queue takes its own words.
    fn submission(&self) -> Result<Submission, Failure> {
        let supersedes = self.supersedes.as_deref().map(|text| proposal_id(text, "supersedes"));
        Ok(Submission {
            title: self.title.clone().unwrap_or_default(),
            rationale: self.rationale.clone(),
            supersedes: supersedes.transpose()?,
        })
    }

    /// The same for something that waits at once, alone.
    fn submission_of_act(&self, title: &str) -> Result<Submission, Failure> {
        let wrong = [("proposal", self.proposal.is_some()), ("submit", self.submit)];
        if let Some((field, _)) = wrong.iter().find(|(_, is_given)| *is_given) {
            let message = "this is never a part of a draft: it waits at once, alone";
            return Err(Failure::new(Code::BadRequest, message).field(*field).hint("Leave it out."));
        }
        let mut submission = self.submission()?;
        if submission.title.trim().is_empty() {
            title.clone_into(&mut submission.title);
        }
        Ok(submission)
    }

    /// The workspace as the draft has it, to find what arguments name.
    fn state(&self, call: &Call) -> Result<Snapshot, Failure> {
        let (workspace, review) = (call.workspace()?, &call.view.review);
        let draft = match self.draft()? {
            Draft::Named(id) => Some(review.own(id, &call.client)?),
            Draft::Current => review.draft(None, &call.client)?,
            Draft::New => None,
        };
        Ok(match draft {
            Some(draft) => review.overlay(&workspace.snapshot, draft)?,
            None => workspace.snapshot.clone(),
        })
    }

    /// Has the commands decided on the draft, all or none.
    async fn propose(&self, call: &Call, mut commands: Vec<Command>) -> Result<AgentOutcome, Failure> {
        if self.supersedes.is_some() && !self.submit {
            let message = "a draft replaces nothing before it is submitted";
            return Err(Failure::new(Code::BadRequest, message)
                .field("supersedes")
                .hint("Give it with submit: true, or to submit_proposal."));
        }
        let command = match commands.len() {
            1 => commands.remove(0),
            _ => Command::Batch { summary: None, commands },
        };
        let submit = self.submit.then(|| self.submission()).transpose()?;
        let what = Wanted::Command(Box::new(command));
        call.ask(AgentAsk::Propose { draft: self.draft()?, what, submit }).await.map_err(in_our_words)
    }
}

fn proposal_id(text: &str, field: &str) -> Result<ProposalId, Failure> {
    text.parse().map_err(|error: shared_protocol::ids::IdError| {
        Failure::new(Code::BadRequest, error.to_string()).field(field)
    })
}

/// The core names fields by its own words, agents by those of the contract.
fn in_our_words(mut failure: Failure) -> Failure {
    failure.field = failure.field.map(|field| {
        match field.as_str() {
            "type" => "typeId",
            "parent" => "parentId",
            "node" => "instanceId",
            "edge" => "edgeId",
            other => return other.to_owned(),
        }
        .to_owned()
    });
    failure
}

/// A node in a state, by what an agent calls it.
fn node<'a>(
    state: &'a Snapshot,
    board: Option<BoardId>,
    named: &str,
    field: &str,
) -> Result<&'a Node, Failure> {
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
        Failure::new(Code::NotFound, format!("there is no node `{}`", shown(named)))
            .field(field)
            .suggest(authority::similar(named, names))
            .hint("Use the instanceId, or board/name where a name is on several boards.")
    })
}

fn node_ref(text: &str, field: &str) -> Result<NodeRef, Failure> {
    text.parse().map_err(|_| {
        Failure::new(Code::NotFound, format!("there is no node `{}`", shown(text)))
            .field(field)
            .hint("Use the instanceId, or the node's name.")
    })
}

/// The answer to a tool that added to a proposal: its own data, and what became of the proposal.
fn reply(call: &Call, outcome: &AgentOutcome, own: Value) -> Result<Reply, Failure> {
    let mut data = proposal_fields(&call.client, outcome);
    if let (Value::Object(data), Value::Object(own)) = (&mut data, own) {
        data.extend(own);
    }
    let applied = outcome.accepted.as_ref().and_then(|granted| granted.applied.as_ref());
    let revision = applied.map_or(outcome.done.proposal.base, |applied| applied.revision);
    let mut reply = Reply::new(&data, Meta { revision: revision.0, ..Meta::default() })?;
    if let Some(StepDone { findings, .. }) = &outcome.done.step {
        reply.diagnostics = findings.iter().map(diagnostic).collect();
    }
    Ok(reply)
}

/// What became of the proposal, as every tool that adds to one tells it.
pub fn proposal_fields(client: &Client, outcome: &AgentOutcome) -> Value {
    let AgentDone { proposal, began, .. } = &outcome.done;
    let mut fields = json!({ "status": status(outcome), "proposal": in_brief(proposal) });
    // Nothing but its id leads back to this draft.
    if *began && !client.connected && proposal.state == ProposalState::Draft {
        fields["hint"] = json!(format!(
            "Pass proposal: \"{}\" in every further call of this piece of work: without it each call begins a draft of its own.",
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

fn status(outcome: &AgentOutcome) -> &'static str {
    match (&outcome.accepted, &outcome.done.proposal.state) {
        (Some(_), _) => "accepted",
        (None, ProposalState::Open) => "submitted",
        (None, ProposalState::Withdrawn) => "withdrawn",
        _ => "proposed",
    }
}

fn in_brief(proposal: &Proposal) -> Value {
    json!({
        "id": proposal.id,
        "number": proposal.number,
        "version": proposal.version,
        "state": proposal.state.word(),
        "calls": proposal.steps.len(),
    })
}

fn diagnostic(problem: &Problem) -> Diagnostic {
    Diagnostic {
        severity: match problem.severity {
            Severity::Error => "error",
            Severity::Warning => "warning",
        },
        message: shown(&problem.message).into_owned(),
        element: Some(problem.element.to_string()),
        field: problem.field.clone(),
    }
}

/// What every tool of this kind answers.
fn answers(own: Value) -> Value {
    let mut properties = json!({ "status": { "type": "string" }, "proposal": { "type": "object" } });
    if let (Value::Object(all), Value::Object(own)) = (&mut properties, own) {
        all.extend(own);
    }
    json!({ "type": "object", "properties": properties })
}
