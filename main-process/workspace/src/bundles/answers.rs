//! Answers to requests of the window and terminals about bundles.

use super::{SpecBundles, view};
use bundles::{Bundle, BundleEntity};
use shared_protocol::{
    Refusal, RefusalCode, Revision,
    bundle::{BundleRequest, BundleResponse, EntityRef, MAX_SEARCH_RESULTS},
    messages::WorkbenchResponse,
};

impl SpecBundles {
    /// Answers a request that changes nothing.
    pub(crate) fn answer(
        &self,
        request: &BundleRequest,
        revision: Revision,
    ) -> Result<WorkbenchResponse, Refusal> {
        let answer = match request {
            BundleRequest::Entities { bundle } => {
                let bundle = self.get(bundle)?;
                let entities = view::summaries(bundle.entities().map(|entity| (bundle, entity)));
                BundleResponse::Entities { revision, entities }
            }
            BundleRequest::Entity(entity) => {
                let (bundle, entity) = self.entity(entity)?;
                BundleResponse::Entity(Box::new(view::entity(bundle, entity)))
            }
            BundleRequest::Schema { bundle, entity_type } => {
                let bundle = self.get(bundle)?;
                if !bundle.entity_types().any(|known| known == entity_type) {
                    let message = format!("{} has no entity type {entity_type}", bundle.id());
                    let similar = authority::similar(entity_type, bundle.entity_types());
                    return Err(Refusal::new(RefusalCode::NotFound, message).suggest(similar));
                }
                BundleResponse::Schema(Box::new(view::schema(bundle, entity_type)))
            }
            BundleRequest::Search { bundle, query, limit } => {
                let found = self.loaded.search(bundle.as_deref(), query);
                let found = found.map_err(|refusal| Refusal::new(RefusalCode::NotFound, refusal.message))?;
                let most = (*limit).min(MAX_SEARCH_RESULTS) as usize;
                BundleResponse::Found(view::summaries(found.into_iter().take(most)))
            }
            BundleRequest::Diagnostics { bundle } => {
                let bundle = self.get(bundle)?;
                let findings = bundle.diagnostics().iter();
                BundleResponse::Diagnostics(
                    findings.map(|found| view::diagnostic(bundle.id(), found)).collect(),
                )
            }
            BundleRequest::Coverage { bundle } => BundleResponse::Coverage(
                self.get(bundle)?.coverage().into_iter().map(view::coverage).collect(),
            ),
            BundleRequest::Knowledge { bundle } => {
                let bundle = self.get(bundle)?;
                let text = bundle.domain_knowledge().ok_or_else(|| {
                    Refusal::new(RefusalCode::NotFound, format!("{} has no domain knowledge", bundle.id()))
                        .hint("Set spec.domainKnowledge.path in its sdd-bundle.yaml to a Markdown file.")
                })?;
                return Ok(WorkbenchResponse::Text(text.to_owned()));
            }
            BundleRequest::Change { .. } | BundleRequest::DrawMap { .. } => {
                return Err(Refusal::new(RefusalCode::Internal, "this changes something"));
            }
        };
        Ok(WorkbenchResponse::Bundle(answer))
    }

    pub(super) fn get(&self, id: &str) -> Result<&Bundle, Refusal> {
        self.loaded.get(id).ok_or_else(|| {
            let similar = authority::similar(id, self.loaded.iter().map(Bundle::id));
            let refusal =
                Refusal::new(RefusalCode::NotFound, format!("there is no bundle {id}")).suggest(similar);
            match self.places.iter().find(|(_, place)| place.id == id) {
                Some((folder, place)) => {
                    let problem = place.problem.as_deref().unwrap_or_default();
                    refusal.hint(format!("{folder} cannot be used as a bundle: {problem}"))
                }
                None => refusal.hint("List the bundle folders under `bundles` in draftboard.toml."),
            }
        })
    }

    pub(super) fn entity(&self, wanted: &EntityRef) -> Result<(&Bundle, &BundleEntity), Refusal> {
        let bundle = self.get(&wanted.bundle)?;
        let entity = bundle.entity(&wanted.entity_type, &wanted.id).ok_or_else(|| {
            let message = format!("{} has no {} {}", bundle.id(), wanted.entity_type, wanted.id);
            let known = bundle.entities_of(&wanted.entity_type).map(BundleEntity::id);
            Refusal::new(RefusalCode::NotFound, message).suggest(authority::similar(&wanted.id, known))
        })?;
        Ok((bundle, entity))
    }
}
