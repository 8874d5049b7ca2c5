//! The one writer. A thread owns the open workspace; everybody else sends it jobs over a bounded channel and hears back when
//! what they asked for is durable.

mod agent_run;
mod announce;
mod answer;
mod around;
mod codes;
mod launching;
mod notify;
mod session;
mod subscriber;
mod writer;

pub(crate) use answer::ask;
pub(crate) use around::{InHost, InPreviews, terraform_responder, terraform_user};
use around::{review_responder, upstream_responder};
pub(crate) use launching::{Launch, launch, launch_at};
pub(crate) use session::{Session, SessionError};
pub(crate) use subscriber::MAX_QUEUED;

use crate::{
    mcp::{self, Address},
    preview, terraform_worker, upstreams,
};
use authority::proposals::{AgentAsk, Client};
use crossbeam_channel::{Receiver, RecvTimeoutError, SendTimeoutError, Sender, TrySendError, bounded};
use journal::FileChanged;
use mcp_server::AskReply;
use shared_protocol::{
    Actor, Code, NodeId, ProposalId, Refusal,
    mcp::McpView,
    messages::{Answer, Presence, Request, ToRenderer},
    review::{AuditEvent, ReviewRequest, TerminalReview, TerminalReviewAnswer},
    terraform::{RunId, RunLine, TerraformView},
    upstreams::{UpstreamDecision, UpstreamsView},
};
use std::{io, thread::JoinHandle, time::Duration};
use workspace::Mutation;

/// Jobs that may wait; whoever comes after that is told to try again.
const MAX_WAITING: usize = 1_024;
const SEND_LIMIT: Duration = Duration::from_secs(10);

pub(crate) type Reply = Box<dyn FnOnce(Result<Answer, Refusal>) + Send>;
pub(crate) type TerminalReply = Box<dyn FnOnce(Result<TerminalReviewAnswer, Refusal>) + Send>;

pub(crate) enum Job {
    Request {
        request: Request,
        actor: Actor,
        reply: Reply,
    },
    /// A change that another part of the process has worked out.
    Mutate {
        mutation: Mutation,
        actor: Actor,
        reply: Reply,
    },
    Presence(Presence),
    /// A renderer is there: it gets everything, then patches.
    Attach(Sender<ToRenderer>),
    /// The renderer missed something.
    Resync,
    FileChanged(FileChanged),
    /// What the agents' side looks like now.
    Mcp(Box<McpView>),
    /// Where agents find this process; none when they do not.
    McpAddress(Option<Address>),
    /// What the agents' side answers, once the jobs before it are done.
    McpAnswer {
        reply: Reply,
        result: Result<Answer, Refusal>,
    },
    /// What is known about Terraform now.
    Terraform(Box<TerraformView>),
    RunLines {
        run: RunId,
        first: u64,
        lines: Vec<RunLine>,
    },
    /// Somebody chose this node in a preview.
    Chosen(NodeId),
    /// What is known about managed servers now.
    Upstreams(Box<UpstreamsView>),
    /// What a person decides about managed servers; sent by the window's own channel and by nothing else.
    Upstream {
        decision: UpstreamDecision,
        name: String,
        reply: Reply,
    },
    /// A line of the audit.
    Note {
        event: AuditEvent,
        by: upstreams::By,
        reason: String,
    },
    /// What an agent asks of the review queue.
    Ask {
        client: Client,
        ask: AgentAsk,
        reply: AskReply,
    },
    /// What only the window may ask; sent by its own channel and by nothing else.
    Review {
        request: ReviewRequest,
        name: String,
        reply: Reply,
    },
    /// Reviewing from a terminal.
    TerminalReview {
        connection: u64,
        request: TerminalReview,
        name: String,
        reply: TerminalReply,
    },
    /// What came of something that was accepted and done elsewhere.
    CameOf {
        proposal: ProposalId,
        outcome: String,
    },
    Stop,
}

/// What the writer tells the process around it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Signal {
    /// Somebody asked for the end.
    Quit,
}

/// The parts of the process that the writer passes things on to.
#[derive(Clone)]
pub(crate) struct Parts {
    pub(crate) agents: mcp::Link,
    pub(crate) terraform: terraform_worker::Link,
    pub(crate) previews: preview::Link,
    pub(crate) upstreams: upstreams::Link,
}

/// How to reach the writer.
#[derive(Clone)]
pub(crate) struct Host {
    jobs: Sender<Job>,
    /// What a window does in a preview does not pass the writer.
    pub(crate) previews: preview::Link,
}

impl Host {
    /// Starts the writer's thread on an open workspace.
    pub(crate) fn start(
        launch: Launch,
        window: bool,
        parts: Parts,
    ) -> io::Result<(Self, Receiver<Signal>, JoinHandle<()>)> {
        let (jobs, waiting) = bounded(MAX_WAITING);
        let (signals, heard) = bounded(4);
        let host = Self { jobs, previews: parts.previews.clone() };
        let own = host.clone();
        let thread = std::thread::Builder::new()
            .name("writer".to_owned())
            .spawn(move || writer::Writer::new(launch, own, signals, window, parts).run(&waiting))?;
        Ok((host, heard, thread))
    }

    pub(crate) fn send(&self, job: Job) -> Result<(), Refusal> {
        self.jobs.send_timeout(job, SEND_LIMIT).map_err(|error| match error {
            SendTimeoutError::Timeout(_) => {
                Refusal::new(Code::Timeout, "too many requests are waiting").hint("Try again in a moment.")
            }
            SendTimeoutError::Disconnected(_) => Refusal::new(Code::NoWorkspace, "Draftboard is closing"),
        })
    }

    /// For what is worth nothing later: lost when too much waits.
    pub(crate) fn mention(&self, job: Job) {
        if self.jobs.try_send(job).is_err() {
            tracing::debug!("something was not mentioned to the writer");
        }
    }

    /// Has the review queue asked, and does not wait; when too much waits already, that is the answer.
    pub(crate) fn ask(&self, client: Client, ask: AgentAsk, reply: AskReply) {
        match self.jobs.try_send(Job::Ask { client, ask, reply }) {
            Ok(()) => {}
            Err(TrySendError::Full(Job::Ask { reply, .. })) => {
                reply(Err(Refusal::new(Code::Timeout, "too many requests are waiting")
                    .hint("Try again in a moment.")))
            }
            Err(TrySendError::Disconnected(Job::Ask { reply, .. })) => {
                reply(Err(Refusal::new(Code::NoWorkspace, "Draftboard is closing")));
            }
            Err(_) => {}
        }
    }

    /// Reviews from a terminal, and waits for the answer.
    pub(crate) fn terminal_review(
        &self,
        (connection, name): (u64, String),
        request: TerminalReview,
        limit: Duration,
    ) -> Result<TerminalReviewAnswer, Refusal> {
        let (done, answered) = bounded(1);
        let reply: TerminalReply = Box::new(move |result| drop(done.send(result)));
        self.send(Job::TerminalReview { connection, request, name, reply })?;
        answered.recv_timeout(limit).unwrap_or_else(|_| {
            Err(Refusal::new(Code::Timeout, "no answer in time")
                .hint("`draftboard review list` shows whether this was done."))
        })
    }

    /// Asks and waits for the answer.
    pub(crate) fn request(&self, request: Request, actor: Actor, limit: Duration) -> Result<Answer, Refusal> {
        let (done, answered) = bounded(1);
        let reply: Reply = Box::new(move |result| drop(done.send(result)));
        self.send(Job::Request { request, actor, reply })?;
        answered.recv_timeout(limit).unwrap_or_else(|error| {
            Err(match error {
                RecvTimeoutError::Timeout => {
                    Refusal::new(Code::Timeout, "no answer in time; the request may still be carried out")
                }
                RecvTimeoutError::Disconnected => {
                    Refusal::new(Code::NoWorkspace, "Draftboard ended before it answered")
                        .hint("`draftboard log` shows whether this was done.")
                }
            })
        })
    }
}
