//! Built-in components, one for every built-in type of interface boards, so that every item of the palette has a preview in a
//! workspace without components. A file of the workspace with the same id replaces the built-in one as a whole. The types
//! themselves belong to the catalogue: nothing here changes them.

use components::BUILT_IN_FOLDER;
use include_dir::{Dir, include_dir};
use std::sync::{Arc, LazyLock};

static FILES: Dir<'_> = include_dir!("$CARGO_MANIFEST_DIR/kit");

/// The pseudo path and the text of each built-in component.
pub fn kit() -> &'static [(String, Arc<str>)] {
    static KIT: LazyLock<Vec<(String, Arc<str>)>> = LazyLock::new(|| {
        let text = |file: &include_dir::File<'_>| {
            Some((format!("{BUILT_IN_FOLDER}{}", file.path().display()), Arc::from(file.contents_utf8()?)))
        };
        let mut files: Vec<(String, Arc<str>)> = FILES.files().filter_map(text).collect();
        files.sort();
        files
    });
    &KIT
}

#[cfg(test)]
mod tests {
    use super::*;
    use authority::TypeRegistry;
    use components::ComponentLibrary;
    use shared_protocol::BoardKind;
    use std::collections::BTreeMap;

    #[test]
    fn every_type_of_interface_boards_has_a_component_with_its_own_props() {
        let mut library = ComponentLibrary::default();
        kit().iter().for_each(|(file, text)| library.insert(file, text));
        library.rebuild_index();
        let problems: Vec<String> = library.problems().map(ToString::to_string).collect();
        assert!(problems.is_empty(), "{problems:?}");
        let registry = TypeRegistry::compose(&catalogue::built_in(), &BTreeMap::new());
        let types: Vec<_> = registry.types().filter(|def| def.boards == [BoardKind::Interface]).collect();
        assert!(types.len() >= 17, "{}", types.len());
        for def in types {
            let component = library.get(def.id.as_str()).unwrap_or_else(|| panic!("{} has none", def.id));
            for prop in &component.props {
                let known = def.prop(&prop.name).unwrap_or_else(|| panic!("{}.{}", def.id, prop.name));
                // A prop without a value is drawn with the default that the inspector shows.
                let is_same = match (&prop.default, &known.default) {
                    (Some(default), Some(known)) => {
                        shared_protocol::PropValue::from_json(default).unwrap() == *known
                    }
                    (Some(_), None) => false,
                    (None, _) => true,
                };
                assert!(is_same, "{}.{}: {:?} {:?}", def.id, prop.name, prop.default, known.default);
            }
        }
    }

    #[test]
    fn a_file_of_the_workspace_takes_the_place_of_one_that_is_built_in() {
        let mut library = ComponentLibrary::default();
        kit().iter().for_each(|(file, text)| library.insert(file, text));
        let own = "format: 1\nid: ui.button\ntitle: Mine\nview: { type: text, text: Mine }\n";
        library.insert("components/mine.component.yaml", own);
        library.rebuild_index();
        assert_eq!(library.get("ui.button").unwrap().title, "Mine");
        assert_eq!(library.problems().count(), 0);
        library.remove("components/mine.component.yaml");
        library.rebuild_index();
        assert_eq!(library.get("ui.button").unwrap().file, "built-in/button.component.yaml");
    }
}
