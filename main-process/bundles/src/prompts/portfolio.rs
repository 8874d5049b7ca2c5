//! Prompts about whole bundles: summary, comparison, roadmap.

use super::formatting::{READ_MORE, bullet, domain_knowledge, entity_line, joined_texts, list, list_or_none};
use crate::{Bundle, BundleEntity, Bundles, arguments::CallArguments};
use shared_protocol::{Refusal, RefusalCode};
use std::collections::BTreeSet;

pub(super) fn summarize(bundles: &Bundles, arguments: &CallArguments<'_>) -> Result<String, Refusal> {
    let format = arguments.one_of("format", &["executive", "technical", "onboarding"], "executive")?;
    let bundle = bundles.resolve(arguments.text("bundleId")?)?;
    let metadata = |key: &str| bundle.manifest().metadata(key).unwrap_or("N/A");
    let types: Vec<String> = bundle
        .entity_types()
        .map(|kind| {
            let entities: Vec<&BundleEntity> = bundle.entities_of(kind).collect();
            format!(
                "### {kind} ({})\n{}\n",
                entities.len(),
                list(&entities, 10, |entity| entity_line(entity))
            )
        })
        .collect();
    let how = match format {
        "technical" => {
            "Write for developers. Include architecture details, technical decisions, and implementation considerations."
        }
        "onboarding" => "Write for new team members. Explain everything, provide context, define terms.",
        _ => {
            "Write for executives. Focus on business value, risks, and key decisions. Use simple language, no jargon."
        }
    };
    Ok(format!(
        "You are summarizing an SDD bundle.\n\n## Bundle Metadata\n- **Name**: {}\n- **Type**: {}\n- **Version**: {}\n\n## Entity Statistics\n{}\n\n## Relations\nTotal: {} connections between entities\n\n## Domain Knowledge\n{}\n\n## Summary Format: {format}\n{how}\n\n## Your Task\nCreate a comprehensive summary of this bundle.\n\nInclude:\n1. **Overview** - What is this bundle about? (2-3 sentences)\n2. **Key Metrics** - Entity counts, health indicators\n3. **Main Features/Capabilities** - What does it define?\n4. **Current Status** - Progress, blockers, risks\n5. **Key Concerns** - What needs attention?\n6. **Recommended Next Steps** - Prioritized actions",
        metadata("name"),
        metadata("bundleType"),
        metadata("schemaVersion"),
        types.join("\n\n"),
        bundle.edges().count(),
        domain_knowledge(bundle, 3000),
    ))
}

pub(super) fn diff(bundles: &Bundles, arguments: &CallArguments<'_>) -> Result<String, Refusal> {
    let (a, b) = (arguments.required_text("bundleA")?, arguments.required_text("bundleB")?);
    let focus = arguments.one_of("focus", &["all", "requirements", "structure"], "all")?;
    let find = |id: &str, field: &str| {
        bundles.get(id).ok_or_else(|| {
            let known: Vec<&str> = bundles.iter().map(Bundle::id).collect();
            let message = format!("Bundle {id} not found. Available: {}", known.join(", "));
            Refusal::new(RefusalCode::NotFound, message).field(field)
        })
    };
    let (bundle_a, bundle_b) = (find(a, "bundleA")?, find(b, "bundleB")?);
    let mut types: Vec<&str> = bundle_a.entity_types().collect();
    for kind in bundle_b.entity_types() {
        if !types.contains(&kind) {
            types.push(kind);
        }
    }
    types.retain(|kind| focus != "requirements" || *kind == "Requirement");
    let head = |name: &str, bundle: &Bundle| {
        let shown = bundle.manifest().metadata("name").unwrap_or("N/A");
        format!(
            "## Bundle {name}: {}\n- Name: {shown}\n- Relations: {}\n",
            bundle.id(),
            bundle.edges().count()
        )
    };
    let compared: Vec<String> = types.iter().map(|kind| compare(kind, bundle_a, bundle_b, focus)).collect();
    Ok(format!(
        "You are comparing two SDD bundles.\n\n{}\n{}\n## Entity Comparison\n{}\n\n## Diff Focus: {focus}\n\n## Your Task\nCompare these bundles and provide:\n\n1. **Summary** - High-level differences\n2. **Added** - What's new in {b}\n3. **Removed** - What's gone from {a}\n4. **Entity Changes** - Detailed comparison by type\n5. **Breaking Changes** - Changes that might cause issues\n6. **Recommendations** - How to handle the differences",
        head("A", bundle_a),
        head("B", bundle_b),
        compared.join("\n\n"),
    ))
}

fn compare(kind: &str, a: &Bundle, b: &Bundle, focus: &str) -> String {
    let ids = |bundle: &'_ Bundle| -> BTreeSet<String> {
        bundle.entities_of(kind).map(|entity| entity.id().to_owned()).collect()
    };
    let (of_a, of_b) = (ids(a), ids(b));
    let both: Vec<&String> = of_a.intersection(&of_b).collect();
    let names = |ids: Vec<&String>| {
        if ids.is_empty() {
            return "None".to_owned();
        }
        let more = if ids.len() > 50 { format!(" … and {} more", ids.len() - 50) } else { String::new() };
        let shown: Vec<&str> = ids.iter().take(50).map(|id| id.as_str()).collect();
        format!("{}{more}", shown.join(", "))
    };
    let mut text = format!(
        "### {kind}\n- In {a}: {}\n- In {b}: {}\n- In Both: {}\n- Only in {a}: {}\n- Only in {b}: {}",
        of_a.len(),
        of_b.len(),
        both.len(),
        names(of_a.difference(&of_b).collect()),
        names(of_b.difference(&of_a).collect()),
        a = a.id(),
        b = b.id(),
    );
    if focus != "structure" && !both.is_empty() {
        let differs = |id: &&&String| {
            a.entity(kind, id).map(BundleEntity::data) != b.entity(kind, id).map(BundleEntity::data)
        };
        text.push_str(&format!("\n- Changed: {}", names(both.iter().filter(differs).copied().collect())));
    }
    text
}

pub(super) fn roadmap(bundles: &Bundles, arguments: &CallArguments<'_>) -> Result<String, Refusal> {
    let scope = arguments.text("scope")?.unwrap_or("all");
    let format = arguments.one_of("format", &["timeline", "phases", "milestones"], "phases")?;
    let bundle = bundles.resolve(arguments.text("bundleId")?)?;
    let of_type = |kind: &str| -> Vec<&BundleEntity> {
        bundle.entities_of(kind).filter(|entity| is_in_scope(bundle, entity, scope)).collect()
    };
    let (features, requirements, tasks) = (of_type("Feature"), of_type("Requirement"), of_type("Task"));
    let task = |entity: &&BundleEntity| {
        format!(
            "{}\n  - Dependencies: {}\n  - Related Reqs: {}",
            bullet(entity.id(), entity, true),
            joined_texts(entity.data(), "dependsOnTaskIds"),
            joined_texts(entity.data(), "fulfillsRequirementIds")
        )
    };
    let how = match format {
        "timeline" => "Organize along a timeline with start and end for each item.",
        "milestones" => "Organize around milestones with what each one delivers.",
        _ => "Organize into logical phases (Foundation, Core, Polish, etc.).",
    };
    let named = |entity: &&BundleEntity| bullet(entity.id(), entity, true);
    Ok(format!(
        "You are creating an implementation roadmap from an SDD bundle.\n\n## Bundle: {}\n## Scope: {scope}\n## Format: {format}\n\n## Features ({} total)\n{}\n\n## Requirements ({} total)\n{}\n\n## Tasks ({} total)\n{}\n\n{READ_MORE}\n\n## Roadmap Format\n{how}\n\n## Your Task\nCreate an implementation roadmap.\n\nInclude:\n1. **Overview** - What will be built, in what order\n2. **Phases/Timeline** - Organized work breakdown\n3. **Dependencies** - What blocks what\n4. **Milestones** - Key deliverables and checkpoints\n5. **Estimates** - Time estimates for major work items\n6. **Risks** - What could delay the schedule\n7. **Visualization** - ASCII diagram of the timeline/phases",
        bundle.id(),
        features.len(),
        list_or_none(&features, 20, named),
        requirements.len(),
        list_or_none(&requirements, 30, named),
        tasks.len(),
        list_or_none(&tasks, 40, task),
    ))
}

/// Returns whether an entity is in scope: always for `all`, otherwise if it is the scope entity or adjacent to it.
fn is_in_scope(bundle: &Bundle, entity: &BundleEntity, scope: &str) -> bool {
    let known = scope != "all" && bundle.entity_by_id(scope).is_some();
    !known
        || entity.id() == scope
        || bundle.outgoing(entity).any(|edge| edge.to_id == scope)
        || bundle.incoming(entity.id()).any(|edge| edge.from.id() == scope)
}
