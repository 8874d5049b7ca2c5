//! A server's configuration changed from the words of a command line: what is not named stays as it is.

use super::{Refusal, RefusalCode, WorkspaceArguments, add::variable};
use shared_protocol::managed_servers::{PackageKind, ServerForm, ServerLimitsForm, VariableValue};
use std::path::PathBuf;

pub(super) const HELP: &str = "Omitted options stay unchanged. A running server restarts if its configuration changed.\n\n\
    Examples:\n  draftboard server edit files --package @modelcontextprotocol/server-filesystem@2026.8.31 -- ~/projects ~/notes\n  \
    draftboard server edit github --env REGION=us --unset OLD_NAME --secret GITHUB_TOKEN\n  \
    draftboard server edit search --limit idle_ms=120000 --limit calls=4";

#[derive(Debug, clap::Args)]
pub(in crate::cli) struct Edit {
    /// The name of the server
    pub(super) server: String,
    /// The display name; tool names do not change
    #[arg(long)]
    name: Option<String>,
    /// The new package, image, program or URL, of the same kind
    #[arg(long, value_name = "PACKAGE")]
    package: Option<String>,
    /// An environment variable, stored as plain text
    #[arg(long, value_name = "NAME=VALUE")]
    env: Vec<String>,
    /// A secret environment variable; set its value with `draftboard server secret`
    #[arg(long, value_name = "NAME")]
    secret: Vec<String>,
    /// Removes an environment variable
    #[arg(long, value_name = "NAME")]
    unset: Vec<String>,
    /// The working folder
    #[arg(long, value_name = "FOLDER")]
    folder: Option<PathBuf>,
    /// Whether to trust the server's tool annotations
    #[arg(long, value_name = "true|false")]
    trusted: Option<bool>,
    /// A limit, such as `idle_ms=120000`
    #[arg(long, value_name = "NAME=NUMBER")]
    limit: Vec<String>,
    #[command(flatten)]
    pub(super) at: WorkspaceArguments,
    /// Arguments of the server; replaces all existing ones
    #[arg(last = true)]
    args: Option<Vec<String>>,
}

impl Edit {
    pub(super) fn change(self, form: &mut ServerForm) -> Result<(), Refusal> {
        if let Some(name) = self.name {
            form.name = name;
        }
        if let Some(package) = self.package {
            form.identifier = package;
            // It is not the registry's version any more.
            form.registry = None;
        }
        if let Some(args) = self.args {
            if form.kind == PackageKind::Http {
                return Err(Refusal::new(RefusalCode::BadRequest, "a server with a URL takes no arguments")
                    .field("args"));
            }
            form.args = args;
        }
        for name in &self.unset {
            let before = form.variables.len();
            form.variables.retain(|variable| variable.name != *name);
            if form.variables.len() == before {
                let known = form.variables.iter().map(|variable| variable.name.clone());
                return Err(Refusal::new(
                    RefusalCode::NotFound,
                    format!("the server has no variable {name}"),
                )
                .suggest(known));
            }
        }
        for pair in &self.env {
            let (name, value) = split_pair(pair, "env")?;
            set_variable(form, name, VariableValue::Plain(value.to_owned()), false);
        }
        for name in &self.secret {
            set_variable(form, name, VariableValue::Secret { set: false }, true);
        }
        if let Some(folder) = self.folder {
            let folder = std::path::absolute(&folder).unwrap_or(folder);
            form.folder = Some(folder.display().to_string());
        }
        form.trusted = self.trusted.unwrap_or(form.trusted);
        for pair in &self.limit {
            let (name, value) = split_pair(pair, "limit")?;
            let number = value.parse().map_err(|_| {
                Refusal::new(RefusalCode::BadRequest, format!("`{value}` is not a whole number"))
                    .field("limit")
            })?;
            *limit(&mut form.limits, name)? = number;
        }
        Ok(())
    }
}

fn split_pair<'a>(pair: &'a str, field: &str) -> Result<(&'a str, &'a str), Refusal> {
    pair.split_once('=')
        .ok_or_else(|| Refusal::new(RefusalCode::BadRequest, format!("`{pair}` has no `=`")).field(field))
}

/// A variable that is there keeps what a registry says about it.
fn set_variable(form: &mut ServerForm, name: &str, value: VariableValue, required: bool) {
    match form.variables.iter_mut().find(|variable| variable.name == name) {
        Some(known) => known.value = value,
        None => form.variables.push(variable(name, value, required)),
    }
}

fn limit<'a>(limits: &'a mut ServerLimitsForm, name: &str) -> Result<&'a mut u64, Refusal> {
    Ok(match name {
        "install_ms" => &mut limits.install_ms,
        "connect_ms" => &mut limits.connect_ms,
        "handshake_ms" => &mut limits.handshake_ms,
        "idle_ms" => &mut limits.idle_ms,
        "total_ms" => &mut limits.total_ms,
        "grace_ms" => &mut limits.grace_ms,
        "result_bytes" => &mut limits.result_bytes,
        "calls" => &mut limits.calls,
        _ => {
            let known =
                "install_ms, connect_ms, handshake_ms, idle_ms, total_ms, grace_ms, result_bytes, calls";
            let message = format!("there is no limit {name}; use one of {known}");
            return Err(Refusal::new(RefusalCode::BadRequest, message).field("limit"));
        }
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use clap::Parser;

    #[derive(Debug, Parser)]
    struct Words {
        #[command(flatten)]
        edit: Edit,
    }

    fn changed(form: &ServerForm, words: &[&str]) -> Result<ServerForm, Refusal> {
        let mut form = form.clone();
        let all = ["edit", "files"].into_iter().chain(words.iter().copied());
        Words::try_parse_from(all).unwrap().edit.change(&mut form)?;
        Ok(form)
    }

    #[test]
    fn what_is_named_changes_and_the_rest_stays() {
        let mut form = ServerForm::new(PackageKind::Npm);
        form.name = "Files".to_owned();
        form.identifier = "@scope/files@1.0".to_owned();
        form.args = vec!["/tmp".to_owned()];
        form.variables = vec![
            variable("REGION", VariableValue::Plain("eu".to_owned()), false),
            variable("TOKEN", VariableValue::Secret { set: true }, true),
        ];
        assert_eq!(changed(&form, &[]).unwrap(), form);
        let other = changed(
            &form,
            &[
                "--env",
                "REGION=us",
                "--secret",
                "KEY",
                "--limit",
                "idle_ms=5",
                "--trusted",
                "true",
                "--",
                "/a",
                "/b",
            ],
        );
        let other = other.unwrap();
        assert_eq!(other.args, ["/a", "/b"]);
        assert_eq!(other.variables[0].value, VariableValue::Plain("us".to_owned()));
        assert_eq!(
            other.variables[1].value,
            VariableValue::Secret { set: true },
            "secrets stay where they are"
        );
        assert_eq!((other.variables[2].name.as_str(), other.limits.idle_ms, other.trusted), ("KEY", 5, true));
        assert_eq!(changed(&form, &["--unset", "REGION"]).unwrap().variables.len(), 1);
        for wrong in
            [["--unset", "NOBODY"], ["--limit", "speed=1"], ["--limit", "calls=many"], ["--env", "X"]]
        {
            assert!(changed(&form, &wrong).is_err(), "{wrong:?}");
        }
    }
}
