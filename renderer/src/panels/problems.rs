//! The problems panel: errors first. A click goes to the element; some problems have a button that fixes them.

use crate::{
    features::terraform::findings::{self, BoardFinding, totals},
    specs::SpecsFeature,
    trace_links::{suspects, suspects_ui},
    view::{FrameView, WindowAction},
    widgets::{
        ListRow, ROW_HEIGHT, empty_state_ui, list_rows_ui, paint_finding, row_button_ui, row_ui,
        severity_filter_ui,
    },
};
use egui::{Sense, Ui, pos2};
use shared_protocol::{
    BoardId, Command, ElementId, PropKey,
    messages::{BoardProblem, ProblemSeverity},
    registry::RegistryProblem,
};
use std::collections::BTreeMap;

/// The width of the button at the end of a row, with the gap before it.
const FIX_BUTTON_WIDTH: f32 = 104.0;

#[derive(Default)]
pub(crate) struct ProblemsPanel {
    /// The severity filter; `None` shows all.
    only: Option<ProblemSeverity>,
    /// The selected scope; `None` until a person selects one.
    scope: Option<ProblemScope>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum ProblemScope {
    Boards,
    Specs,
    Links,
}

/// The numbers of errors and warnings, of boards and specs.
pub(crate) fn counts(view: &FrameView<'_>) -> (usize, usize) {
    let (boards, specs) = (on_boards(view), in_specs(view));
    (boards.0 + specs.0, boards.1 + specs.1 + suspects(view))
}

/// Includes findings of Terraform runs and files, and module problems.
fn on_boards(view: &FrameView<'_>) -> (usize, usize) {
    let (errors, warnings) = totals(view);
    let modules = view.snapshot.registry().problems().len();
    match RegistryProblem::SEVERITY {
        ProblemSeverity::Error => (errors + modules, warnings),
        ProblemSeverity::Warning => (errors, warnings + modules),
    }
}

fn in_specs(view: &FrameView<'_>) -> (usize, usize) {
    let bundles = || view.bundles.bundles.iter();
    let (errors, warnings): (u64, u64) =
        (bundles().map(|bundle| bundle.errors).sum(), bundles().map(|bundle| bundle.warnings).sum());
    (errors as usize, warnings as usize)
}

impl ProblemsPanel {
    pub(crate) fn show_ui(&mut self, ui: &mut Ui, view: &FrameView<'_>, specs: &mut SpecsFeature) {
        let suspects = suspects(view);
        let sum = |(errors, warnings)| errors + warnings;
        let (boards, bundles): (usize, usize) = (sum(on_boards(view)), sum(in_specs(view)));
        let usual = match (boards, bundles, suspects) {
            (0, 0, 1..) => ProblemScope::Links,
            (0, 1.., _) => ProblemScope::Specs,
            _ => ProblemScope::Boards,
        };
        let mut scope = self.scope.unwrap_or(usual);
        ui.horizontal(|ui| {
            if !view.bundles.bundles.is_empty() || suspects > 0 {
                for (each, text) in [
                    (ProblemScope::Boards, format!("Boards {boards}")),
                    (ProblemScope::Specs, format!("Specs {bundles}")),
                    (ProblemScope::Links, format!("Links {suspects}")),
                ] {
                    if ui.selectable_value(&mut scope, each, egui::RichText::new(text).small()).clicked() {
                        self.scope = Some(each);
                    }
                }
                ui.separator();
            }
            match scope {
                ProblemScope::Boards => self.filters_ui(ui, view),
                ProblemScope::Specs => specs.finding_filters_ui(ui, view),
                ProblemScope::Links => {}
            }
        });
        match scope {
            ProblemScope::Boards => self.boards_ui(ui, view),
            ProblemScope::Specs => specs.findings_ui(ui, view),
            ProblemScope::Links => suspects_ui(ui, view),
        }
    }

    fn filters_ui(&mut self, ui: &mut Ui, view: &FrameView<'_>) {
        let (errors, warnings) = on_boards(view);
        if errors + warnings == 0 {
            return;
        }
        severity_filter_ui(ui, &mut self.only, errors, warnings);
    }

    fn boards_ui(&self, ui: &mut Ui, view: &FrameView<'_>) {
        let registry = view.snapshot.registry().problems();
        if on_boards(view) == (0, 0) {
            empty_state_ui(ui, view.theme, "No problems", "Your boards have no errors or warnings.");
            return;
        }
        let problems = view.problems.iter().map(ProblemRow::Board);
        let mut entries: Vec<ProblemRow<'_>> = problems
            .chain(findings::all_findings(view).map(ProblemRow::Told))
            .chain(registry.iter().map(ProblemRow::Module))
            .filter(|entry| self.only.is_none_or(|only| only == entry.severity()))
            .collect();
        entries.sort_by_key(ProblemRow::rank);
        if entries.is_empty() {
            empty_state_ui(ui, view.theme, "No problems of this severity", "Select All to see the others.");
            return;
        }
        rows_ui(ui, view, &entries);
    }
}

enum ProblemRow<'a> {
    Board(&'a BoardProblem),
    /// A finding of a run, a file or an import.
    Told(BoardFinding<'a>),
    Module(&'a RegistryProblem),
}

impl ProblemRow<'_> {
    fn severity(&self) -> ProblemSeverity {
        match self {
            Self::Board(problem) => problem.severity,
            Self::Told(told) => told.finding.severity,
            Self::Module(_) => RegistryProblem::SEVERITY,
        }
    }

    /// Sorts by severity, then by element; module problems come last.
    fn rank(&self) -> (bool, ProblemSeverity, Option<(BoardId, ElementId)>) {
        let place = match self {
            Self::Board(problem) => Some((problem.board, problem.element)),
            Self::Told(told) => Some((told.board, told.element())),
            Self::Module(_) => None,
        };
        (place.is_none(), self.severity(), place)
    }
}

fn rows_ui(ui: &mut Ui, view: &FrameView<'_>, entries: &[ProblemRow<'_>]) {
    list_rows_ui(ui, ROW_HEIGHT, entries.len(), |ui, range| {
        for entry in entries.get(range).unwrap_or_default() {
            match entry {
                ProblemRow::Board(problem) => problem_ui(ui, view, problem),
                ProblemRow::Told(told) => told_ui(ui, view, told),
                ProblemRow::Module(problem) => {
                    let place = format!("{} in {}", problem.entry, problem.origin);
                    let severity = RegistryProblem::SEVERITY;
                    line_ui(ui, view, severity, &problem.message, &place, Sense::hover(), 0.0);
                }
            }
        }
    });
}

fn told_ui(ui: &mut Ui, view: &FrameView<'_>, told: &BoardFinding<'_>) {
    let finding = told.finding;
    let place = format!("{} · {}", place_of(view, told.board, told.element()), told.origin.label());
    let row = line_ui(ui, view, finding.severity, &finding.message, &place, Sense::click(), 0.0);
    if row.clicked() {
        view.act(match &finding.prop {
            Some(prop) => WindowAction::GoToField(told.element(), prop.clone()),
            None => WindowAction::Reveal(told.element()),
        });
    }
    if !finding.detail.is_empty() {
        row.on_hover_text(&finding.detail);
    }
}

fn problem_ui(ui: &mut Ui, view: &FrameView<'_>, problem: &BoardProblem) {
    let place = place_of(view, problem.board, problem.element);
    let fix = fix_of(view, problem);
    let spare = if fix.is_some() { FIX_BUTTON_WIDTH } else { 0.0 };
    let row = line_ui(ui, view, problem.severity, &problem.message, &place, Sense::click(), spare);
    if row.clicked() {
        view.act(WindowAction::Reveal(problem.element));
    }
    let Some(fix) = fix.filter(|_| ui.is_rect_visible(row.rect)) else { return };
    let middle = pos2(row.rect.right() - FIX_BUTTON_WIDTH / 2.0, row.rect.center().y);
    let room = egui::Rect::from_center_size(middle, egui::vec2(FIX_BUTTON_WIDTH - 12.0, 20.0));
    let button = row_button_ui(ui, room, (problem.element, &problem.message), fix.text);
    if button.accessible_name(fix.name.as_str()).on_hover_text(&fix.name).clicked() {
        view.act(fix.action);
    }
}

/// The one-click fix of a problem.
struct ProblemFix {
    text: &'static str,
    name: String,
    action: WindowAction,
}

fn fix_of(view: &FrameView<'_>, problem: &BoardProblem) -> Option<ProblemFix> {
    if view.is_board_held(problem.board) {
        return None;
    }
    let id = match problem.element {
        ElementId::Node(id) => id,
        ElementId::Edge(edge) => {
            let command = Command::Remove { nodes: Vec::new(), edges: vec![edge] };
            let name = format!("Remove connection {}", place_of(view, problem.board, problem.element));
            return Some(ProblemFix { text: "Disconnect", name, action: WindowAction::Run(command) });
        }
        ElementId::Board(_) => return None,
    };
    let (node, key) = (view.snapshot.node(id)?, PropKey::parse(problem.field.as_deref()?).ok()?);
    let def = view.type_of(node)?;
    if let Some(prop) = def.prop(key.as_str()) {
        let name = format!("Go to {} of {}", prop.label, node.label);
        return Some(ProblemFix {
            text: "Go to field",
            name,
            action: WindowAction::GoToField(problem.element, key),
        });
    }
    let name = format!("Remove unused property {key} of {}", node.label);
    let (mut unset, mut references) = (Vec::new(), BTreeMap::new());
    if node.props.contains_key(&key) {
        unset.push(key);
    } else {
        references.insert(key, Vec::new());
    }
    let update = Command::UpdateNode {
        node: id.into(),
        name: None,
        label: None,
        set: BTreeMap::new(),
        unset,
        references,
    };
    Some(ProblemFix { text: "Remove", name, action: WindowAction::Run(update) })
}

fn line_ui(
    ui: &mut Ui,
    view: &FrameView<'_>,
    severity: ProblemSeverity,
    message: &str,
    place: &str,
    sense: Sense,
    spare: f32,
) -> egui::Response {
    let theme = view.theme;
    let word = match severity {
        ProblemSeverity::Error => "Error",
        ProblemSeverity::Warning => "Warning",
    };
    let name = format!("{word}: {message} ({place})");
    row_ui(ui, theme, ListRow { name: &name, selected: false, sense }, |ui, room| {
        let room = room.with_max_x(room.right() - spare);
        paint_finding(ui, theme, room, severity, (message, place), 0.55);
    })
    .on_hover_text(message)
}

fn place_of(view: &FrameView<'_>, board: BoardId, element: ElementId) -> String {
    let board = view.snapshot.board(board).map_or("", |board| board.title.as_str());
    let element = match element {
        ElementId::Node(id) => view.snapshot.node(id).map(|node| node.label.clone()),
        ElementId::Edge(id) => view.snapshot.edge(id).map(|edge| {
            let label = |id| view.snapshot.node(id).map_or("?", |node| node.label.as_str());
            format!("{} to {}", label(edge.source.node), label(edge.target.node))
        }),
        ElementId::Board(_) => None,
    };
    match element {
        Some(element) => format!("{element} · {board}"),
        None => board.to_owned(),
    }
}
