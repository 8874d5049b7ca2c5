//! Describes the change of an entity file in terms of the entity.

use crate::{Bundle, Bundles, files::BundlePath, yaml};
use shared_protocol::OrderedValue;
use std::collections::BTreeSet;

/// The maximum number of changed fields that are named; the others are counted.
const MAX_NAMED_FIELDS: usize = 6;

impl Bundles {
    /// Describes the change of a file, such as `changes requirement REQ-1: title, state`. `path` starts with the root
    /// of its bundle. Returns `None` for a file that contains no entity.
    pub fn describe_change(&self, path: &str, before: Option<&str>, after: Option<&str>) -> Option<String> {
        self.iter().find_map(|bundle| {
            let within = path.strip_prefix(bundle.root().to_str()?)?.strip_prefix('/')?;
            describe_file_change(bundle, within, before, after)
        })
    }
}

fn describe_file_change(
    bundle: &Bundle,
    path: &str,
    before: Option<&str>,
    after: Option<&str>,
) -> Option<String> {
    let path = BundlePath::parse(path).ok()?;
    let (folders, _) = path.split();
    let kind = bundle
        .kinds
        .iter()
        .find(|kind| kind.folder.as_ref().is_some_and(|folder| folder.parts() == folders))?;
    let read = |text: Option<&str>| text.and_then(|text| yaml::read(text).ok());
    let (before, after) = (read(before), read(after));
    let id = after.as_ref().or(before.as_ref())?.text(&kind.info.id_field)?.to_owned();
    let what = format!("{} {id}", kind.name.to_lowercase());
    Some(match (before, after) {
        (None, Some(entity)) => match entity.text("title").or_else(|| entity.text("name")) {
            Some(title) => format!("adds {what} “{title}”"),
            None => format!("adds {what}"),
        },
        (Some(_), None) => format!("removes {what}"),
        (Some(before), Some(after)) => match changed_fields(&before, &after) {
            fields if fields.is_empty() => format!("changes {what}: formatting only"),
            fields => format!("changes {what}: {fields}"),
        },
        (None, None) => return None,
    })
}

/// Returns the names of the changed fields, in file order.
fn changed_fields(before: &OrderedValue, after: &OrderedValue) -> String {
    let (Some(old), Some(new)) = (before.as_map(), after.as_map()) else { return String::new() };
    let keys = new.iter().chain(old.iter()).map(|(key, _)| key);
    let mut seen = BTreeSet::new();
    let differing: Vec<&str> =
        keys.filter(|key| seen.insert(*key)).filter(|key| old.get(key) != new.get(key)).collect();
    let named = differing.iter().take(MAX_NAMED_FIELDS).copied().collect::<Vec<_>>().join(", ");
    match differing.len().saturating_sub(MAX_NAMED_FIELDS) {
        0 => named,
        more => format!("{named} and {more} more"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;
    use std::{collections::BTreeMap, path::Path, sync::Arc};

    fn bundles() -> Bundles {
        let types =
            json!({"entities": [{"entityType": "Requirement", "idField": "id", "directory": "bundle/reqs"}]});
        let manifest = "metadata: {name: a}\nspec: {bundleTypeDefinition: types.json, schemas: {documents: {Requirement: r.json}}}\n";
        let texts: BTreeMap<String, Arc<str>> = [
            ("sdd-bundle.yaml", manifest.to_owned()),
            ("types.json", types.to_string()),
            ("r.json", json!({"type": "object"}).to_string()),
        ]
        .into_iter()
        .map(|(path, text)| (path.to_owned(), Arc::from(text)))
        .collect();
        let mut bundles = Bundles::default();
        bundles.insert(Arc::new(Bundle::from_texts("a", Path::new("specs/a"), texts).unwrap()));
        bundles
    }

    #[test]
    fn a_change_of_a_file_is_told_as_a_change_of_its_entity() {
        let bundles = bundles();
        let path = "specs/a/bundle/reqs/REQ-1.yaml";
        let words = |before, after| bundles.describe_change(path, before, after);
        let before = "id: REQ-1\ntitle: Doors\nstate: draft\n";
        let told = words(Some(before), Some("id: REQ-1\ntitle: Gates\npriority: 1\nstate: draft\n"));
        assert_eq!(told.as_deref(), Some("changes requirement REQ-1: title, priority"));
        assert_eq!(words(None, Some(before)).as_deref(), Some("adds requirement REQ-1 “Doors”"));
        assert_eq!(words(Some(before), None).as_deref(), Some("removes requirement REQ-1"));
        let commented = format!("# why\n{before}");
        let told = words(Some(before), Some(&commented));
        assert_eq!(told.as_deref(), Some("changes requirement REQ-1: formatting only"));
        let many: String = (0..9).map(|number| format!("f{number}: 1\n")).collect();
        let after = format!("{before}{many}");
        let told = words(Some(before), Some(&after)).unwrap();
        assert!(told.ends_with("f0, f1, f2, f3, f4, f5 and 3 more"), "{told}");
        for other in [
            "specs/a/types.json",
            "specs/a/bundle/REQ-1.yaml",
            "specs/ab/bundle/reqs/REQ-1.yaml",
            "links.json",
        ] {
            assert_eq!(bundles.describe_change(other, None, Some(before)), None, "{other}");
        }
        assert_eq!(words(Some("{"), Some("]")), None);
    }
}
