//! Changes of entities by agents: planned on the bundles as the agent's draft has them, and proposed like anything else.

use super::{BundleChangeExecutor, PublishedBundles, not_allowed};
use authority::{
    CommandDecision,
    proposals::{AgentCallOutcome, AgentRequest, DraftSelector, ProposalInput, ProposalSubmission},
};
use bundles::{BundleChangePlan, BundleToolResponse, Bundles};
use mcp_server::AgentCall;
use serde_json::{Value, json};
use shared_protocol::{Change, OrderedValue, ProposalId, Refusal, RefusalCode, SourcePath, mcp::McpMode};
use std::{collections::BTreeMap, sync::Arc};

/// Arguments that are about the proposal and not about the changes.
const OF_PROPOSALS: [&str; 5] = ["proposal", "submit", "title", "rationale", "supersedes"];

/// Through the review queue.
pub(crate) struct ProposedBundleChanges;

impl BundleChangeExecutor for ProposedBundleChanges {
    fn extend(&self, input: &mut Value) {
        if let Some(Value::Object(properties)) = input.get_mut("properties") {
            let text = |what: &str| json!({ "type": "string", "description": what });
            properties.insert("proposal".to_owned(), text("draft to add to; default: this connection's"));
            properties.insert("submit".to_owned(), json!({ "type": "boolean" }));
            properties.insert("title".to_owned(), text("default: a description of the change"));
            properties.insert("rationale".to_owned(), json!({ "type": "string" }));
            properties
                .insert("supersedes".to_owned(), text("with submit: a proposal of yours that this replaces"));
        }
    }

    fn arguments(&self, call: &AgentCall) -> Value {
        let own = call.arguments.iter().filter(|(key, _)| !OF_PROPOSALS.contains(&key.as_str()));
        Value::Object(own.map(|(key, value)| (key.clone(), value.clone())).collect())
    }

    fn base(&self, call: &AgentCall) -> Result<Option<Bundles>, Refusal> {
        if call.mode != McpMode::Guarded || call.arguments.get("submit") == Some(&Value::Bool(true)) {
            return Ok(None);
        }
        let review = &call.view.review;
        let draft = review
            .draft(BundleProposalArguments::parse(call)?.proposal, &call.client)
            .map_err(to_bundle_refusal)?;
        let shown = call.view.specs::<PublishedBundles>();
        Ok(draft.zip(shown).and_then(|(draft, shown)| with_draft(&shown.0, &draft.changes)))
    }

    fn apply(&self, call: &AgentCall, plan: &BundleChangePlan) -> Result<BundleToolResponse, Refusal> {
        if call.mode != McpMode::Guarded {
            return Err(not_allowed(
                "Agents are in observe mode: use dryRun: true, or ask the designer to enable guarded mode",
            ));
        }
        let asked = BundleProposalArguments::parse(call)?;
        let draft = match (asked.proposal, asked.submit) {
            (Some(id), _) => DraftSelector::ById(id),
            (None, true) => DraftSelector::New,
            (None, false) => DraftSelector::Current,
        };
        if asked.supersedes.is_some() && !asked.submit {
            let message = "a draft replaces nothing before it is submitted: give supersedes with submit: true, or to submit_proposal";
            return Err(refusal(RefusalCode::BadRequest, message.to_owned(), "supersedes"));
        }
        let what = ProposalInput::Changes(decision(call, plan)?);
        let submit = asked.submit.then(|| ProposalSubmission {
            title: asked.title.unwrap_or_default(),
            rationale: asked.rationale,
            supersedes: asked.supersedes,
        });
        let proposed =
            call.submit_and_wait(AgentRequest::Propose { draft, what, submit }).map_err(to_bundle_refusal)?;
        answer(call, plan, &proposed)
    }

    fn has_drafts(&self) -> bool {
        true
    }
}

#[derive(Default)]
struct BundleProposalArguments {
    proposal: Option<ProposalId>,
    submit: bool,
    title: Option<String>,
    rationale: String,
    supersedes: Option<ProposalId>,
}

impl BundleProposalArguments {
    fn parse(call: &AgentCall) -> Result<Self, Refusal> {
        let wrong =
            |key: &str, what: &str| refusal(RefusalCode::BadRequest, format!("{key} must be {what}"), key);
        let text = |key: &str| match call.arguments.get(key) {
            None | Some(Value::Null) => Ok(None),
            Some(Value::String(text)) => Ok(Some(text.clone())),
            Some(_) => Err(wrong(key, "a text")),
        };
        let id = |key: &str| {
            let named = text(key)?;
            named.map(|text| text.parse().map_err(|_| wrong(key, "the id of a proposal"))).transpose()
        };
        let submit = match call.arguments.get("submit") {
            None | Some(Value::Null) => false,
            Some(Value::Bool(submit)) => *submit,
            Some(_) => return Err(wrong("submit", "true or false")),
        };
        Ok(Self {
            proposal: id("proposal")?,
            submit,
            title: text("title")?,
            rationale: text("rationale")?.unwrap_or_default(),
            supersedes: id("supersedes")?,
        })
    }
}

/// The bundles with what a draft does to their files; nothing when it does nothing to them.
pub(super) fn with_draft(bundles: &Bundles, changes: &[Change]) -> Option<Bundles> {
    let mut texts: BTreeMap<&SourcePath, Option<Arc<str>>> = BTreeMap::new();
    for change in changes {
        if let Change::Source { path, after, .. } = change {
            texts.insert(path, after.clone());
        }
    }
    let mut drafted = None;
    for known in bundles.iter() {
        let Some(root) = known.root().to_str() else { continue };
        let within =
            |path: &SourcePath| path.as_str().strip_prefix(root)?.strip_prefix('/').map(str::to_owned);
        let own: Vec<_> =
            texts.iter().filter_map(|(path, text)| Some((within(path)?, text.clone()))).collect();
        if own.is_empty() {
            continue;
        }
        let all: &mut Bundles = drafted.get_or_insert_with(|| bundles.clone());
        let followed = all.get_mut(known.id()).map(|bundle| bundle.set_texts(own));
        if let Some(Err(error)) = followed {
            tracing::warn!(%error, bundle = known.id(), "a draft's bundle cannot be read");
            all.remove(known.id());
        }
    }
    drafted
}

/// The plan's files as changes of the workspace's sources.
fn decision(call: &AgentCall, plan: &BundleChangePlan) -> Result<CommandDecision, Refusal> {
    let shown = call.view.specs::<PublishedBundles>();
    let bundle = shown.and_then(|shown| shown.0.get(plan.bundle_id()));
    let gone =
        || refusal(RefusalCode::NotFound, format!("there is no bundle {}", plan.bundle_id()), "bundleId");
    let root = bundle.and_then(|bundle| bundle.root().to_str()).ok_or_else(gone)?;
    let mut changes = Vec::with_capacity(plan.edits().len());
    for edit in plan.edits() {
        let path = SourcePath::parse(format!("{root}/{}", edit.path()))
            .map_err(|error| refusal(RefusalCode::BadRequest, error.to_string(), "changes"))?;
        let after = edit.after.as_deref().map(Arc::from);
        changes.push(Change::Source { path, before: edit.before.clone(), after });
    }
    Ok(CommandDecision { summary: plan.summary(), changes, ..CommandDecision::default() })
}

/// The tool's own answer with the state of the proposal. A waiting change is not reported as done.
fn answer(
    call: &AgentCall,
    plan: &BundleChangePlan,
    outcome: &AgentCallOutcome,
) -> Result<BundleToolResponse, Refusal> {
    let mut answer = plan.answer_as(outcome.accepted.is_some())?;
    let proposal = mcp_server::proposal_fields(&call.client, outcome);
    if let (OrderedValue::Map(members), Value::Object(fields)) = (&mut answer.data, &proposal) {
        for (key, value) in fields {
            members.set(key, OrderedValue::from(value));
        }
    }
    Ok(answer)
}

fn refusal(code: RefusalCode, message: String, field: &str) -> Refusal {
    Refusal::new(code, message).field(field)
}

/// A refusal of the queue in the envelope of this contract.
fn to_bundle_refusal(refusal: Refusal) -> Refusal {
    let code = match refusal.code {
        code @ (RefusalCode::NotFound
        | RefusalCode::ValidationError
        | RefusalCode::ReferenceError
        | RefusalCode::LimitExceeded
        | RefusalCode::ActuationDisabled) => code,
        RefusalCode::Stale | RefusalCode::Conflict | RefusalCode::ReadOnly => RefusalCode::Stale,
        RefusalCode::BadRequest | RefusalCode::NoWorkspace => RefusalCode::BadRequest,
        _ => RefusalCode::Internal,
    };
    let hints = OrderedValue::texts(&refusal.hints);
    Refusal { code, ..refusal }.details([("hints", hints)])
}
