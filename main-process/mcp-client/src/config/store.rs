//! The configuration file `upstreams.json`: servers and approved tool definitions. Every change is written to disk
//! before it is visible in memory.

use super::ManagedServerConfig;
use crate::{durable, tools::ApprovedDefinition};
use serde::{Deserialize, Serialize};
use serde_json::Value;
use sha2::{Digest as _, Sha256};
use shared_protocol::{Refusal, RefusalCode, managed_servers::ToolCallPolicy};
use std::{
    collections::{BTreeMap, BTreeSet},
    path::{Path, PathBuf},
    sync::{Arc, Mutex, MutexGuard, PoisonError},
    time::SystemTime,
};
use uuid::Uuid;

const VERSION: u32 = 1;
const MAX_CONFIG_FILE_BYTES: u64 = 32 << 20;
const MAX_SERVERS: usize = 256;

#[derive(Serialize, Deserialize)]
struct ServerConfigFileText {
    version: u32,
    #[serde(default)]
    servers: Vec<Value>,
    /// Approved definitions, keyed by server and by the server's own tool name.
    #[serde(default)]
    approved: BTreeMap<Uuid, BTreeMap<String, Value>>,
    /// Hashes of approved workspace manifests.
    #[serde(default)]
    approved_manifests: BTreeSet<String>,
    /// Policies of manifest tools, keyed by exposed name, each for one form of the file.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    manifest_tools: BTreeMap<String, ManifestToolSetting>,
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
struct ManifestToolSetting {
    hash: String,
    policy: ToolCallPolicy,
}

/// An entry that cannot be parsed. It stays in the file unchanged.
#[derive(Debug, Clone, PartialEq)]
pub struct UnreadableConfigEntry {
    pub entry: Value,
    pub reason: String,
}

#[derive(Clone, Default)]
pub(crate) struct ServerConfigContents {
    servers: BTreeMap<Uuid, Arc<ManagedServerConfig>>,
    approved: BTreeMap<Uuid, BTreeMap<String, Arc<ApprovedDefinition>>>,
    approved_manifests: BTreeSet<String>,
    manifest_tools: BTreeMap<String, ManifestToolSetting>,
    unreadable: Vec<UnreadableConfigEntry>,
    /// The digest of the file that these contents were read from or written to.
    digest: Option<[u8; 32]>,
}

pub(crate) struct ServerConfigStore {
    path: PathBuf,
    contents: Mutex<ServerConfigContents>,
    /// Modification time and size at the last check, because reading the whole file each time would be too slow.
    last_checked: Mutex<Option<(SystemTime, u64)>>,
}

impl ServerConfigStore {
    /// Opens the file. An unreadable file is an error and stays unchanged; a single invalid entry is set aside.
    pub(crate) fn open(path: &Path) -> Result<Self, Refusal> {
        let contents = Mutex::new(read(path, bytes_of(path)?)?);
        Ok(Self { path: path.to_owned(), contents, last_checked: Mutex::default() })
    }

    /// Loads changes written by another Draftboard process of the same user. Returns whether there were any.
    pub(crate) fn refresh(&self) -> Result<bool, Refusal> {
        let about = std::fs::metadata(&self.path).ok();
        let looks = about.and_then(|about| Some((about.modified().ok()?, about.len())));
        let before =
            std::mem::replace(&mut *self.last_checked.lock().unwrap_or_else(PoisonError::into_inner), looks);
        if before == looks {
            return Ok(false);
        }
        let mut contents = self.lock_contents();
        match self.read_newer(&contents)? {
            Some(newer) => *contents = newer,
            None => return Ok(false),
        }
        Ok(true)
    }

    fn read_newer(&self, contents: &ServerConfigContents) -> Result<Option<ServerConfigContents>, Refusal> {
        let bytes = bytes_of(&self.path)?;
        if digest(bytes.as_deref()) == contents.digest {
            return Ok(None);
        }
        read(&self.path, bytes).map(Some)
    }

    pub(crate) fn list(&self) -> Vec<Arc<ManagedServerConfig>> {
        let mut servers: Vec<_> = self.lock_contents().servers.values().cloned().collect();
        servers.sort_by(|a, b| (&a.name, a.id).cmp(&(&b.name, b.id)));
        servers
    }

    pub(crate) fn get(&self, id: Uuid) -> Option<Arc<ManagedServerConfig>> {
        self.lock_contents().servers.get(&id).cloned()
    }

    pub(crate) fn by_slug(&self, slug: &str) -> Option<Arc<ManagedServerConfig>> {
        self.lock_contents().servers.values().find(|config| config.slug == slug).cloned()
    }

    pub(crate) fn unreadable(&self) -> Vec<UnreadableConfigEntry> {
        self.lock_contents().unreadable.clone()
    }

    /// Returns the approved definition of a tool.
    pub(crate) fn approved_definition(&self, id: Uuid, tool: &str) -> Option<Arc<ApprovedDefinition>> {
        self.lock_contents().approved.get(&id)?.get(tool).cloned()
    }

    pub(crate) fn approved(&self, id: Uuid) -> BTreeMap<String, Arc<ApprovedDefinition>> {
        self.lock_contents().approved.get(&id).cloned().unwrap_or_default()
    }

    pub(crate) fn insert(&self, config: ManagedServerConfig) -> Result<Arc<ManagedServerConfig>, Refusal> {
        let config = Arc::new(config);
        self.update(|contents| {
            if contents.servers.len() >= MAX_SERVERS && !contents.servers.contains_key(&config.id) {
                let message =
                    format!("Draftboard can manage at most {MAX_SERVERS} servers: remove one first");
                return Err(Refusal::new(RefusalCode::LimitExceeded, message));
            }
            contents.servers.insert(config.id, config.clone());
            Ok(())
        })?;
        Ok(config)
    }

    pub(crate) fn remove(&self, id: Uuid) -> Result<(), Refusal> {
        self.update(|contents| {
            contents.servers.remove(&id);
            contents.approved.remove(&id);
            Ok(())
        })
    }

    pub(crate) fn approve(
        &self,
        id: Uuid,
        tools: Vec<(String, Arc<ApprovedDefinition>)>,
    ) -> Result<(), Refusal> {
        self.update(|contents| {
            contents.approved.entry(id).or_default().extend(tools);
            Ok(())
        })
    }

    pub(crate) fn withdraw(&self, id: Uuid, tool: &str) -> Result<(), Refusal> {
        self.update(|contents| {
            contents.approved.entry(id).or_default().remove(tool);
            Ok(())
        })
    }

    pub(crate) fn approved_manifests(&self) -> BTreeSet<String> {
        self.lock_contents().approved_manifests.clone()
    }

    pub(crate) fn approve_manifest(&self, hash: &str) -> Result<(), Refusal> {
        self.update(|contents| {
            contents.approved_manifests.insert(hash.to_owned());
            Ok(())
        })
    }

    /// Returns the policy of a manifest tool for this form of the file. Returns `None` when the file has changed.
    pub(crate) fn manifest_policy(&self, tool: &str, hash: &str) -> Option<ToolCallPolicy> {
        let contents = self.lock_contents();
        contents.manifest_tools.get(tool).filter(|setting| setting.hash == hash).map(|setting| setting.policy)
    }

    pub(crate) fn set_manifest_policy(
        &self,
        tool: &str,
        hash: &str,
        policy: ToolCallPolicy,
    ) -> Result<(), Refusal> {
        self.update(|contents| {
            let setting = ManifestToolSetting { hash: hash.to_owned(), policy };
            contents.manifest_tools.insert(tool.to_owned(), setting);
            Ok(())
        })
    }

    /// Writes the change to disk, then updates memory.
    fn update(
        &self,
        edit: impl FnOnce(&mut ServerConfigContents) -> Result<(), Refusal>,
    ) -> Result<(), Refusal> {
        let mut contents = self.lock_contents();
        // Merges into the current file, because another Draftboard process of the same user may have written it.
        let _held = durable::lock(&self.path).map_err(|error| self.write_error(&error))?;
        let mut next = match self.read_newer(&contents)? {
            Some(newer) => newer,
            None => contents.clone(),
        };
        edit(&mut next)?;
        let unreadable = next.unreadable.iter().map(|entry| Ok(entry.entry.clone()));
        let servers =
            next.servers.values().map(|config| serde_json::to_value(config.as_ref())).chain(unreadable);
        let approved = next.approved.iter().map(|(id, tools)| {
            (*id, tools.iter().map(|(name, definition)| (name.clone(), definition.value.clone())).collect())
        });
        let written = servers
            .collect::<Result<Vec<_>, _>>()
            .and_then(|servers| {
                let approved_manifests = next.approved_manifests.clone();
                let approved = approved.collect();
                let manifest_tools = next.manifest_tools.clone();
                serde_json::to_vec_pretty(&ServerConfigFileText {
                    version: VERSION,
                    servers,
                    approved,
                    approved_manifests,
                    manifest_tools,
                })
            })
            .map_err(std::io::Error::from)
            .and_then(|bytes| safe_fs::write_private(&self.path, &bytes).map(|()| digest(Some(&bytes))));
        next.digest = written.map_err(|error| self.write_error(&error))?;
        *contents = next;
        Ok(())
    }

    fn write_error(&self, error: &std::io::Error) -> Refusal {
        let message = format!("Writing {} failed: {error}. Nothing was changed.", self.path.display());
        Refusal::new(RefusalCode::Internal, message)
    }

    fn lock_contents(&self) -> MutexGuard<'_, ServerConfigContents> {
        // A poisoned lock is safe here, because the contents are replaced as a whole.
        self.contents.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

fn damaged_error(path: &Path, why: &str) -> Refusal {
    let message = format!("Reading {} failed: {why}. Repair or move the file, then restart.", path.display());
    Refusal::new(RefusalCode::Internal, message)
}

fn bytes_of(path: &Path) -> Result<Option<Vec<u8>>, Refusal> {
    durable::read(path, MAX_CONFIG_FILE_BYTES).map_err(|error| damaged_error(path, &error.to_string()))
}

fn digest(bytes: Option<&[u8]>) -> Option<[u8; 32]> {
    bytes.map(|bytes| Sha256::digest(bytes).into())
}

fn read(path: &Path, bytes: Option<Vec<u8>>) -> Result<ServerConfigContents, Refusal> {
    let mut contents =
        ServerConfigContents { digest: digest(bytes.as_deref()), ..ServerConfigContents::default() };
    let Some(bytes) = bytes else { return Ok(contents) };
    let file: ServerConfigFileText =
        serde_json::from_slice(&bytes).map_err(|error| damaged_error(path, &error.to_string()))?;
    if file.version != VERSION {
        let why =
            format!("the file has version {}, and this Draftboard supports version {VERSION}", file.version);
        return Err(damaged_error(path, &why));
    }
    for entry in file.servers {
        match read_entry(&entry, &contents.servers) {
            Ok(config) => {
                contents.servers.insert(config.id, Arc::new(config));
            }
            Err(reason) => contents.unreadable.push(UnreadableConfigEntry { entry, reason }),
        }
    }
    contents.approved_manifests = file.approved_manifests;
    contents.manifest_tools = file.manifest_tools;
    for (server, tools) in file.approved {
        let tools = tools
            .into_iter()
            .map(|(name, definition)| (name, Arc::new(ApprovedDefinition::new(definition))))
            .collect();
        contents.approved.insert(server, tools);
    }
    Ok(contents)
}

fn read_entry(
    entry: &Value,
    others: &BTreeMap<Uuid, Arc<ManagedServerConfig>>,
) -> Result<ManagedServerConfig, String> {
    let config: ManagedServerConfig =
        serde_json::from_value(entry.clone()).map_err(|error| error.to_string())?;
    super::check(&config).map_err(|failure| failure.message)?;
    if others.contains_key(&config.id) {
        return Err("another server has the same id".to_owned());
    }
    if !super::is_slug(&config.slug) || others.values().any(|other| other.slug == config.slug) {
        return Err("slug is missing, invalid or used by another server".to_owned());
    }
    Ok(config)
}

#[cfg(test)]
mod tests {
    use super::*;
    use shared_protocol::managed_servers::PackageKind;
    use std::os::unix::fs::PermissionsExt as _;

    fn server(slug: &str) -> ManagedServerConfig {
        let mut config = ManagedServerConfig::stdio(slug, PackageKind::Binary, "/bin/true");
        config.slug = slug.to_owned();
        config
    }

    #[test]
    fn what_was_written_is_there_again_and_private() {
        let folder = tempfile::tempdir().expect("a folder");
        let path = folder.path().join("deep/upstreams.json");
        let store = ServerConfigStore::open(&path).expect("no file is an empty one");
        let one = store.insert(server("one")).expect("writes");
        store
            .approve(one.id, vec![("echo".to_owned(), Arc::new(ApprovedDefinition::new(Value::from(1))))])
            .expect("writes");
        let again = ServerConfigStore::open(&path).expect("reads");
        assert_eq!(again.list(), vec![one.clone()]);
        assert_eq!(again.approved(one.id).len(), 1);
        assert_eq!(std::fs::metadata(&path).expect("there").permissions().mode() & 0o777, 0o600);
    }

    #[test]
    fn a_bad_entry_is_set_aside_and_kept_and_a_bad_file_is_left_alone() {
        let folder = tempfile::tempdir().expect("a folder");
        let path = folder.path().join("upstreams.json");
        let good = serde_json::to_value(server("good")).expect("plain data");
        let file = serde_json::json!({"version": 1, "servers": [good, {"name": "half"}]});
        std::fs::write(&path, file.to_string()).expect("writes");
        let store = ServerConfigStore::open(&path).expect("reads");
        assert_eq!((store.list().len(), store.unreadable().len()), (1, 1));
        store.insert(server("another")).expect("writes");
        assert_eq!(ServerConfigStore::open(&path).expect("reads").unreadable().len(), 1);

        std::fs::write(&path, "{").expect("writes");
        assert!(ServerConfigStore::open(&path).is_err());
        assert_eq!(std::fs::read(&path).expect("still there"), b"{");
    }

    #[test]
    fn what_another_draftboard_has_written_is_kept_and_seen() {
        let folder = tempfile::tempdir().expect("a folder");
        let path = folder.path().join("upstreams.json");
        let (one, other) =
            (ServerConfigStore::open(&path).expect("reads"), ServerConfigStore::open(&path).expect("reads"));
        one.insert(server("one")).expect("writes");
        other.insert(server("other")).expect("writes");
        assert_eq!(
            ServerConfigStore::open(&path).expect("reads").list().len(),
            2,
            "none has overwritten the other"
        );
        assert_eq!(one.list().len(), 1);
        assert!(one.refresh().expect("reads"));
        assert_eq!(one.list().len(), 2);
        assert!(!one.refresh().expect("reads"), "nothing new");
    }

    #[test]
    fn what_cannot_be_written_has_not_happened() {
        let folder = tempfile::tempdir().expect("a folder");
        let blocker = folder.path().join("file");
        std::fs::write(&blocker, "").expect("writes");
        let store = ServerConfigStore {
            path: blocker.join("upstreams.json"),
            contents: Mutex::default(),
            last_checked: Mutex::default(),
        };
        assert!(store.insert(server("one")).is_err());
        assert!(store.list().is_empty());
    }
}
