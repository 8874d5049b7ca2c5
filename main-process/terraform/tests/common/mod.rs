//! A board fixture and a strict reader of its generated files.
#![allow(dead_code, reason = "each test binary uses a part")]

pub(crate) mod program;
pub(crate) mod reader;
mod samples;

use authority::{Snapshot, TypeRegistry, decide};
use shared_protocol::{
    BoardId, Command, ElementId, NodeId, PropKey, PropValue, TypeDef, TypeId,
    command::AddNode,
    registry::{PropKind, TerraformBlockKind},
};
use std::{
    collections::BTreeMap,
    sync::{Arc, LazyLock},
};
use terraform::{GenerateInput, GeneratedHcl, HclGenerator, TerraformProjectSettings};

pub(crate) fn registry() -> Arc<TypeRegistry> {
    static COMPOSED: LazyLock<Arc<TypeRegistry>> =
        LazyLock::new(|| Arc::new(TypeRegistry::compose(&catalogue::built_in(), &BTreeMap::new())));
    COMPOSED.clone()
}

pub(crate) struct HclFixture {
    pub(crate) snapshot: Snapshot,
    pub(crate) board: BoardId,
    pub(crate) settings: TerraformProjectSettings,
    pub(crate) generator: HclGenerator,
    seed: u64,
    /// One node of each type that other nodes need.
    shared: BTreeMap<TypeId, NodeId>,
}

impl HclFixture {
    pub(crate) fn new() -> Self {
        let snapshot = Snapshot::new(registry());
        let mut bench = Self {
            snapshot,
            board: BoardId::MIN,
            settings: TerraformProjectSettings::default(),
            generator: HclGenerator::new(),
            seed: 1,
            shared: BTreeMap::new(),
        };
        let created = bench.json(r#"{"addBoard":{"kind":"infrastructure","title":"Main"}}"#);
        let ElementId::Board(board) = created else { panic!("no board") };
        bench.board = board;
        bench
    }

    pub(crate) fn run(&mut self, command: &Command) -> Vec<ElementId> {
        self.seed += 1;
        let decision = decide(&self.snapshot, command, self.seed)
            .unwrap_or_else(|refusal| panic!("{command:?}: {refusal}"));
        if !decision.changes.is_empty() {
            self.snapshot.apply(self.snapshot.revision().next(), &decision.changes).unwrap();
        }
        decision.created
    }

    pub(crate) fn json(&mut self, command: &str) -> ElementId {
        let command: Command = serde_json::from_str(command).expect(command);
        self.run(&command).first().copied().unwrap_or(ElementId::Board(BoardId::MIN))
    }

    /// Adds a node with properties and references from JSON.
    pub(crate) fn add(&mut self, type_id: &str, name: &str, parent: Option<NodeId>, props: &str) -> NodeId {
        let mut node = AddNode::new(self.board, type_id.parse().unwrap());
        node.name = Some(name.parse().unwrap());
        node.label = Some(name.to_owned());
        node.parent = parent.map(Into::into);
        node.props = serde_json::from_str(props).expect(props);
        match self.run(&Command::AddNode(node))[0] {
            ElementId::Node(id) => id,
            other => panic!("{other:?}"),
        }
    }

    pub(crate) fn set(&mut self, node: NodeId, key: &str, value: PropValue) {
        self.run(&Command::UpdateNode {
            node: node.into(),
            name: None,
            label: None,
            set: BTreeMap::from([(PropKey::parse(key).unwrap(), value)]),
            unset: Vec::new(),
            references: BTreeMap::new(),
        });
    }

    /// Turns a property into a variable.
    pub(crate) fn vary(&mut self, node: NodeId, key: &str) {
        let key = PropKey::parse(key).unwrap();
        self.run(&Command::SetVariable { nodes: vec![node.into()], key, variable: true });
    }

    pub(crate) fn refer(&mut self, node: NodeId, key: &str, targets: &[NodeId]) {
        self.run(&Command::UpdateNode {
            node: node.into(),
            name: None,
            label: None,
            set: BTreeMap::new(),
            unset: Vec::new(),
            references: BTreeMap::from([(
                PropKey::parse(key).unwrap(),
                targets.iter().map(|target| (*target).into()).collect(),
            )]),
        });
    }

    pub(crate) fn generate(&mut self) -> GeneratedHcl {
        let input = GenerateInput { snapshot: &self.snapshot, board: self.board, settings: &self.settings };
        self.generator.generate(&input)
    }

    pub(crate) fn main(&mut self) -> String {
        self.generate().files["main.tf"].to_string()
    }

    /// Adds a node of this type in a valid container with all required values; `choices` sets further values before
    /// the rest is filled in.
    pub(crate) fn stage(
        &mut self,
        def: &TypeDef,
        name: &str,
        choices: &[(&str, PropValue)],
        full: bool,
    ) -> NodeId {
        let parent = self.home_of(def);
        let mut node = AddNode::new(self.board, def.id.clone());
        node.name = Some(name.parse().unwrap());
        node.parent = parent.map(Into::into);
        let id = match self.run(&Command::AddNode(node))[0] {
            ElementId::Node(id) => id,
            other => panic!("{other:?}"),
        };
        self.fill(def, id, choices, full);
        for (key, value) in choices {
            let node = self.snapshot.node(id).unwrap();
            if authority::is_visible(def, node, def.prop(key).unwrap()) {
                self.set(id, key, value.clone());
            }
        }
        self.fill(def, id, choices, full);
        id
    }

    fn fill(&mut self, def: &TypeDef, id: NodeId, choices: &[(&str, PropValue)], full: bool) {
        for prop in &def.props {
            let key = prop.key.as_str();
            let node = self.snapshot.node(id).unwrap().clone();
            let chosen = choices.iter().any(|(choice, _)| *choice == key);
            if chosen || !authority::is_visible(def, &node, prop) {
                continue;
            }
            if prop.kind == PropKind::Reference {
                let is_set = !self.snapshot.targets_of(&node, prop).is_empty();
                // References to the same argument exclude each other.
                let rival = def.props.iter().any(|other| {
                    other.key < prop.key
                        && other.argument() == prop.argument()
                        && node.references.contains_key(&other.key)
                });
                if !is_set && !rival && (prop.required || full) {
                    let target = self.one_of(&prop.targets, def);
                    if let Some(target) = target.filter(|target| *target != id) {
                        self.refer(id, key, &[target]);
                    }
                }
                continue;
            }
            let wanted = (prop.required && prop.default.is_none()) || (full && prop.default.is_none());
            let steers = def.props.iter().any(|other| {
                other.visible_when.iter().chain(&other.also_when).any(|condition| condition.prop == prop.key)
            });
            if wanted
                && (prop.required || !steers)
                && !["extra", "source_output", "terraform_name"].contains(&key)
            {
                let value = samples::sample(&self.snapshot, def, prop);
                self.set(id, key, value);
            }
        }
    }

    /// Returns a node of a matching type; adds one when there is none.
    fn one_of(
        &mut self,
        targets: &[shared_protocol::registry::TypePattern],
        from: &TypeDef,
    ) -> Option<NodeId> {
        let registry = registry();
        let fits = |id: &TypeId| targets.iter().any(|pattern| pattern.matches(id));
        let def = registry
            .types()
            .filter(|def| fits(&def.id) && def.id != from.id && def.block == TerraformBlockKind::Resource)
            .find(|def| def.terraform_types().next().is_some())?
            .clone();
        Some(self.shared(&def))
    }

    fn shared(&mut self, def: &TypeDef) -> NodeId {
        if let Some(id) = self.shared.get(&def.id) {
            return *id;
        }
        let name = format!("shared_{}", def.id.as_str().rsplit('/').next().unwrap());
        let id = self.stage(def, &name, &[], false);
        self.shared.insert(def.id.clone(), id);
        id
    }

    fn home_of(&mut self, def: &TypeDef) -> Option<NodeId> {
        let registry = registry();
        let first = def.parents.first()?;
        if def.may_be_root() && !first.as_str().starts_with("azurerm/") {
            return None;
        }
        let home = registry.get(&first.as_str().parse().ok()?)?.clone();
        if home.id.as_str().starts_with("notes/") || home.id.as_str() == "terraform/core/group" {
            return None;
        }
        Some(self.shared(&home))
    }
}
