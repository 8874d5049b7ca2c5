//! Composing the registry: an invalid entry disables only itself.

use crate::{ModuleSource, TypeRegistry};
use shared_protocol::{TypeId, registry::ProjectTypeOverride};
use std::{collections::BTreeMap, sync::Arc};

fn compose(text: &str, overrides: &str) -> TypeRegistry {
    let overrides: BTreeMap<String, ProjectTypeOverride> = serde_json::from_str(overrides).unwrap();
    TypeRegistry::compose(&[ModuleSource { origin: "test".into(), text: Arc::from(text) }], &overrides)
}

const GOOD: &str = r#"{"id":"x/good","title":"Good","category":"X","props":[
    {"key":"size","label":"Size","kind":"number","min":1,"max":9,"default":2},
    {"key":"mode","label":"Mode","kind":"select","options":[{"value":"a","label":"A"},{"value":"b","label":"B"}]}]}"#;

fn with_types(types: &str) -> String {
    format!(r#"{{"format":1,"module":"x","title":"X","types":[{GOOD},{types}]}}"#)
}

#[test]
fn a_bad_entry_disables_only_itself() {
    let prop = |prop: &str| format!(r#"{{"id":"x/bad","title":"Bad","category":"X","props":[{prop}]}}"#);
    for (bad, reason) in [
        (r#"{"id":"x/bad"}"#.to_owned(), "missing field `title`"),
        (r#"{"id":"x y","title":"T","category":"C"}"#.to_owned(), "not a type id"),
        (r#"{"id":"x/bad","title":"T","category":"C","colour":"red"}"#.to_owned(), "unknown field `colour`"),
        (prop(r#"{"key":"k","label":"K","kind":"number","min":9,"max":1}"#), "min 9 is above max 1"),
        (prop(r#"{"key":"k","label":"K","kind":"text","pattern":"("}"#), "pattern:"),
        (prop(r#"{"key":"k","label":"K","kind":"select"}"#), "needs options"),
        (prop(r#"{"key":"k","label":"K","kind":"reference"}"#), "needs targets"),
        (prop(r#"{"key":"k","label":"K","kind":"slider"}"#), "unknown variant `slider`"),
        (
            prop(r#"{"key":"k","label":"K","kind":"number","default":"two"}"#),
            "default: expected a number, found text",
        ),
        (
            prop(r#"{"key":"k","label":"K","kind":"text","visibleWhen":{"prop":"z","is":"truthy"}}"#),
            "not another property",
        ),
    ] {
        let registry = compose(&with_types(&bad), "{}");
        assert!(registry.get(&TypeId::parse("x/good").unwrap()).is_some(), "{bad}");
        let [problem] = registry.problems() else { panic!("{bad}: {:?}", registry.problems()) };
        assert!(problem.message.contains(reason), "{bad}: {}", problem.message);
    }
}

#[test]
fn a_broken_or_newer_module_is_named() {
    assert!(compose("{", "{}").problems()[0].message.contains("not a module"));
    let newer = r#"{"format":99,"module":"x","title":"X"}"#;
    assert!(compose(newer, "{}").problems()[0].message.contains("update Draftboard"));
}

#[test]
fn projects_restrict_and_reword() {
    let module = format!(r#"{{"format":1,"module":"x","title":"X","types":[{GOOD}]}}"#);
    let registry = compose(
        &module,
        r#"{"x/good":{"title":"Better","props":{
            "size":{"label":"Width","max":5},"mode":{"options":["b"]},"none":{"label":"?"}}},
            "x/none":{"disabled":true}}"#,
    );
    let def = registry.get(&TypeId::parse("x/good").unwrap()).unwrap();
    assert_eq!(
        (def.title.as_str(), def.props[0].label.as_str(), def.props[0].max),
        ("Better", "Width", Some(5.0))
    );
    assert_eq!(def.props[1].options.len(), 1);
    assert_eq!(registry.problems().len(), 2);

    // An override that makes a property invalid is left out, and the property stays as it was.
    let registry = compose(&module, r#"{"x/good":{"props":{"size":{"max":1}}}}"#);
    assert!(registry.problems()[0].message.contains("default"));
    assert_eq!(registry.get(&TypeId::parse("x/good").unwrap()).unwrap().props[0].max, Some(9.0));

    // An override cannot widen the module's limits.
    for wider in [r#"{"min":0}"#, r#"{"max":10}"#] {
        let registry = compose(&module, &format!(r#"{{"x/good":{{"props":{{"size":{wider}}}}}}}"#));
        assert!(registry.problems()[0].message.contains("the type's own"), "{:?}", registry.problems());
        let size = &registry.get(&TypeId::parse("x/good").unwrap()).unwrap().props[0];
        assert_eq!((size.min, size.max), (Some(1.0), Some(9.0)));
    }

    let registry = compose(&module, r#"{"x/good":{"disabled":true}}"#);
    assert!(registry.types().next().is_none());
}
