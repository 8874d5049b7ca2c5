//! Spec bundles in the window: the navigator, the reader with its forms, findings, coverage and domain knowledge.
//!
//! All data comes from main and is cached until the bundle changes ([`answers`]). Every change is one request in the
//! format of `apply_changes` ([`draft`]). Must not know: YAML, how a bundle is checked.

pub(crate) mod answers;
mod coverage;
mod diagnostics;
mod draft;
mod entity;
mod entity_form;
mod entity_look;
mod entity_picker;
mod findings;
mod form_controls;
mod knowledge;
mod navigator;
mod navigator_lines;
mod new_entity;
mod reader;
mod schema;
mod table;
mod values;

use answers::SpecQuestion;
pub(crate) use entity_look::type_look;
pub(crate) use new_entity::NewEntityPicker;

use crate::view::{FrameView, SpecAction, SpecPage, SpecResponse, entity_of, spec_history as history};
use answers::{EntityList, LoadedEntity, SpecAnswers};
use coverage::CoveragePage;
use diagnostics::SpecFindingsList;
use draft::{EntityDraftCheck, EntityFormDraft};
use egui::Ui;
use entity::SpecReaderState;
use entity_picker::EntityPicker;
use findings::EntityFindings;
use knowledge::KnowledgePage;
use navigator::SpecNavigator;
use schema::EntityFormSchema;
use shared_protocol::{
    BoardId, Refusal,
    bundle::{BundleView, EntityRef, EntitySummary},
    messages::AppliedCommand,
    requests::{ChangeBundle, CheckedBundle, DrawMap},
};
use std::collections::{BTreeMap, BTreeSet};

/// The maximum number of entities in a search of the whole workspace.
const MAX_SEARCH_ENTITIES: u32 = 30;

/// The effect of an answer on the window.
#[derive(Debug)]
pub(crate) enum SpecOutcome {
    Nothing,
    Refused(Refusal),
    ShowBoard(BoardId),
    /// An entity was created; its page replaces the form.
    Made(SpecPage, EntityRef),
    Deleted(EntityRef),
}

#[derive(Default)]
pub(crate) struct SpecsFeature {
    /// The bundle in the navigator. The first bundle is shown when this one does not exist.
    selected_bundle: Option<String>,
    pub(crate) answers: SpecAnswers,
    navigator: SpecNavigator,
    reading: SpecReaderState,
    drafts: BTreeMap<SpecPage, EntityFormDraft>,
    picking: EntityPicker,
    coverage: CoveragePage,
    knowledge: KnowledgePage,
    diagnostics: SpecFindingsList,
}

impl SpecsFeature {
    pub(crate) fn navigator_ui(&mut self, ui: &mut Ui, view: &FrameView<'_>) {
        let drafts: BTreeSet<EntityRef> = self
            .drafts
            .iter()
            .filter(|(_, draft)| draft.is_changed())
            .filter_map(|(page, _)| page.entity().cloned())
            .collect();
        self.navigator.show_ui(ui, view, &mut self.answers, &mut self.selected_bundle, &drafts);
    }

    /// Draws the filters of the findings in the problems panel.
    pub(crate) fn finding_filters_ui(&mut self, ui: &mut Ui, view: &FrameView<'_>) {
        for bundle in &view.bundles.bundles {
            self.answers.want(view.bundles, SpecQuestion::Diagnostics(bundle.id.clone()));
        }
        self.diagnostics.filters_ui(ui, view, &self.answers);
    }

    pub(crate) fn findings_ui(&mut self, ui: &mut Ui, view: &FrameView<'_>) {
        self.diagnostics.show_ui(ui, view, &self.answers);
    }

    /// Draws a summary of the selected node's entity, for the inspector.
    pub(crate) fn brief_ui(&mut self, ui: &mut Ui, view: &FrameView<'_>) {
        let Some(of) = entity_of(view) else { return };
        self.answers.want(view.bundles, SpecQuestion::Entity(of.clone()));
        let known = self.answers.entity.get(&of);
        if let Some(found) = known.and_then(|known| known.value.as_ref()) {
            entity::brief_ui(ui, view, found);
        } else if let Some(refusal) = known.and_then(|known| known.refused.as_ref()) {
            crate::widgets::muted_ui(ui, view.theme, refusal.to_string());
        }
        ui.separator();
    }

    /// The default bundle of commands: that of the open page, or else the one in the navigator.
    pub(crate) fn bundle<'a>(&self, view: &FrameView<'a>) -> Option<&'a BundleView> {
        let page = view.history.current().map(SpecPage::bundle);
        let of_page = view.bundles.bundles.iter().find(|bundle| Some(bundle.id.as_str()) == page);
        of_page.or_else(|| navigator::selected_bundle(view, self.selected_bundle.as_deref()))
    }

    /// Searches all bundles for the query of the command palette.
    pub(crate) fn search(&mut self, query: &str) {
        self.answers.search(query, MAX_SEARCH_ENTITIES);
    }

    /// Returns the entities of all bundles that contain every word, in bundle order.
    pub(crate) fn find_everywhere(
        &mut self,
        view: &FrameView<'_>,
        query: &str,
        most: usize,
    ) -> Vec<EntitySummary> {
        for bundle in &view.bundles.bundles {
            self.answers.want(view.bundles, SpecQuestion::Entities(bundle.id.clone()));
        }
        let lists = view
            .bundles
            .bundles
            .iter()
            .filter_map(|bundle| self.answers.entities.get(&bundle.id)?.value.as_ref());
        lists
            .flat_map(|list| list.matching(query).map(|place| list.entities[place].clone()))
            .take(most)
            .collect()
    }

    /// The latest search results, possibly of an older query.
    pub(crate) fn search_results(&self) -> &[EntitySummary] {
        &self.answers.search_results.1
    }

    /// Updates the state after navigation to another page.
    pub(crate) fn handle_navigation(&mut self, page: Option<&SpecPage>) {
        self.reading.lit = None;
        if let Some(page) = page {
            self.selected_bundle = Some(page.bundle().to_owned());
        }
    }

    pub(crate) fn go_to(&mut self, field: &str) {
        self.reading.go_to(field);
    }

    /// Returns the known referrers of an entity, each with its field.
    pub(crate) fn referrers(&self, of: &EntityRef) -> Vec<String> {
        let known = self.answers.entity.get(of).and_then(|known| known.value.as_ref());
        let incoming = known.map(|entity| entity.view.incoming.as_slice()).unwrap_or_default();
        let others = incoming.iter().filter(|relation| relation.entity != *of);
        others
            .map(|relation| format!("{} ({})", relation.entity.id, schema::humanise(&relation.field)))
            .collect()
    }

    pub(crate) fn edit(&mut self, of: &EntityRef) {
        let known = self.answers.entity.get(of).and_then(|known| known.value.as_ref());
        if let Some(entity) = known {
            self.drafts
                .entry(SpecPage::Entity(of.clone()))
                .or_insert_with(|| EntityFormDraft::from_data(&entity.data));
        }
    }

    /// Saves the draft of a page, if it can be saved.
    pub(crate) fn save(&mut self, page: &SpecPage) {
        let Some(draft) = self.drafts.get_mut(page) else { return };
        let entity = match page {
            SpecPage::Entity(entity) => entity.clone(),
            SpecPage::New { bundle, entity_type } => {
                let schema = self.answers.known_schema(bundle, entity_type);
                let Some(schema) = schema else { return };
                let id = draft.id(&schema.id_field).to_owned();
                EntityRef { bundle: bundle.clone(), entity_type: entity_type.clone(), id }
            }
            SpecPage::Knowledge(_) | SpecPage::Coverage(_) => return,
        };
        entity_form::save(page, &entity, draft, &mut self.answers);
    }

    pub(crate) fn delete(&mut self, entity: &EntityRef) {
        let change = serde_json::json!([{
            "operation": "delete", "entityType": entity.entity_type, "entityId": entity.id,
        }]);
        let request = ChangeBundle { bundle: entity.bundle.clone(), changes: change.to_string() };
        self.answers.request(request, entity.clone(), SpecResponse::Deleted);
    }

    pub(crate) fn draw_map(&mut self, request: DrawMap) {
        self.answers.request(request, (), SpecResponse::Map);
    }

    /// Clears all state after another workspace was opened.
    pub(crate) fn reset(&mut self) {
        let mut answers = std::mem::take(&mut self.answers);
        answers.clear();
        *self = Self { answers, ..Self::default() };
    }

    pub(crate) fn receive(&mut self, workspace: u64, response: SpecResponse) -> SpecOutcome {
        if !self.answers.is_current(workspace) {
            return SpecOutcome::Nothing;
        }
        match response {
            SpecResponse::Entity(entity, result) => {
                let loaded = result.map(LoadedEntity::from_view);
                self.answers.entity.entry(entity.clone()).or_default().receive(loaded);
                self.rebase(&entity);
            }
            SpecResponse::Checked((page, version), result) => self.receive_check(&page, version, result),
            SpecResponse::Saved(page, result) => return self.receive_saved(page, result),
            SpecResponse::Deleted(entity, result) => {
                return result.map_or_else(SpecOutcome::Refused, |_| SpecOutcome::Deleted(entity));
            }
            SpecResponse::Map((), result) => {
                return result.map_or_else(SpecOutcome::Refused, |drawn| SpecOutcome::ShowBoard(drawn.board));
            }
            SpecResponse::Entities(bundle, result) => {
                let list = result.map(EntityList::from_summaries);
                self.answers.entities.entry(bundle).or_default().receive(list);
            }
            SpecResponse::Schema(key, result) => {
                let schema = result.map(|view| EntityFormSchema::from_view(&view));
                self.answers.schemas.entry(key).or_default().receive(schema);
            }
            SpecResponse::Diagnostics(bundle, result) => {
                self.answers.diagnostics.entry(bundle).or_default().receive(result);
            }
            SpecResponse::Coverage(bundle, result) => {
                self.answers.coverage.entry(bundle).or_default().receive(result);
            }
            SpecResponse::Knowledge(bundle, result) => {
                self.answers.knowledge.entry(bundle).or_default().receive(result);
            }
            SpecResponse::Found(query, result) => self.answers.receive_found(query, result),
        }
        SpecOutcome::Nothing
    }

    /// Rebases the draft of an entity that was loaded again.
    fn rebase(&mut self, of: &EntityRef) {
        let known = self.answers.entity.get(of).and_then(|known| known.value.as_ref());
        if let (Some(entity), Some(draft)) = (known, self.drafts.get_mut(&SpecPage::Entity(of.clone()))) {
            draft.rebase(&entity.data);
        }
    }

    fn receive_check(&mut self, page: &SpecPage, version: u64, result: Result<CheckedBundle, Refusal>) {
        let Some(draft) = self.drafts.get_mut(page) else { return };
        draft.is_checking = false;
        match result {
            Ok(CheckedBundle { possible, diagnostics, .. }) => {
                let findings = EntityFindings::of_check(&diagnostics);
                draft.checked = Some(EntityDraftCheck { version, possible, findings });
            }
            // The check failed; saving will report the reason.
            Err(refusal) => {
                tracing::debug!(%refusal, "a dry run was refused");
                draft.checked = None;
            }
        }
    }

    fn receive_saved(&mut self, page: SpecPage, result: Result<AppliedCommand, Refusal>) -> SpecOutcome {
        let Some(draft) = self.drafts.get_mut(&page) else { return SpecOutcome::Nothing };
        draft.is_saving = false;
        if let Err(refusal) = result {
            draft.refused = Some(shared_protocol::text::capitalize(&refusal.to_string()));
            return SpecOutcome::Nothing;
        }
        let Some(draft) = self.drafts.remove(&page) else { return SpecOutcome::Nothing };
        match &page {
            SpecPage::Entity(of) => {
                // The saved values apply immediately; the rest follows with the next answer.
                if let Some(known) = self.answers.entity.get_mut(of) {
                    known.requested = None;
                    if let Some(entity) = &mut known.value {
                        entity.data = draft.values;
                    }
                }
                SpecOutcome::Nothing
            }
            SpecPage::New { bundle, entity_type } => {
                let schema = self.answers.known_schema(bundle, entity_type);
                let id_field = schema.map_or("id", |schema| schema.id_field.as_str());
                let id = draft.id(id_field).to_owned();
                let entity = EntityRef { bundle: bundle.clone(), entity_type: entity_type.clone(), id };
                SpecOutcome::Made(page, entity)
            }
            SpecPage::Knowledge(_) | SpecPage::Coverage(_) => SpecOutcome::Nothing,
        }
    }
}
