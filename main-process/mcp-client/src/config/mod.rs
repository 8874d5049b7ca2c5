//! The configuration of a server: the contract's data model with Draftboard's additions. It holds references to
//! secrets, never their values.

mod limits;
mod store;
mod validate;

pub use limits::{ServerLimits, ToolSettings};
pub(crate) use store::ServerConfigStore;
pub use store::UnreadableConfigEntry;
pub(crate) use validate::{check, is_slug, slug_for};

use crate::secrets::secret_name;
use serde::{Deserialize, Serialize};
use serde_json::Value;
use shared_protocol::{Refusal, managed_servers::PackageKind};
use std::{collections::BTreeMap, path::PathBuf};
use uuid::Uuid;

#[serde_with::skip_serializing_none]
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ManagedServerConfig {
    #[serde(default = "Uuid::new_v4")]
    pub id: Uuid,
    pub name: String,
    /// The prefix of its exposed tool names. Derived once from the name and kept when the server is renamed, so that
    /// exposed names stay the same.
    #[serde(default)]
    pub slug: String,
    #[serde(default)]
    pub enabled: bool,
    #[serde(default)]
    pub source: ManagedServerSource,
    pub package: ServerPackage,
    pub transport: ManagedServerTransport,
    /// Passed as separate arguments, never through a shell.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub args: Vec<String>,
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub env_vars: BTreeMap<String, EnvVarConfig>,
    /// The values of a registry form. Kept for that form; not read here.
    #[serde(default, skip_serializing_if = "Value::is_null")]
    pub config: Value,
    /// The working directory; default: the user's home.
    pub folder: Option<PathBuf>,
    /// A person trusts the tool annotations of this server, such as `readOnlyHint`.
    #[serde(default)]
    pub trusted: bool,
    #[serde(default)]
    pub limits: ServerLimits,
    /// Keyed by the server's own tool name.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub tools: BTreeMap<String, ToolSettings>,
}

#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "type", rename_all = "snake_case")]
pub enum ManagedServerSource {
    Official {
        name: String,
        version: String,
    },
    Smithery {
        qualified_name: String,
    },
    #[default]
    Manual,
}

#[serde_with::skip_serializing_none]
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ServerPackage {
    #[serde(rename = "type")]
    pub package_type: PackageKind,
    /// Such as `@scope/package@1.2.3`, `package==1.2.3`, `image:tag`, a program, or a URL.
    pub identifier: String,
    /// One of `npx`; `uvx` or `venv`; `docker` or `podman`.
    pub runtime_hint: Option<String>,
    /// The program inside a PyPI package when its name differs from the package.
    pub command: Option<String>,
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "type", rename_all = "snake_case")]
pub enum ManagedServerTransport {
    Stdio,
    Http {
        url: String,
        #[serde(default, skip_serializing_if = "HttpAuth::is_none")]
        auth: HttpAuth,
    },
}

/// Authentication to an HTTP server. The secret store holds the secret.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "type", rename_all = "snake_case")]
pub enum HttpAuth {
    #[default]
    None,
    Bearer {
        secret_ref: String,
    },
    Header {
        name: String,
        secret_ref: String,
    },
}

impl HttpAuth {
    fn is_none(&self) -> bool {
        *self == Self::None
    }

    pub fn secret_ref(&self) -> Option<&str> {
        match self {
            Self::None => None,
            Self::Bearer { secret_ref } | Self::Header { secret_ref, .. } => Some(secret_ref),
        }
    }
}

/// An environment variable of the server.
#[serde_with::skip_serializing_none]
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct EnvVarConfig {
    #[serde(default)]
    pub name: String,
    /// The plain value of a variable that is not secret.
    pub value: Option<String>,
    /// The name of the secret in the secret store.
    pub secret_ref: Option<String>,
    #[serde(default)]
    pub is_secret: bool,
    #[serde(default)]
    pub required: bool,
    pub description: Option<String>,
}

impl EnvVarConfig {
    pub fn plain(name: &str, value: &str) -> Self {
        Self { name: name.to_owned(), value: Some(value.to_owned()), ..Self::default() }
    }

    pub fn secret(name: &str, secret_ref: &str) -> Self {
        Self {
            name: name.to_owned(),
            secret_ref: Some(secret_ref.to_owned()),
            is_secret: true,
            required: true,
            ..Self::default()
        }
    }
}

impl ManagedServerConfig {
    /// A local server over standard input and output.
    pub fn stdio(name: &str, package_type: PackageKind, identifier: &str) -> Self {
        let package = ServerPackage {
            package_type,
            identifier: identifier.to_owned(),
            runtime_hint: None,
            command: None,
        };
        Self::new(name, package, ManagedServerTransport::Stdio)
    }

    /// A server reached by URL.
    pub fn http(name: &str, url: &str, auth: HttpAuth) -> Self {
        let package = ServerPackage {
            package_type: PackageKind::Http,
            identifier: url.to_owned(),
            runtime_hint: None,
            command: None,
        };
        Self::new(name, package, ManagedServerTransport::Http { url: url.to_owned(), auth })
    }

    fn new(name: &str, package: ServerPackage, transport: ManagedServerTransport) -> Self {
        Self {
            id: Uuid::new_v4(),
            name: name.to_owned(),
            slug: String::new(),
            enabled: true,
            source: ManagedServerSource::Manual,
            package,
            transport,
            args: Vec::new(),
            env_vars: BTreeMap::new(),
            config: Value::Null,
            folder: None,
            trusted: false,
            limits: ServerLimits::default(),
            tools: BTreeMap::new(),
        }
    }

    /// Parses JSON that a person pasted or a form created. The error names the missing part.
    pub fn from_json(value: &Value) -> Result<Self, Refusal> {
        for (part, message) in [
            ("name", "Name is required"),
            ("package", "Package identifier required"),
            ("transport", "Transport required"),
        ] {
            if value.get(part).is_none_or(Value::is_null) {
                return Err(Refusal::validation(part, message));
            }
        }
        serde_json::from_value(value.clone()).map_err(|error| {
            Refusal::validation("config", format!("This is not a valid server configuration: {error}"))
        })
    }

    /// Makes a variable, or the URL as `auth`, refer to its own secret, whether or not the secret exists.
    pub fn refer_to_own_secret(&mut self, part: &str) {
        let reference = secret_name(self.id, part);
        match &mut self.transport {
            ManagedServerTransport::Http { auth, .. } if part == "auth" => match auth {
                HttpAuth::Header { secret_ref, .. } | HttpAuth::Bearer { secret_ref } => {
                    *secret_ref = reference
                }
                HttpAuth::None => *auth = HttpAuth::Bearer { secret_ref: reference },
            },
            _ => {
                let variable = self
                    .env_vars
                    .entry(part.to_owned())
                    .or_insert_with(|| EnvVarConfig::secret(part, &reference));
                variable.secret_ref = Some(reference);
                variable.is_secret = true;
                variable.value = None;
            }
        }
    }

    /// Returns whether a process started with `self` can keep running with `other`.
    pub(crate) fn launches_like(&self, other: &Self) -> bool {
        self.package == other.package
            && self.transport == other.transport
            && self.args == other.args
            && self.env_vars == other.env_vars
            && self.folder == other.folder
    }

    /// Returns every secret reference with the part that uses it and whether it is required.
    pub(crate) fn secret_refs(&self) -> impl Iterator<Item = (&str, &str, bool)> {
        let of_environment = self.env_vars.iter().filter_map(|(name, variable)| {
            variable.secret_ref.as_deref().map(|reference| (name.as_str(), reference, variable.required))
        });
        let of_transport = match &self.transport {
            ManagedServerTransport::Http { auth, .. } => auth.secret_ref(),
            ManagedServerTransport::Stdio => None,
        };
        of_environment.chain(of_transport.map(|reference| ("auth", reference, true)))
    }
}
