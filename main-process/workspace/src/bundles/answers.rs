//! Bundles as window and terminals read them.

use super::{SpecBundles, view};
use bundles::{Bundle, BundleEntity};
use shared_protocol::{
    Refusal, RefusalCode,
    bundle::{
        BundleDiagnostic, EntityRef, EntitySummary, EntityView, MAX_SEARCH_RESULTS, RelationCoverageView,
        SchemaView,
    },
    requests::CheckedBundle,
};

impl SpecBundles {
    /// A summary of every entity of a bundle.
    pub fn list_entities(&self, bundle: &str) -> Result<Vec<EntitySummary>, Refusal> {
        let bundle = self.get(bundle)?;
        Ok(view::summaries(bundle.entities().map(|entity| (bundle, entity))))
    }

    pub fn show_entity(&self, entity: &EntityRef) -> Result<EntityView, Refusal> {
        let (bundle, entity) = self.entity(entity)?;
        Ok(view::entity(bundle, entity))
    }

    /// The schema for a new entity of a type.
    pub fn read_schema(&self, bundle: &str, entity_type: &str) -> Result<SchemaView, Refusal> {
        let bundle = self.get(bundle)?;
        if !bundle.entity_types().any(|known| known == entity_type) {
            let message = format!("{} has no entity type {entity_type}", bundle.id());
            let similar = authority::similar(entity_type, bundle.entity_types());
            return Err(Refusal::new(RefusalCode::NotFound, message).suggest(similar));
        }
        Ok(view::schema(bundle, entity_type))
    }

    /// Searches one bundle, or all of them.
    pub fn search(
        &self,
        bundle: Option<&str>,
        query: &str,
        limit: u32,
    ) -> Result<Vec<EntitySummary>, Refusal> {
        let found = self.loaded.search(bundle, query);
        let found = found.map_err(|refusal| Refusal::new(RefusalCode::NotFound, refusal.message))?;
        Ok(view::summaries(found.into_iter().take(limit.min(MAX_SEARCH_RESULTS) as usize)))
    }

    pub fn list_diagnostics(&self, bundle: &str) -> Result<Vec<BundleDiagnostic>, Refusal> {
        let bundle = self.get(bundle)?;
        Ok(bundle.diagnostics().iter().map(|found| view::diagnostic(bundle.id(), found)).collect())
    }

    pub fn measure_coverage(&self, bundle: &str) -> Result<Vec<RelationCoverageView>, Refusal> {
        Ok(self.get(bundle)?.coverage().into_iter().map(view::coverage).collect())
    }

    /// The domain knowledge as Markdown.
    pub fn read_knowledge(&self, bundle: &str) -> Result<String, Refusal> {
        let bundle = self.get(bundle)?;
        let text = bundle.domain_knowledge().ok_or_else(|| {
            Refusal::new(RefusalCode::NotFound, format!("{} has no domain knowledge", bundle.id()))
                .hint("Set spec.domainKnowledge.path in its sdd-bundle.yaml to a Markdown file.")
        })?;
        Ok(text.to_owned())
    }

    /// A dry run of changes.
    pub fn check(&self, bundle: &str, changes: &str) -> Result<CheckedBundle, Refusal> {
        let plan = self.plan_changes(bundle, changes, true)?;
        Ok(CheckedBundle {
            possible: plan.is_possible(),
            diagnostics: plan.diagnostics().iter().map(|found| view::diagnostic(bundle, found)).collect(),
            files: plan.edits().iter().map(|edit| edit.path().to_owned()).collect(),
        })
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
