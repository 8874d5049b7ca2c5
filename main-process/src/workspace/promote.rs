//! Promoting overrides: those of nodes become props, which the authority decides; those of components by themselves become
//! defaults in the component's file, with everything else in it as it was. All of them or none, one operation.

use super::{Group, Moment, components::Edited};
use authority::{Decision, decide, overrides::lay_over};
use shared_protocol::{
    Change, Code, Command, OverrideKey, OverrideScope, PropKey, Refusal, SourcePath, Standing, WhichOverrides,
};
use std::{
    collections::{BTreeMap, BTreeSet},
    sync::Arc,
};

/// Addresses that are named in a refusal.
const MOST_NAMED: usize = 20;

impl Group<'_> {
    pub(super) fn promoted(&self, which: &WhichOverrides, moment: Moment) -> Result<Decision, Refusal> {
        let keys = self.state.chosen_overrides(which);
        let (alone, placed): (Vec<OverrideKey>, Vec<OverrideKey>) =
            keys.into_iter().partition(|key| key.scope == OverrideScope::Component && !key.is_within());
        let count = alone.len() + placed.len();
        if alone.is_empty() {
            return decide(&self.state, &Command::PromoteOverrides(which.clone()), moment.seed);
        }
        let mut failed = Vec::new();
        let mut changes = Vec::new();
        if !placed.is_empty() {
            let command = Command::PromoteOverrides(WhichOverrides::These(placed));
            match decide(&self.state, &command, moment.seed) {
                Ok(decision) => changes = decision.changes,
                Err(refusal) => failed.extend(refusal.hints.into_iter().skip(1)),
            }
        }
        let mut texts: BTreeMap<SourcePath, Arc<str>> = BTreeMap::new();
        for key in &alone {
            if let Err(why) = self.put_into_file(key, &mut texts) {
                failed.push(format!("{key}: {why}"));
            }
        }
        if !failed.is_empty() {
            let message = format!("{} of {count} overrides cannot be promoted", failed.len());
            let refusal = Refusal::new(Code::ValidationError, message).hint("Nothing was changed.");
            return Err(failed.into_iter().take(MOST_NAMED).fold(refusal, Refusal::hint));
        }
        for (path, text) in texts {
            let before = self.state.source(&path).cloned();
            changes.push(Change::Source { path, before, after: Some(text) });
        }
        let gone: BTreeSet<&OverrideKey> = alone.iter().collect();
        for (key, over) in self.state.overrides().filter(|(key, _)| gone.contains(key)) {
            changes.push(Change::Override { key: key.clone(), before: Some(Arc::clone(over)), after: None });
        }
        let summary = match &alone[..] {
            [key] if count == 1 => format!("Promote {}", authority::overrides::words(&self.state, key)),
            _ => format!("Promote {count} overrides"),
        };
        Ok(Decision { summary, changes, ..Decision::default() })
    }

    /// The default of a prop, in the text of its component's file.
    fn put_into_file(
        &self,
        key: &OverrideKey,
        texts: &mut BTreeMap<SourcePath, Arc<str>>,
    ) -> Result<(), String> {
        let over = self.state.override_at(key).ok_or("there is no such override")?;
        if let Standing::Orphaned(reason) = self.state.standing(key, over) {
            return Err(reason.words().to_owned());
        }
        let component =
            self.workspace.component(key.owner()).ok_or("no component of this workspace has it")?;
        let path = SourcePath::parse(component.file.as_str()).map_err(|error| error.to_string())?;
        let first = key.path.tokens().next().ok_or("it names no prop")?;
        let prop = component.prop(&first).ok_or("the component has no such prop")?;
        let name = PropKey::parse(first.as_str()).map_err(|error| error.to_string())?;
        let default = shared_protocol::Value::from_json(&prop.value_when_unset());
        let mut props = BTreeMap::from([(name.clone(), default.map_err(|error| error.to_string())?)]);
        lay_over(&mut props, &key.path, &over.value).ok_or("there is nothing at this path")?;
        let value = props.remove(&name).unwrap_or_default();
        let before = texts.get(&path).or_else(|| self.state.source(&path)).ok_or("its file is gone")?;
        let json = serde_json::to_value(&value).map_err(|error| error.to_string())?;
        let edited = Edited::new(path.as_str(), before).with_default(&first, &json)?;
        texts.insert(path, Arc::from(edited));
        Ok(())
    }
}
