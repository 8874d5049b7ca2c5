//! Timestamps as v0 files hold them.

use std::fmt;

use jiff::{Timestamp, civil::DateTime};
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

    /// The time after a number of milliseconds since 1970; later ones than the year 9999 are its end.
    pub fn of_millis(millis: u64) -> Self {
        let time = i64::try_from(millis).ok().and_then(|millis| Timestamp::from_millisecond(millis).ok());
        Self(time.unwrap_or(Timestamp::MAX).strftime("%Y-%m-%dT%H:%M:%S%.3fZ").to_string())
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

/// Returns whether a text is `YYYY-MM-DDTHH:MM:SS[.digits]Z` with a day that exists.
fn is_utc_timestamp(text: &str) -> bool {
    let Some((head, tail)) = text.split_at_checked(19) else { return false };
    let fraction = tail.strip_prefix('.').and_then(|tail| tail.strip_suffix('Z'));
    let has_zone = tail == "Z"
        || fraction
            .is_some_and(|digits| !digits.is_empty() && digits.bytes().all(|byte| byte.is_ascii_digit()));
    let is_plain = head.bytes().enumerate().all(|(at, byte)| match at {
        4 | 7 => byte == b'-',
        10 => byte == b'T',
        13 | 16 => byte == b':',
        _ => byte.is_ascii_digit(),
    });
    has_zone && is_plain && !head.ends_with("60") && head.parse::<DateTime>().is_ok()
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
