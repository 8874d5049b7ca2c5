//! Tools from manifests, beside those of servers.

use super::McpService;
use crate::{
    actor::Progress,
    call::Answer,
    config::ToolPolicy,
    failure::Failure,
    manifest::{Hands, Keys, ManifestFolder, ManifestReport, ManifestTool, Manifests, Outcome, Reading},
    secrets::Secret,
};
use serde_json::Value;
use std::{
    path::PathBuf,
    sync::{Arc, PoisonError},
};
use tokio::sync::mpsc;

impl McpService {
    /// Reads all manifests anew, for a start and whenever a file has changed. Calls under way go on with what they began.
    pub fn load_manifests(&self, folders: &[ManifestFolder]) -> Vec<ManifestReport> {
        let approved = self.store.approved_manifests();
        let home = self.surroundings.environment.iter().find(|(name, _)| name == "HOME");
        let home = home.map(|(_, home)| PathBuf::from(home));
        let reading = Reading { approved: &approved, internal: &*self.internal, home: home.as_deref() };
        let loaded = Arc::new(Manifests::load(folders, &reading));
        *self.manifests.lock().unwrap_or_else(PoisonError::into_inner) = loaded.clone();
        self.tell();
        loaded.reports.clone()
    }

    pub fn manifests(&self) -> Vec<ManifestReport> {
        self.loaded().reports.clone()
    }

    /// What agents may call, by name.
    pub fn manifest_tools(&self) -> Vec<Arc<ManifestTool>> {
        self.loaded().tools.values().cloned().collect()
    }

    /// Approves a manifest of a workspace in exactly this form. It is offered after the next [`Self::load_manifests`].
    pub fn approve_manifest(&self, hash: &str) -> Result<(), Failure> {
        if !self.loaded().reports.iter().any(|report| report.hash.as_deref() == Some(hash)) {
            return Err(Failure::conflict("There is no manifest of this form any more: look again"));
        }
        self.store.approve_manifest(hash)
    }

    /// What happens when an agent calls a tool of a manifest. What only reads is allowed unless a person has said otherwise;
    /// whatever was said is about the file as it was then.
    pub fn manifest_policy(&self, tool: &ManifestTool) -> ToolPolicy {
        let usual = if tool.only_reads() { ToolPolicy::Allow } else { ToolPolicy::Ask };
        self.store.manifest_policy(&tool.exposed, &tool.hash).unwrap_or(usual)
    }

    pub fn set_manifest_policy(&self, exposed: &str, policy: ToolPolicy) -> Result<(), Failure> {
        let tool = self.manifest_tool(exposed)?;
        self.store.set_manifest_policy(exposed, &tool.hash, policy)?;
        self.tell();
        Ok(())
    }

    /// One tool of a manifest, by the name that agents call.
    pub fn manifest_tool(&self, exposed: &str) -> Result<Arc<ManifestTool>, Failure> {
        let found = self.loaded().tools.get(exposed).cloned();
        found.ok_or_else(|| Failure::not_found(format!("There is no tool {exposed:.64}")).at("tool"))
    }

    /// Whether there is a value for a credential. A keyring may ask its user first.
    pub fn has_manifest_secret(&self, manifest: &str, credential: &str) -> bool {
        let found =
            self.keys(manifest).and_then(|keys| self.surroundings.secrets.get(&keys.reference(credential)));
        found.is_ok_and(|secret| secret.is_some())
    }

    /// Keeps a credential that a manifest asks for: plain text, or a JSON object of fields.
    pub fn set_manifest_secret(
        &self,
        manifest: &str,
        credential: &str,
        secret: &Secret,
    ) -> Result<(), Failure> {
        self.surroundings.secrets.set(&self.keys(manifest)?.reference(credential), secret)
    }

    fn keys(&self, manifest: &str) -> Result<Keys, Failure> {
        let loaded = self.loaded();
        let found = loaded.reports.iter().filter(|report| report.id.as_deref() == Some(manifest));
        let found = found.filter_map(|report| report.keys.clone()).next();
        found.ok_or_else(|| Failure::not_found(format!("There is no manifest {manifest:.64}")).at("manifest"))
    }

    /// Whether a call with these arguments would be made at all.
    pub fn check_manifest_arguments(&self, exposed: &str, arguments: &Value) -> Result<(), Failure> {
        self.manifest_tool(exposed)?.check(arguments)
    }

    /// Calls a tool by the name that agents use. Dropping the future ends what it has started.
    pub async fn call_manifest_tool(&self, exposed: &str, arguments: &Value) -> Result<Answer, Failure> {
        self.call_manifest_tool_with_progress(exposed, arguments, None).await
    }

    pub async fn call_manifest_tool_with_progress(
        &self,
        exposed: &str,
        arguments: &Value,
        progress: Option<mpsc::Sender<Progress>>,
    ) -> Result<Answer, Failure> {
        let tool = self.manifest_tool(exposed)?;
        let hands = Hands { surroundings: &self.surroundings, internal: &*self.internal };
        match tool.call(arguments, &hands).await? {
            Outcome::Answered(answer) => Ok(answer),
            Outcome::PassOn { server, tool, arguments } => {
                let config = self.store.by_slug(&server);
                let id =
                    config.ok_or_else(|| Failure::not_found(format!("There is no server {server:.64}")))?.id;
                self.call_tool_with_progress(id, &tool, &arguments, progress).await
            }
        }
    }

    fn loaded(&self) -> Arc<Manifests> {
        self.manifests.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }
}
