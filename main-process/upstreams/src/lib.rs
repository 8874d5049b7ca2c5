//! The MCP service: managed servers, their tools and their secrets.
//!
//! Owns: the client side of the Model Context Protocol; no other crate knows it.
//! Must not know: boards, windows, Draftboard's own MCP surface, the user's folders. The caller provides paths, the
//! process spawner and the secret store.

mod actor;
mod call;
mod config;
mod durable;
mod error;
mod http;
mod import;
mod install;
mod launch;
mod log;
mod manifest;
mod process;
mod registry;
mod secrets;
mod service;
mod status;
mod tools;

pub use actor::{Phase, Progress};
pub use call::Answer;
pub use config::{
    EnvVarConfig, HttpAuth, Limits, McpConfig, McpPackage, McpPackageType, McpSource, McpTransport,
    ToolPolicy, ToolSettings, UnreadableConfigEntry,
};
pub use error::{Code, Failure};
pub use import::{Import, ImportedServer, import};
pub use launch::inherited_environment;
pub use manifest::{
    INTERNAL_METHODS, InternalMethods, ManifestFolder, ManifestReport, ManifestTool, Origin, check_manifests,
    manifest_problems,
};
pub use registry::{Offer, RegistryEntry, search_registry};
pub use secrets::{FileSecrets, Keyring, MIN_SECRET_BYTES, Secret, SecretStore, best_secret_store};
pub use service::{McpService, SERVER_BACKOFF, Setup};
pub use status::{McpStatus, ServerProcessExit, ServerStatusDetails};
pub use tools::{Approval, Difference, OfferedTool, Tool, differences};
