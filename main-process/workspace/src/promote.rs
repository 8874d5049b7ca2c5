//! Promotes overrides. Those of nodes become props, which the authority decides. Those of components become defaults, or props
//! of the variant, in the component file. Those of parts become props in the file of the surrounding component. Everything else
//! in a file stays. All overrides are promoted in one operation, or none.

use super::{MutationGroup, TimeAndSeed, component_edit::ComponentFileEdit};
use authority::{CommandDecision, decide, overrides::set_at_path};
use components::{BoundValue, Component, ComponentProp, ComponentUse};
use shared_protocol::{
    Change, Command, OverrideKey, OverrideResolution, OverrideScope, OverrideSelector, PropKey, PropValue,
    Refusal, SourcePath, overrides::PromotionFailure, v0::ValidationCode,
};
use std::{
    collections::{BTreeMap, BTreeSet},
    sync::Arc,
};

type PromotionTexts = BTreeMap<SourcePath, Arc<str>>;
type PromotionRefusal = (ValidationCode, String);

/// The place of a value in a component file, and the present value there.
struct ComponentValuePlace {
    path: Vec<String>,
    now: serde_json::Value,
    /// The mapping that holds the value does not exist yet.
    is_first: bool,
}

impl MutationGroup<'_> {
    pub(super) fn promote_value(
        &self,
        which: &OverrideSelector,
        moment: TimeAndSeed,
    ) -> Result<CommandDecision, Refusal> {
        let keys = self.state.select_overrides(which);
        let is_in_file = |key: &OverrideKey| key.scope == OverrideScope::Component || key.is_nested_part();
        let (in_files, placed): (Vec<OverrideKey>, Vec<OverrideKey>) = keys.into_iter().partition(is_in_file);
        let count = in_files.len() + placed.len();
        if in_files.is_empty() {
            return decide(&self.state, &Command::PromoteOverrides(which.clone()), moment.seed);
        }
        let mut failed: Vec<PromotionFailure> = Vec::new();
        let mut changes = Vec::new();
        if !placed.is_empty() {
            let command = Command::PromoteOverrides(OverrideSelector::These(placed));
            match decide(&self.state, &command, moment.seed) {
                Ok(decision) => changes = decision.changes,
                Err(refusal) if refusal.failed.is_empty() => return Err(refusal),
                Err(refusal) => failed.extend(refusal.failed),
            }
        }
        let mut texts = PromotionTexts::new();
        let mut taken = BTreeMap::new();
        for key in &in_files {
            if let Err((code, message)) = self.put_into_file(key, &mut texts, &mut taken) {
                failed.push(PromotionFailure::new(key, code, message));
            }
        }
        if !failed.is_empty() {
            failed.sort_by(|a, b| a.address.cmp(&b.address));
            return Err(Refusal::promotion_failed(failed, count));
        }
        for (path, text) in texts {
            let before = self.state.source(&path).cloned();
            changes.push(Change::Source { path, before, after: Some(text) });
        }
        let gone: BTreeSet<&OverrideKey> = in_files.iter().collect();
        for (key, over) in self.state.overrides().filter(|(key, _)| gone.contains(key)) {
            changes.push(Change::Override { key: key.clone(), before: Some(Arc::clone(over)), after: None });
        }
        let summary = match &in_files[..] {
            [key] if count == 1 => {
                format!("Promote {}", authority::overrides::describe_key(&self.state, key))
            }
            _ => format!("Promote {count} overrides"),
        };
        Ok(CommandDecision { summary, changes, ..CommandDecision::default() })
    }

    /// Puts a value into the text of its component file.
    fn put_into_file(
        &self,
        key: &OverrideKey,
        texts: &mut PromotionTexts,
        taken: &mut BTreeMap<(SourcePath, Vec<String>, String), PropValue>,
    ) -> Result<(), PromotionRefusal> {
        let not_found = |what: &str| (ValidationCode::NotFound, what.to_owned());
        let unfit = |what: String| (ValidationCode::Unpromotable, what);
        let over = self.state.override_at(key).ok_or_else(|| not_found("There is no such override."))?;
        let bound = match self.state.resolve_override(key, over) {
            OverrideResolution::Applies(instance) => OverrideKey { instance, ..key.clone() },
            OverrideResolution::Orphaned(reason) => return Err(not_found(reason.describe())),
        };
        let component = self.holder(&bound)?;
        let path = SourcePath::parse(component.file.as_str()).map_err(|error| unfit(error.to_string()))?;
        // Another override may have changed the same text already.
        let before = texts.get(&path).or_else(|| self.state.source(&path)).ok_or_else(|| {
            unfit(format!("{} is built in: add your own component with this id", component.id))
        })?;
        let component = components::read(path.as_str(), before)
            .map_err(|_| not_found("the file of its component cannot be read"))?;
        let first = bound.path.tokens().next().ok_or_else(|| not_found("the path names no prop"))?;
        let spot = spot(&component, &bound, &first, &self.default_of(&bound, &first))?;
        let name = PropKey::parse(first.as_str()).map_err(|error| unfit(error.to_string()))?;
        let now = PropValue::from_json(&spot.now).map_err(|error| unfit(error.to_string()))?;
        let mut props = BTreeMap::from([(name.clone(), now)]);
        set_at_path(&mut props, &bound.path, &over.value)
            .ok_or_else(|| not_found("there is no value at this path"))?;
        let value = props.remove(&name).unwrap_or_default();
        let place = (path.clone(), spot.path.clone(), bound.path.to_string());
        if taken.insert(place, over.value.clone()).is_some_and(|other| other != over.value) {
            let message = "another override has the same target in the same file: choose one of them";
            return Err(unfit(message.to_owned()));
        }
        let json = serde_json::to_value(&value).map_err(|error| unfit(error.to_string()))?;
        if spot.path.first().is_some_and(|first| first == "view")
            && json.as_str().is_some_and(|text| text.starts_with('='))
        {
            let message = "text that starts with = would become an expression: edit the file instead";
            return Err((ValidationCode::UnsupportedPattern, message.to_owned()));
        }
        let mut way: Vec<&str> = spot.path.iter().map(String::as_str).collect();
        let json = match spot.is_first {
            true => serde_json::Value::Object([(first.clone(), json)].into_iter().collect()),
            false => {
                let is_default = way.first() == Some(&"props");
                way.push(if is_default { "default" } else { first.as_str() });
                json
            }
        };
        let edited = ComponentFileEdit::new(path.as_str(), before).with_value(&way, &json).map_err(unfit)?;
        texts.insert(path, Arc::from(edited));
        Ok(())
    }

    /// The component whose file holds the value: the instance's own, or for a part the surrounding one.
    fn holder(&self, key: &OverrideKey) -> Result<&Arc<Component>, PromotionRefusal> {
        let around = match key.instance.rsplit_once('/') {
            Some((around, _)) => around,
            None => key.owner(),
        };
        let gone = || (ValidationCode::NotFound, "no component of this workspace has it".to_owned());
        let found = self.state.instance(key.scope, around).map_err(|_| gone())?;
        self.workspace.component(found.def.id.as_str()).ok_or_else(gone)
    }

    /// The value of a prop that the file does not set.
    fn default_of(&self, key: &OverrideKey, prop: &str) -> serde_json::Value {
        let found = self.state.instance(key.scope, &key.instance).ok();
        let component = found.and_then(|found| self.workspace.component(found.def.id.as_str()));
        component
            .and_then(|component| component.prop(prop))
            .map(|prop| prop.value_when_unset())
            .unwrap_or_default()
    }
}

fn spot(
    component: &Component,
    key: &OverrideKey,
    prop: &str,
    default: &serde_json::Value,
) -> Result<ComponentValuePlace, PromotionRefusal> {
    let not_found = |what: &str| (ValidationCode::NotFound, what.to_owned());
    let unsupported = |what: String| (ValidationCode::UnsupportedPattern, what);
    if let Some(step) = key.part_path().map(|way| way.rsplit('/').next().unwrap_or(way)) {
        let name = step.split(['[', '~']).next().unwrap_or_default();
        let used: ComponentUse<'_> = component
            .view
            .uses()
            .into_iter()
            .find(|used| *used.part.name == *name)
            .ok_or_else(|| not_found("the component no longer contains this part"))?;
        if used.loops > 0 {
            let message = "an `each` creates this part several times: edit its items instead".to_owned();
            return Err(unsupported(message));
        }
        let mut way = used.part.path.to_vec();
        way.push("props".to_owned());
        let set = used.props.iter().find(|(name, _)| **name == *prop).map(|(_, bound)| bound);
        let now = match set {
            Some(BoundValue::Computed(expression)) => {
                let message = format!(
                    "{} computes it with the expression `={}`: edit the expression instead",
                    component.file,
                    expression.text()
                );
                return Err(unsupported(message));
            }
            Some(BoundValue::Fixed(value)) => components::to_json(value),
            None => default.clone(),
        };
        return Ok(ComponentValuePlace { path: way, now, is_first: used.props.is_empty() });
    }
    let found = component.prop(prop);
    if let (_, Some(variant)) = key.component() {
        let at = component.variants.iter().position(|other| other.id == variant);
        let at = at.ok_or_else(|| not_found("the component no longer has this variant"))?;
        let set = component.variants.get(at).map(|variant| &variant.props);
        let way = vec!["variants".to_owned(), at.to_string(), "props".to_owned()];
        let now = set.and_then(|set| set.get(prop)).cloned();
        let now =
            now.unwrap_or_else(|| found.map_or(serde_json::Value::Null, ComponentProp::value_when_unset));
        return Ok(ComponentValuePlace {
            path: way,
            now,
            is_first: set.is_none_or(serde_json::Map::is_empty),
        });
    }
    let found = found.ok_or_else(|| not_found("the component has no such prop"))?;
    let way = vec!["props".to_owned(), prop.to_owned()];
    Ok(ComponentValuePlace { path: way, now: found.value_when_unset(), is_first: false })
}
