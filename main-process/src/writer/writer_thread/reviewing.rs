//! The review queue at the writer. Requests of agents join the group of mutations. Decisions come from the window's own
//! channel, or from a terminal with a code that only the window shows; there is no other way to a decision.

use super::Writer;
use crate::{
    responses::JsonResponder,
    writer::{
        TerminalReviewer, WriterMsg,
        agent_run::AgentRun,
        codes::{ConfirmationCodeCheck, SubmittedDecision, show_on_terminal},
        launching,
        notify::DesktopNotification,
    },
};
use authority::proposals::AgentCallOutcome;
use mcp_server::ActionResult;
use serde_json::{Value, json};
use shared_protocol::{
    Actor, ActorKind, BoardId, Proposal, ProposalId, ProposalState, Refusal, RefusalCode,
    decisions::{
        AcceptProposal, ConfirmationCodePlace, DecidedProposal, PersonDecision, ProposalDecision,
        RejectProposal,
    },
    managed_servers::ToolCall,
    messages::AppliedCommand,
    proposal::{ProposedAction, ReviewVerdict},
    request::{Request, Responder, ResponseChannel as _},
    requests::{NavigatePreview, StartPreview, StartRun, StopPreview},
    review::{ApprovalGrant, ApprovalScope, AuditEvent, ProposalBrief, ProposalDetails, StandingApproval},
    terraform::TerraformOperation,
};
use std::{
    path::Path,
    sync::{Arc, atomic::AtomicU64},
    time::Duration,
};
use terraform_runs::{ApplyRequestVersion, PlanRequest, SavedPlan};
use workspace::time_and_seed;
use workspace::{AcceptedProposal, MutationGroup, Reviewer, WorkspaceTemplate};

/// Decided proposals in one response.
const MAX_HISTORY: usize = 1_000;

impl Writer {
    pub(crate) fn decide(
        &mut self,
        decision: &ProposalDecision,
        reviewer: &Reviewer,
    ) -> Result<DecidedProposal, Refusal> {
        match decision {
            ProposalDecision::AcceptProposal(AcceptProposal { verdict }) => self.accept(verdict, reviewer),
            ProposalDecision::RejectProposal(decision) => self.reject(decision, reviewer),
        }
    }

    /// Accepts a proposal. Accepting a request to apply or destroy holds only for the saved plan that the verdict names,
    /// with everything as it was planned.
    fn accept(&mut self, verdict: &ReviewVerdict, reviewer: &Reviewer) -> Result<DecidedProposal, Refusal> {
        let proposal = self.session.workspace.review_state().queue.get(verdict.proposal);
        let applies = proposal.and_then(|proposal| match proposal.act {
            Some(ProposedAction::Run { board, operation }) if operation.needs_confirmation() => Some(board),
            _ => None,
        });
        if let Some(board) = applies
            && let Err(refusal) = self.services.terraform.check_request(verdict.proposal, board, verdict.plan)
        {
            self.record_audit(AuditEvent::Refused, reviewer, refusal.message.clone())?;
            return Err(refusal);
        }
        let decision = self.run_in_group(|group| group.accept_verdict(verdict, reviewer, time_and_seed()))?;
        let AcceptedProposal { proposal, applied, act } = &decision;
        let brief = self.session.workspace.brief(proposal);
        // Before anything is published: a proposal that is decided loses its plan.
        let saved = self.services.terraform.take_request(proposal.id);
        let notice = act.as_ref().map(|act| self.execute_action(proposal, act, saved));
        Ok(DecidedProposal { proposal: brief, applied: applied.clone(), notice })
    }

    fn reject(&mut self, decision: &RejectProposal, reviewer: &Reviewer) -> Result<DecidedProposal, Refusal> {
        let RejectProposal { proposal, version, reason } = decision;
        let rejected = self
            .run_in_group(|group| group.reject((*proposal, *version), reason, reviewer, time_and_seed()))?;
        let proposal = self.session.workspace.brief(&rejected);
        Ok(DecidedProposal { proposal, applied: None, notice: None })
    }

    /// Changes a proposal that stays in the queue, and returns it as it is then.
    pub(crate) fn amend<T>(
        &mut self,
        proposal: ProposalId,
        change: impl FnOnce(&mut MutationGroup<'_>) -> Result<T, Refusal>,
    ) -> Result<ProposalDetails, Refusal> {
        self.run_in_group(change)?;
        self.open_proposal(proposal)
    }

    pub(crate) fn revert_proposal(
        &mut self,
        proposal: ProposalId,
        partial: bool,
        reviewer: &Reviewer,
    ) -> Result<AppliedCommand, Refusal> {
        self.run_in_group(|group| group.revert_proposal(proposal, partial, reviewer, time_and_seed()))
    }

    pub(crate) fn grant(
        &mut self,
        grant: ApprovalGrant,
        reviewer: &Reviewer,
    ) -> Result<StandingApproval, Refusal> {
        self.run_in_group(|group| group.grant(grant, false, reviewer, time_and_seed()))
    }

    pub(crate) fn revoke(&mut self, approval: u64, reviewer: &Reviewer) -> Result<(), Refusal> {
        self.run_in_group(|group| group.revoke(approval, reviewer, time_and_seed()))?;
        Ok(())
    }

    /// Takes back a code before it is used.
    pub(crate) fn drop_code(&mut self, code: &str) {
        self.codes.drop_code(code);
    }

    /// The newest decided proposals first.
    pub(crate) fn history(&self, limit: u32) -> Vec<ProposalBrief> {
        let workspace = &self.session.workspace;
        let mut over: Vec<&Arc<Proposal>> =
            workspace.review_state().queue.iter().filter(|proposal| !is_undecided(proposal)).collect();
        over.sort_by_key(|proposal| std::cmp::Reverse(proposal.number));
        over.into_iter()
            .take(MAX_HISTORY.min(limit as usize))
            .map(|proposal| workspace.brief(proposal))
            .collect()
    }

    /// The proposals without a decision, drafts included.
    pub(crate) fn undecided(&self) -> Vec<ProposalBrief> {
        let workspace = &self.session.workspace;
        let waiting = workspace.review_state().queue.iter().filter(|proposal| is_undecided(proposal));
        let mut briefs: Vec<_> = waiting.map(|proposal| workspace.brief(proposal)).collect();
        briefs.sort_by(ProposalBrief::queue_order);
        briefs
    }

    pub(crate) fn proposal_details(&self, id: ProposalId) -> Result<ProposalDetails, Refusal> {
        self.publisher.proposal_details(id, &self.session.workspace)
    }

    /// Opens a proposal in the window, which receives its changes from now on.
    pub(crate) fn open_proposal(&mut self, id: ProposalId) -> Result<ProposalDetails, Refusal> {
        let details = self.proposal_details(id)?;
        self.publisher.window.open_proposal(&details);
        Ok(details)
    }

    pub(crate) fn close_proposal(&mut self, id: ProposalId) {
        self.publisher.window.close_proposal(id);
    }

    /// Shows the code of a decision that a terminal submits.
    pub(crate) fn issue_code(
        &mut self,
        decision: PersonDecision,
        reviewer: TerminalReviewer,
    ) -> Result<ConfirmationCodePlace, Refusal> {
        let about = |id: ProposalId, verb: &str| {
            let proposal = self.session.workspace.proposal(&id.to_string())?;
            Ok::<_, Refusal>(format!("{verb} proposal {} “{}”", proposal.number, proposal.title))
        };
        let purpose = match &decision {
            PersonDecision::Proposal(ProposalDecision::AcceptProposal(AcceptProposal { verdict })) => {
                about(verdict.proposal, "accept")?
            }
            PersonDecision::Proposal(ProposalDecision::RejectProposal(decision)) => {
                about(decision.proposal, "reject")?
            }
            PersonDecision::Upstream(decision) => self.services.managed_servers.purpose(decision)?,
        };
        let submitted = SubmittedDecision { decision, purpose: purpose.clone() };
        let code = self.codes.issue(reviewer.connection, submitted, time_and_seed().time)?;
        let place = if self.process.has_window() {
            "the window of Draftboard"
        } else {
            show_on_terminal(&code, &purpose).inspect_err(|_| self.codes.drop_code(&code))?;
            "the terminal of `draftboard serve`"
        };
        self.record_audit(AuditEvent::CodeShown, &Reviewer::at_terminal(reviewer.name), purpose)?;
        Ok(ConfirmationCodePlace { place: place.to_owned() })
    }

    /// Carries out the decision whose code a terminal confirms.
    pub(crate) fn confirm_code(&mut self, code: &str, reviewer: TerminalReviewer, responder: JsonResponder) {
        let TerminalReviewer { connection, name } = reviewer;
        let reviewer = Reviewer::at_terminal(name);
        let refusal = match self.codes.check(connection, code, time_and_seed().time) {
            ConfirmationCodeCheck::Right(PersonDecision::Proposal(decision)) => {
                let (responder, decided) = (responder.typed(), self.decide(&decision, &reviewer));
                return self.respond(move || responder.send(decided));
            }
            ConfirmationCodeCheck::Right(PersonDecision::Upstream(decision)) => {
                let by = managed_servers::RequestOrigin { name: reviewer.name, channel: reviewer.channel };
                return self.services.managed_servers.decide(decision, by, responder);
            }
            ConfirmationCodeCheck::Again(refusal) => refusal,
            ConfirmationCodeCheck::Wrong(refusal) => {
                let noted = self.record_audit(AuditEvent::WrongCode, &reviewer, refusal.message.clone());
                noted.err().unwrap_or(refusal)
            }
        };
        self.respond(move || responder.0.send(Err(refusal)));
    }

    /// Carries out at once what a standing approval has accepted.
    pub(super) fn follow_up(&mut self, result: &Result<AgentCallOutcome, Refusal>) {
        let Ok(AgentCallOutcome { response: done, accepted }) = result else { return };
        if let Some(announcer) = &mut self.announcer {
            let workspace = &self.session.workspace;
            announcer.announce_submitted(&done.proposal, &workspace.review_state().queue, workspace.root());
        }
        match (&done.proposal.act, accepted) {
            (Some(act), Some(_)) => {
                self.execute_action(&done.proposal, act, None);
            }
            (Some(act), None) => {
                if done.started_draft {
                    self.notify_of_grave(&done.proposal, act);
                }
                self.plan_request(&done.proposal);
            }
            _ => {}
        }
    }

    /// Writes a line of the audit.
    fn record_audit(
        &mut self,
        event: AuditEvent,
        reviewer: &Reviewer,
        reason: String,
    ) -> Result<(), Refusal> {
        self.run_in_group(|group| {
            group.record_review_event(event, reviewer, reason, time_and_seed());
            Ok(())
        })
    }

    /// Runs a group of its own. Audit lines about a refusal are kept as well.
    pub(super) fn run_in_group<T>(
        &mut self,
        run: impl FnOnce(&mut MutationGroup<'_>) -> Result<T, Refusal>,
    ) -> Result<T, Refusal> {
        let mut group = self.session.workspace.begin();
        let result = run(&mut group);
        match group.commit() {
            Ok(patches) => {
                self.committed.patches.extend(patches);
                result
            }
            Err(refusal) => result.and(Err(refusal)),
        }
    }

    /// Carries out an accepted action other than a change of the content. Returns the outcome, which the proposal keeps as
    /// well. The decision is published first: a reader of the outcome finds it.
    pub(super) fn execute_action(
        &mut self,
        proposal: &Proposal,
        act: &ProposedAction,
        saved: Option<Arc<SavedPlan>>,
    ) -> String {
        self.publish();
        let id = proposal.id;
        let done = match act {
            ProposedAction::StartPreview { shows, screen } => {
                let request = StartPreview { shows: shows.clone(), screen: *screen };
                return self.preview(id, request, |session| {
                    ActionResult::ok(format!("{session} began"), json!({ "session": session.to_string() }))
                });
            }
            ProposedAction::StopPreview { session } => {
                return self.preview(id, StopPreview { session: *session }, |()| preview_done());
            }
            ProposedAction::NavigatePreview { session, route } => {
                let request = NavigatePreview { session: *session, route: *route };
                return self.preview(id, request, |()| preview_done());
            }
            ProposedAction::Save => self
                .session
                .workspace
                .save()
                .map(|(revision, files)| format!("saved revision {revision}: {} files", files.len())),
            ProposedAction::Config { before, after } => {
                let noticed = self.session.workspace.replace_config(before, after, time_and_seed());
                noticed.map(|noticed| {
                    self.handle_file_changes(noticed);
                    "draftboard.toml was changed".to_owned()
                })
            }
            ProposedAction::Open { path } => {
                return self.open_file_for_action(id, path, format!("opened {path}"));
            }
            ProposedAction::New { path, .. } => {
                match launching::create_at(Path::new(path), WorkspaceTemplate::Blank) {
                    Ok(()) => return self.open_file_for_action(id, path, format!("made {path}")),
                    Err(refusal) => Err(refusal),
                }
            }
            ProposedAction::Run { board, operation } => {
                self.start_run(proposal, *board, *operation, saved);
                return "the run is being started".to_owned();
            }
            ProposedAction::Call { tool, arguments, definition, .. } => {
                let definition = Some(definition.clone());
                let call = ToolCall { tool: tool.clone(), arguments: arguments.clone(), definition };
                let (number, proposer) = (proposal.number, proposal.proposer.name.clone());
                match self.services.managed_servers.execute_accepted_call(managed_servers::AcceptedToolCall {
                    proposal: id,
                    number,
                    proposer,
                    call,
                }) {
                    Ok(()) => return format!("{tool} is being called"),
                    Err(refusal) => Err(refusal),
                }
            }
        };
        let done = done.map_or_else(ActionResult::from_refusal, |words| ActionResult::ok(words, Value::Null));
        self.finished(id, done)
    }

    /// Records the outcome before the workspace is closed together with its queue.
    fn open_file_for_action(&mut self, id: ProposalId, path: &str, words: String) -> String {
        self.record_outcome(id, words.clone());
        let opened = self.open(path);
        let done = opened.map_or_else(ActionResult::from_refusal, |()| ActionResult::ok(words, Value::Null));
        if done.result.is_err() {
            return self.finished(id, done);
        }
        self.notify_done(id, done)
    }

    /// Records the outcome and sends it to the call that waits for it.
    fn finished(&mut self, id: ProposalId, done: ActionResult) -> String {
        self.record_outcome(id, done.words.clone());
        self.notify_done(id, done)
    }

    fn notify_done(&mut self, id: ProposalId, done: ActionResult) -> String {
        let (words, action_runs) = (done.words.clone(), Arc::clone(&self.services.agents.action_runs));
        self.respond(move || action_runs.finish(id, done));
        words
    }

    fn start_run(
        &self,
        proposal: &Proposal,
        board: BoardId,
        operation: TerraformOperation,
        saved: Option<Arc<SavedPlan>>,
    ) {
        let reviewer = proposal.decisions.last().map_or_else(String::new, |decided| decided.by.clone());
        let run = AgentRun {
            proposal: proposal.id,
            reviewer,
            action_runs: Arc::clone(&self.services.agents.action_runs),
            writer: self.handle.clone(),
            terraform: self.services.terraform.clone(),
            run: AtomicU64::default(),
        };
        let Proposal { id, version, .. } = *proposal;
        match saved {
            // A plan or a validation changes nothing.
            _ if !operation.needs_confirmation() => {
                run.start(StartRun { board, operation, confirmed: false, secrets: Vec::new() });
            }
            Some(saved) => {
                let key = ApplyRequestVersion { proposal: id, version, board };
                run.apply(key, saved, proposal.proposer.name.clone());
            }
            None => run.refuse(
                Refusal::new(RefusalCode::Stale, "the proposal has no accepted plan")
                    .hint("Request it again, so that it is planned and reviewed."),
            ),
        }
    }

    /// Makes the saved plan of a request to apply or destroy, which a person then decides about.
    pub(super) fn plan_request(&self, proposal: &Proposal) {
        let known = self.services.terraform.request_plan(proposal.id);
        if proposal.state == ProposalState::Open
            && known.is_none_or(|known| known.version != proposal.version)
            && let Some(asked) = request_plan_of(proposal, Actor::new(ActorKind::Window, "Draftboard"))
        {
            self.services.terraform.plan_request(asked, None);
        }
    }

    /// Sends a request to the previews and records the outcome when they respond.
    fn preview<R: Request>(
        &mut self,
        id: ProposalId,
        request: R,
        describe: impl FnOnce(R::Response) -> ActionResult + Send + 'static,
    ) -> String
    where
        preview_sessions::PreviewSessionRequest: From<(R, Responder<R::Response>)>,
    {
        let (writer, action_runs) = (self.handle.clone(), Arc::clone(&self.services.agents.action_runs));
        let responder = Responder::new(move |result: Result<R::Response, Refusal>| {
            let done = result.map_or_else(ActionResult::from_refusal, describe);
            if let Err(refusal) =
                writer.send(WriterMsg::ActionOutcome { proposal: id, outcome: done.words.clone() })
            {
                tracing::debug!(%refusal, "the outcome of a preview was not recorded");
            }
            action_runs.finish(id, done);
        });
        self.services.previews.request(request, responder);
        "the preview is notified".to_owned()
    }

    /// Notifies the person through the desktop of a request that changes real resources.
    pub(super) fn notify_of_grave(&mut self, proposal: &Proposal, act: &ProposedAction) {
        let ProposedAction::Run { board, operation } = act else { return };
        if !operation.needs_confirmation() {
            return;
        }
        let state = self.session.workspace.snapshot();
        let board = state.board(*board).map_or_else(|| board.to_string(), |board| board.name.to_string());
        let client = &proposal.proposer.name;
        self.notifier.notify(DesktopNotification {
            title: format!("{client} asks to run terraform {} on {board}", operation.as_str()),
            body: "Nothing changes before you decide. The review queue of Draftboard shows the plan."
                .to_owned(),
        });
    }

    pub(super) fn record_outcome(&mut self, id: ProposalId, outcome: String) {
        let noted = self.run_in_group(|group| {
            group.record_outcome(id, &outcome);
            Ok(())
        });
        if let Err(refusal) = noted {
            tracing::warn!(%refusal, "the outcome of a proposal was not recorded");
        }
    }

    /// Expires proposals and codes.
    pub(super) fn sweep(&mut self) {
        let moment = time_and_seed();
        let swept = self.run_in_group(|group| {
            group.expire(moment.time);
            Ok(())
        });
        if let Err(refusal) = swept {
            tracing::warn!(%refusal, "expired proposals were not recorded");
        }
        self.codes.sweep(moment.time);
    }

    /// The time until the next expiry; a while after an expiry that could not be recorded.
    pub(super) fn until_expiry(&self) -> Duration {
        let ends = self.session.workspace.next_expiry().into_iter().chain(self.codes.next_end());
        let least = Duration::from_millis(250);
        ends.min().map_or(Duration::MAX, |end| {
            Duration::from_millis(end.saturating_sub(time_and_seed().time)).max(least)
        })
    }

    /// Grants the standing approval of the command line for this run.
    pub(super) fn approve(&mut self, scope: ApprovalScope, name: String) {
        let grant = ApprovalGrant { client: None, scope, boards: Vec::new(), expires: None };
        let granted = self
            .run_in_group(|group| group.grant(grant, true, &Reviewer::at_terminal(name), time_and_seed()));
        if let Err(refusal) = granted {
            tracing::error!(%refusal, "the standing approval of the command line does not hold");
        }
    }
}

/// The plan that a request to apply or destroy needs; `None` for other proposals.
pub(crate) fn request_plan_of(proposal: &Proposal, actor: Actor) -> Option<PlanRequest> {
    match proposal.act {
        Some(ProposedAction::Run { board, operation }) if operation.needs_confirmation() => {
            Some(PlanRequest {
                key: ApplyRequestVersion { proposal: proposal.id, version: proposal.version, board },
                operation,
                requested_by: proposal.proposer.name.clone(),
                actor,
                secrets: Vec::new(),
                requested_by_person: false,
            })
        }
        _ => None,
    }
}

fn preview_done() -> ActionResult {
    ActionResult::ok("done".to_owned(), Value::Null)
}

fn is_undecided(proposal: &Proposal) -> bool {
    use shared_protocol::ProposalState::{Draft, Open, Stale};
    matches!(proposal.state, Draft | Open | Stale { .. })
}
