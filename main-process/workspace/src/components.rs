//! The components of a workspace: read from their files, which are part of the state, and read again when an operation
//! changes one of them. Only the files that an operation touches are read again.
//!
//! A component becomes a type of interface boards: its props, and whether it is a container. Where a built-in type has the
//! same id, its place on boards, its ports and its references stay.

use super::{
    kit,
    notices::{NoticeTopic, WorkspaceNotices},
};
use authority::{ModuleSource, Snapshot, TypeRegistry};
use components::{
    BoundValue, Component, ComponentLibrary, ComponentProp, ComponentUse, ComponentVariant, is_built_in,
    is_component_file,
};
use serde_json::json;
use shared_protocol::{
    BoardKind, Change, Operation, PropKey, PropValue, SourcePath, TypeDef, TypeId,
    preview_sessions::ComponentView,
    registry::{
        ExposureLevel, MODULE_FORMAT_VERSION, OptionDef, PartDef, PropDef, PropKind, TypePattern, VariantDef,
    },
    v0::{ControlDefinition, PropExposure},
};
use std::{
    collections::{BTreeMap, BTreeSet},
    sync::Arc,
};

/// The folder of the component files.
pub(super) const FOLDER: &str = "components";
/// Mistakes in component files that are shown at once.
const MAX_PROBLEM_NOTICES: usize = 50;
/// The prop that names the slot of the surrounding component that an instance is in.
pub const SLOT: &str = "slot";
/// The slot of instances that name none.
const CHILDREN: &str = "children";

#[derive(Debug, Default)]
pub(super) struct WorkspaceComponents {
    library: ComponentLibrary,
    /// For previews; replaced when a component changes.
    view: Arc<Vec<ComponentView>>,
}

/// Whether this is the path of a component file.
pub(super) fn is_component(path: &SourcePath) -> bool {
    path.as_str().rsplit_once('/').is_some_and(|(folder, name)| folder == FOLDER && is_component_file(name))
}

impl WorkspaceComponents {
    pub(super) fn view(&self) -> &Arc<Vec<ComponentView>> {
        &self.view
    }

    pub(super) fn library(&self) -> &ComponentLibrary {
        &self.library
    }

    /// Reads all components of a state.
    pub(super) fn read(&mut self, snapshot: &Snapshot, notices: &mut WorkspaceNotices) {
        self.library = library_of(snapshot);
        self.settle(notices);
    }

    /// Reads the components again that operations touched. Returns whether there were any.
    pub(super) fn update(
        &mut self,
        operations: &[Operation],
        snapshot: &Snapshot,
        notices: &mut WorkspaceNotices,
    ) -> bool {
        let changes = operations.iter().flat_map(|operation| &operation.changes);
        let touched: BTreeSet<&SourcePath> = changes
            .filter_map(|change| match change {
                Change::Source { path, .. } => Some(path).filter(|path| is_component(path)),
                _ => None,
            })
            .collect();
        for path in &touched {
            match snapshot.source(path) {
                Some(text) => self.library.insert(path.as_str(), text),
                None => self.library.remove(path.as_str()),
            }
        }
        if !touched.is_empty() {
            self.settle(notices);
        }
        !touched.is_empty()
    }

    fn settle(&mut self, notices: &mut WorkspaceNotices) {
        self.library.rebuild_index();
        self.view = Arc::new(self.library.components().map(view).collect());
        notices.clear_all(|topic| matches!(topic, NoticeTopic::Component(..)));
        for problem in self.library.problems().take(MAX_PROBLEM_NOTICES) {
            let topic =
                NoticeTopic::Component(problem.file.clone(), problem.place.line, problem.place.column);
            notices.set(topic, problem.to_string());
        }
    }
}

/// The built-in components, and over them the files of a state.
fn library_of(snapshot: &Snapshot) -> ComponentLibrary {
    let mut library = ComponentLibrary::default();
    kit().iter().for_each(|(file, text)| library.insert(file, text));
    for (path, text) in component_texts(snapshot) {
        library.insert(path.as_str(), text);
    }
    library
}

fn view(component: &Arc<Component>) -> ComponentView {
    ComponentView {
        id: component.id.clone(),
        title: component.title.clone(),
        variants: component.variants.iter().map(|variant| variant.id.clone()).collect(),
        file: component.file.clone(),
    }
}

/// The components of a state that is not the workspace's own, such as a draft.
pub fn components_of(snapshot: &Snapshot) -> Vec<ComponentView> {
    let mut library = library_of(snapshot);
    library.rebuild_index();
    library.components().map(view).collect()
}

/// The component files of a state.
pub fn component_texts(snapshot: &Snapshot) -> impl Iterator<Item = (&SourcePath, &Arc<str>)> {
    let folder = SourcePath::parse(FOLDER).ok();
    folder.into_iter().flat_map(|folder| snapshot.sources_in(&folder)).filter(|(path, _)| is_component(path))
}

/// The types that components define, over those of `base`.
pub(super) fn modules(library: &ComponentLibrary, base: &TypeRegistry) -> Vec<ModuleSource> {
    let slots = slot_names(library);
    let mut types: BTreeMap<TypeId, (String, TypeDef)> = BTreeMap::new();
    // Built-in components show the catalogue's types as they are.
    for component in library.components().filter(|component| !is_built_in(&component.file)) {
        let Ok(id) = TypeId::parse(component.id.as_str()) else { continue };
        if let Some(def) = type_of(component, base.get(&id), &slots) {
            types.insert(id, (component.file.clone(), def));
        }
    }
    let is_container = |def: &TypeDef| def.container && def.is_allowed_on(BoardKind::Interface) && is_ui(def);
    let known = base.types().filter(|def| is_container(def) && !types.contains_key(&def.id));
    let brought = types.values().map(|(_, def)| def).filter(|def| is_container(def));
    let holders: BTreeSet<TypeId> =
        known.map(|def| def.id.clone()).chain(brought.map(|def| def.id.clone())).collect();
    // A page stands on its own, also when a component defines its look.
    for (_, def) in types.values_mut().filter(|(_, def)| !def.may_be_root()) {
        add_parents(def, &holders);
    }
    // Built-in types may stand in containers of the workspace, too.
    let others = base.types().filter(|def| is_ui(def) && !def.parents.is_empty() && !def.may_be_root());
    for def in others {
        if types.contains_key(&def.id) {
            continue;
        }
        let mut wider = TypeDef::clone(def);
        add_parents(&mut wider, &holders);
        if wider != **def {
            types.insert(wider.id.clone(), (FOLDER.to_owned(), wider));
        }
    }
    types.into_values().map(|(origin, def)| module(origin, &def)).collect()
}

fn module(origin: String, def: &TypeDef) -> ModuleSource {
    let module = json!({
        "format": MODULE_FORMAT_VERSION, "module": origin, "title": def.title, "types": [def],
    });
    ModuleSource { origin, text: Arc::from(module.to_string()) }
}

/// A type of interface boards that is no page or frame.
fn is_ui(def: &TypeDef) -> bool {
    def.boards == [BoardKind::Interface]
}

fn add_parents(def: &mut TypeDef, holders: &BTreeSet<TypeId>) {
    for holder in holders {
        if !def.parents.iter().any(|pattern| pattern.matches(holder))
            && let Ok(pattern) = TypePattern::parse(holder.as_str())
        {
            def.parents.push(pattern);
        }
    }
}

/// Returns `None` for a component that cannot be a type; no component that was read is one.
fn type_of(component: &Component, base: Option<&TypeDef>, slots: &[String]) -> Option<TypeDef> {
    let mut props: Vec<&ComponentProp> = component.props.iter().collect();
    props.sort_by(|a, b| {
        let order = |prop: &ComponentProp| prop.order.unwrap_or(f64::INFINITY);
        order(a).total_cmp(&order(b))
    });
    let mut defs: Vec<PropDef> = props
        .into_iter()
        .filter_map(|prop| {
            let known = base.and_then(|base| base.prop(&prop.name));
            match known {
                // A component file cannot declare a reference to another node.
                Some(known) if known.kind == PropKind::Reference => Some(known.clone()),
                _ => prop_of(prop),
            }
        })
        .collect();
    let keys: BTreeSet<String> = defs.iter().map(|def| def.key.to_string()).collect();
    let references = base.into_iter().flat_map(|base| &base.props);
    let missing =
        references.filter(|def| def.kind == PropKind::Reference && !keys.contains(def.key.as_str()));
    defs.extend(missing.cloned());
    if !keys.contains(SLOT) && slots.len() > 1 {
        defs.extend(slot_prop(slots));
    }
    let container = component.props.iter().any(|prop| slot_of(prop).is_some());
    let (variants, parts) = (variants_of(component), parts_of(component));
    let title = component.title.clone();
    let description = component.description.clone().unwrap_or_default();
    match base {
        Some(base) => {
            Some(TypeDef { title, description, container, props: defs, variants, parts, ..base.clone() })
        }
        None => {
            let category = component.tags.first().map_or_else(|| "Components".to_owned(), |tag| heading(tag));
            let text = json!({
                "id": component.id, "title": title, "description": description, "category": category,
                "boards": ["interface"], "icon": "box", "accent": "purple", "container": container,
                "root": false, "props": defs, "variants": variants, "parts": parts,
            });
            serde_json::from_value(text).ok()
        }
    }
}

fn variants_of(component: &Component) -> Vec<VariantDef> {
    let variant =
        |variant: &ComponentVariant| VariantDef { id: variant.id.clone(), props: plain(&variant.props) };
    component.variants.iter().map(variant).collect()
}

/// The components within a component, so that overrides find them without a preview.
fn parts_of(component: &Component) -> Vec<PartDef> {
    let part = |used: ComponentUse<'_>| {
        let (mut fixed, mut computed) = (serde_json::Map::new(), Vec::new());
        for (name, bound) in used.props {
            match bound {
                BoundValue::Fixed(value) => drop(fixed.insert(name.to_string(), components::to_json(value))),
                BoundValue::Computed(_) => computed.extend(PropKey::parse(&**name).ok()),
            }
        }
        let component = TypeId::parse(&**used.component).ok()?;
        let name = used.part.name.to_string();
        Some(PartDef { name, component, loops: used.loops, props: plain(&fixed), computed })
    };
    component.view.uses().into_iter().filter_map(part).collect()
}

fn plain(props: &serde_json::Map<String, serde_json::Value>) -> BTreeMap<PropKey, PropValue> {
    let entry = |(name, value): (&String, &serde_json::Value)| {
        Some((PropKey::parse(name.as_str()).ok()?, PropValue::from_json(value).ok()?))
    };
    props.iter().filter_map(entry).collect()
}

fn blank(key: &str, label: String, kind: PropKind) -> Option<PropDef> {
    let key = PropKey::parse(key).ok()?;
    serde_json::from_value(json!({ "key": key, "label": label, "kind": kind })).ok()
}

fn prop_of(prop: &ComponentProp) -> Option<PropDef> {
    let label = prop.label.clone().unwrap_or_else(|| heading(&prop.name));
    let mut def = blank(&prop.name, label, PropKind::Json)?;
    def.description = prop.description.clone().unwrap_or_default();
    def.group = prop.group.clone().unwrap_or_default();
    let default = prop.default.as_ref().and_then(|default| PropValue::from_json(default).ok());
    match &prop.exposure {
        PropExposure::Editable { control, constraints, .. } => {
            def.kind = kind_of(control, default.as_ref());
            match control {
                ControlDefinition::String { placeholder, .. } => {
                    def.placeholder = placeholder.clone().unwrap_or_default();
                }
                ControlDefinition::Number { step, unit } => {
                    def.step = step.map(|step| step.get());
                    def.unit = unit.clone().unwrap_or_default();
                }
                ControlDefinition::Select { options } => {
                    def.options = options
                        .iter()
                        .map(|option| OptionDef {
                            value: Arc::from(option.value.as_str()),
                            label: option.label.clone(),
                            description: option.description.clone().unwrap_or_default(),
                        })
                        .collect();
                }
                _ => {}
            }
            if let Some(constraints) = constraints {
                def.required = constraints.required.unwrap_or_default();
                def.min = constraints.min.map(|min| min.get());
                def.max = constraints.max.map(|max| max.get());
                def.pattern = constraints.pattern.clone().filter(|_| def.kind == PropKind::Text);
            }
        }
        PropExposure::InspectOnly { .. } => def.exposure = ExposureLevel::ReadOnly,
        PropExposure::Opaque { reason } => {
            def.exposure = ExposureLevel::Opaque;
            def.reason = reason.clone().unwrap_or_else(|| "the component does not expose it".to_owned());
        }
    }
    def.default = default.filter(|_| def.kind != PropKind::Slot);
    Some(def)
}

fn kind_of(control: &ControlDefinition, default: Option<&PropValue>) -> PropKind {
    match control {
        ControlDefinition::String { multiline: Some(true), .. } => PropKind::Multiline,
        ControlDefinition::String { .. } => PropKind::Text,
        ControlDefinition::Number { .. } => PropKind::Number,
        ControlDefinition::Boolean => PropKind::Boolean,
        ControlDefinition::Select { options } if options.is_empty() => PropKind::Text,
        ControlDefinition::Select { .. } => PropKind::Select,
        // A token such as `primary` is a colour of a component that a colour picker cannot show.
        ControlDefinition::Color { .. } => match default.and_then(PropValue::as_text) {
            Some(text) if !text.starts_with('#') => PropKind::Text,
            _ => PropKind::Colour,
        },
        ControlDefinition::Slot { .. } => PropKind::Slot,
        ControlDefinition::Json => PropKind::Json,
    }
}

fn slot_of(prop: &ComponentProp) -> Option<&str> {
    match &prop.exposure {
        PropExposure::Editable { control: ControlDefinition::Slot { slot_name, .. }, .. } => {
            Some(slot_name.as_deref().unwrap_or(CHILDREN))
        }
        _ => None,
    }
}

/// The names of all slots, the default one first.
fn slot_names(library: &ComponentLibrary) -> Vec<String> {
    let own = library.components().filter(|component| !is_built_in(&component.file));
    let named = own.flat_map(|component| &component.props).filter_map(slot_of);
    let named: BTreeSet<&str> = named.filter(|name| *name != CHILDREN).collect();
    std::iter::once(CHILDREN).chain(named).map(str::to_owned).collect()
}

fn slot_prop(slots: &[String]) -> Option<PropDef> {
    let mut def = blank(SLOT, "Slot".to_owned(), PropKind::Select)?;
    def.description = "The slot of the surrounding component.".to_owned();
    def.group = "Layout".to_owned();
    let choice = |slot: &String| OptionDef {
        value: Arc::from(slot.as_str()),
        label: heading(slot),
        description: String::new(),
    };
    def.options = slots.iter().map(choice).collect();
    Some(def)
}

/// `fullWidth` becomes "Full width".
fn heading(name: &str) -> String {
    let mut words = String::new();
    for (index, c) in name.chars().enumerate() {
        match c {
            '_' | '-' | '.' => words.push(' '),
            c if index == 0 => words.extend(c.to_uppercase()),
            c if c.is_uppercase() => {
                words.push(' ');
                words.extend(c.to_lowercase());
            }
            c => words.push(c),
        }
    }
    words
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_read_as_words() {
        assert_eq!(
            (heading("fullWidth"), heading("list-item")),
            ("Full width".to_owned(), "List item".to_owned())
        );
    }
}
