//! One-time codes for decisions in a terminal. Main shows a code only in its own window or terminal, so a connection that
//! confirms it is operated by the person there. A code is for one decision, once, for a minute, and guessing is bounded.

use mcp_server::escape_line;
use processes::instance::constant_time_eq;
use shared_protocol::{Refusal, RefusalCode, decisions::PersonDecision, review::ConfirmationCode};
use std::{
    collections::{BTreeMap, VecDeque},
    io::Write as _,
};

/// Milliseconds that a code is valid; a silent terminal is disconnected after the same time.
const LIFETIME_MS: u64 = 60 * 1000;
/// Wrong codes for one decision before it must be submitted again.
const MAX_TRIES: u32 = 3;
/// Wrong codes in total within [`LOCK_MS`] before all are refused.
const MAX_WRONG: usize = 6;
/// Milliseconds that wrong codes are remembered.
const LOCK_MS: u64 = 10 * 60 * 1000;
/// Decisions that may wait for their codes.
const MAX_PENDING: usize = 4;
/// Decisions that may be submitted within [`LOCK_MS`]: each shows a code and adds a line to the audit.
const MAX_SUBMITTED: usize = 100;
const DIGITS: u32 = 8;

#[derive(Debug, Default)]
pub(super) struct ConfirmationCodes {
    waiting: BTreeMap<u64, DecisionAwaitingCode>,
    failure_times: VecDeque<u64>,
    request_times: VecDeque<u64>,
    /// Unexpected codes.
    void: VecDeque<u64>,
}

/// A decision of a terminal, described for the person who confirms it.
#[derive(Debug)]
pub(super) struct SubmittedDecision {
    pub(super) decision: PersonDecision,
    pub(super) purpose: String,
}

#[derive(Debug)]
struct DecisionAwaitingCode {
    code: String,
    submitted: SubmittedDecision,
    expires: u64,
    tries: u32,
}

/// The result of a confirmed code.
#[derive(Debug)]
pub(super) enum ConfirmationCodeCheck {
    Right(PersonDecision),
    /// Adds a line to the audit.
    Wrong(Refusal),
    /// Repeated without a limit: adds no line to the audit.
    Again(Refusal),
}

impl ConfirmationCodes {
    /// Issues a code for a decision of a connection; the code before is void.
    pub(super) fn issue(
        &mut self,
        connection: u64,
        submitted: SubmittedDecision,
        now: u64,
    ) -> Result<String, Refusal> {
        self.remove_expired(now);
        self.refuse_locked()?;
        self.waiting.remove(&connection);
        if self.waiting.len() >= MAX_PENDING {
            let message = format!("{MAX_PENDING} decisions are already waiting for a code");
            return Err(Refusal::new(RefusalCode::LimitExceeded, message).hint("Try again in a minute."));
        }
        if self.request_times.len() >= MAX_SUBMITTED {
            return Err(Refusal::new(RefusalCode::LimitExceeded, "too many decisions were submitted")
                .hint("Decide in the window, or wait ten minutes."));
        }
        let chance = getrandom::u64().map_err(|error| {
            Refusal::new(RefusalCode::Internal, format!("a code could not be generated: {error}"))
        })?;
        let code = format!("{:0width$}", chance % 10_u64.pow(DIGITS), width = DIGITS as usize);
        let waiting =
            DecisionAwaitingCode { code: code.clone(), submitted, expires: now + LIFETIME_MS, tries: 0 };
        self.waiting.insert(connection, waiting);
        self.request_times.push_back(now);
        Ok(code)
    }

    /// Checks the code that a connection confirms. A right or exhausted code is void afterwards.
    pub(super) fn check(&mut self, connection: u64, code: &str, now: u64) -> ConfirmationCodeCheck {
        self.remove_expired(now);
        if let Err(refusal) = self.refuse_locked() {
            self.waiting.remove(&connection);
            return self.invalidate(refusal, now);
        }
        let Some(mut waiting) = self.waiting.remove(&connection) else {
            let message = "no decision is waiting for a code, or the code has expired";
            let refusal = Refusal::new(RefusalCode::Stale, message).hint("Submit the decision again.");
            return self.invalidate(refusal, now);
        };
        if constant_time_eq(waiting.code.as_bytes(), code.trim().as_bytes()) {
            return ConfirmationCodeCheck::Right(waiting.submitted.decision);
        }
        self.failure_times.push_back(now);
        waiting.tries += 1;
        let left = MAX_TRIES - waiting.tries;
        if left > 0 {
            self.waiting.insert(connection, waiting);
        }
        let hint = match left {
            0 => "Submit the decision again.".to_owned(),
            left => format!("{left} attempts left."),
        };
        ConfirmationCodeCheck::Wrong(
            Refusal::new(RefusalCode::ConfirmationRequired, "the code is wrong").hint(hint),
        )
    }

    /// Refuses a code that belongs to no decision, or that comes while codes are locked.
    fn invalidate(&mut self, refusal: Refusal, now: u64) -> ConfirmationCodeCheck {
        if self.void.len() >= MAX_WRONG {
            return ConfirmationCodeCheck::Again(refusal);
        }
        self.void.push_back(now);
        ConfirmationCodeCheck::Wrong(refusal)
    }

    fn refuse_locked(&self) -> Result<(), Refusal> {
        if self.failure_times.len() < MAX_WRONG {
            return Ok(());
        }
        Err(Refusal::new(RefusalCode::LimitExceeded, "too many wrong codes were entered")
            .hint("Decide in the window, or wait ten minutes."))
    }

    fn remove_expired(&mut self, now: u64) {
        self.waiting.retain(|_, waiting| waiting.expires > now);
        for times in [&mut self.failure_times, &mut self.request_times, &mut self.void] {
            while times.front().is_some_and(|time| time + LOCK_MS <= now) {
                times.pop_front();
            }
        }
    }

    /// The codes for the window.
    pub(super) fn visible_codes(&self) -> Vec<ConfirmationCode> {
        let shown = |waiting: &DecisionAwaitingCode| ConfirmationCode {
            code: waiting.code.clone(),
            purpose: waiting.submitted.purpose.clone(),
            expires: waiting.expires,
        };
        self.waiting.values().map(shown).collect()
    }

    pub(super) fn drop_code(&mut self, code: &str) {
        self.waiting.retain(|_, waiting| waiting.code != code);
    }

    /// Drops expired codes; returns whether there was one.
    pub(super) fn sweep(&mut self, now: u64) -> bool {
        let before = self.waiting.len();
        self.remove_expired(now);
        self.waiting.len() < before
    }

    pub(super) fn next_end(&self) -> Option<u64> {
        self.waiting.values().map(|waiting| waiting.expires).min()
    }
}

/// Shows a code on the terminal that this process was started in, and not on its outputs, which may lead into a file or to
/// another program.
pub(super) fn show_on_terminal(code: &str, purpose: &str) -> Result<(), Refusal> {
    // Agents write titles.
    let purpose = escape_line(purpose);
    let shown = std::fs::OpenOptions::new().write(true).open("/dev/tty").and_then(|mut terminal| {
        writeln!(
            terminal,
            "\r\nRequested from a terminal: {purpose}\r\nCode (valid for one minute): {code}\r"
        )
    });
    shown.map_err(|error| {
        Refusal::new(
            RefusalCode::Conflict,
            format!("the running Draftboard has no window or terminal to show a code in ({error})"),
        )
        .hint("Decide in a window, or start `draftboard serve` in a terminal.")
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use shared_protocol::{ProposalId, decisions::RejectProposal};

    fn rejection(number: u64) -> SubmittedDecision {
        let proposal = ProposalId::from_bits(number);
        let rejected = RejectProposal { proposal, version: 1, reason: "no".to_owned() };
        let decision = PersonDecision::Proposal(rejected.into());
        SubmittedDecision { decision, purpose: "reject".to_owned() }
    }

    #[test]
    fn a_code_is_for_one_decision_once_and_for_a_moment() {
        let mut codes = ConfirmationCodes::default();
        let code = codes.issue(1, rejection(1), 0).unwrap();
        assert_eq!(code.len(), DIGITS as usize);
        assert!(matches!(codes.check(2, &code, 1), ConfirmationCodeCheck::Wrong(_)), "another connection");
        assert!(
            matches!(codes.check(1, &code, 1), ConfirmationCodeCheck::Right(decision) if decision == rejection(1).decision)
        );
        assert!(matches!(codes.check(1, &code, 1), ConfirmationCodeCheck::Wrong(_)), "it is used up");
        let late = codes.issue(1, rejection(2), 0).unwrap();
        assert!(
            matches!(codes.check(1, &late, LIFETIME_MS), ConfirmationCodeCheck::Wrong(_)),
            "its time is over"
        );
        let first = codes.issue(1, rejection(3), 0).unwrap();
        let second = codes.issue(1, rejection(4), 0).unwrap();
        assert!(
            first == second || matches!(codes.check(1, &first, 1), ConfirmationCodeCheck::Wrong(_)),
            "the newer replaces it"
        );
    }

    #[test]
    fn guessing_is_bounded() {
        let mut codes = ConfirmationCodes::default();
        for round in 0..2 {
            let code = codes.issue(1, rejection(1), 0).unwrap();
            let wrong = if code == "00000000" { "00000001" } else { "00000000" };
            for _ in 0..MAX_TRIES {
                assert!(matches!(codes.check(1, wrong, 1), ConfirmationCodeCheck::Wrong(_)));
            }
            assert!(
                matches!(codes.check(1, &code, 1), ConfirmationCodeCheck::Wrong(_)),
                "round {round}: it is void"
            );
        }
        assert_eq!(codes.issue(1, rejection(1), 2).unwrap_err().code, RefusalCode::LimitExceeded);
        for _ in 0..MAX_WRONG {
            codes.check(1, "00000000", 2);
        }
        assert!(
            matches!(codes.check(1, "00000000", 2), ConfirmationCodeCheck::Again(_)),
            "it is not noted without end"
        );
        assert!(matches!(codes.check(1, "00000000", LOCK_MS + 3), ConfirmationCodeCheck::Wrong(_)));
        assert!(codes.issue(1, rejection(1), LOCK_MS + 3).is_ok());
    }

    #[test]
    fn asking_is_bounded_too() {
        let mut codes = ConfirmationCodes::default();
        for _ in 0..MAX_SUBMITTED {
            codes.issue(1, rejection(1), 0).unwrap();
        }
        assert_eq!(codes.issue(1, rejection(1), 1).unwrap_err().code, RefusalCode::LimitExceeded);
        assert!(codes.issue(1, rejection(1), LOCK_MS + 1).is_ok());
    }
}
