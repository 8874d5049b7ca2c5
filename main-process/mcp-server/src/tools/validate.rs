//! The problems of boards.

use super::board;
use crate::escape::escape_hidden;
use crate::{
    AgentCall, AgentWorkspaceView, EnvelopeMeta, SurfaceTool, ToolReply,
    page::{self, DEFAULT_PAGE_ITEMS, MAX_PAGE_ITEMS, PageRequest},
};
use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::{Value, json};
use shared_protocol::{
    BoardId, BoardKind, ElementId, Refusal,
    messages::{BoardProblem, ProblemSeverity},
    secret_names::looks_secret,
};
use std::collections::BTreeSet;

#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct ValidateArguments {
    /// name or id; default: all boards
    board: Option<String>,
    #[schemars(extend("enum" = [ProblemSeverity::Error, ProblemSeverity::Warning]), with = "Option<String>")]
    severity: Option<ProblemSeverity>,
    #[schemars(range(min = 1, max = MAX_PAGE_ITEMS))]
    limit: Option<u64>,
    cursor: Option<String>,
}

pub(super) fn tool() -> SurfaceTool {
    SurfaceTool::read(
        "diagram",
        "validate_diagram",
        "Validate diagram",
        "Get errors and warnings of all boards or one: missing values, containment, connections, and configuration that \
         Terraform rejects.",
        json!({ "type": "object", "properties": { "valid": { "type": "boolean" }, "problems": { "type": "array" } } }),
        validate,
    )
    .cacheable()
    .of_drafts()
}

fn validate(call: &AgentCall, arguments: ValidateArguments) -> Result<ToolReply, Refusal> {
    let workspace = call.workspace()?;
    let board = match &arguments.board {
        Some(named) => Some(board::find(workspace, Some(named))?),
        None => None,
    };
    let here = |problem: &&BoardProblem| board.is_none_or(|board| problem.board == board.id);
    let of_files = terraform_problems(call, workspace, board.map(|board| board.id));
    let all: Vec<&BoardProblem> = workspace.problems().iter().chain(&of_files).filter(here).collect();
    let count = |severity| all.iter().filter(|problem| problem.severity == severity).count();
    let (errors, warnings) = (count(ProblemSeverity::Error), count(ProblemSeverity::Warning));
    let mut listed: Vec<&BoardProblem> = all
        .into_iter()
        .filter(|problem| arguments.severity.is_none_or(|severity| problem.severity == severity))
        .collect();
    listed.sort();
    let asked = PageRequest {
        limit: arguments.limit,
        default_limit: DEFAULT_PAGE_ITEMS,
        cursor: arguments.cursor,
        offset: None,
        list_key: format!("validate {:?} {:?}", board.map(|board| board.id), arguments.severity),
        state_key: call.view.generation,
    };
    let page = page::paginate(asked, listed.into_iter(), |problem| shape(workspace, problem))?;
    let mut meta = EnvelopeMeta {
        revision: workspace.revision().0,
        board: board.map(|board| board.name.to_string()),
        ..EnvelopeMeta::default()
    };
    page.describe(&mut meta);
    let data = format!(
        r#"{{"valid":{},"errors":{errors},"warnings":{warnings},"problems":{}}}"#,
        errors == 0,
        page.json()
    );
    Ok(ToolReply { data, meta, ..ToolReply::default() })
}

/// Returns the problems of the Terraform files that the graph does not report itself.
fn terraform_problems(
    call: &AgentCall,
    workspace: &AgentWorkspaceView,
    only: Option<BoardId>,
) -> Vec<BoardProblem> {
    let told: BTreeSet<(ElementId, Option<&str>)> =
        workspace.problems().iter().map(|problem| (problem.element, problem.field.as_deref())).collect();
    let boards = workspace.snapshot.boards().filter(|board| board.kind == BoardKind::Infrastructure);
    let mut found = Vec::new();
    for board in boards.filter(|board| only.is_none_or(|only| only == board.id)) {
        let on_board = |severity, element, field, message| BoardProblem {
            severity,
            element,
            board: board.id,
            field,
            message,
        };
        match call.workbench.hcl(workspace, board.id) {
            Ok(hcl) => found.extend(hcl.findings.iter().filter_map(|finding| {
                let element = finding.node.map_or(ElementId::Board(board.id), ElementId::Node);
                let field = finding.prop.as_ref().map(ToString::to_string);
                let is_news = finding.prop.is_none() || !told.contains(&(element, field.as_deref()));
                is_news.then(|| on_board(finding.severity, element, field, finding.message.clone()))
            })),
            Err(refusal) => {
                found.push(on_board(
                    ProblemSeverity::Error,
                    ElementId::Board(board.id),
                    None,
                    refusal.message,
                ));
            }
        }
    }
    found
}

fn shape(workspace: &AgentWorkspaceView, problem: &BoardProblem) -> Value {
    let snapshot = &workspace.snapshot;
    let node = match problem.element {
        ElementId::Node(id) => snapshot.node(id),
        _ => None,
    };
    // A message may quote the invalid value.
    let is_sensitive = node.zip(problem.field.as_deref()).is_some_and(|(node, field)| {
        let prop = snapshot.type_of(node).and_then(|def| def.prop(field));
        prop.map_or_else(|| looks_secret(field), |prop| prop.sensitive)
    });
    let message = if is_sensitive {
        "The value is missing or invalid; it is hidden because the property is sensitive".into()
    } else {
        escape_hidden(&problem.message)
    };
    let mut shape =
        json!({ "severity": problem.severity, "elementId": problem.element.to_string(), "message": message });
    if let Some(board) = snapshot.board(problem.board) {
        shape["board"] = json!(board.name);
    }
    if let Some(node) = node {
        shape["label"] = json!(escape_hidden(&node.label));
    }
    if let Some(field) = &problem.field {
        shape["field"] = json!(escape_hidden(field));
    }
    shape
}
