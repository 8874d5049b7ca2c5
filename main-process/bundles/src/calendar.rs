//! Formats dates for people and for machines. UTC only.

use jiff::{Timestamp, civil::Date};
use std::time::SystemTime;

/// `2025-05-02T08:30:00.000Z`
pub(crate) fn iso(time: SystemTime) -> String {
    format(time, "%Y-%m-%dT%H:%M:%S%.3fZ")
}

/// `2025-05-02 08:30 UTC`
pub(crate) fn format_time(time: SystemTime) -> String {
    format(time, "%Y-%m-%d %H:%M UTC")
}

/// `May 2, 2025` from a text that begins with `2025-05-02`; `None` for any other.
pub(crate) fn short_date(text: &str) -> Option<String> {
    let date = Date::strptime("%Y-%m-%d", text.get(..10)?).ok()?;
    Some(date.strftime("%b %-d, %Y").to_string())
}

fn format(time: SystemTime, format: &str) -> String {
    Timestamp::try_from(time).unwrap_or(Timestamp::UNIX_EPOCH).strftime(format).to_string()
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::time::Duration;

    #[test]
    fn dates_are_those_of_the_calendar() {
        let at = |seconds| SystemTime::UNIX_EPOCH + Duration::from_secs(seconds);
        assert_eq!(iso(at(0)), "1970-01-01T00:00:00.000Z");
        assert_eq!(iso(at(951_827_696)), "2000-02-29T12:34:56.000Z");
        assert_eq!(format_time(at(1_746_174_600)), "2025-05-02 08:30 UTC");
        assert_eq!(short_date("2025-01-11").as_deref(), Some("Jan 11, 2025"));
        assert_eq!(short_date("2025-05-02T08:30:00Z").as_deref(), Some("May 2, 2025"));
        assert_eq!(short_date("2025-13-01"), None);
        assert_eq!(short_date("soon"), None);
    }
}
