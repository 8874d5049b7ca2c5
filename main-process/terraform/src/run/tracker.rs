//! Tracks the effect of a run on each node.

use super::{
    diagnostic::node_of,
    event::{ResourceAction, RunEvent},
};
use crate::generate::GeneratedHcl;
use authority::Snapshot;
use shared_protocol::{
    NodeId,
    terraform::{DeploymentState, PlanCounts, TerraformFindingView},
};
use std::collections::BTreeMap;

/// Tracks the status of nodes during a run. A node with several resources has the status of the least advanced one,
/// and is failed when any of them failed.
#[derive(Debug, Clone, Default)]
pub struct RunNodeTracker {
    resources: BTreeMap<NodeId, BTreeMap<String, DeploymentState>>,
    pub planned: BTreeMap<NodeId, ResourceAction>,
    pub drifted: BTreeMap<NodeId, ResourceAction>,
    pub diagnostics: Vec<TerraformFindingView>,
    pub summary: Option<PlanCounts>,
}

impl RunNodeTracker {
    pub fn apply_event(&mut self, event: &RunEvent, generated: &GeneratedHcl, snapshot: &Snapshot) {
        match event {
            RunEvent::Diagnostic(diagnostic) => {
                self.diagnostics.push(diagnostic.clone().locate(generated, snapshot));
            }
            RunEvent::Planned { address, action } => {
                if let Some(node) = node_of(generated, address) {
                    self.planned.insert(node, *action);
                    let before = self.resources.entry(node).or_default();
                    before.entry(address.clone()).or_insert(match action {
                        ResourceAction::Create => DeploymentState::Pending,
                        _ => DeploymentState::Created,
                    });
                }
            }
            RunEvent::Drifted { address, action } => {
                if let Some(node) = node_of(generated, address) {
                    self.drifted.insert(node, *action);
                }
            }
            RunEvent::Started { address, action } => self.set(
                generated,
                address,
                match action {
                    ResourceAction::Create | ResourceAction::Replace => DeploymentState::Creating,
                    _ => DeploymentState::Updating,
                },
            ),
            RunEvent::Finished { address, action } => self.set(
                generated,
                address,
                match action {
                    ResourceAction::Delete => DeploymentState::Destroyed,
                    _ => DeploymentState::Created,
                },
            ),
            RunEvent::Failed { address, .. } => self.set(generated, address, DeploymentState::Failed),
            RunEvent::Summary { summary, .. } => self.summary = Some(*summary),
            RunEvent::Line { .. } | RunEvent::Progress { .. } | RunEvent::Ended { .. } => {}
        }
    }

    /// Clears the results of the last run; keeps the deployment status of resources.
    pub fn begin_run(&mut self) {
        *self = Self { resources: std::mem::take(&mut self.resources), ..Self::default() };
    }

    fn set(&mut self, generated: &GeneratedHcl, address: &str, status: DeploymentState) {
        if let Some(node) = node_of(generated, address) {
            self.resources.entry(node).or_default().insert(address.to_owned(), status);
        }
    }

    /// Loads the state from the output of `show -json` without a plan.
    pub fn load_state(&mut self, state: &serde_json::Value, generated: &GeneratedHcl) {
        self.reset_to_pending(generated);
        let mut modules = vec![&state["values"]["root_module"]];
        while let Some(module) = modules.pop() {
            for resource in module["resources"].as_array().into_iter().flatten() {
                if let Some(address) = resource["address"].as_str() {
                    self.set_present(generated, address, resource["tainted"] == true);
                }
            }
            modules.extend(module["child_modules"].as_array().into_iter().flatten());
        }
    }

    /// Loads the state from the text of a state file (`terraform.tfstate`), without running Terraform. Returns
    /// false when the text is not a readable state, for example because it is encrypted.
    pub fn load_state_file(&mut self, text: &str, generated: &GeneratedHcl) -> bool {
        let Ok(state) = serde_json::from_str::<serde_json::Value>(text) else { return false };
        let Some(resources) = state["resources"].as_array().filter(|_| state["version"] == 4) else {
            return false;
        };
        self.reset_to_pending(generated);
        for resource in resources {
            let (Some(kind), Some(name)) = (resource["type"].as_str(), resource["name"].as_str()) else {
                continue;
            };
            let module = resource["module"].as_str().map(|module| format!("{module}.")).unwrap_or_default();
            let data = if resource["mode"] == "data" { "data." } else { "" };
            let instances = resource["instances"].as_array().map(Vec::as_slice).unwrap_or_default();
            let is_tainted = instances.iter().any(|instance| instance["status"] == "tainted");
            self.set_present(generated, &format!("{module}{data}{kind}.{name}"), is_tainted);
        }
        true
    }

    /// Sets every resource to pending.
    fn reset_to_pending(&mut self, generated: &GeneratedHcl) {
        self.resources.clear();
        for address in generated.addresses.keys() {
            self.set(generated, address, DeploymentState::Pending);
        }
    }

    fn set_present(&mut self, generated: &GeneratedHcl, address: &str, is_tainted: bool) {
        let status = if is_tainted { DeploymentState::Failed } else { DeploymentState::Created };
        let base = address.split('[').next().unwrap_or(address);
        self.set(generated, base, status);
    }

    pub fn status(&self, node: NodeId) -> Option<DeploymentState> {
        let resources = self.resources.get(&node)?;
        let failed = resources.values().find(|status| **status == DeploymentState::Failed);
        failed.or_else(|| resources.values().min()).copied()
    }

    pub fn statuses(&self) -> impl Iterator<Item = (NodeId, DeploymentState)> {
        self.resources.keys().filter_map(|node| Some((*node, self.status(*node)?)))
    }
}
