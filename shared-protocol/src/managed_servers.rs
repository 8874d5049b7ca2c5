//! Managed MCP servers and tool manifests as seen by the window and terminals. Agents cannot use this protocol, and no
//! response contains the value of a secret.
//!
//! The requests in [`crate::requests`] need no decision: they read, stop, start enabled servers, and add disabled ones.
//! Everything that lets a program run or an agent call a tool is a [`crate::decisions::ManagedServerDecision`]. It arrives over
//! the private channel of the window, or from a terminal with a code that only the person at the window or terminal of
//! Draftboard can see.

use serde::{Deserialize, Serialize};
use std::fmt;

/// The maximum number of log lines in one message.
pub const MAX_LOG_CHUNK_LINES: usize = 400;
/// The maximum size of pasted configurations and call arguments.
pub const MAX_UPSTREAM_TEXT_BYTES: usize = 4 << 20;

/// A server's id. Requests also accept the slug.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(transparent)]
pub struct ServerId(pub String);

impl fmt::Display for ServerId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

/// A secret on its way into the secret store. It is never sent back, and `Debug` redacts it.
#[derive(Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(transparent)]
pub struct TypedSecret(pub String);

impl fmt::Debug for TypedSecret {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("[redacted]")
    }
}

// ---- notifications ----------------------------------------------------------------------------------------------------

/// A summary of all servers and manifests. Sent after changes, at most about ten times a second.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct ManagedServersView {
    /// Why no servers are available, and how to fix it.
    pub problem: Option<String>,
    /// Sorted by name.
    pub servers: Vec<ServerBrief>,
    /// Entries of the configuration file that could not be parsed. They stay in the file.
    pub unreadable: Vec<UnreadableServer>,
    pub manifests: Vec<ManifestBrief>,
    /// The folders that are searched for manifests.
    pub manifest_folders: Vec<ManifestFolderBrief>,
    /// The configuration file.
    pub config_file: String,
    /// The location of the secret store, as text.
    pub secrets_place: String,
    /// The default registry for searches.
    pub registry: String,
}

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct ServerBrief {
    pub id: ServerId,
    /// The prefix of its tool names; unchanged when the server is renamed.
    pub slug: String,
    pub name: String,
    pub enabled: bool,
    pub kind: PackageKind,
    /// The command line or the address. A person should check it before enabling the server.
    pub runs: String,
    pub state: ServerState,
    /// Why it is not running, or why the last start failed; kept until it runs.
    pub reason: Option<String>,
    /// The exit status of its last process.
    pub exit: Option<ServerExit>,
    /// The last log lines while it starts, retries or has failed.
    pub last_lines: Vec<String>,
    /// The number of tools that agents can call now.
    pub offered: u64,
    pub tools: u64,
    /// The number of tools that need approval because they are new or changed.
    pub waiting: u64,
    /// The protocol version, while it runs.
    pub protocol: Option<String>,
    /// The name that the server reports. No decision depends on it.
    pub calls_itself: Option<String>,
    /// Changes whenever the server changes; then its details must be requested again.
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

    pub fn as_str(self) -> &'static str {
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
    /// Disabled by a person.
    Disabled,
    Stopped,
    Starting(StartPhase),
    Running,
    Stopping,
    /// It failed and is retried automatically.
    Backoff {
        attempt: u32,
        /// Milliseconds since 1970, UTC.
        retry_at: u64,
    },
    /// It runs, but agents cannot use any tool before a person approves it.
    NeedsApproval,
    /// These secrets must be set first; `auth` is the credential of the address.
    NeedsCredentials {
        missing: Vec<String>,
    },
    /// It failed and needs a person.
    Error,
}

impl ServerState {
    pub fn label(&self) -> &'static str {
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

    /// Returns true when a connection exists.
    pub fn is_connected(&self) -> bool {
        matches!(self, Self::Running | Self::NeedsApproval)
    }
}

/// The steps of a start, in order.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub enum StartPhase {
    Credentials,
    /// Downloads the package.
    Installing,
    Connecting,
}

impl StartPhase {
    pub fn describe(self) -> &'static str {
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

impl ServerExit {
    /// The predicate of a sentence about the process.
    pub fn describe(&self) -> String {
        match (self.code, self.signal) {
            (Some(code), _) => format!("exited with code {code}"),
            (None, Some(signal)) => format!("was terminated by signal {signal}"),
            (None, None) => "exited".to_owned(),
        }
    }
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
    /// Its name, if it has one.
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
    /// The workspace folder; its author may be someone else.
    Workspace,
}

impl ManifestOrigin {
    pub fn as_str(self) -> &'static str {
        match self {
            Self::User => "user",
            Self::Workspace => "workspace",
        }
    }
}

/// A manifest file and its state.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct ManifestBrief {
    pub path: String,
    pub origin: ManifestOrigin,
    pub id: Option<String>,
    /// The hash of the file and of the program that it runs. A person approves this hash.
    pub hash: Option<String>,
    /// Why the manifest is not used.
    pub problem: Option<String>,
    /// It came with the workspace and this version is not approved.
    pub needs_approval: bool,
    /// The tools that it offers, or would offer after approval.
    pub tools: Vec<ManifestToolBrief>,
    pub credentials: Vec<ManifestCredential>,
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct ManifestToolBrief {
    /// The tool name exposed to agents; the name in the file for a hidden tool.
    pub name: String,
    /// A description of the effect of a call.
    pub does: String,
    /// Why agents cannot see it.
    pub hidden: Option<String>,
    /// The tool should be offered but is invalid: the file must be fixed.
    pub is_mistake: bool,
    pub policy: ToolCallPolicy,
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct ManifestCredential {
    pub id: String,
    pub optional: bool,
    /// Whether the secret store has a value for it.
    pub set: bool,
}

/// The policy for calls by agents.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub enum ToolCallPolicy {
    /// Each call needs a review.
    #[default]
    Ask,
    Allow,
    /// Agents cannot see the tool.
    Deny,
}

impl ToolCallPolicy {
    pub const ALL: [Self; 3] = [Self::Ask, Self::Allow, Self::Deny];

    pub fn as_str(self) -> &'static str {
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
    /// The stored configuration; a secret is only [`VariableValue::Secret`].
    pub form: ServerForm,
    /// All tools sorted by name, including those that cannot be called. Empty while the server is not running.
    pub tools: Vec<ToolView>,
}

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct ToolView {
    /// The tool name on the server; decisions refer to it.
    pub name: String,
    /// The tool name exposed to agents.
    pub exposed: String,
    pub title: Option<String>,
    /// The description from the server, unchanged.
    pub description: String,
    /// JSON text, pretty-printed.
    pub input_schema: String,
    pub output_schema: Option<String>,
    /// The annotations of the tool, such as `readOnlyHint`.
    pub hints: Vec<String>,
    /// A person trusts this server's tool annotations, and they mark this tool as read-only.
    pub read_only: bool,
    /// The hash of the definition; an approval applies to exactly this hash.
    pub hash: String,
    pub approval: ToolApproval,
    pub enabled: bool,
    pub policy: ToolCallPolicy,
    /// The idle timeout of a call, if it differs from the server's.
    pub idle_ms: Option<u64>,
    /// The total timeout of a call, if it differs from the server's.
    pub total_ms: Option<u64>,
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub enum ToolApproval {
    Approved,
    /// Not reviewed yet.
    New,
    /// The definition differs from the approved one.
    Changed(Vec<ToolDefinitionChange>),
}

/// One part of a definition before and after, as text; `None` when it did not exist.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct ToolDefinitionChange {
    /// Such as `inputSchema.properties.path.type`.
    pub path: String,
    pub before: Option<String>,
    pub after: Option<String>,
}

/// The configuration form of a server.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct ServerForm {
    pub name: String,
    pub kind: PackageKind,
    /// `@scope/package@1.2.3`, `package==1.2.3`, `image:tag`, a program, or an address.
    pub identifier: String,
    /// `npx`; `uvx` or `venv`; `docker` or `podman`. The first one installed when absent.
    pub runtime: Option<String>,
    /// The program inside a PyPI package, if its name differs from the package.
    pub command: Option<String>,
    /// The authentication for an address; not for programs.
    pub auth: AuthForm,
    /// The arguments, passed individually and never through a shell.
    pub args: Vec<String>,
    pub variables: Vec<VariableForm>,
    /// The working directory; the home folder when absent.
    pub folder: Option<String>,
    /// Trusts this server's tool annotations.
    pub trusted: bool,
    pub limits: ServerLimitsForm,
    /// The name and version in the registry, if a registry filled in the form.
    pub registry: Option<(String, String)>,
}

impl ServerForm {
    /// Creates an empty form.
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
            limits: ServerLimitsForm::default(),
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
    /// The server cannot run without it.
    pub required: bool,
    pub description: Option<String>,
}

#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub enum VariableValue {
    /// Not set yet.
    #[default]
    Missing,
    Plain(String),
    /// In the secret store, or to be stored there. An update keeps the stored value.
    Secret {
        set: bool,
    },
    /// Newly typed: moved to the secret store.
    Typed(TypedSecret),
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct ServerLimitsForm {
    pub install_ms: u64,
    pub connect_ms: u64,
    pub handshake_ms: u64,
    /// The idle timeout of a call; progress messages restart it.
    pub idle_ms: u64,
    /// The total timeout of a call.
    pub total_ms: u64,
    /// The grace period before a forced stop.
    pub grace_ms: u64,
    pub result_bytes: u64,
    /// The maximum number of concurrent calls.
    pub calls: u64,
}

impl Default for ServerLimitsForm {
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

// ---- content of requests and responses ----------------------------------------------------------------------------------

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct ToolCall {
    /// The exposed tool name of a server or a manifest.
    pub tool: String,
    /// A JSON object as text.
    pub arguments: String,
    /// The hash of the reviewed definition or manifest; the call is refused when the hash has changed. `None` calls
    /// the approved definition.
    pub definition: Option<String>,
}

/// The input of a server import.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub enum ServerImportInput {
    /// Pasted JSON; comments are allowed.
    Text(TypedSecret),
    /// The path of a configuration file of another program; see [`crate::requests::ListImportSources`].
    File(String),
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct ServerLogChunk {
    /// The number of the first line.
    pub first: u64,
    pub lines: Vec<String>,
    /// The number of earlier lines that are no longer stored.
    pub dropped: u64,
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct ToolCallResult {
    /// The MCP result (`content`, `structuredContent`, `isError`) as JSON text, without secrets.
    pub json: String,
    /// The tool reported a failure.
    pub is_error: bool,
}

/// A configuration file of another program.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct ImportSource {
    /// The name of the program, such as `Claude Desktop`.
    pub program: String,
    pub path: String,
}

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct ServerImportPreview {
    pub servers: Vec<ImportedServerView>,
    /// Servers that cannot be imported: name and reason.
    pub refused: Vec<(String, String)>,
    /// Servers that are skipped, such as Draftboard's own entry: name and reason.
    pub skipped: Vec<(String, String)>,
}

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct ImportedServerView {
    /// The resulting configuration; secrets that were found are [`VariableValue::Secret`] with `set`.
    pub form: ServerForm,
    /// The command line or the address.
    pub runs: String,
    /// Notes to read before enabling it.
    pub notes: Vec<String>,
    /// A server with this name exists; the import adds another one.
    pub known: bool,
}

/// A server listed in a registry.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct RegistryServer {
    pub name: String,
    pub description: String,
    pub version: String,
    /// The author marked it as deprecated.
    pub deprecated: bool,
    /// Ways to run it, as prefilled forms.
    pub offers: Vec<RegistryOffer>,
    /// Ways to run it that Draftboard does not support.
    pub unsupported: Vec<String>,
}

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct RegistryOffer {
    pub form: ServerForm,
    pub runs: String,
    /// The values to fill in before saving: variables, `auth`, or `args.NAME`.
    pub required: Vec<String>,
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{
        decisions::{ManagedServerDecision, SetServerSecret},
        requests::{AddServer, WorkbenchRequest},
    };

    #[test]
    fn a_typed_secret_does_not_show_itself_and_arrives() {
        let decision = ManagedServerDecision::from(SetServerSecret {
            server: ServerId("files".to_owned()),
            part: "TOKEN".to_owned(),
            secret: TypedSecret("hunter2-hunter2".to_owned()),
        });
        assert!(!format!("{decision:?}").contains("hunter2"));
        let bytes = postcard::to_stdvec(&decision).expect("plain data");
        assert_eq!(postcard::from_bytes::<ManagedServerDecision>(&bytes).expect("the same"), decision);
        let mut form = ServerForm::new(PackageKind::Http);
        form.auth = AuthForm::Header { name: "X-Key".to_owned(), value: VariableValue::Secret { set: true } };
        let request = WorkbenchRequest::from(AddServer { form: Box::new(form) });
        let bytes = postcard::to_stdvec(&request).expect("plain data");
        assert_eq!(postcard::from_bytes::<WorkbenchRequest>(&bytes).expect("the same"), request);
        let text = serde_json::to_string(&request).expect("plain data");
        assert_eq!(serde_json::from_str::<WorkbenchRequest>(&text).expect("the same"), request);
    }
}
