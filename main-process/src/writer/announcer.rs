//! Announcements of `draftboard serve`, which has no window: one line on standard error for each proposal that waits for
//! review. Standard output stays free for scripts.

use authority::proposals::ReviewQueue;
use mcp_server::{escape_hidden, escape_line};
use shared_protocol::{Proposal, ProposalId, ProposalState};
use std::{collections::BTreeSet, io::Write as _, path::Path};

/// Characters of a title in one line.
const MAX_TITLE_CHARS: usize = 120;

/// Which versions of which proposals were announced.
#[derive(Debug, Default)]
pub(super) struct ProposalAnnouncer {
    announced: BTreeSet<(ProposalId, u32)>,
}

impl ProposalAnnouncer {
    /// Announces how many proposals wait when the workspace is opened.
    pub(super) fn announce_waiting(&mut self, queue: &ReviewQueue, workspace: &Path) {
        let waiting: Vec<_> = waiting_proposals(queue).collect();
        self.announced = waiting.iter().map(|proposal| (proposal.id, proposal.version)).collect();
        if !waiting.is_empty() {
            let review = command("list", workspace);
            print_line(&format!("{} from before. Review: {review}", count(waiting.len())));
        }
    }

    /// Announces a proposal that waits and was not announced in this version.
    pub(super) fn announce_submitted(&mut self, proposal: &Proposal, queue: &ReviewQueue, workspace: &Path) {
        if !is_waiting(proposal) || !self.announced.insert((proposal.id, proposal.version)) {
            return;
        }
        let waiting: BTreeSet<_> =
            waiting_proposals(queue).map(|proposal| (proposal.id, proposal.version)).collect();
        self.announced.retain(|announced| waiting.contains(announced));
        let title: String = escape_line(&proposal.title).chars().take(MAX_TITLE_CHARS).collect();
        let (number, client) = (proposal.number, escape_line(&proposal.proposer.name));
        let review = command(&format!("show {number}"), workspace);
        let count = count(waiting.len());
        print_line(&format!(
            "Proposal {number} by {client} (unverified): {title}. {count}. Review: {review}"
        ));
    }
}

fn waiting_proposals(queue: &ReviewQueue) -> impl Iterator<Item = &Proposal> {
    queue.iter().map(|proposal| &**proposal).filter(|proposal| is_waiting(proposal))
}

fn is_waiting(proposal: &Proposal) -> bool {
    matches!(proposal.state, ProposalState::Open | ProposalState::Stale { .. })
}

fn count(waiting: usize) -> String {
    match waiting {
        1 => "1 proposal waits for review".to_owned(),
        many => format!("{many} proposals wait for review"),
    }
}

fn command(verb: &str, workspace: &Path) -> String {
    let workspace = workspace.to_string_lossy();
    let is_plain = |c: char| c.is_ascii_alphanumeric() || "/._-+@".contains(c);
    let workspace = match workspace.chars().all(is_plain) {
        true => workspace.into_owned(),
        false => format!("'{}'", escape_hidden(&workspace).replace('\'', r"'\''")),
    };
    format!("draftboard review {verb} -w {workspace}")
}

/// A reader that went away is no error.
fn print_line(line: &str) {
    drop(writeln!(std::io::stderr().lock(), "draftboard: {line}"));
}
