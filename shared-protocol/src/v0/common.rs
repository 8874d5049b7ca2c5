//! Numbers and closed sets of values.

use serde::{Deserialize, Deserializer, Serialize, Serializer};

use super::strict::string_enum;

string_enum!(
    /// The version of a versioned document.
    SchemaVersion {
        /// The only version that these shapes describe.
        V0 = "v0",
    }
);

/// A finite JSON number. Whole numbers are written without a fraction, as in the input.
#[derive(Clone, Copy, Debug, PartialEq, PartialOrd)]
pub struct FiniteNumber(f64);

impl FiniteNumber {
    /// Returns `None` for NaN and infinities, which JSON cannot represent.
    pub fn new(n: f64) -> Option<Self> {
        n.is_finite().then_some(Self(n))
    }

    /// The number, always finite.
    pub fn get(self) -> f64 {
        self.0
    }
}

impl<'de> Deserialize<'de> for FiniteNumber {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let n = f64::deserialize(deserializer)?;
        Self::new(n).ok_or_else(|| serde::de::Error::custom("expected a finite number"))
    }
}

impl Serialize for FiniteNumber {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        const EXACT: f64 = 9_007_199_254_740_992.0;
        match self.0.fract() == 0.0 && self.0.abs() <= EXACT {
            true => serializer.serialize_i64(self.0 as i64),
            false => serializer.serialize_f64(self.0),
        }
    }
}

string_enum!(
    /// The severity of a log line.
    PreviewLogLevel {
        Info = "info",
        Warn = "warn",
        Error = "error",
        Debug = "debug",
    }
);

string_enum!(
    /// Why a draft cannot be saved.
    ValidationCode {
        Unpromotable = "unpromotable",
        NotFound = "notFound",
        UnsupportedPattern = "unsupportedPattern",
        InternalError = "internalError",
    }
);

#[cfg(test)]
mod tests {
    use super::FiniteNumber;

    #[test]
    fn numbers_keep_their_form() {
        for text in ["9", "-3", "0.5", "1e300"] {
            let n: FiniteNumber = serde_json::from_str(text).unwrap();
            let back: serde_json::Value = serde_json::to_value(n).unwrap();
            assert_eq!(back, serde_json::from_str::<serde_json::Value>(text).unwrap());
        }
        assert!(serde_json::from_str::<FiniteNumber>("1e999").is_err());
        assert!(FiniteNumber::new(f64::NAN).is_none());
    }
}
