//! A server out of the words of a command line.

use super::{Refusal, RefusalCode, WorkspaceArguments};
use shared_protocol::managed_servers::{AuthForm, PackageKind, ServerForm, VariableForm, VariableValue};
use std::path::PathBuf;

pub(super) const HELP: &str = "The server is added as disabled. Enable it with `draftboard server enable NAME` or in the window.\n\n\
    Examples:\n  draftboard server add files --npm @modelcontextprotocol/server-filesystem@2026.8.31 -- ~/projects\n  \
    draftboard server add time --pypi mcp-server-time -- --local-timezone=UTC\n  \
    draftboard server add github --program /opt/github-mcp --secret GITHUB_TOKEN --env REGION=eu\n  \
    draftboard server add search --url https://example.org/mcp --bearer";

#[derive(Debug, clap::Args)]
#[command(group(clap::ArgGroup::new("package").required(true).args(["npm", "pypi", "docker", "program", "url"])))]
pub(in crate::cli) struct Add {
    /// The display name, which also prefixes the names of its tools
    name: String,
    /// An npm package, `@scope/package@1.2.3`
    #[arg(long, value_name = "PACKAGE")]
    npm: Option<String>,
    /// A PyPI package, `package==1.2.3`
    #[arg(long, value_name = "PACKAGE")]
    pypi: Option<String>,
    /// A container image
    #[arg(long, value_name = "IMAGE")]
    docker: Option<String>,
    /// A program on this machine
    #[arg(long, value_name = "FILE")]
    program: Option<String>,
    /// The URL of a Streamable HTTP server
    #[arg(long)]
    url: Option<String>,
    /// The program in a PyPI package, if its name differs from the package
    #[arg(long, requires = "pypi")]
    command: Option<String>,
    /// An environment variable, stored as plain text
    #[arg(long, value_name = "NAME=VALUE")]
    env: Vec<String>,
    /// A secret environment variable; set its value with `draftboard server secret`
    #[arg(long, value_name = "NAME")]
    secret: Vec<String>,
    /// The server requires a bearer token; set it with `draftboard server secret NAME auth`
    #[arg(long, requires = "url", conflicts_with = "header")]
    bearer: bool,
    /// The server requires a secret in this header
    #[arg(long, value_name = "NAME", requires = "url")]
    header: Option<String>,
    /// The working folder [default: the home folder]
    #[arg(long, value_name = "FOLDER")]
    folder: Option<PathBuf>,
    #[command(flatten)]
    pub(super) at: WorkspaceArguments,
    /// Arguments of the server
    #[arg(last = true)]
    args: Vec<String>,
}

impl Add {
    pub(super) fn form(self) -> Result<ServerForm, Refusal> {
        let packages = [
            (PackageKind::Npm, self.npm),
            (PackageKind::Pypi, self.pypi),
            (PackageKind::Docker, self.docker),
            (PackageKind::Binary, self.program),
            (PackageKind::Http, self.url),
        ];
        let given = packages.into_iter().find_map(|(kind, identifier)| Some((kind, identifier?)));
        let (kind, identifier) = given.ok_or_else(|| {
            Refusal::new(
                RefusalCode::BadRequest,
                "the kind of server is missing: use --npm, --pypi, --docker, --program or --url",
            )
        })?;
        let mut form = ServerForm::new(kind);
        form.name = self.name;
        form.identifier = identifier;
        form.command = self.command;
        form.args = self.args;
        let secret = VariableValue::Secret { set: false };
        form.auth = match (self.bearer, self.header) {
            (_, Some(name)) => AuthForm::Header { name, value: secret.clone() },
            (true, None) => AuthForm::Bearer(secret.clone()),
            (false, None) => AuthForm::None,
        };
        let folder = self.folder.map(|folder| std::path::absolute(&folder).unwrap_or(folder));
        form.folder = folder.map(|folder| folder.display().to_string());
        for pair in self.env {
            let (name, value) = pair.split_once('=').ok_or_else(|| {
                Refusal::new(RefusalCode::BadRequest, format!("`{pair}` has no `=`")).field("env")
            })?;
            form.variables.push(variable(name, VariableValue::Plain(value.to_owned()), false));
        }
        form.variables.extend(self.secret.iter().map(|name| variable(name, secret.clone(), true)));
        Ok(form)
    }
}

pub(super) fn variable(name: &str, value: VariableValue, required: bool) -> VariableForm {
    VariableForm { name: name.to_owned(), value, required, description: None }
}
