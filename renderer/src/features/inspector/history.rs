//! Where what is selected comes from: the operation that made it and the one that changed it last. The snapshot knows
//! their numbers; who, when and what is asked for when it is looked at.

use super::Inspector;
use crate::{
    view::{Action, View},
    widgets::muted_ui,
    wording::{ago, describe_actor, line, now},
};
use egui::{RichText, Ui};
use shared_protocol::{
    ElementId, Revision,
    messages::{LogEntry, Request},
    review::{Origin, ReviewRequest},
};
use std::collections::BTreeMap;

/// Operations that are remembered; beyond that they are asked for again.
const MOST: usize = 256;

#[derive(Default)]
pub(crate) struct Operations {
    /// `None`: the log does not have it any more.
    known: BTreeMap<Revision, Option<LogEntry>>,
    asked: Vec<Revision>,
    /// Those that came from a proposal.
    origins: BTreeMap<Revision, Origin>,
}

impl Operations {
    /// What main answered; whatever it left out is no longer kept.
    pub(crate) fn receive(&mut self, entries: Vec<LogEntry>) {
        if self.known.len() > MOST {
            self.known.clear();
            self.origins.clear();
        }
        for revision in std::mem::take(&mut self.asked) {
            self.known.entry(revision).or_insert(None);
        }
        self.known.extend(entries.into_iter().map(|entry| (entry.revision, Some(entry))));
    }

    /// Which of them came from a proposal; the others did not.
    pub(crate) fn receive_origins(&mut self, origins: Vec<Origin>) {
        self.origins.extend(origins.into_iter().map(|origin| (origin.revision, origin)));
    }

    fn ask(&mut self, wanted: [Revision; 2], actions: &mut Vec<Action>) {
        let unknown = |revision: &Revision| *revision > Revision::START && !self.known.contains_key(revision);
        let mut missing: Vec<Revision> = wanted.into_iter().filter(unknown).collect();
        missing.dedup();
        if !missing.is_empty() && self.asked.is_empty() {
            self.asked.clone_from(&missing);
            actions.push(Action::Review(ReviewRequest::Origins(missing.clone())));
            actions.push(Action::Ask(Request::Operations(missing)));
        }
    }
}

impl Inspector {
    pub(super) fn history_ui(
        &mut self,
        ui: &mut Ui,
        view: &View<'_>,
        element: ElementId,
        actions: &mut Vec<Action>,
    ) {
        let from = view.snapshot.provenance(element);
        self.operations.ask([from.created, from.changed], actions);
        ui.add_space(8.0);
        ui.separator();
        ui.spacing_mut().item_spacing.y = 2.0;
        self.line_ui(ui, view, "Added", from.created, actions);
        if from.changed > from.created {
            self.line_ui(ui, view, "Last changed", from.changed, actions);
        }
    }

    fn line_ui(
        &self,
        ui: &mut Ui,
        view: &View<'_>,
        word: &str,
        revision: Revision,
        actions: &mut Vec<Action>,
    ) {
        if revision == Revision::START {
            muted_ui(ui, view.theme, "There since the workspace was first opened");
            return;
        }
        let Some(Some(entry)) = self.operations.known.get(&revision) else {
            muted_ui(ui, view.theme, format!("{word} in revision {revision}"));
            return;
        };
        let text = format!(
            "{word} by {} in revision {revision} · {}",
            describe_actor(entry),
            ago(now(), entry.time)
        );
        let link = egui::Link::new(RichText::new(&text).small());
        if ui.add(link).on_hover_text("Show it in the log").clicked() {
            actions.push(Action::ShowOperation(revision));
        }
        ui.add(egui::Label::new(RichText::new(&entry.summary).small().color(view.theme.text_muted)).wrap());
        if let Some(origin) = self.operations.origins.get(&revision) {
            self.origin_ui(ui, view, origin, actions);
        }
    }

    /// The proposal that it came from, and who said yes to it.
    fn origin_ui(&self, ui: &mut Ui, view: &View<'_>, origin: &Origin, actions: &mut Vec<Action>) {
        let text = format!(
            "Came from proposal {} by {}, accepted by {}",
            origin.number,
            line(&origin.client),
            line(&origin.reviewer)
        );
        let link = ui.add(egui::Link::new(RichText::new(&text).small()));
        if link.on_hover_text(line(&origin.title)).clicked() {
            actions.push(Action::OpenProposal(origin.proposal));
        }
        muted_ui(ui, view.theme, "The client's name is what it calls itself");
    }
}
