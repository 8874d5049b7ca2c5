//! The review queue at the writer: what agents ask joins the group of mutations; what people decide comes from the window's
//! own channel, or from a terminal with a code that only the window shows. There is no other way to a decision.

use super::{Waiting, Writer};
use crate::{
    host::{
        Job, TerminalReply,
        agent_run::AgentRun,
        codes::{Given, show_on_terminal},
        launching,
        notify::Notice,
    },
    terraform_worker::{PlanKey, RequestAsked, SavedPlan},
    upstreams,
};
use authority::proposals::{AgentAsk, Client};
use mcp_server::{AskReply, Done};
use serde_json::{Value, json};
use shared_protocol::{
    Actor, ActorKind, BoardId, Code, Proposal, ProposalId, ProposalState, Refusal,
    messages::Answer,
    previews::{PreviewAnswer, PreviewRequest},
    proposal::{Act, Verdict},
    request::Responder,
    review::{
        AskedDecision, AuditEvent, Grant, OpenedProposal, ReviewAnswer, ReviewRequest, Scope, TerminalReview,
        TerminalReviewAnswer,
    },
    terraform::{RunOperation, TerraformRequest},
    upstreams::{ToolCall, UpstreamDecision},
};
use std::{
    path::Path,
    sync::{Arc, atomic::AtomicU64},
    time::Duration,
};
use workspace::now;
use workspace::{Decision, Group, Reviewer, Template};

impl Writer {
    /// Gathers with the mutations.
    pub(super) fn asked(client: Client, ask: AgentAsk, reply: AskReply) -> Waiting {
        Waiting::Ask { client: Box::new(client), ask: Box::new(ask), reply }
    }

    /// A decision or another thing that only the window may ask.
    pub(super) fn review(&mut self, request: ReviewRequest, name: String) -> Result<Answer, Refusal> {
        let reviewer = Reviewer::at_window(name);
        let answer = match request {
            ReviewRequest::Open(id) => return self.opened(id),
            ReviewRequest::Accept(verdict) => {
                let decision = self.accepts(&verdict, &reviewer)?;
                self.decided(&decision)
            }
            ReviewRequest::Reject { proposal, version, reason } => {
                let rejected =
                    self.in_group(|group| group.rejects((proposal, version), &reason, &reviewer, now()))?;
                self.told(&rejected)
            }
            ReviewRequest::LookAgain { proposal, version } => {
                self.in_group(|group| group.looks_again((proposal, version), &reviewer, now()))?;
                return self.opened(proposal);
            }
            ReviewRequest::Edit { proposal, version, hash, commands } => {
                let seen = (proposal, version, hash);
                self.in_group(|group| group.edits(seen, &commands, &reviewer, now()))?;
                return self.opened(proposal);
            }
            ReviewRequest::Comment { proposal, about, text } => {
                self.in_group(|group| group.comments(proposal, about, &text, &reviewer, now()))?;
                return self.opened(proposal);
            }
            ReviewRequest::Revert { proposal, partial } => {
                let reverted = self.in_group(|group| group.reverts(proposal, partial, &reviewer, now()));
                return reverted.map(Answer::Applied);
            }
            ReviewRequest::Grant(grant) => {
                ReviewAnswer::Approval(self.in_group(|group| group.grant(grant, false, &reviewer, now()))?)
            }
            ReviewRequest::Revoke(id) => {
                self.in_group(|group| group.revoke(id, &reviewer, now()))?;
                return Ok(Answer::Done);
            }
            ReviewRequest::History { limit } => ReviewAnswer::History(self.history(limit)),
            ReviewRequest::Origins(revisions) => {
                ReviewAnswer::Origins(self.session.workspace.origins(&revisions)?)
            }
            ReviewRequest::Consequences(_)
            | ReviewRequest::PagePictures { .. }
            | ReviewRequest::Plan { .. } => {
                return Err(Refusal::new(Code::Internal, "this is worked out aside"));
            }
            ReviewRequest::DropCode(code) => {
                self.codes.drop_code(&code);
                return Ok(Answer::Done);
            }
        };
        Ok(Answer::Review(answer))
    }

    /// Reviewing from a terminal: looking is free, deciding takes a code.
    pub(super) fn terminal_review(
        &mut self,
        connection: u64,
        request: TerminalReview,
        name: &str,
    ) -> Reviewed {
        if let TerminalReview::Confirm { code } = request {
            return self.code_given(connection, &code, &Reviewer::at_terminal(name.to_owned()));
        }
        Reviewed::Now(Box::new(self.looked_at(connection, request, name)))
    }

    fn looked_at(
        &mut self,
        connection: u64,
        request: TerminalReview,
        name: &str,
    ) -> Result<TerminalReviewAnswer, Refusal> {
        let workspace = &self.session.workspace;
        match request {
            TerminalReview::List => {
                let waiting = workspace.desk().queue.iter().filter(|proposal| waits(proposal));
                let mut briefs: Vec<_> = waiting.map(|proposal| workspace.brief(proposal)).collect();
                briefs.sort_by(shared_protocol::review::ProposalBrief::queue_order);
                Ok(TerminalReviewAnswer::Queue(briefs))
            }
            TerminalReview::Show(named) => {
                let id = workspace.proposal(&named)?.id;
                Ok(TerminalReviewAnswer::Opened(Box::new(self.opened_proposal(id)?)))
            }
            TerminalReview::Ask(decision) => {
                self.ask_for_code(connection, decision, &Reviewer::at_terminal(name.to_owned()))
            }
            TerminalReview::Confirm { .. } => Err(Refusal::new(Code::Internal, "a code went the wrong way")),
        }
    }

    fn code_given(&mut self, connection: u64, code: &str, reviewer: &Reviewer) -> Reviewed {
        let result = match self.codes.give(connection, code, now().time) {
            Given::Right(AskedDecision::Upstream(decision)) => {
                return Reviewed::Upstream(Box::new(decision));
            }
            Given::Right(decision) => self.confirmed(decision, reviewer),
            Given::Again(refusal) => Err(refusal),
            Given::Wrong(refusal) => {
                let why = refusal.message.clone();
                let noted = self.in_group(|group| {
                    group.notes(AuditEvent::WrongCode, reviewer, why, now());
                    Ok(())
                });
                noted.and(Err(refusal))
            }
        };
        Reviewed::Now(Box::new(result))
    }

    /// A decision about a managed server that came with its code; how it went is told later.
    pub(super) fn upstream_confirmed(&self, decision: UpstreamDecision, name: String, reply: TerminalReply) {
        let responder = Responder::new(reply).map(TerminalReviewAnswer::Upstream);
        self.upstreams.decide(decision, upstreams::By { name, way: "terminal" }, responder);
    }

    fn ask_for_code(
        &mut self,
        connection: u64,
        decision: AskedDecision,
        reviewer: &Reviewer,
    ) -> Result<TerminalReviewAnswer, Refusal> {
        let about = |id: ProposalId, verb: &str| {
            let proposal = self.session.workspace.proposal(&id.to_string())?;
            Ok::<_, Refusal>(format!("{verb} proposal {} “{}”", proposal.number, proposal.title))
        };
        let purpose = match &decision {
            AskedDecision::Accept(verdict) => about(verdict.proposal, "accept")?,
            AskedDecision::Reject { proposal, .. } => about(*proposal, "reject")?,
            AskedDecision::Upstream(decision) => self.upstreams.purpose(decision)?,
        };
        let code = self.codes.issue(connection, (decision, purpose.clone()), now().time)?;
        let place = if self.window {
            "the window of Draftboard"
        } else {
            show_on_terminal(&code, &purpose).inspect_err(|_| self.codes.drop_code(&code))?;
            "the terminal of `draftboard serve`"
        };
        self.in_group(|group| {
            group.notes(AuditEvent::CodeShown, reviewer, purpose, now());
            Ok(())
        })?;
        Ok(TerminalReviewAnswer::CodeIsShown { place: place.to_owned() })
    }

    fn confirmed(
        &mut self,
        decision: AskedDecision,
        reviewer: &Reviewer,
    ) -> Result<TerminalReviewAnswer, Refusal> {
        let answer = match decision {
            AskedDecision::Accept(verdict) => {
                let decision = self.accepts(&verdict, reviewer)?;
                self.decided(&decision)
            }
            AskedDecision::Reject { proposal, version, reason } => {
                let rejected =
                    self.in_group(|group| group.rejects((proposal, version), &reason, reviewer, now()))?;
                self.told(&rejected)
            }
            AskedDecision::Upstream(_) => {
                return Err(Refusal::new(Code::Internal, "a decision about a server went the wrong way"));
            }
        };
        match answer {
            ReviewAnswer::Decided { proposal, applied, notice } => {
                Ok(TerminalReviewAnswer::Decided { proposal, applied, notice })
            }
            _ => Err(Refusal::new(Code::Internal, "a decision without an answer")),
        }
    }

    /// A group of its own. What is noted of a refusal is kept as well.
    pub(super) fn in_group<T>(
        &mut self,
        run: impl FnOnce(&mut Group<'_>) -> Result<T, Refusal>,
    ) -> Result<T, Refusal> {
        let mut group = self.session.workspace.begin();
        let result = run(&mut group);
        match group.commit() {
            Ok(patches) => {
                self.broadcast(patches);
                result
            }
            Err(refusal) => result.and(Err(refusal)),
        }
    }

    fn opened(&self, id: ProposalId) -> Result<Answer, Refusal> {
        Ok(Answer::Review(ReviewAnswer::Opened(Box::new(self.opened_proposal(id)?))))
    }

    fn opened_proposal(&self, id: ProposalId) -> Result<OpenedProposal, Refusal> {
        let mut opened = self.session.workspace.opened(id)?;
        opened.plan = self.terraform.request_plan(id).map(Box::new);
        Ok(opened)
    }

    /// A yes. One to a request to apply or destroy holds only for the saved plan that it names, on everything as it was
    /// planned.
    fn accepts(&mut self, verdict: &Verdict, reviewer: &Reviewer) -> Result<Decision, Refusal> {
        let proposal = self.session.workspace.desk().queue.get(verdict.proposal);
        let applies = proposal.and_then(|proposal| match proposal.act {
            Some(Act::Run { board, operation }) if operation.needs_confirmation() => Some(board),
            _ => None,
        });
        if let Some(board) = applies
            && let Err(refusal) = self.terraform.check_request(verdict.proposal, board, verdict.plan)
        {
            self.in_group(|group| {
                group.notes(AuditEvent::Refused, reviewer, refusal.message.clone(), now());
                Ok(())
            })?;
            return Err(refusal);
        }
        self.in_group(|group| group.accepts(verdict, reviewer, now()))
    }

    fn told(&self, proposal: &Proposal) -> ReviewAnswer {
        let brief = self.session.workspace.brief(proposal);
        ReviewAnswer::Decided { proposal: Box::new(brief), applied: None, notice: None }
    }

    fn decided(&mut self, decision: &Decision) -> ReviewAnswer {
        let Decision { proposal, applied, act } = decision;
        let brief = Box::new(self.session.workspace.brief(proposal));
        // Before anything is shown: what does not wait any more loses its plan.
        let saved = self.terraform.take_request(proposal.id);
        if act.is_some() {
            // Whoever waits for what comes of it finds the decision as well.
            self.publish();
        }
        let notice = act.as_ref().map(|act| self.carry_out(proposal, act, saved));
        ReviewAnswer::Decided { proposal: brief, applied: applied.clone(), notice }
    }

    fn history(&self, limit: u32) -> Vec<shared_protocol::review::ProposalBrief> {
        let workspace = &self.session.workspace;
        let mut over: Vec<&Arc<Proposal>> =
            workspace.desk().queue.iter().filter(|proposal| !waits(proposal)).collect();
        over.sort_by_key(|proposal| std::cmp::Reverse(proposal.number));
        over.into_iter().take(limit.min(1_000) as usize).map(|proposal| workspace.brief(proposal)).collect()
    }

    /// Does what was accepted beside changes of the content; gives what came of it, which also stands with the proposal.
    pub(super) fn carry_out(
        &mut self,
        proposal: &Proposal,
        act: &Act,
        saved: Option<Arc<SavedPlan>>,
    ) -> String {
        let id = proposal.id;
        let done = match act {
            Act::StartPreview { shows, screen } => {
                return self.preview(id, PreviewRequest::Start { shows: shows.clone(), screen: *screen });
            }
            Act::StopPreview { session } => return self.preview(id, PreviewRequest::Stop(*session)),
            Act::NavigatePreview { session, route } => {
                return self.preview(id, PreviewRequest::Navigate { session: *session, route: *route });
            }
            Act::Save => self
                .session
                .workspace
                .save()
                .map(|(revision, files)| format!("saved revision {revision}: {} files", files.len())),
            Act::Config { before, after } => {
                let noticed = self.session.workspace.replace_config(before, after, now());
                noticed.map(|noticed| {
                    self.noticed(noticed);
                    "draftboard.toml was changed".to_owned()
                })
            }
            Act::Open { path } => return self.opens(id, path, format!("opened {path}")),
            Act::New { path, .. } => match launching::create_at(Path::new(path), Template::Blank) {
                Ok(()) => return self.opens(id, path, format!("made {path}")),
                Err(refusal) => Err(refusal),
            },
            Act::Run { board, operation } => {
                self.start_run(proposal, *board, *operation, saved);
                return "the run is being started".to_owned();
            }
            Act::Call { tool, arguments, definition, .. } => {
                let definition = Some(definition.clone());
                let call = ToolCall { tool: tool.clone(), arguments: arguments.clone(), definition };
                let (number, proposer) = (proposal.number, proposal.proposer.name.clone());
                match self.upstreams.accepted(upstreams::Accepted { proposal: id, number, proposer, call }) {
                    Ok(()) => return format!("{tool} is being called"),
                    Err(refusal) => Err(refusal),
                }
            }
        };
        let done = done.map_or_else(Done::refused, |words| Done::well(words, Value::Null));
        self.finished(id, done)
    }

    /// The queue that the proposal is in goes with its workspace, so what comes of it is noted before.
    fn opens(&mut self, id: ProposalId, path: &str, words: String) -> String {
        self.came_of(id, words.clone());
        let opened = self.open(path);
        let done = opened.map_or_else(Done::refused, |_| Done::well(words, Value::Null));
        if done.result.is_err() {
            return self.finished(id, done);
        }
        self.tell_done(id, done)
    }

    /// What came of it is on record and with whoever waits for it.
    fn finished(&mut self, id: ProposalId, done: Done) -> String {
        self.came_of(id, done.words.clone());
        self.tell_done(id, done)
    }

    /// Shows what there is now first: whoever hears of it looks at that.
    fn tell_done(&self, id: ProposalId, done: Done) -> String {
        let words = done.words.clone();
        self.publish();
        self.agents.doings.done(id, done);
        words
    }

    fn start_run(
        &self,
        proposal: &Proposal,
        board: BoardId,
        operation: RunOperation,
        saved: Option<Arc<SavedPlan>>,
    ) {
        let reviewer = proposal.decisions.last().map_or_else(String::new, |decided| decided.by.clone());
        let run = AgentRun {
            proposal: proposal.id,
            reviewer,
            doings: Arc::clone(&self.agents.doings),
            host: self.host.clone(),
            terraform: self.terraform.clone(),
            run: AtomicU64::default(),
        };
        let Proposal { id, version, .. } = *proposal;
        match saved {
            // A plan, a validation: nothing is changed by it.
            _ if !operation.needs_confirmation() => {
                run.start(TerraformRequest::Run { board, operation, confirmed: false, secrets: Vec::new() });
            }
            Some(saved) => {
                let key = PlanKey { proposal: id, version, board };
                run.apply(key, saved, proposal.proposer.name.clone());
            }
            None => run.refuse(
                Refusal::new(Code::Stale, "there is no plan that was said yes to")
                    .hint("Request it again, so that it is planned and reviewed."),
            ),
        }
    }

    /// Makes the saved plan of a request to apply or destroy: it is what a person decides about.
    pub(super) fn plan_request(&self, proposal: &Proposal) {
        let known = self.terraform.request_plan(proposal.id);
        if proposal.state == ProposalState::Open
            && known.is_none_or(|known| known.version != proposal.version)
            && let Some(asked) = request_asked(proposal, Actor::new(ActorKind::Window, "Draftboard"))
        {
            self.terraform.plan_request(asked, None);
        }
    }

    /// Asks the previews; what came of it is noted when they have answered.
    fn preview(&mut self, id: ProposalId, request: PreviewRequest) -> String {
        let (host, doings) = (self.host.clone(), Arc::clone(&self.agents.doings));
        let reply = Box::new(move |result: Result<Answer, Refusal>| {
            let done = match result {
                Ok(Answer::Preview(PreviewAnswer::Started(session))) => {
                    Done::well(format!("{session} began"), json!({ "session": session.to_string() }))
                }
                Ok(_) => Done::well("done".to_owned(), Value::Null),
                Err(refusal) => Done::refused(refusal),
            };
            if let Err(refusal) = host.send(Job::CameOf { proposal: id, outcome: done.words.clone() }) {
                tracing::debug!(%refusal, "what came of a preview was not noted");
            }
            doings.done(id, done);
        });
        self.host.previews.request(request, reply);
        "the preview is told".to_owned()
    }

    /// A person hears through the desktop that somebody asks to change the real world.
    pub(super) fn tell_of_grave(&mut self, proposal: &Proposal, act: &Act) {
        let Act::Run { board, operation } = act else { return };
        if !operation.needs_confirmation() {
            return;
        }
        let state = self.session.workspace.snapshot();
        let board = state.board(*board).map_or_else(|| board.to_string(), |board| board.name.to_string());
        let client = &proposal.proposer.name;
        self.notifier.tell(Notice {
            title: format!("{client} asks to run terraform {} on {board}", operation.word()),
            body: "Nothing is changed before you decide. The review queue of Draftboard shows its plan."
                .to_owned(),
        });
    }

    pub(super) fn came_of(&mut self, id: ProposalId, outcome: String) {
        let noted = self.in_group(|group| {
            group.came_of(id, &outcome);
            Ok(())
        });
        if let Err(refusal) = noted {
            tracing::warn!(%refusal, "what came of a proposal was not noted");
        }
    }

    /// Ends what is over by now.
    pub(super) fn sweep(&mut self) {
        let moment = now();
        let swept = self.in_group(|group| {
            group.expire(moment.time);
            Ok(())
        });
        if let Err(refusal) = swept {
            tracing::warn!(%refusal, "proposals that are over were not noted as such");
        }
        self.codes.sweep(moment.time);
    }

    /// How long until something in the queue is over; a while after a failure to note it.
    pub(super) fn until_expiry(&self) -> Duration {
        let ends = self.session.workspace.next_expiry().into_iter().chain(self.codes.next_end());
        let least = Duration::from_millis(250);
        ends.min()
            .map_or(Duration::MAX, |end| Duration::from_millis(end.saturating_sub(now().time)).max(least))
    }

    /// An approval that the command line gives for this run.
    pub(super) fn approve(&mut self, scope: Scope, name: String) {
        let grant = Grant { client: None, scope, boards: Vec::new(), expires: None };
        let granted = self.in_group(|group| group.grant(grant, true, &Reviewer::at_terminal(name), now()));
        if let Err(refusal) = granted {
            tracing::error!(%refusal, "the standing approval of the command line does not hold");
        }
    }

    pub(super) fn tell_review(&mut self) {
        let codes = if self.window { self.codes.shown() } else { Vec::new() };
        self.renderer.tell_review(&self.session.workspace, codes);
    }
}

/// What a request to apply or destroy has to be planned with; none for other proposals.
pub(super) fn request_asked(proposal: &Proposal, actor: Actor) -> Option<RequestAsked> {
    match proposal.act {
        Some(Act::Run { board, operation }) if operation.needs_confirmation() => Some(RequestAsked {
            key: PlanKey { proposal: proposal.id, version: proposal.version, board },
            operation,
            requested_by: proposal.proposer.name.clone(),
            actor,
            secrets: Vec::new(),
            pressed: false,
        }),
        _ => None,
    }
}

/// What came of a message about reviewing from a terminal.
pub(super) enum Reviewed {
    Now(Box<Result<TerminalReviewAnswer, Refusal>>),
    /// To be carried out elsewhere, which may take a while.
    Upstream(Box<UpstreamDecision>),
}

fn waits(proposal: &Proposal) -> bool {
    use shared_protocol::ProposalState::{Draft, Open, Stale};
    matches!(proposal.state, Draft | Open | Stale { .. })
}
