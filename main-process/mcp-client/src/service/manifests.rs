//! Manifest tools of the service.

use super::ManagedServersService;
use crate::{
    actor::CallProgress,
    call::ServerToolAnswer,
    manifest::{
        CredentialNamespace, LoadedManifests, ManifestCallDeps, ManifestCallOutcome, ManifestContext,
        ManifestFolder, ManifestReport, ManifestTool,
    },
    secrets::Secret,
};
use serde_json::Value;
use shared_protocol::{Refusal, managed_servers::ToolCallPolicy};
use std::{
    path::PathBuf,
    sync::{Arc, PoisonError},
};
use tokio::sync::mpsc;

impl ManagedServersService {
    /// Reloads all manifests, at the start and whenever a file has changed. Running calls continue with the old ones.
    pub fn load_manifests(&self, folders: &[ManifestFolder]) -> Vec<ManifestReport> {
        let approved = self.store.approved_manifests();
        let home = self.deps.environment.iter().find(|(name, _)| name == "HOME");
        let home = home.map(|(_, home)| PathBuf::from(home));
        let reading =
            ManifestContext { approved: &approved, internal: &*self.internal, home: home.as_deref() };
        let loaded = Arc::new(LoadedManifests::load(folders, &reading));
        *self.manifests.lock().unwrap_or_else(PoisonError::into_inner) = loaded.clone();
        self.notify_changed();
        loaded.reports.clone()
    }

    pub fn manifests(&self) -> Vec<ManifestReport> {
        self.loaded_manifests().reports.clone()
    }

    /// Returns the offered tools, sorted by name.
    pub fn manifest_tools(&self) -> Vec<Arc<ManifestTool>> {
        self.loaded_manifests().tools.values().cloned().collect()
    }

    /// Approves a workspace manifest in exactly this form. Its tools are offered after the next
    /// [`Self::load_manifests`].
    pub fn approve_manifest(&self, hash: &str) -> Result<(), Refusal> {
        if !self.loaded_manifests().reports.iter().any(|report| report.hash.as_deref() == Some(hash)) {
            return Err(Refusal::conflict("The manifest has changed: review it again"));
        }
        self.store.approve_manifest(hash)
    }

    /// Returns the policy of a manifest tool. Read-only tools are allowed unless a person decided otherwise; a
    /// decision applies only to the form of the file at that time.
    pub fn manifest_policy(&self, tool: &ManifestTool) -> ToolCallPolicy {
        let usual = if tool.only_reads() { ToolCallPolicy::Allow } else { ToolCallPolicy::Ask };
        self.store.manifest_policy(&tool.exposed, &tool.hash).unwrap_or(usual)
    }

    pub fn set_manifest_policy(&self, exposed: &str, policy: ToolCallPolicy) -> Result<(), Refusal> {
        let tool = self.manifest_tool(exposed)?;
        self.store.set_manifest_policy(exposed, &tool.hash, policy)?;
        self.notify_changed();
        Ok(())
    }

    /// Returns a manifest tool by its exposed name.
    pub fn manifest_tool(&self, exposed: &str) -> Result<Arc<ManifestTool>, Refusal> {
        let found = self.loaded_manifests().tools.get(exposed).cloned();
        found.ok_or_else(|| Refusal::not_found(format!("Tool {exposed:.64} does not exist")).field("tool"))
    }

    /// Returns whether a credential has a value. A keyring may prompt the user first.
    pub fn has_manifest_secret(&self, manifest: &str, credential: &str) -> bool {
        let found = self.keys(manifest).and_then(|keys| self.deps.secrets.get(&keys.reference(credential)));
        found.is_ok_and(|secret| secret.is_some())
    }

    /// Stores a credential of a manifest: plain text, or a JSON object of fields.
    pub fn set_manifest_secret(
        &self,
        manifest: &str,
        credential: &str,
        secret: &Secret,
    ) -> Result<(), Refusal> {
        self.deps.secrets.set(&self.keys(manifest)?.reference(credential), secret)
    }

    fn keys(&self, manifest: &str) -> Result<CredentialNamespace, Refusal> {
        let loaded = self.loaded_manifests();
        let found = loaded.reports.iter().filter(|report| report.id.as_deref() == Some(manifest));
        let found = found.filter_map(|report| report.keys.clone()).next();
        found.ok_or_else(|| {
            Refusal::not_found(format!("Manifest {manifest:.64} does not exist")).field("manifest")
        })
    }

    /// Checks whether a call with these arguments would be made.
    pub fn check_manifest_arguments(&self, exposed: &str, arguments: &Value) -> Result<(), Refusal> {
        self.manifest_tool(exposed)?.check(arguments)
    }

    /// Calls a tool by its exposed name. Dropping the future ends the processes it started.
    pub async fn call_manifest_tool(
        &self,
        exposed: &str,
        arguments: &Value,
    ) -> Result<ServerToolAnswer, Refusal> {
        self.call_manifest_tool_with_progress(exposed, arguments, None).await
    }

    pub async fn call_manifest_tool_with_progress(
        &self,
        exposed: &str,
        arguments: &Value,
        progress: Option<mpsc::Sender<CallProgress>>,
    ) -> Result<ServerToolAnswer, Refusal> {
        let tool = self.manifest_tool(exposed)?;
        let hands = ManifestCallDeps { deps: &self.deps, internal: &*self.internal };
        match tool.call(arguments, &hands).await? {
            ManifestCallOutcome::Answered(answer) => Ok(answer),
            ManifestCallOutcome::Forward { server, tool, arguments } => {
                let config = self.store.by_slug(&server);
                let id = config
                    .ok_or_else(|| Refusal::not_found(format!("Server {server:.64} does not exist")))?
                    .id;
                self.call_tool_with_progress(id, &tool, &arguments, progress).await
            }
        }
    }

    fn loaded_manifests(&self) -> Arc<LoadedManifests> {
        self.manifests.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }
}
