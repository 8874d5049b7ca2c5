//! Spec bundles on the agents' surface: the tools, prompts and resources of the crate `bundles`, under their own names and
//! with their own envelope. The same for a workspace and for bundles that are served by themselves; only who may carry out a
//! change differs.

mod answer;
mod links;
mod prompts;
mod proposing;
mod resources;
#[cfg(test)]
mod tests;
mod tools;

pub(crate) use answer::not_allowed;
pub(crate) use proposing::ProposedBundleChanges;

use bundles::{Bundle, BundleChangePlan, BundleToolResponse, Bundles};
use mcp_server::{AgentCall, AgentSurface, AgentView, FoundEntity, escape_hidden};
use serde_json::{Value, json};
use shared_protocol::{Change, Refusal, trace_link::TraceLinksView};
use std::sync::{Arc, LazyLock};

/// The bundles in a view, and what their entities are linked to.
#[derive(Debug)]
pub(crate) struct PublishedBundles(pub(crate) Arc<Bundles>, pub(crate) Arc<TraceLinksView>);

/// Carries out the plan of `apply_changes`; its result is the tool's result.
pub(crate) trait BundleChangeExecutor: Send + Sync + 'static {
    /// The arguments without those that are not the tool's own.
    fn arguments(&self, call: &AgentCall) -> Value {
        Value::Object(call.arguments.clone())
    }

    /// Adds to what the tool takes.
    fn extend(&self, _input: &mut Value) {}

    /// The bundles that changes are planned on, when they differ from the published ones.
    fn base(&self, _: &AgentCall) -> Result<Option<Bundles>, Refusal> {
        Ok(None)
    }

    fn apply(&self, call: &AgentCall, plan: &BundleChangePlan) -> Result<BundleToolResponse, Refusal>;

    /// Whether what is changed waits in a draft, which can be read as well.
    fn has_drafts(&self) -> bool {
        false
    }
}

/// Adds all that there is for bundles.
pub(crate) fn add_to(surface: &mut AgentSurface, changes: &Arc<dyn BundleChangeExecutor>) {
    tools::all(changes).for_each(|tool| surface.add_tool(tool));
    prompts::all().for_each(|prompt| surface.add_prompt(prompt));
    resources::all().for_each(|resource| surface.add_resource(resource));
}

/// Those of a view; none without a workspace.
fn bundles_of(view: &AgentView) -> &Bundles {
    static NONE: LazyLock<Bundles> = LazyLock::new(Bundles::default);
    view.specs::<PublishedBundles>().map_or(&NONE, |shown| &shown.0)
}

impl mcp_server::SpecsView for PublishedBundles {
    fn bundles(&self) -> Vec<Value> {
        let bundles = self.0.iter();
        bundles
            .map(|bundle: &Bundle| {
                let name = bundle.manifest().metadata("name").unwrap_or(bundle.id());
                json!({ "id": bundle.id(), "name": escape_hidden(name), "entities": bundle.entity_count() })
            })
            .collect()
    }

    fn words_of_change(&self, path: &str, before: Option<&str>, after: Option<&str>) -> Option<String> {
        self.0.describe_change(path, before, after)
    }

    /// Trace links show the current state; a draft is checked against them at review.
    fn with_changes(&self, changes: &[Change]) -> Option<Arc<dyn mcp_server::SpecsView>> {
        let bundles = proposing::with_draft(&self.0, changes)?;
        Some(Arc::new(Self(Arc::new(bundles), Arc::clone(&self.1))))
    }

    fn find(&self, query: &str, most: usize) -> Vec<FoundEntity> {
        let found = self.0.search(None, query).unwrap_or_default();
        found
            .into_iter()
            .take(most)
            .map(|(bundle, entity)| FoundEntity {
                bundle_id: bundle.id().to_owned(),
                entity_type: entity.entity_type().to_owned(),
                id: entity.id().to_owned(),
                title: escape_hidden(entity.title().unwrap_or_default()).into_owned(),
            })
            .collect()
    }
}
