//! The visible lines of a bundle tree: categories, types and entities, without collapsed or filtered ones. Pure. Must not
//! know: widgets.

use super::{answers::EntityList, schema::humanise};
use shared_protocol::{
    bundle::{BundleView, EntityTypeView},
    messages::ProblemSeverity,
};
use std::collections::{BTreeMap, BTreeSet};

/// The maximum number of entities of a bundle that is initially expanded.
const MAX_EXPANDED_ENTITIES: u64 = 120;

#[derive(Debug, Clone, PartialEq)]
pub(crate) struct NavigatorLine {
    /// A stable key, independent of the position.
    pub(crate) key: String,
    pub(crate) depth: usize,
    pub(crate) kind: NavigatorLineKind,
}

#[derive(Debug, Clone, PartialEq)]
pub(crate) enum NavigatorLineKind {
    Category { title: String, open: bool, count: u64 },
    Type { name: String, title: String, open: bool, count: u64, worst: Option<ProblemSeverity> },
    Entity(usize),
}

impl NavigatorLine {
    /// Returns whether the line is expanded, or `None` when it has no children.
    pub(crate) fn is_open(&self) -> Option<bool> {
        match self.kind {
            NavigatorLineKind::Category { open, .. } | NavigatorLineKind::Type { open, .. } => Some(open),
            NavigatorLineKind::Entity(_) => None,
        }
    }
}

/// The filter and the expanded state that determine the lines.
pub(crate) struct NavigatorFilter<'a> {
    pub(crate) filter: &'a str,
    /// Lines whose expanded state differs from the initial one.
    pub(crate) toggled: &'a BTreeSet<String>,
}

pub(crate) fn lines(
    bundle: &BundleView,
    list: &EntityList,
    shape: &NavigatorFilter<'_>,
) -> Vec<NavigatorLine> {
    let filtered = !shape.filter.trim().is_empty();
    let mut by_type: BTreeMap<&str, Vec<usize>> = BTreeMap::new();
    for place in list.matching(shape.filter) {
        by_type.entry(list.entities[place].entity.entity_type.as_str()).or_default().push(place);
    }
    let small = bundle.types.iter().map(|kind| kind.count).sum::<u64>() <= MAX_EXPANDED_ENTITIES;
    // A filter shows every match, even in collapsed lines.
    let is_open = |key: &str, at_first: bool| filtered || (at_first != shape.toggled.contains(key));
    let none = Vec::new();
    let mut lines = Vec::new();
    let categories = categories(bundle);
    let plain = categories.len() < 2;
    for (category, kinds) in categories {
        let fitting = |kind: &EntityTypeView| by_type.get(kind.name.as_str()).unwrap_or(&none).len() as u64;
        let count_of = |kind: &EntityTypeView| if filtered { fitting(kind) } else { kind.count };
        let count: u64 = kinds.iter().map(|kind| count_of(kind)).sum();
        if filtered && count == 0 {
            continue;
        }
        let depth = usize::from(!plain);
        if !plain {
            let title = category.map_or_else(|| "Other".to_owned(), humanise);
            let key = format!("category {title}");
            let open = is_open(&key, true);
            lines.push(NavigatorLine {
                key,
                depth: 0,
                kind: NavigatorLineKind::Category { title, open, count },
            });
            if !open {
                continue;
            }
        }
        for kind in kinds {
            let (count, fitting) = (count_of(kind), by_type.get(kind.name.as_str()).unwrap_or(&none));
            if filtered && count == 0 {
                continue;
            }
            let key = format!("type {}", kind.name);
            let open = is_open(&key, small);
            let worst = worst_severity(list, fitting);
            let (name, title) = (kind.name.clone(), kind.title.clone());
            lines.push(NavigatorLine {
                key,
                depth,
                kind: NavigatorLineKind::Type { name, title, open, count, worst },
            });
            if open {
                lines.extend(fitting.iter().map(|place| {
                    let entity = &list.entities[*place].entity;
                    let key = format!("entity {}/{}", entity.entity_type, entity.id);
                    NavigatorLine { key, depth: depth + 1, kind: NavigatorLineKind::Entity(*place) }
                }));
            }
        }
    }
    lines
}

/// Groups types by category, in order of first appearance. Types without a category come last.
fn categories(bundle: &BundleView) -> Vec<(Option<&str>, Vec<&EntityTypeView>)> {
    let mut categories: Vec<(Option<&str>, Vec<&EntityTypeView>)> = Vec::new();
    for kind in &bundle.types {
        let category = kind.category.as_deref();
        match categories.iter_mut().find(|(known, _)| *known == category) {
            Some((_, kinds)) => kinds.push(kind),
            None => categories.push((category, vec![kind])),
        }
    }
    categories.sort_by_key(|(category, _)| category.is_none());
    categories
}

fn worst_severity(list: &EntityList, places: &[usize]) -> Option<ProblemSeverity> {
    let entities = || places.iter().map(|place| &list.entities[*place]);
    if entities().any(|summary| summary.errors > 0) {
        Some(ProblemSeverity::Error)
    } else if entities().any(|summary| summary.warnings > 0) {
        Some(ProblemSeverity::Warning)
    } else {
        None
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use shared_protocol::bundle::{EntityRef, EntitySummary};

    fn bundle(count: u64) -> (BundleView, EntityList) {
        let kind = |name: &str, category: Option<&str>, count| EntityTypeView {
            name: name.into(),
            title: format!("{name}s"),
            category: category.map(Into::into),
            count,
        };
        let types = vec![
            kind("Feature", Some("product"), 1),
            kind("Note", None, 1),
            kind("Requirement", Some("product"), count),
            kind("Threat", Some("governance"), 0),
        ];
        let summary = |kind: &str, id: String, errors| EntitySummary {
            entity: EntityRef { bundle: "b".into(), entity_type: kind.into(), id },
            title: "Open a cell".into(),
            status: None,
            errors,
            warnings: 0,
        };
        let mut entities = vec![summary("Feature", "FEAT-1".into(), 0), summary("Note", "N-1".into(), 0)];
        entities.extend((0..count).map(|at| summary("Requirement", format!("REQ-{at}"), u32::from(at == 1))));
        let keys = entities.iter().map(|each| format!("{} {}", each.entity.id, each.title).to_lowercase());
        let list = EntityList { keys: keys.collect(), entities };
        let bundle = BundleView {
            id: "b".into(),
            title: "B".into(),
            folder: "specs/b".into(),
            generation: 1,
            types,
            errors: 1,
            warnings: 0,
            has_knowledge: false,
        };
        (bundle, list)
    }

    fn shown(count: u64, filter: &str, toggled: &[&str]) -> Vec<String> {
        let (bundle, list) = bundle(count);
        let toggled = toggled.iter().map(|key| (*key).to_owned()).collect();
        let lines = lines(&bundle, &list, &NavigatorFilter { filter, toggled: &toggled });
        let show = |line: &NavigatorLine| {
            let text = match &line.kind {
                NavigatorLineKind::Category { title, count, .. } => format!("{title} {count}"),
                NavigatorLineKind::Type { title, count, worst, .. } => {
                    format!("{title} {count}{}", if worst.is_some() { "!" } else { "" })
                }
                NavigatorLineKind::Entity(place) => list.entities[*place].entity.id.clone(),
            };
            format!("{}{text}", "-".repeat(line.depth))
        };
        lines.iter().map(show).collect()
    }

    #[test]
    fn a_small_bundle_is_open_and_grouped() {
        let all = [
            "Product 3",
            "-Features 1",
            "--FEAT-1",
            "-Requirements 2!",
            "--REQ-0",
            "--REQ-1",
            "Governance 0",
            "-Threats 0",
            "Other 1",
            "-Notes 1",
            "--N-1",
        ];
        assert_eq!(shown(2, "", &[]), all);
        assert_eq!(
            shown(2, "", &["category Product", "type Note"]),
            ["Product 3", "Governance 0", "-Threats 0", "Other 1", "-Notes 1"]
        );
    }

    #[test]
    fn a_large_one_is_folded_and_a_filter_opens_what_fits() {
        assert_eq!(shown(500, "", &[])[..3], ["Product 501", "-Features 1", "-Requirements 500!"]);
        assert_eq!(shown(500, " CELL req-49 ", &[])[..3], ["Product 11", "-Requirements 11", "--REQ-49"]);
        assert!(shown(500, "nothing like it", &[]).is_empty());
    }
}
