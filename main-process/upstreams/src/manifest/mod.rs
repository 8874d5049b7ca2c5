//! Tools that people declare in JSON files. An agent chooses a name; what is behind the name is chosen by the file alone.

mod call;
mod check;
mod credentials;
mod folder;
mod format;
mod proxy;
mod script;
mod template;

pub(crate) use call::{Hands, Outcome};
pub use check::{INTERNAL_METHODS, check_manifests, manifest_problems};
pub(crate) use credentials::Keys;
pub use folder::{ManifestFolder, Origin};

use crate::tools::Schema;
use format::{Implementation, Manifest, Proxy, Script, ToolText};
use serde::Serialize;
use serde_json::Value;
use sha2::{Digest as _, Sha256};
use std::{
    collections::{BTreeMap, BTreeSet},
    path::{Path, PathBuf},
    sync::Arc,
};

const VERSION: &str = "1.0.0";
const PREFIX: &str = "draftboard_";
const LONGEST_NAME: usize = 64;
const LONGEST_TIMEOUT_MS: u64 = 600_000;

/// What Draftboard itself tells a manifest of the type `internal`. No method changes anything.
pub trait InternalMethods: Send + Sync {
    fn knows(&self, method: &str) -> bool;
    fn call(&self, method: &str, arguments: &Value) -> Result<Value, crate::Failure>;
}

/// How a file was read, for people.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct ManifestReport {
    pub path: PathBuf,
    pub origin: Origin,
    pub id: Option<String>,
    /// SHA-256 of the file and of the program it runs. A person approves this.
    pub hash: Option<String>,
    /// Why none of it is used.
    pub problem: Option<String>,
    /// It came with a workspace, and nobody has looked at it in this form.
    pub needs_approval: bool,
    /// What agents call.
    pub tools: Vec<String>,
    /// Tools that are not offered, and why.
    pub hidden: Vec<(String, String)>,
    /// What a call of each tool does or would do, in words, by the file's own name of the tool.
    pub does: Vec<(String, String)>,
    /// What it asks for, and whether it can do without.
    pub credentials: Vec<(String, bool)>,
    /// The program that it runs. It may stand outside the folder, and is a part of what is approved.
    pub entrypoint: Option<PathBuf>,
    /// What is wrong with single tools of it, by the file's own names: unlike what is hidden on purpose.
    pub mistakes: Vec<String>,
    #[serde(skip)]
    pub(crate) keys: Option<Keys>,
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
    /// The file it stands in.
    pub path: PathBuf,
    pub origin: Origin,
    /// What a call of it does, in words.
    pub does: String,
    /// Of the file that it stands in; what a person has said about the tool is about this form of it.
    pub hash: String,
    #[serde(skip)]
    manifest: String,
    #[serde(skip)]
    keys: Keys,
    #[serde(skip)]
    target: Target,
    #[serde(skip)]
    credentials: Vec<(String, bool)>,
    #[serde(skip)]
    input: Schema,
    #[serde(skip)]
    output: Option<Schema>,
}

enum Target {
    Internal(String),
    Script { script: Arc<Script>, entrypoint: PathBuf, digest: [u8; 32] },
    Proxy(Arc<Proxy>),
    Upstream { server: String, tool: String },
}

impl ManifestTool {
    /// It asks Draftboard itself, which only tells.
    pub fn only_reads(&self) -> bool {
        matches!(self.target, Target::Internal(_))
    }

    /// The slug of the server whose tool it passes calls on to.
    pub fn server(&self) -> Option<&str> {
        match &self.target {
            Target::Upstream { server, .. } => Some(server),
            _ => None,
        }
    }
}

/// All manifests as they were read at one time: the list from names that agents may call to what they do.
#[derive(Default)]
pub(crate) struct Manifests {
    pub(crate) reports: Vec<ManifestReport>,
    pub(crate) tools: BTreeMap<String, Arc<ManifestTool>>,
    /// Ids that are taken, and the file of each.
    ids: BTreeMap<String, PathBuf>,
}

/// What reading depends on.
pub(crate) struct Reading<'a> {
    pub(crate) approved: &'a BTreeSet<String>,
    pub(crate) internal: &'a dyn InternalMethods,
    pub(crate) home: Option<&'a Path>,
}

/// Reads manifests as a service would, and calls nothing. Each folder may also be a single file. Those of a workspace need
/// no approval here: they are looked at, not used.
pub(crate) fn read_manifests(
    folders: &[ManifestFolder],
    internal: &dyn InternalMethods,
) -> Vec<ManifestReport> {
    let home = std::env::var_os("HOME").map(PathBuf::from);
    let reading = Reading { approved: &BTreeSet::new(), internal, home: home.as_deref() };
    Manifests::load(folders, &reading).reports
}

impl Manifests {
    /// Reads all files anew. One that is wrong disables itself alone; of two tools with one name the first stays.
    pub(crate) fn load(folders: &[ManifestFolder], reading: &Reading<'_>) -> Self {
        let mut all = Self::default();
        for folder in folders {
            let found = folder::files(folder);
            for (path, bytes) in found.files {
                let report = all.read(path, folder, bytes, reading);
                all.reports.push(report);
            }
            if found.left_out > 0 {
                let problem = format!(
                    "{} more files here are not read: at most {} are. Move some away",
                    found.left_out,
                    folder::MOST_FILES
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
        reading: &Reading<'_>,
    ) -> ManifestReport {
        let origin = folder.origin;
        let mut report = ManifestReport::new(path.clone(), origin);
        let read = bytes.and_then(|bytes| parse(&bytes).map(|manifest| (manifest, bytes)));
        let (manifest, bytes) = match read {
            Ok(read) => read,
            Err(problem) => return ManifestReport { problem: Some(problem), ..report },
        };
        report.id = Some(manifest.id.clone());
        // What is kept under an id must have one owner.
        if let Some(other) = self.ids.get(&manifest.id) {
            let problem =
                format!("{} has the id {} already: give this one another", other.display(), manifest.id);
            return ManifestReport { problem: Some(problem), ..report };
        }
        self.ids.insert(manifest.id.clone(), path.clone());
        let keys = Keys::new(folder, &manifest.id);
        report.keys = Some(keys.clone());
        if let Implementation::Script(script) = &manifest.implementation {
            report.entrypoint = Some(script::entrypoint(script, &path, reading.home));
        }
        let implementation = match prepare(&manifest, &path, reading) {
            Ok(implementation) => implementation,
            Err(problem) => return ManifestReport { problem: Some(problem), ..report },
        };
        let hash = hash_of(&bytes, &implementation);
        report.needs_approval = origin == Origin::Workspace && !reading.approved.contains(&hash);
        report.credentials = credentials::wanted(
            &manifest.requires.credentials,
            manifest.tools.iter().flat_map(|tool| &tool.requires.credentials),
        );
        report.hash = Some(hash.clone());
        let file = InFile { manifest: &manifest, path: &path, origin, hash: &hash, keys: &keys };
        for text in &manifest.tools {
            let made = make(&file, text, &implementation, reading);
            if let Ok(tool) = &made {
                report.does.push((tool.name.clone(), tool.does.clone()));
            }
            let refused = match made {
                Err(NotOffered::Wanted(reason)) => reason,
                Err(NotOffered::Mistake(reason)) => {
                    report.mistakes.push(text.name.clone());
                    reason
                }
                Ok(_) if report.needs_approval => "nobody has approved this file yet".to_owned(),
                Ok(tool) => match self.tools.get(&tool.exposed) {
                    Some(other) => {
                        report.mistakes.push(text.name.clone());
                        format!("{} has a tool of this name already", other.path.display())
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
    fn new(path: PathBuf, origin: Origin) -> Self {
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

/// Why a tool is not offered.
enum NotOffered {
    /// The file says so, or this system has not what it needs.
    Wanted(String),
    /// It was meant to be offered, and cannot be.
    Mistake(String),
}

impl From<String> for NotOffered {
    fn from(reason: String) -> Self {
        Self::Mistake(reason)
    }
}

fn parse(bytes: &[u8]) -> Result<Manifest, String> {
    let manifest: Manifest = serde_json::from_slice(bytes).map_err(|error| error.to_string())?;
    if manifest.manifest_version.as_deref().is_some_and(|version| version != VERSION) {
        return Err(format!("manifest_version must be {VERSION}"));
    }
    let plain = |c: char| c.is_ascii_alphanumeric() || "._-".contains(c);
    if manifest.id.is_empty() || manifest.id.len() > LONGEST_NAME || !manifest.id.chars().all(plain) {
        return Err("the id must have 1 to 64 letters, digits, dots, hyphens or underscores".to_owned());
    }
    if manifest.tools.is_empty() {
        return Err("it has no tools".to_owned());
    }
    let os = &manifest.compatibility.os;
    if !os.is_empty() && !os.iter().any(|os| os == std::env::consts::OS) {
        return Err(format!("it is for {} only", os.join(", ")));
    }
    Ok(manifest)
}

/// What all tools of a file share.
enum Prepared<'a> {
    Internal(&'a BTreeMap<String, String>),
    Script { script: Arc<Script>, entrypoint: PathBuf, digest: [u8; 32] },
    Proxy(Arc<Proxy>),
    Upstream(&'a format::Upstream),
}

fn prepare<'a>(manifest: &'a Manifest, path: &Path, reading: &Reading<'_>) -> Result<Prepared<'a>, String> {
    let in_time = |timeout: Option<u64>| match timeout {
        Some(timeout) if !(1..=LONGEST_TIMEOUT_MS).contains(&timeout) => {
            Err(format!("timeoutMs must be between 1 and {LONGEST_TIMEOUT_MS}"))
        }
        _ => Ok(()),
    };
    match &manifest.implementation {
        Implementation::Internal(internal) => Ok(Prepared::Internal(&internal.methods)),
        Implementation::Upstream(upstream) => Ok(Prepared::Upstream(upstream)),
        Implementation::Proxy(proxy) => {
            in_time(proxy.timeout_ms)?;
            proxy::check(proxy)?;
            Ok(Prepared::Proxy(Arc::new(proxy.clone())))
        }
        Implementation::Script(script) => {
            in_time(script.timeout_ms)?;
            if !script::RUNTIMES.contains(&script.runtime.as_str()) {
                return Err(format!("the runtime must be one of {}", script::RUNTIMES.join(", ")));
            }
            let entrypoint = script::entrypoint(script, path, reading.home);
            let digest = folder::digest(&entrypoint)?;
            Ok(Prepared::Script { script: Arc::new(script.clone()), entrypoint, digest })
        }
    }
}

fn hash_of(bytes: &[u8], implementation: &Prepared<'_>) -> String {
    let mut hash = Sha256::new();
    hash.update(Sha256::digest(bytes));
    if let Prepared::Script { digest, .. } = implementation {
        hash.update(digest);
    }
    hash.finalize().iter().map(|byte| format!("{byte:02x}")).collect()
}

/// The file that a tool stands in.
struct InFile<'a> {
    manifest: &'a Manifest,
    path: &'a Path,
    origin: Origin,
    hash: &'a str,
    keys: &'a Keys,
}

/// The tool, or why it is not offered.
fn make(
    file: &InFile<'_>,
    text: &ToolText,
    implementation: &Prepared<'_>,
    reading: &Reading<'_>,
) -> Result<ManifestTool, NotOffered> {
    let InFile { manifest, path, origin, hash, keys } = *file;
    if !text.is_exposed() {
        return Err(NotOffered::Wanted("it is not exposed".to_owned()));
    }
    let exposed = format!("{PREFIX}{}", text.name);
    let legal = text.name.starts_with(|c: char| c.is_ascii_alphabetic())
        && text.name.chars().all(|c| c.is_ascii_alphanumeric() || c == '_');
    if !legal || exposed.len() > LONGEST_NAME {
        let reason =
            "its name must be a letter followed by letters, digits and underscores, 53 characters at most";
        return Err(NotOffered::Mistake(reason.to_owned()));
    }
    let permissions = manifest.requires.permissions.iter().chain(&text.requires.permissions);
    if let Some(needed) = permissions.into_iter().find(|permission| !permission.optional) {
        let reason = format!("it needs the permission {}, which this system does not have", needed.name);
        return Err(NotOffered::Wanted(reason));
    }
    let (target, does) = target(text, implementation, reading)?;
    let schema = |schema: &Value, which: &str| {
        Schema::new(schema).map_err(|error| format!("its {which} schema: {error}"))
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
        credentials: credentials::wanted(&manifest.requires.credentials, &text.requires.credentials),
    })
}

fn target(
    text: &ToolText,
    implementation: &Prepared<'_>,
    reading: &Reading<'_>,
) -> Result<(Target, String), String> {
    let name = &text.name;
    let unbound = || "nothing is bound to it".to_owned();
    match implementation {
        Prepared::Internal(methods) => {
            let method = methods.get(name).ok_or_else(unbound)?;
            if !reading.internal.knows(method) {
                return Err(format!("Draftboard has no method {method}"));
            }
            Ok((Target::Internal(method.clone()), format!("calls Draftboard's own {method}")))
        }
        Prepared::Script { script, entrypoint, digest } => {
            script.tool_bindings.get(name).ok_or_else(unbound)?;
            let does = format!("runs {} {}", script.runtime, entrypoint.display());
            Ok((
                Target::Script { script: script.clone(), entrypoint: entrypoint.clone(), digest: *digest },
                does,
            ))
        }
        Prepared::Proxy(proxy) => {
            let binding = proxy.tool_bindings.get(name).ok_or_else(unbound)?;
            let does =
                format!("asks {} {}{}", binding.method, proxy.base_url.trim_end_matches('/'), binding.path);
            Ok((Target::Proxy(proxy.clone()), does))
        }
        Prepared::Upstream(upstream) => {
            let tool = upstream.tools.get(name).ok_or_else(unbound)?;
            let does = format!("calls {tool} of {}", upstream.server);
            Ok((Target::Upstream { server: upstream.server.clone(), tool: tool.clone() }, does))
        }
    }
}
