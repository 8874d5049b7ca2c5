//! The manifest format. Unknown keys are errors, because they may be misspelt keys that matter.

use serde::{Deserialize, Deserializer};
use serde_json::Value;
use std::collections::BTreeMap;

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct ManifestText {
    #[serde(default, alias = "manifestVersion")]
    pub(super) manifest_version: Option<String>,
    pub(super) id: String,
    #[serde(default, rename = "name")]
    _name: Option<String>,
    #[serde(default, rename = "description")]
    _description: Option<String>,
    #[serde(default, rename = "version")]
    _version: Option<String>,
    #[serde(default, rename = "category")]
    _category: Option<String>,
    #[serde(default)]
    pub(super) requires: ManifestRequirements,
    #[serde(default)]
    pub(super) compatibility: ManifestCompatibility,
    pub(super) tools: Vec<ManifestToolSpec>,
    pub(super) implementation: ManifestImplementation,
}

#[derive(Debug, Default, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub(super) struct ManifestRequirements {
    pub(super) credentials: Vec<CredentialSpec>,
    pub(super) permissions: Vec<PermissionSpec>,
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct CredentialSpec {
    pub(super) id: String,
    #[serde(default, rename = "provider")]
    _provider: Option<String>,
    #[serde(default, rename = "kind")]
    _kind: Option<String>,
    #[serde(default, rename = "scopes")]
    _scopes: Vec<String>,
    #[serde(default, rename = "description")]
    _description: Option<String>,
    #[serde(default)]
    pub(super) optional: bool,
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct PermissionSpec {
    pub(super) name: String,
    #[serde(default)]
    pub(super) optional: bool,
    #[serde(default, rename = "reason")]
    _reason: Option<String>,
}

#[derive(Debug, Default, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub(super) struct ManifestCompatibility {
    #[serde(rename = "mcpProtocol", alias = "mcp_protocol")]
    _protocol: Option<Value>,
    pub(super) os: Vec<String>,
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct ManifestToolSpec {
    pub(super) name: String,
    #[serde(default)]
    pub(super) title: Option<String>,
    #[serde(default)]
    pub(super) description: Option<String>,
    #[serde(alias = "input_schema", rename = "inputSchema")]
    pub(super) input_schema: Value,
    #[serde(default, alias = "output_schema", rename = "outputSchema")]
    pub(super) output_schema: Option<Value>,
    #[serde(default)]
    pub(super) annotations: Option<Value>,
    #[serde(default)]
    pub(super) requires: ManifestRequirements,
    #[serde(default, rename = "mcpExpose", deserialize_with = "any")]
    exposed: Option<Value>,
    #[serde(default, rename = "mcp_expose", deserialize_with = "any")]
    exposed_too: Option<Value>,
}

/// Keeps an explicit `null`, which differs from an absent key here.
fn any<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Option<Value>, D::Error> {
    Value::deserialize(deserializer).map(Some)
}

impl ManifestToolSpec {
    /// Returns whether the tool is exposed, in either spelling. Any value except `true` hides it, and so do two
    /// spellings that differ.
    pub(super) fn is_exposed(&self) -> bool {
        [&self.exposed, &self.exposed_too].into_iter().flatten().all(|value| *value == Value::Bool(true))
    }
}

#[derive(Debug)]
pub(super) enum ManifestImplementation {
    Internal(InternalImplementationSpec),
    Script(ScriptImplementationSpec),
    Proxy(ProxyImplementationSpec),
    Upstream(ManagedServerImplementationSpec),
}

/// Selected by `type`; the oldest manifests have none and are internal.
impl<'de> Deserialize<'de> for ManifestImplementation {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        use serde::de::Error;
        let mut value = Value::deserialize(deserializer)?;
        let kind = value.as_object_mut().and_then(|members| members.remove("type"));
        let read = match kind.as_ref().map(|kind| kind.as_str()) {
            None | Some(Some("internal")) => serde_json::from_value(value).map(Self::Internal),
            Some(Some("script")) => serde_json::from_value(value).map(Self::Script),
            Some(Some("proxy")) => serde_json::from_value(value).map(Self::Proxy),
            Some(Some("upstream")) => serde_json::from_value(value).map(Self::Upstream),
            _ => {
                return Err(D::Error::custom(
                    "implementation.type must be internal, script, proxy or upstream",
                ));
            }
        };
        read.map_err(|error| D::Error::custom(format!("implementation: {error}")))
    }
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct InternalImplementationSpec {
    #[serde(default, rename = "module")]
    _module: Option<String>,
    pub(super) methods: BTreeMap<String, String>,
}

#[derive(Debug, Clone, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub(super) struct ScriptImplementationSpec {
    pub(super) runtime: String,
    pub(super) entrypoint: String,
    #[serde(default)]
    pub(super) args: Vec<String>,
    #[serde(default)]
    pub(super) env: BTreeMap<String, String>,
    #[serde(alias = "tool_bindings")]
    pub(super) tool_bindings: BTreeMap<String, ScriptToolAction>,
    #[serde(default, alias = "timeout_ms")]
    pub(super) timeout_ms: Option<u64>,
}

#[derive(Debug, Clone, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub(super) struct ScriptToolAction {
    pub(super) action: String,
}

#[derive(Debug, Clone, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub(super) struct ProxyImplementationSpec {
    #[serde(alias = "base_url")]
    pub(super) base_url: String,
    #[serde(default)]
    pub(super) auth: Option<ProxyAuth>,
    #[serde(alias = "tool_bindings")]
    pub(super) tool_bindings: BTreeMap<String, ProxyBinding>,
    #[serde(default, alias = "timeout_ms")]
    pub(super) timeout_ms: Option<u64>,
}

#[derive(Debug, Clone, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub(super) struct ProxyAuth {
    pub(super) strategy: AuthStrategy,
    #[serde(alias = "credential_id")]
    pub(super) credential_id: String,
    #[serde(default, alias = "header_name")]
    pub(super) header_name: Option<String>,
    #[serde(default, alias = "query_param")]
    pub(super) query_param: Option<String>,
    #[serde(default, alias = "token_field")]
    pub(super) token_field: Option<String>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(super) enum AuthStrategy {
    #[serde(rename = "oauth2Bearer", alias = "bearer")]
    Bearer,
    #[serde(alias = "apikey")]
    ApiKeyHeader,
    ApiKeyQuery,
    Basic,
}

#[derive(Debug, Clone, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub(super) struct ProxyBinding {
    pub(super) method: String,
    pub(super) path: String,
    #[serde(default)]
    pub(super) query: BTreeMap<String, String>,
    #[serde(default, alias = "body_template")]
    pub(super) body_template: Option<Value>,
    #[serde(default)]
    pub(super) headers: BTreeMap<String, String>,
    #[serde(default, alias = "response_path")]
    pub(super) response_path: Option<String>,
}

#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct ManagedServerImplementationSpec {
    /// The slug of the server.
    pub(super) server: String,
    /// Maps the manifest's tool names to the server's own.
    pub(super) tools: BTreeMap<String, String>,
}
