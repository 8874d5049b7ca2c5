//! Spec bundles in the window: the navigator, the reader with its forms, findings, coverage and domain knowledge.
//!
//! All data comes from main and is cached until the bundle changes ([`answers`]). Every change is one request in the
//! format of `apply_changes` ([`draft`]). Must not know: YAML, how a bundle is checked.

mod answers;
mod coverage;
mod diagnostics;
mod draft;
mod editing;
mod entity;
mod findings;
mod form;
mod json;
mod knowledge;
mod lines;
mod look;
mod navigator;
mod new_entity;
mod picking;
mod reader;
mod schema;
mod table;
mod values;

use answers::Question;
pub(crate) use look::type_look;
pub(crate) use new_entity::NewEntity;

use crate::view::{Action, Page, SpecAction, View, entity_of, spec_history as history};
use answers::Answers;
use coverage::CoverageView;
use diagnostics::DiagnosticList;
use draft::{Checked, Draft};
use egui::Ui;
use entity::Reading;
use findings::Findings;
use knowledge::Knowledge;
use navigator::Navigator;
use picking::Picking;
use shared_protocol::{
    BoardId, Code, Refusal,
    bundle::{BundleAnswer, BundleRequest, BundleView, EntityRef, EntitySummary},
    messages::Answer,
};
use std::collections::{BTreeMap, BTreeSet};

/// The maximum number of entities in a search of the whole workspace.
const MOST_FOUND: u32 = 30;

/// The effect of an answer on the window.
#[derive(Debug)]
pub(crate) enum Outcome {
    Nothing,
    Refused(Refusal),
    ShowBoard(BoardId),
    /// An entity was created; its page replaces the form.
    Made(Page, EntityRef),
    Deleted(EntityRef),
}

#[derive(Default)]
pub(crate) struct Specs {
    /// The bundle in the navigator. The first bundle is shown when this one does not exist.
    chosen: Option<String>,
    answers: Answers,
    navigator: Navigator,
    reading: Reading,
    drafts: BTreeMap<Page, Draft>,
    picking: Picking,
    coverage: CoverageView,
    knowledge: Knowledge,
    diagnostics: DiagnosticList,
}

impl Specs {
    pub(crate) fn navigator_ui(&mut self, ui: &mut Ui, view: &View<'_>, actions: &mut Vec<Action>) {
        let drafts: BTreeSet<EntityRef> = self
            .drafts
            .iter()
            .filter(|(_, draft)| draft.is_changed())
            .filter_map(|(page, _)| page.entity().cloned())
            .collect();
        self.navigator.show_ui(ui, view, &mut self.answers, &mut self.chosen, &drafts, actions);
    }

    /// Draws the filters of the findings in the problems panel.
    pub(crate) fn finding_filters_ui(&mut self, ui: &mut Ui, view: &View<'_>, actions: &mut Vec<Action>) {
        for bundle in &view.bundles.bundles {
            self.answers.want(view.bundles, Question::Diagnostics(bundle.id.clone()), actions);
        }
        self.diagnostics.filters_ui(ui, view, &self.answers);
    }

    pub(crate) fn findings_ui(&mut self, ui: &mut Ui, view: &View<'_>, actions: &mut Vec<Action>) {
        self.diagnostics.show_ui(ui, view, &self.answers, actions);
    }

    /// Draws a summary of the selected node's entity, for the inspector.
    pub(crate) fn brief_ui(&mut self, ui: &mut Ui, view: &View<'_>, actions: &mut Vec<Action>) {
        let Some(of) = entity_of(view) else { return };
        self.answers.want(view.bundles, Question::Entity(of.clone()), actions);
        let known = self.answers.entity(&of);
        if let Some(found) = known.and_then(|known| known.value.as_ref()) {
            entity::brief_ui(ui, view, found, actions);
        } else if let Some(refusal) = known.and_then(|known| known.refused.as_ref()) {
            crate::widgets::muted_ui(ui, view.theme, refusal.to_string());
        }
        ui.separator();
    }

    /// The default bundle of commands: that of the open page, or else the one in the navigator.
    pub(crate) fn bundle<'a>(&self, view: &View<'a>) -> Option<&'a BundleView> {
        let page = view.history.current().map(Page::bundle);
        let of_page = view.bundles.bundles.iter().find(|bundle| Some(bundle.id.as_str()) == page);
        of_page.or_else(|| navigator::chosen_bundle(view, self.chosen.as_deref()))
    }

    /// Searches all bundles for the query of the command palette.
    pub(crate) fn search(&mut self, query: &str, actions: &mut Vec<Action>) {
        self.answers.search(query, MOST_FOUND, actions);
    }

    /// Returns the entities of all bundles that contain every word, in bundle order.
    pub(crate) fn find_everywhere(
        &mut self,
        view: &View<'_>,
        query: &str,
        most: usize,
        actions: &mut Vec<Action>,
    ) -> Vec<EntitySummary> {
        for bundle in &view.bundles.bundles {
            self.answers.want(view.bundles, Question::Entities(bundle.id.clone()), actions);
        }
        let lists = view
            .bundles
            .bundles
            .iter()
            .filter_map(|bundle| self.answers.entities(&bundle.id)?.value.as_ref());
        lists
            .flat_map(|list| list.matching(query).map(|place| list.entities[place].clone()))
            .take(most)
            .collect()
    }

    /// The latest search results, possibly of an older query.
    pub(crate) fn found(&self) -> &[EntitySummary] {
        &self.answers.found.1
    }

    /// Updates the state after navigation to another page.
    pub(crate) fn turned(&mut self, page: Option<&Page>) {
        self.reading.lit = None;
        if let Some(page) = page {
            self.chosen = Some(page.bundle().to_owned());
        }
    }

    pub(crate) fn go_to(&mut self, field: &str) {
        self.reading.go_to(field);
    }

    /// Returns the known referrers of an entity, each with its field.
    pub(crate) fn referrers(&self, of: &EntityRef) -> Vec<String> {
        let known = self.answers.entity(of).and_then(|known| known.value.as_ref());
        let incoming = known.map(|entity| entity.view.incoming.as_slice()).unwrap_or_default();
        let others = incoming.iter().filter(|relation| relation.entity != *of);
        others
            .map(|relation| format!("{} ({})", relation.entity.id, schema::words(&relation.field)))
            .collect()
    }

    pub(crate) fn edit(&mut self, of: &EntityRef) {
        let known = self.answers.entity(of).and_then(|known| known.value.as_ref());
        if let Some(entity) = known {
            self.drafts.entry(Page::Entity(of.clone())).or_insert_with(|| Draft::of(&entity.data));
        }
    }

    /// Saves the draft of a page, if it can be saved.
    pub(crate) fn save(&mut self, page: &Page, actions: &mut Vec<Action>) {
        let Some(draft) = self.drafts.get_mut(page) else { return };
        let entity = match page {
            Page::Entity(entity) => entity.clone(),
            Page::New { bundle, entity_type } => {
                let schema = self.answers.schema(bundle, entity_type).and_then(|known| known.value.as_ref());
                let Some(schema) = schema else { return };
                let id = draft.id(&schema.id_field).to_owned();
                EntityRef { bundle: bundle.clone(), entity_type: entity_type.clone(), id }
            }
            Page::Knowledge(_) | Page::Coverage(_) => return,
        };
        editing::save(page, &entity, draft, &mut self.answers, actions);
    }

    pub(crate) fn delete(&mut self, entity: &EntityRef, actions: &mut Vec<Action>) {
        let change = serde_json::json!([{
            "operation": "delete", "entityType": entity.entity_type, "entityId": entity.id,
        }]);
        let request = BundleRequest::Change {
            bundle: entity.bundle.clone(),
            changes: change.to_string(),
            dry_run: false,
        };
        self.answers.ask(Question::Delete(entity.clone()), request, actions);
    }

    pub(crate) fn draw_map(&mut self, request: BundleRequest, actions: &mut Vec<Action>) {
        self.answers.ask(Question::Map, request, actions);
    }

    /// Clears all state after another workspace was opened.
    pub(crate) fn reset(&mut self) {
        let mut answers = std::mem::take(&mut self.answers);
        answers.clear();
        *self = Self { answers, ..Self::default() };
    }

    /// Handles a request that could not be sent to main.
    pub(crate) fn lost(&mut self, ticket: u64) -> Outcome {
        let refusal = Refusal::new(Code::Timeout, "the workbench did not receive the request")
            .hint("Try again in a moment.");
        self.answered(ticket, Err(refusal))
    }

    pub(crate) fn answered(&mut self, ticket: u64, result: Result<Answer, Refusal>) -> Outcome {
        let Some(question) = self.answers.question(ticket) else { return Outcome::Nothing };
        let Some(result) = self.answers.receive(&question, result) else {
            if let Question::Entity(of) = &question {
                self.rebase(of);
            }
            return Outcome::Nothing;
        };
        match question {
            Question::Check(page, version) => {
                self.checked(&page, version, result);
                Outcome::Nothing
            }
            Question::Save(page) => self.saved(page, result),
            Question::Delete(entity) => match result {
                Ok(_) => Outcome::Deleted(entity),
                Err(refusal) => Outcome::Refused(refusal),
            },
            Question::Map => match result {
                Ok(Answer::Bundle(BundleAnswer::Map { board, .. })) => Outcome::ShowBoard(board),
                Ok(_) => Outcome::Nothing,
                Err(refusal) => Outcome::Refused(refusal),
            },
            _ => Outcome::Nothing,
        }
    }

    /// Rebases the draft of an entity that was loaded again.
    fn rebase(&mut self, of: &EntityRef) {
        let known = self.answers.entity(of).and_then(|known| known.value.as_ref());
        if let (Some(entity), Some(draft)) = (known, self.drafts.get_mut(&Page::Entity(of.clone()))) {
            draft.rebase(&entity.data);
        }
    }

    fn checked(&mut self, page: &Page, version: u64, result: Result<Answer, Refusal>) {
        let Some(draft) = self.drafts.get_mut(page) else { return };
        draft.is_checking = false;
        match result {
            Ok(Answer::Bundle(BundleAnswer::Checked { possible, diagnostics, .. })) => {
                let findings = Findings::of_check(&diagnostics);
                draft.checked = Some(Checked { version, possible, findings });
            }
            Ok(_) => {}
            // The check failed; saving will report the reason.
            Err(refusal) => {
                tracing::debug!(%refusal, "a dry run was refused");
                draft.checked = None;
            }
        }
    }

    fn saved(&mut self, page: Page, result: Result<Answer, Refusal>) -> Outcome {
        let Some(draft) = self.drafts.get_mut(&page) else { return Outcome::Nothing };
        draft.is_saving = false;
        if let Err(refusal) = result {
            draft.refused = Some(schema::sentence(&refusal.to_string()));
            return Outcome::Nothing;
        }
        let Some(draft) = self.drafts.remove(&page) else { return Outcome::Nothing };
        match &page {
            Page::Entity(of) => {
                // The saved values apply immediately; the rest follows with the next answer.
                if let Some(known) = self.answers.entity_mut(of) {
                    known.forget_asking();
                    if let Some(entity) = &mut known.value {
                        entity.data = draft.values;
                    }
                }
                Outcome::Nothing
            }
            Page::New { bundle, entity_type } => {
                let schema = self.answers.schema(bundle, entity_type).and_then(|known| known.value.as_ref());
                let id_field = schema.map_or("id", |schema| schema.id_field.as_str());
                let id = draft.id(id_field).to_owned();
                let entity = EntityRef { bundle: bundle.clone(), entity_type: entity_type.clone(), id };
                Outcome::Made(page, entity)
            }
            Page::Knowledge(_) | Page::Coverage(_) => Outcome::Nothing,
        }
    }
}
