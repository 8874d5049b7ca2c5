//! Timestamps of v0 files.

use std::fmt;

use serde::{Deserialize, Serialize};
use thiserror::Error;

/// A validated ISO-8601 UTC timestamp such as `2026-01-01T00:00:00.000Z`, stored as written. Offsets are refused.
#[derive(Clone, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(try_from = "String")]
pub struct UtcTimestamp(String);

/// The error for a string that is not a UTC timestamp.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Error)]
#[error("expected an ISO-8601 UTC time such as 2026-01-01T00:00:00Z")]
pub struct UtcTimestampError;

impl UtcTimestamp {
    /// Validates `text`.
    pub fn parse(text: impl Into<String>) -> Result<Self, UtcTimestampError> {
        let text = text.into();
        match is_utc_timestamp(&text) {
            true => Ok(Self(text)),
            false => Err(UtcTimestampError),
        }
    }

    /// Converts milliseconds since 1970.
    pub fn of_millis(millis: u64) -> Self {
        let (days, within) = (millis / 86_400_000, millis % 86_400_000);
        let (year, month, day) = civil(days.min(LAST_DAY));
        let (hour, minute) = (within / 3_600_000, within / 60_000 % 60);
        let (second, milli) = (within / 1_000 % 60, within % 1_000);
        Self(format!("{year:04}-{month:02}-{day:02}T{hour:02}:{minute:02}:{second:02}.{milli:03}Z"))
    }

    /// The timestamp as written.
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

impl TryFrom<String> for UtcTimestamp {
    type Error = UtcTimestampError;

    fn try_from(text: String) -> Result<Self, Self::Error> {
        Self::parse(text)
    }
}

impl fmt::Display for UtcTimestamp {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

/// The last day of the year 9999, counted from 1970.
const LAST_DAY: u64 = 2_932_896;

/// Converts days since 1970 to a date with Howard Hinnant's algorithm: years start in March, so the leap day is the
/// last day of the year.
fn civil(days: u64) -> (u64, u64, u64) {
    let shifted = days + 719_468;
    let (era, of_era) = (shifted / 146_097, shifted % 146_097);
    let year_of_era = (of_era - of_era / 1_460 + of_era / 36_524 - of_era / 146_096) / 365;
    let day_of_year = of_era - (365 * year_of_era + year_of_era / 4 - year_of_era / 100);
    let shifted_month = (5 * day_of_year + 2) / 153;
    let day = day_of_year - (153 * shifted_month + 2) / 5 + 1;
    let month = if shifted_month < 10 { shifted_month + 3 } else { shifted_month - 9 };
    (year_of_era + era * 400 + u64::from(month <= 2), month, day)
}

/// Matches `YYYY-MM-DDTHH:MM:SS[.digits]Z` with a valid day.
fn is_utc_timestamp(text: &str) -> bool {
    let Some((head, tail)) = text.as_bytes().split_at_checked(19) else { return false };
    let separators = [(4, b'-'), (7, b'-'), (10, b'T'), (13, b':'), (16, b':')];
    if separators.iter().any(|&(at, byte)| head.get(at) != Some(&byte)) {
        return false;
    }
    let fields = (
        digits(head.get(0..4)),
        digits(head.get(5..7)),
        digits(head.get(8..10)),
        digits(head.get(11..13)),
        digits(head.get(14..16)),
        digits(head.get(17..19)),
    );
    let (Some(year), Some(month), Some(day), Some(hour), Some(minute), Some(second)) = fields else {
        return false;
    };
    let days = match month {
        1 | 3 | 5 | 7 | 8 | 10 | 12 => 31,
        4 | 6 | 9 | 11 => 30,
        2 if year % 4 == 0 && (year % 100 != 0 || year % 400 == 0) => 29,
        2 => 28,
        _ => 0,
    };
    let zone = match tail {
        [b'Z'] => true,
        [b'.', fraction @ .., b'Z'] => !fraction.is_empty() && fraction.iter().all(u8::is_ascii_digit),
        _ => false,
    };
    (1..=days).contains(&day) && hour < 24 && minute < 60 && second < 60 && zone
}

/// The value of a run of ASCII digits (at most four here, so it cannot overflow).
fn digits(bytes: Option<&[u8]>) -> Option<u32> {
    bytes?.iter().try_fold(0, |n, byte| byte.is_ascii_digit().then(|| n * 10 + u32::from(byte - b'0')))
}

#[cfg(test)]
mod tests {
    use super::UtcTimestamp;

    #[test]
    fn moments_become_real_times() {
        for (millis, text) in [
            (0, "1970-01-01T00:00:00.000Z"),
            (951_782_400_000, "2000-02-29T00:00:00.000Z"),
            (1_794_869_999_999, "2026-11-16T22:59:59.999Z"),
        ] {
            assert_eq!(UtcTimestamp::of_millis(millis).as_str(), text);
        }
        for millis in [u64::MAX, 253_402_300_799_999] {
            assert!(UtcTimestamp::parse(UtcTimestamp::of_millis(millis).as_str()).is_ok());
        }
    }

    #[test]
    fn utc_only_and_real_days_only() {
        for good in ["2026-01-01T00:00:00Z", "2024-02-29T23:59:59.123456789Z", "2000-02-29T00:00:00.0Z"] {
            assert!(UtcTimestamp::parse(good).is_ok(), "{good}");
        }
        for bad in [
            "",
            "2026-01-01",
            "2026-01-01T00:00Z",
            "2026-01-01T00:00:00",
            "2026-01-01T00:00:00.Z",
            "2026-01-01T00:00:00+00:00",
            "2026-01-01t00:00:00z",
            "2026-01-01 00:00:00Z",
            "2026-02-29T00:00:00Z",
            "1900-02-29T00:00:00Z",
            "2026-04-31T00:00:00Z",
            "2026-13-01T00:00:00Z",
            "2026-00-01T00:00:00Z",
            "2026-01-00T00:00:00Z",
            "2026-01-01T24:00:00Z",
            "2026-01-01T00:00:60Z",
            "+026-01-01T00:00:00Z",
            "2026-01-01T00:00:00ZZ",
            "2026-01-01T00:00:0é",
        ] {
            assert!(UtcTimestamp::parse(bad).is_err(), "{bad}");
        }
    }
}
