//! Searches a server registry in the official format, given as a file or a URL. Its entries prefill forms; they are
//! data and start nothing.

use crate::{
    config::{EnvVarConfig, HttpAuth, ManagedServerConfig, ManagedServerSource},
    durable,
    http::{HttpClient, percent_encode, read},
};
use bytes::Bytes;
use http::{Request, header};
use http_body_util::Full;
use serde::{Deserialize, Serialize};
use serde_json::Value;
use shared_protocol::{Refusal, managed_servers::PackageKind};
use std::{
    collections::{BTreeMap, btree_map::Entry},
    path::Path,
    time::Duration,
};

const MAX_INDEX_BYTES: usize = 32 << 20;
const MAX_FETCH_TIME: Duration = Duration::from_secs(20);
const CONNECT: Duration = Duration::from_secs(10);
const MAX_RESULTS: usize = 100;

/// A server in a registry.
#[derive(Debug, Clone, Serialize)]
pub struct RegistryEntry {
    pub name: String,
    pub description: String,
    pub version: String,
    /// Its author marked it as deprecated.
    pub deprecated: bool,
    /// Supported ways to run the server, with configurations prefilled from the registry.
    pub offers: Vec<RegistryLaunchOption>,
    /// Ways to run the server that Draftboard does not support.
    pub unsupported: Vec<String>,
}

#[derive(Debug, Clone, Serialize)]
pub struct RegistryLaunchOption {
    pub config: ManagedServerConfig,
    /// Variables, or `auth`, that a person must provide before the server can be saved or started.
    pub required: Vec<String>,
}

/// Searches an index given as a path or a URL (`…/v0.1/servers`). Best matches first.
pub async fn search_registry(place: &str, query: &str) -> Result<Vec<RegistryEntry>, Refusal> {
    let bytes = if place.starts_with("http://") || place.starts_with("https://") {
        fetch(place, query).await?
    } else {
        let unreadable =
            |why: String| Refusal::not_found(format!("Reading {place} failed: {why}")).field("registry");
        let bytes = durable::read(Path::new(place), MAX_INDEX_BYTES as u64)
            .map_err(|error| unreadable(error.to_string()))?;
        Bytes::from(bytes.ok_or_else(|| unreadable("the file does not exist".to_owned()))?)
    };
    let index: RegistryIndex = serde_json::from_slice(&bytes).map_err(|error| {
        Refusal::unavailable(format!("{place} is not a valid registry index: {error}")).field("registry")
    })?;
    Ok(rank(&index, query))
}

async fn fetch(place: &str, query: &str) -> Result<Bytes, Refusal> {
    let offline = |why: String| {
        Refusal::network(format!(
            "The registry cannot be reached: {why}. Search a registry file instead, or try again later."
        ))
    };
    let joint = if place.contains('?') { '&' } else { '?' };
    let request = Request::get(format!("{place}{joint}search={}&limit={MAX_RESULTS}", percent_encode(query)))
        .header(header::ACCEPT, "application/json")
        .body(Full::default())
        .map_err(|error| Refusal::validation("registry", format!("{place} is not a valid URL: {error}")))?;
    let answered = tokio::time::timeout(MAX_FETCH_TIME, async {
        let client = HttpClient::new(CONNECT).map_err(|error| error.to_string())?;
        let response = client.send(request).await.map_err(|error| error.to_string())?;
        if !response.status().is_success() {
            return Err(format!("it returned HTTP {}", response.status()));
        }
        read(response.into_body(), MAX_INDEX_BYTES).await.map_err(|error| error.to_string())
    });
    answered
        .await
        .map_err(|_| offline(format!("it took longer than {} s", MAX_FETCH_TIME.as_secs())))?
        .map_err(offline)
}

#[derive(Deserialize)]
struct RegistryIndex {
    servers: Vec<Value>,
}

/// The registry's own metadata of an entry.
#[derive(Default, Deserialize)]
#[serde(default, rename_all = "camelCase")]
struct RegistryEntryMeta {
    status: Option<String>,
    is_latest: bool,
    published_at: String,
}

const ABOUT: &str = "io.modelcontextprotocol.registry/official";

#[derive(Deserialize)]
struct RegistryServerJson {
    name: String,
    #[serde(default)]
    status: Option<String>,
    #[serde(default)]
    description: String,
    #[serde(default)]
    version: String,
    #[serde(default)]
    packages: Vec<RegistryPackage>,
    #[serde(default)]
    remotes: Vec<RegistryRemote>,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct RegistryPackage {
    registry_type: String,
    identifier: String,
    #[serde(default)]
    version: Option<String>,
    #[serde(default)]
    transport: Option<RegistryTransport>,
    #[serde(default)]
    environment_variables: Vec<RegistryInput>,
    #[serde(default)]
    package_arguments: Vec<RegistryInput>,
}

#[derive(Deserialize)]
struct RegistryTransport {
    #[serde(rename = "type")]
    kind: String,
}

#[derive(Deserialize)]
struct RegistryRemote {
    #[serde(rename = "type")]
    kind: String,
    url: String,
    #[serde(default)]
    headers: Vec<RegistryInput>,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct RegistryInput {
    #[serde(default)]
    name: Option<String>,
    #[serde(default)]
    description: Option<String>,
    #[serde(default)]
    is_required: bool,
    #[serde(default)]
    is_secret: bool,
    #[serde(default)]
    value: Option<String>,
    #[serde(default)]
    default: Option<String>,
}

impl RegistryInput {
    fn value(&self) -> Option<&str> {
        self.value.as_deref().or(self.default.as_deref()).filter(|value| !value.contains('{'))
    }
}

/// One version of a server.
struct RegistryServerVersion {
    server: RegistryServerJson,
    meta: RegistryEntryMeta,
}

impl RegistryServerVersion {
    /// Returns `None` when the entry cannot be parsed.
    fn parse(entry: &Value) -> Option<Self> {
        let about = entry.get("_meta").and_then(|meta| meta.get(ABOUT)).cloned().unwrap_or_default();
        let about = serde_json::from_value(about).unwrap_or_default();
        let server = serde_json::from_value(entry.get("server").unwrap_or(entry).clone()).ok()?;
        Some(Self { server, meta: about })
    }

    fn status(&self) -> &str {
        self.meta.status.as_deref().or(self.server.status.as_deref()).unwrap_or("active")
    }

    /// Sort key; greater is newer: by the registry's latest mark, then by version number, then by publication date.
    fn age(&self) -> (bool, Vec<u64>, bool, &str) {
        let (release, extra) = match self.server.version.split_once(['-', '+']) {
            Some((release, extra)) => (release, Some(extra)),
            None => (self.server.version.as_str(), None),
        };
        let numbers = release.split('.').map(|part| part.trim_start_matches('v').parse().unwrap_or(0));
        (self.meta.is_latest, numbers.collect(), extra.is_none(), &self.meta.published_at)
    }
}

/// Ranks exact names first, then prefixes, then names that contain the query, then descriptions; ties by name.
/// Returns the newest version of each server that is not deleted, and ignores entries that cannot be parsed.
fn rank(index: &RegistryIndex, query: &str) -> Vec<RegistryEntry> {
    let query = query.trim().to_lowercase();
    let mut newest: BTreeMap<String, RegistryServerVersion> = BTreeMap::new();
    for version in index
        .servers
        .iter()
        .filter_map(RegistryServerVersion::parse)
        .filter(|version| version.status() != "deleted")
    {
        match newest.entry(version.server.name.clone()) {
            Entry::Occupied(mut known) if known.get().age() < version.age() => *known.get_mut() = version,
            Entry::Occupied(_) => {}
            Entry::Vacant(place) => {
                place.insert(version);
            }
        }
    }
    let mut ranked: Vec<(u8, RegistryServerVersion)> = Vec::new();
    for version in newest.into_values() {
        let name = version.server.name.to_lowercase();
        let short = name.rsplit('/').next().unwrap_or(&name);
        let rank = match () {
            () if name == query || short == query => 0,
            () if name.starts_with(&query) || short.starts_with(&query) => 1,
            () if name.contains(&query) => 2,
            () if version.server.description.to_lowercase().contains(&query) => 3,
            () => continue,
        };
        ranked.push((rank, version));
    }
    ranked.sort_by(|(a, one), (b, other)| (a, &one.server.name).cmp(&(b, &other.server.name)));
    let entries = ranked.into_iter().take(MAX_RESULTS).map(|(_, version)| RegistryEntry {
        deprecated: version.status() == "deprecated",
        ..entry(&version.server)
    });
    entries.collect()
}

fn entry(server: &RegistryServerJson) -> RegistryEntry {
    let short = server.name.rsplit('/').next().unwrap_or(&server.name);
    let (mut offers, mut unsupported) = (Vec::new(), Vec::new());
    for package in &server.packages {
        match from_package(short, package) {
            Some(offer) => offers.push(offer),
            None => unsupported.push(format!("{} {}", package.registry_type, package.identifier)),
        }
    }
    for remote in &server.remotes {
        match from_remote(short, remote) {
            Some(offer) => offers.push(offer),
            None => unsupported.push(format!("{} {}", remote.kind, remote.url)),
        }
    }
    for offer in &mut offers {
        offer.config.source =
            ManagedServerSource::Official { name: server.name.clone(), version: server.version.clone() };
        offer.config.enabled = false;
    }
    let (name, description, version) =
        (server.name.clone(), server.description.clone(), server.version.clone());
    RegistryEntry { name, description, version, deprecated: false, offers, unsupported }
}

fn from_package(name: &str, package: &RegistryPackage) -> Option<RegistryLaunchOption> {
    if package.transport.as_ref().is_some_and(|transport| transport.kind != "stdio") {
        return None;
    }
    // Pins the version; otherwise the program could change between starts.
    let pinned = |mark: &str| match &package.version {
        Some(version) if !package.identifier.contains(mark) || mark == "@" => {
            format!("{}{mark}{version}", package.identifier)
        }
        _ => package.identifier.clone(),
    };
    let (kind, identifier) = match package.registry_type.as_str() {
        "npm" => (PackageKind::Npm, pinned("@")),
        "pypi" => (PackageKind::Pypi, pinned("==")),
        "oci" => (
            PackageKind::Docker,
            if package.identifier.rsplit('/').next()?.contains(':') {
                package.identifier.clone()
            } else {
                pinned(":")
            },
        ),
        _ => return None,
    };
    let mut config = ManagedServerConfig::stdio(name, kind, &identifier);
    let mut required = Vec::new();
    for argument in &package.package_arguments {
        match (argument.value(), &argument.name) {
            (Some(value), Some(flag)) if flag.starts_with('-') => {
                config.args.extend([flag.clone(), value.to_owned()])
            }
            (Some(value), _) => config.args.push(value.to_owned()),
            (None, name) if argument.is_required => {
                required.push(format!("args.{}", name.as_deref().unwrap_or("value")))
            }
            _ => {}
        }
    }
    for variable in &package.environment_variables {
        let Some(name) = &variable.name else { continue };
        let value = variable.value().filter(|_| !variable.is_secret).map(str::to_owned);
        if variable.is_required && value.is_none() {
            required.push(name.clone());
        }
        let spec = EnvVarConfig {
            name: name.clone(),
            // Set by `ManagedServersService::create_with_secrets`; the configuration cannot be saved before.
            secret_ref: None,
            value,
            is_secret: variable.is_secret,
            required: variable.is_required,
            description: variable.description.clone(),
        };
        config.env_vars.insert(name.clone(), spec);
    }
    Some(RegistryLaunchOption { config, required })
}

fn from_remote(name: &str, remote: &RegistryRemote) -> Option<RegistryLaunchOption> {
    if remote.kind != "streamable-http" || remote.url.contains('{') || remote.headers.len() > 1 {
        return None;
    }
    let mut config = ManagedServerConfig::http(name, &remote.url, HttpAuth::None);
    let mut required = Vec::new();
    if let Some(header) = remote.headers.first() {
        let secret_ref = String::new();
        let named = header.name.clone()?;
        let auth = if named.eq_ignore_ascii_case("authorization") {
            HttpAuth::Bearer { secret_ref }
        } else {
            HttpAuth::Header { name: named, secret_ref }
        };
        required.push("auth".to_owned());
        config = ManagedServerConfig { id: config.id, ..ManagedServerConfig::http(name, &remote.url, auth) };
    }
    Some(RegistryLaunchOption { config, required })
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;
    use shared_protocol::RefusalCode;

    fn index() -> Value {
        json!({"servers": [
            {"server": {"name": "io.example/timer", "description": "Tells the time", "version": "2.0.0", "packages": [
                {"registryType": "npm", "identifier": "@example/timer", "version": "2.0.0", "transport": {"type": "stdio"},
                 "packageArguments": [{"type": "named", "name": "--zone", "value": "UTC"}, {"type": "positional", "isRequired": true}],
                 "environmentVariables": [{"name": "TIMER_KEY", "isRequired": true, "isSecret": true}, {"name": "MODE", "default": "fast"}]},
                {"registryType": "mcpb", "identifier": "x"}],
                "remotes": [{"type": "streamable-http", "url": "https://example.org/mcp", "headers": [{"name": "Authorization", "isSecret": true}]},
                            {"type": "sse", "url": "https://example.org/sse"}]}, "_meta": {}},
            {"server": {"name": "io.example/time", "description": "x", "version": "1", "packages": [{"registryType": "oci", "identifier": "ghcr.io/e/time", "version": "1.2"}]}},
            {"server": {"name": "io.example/clock", "description": "a time server", "packages": [{"registryType": "pypi", "identifier": "clock", "version": "3"}]}},
            {"server": {"description": "without a name"}},
            {"server": {"name": "io.example/other", "description": "nothing"}}
        ], "metadata": {"count": 5}})
    }

    #[tokio::test]
    async fn a_file_is_searched_and_the_form_filled_in() {
        let folder = tempfile::tempdir().expect("a folder");
        let path = folder.path().join("index.json");
        std::fs::write(&path, index().to_string()).expect("writes");
        let found = search_registry(path.to_str().expect("plain"), "Time").await.expect("an index");
        let names: Vec<&str> = found.iter().map(|entry| entry.name.as_str()).collect();
        assert_eq!(names, ["io.example/time", "io.example/timer", "io.example/clock"]);
        assert_eq!(found[0].offers[0].config.package.identifier, "ghcr.io/e/time:1.2");
        assert_eq!(found[2].offers[0].config.package.identifier, "clock==3");
        let timer = &found[1];
        assert_eq!(timer.unsupported, ["mcpb x", "sse https://example.org/sse"]);
        let (npm, web) = (&timer.offers[0], &timer.offers[1]);
        assert_eq!(npm.config.package.identifier, "@example/timer@2.0.0");
        assert_eq!(npm.config.args, ["--zone", "UTC"]);
        assert_eq!(npm.required, ["args.value", "TIMER_KEY"]);
        assert_eq!(npm.config.env_vars["MODE"].value.as_deref(), Some("fast"));
        assert!(
            matches!(&npm.config.source, ManagedServerSource::Official { version, .. } if version == "2.0.0")
        );
        assert_eq!(web.required, ["auth"]);
    }

    #[test]
    fn of_each_server_there_is_the_newest_version_that_was_not_deleted() {
        let entry = |name: &str, version: &str, about: Value| json!({"server": {"name": name, "version": version}, "_meta": {ABOUT: about}});
        let index = RegistryIndex {
            servers: vec![
                entry("a/clock", "1.9.0", json!({"status": "active"})),
                entry("a/clock", "1.10.0", json!({"status": "active"})),
                entry("a/clock", "1.10.0-beta", json!({"status": "active"})),
                entry("a/clock", "2.0.0", json!({"status": "deleted"})),
                entry("a/clock-old", "3", json!({"status": "deprecated"})),
                entry("a/clock-told", "1.0", json!({"isLatest": true})),
                entry("a/clock-told", "9.0", json!({"isLatest": false})),
                entry("a/clock-gone", "1", json!({"status": "deleted"})),
            ],
        };
        let found = rank(&index, "clock");
        let found: Vec<(&str, &str, bool)> = found
            .iter()
            .map(|entry| (entry.name.as_str(), entry.version.as_str(), entry.deprecated))
            .collect();
        assert_eq!(
            found,
            [("a/clock", "1.10.0", false), ("a/clock-old", "3", true), ("a/clock-told", "1.0", false)]
        );
    }

    #[tokio::test]
    async fn offline_and_nonsense_say_so() {
        let failure =
            search_registry("http://127.0.0.1:1/v0.1/servers", "x").await.expect_err("nobody there");
        assert_eq!(failure.code, RefusalCode::NetworkError);
        assert!(failure.message.contains("cannot be reached"), "{failure}");
        assert_eq!(
            search_registry("/no/such/file", "x").await.expect_err("no file").code,
            RefusalCode::NotFound
        );
    }
}
