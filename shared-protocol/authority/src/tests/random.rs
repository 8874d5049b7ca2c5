//! Random commands that match the current state often enough to succeed, and miss often enough to be refused.

use crate::Snapshot;
use shared_protocol::{
    AddNode, BoardId, BoardKind, BoardPoint, Command, EdgeEndpointRef, EdgeId, GraphFragment, NodeId,
    NodeRef, OverrideScope, OverrideSelector, PropValue, SetOverride, TypeDef,
    command::{DistributeAxis, NodeAlignment, PlaceNode},
    registry::{PropDef, PropKind},
    v0::JsonPointer,
};
use std::{collections::BTreeMap, sync::Arc};
use test_support::RandomSource;

fn coordinate(random: &mut RandomSource) -> i32 {
    random.below(3000) as i32 - 500
}

pub(super) fn command(random: &mut RandomSource, state: &Snapshot) -> Command {
    match random.below(40) {
        0 => {
            let count = 1 + random.below(4);
            Command::Batch { summary: None, commands: (0..count).map(|_| single(random, state)).collect() }
        }
        _ => single(random, state),
    }
}

fn single(random: &mut RandomSource, state: &Snapshot) -> Command {
    let boards: Vec<BoardId> = state.boards().map(|board| board.id).collect();
    let Some(&board) = random.pick(&boards) else { return add_board(random) };
    let nodes: Vec<NodeId> = state.nodes_on(board).map(|node| node.id).collect();
    let edges: Vec<EdgeId> = state.edges_on(board).map(|edge| edge.id).collect();
    let some = |random: &mut RandomSource| -> Vec<NodeRef> {
        (0..1 + random.below(4)).filter_map(|_| random.pick(&nodes).copied()).map(NodeRef::Id).collect()
    };
    match random.below(30) {
        0 => add_board(random),
        27..=29 => {
            override_some(random, state, &nodes).unwrap_or_else(|| add_node(random, state, board, &nodes))
        }
        1 if random.one_in(4) => Command::RemoveBoard { board: board.into() },
        2 => Command::UpdateBoard {
            board: board.into(),
            title: Some(format!("Board {}", random.below(9))),
            name: None,
        },
        3..=9 => add_node(random, state, board, &nodes),
        10..=12 => update(random, state, &nodes).unwrap_or_else(|| add_node(random, state, board, &nodes)),
        13 => Command::Remove { nodes: some(random).into_iter().take(2).collect(), edges: Vec::new() },
        14 => {
            Command::Remove { nodes: Vec::new(), edges: random.pick(&edges).copied().into_iter().collect() }
        }
        15..=17 => connect(random, state, &nodes).unwrap_or_else(|| add_node(random, state, board, &nodes)),
        18 => Command::Place {
            items: some(random)
                .into_iter()
                .map(|node| {
                    let size =
                        |random: &mut RandomSource| random.one_in(3).then(|| 16 + random.below(600) as i32);
                    PlaceNode {
                        node,
                        x: coordinate(random),
                        y: coordinate(random),
                        w: size(random),
                        h: size(random),
                    }
                })
                .collect(),
        },
        19 => Command::Reparent {
            nodes: some(random),
            parent: if random.one_in(3) { None } else { random.pick(&nodes).copied().map(NodeRef::Id) },
            delta: BoardPoint { x: coordinate(random) / 10, y: coordinate(random) / 10 },
        },
        20 => Command::Duplicate { nodes: some(random), offset: BoardPoint { x: 24, y: 24 } },
        21 => {
            let roots: Vec<NodeId> = (0..2).filter_map(|_| random.pick(&nodes).copied()).collect();
            let to = random.pick(&boards).copied().unwrap_or(board);
            let at = random.one_in(2).then(|| BoardPoint { x: coordinate(random), y: coordinate(random) });
            Command::Paste {
                board: to.into(),
                parent: None,
                fragment: GraphFragment(state.copy_fragment(&roots)),
                at,
            }
        }
        22 => Command::Align {
            nodes: some(random),
            to: *random
                .pick(&[NodeAlignment::Left, NodeAlignment::Middle, NodeAlignment::Bottom])
                .unwrap_or(&NodeAlignment::Top),
        },
        23 => Command::Distribute {
            nodes: some(random),
            along: if random.one_in(2) { DistributeAxis::Horizontal } else { DistributeAxis::Vertical },
        },
        24 => Command::Tidy { nodes: some(random) },
        25 => match set_variable(random, state, &nodes) {
            Some(command) => command,
            None => add_node(random, state, board, &nodes),
        },
        _ => match random.pick(&edges) {
            Some(edge) => Command::UpdateEdge { edge: *edge, label: format!("label {}", random.below(5)) },
            None => add_node(random, state, board, &nodes),
        },
    }
}

fn add_board(random: &mut RandomSource) -> Command {
    let kind = BoardKind::ALL[random.below(3)];
    Command::AddBoard { kind, title: format!("Board {}", random.below(9)), name: None }
}

fn add_node(random: &mut RandomSource, state: &Snapshot, board: BoardId, nodes: &[NodeId]) -> Command {
    let kind = state.board(board).map(|board| board.kind);
    let fitting: Vec<&Arc<TypeDef>> =
        state.registry().types().filter(|def| kind.is_none_or(|kind| def.is_allowed_on(kind))).collect();
    let def = random.pick(&fitting).copied();
    let Some(def) = def else { return add_board(random) };
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
    let parent = if random.one_in(8) { random.pick(nodes) } else { random.pick(&takers) };
    let mut add = AddNode::new(board, def.id.clone());
    add.parent = parent.copied().map(NodeRef::Id);
    add.at = random.one_in(2).then(|| BoardPoint { x: coordinate(random), y: coordinate(random) });
    if random.one_in(4) {
        add.label = Some(format!("Thing {}", random.below(6)));
    }
    for prop in &def.props {
        if random.one_in(3)
            && let Some(value) = value(random, prop)
        {
            add.props.insert(prop.key.clone(), value);
        }
    }
    Command::AddNode(add)
}

/// Mostly a pair that a rule allows, sometimes any pair.
fn connect(random: &mut RandomSource, state: &Snapshot, nodes: &[NodeId]) -> Option<Command> {
    let mut pair = (*random.pick(nodes)?, *random.pick(nodes)?);
    for _ in 0..random.below(30) {
        if crate::connection(state, (pair.0, None), (pair.1, None)).is_ok() {
            break;
        }
        pair = (*random.pick(nodes)?, *random.pick(nodes)?);
    }
    let end = |node: NodeId| EdgeEndpointRef { node: node.into(), port: None };
    Some(Command::Connect { source: end(pair.0), target: end(pair.1), label: String::new() })
}

fn set_variable(random: &mut RandomSource, state: &Snapshot, nodes: &[NodeId]) -> Option<Command> {
    let node = state.node(*random.pick(nodes)?)?;
    let key = random.pick(&state.type_of(node)?.props)?.key.clone();
    Some(Command::SetVariable { nodes: vec![node.id.into()], key, variable: !random.one_in(3) })
}

/// Mostly sets a prop of a node, sometimes clears or promotes.
fn override_some(random: &mut RandomSource, state: &Snapshot, nodes: &[NodeId]) -> Option<Command> {
    let keys: Vec<_> = state.overrides().map(|(key, _)| key.clone()).collect();
    match random.below(8) {
        0 => {
            return Some(Command::ClearOverrides(OverrideSelector::These(vec![random.pick(&keys)?.clone()])));
        }
        1 => {
            return Some(Command::PromoteOverrides(OverrideSelector::These(vec![
                random.pick(&keys)?.clone(),
            ])));
        }
        2 if random.one_in(4) => return Some(Command::ClearOverrides(OverrideSelector::Orphaned)),
        _ => {}
    }
    let node = state.node(*random.pick(nodes)?)?;
    let prop = random.pick(&state.type_of(node)?.props)?;
    let value = value(random, prop).unwrap_or(PropValue::Null);
    let deeper = if random.one_in(6) { "/deep" } else { "" };
    let path = JsonPointer::parse(format!("/{}{deeper}", prop.key)).ok()?;
    let instance = if random.one_in(10) { "nobody".to_owned() } else { node.id.to_string() };
    let (scope, component, locator) = (OverrideScope::App, None, None);
    let set = SetOverride { scope, instance: instance.into(), path, value, component, locator };
    Some(Command::SetOverrides { set: vec![set] })
}

fn update(random: &mut RandomSource, state: &Snapshot, nodes: &[NodeId]) -> Option<Command> {
    let node = state.node(*random.pick(nodes)?)?;
    let def = state.type_of(node)?;
    let prop = random.pick(&def.props)?;
    let (mut set, mut references) = (BTreeMap::new(), BTreeMap::new());
    if prop.kind == PropKind::Reference {
        let targets: Vec<NodeRef> =
            (0..random.below(3)).filter_map(|_| random.pick(nodes).copied()).map(NodeRef::Id).collect();
        references.insert(prop.key.clone(), targets);
    } else {
        set.insert(prop.key.clone(), value(random, prop).unwrap_or(PropValue::Null));
    }
    Some(Command::UpdateNode {
        node: node.id.into(),
        name: if random.one_in(5) { format!("name_{}", random.below(6)).parse().ok() } else { None },
        label: random.one_in(5).then(|| format!("Label {}", random.below(6))),
        set,
        unset: random
            .pick(&def.props)
            .filter(|_| random.one_in(4))
            .map(|prop| prop.key.clone())
            .into_iter()
            .collect(),
        references,
    })
}

fn value(random: &mut RandomSource, prop: &PropDef) -> Option<PropValue> {
    if random.one_in(12) {
        return Some(PropValue::text("not what was expected"));
    }
    Some(match prop.kind {
        PropKind::Text | PropKind::Multiline => PropValue::text(format!("text-{}", random.below(99))),
        PropKind::Number => PropValue::number(prop.min.unwrap_or(0.0) + random.below(3) as f64)?,
        PropKind::Boolean => PropValue::Bool(random.one_in(2)),
        PropKind::Select => PropValue::text(random.pick(&prop.options)?.value.clone()),
        PropKind::Multiselect => {
            PropValue::List(vec![PropValue::text(random.pick(&prop.options)?.value.clone())])
        }
        PropKind::Colour => PropValue::text("#336699"),
        PropKind::Cidr => PropValue::text(format!("10.{}.0.0/16", random.below(200))),
        PropKind::Tags | PropKind::Object => PropValue::parse_json(r#"{"team":"core"}"#).ok()?,
        PropKind::List => PropValue::parse_json(r#"["a","b"]"#).ok()?,
        PropKind::Json => PropValue::parse_json(r#"{"deep":[1,{"x":null}]}"#).ok()?,
        PropKind::Reference | PropKind::Slot => return None,
    })
}
