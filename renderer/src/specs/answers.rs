//! Cache of main's answers about bundles, valid until the bundle changes, and the pending questions. The old answer stays
//! visible while a newer one is loading, which avoids flicker. Must not know: widgets.

use super::schema::EntityFormSchema;
use crate::{
    main_request::MainRequest,
    view::{SpecAction, SpecResponse, WindowAction},
};
use shared_protocol::{
    OrderedValue, Refusal,
    bundle::{BundleDiagnostic, BundlesView, EntityRef, EntitySummary, EntityView, RelationCoverageView},
    request::Request,
    requests::{
        ListDiagnostics, ListEntities, MeasureCoverage, ReadKnowledge, ReadSchema, SearchEntities,
        ShowEntity, WorkbenchRequest,
    },
};
use std::collections::BTreeMap;

/// The maximum number of cached entities. Evicted entities are requested again when they are shown.
const MAX_CACHED_ENTITIES: usize = 64;

#[derive(Debug)]
pub(crate) struct CachedSpecAnswer<T> {
    pub(crate) value: Option<T>,
    pub(crate) refused: Option<Refusal>,
    pub(super) requested: Option<u64>,
    /// The number of answers received.
    pub(crate) version: u64,
}

impl<T> Default for CachedSpecAnswer<T> {
    fn default() -> Self {
        Self { value: None, refused: None, requested: None, version: 0 }
    }
}

impl<T> CachedSpecAnswer<T> {
    /// Returns whether a request is needed for this generation, and marks it as sent.
    fn must_request(&mut self, generation: u64) -> bool {
        self.requested.replace(generation) != Some(generation)
    }

    pub(super) fn receive(&mut self, result: Result<T, Refusal>) {
        self.version += 1;
        match result {
            Ok(value) => (self.value, self.refused) = (Some(value), None),
            Err(refusal) => self.refused = Some(refusal),
        }
    }
}

#[derive(Debug, Default)]
pub(crate) struct EntityList {
    pub(crate) entities: Vec<EntitySummary>,
    /// The search key of each entity: id and title in lower case.
    pub(crate) keys: Vec<String>,
}

impl EntityList {
    pub(super) fn from_summaries(entities: Vec<EntitySummary>) -> Self {
        let key = |summary: &EntitySummary| format!("{} {}", summary.entity.id, summary.title).to_lowercase();
        Self { keys: entities.iter().map(key).collect(), entities }
    }

    /// Returns the indices of the entities that contain every word of the query.
    pub(crate) fn matching<'a>(&'a self, query: &str) -> impl Iterator<Item = usize> + 'a {
        let words: Vec<String> = query.to_lowercase().split_whitespace().map(str::to_owned).collect();
        let fits = move |key: &String| words.iter().all(|word| key.contains(word.as_str()));
        self.keys.iter().enumerate().filter(move |(_, key)| fits(key)).map(|(place, _)| place)
    }
}

/// An entity with its parsed data and schema.
#[derive(Debug, Clone)]
pub(crate) struct LoadedEntity {
    pub(crate) view: EntityView,
    pub(crate) data: OrderedValue,
    pub(crate) schema: EntityFormSchema,
}

impl LoadedEntity {
    pub(super) fn from_view(view: EntityView) -> Self {
        let data = serde_json::from_str(&view.data).unwrap_or_default();
        let schema = EntityFormSchema::from_view(&view.schema);
        Self { view, data, schema }
    }
}

/// A part of a bundle that is read when it is shown.
#[derive(Debug, Clone, PartialEq)]
pub(crate) enum SpecQuestion {
    Entities(String),
    Entity(EntityRef),
    Schema(String, String),
    Diagnostics(String),
    Coverage(String),
    Knowledge(String),
}

#[derive(Debug, Default)]
pub(crate) struct SpecAnswers {
    pub(super) entities: BTreeMap<String, CachedSpecAnswer<EntityList>>,
    pub(super) entity: BTreeMap<EntityRef, CachedSpecAnswer<LoadedEntity>>,
    /// By bundle and type of the entity.
    pub(super) schemas: BTreeMap<(String, String), CachedSpecAnswer<EntityFormSchema>>,
    pub(super) diagnostics: BTreeMap<String, CachedSpecAnswer<Vec<BundleDiagnostic>>>,
    pub(super) coverage: BTreeMap<String, CachedSpecAnswer<Vec<RelationCoverageView>>>,
    pub(super) knowledge: BTreeMap<String, CachedSpecAnswer<String>>,
    pub(crate) search_results: (String, Vec<EntitySummary>),
    searching: Option<String>,
    /// The number of the workspace, so that responses about another one are ignored.
    workspace: u64,
    /// Requests that the window has not sent yet.
    pub(crate) unsent: Vec<MainRequest<WindowAction>>,
}

impl SpecAnswers {
    /// Requests an answer about a bundle. It names the subject.
    pub(crate) fn request<R: Request<Frame = WorkbenchRequest>, S: Clone + 'static>(
        &mut self,
        request: R,
        subject: S,
        response: fn(S, Result<R::Response, Refusal>) -> SpecResponse,
    ) {
        let workspace = self.workspace;
        self.unsent.push(MainRequest::new(request, move |result| {
            let response = Box::new(response(subject.clone(), result));
            Some(WindowAction::Spec(SpecAction::Receive { workspace, response }))
        }));
    }

    /// Requests an answer, unless it was already requested for this generation or the bundle does not exist.
    pub(crate) fn want(&mut self, bundles: &BundlesView, question: SpecQuestion) {
        let bundle = match &question {
            SpecQuestion::Entity(entity) => &entity.bundle,
            SpecQuestion::Entities(bundle)
            | SpecQuestion::Schema(bundle, _)
            | SpecQuestion::Diagnostics(bundle)
            | SpecQuestion::Coverage(bundle)
            | SpecQuestion::Knowledge(bundle) => bundle,
        };
        let Some(generation) = generation(bundles, bundle) else { return };
        match question {
            SpecQuestion::Entities(id) => {
                if self.entities.entry(id.clone()).or_default().must_request(generation) {
                    self.request(ListEntities { bundle: id.clone() }, id, SpecResponse::Entities);
                }
            }
            SpecQuestion::Entity(entity) => {
                if self.entity.len() >= MAX_CACHED_ENTITIES && !self.entity.contains_key(&entity) {
                    self.entity.clear();
                }
                if self.entity.entry(entity.clone()).or_default().must_request(generation) {
                    self.request(ShowEntity { entity: entity.clone() }, entity, SpecResponse::Entity);
                }
            }
            SpecQuestion::Schema(bundle, entity_type) => {
                let key = (bundle.clone(), entity_type.clone());
                if self.schemas.entry(key.clone()).or_default().must_request(generation) {
                    self.request(ReadSchema { bundle, entity_type }, key, SpecResponse::Schema);
                }
            }
            SpecQuestion::Diagnostics(id) => {
                if self.diagnostics.entry(id.clone()).or_default().must_request(generation) {
                    self.request(ListDiagnostics { bundle: id.clone() }, id, SpecResponse::Diagnostics);
                }
            }
            SpecQuestion::Coverage(id) => {
                if self.coverage.entry(id.clone()).or_default().must_request(generation) {
                    self.request(MeasureCoverage { bundle: id.clone() }, id, SpecResponse::Coverage);
                }
            }
            SpecQuestion::Knowledge(id) => {
                if self.knowledge.entry(id.clone()).or_default().must_request(generation) {
                    self.request(ReadKnowledge { bundle: id.clone() }, id, SpecResponse::Knowledge);
                }
            }
        }
    }

    pub(crate) fn known_schema(&self, bundle: &str, entity_type: &str) -> Option<&EntityFormSchema> {
        self.schemas.get(&(bundle.to_owned(), entity_type.to_owned()))?.value.as_ref()
    }

    /// Searches all bundles. Only one search runs at a time; the newest query follows it.
    pub(crate) fn search(&mut self, query: &str, limit: u32) {
        let query = query.trim();
        if query.is_empty() || self.search_results.0 == query || self.searching.is_some() {
            return;
        }
        self.searching = Some(query.to_owned());
        let query = query.to_owned();
        let request = SearchEntities { bundle: None, query: query.clone(), limit };
        self.request(request, query, SpecResponse::Found);
    }

    /// Clears the cache, because another workspace may have a bundle with the same name.
    pub(crate) fn clear(&mut self) {
        *self = Self { workspace: self.workspace + 1, ..Self::default() };
    }

    /// Returns whether a response is about the open workspace.
    pub(crate) fn is_current(&self, workspace: u64) -> bool {
        self.workspace == workspace
    }

    pub(crate) fn receive_found(&mut self, query: String, result: Result<Vec<EntitySummary>, Refusal>) {
        self.searching = None;
        // A failed search counts as no results; the next query tries again.
        self.search_results = (query, result.unwrap_or_default());
    }
}

pub(crate) fn generation(bundles: &BundlesView, bundle: &str) -> Option<u64> {
    bundles.bundles.iter().find(|known| known.id == bundle).map(|known| known.generation)
}
