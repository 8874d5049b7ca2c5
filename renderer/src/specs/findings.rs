//! The findings of one entity, grouped by field. A path is a JSON pointer (`/rules/0/id`), a dotted name
//! (`rules.linkedRequirement`), or absent.

use shared_protocol::text::capitalize;
use shared_protocol::{bundle::BundleDiagnostic, messages::ProblemSeverity};

#[derive(Debug, Clone, PartialEq)]
pub(crate) struct EntityFinding {
    pub(crate) severity: ProblemSeverity,
    pub(crate) message: String,
    /// The field of the entity, if the finding concerns one.
    pub(crate) field: Option<String>,
    /// The location inside the field, such as `item 1, severity`. Empty for the whole field.
    pub(crate) part: String,
}

#[derive(Debug, Clone, Default, PartialEq)]
pub(crate) struct EntityFindings(Vec<EntityFinding>);

impl EntityFindings {
    pub(crate) fn from_diagnostics(diagnostics: &[BundleDiagnostic]) -> Self {
        Self(diagnostics.iter().map(finding).collect())
    }

    /// The findings of a dry run. Drops the general error when an error with a field explains it.
    pub(crate) fn of_check(diagnostics: &[BundleDiagnostic]) -> Self {
        let Self(mut found) = Self::from_diagnostics(diagnostics);
        let is_error = |finding: &EntityFinding| finding.severity == ProblemSeverity::Error;
        if found.iter().any(|finding| is_error(finding) && finding.field.is_some()) {
            found.retain(|finding| !is_error(finding) || finding.field.is_some());
        }
        Self(found)
    }

    pub(crate) fn field_of(diagnostic: &BundleDiagnostic) -> Option<String> {
        finding(diagnostic).field
    }

    pub(crate) fn at_field<'a>(&'a self, field: &'a str) -> impl Iterator<Item = &'a EntityFinding> {
        self.0.iter().filter(move |finding| finding.field.as_deref() == Some(field))
    }

    /// Returns the findings about the whole entity or about fields that are not shown.
    pub(crate) fn elsewhere<'a>(
        &'a self,
        has_field: impl Fn(&str) -> bool + 'a,
    ) -> impl Iterator<Item = &'a EntityFinding> {
        self.0.iter().filter(move |finding| !finding.field.as_deref().is_some_and(&has_field))
    }

    pub(crate) fn worst_severity(&self, field: &str) -> Option<ProblemSeverity> {
        self.at_field(field).map(|finding| finding.severity).min()
    }

    pub(crate) fn count(&self, severity: ProblemSeverity) -> usize {
        self.0.iter().filter(|finding| finding.severity == severity).count()
    }
}

fn finding(diagnostic: &BundleDiagnostic) -> EntityFinding {
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
    EntityFinding {
        severity: diagnostic.severity,
        message: without_path(&diagnostic.message, path),
        field,
        part: part.join(", "),
    }
}

/// Removes the path from a message: `/title must be longer` becomes `Must be longer`.
fn without_path(message: &str, path: &str) -> String {
    let rest = message.strip_prefix(path).filter(|_| path.starts_with('/'));
    let rest = rest.or_else(|| message.strip_prefix('/')).filter(|rest| rest.starts_with(' '));
    capitalize(rest.unwrap_or(message).trim_start())
}

/// Returns the quoted name of a missing property, as in `/ "title" is a required property` or
/// `must have required property 'title'`.
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
            severity: ProblemSeverity::Error,
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
