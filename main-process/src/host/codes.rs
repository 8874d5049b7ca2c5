//! One-time codes for decisions in a terminal. Main shows a code where only the person at its own window or terminal sees
//! it; whoever gives it back on the connection that asked has been there. A code is for one decision, once, for a moment,
//! and guessing is bounded.

use mcp_server::shown_line;
use processes::instance::constant_time_eq;
use shared_protocol::{
    Code, Refusal,
    review::{AskedDecision, CodeShown},
};
use std::{
    collections::{BTreeMap, VecDeque},
    io::Write as _,
};

/// Milliseconds that a code holds; a terminal that says nothing is let go after as much.
const LIFETIME: u64 = 60 * 1000;
/// Wrong codes for one decision before it has to be asked for again.
const TRIES: u32 = 3;
/// Wrong codes in all within [`LOCK`] before none is taken any more.
const WRONG: usize = 6;
/// Milliseconds that wrong codes are remembered.
const LOCK: u64 = 10 * 60 * 1000;
/// Decisions that may wait for their codes.
const WAITING: usize = 4;
/// Decisions that may be asked for within [`LOCK`]: each is shown to a person and leaves a line in the audit.
const ASKED: usize = 100;
const DIGITS: u32 = 8;

#[derive(Debug, Default)]
pub(super) struct Codes {
    waiting: BTreeMap<u64, Waiting>,
    wrong: VecDeque<u64>,
    asked: VecDeque<u64>,
    /// Codes that came when none was expected.
    void: VecDeque<u64>,
}

#[derive(Debug)]
struct Waiting {
    code: String,
    purpose: String,
    decision: AskedDecision,
    expires: u64,
    tries: u32,
}

/// What came of a code.
#[derive(Debug)]
pub(super) enum Given {
    Right(AskedDecision),
    /// Worth a line of the audit, with what to say.
    Wrong(Refusal),
    /// The same once more: anybody can go on with that, and the audit only grows.
    Again(Refusal),
}

impl Codes {
    /// A code for a decision that a connection asks for; the one before is void.
    pub(super) fn issue(
        &mut self,
        connection: u64,
        (decision, purpose): (AskedDecision, String),
        now: u64,
    ) -> Result<String, Refusal> {
        self.forget(now);
        self.refuse_locked()?;
        self.waiting.remove(&connection);
        if self.waiting.len() >= WAITING {
            let message = format!("{WAITING} decisions wait for their codes already");
            return Err(Refusal::new(Code::LimitExceeded, message).hint("Try again in a minute."));
        }
        if self.asked.len() >= ASKED {
            return Err(Refusal::new(Code::LimitExceeded, "too many decisions were asked for")
                .hint("Decide in the window, or wait ten minutes."));
        }
        let chance = getrandom::u64().map_err(|error| {
            Refusal::new(Code::Internal, format!("there is no chance to make a code of: {error}"))
        })?;
        let code = format!("{:0width$}", chance % 10_u64.pow(DIGITS), width = DIGITS as usize);
        let waiting = Waiting { code: code.clone(), purpose, decision, expires: now + LIFETIME, tries: 0 };
        self.waiting.insert(connection, waiting);
        self.asked.push_back(now);
        Ok(code)
    }

    /// A code that a connection gives back. Right or exhausted, it is over.
    pub(super) fn give(&mut self, connection: u64, code: &str, now: u64) -> Given {
        self.forget(now);
        if let Err(refusal) = self.refuse_locked() {
            self.waiting.remove(&connection);
            return self.void(refusal, now);
        }
        let Some(mut waiting) = self.waiting.remove(&connection) else {
            let message = "no decision waits for a code here, or its time is over";
            let refusal = Refusal::new(Code::Stale, message).hint("Ask for the decision again.");
            return self.void(refusal, now);
        };
        if constant_time_eq(waiting.code.as_bytes(), code.trim().as_bytes()) {
            return Given::Right(waiting.decision);
        }
        self.wrong.push_back(now);
        waiting.tries += 1;
        let left = TRIES - waiting.tries;
        if left > 0 {
            self.waiting.insert(connection, waiting);
        }
        let hint = match left {
            0 => "Ask for the decision again.".to_owned(),
            left => format!("{left} more tries."),
        };
        Given::Wrong(
            Refusal::new(Code::ConfirmationRequired, "this is not the code that is shown").hint(hint),
        )
    }

    /// Nothing was asked here that a code could answer, or none is taken now.
    fn void(&mut self, refusal: Refusal, now: u64) -> Given {
        if self.void.len() >= WRONG {
            return Given::Again(refusal);
        }
        self.void.push_back(now);
        Given::Wrong(refusal)
    }

    fn refuse_locked(&self) -> Result<(), Refusal> {
        if self.wrong.len() < WRONG {
            return Ok(());
        }
        Err(Refusal::new(Code::LimitExceeded, "too many wrong codes were given")
            .hint("Decide in the window, or wait ten minutes."))
    }

    fn forget(&mut self, now: u64) {
        self.waiting.retain(|_, waiting| waiting.expires > now);
        for times in [&mut self.wrong, &mut self.asked, &mut self.void] {
            while times.front().is_some_and(|time| time + LOCK <= now) {
                times.pop_front();
            }
        }
    }

    /// What the window shows.
    pub(super) fn shown(&self) -> Vec<CodeShown> {
        let shown = |waiting: &Waiting| CodeShown {
            code: waiting.code.clone(),
            purpose: waiting.purpose.clone(),
            expires: waiting.expires,
        };
        self.waiting.values().map(shown).collect()
    }

    pub(super) fn drop_code(&mut self, code: &str) {
        self.waiting.retain(|_, waiting| waiting.code != code);
    }

    /// Lets go of what is over; true when that was something.
    pub(super) fn sweep(&mut self, now: u64) -> bool {
        let before = self.waiting.len();
        self.forget(now);
        self.waiting.len() < before
    }

    pub(super) fn next_end(&self) -> Option<u64> {
        self.waiting.values().map(|waiting| waiting.expires).min()
    }
}

/// Shows a code on the terminal that this process was started in, and nowhere else: not on its outputs, which may lead into
/// a file or to another program.
pub(super) fn show_on_terminal(code: &str, purpose: &str) -> Result<(), Refusal> {
    // Titles are an agent's words.
    let purpose = shown_line(purpose);
    let shown = std::fs::OpenOptions::new().write(true).open("/dev/tty").and_then(|mut terminal| {
        writeln!(terminal, "\r\nA terminal asks: {purpose}\r\nCode (holds for one minute): {code}\r")
    });
    shown.map_err(|error| {
        Refusal::new(
            Code::Conflict,
            format!(
                "this Draftboard has neither a window nor a terminal of its own to show a code in ({error})"
            ),
        )
        .hint("Decide in a window, or start `draftboard serve` in a terminal.")
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use shared_protocol::ProposalId;

    fn asked(number: u64) -> (AskedDecision, String) {
        let proposal = ProposalId::from_bits(number);
        (AskedDecision::Reject { proposal, version: 1, reason: "no".to_owned() }, "reject".to_owned())
    }

    #[test]
    fn a_code_is_for_one_decision_once_and_for_a_moment() {
        let mut codes = Codes::default();
        let code = codes.issue(1, asked(1), 0).unwrap();
        assert_eq!(code.len(), DIGITS as usize);
        assert!(matches!(codes.give(2, &code, 1), Given::Wrong(_)), "another connection");
        assert!(matches!(codes.give(1, &code, 1), Given::Right(decision) if decision == asked(1).0));
        assert!(matches!(codes.give(1, &code, 1), Given::Wrong(_)), "it is used up");
        let late = codes.issue(1, asked(2), 0).unwrap();
        assert!(matches!(codes.give(1, &late, LIFETIME), Given::Wrong(_)), "its time is over");
        let first = codes.issue(1, asked(3), 0).unwrap();
        let second = codes.issue(1, asked(4), 0).unwrap();
        assert!(
            first == second || matches!(codes.give(1, &first, 1), Given::Wrong(_)),
            "the newer replaces it"
        );
    }

    #[test]
    fn guessing_is_bounded() {
        let mut codes = Codes::default();
        for round in 0..2 {
            let code = codes.issue(1, asked(1), 0).unwrap();
            let wrong = if code == "00000000" { "00000001" } else { "00000000" };
            for _ in 0..TRIES {
                assert!(matches!(codes.give(1, wrong, 1), Given::Wrong(_)));
            }
            assert!(matches!(codes.give(1, &code, 1), Given::Wrong(_)), "round {round}: it is void");
        }
        assert_eq!(codes.issue(1, asked(1), 2).unwrap_err().code, Code::LimitExceeded);
        for _ in 0..WRONG {
            codes.give(1, "00000000", 2);
        }
        assert!(matches!(codes.give(1, "00000000", 2), Given::Again(_)), "it is not noted without end");
        assert!(matches!(codes.give(1, "00000000", LOCK + 3), Given::Wrong(_)));
        assert!(codes.issue(1, asked(1), LOCK + 3).is_ok());
    }

    #[test]
    fn asking_is_bounded_too() {
        let mut codes = Codes::default();
        for _ in 0..ASKED {
            codes.issue(1, asked(1), 0).unwrap();
        }
        assert_eq!(codes.issue(1, asked(1), 1).unwrap_err().code, Code::LimitExceeded);
        assert!(codes.issue(1, asked(1), LOCK + 1).is_ok());
    }
}
