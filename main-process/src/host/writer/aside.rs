//! What a reviewer asks about a proposal and what takes a moment: worked out on a thread of its own, on the proposal and the
//! workspace as they were at one moment.

use super::{Writer, reviewing::request_asked};
use crate::{
    host::{Reply, review_responder},
    terraform_worker::{About, RequestAsked, TrialAsked},
};
use authority::{Snapshot, proposals::Overlay};
use shared_protocol::{
    Actor, ActorKind, BoardId, Code, Proposal, ProposalId, ProposalState, Refusal, messages::Answer,
    proposal::ContentHash, review::ReviewRequest,
};
use std::sync::Arc;

/// A proposal over the workspace.
pub(super) struct Laid {
    pub(super) proposal: Arc<Proposal>,
    pub(super) hash: ContentHash,
    pub(super) before: Snapshot,
    pub(super) overlay: Overlay,
}

impl Laid {
    fn of(proposal: Arc<Proposal>, before: Snapshot) -> Result<Self, Refusal> {
        let hash = proposal.content_hash()?;
        let overlay = Overlay::lenient(&before, &proposal.changes).map_err(|why| {
            Refusal::new(Code::Stale, why.first().cloned().unwrap_or_default())
                .hint("Look again, then ask for what follows from it.")
        })?;
        Ok(Self { proposal, hash, before, overlay })
    }

    fn trial(self, board: BoardId, secrets: Vec<(String, String)>, actor: Actor) -> TrialAsked {
        let Proposal { id: proposal, version, .. } = *self.proposal;
        let about = About { proposal, version, hash: self.hash, over: self.before.revision() };
        TrialAsked { about, board, state: self.overlay.state, secrets, actor }
    }

    fn waits(&self) -> bool {
        matches!(self.proposal.state, ProposalState::Open | ProposalState::Stale { .. })
    }

    /// Whoever asks means what they see.
    fn is(self, seen: ContentHash) -> Result<Self, Refusal> {
        match self.hash == seen {
            true => Ok(self),
            false => Err(Refusal::new(Code::Stale, "the proposal has changed since")
                .hint("Look at what it is now, then ask again.")),
        }
    }
}

impl Writer {
    /// Gives back what is to be answered at once.
    pub(super) fn review_aside(
        &self,
        request: ReviewRequest,
        name: &str,
        reply: Reply,
    ) -> Option<(ReviewRequest, Reply)> {
        match request {
            ReviewRequest::Consequences(id) => {
                let around = self.around_consequences();
                self.aside(id, reply, move |laid, reply| reply(laid.map(|laid| around.of(laid))));
            }
            ReviewRequest::PagePictures { proposal, hash, page, screen } => {
                let previews = self.host.previews.clone();
                self.aside(proposal, reply, move |laid, reply| {
                    let drawn = laid.and_then(|laid| laid.is(hash)?.page_pictures(&previews, page, screen));
                    reply(drawn.map(Answer::Review));
                });
            }
            ReviewRequest::Plan { proposal, hash, board, secrets } => {
                let terraform = self.terraform.clone();
                let actor = Actor::new(ActorKind::Window, name);
                self.aside(proposal, reply, move |laid, reply| match laid.and_then(|laid| laid.is(hash)) {
                    Ok(laid) => match request_asked(&laid.proposal, actor.clone()) {
                        // The person's own press.
                        Some(asked) if laid.waits() => {
                            let asked = RequestAsked { secrets, pressed: true, ..asked };
                            terraform.plan_request(asked, Some(review_responder(reply)));
                        }
                        Some(_) => {
                            reply(Err(Refusal::new(Code::Conflict, "The request does not wait any more.")))
                        }
                        None => terraform.trial(laid.trial(board, secrets, actor), review_responder(reply)),
                    },
                    Err(refusal) => reply(Err(refusal)),
                });
            }
            other => return Some((other, reply)),
        }
        None
    }

    /// Answers later, from another thread.
    fn aside(
        &self,
        id: ProposalId,
        reply: Reply,
        work: impl FnOnce(Result<Laid, Refusal>, Reply) + Send + 'static,
    ) {
        let workspace = &self.session.workspace;
        let Some(proposal) = workspace.desk().queue.get(id).map(Arc::clone) else {
            return reply(Err(Refusal::new(Code::NotFound, format!("there is no proposal {id}"))));
        };
        let before = workspace.snapshot().clone();
        let work = move || work(Laid::of(proposal, before), reply);
        if let Err(error) = std::thread::Builder::new().name("consequences".to_owned()).spawn(work) {
            tracing::error!(%error, "no thread for what follows from a proposal");
        }
    }
}
