//! Random commands that match the current state often enough to succeed, and miss often enough to be refused.

use crate::Snapshot;
use shared_protocol::{
    AddNode, BoardId, BoardKind, BoardPoint, Command, EdgeEndpointRef, EdgeId, GraphFragment, NodeId,
    NodeRef, OverrideScope, OverrideSelector, PropValue, SetOverride, TypeDef,
    command::{LayoutAxis, NodeAlignment, PlaceNode},
    registry::{PropDef, PropKind},
    v0::JsonPointer,
};
use std::{collections::BTreeMap, sync::Arc};

pub(super) struct Dice(u64);

impl Dice {
    pub(super) fn new(seed: u64) -> Self {
        Self(seed)
    }

    pub(super) fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (self.0 >> 33) ^ self.0 >> 11
    }

    pub(super) fn below(&mut self, most: usize) -> usize {
        (self.next() % most.max(1) as u64) as usize
    }

    fn one_in(&mut self, count: usize) -> bool {
        self.below(count) == 0
    }

    fn pick<'a, T>(&mut self, items: &'a [T]) -> Option<&'a T> {
        items.get(self.below(items.len()))
    }

    fn coordinate(&mut self) -> i32 {
        self.below(3000) as i32 - 500
    }
}

pub(super) fn command(dice: &mut Dice, state: &Snapshot) -> Command {
    match dice.below(40) {
        0 => {
            let count = 1 + dice.below(4);
            Command::Batch { summary: None, commands: (0..count).map(|_| single(dice, state)).collect() }
        }
        _ => single(dice, state),
    }
}

fn single(dice: &mut Dice, state: &Snapshot) -> Command {
    let boards: Vec<BoardId> = state.boards().map(|board| board.id).collect();
    let Some(&board) = dice.pick(&boards) else { return add_board(dice) };
    let nodes: Vec<NodeId> = state.nodes_on(board).map(|node| node.id).collect();
    let edges: Vec<EdgeId> = state.edges_on(board).map(|edge| edge.id).collect();
    let some = |dice: &mut Dice| -> Vec<NodeRef> {
        (0..1 + dice.below(4)).filter_map(|_| dice.pick(&nodes).copied()).map(NodeRef::Id).collect()
    };
    match dice.below(30) {
        0 => add_board(dice),
        27..=29 => override_some(dice, state, &nodes).unwrap_or_else(|| add_node(dice, state, board, &nodes)),
        1 if dice.one_in(4) => Command::RemoveBoard { board: board.into() },
        2 => Command::UpdateBoard {
            board: board.into(),
            title: Some(format!("Board {}", dice.below(9))),
            name: None,
        },
        3..=9 => add_node(dice, state, board, &nodes),
        10..=12 => update(dice, state, &nodes).unwrap_or_else(|| add_node(dice, state, board, &nodes)),
        13 => Command::Remove { nodes: some(dice).into_iter().take(2).collect(), edges: Vec::new() },
        14 => Command::Remove { nodes: Vec::new(), edges: dice.pick(&edges).copied().into_iter().collect() },
        15..=17 => connect(dice, state, &nodes).unwrap_or_else(|| add_node(dice, state, board, &nodes)),
        18 => Command::Place {
            items: some(dice)
                .into_iter()
                .map(|node| {
                    let size = |dice: &mut Dice| dice.one_in(3).then(|| 16 + dice.below(600) as i32);
                    PlaceNode {
                        node,
                        x: dice.coordinate(),
                        y: dice.coordinate(),
                        w: size(dice),
                        h: size(dice),
                    }
                })
                .collect(),
        },
        19 => Command::Reparent {
            nodes: some(dice),
            parent: if dice.one_in(3) { None } else { dice.pick(&nodes).copied().map(NodeRef::Id) },
            delta: BoardPoint { x: dice.coordinate() / 10, y: dice.coordinate() / 10 },
        },
        20 => Command::Duplicate { nodes: some(dice), offset: BoardPoint { x: 24, y: 24 } },
        21 => {
            let roots: Vec<NodeId> = (0..2).filter_map(|_| dice.pick(&nodes).copied()).collect();
            let to = dice.pick(&boards).copied().unwrap_or(board);
            let at = dice.one_in(2).then(|| BoardPoint { x: dice.coordinate(), y: dice.coordinate() });
            Command::Paste {
                board: to.into(),
                parent: None,
                fragment: GraphFragment(state.copy_fragment(&roots)),
                at,
            }
        }
        22 => Command::Align {
            nodes: some(dice),
            to: *dice
                .pick(&[NodeAlignment::Left, NodeAlignment::Middle, NodeAlignment::Bottom])
                .unwrap_or(&NodeAlignment::Top),
        },
        23 => Command::Distribute {
            nodes: some(dice),
            along: if dice.one_in(2) { LayoutAxis::Horizontal } else { LayoutAxis::Vertical },
        },
        24 => Command::Tidy { nodes: some(dice) },
        25 => match set_variable(dice, state, &nodes) {
            Some(command) => command,
            None => add_node(dice, state, board, &nodes),
        },
        _ => match dice.pick(&edges) {
            Some(edge) => Command::UpdateEdge { edge: *edge, label: format!("label {}", dice.below(5)) },
            None => add_node(dice, state, board, &nodes),
        },
    }
}

fn add_board(dice: &mut Dice) -> Command {
    let kind = BoardKind::ALL[dice.below(3)];
    Command::AddBoard { kind, title: format!("Board {}", dice.below(9)), name: None }
}

fn add_node(dice: &mut Dice, state: &Snapshot, board: BoardId, nodes: &[NodeId]) -> Command {
    let kind = state.board(board).map(|board| board.kind);
    let fitting: Vec<&Arc<TypeDef>> =
        state.registry().types().filter(|def| kind.is_none_or(|kind| def.is_allowed_on(kind))).collect();
    let def = dice.pick(&fitting).copied();
    let Some(def) = def else { return add_board(dice) };
    // Mostly into a container that accepts it, sometimes anywhere.
    let takers: Vec<NodeId> = nodes
        .iter()
        .copied()
        .filter(|id| {
            state
                .node(*id)
                .and_then(|node| state.type_of(node))
                .is_some_and(|container| def.is_allowed_in(container))
        })
        .collect();
    let parent = if dice.one_in(8) { dice.pick(nodes) } else { dice.pick(&takers) };
    let mut add = AddNode::new(board, def.id.clone());
    add.parent = parent.copied().map(NodeRef::Id);
    add.at = dice.one_in(2).then(|| BoardPoint { x: dice.coordinate(), y: dice.coordinate() });
    if dice.one_in(4) {
        add.label = Some(format!("Thing {}", dice.below(6)));
    }
    for prop in &def.props {
        if dice.one_in(3)
            && let Some(value) = value(dice, prop)
        {
            add.props.insert(prop.key.clone(), value);
        }
    }
    Command::AddNode(add)
}

/// Mostly a pair that a rule allows, sometimes any pair.
fn connect(dice: &mut Dice, state: &Snapshot, nodes: &[NodeId]) -> Option<Command> {
    let mut pair = (*dice.pick(nodes)?, *dice.pick(nodes)?);
    for _ in 0..dice.below(30) {
        if crate::connection(state, (pair.0, None), (pair.1, None)).is_ok() {
            break;
        }
        pair = (*dice.pick(nodes)?, *dice.pick(nodes)?);
    }
    let end = |node: NodeId| EdgeEndpointRef { node: node.into(), port: None };
    Some(Command::Connect { source: end(pair.0), target: end(pair.1), label: String::new() })
}

fn set_variable(dice: &mut Dice, state: &Snapshot, nodes: &[NodeId]) -> Option<Command> {
    let node = state.node(*dice.pick(nodes)?)?;
    let key = dice.pick(&state.type_of(node)?.props)?.key.clone();
    Some(Command::SetVariable { nodes: vec![node.id.into()], key, variable: !dice.one_in(3) })
}

/// Mostly sets a prop of a node, sometimes clears or promotes.
fn override_some(dice: &mut Dice, state: &Snapshot, nodes: &[NodeId]) -> Option<Command> {
    let keys: Vec<_> = state.overrides().map(|(key, _)| key.clone()).collect();
    match dice.below(8) {
        0 => return Some(Command::ClearOverrides(OverrideSelector::These(vec![dice.pick(&keys)?.clone()]))),
        1 => {
            return Some(Command::PromoteOverrides(OverrideSelector::These(vec![dice.pick(&keys)?.clone()])));
        }
        2 if dice.one_in(4) => return Some(Command::ClearOverrides(OverrideSelector::Orphaned)),
        _ => {}
    }
    let node = state.node(*dice.pick(nodes)?)?;
    let prop = dice.pick(&state.type_of(node)?.props)?;
    let value = value(dice, prop).unwrap_or(PropValue::Null);
    let deeper = if dice.one_in(6) { "/deep" } else { "" };
    let path = JsonPointer::parse(format!("/{}{deeper}", prop.key)).ok()?;
    let instance = if dice.one_in(10) { "nobody".to_owned() } else { node.id.to_string() };
    let (scope, component, locator) = (OverrideScope::App, None, None);
    let set = SetOverride { scope, instance: instance.into(), path, value, component, locator };
    Some(Command::SetOverrides { set: vec![set] })
}

fn update(dice: &mut Dice, state: &Snapshot, nodes: &[NodeId]) -> Option<Command> {
    let node = state.node(*dice.pick(nodes)?)?;
    let def = state.type_of(node)?;
    let prop = dice.pick(&def.props)?;
    let (mut set, mut references) = (BTreeMap::new(), BTreeMap::new());
    if prop.kind == PropKind::Reference {
        let targets: Vec<NodeRef> =
            (0..dice.below(3)).filter_map(|_| dice.pick(nodes).copied()).map(NodeRef::Id).collect();
        references.insert(prop.key.clone(), targets);
    } else {
        set.insert(prop.key.clone(), value(dice, prop).unwrap_or(PropValue::Null));
    }
    Some(Command::UpdateNode {
        node: node.id.into(),
        name: if dice.one_in(5) { format!("name_{}", dice.below(6)).parse().ok() } else { None },
        label: dice.one_in(5).then(|| format!("Label {}", dice.below(6))),
        set,
        unset: dice
            .pick(&def.props)
            .filter(|_| dice.0.is_multiple_of(4))
            .map(|prop| prop.key.clone())
            .into_iter()
            .collect(),
        references,
    })
}

fn value(dice: &mut Dice, prop: &PropDef) -> Option<PropValue> {
    if dice.one_in(12) {
        return Some(PropValue::text("not what was expected"));
    }
    Some(match prop.kind {
        PropKind::Text | PropKind::Multiline => PropValue::text(format!("text-{}", dice.below(99))),
        PropKind::Number => PropValue::number(prop.min.unwrap_or(0.0) + dice.below(3) as f64)?,
        PropKind::Boolean => PropValue::Bool(dice.one_in(2)),
        PropKind::Select => PropValue::text(dice.pick(&prop.options)?.value.clone()),
        PropKind::Multiselect => {
            PropValue::List(vec![PropValue::text(dice.pick(&prop.options)?.value.clone())])
        }
        PropKind::Colour => PropValue::text("#336699"),
        PropKind::Cidr => PropValue::text(format!("10.{}.0.0/16", dice.below(200))),
        PropKind::Tags | PropKind::Object => PropValue::parse_json(r#"{"team":"core"}"#).ok()?,
        PropKind::List => PropValue::parse_json(r#"["a","b"]"#).ok()?,
        PropKind::Json => PropValue::parse_json(r#"{"deep":[1,{"x":null}]}"#).ok()?,
        PropKind::Reference | PropKind::Slot => return None,
    })
}
