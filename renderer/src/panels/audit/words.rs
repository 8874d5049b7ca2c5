//! Describes audit lines. Text from agents is escaped.

use crate::{features::review::words::proposer_label, wording::line};
use shared_protocol::text::capitalize;
use shared_protocol::{
    ProposalId,
    review::{AuditEntry, AuditEvent, AuditLine},
    v0::UtcTimestamp,
};

#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct AuditRow {
    pub(super) number: u64,
    pub(super) time: Option<u64>,
    /// The author and the action.
    pub(super) event_text: String,
    /// The channel, the reason and the elements.
    pub(super) details: String,
    pub(super) proposal: Option<ProposalId>,
    event: Option<AuditEvent>,
}

#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(super) enum AuditFilter {
    #[default]
    Everything,
    Decisions,
    Proposals,
    Trust,
    Servers,
}

/// The maximum number of elements in a line; the export has all of them.
const MAX_NAMED_ELEMENTS: usize = 4;

impl AuditFilter {
    pub(super) const ALL: [Self; 5] =
        [Self::Everything, Self::Decisions, Self::Proposals, Self::Trust, Self::Servers];

    pub(super) fn label(self) -> &'static str {
        match self {
            Self::Everything => "Everything",
            Self::Decisions => "Decisions",
            Self::Proposals => "Proposals",
            Self::Trust => "Approvals and codes",
            Self::Servers => "Managed servers and tool calls",
        }
    }

    pub(super) fn matches(self, line: &AuditRow) -> bool {
        use AuditEvent as E;
        let kind = match line.event {
            // An unreadable line appears only in the unfiltered list.
            None => Self::Everything,
            Some(E::Accept | E::Reject | E::Refused | E::Revert | E::LookAgain | E::Edit | E::Comment) => {
                Self::Decisions
            }
            Some(E::Begin | E::Submit | E::Revise | E::Withdraw | E::Supersede | E::Expire | E::Stale) => {
                Self::Proposals
            }
            Some(E::Grant | E::Revoke | E::CodeShown | E::WrongCode) => Self::Trust,
            Some(E::Call | E::Upstream) => Self::Servers,
        };
        self == Self::Everything || self == kind
    }
}

impl AuditRow {
    pub(super) fn from_line(read: &AuditLine) -> Self {
        let number = read.number;
        match serde_json::from_str::<AuditEntry>(&read.text) {
            Ok(entry) => Self {
                number,
                time: Some(entry.time),
                event_text: describe_event(&entry),
                details: describe_details(&entry),
                proposal: entry.proposal.as_ref().map(|proposal| proposal.id),
                event: Some(entry.event),
            },
            Err(_) => Self {
                number,
                time: None,
                event_text: "Unreadable line".to_owned(),
                details: line(&read.text),
                proposal: None,
                event: None,
            },
        }
    }

    /// `query` must be lower case.
    pub(super) fn contains(&self, query: &str) -> bool {
        query.is_empty()
            || [&self.event_text, &self.details].iter().any(|text| text.to_lowercase().contains(query))
    }
}

fn describe_event(entry: &AuditEntry) -> String {
    use AuditEvent as E;
    let by = entry.by.as_deref().map_or_else(|| "Someone".to_owned(), line);
    let it = entry.proposal.as_ref().map_or_else(
        || "a proposal".to_owned(),
        |proposal| format!("proposal {}, version {}", proposal.number, proposal.version),
    );
    let agent = entry
        .proposal
        .as_ref()
        .map_or_else(|| "An agent".to_owned(), |proposal| proposer_label(&proposal.proposer));
    let approval = entry
        .approval
        .map_or_else(|| "a standing approval".to_owned(), |number| format!("standing approval {number}"));
    match entry.event {
        E::Begin => format!("{agent} started {it}"),
        E::Submit => format!("{agent} submitted {it}"),
        E::Revise => format!("{agent} revised {it}"),
        E::Withdraw => format!("{agent} withdrew {it}"),
        E::Supersede => format!("A newer proposal replaced {it}"),
        E::Expire => capitalize(&format!("{it} expired")),
        E::Stale => capitalize(&format!("{it} became stale")),
        E::LookAgain => format!("{by} rebased {it}"),
        E::Edit => format!("{by} edited {it}"),
        E::Comment => format!("{by} commented on {it}"),
        E::Accept => {
            let who = match entry.approval {
                Some(_) => capitalize(&approval),
                None => by,
            };
            match entry.revision {
                Some(revision) => format!("{who} accepted {it}, as revision {revision}"),
                None => format!("{who} accepted {it}"),
            }
        }
        E::Reject => format!("{by} rejected {it}"),
        E::Revert => format!("{by} reverted {it}"),
        E::Refused => format!("{by}'s decision on {it} was refused"),
        E::Grant => format!("{by} granted {approval}"),
        E::Revoke => format!("{by} revoked {approval}"),
        E::Call => format!("{by} called a tool"),
        E::Upstream => format!("{by} changed a managed server"),
        E::CodeShown => format!("{by} requested a code"),
        E::WrongCode => format!("{by} entered a wrong code"),
    }
}

fn describe_details(entry: &AuditEntry) -> String {
    let way = match entry.way.as_str() {
        "clock" => "by a timer".to_owned(),
        "agent" => "over MCP".to_owned(),
        "standing approval" => "by standing approval".to_owned(),
        "window" => "in the window".to_owned(),
        "terminal" => "in a terminal".to_owned(),
        other => line(other),
    };
    let reason = entry.reason.iter().filter(|reason| !reason.trim().is_empty()).map(|reason| line(reason));
    let elements = (!entry.elements.is_empty()).then(|| elements(&entry.elements));
    std::iter::once(way).chain(reason).chain(elements).collect::<Vec<_>>().join(" · ")
}

fn elements(all: &[String]) -> String {
    let named =
        all.iter().take(MAX_NAMED_ELEMENTS).map(|element| line(element)).collect::<Vec<_>>().join(", ");
    match all.len().checked_sub(MAX_NAMED_ELEMENTS) {
        Some(more) if more > 0 => format!("{named} and {more} more"),
        _ => named,
    }
}

/// `2026-01-31 09:15:02 UTC`, from milliseconds since 1970.
pub(super) fn format_time(time: u64) -> String {
    let stamp = UtcTimestamp::of_millis(time).to_string();
    let to_the_second = stamp.split_once('.').map_or(stamp.as_str(), |(seconds, _)| seconds);
    format!("{} UTC", to_the_second.replace('T', " "))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn told(text: &str) -> AuditRow {
        let (previous, hash) = (String::new(), String::new());
        AuditRow::from_line(&AuditLine { number: 3, previous, hash, text: text.to_owned(), signature: None })
    }

    fn proposal() -> String {
        let id = ProposalId::from_bits(1);
        format!(
            r#""proposal":{{"id":"{id}","number":4,"version":2,"hash":null,"proposer":{{"key":"k","name":"claude","version":"2"}}}}"#
        )
    }

    #[test]
    fn lines_are_told_in_words() {
        let proposal = proposal();
        let accepted = told(&format!(
            r#"{{"time":1,"event":"accept","by":"ada","way":"window",{proposal},"revision":9,"elements":["a","b","c","d","e"]}}"#
        ));
        assert_eq!(accepted.event_text, "ada accepted proposal 4, version 2, as revision 9");
        assert_eq!(accepted.details, "in the window · a, b, c, d and 1 more");
        assert!(accepted.proposal.is_some());
        let rejected = told(&format!(
            r#"{{"time":1,"event":"reject","by":"ada","way":"terminal",{proposal},"reason":"too dear\u202e"}}"#
        ));
        assert_eq!(rejected.details, "in a terminal · too dear\\u{202e}");
        let begun = told(&format!(r#"{{"time":1,"event":"begin","way":"agent",{proposal}}}"#));
        assert_eq!(begun.event_text, "claude 2 (unverified) started proposal 4, version 2");
        let approved = told(&format!(
            r#"{{"time":1,"event":"accept","by":"ada","way":"standing approval","approval":1,{proposal}}}"#
        ));
        assert!(approved.event_text.starts_with("Standing approval 1 accepted"), "{}", approved.event_text);
        let other = told("no JSON");
        assert_eq!((other.event_text.as_str(), other.time), ("Unreadable line", None));

        assert!(AuditFilter::Decisions.matches(&accepted) && !AuditFilter::Proposals.matches(&accepted));
        assert!(AuditFilter::Everything.matches(&other) && !AuditFilter::Decisions.matches(&other));
        assert!(
            rejected.contains("too dear") && rejected.contains("rejected") && !rejected.contains("accept")
        );
    }

    #[test]
    fn moments_are_days_of_the_calendar() {
        assert_eq!(format_time(0), "1970-01-01 00:00:00 UTC");
        assert_eq!(format_time(951_782_400_000), "2000-02-29 00:00:00 UTC");
        assert_eq!(format_time(1_735_689_599_000), "2024-12-31 23:59:59 UTC");
        assert_eq!(format_time(1_769_850_902_000), "2026-01-31 09:15:02 UTC");
    }
}
