//! Cache of main's answers about bundles, valid until the bundle changes, and the pending questions. The old answer stays
//! visible while a newer one is loading, which avoids flicker. Must not know: widgets.

use super::{SpecAction, history::Page, json::Json, schema::Schema};
use crate::view::Action;
use shared_protocol::{
    Refusal,
    bundle::{
        BundleAnswer, BundleDiagnostic, BundleRequest, BundlesView, Coverage, EntityRef, EntitySummary,
        EntityView,
    },
    messages::Answer,
};
use std::collections::BTreeMap;

/// The maximum number of cached entities. Evicted entities are requested again when they are shown.
const MOST_ENTITIES: usize = 64;

/// A cached answer from main.
#[derive(Debug)]
pub(crate) struct Known<T> {
    pub(crate) value: Option<T>,
    /// The refusal of the last request.
    pub(crate) refused: Option<Refusal>,
    /// The bundle generation of the last request.
    asked: Option<u64>,
    /// The number of answers received.
    pub(crate) version: u64,
}

impl<T> Default for Known<T> {
    fn default() -> Self {
        Self { value: None, refused: None, asked: None, version: 0 }
    }
}

impl<T> Known<T> {
    /// Returns whether a request is needed for this generation, and marks it as sent.
    fn must_ask(&mut self, generation: u64) -> bool {
        self.asked.replace(generation) != Some(generation)
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
        self.asked = None;
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
    fn of(entities: Vec<EntitySummary>) -> Self {
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
pub(crate) struct Entity {
    pub(crate) view: EntityView,
    pub(crate) data: Json,
    pub(crate) schema: Schema,
}

impl Entity {
    fn of(view: EntityView) -> Self {
        let data = Json::parse(&view.data).unwrap_or_default();
        let schema = Schema::of(&view.schema);
        Self { view, data, schema }
    }
}

/// A question to main about bundles.
#[derive(Debug, Clone, PartialEq)]
pub(crate) enum Question {
    Entities(String),
    Entity(EntityRef),
    Schema(String, String),
    Diagnostics(String),
    Coverage(String),
    Knowledge(String),
    Search(String),
    /// A dry run of a form, with the version of its draft.
    Check(Page, u64),
    Save(Page),
    Delete(EntityRef),
    Map,
}

#[derive(Debug, Default)]
pub(crate) struct Answers {
    entities: BTreeMap<String, Known<EntityList>>,
    entity: BTreeMap<EntityRef, Known<Entity>>,
    schemas: BTreeMap<(String, String), Known<Schema>>,
    diagnostics: BTreeMap<String, Known<Vec<BundleDiagnostic>>>,
    coverage: BTreeMap<String, Known<Vec<Coverage>>>,
    knowledge: BTreeMap<String, Known<String>>,
    /// The latest search results, with their query.
    pub(crate) found: (String, Vec<EntitySummary>),
    /// The query of the search in progress.
    searching: Option<String>,
    asked: BTreeMap<u64, Question>,
    next: u64,
}

impl Answers {
    pub(crate) fn ask(&mut self, question: Question, request: BundleRequest, actions: &mut Vec<Action>) {
        self.next += 1;
        self.asked.insert(self.next, question);
        actions.push(Action::Spec(SpecAction::Ask { ticket: self.next, request }));
    }

    pub(crate) fn question(&mut self, ticket: u64) -> Option<Question> {
        self.asked.remove(&ticket)
    }

    /// Requests an answer, unless it was already requested for this generation or the bundle does not exist.
    pub(crate) fn want(&mut self, bundles: &BundlesView, question: Question, actions: &mut Vec<Action>) {
        let (bundle, request) = match &question {
            Question::Entities(bundle) => (bundle, BundleRequest::Entities { bundle: bundle.clone() }),
            Question::Entity(entity) => (&entity.bundle, BundleRequest::Entity(entity.clone())),
            Question::Schema(bundle, entity_type) => {
                let (bundle_id, entity_type) = (bundle.clone(), entity_type.clone());
                (bundle, BundleRequest::Schema { bundle: bundle_id, entity_type })
            }
            Question::Diagnostics(bundle) => (bundle, BundleRequest::Diagnostics { bundle: bundle.clone() }),
            Question::Coverage(bundle) => (bundle, BundleRequest::Coverage { bundle: bundle.clone() }),
            Question::Knowledge(bundle) => (bundle, BundleRequest::Knowledge { bundle: bundle.clone() }),
            _ => return,
        };
        let Some(generation) = generation(bundles, bundle) else { return };
        let must_ask = match &question {
            Question::Entities(bundle) => {
                self.entities.entry(bundle.clone()).or_default().must_ask(generation)
            }
            Question::Entity(entity) => {
                if self.entity.len() >= MOST_ENTITIES && !self.entity.contains_key(entity) {
                    self.entity.clear();
                }
                self.entity.entry(entity.clone()).or_default().must_ask(generation)
            }
            Question::Schema(bundle, kind) => {
                self.schemas.entry((bundle.clone(), kind.clone())).or_default().must_ask(generation)
            }
            Question::Diagnostics(bundle) => {
                self.diagnostics.entry(bundle.clone()).or_default().must_ask(generation)
            }
            Question::Coverage(bundle) => {
                self.coverage.entry(bundle.clone()).or_default().must_ask(generation)
            }
            Question::Knowledge(bundle) => {
                self.knowledge.entry(bundle.clone()).or_default().must_ask(generation)
            }
            _ => false,
        };
        if must_ask {
            self.ask(question, request, actions);
        }
    }

    pub(crate) fn entities(&self, bundle: &str) -> Option<&Known<EntityList>> {
        self.entities.get(bundle)
    }

    pub(crate) fn entity(&self, entity: &EntityRef) -> Option<&Known<Entity>> {
        self.entity.get(entity)
    }

    pub(crate) fn entity_mut(&mut self, entity: &EntityRef) -> Option<&mut Known<Entity>> {
        self.entity.get_mut(entity)
    }

    pub(crate) fn schema(&self, bundle: &str, entity_type: &str) -> Option<&Known<Schema>> {
        self.schemas.get(&(bundle.to_owned(), entity_type.to_owned()))
    }

    pub(crate) fn diagnostics(&self, bundle: &str) -> Option<&Known<Vec<BundleDiagnostic>>> {
        self.diagnostics.get(bundle)
    }

    pub(crate) fn coverage(&self, bundle: &str) -> Option<&Known<Vec<Coverage>>> {
        self.coverage.get(bundle)
    }

    pub(crate) fn knowledge(&self, bundle: &str) -> Option<&Known<String>> {
        self.knowledge.get(bundle)
    }

    /// Searches all bundles. Only one search runs at a time; the newest query follows it.
    pub(crate) fn search(&mut self, query: &str, limit: u32, actions: &mut Vec<Action>) {
        let query = query.trim();
        if query.is_empty() || self.found.0 == query || self.searching.is_some() {
            return;
        }
        self.searching = Some(query.to_owned());
        let request = BundleRequest::Search { bundle: None, query: query.to_owned(), limit };
        self.ask(Question::Search(query.to_owned()), request, actions);
    }

    /// Clears the cache, because another workspace may have a bundle with the same name.
    pub(crate) fn clear(&mut self) {
        *self = Self { next: self.next, ..Self::default() };
    }

    /// Stores an answer. Returns the result when it does not belong in the cache.
    pub(crate) fn receive(
        &mut self,
        question: &Question,
        result: Result<Answer, Refusal>,
    ) -> Option<Result<Answer, Refusal>> {
        match question {
            Question::Entities(bundle) => {
                self.entities.entry(bundle.clone()).or_default().receive(pick(
                    result,
                    |answer| match answer {
                        BundleAnswer::Entities { entities, .. } => Some(EntityList::of(entities)),
                        _ => None,
                    },
                ));
            }
            Question::Entity(entity) => {
                self.entity.entry(entity.clone()).or_default().receive(pick(result, |answer| match answer {
                    BundleAnswer::Entity(view) => Some(Entity::of(*view)),
                    _ => None,
                }));
            }
            Question::Schema(bundle, kind) => {
                let known = self.schemas.entry((bundle.clone(), kind.clone())).or_default();
                known.receive(pick(result, |answer| match answer {
                    BundleAnswer::Schema(view) => Some(Schema::of(&view)),
                    _ => None,
                }));
            }
            Question::Diagnostics(bundle) => {
                let known = self.diagnostics.entry(bundle.clone()).or_default();
                known.receive(pick(result, |answer| match answer {
                    BundleAnswer::Diagnostics(all) => Some(all),
                    _ => None,
                }));
            }
            Question::Coverage(bundle) => {
                let known = self.coverage.entry(bundle.clone()).or_default();
                known.receive(pick(result, |answer| match answer {
                    BundleAnswer::Coverage(all) => Some(all),
                    _ => None,
                }));
            }
            Question::Knowledge(bundle) => {
                let known = self.knowledge.entry(bundle.clone()).or_default();
                known.receive(match result {
                    Ok(Answer::Text(text)) => Ok(text),
                    Ok(_) => Err(odd()),
                    Err(refusal) => Err(refusal),
                });
            }
            Question::Search(query) => {
                self.searching = None;
                let found = pick(result, |answer| match answer {
                    BundleAnswer::Found(found) => Some(found),
                    _ => None,
                });
                // A failed search counts as no results; the next query tries again.
                self.found = (query.clone(), found.unwrap_or_default());
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
    result: Result<Answer, Refusal>,
    part: impl FnOnce(BundleAnswer) -> Option<T>,
) -> Result<T, Refusal> {
    match result? {
        Answer::Bundle(answer) => part(answer).ok_or_else(odd),
        _ => Err(odd()),
    }
}

fn odd() -> Refusal {
    Refusal::new(shared_protocol::Code::Internal, "the workbench sent an unexpected answer")
        .hint("Try again.")
}
