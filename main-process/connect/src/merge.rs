//! Puts one entry into the text of a configuration and leaves every other character as it is, comments included.

use jsonc_parser::{
    ParseOptions,
    cst::{CstInputValue, CstNode, CstRootNode},
};

/// Comments and trailing commas are accepted; anything looser is a mistake for its owner to correct.
const LENIENT: ParseOptions = ParseOptions {
    allow_comments: true,
    allow_loose_object_property_names: false,
    allow_trailing_commas: true,
    allow_missing_commas: false,
    allow_single_quoted_strings: false,
    allow_hexadecimal_numbers: false,
    allow_unary_plus_numbers: false,
    allow_bare_decimal_point_numbers: false,
    allow_non_finite_numbers: false,
    allow_extended_string_escapes: false,
};

#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum MergeError {
    #[error("it is not valid JSON: {0}")]
    NotJson(String),
    #[error("its content is not an object")]
    NotAnObject,
    #[error("`{0}` in it is not an object")]
    ForeignShape(String),
}

/// The text with the entry `name` in the object `key`. An existing entry keeps its other members; the text is unchanged when
/// the entry is up to date.
pub(super) fn merge(
    text: &str,
    key: &str,
    name: &str,
    members: &[(&'static str, CstInputValue)],
) -> Result<String, MergeError> {
    let (mark, text) = text.strip_prefix('\u{feff}').map_or(("", text), |rest| ("\u{feff}", rest));
    let root = CstRootNode::parse(text, &LENIENT).map_err(|error| MergeError::NotJson(error.to_string()))?;
    let object = root.object_value_or_create().ok_or(MergeError::NotAnObject)?;
    let foreign = |name: &str| MergeError::ForeignShape(name.to_owned());
    let servers = object.object_value_or_create(key).ok_or_else(|| foreign(key))?;
    match servers.get(name) {
        None => {
            let members = members.iter().map(|(name, value)| ((*name).to_owned(), value.clone())).collect();
            servers.append(name, CstInputValue::Object(members));
        }
        Some(entry) => {
            let entry = entry.object_value().ok_or_else(|| foreign(name))?;
            for (member, value) in members {
                match entry.get(member) {
                    Some(there) if there.value().is_some_and(|there| equals_value(&there, value)) => {}
                    Some(there) => there.set_value(value.clone()),
                    None => drop(entry.append(member, value.clone())),
                }
            }
        }
    }
    let mut merged = format!("{mark}{root}");
    if !merged.ends_with('\n') && text.is_empty() {
        merged.push('\n');
    }
    Ok(merged)
}

/// Whether a value in the file is equal, apart from its layout.
fn equals_value(node: &CstNode, value: &CstInputValue) -> bool {
    match value {
        CstInputValue::String(text) => {
            node.as_string_lit().and_then(|literal| literal.decoded_value().ok()).as_ref() == Some(text)
        }
        CstInputValue::Array(values) => node.as_array().is_some_and(|array| {
            let elements = array.elements();
            elements.len() == values.len()
                && elements.iter().zip(values).all(|(node, value)| equals_value(node, value))
        }),
        _ => false,
    }
}

#[cfg(test)]
mod tests {
    use super::{MergeError, merge};
    use jsonc_parser::cst::CstInputValue;

    fn merged(text: &str) -> Result<String, MergeError> {
        let command = CstInputValue::String("/bin/draftboard".to_owned());
        let arguments = CstInputValue::Array(vec![CstInputValue::String("mcp".to_owned())]);
        merge(text, "mcpServers", "draftboard", &[("command", command), ("args", arguments)])
    }

    const ENTRY: &str = r#""draftboard": {
      "command": "/bin/draftboard",
      "args": ["mcp"]
    }"#;

    #[test]
    fn an_entry_is_added_and_nothing_else_changes() {
        for (before, after) in [
            ("", format!("{{\n  \"mcpServers\": {{\n    {ENTRY}\n  }}\n}}\n")),
            ("{}\n", format!("{{\n  \"mcpServers\": {{\n    {ENTRY}\n  }}\n}}\n")),
            (
                "{\n  \"theme\": \"dark\"\n}",
                format!("{{\n  \"theme\": \"dark\",\n  \"mcpServers\": {{\n    {ENTRY}\n  }}\n}}"),
            ),
            (
                "{\n  \"mcpServers\": {\n    \"other\": { \"command\":   \"x\" }\n  },\n  \"n\": 1.50\n}\n",
                format!(
                    "{{\n  \"mcpServers\": {{\n    \"other\": {{ \"command\":   \"x\" }},\n    {ENTRY}\n  }},\n  \"n\": 1.50\n}}\n"
                ),
            ),
        ] {
            assert_eq!(merged(before).as_deref(), Ok(after.as_str()), "{before}");
            assert_eq!(merged(&after).as_deref(), Ok(after.as_str()), "again: nothing to do");
        }
    }

    #[test]
    fn comments_commas_tabs_and_marks_survive() {
        let before = "\u{feff}// mine\r\n{\r\n\t\"mcpServers\": {\r\n\t\t/* first */ \"other\": {}, // last\r\n\t},\r\n}\r\n";
        let after = merged(before).unwrap();
        for kept in [
            "\u{feff}// mine\r\n{",
            "/* first */ \"other\": {},",
            "// last\r\n",
            "\t\t\"draftboard\": {\r\n\t\t\t\"command\"",
        ] {
            assert!(after.contains(kept), "{kept:?} in {after:?}");
        }
        assert_eq!(merged(&after).as_deref(), Ok(after.as_str()));
    }

    #[test]
    fn an_entry_that_is_there_keeps_what_is_not_ours() {
        let before =
            r#"{"mcpServers": {"draftboard": {"env": {"A": "b"}, "command": "old", "disabled": true}}}"#;
        let after = merged(before).unwrap();
        let read: serde_json::Value = serde_json::from_str(&after).unwrap();
        let expected = serde_json::json!({"env": {"A": "b"}, "command": "/bin/draftboard", "disabled": true, "args": ["mcp"]});
        assert_eq!(read["mcpServers"]["draftboard"], expected);
        let other_layout =
            r#"{"mcpServers":{"draftboard":{"args":[ "\u006dcp" ],"command":"/bin/draftboard"}}}"#;
        assert_eq!(merged(other_layout).as_deref(), Ok(other_layout));
    }

    #[test]
    fn what_is_not_understood_is_refused() {
        for (text, expected) in [
            ("[]", MergeError::NotAnObject),
            ("7", MergeError::NotAnObject),
            (r#"{"mcpServers": []}"#, MergeError::ForeignShape("mcpServers".to_owned())),
            (r#"{"mcpServers": {"draftboard": "x"}}"#, MergeError::ForeignShape("draftboard".to_owned())),
        ] {
            assert_eq!(merged(text), Err(expected), "{text}");
        }
        for text in ["{", "{]", "{\"a\" 1}", "{'a': 1}", "{a: 1}", "{\"a\": 1 \"b\": 2}", "{} {}", "nonsense"]
        {
            assert!(matches!(merged(text), Err(MergeError::NotJson(_))), "{text}: {:?}", merged(text));
        }
    }
}
