//! The exposed name of a tool: `<slug>__<tool>`, at most 64 characters that every client accepts, stable for the same
//! server and tool.

use sha2::{Digest as _, Sha256};

const MAX_EXPOSED_NAME_CHARS: usize = 64;
const HASH_DIGITS: usize = 8;

pub(crate) fn exposed_name(slug: &str, tool: &str) -> String {
    let safe: String = tool
        .chars()
        .map(|c| if c.is_ascii_alphanumeric() || c == '_' || c == '-' { c } else { '_' })
        .collect();
    let name = format!("{slug}__{safe}");
    if safe == tool && !tool.is_empty() && name.len() <= MAX_EXPOSED_NAME_CHARS {
        return name;
    }
    // Appends a hash of the full name, because two sanitised names may be equal.
    let hash = Sha256::digest(tool.as_bytes());
    let mark: String = hash.iter().take(HASH_DIGITS / 2).map(|byte| format!("{byte:02x}")).collect();
    let kept: String = name.chars().take(MAX_EXPOSED_NAME_CHARS - HASH_DIGITS - 1).collect();
    format!("{kept}_{mark}")
}

/// Splits an exposed name into slug and tool. A slug has no underscore and is never truncated.
pub(crate) fn split_exposed_name(exposed: &str) -> Option<(&str, &str)> {
    exposed.split_once("__")
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::BTreeSet;

    #[test]
    fn names_are_short_safe_stable_and_different() {
        assert_eq!(exposed_name("files", "read_file"), "files__read_file");
        let long = "very_long_name_of_a_tool_".repeat(6);
        let tools =
            ["a.b", "a/b", "a b", "a_b", "", "naïve", &long, &format!("{long}2"), &format!("{long}3")];
        let names: BTreeSet<String> = tools.iter().map(|tool| exposed_name("files", tool)).collect();
        assert_eq!(names.len(), tools.len(), "{names:?}");
        for name in &names {
            assert!(name.len() <= MAX_EXPOSED_NAME_CHARS && name.starts_with("files__"), "{name}");
            assert!(name.chars().all(|c| c.is_ascii_alphanumeric() || "_-".contains(c)), "{name}");
        }
        assert_eq!(exposed_name("files", "a.b"), "files__a_b_2e7336dc");
    }
}
