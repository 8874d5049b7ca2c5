//! Cache of main's answers about bundles, valid until the bundle changes, and the pending questions. The old answer stays
//! visible while a newer one is loading, which avoids flicker. Must not know: widgets.

use super::{SpecAction, history::SpecPage, json::OrderedJson, schema::EntityFormSchema};
use crate::view::WindowAction;
use shared_protocol::{
    Refusal,
    bundle::{
        BundleDiagnostic, BundleRequest, BundleResponse, BundlesView, EntityRef, EntitySummary, EntityView,
        RelationCoverageView,
    },
    messages::WorkbenchResponse,
};
use std::collections::BTreeMap;

/// The maximum number of cached entities. Evicted entities are requested again when they are shown.
const MAX_CACHED_ENTITIES: usize = 64;

/// A cached answer from main.
#[derive(Debug)]
pub(crate) struct CachedSpecAnswer<T> {
    pub(crate) value: Option<T>,
    /// The refusal of the last request.
    pub(crate) refused: Option<Refusal>,
    /// The bundle generation of the last request.
    requested_generation: Option<u64>,
    /// The number of answers received.
    pub(crate) version: u64,
}

impl<T> Default for CachedSpecAnswer<T> {
    fn default() -> Self {
        Self { value: None, refused: None, requested_generation: None, version: 0 }
    }
}

impl<T> CachedSpecAnswer<T> {
    /// Returns whether a request is needed for this generation, and marks it as sent.
    fn needs_request(&mut self, generation: u64) -> bool {
        self.requested_generation.replace(generation) != Some(generation)
    }

    fn receive(&mut self, result: Result<T, Refusal>) {
        self.version += 1;
        match result {
            Ok(value) => (self.value, self.refused) = (Some(value), None),
            Err(refusal) => self.refused = Some(refusal),
        }
    }

    /// Forces a new request when the answer is next shown.
    pub(crate) fn forget_asking(&mut self) {
        self.requested_generation = None;
    }
}

/// Summaries of all entities of a bundle.
#[derive(Debug, Default)]
pub(crate) struct EntityList {
    pub(crate) entities: Vec<EntitySummary>,
    /// The search key of each entity: id and title in lower case.
    pub(crate) keys: Vec<String>,
}

impl EntityList {
    fn from_summaries(entities: Vec<EntitySummary>) -> Self {
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
    pub(crate) data: OrderedJson,
    pub(crate) schema: EntityFormSchema,
}

impl LoadedEntity {
    fn from_view(view: EntityView) -> Self {
        let data = OrderedJson::parse(&view.data).unwrap_or_default();
        let schema = EntityFormSchema::from_view(&view.schema);
        Self { view, data, schema }
    }
}

/// A question to main about bundles.
#[derive(Debug, Clone, PartialEq)]
pub(crate) enum SpecQuestion {
    Entities(String),
    Entity(EntityRef),
    Schema(String, String),
    Diagnostics(String),
    Coverage(String),
    Knowledge(String),
    Search(String),
    /// A dry run of a form, with the version of its draft.
    Check(SpecPage, u64),
    Save(SpecPage),
    Delete(EntityRef),
    Map,
}

#[derive(Debug, Default)]
pub(crate) struct SpecAnswers {
    entities: BTreeMap<String, CachedSpecAnswer<EntityList>>,
    entity: BTreeMap<EntityRef, CachedSpecAnswer<LoadedEntity>>,
    schemas: BTreeMap<(String, String), CachedSpecAnswer<EntityFormSchema>>,
    diagnostics: BTreeMap<String, CachedSpecAnswer<Vec<BundleDiagnostic>>>,
    coverage: BTreeMap<String, CachedSpecAnswer<Vec<RelationCoverageView>>>,
    knowledge: BTreeMap<String, CachedSpecAnswer<String>>,
    /// The latest search results, with their query.
    pub(crate) search_results: (String, Vec<EntitySummary>),
    /// The query of the search in progress.
    searching: Option<String>,
    pending: BTreeMap<u64, SpecQuestion>,
    next: u64,
}

impl SpecAnswers {
    pub(crate) fn send_question(
        &mut self,
        question: SpecQuestion,
        request: BundleRequest,
        actions: &mut Vec<WindowAction>,
    ) {
        self.next += 1;
        self.pending.insert(self.next, question);
        actions.push(WindowAction::Spec(SpecAction::Ask { ticket: self.next, request }));
    }

    pub(crate) fn question(&mut self, ticket: u64) -> Option<SpecQuestion> {
        self.pending.remove(&ticket)
    }

    /// Requests an answer, unless it was already requested for this generation or the bundle does not exist.
    pub(crate) fn request_if_needed(
        &mut self,
        bundles: &BundlesView,
        question: SpecQuestion,
        actions: &mut Vec<WindowAction>,
    ) {
        let (bundle, request) = match &question {
            SpecQuestion::Entities(bundle) => (bundle, BundleRequest::Entities { bundle: bundle.clone() }),
            SpecQuestion::Entity(entity) => (&entity.bundle, BundleRequest::Entity(entity.clone())),
            SpecQuestion::Schema(bundle, entity_type) => {
                let (bundle_id, entity_type) = (bundle.clone(), entity_type.clone());
                (bundle, BundleRequest::Schema { bundle: bundle_id, entity_type })
            }
            SpecQuestion::Diagnostics(bundle) => {
                (bundle, BundleRequest::Diagnostics { bundle: bundle.clone() })
            }
            SpecQuestion::Coverage(bundle) => (bundle, BundleRequest::Coverage { bundle: bundle.clone() }),
            SpecQuestion::Knowledge(bundle) => (bundle, BundleRequest::Knowledge { bundle: bundle.clone() }),
            _ => return,
        };
        let Some(generation) = generation(bundles, bundle) else { return };
        let needs_request = match &question {
            SpecQuestion::Entities(bundle) => {
                self.entities.entry(bundle.clone()).or_default().needs_request(generation)
            }
            SpecQuestion::Entity(entity) => {
                if self.entity.len() >= MAX_CACHED_ENTITIES && !self.entity.contains_key(entity) {
                    self.entity.clear();
                }
                self.entity.entry(entity.clone()).or_default().needs_request(generation)
            }
            SpecQuestion::Schema(bundle, kind) => {
                self.schemas.entry((bundle.clone(), kind.clone())).or_default().needs_request(generation)
            }
            SpecQuestion::Diagnostics(bundle) => {
                self.diagnostics.entry(bundle.clone()).or_default().needs_request(generation)
            }
            SpecQuestion::Coverage(bundle) => {
                self.coverage.entry(bundle.clone()).or_default().needs_request(generation)
            }
            SpecQuestion::Knowledge(bundle) => {
                self.knowledge.entry(bundle.clone()).or_default().needs_request(generation)
            }
            _ => false,
        };
        if needs_request {
            self.send_question(question, request, actions);
        }
    }

    pub(crate) fn entities(&self, bundle: &str) -> Option<&CachedSpecAnswer<EntityList>> {
        self.entities.get(bundle)
    }

    pub(crate) fn entity(&self, entity: &EntityRef) -> Option<&CachedSpecAnswer<LoadedEntity>> {
        self.entity.get(entity)
    }

    pub(crate) fn entity_mut(&mut self, entity: &EntityRef) -> Option<&mut CachedSpecAnswer<LoadedEntity>> {
        self.entity.get_mut(entity)
    }

    pub(crate) fn schema(
        &self,
        bundle: &str,
        entity_type: &str,
    ) -> Option<&CachedSpecAnswer<EntityFormSchema>> {
        self.schemas.get(&(bundle.to_owned(), entity_type.to_owned()))
    }

    pub(crate) fn diagnostics(&self, bundle: &str) -> Option<&CachedSpecAnswer<Vec<BundleDiagnostic>>> {
        self.diagnostics.get(bundle)
    }

    pub(crate) fn coverage(&self, bundle: &str) -> Option<&CachedSpecAnswer<Vec<RelationCoverageView>>> {
        self.coverage.get(bundle)
    }

    pub(crate) fn knowledge(&self, bundle: &str) -> Option<&CachedSpecAnswer<String>> {
        self.knowledge.get(bundle)
    }

    /// Searches all bundles. Only one search runs at a time; the newest query follows it.
    pub(crate) fn search(&mut self, query: &str, limit: u32, actions: &mut Vec<WindowAction>) {
        let query = query.trim();
        if query.is_empty() || self.search_results.0 == query || self.searching.is_some() {
            return;
        }
        self.searching = Some(query.to_owned());
        let request = BundleRequest::Search { bundle: None, query: query.to_owned(), limit };
        self.send_question(SpecQuestion::Search(query.to_owned()), request, actions);
    }

    /// Clears the cache, because another workspace may have a bundle with the same name.
    pub(crate) fn clear(&mut self) {
        *self = Self { next: self.next, ..Self::default() };
    }

    /// Stores an answer. Returns the result when it does not belong in the cache.
    pub(crate) fn receive(
        &mut self,
        question: &SpecQuestion,
        result: Result<WorkbenchResponse, Refusal>,
    ) -> Option<Result<WorkbenchResponse, Refusal>> {
        match question {
            SpecQuestion::Entities(bundle) => {
                self.entities.entry(bundle.clone()).or_default().receive(pick(
                    result,
                    |answer| match answer {
                        BundleResponse::Entities { entities, .. } => {
                            Some(EntityList::from_summaries(entities))
                        }
                        _ => None,
                    },
                ));
            }
            SpecQuestion::Entity(entity) => {
                self.entity.entry(entity.clone()).or_default().receive(pick(result, |answer| match answer {
                    BundleResponse::Entity(view) => Some(LoadedEntity::from_view(*view)),
                    _ => None,
                }));
            }
            SpecQuestion::Schema(bundle, kind) => {
                let known = self.schemas.entry((bundle.clone(), kind.clone())).or_default();
                known.receive(pick(result, |answer| match answer {
                    BundleResponse::Schema(view) => Some(EntityFormSchema::from_view(&view)),
                    _ => None,
                }));
            }
            SpecQuestion::Diagnostics(bundle) => {
                let known = self.diagnostics.entry(bundle.clone()).or_default();
                known.receive(pick(result, |answer| match answer {
                    BundleResponse::Diagnostics(all) => Some(all),
                    _ => None,
                }));
            }
            SpecQuestion::Coverage(bundle) => {
                let known = self.coverage.entry(bundle.clone()).or_default();
                known.receive(pick(result, |answer| match answer {
                    BundleResponse::Coverage(all) => Some(all),
                    _ => None,
                }));
            }
            SpecQuestion::Knowledge(bundle) => {
                let known = self.knowledge.entry(bundle.clone()).or_default();
                known.receive(match result {
                    Ok(WorkbenchResponse::Text(text)) => Ok(text),
                    Ok(_) => Err(unexpected_answer()),
                    Err(refusal) => Err(refusal),
                });
            }
            SpecQuestion::Search(query) => {
                self.searching = None;
                let found = pick(result, |answer| match answer {
                    BundleResponse::Found(found) => Some(found),
                    _ => None,
                });
                // A failed search counts as no results; the next query tries again.
                self.search_results = (query.clone(), found.unwrap_or_default());
            }
            _ => return Some(result),
        }
        None
    }
}

pub(crate) fn generation(bundles: &BundlesView, bundle: &str) -> Option<u64> {
    bundles.bundles.iter().find(|known| known.id == bundle).map(|known| known.generation)
}

fn pick<T>(
    result: Result<WorkbenchResponse, Refusal>,
    part: impl FnOnce(BundleResponse) -> Option<T>,
) -> Result<T, Refusal> {
    match result? {
        WorkbenchResponse::Bundle(answer) => part(answer).ok_or_else(unexpected_answer),
        _ => Err(unexpected_answer()),
    }
}

fn unexpected_answer() -> Refusal {
    Refusal::new(shared_protocol::RefusalCode::Internal, "Draftboard sent an unexpected response")
        .hint("Try again.")
}
