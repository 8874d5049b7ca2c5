//! Findings about one entity, by the field they are about. Paths come as JSON pointers (`/rules/0/id`), as names with dots
//! (`rules.linkedRequirement`), or not at all.

use super::schema::sentence;
use shared_protocol::{bundle::BundleDiagnostic, messages::Severity};

#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Finding {
    pub(crate) severity: Severity,
    pub(crate) message: String,
    /// The field of the entity, when it is about one.
    pub(crate) field: Option<String>,
    /// Where in the field, when it is about a part of it: `item 1, severity`.
    pub(crate) part: String,
}

#[derive(Debug, Clone, Default, PartialEq)]
pub(crate) struct Findings(Vec<Finding>);

impl Findings {
    pub(crate) fn of(diagnostics: &[BundleDiagnostic]) -> Self {
        Self(diagnostics.iter().map(finding).collect())
    }

    /// What a dry run found. That the whole cannot be done says nothing new where it is told which field is wrong.
    pub(crate) fn of_check(diagnostics: &[BundleDiagnostic]) -> Self {
        let Self(mut found) = Self::of(diagnostics);
        let is_error = |finding: &Finding| finding.severity == Severity::Error;
        if found.iter().any(|finding| is_error(finding) && finding.field.is_some()) {
            found.retain(|finding| !is_error(finding) || finding.field.is_some());
        }
        Self(found)
    }

    /// The field that one finding is about.
    pub(crate) fn field_of(diagnostic: &BundleDiagnostic) -> Option<String> {
        finding(diagnostic).field
    }

    pub(crate) fn at<'a>(&'a self, field: &'a str) -> impl Iterator<Item = &'a Finding> {
        self.0.iter().filter(move |finding| finding.field.as_deref() == Some(field))
    }

    /// About the entity as a whole, or about what has no field of its own.
    pub(crate) fn elsewhere<'a>(
        &'a self,
        has_field: impl Fn(&str) -> bool + 'a,
    ) -> impl Iterator<Item = &'a Finding> {
        self.0.iter().filter(move |finding| !finding.field.as_deref().is_some_and(&has_field))
    }

    pub(crate) fn worst(&self, field: &str) -> Option<Severity> {
        self.at(field).map(|finding| finding.severity).min()
    }

    pub(crate) fn count(&self, severity: Severity) -> usize {
        self.0.iter().filter(|finding| finding.severity == severity).count()
    }
}

fn finding(diagnostic: &BundleDiagnostic) -> Finding {
    let path = diagnostic.path.as_deref().unwrap_or_default();
    let mut keys: Vec<String> =
        path.split(['/', '.']).filter(|key| !key.is_empty()).map(str::to_owned).collect();
    if diagnostic.code.as_deref() == Some("required") {
        keys.extend(required_name(&diagnostic.message));
    }
    let mut keys = keys.into_iter();
    let field = keys.next();
    let part: Vec<String> =
        keys.map(|key| key.parse::<usize>().map_or(key, |place| format!("item {}", place + 1))).collect();
    Finding {
        severity: diagnostic.severity,
        message: without_path(&diagnostic.message, path),
        field,
        part: part.join(", "),
    }
}

/// `/title must be longer` at the title is `Must be longer`.
fn without_path(message: &str, path: &str) -> String {
    let rest = message.strip_prefix(path).filter(|_| path.starts_with('/'));
    let rest = rest.or_else(|| message.strip_prefix('/')).filter(|rest| rest.starts_with(' '));
    sentence(rest.unwrap_or(message).trim_start())
}

/// What is missing is named in quotes: `/ "title" is a required property`, `must have required property 'title'`.
fn required_name(message: &str) -> Option<String> {
    let (_, rest) = message.split_once(['"', '\''])?;
    let (name, _) = rest.split_once(['"', '\''])?;
    (!name.is_empty()).then(|| name.to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(path: Option<&str>, code: &str, message: &str, field: Option<&str>, part: &str) {
        let found = finding(&BundleDiagnostic {
            severity: Severity::Error,
            message: message.into(),
            bundle: "b".into(),
            entity_type: None,
            entity_id: None,
            file: None,
            path: path.map(Into::into),
            source: None,
            code: Some(code.into()),
        });
        assert_eq!((found.field.as_deref(), found.part.as_str()), (field, part), "{path:?} {message}");
    }

    #[test]
    fn messages_do_not_repeat_where_they_stand() {
        for (message, path, shown) in [
            ("/title must be longer", "/title", "Must be longer"),
            ("/ must have required property 'title'", "", "Must have required property 'title'"),
            ("Broken reference", "ownerId", "Broken reference"),
            ("/titles differ", "/title", "/titles differ"),
        ] {
            assert_eq!(without_path(message, path), shown);
        }
    }

    #[test]
    fn findings_find_their_field() {
        check(Some("/title"), "minLength", "short", Some("title"), "");
        check(Some("/rules/0/severity"), "enum", "odd", Some("rules"), "item 1, severity");
        check(Some("rules.linkedRequirement"), "broken-ref", "gone", Some("rules"), "linkedRequirement");
        check(Some(""), "required", "/ \"title\" is a required property", Some("title"), "");
        check(Some("/rules/1"), "required", "must have required property 'id'", Some("rules"), "item 2, id");
        check(None, "orphan-entity", "nothing refers to it", None, "");
    }
}
