//! The log of a session: the newest lines, each with its number.

use components::visible_text;
use shared_protocol::{
    preview_sessions::{LogLevel, MAX_PREVIEW_LOG_LINES, PreviewLogLine},
    preview_wire::MAX_PREVIEW_TEXT_CHARS,
};
use std::collections::VecDeque;
use workspace::time_and_seed;

#[derive(Debug, Default)]
pub(crate) struct SessionLogLines {
    lines: VecDeque<PreviewLogLine>,
    logged: u64,
}

impl SessionLogLines {
    pub(crate) fn add(&mut self, level: LogLevel, message: &str) {
        self.logged += 1;
        if self.lines.len() >= MAX_PREVIEW_LOG_LINES {
            self.lines.pop_front();
        }
        let message = visible_text(message, MAX_PREVIEW_TEXT_CHARS);
        self.lines.push_back(PreviewLogLine {
            number: self.logged,
            time: time_and_seed().time,
            level,
            message,
        });
    }

    /// The number of lines so far, dropped ones included.
    pub(crate) fn total(&self) -> u64 {
        self.logged
    }

    pub(crate) fn lines_after(&self, number: u64) -> Vec<PreviewLogLine> {
        self.lines.iter().filter(|line| line.number > number).cloned().collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn old_lines_go_and_numbers_stay() {
        let mut log = SessionLogLines::default();
        for number in 0..MAX_PREVIEW_LOG_LINES + 10 {
            log.add(LogLevel::Info, &format!("line {number}\u{202e}"));
        }
        assert_eq!(
            (log.total(), log.lines_after(0).len()),
            (MAX_PREVIEW_LOG_LINES as u64 + 10, MAX_PREVIEW_LOG_LINES)
        );
        let newest = log.lines_after(MAX_PREVIEW_LOG_LINES as u64 + 9);
        assert_eq!((newest.len(), newest[0].number), (1, MAX_PREVIEW_LOG_LINES as u64 + 10));
        assert!(!newest[0].message.contains('\u{202e}'));
    }
}
