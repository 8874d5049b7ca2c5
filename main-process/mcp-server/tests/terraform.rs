//! Tests of the Terraform data that agents see.
#![allow(clippy::unwrap_used, clippy::expect_used)]

mod common;

use common::{AgentWorkbenchFixture, Talk, service};
use serde_json::{Value, json};
use shared_protocol::terraform::DeploymentState;
use std::sync::Arc;

fn first_node(bench: &Arc<AgentWorkbenchFixture>) -> shared_protocol::NodeId {
    let snapshot = bench.snapshot();
    let board = snapshot.boards().next().unwrap().id;
    snapshot.nodes_on(board).next().unwrap().id
}

#[tokio::test]
async fn files_are_a_map_of_names_to_texts_or_one_in_parts() {
    let bench = AgentWorkbenchFixture::new();
    bench.add_buckets(3);
    let service = service(&bench);
    let mut talk = Talk::modern(&service);
    let all = talk.call("generate_hcl", json!({})).await;
    let main = all["data"]["main.tf"].as_str().unwrap().to_owned();
    assert!(main.contains("resource \"aws_s3_bucket\" \"bucket_0\""), "{all}");
    assert!(all["data"]["terraform.tf"].is_string() && all["meta"]["board"] == json!("main"));
    let one = talk.call("generate_hcl", json!({ "file": "main.tf", "offset": 2 })).await;
    let rest: String = main.lines().skip(2).map(|line| format!("{line}\n")).collect();
    assert_eq!(one["data"], json!({ "main.tf": rest }));
    assert_eq!(one["meta"]["hasMore"], json!(false));
    let wrong = talk.call("generate_hcl", json!({ "file": "mian.tf" })).await;
    assert_eq!(wrong["error"]["details"]["suggestions"][0], json!("main.tf"));
    for uri in ["draftboard://hcl/main.tf", "terrastudio://hcl/main.tf"] {
        let answer = talk.ask("resources/read", json!({ "uri": uri })).await;
        let contents = &answer["result"]["contents"][0];
        assert_eq!((&contents["text"], &contents["mimeType"]), (&json!(main), &json!("text/plain")));
    }
    let answer = talk.ask("resources/read", json!({ "uri": "draftboard://hcl/none.tf" })).await;
    assert!(answer["error"].is_object(), "{answer}");
}

#[tokio::test]
async fn a_large_board_is_told_in_parts_that_hold_everything() {
    let bench = AgentWorkbenchFixture::new();
    bench.add_buckets(6_000);
    let service = service(&bench);
    let mut talk = Talk::modern(&service);
    let all = talk.call("generate_hcl", json!({})).await;
    assert!(all["data"].get("main.tf").is_none() && all["meta"]["cut"].is_string(), "{}", all["meta"]);
    assert!(all["diagnostics"].to_string().contains("main.tf is omitted"));
    let (mut whole, mut offset) = (String::new(), 0);
    loop {
        let part = talk.call("generate_hcl", json!({ "file": "main.tf", "offset": offset })).await;
        whole.push_str(part["data"]["main.tf"].as_str().unwrap());
        offset += part["meta"]["returned"].as_u64().unwrap();
        if part["meta"]["hasMore"] == json!(false) {
            break;
        }
    }
    assert_eq!(whole.matches("resource \"aws_s3_bucket\"").count(), 6_000);
    let statuses = talk.call("get_deployment_status", json!({ "limit": 10 })).await;
    assert_eq!(statuses["data"].as_object().unwrap().len(), 10);
    assert_eq!(statuses["meta"]["total"], json!(6_000));
    let more = talk
        .call("get_deployment_status", json!({ "limit": 10, "cursor": statuses["meta"]["cursor"] }))
        .await;
    let (first, second) = (statuses["data"].as_object().unwrap(), more["data"].as_object().unwrap());
    assert!(second.len() == 10 && second.keys().all(|key| !first.contains_key(key)));
}

#[tokio::test]
async fn what_is_deployed_is_told_everywhere_and_to_subscribers() {
    let bench = AgentWorkbenchFixture::new();
    bench.add_buckets(2);
    let service = service(&bench);
    let mut talk = Talk::legacy(&service).await;
    let id = first_node(&bench).to_string();
    let before = talk.call("get_deployment_status", json!({})).await;
    assert_eq!(before["data"][&id], json!("pending"));
    talk.ask("resources/subscribe", json!({ "uri": "terrastudio://diagram/current" })).await;
    talk.ask("resources/subscribe", json!({ "uri": "draftboard://hcl/main.tf" })).await;
    bench.deploy(first_node(&bench), DeploymentState::Failed);
    let told = talk.notice("notifications/resources/updated").await;
    assert_eq!(told["params"]["uri"], json!("terrastudio://diagram/current"));
    assert_eq!(talk.call("get_deployment_status", json!({})).await["data"][&id], json!("failed"));
    let listed = talk.call("list_resources", json!({})).await;
    let entry =
        listed["data"].as_array().unwrap().iter().find(|entry| entry["instanceId"] == json!(id)).unwrap();
    assert_eq!(entry["deploymentStatus"], json!("failed"));
    // The deployment did not change the file; a new node does.
    bench.add_buckets(1);
    let mut uris = Vec::<Value>::new();
    while !uris.contains(&json!("draftboard://hcl/main.tf")) {
        uris.push(talk.notice("notifications/resources/updated").await["params"]["uri"].clone());
    }
}

#[tokio::test]
async fn costs_are_told_by_node_and_never_as_zero_when_unknown() {
    let bench = AgentWorkbenchFixture::new();
    bench.add_buckets(2);
    let service = service(&bench);
    let mut talk = Talk::modern(&service);
    let costs = talk.call("estimate_costs", json!({ "board": "main" })).await;
    let entry = &costs["data"][first_node(&bench).to_string()];
    assert_eq!(*entry, json!({ "monthly": null, "currency": "EUR", "basis": "unknown", "breakdown": {} }));
    assert_eq!(costs["meta"]["totals"]["unknown"], json!(2));
    assert!(costs["meta"]["totals"]["monthly"].is_null());
}

#[tokio::test]
async fn what_terraform_would_refuse_is_a_problem_too() {
    let bench = AgentWorkbenchFixture::new();
    bench.run(json!({ "addNode": {
        "board": "main", "type": "terraform/core/terraform_data", "name": "odd", "props": { "extra": "not hcl {" }
    } }));
    let service = service(&bench);
    let mut talk = Talk::modern(&service);
    let found = talk.call("validate_diagram", json!({})).await;
    assert_eq!(found["data"]["valid"], json!(false), "{found}");
}
