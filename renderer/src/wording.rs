//! Texts that several features write alike: times, and text of agents made safe to show.

use shared_protocol::{ActorKind, messages::OperationLogEntry};
use std::time::{SystemTime, UNIX_EPOCH};

/// Milliseconds since 1970.
pub(crate) fn unix_millis() -> u64 {
    SystemTime::now().duration_since(UNIX_EPOCH).map_or(0, |since| since.as_millis() as u64)
}

pub(crate) fn ago(now: u64, time: u64) -> String {
    let seconds = now.saturating_sub(time) / 1000;
    match seconds {
        0..=44 => "just now".to_owned(),
        45..=3599 => format!("{} min ago", seconds.div_ceil(60)),
        3600..=86_399 => format!("{} h ago", seconds / 3600),
        _ => format!("{} d ago", seconds / 86_400),
    }
}

/// Text of an agent on one line: line breaks become spaces, invisible characters are escaped.
pub(crate) fn line(text: &str) -> String {
    escape_hidden(text, false)
}

/// Text of an agent with its line breaks; invisible characters are escaped.
pub(crate) fn paragraph(text: &str) -> String {
    escape_hidden(text, true)
}

fn escape_hidden(text: &str, breaks: bool) -> String {
    let mut shown = String::with_capacity(text.len());
    for sign in text.chars() {
        match sign {
            '\n' if breaks => shown.push('\n'),
            '\n' | '\t' => shown.push(' '),
            // The window's fonts lack it.
            '→' => shown.push_str("->"),
            sign if is_unseen(sign) => shown.extend(sign.escape_unicode()),
            sign => shown.push(sign),
        }
    }
    shown
}

/// Control, direction and zero-width characters, which can disguise a text.
fn is_unseen(sign: char) -> bool {
    sign.is_control()
        || matches!(sign,
            '\u{ad}' | '\u{61c}' | '\u{115f}' | '\u{1160}' | '\u{17b4}' | '\u{17b5}' | '\u{180b}'..='\u{180f}'
            | '\u{200b}'..='\u{200f}' | '\u{2028}'..='\u{202e}' | '\u{2060}'..='\u{206f}' | '\u{3164}'
            | '\u{fe00}'..='\u{fe0f}' | '\u{feff}' | '\u{ffa0}' | '\u{fff0}'..='\u{fffb}'
            | '\u{e0000}'..='\u{e0fff}')
}

pub(crate) fn describe_actor(entry: &OperationLogEntry) -> String {
    let kind = match entry.actor.kind {
        ActorKind::Window => "window",
        ActorKind::Terminal => "terminal",
        ActorKind::External => "file",
    };
    if entry.actor.name.is_empty() { kind.to_owned() } else { format!("{} ({kind})", entry.actor.name) }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn times_are_told_as_people_do() {
        let now = 1_000_000_000;
        for (seconds, words) in [
            (0, "just now"),
            (45, "1 min ago"),
            (3599, "60 min ago"),
            (7200, "2 h ago"),
            (200_000, "2 d ago"),
        ] {
            assert_eq!(ago(now, now - seconds * 1000), words);
        }
        assert_eq!(ago(0, 5), "just now", "a clock that went back");
    }

    #[test]
    fn what_cannot_be_seen_is_spelt_out() {
        assert_eq!(line("safe \u{202e}evas\u{202c}"), "safe \\u{202e}evas\\u{202c}");
        assert_eq!(line("a\u{200b}b\u{feff}c\u{ad}d\u{e0041}"), "a\\u{200b}b\\u{feff}c\\u{ad}d\\u{e0041}");
        assert_eq!(line("one\ntwo\tthree\u{1b}[31m"), "one two three\\u{1b}[31m");
        assert_eq!(paragraph("one\ntwo\r\u{2028}"), "one\ntwo\\u{d}\\u{2028}");
        assert_eq!(line("Größe, naïve, 東京"), "Größe, naïve, 東京");
    }
}
