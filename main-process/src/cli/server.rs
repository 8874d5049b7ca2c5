//! `draftboard server`: managed MCP servers from a terminal. Reading, stopping and adding disabled servers is free; letting a
//! program run or an agent call needs a person with the code that Draftboard shows elsewhere.

mod add;
mod edit;

use super::{
    WorkspaceArguments, call, format,
    review::{self, person_is_here},
    workspace_at,
};
use clap::Subcommand;
use serde_json::json;
use shared_protocol::{
    Refusal, RefusalCode,
    decisions::{
        ApproveTools, CallTool, DeleteServer, EnableServer, ManagedServerDecision, SetManifestPolicy,
        SetServerSecret, SetTool, UpdateServer,
    },
    managed_servers::{
        ManagedServersView, ServerDetails, ServerId, ServerImportInput, ToolApproval, ToolCall,
        ToolCallPolicy, ToolView, TypedSecret,
    },
    request::Request,
    requests::{
        AddServer, CallServerTool, DisableServer, ImportServers, ImportedServers, ListImportSources,
        ListServers, PreviewServerImport, ReadServerLog, RestartServer, SearchServerRegistry, ShowServer,
        StartServer, StopServer, WithdrawTool, WorkbenchRequest,
    },
};
use std::{io::Read as _, path::PathBuf, process::ExitCode};
use terminal_client::{TerminalClient, managed_servers};

pub(super) const HELP: &str = "Commands that let a program run or let an agent make calls ask for a code. The running Draftboard shows it in\n\
    its window or terminal.\n\n\
    Examples:\n  draftboard server add files --npm @modelcontextprotocol/server-filesystem -- ~/projects\n  \
    draftboard server enable files\n  draftboard server tools files\n  draftboard server approve files read_file\n  \
    draftboard server call files__read_file path=~/projects/README.md\n  draftboard server logs files --follow";

/// Bytes of a configuration on standard input.
const MAX_INPUT_BYTES: u64 = 4 << 20;

#[derive(Debug, Subcommand)]
pub(super) enum ServerSubcommand {
    /// Lists managed servers and manifests with their state
    #[command(after_help = "Example: draftboard server list --json")]
    List(WorkspaceArguments),
    /// Shows one server: its command, variables and tools
    #[command(after_help = "Example: draftboard server show files")]
    Show {
        /// The name of the server
        server: String,
        #[command(flatten)]
        at: WorkspaceArguments,
    },
    /// Adds a server, disabled
    #[command(after_help = add::HELP)]
    Add(Box<add::Add>),
    /// Imports servers from another program's configuration, disabled
    #[command(after_help = "Examples:\n  draftboard server import --list\n  \
            draftboard server import ~/.config/Claude/claude_desktop_config.json --dry-run\n  \
            draftboard server import .vscode/mcp.json --only files\n  cat servers.json | draftboard server import -")]
    Import {
        /// The file; `-` reads standard input
        file: Option<PathBuf>,
        /// Imports only the servers with these names
        #[arg(long, value_name = "NAME", num_args = 1..)]
        only: Vec<String>,
        /// Shows the servers to import without importing them
        #[arg(long)]
        dry_run: bool,
        /// Lists the configurations found on this computer
        #[arg(long, conflicts_with_all = ["file", "only", "dry_run"])]
        list: bool,
        #[command(flatten)]
        at: WorkspaceArguments,
    },
    /// Searches a server registry (a file or a URL)
    #[command(
        after_help = "Example: draftboard server search time --registry https://registry.example.org/v0.1/servers"
    )]
    Search {
        /// The words to search for
        query: String,
        /// The registry [default: registry.json in the configuration folder]
        #[arg(long, value_name = "FILE or URL")]
        registry: Option<String>,
        #[command(flatten)]
        at: WorkspaceArguments,
    },
    /// Enables and starts a server; asks for a code
    #[command(after_help = "Example: draftboard server enable files")]
    Enable {
        /// The name of the server
        server: String,
        #[command(flatten)]
        at: WorkspaceArguments,
    },
    /// Disables and stops a server
    #[command(after_help = "Example: draftboard server disable files")]
    Disable {
        /// The name of the server
        server: String,
        #[command(flatten)]
        at: WorkspaceArguments,
    },
    /// Starts an enabled server
    #[command(after_help = "Example: draftboard server start files")]
    Start {
        /// The name of the server
        server: String,
        #[command(flatten)]
        at: WorkspaceArguments,
    },
    /// Stops a server and all its processes
    #[command(after_help = "Example: draftboard server stop files")]
    Stop {
        /// The name of the server
        server: String,
        #[command(flatten)]
        at: WorkspaceArguments,
    },
    /// Restarts a server
    #[command(after_help = "Example: draftboard server restart files")]
    Restart {
        /// The name of the server
        server: String,
        #[command(flatten)]
        at: WorkspaceArguments,
    },
    /// Shows the log of a server: its standard error and its events
    #[command(after_help = "Example: draftboard server logs files --follow")]
    Logs {
        /// The name of the server
        server: String,
        /// Follows the log until interrupted
        #[arg(long, short)]
        follow: bool,
        #[command(flatten)]
        at: WorkspaceArguments,
    },
    /// Lists the tools of one server, or of all running servers
    #[command(after_help = "Example: draftboard server tools files")]
    Tools {
        /// The name of the server [default: all running servers]
        server: Option<String>,
        #[command(flatten)]
        at: WorkspaceArguments,
    },
    /// Approves the current definitions of tools for agents; asks for a code
    #[command(
        after_help = "Examples:\n  draftboard server approve files read_file list_directory\n  draftboard server approve files"
    )]
    Approve {
        /// The name of the server
        server: String,
        /// Tool names as the server defines them [default: all that need approval]
        tools: Vec<String>,
        #[command(flatten)]
        at: WorkspaceArguments,
    },
    /// Withdraws the approval of a tool
    #[command(after_help = "Example: draftboard server withdraw files write_file")]
    Withdraw {
        /// The name of the server
        server: String,
        /// The tool name as the server defines it
        tool: String,
        #[command(flatten)]
        at: WorkspaceArguments,
    },
    /// Sets the policy for agents' calls to a tool: ask, allow or deny; asks for a code
    #[command(after_help = "Example: draftboard server policy files__read_file allow")]
    Policy {
        /// The name that agents call
        tool: String,
        /// The policy
        #[arg(value_enum)]
        policy: PolicyArgument,
        #[command(flatten)]
        at: WorkspaceArguments,
    },
    /// Sets the call timeouts of one tool; asks for a code
    #[command(
        after_help = "Examples:\n  draftboard server times files__search --idle-ms 120000 --total-ms 600000\n  \
            draftboard server times files__search\nAn omitted timeout is reset to that of the server."
    )]
    Times {
        /// The name that agents call
        tool: String,
        /// Idle timeout of a call, in milliseconds
        #[arg(long)]
        idle_ms: Option<u64>,
        /// Total timeout of a call, in milliseconds
        #[arg(long)]
        total_ms: Option<u64>,
        #[command(flatten)]
        at: WorkspaceArguments,
    },
    /// Changes a server's configuration; asks for a code
    #[command(after_help = edit::HELP)]
    Edit(Box<edit::Edit>),
    /// Sets a secret of a server, read from standard input; asks for a code
    #[command(
        after_help = "Example: draftboard server secret github GITHUB_TOKEN\n`auth` is the token or header value of an HTTP server."
    )]
    Secret {
        /// The name of the server
        server: String,
        /// The name of the variable, or `auth`
        part: String,
        #[command(flatten)]
        at: WorkspaceArguments,
    },
    /// Calls a tool; asks for a code unless its policy is allow
    #[command(after_help = "Examples:\n  draftboard server call time__get_current_time timezone=UTC\n  \
            draftboard server call files__read_file --args '{\"path\": \"/tmp/x\"}' --json")]
    Call {
        /// The name that agents call
        tool: String,
        /// Arguments as key=value; a value that is not valid JSON is text
        #[arg(value_name = "KEY=VALUE", conflicts_with = "args")]
        pairs: Vec<String>,
        /// All arguments as one JSON object
        #[arg(long, value_name = "JSON")]
        args: Option<String>,
        #[command(flatten)]
        at: WorkspaceArguments,
    },
    /// Deletes a server with its approvals and secrets; asks for a code
    #[command(after_help = "Example: draftboard server remove files")]
    Remove {
        /// The name of the server
        server: String,
        #[command(flatten)]
        at: WorkspaceArguments,
    },
}

#[derive(Debug, Clone, Copy, clap::ValueEnum)]
pub(super) enum PolicyArgument {
    /// Each call waits in the review queue
    Ask,
    /// Calls are sent immediately
    Allow,
    /// Hides the tool from agents
    Deny,
}

impl From<PolicyArgument> for ToolCallPolicy {
    fn from(policy: PolicyArgument) -> Self {
        match policy {
            PolicyArgument::Ask => Self::Ask,
            PolicyArgument::Allow => Self::Allow,
            PolicyArgument::Deny => Self::Deny,
        }
    }
}

/// A connection to the running Draftboard.
pub(super) struct ServerCommandSession {
    client: TerminalClient,
    json: bool,
}

pub(super) fn run(asked: ServerSubcommand) -> ExitCode {
    let at = asked.workspace_arguments().clone();
    let done = ServerCommandSession::connect(&at).and_then(|session| session.run(asked));
    done.unwrap_or_else(|refusal| format::refuse(&refusal, at.json))
}

impl ServerSubcommand {
    fn workspace_arguments(&self) -> &WorkspaceArguments {
        match self {
            Self::Add(add) => &add.at,
            Self::Edit(edit) => &edit.at,
            Self::List(at)
            | Self::Show { at, .. }
            | Self::Import { at, .. }
            | Self::Search { at, .. }
            | Self::Enable { at, .. }
            | Self::Disable { at, .. }
            | Self::Start { at, .. }
            | Self::Stop { at, .. }
            | Self::Restart { at, .. }
            | Self::Logs { at, .. }
            | Self::Tools { at, .. }
            | Self::Approve { at, .. }
            | Self::Withdraw { at, .. }
            | Self::Policy { at, .. }
            | Self::Times { at, .. }
            | Self::Secret { at, .. }
            | Self::Call { at, .. }
            | Self::Remove { at, .. } => at,
        }
    }
}

impl ServerCommandSession {
    pub(super) fn connect(at: &WorkspaceArguments) -> Result<Self, Refusal> {
        let record = workspace_at::instance(at.workspace.as_deref())?;
        Ok(Self { client: TerminalClient::connect(&record)?, json: at.json })
    }

    fn run(mut self, asked: ServerSubcommand) -> Result<ExitCode, Refusal> {
        let id = ServerId;
        match asked {
            ServerSubcommand::List(_) => {
                let view = self.view()?;
                self.print(&view, || managed_servers::list(&view))
            }
            ServerSubcommand::Show { server, .. } => {
                let details = self.details(&server)?;
                self.print(&details, || managed_servers::details(&details))
            }
            ServerSubcommand::Add(add) => {
                let details = self.request(AddServer { form: Box::new(add.form()?) })?;
                self.print_server(&details)
            }
            ServerSubcommand::Import { list: true, .. } | ServerSubcommand::Import { file: None, .. } => {
                let sources = self.request(ListImportSources {})?;
                self.print(&sources, || managed_servers::sources(&sources))
            }
            ServerSubcommand::Import { file: Some(file), only, dry_run, .. } => {
                self.import(&file, only, dry_run)
            }
            ServerSubcommand::Search { query, registry, .. } => {
                let registry = registry.map(|place| absolute_path(&place));
                let found = self.request(SearchServerRegistry { registry, query })?;
                let is_empty = found.is_empty();
                self.print(&found, || managed_servers::format_registry_servers(&found))?;
                Ok(if is_empty { ExitCode::FAILURE } else { ExitCode::SUCCESS })
            }
            ServerSubcommand::Enable { server, .. } => {
                let details = self.decide(EnableServer { server: id(server) })?;
                self.print_server(&details)
            }
            ServerSubcommand::Disable { server, .. } => {
                let details = self.request(DisableServer { server: id(server) })?;
                self.print_server(&details)
            }
            ServerSubcommand::Start { server, .. } => {
                let details = self.request(StartServer { server: id(server) })?;
                self.print_server(&details)
            }
            ServerSubcommand::Stop { server, .. } => {
                let details = self.request(StopServer { server: id(server) })?;
                self.print_server(&details)
            }
            ServerSubcommand::Restart { server, .. } => {
                let details = self.request(RestartServer { server: id(server) })?;
                self.print_server(&details)
            }
            ServerSubcommand::Logs { server, follow, .. } => self.logs(id(server), follow),
            ServerSubcommand::Tools { server, .. } => self.tools(server),
            ServerSubcommand::Approve { server, tools, .. } => self.approve(&server, &tools),
            ServerSubcommand::Withdraw { server, tool, .. } => {
                let details = self.request(WithdrawTool { server: id(server), tool })?;
                self.print_server(&details)
            }
            ServerSubcommand::Policy { tool, policy, .. } => self.policy(&tool, policy.into()),
            ServerSubcommand::Times { tool, idle_ms, total_ms, .. } => {
                person_is_here()?;
                let (server, found) = self.tool(&tool)?;
                let ToolView { name, enabled, policy, .. } = found;
                let details =
                    self.decide(SetTool { server, tool: name, enabled, policy, idle_ms, total_ms })?;
                self.print_server(&details)
            }
            ServerSubcommand::Edit(edit) => {
                person_is_here()?;
                let details = self.details(&edit.server)?;
                let (server, mut form) = (details.brief.id, details.form);
                edit.change(&mut form)?;
                let details = self.decide(UpdateServer { server, form: Box::new(form) })?;
                self.print_server(&details)
            }
            ServerSubcommand::Secret { server, part, .. } => {
                person_is_here()?;
                let secret = TypedSecret(review::prompt_secret(&format!("The secret {part} of {server}: "))?);
                let details = self.decide(SetServerSecret { server: id(server), part, secret })?;
                self.print_server(&details)
            }
            ServerSubcommand::Call { tool, pairs, args, .. } => {
                let arguments = call::arguments(args.as_deref(), &pairs)?.to_string();
                self.call(ToolCall { tool, arguments, definition: None })
            }
            ServerSubcommand::Remove { server, .. } => {
                self.decide(DeleteServer { server: id(server) })?;
                self.print(&serde_json::Value::Null, || {
                    "Deleted the server, its approvals and its secrets".to_owned()
                })
            }
        }
    }

    fn request<R: Request<Frame = WorkbenchRequest>>(&mut self, request: R) -> Result<R::Response, Refusal> {
        Ok(self.client.request(request)?)
    }

    /// Decides with the code that Draftboard shows elsewhere.
    pub(super) fn decide<D: Request<Frame = ManagedServerDecision>>(
        &mut self,
        decision: D,
    ) -> Result<D::Response, Refusal> {
        review::decide_with_code(&mut self.client, decision)
    }

    pub(super) fn view(&mut self) -> Result<ManagedServersView, Refusal> {
        self.request(ListServers {})
    }

    fn details(&mut self, server: &str) -> Result<ServerDetails, Refusal> {
        self.request(ShowServer { server: ServerId(server.to_owned()) })
    }

    pub(super) fn print(
        &self,
        data: &impl serde::Serialize,
        words: impl FnOnce() -> String,
    ) -> Result<ExitCode, Refusal> {
        Ok(format::print_result(data, self.json, words))
    }

    fn print_server(&self, details: &ServerDetails) -> Result<ExitCode, Refusal> {
        self.print(&details.brief, || managed_servers::server_line(&details.brief))
    }

    fn import(&mut self, file: &PathBuf, only: Vec<String>, dry_run: bool) -> Result<ExitCode, Refusal> {
        let unreadable = |error: std::io::Error| Refusal::new(RefusalCode::BadRequest, error.to_string());
        let source = if file.as_os_str() == "-" {
            let mut text = String::new();
            std::io::stdin().lock().take(MAX_INPUT_BYTES).read_to_string(&mut text).map_err(unreadable)?;
            ServerImportInput::Text(TypedSecret(text))
        } else {
            // The running Draftboard may have another current folder.
            let path = std::path::absolute(file).map_err(unreadable)?;
            ServerImportInput::File(path.display().to_string())
        };
        let mut view = self.request(PreviewServerImport { source: source.clone() })?;
        if !only.is_empty() {
            view.servers.retain(|server| only.contains(&server.form.name));
            view.refused.retain(|(name, _)| only.contains(name));
            view.skipped.retain(|(name, _)| only.contains(name));
        }
        if dry_run {
            return self.print(&view, || managed_servers::import(&view));
        }
        let names = view.servers.iter().map(|server| server.form.name.clone()).collect();
        let ImportedServers { servers, mut refused } = self.request(ImportServers { source, names })?;
        refused.extend(view.refused);
        let is_whole = refused.is_empty();
        let skipped = view.skipped;
        let data = json!({ "servers": servers, "refused": refused, "skipped": skipped });
        self.print(&data, || {
            managed_servers::format_imported(&servers, &refused) + &managed_servers::format_skipped(&skipped)
        })?;
        Ok(if is_whole { ExitCode::SUCCESS } else { ExitCode::FAILURE })
    }

    fn logs(&mut self, server: ServerId, follow: bool) -> Result<ExitCode, Refusal> {
        let mut from = 0;
        loop {
            let part = self.request(ReadServerLog { server: server.clone(), from })?;
            if self.json && !follow {
                return self.print(&part, String::new);
            }
            if !part.lines.is_empty() {
                format::print_visible(&part.lines.join("\n"));
            }
            from = part.first + part.lines.len() as u64;
            if !follow {
                return Ok(ExitCode::SUCCESS);
            }
        }
    }

    fn tools(&mut self, server: Option<String>) -> Result<ExitCode, Refusal> {
        let servers = match server {
            Some(server) => vec![server],
            None => {
                let view = self.view()?;
                view.servers.into_iter().filter(|server| server.tools > 0).map(|server| server.slug).collect()
            }
        };
        let mut all = Vec::new();
        for server in servers {
            all.extend(self.details(&server)?.tools);
        }
        self.print(&all, || managed_servers::tools(&all))
    }

    fn approve(&mut self, server: &str, named: &[String]) -> Result<ExitCode, Refusal> {
        person_is_here()?;
        let details = self.details(server)?;
        let mut tools = Vec::new();
        for tool in &details.tools {
            let is_named = named.iter().any(|name| *name == tool.name || *name == tool.exposed);
            let waits = tool.approval != ToolApproval::Approved;
            if is_named || (named.is_empty() && waits) {
                // On standard error: the person must see it, also when the output is redirected.
                review::print_line(&managed_servers::tool(tool));
                tools.push((tool.name.clone(), tool.hash.clone()));
            }
        }
        if tools.is_empty() {
            return Err(Refusal::new(
                RefusalCode::NotFound,
                "the tool does not exist, or no tool needs approval",
            )
            .hint("Start the server, then list its tools with `draftboard server tools`."));
        }
        let details = self.decide(ApproveTools { server: details.brief.id.clone(), tools })?;
        self.print_server(&details)
    }

    fn policy(&mut self, tool: &str, policy: ToolCallPolicy) -> Result<ExitCode, Refusal> {
        let view = self.view()?;
        if view.manifests.iter().any(|manifest| manifest.tools.iter().any(|known| known.name == tool)) {
            return self.manifest_policy(tool, policy);
        }
        let (server, found) = self.tool(tool)?;
        let ToolView { name, enabled, idle_ms, total_ms, .. } = found;
        let details = self.decide(SetTool { server, tool: name, enabled, policy, idle_ms, total_ms })?;
        self.print_server(&details)
    }

    pub(super) fn manifest_policy(
        &mut self,
        tool: &str,
        policy: ToolCallPolicy,
    ) -> Result<ExitCode, Refusal> {
        self.decide(SetManifestPolicy { tool: tool.to_owned(), policy })?;
        self.print(&serde_json::Value::Null, || format!("{tool}: {}", policy.as_str()))
    }

    /// A tool of a server that runs, by the name that agents call.
    fn tool(&mut self, tool: &str) -> Result<(ServerId, ToolView), Refusal> {
        let slug = tool.split_once("__").map_or(tool, |(slug, _)| slug);
        let details = self.details(slug)?;
        let found = details.tools.iter().find(|known| known.exposed == tool).ok_or_else(|| {
            let message = format!("{slug} has no tool {tool}, or is not running");
            Refusal::new(RefusalCode::NotFound, message)
                .suggest(details.tools.iter().map(|known| known.exposed.clone()))
        })?;
        Ok((details.brief.id.clone(), found.clone()))
    }

    fn call(&mut self, call: ToolCall) -> Result<ExitCode, Refusal> {
        let result = match self.request(CallServerTool { call: call.clone() }) {
            Err(refusal) if refusal.code == RefusalCode::ConfirmationRequired => {
                self.decide(CallTool { call })?
            }
            other => other?,
        };
        let value: serde_json::Value = serde_json::from_str(&result.json).unwrap_or_default();
        if self.json {
            format::print_json(&json!({ "ok": !result.is_error, "data": value }));
        } else {
            format::print_visible(&managed_servers::format_call_result(&value));
        }
        Ok(if result.is_error { ExitCode::FAILURE } else { ExitCode::SUCCESS })
    }
}

/// Makes the path of an index absolute: the running Draftboard reads it.
fn absolute_path(place: &str) -> String {
    if place.starts_with("http://") || place.starts_with("https://") {
        return place.to_owned();
    }
    std::path::absolute(place).map_or_else(|_| place.to_owned(), |path| path.display().to_string())
}
