//! Overrides as readers see them: the binding of each override to an instance, and the reason when it is orphaned. All
//! of it is derived from one state, so an override applies again when its instance returns; none is dropped.

use crate::{Snapshot, rules};
use shared_protocol::{
    BoardName, Node, NodeId, NodeName, OrphanReason, Override, OverrideKey, OverrideResolution,
    OverrideScope, OverrideSelector, PropKey, PropValue, TypeDef, TypeId, registry::PartDef,
    text::truncate_chars, v0::JsonPointer,
};
use std::{collections::BTreeMap, sync::Arc};

/// The length of an instance in a message.
const MAX_INSTANCE_CHARS: usize = 60;

/// Overrides whose own instance is missing, by the instance that their locator matched instead.
pub(crate) type ReboundOverrides = BTreeMap<(OverrideScope, Arc<str>), Vec<OverrideKey>>;

/// A node, component, variant or part whose props can be overridden.
pub struct OverridableInstance<'s> {
    pub def: &'s TypeDef,
    /// The set values, else the defaults, without overrides.
    pub props: BTreeMap<PropKey, PropValue>,
    /// The enclosing component and the part; values that the component computes are not known here.
    part: Option<(&'s TypeDef, &'s PartDef)>,
}

impl OverridableInstance<'_> {
    fn is_computed(&self, prop: &str) -> bool {
        self.part.is_some_and(|(_, part)| part.computed.iter().any(|key| key.as_str() == prop))
    }
}

impl Snapshot {
    pub fn overrides(&self) -> impl Iterator<Item = (&OverrideKey, &Arc<Override>)> {
        self.overrides.iter()
    }

    pub fn override_at(&self, key: &OverrideKey) -> Option<&Override> {
        self.overrides.get(key).map(Arc::as_ref)
    }

    /// Returns the overrides bound to this instance: first the rebound ones, then the ones with its key, which take
    /// precedence.
    pub fn overrides_for(&self, scope: OverrideScope, instance: &str) -> Vec<(&OverrideKey, &Arc<Override>)> {
        let first = OverrideKey::first_of(scope, instance);
        let instance = Arc::clone(&first.instance);
        let rebound = self.rebound_overrides().get(&(scope, Arc::clone(&instance)));
        let again = rebound.into_iter().flatten().filter_map(|key| self.overrides.get_key_value(key));
        let named = self
            .overrides
            .range(first..)
            .take_while(move |(key, _)| key.scope == scope && key.instance == instance);
        again.chain(named).collect()
    }

    /// Returns the override of an instance's prop, rebound or not.
    pub fn override_for(&self, wanted: &OverrideKey) -> Option<(&OverrideKey, &Arc<Override>)> {
        let all = self.overrides_for(wanted.scope, &wanted.instance);
        all.into_iter().rev().find(|(key, _)| key.path == wanted.path)
    }

    fn rebound_overrides(&self) -> &ReboundOverrides {
        self.rebound.get_or_init(|| {
            let mut found = ReboundOverrides::new();
            for (key, over) in self.overrides() {
                if let Ok(instance) = self.bound_instance(key, over)
                    && instance != key.instance
                {
                    found.entry((key.scope, instance)).or_default().push(key.clone());
                }
            }
            found
        })
    }

    /// Returns whether an override applies, or the reason why it is orphaned.
    pub fn resolve_override(&self, key: &OverrideKey, over: &Override) -> OverrideResolution {
        let applies = || {
            let bound = self.bound_instance(key, over)?;
            let instance = self.instance(key.scope, &bound)?;
            let is_other = over.component.as_deref().is_some_and(|id| id != instance.def.id.as_str());
            if is_other {
                return Err(OrphanReason::OtherType);
            }
            check_path(&instance, &key.path, &over.value)?;
            Ok(bound)
        };
        match applies() {
            Ok(instance) => OverrideResolution::Applies(instance),
            Err(reason) => OverrideResolution::Orphaned(reason),
        }
    }

    /// Returns the keys of the selected overrides, sorted.
    pub fn select_overrides(&self, which: &OverrideSelector) -> Vec<OverrideKey> {
        let keys = |holds: &dyn Fn(&OverrideKey, &Override) -> bool| {
            self.overrides().filter(|(key, over)| holds(key, over)).map(|(key, _)| key.clone()).collect()
        };
        match which {
            OverrideSelector::All => keys(&|_, _| true),
            OverrideSelector::Orphaned => {
                keys(&|key, over| matches!(self.resolve_override(key, over), OverrideResolution::Orphaned(_)))
            }
            OverrideSelector::Scope(scope) => keys(&|key, _| key.scope == *scope),
            OverrideSelector::Instance { scope, instance } => {
                let mut all: Vec<OverrideKey> =
                    self.overrides_for(*scope, instance).into_iter().map(|(key, _)| key.clone()).collect();
                all.sort();
                all
            }
            OverrideSelector::These(these) => {
                // The key of an instance also selects an override that was rebound to it.
                let kept = |key: &OverrideKey| match self.overrides.contains_key(key) {
                    true => key.clone(),
                    false => self.override_for(key).map_or_else(|| key.clone(), |(key, _)| key.clone()),
                };
                let mut these: Vec<OverrideKey> = these.iter().map(kept).collect();
                these.sort();
                these.dedup();
                these
            }
        }
    }

    /// Returns the effective props of a node: overrides, else the set values, else the defaults. Only non-null values.
    pub fn effective_props(&self, node: &Node) -> BTreeMap<PropKey, PropValue> {
        let mut props = self.plain_props(node);
        self.merge_overrides(OverrideScope::App, &node.id.to_string(), &mut props);
        props
    }

    /// Returns the effective props of an instance, as far as they are known without rendering it.
    pub fn effective_props_of(
        &self,
        scope: OverrideScope,
        instance: &str,
    ) -> Option<BTreeMap<PropKey, PropValue>> {
        let mut props = self.instance(scope, instance).ok()?.props;
        self.merge_overrides(scope, instance, &mut props);
        Some(props)
    }

    fn merge_overrides(
        &self,
        scope: OverrideScope,
        instance: &str,
        props: &mut BTreeMap<PropKey, PropValue>,
    ) {
        for (key, over) in self.overrides_for(scope, instance) {
            if matches!(self.resolve_override(key, over), OverrideResolution::Applies(_)) {
                set_at_path(props, &key.path, &over.value);
            }
        }
    }

    /// Returns the set values of a node, else the defaults of its type, without overrides.
    pub fn plain_props(&self, node: &Node) -> BTreeMap<PropKey, PropValue> {
        let mut props = self.type_of(node).map(defaults).unwrap_or_default();
        props.extend(node.props.iter().map(|(key, value)| (key.clone(), value.clone())));
        props
    }

    /// Resolves an instance by the id that the preview gives it.
    pub fn instance(&self, scope: OverrideScope, id: &str) -> Result<OverridableInstance<'_>, OrphanReason> {
        let key = OverrideKey::first_of(scope, id);
        let owner = match scope {
            OverrideScope::App => {
                let node = node_of(&key).and_then(|id| self.node(id)).ok_or(OrphanReason::InstanceMissing)?;
                let def = self.type_of(node).ok_or(OrphanReason::OtherType)?;
                OverridableInstance { def, props: self.plain_props(node), part: None }
            }
            OverrideScope::Component => {
                let (component, variant) = key.component();
                let def = self.type_named(component).ok_or(OrphanReason::InstanceMissing)?;
                let mut props = defaults(def);
                if let Some(variant) = variant {
                    let found = def.variants.iter().find(|other| other.id == variant);
                    let set = &found.ok_or(OrphanReason::InstanceMissing)?.props;
                    props.extend(set.iter().map(|(key, value)| (key.clone(), value.clone())));
                }
                OverridableInstance { def, props, part: None }
            }
        };
        let Some(way) = key.part_path() else { return Ok(owner) };
        let mut at = owner;
        for step in way.split('/') {
            let (name, loops) = part_name(step);
            let part = at.def.parts.iter().find(|part| part.name == name && part.loops == loops);
            let part = part.ok_or(OrphanReason::InstanceMissing)?;
            let def = self.registry().get(&part.component).ok_or(OrphanReason::InstanceMissing)?;
            let mut props = defaults(def);
            props.extend(part.props.iter().map(|(key, value)| (key.clone(), value.clone())));
            // A computed value is unknown here, so its default must not stand in for it.
            part.computed.iter().for_each(|key| drop(props.remove(key)));
            at = OverridableInstance { def, props, part: Some((at.def, part)) };
        }
        Ok(at)
    }

    /// Returns the instance of an override: the one in its key, or a node with the same name and type that was created
    /// anew, found by the locator.
    fn bound_instance(&self, key: &OverrideKey, over: &Override) -> Result<Arc<str>, OrphanReason> {
        let is_there = match key.scope {
            OverrideScope::App => node_of(key).is_some_and(|id| self.node(id).is_some()),
            OverrideScope::Component => true,
        };
        if is_there {
            return Ok(Arc::clone(&key.instance));
        }
        let node = self.find_by_locator(over).ok_or(OrphanReason::InstanceMissing)?;
        match key.part_path() {
            Some(within) => Ok(Arc::from(format!("{}/{within}", node.id))),
            None if matches_component(node, over) => Ok(Arc::from(node.id.to_string())),
            None => Err(OrphanReason::InstanceMissing),
        }
    }

    fn type_named(&self, id: &str) -> Option<&TypeDef> {
        self.registry().get(&TypeId::parse(id).ok()?)
    }

    /// Returns the node that the locator describes.
    fn find_by_locator(&self, over: &Override) -> Option<&Node> {
        let Some(PropValue::Object(fields)) = &over.locator else { return None };
        let text = |field: &str| fields.get(field).and_then(PropValue::as_text);
        if !matches!(text("kind")?, "node" | "part") {
            return None;
        }
        let board = self.board_named(&BoardName::parse(text("board")?).ok()?)?;
        self.node_named(board.id, &NodeName::parse(text("name")?).ok()?)
    }
}

fn defaults(def: &TypeDef) -> BTreeMap<PropKey, PropValue> {
    def.props.iter().filter_map(|prop| Some((prop.key.clone(), prop.default.clone()?))).collect()
}

/// Splits one step of a part path into the part's name and its loop depth. `ui.badge:2[0]` is the first iteration of
/// the part `ui.badge:2`.
fn part_name(step: &str) -> (&str, usize) {
    let name = step.split(['[', '~']).next().unwrap_or_default();
    (name, step.matches('[').count())
}

fn check_path(
    instance: &OverridableInstance<'_>,
    path: &JsonPointer,
    value: &PropValue,
) -> Result<(), OrphanReason> {
    let invalid = Err(OrphanReason::PathInvalid);
    let def = instance.def;
    let Some(first) = path.tokens().next() else { return invalid };
    let Some(prop) = def.prop(&first).filter(|prop| rules::require_editable(def, &prop.key).is_ok()) else {
        return invalid;
    };
    if path.tokens().nth(1).is_none() {
        return if is_overridable(prop.kind) { Ok(()) } else { invalid };
    }
    // The inside of a computed value is known to the preview only.
    if instance.is_computed(&first) {
        return Ok(());
    }
    set_at_path(&mut instance.props.clone(), path, value).ok_or(OrphanReason::PathInvalid)
}

fn is_overridable(kind: shared_protocol::registry::PropKind) -> bool {
    use shared_protocol::registry::PropKind;
    !matches!(kind, PropKind::Reference | PropKind::Slot)
}

fn matches_component(node: &Node, over: &Override) -> bool {
    over.component.as_deref().is_none_or(|component| component == node.type_id.as_str())
}

/// Returns the node that an override applies to or inside of.
pub fn node_of(key: &OverrideKey) -> Option<NodeId> {
    if key.scope == OverrideScope::App { key.owner().parse().ok() } else { None }
}

/// Returns the locator of an instance, to find it again after it was created anew: a node by its name, a part by its
/// enclosing component and part name.
pub fn locator_of(snapshot: &Snapshot, scope: OverrideScope, instance: &str) -> Option<PropValue> {
    let key = OverrideKey::first_of(scope, instance);
    let mut fields: BTreeMap<Arc<str>, PropValue> = BTreeMap::new();
    let mut put = |field: &str, value: &str| drop(fields.insert(Arc::from(field), PropValue::text(value)));
    if let Some(node) = node_of(&key).and_then(|id| snapshot.node(id)) {
        put("kind", "node");
        put("board", snapshot.board(node.board)?.name.as_str());
        put("name", node.name.as_str());
    }
    if let Some(way) = key.part_path() {
        let (around, _) = snapshot.instance(scope, instance).ok()?.part?;
        put("kind", "part");
        put("component", around.id.as_str());
        put("path", way.rsplit('/').next().unwrap_or(way));
    }
    (!fields.is_empty()).then_some(PropValue::Object(fields))
}

/// Describes the target of an override: `label of card`.
pub fn describe_key(snapshot: &Snapshot, key: &OverrideKey) -> String {
    let path = key.path.tokens().collect::<Vec<_>>().join(".");
    let what = match node_of(key).and_then(|id| snapshot.node(id)) {
        Some(node) => match key.part_path() {
            Some(way) => format!("{} in {}", truncate_chars(way, MAX_INSTANCE_CHARS), node.name),
            None => node.name.to_string(),
        },
        None => truncate_chars(&key.instance, MAX_INSTANCE_CHARS),
    };
    format!("{path} of {what}")
}

/// Sets the value at a path of the props. Every step but the last must exist; returns `None` when one does not, or
/// when the path enters a list out of range.
pub fn set_at_path(
    props: &mut BTreeMap<PropKey, PropValue>,
    path: &JsonPointer,
    value: &PropValue,
) -> Option<()> {
    let tokens: Vec<String> = path.tokens().collect();
    let (first, rest) = tokens.split_first()?;
    let key = PropKey::parse(first.as_str()).ok()?;
    if rest.is_empty() {
        props.insert(key, value.clone());
        return Some(());
    }
    let mut at = props.get_mut(&key)?;
    for (index, token) in rest.iter().enumerate() {
        let is_last = index + 1 == rest.len();
        at = match at {
            PropValue::Object(fields) => {
                if is_last && !fields.contains_key(token.as_str()) {
                    fields.insert(Arc::from(token.as_str()), PropValue::Null);
                }
                fields.get_mut(token.as_str())?
            }
            PropValue::List(items) => items.get_mut(token.parse::<usize>().ok()?)?,
            _ => return None,
        };
    }
    *at = value.clone();
    Some(())
}
