//! Formats points in time for people and for machines. UTC only.

use std::time::{Duration, SystemTime};

const MONTHS: [&str; 12] =
    ["Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec"];

/// `2025-05-02T08:30:00.000Z`
pub(crate) fn iso(time: SystemTime) -> String {
    let since = time.duration_since(SystemTime::UNIX_EPOCH).unwrap_or(Duration::ZERO);
    let (seconds, milliseconds) = (since.as_secs(), since.subsec_millis());
    let (year, month, day) = civil(seconds / 86_400);
    let (hour, minute, second) = (seconds / 3600 % 24, seconds / 60 % 60, seconds % 60);
    format!("{year:04}-{month:02}-{day:02}T{hour:02}:{minute:02}:{second:02}.{milliseconds:03}Z")
}

/// `2025-05-02 08:30 UTC`
pub(crate) fn readable(time: SystemTime) -> String {
    let iso = iso(time);
    format!("{} {} UTC", &iso[..10], &iso[11..16])
}

/// Returns `May 2, 2025` for a text that starts with `2025-05-02`, and `None` for any other text.
pub(crate) fn short_date(text: &str) -> Option<String> {
    let mut parts = text.get(..10)?.split('-');
    let (year, month, day) = (parts.next()?, parts.next()?, parts.next()?);
    let month: usize = month.parse().ok()?;
    let day: u32 = day.parse().ok().filter(|day| (1..=31).contains(day))?;
    let year: u32 = year.parse().ok()?;
    Some(format!("{} {day}, {year}", MONTHS.get(month.checked_sub(1)?)?))
}

/// Converts days since 1970-01-01 to year, month and day (Howard Hinnant's algorithm).
fn civil(days: u64) -> (u64, u64, u64) {
    let shifted = days + 719_468;
    let era = shifted / 146_097;
    let day_of_era = shifted % 146_097;
    let year_of_era = (day_of_era - day_of_era / 1460 + day_of_era / 36_524 - day_of_era / 146_096) / 365;
    let day_of_year = day_of_era - (365 * year_of_era + year_of_era / 4 - year_of_era / 100);
    let shifted_month = (5 * day_of_year + 2) / 153;
    let day = day_of_year - (153 * shifted_month + 2) / 5 + 1;
    let month = if shifted_month < 10 { shifted_month + 3 } else { shifted_month - 9 };
    (year_of_era + era * 400 + u64::from(month <= 2), month, day)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn dates_are_those_of_the_calendar() {
        let at = |seconds| SystemTime::UNIX_EPOCH + Duration::from_secs(seconds);
        assert_eq!(iso(at(0)), "1970-01-01T00:00:00.000Z");
        assert_eq!(iso(at(951_827_696)), "2000-02-29T12:34:56.000Z");
        assert_eq!(readable(at(1_746_174_600)), "2025-05-02 08:30 UTC");
        assert_eq!(short_date("2025-01-11").as_deref(), Some("Jan 11, 2025"));
        assert_eq!(short_date("2025-05-02T08:30:00Z").as_deref(), Some("May 2, 2025"));
        assert_eq!(short_date("2025-13-01"), None);
        assert_eq!(short_date("soon"), None);
    }
}
