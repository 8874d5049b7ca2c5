//! A cached answer of main. It is requested when it is shown: at once for another board, else after changes have
//! settled, and never twice at the same time.

use shared_protocol::{BoardId, Refusal};

/// Seconds without a change before an answer is requested again.
const REST: f64 = 0.35;

/// The subject of an answer and the state that it depends on.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct AnswerKey<D> {
    pub(crate) board: BoardId,
    pub(crate) at: D,
}

#[derive(Debug)]
pub(crate) struct AnswerCache<T, D> {
    value: Option<(BoardId, T)>,
    /// The last request, answered or not.
    requested: Option<AnswerKey<D>>,
    is_waiting: bool,
    /// The reason that there is no answer.
    pub(crate) refused: Option<String>,
    /// Increases with each answer.
    pub(crate) version: u64,
    /// A newer state, and the time at which it appeared.
    newer: Option<(AnswerKey<D>, f64)>,
}

impl<T, D> Default for AnswerCache<T, D> {
    fn default() -> Self {
        Self { value: None, requested: None, is_waiting: false, refused: None, version: 0, newer: None }
    }
}

/// The next step for an answer that is shown.
#[derive(Debug, PartialEq)]
pub(crate) enum AnswerCacheStep {
    Nothing,
    Request,
    /// Try again after these seconds.
    Later(f64),
}

impl<T, D: Copy + PartialEq> AnswerCache<T, D> {
    pub(crate) fn get(&self, board: BoardId) -> Option<&T> {
        self.value.as_ref().filter(|(of, _)| *of == board).map(|(_, value)| value)
    }

    pub(crate) fn is_current(&self, key: AnswerKey<D>) -> bool {
        self.requested == Some(key) && !self.is_waiting
    }

    /// Called while the answer is shown. `at_once` skips the wait for changes to settle.
    pub(crate) fn poll(&mut self, key: AnswerKey<D>, now: f64, at_once: bool) -> AnswerCacheStep {
        if self.is_waiting || self.requested == Some(key) {
            return AnswerCacheStep::Nothing;
        }
        let same_board = self.requested.is_some_and(|requested| requested.board == key.board);
        if same_board && !at_once {
            match self.newer {
                Some((newer, since)) if newer == key => {
                    let left = since + REST - now;
                    if left > 0.0 {
                        return AnswerCacheStep::Later(left);
                    }
                }
                _ => {
                    self.newer = Some((key, now));
                    return AnswerCacheStep::Later(REST);
                }
            }
        }
        (self.requested, self.newer, self.is_waiting) = (Some(key), None, true);
        AnswerCacheStep::Request
    }

    /// Takes the answer for a board. A refused request is repeated when the state changes.
    pub(crate) fn receive(&mut self, answer: Result<(BoardId, T), Refusal>) {
        self.is_waiting = false;
        match answer {
            Ok(value) => {
                (self.value, self.refused) = (Some(value), None);
                self.version += 1;
            }
            Err(refusal) => self.refused = Some(describe(&refusal)),
        }
    }

    /// An empty cache whose versions continue, so that no panel takes a new answer for one that it knows.
    pub(crate) fn restarted(&self) -> Self {
        Self { version: self.version + 1, ..Self::default() }
    }

    /// Marks the answer as outdated although its key is unchanged.
    pub(crate) fn outdate(&mut self) {
        self.requested = None;
    }
}

fn describe(refusal: &Refusal) -> String {
    refusal.hints.iter().fold(refusal.message.clone(), |all, hint| format!("{all}. {hint}"))
}

#[cfg(test)]
mod tests {
    use super::*;
    use shared_protocol::RefusalCode;

    fn key(board: u64, at: u64) -> AnswerKey<u64> {
        AnswerKey { board: BoardId::from_bits(board), at }
    }

    #[test]
    fn it_is_requested_for_once_and_again_when_changes_have_rested() {
        let mut kept: AnswerCache<&str, u64> = AnswerCache::default();
        assert_eq!(kept.poll(key(1, 1), 0.0, false), AnswerCacheStep::Request);
        assert_eq!(kept.poll(key(1, 2), 0.1, false), AnswerCacheStep::Nothing, "one at a time");
        kept.receive(Ok((BoardId::from_bits(1), "first")));
        assert_eq!(kept.poll(key(1, 1), 0.2, false), AnswerCacheStep::Nothing, "it is known");
        assert_eq!(kept.poll(key(1, 2), 1.0, false), AnswerCacheStep::Later(REST));
        assert_eq!(kept.poll(key(1, 3), 1.2, false), AnswerCacheStep::Later(REST), "it changes still");
        assert!(matches!(kept.poll(key(1, 3), 1.3, false), AnswerCacheStep::Later(left) if left < REST));
        assert_eq!(kept.poll(key(1, 3), 1.6, false), AnswerCacheStep::Request);
        kept.receive(Err(Refusal::new(RefusalCode::BadRequest, "no")));
        assert_eq!((kept.refused.as_deref(), kept.get(BoardId::from_bits(1))), (Some("no"), Some(&"first")));
        assert_eq!(kept.poll(key(1, 3), 9.0, false), AnswerCacheStep::Nothing, "refused is answered");
        assert_eq!(kept.poll(key(2, 3), 9.0, false), AnswerCacheStep::Request, "another board, at once");
        assert_eq!(kept.get(BoardId::from_bits(2)), None, "not what is known of the other");
    }

    #[test]
    fn somebody_who_waits_does_not_wait_for_a_rest() {
        let mut kept: AnswerCache<(), u64> = AnswerCache::default();
        kept.poll(key(1, 1), 0.0, false);
        kept.receive(Ok((BoardId::from_bits(1), ())));
        assert_eq!(kept.poll(key(1, 2), 0.1, true), AnswerCacheStep::Request);
        kept.receive(Ok((BoardId::from_bits(1), ())));
        assert!(kept.is_current(key(1, 2)) && !kept.is_current(key(1, 3)));
        kept.outdate();
        assert_eq!(kept.poll(key(1, 2), 0.2, false), AnswerCacheStep::Request);
    }
}
