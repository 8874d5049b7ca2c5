//! Tools declared in JSON files. An agent selects a tool by name; only the file decides what the tool does.

mod call;
mod check;
mod credentials;
mod folder;
mod format;
mod proxy;
mod script;
mod template;

pub(crate) use call::{ManifestCallDeps, ManifestCallOutcome};
pub use check::{INTERNAL_METHODS, check_manifests, manifest_problems};
pub(crate) use credentials::CredentialNamespace;
pub use folder::ManifestFolder;

use crate::tools::ToolSchema;
use format::{
    ManifestImplementation, ManifestText, ManifestToolSpec, ProxyImplementationSpec, ScriptImplementationSpec,
};
use serde::Serialize;
use serde_json::Value;
use sha2::{Digest as _, Sha256};
use shared_protocol::{Refusal, managed_servers::ManifestOrigin};
use std::{
    collections::{BTreeMap, BTreeSet},
    path::{Path, PathBuf},
    sync::Arc,
};

const VERSION: &str = "1.0.0";
const PREFIX: &str = "draftboard_";
const MAX_TOOL_NAME_CHARS: usize = 64;
const MAX_TIMEOUT_MS: u64 = 600_000;

/// Methods of Draftboard that manifests of type `internal` can call. No method changes anything.
pub trait DraftboardMethods: Send + Sync {
    fn has_method(&self, method: &str) -> bool;
    fn call(&self, method: &str, arguments: &Value) -> Result<Value, Refusal>;
}

/// The result of reading one manifest file.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct ManifestReport {
    pub path: PathBuf,
    pub origin: ManifestOrigin,
    pub id: Option<String>,
    /// SHA-256 of the file and of the program it runs. A person approves this hash.
    pub hash: Option<String>,
    /// The reason the whole file is disabled.
    pub problem: Option<String>,
    /// The file belongs to a workspace and is not approved in this form.
    pub needs_approval: bool,
    /// The exposed names of the offered tools.
    pub tools: Vec<String>,
    /// Hidden tools with the reason.
    pub hidden: Vec<(String, String)>,
    /// A description of each tool's call, keyed by the file's own tool name.
    pub does: Vec<(String, String)>,
    /// Required credentials, and whether each is optional.
    pub credentials: Vec<(String, bool)>,
    /// The program that the manifest runs. It may be outside the folder, and is part of the approval.
    pub entrypoint: Option<PathBuf>,
    /// Tools with mistakes, by the file's own names; tools that are hidden on purpose are not included.
    pub mistakes: Vec<String>,
    #[serde(skip)]
    pub(crate) keys: Option<CredentialNamespace>,
}

/// One tool of a manifest.
#[derive(Serialize)]
pub struct ManifestTool {
    pub exposed: String,
    pub name: String,
    pub title: Option<String>,
    pub description: Option<String>,
    pub input_schema: Value,
    pub output_schema: Option<Value>,
    pub annotations: Option<Value>,
    /// The file that declares the tool.
    pub path: PathBuf,
    pub origin: ManifestOrigin,
    /// A description of the call.
    pub does: String,
    /// The hash of the file. Decisions of a person about the tool apply only to this form of the file.
    pub hash: String,
    #[serde(skip)]
    manifest: String,
    #[serde(skip)]
    keys: CredentialNamespace,
    #[serde(skip)]
    target: ManifestToolTarget,
    #[serde(skip)]
    credentials: Vec<(String, bool)>,
    #[serde(skip)]
    input: ToolSchema,
    #[serde(skip)]
    output: Option<ToolSchema>,
}

enum ManifestToolTarget {
    Internal(String),
    Script { script: Arc<ScriptImplementationSpec>, entrypoint: PathBuf, digest: [u8; 32] },
    Proxy(Arc<ProxyImplementationSpec>),
    Upstream { server: String, tool: String },
}

impl ManifestTool {
    /// Returns whether the tool only reads: it calls an internal method.
    pub fn only_reads(&self) -> bool {
        matches!(self.target, ManifestToolTarget::Internal(_))
    }

    /// The slug of the server that receives the forwarded calls.
    pub fn server(&self) -> Option<&str> {
        match &self.target {
            ManifestToolTarget::Upstream { server, .. } => Some(server),
            _ => None,
        }
    }
}

/// All manifests as read at one point in time: a map from exposed names to tools.
#[derive(Default)]
pub(crate) struct LoadedManifests {
    pub(crate) reports: Vec<ManifestReport>,
    pub(crate) tools: BTreeMap<String, Arc<ManifestTool>>,
    /// Used ids with the file of each.
    ids: BTreeMap<String, PathBuf>,
}

/// The context for reading manifests.
pub(crate) struct ManifestContext<'a> {
    pub(crate) approved: &'a BTreeSet<String>,
    pub(crate) internal: &'a dyn DraftboardMethods,
    pub(crate) home: Option<&'a Path>,
}

/// Reads manifests as a service does, without calling anything. Each folder may also be a single file. Workspace
/// manifests need no approval here, because they are only inspected.
pub(crate) fn read_manifests(
    folders: &[ManifestFolder],
    internal: &dyn DraftboardMethods,
) -> Vec<ManifestReport> {
    let home = std::env::var_os("HOME").map(PathBuf::from);
    let reading = ManifestContext { approved: &BTreeSet::new(), internal, home: home.as_deref() };
    LoadedManifests::load(folders, &reading).reports
}

impl LoadedManifests {
    /// Reads all files again. An invalid file disables only itself; of two tools with the same name the first is
    /// kept.
    pub(crate) fn load(folders: &[ManifestFolder], reading: &ManifestContext<'_>) -> Self {
        let mut all = Self::default();
        for folder in folders {
            let found = folder::files(folder);
            for (path, bytes) in found.files {
                let report = all.read(path, folder, bytes, reading);
                all.reports.push(report);
            }
            if found.left_out > 0 {
                let problem = format!(
                    "{} more files are ignored: a folder can have at most {} manifests. Move some files away",
                    found.left_out,
                    folder::MAX_MANIFEST_FILES
                );
                let report = ManifestReport::new(folder.path.clone(), folder.origin);
                all.reports.push(ManifestReport { problem: Some(problem), ..report });
            }
        }
        all
    }

    fn read(
        &mut self,
        path: PathBuf,
        folder: &ManifestFolder,
        bytes: Result<Vec<u8>, String>,
        reading: &ManifestContext<'_>,
    ) -> ManifestReport {
        let origin = folder.origin;
        let mut report = ManifestReport::new(path.clone(), origin);
        let read = bytes.and_then(|bytes| parse(&bytes).map(|manifest| (manifest, bytes)));
        let (manifest, bytes) = match read {
            Ok(read) => read,
            Err(problem) => return ManifestReport { problem: Some(problem), ..report },
        };
        report.id = Some(manifest.id.clone());
        // Data stored under an id must have one owner.
        if let Some(other) = self.ids.get(&manifest.id) {
            let problem =
                format!("{} already uses the id {}: choose another id", other.display(), manifest.id);
            return ManifestReport { problem: Some(problem), ..report };
        }
        self.ids.insert(manifest.id.clone(), path.clone());
        let keys = CredentialNamespace::new(folder, &manifest.id);
        report.keys = Some(keys.clone());
        if let ManifestImplementation::Script(script) = &manifest.implementation {
            report.entrypoint = Some(script::entrypoint(script, &path, reading.home));
        }
        let implementation = match prepare(&manifest, &path, reading) {
            Ok(implementation) => implementation,
            Err(problem) => return ManifestReport { problem: Some(problem), ..report },
        };
        let hash = hash_of(&bytes, &implementation);
        report.needs_approval = origin == ManifestOrigin::Workspace && !reading.approved.contains(&hash);
        report.credentials = credentials::merge_requirements(
            &manifest.requires.credentials,
            manifest.tools.iter().flat_map(|tool| &tool.requires.credentials),
        );
        report.hash = Some(hash.clone());
        let file = ManifestFileContext { manifest: &manifest, path: &path, origin, hash: &hash, keys: &keys };
        for text in &manifest.tools {
            let made = build_tool(&file, text, &implementation, reading);
            if let Ok(tool) = &made {
                report.does.push((tool.name.clone(), tool.does.clone()));
            }
            let refused = match made {
                Err(HiddenToolReason::Intended(reason)) => reason,
                Err(HiddenToolReason::Mistake(reason)) => {
                    report.mistakes.push(text.name.clone());
                    reason
                }
                Ok(_) if report.needs_approval => "the file is not approved yet".to_owned(),
                Ok(tool) => match self.tools.get(&tool.exposed) {
                    Some(other) => {
                        report.mistakes.push(text.name.clone());
                        format!("{} already has a tool with this name", other.path.display())
                    }
                    None => {
                        report.tools.push(tool.exposed.clone());
                        self.tools.insert(tool.exposed.clone(), Arc::new(tool));
                        continue;
                    }
                },
            };
            report.hidden.push((text.name.clone(), refused));
        }
        report
    }
}

impl ManifestReport {
    fn new(path: PathBuf, origin: ManifestOrigin) -> Self {
        Self {
            path,
            origin,
            id: None,
            hash: None,
            problem: None,
            needs_approval: false,
            tools: Vec::new(),
            hidden: Vec::new(),
            does: Vec::new(),
            credentials: Vec::new(),
            entrypoint: None,
            mistakes: Vec::new(),
            keys: None,
        }
    }
}

/// The reason a tool is hidden.
enum HiddenToolReason {
    /// Intended by the file, or unsupported by this system.
    Intended(String),
    /// The tool should be offered and has a mistake.
    Mistake(String),
}

impl From<String> for HiddenToolReason {
    fn from(reason: String) -> Self {
        Self::Mistake(reason)
    }
}

fn parse(bytes: &[u8]) -> Result<ManifestText, String> {
    let manifest: ManifestText = serde_json::from_slice(bytes).map_err(|error| error.to_string())?;
    if manifest.manifest_version.as_deref().is_some_and(|version| version != VERSION) {
        return Err(format!("manifest_version must be {VERSION}"));
    }
    let plain = |c: char| c.is_ascii_alphanumeric() || "._-".contains(c);
    if manifest.id.is_empty() || manifest.id.len() > MAX_TOOL_NAME_CHARS || !manifest.id.chars().all(plain) {
        return Err("id must have 1 to 64 letters, digits, dots, hyphens or underscores".to_owned());
    }
    if manifest.tools.is_empty() {
        return Err("tools is empty".to_owned());
    }
    let os = &manifest.compatibility.os;
    if !os.is_empty() && !os.iter().any(|os| os == std::env::consts::OS) {
        return Err(format!("compatibility.os allows only {}", os.join(", ")));
    }
    Ok(manifest)
}

/// The validated implementation that all tools of a file share.
enum PreparedImplementation<'a> {
    Internal(&'a BTreeMap<String, String>),
    Script { script: Arc<ScriptImplementationSpec>, entrypoint: PathBuf, digest: [u8; 32] },
    Proxy(Arc<ProxyImplementationSpec>),
    Upstream(&'a format::ManagedServerImplementationSpec),
}

fn prepare<'a>(
    manifest: &'a ManifestText,
    path: &Path,
    reading: &ManifestContext<'_>,
) -> Result<PreparedImplementation<'a>, String> {
    let in_time = |timeout: Option<u64>| match timeout {
        Some(timeout) if !(1..=MAX_TIMEOUT_MS).contains(&timeout) => {
            Err(format!("timeoutMs must be between 1 and {MAX_TIMEOUT_MS}"))
        }
        _ => Ok(()),
    };
    match &manifest.implementation {
        ManifestImplementation::Internal(internal) => Ok(PreparedImplementation::Internal(&internal.methods)),
        ManifestImplementation::Upstream(upstream) => Ok(PreparedImplementation::Upstream(upstream)),
        ManifestImplementation::Proxy(proxy) => {
            in_time(proxy.timeout_ms)?;
            proxy::check(proxy)?;
            Ok(PreparedImplementation::Proxy(Arc::new(proxy.clone())))
        }
        ManifestImplementation::Script(script) => {
            in_time(script.timeout_ms)?;
            if !script::RUNTIMES.contains(&script.runtime.as_str()) {
                return Err(format!("runtime must be one of {}", script::RUNTIMES.join(", ")));
            }
            let entrypoint = script::entrypoint(script, path, reading.home);
            let digest = folder::digest(&entrypoint)?;
            Ok(PreparedImplementation::Script { script: Arc::new(script.clone()), entrypoint, digest })
        }
    }
}

fn hash_of(bytes: &[u8], implementation: &PreparedImplementation<'_>) -> String {
    let mut hash = Sha256::new();
    hash.update(Sha256::digest(bytes));
    if let PreparedImplementation::Script { digest, .. } = implementation {
        hash.update(digest);
    }
    hash.finalize().iter().map(|byte| format!("{byte:02x}")).collect()
}

/// The file that declares a tool.
struct ManifestFileContext<'a> {
    manifest: &'a ManifestText,
    path: &'a Path,
    origin: ManifestOrigin,
    hash: &'a str,
    keys: &'a CredentialNamespace,
}

/// Returns the tool, or the reason it is hidden.
fn build_tool(
    file: &ManifestFileContext<'_>,
    text: &ManifestToolSpec,
    implementation: &PreparedImplementation<'_>,
    reading: &ManifestContext<'_>,
) -> Result<ManifestTool, HiddenToolReason> {
    let ManifestFileContext { manifest, path, origin, hash, keys } = *file;
    if !text.is_exposed() {
        return Err(HiddenToolReason::Intended("mcpExpose is not true".to_owned()));
    }
    let exposed = format!("{PREFIX}{}", text.name);
    let legal = text.name.starts_with(|c: char| c.is_ascii_alphabetic())
        && text.name.chars().all(|c| c.is_ascii_alphanumeric() || c == '_');
    if !legal || exposed.len() > MAX_TOOL_NAME_CHARS {
        let reason =
            "name must be a letter followed by letters, digits and underscores, at most 53 characters";
        return Err(HiddenToolReason::Mistake(reason.to_owned()));
    }
    let permissions = manifest.requires.permissions.iter().chain(&text.requires.permissions);
    if let Some(needed) = permissions.into_iter().find(|permission| !permission.optional) {
        let reason = format!("it requires the permission {}, which Draftboard does not support", needed.name);
        return Err(HiddenToolReason::Intended(reason));
    }
    let (target, does) = target(text, implementation, reading)?;
    let schema = |schema: &Value, which: &str| {
        ToolSchema::new(schema).map_err(|error| format!("invalid {which} schema: {error}"))
    };
    Ok(ManifestTool {
        exposed,
        name: text.name.clone(),
        title: text.title.clone(),
        description: text.description.clone(),
        input: schema(&text.input_schema, "input")?,
        output: text.output_schema.as_ref().map(|output| schema(output, "output")).transpose()?,
        input_schema: text.input_schema.clone(),
        output_schema: text.output_schema.clone(),
        annotations: text.annotations.clone(),
        path: path.to_owned(),
        origin,
        does,
        hash: hash.to_owned(),
        manifest: manifest.id.clone(),
        keys: keys.clone(),
        target,
        credentials: credentials::merge_requirements(
            &manifest.requires.credentials,
            &text.requires.credentials,
        ),
    })
}

fn target(
    text: &ManifestToolSpec,
    implementation: &PreparedImplementation<'_>,
    reading: &ManifestContext<'_>,
) -> Result<(ManifestToolTarget, String), String> {
    let name = &text.name;
    let unbound = || "the implementation has no binding for it".to_owned();
    match implementation {
        PreparedImplementation::Internal(methods) => {
            let method = methods.get(name).ok_or_else(unbound)?;
            if !reading.internal.has_method(method) {
                return Err(format!("Draftboard has no method {method}"));
            }
            Ok((
                ManifestToolTarget::Internal(method.clone()),
                format!("calls the Draftboard method {method}"),
            ))
        }
        PreparedImplementation::Script { script, entrypoint, digest } => {
            script.tool_bindings.get(name).ok_or_else(unbound)?;
            let does = format!("runs {} {}", script.runtime, entrypoint.display());
            Ok((
                ManifestToolTarget::Script {
                    script: script.clone(),
                    entrypoint: entrypoint.clone(),
                    digest: *digest,
                },
                does,
            ))
        }
        PreparedImplementation::Proxy(proxy) => {
            let binding = proxy.tool_bindings.get(name).ok_or_else(unbound)?;
            let does =
                format!("sends {} {}{}", binding.method, proxy.base_url.trim_end_matches('/'), binding.path);
            Ok((ManifestToolTarget::Proxy(proxy.clone()), does))
        }
        PreparedImplementation::Upstream(upstream) => {
            let tool = upstream.tools.get(name).ok_or_else(unbound)?;
            let does = format!("calls {tool} on {}", upstream.server);
            Ok((ManifestToolTarget::Upstream { server: upstream.server.clone(), tool: tool.clone() }, does))
        }
    }
}
