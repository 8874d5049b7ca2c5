//! Terraform for agents through the real writer and the real program, and changes of entities through the review queue.

use super::{
    Agents, PATIENCE, call,
    review::{guarded, id_of, ok, view_with},
};
use serde_json::{Value, json};
use shared_protocol::{
    ProposalId, ProposalState,
    decisions::{AcceptProposal, GrantApproval, ReadConsequences},
    proposal::{ProposedAction, ReviewVerdict, Risk},
    requests::{ListMissingPrices, ReadRunLines, RunCommand, SetAgentMode, UndoLast, WriteHcl},
    review::ApprovalGrant,
    terraform::TerraformOperation,
};
use std::{
    collections::BTreeSet,
    io::{BufRead as _, BufReader, Write as _},
    os::unix::net::UnixStream,
};
use test_support::{mcp, requirements::TERRAFORM};

pub(super) fn add(agents: &Agents, name: &str) {
    let add = json!({ "addNode": {
        "board": "infrastructure", "type": "terraform/core/terraform_data", "name": name, "props": { "input": name }
    } });
    agents.running().request(RunCommand { command: serde_json::from_value(add).unwrap() }).unwrap();
}

/// Calls a tool and hears how far it is; what it says comes before the envelope.
struct Calling<'a> {
    reader: BufReader<&'a UnixStream>,
    told: Vec<Value>,
}

impl<'a> Calling<'a> {
    fn begin(stream: &'a UnixStream, tool: &str, arguments: Value) -> Self {
        let params = json!({ "name": tool, "arguments": arguments, "_meta": { "progressToken": 7 } });
        let request = mcp::stateless_request(9, "tools/call", params);
        (&mut &*stream).write_all(format!("{request}\n").as_bytes()).unwrap();
        Self { reader: BufReader::new(stream), told: Vec::new() }
    }

    fn envelope(mut self) -> (Value, Vec<Value>) {
        loop {
            let mut line = String::new();
            self.reader.read_line(&mut line).unwrap();
            let message: Value = serde_json::from_str(&line).unwrap();
            if message["id"] == json!(9) {
                return (message["result"]["structuredContent"].clone(), self.told);
            }
            self.told.push(message["params"].clone());
        }
    }
}

/// The request that waits, once it does.
fn waiting(agents: &Agents) -> ProposalId {
    let heard = agents.window();
    view_with(&heard, |view| view.undecided_count() > 0)
        .proposals
        .iter()
        .find(|brief| brief.needs_decision())
        .unwrap()
        .id
}

#[test]
fn a_plan_and_an_apply_run_once_a_person_says_so_and_every_line_is_told() {
    if !TERRAFORM.is_available() {
        return;
    }
    let agents = guarded();
    add(&agents, "first");
    let (stream, _) = agents.bridge();
    for (command, action) in [("plan", "create"), ("apply", "create")] {
        let arguments = json!({ "command": command, "confirmed": true, "waitSeconds": 60 });
        let calling = Calling::begin(&stream, "run_terraform", arguments);
        let id = waiting(&agents);
        let opened = if command == "apply" { agents.planned(id) } else { agents.opened(id) };
        assert_eq!(opened.elements[0].text, format!("runs terraform {command} on infrastructure"));
        let careless = opened.verdict(None, BTreeSet::new());
        if command == "apply" {
            let unplanned = ReviewVerdict { plan: None, ..agents.yes(id) };
            let refused = agents.decide(AcceptProposal { verdict: unplanned }).unwrap_err();
            assert!(refused.message.contains("has changed since it was shown"), "{refused:?}");
            assert!(
                agents.decide(AcceptProposal { verdict: careless }).is_err(),
                "an apply takes a deliberate yes"
            );
        }
        agents.decide(AcceptProposal { verdict: agents.yes(id) }).unwrap();
        let (envelope, told) = calling.envelope();
        assert_eq!(envelope["ok"], json!(true), "{envelope}");
        let data = &envelope["data"];
        assert_eq!((&data["exitCode"], &data["success"]), (&json!(0), &json!(true)), "{data}");
        assert_eq!(data["resourceChanges"][0]["address"], json!("terraform_data.first"), "{data}");
        assert_eq!(data["resourceChanges"][0]["action"], json!(action));
        assert_eq!(data["resourceChanges"][0]["success"], json!(true));
        // Exactly the lines of the run's own log, one notification each.
        let board = agents.running().document().boards[0].id;
        let run = data["number"].as_u64().unwrap();
        let (run, lines) = agents.request(ReadRunLines { run, from: 0 });
        assert_eq!(run.board, board);
        let said: Vec<&Value> = told.iter().filter(|told| told["_meta"]["line"].is_string()).collect();
        assert_eq!(said.len(), lines.len());
        assert!(said.iter().zip(&lines).all(|(said, line)| said["message"] == json!(line.text)));
        let run = ok(&stream, "get_run", json!({ "runId": id }));
        assert_eq!((&run["status"], &run["nextLine"]), (&json!("succeeded"), &json!(lines.len())));
        let proposal = ok(&stream, "get_proposal", json!({ "id": id }));
        assert!(
            proposal["outcome"].as_str().unwrap().contains(&format!("({}) succeeded", ran(command))),
            "{proposal}"
        );
    }
}

/// The operation of a command: an apply applies its plan.
fn ran(command: &str) -> &str {
    if command == "apply" { "apply-plan" } else { command }
}

#[test]
fn plans_that_a_person_has_allowed_run_at_once_and_applies_never_do() {
    if !TERRAFORM.is_available() {
        return;
    }
    let agents = guarded();
    add(&agents, "first");
    let grant = ApprovalGrant {
        client: None,
        scope: "all:destructive".parse().unwrap(),
        boards: Vec::new(),
        expires: None,
    };
    agents.review(GrantApproval { grant }).unwrap();
    let (stream, _) = agents.bridge();
    let plan =
        Calling::begin(&stream, "run_terraform", json!({ "command": "plan", "waitSeconds": 0 })).envelope().0;
    assert_eq!(plan["data"]["success"], json!(true), "{plan}");
    assert!(plan["data"]["approval"].is_u64());
    for command in ["apply", "destroy"] {
        let asked = call(
            &stream,
            "run_terraform",
            json!({ "command": command, "confirmed": true, "waitSeconds": 0 }),
        );
        assert_eq!(asked["error"]["code"], json!("AWAITING_REVIEW"), "{asked}");
    }
    assert!(!agents.running().root.join("terraform/infrastructure/terraform.tfstate").exists());
}

#[test]
fn a_run_that_cannot_start_says_why_to_the_call_and_with_the_proposal() {
    let agents = guarded();
    let settings = agents.running().user().settings;
    std::fs::write(settings, "[terraform]\nprogram = \"/nowhere/terraform\"\n").unwrap();
    let (stream, _) = agents.bridge();
    let calling = Calling::begin(&stream, "run_terraform", json!({ "command": "init", "waitSeconds": 60 }));
    let id = waiting(&agents);
    agents.decide(AcceptProposal { verdict: agents.yes(id) }).unwrap();
    let (envelope, _) = calling.envelope();
    assert_eq!(envelope["error"]["code"], json!("NOT_FOUND"), "{envelope}");
    let start = std::time::Instant::now();
    while ok(&stream, "get_proposal", json!({ "id": id }))["outcome"].is_null() {
        assert!(start.elapsed() < PATIENCE);
    }
    let told = ok(&stream, "get_proposal", json!({ "id": id }));
    assert!(told["outcome"].as_str().unwrap().starts_with("Failed: "), "{told}");
}

#[test]
fn what_follows_from_a_proposal_is_worked_out_and_rising_costs_are_a_risk() {
    let agents = guarded();
    let (stream, _) = agents.bridge();
    // Every requested price is set.
    let root = &agents.running().root;
    let node = |kind: &str, name: &str, parent: Option<&str>, props: Value| json!({ "addNode": { "board": "infrastructure", "type": kind, "name": name, "parent": parent, "props": props } });
    let commands = [
        node("aws/networking/vpc", "net", None, json!({ "cidr_block": "10.0.0.0/16" })),
        node("aws/networking/subnet", "sub", Some("net"), json!({ "cidr_block": "10.0.1.0/24" })),
        node(
            "aws/compute/instance",
            "web",
            Some("sub"),
            json!({ "instance_type": "t3.small", "ami": "ami-0123456789abcdef0" }),
        ),
    ];
    let add = json!({ "batch": { "commands": commands } });
    agents.running().request(RunCommand { command: serde_json::from_value(add).unwrap() }).unwrap();
    let board = agents.running().document().boards[0].id;
    let missing = agents.running().request(ListMissingPrices { board }).unwrap();
    let mut book: Value = serde_json::from_str(&missing).unwrap();
    let mut prices = Vec::new();
    for line in book["prices"].as_array().unwrap() {
        let mut small = line.clone();
        for (key, value) in
            [("price", json!(0.1)), ("source", json!("a test")), ("date", json!("2026-01-31"))]
        {
            small[key] = value;
        }
        let mut large = small.clone();
        large["sku"] = json!(small["sku"].as_str().unwrap().replace("t3.small", "t3.large"));
        large["price"] = json!(0.4);
        prices.extend([small, large]);
    }
    assert!(prices.len() >= 2, "{missing}");
    book["prices"] = json!(prices);
    book["currency"] = json!("USD");
    std::fs::create_dir_all(root.join("prices")).unwrap();
    std::fs::write(root.join("prices/made-up.json"), book.to_string()).unwrap();

    let dearer = json!({ "instanceId": "web", "properties": { "instance_type": "t3.large" }, "submit": true, "title": "Larger" });
    let id = id_of(&ok(&stream, "update_resource", dearer));
    let opened = agents.opened(id);
    assert!(opened.brief.risks.contains(&Risk::CostUp), "{:?}", opened.brief.risks);
    let all = agents.review(ReadConsequences { proposal: id }).unwrap();
    assert_eq!((all.proposal, all.hash), (id, opened.hash));
    let cost = all.boards[0].cost.as_ref().unwrap();
    assert!(cost.after.unwrap() > cost.before.unwrap(), "{cost:?}");
    let file = all.boards[0].files.iter().find(|file| file.path == "main.tf").unwrap();
    assert!(
        file.text.contains("-  instance_type") && file.text.contains("+  instance_type"),
        "{}",
        file.text
    );
    assert_eq!((file.added, file.removed), (1, 1));

    let cheaper = json!({ "instanceId": "web", "properties": { "monitoring": true }, "submit": true, "title": "Watched" });
    let id = id_of(&ok(&stream, "update_resource", cheaper));
    assert!(!agents.opened(id).brief.risks.contains(&Risk::CostUp), "it costs the same");
    assert!(agents.review(ReadConsequences { proposal: ProposalId::from_bits(1) }).is_err());
}

/// A draft over a revision has that revision: what was made for one is not taken for the other.
#[test]
fn files_of_a_draft_and_of_the_workspace_are_never_mixed_up() {
    let agents = guarded();
    add(&agents, "first");
    let (stream, _) = agents.bridge();
    let second = json!({ "typeId": "terraform/core/terraform_data", "name": "second", "properties": { "input": "x" } });
    ok(&stream, "add_resource", second);
    let board = agents.running().document().boards[0].id;
    for _ in 0..2 {
        let draft = ok(&stream, "generate_hcl", json!({ "view": "draft" }));
        assert!(draft["main.tf"].as_str().unwrap().contains("second"), "{draft}");
        let current = ok(&stream, "generate_hcl", json!({}));
        assert!(!current["main.tf"].as_str().unwrap().contains("second"), "{current}");
        ok(&stream, "generate_hcl", json!({ "view": "draft" }));
        agents.request(WriteHcl { board });
        let on_disk =
            std::fs::read_to_string(agents.running().root.join("terraform/infrastructure/main.tf")).unwrap();
        assert!(on_disk.contains("first") && !on_disk.contains("second"), "{on_disk}");
    }
}

const MANIFEST: &str = "metadata: {name: lockers}\nspec:\n  bundleTypeDefinition: types.json\n  schemas: {documents: {Requirement: req.json}}\n  layout: {documents: {Requirement: {dir: reqs, filePattern: '{id}.yaml'}}}\n";

/// A bundle with one requirement.
pub(super) fn with_bundle(agents: &Agents) {
    let root = &agents.running().root;
    let folder = root.join("specs/lockers");
    std::fs::create_dir_all(folder.join("reqs")).unwrap();
    let types =
        json!({ "entities": [{ "entityType": "Requirement", "idField": "id", "directory": "reqs" }] });
    let schema = json!({ "type": "object", "properties": { "id": { "type": "string" }, "title": { "type": "string" } } });
    std::fs::write(folder.join("types.json"), types.to_string()).unwrap();
    std::fs::write(folder.join("req.json"), schema.to_string()).unwrap();
    std::fs::write(folder.join("sdd-bundle.yaml"), MANIFEST).unwrap();
    std::fs::write(folder.join("reqs/REQ-1.yaml"), "# kept\nid: REQ-1\ntitle: Doors\n").unwrap();
    agents
        .running()
        .host
        .send(crate::writer::WriterMsg::FileChanged(journal::FileChange::Everything))
        .unwrap();
    // Jobs are done in turn.
    agents.running().document();
}

#[test]
fn entities_are_changed_through_the_queue_and_shown_in_their_own_words() {
    let agents = guarded();
    with_bundle(&agents);
    let (stream, _) = agents.bridge();
    let file = agents.running().root.join("specs/lockers/reqs/REQ-1.yaml");
    let before = std::fs::read_to_string(&file).unwrap();
    let update = |value: &str| {
        json!([{
            "operation": "update", "entityType": "Requirement", "entityId": "REQ-1", "fieldPath": "title", "value": value
        }])
    };
    let dry = ok(&stream, "apply_changes", json!({ "changes": update("Gates") }));
    assert_eq!(
        (&dry["dryRun"], &dry["wouldApply"], &dry["proposal"]),
        (&json!(true), &json!(1), &Value::Null)
    );
    let proposed = ok(&stream, "apply_changes", json!({ "changes": update("Gates"), "dryRun": false }));
    assert_eq!(proposed["status"], json!("proposed"), "{proposed}");
    assert_eq!(proposed["results"][0]["status"], json!("would_apply"), "nothing is applied yet");
    // The next call sees what the draft did.
    let create = json!([{ "operation": "create", "entityType": "Requirement", "entityId": "REQ-2", "data": { "title": "Keys" } }]);
    ok(&stream, "apply_changes", json!({ "changes": create, "dryRun": false }));
    ok(&stream, "apply_changes", json!({ "changes": update("Hatches"), "dryRun": false }));
    assert_the_draft_is_read(&stream, &id_of(&proposed).to_string());
    let id = id_of(&ok(&stream, "submit_proposal", json!({ "title": "Requirements" })));
    assert_eq!(id, id_of(&proposed), "one draft");
    assert_eq!(std::fs::read_to_string(&file).unwrap(), before, "the file waits");
    let words = ["changes requirement REQ-1: title", "adds requirement REQ-2 “Keys”"];
    let mine = ok(&stream, "get_proposal", json!({ "id": id }));
    let told: BTreeSet<&str> = mine["changesInWords"]
        .as_array()
        .unwrap()
        .iter()
        .map(|line| line["text"].as_str().unwrap())
        .collect();
    assert_eq!(told, BTreeSet::from(words), "{mine}");
    let opened = agents.opened(id);
    let shown: BTreeSet<&str> = opened.elements.iter().map(|element| element.text.as_str()).collect();
    assert_eq!(shown, BTreeSet::from(words));
    agents.decide(AcceptProposal { verdict: agents.yes(id) }).unwrap();
    assert_eq!(std::fs::read_to_string(&file).unwrap(), "# kept\nid: REQ-1\ntitle: Hatches\n");
    assert!(agents.running().root.join("specs/lockers/reqs/REQ-2.yaml").exists());
    let read = ok(&stream, "read_entity", json!({ "entityType": "Requirement", "id": "REQ-2" }));
    assert_eq!(read["title"], json!("Keys"), "{read}");
    agents.running().request(UndoLast {}).unwrap();
    assert_eq!(std::fs::read_to_string(&file).unwrap(), before);

    agents.request(SetAgentMode { mode: shared_protocol::mcp::McpMode::Observe });
    let refused = call(&stream, "apply_changes", json!({ "changes": update("Gates"), "dryRun": false }));
    assert_eq!(refused["error"]["code"], json!("ACTUATION_DISABLED"), "{refused}");
    let dry = call(&stream, "apply_changes", json!({ "changes": update("Gates") }));
    assert_eq!(dry["ok"], json!(true), "a dry run is for observers, too: {dry}");
}

/// Every tool that reads entities sees the draft when it is asked to, and what is there otherwise.
fn assert_the_draft_is_read(stream: &UnixStream, id: &str) {
    let one = |id: &str| json!({ "entityType": "Requirement", "id": id });
    let of_type = json!({ "entityType": "Requirement" });
    let target = json!({ "entityType": "Requirement", "entityId": "REQ-2" });
    // The tool, what it is asked, and words that only the draft has.
    let cases = [
        ("read_entity", one("REQ-2"), "Keys"),
        ("read_entity", one("REQ-1"), "Hatches"),
        ("read_entities", json!({ "entityType": "Requirement", "ids": ["REQ-1", "REQ-2"] }), "Hatches"),
        ("list_entities", of_type.clone(), "REQ-2"),
        ("list_entity_summaries", of_type, "REQ-2"),
        ("search_entities", json!({ "query": "keys" }), "REQ-2"),
        ("search", json!({ "query": "keys", "kind": "entities" }), "REQ-2"),
        ("get_context", one("REQ-2"), "Keys"),
        ("get_bundle_snapshot", json!({}), "Hatches"),
        ("export_entity_markdown", target.clone(), "Keys"),
        ("export_context", json!({ "targets": [target] }), "Keys"),
    ];
    for (tool, arguments, words) in cases {
        let now = call(stream, tool, arguments.clone());
        let told =
            |envelope: &Value| envelope["ok"] == json!(true) && envelope["data"].to_string().contains(words);
        assert!(!told(&now), "{tool}: {now}");
        for named in [Value::Null, json!(id)] {
            let mut asked = arguments.clone();
            (asked["view"], asked["proposal"]) = (json!("draft"), named);
            let drafted = call(stream, tool, asked);
            assert!(told(&drafted), "{tool}: {drafted}");
        }
    }
    let count = |view: &str| {
        let context = ok(stream, "get_workbench_context", json!({ "view": view }));
        let bundles = ok(stream, "list_bundles", json!({ "view": view }));
        (context["bundles"][0]["entities"].clone(), bundles)
    };
    let (now, drafted) = (count("current"), count("draft"));
    assert_eq!((&now.0, &drafted.0), (&json!(1), &json!(2)));
    assert_ne!(now.1, drafted.1);
    let valid = ok(stream, "validate_bundle", json!({ "view": "draft" }));
    assert_ne!(valid, ok(stream, "validate_bundle", json!({})), "it counts what it looked at: {valid}");
    let strange = call(
        stream,
        "read_entity",
        json!({ "entityType": "Requirement", "id": "REQ-1", "view": "draft", "proposal": "p-000000000011" }),
    );
    assert_eq!(strange["error"]["code"], json!("NOT_FOUND"), "{strange}");
}

#[test]
fn a_run_is_asked_for_as_what_it_is() {
    let agents = guarded();
    let (stream, _) = agents.bridge();
    call(
        &stream,
        "run_terraform",
        json!({ "command": "validate", "waitSeconds": 0, "title": "Look", "rationale": "Why" }),
    );
    let opened = agents.opened(waiting(&agents));
    assert_eq!((opened.brief.title.as_str(), opened.rationale.as_str()), ("Look", "Why"));
    assert_eq!(opened.brief.state, ProposalState::Open);
    assert!(matches!(
        opened.brief.act,
        Some(ProposedAction::Run { operation: TerraformOperation::Validate, .. })
    ));
}
