//! The requests that only a person may make, and the review queue of the window.
//!
//! The window sends them over its private channel. A terminal submits a [`PersonDecision`] and confirms it with a code that it
//! cannot see. [`WorkbenchRequest`] contains none of them, so no terminal, bridge or agent can decide by itself.

use crate::{
    BoardId, Command, NodeId, ProposalId, ProposalSubject, Revision,
    managed_servers::{
        ServerDetails, ServerForm, ServerId, ToolCall, ToolCallPolicy, ToolCallResult, TypedSecret,
    },
    messages::AppliedCommand,
    preview_wire::PreviewScreen,
    proposal::{ContentHash, ReviewVerdict},
    request::{Request, requests},
    requests::WorkbenchRequest,
    review::{
        ApprovalGrant, ProposalBrief, ProposalConsequences, ProposalDetails, ProposalOfOperation,
        ProposedPagePictures, StandingApproval,
    },
    terraform::TerraformRunId,
};
use serde::{Deserialize, Serialize};

/// A request of the window.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub enum WindowRequest {
    Workbench(WorkbenchRequest),
    Review(ReviewRequest),
    Decision(PersonDecision),
}

/// A decision, which only a person may make.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub enum PersonDecision {
    Proposal(ProposalDecision),
    Upstream(ManagedServerDecision),
}

requests! {
    /// A decision about a proposal.
    ProposalDecision {
        /// Accepts a proposal, or some of its elements.
        AcceptProposal { verdict: ReviewVerdict } -> DecidedProposal;
        /// Rejects a version of a proposal with a reason.
        RejectProposal { proposal: ProposalId, version: u32, reason: String } -> DecidedProposal;
    }
}

requests! {
    /// A decision about a managed server or a manifest.
    ManagedServerDecision {
        /// Enables and starts a server. If the start fails, the server is disabled again and the response holds the reason.
        EnableServer { server: ServerId } -> ServerDetails;
        /// Approves tools as shown: each with the hash of the definition that the person saw.
        ApproveTools { server: ServerId, tools: Vec<(String, String)> } -> ServerDetails;
        /// Sets the visibility, the policy and the timeouts of a tool.
        SetTool {
            server: ServerId,
            tool: String,
            enabled: bool,
            policy: ToolCallPolicy,
            /// The idle timeout of a call; the server's when absent.
            idle_ms: Option<u64>,
            /// The total timeout of a call; the server's when absent.
            total_ms: Option<u64>,
        } -> ServerDetails;
        /// Replaces the configuration. The server restarts when its launch settings changed.
        UpdateServer { server: ServerId, form: Box<ServerForm> } -> ServerDetails;
        /// Deletes the server, its approvals and its secrets, and stops it.
        DeleteServer { server: ServerId } -> ();
        /// Sets the secret of a variable, or of the address as `auth`.
        SetServerSecret { server: ServerId, part: String, secret: TypedSecret } -> ServerDetails;
        /// Approves exactly this version of a workspace manifest.
        ApproveManifest { hash: String } -> ();
        SetManifestPolicy {
            /// The tool name exposed to agents.
            tool: String,
            policy: ToolCallPolicy,
        } -> ();
        SetManifestSecret { manifest: String, credential: String, secret: TypedSecret } -> ();
        /// A call by a person. The tool must be approved.
        CallTool { call: ToolCall } -> ToolCallResult;
    }
}

requests! {
    /// A request of the reviewer at the window.
    ReviewRequest {
        /// Opens a proposal; drafts can be opened too. Main sends its changes until another one is opened.
        OpenProposal { proposal: ProposalId } -> ProposalDetails;
        /// Main no longer sends the changes of this proposal, and not its ghosts as a draft either.
        CloseProposal { proposal: ProposalId } -> ();
        /// Rebases a stale proposal to the current state, as a new version.
        RebaseProposal { proposal: ProposalId, version: u32 } -> ProposalDetails;
        /// Applies an edit of the reviewer to the proposal, as a new version that can then be accepted.
        EditProposal { proposal: ProposalId, version: u32, hash: ContentHash, commands: Vec<Command> } -> ProposalDetails;
        CommentOnProposal { proposal: ProposalId, about: Option<ProposalSubject>, text: String } -> ProposalDetails;
        /// Reverts everything accepted from a proposal in one operation and keeps later work; `partial` skips the
        /// conflicting changes.
        RevertProposal { proposal: ProposalId, partial: bool } -> AppliedCommand;
        GrantApproval { grant: ApprovalGrant } -> StandingApproval;
        RevokeApproval { approval: u64 } -> ();
        /// The decided proposals, newest first.
        ListDecided { limit: u32 } -> Vec<ProposalBrief>;
        /// The proposals that these operations came from.
        ListOrigins { revisions: Vec<Revision> } -> Vec<ProposalOfOperation>;
        /// Cancels a code before it is used.
        DropCode { code: String } -> ();
        ReadConsequences { proposal: ProposalId } -> ProposalConsequences;
        /// The pictures of an affected page.
        DrawPagePictures { proposal: ProposalId, hash: ContentHash, page: NodeId, screen: PreviewScreen } -> ProposedPagePictures;
        /// Plans a board as proposed, apart from the folder and state of the board; this plan cannot be applied. The result
        /// appears in [`crate::terraform::TerraformView::trials`].
        PlanProposal {
            proposal: ProposalId,
            hash: ContentHash,
            board: BoardId,
            /// Values of sensitive variables; kept in memory for later runs and never written to disk.
            secrets: Vec<(String, String)>,
        } -> ReviewPlanStart;
    }
}

requests! {
    /// A request about the review queue from a terminal.
    TerminalReviewRequest {
        /// The queue of proposals, drafts included.
        ListQueue {} -> Vec<ProposalBrief>;
        /// A proposal by number or id.
        ShowProposal { proposal: String } -> ProposalDetails;
        /// Submits a decision and has main show its code. [`crate::messages::FromTerminal::Confirm`] carries it out.
        SubmitDecision { decision: PersonDecision } -> ConfirmationCodePlace;
    }
}

macro_rules! frames {
    ($($inner:ident => $outer:ident::$variant:ident;)*) => { $(
        impl From<$inner> for $outer {
            fn from(inner: $inner) -> Self {
                Self::$variant(inner)
            }
        }
    )* };
}

frames! {
    WorkbenchRequest => WindowRequest::Workbench;
    ReviewRequest => WindowRequest::Review;
    PersonDecision => WindowRequest::Decision;
    ProposalDecision => PersonDecision::Proposal;
    ManagedServerDecision => PersonDecision::Upstream;
}

impl From<ProposalDecision> for WindowRequest {
    fn from(decision: ProposalDecision) -> Self {
        Self::Decision(decision.into())
    }
}

impl From<ManagedServerDecision> for WindowRequest {
    fn from(decision: ManagedServerDecision) -> Self {
        Self::Decision(decision.into())
    }
}

/// The place where the person finds the code of a submitted decision.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct ConfirmationCodePlace {
    pub place: String,
}

/// A decided proposal and its consequences.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct DecidedProposal {
    pub proposal: ProposalBrief,
    /// The operation that the proposal became; one undo takes it back.
    pub applied: Option<AppliedCommand>,
    /// The action that follows: a file was saved, a run starts.
    pub notice: Option<String>,
}

/// The start of a plan that a reviewer requested.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub enum ReviewPlanStart {
    Started {
        run: TerraformRunId,
    },
    /// The plan did not start: these variables of the board need a value from a person first.
    NeedsValues {
        board: BoardId,
        secrets: Vec<String>,
    },
}
