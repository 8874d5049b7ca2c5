//! The steps of the agent. It finds its nodes with the tools, so the example may change
//! without the script. One edit is harmful on purpose: it removes what others still need.

use super::client::{DemoClient, DemoClientError};
use serde_json::{Value, json};
use std::{collections::BTreeSet, time::Duration};

pub(super) const BOARD: &str = "rehearsal";
const TITLE: &str = "Serve reads from a cache";
const RATIONALE: &str = "Most requests only read. A cache with a read service in front takes that load, and the queue keeps \
    its messages for longer. After that, the database is no longer needed.";

/// Above the new nodes, in units of the board: what is proposed about the nodes there is written below them.
const ROOM: i64 = 64;
/// Between the new nodes.
const GAP: i64 = 40;
/// Between two steps, so that a person sees ghosts arrive one by one.
const PAUSE: Duration = Duration::from_millis(700);
const POLL: Duration = Duration::from_millis(400);
/// How often the mode is looked at before the agent gives up.
const MAX_LOOKS: u32 = 25;

pub(super) fn play(client: &mut DemoClient) -> Result<(), DemoClientError> {
    wait_until_guarded(client)?;
    let diagram = client.call("get_diagram", json!({ "board": BOARD, "detail": "full" }))?;
    let steps = DemoNodes::from_diagram(&diagram)?.steps();
    for (tool, arguments) in steps {
        std::thread::sleep(PAUSE);
        client.call(tool, arguments)?;
    }
    std::thread::sleep(PAUSE);
    let submitted = client.call("submit_proposal", json!({ "title": TITLE, "rationale": RATIONALE }))?;
    let id = submitted["proposal"]["id"].clone();
    wait_for_decision(client, &id)
}

/// The mode of this workspace is set a moment before the agent starts.
fn wait_until_guarded(client: &mut DemoClient) -> Result<(), DemoClientError> {
    for _ in 0..MAX_LOOKS {
        let context = client.call("get_workbench_context", json!({}))?;
        if context["mode"] == "guarded" {
            return Ok(());
        }
        std::thread::sleep(POLL);
    }
    Err(DemoClientError::Missing("guarded mode"))
}

/// Ends with the decision. What is left of a proposal that was accepted in part is withdrawn.
fn wait_for_decision(client: &mut DemoClient, id: &Value) -> Result<(), DemoClientError> {
    loop {
        std::thread::sleep(POLL);
        let proposal = client.call("get_proposal", json!({ "id": id }))?;
        let waits = matches!(proposal["state"].as_str(), Some("open" | "stale"));
        if !waits {
            return Ok(());
        }
        if proposal["partlyAccepted"] == true {
            return client.call("withdraw_proposal", json!({ "id": id })).map(drop);
        }
    }
}

/// The nodes that the script is about.
#[derive(Debug, PartialEq, Eq)]
struct DemoNodes {
    /// The type of the new nodes.
    type_id: String,
    /// The node that all others need.
    base: String,
    /// A node with a number that is raised: its id and its new input.
    raised_node: (String, Value),
    /// Removed although others need it.
    victim: String,
    /// Where edges start and end.
    handles: (String, String),
    /// Where the two new nodes go: below everything, beside each other.
    places: [Value; 2],
}

impl DemoNodes {
    fn from_diagram(diagram: &Value) -> Result<Self, DemoClientError> {
        let empty = Vec::new();
        let edges = diagram["edges"].as_array().unwrap_or(&empty);
        let first = edges.first().ok_or(DemoClientError::Missing("edges"))?;
        let text = |value: &Value| value.as_str().unwrap_or_default().to_owned();
        let ids = |key: &str| edges.iter().map(|edge| text(&edge[key])).collect::<BTreeSet<String>>();
        let (needed, needing) = (ids("sourceInstanceId"), ids("targetInstanceId"));
        let nodes: Vec<&Value> = diagram["nodes"]
            .as_array()
            .unwrap_or(&empty)
            .iter()
            .filter(|node| {
                needed.contains(&text(&node["instanceId"])) || needing.contains(&text(&node["instanceId"]))
            })
            .collect();
        let id = |node: &&Value| text(&node["instanceId"]);
        let base =
            nodes.iter().find(|node| !needing.contains(&id(node))).ok_or(DemoClientError::Missing("base"))?;
        let is_called = |node: &&&Value, word: &str| {
            [&node["label"], &node["terraformName"]]
                .iter()
                .any(|name| text(name).to_lowercase().contains(word))
        };
        let victim = nodes.iter().find(|node| is_called(node, "database") && needed.contains(&id(node)));
        let victim = victim.ok_or(DemoClientError::Missing("database that others need"))?;
        // Nodes that need the victim change with its removal already.
        let follows = |node: &&&Value| {
            edges.iter().any(|edge| {
                text(&edge["sourceInstanceId"]) == id(victim) && text(&edge["targetInstanceId"]) == id(node)
            })
        };
        let tuned = nodes
            .iter()
            .filter(|node| id(node) != id(victim) && !follows(node))
            .find_map(|node| Some((id(node), raise_number(&node["properties"]["input"])?)));
        Ok(Self {
            type_id: text(&base["typeId"]),
            base: id(base),
            raised_node: tuned.ok_or(DemoClientError::Missing("number to raise"))?,
            victim: id(victim),
            handles: (text(&first["sourceHandle"]), text(&first["targetHandle"])),
            places: places(&nodes, victim),
        })
    }

    fn steps(self) -> Vec<(&'static str, Value)> {
        let Self { type_id, base, raised_node: (tuned, input), victim, handles: (out, into), places } = self;
        let [below, beside] = places;
        let add = |name: &str, label: &str, input: Value, position: Value| {
            json!({
                "board": BOARD, "typeId": type_id, "name": name, "label": label, "position": position,
                "properties": { "input": input }
            })
        };
        let connect = |from: &str, to: &str| {
            json!({
                "sourceInstanceId": from, "sourceHandle": out, "targetInstanceId": to, "targetHandle": into
            })
        };
        // A new node is named as any other: by its board and its name.
        let named = |name: &str| format!("{BOARD}/{name}");
        vec![
            ("add_resource", add("cache", "Cache", json!({ "engine": "redis", "memory_gb": 2 }), below)),
            ("connect_resources", connect(&base, &named("cache"))),
            ("add_resource", add("reads", "Read service", json!({ "instances": 2 }), beside)),
            ("connect_resources", connect(&named("cache"), &named("reads"))),
            ("update_resource", json!({ "instanceId": tuned, "properties": { "input": input } })),
            ("remove_resource", json!({ "instanceId": victim })),
        ]
    }
}

fn places(nodes: &[&Value], victim: &Value) -> [Value; 2] {
    let number = |value: &Value| value.as_i64().unwrap_or_default();
    let bottom = nodes.iter().map(|node| number(&node["position"]["y"]) + number(&node["size"]["h"])).max();
    let right = nodes.iter().map(|node| number(&node["position"]["x"])).max().unwrap_or_default();
    // Between the columns, so that both are in view and the tour's card is beside them.
    let (x, y) = ((number(&victim["position"]["x"]) + right) / 2, bottom.unwrap_or_default() + ROOM);
    let beside = x + number(&victim["size"]["w"]) + GAP;
    [json!({ "x": x, "y": y }), json!({ "x": beside, "y": y })]
}

/// The same object with its first number ten higher.
fn raise_number(input: &Value) -> Option<Value> {
    let mut raised = input.as_object()?.clone();
    let number = raised.values_mut().find_map(|value| value.as_i64().map(|number| (value, number)));
    let (value, number) = number?;
    *value = json!(number + 10);
    Some(Value::Object(raised))
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The part of `get_diagram`'s answer that the script reads.
    fn diagram() -> Value {
        let board: Value =
            serde_json::from_str(include_str!("../../workspace/example/boards/rehearsal.board.json"))
                .unwrap();
        let end = |end: &Value| {
            end.as_str().unwrap().split_once(':').map(|(node, port)| (node.to_owned(), port.to_owned()))
        };
        let nodes = board["nodes"].as_object().unwrap().iter().map(|(id, node)| {
            json!({
                "instanceId": id, "typeId": node["type"], "label": node["label"], "terraformName": node["name"],
                "properties": node["props"]
            })
        });
        let edges = board["edges"].as_object().unwrap().values().map(|edge| {
            let ((from, out), (to, into)) = (end(&edge["from"]).unwrap(), end(&edge["to"]).unwrap());
            json!({ "sourceInstanceId": from, "sourceHandle": out, "targetInstanceId": to, "targetHandle": into })
        });
        json!({ "nodes": nodes.collect::<Vec<_>>(), "edges": edges.collect::<Vec<_>>() })
    }

    #[test]
    fn the_example_has_everything_that_the_script_needs() {
        let diagram = diagram();
        let cast = DemoNodes::from_diagram(&diagram).unwrap();
        let label = |id: &str| {
            let nodes = diagram["nodes"].as_array().unwrap();
            nodes.iter().find(|node| node["instanceId"] == id).unwrap()["label"].clone()
        };
        assert_eq!(label(&cast.victim), "Database");
        assert_ne!(cast.raised_node.0, cast.victim);
        assert!(cast.type_id.ends_with("terraform_data"), "{cast:?}");
        let steps = cast.steps();
        let count = |tool: &str| steps.iter().filter(|(name, _)| *name == tool).count();
        assert_eq!(
            [
                count("add_resource"),
                count("connect_resources"),
                count("update_resource"),
                count("remove_resource")
            ],
            [2, 2, 1, 1]
        );
    }

    #[test]
    fn a_board_without_a_database_is_an_error_and_no_fault() {
        assert!(matches!(DemoNodes::from_diagram(&json!({})), Err(DemoClientError::Missing("edges"))));
        let mut without = diagram();
        without["nodes"].as_array_mut().unwrap().retain(|node| node["label"] != "Database");
        assert!(matches!(DemoNodes::from_diagram(&without), Err(DemoClientError::Missing(_))));
    }
}
