//! Prompts about one entity.

use super::formatting::{bullet, entity_line, find, json, list, list_or_none, title, truncate_chars};
use crate::{
    Bundle, BundleEntity, Bundles,
    arguments::CallArguments,
    tools::{ReachedEntity, TraversalDirection, traverse},
};
use shared_protocol::Refusal;

const MAX_LISTED_NEIGHBOURS: usize = 10;
/// The maximum number of neighbours that are visited to find those to show.
const MAX_VISITED_NEIGHBOURS: usize = 500;

/// Returns the adjacent entities, each once.
fn neighbours<'a>(
    bundle: &'a Bundle,
    entity: &'a BundleEntity,
    direction: TraversalDirection,
) -> Vec<ReachedEntity<'a>> {
    traverse(bundle, &[entity], direction, 1, MAX_VISITED_NEIGHBOURS).0
}

pub(super) fn implement_requirement(
    bundles: &Bundles,
    arguments: &CallArguments<'_>,
) -> Result<String, Refusal> {
    let id = arguments.required_text("requirementId")?;
    let depth = arguments.one_of("depth", &["overview", "detailed", "with-code"], "detailed")?;
    let bundle = bundles.resolve(arguments.text("bundleId")?)?;
    let requirement = find(bundle, "Requirement", id)?;
    let around = neighbours(bundle, requirement, TraversalDirection::Both);
    let section = |heading: &str, wanted: &dyn Fn(&str) -> bool| {
        let found: Vec<&BundleEntity> = around
            .iter()
            .map(|reached| reached.entity)
            .filter(|entity| wanted(entity.entity_type()))
            .collect();
        let name = |entity: &&BundleEntity| {
            bullet(&format!("{}:{}", entity.entity_type(), entity.id()), entity, true)
        };
        format!("### {heading} ({})\n{}\n", found.len(), list_or_none(&found, MAX_LISTED_NEIGHBOURS, name))
    };
    let named = ["Feature", "Component", "Task"];
    let context = [
        section("Features", &|kind| kind == "Feature"),
        section("Components", &|kind| kind == "Component"),
        section("Tasks", &|kind| kind == "Task"),
        section("Other related entities", &|kind| !named.contains(&kind)),
    ]
    .join("\n");
    let task = match depth {
        "overview" => "Give a short overview of the approach: the main steps and the parts involved.",
        "with-code" => "Give a detailed plan with code for the central parts.",
        _ => "Give a detailed, step-by-step implementation plan.",
    };
    Ok(format!(
        "You are implementing a requirement from an SDD (Spec-Driven Development) bundle.\n\n## Requirement\n**ID**: {id}\n\n{}\n\n## Related Entities\n\n{context}\n**Note:** Use `read_entities` tool for full details of related entities.\n\n## Domain Knowledge\n{}\n\n## Your Task\n{task}\n\nInclude:\n1. **Summary** - What the requirement asks for\n2. **Design** - Components involved and how they change\n3. **Steps** - In order, each small enough to verify\n4. **Acceptance** - How each acceptance criterion is met\n5. **Tests** - What to test and how\n6. **Risks** - Open questions and edge cases",
        json(requirement),
        super::formatting::domain_knowledge(bundle, 4000),
    ))
}

pub(super) fn explain(bundles: &Bundles, arguments: &CallArguments<'_>) -> Result<String, Refusal> {
    let (kind, id) = (arguments.required_text("entityType")?, arguments.required_text("entityId")?);
    let audience =
        arguments.one_of("audience", &["developer", "stakeholder", "new-team-member"], "developer")?;
    let bundle = bundles.resolve(arguments.text("bundleId")?)?;
    let entity = find(bundle, kind, id)?;
    let ends = |direction| -> Vec<&BundleEntity> {
        neighbours(bundle, entity, direction).iter().map(|reached| reached.entity).collect()
    };
    let (incoming, outgoing) = (ends(TraversalDirection::Incoming), ends(TraversalDirection::Outgoing));
    let shown = |entity: &&BundleEntity| {
        let title = title(entity).map_or(String::new(), |title| format!(" ({title})"));
        format!("- {}: {}{title}", entity.entity_type(), entity.id())
    };
    let either = |entities: &[&BundleEntity], none: &str| {
        if entities.is_empty() { none.to_owned() } else { list(entities, 50, shown) }
    };
    let domain = bundle.domain_knowledge().map_or(String::new(), |text| {
        format!("\n## Domain Context\n{}\n...\n\n", truncate_chars(text.trim_end(), 2000))
    });
    let tone = match audience {
        "stakeholder" => "Focus on value and status, avoid technical details and jargon.",
        "new-team-member" => {
            "Be thorough and educational, explain context, define terms, assume no prior knowledge."
        }
        _ => "Be technical and precise, include implementation considerations.",
    };
    Ok(format!(
        "You are explaining an entity from an SDD (Spec-Driven Development) bundle.\n\n## Entity to Explain\n**Type**: {kind}\n**ID**: {id}\n\n{}\n\n## Connections\n\n### Referenced BY ({} entities depend on this)\n{}\n\n### References TO ({} dependencies)\n{}\n{domain}\n## Your Task\nExplain this {kind} for a **{audience}** audience.\n\n{tone}\n\nInclude:\n1. What this entity is and why it exists\n2. How it connects to other parts of the system\n3. Its current status/state (if applicable)\n4. Key things to know about it\n5. Any actions or next steps related to it",
        json(entity),
        incoming.len(),
        either(&incoming, "None - no other entities depend on this"),
        outgoing.len(),
        either(&outgoing, "None - this entity has no dependencies"),
    ))
}

pub(super) fn trace(bundles: &Bundles, arguments: &CallArguments<'_>) -> Result<String, Refusal> {
    const MAX_TRACE_DEPTH: usize = 4;
    const MAX_TRACED_ENTITIES: usize = 20;
    let (kind, id) = (arguments.required_text("entityType")?, arguments.required_text("entityId")?);
    let direction = arguments.one_of("direction", &["upstream", "downstream", "both"], "both")?;
    let bundle = bundles.resolve(arguments.text("bundleId")?)?;
    let entity = find(bundle, kind, id)?;
    let section = |heading: &str, name: &str, towards| {
        if direction != "both" && direction != name {
            return String::new();
        }
        let (reached, more) = traverse(bundle, &[entity], towards, MAX_TRACE_DEPTH, MAX_TRACED_ENTITIES);
        let shown = |reached: &ReachedEntity<'_>| {
            let (level, via) = (reached.distance, reached.edge.field);
            format!(
                "{}{} (via {via} of {}, level {level})",
                "  ".repeat(level - 1),
                entity_line(reached.entity),
                reached.via.id()
            )
        };
        let more = if more { "\n- … and more; use get_context to follow them" } else { "" };
        format!(
            "## {heading} ({} entities)\n{}{more}\n\n",
            reached.len(),
            list_or_none(&reached, MAX_TRACED_ENTITIES, shown)
        )
    };
    Ok(format!(
        "You are tracing the dependencies of an entity in an SDD bundle.\n\n## Entity\n**Type**: {kind}\n**ID**: {id}\n\n{}\n\n{}{}## Your Task\nAnalyze the dependencies in direction **{direction}**.\n\nInclude:\n1. **Dependency Map** - ASCII diagram of the chain\n2. **Critical Path** - What must be there first\n3. **Impact** - What is affected if this entity changes\n4. **Risks** - Weak, missing or circular dependencies\n5. **Recommendations** - What to look at next",
        json(entity),
        section("Upstream: what it depends on", "upstream", TraversalDirection::Outgoing),
        section("Downstream: what depends on it", "downstream", TraversalDirection::Incoming),
    ))
}

pub(super) fn test_cases(bundles: &Bundles, arguments: &CallArguments<'_>) -> Result<String, Refusal> {
    arguments.required_text("entityType")?;
    let kind = arguments.one_of("entityType", &["Requirement", "Feature"], "Requirement")?;
    let id = arguments.required_text("entityId")?;
    let style = arguments.one_of("style", &["bdd", "traditional", "checklist"], "bdd")?;
    let bundle = bundles.resolve(arguments.text("bundleId")?)?;
    let entity = find(bundle, kind, id)?;
    let related = neighbours(bundle, entity, TraversalDirection::Both);
    let shown = |reached: &ReachedEntity<'_>| {
        let entity = reached.entity;
        bullet(&format!("{}:{}", entity.entity_type(), entity.id()), entity, false)
    };
    let how = match style {
        "traditional" => {
            "Use traditional test case format with ID, Title, Preconditions, Steps, Expected Results."
        }
        "checklist" => "Use a simple checklist format suitable for manual testing.",
        _ => "Use Gherkin syntax (Given/When/Then). Include Feature and Scenario blocks.",
    };
    Ok(format!(
        "You are generating test cases for an SDD entity.\n\n## Entity to Test\n**Type**: {kind}\n**ID**: {id}\n\n{}\n\n## Related Context ({} entities)\n{}\n\n**Note:** Use `read_entities` tool for full details of related entities.\n\n## Test Style: {style}\n{how}\n\n## Your Task\nGenerate comprehensive test cases for {id}.\n\nInclude:\n1. **Happy Path Tests** - Normal successful scenarios\n2. **Edge Cases** - Boundary conditions, empty inputs, max values\n3. **Error Cases** - Invalid inputs, unauthorized access, failures\n4. **Integration Points** - Tests involving related entities\n5. **Performance Considerations** (if applicable)\n\nFor each test, ensure it is:\n- Specific and measurable\n- Independent (can run in isolation)\n- Repeatable\n- Traceable back to the {kind}",
        json(entity),
        related.len(),
        list_or_none(&related, MAX_LISTED_NEIGHBOURS, shown),
    ))
}
