//! Overrides: valid targets, orphaned overrides, and rebinding.

use super::AuthorityFixture;
use crate::{TypeRegistry, overrides::set_at_path, proposals::with_needs, rebase};
use shared_protocol::{
    Change, Command, OrphanReason, Override, OverrideKey, OverrideResolution, OverrideScope,
    OverrideSelector, PropValue, ProposalSubject, RefusalCode, TypeDef,
    change::inverse,
    registry::{PartDef, VariantDef},
    v0::{JsonPointer, ValidationCode},
};
use std::{collections::BTreeMap, sync::Arc};

/// A page with a card and a button in it.
fn page() -> AuthorityFixture {
    let mut bench = AuthorityFixture::empty();
    bench.json(r#"{"addBoard":{"kind":"interface","title":"App"}}"#);
    bench.json(r#"{"addNode":{"board":"app","type":"ui.route","name":"home"}}"#);
    bench.json(r#"{"addNode":{"board":"app","type":"ui.card","parent":"home","name":"card"}}"#);
    bench.json(
        r#"{"addNode":{"board":"app","type":"ui.button","parent":"card","name":"go","props":{"label":"Go"}}}"#,
    );
    bench
}

fn set(bench: &AuthorityFixture, node: &str, path: &str, value: &str) -> String {
    let instance = bench.node(node);
    format!(r#"{{"setOverrides":{{"set":[{{"instance":"{instance}","path":"{path}","value":{value}}}]}}}}"#)
}

fn key(bench: &AuthorityFixture, node: &str, path: &str) -> OverrideKey {
    let path = JsonPointer::parse(path).unwrap();
    OverrideKey::new(OverrideScope::App, bench.node(node).to_string(), path)
}

fn standing(bench: &AuthorityFixture, key: &OverrideKey) -> OverrideResolution {
    bench.state.resolve_override(key, bench.state.override_at(key).expect("it is kept"))
}

#[test]
fn an_override_counts_before_what_is_set_and_that_before_the_default() {
    let mut bench = page();
    let label = |bench: &AuthorityFixture| {
        let node = bench.state.node(bench.node("go")).unwrap();
        bench.state.effective_props(node).get("label").cloned()
    };
    assert_eq!(label(&bench), Some(PropValue::text("Go")));
    let command = set(&bench, "go", "/label", r#""Open""#);
    let decision = bench.json(&command);
    assert_eq!(decision.summary, "Override label of go");
    assert_eq!(label(&bench), Some(PropValue::text("Open")));
    assert_eq!(bench.json(&command).changes, [], "as it is already");
    bench.json(r#"{"updateNode":{"node":"go","set":{"label":"Went"}}}"#);
    assert_eq!(label(&bench), Some(PropValue::text("Open")));
    bench.json(r#"{"clearOverrides":"all"}"#);
    assert_eq!(label(&bench), Some(PropValue::text("Went")));
    bench.json(r#"{"updateNode":{"node":"go","unset":["label"]}}"#);
    let def = bench.state.registry().get(&"ui.button".parse().unwrap()).unwrap();
    assert_eq!(label(&bench), def.prop("label").unwrap().default);
}

#[test]
fn what_does_not_fit_is_refused_and_says_why() {
    let mut bench = page();
    for (node, path, value, code) in [
        ("go", "/label", "7", RefusalCode::ValidationError),
        ("go", "/variant", r#""loud""#, RefusalCode::ValidationError),
        ("go", "/nothing", "1", RefusalCode::NotFound),
        ("go", "", "{}", RefusalCode::NotFound),
        ("go", "/label/deeper", "1", RefusalCode::NotFound),
        ("go", "/navigatesTo", r#""n-000000000001""#, RefusalCode::NotFound),
        ("card", "/children", "1", RefusalCode::NotFound),
    ] {
        let command = set(&bench, node, path, value);
        assert_eq!(bench.refused(&command).code, code, "{path} {value}");
    }
    let refusal = bench.refused(&set(&bench, "go", "/varient", r#""primary""#));
    assert!(refusal.suggestions.iter().any(|known| known == "variant"), "{refusal:?}");
    let nobody = r#"{"setOverrides":{"set":[{"instance":"n-000000000001","path":"/label","value":1}]}}"#;
    assert_eq!(bench.refused(nobody).code, RefusalCode::NotFound);
}

#[test]
fn an_orphan_has_a_reason_and_is_bound_again() {
    let mut bench = page();
    let command = set(&bench, "go", "/label", r#""Open""#);
    bench.json(&command);
    let address = key(&bench, "go", "/label");
    let instance = Arc::clone(&address.instance);
    assert_eq!(standing(&bench, &address), OverrideResolution::Applies(Arc::clone(&instance)));

    bench.json(r#"{"remove":{"nodes":["go"]}}"#);
    assert_eq!(standing(&bench, &address), OverrideResolution::Orphaned(OrphanReason::InstanceMissing));
    assert_eq!(bench.state.select_overrides(&OverrideSelector::Orphaned), std::slice::from_ref(&address));

    // A new node with the same name and type is the target of the override.
    bench.json(r#"{"addNode":{"board":"app","type":"ui.button","parent":"card","name":"go"}}"#);
    let anew = bench.node("go").to_string();
    assert_ne!(*anew, *instance);
    assert_eq!(standing(&bench, &address), OverrideResolution::Applies(Arc::from(anew)));
    bench.json(r#"{"remove":{"nodes":["go"]}}"#);
    bench.json(r#"{"addNode":{"board":"app","type":"ui.text","parent":"card","name":"go"}}"#);
    assert_eq!(standing(&bench, &address), OverrideResolution::Orphaned(OrphanReason::InstanceMissing));

    // The original node is restored.
    let removal = bench.log.len() - 4;
    bench.json(r#"{"remove":{"nodes":["go"]}}"#);
    let undone = inverse(&bench.log[removal]);
    bench.state.apply(bench.state.revision().next(), &undone).unwrap();
    assert_eq!(standing(&bench, &address), OverrideResolution::Applies(instance));
}

#[test]
fn what_was_bound_again_counts_everywhere_and_is_kept_once() {
    let mut bench = page();
    let command = set(&bench, "go", "/label", r#""Open""#);
    bench.json(&command);
    bench.json(r#"{"remove":{"nodes":["go"]}}"#);
    bench.json(r#"{"addNode":{"board":"app","type":"ui.button","parent":"card","name":"go"}}"#);
    let label = |bench: &AuthorityFixture| {
        let node = bench.state.node(bench.node("go")).unwrap();
        bench.state.effective_props(node).get("label").cloned()
    };
    assert_eq!(label(&bench), Some(PropValue::text("Open")));
    let anew = key(&bench, "go", "/label");
    assert!(bench.state.override_at(&anew).is_none() && bench.state.override_for(&anew).is_some());
    let command = set(&bench, "go", "/label", r#""Again""#);
    bench.json(&command);
    assert_eq!((bench.state.overrides().count(), label(&bench)), (1, Some(PropValue::text("Again"))));
    assert!(bench.state.override_at(&anew).is_some());

    // Cleared by the key of the instance that it was rebound to.
    bench.json(r#"{"remove":{"nodes":["go"]}}"#);
    bench.json(r#"{"addNode":{"board":"app","type":"ui.button","parent":"card","name":"go"}}"#);
    let clear = Command::ClearOverrides(OverrideSelector::These(vec![key(&bench, "go", "/label")]));
    bench.run(&clear).unwrap();
    assert_eq!(bench.state.overrides().count(), 0);
}

/// A page with a card that shows a badge and a list of buttons, and with a variant.
fn with_parts() -> AuthorityFixture {
    let mut bench = page();
    let mut types: Vec<TypeDef> = super::catalogue().types().map(|def| TypeDef::clone(def)).collect();
    let card = types.iter_mut().find(|def| def.id.as_str() == "ui.card").unwrap();
    let part = |name: &str, component: &str, loops| PartDef {
        name: name.to_owned(),
        component: component.parse().unwrap(),
        loops,
        props: BTreeMap::from([("text".parse().unwrap(), PropValue::text("Fixed"))]),
        computed: Vec::new(),
    };
    card.parts = vec![part("ui.badge", "ui.badge", 0), part("ui.button", "ui.button", 1)];
    card.variants = vec![VariantDef { id: "wide".into(), props: BTreeMap::new() }];
    let registry = TypeRegistry::from_parts(types, Vec::new(), Vec::new());
    bench.state = bench.state.clone().with_registry(Arc::new(registry));
    bench
}

#[test]
fn parts_and_variants_are_known_without_a_preview() {
    let mut bench = with_parts();
    let card = bench.node("card");
    let over = |instance: &str, path: &str, value: &str, scope: &str| {
        format!(
            r#"{{"setOverrides":{{"set":[{{"scope":"{scope}","instance":"{instance}","path":"{path}","value":{value}}}]}}}}"#
        )
    };
    for (instance, path, scope) in [
        (format!("{card}/ui.badge"), "/text", "app"),
        (format!("{card}/ui.button[3]"), "/label", "app"),
        ("ui.card/ui.badge".to_owned(), "/text", "component"),
        ("ui.card@wide".to_owned(), "/title", "component"),
    ] {
        bench.json(&over(&instance, path, r#""X""#, scope));
    }
    let key = OverrideKey::new(
        OverrideScope::App,
        format!("{card}/ui.badge"),
        JsonPointer::parse("/text").unwrap(),
    );
    let kept = bench.state.override_at(&key).unwrap();
    assert_eq!(kept.component.as_deref(), Some("ui.badge"));
    let Some(PropValue::Object(locator)) = &kept.locator else { panic!("{kept:?}") };
    assert_eq!(
        (locator["kind"].as_text(), locator["component"].as_text(), locator["path"].as_text()),
        (Some("part"), Some("ui.card"), Some("ui.badge"))
    );
    for (instance, path, scope, code) in [
        (format!("{card}/ui.toast"), "/text", "app", RefusalCode::NotFound),
        (format!("{card}/ui.badge[0]"), "/text", "app", RefusalCode::NotFound),
        (format!("{card}/ui.button"), "/label", "app", RefusalCode::NotFound),
        (format!("{card}/ui.badge"), "/nothing", "app", RefusalCode::NotFound),
        ("ui.card@narrow".to_owned(), "/title", "component", RefusalCode::NotFound),
        ("ui.nothing".to_owned(), "/title", "component", RefusalCode::NotFound),
    ] {
        assert_eq!(bench.refused(&over(&instance, path, r#""X""#, scope)).code, code, "{instance}{path}");
    }
    // The component no longer shows the part: the override is orphaned, has a reason, and is kept.
    bench.state = bench.state.clone().with_registry(super::catalogue());
    assert_eq!(standing(&bench, &key), OverrideResolution::Orphaned(OrphanReason::InstanceMissing));
    // The card and its part are created anew.
    bench.state = bench.state.clone().with_registry(Arc::clone(with_parts().state.registry()));
    bench.json(r#"{"remove":{"nodes":["go"]}}"#);
    bench.json(r#"{"remove":{"nodes":["card"]}}"#);
    assert_eq!(standing(&bench, &key), OverrideResolution::Orphaned(OrphanReason::InstanceMissing));
    bench.json(r#"{"addNode":{"board":"app","type":"ui.card","parent":"home","name":"card"}}"#);
    let anew = format!("{}/ui.badge", bench.node("card"));
    assert_eq!(standing(&bench, &key), OverrideResolution::Applies(Arc::from(anew)));
}

#[test]
fn a_type_or_a_path_that_is_no_more_is_told_apart() {
    let mut bench = page();
    let put = |bench: &mut AuthorityFixture, node: &str, path: &str, component: &str| {
        let key = key(bench, node, path);
        let over = Override { value: 1.into(), component: Some(component.into()), locator: None };
        let change = Change::Override { key: key.clone(), before: None, after: Some(Arc::new(over)) };
        bench.state.apply(bench.state.revision().next(), &[change]).unwrap();
        standing(bench, &key)
    };
    assert_eq!(
        put(&mut bench, "go", "/label", "ui.text"),
        OverrideResolution::Orphaned(OrphanReason::OtherType)
    );
    assert_eq!(
        put(&mut bench, "go", "/gone", "ui.button"),
        OverrideResolution::Orphaned(OrphanReason::PathInvalid)
    );
    assert!(matches!(put(&mut bench, "go", "/size", "ui.button"), OverrideResolution::Applies(_)));
}

#[test]
fn clearing_takes_one_an_instance_or_all() {
    let mut bench = page();
    for (node, path, value) in
        [("go", "/label", r#""A""#), ("go", "/disabled", "true"), ("card", "/title", r#""T""#)]
    {
        let command = set(&bench, node, path, value);
        bench.json(&command);
    }
    let one = serde_json::to_string(&key(&bench, "go", "/label")).unwrap();
    assert_eq!(bench.json(&format!(r#"{{"clearOverrides":{{"these":[{one}]}}}}"#)).changes.len(), 1);
    let go = bench.node("go");
    let instance = format!(r#"{{"clearOverrides":{{"instance":{{"instance":"{go}"}}}}}}"#);
    assert_eq!(bench.json(&instance).changes.len(), 1);
    assert_eq!(bench.json(&instance).changes, []);
    assert_eq!(bench.json(r#"{"clearOverrides":"all"}"#).summary, "Clear the override of title of card");
    assert_eq!(bench.state.overrides().count(), 0);
}

#[test]
fn promoting_is_all_or_nothing_and_one_operation() {
    let mut bench = page();
    let commands = [set(&bench, "go", "/label", r#""Open""#), set(&bench, "card", "/title", r#""Parcel""#)];
    for command in &commands {
        bench.json(command);
    }
    let component = r#"{"setOverrides":{"set":[{"scope":"component","instance":"ui.badge","path":"/text","value":"Hot"}]}}"#;
    bench.json(component);
    let refusal = bench.refused(r#"{"promoteOverrides":"all"}"#);
    assert!(refusal.message.contains("1 of 3"), "{refusal:?}");
    let [failed] = &refusal.failed[..] else { panic!("{refusal:?}") };
    assert_eq!((failed.address.owner(), failed.code), ("ui.badge", ValidationCode::Unpromotable));

    let decision = bench.json(r#"{"promoteOverrides":{"scope":"app"}}"#);
    assert_eq!(decision.summary, "Promote 2 overrides");
    let go = bench.state.node(bench.node("go")).unwrap();
    assert_eq!(go.props.get("label"), Some(&PropValue::text("Open")));
    assert_eq!(bench.state.overrides().count(), 1);
    let undone = inverse(bench.log.last().unwrap());
    bench.state.apply(bench.state.revision().next(), &undone).unwrap();
    assert_eq!(bench.state.overrides().count(), 3);
    assert_eq!(bench.refused(r#"{"promoteOverrides":"orphaned"}"#).code, RefusalCode::NotFound);
}

#[test]
fn one_of_several_is_reverted_while_later_work_stays() {
    let mut bench = page();
    let commands = [set(&bench, "go", "/label", r#""A""#), set(&bench, "go", "/disabled", "true")];
    for command in &commands {
        bench.json(command);
    }
    let first = bench.log.len() - 2;
    let rebased = rebase(&bench.state, &inverse(&bench.log[first]));
    assert_eq!((rebased.fitting.len(), rebased.conflicts.len()), (1, 0));
    let command = set(&bench, "go", "/label", r#""B""#);
    bench.json(&command);
    let rebased = rebase(&bench.state, &inverse(&bench.log[first]));
    assert_eq!((rebased.fitting.len(), rebased.conflicts.len()), (0, 1), "somebody set it since");
}

#[test]
fn accepting_an_override_of_something_new_accepts_that_too() {
    let before = page();
    let mut bench = page();
    let add = bench.json(r#"{"addNode":{"board":"app","type":"ui.badge","parent":"card","name":"new"}}"#);
    let command = set(&bench, "new", "/text", r#""Hot""#);
    let over = bench.json(&command);
    let changes: Vec<Change> = add.changes.into_iter().chain(over.changes).collect();
    let subject = ProposalSubject::Override(key(&bench, "new", "/text"));
    let taken = with_needs(&before.state, &changes, [subject.clone()]);
    assert!(
        taken.contains(&subject) && taken.contains(&ProposalSubject::Node(bench.node("new"))),
        "{taken:?}"
    );
}

#[test]
fn paths_reach_into_values() {
    let mut props = BTreeMap::from([(
        "rows".parse().unwrap(),
        PropValue::parse_json(r#"[{"name":"a"},{"name":"b"}]"#).unwrap(),
    )]);
    let mut lay = |path: &str| {
        let laid = set_at_path(&mut props, &JsonPointer::parse(path).unwrap(), &PropValue::text("x"));
        laid.map(|()| props["rows"].to_json())
    };
    assert_eq!(lay("/rows/1/name").as_deref(), Some(r#"[{"name":"a"},{"name":"x"}]"#));
    assert_eq!(lay("/rows/0/new").as_deref(), Some(r#"[{"name":"a","new":"x"},{"name":"x"}]"#));
    for nowhere in ["/rows/2/name", "/rows/name", "/rows/0/name/x", "/others/0", ""] {
        assert_eq!(lay(nowhere), None, "{nowhere}");
    }
}
