//! What a person should mend: errors first, a click jumps there.

use crate::{
    view::{Action, View},
    widgets::{ROW, Row, body_font, empty_state_ui, paint_line, paint_severity, row_ui, small_font},
};
use egui::{Align2, Sense, Ui, pos2};
use shared_protocol::{
    ElementId,
    messages::{Problem, Severity},
};

pub(crate) fn problems_ui(ui: &mut Ui, view: &View<'_>, actions: &mut Vec<Action>) {
    let mut problems: Vec<&Problem> = view.problems.iter().collect();
    let registry = view.snapshot.registry().problems();
    if problems.is_empty() && registry.is_empty() {
        empty_state_ui(ui, view.theme, "No problems", "Everything on your boards fits together.");
        return;
    }
    problems.sort_by_key(|problem| (problem.severity, problem.board, problem.element));
    ui.spacing_mut().item_spacing.y = 0.0;
    let rows = problems.len() + registry.len();
    egui::ScrollArea::vertical().auto_shrink([false, false]).show_rows(ui, ROW, rows, |ui, range| {
        for index in range {
            match problems.get(index) {
                Some(problem) => problem_ui(ui, view, problem, actions),
                None => {
                    let Some(problem) = registry.get(index - problems.len()) else { continue };
                    let place = format!("{} in {}", problem.entry, problem.origin);
                    line_ui(ui, view, Severity::Warning, &problem.message, &place, Sense::hover());
                }
            }
        }
    });
}

fn problem_ui(ui: &mut Ui, view: &View<'_>, problem: &Problem, actions: &mut Vec<Action>) {
    let place = place_of(view, problem);
    if line_ui(ui, view, problem.severity, &problem.message, &place, Sense::click()).clicked() {
        actions.push(Action::Reveal(problem.element));
    }
}

fn line_ui(
    ui: &mut Ui,
    view: &View<'_>,
    severity: Severity,
    message: &str,
    place: &str,
    sense: Sense,
) -> egui::Response {
    let theme = view.theme;
    let word = match severity {
        Severity::Error => "Error",
        Severity::Warning => "Warning",
    };
    let name = format!("{word}: {message} ({place})");
    row_ui(ui, theme, Row { name: &name, selected: false, sense }, |ui, room| {
        paint_severity(ui.painter(), pos2(room.left() + 7.0, room.center().y), theme, severity);
        let room = room.with_min_x(room.left() + 22.0);
        let half = room.with_min_x(room.left() + room.width() * 0.55);
        let width = paint_line(ui, half, Align2::RIGHT_CENTER, place, small_font(ui), theme.text_muted);
        let room = room.with_max_x(room.right() - width - 12.0);
        paint_line(ui, room, Align2::LEFT_CENTER, message, body_font(ui), theme.text);
    })
    .on_hover_text(message)
}

fn place_of(view: &View<'_>, problem: &Problem) -> String {
    let board = view.snapshot.board(problem.board).map_or("", |board| board.title.as_str());
    let element = match problem.element {
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
