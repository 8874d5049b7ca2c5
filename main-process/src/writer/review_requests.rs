//! The review messages of the window and of terminals, each with the response that it names. Only the window's own channel and
//! a terminal's connection call these; a terminal decides with a code.

use super::{
    WriterHandle,
    writer_thread::{ProposalComparison, ProposalOverlayInput, request_plan_of},
};
use crate::{background, responses::JsonResponder};
use shared_protocol::{
    Actor, ActorKind, ProposalId, Refusal, RefusalCode,
    decisions::{
        CommentOnProposal, DrawPagePictures, EditProposal, PlanProposal, ProposalDecision, RebaseProposal,
        RevertProposal, ReviewPlanStart, ReviewRequest, SubmitDecision, TerminalReviewRequest,
    },
    request::{Responder, ResponseChannel},
    review::ProposalConsequences,
};
use terraform_runs::PlanRequest;
use workspace::{Reviewer, time_and_seed};

/// A person at a terminal, and the connection that a code belongs to.
pub(crate) struct TerminalReviewer {
    pub(crate) connection: u64,
    pub(crate) name: String,
}

impl WriterHandle {
    /// Handles a request of the window's own channel.
    pub(crate) fn review(&self, request: ReviewRequest, name: String, channel: impl ResponseChannel) {
        let reviewer = Reviewer::in_window(name.clone());
        match request {
            ReviewRequest::OpenProposal(request) => {
                self.call(channel.typed(), move |writer| writer.open_proposal(request.proposal));
            }
            ReviewRequest::CloseProposal(request) => self.call(channel.typed(), move |writer| {
                writer.close_proposal(request.proposal);
                Ok(())
            }),
            ReviewRequest::RebaseProposal(RebaseProposal { proposal, version }) => {
                self.call(channel.typed(), move |writer| {
                    writer.amend(proposal, |group| {
                        group.rebase_stale((proposal, version), &reviewer, time_and_seed())
                    })
                });
            }
            ReviewRequest::EditProposal(EditProposal { proposal, version, hash, commands }) => {
                self.call(channel.typed(), move |writer| {
                    let seen = (proposal, version, hash);
                    writer.amend(proposal, |group| {
                        group.edit_proposal(seen, &commands, &reviewer, time_and_seed())
                    })
                });
            }
            ReviewRequest::CommentOnProposal(CommentOnProposal { proposal, about, text }) => {
                self.call(channel.typed(), move |writer| {
                    writer.amend(proposal, |group| {
                        group.comment_on_proposal(proposal, about, &text, &reviewer, time_and_seed())
                    })
                });
            }
            ReviewRequest::RevertProposal(RevertProposal { proposal, partial }) => {
                self.call(channel.typed(), move |writer| {
                    writer.revert_proposal(proposal, partial, &reviewer)
                });
            }
            ReviewRequest::GrantApproval(request) => {
                self.call(channel.typed(), move |writer| writer.grant(request.grant, &reviewer));
            }
            ReviewRequest::RevokeApproval(request) => {
                self.call(channel.typed(), move |writer| writer.revoke(request.approval, &reviewer));
            }
            ReviewRequest::ListDecided(request) => {
                self.call(channel.typed(), move |writer| Ok(writer.history(request.limit)));
            }
            ReviewRequest::ListOrigins(request) => {
                self.call(channel.typed(), move |writer| writer.workspace().origins(&request.revisions));
            }
            ReviewRequest::DropCode(request) => self.call(channel.typed(), move |writer| {
                writer.drop_code(&request.code);
                Ok(())
            }),
            ReviewRequest::ReadConsequences(request) => {
                self.describe_consequences(request.proposal, channel.typed());
            }
            ReviewRequest::DrawPagePictures(DrawPagePictures { proposal, hash, page, screen }) => {
                self.in_background(proposal, channel.typed(), move |writer| {
                    let previews = writer.previews();
                    move |input: ProposalOverlayInput| {
                        input.overlay_of(hash)?.page_pictures(&previews, page, screen)
                    }
                });
            }
            ReviewRequest::PlanProposal(request) => {
                self.plan_proposal(request, Actor::new(ActorKind::Window, name), channel.typed());
            }
        }
    }

    /// Carries out a decision of a person about a proposal.
    pub(crate) fn decide(
        &self,
        decision: ProposalDecision,
        reviewer: Reviewer,
        channel: impl ResponseChannel,
    ) {
        self.call(channel.typed(), move |writer| writer.decide(&decision, &reviewer));
    }

    /// Handles a review request of a terminal: reading is free, a decision takes a code.
    pub(crate) fn terminal_review(
        &self,
        request: TerminalReviewRequest,
        reviewer: TerminalReviewer,
        responder: JsonResponder,
    ) {
        match request {
            TerminalReviewRequest::ListQueue(_) => {
                self.call(responder.typed(), |writer| Ok(writer.undecided()));
            }
            TerminalReviewRequest::ShowProposal(request) => self.call(responder.typed(), move |writer| {
                let id = writer.workspace().proposal(&request.proposal)?.id;
                writer.proposal_details(id)
            }),
            TerminalReviewRequest::SubmitDecision(SubmitDecision { decision }) => {
                self.call(responder.typed(), move |writer| writer.issue_code(decision, reviewer));
            }
        }
    }

    /// Carries out the decision of a terminal that knows its code.
    pub(crate) fn confirm(&self, code: String, reviewer: TerminalReviewer, responder: JsonResponder) {
        self.call_with(responder.0, move |writer, responder| {
            writer.confirm_code(&code, reviewer, JsonResponder(responder));
        });
    }

    fn plan_proposal(&self, request: PlanProposal, actor: Actor, responder: Responder<ReviewPlanStart>) {
        let PlanProposal { proposal, hash, board, secrets } = request;
        self.call_with(responder, move |writer, responder| {
            let (input, terraform) = (writer.overlay_input(proposal), writer.terraform());
            background::spawn("consequences", responder, move |responder| {
                let overlay: Result<ProposalComparison, Refusal> =
                    input.and_then(|input| input.overlay_of(hash));
                let overlay = match overlay {
                    Ok(overlay) => overlay,
                    Err(refusal) => return responder.send(Err(refusal)),
                };
                match request_plan_of(overlay.proposal(), actor.clone()) {
                    // The person pressed the button.
                    Some(request) if overlay.is_waiting() => {
                        let request = PlanRequest { secrets, requested_by_person: true, ..request };
                        terraform.plan_request(request, Some(responder));
                    }
                    Some(_) => {
                        let message = "The proposal is no longer open.";
                        responder.send(Err(Refusal::new(RefusalCode::Conflict, message)));
                    }
                    None => terraform.trial(overlay.trial(board, secrets, actor), responder),
                }
            });
        });
    }

    fn describe_consequences(&self, id: ProposalId, responder: Responder<ProposalConsequences>) {
        self.in_background(id, responder, |writer| {
            let context = writer.consequences_context();
            move |input: ProposalOverlayInput| Ok(context.consequences(input.overlay()?))
        });
    }

    /// Takes the proposal and what `prepare` needs on the writer's thread, and runs what `prepare` returns on another.
    fn in_background<T: Send + 'static, W>(
        &self,
        id: ProposalId,
        responder: Responder<T>,
        prepare: impl FnOnce(&super::writer_thread::Writer) -> W + Send + 'static,
    ) where
        W: FnOnce(ProposalOverlayInput) -> Result<T, Refusal> + Send + 'static,
    {
        self.call_with(responder, move |writer, responder| {
            let (input, work) = (writer.overlay_input(id), prepare(writer));
            background::spawn("consequences", responder, move |responder| {
                responder.send(input.and_then(work));
            });
        });
    }
}
