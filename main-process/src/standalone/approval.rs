//! What a person approves in advance, on the command line: which changes need nobody's yes.

use std::str::FromStr;

const SCOPES: [&str; 4] = ["diagram", "bundles", "interface", "terraform-plan"];

/// `all`, or a list of scopes, each with `:destructive` where removing is approved as well.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct StandingApproval(Vec<(String, bool)>);

impl StandingApproval {
    /// Whether changes of this scope need nobody's yes.
    pub(crate) fn covers(&self, scope: &str, destructive: bool) -> bool {
        self.0
            .iter()
            .any(|(known, may_destroy)| (known == "all" || known == scope) && (*may_destroy || !destructive))
    }
}

impl FromStr for StandingApproval {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let mut scopes = Vec::new();
        for part in text.split(',').map(str::trim) {
            let (scope, may_destroy) = match part.split_once(':') {
                None => (part, false),
                Some((scope, "destructive")) => (scope, true),
                Some((_, other)) => return Err(format!("`:{other}` is not known; `:destructive` is")),
            };
            if scope != "all" && !SCOPES.contains(&scope) {
                let known = SCOPES.join(", ");
                return Err(format!("`{scope}` is not a scope: expected all, or a list of {known}"));
            }
            scopes.push((scope.to_owned(), may_destroy));
        }
        Ok(Self(scopes))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn removing_is_approved_only_by_name() {
        let covers = |text: &str, destructive| {
            text.parse::<StandingApproval>().unwrap().covers("bundles", destructive)
        };
        assert!(covers("bundles", false) && !covers("bundles", true));
        assert!(covers("diagram, bundles:destructive", true));
        assert!(covers("all", false) && !covers("all", true) && covers("all:destructive", true));
        assert!(!covers("diagram", false) && !covers("diagram:destructive", true));
        for wrong in ["", "bundle", "all:everything", "bundles,", "terraform-apply"] {
            assert!(wrong.parse::<StandingApproval>().is_err(), "{wrong}");
        }
    }
}
