//! Views of bundles for window and terminals.

use super::SpecBundles;
use bundles::{Bundle, BundleEntity, BundleFinding, BundleFindingSeverity, RelationCoverage};
use shared_protocol::{
    bundle::{
        BundleDiagnostic, BundleView, BundlesView, EntityRef, EntitySummary, EntityTypeView, EntityView,
        RelationCoverageView, RelationView, SchemaView,
    },
    messages,
};
use std::collections::BTreeMap;

impl SpecBundles {
    pub fn view(&self) -> BundlesView {
        let mut view = BundlesView::default();
        for (folder, place) in &self.places {
            match (&place.problem, self.loaded.get(&place.id)) {
                (None, Some(bundle)) => {
                    view.bundles.push(bundle_view(bundle, folder.as_str(), place.generation))
                }
                (problem, _) => {
                    view.failed.push((folder.to_string(), problem.clone().unwrap_or_default()));
                }
            }
        }
        view
    }
}

impl SpecBundles {
    /// The problems in bundles, and the folders that should hold a bundle and do not. Folders that cannot be read have a notice.
    pub(crate) fn validate(&self) -> Vec<messages::WorkspaceProblem> {
        let mut problems = Vec::new();
        for (folder, place) in &self.places {
            for finding in self.loaded.get(&place.id).into_iter().flat_map(|bundle| bundle.diagnostics()) {
                let severity = if finding.is_error() {
                    messages::ProblemSeverity::Error
                } else {
                    messages::ProblemSeverity::Warning
                };
                let file =
                    finding.file_path.as_ref().map_or(folder.to_string(), |file| format!("{folder}/{file}"));
                let entity = finding.entity_id.as_ref().map_or(String::new(), |id| format!("{id}: "));
                let message = format!("{entity}{}", finding.message);
                problems.push(messages::WorkspaceProblem::of_file(severity, Some(file), message));
            }
            if place.problem.as_deref() == Some(super::NO_MANIFEST) {
                let message = format!("{folder} was not read as a bundle: {}", super::NO_MANIFEST);
                let (severity, file) = (messages::ProblemSeverity::Warning, Some(folder.to_string()));
                problems.push(messages::WorkspaceProblem::of_file(severity, file, message));
            }
        }
        problems
    }
}

fn bundle_view(bundle: &Bundle, folder: &str, generation: u64) -> BundleView {
    let findings = bundle.diagnostics();
    let errors = findings.iter().filter(|finding| finding.is_error()).count();
    let types = bundle.entity_types().map(|name| EntityTypeView {
        name: name.to_owned(),
        title: bundle.type_title(name),
        category: bundle.type_category(name),
        count: bundle.entities_of(name).count() as u64,
    });
    BundleView {
        id: bundle.id().to_owned(),
        title: bundle.manifest().metadata("name").unwrap_or(bundle.id()).to_owned(),
        folder: folder.to_owned(),
        generation,
        types: types.collect(),
        errors: errors as u64,
        warnings: (findings.len() - errors) as u64,
        has_knowledge: bundle.domain_knowledge().is_some(),
    }
}

pub(super) fn reference(bundle: &Bundle, entity: &BundleEntity) -> EntityRef {
    EntityRef {
        bundle: bundle.id().to_owned(),
        entity_type: entity.entity_type().to_owned(),
        id: entity.id().to_owned(),
    }
}

pub(super) fn title(entity: &BundleEntity) -> String {
    entity.title().unwrap_or(entity.id()).to_owned()
}

/// Summaries of entities, each with the number of its problems.
pub(super) fn summaries<'a>(
    found: impl IntoIterator<Item = (&'a Bundle, &'a BundleEntity)>,
) -> Vec<EntitySummary> {
    // Counted once per bundle.
    let mut counted: BTreeMap<&str, FindingCounts<'_>> = BTreeMap::new();
    let found = found.into_iter().map(|(bundle, entity)| {
        let counts = counted.entry(bundle.id()).or_insert_with(|| counts(bundle));
        let (errors, warnings) =
            counts.get(&(entity.entity_type(), entity.id())).copied().unwrap_or_default();
        let status = ["status", "state"].into_iter().find_map(|field| entity.data().text(field));
        EntitySummary {
            entity: reference(bundle, entity),
            title: title(entity),
            status: status.map(str::to_owned),
            errors,
            warnings,
        }
    });
    found.collect()
}

/// Errors and warnings, by type and id.
type FindingCounts<'a> = BTreeMap<(&'a str, &'a str), (u32, u32)>;

fn counts(bundle: &Bundle) -> FindingCounts<'_> {
    let mut counts = FindingCounts::new();
    for finding in bundle.diagnostics() {
        let Some(entity) = finding.entity_type.as_deref().zip(finding.entity_id.as_deref()) else { continue };
        let (errors, warnings) = counts.entry(entity).or_default();
        *(if finding.is_error() { errors } else { warnings }) += 1;
    }
    counts
}

pub(super) fn schema(bundle: &Bundle, entity_type: &str) -> SchemaView {
    SchemaView {
        schema: bundle.schema_text(entity_type).unwrap_or("{}").to_owned(),
        id_field: bundle.id_field(entity_type).unwrap_or("id").to_owned(),
        references: bundle.reference_fields(entity_type),
    }
}

pub(super) fn entity(bundle: &Bundle, entity: &BundleEntity) -> EntityView {
    let relation = |field: &str, entity_type: &str, id: &str| RelationView {
        field: field.to_owned(),
        entity: EntityRef {
            bundle: bundle.id().to_owned(),
            entity_type: entity_type.to_owned(),
            id: id.to_owned(),
        },
        title: bundle.entity_by_id(id).map(title),
    };
    let about = bundle.diagnostics().iter().filter(|finding| {
        finding.entity_type.as_deref() == Some(entity.entity_type())
            && finding.entity_id.as_deref() == Some(entity.id())
    });
    EntityView {
        entity: reference(bundle, entity),
        title: title(entity),
        file: entity.path().to_owned(),
        data: serde_json::to_string(entity.data()).unwrap_or_default(),
        schema: schema(bundle, entity.entity_type()),
        outgoing: bundle
            .outgoing(entity)
            .map(|edge| relation(edge.field, edge.to_type, edge.to_id))
            .collect(),
        incoming: bundle
            .incoming(entity.id())
            .map(|edge| relation(edge.field, edge.from.entity_type(), edge.from.id()))
            .collect(),
        diagnostics: about.map(|finding| diagnostic(bundle.id(), finding)).collect(),
    }
}

pub(super) fn diagnostic(bundle: &str, finding: &BundleFinding) -> BundleDiagnostic {
    BundleDiagnostic {
        severity: match finding.severity {
            BundleFindingSeverity::Error => messages::ProblemSeverity::Error,
            BundleFindingSeverity::Warning => messages::ProblemSeverity::Warning,
        },
        message: finding.message.clone(),
        bundle: bundle.to_owned(),
        entity_type: finding.entity_type.clone(),
        entity_id: finding.entity_id.clone(),
        file: finding.file_path.clone(),
        path: finding.path.clone(),
        source: finding.source.map(|source| source.as_str().to_owned()),
        code: finding.code.clone(),
    }
}

pub(super) fn coverage(coverage: RelationCoverage) -> RelationCoverageView {
    let RelationCoverage { relation, from, to, uncovered, covered, total } = coverage;
    RelationCoverageView { relation, from, to, covered: covered as u64, total: total as u64, uncovered }
}
