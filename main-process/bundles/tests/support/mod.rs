//! Bundles for tests.

use bundles::{BundleSource, Bundles};
use serde_json::json;
use std::{fs, path::Path};

/// Writes a bundle of notes that can refer to each other; [`note`] adds entities.
pub(crate) fn new_bundle(folder: &Path) {
    fs::create_dir_all(folder.join("notes")).unwrap();
    let manifest = "metadata: {name: notes, bundleType: notes}\nspec:\n  bundleTypeDefinition: types.json\n  schemas: {documents: {Note: note.json}}\n";
    fs::write(folder.join("sdd-bundle.yaml"), manifest).unwrap();
    let types = json!({
        "entities": [{"entityType": "Note", "idField": "id", "directory": "notes"}],
        "relations": [{"name": "next", "fromEntity": "Note", "fromField": "next", "toEntity": "Note", "multiplicity": "one"}]
    });
    fs::write(folder.join("types.json"), types.to_string()).unwrap();
    // Written as text, because the order of the properties determines the order in new files.
    let schema = r#"{
        "type": "object",
        "required": ["id"],
        "properties": {
            "id": {"type": "string"},
            "title": {"type": "string", "minLength": 2},
            "next": {"type": "string", "format": "sdd-ref", "x-sdd-refTargets": ["Note"]}
        },
        "additionalProperties": false
    }"#;
    fs::write(folder.join("note.json"), schema).unwrap();
}

pub(crate) fn note(folder: &Path, id: &str, text: &str) {
    fs::write(folder.join(format!("notes/{id}.yaml")), text).unwrap();
}

pub(crate) fn load(folder: &Path) -> Bundles {
    let bundles = Bundles::load(&BundleSource::of_folders(&[folder.to_path_buf()]));
    assert!(bundles.load_failures().is_empty(), "{:?}", bundles.load_failures());
    bundles
}
