//! Ids, numbers and small shapes shared by the other v0 shapes.

use serde::{Deserialize, Deserializer, Serialize, Serializer};

use super::strict::{id, object, one_based, present_one_based, string_enum};

/// Any JSON value, `null` included.
pub type JsonValue = serde_json::Value;

id!(
    /// The id of a component type; the key that joins registry, graph, runtime and overrides.
    ComponentTypeId
);
id!(
    /// The id of an on-screen instance in a preview session.
    InstanceId
);
id!(
    /// The id of a preview session; assigned by the host.
    PreviewSessionId
);
id!(
    /// The id of a route. `routeId:{id}` and `route:{path}` are different ids and are never converted.
    RouteId
);
id!(
    /// The id of a runtime adapter.
    AdapterId
);
id!(
    /// The id of a preview launcher.
    PreviewLauncherId
);
id!(
    /// The id of an inspector section.
    InspectorSectionId
);

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

/// A position in a source file.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(remote = "Self", rename_all = "camelCase")]
pub struct SourceRef {
    /// Workspace-relative by convention; v0 producers also send absolute paths.
    pub file_path: String,
    /// 1-based.
    #[serde(deserialize_with = "one_based")]
    pub line: u64,
    /// 1-based.
    #[serde(default, deserialize_with = "present_one_based", skip_serializing_if = "Option::is_none")]
    pub column: Option<u64>,
}

object!(SourceRef);

#[cfg(test)]
mod tests {
    use super::{FiniteNumber, SourceRef};

    fn decodes(json: &str) -> bool {
        serde_json::from_str::<SourceRef>(json).is_ok()
    }

    #[test]
    fn integers_are_numbers_without_a_fraction() {
        let source: SourceRef = serde_json::from_str(r#"{"filePath":"a","line":3.0}"#).unwrap();
        assert_eq!(serde_json::to_string(&source).unwrap(), r#"{"filePath":"a","line":3}"#);
        assert!(!decodes(r#"{"filePath":"a","line":9007199254740992}"#));
        assert!(!decodes(r#"{"filePath":"a","line":-1}"#));
        assert!(!decodes(r#"{"filePath":"a","line":"1"}"#));
        assert!(!decodes(r#"{"filePath":"a","line":1,"column":0}"#));
    }

    #[test]
    fn neither_null_nor_an_array_stands_in() {
        assert!(!decodes(r#"{"filePath":"a","line":1,"column":null}"#));
        assert!(!decodes(r#"["a",1,1]"#));
    }

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
