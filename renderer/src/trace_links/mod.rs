//! Trace links in the inspector, the spec reader and the problems panel. Main decides which links are suspect; the window
//! shows them and sends confirmations and removals.

use crate::{
    view::{FrameView, SpecAction, WindowAction, entity_of_node},
    widgets::{
        ListRow, close_button_ui, empty_state_ui, list_rows_ui, muted_ui, paint_finding, row_ui,
        severity_mark_ui,
    },
};
use egui::{Align, Button, Layout, RichText, Sense, Ui, Vec2, pos2};
use shared_protocol::{
    ElementId, NodeId,
    messages::ProblemSeverity,
    requests::ChangeLinks,
    trace_link::{TraceLinkChange, TraceLinkEnd, TraceLinkEndState, TraceLinkEndView, TraceLinkView},
};

const ROW_HEIGHT: f32 = crate::widgets::ROW_HEIGHT;
/// The width of the button at the end of a row, including the gap before it.
const BUTTON_WIDTH: f32 = 84.0;

/// Returns the link end for a node. A map node represents its entity.
pub(crate) fn end_of(view: &FrameView<'_>, node: NodeId) -> TraceLinkEnd {
    let entity = view.snapshot.node(node).and_then(entity_of_node);
    entity.map_or(TraceLinkEnd::Node(node), TraceLinkEnd::Entity)
}

/// Lists the trace links of one end, with a button to add one.
pub(crate) fn section_ui(ui: &mut Ui, view: &FrameView<'_>, end: &TraceLinkEnd) {
    ui.horizontal(|ui| {
        ui.label(RichText::new("Trace links").strong());
        ui.with_layout(Layout::right_to_left(Align::Center), |ui| {
            let button = ui.add_enabled(view.links.problem.is_none(), Button::new("Link to…").small());
            let why = "Adds a trace link to a node or entity of another domain";
            if button.on_hover_text(why).clicked() {
                view.act(WindowAction::LinkFrom(end.clone()));
            }
        });
    });
    if let Some(problem) = &view.links.problem {
        muted_ui(ui, view.theme, problem.as_str());
    }
    let mut any = false;
    for link in &view.links.links {
        if let Some((other, now)) = link.other_end(end) {
            any = true;
            link_ui(ui, view, link, end, other, now);
        }
    }
    if !any && view.links.problem.is_none() {
        muted_ui(ui, view.theme, "No trace links yet");
    }
}

fn link_ui(
    ui: &mut Ui,
    view: &FrameView<'_>,
    link: &TraceLinkView,
    end: &TraceLinkEnd,
    other: &TraceLinkEnd,
    now: &TraceLinkEndView,
) {
    ui.horizontal(|ui| {
        if link.is_suspect() {
            severity_mark_ui(ui, view.theme, Vec2::splat(16.0), ProblemSeverity::Warning);
        }
        ui.with_layout(Layout::right_to_left(Align::Center), |ui| {
            if close_button_ui(ui, view.theme, &format!("Remove the link to {}", now.title)).clicked() {
                view.act(change(TraceLinkChange::Remove { link: link.link.id }));
            }
            if can_hold(link) && holds_button_ui(ui, link) {
                view.act(change(TraceLinkChange::Clear { links: vec![link.link.id] }));
            }
            ui.with_layout(Layout::left_to_right(Align::Center).with_main_wrap(true), |ui| {
                let leads_on = link.link.from == *end;
                let relation = &link.link.relation;
                if leads_on {
                    muted_ui(ui, view.theme, relation.as_str());
                }
                match now.state {
                    TraceLinkEndState::Gone => drop(ui.label(RichText::new(&now.title).strikethrough())),
                    TraceLinkEndState::Same | TraceLinkEndState::Changed => {
                        if ui.link(now.title.as_str()).on_hover_text(link.describe()).clicked() {
                            view.act(open(other));
                        }
                    }
                }
                if !leads_on {
                    muted_ui(ui, view.theme, format!("{relation} this"));
                }
            });
        });
    });
    if let Some(trouble) = link.suspect_reason() {
        muted_ui(ui, view.theme, format!("{trouble} since this link was last confirmed"));
    }
}

/// Returns whether a suspect link can be confirmed: both ends must exist.
fn can_hold(link: &TraceLinkView) -> bool {
    link.is_suspect()
        && link.from.state != TraceLinkEndState::Gone
        && link.to.state != TraceLinkEndState::Gone
}

fn holds_button_ui(ui: &mut Ui, link: &TraceLinkView) -> bool {
    let button = ui.small_button("Confirm").accessible_name(format!("Confirm: {}", link.describe()));
    button.on_hover_text(format!("Confirms that this still holds: {}", link.describe())).clicked()
}

pub(crate) fn suspects(view: &FrameView<'_>) -> usize {
    view.links.links.iter().filter(|link| link.is_suspect()).count()
}

pub(crate) fn suspects_ui(ui: &mut Ui, view: &FrameView<'_>) {
    let suspects: Vec<&TraceLinkView> = view.links.links.iter().filter(|link| link.is_suspect()).collect();
    if suspects.is_empty() {
        empty_state_ui(
            ui,
            view.theme,
            "No suspect links",
            "No linked element has changed since its link was confirmed.",
        );
        return;
    }
    list_rows_ui(ui, ROW_HEIGHT, suspects.len(), |ui, range| {
        for link in &suspects[range] {
            suspect_ui(ui, view, link);
        }
    });
}

fn suspect_ui(ui: &mut Ui, view: &FrameView<'_>, link: &TraceLinkView) {
    let theme = view.theme;
    let (words, trouble) = (link.describe(), link.suspect_reason().unwrap_or_default());
    let name = format!("Warning: {words} ({trouble})");
    let spare = if can_hold(link) { BUTTON_WIDTH } else { 0.0 };
    let row = ListRow { name: &name, selected: false, sense: Sense::click() };
    let row = row_ui(ui, theme, row, |ui, room| {
        let room = room.with_max_x(room.right() - spare);
        paint_finding(ui, theme, room, ProblemSeverity::Warning, (&words, &trouble), 0.55);
    });
    if row.clicked() {
        let changed =
            if link.to.state == TraceLinkEndState::Changed { &link.link.to } else { &link.link.from };
        view.act(open(changed));
    }
    if spare > 0.0 && ui.is_rect_visible(row.rect) {
        let middle = pos2(row.rect.right() - BUTTON_WIDTH / 2.0, row.rect.center().y);
        let room = egui::Rect::from_center_size(middle, egui::vec2(BUTTON_WIDTH - 12.0, 20.0));
        let mut child = ui.new_child(egui::UiBuilder::new().max_rect(room).id_salt(link.link.id.bits()));
        if holds_button_ui(&mut child, link) {
            view.act(change(TraceLinkChange::Clear { links: vec![link.link.id] }));
        }
    }
}

pub(crate) fn change(change: TraceLinkChange) -> WindowAction {
    WindowAction::request(ChangeLinks { change })
}

fn open(end: &TraceLinkEnd) -> WindowAction {
    match end {
        TraceLinkEnd::Node(node) => WindowAction::Reveal(ElementId::Node(*node)),
        TraceLinkEnd::Entity(entity) => WindowAction::Spec(SpecAction::OpenAt(entity.clone(), None)),
    }
}
