//! `draftboard validate`: the problems of the whole workspace.

use super::{WorkspaceArguments, format, workspace_at::ReachedWorkspace};
use shared_protocol::{
    BoardKind, ElementId, Refusal,
    messages::{ProblemSeverity, WorkspaceProblem},
    requests::{GenerateHcl, ListProblems, ReadDocument},
};
use std::{path::Path, process::ExitCode};

pub(super) fn run(folder: Option<&Path>, at: &WorkspaceArguments) -> ExitCode {
    let validated = validate(folder.or(at.workspace.as_deref()));
    format::exit(validated.map(|(problems, names)| format::problems(&problems, &names, at.json)), at.json)
}

/// The problems of the workspace and of the Terraform files of its boards.
fn validate(root: Option<&Path>) -> Result<(Vec<WorkspaceProblem>, format::ElementNames), Refusal> {
    let mut reached = ReachedWorkspace::resolve(root)?;
    let mut problems = reached.request(ListProblems {})?;
    let document = reached.request(ReadDocument {})?;
    for board in document.boards.iter().filter(|board| board.kind == BoardKind::Infrastructure) {
        let file = Some(format!("boards/{}.board.json", board.name));
        match reached.terraform(GenerateHcl { board: board.id }) {
            Ok(view) => {
                let found = view.findings.into_iter().map(|finding| WorkspaceProblem {
                    severity: finding.severity,
                    element: Some(finding.node.map_or(ElementId::Board(board.id), ElementId::Node)),
                    board: Some(board.id),
                    field: finding.prop.map(|prop| prop.to_string()),
                    file: None,
                    message: finding.message,
                });
                // The board reports it itself: the same node and property.
                let is_new = |finding: &WorkspaceProblem| {
                    finding.field.is_none()
                        || !problems
                            .iter()
                            .any(|known| (&known.element, &known.field) == (&finding.element, &finding.field))
                };
                let found: Vec<WorkspaceProblem> = found.filter(is_new).collect();
                problems.extend(found);
            }
            Err(refusal) => {
                let message = format!("Its Terraform files were not checked: {}", refusal.message);
                problems.push(WorkspaceProblem::of_file(ProblemSeverity::Error, file, message));
            }
        }
    }
    problems.sort();
    problems.dedup();
    Ok((problems, format::ElementNames::from_document(&document)))
}
