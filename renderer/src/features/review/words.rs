//! Texts about proposals, with the text of agents made safe to show.

pub(crate) use crate::wording::{line, paragraph};

use shared_protocol::{
    ProposalState,
    proposal::{ProposedAction, Proposer, Risk},
    review::{ElementCounts, FieldClash, ProposalBrief, ProposalDetails},
};

/// A short form of the requested action; the row of the element names the board.
pub(crate) fn action_label(act: &ProposedAction) -> String {
    match act {
        ProposedAction::Run { operation, .. } => format!("runs terraform {}", operation.as_str()),
        other => line(&other.describe()),
    }
}

/// Makes every text safe that may come from an agent. The fields that a decision names stay as they are.
pub(crate) fn sanitise(mut proposal: ProposalDetails) -> ProposalDetails {
    harmless_brief(&mut proposal.brief);
    proposal.rationale = paragraph(&proposal.rationale);
    for step in &mut proposal.steps {
        step.summary = line(&step.summary);
    }
    for comment in &mut proposal.comments {
        comment.text = paragraph(&comment.text);
        comment.by = line(&comment.by);
    }
    for element in &mut proposal.elements {
        element.text = line(&element.text);
        for difference in &mut element.differences {
            difference.field = line(&difference.field);
            difference.before = difference.before.as_deref().map(paragraph);
            difference.after = difference.after.as_deref().map(paragraph);
        }
        for file in &mut element.files {
            file.path = line(&file.path);
            file.text = paragraph(&file.text);
        }
    }
    for check in &mut proposal.checks {
        check.message = line(&check.message);
    }
    for conflict in &mut proposal.conflicts {
        *conflict = line(conflict);
    }
    for clash in &mut proposal.clashes {
        let FieldClash { subject: _, name, field, before, now, proposed, by } = clash;
        for text in [name, field].into_iter().chain(by.as_mut()) {
            *text = line(text);
        }
        for value in [before, now, proposed].into_iter().flatten() {
            *value = paragraph(value);
        }
    }
    proposal
}

fn harmless_brief(brief: &mut ProposalBrief) {
    brief.title = line(&brief.title);
    brief.proposer.name = line(&brief.proposer.name);
    brief.proposer.version = line(&brief.proposer.version);
}

/// The client's name, marked as unverified: `claude-code 2.1 (unverified)`.
pub(crate) fn proposer_label(proposer: &Proposer) -> String {
    match (proposer.name.trim(), proposer.version.trim()) {
        ("", _) => "unnamed client (unverified)".to_owned(),
        (name, "") => format!("{} (unverified)", line(name)),
        (name, version) => format!("{} {} (unverified)", line(name), line(version)),
    }
}

pub(crate) fn outcome(brief: &ProposalBrief) -> String {
    let ended = match &brief.state {
        ProposalState::Accepted => match &brief.decided {
            Some(decided) => return format!("Accepted by {}.", line(&decided.by)),
            None => return "Accepted.".to_owned(),
        },
        ProposalState::Rejected { reason, by } => format!("was rejected by {}: {}", line(by), line(reason)),
        ProposalState::Superseded { .. } => "was replaced by another proposal.".to_owned(),
        ProposalState::Expired => "expired.".to_owned(),
        state => format!("was {}.", state.as_str()),
    };
    match brief.is_partly_accepted() {
        true => format!("Partly accepted; the rest {ended}"),
        false => format!("Not accepted: the proposal {ended}"),
    }
}

/// `a, b and c`, up to a maximum.
pub(crate) fn join_names(names: &[String]) -> String {
    const MAX_NAMES: usize = 4;
    let more = names.len().saturating_sub(MAX_NAMES);
    let mut parts: Vec<String> = names.iter().take(MAX_NAMES).cloned().collect();
    if more > 0 {
        parts.push(format!("{more} more"));
    }
    match parts.split_last() {
        Some((last, rest)) if !rest.is_empty() => format!("{} and {last}", rest.join(", ")),
        Some((last, _)) => last.clone(),
        None => String::new(),
    }
}

pub(crate) fn title(brief: &ProposalBrief) -> String {
    match brief.title.trim() {
        "" => "Untitled".to_owned(),
        title => line(title),
    }
}

/// `5 added, 1 removed`, without zeros.
pub(crate) fn counts(counts: &ElementCounts) -> String {
    let parts = [
        (counts.removed, "removed"),
        (counts.added, "added"),
        (counts.changed, "changed"),
        (counts.placed, "moved"),
    ];
    let parts: Vec<String> =
        parts.iter().filter(|(count, _)| *count > 0).map(|(count, word)| format!("{count} {word}")).collect();
    if parts.is_empty() { "no changes yet".to_owned() } else { parts.join(", ") }
}

/// `expires in 3 d`.
pub(crate) fn expiry(now: u64, expires: u64) -> String {
    if expires <= now {
        return "expired".to_owned();
    }
    let minutes = (expires - now) / 60_000;
    match minutes {
        0 => "expires within a minute".to_owned(),
        1..=119 => format!("expires in {minutes} min"),
        120..=2879 => format!("expires in {} h", minutes / 60),
        _ => format!("expires in {} d", minutes / 1440),
    }
}

pub(crate) fn risk_words(risk: Risk) -> &'static str {
    match risk {
        Risk::Destructive => "Removes or replaces something",
        Risk::Security => "Changes access or execution: ingress, permissions, secrets, programs",
        Risk::CostUp => "Increases the cost",
        Risk::Wide => "Many elements, or several boards",
        Risk::Cosmetic => "Only positions and labels",
    }
}

/// The accept button with the number of ticked changes.
pub(crate) fn accept_words(chosen: usize, all: usize) -> String {
    match (chosen, all) {
        (0, _) => "Accept nothing".to_owned(),
        (1, 1) => "Accept it".to_owned(),
        (chosen, all) if chosen == all => format!("Accept all {all}"),
        (chosen, all) => format!("Accept {chosen} of {all}"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn buttons_say_exactly_what_they_take() {
        assert_eq!(accept_words(9, 9), "Accept all 9");
        assert_eq!(accept_words(7, 9), "Accept 7 of 9");
        assert_eq!(accept_words(1, 1), "Accept it");
        assert_eq!(expiry(0, 14 * 86_400_000), "expires in 14 d");
        assert_eq!(expiry(5, 5), "expired");
    }
}
