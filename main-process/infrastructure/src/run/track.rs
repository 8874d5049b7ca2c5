//! What a run does to each node, as it goes.

use super::{
    diagnostic::{Located, node_of},
    event::{Action, Event, Summary},
};
use crate::generate::Generated;
use authority::Snapshot;
use shared_protocol::NodeId;
use std::collections::BTreeMap;

/// The state of a node's resources in the real world.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Status {
    Pending,
    Creating,
    Updating,
    Created,
    Failed,
    Destroyed,
}

impl Status {
    pub fn word(self) -> &'static str {
        match self {
            Self::Pending => "pending",
            Self::Creating => "creating",
            Self::Updating => "updating",
            Self::Created => "created",
            Self::Failed => "failed",
            Self::Destroyed => "destroyed",
        }
    }
}

/// Follows a run. A node with several resources is as far as the one that is least far, and failed when one is.
#[derive(Debug, Clone, Default)]
pub struct Tracker {
    resources: BTreeMap<NodeId, BTreeMap<String, Status>>,
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
                        Action::Create => Status::Pending,
                        _ => Status::Created,
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
                    Action::Create | Action::Replace => Status::Creating,
                    _ => Status::Updating,
                },
            ),
            Event::Finished { address, action } => self.set(
                generated,
                address,
                match action {
                    Action::Delete => Status::Destroyed,
                    _ => Status::Created,
                },
            ),
            Event::Failed { address, .. } => self.set(generated, address, Status::Failed),
            Event::Summary { summary, .. } => self.summary = Some(*summary),
            Event::Line { .. } | Event::Progress { .. } | Event::Ended { .. } => {}
        }
    }

    fn set(&mut self, generated: &Generated, address: &str, status: Status) {
        if let Some(node) = node_of(generated, address) {
            self.resources.entry(node).or_default().insert(address.to_owned(), status);
        }
    }

    /// What the state that Terraform keeps says, from `show -json` without a plan.
    pub fn take_state(&mut self, state: &serde_json::Value, generated: &Generated) {
        self.resources.clear();
        for address in generated.addresses.keys() {
            self.set(generated, address, Status::Pending);
        }
        let mut modules = vec![&state["values"]["root_module"]];
        while let Some(module) = modules.pop() {
            for resource in module["resources"].as_array().into_iter().flatten() {
                if let Some(address) = resource["address"].as_str() {
                    let status = if resource["tainted"] == true { Status::Failed } else { Status::Created };
                    let base = address.split('[').next().unwrap_or(address);
                    self.set(generated, base, status);
                }
            }
            modules.extend(module["child_modules"].as_array().into_iter().flatten());
        }
    }

    pub fn status(&self, node: NodeId) -> Option<Status> {
        let resources = self.resources.get(&node)?;
        let failed = resources.values().find(|status| **status == Status::Failed);
        failed.or_else(|| resources.values().min()).copied()
    }

    pub fn statuses(&self) -> impl Iterator<Item = (NodeId, Status)> {
        self.resources.keys().filter_map(|node| Some((*node, self.status(*node)?)))
    }
}
