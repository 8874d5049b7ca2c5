//! What follows from a proposal beside what it says: problems that it brings, and links whose ends it touches.

use super::{Opened, Typed};
use crate::{
    panels::status_bar::counted,
    view::{Action, View},
    widgets::{disclosure_ui, muted_ui, paint_severity},
};
use egui::{RichText, Sense, Ui, vec2};
use shared_protocol::{ElementId, Subject, link::LinkEnd, messages::Severity, proposal::Kind};

const MOST: usize = 100;

impl Opened {
    pub(super) fn consequences_ui(
        &self,
        ui: &mut Ui,
        view: &View<'_>,
        typed: &mut Typed,
        actions: &mut Vec<Action>,
    ) {
        ui.add_space(4.0);
        ui.separator();
        let links = self.suspect_links(view);
        let checks = &self.proposal().checks;
        let mut open = !typed.shows.contains("consequences folded");
        disclosure_ui(ui, view.theme, "Consequences", None, &mut open);
        if !open {
            typed.shows.insert("consequences folded");
            return;
        }
        typed.shows.remove("consequences folded");
        let errors = checks.iter().filter(|check| check.severity == Severity::Error).count();
        match (checks.len(), errors) {
            (0, _) => drop(muted_ui(ui, view.theme, "Checks: it brings no problem.")),
            (all, 0) => drop(ui.label(format!("Checks: it brings {}", counted(all, "warning")))),
            (_, errors) => drop(ui.label(format!("Checks: it brings {}", counted(errors, "error")))),
        }
        for check in checks.iter().take(MOST) {
            let subject = match check.element {
                ElementId::Node(id) => Subject::Node(id),
                ElementId::Edge(id) => Subject::Edge(id),
                ElementId::Board(id) => Subject::Board(id),
            };
            line_ui(ui, view, check.severity, &check.message, Some(subject), actions);
        }
        if !links.is_empty() {
            ui.label(format!("{} would have to be looked at", counted(links.len(), "link")));
            for words in links.iter().take(MOST) {
                line_ui(ui, view, Severity::Warning, words, None, actions);
            }
        }
    }

    /// Links with an end that the proposal changes or removes, by what they say.
    fn suspect_links(&self, view: &View<'_>) -> Vec<String> {
        let touches = |end: &LinkEnd| match end {
            LinkEnd::Node(id) => self
                .element(&Subject::Node(*id))
                .is_some_and(|element| matches!(element.kind, Kind::Changed | Kind::Removed)),
            LinkEnd::Entity(_) => false,
        };
        let links = view.links.links.iter().filter(|link| touches(&link.link.from) || touches(&link.link.to));
        links.map(|link| super::words::line(&link.words())).collect()
    }
}

fn line_ui(
    ui: &mut Ui,
    view: &View<'_>,
    severity: Severity,
    text: &str,
    subject: Option<Subject>,
    actions: &mut Vec<Action>,
) {
    ui.horizontal_top(|ui| {
        let (mark, _) = ui.allocate_exact_size(vec2(14.0, 16.0), Sense::hover());
        paint_severity(ui.painter(), mark.center(), view.theme, severity);
        let label = egui::Label::new(RichText::new(text).small()).wrap();
        match subject {
            Some(subject) => {
                if ui.add(label.sense(Sense::click())).clicked() {
                    actions.push(Action::Jump(subject));
                }
            }
            None => drop(ui.add(label)),
        }
    });
}
