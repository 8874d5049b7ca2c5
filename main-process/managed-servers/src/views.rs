//! Views for window and terminals, made from the state of the service.

use super::forms;
use mcp_client::{
    DefinitionDifference, ImportReport, ManagedServerConfig, ManagedServerStatus, ManagedServerTool,
    ManagedServersService, ManifestFolder, ManifestReport, ManifestTool, RegistryEntry, ToolApprovalState,
};
use shared_protocol::{
    Refusal, RefusalCode,
    managed_servers::{
        ImportedServerView, MAX_LOG_CHUNK_LINES, ManagedServersView, ManifestBrief, ManifestCredential,
        ManifestFolderBrief, ManifestToolBrief, RegistryOffer, RegistryServer, ServerBrief, ServerDetails,
        ServerId, ServerImportPreview, ServerLogChunk, ServerState, ToolApproval, ToolCallPolicy,
        ToolDefinitionChange, ToolView, UnreadableServer,
    },
    text::truncate_bytes,
};
use std::{
    collections::{BTreeMap, BTreeSet, hash_map::DefaultHasher},
    hash::{Hash as _, Hasher as _},
    time::{SystemTime, UNIX_EPOCH},
};
use uuid::Uuid;

/// The number of log lines that are shown with a server that starts, waits or has failed.
const LAST_LINES: usize = 6;
/// The length of a text in a change of a definition; longer ones are cut.
const MAX_CHANGE_BYTES: usize = 8 << 10;

/// Paths that stay the same as long as this process runs.
#[derive(Debug, Clone, Default)]
pub(super) struct ManagedServerPaths {
    pub(super) config_file: String,
    pub(super) registry: String,
}

/// The credentials of manifests that have a value in the store, as (manifest, credential).
pub(super) type StoredManifestCredentials = BTreeSet<(String, String)>;

pub(super) fn view(
    service: &ManagedServersService,
    places: &ManagedServerPaths,
    folders: &[ManifestFolder],
    credentials: &StoredManifestCredentials,
) -> ManagedServersView {
    let unreadable = service.unreadable().into_iter().map(|entry| UnreadableServer {
        name: entry.entry["name"].as_str().unwrap_or("without a name").to_owned(),
        reason: entry.reason,
    });
    let tools: BTreeMap<String, _> =
        service.manifest_tools().into_iter().map(|tool| (tool.exposed.clone(), tool)).collect();
    let policy = |tool: &ManifestTool| service.manifest_policy(tool);
    ManagedServersView {
        problem: None,
        servers: service.list().iter().map(|config| brief(service, config)).collect(),
        unreadable: unreadable.collect(),
        manifests: service
            .manifests()
            .into_iter()
            .map(|report| manifest(report, credentials, |name| tools.get(name).map(|tool| policy(tool))))
            .collect(),
        manifest_folders: folders.iter().map(folder).collect(),
        config_file: places.config_file.clone(),
        secrets_place: service.secrets_place(),
        registry: places.registry.clone(),
    }
}

fn folder(folder: &ManifestFolder) -> ManifestFolderBrief {
    ManifestFolderBrief { path: folder.path.display().to_string(), origin: folder.origin }
}

pub(super) fn brief(service: &ManagedServersService, config: &ManagedServerConfig) -> ServerBrief {
    let id = config.id;
    let details = service.details(id);
    let status = details.as_ref().map_or(ManagedServerStatus::Stopped, |details| details.status.clone());
    let offered = match &status {
        ManagedServerStatus::Running { tools } => tools.len() as u64,
        _ => 0,
    };
    let reason = match &status {
        ManagedServerStatus::Backoff { message, .. } | ManagedServerStatus::Error { message } => {
            Some(message.clone())
        }
        _ => details.as_ref().and_then(|details| Some(details.last_failure.as_ref()?.message.clone())),
    };
    let state = state(&status);
    let shows_lines =
        matches!(state, ServerState::Starting(_) | ServerState::Backoff { .. } | ServerState::Error);
    let lines = service.log(id).map(|(lines, _)| lines).filter(|_| shows_lines).unwrap_or_default();
    let last_lines = lines.get(lines.len().saturating_sub(LAST_LINES)..).unwrap_or_default().to_vec();
    let exit = details.as_ref().and_then(|details| details.exit);
    let mut brief = ServerBrief {
        id: ServerId(id.to_string()),
        slug: config.slug.clone(),
        name: config.name.clone(),
        enabled: config.enabled,
        kind: config.package.package_type,
        runs: forms::runs(config),
        state,
        reason,
        exit,
        last_lines,
        offered,
        tools: details.as_ref().map_or(0, |details| details.tools as u64),
        waiting: details.as_ref().map_or(0, |details| details.waiting as u64),
        protocol: details.as_ref().and_then(|details| details.protocol.clone()),
        calls_itself: details.and_then(|details| details.server),
        stamp: 0,
    };
    brief.stamp = stamp(service, config, &brief);
    brief
}

/// A hash of everything that the details show.
fn stamp(service: &ManagedServersService, config: &ManagedServerConfig, brief: &ServerBrief) -> u64 {
    let mut hasher = DefaultHasher::new();
    serde_json::to_string(config).unwrap_or_default().hash(&mut hasher);
    format!("{:?}", brief.state).hash(&mut hasher);
    brief.reason.hash(&mut hasher);
    for tool in service.tools(config.id) {
        (&tool.name, &tool.hash, tool.approval == ToolApprovalState::Approved).hash(&mut hasher);
    }
    hasher.finish()
}

/// Milliseconds since 1970.
fn unix_millis() -> u64 {
    SystemTime::now().duration_since(UNIX_EPOCH).map_or(0, |since| since.as_millis() as u64)
}

fn state(status: &ManagedServerStatus) -> ServerState {
    match status {
        ManagedServerStatus::Disabled => ServerState::Disabled,
        ManagedServerStatus::Stopped => ServerState::Stopped,
        ManagedServerStatus::Stopping => ServerState::Stopping,
        ManagedServerStatus::Starting { phase } => ServerState::Starting(*phase),
        ManagedServerStatus::Running { .. } => ServerState::Running,
        ManagedServerStatus::Backoff { attempt, retry_in_ms, .. } => {
            ServerState::Backoff { attempt: *attempt, retry_at: unix_millis().saturating_add(*retry_in_ms) }
        }
        ManagedServerStatus::NeedsApproval { .. } => ServerState::NeedsApproval,
        ManagedServerStatus::NeedsCredentials { missing } => {
            ServerState::NeedsCredentials { missing: missing.clone() }
        }
        ManagedServerStatus::Error { .. } => ServerState::Error,
    }
}

/// The details of a server. Reads the secret store, so it may take a moment.
pub(super) fn details(service: &ManagedServersService, id: Uuid) -> Result<ServerDetails, Refusal> {
    let config = service.get(id).ok_or_else(|| unknown(&id.to_string()))?;
    // A store that cannot be read is reported when the server starts; here no secret counts as set.
    let set = service.secrets_set(&config).unwrap_or_default();
    let mut tools: Vec<ToolView> = service.tools(id).iter().map(|shown| tool(shown, &config)).collect();
    tools.sort_by(|a, b| a.name.cmp(&b.name));
    Ok(ServerDetails { brief: brief(service, &config), form: forms::form(&config, &set), tools })
}

pub(super) fn unknown(named: &str) -> Refusal {
    Refusal::new(RefusalCode::NotFound, format!("There is no managed server {named:.64}."))
        .hint("Run `draftboard server list` to see all managed servers.")
}

fn tool(tool: &ManagedServerTool, config: &ManagedServerConfig) -> ToolView {
    let pretty = |value: &serde_json::Value| serde_json::to_string_pretty(value).unwrap_or_default();
    let settings = config.tools.get(&tool.name);
    let hints = tool.annotations.as_ref().and_then(serde_json::Value::as_object);
    let hints = hints.into_iter().flatten().filter(|(_, value)| value.is_boolean());
    ToolView {
        name: tool.name.clone(),
        exposed: tool.exposed.clone(),
        title: tool.title.clone(),
        description: tool.description.clone().unwrap_or_default(),
        input_schema: pretty(&tool.input_schema),
        output_schema: tool.output_schema.as_ref().map(pretty),
        hints: hints
            .map(|(name, value)| if *value == true { name.clone() } else { format!("not {name}") })
            .collect(),
        read_only: tool.read_only,
        hash: tool.hash.clone(),
        approval: match &tool.approval {
            ToolApprovalState::Approved => ToolApproval::Approved,
            ToolApprovalState::New => ToolApproval::New,
            ToolApprovalState::Changed { differences } => {
                ToolApproval::Changed(differences.iter().map(definition_change).collect())
            }
        },
        enabled: tool.enabled,
        policy: tool.policy,
        idle_ms: settings.and_then(|settings| settings.idle_ms),
        total_ms: settings.and_then(|settings| settings.total_ms),
    }
}

fn definition_change(difference: &DefinitionDifference) -> ToolDefinitionChange {
    let text = |value: &serde_json::Value| {
        let text = match value {
            serde_json::Value::String(text) => text.clone(),
            other => serde_json::to_string_pretty(other).unwrap_or_default(),
        };
        truncate_bytes(&text, MAX_CHANGE_BYTES)
    };
    ToolDefinitionChange {
        path: difference.path.clone(),
        before: difference.before.as_ref().map(text),
        after: difference.after.as_ref().map(text),
    }
}

pub(super) fn manifest(
    report: ManifestReport,
    credentials: &StoredManifestCredentials,
    policy: impl Fn(&str) -> Option<ToolCallPolicy>,
) -> ManifestBrief {
    let does = |name: &str| {
        let own = name.strip_prefix("draftboard_").unwrap_or(name);
        report.does.iter().find(|(tool, _)| tool == own).map(|(_, does)| does.clone()).unwrap_or_default()
    };
    let offered = report.tools.iter().map(|name| ManifestToolBrief {
        name: name.clone(),
        does: does(name),
        hidden: None,
        is_mistake: false,
        policy: policy(name).unwrap_or_default(),
    });
    let hidden = report.hidden.iter().map(|(name, why)| ManifestToolBrief {
        name: name.clone(),
        does: does(name),
        hidden: Some(why.clone()),
        is_mistake: report.mistakes.contains(name),
        policy: ToolCallPolicy::default(),
    });
    let id = report.id.clone().unwrap_or_default();
    let credential = |(credential, optional): &(String, bool)| ManifestCredential {
        id: credential.clone(),
        optional: *optional,
        set: credentials.contains(&(id.clone(), credential.clone())),
    };
    ManifestBrief {
        tools: offered.chain(hidden).collect(),
        credentials: report.credentials.iter().map(credential).collect(),
        path: report.path.display().to_string(),
        origin: report.origin,
        id: report.id,
        hash: report.hash,
        problem: report.problem,
        needs_approval: report.needs_approval,
    }
}

/// The lines of a log from a number on.
pub(super) fn log(service: &ManagedServersService, id: Uuid, from: u64) -> Option<ServerLogChunk> {
    let (lines, dropped) = service.log(id)?;
    let skipped = usize::try_from(from.saturating_sub(dropped)).unwrap_or(usize::MAX).min(lines.len());
    let lines: Vec<String> = lines.into_iter().skip(skipped).take(MAX_LOG_CHUNK_LINES).collect();
    Some(ServerLogChunk { first: dropped + skipped as u64, lines, dropped })
}

pub(super) fn import(import: &ImportReport, service: &ManagedServersService) -> ServerImportPreview {
    let known: BTreeSet<String> = service.list().into_iter().map(|config| config.name).collect();
    let server = |server: &mcp_client::ServerImport| {
        let set = server.secrets.iter().map(|(part, _)| part.clone()).collect();
        ImportedServerView {
            form: forms::form(&server.config, &set),
            runs: forms::runs(&server.config),
            notes: server.notes.clone(),
            known: known.contains(&server.config.name),
        }
    };
    ServerImportPreview {
        servers: import.servers.iter().map(server).collect(),
        refused: import.refused.clone(),
        skipped: import.skipped.clone(),
    }
}

pub(super) fn registry_server(entry: &RegistryEntry) -> RegistryServer {
    let offer = |offer: &mcp_client::RegistryLaunchOption| RegistryOffer {
        form: forms::form(&offer.config, &BTreeSet::new()),
        runs: forms::runs(&offer.config),
        required: offer.required.clone(),
    };
    RegistryServer {
        name: entry.name.clone(),
        description: entry.description.clone(),
        version: entry.version.clone(),
        deprecated: entry.deprecated,
        offers: entry.offers.iter().map(offer).collect(),
        unsupported: entry.unsupported.clone(),
    }
}
