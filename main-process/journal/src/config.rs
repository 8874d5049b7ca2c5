//! `draftboard.toml`: the project file, written by people. Draftboard reads and creates it, and changes only the
//! fields of an accepted change.

use crate::{FileError, TextPosition, WorkspacePath};
use serde::Deserialize;
use shared_protocol::{SourcePath, TypeId, limits::MAX_LABEL_CHARS, registry::ProjectTypeOverride};
use std::{collections::BTreeMap, ops::Range};
use toml::{
    Spanned,
    de::{DeArray, DeTable, DeValue},
};

/// The format version that this build writes, and the newest that it reads.
pub const CONFIG_FORMAT: u32 = 1;

const MAX_CONFIG_BYTES: usize = 1024 * 1024;
const MAX_MODULE_PATTERNS: usize = 200;
const MAX_BUNDLE_PATTERNS: usize = 50;
const KNOWN_KEYS: [&str; 6] = ["format", "name", "description", "modules", "bundles", "types"];

#[derive(Debug, Clone, PartialEq, Deserialize)]
pub struct ProjectConfig {
    pub format: u32,
    /// The display name of the project.
    pub name: String,
    #[serde(default)]
    pub description: String,
    /// Patterns of module files; `*` in the last part matches any characters.
    #[serde(default = "all_modules")]
    pub modules: Vec<String>,
    /// Patterns of bundle folders; `*` in the last part matches any characters.
    #[serde(default = "all_bundles")]
    pub bundles: Vec<String>,
    /// Overrides of node types, by type id.
    #[serde(default)]
    pub types: BTreeMap<String, ProjectTypeOverride>,
}

fn all_modules() -> Vec<String> {
    vec!["modules/*.json".to_owned()]
}

fn all_bundles() -> Vec<String> {
    vec!["specs/*".to_owned()]
}

impl ProjectConfig {
    /// The configuration used while the project file cannot be read.
    pub fn fallback(name: String) -> Self {
        let (modules, bundles) = (all_modules(), all_bundles());
        Self {
            format: CONFIG_FORMAT,
            name,
            description: String::new(),
            modules,
            bundles,
            types: BTreeMap::new(),
        }
    }
}

/// Reads the project file. Ignores unknown top-level tables, which belong to a later version. Any other unknown key
/// is an error, because it is most likely a typo.
pub fn read_config(text: &str) -> Result<ProjectConfig, FileError> {
    let path = WorkspacePath::config();
    if text.len() > MAX_CONFIG_BYTES {
        return Err(FileError::TooLarge { path: path.to_string(), most: MAX_CONFIG_BYTES as u64 });
    }
    let wrong = |at: Option<Range<usize>>, problem: &str| {
        FileError::malformed(&path, at.map(|at| TextPosition::of_offset(text, at.start)), problem)
    };
    let parsed = DeTable::parse(text).map_err(|error| wrong(error.span(), error.message()))?;
    let table = parsed.get_ref();
    if let Some(found) = newer_format(table) {
        return Err(FileError::Newer { path: path.to_string(), found, known: CONFIG_FORMAT });
    }
    check_top(table).map_err(|(at, problem)| wrong(Some(at), &problem))?;
    let config: ProjectConfig = toml::from_str(text).map_err(|error| wrong(error.span(), error.message()))?;
    check_values(&config).map_err(|(key, problem)| {
        let at = table.get_key_value(key).map(|(key, _)| key.span());
        wrong(at, &problem)
    })?;
    Ok(config)
}

/// Returns the format when it is newer than this build. Checked first, because a newer format explains every other
/// problem.
fn newer_format(table: &DeTable<'_>) -> Option<u64> {
    let number = table.get("format")?.get_ref().as_integer()?;
    let format = u64::from_str_radix(number.as_str(), number.radix()).ok()?;
    (format > u64::from(CONFIG_FORMAT)).then_some(format)
}

/// Checks for unknown top-level keys and for values without a JSON equivalent.
fn check_top(table: &DeTable<'_>) -> Result<(), (Range<usize>, String)> {
    for (key, value) in table {
        let name: &str = key.get_ref();
        if KNOWN_KEYS.contains(&name) {
            check_json_representable(value)?;
        } else if !is_section(value.get_ref()) {
            return Err((
                key.span(),
                format!("unknown key `{name}`: expected one of {}", KNOWN_KEYS.join(", ")),
            ));
        }
    }
    Ok(())
}

/// Returns whether the value is a `[section]` or `[[section]]`.
fn is_section(value: &DeValue<'_>) -> bool {
    let all_tables =
        |items: &DeArray<'_>| !items.is_empty() && items.iter().all(|item| item.get_ref().is_table());
    value.is_table() || value.as_array().is_some_and(all_tables)
}

fn check_json_representable(value: &Spanned<DeValue<'_>>) -> Result<(), (Range<usize>, String)> {
    match value.get_ref() {
        DeValue::Datetime(_) => {
            Err((value.span(), "a date is not supported: write it as text, in quotes".to_owned()))
        }
        DeValue::Float(number) if number.as_str().parse::<f64>().is_ok_and(|number| !number.is_finite()) => {
            Err((value.span(), "not a finite number: use a finite number".to_owned()))
        }
        DeValue::Array(items) => items.iter().try_for_each(check_json_representable),
        DeValue::Table(entries) => entries.iter().try_for_each(|(_, value)| check_json_representable(value)),
        _ => Ok(()),
    }
}

/// Checks the values beyond their types. The error names the key.
fn check_values(config: &ProjectConfig) -> Result<(), (&'static str, String)> {
    if config.format != CONFIG_FORMAT {
        return Err(("format", format!("expected `format = {CONFIG_FORMAT}`")));
    }
    if config.name.trim().is_empty() || config.name.chars().count() > MAX_LABEL_CHARS {
        return Err(("name", format!("expected a name of 1 to {MAX_LABEL_CHARS} characters")));
    }
    if config.modules.len() > MAX_MODULE_PATTERNS {
        return Err(("modules", format!("expected {MAX_MODULE_PATTERNS} entries at most")));
    }
    for pattern in &config.modules {
        WorkspacePath::parse(pattern.as_str()).map_err(|error| ("modules", error.to_string()))?;
    }
    if config.bundles.len() > MAX_BUNDLE_PATTERNS {
        return Err(("bundles", format!("expected {MAX_BUNDLE_PATTERNS} entries at most")));
    }
    for pattern in &config.bundles {
        SourcePath::parse(pattern.as_str()).map_err(|error| ("bundles", error.to_string()))?;
    }
    for type_id in config.types.keys() {
        TypeId::parse(type_id.as_str()).map_err(|error| ("types", error.to_string()))?;
    }
    Ok(())
}

/// Returns the text of the project file for a new workspace.
pub fn new_project(name: &str) -> String {
    let name = toml::Value::String(name.to_owned());
    format!(
        r#"# A Draftboard project. This file is yours: Draftboard changes it only when you accept a change.

format = {CONFIG_FORMAT}
name = {name}
description = ""

# Files that declare your own node types; `*` stands for any name.
modules = ["modules/*.json"]

# Folders of spec bundles; `*` stands for any name.
bundles = ["specs/*"]

# Overrides of node types, for example:
#
# [types."aws/compute/instance"]
# title = "Server"
#
# [types."aws/compute/instance".props.instance_type]
# options = ["t3.micro", "t3.small"]
# default = "t3.micro"
"#
    )
}

/// The reason why fields cannot be merged into the project file.
#[derive(Debug, thiserror::Error)]
pub enum ProjectConfigError {
    #[error("draftboard.toml has a syntax error: {0}")]
    Unreadable(String),
    #[error("`{0}` contains a value that TOML cannot represent: null in a list, or a number out of range")]
    Value(String),
    #[error("`format` cannot be changed")]
    Format,
    #[error("draftboard.toml would no longer be valid: {0}")]
    Result(String),
}

/// Returns the project file with these fields merged: merges tables, removes fields that are null, and keeps
/// everything else, including comments.
pub fn merge_config(
    text: &str,
    fields: &serde_json::Map<String, serde_json::Value>,
) -> Result<String, ProjectConfigError> {
    if fields.contains_key("format") {
        return Err(ProjectConfigError::Format);
    }
    let mut document: toml_edit::DocumentMut = text
        .parse()
        .map_err(|error: toml_edit::TomlError| ProjectConfigError::Unreadable(error.to_string()))?;
    merge_table(document.as_table_mut(), fields)?;
    let merged = document.to_string();
    read_config(&merged).map_err(|error| ProjectConfigError::Result(error.to_string()))?;
    Ok(merged)
}

fn merge_table(
    table: &mut dyn toml_edit::TableLike,
    fields: &serde_json::Map<String, serde_json::Value>,
) -> Result<(), ProjectConfigError> {
    for (key, value) in fields {
        if value.is_null() {
            table.remove(key);
            continue;
        }
        let known = table.get_mut(key).and_then(toml_edit::Item::as_table_like_mut);
        if let (serde_json::Value::Object(inner), Some(known)) = (value, known) {
            merge_table(known, inner)?;
            continue;
        }
        let value = toml_value(value).ok_or_else(|| ProjectConfigError::Value(key.clone()))?;
        table.insert(key, toml_edit::Item::Value(value));
    }
    Ok(())
}

fn toml_value(value: &serde_json::Value) -> Option<toml_edit::Value> {
    use serde_json::Value;
    Some(match value {
        Value::Null => return None,
        Value::Bool(value) => (*value).into(),
        Value::Number(number) => match number.as_i64() {
            Some(whole) => whole.into(),
            None => number.as_f64().filter(|number| number.is_finite())?.into(),
        },
        Value::String(text) => text.as_str().into(),
        Value::Array(items) => {
            toml_edit::Value::Array(items.iter().map(toml_value).collect::<Option<toml_edit::Array>>()?)
        }
        Value::Object(fields) => {
            let mut table = toml_edit::InlineTable::new();
            for (key, value) in fields {
                table.insert(key, toml_value(value)?);
            }
            toml_edit::Value::InlineTable(table)
        }
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    const HEAD: &str = "format = 1\nname = 'x'\n";

    #[test]
    fn fields_are_merged_and_the_rest_stays_as_it_is() {
        let types = "\n[types.\"notes/sticky\"]\n# as everybody here says\ntitle = \"Card\"\n";
        let before = new_project("shop") + types;
        let fields = serde_json::json!({
            "description": "Parcels", "bundles": null, "types": { "notes/sticky": { "disabled": true } }
        });
        let after = merge_config(&before, fields.as_object().unwrap()).unwrap();
        assert!(after.contains("description = \"Parcels\"") && !after.contains("bundles ="), "{after}");
        assert!(after.contains("# as everybody here says\ntitle = \"Card\""), "{after}");
        assert!(after.contains("disabled = true"), "{after}");
        assert!(after.starts_with("# A Draftboard project."));
        let wrong = [r#"{"format":9}"#, r#"{"name":3}"#, r#"{"x":[null]}"#, r#"{"region":"eu"}"#];
        for wrong in wrong {
            let fields = serde_json::from_str(wrong).unwrap();
            assert!(merge_config(&before, &fields).is_err(), "{wrong}");
        }
    }

    #[test]
    fn a_new_project_reads_back() {
        for name in ["Shop", "say \"hi\"", "two\nlines # no comment", "ünï \u{202e} '''"] {
            let config = read_config(&new_project(name)).unwrap();
            assert_eq!((config.name.as_str(), config.modules), (name, all_modules()));
        }
    }

    #[test]
    fn types_are_overridden_and_later_sections_are_left_alone() {
        let config = read_config(
            "format = 1\nname = 'Shop'\n[types.'a/b']\ndisabled = true\n[types.'a/b'.props.size]\ndefault = 3\n\
             [backend]\nkind = 's3'\n[[future]]\nwhen = 2020-01-01\n",
        )
        .unwrap();
        assert!(config.types["a/b"].disabled);
        assert_eq!(config.types["a/b"].props.len(), 1);
    }

    #[test]
    fn refusals_name_the_key_and_the_line() {
        for (text, words) in [
            ("module = ['y']\n", "line 3, column 1: unknown key `module`"),
            ("[types.'a/b']\ntitel = 'y'\n", "line 4, column 1: unknown field `titel`"),
            ("[types.'a/b'.props.p]\nread-only = true\n", "line 4, column 1: unknown field `read-only`"),
            ("[types.'a b']\n", "line 3, column 2"),
            ("modules = ['../x']\n", "line 3, column 1"),
            ("bundles = ['.draftboard']\n", "line 3, column 1"),
            ("description = 3\n", "line 3, column 15"),
            ("name = 'y'\n", "line 3"),
            ("description = \n", "line 3"),
            ("[types.'a/b'.props.p]\ndefault = 2020-01-01\n", "line 4, column 11: a date"),
            ("[types.'a/b'.props.p]\ndefault = nan\n", "line 4, column 11: not a finite"),
        ] {
            let refusal = read_config(&format!("{HEAD}{text}")).unwrap_err().to_string();
            assert!(refusal.contains(words), "{text:?}: {refusal}");
        }
        for (text, words) in [
            ("format = 1\nname = ''\n", "line 2, column 1: expected a name"),
            ("format = 0\nname = 'x'\n", "line 1, column 1: expected `format = 1`"),
            ("name = 'x'\n", "missing field `format`"),
        ] {
            let refusal = read_config(text).unwrap_err().to_string();
            assert!(refusal.contains(words), "{text:?}: {refusal}");
        }
    }

    #[test]
    fn a_newer_format_is_refused_politely_whatever_else_is_new() {
        let error = read_config("format = 7\nname = { new = true }\nfuture = 1\n").unwrap_err();
        assert!(matches!(error, FileError::Newer { found: 7, .. }));
        assert!(error.to_string().contains("update Draftboard"));
    }

    #[test]
    fn no_text_panics() {
        let valid = new_project("x") + "[types.'a/b'.props.p]\ndefault = [1, {a = 'é'}]\n";
        for (at, _) in valid.char_indices() {
            let _ = read_config(&valid[..at]);
        }
        let _ = read_config(&format!("x = {}", "[".repeat(100_000)));
        let _ = read_config("\0\u{feff}=");
    }
}
