//! The effective registry: built-in modules, then the workspace's modules, then the project's overrides. An invalid
//! entry is reported and left out; all other entries stay.

use shared_protocol::{
    Refusal, RefusalCode, TypeDef, TypeId,
    limits::{MAX_NODE_SIDE, MIN_NODE_SIDE},
    registry::{
        ConnectionEnd, ConnectionRule, ExposureLevel, MODULE_FORMAT_VERSION, ModuleFile, PortDirection,
        ProjectPropOverride, ProjectTypeOverride, PropDef, PropKind, RegistryProblem,
    },
};
use std::{
    collections::{BTreeMap, BTreeSet, HashMap},
    sync::Arc,
};

/// The text of one module file and its origin.
#[derive(Debug, Clone)]
pub struct ModuleSource {
    pub origin: String,
    pub text: Arc<str>,
}

#[derive(Debug, Clone, Default)]
pub struct TypeRegistry {
    types: BTreeMap<TypeId, Arc<TypeDef>>,
    rules: Vec<ConnectionRule>,
    problems: Vec<RegistryProblem>,
    patterns: HashMap<String, regex_lite::Regex>,
}

impl TypeRegistry {
    /// Composes a registry. Later modules replace types of earlier ones as a whole; overrides come last.
    pub fn compose(modules: &[ModuleSource], overrides: &BTreeMap<String, ProjectTypeOverride>) -> Self {
        let mut registry = Self::default();
        for module in modules {
            registry.add_module(module);
        }
        for (id, change) in overrides {
            registry.override_type(id, change);
        }
        registry.drop_broken_rules();
        registry.compile_patterns();
        registry
    }

    /// Rebuilds a registry that another process composed.
    pub fn from_parts(
        types: Vec<TypeDef>,
        rules: Vec<ConnectionRule>,
        problems: Vec<RegistryProblem>,
    ) -> Self {
        let types = types.into_iter().map(|def| (def.id.clone(), Arc::new(def))).collect();
        let mut registry = Self { types, rules, problems, patterns: HashMap::new() };
        registry.compile_patterns();
        registry
    }

    pub fn get(&self, id: &TypeId) -> Option<&TypeDef> {
        self.types.get(id).map(Arc::as_ref)
    }

    /// Returns the type, or a refusal that suggests similar ids.
    pub fn require(&self, id: &TypeId) -> Result<&Arc<TypeDef>, Refusal> {
        self.types.get(id).ok_or_else(|| {
            Refusal::new(RefusalCode::NotFound, format!("there is no type `{id}`"))
                .field("type")
                .suggest(crate::rules::similar(id.as_str(), self.types.keys().map(TypeId::as_str)))
                .hint("The palette lists every type; a workspace module can add more.")
        })
    }

    pub fn types(&self) -> impl Iterator<Item = &Arc<TypeDef>> {
        self.types.values()
    }

    pub fn rules(&self) -> &[ConnectionRule] {
        &self.rules
    }

    pub fn problems(&self) -> &[RegistryProblem] {
        &self.problems
    }

    pub(crate) fn pattern(&self, text: &str) -> Option<&regex_lite::Regex> {
        self.patterns.get(text)
    }

    fn problem(&mut self, origin: &str, entry: impl Into<String>, message: impl Into<String>) {
        self.problems.push(RegistryProblem {
            origin: origin.to_owned(),
            entry: entry.into(),
            message: message.into(),
        });
    }

    fn add_module(&mut self, module: &ModuleSource) {
        let file: ModuleFile = match serde_json::from_str(&module.text) {
            Ok(file) => file,
            Err(error) => return self.problem(&module.origin, "module", format!("not a module: {error}")),
        };
        if file.format > MODULE_FORMAT_VERSION {
            let message =
                format!("format {} is newer than {MODULE_FORMAT_VERSION}: update Draftboard", file.format);
            return self.problem(&module.origin, file.module, message);
        }
        for (index, entry) in file.types.into_iter().enumerate() {
            let name = entry
                .get("id")
                .and_then(|id| id.as_str())
                .map_or_else(|| format!("type {index}"), str::to_owned);
            match serde_json::from_value::<TypeDef>(entry).map_err(|error| error.to_string()) {
                Ok(def) => match check_type(&def) {
                    Ok(()) => drop(self.types.insert(def.id.clone(), Arc::new(def))),
                    Err(message) => self.problem(&module.origin, name, message),
                },
                Err(message) => self.problem(&module.origin, name, message),
            }
        }
        for (index, entry) in file.connections.into_iter().enumerate() {
            match serde_json::from_value::<ConnectionRule>(entry) {
                Ok(rule) => self.rules.push(rule),
                Err(error) => self.problem(&module.origin, format!("connection {index}"), error.to_string()),
            }
        }
    }

    fn override_type(&mut self, id: &str, change: &ProjectTypeOverride) {
        const ORIGIN: &str = "draftboard.toml";
        let Some(def) = TypeId::parse(id).ok().and_then(|id| self.types.get(&id)) else {
            return self.problem(ORIGIN, id, "there is no such type to override");
        };
        let mut def = TypeDef::clone(def);
        if change.disabled {
            self.types.remove(&def.id);
            return;
        }
        if let Some(title) = &change.title {
            def.title.clone_from(title);
        }
        for (key, prop_change) in &change.props {
            let Some(prop) = def.props.iter_mut().find(|prop| prop.key == *key) else {
                self.problem(ORIGIN, format!("{id}.{key}"), "there is no such property to override");
                continue;
            };
            let mut overridden = prop.clone();
            let checked = check_narrows(prop, prop_change).and_then(|()| {
                override_prop(&mut overridden, prop_change);
                check_prop_def(&overridden)
            });
            match checked {
                Ok(()) => *prop = overridden,
                Err(message) => self.problem(ORIGIN, format!("{id}.{key}"), message),
            }
        }
        self.types.insert(def.id.clone(), Arc::new(def));
    }

    /// A rule may name types of a missing or disabled module; only the ports and references of existing types must
    /// match.
    fn drop_broken_rules(&mut self) {
        let rules = std::mem::take(&mut self.rules);
        for rule in rules {
            match self.check_rule(&rule) {
                Ok(()) => self.rules.push(rule),
                Err(message) => {
                    let entry =
                        format!("{} → {}", rule.source.type_id.as_str(), rule.target.type_id.as_str());
                    self.problem("connections", entry, message);
                }
            }
        }
    }

    fn check_rule(&self, rule: &ConnectionRule) -> Result<(), String> {
        for (end, direction) in [(&rule.source, PortDirection::Out), (&rule.target, PortDirection::In)] {
            if !end.type_id.is_exact() {
                continue;
            }
            for def in self.types.values().filter(|def| end.type_id.matches(&def.id)) {
                match def.port(end.port.as_str()) {
                    None => return Err(format!("`{}` has no port `{}`", def.id, end.port)),
                    Some(port) if port.direction != direction => {
                        return Err(format!("port `{}` of `{}` has the wrong direction", end.port, def.id));
                    }
                    Some(_) => {}
                }
            }
        }
        let Some(sets) = &rule.sets else { return Ok(()) };
        let end = if sets.on == ConnectionEnd::Source { &rule.source } else { &rule.target };
        for def in self.types.values().filter(|def| end.type_id.matches(&def.id)) {
            if def.prop(sets.prop.as_str()).is_none_or(|prop| prop.kind != PropKind::Reference) {
                return Err(format!("`{}` has no reference `{}`", def.id, sets.prop));
            }
        }
        Ok(())
    }

    fn compile_patterns(&mut self) {
        let texts =
            self.types.values().flat_map(|def| def.props.iter().filter_map(|prop| prop.pattern.clone()));
        self.patterns =
            texts.filter_map(|text| Some((text.clone(), whole_text_pattern(&text).ok()?))).collect();
    }
}

fn whole_text_pattern(text: &str) -> Result<regex_lite::Regex, regex_lite::Error> {
    regex_lite::RegexBuilder::new(&format!("^(?:{text})$")).size_limit(1 << 20).build()
}

/// A project may narrow the declaration of a module but not widen it.
fn check_narrows(prop: &PropDef, change: &ProjectPropOverride) -> Result<(), String> {
    if let (Some(own), Some(min)) = (prop.min, change.min)
        && min < own
    {
        return Err(format!("min {min} is below the type's own min, {own}"));
    }
    if let (Some(own), Some(max)) = (prop.max, change.max)
        && max > own
    {
        return Err(format!("max {max} is above the type's own max, {own}"));
    }
    let hidden = |exposure: ExposureLevel| match exposure {
        ExposureLevel::Editable => 0,
        ExposureLevel::ReadOnly => 1,
        ExposureLevel::Opaque => 2,
    };
    if change.exposure.is_some_and(|exposure| hidden(exposure) < hidden(prop.exposure)) {
        return Err("the type does not allow editing this property".to_owned());
    }
    Ok(())
}

fn override_prop(prop: &mut PropDef, change: &ProjectPropOverride) {
    let ProjectPropOverride { label, description, group, exposure, required, default, min, max, options } =
        change;
    if let Some(label) = label {
        prop.label.clone_from(label);
    }
    if let Some(description) = description {
        prop.description.clone_from(description);
    }
    if let Some(group) = group {
        prop.group.clone_from(group);
    }
    if let Some(exposure) = exposure {
        prop.exposure = *exposure;
    }
    if let Some(required) = required {
        prop.required = *required;
    }
    if let Some(default) = default {
        prop.default = Some(default.clone());
    }
    prop.min = min.or(prop.min);
    prop.max = max.or(prop.max);
    if let Some(kept) = options {
        prop.options.retain(|choice| kept.iter().any(|value| **value == *choice.value));
    }
}

fn check_type(def: &TypeDef) -> Result<(), String> {
    let mut keys = BTreeSet::new();
    for prop in &def.props {
        if !keys.insert(&prop.key) {
            return Err(format!("property `{}` is declared twice", prop.key));
        }
        check_prop_def(prop).map_err(|message| format!("property `{}`: {message}", prop.key))?;
    }
    for prop in &def.props {
        let depends = prop.visible_when.iter().chain(&prop.also_when).map(|condition| &condition.prop);
        for other in depends.chain(&prop.output_from) {
            if !keys.contains(other) || *other == prop.key {
                return Err(format!(
                    "property `{}` depends on `{other}`, which is not another property",
                    prop.key
                ));
            }
        }
        check_inherit(def, prop).map_err(|message| format!("property `{}`: {message}", prop.key))?;
    }
    check_terraform(def)?;
    let mut ports = BTreeSet::new();
    if let Some(port) = def.ports.iter().find(|port| !ports.insert(&port.id)) {
        return Err(format!("port `{}` is declared twice", port.id));
    }
    if let Some(key) = &def.parent_reference
        && def.prop(key.as_str()).is_none_or(|prop| prop.kind != PropKind::Reference)
    {
        return Err(format!("`{key}` should be a reference to the container"));
    }
    let sides = MIN_NODE_SIDE..=MAX_NODE_SIDE;
    if let Some(size) = def.size
        && !(sides.contains(&size.w) && sides.contains(&size.h))
    {
        return Err(format!("each side of the size must be {MIN_NODE_SIDE} to {MAX_NODE_SIDE}"));
    }
    Ok(())
}

/// An inherited value comes from a reference of the same type, or from the client that runs Terraform.
fn check_inherit(def: &TypeDef, prop: &PropDef) -> Result<(), String> {
    let Some(inherit) = &prop.inherit else { return Ok(()) };
    match inherit.split_once('.') {
        Some(("client", _)) => Ok(()),
        Some((key, _)) if def.prop(key).is_some_and(|other| other.kind == PropKind::Reference) => Ok(()),
        _ => Err(format!("`{inherit}` should be `client.attribute` or `reference.attribute`")),
    }
}

fn check_terraform(def: &TypeDef) -> Result<(), String> {
    if let Some(by) = &def.terraform_by {
        let options = def.prop(by.prop.as_str()).map(|prop| prop.options.as_slice()).unwrap_or_default();
        if options.is_empty() || !options.iter().all(|choice| by.types.contains_key(&choice.value)) {
            return Err(format!("`{}` should be a select with a Terraform type for every option", by.prop));
        }
    }
    for companion in &def.companions {
        if def.prop(companion.each.as_str()).is_none_or(|prop| prop.kind != PropKind::Reference) {
            return Err(format!(
                "`{}` should be a reference: each target gets one companion",
                companion.each
            ));
        }
    }
    Ok(())
}

fn check_prop_def(prop: &PropDef) -> Result<(), String> {
    if let (Some(min), Some(max)) = (prop.min, prop.max)
        && min > max
    {
        return Err(format!("min {min} is above max {max}"));
    }
    if let Some(pattern) = &prop.pattern {
        whole_text_pattern(pattern).map_err(|error| format!("pattern: {error}"))?;
    }
    if matches!(prop.kind, PropKind::Select | PropKind::Multiselect) && prop.options.is_empty() {
        return Err("a select needs options".to_owned());
    }
    if prop.kind == PropKind::Reference && prop.targets.is_empty() {
        return Err("a reference needs targets".to_owned());
    }
    if matches!(prop.kind, PropKind::Reference | PropKind::Slot) && prop.default.is_some() {
        return Err("a reference or slot cannot have a default".to_owned());
    }
    if prop.exposure == ExposureLevel::Opaque && prop.required {
        return Err("an opaque property cannot be required because it cannot be set".to_owned());
    }
    if let Some(default) = &prop.default {
        let pattern = prop.pattern.as_deref().and_then(|text| whole_text_pattern(text).ok());
        crate::rules::check_value(prop, default, pattern.as_ref())
            .map_err(|message| format!("default: {message}"))?;
    }
    Ok(())
}
