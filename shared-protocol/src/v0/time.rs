//! Timestamps as v0 files hold them.

use std::fmt;

use serde::{Deserialize, Serialize};
use thiserror::Error;

/// A checked ISO-8601 UTC timestamp such as `2026-01-01T00:00:00.000Z`, kept as written. Offsets are refused.
#[derive(Clone, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(try_from = "String")]
pub struct UtcTimestamp(String);

/// A string that is no UTC timestamp.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Error)]
#[error("expected an ISO-8601 UTC time such as 2026-01-01T00:00:00Z")]
pub struct UtcTimestampError;

impl UtcTimestamp {
    /// Checks `text` and keeps it.
    pub fn parse(text: impl Into<String>) -> Result<Self, UtcTimestampError> {
        let text = text.into();
        match is_utc_timestamp(&text) {
            true => Ok(Self(text)),
            false => Err(UtcTimestampError),
        }
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

/// `YYYY-MM-DDTHH:MM:SS[.digits]Z` with a day that exists.
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
