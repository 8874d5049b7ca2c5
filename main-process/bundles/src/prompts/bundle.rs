//! Prompts about the state of a bundle.

use super::formatting::{
    READ_MORE, bullet, counts, entity_line, find, json, list_or_none, title, truncate_chars,
};
use crate::{
    Bundle, BundleEntity, BundleFinding, Bundles, arguments::CallArguments, tools::conformance_rules,
};
use shared_protocol::{OrderedValue, Refusal, RefusalCode};

pub(super) fn audit(bundles: &Bundles, arguments: &CallArguments<'_>) -> Result<String, Refusal> {
    let id = arguments.required_text("profileId")?;
    let scope = arguments.one_of("scope", &["full", "requirements-only", "quick"], "full")?;
    let bundle = bundles.resolve(arguments.text("bundleId")?)?;
    let profile = find(bundle, "Profile", id)?;
    let most = if scope == "quick" { 15 } else { 30 };
    let rules = conformance_rules(bundle, profile);
    let rule = |rule: &OrderedValue| {
        let text = |key: &str| rule.text(key).unwrap_or("-").to_owned();
        let linked = rule.text("linkedRequirement").map_or(String::new(), |linked| {
            match bundle.entity("Requirement", linked) {
                Some(requirement) => format!("\n  {}", entity_line(requirement)),
                None => format!("\n  - {linked}: not found"),
            }
        });
        let id = rule.text("id").or_else(|| rule.text("ruleId")).unwrap_or("-");
        format!("- **{id}** [{}] {}{linked}", text("severity"), truncate_chars(&text("description"), 400))
    };
    let of_type = |kind: &str| -> Vec<&BundleEntity> { bundle.entities_of(kind).collect() };
    let (requirements, components) = (of_type("Requirement"), of_type("Component"));
    let shown = |entity: &&BundleEntity| entity_line(entity);
    let components = if scope == "requirements-only" {
        String::new()
    } else {
        format!("## Components ({})\n{}\n\n", components.len(), list_or_none(&components, most, shown))
    };
    let template = profile.data().text("auditTemplate").map_or(String::new(), |template| {
        format!("## Audit Template\n{}\n\n", truncate_chars(template, 4000))
    });
    Ok(format!(
        "You are auditing an SDD bundle for conformance with a profile.\n\n## Profile\n**ID**: {id}\n\n{}\n\n## Conformance Rules ({})\n{}\n\n## Requirements ({})\n{}\n\n{components}{template}{READ_MORE}\n\n## Your Task\nPerform a conformance audit, scope **{scope}**.\n\nFor each rule state: pass, fail or unclear, with the evidence.\nThen give:\n1. **Summary** - Conformant or not, and why\n2. **Findings** - By severity\n3. **Gaps** - Rules without a linked requirement, requirements without evidence\n4. **Recommendations** - What to do, most urgent first",
        json(profile),
        rules.len(),
        list_or_none(&rules, 100, rule),
        requirements.len(),
        list_or_none(&requirements, most, shown),
    ))
}

/// The coverage of an entity type.
struct TypeCoverage<'a> {
    total: usize,
    uncovered: Vec<&'a BundleEntity>,
}

impl<'a> TypeCoverage<'a> {
    fn of_type(bundle: &'a Bundle, kind: &str, covers: impl Fn(&'a BundleEntity) -> bool) -> Self {
        let all: Vec<&BundleEntity> = bundle.entities_of(kind).collect();
        let total = all.len();
        Self { total, uncovered: all.into_iter().filter(|entity| !covers(entity)).collect() }
    }

    /// `3 (60%)`
    fn share(&self) -> String {
        let covered = self.total - self.uncovered.len();
        let percent = (covered * 200 + self.total).checked_div(self.total * 2).unwrap_or(0);
        format!("{covered} ({percent}%)")
    }
}

pub(super) fn coverage(bundles: &Bundles, arguments: &CallArguments<'_>) -> Result<String, Refusal> {
    const MAX_LISTED_ENTITIES: usize = 50;
    let focus = arguments.one_of("focus", &["requirements", "features", "threats", "all"], "all")?;
    let threshold = match arguments.text("threshold")? {
        None => 80,
        Some(text) => text.trim().parse::<u32>().ok().filter(|percent| *percent <= 100).ok_or_else(|| {
            Refusal::new(RefusalCode::BadRequest, "threshold must be a number from 0 to 100")
                .field("threshold")
        })?,
    };
    let bundle = bundles.resolve(arguments.text("bundleId")?)?;
    let named_by = |entity: &BundleEntity, kind: &str| {
        bundle.incoming(entity.id()).any(|edge| edge.from.entity_type() == kind)
    };
    let with_tasks = TypeCoverage::of_type(bundle, "Requirement", |entity| named_by(entity, "Task"));
    let with_tests = TypeCoverage::of_type(bundle, "Requirement", |entity| named_by(entity, "Test"));
    let features = TypeCoverage::of_type(bundle, "Feature", |entity| named_by(entity, "Requirement"));
    // A threat usually references its own mitigations.
    let threats = TypeCoverage::of_type(bundle, "Threat", |entity| {
        let names = |kind: &str| bundle.outgoing(entity).any(|edge| edge.to_type == kind);
        bundle.incoming(entity.id()).next().is_some() || names("Requirement")
    });
    let without = |heading: &str, coverage: &TypeCoverage<'_>| {
        if coverage.uncovered.is_empty() {
            return String::new();
        }
        let shown =
            |entity: &&BundleEntity| format!("- {}: {}", entity.id(), title(entity).unwrap_or_default());
        format!(
            "### {heading} ({})\n{}\n\n",
            coverage.uncovered.len(),
            list_or_none(&coverage.uncovered, MAX_LISTED_ENTITIES, shown)
        )
    };
    Ok(format!(
        "You are performing a coverage analysis on an SDD bundle.\n\n## Bundle: {}\n\n## Entity Counts\n{}\n\n## Coverage Metrics\n\n### Requirements Coverage\n- Total Requirements: {}\n- With Tasks: {}\n- With Tests: {}\n\n{}### Features Coverage\n- Total Features: {}\n- With Requirements: {}\n\n### Threat Coverage\n- Total Threats: {}\n- With Mitigations: {}\n\n{}## Coverage Threshold: {threshold}%\n\n## Your Task\nAnalyze coverage for focus area: **{focus}**\n\nProvide:\n1. **Coverage Summary** - Table with pass/fail status based on {threshold}% threshold\n2. **Critical Gaps** - Most important missing coverage\n3. **Risk Assessment** - What could go wrong due to these gaps\n4. **Prioritized Recommendations** - What to address first and why\n5. **Quick Wins** - Easy coverage improvements",
        bundle.id(),
        counts(bundle),
        with_tasks.total,
        with_tasks.share(),
        with_tests.share(),
        without("Requirements WITHOUT Tasks", &with_tasks),
        features.total,
        features.share(),
        threats.total,
        threats.share(),
        without("Unmitigated Threats", &threats),
    ))
}

pub(super) fn suggest_relations(bundles: &Bundles, arguments: &CallArguments<'_>) -> Result<String, Refusal> {
    let kind = arguments.text("entityType")?;
    let confidence = arguments.one_of("confidence", &["high", "medium", "all"], "high")?;
    let bundle = bundles.resolve(arguments.text("bundleId")?)?;
    let entities: Vec<&BundleEntity> =
        bundle.entities().filter(|entity| kind.is_none_or(|kind| entity.entity_type() == kind)).collect();
    let edges: Vec<_> = bundle.edges().collect();
    let shown =
        |entity: &&BundleEntity| bullet(&format!("{}:{}", entity.entity_type(), entity.id()), entity, false);
    let edge = |edge: &crate::ReferenceEdge<'_>| {
        format!("{}:{} -> {}:{}", edge.from.entity_type(), edge.from.id(), edge.to_type, edge.to_id)
    };
    Ok(format!(
        "You are analyzing an SDD bundle to suggest missing relationships.\n\n## Bundle: {}\n\n## Entities to Analyze ({} total)\n{}\n\n## Existing Relations ({} total)\n{}\n\n{READ_MORE}\n\n## Confidence Level: {confidence}\n\n## Your Task\nSuggest missing relationships between entities.\n\nFor each suggestion, provide:\n1. **From Entity** - Source entity (type:id)\n2. **To Entity** - Target entity (type:id)\n3. **Relation Type** - e.g., implements, verifies, mitigates, related-to, blocks\n4. **Reason** - Why you think this relation should exist\n5. **Confidence** - High/Medium/Low with explanation\n\nFocus on:\n- Requirements that should link to Features\n- Tasks that should link to Requirements they implement\n- Threats that should have mitigating Requirements\n- Components that should link to Features they implement\n- Tests that should link to Requirements they verify\n\nProvide at least 5 suggestions if possible, sorted by confidence.",
        bundle.id(),
        entities.len(),
        list_or_none(&entities, 40, shown),
        edges.len(),
        list_or_none(&edges, 100, edge),
    ))
}

pub(super) fn health(bundles: &Bundles, arguments: &CallArguments<'_>) -> Result<String, Refusal> {
    const MAX_LISTED_FINDINGS: usize = 40;
    let bundle = bundles.resolve(arguments.text("bundleId")?)?;
    let found = bundle.diagnostics();
    let errors = found.iter().filter(|finding| finding.is_error()).count();
    let of_code = |code: &str| -> Vec<&BundleFinding> {
        found.iter().filter(|finding| finding.code.as_deref() == Some(code)).collect()
    };
    let apart = ["broken-ref", "orphan-entity"];
    let others: Vec<&BundleFinding> = found
        .iter()
        .filter(|finding| !finding.code.as_deref().is_some_and(|code| apart.contains(&code)))
        .collect();
    let shown = |finding: &&BundleFinding| {
        let code = finding.code.as_deref().map_or(String::new(), |code| format!(" `{code}`"));
        format!("- [{}]{code} {}", finding.severity.as_str(), truncate_chars(&finding.message, 300))
    };
    let (broken, orphans) = (of_code("broken-ref"), of_code("orphan-entity"));
    Ok(format!(
        "You are analyzing the health of an SDD bundle.\n\n## Bundle: {}\n- **Name**: {}\n- **Entities**: {}\n- **Relations**: {}\n- **Errors**: {errors}\n- **Warnings**: {}\n\n## Entity Counts\n{}\n\n## Broken References ({})\n{}\n\n## Orphan Entities ({})\n{}\n\n## Other Findings ({})\n{}\n\n**Note:** Use `validate_bundle` tool for all findings.\n\n## Your Task\nWrite a health report.\n\nInclude:\n1. **Overall Health** - A score from 0 to 100 and why\n2. **Critical Issues** - What breaks the bundle's use\n3. **Quality** - Completeness, consistency, connectivity\n4. **Priorities** - What to fix first\n5. **Fixes** - For each priority, the changes to make (apply_changes)",
        bundle.id(),
        bundle.manifest().metadata("name").unwrap_or("N/A"),
        bundle.entity_count(),
        bundle.edges().count(),
        found.len() - errors,
        counts(bundle),
        broken.len(),
        list_or_none(&broken, MAX_LISTED_FINDINGS, shown),
        orphans.len(),
        list_or_none(&orphans, 10, shown),
        others.len(),
        list_or_none(&others, MAX_LISTED_FINDINGS, shown),
    ))
}
