//! The provenance of the selection: the operation that created it and the last one that changed it. The snapshot has
//! their revisions; actor, time and summary are requested when they are shown.

use super::InspectorFeature;
use crate::{
    features::inspector::{InspectorContext, InspectorReply},
    view::WindowAction,
    widgets::{muted_ui, small_text_ui},
    wording::{ago, describe_actor, line, unix_millis},
};
use egui::{RichText, Ui};
use shared_protocol::{
    ElementId, Revision, decisions::ListOrigins, messages::OperationLogEntry, requests::ReadOperations,
    review::ProposalOfOperation,
};
use std::collections::BTreeMap;

const MAX_OPERATIONS: usize = 256;

#[derive(Default)]
pub(crate) struct ElementHistory {
    /// `None`: the log no longer has the operation.
    entries: BTreeMap<Revision, Option<OperationLogEntry>>,
    requested: Vec<Revision>,
    /// Operations without an origin did not come from a proposal.
    pub(super) origins: BTreeMap<Revision, ProposalOfOperation>,
}

impl ElementHistory {
    /// Operations that main leaves out are no longer in the log.
    pub(crate) fn receive(&mut self, entries: Vec<OperationLogEntry>) {
        if self.entries.len() > MAX_OPERATIONS {
            self.entries.clear();
            self.origins.clear();
        }
        for revision in std::mem::take(&mut self.requested) {
            self.entries.entry(revision).or_insert(None);
        }
        self.entries.extend(entries.into_iter().map(|entry| (entry.revision, Some(entry))));
    }

    fn request(&mut self, wanted: [Revision; 2], cx: &InspectorContext<'_>) {
        let unknown =
            |revision: &Revision| *revision > Revision::START && !self.entries.contains_key(revision);
        let mut missing: Vec<Revision> = wanted.into_iter().filter(unknown).collect();
        missing.dedup();
        if !missing.is_empty() && self.requested.is_empty() {
            self.requested.clone_from(&missing);
            cx.request(ListOrigins { revisions: missing.clone() }, InspectorReply::Origins);
            cx.request(ReadOperations { revisions: missing }, InspectorReply::Operations);
        }
    }
}

impl InspectorFeature {
    pub(super) fn history_ui(&mut self, ui: &mut Ui, cx: &InspectorContext<'_>, element: ElementId) {
        let from = cx.view.snapshot.provenance(element);
        self.operations.request([from.created, from.changed], cx);
        ui.add_space(8.0);
        ui.separator();
        ui.spacing_mut().item_spacing.y = 2.0;
        self.line_ui(ui, cx, "Added", from.created);
        if from.changed > from.created {
            self.line_ui(ui, cx, "Last changed", from.changed);
        }
    }

    fn line_ui(&self, ui: &mut Ui, cx: &InspectorContext<'_>, word: &str, revision: Revision) {
        if revision == Revision::START {
            muted_ui(ui, cx.view.theme, "Created when the workspace was opened");
            return;
        }
        let Some(Some(entry)) = self.operations.entries.get(&revision) else {
            muted_ui(ui, cx.view.theme, format!("{word} in revision {revision}"));
            return;
        };
        let text = format!(
            "{word} by {} in revision {revision} · {}",
            describe_actor(entry),
            ago(unix_millis(), entry.time)
        );
        let link = egui::Link::new(RichText::new(&text).small());
        if ui.add(link).on_hover_text("Show in the log").clicked() {
            cx.act(WindowAction::ShowOperation(revision));
        }
        small_text_ui(ui, cx.view.theme.text_muted, &entry.summary);
        if let Some(origin) = self.operations.origins.get(&revision) {
            self.origin_ui(ui, cx, origin);
        }
    }

    /// The proposal that an operation came from, and its reviewer.
    fn origin_ui(&self, ui: &mut Ui, cx: &InspectorContext<'_>, origin: &ProposalOfOperation) {
        let text = format!(
            "From proposal {} by {}, accepted by {}",
            origin.number,
            line(&origin.client),
            line(&origin.reviewer)
        );
        let link = ui.add(egui::Link::new(RichText::new(&text).small()));
        if link.on_hover_text(line(&origin.title)).clicked() {
            cx.act(WindowAction::OpenProposal(origin.proposal));
        }
        muted_ui(ui, cx.view.theme, "The client's name is unverified");
    }
}
