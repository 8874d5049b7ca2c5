//! The review messages of the window and of terminals, each with the response that it names. Only the window's own channel and
//! a terminal's connection call these; a terminal decides with a code.

use super::{
    WriterHandle,
    writer_thread::{OverlayInput, ProposalComparison, request_plan_for},
};
use crate::{
    background,
    responses::{JsonResponder, ResponseChannel as _},
    terraform_worker::PlanRequest,
};
use shared_protocol::{
    Actor, ActorKind, ProposalId, Refusal, RefusalCode,
    messages::WorkbenchResponse,
    request::Responder,
    requests::DecidedProposal,
    review::{
        PagePictures, ProposalConsequences, ProposalDetails, ReviewRequest, ReviewResponse,
        TerminalReviewRequest,
    },
};
use workspace::{Reviewer, time_and_seed};

impl WriterHandle {
    /// Handles a message of the window's own channel.
    pub(crate) fn review(
        &self,
        request: ReviewRequest,
        name: String,
        responder: Responder<WorkbenchResponse>,
    ) {
        let reviewer = Reviewer::in_window(name.clone());
        match request {
            ReviewRequest::Open(id) => {
                self.call(responder.typed(opened_response), move |writer| writer.opened_proposal(id));
            }
            ReviewRequest::Accept(verdict) => {
                self.call(responder.typed(decided_response), move |writer| {
                    writer.accept(&verdict, &reviewer)
                });
            }
            ReviewRequest::Reject { proposal, version, reason } => {
                self.call(responder.typed(decided_response), move |writer| {
                    writer.reject((proposal, version), &reason, &reviewer)
                });
            }
            ReviewRequest::LookAgain { proposal, version } => {
                self.call(responder.typed(opened_response), move |writer| {
                    writer.amend(proposal, |group| {
                        group.rebase_stale((proposal, version), &reviewer, time_and_seed())
                    })
                });
            }
            ReviewRequest::Edit { proposal, version, hash, commands } => {
                self.call(responder.typed(opened_response), move |writer| {
                    let seen = (proposal, version, hash);
                    writer.amend(proposal, |group| {
                        group.edit_proposal(seen, &commands, &reviewer, time_and_seed())
                    })
                });
            }
            ReviewRequest::Comment { proposal, about, text } => {
                self.call(responder.typed(opened_response), move |writer| {
                    writer.amend(proposal, |group| {
                        group.comment_on_proposal(proposal, about, &text, &reviewer, time_and_seed())
                    })
                });
            }
            ReviewRequest::Revert { proposal, partial } => {
                self.call(responder.typed(WorkbenchResponse::Applied), move |writer| {
                    writer.revert_proposal(proposal, partial, &reviewer)
                });
            }
            ReviewRequest::Grant(grant) => {
                self.call(
                    responder.typed(|approval| WorkbenchResponse::Review(ReviewResponse::Approval(approval))),
                    move |writer| writer.grant(grant, &reviewer),
                );
            }
            ReviewRequest::Revoke(id) => {
                self.call(responder.typed(|()| WorkbenchResponse::Done), move |writer| {
                    writer.revoke(id, &reviewer)
                });
            }
            ReviewRequest::History { limit } => {
                self.call(
                    responder.typed(|briefs| WorkbenchResponse::Review(ReviewResponse::History(briefs))),
                    move |writer| Ok(writer.history(limit)),
                );
            }
            ReviewRequest::Origins(revisions) => {
                self.call(
                    responder.typed(|origins| WorkbenchResponse::Review(ReviewResponse::Origins(origins))),
                    move |writer| writer.workspace().origins(&revisions),
                );
            }
            ReviewRequest::DropCode(code) => {
                self.call(responder.typed(|()| WorkbenchResponse::Done), move |writer| {
                    writer.drop_code(&code);
                    Ok(())
                });
            }
            ReviewRequest::Consequences(id) => self.describe_consequences(id, responder.typed(consequences)),
            ReviewRequest::PagePictures { proposal, hash, page, screen } => {
                self.in_background(proposal, responder.typed(pictures), move |writer| {
                    let previews = writer.previews();
                    move |input: OverlayInput| input.overlay_of(hash)?.page_pictures(&previews, page, screen)
                });
            }
            ReviewRequest::Plan { proposal, hash, board, secrets } => {
                let actor = Actor::new(ActorKind::Window, name);
                self.call_with(responder, move |writer, responder| {
                    let (input, terraform) = (writer.overlay_input(proposal), writer.terraform());
                    background::spawn("consequences", responder, move |responder| {
                        let overlay: Result<ProposalComparison, Refusal> =
                            input.and_then(|input| input.overlay_of(hash));
                        let overlay = match overlay {
                            Ok(overlay) => overlay,
                            Err(refusal) => return responder.send(Err(refusal)),
                        };
                        match request_plan_for(overlay.proposal(), actor.clone()) {
                            // The person pressed the button.
                            Some(asked) if overlay.is_waiting() => {
                                let asked = PlanRequest { secrets, requested_by_person: true, ..asked };
                                terraform.plan_request(asked, Some(responder.map(WorkbenchResponse::Review)));
                            }
                            Some(_) => {
                                let message = "The proposal is no longer open.";
                                responder.send(Err(Refusal::new(RefusalCode::Conflict, message)));
                            }
                            None => terraform.trial(
                                overlay.trial(board, secrets, actor),
                                responder.map(WorkbenchResponse::Review),
                            ),
                        }
                    });
                });
            }
        }
    }

    /// Handles a review message of a terminal: reading is free, a decision takes a code.
    pub(crate) fn terminal_review(
        &self,
        connection: u64,
        request: TerminalReviewRequest,
        name: String,
        responder: JsonResponder,
    ) {
        match request {
            TerminalReviewRequest::List => self.call(responder.encode(), |writer| Ok(writer.undecided())),
            TerminalReviewRequest::Show(named) => self.call(responder.encode(), move |writer| {
                let id = writer.workspace().proposal(&named)?.id;
                writer.opened_proposal(id)
            }),
            TerminalReviewRequest::Ask(decision) => self.call(responder.encode(), move |writer| {
                writer.issue_code(connection, decision, &Reviewer::at_terminal(name))
            }),
            TerminalReviewRequest::Confirm { code } => {
                self.call_with(responder.0, move |writer, responder| {
                    writer.confirm_code(connection, &code, name, JsonResponder(responder));
                })
            }
        }
    }

    fn describe_consequences(&self, id: ProposalId, responder: Responder<ProposalConsequences>) {
        self.in_background(id, responder, |writer| {
            let context = writer.consequences_context();
            move |input: OverlayInput| Ok(context.consequences(input.overlay()?))
        });
    }

    /// Takes the proposal and what `prepare` needs on the writer's thread, and runs what `prepare` returns on another.
    fn in_background<T: Send + 'static, W>(
        &self,
        id: ProposalId,
        responder: Responder<T>,
        prepare: impl FnOnce(&super::writer_thread::Writer) -> W + Send + 'static,
    ) where
        W: FnOnce(OverlayInput) -> Result<T, Refusal> + Send + 'static,
    {
        self.call_with(responder, move |writer, responder| {
            let (input, work) = (writer.overlay_input(id), prepare(writer));
            background::spawn("consequences", responder, move |responder| {
                responder.send(input.and_then(work));
            });
        });
    }
}

fn opened_response(proposal: ProposalDetails) -> WorkbenchResponse {
    WorkbenchResponse::Review(ReviewResponse::Opened(Box::new(proposal)))
}

fn decided_response(decided: DecidedProposal) -> WorkbenchResponse {
    let DecidedProposal { proposal, applied, notice } = decided;
    WorkbenchResponse::Review(ReviewResponse::Decided { proposal, applied, notice })
}

fn consequences(consequences: ProposalConsequences) -> WorkbenchResponse {
    WorkbenchResponse::Review(ReviewResponse::Consequences(Box::new(consequences)))
}

fn pictures(pictures: PagePictures) -> WorkbenchResponse {
    WorkbenchResponse::Review(ReviewResponse::PagePictures(Box::new(pictures)))
}
