//! Findings of runs, files and imports, listed beside the problems of the board, each with its origin, node and
//! property.

use crate::view::FrameView;
use shared_protocol::{
    BoardId, ElementId, NodeId, PropKey,
    messages::{BoardProblem, ProblemSeverity},
    terraform::TerraformFindingView,
};

const MAX_FINDINGS: usize = 500;

#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum FindingOrigin {
    Run,
    Files,
    Import,
}

impl FindingOrigin {
    pub(crate) fn label(self) -> &'static str {
        match self {
            Self::Run => "last run",
            Self::Files => "HCL",
            Self::Import => "import",
        }
    }
}

#[derive(Debug, Clone, Copy)]
pub(crate) struct BoardFinding<'a> {
    pub(crate) board: BoardId,
    pub(crate) origin: FindingOrigin,
    pub(crate) finding: &'a TerraformFindingView,
}

impl BoardFinding<'_> {
    pub(crate) fn element(&self) -> ElementId {
        self.finding.node.map_or(ElementId::Board(self.board), ElementId::Node)
    }
}

pub(crate) fn all_findings<'a>(view: &FrameView<'a>) -> impl Iterator<Item = BoardFinding<'a>> + use<'a> {
    let (problems, terraform, known) = (view.problems, view.terraform, view.terraform_answers);
    let runs = terraform.boards.iter().flat_map(|told| {
        told.findings.iter().take(MAX_FINDINGS).map(|finding| BoardFinding {
            board: told.board,
            origin: FindingOrigin::Run,
            finding,
        })
    });
    let files = view.board.and_then(|board| known.hcl.get(board)).into_iter().flat_map(move |hcl| {
        let new = move |finding: &&TerraformFindingView| {
            !is_known(finding, finding.node.map_or(&[], |node| problems.of_node(node)))
        };
        hcl.findings.iter().filter(new).take(MAX_FINDINGS).map(|finding| BoardFinding {
            board: hcl.board,
            origin: FindingOrigin::Files,
            finding,
        })
    });
    let imports = known.imported.iter().flat_map(|(board, notes)| {
        notes.iter().take(MAX_FINDINGS).map(move |finding| BoardFinding {
            board: *board,
            origin: FindingOrigin::Import,
            finding,
        })
    });
    runs.chain(files).chain(imports)
}

/// Returns whether the board reports a problem for the same node and property.
fn is_known(finding: &TerraformFindingView, problems: &[BoardProblem]) -> bool {
    let Some(prop) = &finding.prop else { return false };
    problems.iter().any(|problem| problem.field.as_deref() == Some(prop.as_str()))
}

pub(crate) fn of_node<'a>(
    view: &FrameView<'a>,
    node: NodeId,
) -> impl Iterator<Item = BoardFinding<'a>> + use<'a> {
    all_findings(view).filter(move |told| told.finding.node == Some(node))
}

pub(crate) fn of_prop<'a>(
    view: &FrameView<'a>,
    node: NodeId,
    prop: &PropKey,
) -> impl Iterator<Item = BoardFinding<'a>> + use<'a> {
    let prop = prop.clone();
    of_node(view, node).filter(move |told| told.finding.prop.as_ref() == Some(&prop))
}

/// Errors and warnings of boards and findings.
pub(crate) fn totals(view: &FrameView<'_>) -> (usize, usize) {
    let (mut errors, mut warnings) = (view.problems.errors(), view.problems.warnings());
    for told in all_findings(view) {
        match told.finding.severity {
            ProblemSeverity::Error => errors += 1,
            ProblemSeverity::Warning => warnings += 1,
        }
    }
    (errors, warnings)
}
