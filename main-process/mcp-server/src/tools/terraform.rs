//! The Terraform files of a board, its deployment state and its costs.

use super::{board, shape::REDACTED};
use crate::escape::escape_hidden;
use crate::{
    AgentCall, AgentWorkspaceView, BoardHcl, EnvelopeDiagnostic, EnvelopeMeta, SurfaceTool, ToolReply,
    page::{self, ListPage, MAX_DATA_BYTES, MAX_PAGE_ITEMS, PageRequest},
};
use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::{Value, json};
use shared_protocol::{
    Board, BoardKind, Node, NodeId, Refusal, RefusalCode,
    messages::ProblemSeverity,
    secret_names::looks_secret,
    terraform::{CostView, NodeCost, TerraformFindingView},
};
use std::{collections::BTreeMap, sync::Arc};

/// Returns the named or default board when it is an infrastructure board.
pub(super) fn find<'a>(workspace: &'a AgentWorkspaceView, named: Option<&str>) -> Result<&'a Board, Refusal> {
    let found = match named {
        Some(_) => board::find(workspace, named)?,
        None => infrastructure_board(workspace).ok_or_else(|| {
            Refusal::new(RefusalCode::NotFound, "The workspace has no infrastructure board").field("board")
        })?,
    };
    if found.kind != BoardKind::Infrastructure {
        let message = format!("Board {} is not an infrastructure board", found.name);
        return Err(Refusal::new(RefusalCode::BadRequest, message).field("board"));
    }
    Ok(found)
}

/// Returns the active board if it is an infrastructure board, otherwise the first infrastructure board.
pub(crate) fn infrastructure_board(workspace: &AgentWorkspaceView) -> Option<&Board> {
    let snapshot = &workspace.snapshot;
    let fits = |board: &&Board| board.kind == BoardKind::Infrastructure;
    let active = workspace.active_board().and_then(|id| snapshot.board(id)).filter(fits);
    active.or_else(|| snapshot.boards().map(Arc::as_ref).find(fits))
}

fn meta(workspace: &AgentWorkspaceView, board: &Board) -> EnvelopeMeta {
    EnvelopeMeta {
        revision: workspace.revision().0,
        board: Some(board.name.to_string()),
        ..EnvelopeMeta::default()
    }
}

// ---- files --------------------------------------------------------------------------------------------------------------

#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct GenerateHclArguments {
    /// name or id; default: the active board
    board: Option<String>,
    /// only this file
    file: Option<String>,
    /// lines of file to skip
    offset: Option<u64>,
}

pub(super) fn generate_hcl() -> SurfaceTool {
    SurfaceTool::slow(
        "diagram",
        "generate_hcl",
        "Generate HCL",
        "Generate the Terraform files of a board: {filename: content}. Writes nothing to disk.",
        json!({ "type": "object" }),
        generate,
    )
    .cacheable()
    .of_drafts()
}

fn generate(call: &AgentCall, arguments: GenerateHclArguments) -> Result<ToolReply, Refusal> {
    let workspace = call.workspace()?;
    let board = find(workspace, arguments.board.as_deref())?;
    let hcl = call.workbench.hcl(workspace, board.id)?;
    let mut meta = meta(workspace, board);
    let mut diagnostics: Vec<EnvelopeDiagnostic> = hcl.findings.iter().map(diagnostic).collect();
    let data = match &arguments.file {
        Some(file) => {
            let text = file_of(&hcl, file)?;
            let (part, total) = lines(&text, arguments.offset.unwrap_or(0), &mut meta);
            meta.total = Some(total);
            BTreeMap::from([(file.as_str(), part)])
        }
        None if arguments.offset.is_some() => {
            return Err(Refusal::new(RefusalCode::BadRequest, "offset requires file").field("offset"));
        }
        None => {
            let mut left = MAX_DATA_BYTES;
            let mut files = BTreeMap::new();
            for (name, text) in &hcl.files {
                if text.len() > left {
                    meta.cut = Some("the answer reached its byte limit");
                    diagnostics.push(omitted_file(name));
                    continue;
                }
                left -= text.len();
                files.insert(name.as_str(), redact_file(name, text));
            }
            (meta.returned, meta.total) = (Some(files.len()), Some(hcl.files.len()));
            files
        }
    };
    Ok(ToolReply { diagnostics, ..ToolReply::new(&data, meta)? })
}

/// Returns the text of one file, redacted and escaped.
pub(crate) fn file_of(hcl: &BoardHcl, file: &str) -> Result<String, Refusal> {
    match hcl.files.get(file) {
        Some(text) => Ok(redact_file(file, text)),
        None => {
            Err(Refusal::new(RefusalCode::NotFound, format!("File `{}` does not exist", escape_hidden(file)))
                .field("file")
                .suggest(authority::similar(file, hcl.files.keys().map(String::as_str)))
                .hint(format!(
                    "Available files: {}.",
                    hcl.files.keys().cloned().collect::<Vec<_>>().join(", ")
                )))
        }
    }
}

/// Returns as many lines from `offset` as fit, and the total number of lines.
fn lines(text: &str, offset: u64, meta: &mut EnvelopeMeta) -> (String, usize) {
    let total = text.lines().count();
    let skip = usize::try_from(offset).unwrap_or(usize::MAX);
    let (mut part, mut returned) = (String::new(), 0);
    for line in text.lines().skip(skip) {
        if returned > 0 && part.len() + line.len() > MAX_DATA_BYTES {
            meta.cut = Some("the answer reached its byte limit");
            break;
        }
        part.push_str(line);
        part.push('\n');
        returned += 1;
    }
    meta.returned = Some(returned);
    meta.has_more = Some(skip.saturating_add(returned) < total);
    (part, total)
}

fn omitted_file(file: &str) -> EnvelopeDiagnostic {
    let message = format!("{file} is omitted: call again with `file`, and with `offset` for further lines");
    EnvelopeDiagnostic { severity: "warning", message, element: None, field: None }
}

fn diagnostic(finding: &TerraformFindingView) -> EnvelopeDiagnostic {
    EnvelopeDiagnostic {
        severity: if finding.severity == ProblemSeverity::Error { "error" } else { "warning" },
        message: escape_hidden(&finding.message).into_owned(),
        element: finding.node.map(|node| node.to_string()),
        field: finding.prop.as_ref().map(ToString::to_string),
    }
}

/// Redacts the files that hold project settings, as in the configuration. Node blocks hold no secrets.
fn redact_file(file: &str, text: &str) -> String {
    let of_settings = matches!(file, "terraform.tf" | "providers.tf") || file.ends_with(".tfvars");
    if !of_settings {
        return escape_hidden(text).into_owned();
    }
    let mut out = String::with_capacity(text.len());
    let mut within: Option<usize> = None;
    for line in text.lines() {
        let indent = line.len() - line.trim_start().len();
        if let Some(of) = within {
            if indent <= of {
                within = None;
            }
            continue;
        }
        let hidden = line.split_once(" = ").filter(|(key, _)| looks_secret(key.trim().trim_matches('"')));
        match hidden {
            Some((key, value)) => {
                out.push_str(&format!("{key} = \"{REDACTED}\"\n"));
                if value.ends_with(['[', '{']) || value.starts_with("<<") {
                    within = Some(indent);
                }
            }
            None => {
                out.push_str(&escape_hidden(line));
                out.push('\n');
            }
        }
    }
    out
}

// ---- deployment status ----------------------------------------------------------------------------------------------------

#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct BoardPageArguments {
    /// name or id; default: the active board
    board: Option<String>,
    #[schemars(range(min = 1, max = MAX_PAGE_ITEMS))]
    limit: Option<u64>,
    cursor: Option<String>,
}

impl BoardPageArguments {
    fn page_request(self, tool: &str, board: &Board, state: u64) -> PageRequest {
        let list = format!("{tool} {}", board.id);
        PageRequest {
            limit: self.limit,
            default_limit: MAX_PAGE_ITEMS,
            cursor: self.cursor,
            offset: None,
            list_key: list,
            state_key: state,
        }
    }
}

/// Encodes a page as an object keyed by node id.
fn by_node(page: &ListPage, nodes: &[NodeId]) -> String {
    let ids = nodes.iter().skip(page.start);
    let entries: Vec<String> = ids.zip(&page.items).map(|(id, item)| format!("\"{id}\":{item}")).collect();
    format!("{{{}}}", entries.join(","))
}

pub(super) fn get_deployment_status() -> SurfaceTool {
    SurfaceTool::read(
        "diagram",
        "get_deployment_status",
        "Get deployment status",
        "Deployment status: {instanceId: pending | creating | updating | created | failed | destroyed}, as of the last run or state file.",
        json!({ "type": "object" }),
        status,
    )
    .cacheable()
    .of_drafts()
}

fn status(call: &AgentCall, arguments: BoardPageArguments) -> Result<ToolReply, Refusal> {
    let workspace = call.workspace()?;
    let board = find(workspace, arguments.board.as_deref())?;
    let deployed: Vec<(NodeId, &str)> = workspace
        .snapshot
        .nodes_on(board.id)
        .filter_map(|node| Some((node.id, status_of(workspace, node)?)))
        .collect();
    let ids: Vec<NodeId> = deployed.iter().map(|(id, _)| *id).collect();
    let asked = arguments.page_request("get_deployment_status", board, call.view.generation);
    let page = page::paginate(asked, deployed.into_iter(), |(_, status)| status)?;
    let mut meta = meta(workspace, board);
    page.describe(&mut meta);
    Ok(ToolReply { data: by_node(&page, &ids), meta, ..ToolReply::default() })
}

/// Returns `None` for nodes that do not become a resource. A resource that was never deployed is pending.
pub(crate) fn status_of(workspace: &AgentWorkspaceView, node: &Node) -> Option<&'static str> {
    workspace.snapshot.type_of(node)?.terraform_types().next()?;
    Some(workspace.deployments.get(&node.id).map_or("pending", |deployment| deployment.as_str()))
}

// ---- costs -------------------------------------------------------------------------------------------------------------------

pub(super) fn estimate_costs() -> SurfaceTool {
    SurfaceTool::slow(
        "diagram",
        "estimate_costs",
        "Estimate costs",
        "Estimate monthly costs: {instanceId: {monthly, currency, basis, breakdown}}. An unknown cost is null, never 0. meta.totals has the sums.",
        json!({ "type": "object" }),
        costs,
    )
    .of_drafts()
}

fn costs(call: &AgentCall, arguments: BoardPageArguments) -> Result<ToolReply, Refusal> {
    let workspace = call.workspace()?;
    let board = find(workspace, arguments.board.as_deref())?;
    let cost = call.workbench.cost(workspace, board.id)?;
    let ids: Vec<NodeId> = cost.nodes.iter().map(|node| node.node).collect();
    let asked = arguments.page_request("estimate_costs", board, call.view.generation);
    let page = page::paginate(asked, cost.nodes.iter(), |node| node_cost(&cost, node))?;
    let mut meta = meta(workspace, board);
    page.describe(&mut meta);
    meta.totals = Some(json!({
        "monthly": cost.monthly, "currency": cost.currency, "priced": cost.priced, "free": cost.free,
        "usageBased": cost.usage_based, "unknown": cost.unknown,
    }));
    Ok(ToolReply { data: by_node(&page, &ids), meta, ..ToolReply::default() })
}

fn node_cost(cost: &CostView, node: &NodeCost) -> Value {
    let parts = node.components.iter().map(|part| {
        let detail = json!({ "monthly": part.monthly, "basis": part.basis, "source": part.source.as_deref().map(escape_hidden) });
        (escape_hidden(&part.label).into_owned(), detail)
    });
    let breakdown: serde_json::Map<String, Value> = parts.collect();
    json!({ "monthly": node.monthly, "currency": cost.currency, "basis": node.basis, "breakdown": breakdown })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn settings_that_sound_secret_are_not_told_in_files() {
        let text = "db_password = \"hunter2\"\nregion      = \"eu\"\ntokens = [\n  \"a\",\n]\nlast = 1\n";
        assert_eq!(
            redact_file("terraform.tfvars", text),
            "db_password = \"[redacted]\"\nregion      = \"eu\"\ntokens = \"[redacted]\"\nlast = 1\n"
        );
        assert_eq!(redact_file("main.tf", text), text);
    }
}
