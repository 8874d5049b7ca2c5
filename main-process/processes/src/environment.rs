//! The environment variables of a child.

use std::ffi::{OsStr, OsString};
use std::fmt;
use std::process::Command;

/// Selects the variables of this process that a child inherits.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub enum EnvPolicy {
    /// All of them: for our own trusted roles, which need the display, the locale and so on.
    Inherit,
    /// None: for processes that run content of others.
    #[default]
    Clean,
    /// Only these names, where set.
    Keep(Vec<OsString>),
}

/// The environment of a child: the variables that it inherits, and those that are set for it. `Debug` shows no values,
/// because they may be secrets.
#[derive(Clone, Default, PartialEq, Eq)]
pub struct Environment {
    pub policy: EnvPolicy,
    pub set: Vec<(OsString, OsString)>,
}

impl Environment {
    pub fn inherit() -> Self {
        Self { policy: EnvPolicy::Inherit, set: Vec::new() }
    }

    pub fn clean() -> Self {
        Self::default()
    }

    pub fn inheriting<Name: Into<OsString>>(names: impl IntoIterator<Item = Name>) -> Self {
        Self { policy: EnvPolicy::Keep(names.into_iter().map(Into::into).collect()), set: Vec::new() }
    }

    /// Inherits nothing and sets these variables.
    pub fn exactly(set: Vec<(OsString, OsString)>) -> Self {
        Self { policy: EnvPolicy::Clean, set }
    }

    #[must_use]
    pub fn with(mut self, name: impl Into<OsString>, value: impl Into<OsString>) -> Self {
        self.set.push((name.into(), value.into()));
        self
    }

    pub(crate) fn apply(&self, command: &mut Command) {
        match &self.policy {
            EnvPolicy::Inherit => {}
            EnvPolicy::Clean => drop(command.env_clear()),
            EnvPolicy::Keep(names) => {
                let kept = names.iter().filter_map(|name| std::env::var_os(name).map(|value| (name, value)));
                command.env_clear().envs(kept);
            }
        }
        command.envs(self.set.iter().map(|(name, value)| (name, value)));
    }
}

impl fmt::Debug for Environment {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let names: Vec<&OsStr> = self.set.iter().map(|(name, _)| name.as_os_str()).collect();
        f.debug_struct("Environment").field("policy", &self.policy).field("set", &names).finish()
    }
}

#[cfg(test)]
mod tests {
    use super::{EnvPolicy, Environment};
    use std::ffi::OsStr;
    use std::process::Command;

    #[test]
    fn debug_output_shows_no_values() {
        let environment = Environment::inheriting(["PATH"]).with("API_KEY", "s3cret");
        let shown = format!("{environment:?}");
        assert!(shown.contains("API_KEY") && shown.contains("PATH"), "{shown}");
        assert!(!shown.contains("s3cret"), "{shown}");
    }

    #[test]
    fn only_kept_and_set_names_arrive() {
        let mut command = Command::new("/usr/bin/env");
        Environment::inheriting(["PATH", "NOT_SET_ANYWHERE"]).with("ADDED", "1").apply(&mut command);
        let mut names: Vec<&OsStr> = command.get_envs().map(|(name, _)| name).collect();
        names.sort();
        assert_eq!(names, ["ADDED", "PATH"]);
        assert_eq!(Environment::default().policy, EnvPolicy::Clean);
    }
}
