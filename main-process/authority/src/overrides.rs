//! Overrides as readers see them: which of them apply, to what, and why the others do not. All of it is derived from one
//! state, so an override whose instance comes back applies again by itself and none is ever dropped.

use crate::{Snapshot, rules};
use shared_protocol::{
    BoardName, Name, Node, NodeId, Orphaned, Override, OverrideKey, OverrideScope, PropKey, Standing,
    TypeDef, TypeId, Value, WhichOverrides, v0::JsonPointer,
};
use std::{collections::BTreeMap, sync::Arc};

impl Snapshot {
    pub fn overrides(&self) -> impl Iterator<Item = (&OverrideKey, &Arc<Override>)> {
        self.overrides.iter()
    }

    pub fn override_at(&self, key: &OverrideKey) -> Option<&Override> {
        self.overrides.get(key).map(Arc::as_ref)
    }

    /// Those that name this very instance.
    pub fn overrides_of(
        &self,
        scope: OverrideScope,
        instance: &str,
    ) -> impl Iterator<Item = (&OverrideKey, &Arc<Override>)> {
        let first = OverrideKey::first_of(scope, instance);
        let instance = Arc::clone(&first.instance);
        self.overrides
            .range(first..)
            .take_while(move |(key, _)| key.scope == scope && key.instance == instance)
    }

    /// Whether an override finds its instance.
    pub fn standing(&self, key: &OverrideKey, over: &Override) -> Standing {
        let found = match key.scope {
            OverrideScope::App => self.on_board(key, over),
            OverrideScope::Component => self.alone(key),
        };
        match found {
            Ok((instance, def)) => match self.checks_path(key, over, def) {
                Ok(()) => Standing::Applies(instance),
                Err(reason) => Standing::Orphaned(reason),
            },
            Err(reason) => Standing::Orphaned(reason),
        }
    }

    /// The chosen ones, in their order.
    pub fn chosen_overrides(&self, which: &WhichOverrides) -> Vec<OverrideKey> {
        let keys = |holds: &dyn Fn(&OverrideKey, &Override) -> bool| {
            self.overrides().filter(|(key, over)| holds(key, over)).map(|(key, _)| key.clone()).collect()
        };
        match which {
            WhichOverrides::All => keys(&|_, _| true),
            WhichOverrides::Orphaned => {
                keys(&|key, over| matches!(self.standing(key, over), Standing::Orphaned(_)))
            }
            WhichOverrides::Scope(scope) => keys(&|key, _| key.scope == *scope),
            WhichOverrides::Instance { scope, instance } => {
                self.overrides_of(*scope, instance).map(|(key, _)| key.clone()).collect()
            }
            WhichOverrides::These(these) => {
                let mut these = these.clone();
                these.sort();
                these.dedup();
                these
            }
        }
    }

    /// What counts for a node: overrides, else what is set, else the type's defaults. Only what is not null.
    pub fn effective_props(&self, node: &Node) -> BTreeMap<PropKey, Value> {
        let mut props = self.plain_props(node);
        let instance = node.id.to_string();
        for (key, over) in self.overrides_of(OverrideScope::App, &instance) {
            if matches!(self.standing(key, over), Standing::Applies(_)) {
                lay_over(&mut props, &key.path, &over.value);
            }
        }
        props
    }

    /// What is set, else the type's defaults.
    pub fn plain_props(&self, node: &Node) -> BTreeMap<PropKey, Value> {
        let mut props: BTreeMap<PropKey, Value> = self
            .type_of(node)
            .into_iter()
            .flat_map(|def| &def.props)
            .filter_map(|prop| Some((prop.key.clone(), prop.default.clone()?)))
            .collect();
        props.extend(node.props.iter().map(|(key, value)| (key.clone(), value.clone())));
        props
    }

    fn on_board(&self, key: &OverrideKey, over: &Override) -> Result<(Arc<str>, Option<&TypeDef>), Orphaned> {
        let named = node_of(key).and_then(|id| self.node(id));
        // One that was made anew under the same name and type is what the locator means.
        let found_again = || Some(self.located(over)?).filter(|node| is_of(node, over));
        let node = match named {
            Some(node) => node,
            None if key.is_within() => return Err(Orphaned::InstanceMissing),
            None => found_again().ok_or(Orphaned::InstanceMissing)?,
        };
        if key.is_within() {
            let def = over.component.as_ref().and_then(|component| self.type_named(component));
            return Ok((Arc::clone(&key.instance), def));
        }
        if !is_of(node, over) {
            return Err(Orphaned::OtherType);
        }
        let instance =
            if named.is_some() { Arc::clone(&key.instance) } else { Arc::from(node.id.to_string()) };
        Ok((instance, Some(self.type_of(node).ok_or(Orphaned::OtherType)?)))
    }

    fn alone(&self, key: &OverrideKey) -> Result<(Arc<str>, Option<&TypeDef>), Orphaned> {
        let owner = self.type_named(key.owner()).ok_or(Orphaned::InstanceMissing)?;
        Ok((Arc::clone(&key.instance), (!key.is_within()).then_some(owner)))
    }

    fn type_named(&self, id: &str) -> Option<&TypeDef> {
        self.registry().get(&TypeId::parse(id).ok()?)
    }

    /// The node that a locator of ours means.
    fn located(&self, over: &Override) -> Option<&Node> {
        let Some(Value::Object(fields)) = &over.locator else { return None };
        let text = |field: &str| fields.get(field).and_then(Value::as_text);
        if text("kind") != Some("node") {
            return None;
        }
        let board = self.board_named(&BoardName::parse(text("board")?).ok()?)?;
        self.node_named(board.id, &Name::parse(text("name")?).ok()?)
    }

    fn checks_path(&self, key: &OverrideKey, over: &Override, def: Option<&TypeDef>) -> Result<(), Orphaned> {
        let invalid = Err(Orphaned::PathInvalid);
        let Some(first) = key.path.tokens().next() else { return invalid };
        // What components show within each other is known to the preview alone.
        let Some(def) = def else { return Ok(()) };
        let Some(prop) = def.prop(&first).filter(|prop| rules::editable(def, &prop.key).is_ok()) else {
            return invalid;
        };
        if key.path.tokens().nth(1).is_none() {
            return if takes(prop.kind) { Ok(()) } else { invalid };
        }
        let node = node_of(key).and_then(|id| self.node(id)).or_else(|| self.located(over));
        let mut props = match node {
            Some(node) if key.scope == OverrideScope::App && !key.is_within() => self.plain_props(node),
            _ => prop.default.iter().map(|default| (prop.key.clone(), default.clone())).collect(),
        };
        lay_over(&mut props, &key.path, &over.value).ok_or(Orphaned::PathInvalid)
    }
}

fn takes(kind: shared_protocol::registry::PropKind) -> bool {
    use shared_protocol::registry::PropKind;
    !matches!(kind, PropKind::Reference | PropKind::Slot)
}

fn is_of(node: &Node, over: &Override) -> bool {
    over.component.as_deref().is_none_or(|component| component == node.type_id.as_str())
}

/// The node that an override is for, or within.
pub fn node_of(key: &OverrideKey) -> Option<NodeId> {
    if key.scope == OverrideScope::App { key.owner().parse().ok() } else { None }
}

/// How an instance that is a node is found again should it be made anew.
pub fn locator_of(snapshot: &Snapshot, node: &Node) -> Option<Value> {
    let board = snapshot.board(node.board)?;
    let fields = [("kind", "node"), ("board", board.name.as_str()), ("name", node.name.as_str())];
    Some(Value::Object(fields.into_iter().map(|(key, value)| (Arc::from(key), Value::text(value))).collect()))
}

/// What an override is laid over, in words.
pub fn words(snapshot: &Snapshot, key: &OverrideKey) -> String {
    let path = key.path.tokens().collect::<Vec<_>>().join(".");
    let what = match node_of(key).and_then(|id| snapshot.node(id)) {
        Some(node) if key.is_within() => format!("a part of {}", node.name),
        Some(node) => node.name.to_string(),
        None => key.instance.chars().take(60).collect(),
    };
    format!("{path} of {what}")
}

/// Sets the value at a path into props. The first part must be there unless it is all of it; what lies within may be new at
/// the end only.
pub fn lay_over(props: &mut BTreeMap<PropKey, Value>, path: &JsonPointer, value: &Value) -> Option<()> {
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
            Value::Object(fields) => {
                if is_last && !fields.contains_key(token.as_str()) {
                    fields.insert(Arc::from(token.as_str()), Value::Null);
                }
                fields.get_mut(token.as_str())?
            }
            Value::List(items) => items.get_mut(token.parse::<usize>().ok()?)?,
            _ => return None,
        };
    }
    *at = value.clone();
    Some(())
}
