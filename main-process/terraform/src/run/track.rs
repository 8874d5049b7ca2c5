//! Tracks the effect of a run on each node.

use super::{
    diagnostic::{Located, node_of},
    event::{Action, Event, Summary},
};
use crate::generate::Generated;
use authority::Snapshot;
use shared_protocol::{NodeId, terraform::Deployment};
use std::collections::BTreeMap;

/// Tracks the status of nodes during a run. A node with several resources has the status of the least advanced one,
/// and is failed when any of them failed.
#[derive(Debug, Clone, Default)]
pub struct Tracker {
    resources: BTreeMap<NodeId, BTreeMap<String, Deployment>>,
    pub planned: BTreeMap<NodeId, Action>,
    pub drifted: BTreeMap<NodeId, Action>,
    pub diagnostics: Vec<Located>,
    pub summary: Option<Summary>,
}

impl Tracker {
    pub fn take(&mut self, event: &Event, generated: &Generated, snapshot: &Snapshot) {
        match event {
            Event::Diagnostic(diagnostic) => {
                self.diagnostics.push(diagnostic.clone().locate(generated, snapshot));
            }
            Event::Planned { address, action } => {
                if let Some(node) = node_of(generated, address) {
                    self.planned.insert(node, *action);
                    let before = self.resources.entry(node).or_default();
                    before.entry(address.clone()).or_insert(match action {
                        Action::Create => Deployment::Pending,
                        _ => Deployment::Created,
                    });
                }
            }
            Event::Drifted { address, action } => {
                if let Some(node) = node_of(generated, address) {
                    self.drifted.insert(node, *action);
                }
            }
            Event::Started { address, action } => self.set(
                generated,
                address,
                match action {
                    Action::Create | Action::Replace => Deployment::Creating,
                    _ => Deployment::Updating,
                },
            ),
            Event::Finished { address, action } => self.set(
                generated,
                address,
                match action {
                    Action::Delete => Deployment::Destroyed,
                    _ => Deployment::Created,
                },
            ),
            Event::Failed { address, .. } => self.set(generated, address, Deployment::Failed),
            Event::Summary { summary, .. } => self.summary = Some(*summary),
            Event::Line { .. } | Event::Progress { .. } | Event::Ended { .. } => {}
        }
    }

    /// Clears the results of the last run; keeps the deployment status of resources.
    pub fn begin_run(&mut self) {
        *self = Self { resources: std::mem::take(&mut self.resources), ..Self::default() };
    }

    fn set(&mut self, generated: &Generated, address: &str, status: Deployment) {
        if let Some(node) = node_of(generated, address) {
            self.resources.entry(node).or_default().insert(address.to_owned(), status);
        }
    }

    /// Loads the state from the output of `show -json` without a plan.
    pub fn take_state(&mut self, state: &serde_json::Value, generated: &Generated) {
        self.begin(generated);
        let mut modules = vec![&state["values"]["root_module"]];
        while let Some(module) = modules.pop() {
            for resource in module["resources"].as_array().into_iter().flatten() {
                if let Some(address) = resource["address"].as_str() {
                    self.stands(generated, address, resource["tainted"] == true);
                }
            }
            modules.extend(module["child_modules"].as_array().into_iter().flatten());
        }
    }

    /// Loads the state from the text of a state file (`terraform.tfstate`), without running Terraform. Returns
    /// false when the text is not a readable state, for example because it is encrypted.
    pub fn take_state_file(&mut self, text: &str, generated: &Generated) -> bool {
        let Ok(state) = serde_json::from_str::<serde_json::Value>(text) else { return false };
        let Some(resources) = state["resources"].as_array().filter(|_| state["version"] == 4) else {
            return false;
        };
        self.begin(generated);
        for resource in resources {
            let (Some(kind), Some(name)) = (resource["type"].as_str(), resource["name"].as_str()) else {
                continue;
            };
            let module = resource["module"].as_str().map(|module| format!("{module}.")).unwrap_or_default();
            let data = if resource["mode"] == "data" { "data." } else { "" };
            let instances = resource["instances"].as_array().map(Vec::as_slice).unwrap_or_default();
            let is_tainted = instances.iter().any(|instance| instance["status"] == "tainted");
            self.stands(generated, &format!("{module}{data}{kind}.{name}"), is_tainted);
        }
        true
    }

    /// Sets every resource to pending.
    fn begin(&mut self, generated: &Generated) {
        self.resources.clear();
        for address in generated.addresses.keys() {
            self.set(generated, address, Deployment::Pending);
        }
    }

    fn stands(&mut self, generated: &Generated, address: &str, is_tainted: bool) {
        let status = if is_tainted { Deployment::Failed } else { Deployment::Created };
        let base = address.split('[').next().unwrap_or(address);
        self.set(generated, base, status);
    }

    pub fn status(&self, node: NodeId) -> Option<Deployment> {
        let resources = self.resources.get(&node)?;
        let failed = resources.values().find(|status| **status == Deployment::Failed);
        failed.or_else(|| resources.values().min()).copied()
    }

    pub fn statuses(&self) -> impl Iterator<Item = (NodeId, Deployment)> {
        self.resources.keys().filter_map(|node| Some((*node, self.status(*node)?)))
    }
}
