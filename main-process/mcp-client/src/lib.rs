//! The MCP service: managed servers, their tools and their secrets.
//!
//! Owns: the client side of the Model Context Protocol; no other crate knows it.
//! Must not know: boards, windows, Draftboard's own MCP surface, the user's folders. The caller provides paths, the
//! process spawner and the secret store.

mod actor;
mod call;
mod config;
mod durable;
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

pub use actor::CallProgress;
pub use call::ServerToolAnswer;
pub use config::{
    EnvVarConfig, HttpAuth, ManagedServerConfig, ManagedServerSource, ManagedServerTransport, ServerLimits,
    ServerPackage, ToolSettings, UnreadableConfigEntry,
};
pub use import::{ImportReport, ServerImport, import};
pub use launch::inherited_environment;
pub use manifest::{
    DraftboardMethods, INTERNAL_METHODS, ManifestFolder, ManifestReport, ManifestTool, check_manifests,
    manifest_problems,
};
pub use registry::{RegistryEntry, RegistryLaunchOption, search_registry};
pub use secrets::{FileSecrets, Keyring, MIN_SECRET_BYTES, Secret, SecretStore, best_secret_store};
pub use service::{ManagedServersService, ManagedServersSetup, SERVER_BACKOFF};
pub use status::{ManagedServerStatus, ServerStatusDetails};
pub use tools::{DefinitionDifference, ManagedServerTool, OfferedTool, ToolApprovalState, differences};
