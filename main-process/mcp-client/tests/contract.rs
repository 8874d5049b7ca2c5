//! The contract's rules MC-T1 to T9 and MC-NT1 to NT4 against small fixture servers, which show more than others do.
//! `contract_real.rs` tests the rules by number against third-party servers.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, reason = "a test")]

mod common;

use common::{McpServiceFixture, fixture};
use mcp_client::{EnvVarConfig, ManagedServerConfig, ManagedServerStatus, Secret};
use serde_json::json;
use shared_protocol::{RefusalCode, managed_servers::PackageKind};
use uuid::Uuid;

/// MC-T1, T2, T3, T4 and T9.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_server_is_started_used_and_stopped_and_its_status_is_true() {
    let bench = McpServiceFixture::new();
    let id = bench.add(fixture("plain"));
    assert_eq!(bench.status(id), ManagedServerStatus::Stopped);
    assert!(bench.processes().is_empty());
    bench.service.start(id).await.unwrap();
    assert_eq!(bench.processes().len(), 1);
    bench.service.approve_all(id).unwrap();
    let ManagedServerStatus::Running { tools } = bench.status(id) else { panic!("{:?}", bench.status(id)) };
    assert_eq!(tools.len(), 13);
    assert!(tools.contains(&"plain__echo".to_owned()), "{tools:?}");
    assert_eq!(bench.service.available_tools().len(), 13);
    assert_eq!(bench.text(id, "echo", json!({"text": "hello"})).await, "hello");
    assert_eq!(
        bench.text(id, "plain__echo", json!({"text": "by its other name"})).await,
        "by its other name"
    );
    let odd = bench.service.available_tools().into_iter().find(|tool| tool.name.starts_with("odd")).unwrap();
    assert_eq!(bench.text(id, &odd.exposed, json!({"text": "odd"})).await, "odd");
    bench.service.start(id).await.unwrap();
    assert_eq!(bench.processes().len(), 1, "starting what runs starts nothing");
    bench.service.stop(id).await.unwrap();
    assert_eq!(bench.status(id), ManagedServerStatus::Stopped);
    bench.assert_nothing_left();
    assert!(bench.service.available_tools().is_empty());
    assert_eq!(
        bench.call(id, "echo", json!({"text": "x"})).await.unwrap_err().code,
        RefusalCode::ServiceUnavailable
    );
    bench.service.restart(id).await.unwrap();
    assert!(bench.status(id).is_connected());
    bench.ends_clean().await;
}

/// MC-T5 and T8.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_failure_is_its_own_and_shutdown_leaves_nothing() {
    let bench = McpServiceFixture::new();
    let bad = bench.add(fixture("ends"));
    let missing = bench.add(ManagedServerConfig::stdio("missing", PackageKind::Binary, "/no/such/program"));
    let good = bench.running(fixture("plain")).await;
    let twin = bench.running(fixture("plain")).await;
    assert_eq!(bench.service.start(bad).await.unwrap_err().code, RefusalCode::ServiceUnavailable);
    let failure = bench.service.start(missing).await.unwrap_err();
    assert_eq!(failure.code, RefusalCode::NotFound);
    assert!(failure.message.starts_with("Package not found"), "{failure}");
    assert!(matches!(bench.status(bad), ManagedServerStatus::Error { .. }));
    let names: Vec<String> = bench.service.available_tools().into_iter().map(|tool| tool.exposed).collect();
    assert_eq!(names.len(), 26);
    assert_eq!(bench.service.find_tool_provider("plain__echo"), Some(good));
    assert_eq!(bench.service.find_tool_provider("plain-2__echo"), Some(twin));
    assert_eq!(bench.text(twin, "echo", json!({"text": "twin"})).await, "twin");
    bench.service.shutdown_all().await.unwrap();
    assert_eq!(
        (bench.status(good), bench.status(twin)),
        (ManagedServerStatus::Stopped, ManagedServerStatus::Stopped)
    );
    bench.assert_nothing_left();
}

/// MC-T6 and T7.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn variables_and_secrets_arrive_and_secrets_are_not_told() {
    let bench = McpServiceFixture::new();
    let mut config = fixture("plain");
    config.env_vars.insert("REGION".to_owned(), EnvVarConfig::plain("REGION", "north"));
    config.env_vars.insert("API_KEY".to_owned(), EnvVarConfig::secret("API_KEY", "somewhere"));
    let id = bench.add(config);
    let failure = bench.service.start(id).await.unwrap_err();
    assert_eq!(failure.code, RefusalCode::ValidationError);
    assert!(failure.message.starts_with("Missing required credentials: API_KEY"), "{failure}");
    assert_eq!(
        bench.status(id),
        ManagedServerStatus::NeedsCredentials { missing: vec!["API_KEY".to_owned()] }
    );
    assert!(bench.processes().is_empty());

    bench.service.set_secret(id, "API_KEY", &Secret::new("hunter2-hunter2").unwrap()).unwrap();
    bench.service.start(id).await.unwrap();
    bench.service.approve_all(id).unwrap();
    assert_eq!(bench.text(id, "env", json!({"name": "REGION"})).await, "north");
    assert_eq!(bench.text(id, "env", json!({"name": "API_KEY"})).await, "[redacted]");
    let (log, _) = bench.service.log(id).unwrap();
    assert!(log.contains(&"telling [redacted]".to_owned()), "{log:?}");
    // Only the secrets file contains the secret, and no command line shows it.
    let config = std::fs::read_to_string(bench.folder.path().join("config/upstreams.json")).unwrap();
    let everything = format!("{config}{:?}{log:?}{:?}", bench.service.list(), bench.processes());
    assert!(!everything.contains("hunter2"), "{everything}");
    assert!(bench.service.secrets_place().contains("secrets.json"));

    bench.service.delete(id).unwrap();
    bench.service.shutdown_all().await.unwrap();
    bench.assert_nothing_left();
    assert!(
        !std::fs::read_to_string(bench.folder.path().join("config/secrets.json"))
            .unwrap()
            .contains("hunter2")
    );
}

/// MC-NT1 and NT2.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn what_is_disabled_or_unknown_is_not_touched() {
    let bench = McpServiceFixture::new();
    let id = bench.add(ManagedServerConfig { enabled: false, ..fixture("plain") });
    assert_eq!(bench.status(id), ManagedServerStatus::Disabled);
    assert_eq!(bench.service.start(id).await.unwrap_err().code, RefusalCode::Conflict);
    assert_eq!(bench.status(id), ManagedServerStatus::Disabled);
    assert!(bench.processes().is_empty());
    let nobody = Uuid::new_v4();
    assert_eq!(bench.call(nobody, "echo", json!({})).await.unwrap_err().code, RefusalCode::NotFound);
    assert_eq!(bench.service.start(nobody).await.unwrap_err().code, RefusalCode::NotFound);
    assert_eq!(bench.service.delete(nobody).unwrap_err().code, RefusalCode::NotFound);
    assert_eq!(bench.service.status(nobody), None);
}

/// MC-NT3 and NT4.
#[tokio::test]
async fn what_is_not_valid_is_not_saved() {
    let bench = McpServiceFixture::new();
    let failure =
        bench.service.create(ManagedServerConfig { name: " ".to_owned(), ..fixture("plain") }).unwrap_err();
    assert_eq!((failure.code, failure.field.as_deref()), (RefusalCode::ValidationError, Some("name")));
    assert_eq!(failure.message, "Name is required");
    let mut config = fixture("plain");
    let required = EnvVarConfig { required: true, is_secret: true, ..EnvVarConfig::default() };
    config.env_vars.insert("TOKEN".to_owned(), required);
    let failure = bench.service.create(config).unwrap_err();
    assert_eq!(
        (failure.code, failure.field.as_deref()),
        (RefusalCode::ValidationError, Some("env_vars.TOKEN"))
    );
    assert!(bench.service.list().is_empty() && bench.reopened().list().is_empty());
    let json = serde_json::to_value(&failure).unwrap();
    assert_eq!(json["code"], "VALIDATION_ERROR");
    let missing =
        ManagedServerConfig::from_json(&json!({"name": "x", "package": {"type": "npm", "identifier": "y"}}))
            .unwrap_err();
    assert_eq!(
        (missing.message.as_str(), missing.field.as_deref()),
        ("Transport required", Some("transport"))
    );
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_toggle_that_fails_is_taken_back() {
    let bench = McpServiceFixture::new();
    let bad = bench.add(ManagedServerConfig { enabled: false, ..fixture("ends") });
    assert_eq!(bench.service.toggle(bad, true).await.unwrap_err().code, RefusalCode::ServiceUnavailable);
    assert!(!bench.service.get(bad).unwrap().enabled);
    assert!(!bench.reopened().get(bad).unwrap().enabled);
    assert_eq!(bench.status(bad), ManagedServerStatus::Disabled);
    assert!(bench.service.details(bad).unwrap().last_failure.is_some());

    let good = bench.add(ManagedServerConfig { enabled: false, ..fixture("plain") });
    bench.service.toggle(good, true).await.unwrap();
    assert!(bench.status(good).is_connected() && bench.reopened().get(good).unwrap().enabled);
    bench.service.toggle(good, false).await.unwrap();
    assert_eq!(bench.status(good), ManagedServerStatus::Disabled);
    bench.assert_nothing_left();
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_change_of_what_runs_starts_it_anew_and_other_changes_do_not() {
    let bench = McpServiceFixture::new();
    let id = bench.running(fixture("plain")).await;
    let before = bench.text(id, "calls", json!({})).await;
    assert_eq!(before, r#"{"calls": 1}"#);
    let config = bench.service.get(id).unwrap();
    bench.service.update(ManagedServerConfig { name: "Renamed".to_owned(), ..config.clone() }).unwrap();
    assert_eq!(bench.text(id, "calls", json!({})).await, r#"{"calls": 2}"#);
    assert_eq!(
        bench.service.find_tool_provider("plain__echo"),
        Some(id),
        "names of tools outlive the server's"
    );
    let mut other = bench.service.get(id).unwrap();
    other.env_vars.insert("NEW".to_owned(), EnvVarConfig::plain("NEW", "yes"));
    bench.service.update(other).unwrap();
    bench
        .until("it has been started anew", |service| {
            matches!(service.status(id), Some(ManagedServerStatus::Starting { .. }))
        })
        .await;
    bench
        .until("it runs", |service| matches!(service.status(id), Some(ManagedServerStatus::Running { .. })))
        .await;
    assert_eq!(bench.text(id, "env", json!({"name": "NEW"})).await, "yes");
    // A disabled tool is neither listed nor called.
    let mut off = bench.service.get(id).unwrap();
    off.tools.insert("echo".to_owned(), mcp_client::ToolSettings { enabled: false, ..Default::default() });
    bench.service.update(off).unwrap();
    assert_eq!(bench.service.find_tool_provider("plain__echo"), None);
    assert_eq!(bench.call(id, "echo", json!({"text": "x"})).await.unwrap_err().code, RefusalCode::Conflict);
    bench.ends_clean().await;
}

#[tokio::test]
async fn servers_of_other_programs_are_taken_over_with_their_secrets_and_without_being_started() {
    let bench = McpServiceFixture::new();
    let text = r#"{"mcpServers": {"GitHub": {"command": "npx", "args": ["-y", "@scope/github"], "env": {"TOKEN": "hunter2-hunter2"}}}}"#;
    let found = mcp_client::import(text).unwrap();
    let server = &found.servers[0];
    let created = bench.service.create_with_secrets(server.config.clone(), &server.secrets).unwrap();
    assert_eq!((created.slug.as_str(), created.enabled), ("github", false));
    assert!(bench.reopened().get(created.id).unwrap().env_vars["TOKEN"].secret_ref.is_some());
    assert!(
        std::fs::read_to_string(bench.folder.path().join("config/secrets.json")).unwrap().contains("hunter2")
    );
    assert!(
        !std::fs::read_to_string(bench.folder.path().join("config/upstreams.json"))
            .unwrap()
            .contains("hunter2")
    );

    // A registry configuration cannot be saved before its required values are given.
    let index = bench.folder.path().join("index.json");
    let package = json!({"registryType": "npm", "identifier": "clock", "environmentVariables": [{"name": "KEY", "isRequired": true, "isSecret": true}]});
    std::fs::write(
        &index,
        json!({"servers": [{"server": {"name": "a/clock", "packages": [package]}}]}).to_string(),
    )
    .unwrap();
    let offer = mcp_client::search_registry(index.to_str().unwrap(), "clock")
        .await
        .unwrap()
        .remove(0)
        .offers
        .remove(0);
    let failure = bench.service.create(offer.config.clone()).unwrap_err();
    assert_eq!(
        (failure.code, failure.field.as_deref()),
        (RefusalCode::ValidationError, Some("env_vars.KEY"))
    );
    // Nor with a reference to a missing secret.
    let mut referring = offer.config.clone();
    referring.refer_to_own_secret("KEY");
    let failure = bench.service.create_with_secrets(referring.clone(), &[]).unwrap_err();
    assert_eq!(
        (failure.code, failure.field.as_deref()),
        (RefusalCode::ValidationError, Some("env_vars.KEY"))
    );
    assert_eq!(bench.service.list().len(), 1, "nothing was kept");
    // In a manual configuration it may be given later.
    referring.source = mcp_client::ManagedServerSource::Manual;
    let later = bench.service.create_with_secrets(referring, &[]).unwrap();
    bench.service.delete(later.id).unwrap();
    let secrets = [("KEY".to_owned(), Secret::new("hunter3-hunter3").unwrap())];
    bench.service.create_with_secrets(offer.config, &secrets).unwrap();
    assert_eq!(bench.service.list().len(), 2);
}
