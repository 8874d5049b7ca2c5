//! `draftboard status`: the running instances, or the state of one workspace.

use super::{WorkspaceArguments, format, workspace_at::ReachedWorkspace};
use processes::{DiscoveryRecord, RuntimeDirs, instance};
use shared_protocol::{
    Refusal, RefusalCode,
    mcp::McpView,
    messages::WorkbenchInstanceView,
    requests::{DescribeInstance, ViewAgents},
};
use std::{path::Path, process::ExitCode};
use terminal_client::TerminalClient;

pub(super) fn run(at: &WorkspaceArguments) -> ExitCode {
    match at.workspace.as_deref() {
        Some(root) => {
            let status = InstanceStatus::of_workspace(root);
            format::exit(
                status.map(|status| format::print_result(&status.data(), at.json, || status.format_text())),
                at.json,
            )
        }
        None => format::exit(list(at.json), at.json),
    }
}

/// An instance and its agents' side, which only a running one has.
struct InstanceStatus {
    instance: WorkbenchInstanceView,
    agents: Option<McpView>,
}

impl InstanceStatus {
    fn of_workspace(root: &Path) -> Result<Self, Refusal> {
        let mut reached = ReachedWorkspace::resolve(Some(root))?;
        let instance = reached.request(DescribeInstance {})?;
        let agents = reached.send_to_running(ViewAgents {}).ok();
        Ok(Self { instance, agents })
    }

    fn of_record(record: &DiscoveryRecord) -> Result<Self, Refusal> {
        let mut client = TerminalClient::connect(record)?;
        let instance = client.request(DescribeInstance {})?;
        Ok(Self { instance, agents: client.request(ViewAgents {}).ok() })
    }

    fn data(&self) -> serde_json::Value {
        let mut data = serde_json::to_value(&self.instance).unwrap_or_default();
        data["mcp"] = serde_json::to_value(&self.agents).unwrap_or_default();
        data
    }

    fn format_text(&self) -> String {
        let agents = self.agents.as_ref().map_or_else(String::new, format::agents_line);
        format!("{}{agents}", format::instance_line(&self.instance))
    }
}

/// Every running Draftboard of this user.
fn list(json: bool) -> Result<ExitCode, Refusal> {
    let dirs = RuntimeDirs::of_user();
    for reason in dirs.unsafe_ones() {
        format::print_warning(&format!("skipped a folder: {reason}"));
    }
    let records = instance::list(dirs.directories())
        .map_err(|error| Refusal::new(RefusalCode::StorageError, error.to_string()))?;
    let describe = |record: &DiscoveryRecord| {
        InstanceStatus::of_record(record)
            .inspect_err(|refusal| format::print_warning(&refusal.to_string()))
            .ok()
    };
    let running: Vec<InstanceStatus> = records.iter().filter_map(describe).collect();
    let data: Vec<_> = running.iter().map(InstanceStatus::data).collect();
    Ok(format::print_result(&data, json, || match running.is_empty() {
        true => format!("No Draftboard is running: {dirs}"),
        false => running.iter().map(InstanceStatus::format_text).collect::<Vec<_>>().join("\n"),
    }))
}
