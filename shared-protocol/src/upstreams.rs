//! What window and terminals see of the MCP servers that Draftboard manages for its user and of tool manifests, what they
//! may ask, and what only a person may decide. Agents do not speak this, and no value of a secret ever stands in an answer.
//!
//! [`UpstreamRequest`] takes nothing out of a person's hands: it looks, stops, starts what is switched on, and adds what is
//! switched off. Everything that lets a program run or an agent call is an [`UpstreamDecision`]: it comes over the window's
//! own channel, or from a terminal with a code that only the person at Draftboard's window or terminal sees.

use serde::{Deserialize, Serialize};
use std::fmt;

/// Lines of a log that are sent at once.
pub const MAX_LOG_LINES: usize = 400;
/// Bytes of pasted configurations, arguments of a call and the like.
pub const MAX_TEXT: usize = 4 << 20;

/// A server's id. Its slug is understood as well.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(transparent)]
pub struct ServerId(pub String);

impl fmt::Display for ServerId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

/// A secret on its way into the store. It goes one way, and does not show itself.
#[derive(Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(transparent)]
pub struct TypedSecret(pub String);

impl fmt::Debug for TypedSecret {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("[redacted]")
    }
}

// ---- what is told unasked ---------------------------------------------------------------------------------------------

/// All servers and manifests in brief; sent when something of it changed, at most some ten times a second.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct UpstreamsView {
    /// Why there are no servers at all, and what to do.
    pub problem: Option<String>,
    /// By name.
    pub servers: Vec<ServerBrief>,
    /// Entries of the configuration file that could not be understood. They stay in it.
    pub unreadable: Vec<UnreadableServer>,
    pub manifests: Vec<ManifestBrief>,
    /// Where manifests are looked for.
    pub manifest_folders: Vec<ManifestFolderBrief>,
    /// Where configurations are kept.
    pub config_file: String,
    /// Where secrets are kept, in words.
    pub secrets_place: String,
    /// Where a search looks when no other registry is named.
    pub registry: String,
}

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct ServerBrief {
    pub id: ServerId,
    /// First half of the names of its tools; stays when the server is renamed.
    pub slug: String,
    pub name: String,
    pub enabled: bool,
    pub kind: PackageKind,
    /// What is run with its arguments, or the address: what a person should look at before switching it on.
    pub runs: String,
    pub state: ServerState,
    /// Why it does not run, or did not the last time; until it does.
    pub reason: Option<String>,
    /// How its process ended the last time.
    pub exit: Option<ServerExit>,
    /// The last lines of its log while it starts, waits or has failed: what is being fetched, what it said in the end.
    pub last_lines: Vec<String>,
    /// Tools that agents may call now.
    pub offered: u64,
    pub tools: u64,
    /// Tools that a person has not looked at, or that have changed since.
    pub waiting: u64,
    /// Of the protocol, while it runs.
    pub protocol: Option<String>,
    /// What it calls itself. Nothing is decided by it.
    pub calls_itself: Option<String>,
    /// Another one whenever anything about it changed: time to ask for its details again.
    pub stamp: u64,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub enum PackageKind {
    Npm,
    Pypi,
    Docker,
    Binary,
    Http,
}

impl PackageKind {
    pub const ALL: [Self; 5] = [Self::Npm, Self::Pypi, Self::Docker, Self::Binary, Self::Http];

    pub fn word(self) -> &'static str {
        match self {
            Self::Npm => "npm",
            Self::Pypi => "pypi",
            Self::Docker => "docker",
            Self::Binary => "binary",
            Self::Http => "http",
        }
    }
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub enum ServerState {
    /// Switched off by a person.
    Disabled,
    Stopped,
    Starting(StartPhase),
    Running,
    Stopping,
    /// It failed and is tried again by itself.
    Backoff {
        attempt: u32,
        /// Milliseconds since 1970, UTC.
        retry_at: u64,
    },
    /// It runs, and none of its tools may be used before a person has looked at them.
    NeedsApproval,
    /// Set these first; `auth` is what the address asks for.
    NeedsCredentials {
        missing: Vec<String>,
    },
    /// It waits for a person.
    Error,
}

impl ServerState {
    pub fn word(&self) -> &'static str {
        match self {
            Self::Disabled => "disabled",
            Self::Stopped => "stopped",
            Self::Starting(_) => "starting",
            Self::Running => "running",
            Self::Stopping => "stopping",
            Self::Backoff { .. } => "backing off",
            Self::NeedsApproval => "needs approval",
            Self::NeedsCredentials { .. } => "needs credentials",
            Self::Error => "error",
        }
    }

    /// Whether there is a connection.
    pub fn is_connected(&self) -> bool {
        matches!(self, Self::Running | Self::NeedsApproval)
    }
}

/// Steps of a start, in their order.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub enum StartPhase {
    Credentials,
    /// The package is being fetched.
    Installing,
    Connecting,
}

impl StartPhase {
    pub fn words(self) -> &'static str {
        match self {
            Self::Credentials => "looking up secrets",
            Self::Installing => "fetching the package",
            Self::Connecting => "connecting",
        }
    }
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct ServerExit {
    pub code: Option<i32>,
    pub signal: Option<i32>,
}

impl fmt::Display for ServerExit {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match (self.code, self.signal) {
            (Some(code), _) => write!(f, "code {code}"),
            (None, Some(signal)) => write!(f, "signal {signal}"),
            (None, None) => f.write_str("unknown"),
        }
    }
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct UnreadableServer {
    /// Its name, as far as it has one.
    pub name: String,
    pub reason: String,
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct ManifestFolderBrief {
    pub path: String,
    pub origin: ManifestOrigin,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub enum ManifestOrigin {
    /// The user's own folder.
    User,
    /// It came with the workspace, perhaps from somebody else.
    Workspace,
}

impl ManifestOrigin {
    pub fn word(self) -> &'static str {
        match self {
            Self::User => "user",
            Self::Workspace => "workspace",
        }
    }
}

/// One file, and what became of it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct ManifestBrief {
    pub path: String,
    pub origin: ManifestOrigin,
    pub id: Option<String>,
    /// Of the file and of the program that it runs. A person approves this.
    pub hash: Option<String>,
    /// Why none of it is used.
    pub problem: Option<String>,
    /// It came with the workspace, and nobody has looked at it in this form.
    pub needs_approval: bool,
    /// What it would offer, or offers.
    pub tools: Vec<ManifestToolBrief>,
    pub credentials: Vec<ManifestCredential>,
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct ManifestToolBrief {
    /// What agents call; the file's own name for what is hidden.
    pub name: String,
    /// What a call of it does, in words.
    pub does: String,
    /// Why agents do not see it.
    pub hidden: Option<String>,
    /// It was meant to be offered, and cannot be: the file has to be corrected.
    pub is_mistake: bool,
    pub policy: Policy,
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct ManifestCredential {
    pub id: String,
    pub optional: bool,
    /// Whether the store has a value for it.
    pub set: bool,
}

/// What happens when an agent calls a tool.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub enum Policy {
    /// Each call waits in the review queue.
    #[default]
    Ask,
    Allow,
    /// Agents do not see it.
    Deny,
}

impl Policy {
    pub const ALL: [Self; 3] = [Self::Ask, Self::Allow, Self::Deny];

    pub fn word(self) -> &'static str {
        match self {
            Self::Ask => "ask",
            Self::Allow => "allow",
            Self::Deny => "deny",
        }
    }
}

// ---- one server ---------------------------------------------------------------------------------------------------------

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct ServerDetails {
    pub brief: ServerBrief,
    /// As it is kept; a secret is [`VariableValue::Secret`] and nothing more.
    pub form: ServerForm,
    /// In the order of their names; all of them, also those that nobody may call. Empty while it does not run.
    pub tools: Vec<ToolView>,
}

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct ToolView {
    /// The server's own name for it; decisions are about this one.
    pub name: String,
    /// What agents call.
    pub exposed: String,
    pub title: Option<String>,
    /// The server's own words, as they are.
    pub description: String,
    /// JSON text, set in lines.
    pub input_schema: String,
    pub output_schema: Option<String>,
    /// What it says about itself, as words such as `readOnlyHint`.
    pub hints: Vec<String>,
    /// A person has said that this server's hints may be believed, and it says that this tool only reads.
    pub read_only: bool,
    /// Of the definition; an approval is of exactly this one.
    pub hash: String,
    pub approval: ToolApproval,
    pub enabled: bool,
    pub policy: Policy,
    /// Milliseconds without a word after which a call is given up, where it is not the server's.
    pub idle_ms: Option<u64>,
    /// Milliseconds that a call may take in all, where it is not the server's.
    pub total_ms: Option<u64>,
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub enum ToolApproval {
    Approved,
    /// Nobody has looked at it yet.
    New,
    /// It is not what was approved.
    Changed(Vec<DefinitionChange>),
}

/// One part of a definition before and after, as text; none where it was not there.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct DefinitionChange {
    /// Such as `inputSchema.properties.path.type`.
    pub path: String,
    pub before: Option<String>,
    pub after: Option<String>,
}

/// What a person fills in.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct ServerForm {
    pub name: String,
    pub kind: PackageKind,
    /// `@scope/package@1.2.3`, `package==1.2.3`, `image:tag`, a program, or an address.
    pub identifier: String,
    /// `npx`; `uvx` or `venv`; `docker` or `podman`. What is there when absent.
    pub runtime: Option<String>,
    /// The program inside a PyPI package, when it is not named like the package.
    pub command: Option<String>,
    /// How an address learns who asks; not for programs.
    pub auth: AuthForm,
    /// Handed over one by one, never through a shell.
    pub args: Vec<String>,
    pub variables: Vec<VariableForm>,
    /// Where it runs; the home folder when absent.
    pub folder: Option<String>,
    /// What the server says about its own tools may be believed.
    pub trusted: bool,
    pub limits: LimitsForm,
    /// Where the configuration comes from, when a registry filled it in: its name there, and the version.
    pub registry: Option<(String, String)>,
}

impl ServerForm {
    /// An empty one.
    pub fn new(kind: PackageKind) -> Self {
        Self {
            name: String::new(),
            kind,
            identifier: String::new(),
            runtime: None,
            command: None,
            auth: AuthForm::None,
            args: Vec::new(),
            variables: Vec::new(),
            folder: None,
            trusted: false,
            limits: LimitsForm::default(),
            registry: None,
        }
    }
}

#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub enum AuthForm {
    #[default]
    None,
    Bearer(VariableValue),
    Header {
        name: String,
        value: VariableValue,
    },
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct VariableForm {
    pub name: String,
    pub value: VariableValue,
    /// It cannot do without.
    pub required: bool,
    pub description: Option<String>,
}

#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub enum VariableValue {
    /// To be given.
    #[default]
    Missing,
    Plain(String),
    /// In the secret store, or to be put there. In an update it stays as it is.
    Secret {
        set: bool,
    },
    /// Just typed: goes to the secret store.
    Typed(TypedSecret),
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct LimitsForm {
    pub install_ms: u64,
    pub connect_ms: u64,
    pub handshake_ms: u64,
    /// A call during which nothing is heard; progress starts it anew.
    pub idle_ms: u64,
    /// A call, whatever is heard.
    pub total_ms: u64,
    /// From being asked to end to being killed.
    pub grace_ms: u64,
    pub result_bytes: u64,
    /// Calls under way at once.
    pub calls: u64,
}

impl Default for LimitsForm {
    fn default() -> Self {
        Self {
            install_ms: 300_000,
            connect_ms: 10_000,
            handshake_ms: 30_000,
            idle_ms: 60_000,
            total_ms: 600_000,
            grace_ms: 5_000,
            result_bytes: 1 << 20,
            calls: 32,
        }
    }
}

// ---- requests and answers, the same from window and terminal ----------------------------------------------------------

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub enum UpstreamRequest {
    /// Answered by [`UpstreamAnswer::View`].
    List,
    /// Answered by [`UpstreamAnswer::Server`].
    Show {
        server: ServerId,
    },
    /// Lines from a number on; waits a moment for the first of them. Answered by [`UpstreamAnswer::Log`].
    Log {
        server: ServerId,
        from: u64,
    },
    /// Answered by [`UpstreamAnswer::Server`] when it runs, or by why it does not. It must be switched on.
    Start {
        server: ServerId,
    },
    /// Answered by [`UpstreamAnswer::Server`] when its process and all that it has started are gone.
    Stop {
        server: ServerId,
    },
    Restart {
        server: ServerId,
    },
    /// Switches it off, and stops it. Answered like a stop.
    Disable {
        server: ServerId,
    },
    /// Keeps a new server, switched off and trusted in nothing. Answered by [`UpstreamAnswer::Server`].
    Add {
        form: Box<ServerForm>,
    },
    /// What other programs' configurations there are. Answered by [`UpstreamAnswer::Sources`].
    Sources,
    /// What would be taken over. Nothing is kept yet. Answered by [`UpstreamAnswer::Import`].
    PreviewImport {
        source: ImportFrom,
    },
    /// Keeps the servers of these names, switched off, their secrets in the store. Answered by [`UpstreamAnswer::Imported`].
    Import {
        source: ImportFrom,
        names: Vec<String>,
    },
    /// `registry` is a file or an address; the usual one when absent. Answered by [`UpstreamAnswer::Registry`].
    SearchRegistry {
        registry: Option<String>,
        query: String,
    },
    /// Takes an approval back; agents do not see the tool any more. Answered by [`UpstreamAnswer::Server`].
    Withdraw {
        server: ServerId,
        tool: String,
    },
    /// Calls a tool that is allowed without asking. Any other needs [`UpstreamDecision::Call`].
    Call(ToolCall),
    /// Reads the manifests anew, without waiting for a change of a file. Answered by [`UpstreamAnswer::View`].
    ReloadManifests,
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct ToolCall {
    /// The name that agents call, of a server's tool or of a manifest's.
    pub tool: String,
    /// A JSON object, as text.
    pub arguments: String,
    /// Of the definition, or of the manifest, that was shown: when it is another one now, nothing is called. None calls whatever a
    /// person has approved.
    pub definition: Option<String>,
}

/// Where servers are taken over from.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub enum ImportFrom {
    /// Pasted JSON, with comments and all.
    Text(TypedSecret),
    /// A file of another program, by its path; see [`UpstreamRequest::Sources`].
    File(String),
}

/// What only a person may decide.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub enum UpstreamDecision {
    /// Switches it on and starts it. When it does not start, it is switched off again and the reason is the answer.
    Enable {
        server: ServerId,
    },
    /// Approves tools as they were shown: each with the hash of the definition that the person has seen.
    Approve {
        server: ServerId,
        tools: Vec<(String, String)>,
    },
    /// Whether agents may see a tool at all, what happens when they call it, and how long a call may take.
    SetTool {
        server: ServerId,
        tool: String,
        enabled: bool,
        policy: Policy,
        /// Milliseconds without a word after which a call is given up; the server's when absent.
        idle_ms: Option<u64>,
        /// Milliseconds that a call may take in all; the server's when absent.
        total_ms: Option<u64>,
    },
    /// Replaces its configuration. It is started anew when what it runs with has changed.
    Update {
        server: ServerId,
        form: Box<ServerForm>,
    },
    /// Forgets it, what was approved of it and its secrets, and ends it.
    Delete {
        server: ServerId,
    },
    /// Of a variable, or of the address as `auth`.
    SetSecret {
        server: ServerId,
        part: String,
        secret: TypedSecret,
    },
    /// Approves a manifest of the workspace in exactly this form.
    ApproveManifest {
        hash: String,
    },
    SetManifestPolicy {
        /// The name that agents call.
        tool: String,
        policy: Policy,
    },
    SetManifestSecret {
        manifest: String,
        credential: String,
        secret: TypedSecret,
    },
    /// A person's own call. The tool must be approved. Answered by [`UpstreamAnswer::Called`].
    Call(ToolCall),
}

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub enum UpstreamAnswer {
    View(Box<UpstreamsView>),
    Server(Box<ServerDetails>),
    /// Nothing more to say: it is gone, or kept.
    Done,
    Log(LogPart),
    Sources(Vec<ImportSource>),
    Import(Box<ImportView>),
    Imported {
        servers: Vec<ServerBrief>,
        /// Names that could not be taken over, and why.
        refused: Vec<(String, String)>,
    },
    Registry(Vec<RegistryFound>),
    Called(CallResult),
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct LogPart {
    /// The number of the first line.
    pub first: u64,
    pub lines: Vec<String>,
    /// Lines before the first that are no longer kept.
    pub dropped: u64,
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct CallResult {
    /// The protocol's result (`content`, `structuredContent`, `isError`) as JSON text, without secrets.
    pub json: String,
    /// The tool itself says that it failed.
    pub is_error: bool,
}

/// A configuration of another program.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct ImportSource {
    /// Such as `Claude Desktop`.
    pub program: String,
    pub path: String,
}

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct ImportView {
    pub servers: Vec<ImportedServer>,
    /// Names that cannot be taken over, and why.
    pub refused: Vec<(String, String)>,
    /// Names that nobody wants taken over, such as Draftboard's own entry, and why.
    pub skipped: Vec<(String, String)>,
}

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct ImportedServer {
    /// As it would be kept; secrets that were found are [`VariableValue::Secret`] with `set`.
    pub form: ServerForm,
    /// What is run, or the address.
    pub runs: String,
    /// What a person should know before switching it on.
    pub notes: Vec<String>,
    /// There is one of this name already; another would be added beside it.
    pub known: bool,
}

/// A server that a registry knows.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct RegistryFound {
    pub name: String,
    pub description: String,
    pub version: String,
    /// Its author says that nobody should begin to use it.
    pub deprecated: bool,
    /// Ways to run it, to fill the form with.
    pub offers: Vec<RegistryOffer>,
    /// Ways that Draftboard does not know.
    pub unsupported: Vec<String>,
}

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct RegistryOffer {
    pub form: ServerForm,
    pub runs: String,
    /// What a person must give before it can be kept: variables, `auth`, or `args.NAME`.
    pub required: Vec<String>,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_typed_secret_does_not_show_itself_and_arrives() {
        let decision = UpstreamDecision::SetSecret {
            server: ServerId("files".to_owned()),
            part: "TOKEN".to_owned(),
            secret: TypedSecret("hunter2-hunter2".to_owned()),
        };
        assert!(!format!("{decision:?}").contains("hunter2"));
        let bytes = postcard::to_stdvec(&decision).expect("plain data");
        assert_eq!(postcard::from_bytes::<UpstreamDecision>(&bytes).expect("the same"), decision);
        let mut form = ServerForm::new(PackageKind::Http);
        form.auth = AuthForm::Header { name: "X-Key".to_owned(), value: VariableValue::Secret { set: true } };
        let request = UpstreamRequest::Add { form: Box::new(form) };
        let bytes = postcard::to_stdvec(&request).expect("plain data");
        assert_eq!(postcard::from_bytes::<UpstreamRequest>(&bytes).expect("the same"), request);
        let text = serde_json::to_string(&request).expect("plain data");
        assert_eq!(serde_json::from_str::<UpstreamRequest>(&text).expect("the same"), request);
    }
}
