//! Tests of third-party servers from npm and PyPI, over stdio and HTTP, in both protocol eras.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, reason = "a test")]

mod common;

use common::{McpServiceFixture, node_server, python_server, serve};
use mcp_client::{EnvVarConfig, HttpAuth, ManagedServerConfig, ManagedServerStatus, Secret};
use serde_json::json;
use shared_protocol::RefusalCode;
use std::{path::Path, process::Command};
use test_support::{free_port, requirements::mcp_servers, wait_until_async};

fn protocol(bench: &McpServiceFixture, id: uuid::Uuid) -> String {
    bench.service.details(id).unwrap().protocol.unwrap()
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn everything() {
    let Some(folder) = mcp_servers() else { return };
    let bench = McpServiceFixture::new();
    let id = bench.running(node_server(&folder, "mcp-server-everything", &["stdio"])).await;
    assert_eq!(protocol(&bench, id), "2025-11-25");
    let tools = bench.service.available_tools();
    assert!(tools.len() >= 10, "{tools:?}");
    assert_eq!(bench.text(id, "echo", json!({"message": "hello"})).await, "Echo: hello");
    assert!(bench.text(id, "get-sum", json!({"a": 2, "b": 3})).await.contains('5'));
    let structured = bench.call(id, "get-structured-content", json!({"location": "New York"})).await.unwrap();
    assert!(structured["structuredContent"]["temperature"].is_number(), "{structured}");
    let (sender, mut receiver) = tokio::sync::mpsc::channel(64);
    let arguments = json!({"duration": 1, "steps": 4});
    let tool = "trigger-long-running-operation";
    let answer = bench.service.call_tool_with_progress(id, tool, &arguments, Some(sender)).await.unwrap();
    assert!(!answer.is_error);
    assert!(receiver.try_recv().is_ok());
    let failure = bench.call(id, "get-sum", json!({"a": "two", "b": 3})).await.unwrap_err();
    assert_eq!((failure.code, failure.field.as_deref()), (RefusalCode::ValidationError, Some("arguments.a")));
    bench.ends_clean().await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn filesystem_twice_and_memory() {
    let Some(folder) = mcp_servers() else { return };
    let bench = McpServiceFixture::new();
    let mut files = Vec::new();
    for name in ["one", "two"] {
        let root = bench.folder.path().join(name);
        std::fs::create_dir(&root).unwrap();
        std::fs::write(root.join("note.txt"), format!("this is {name}")).unwrap();
        let root = root.to_str().unwrap();
        let config = ManagedServerConfig {
            name: "Files".to_owned(),
            ..node_server(&folder, "mcp-server-filesystem", &[root])
        };
        files.push((bench.running(config).await, format!("{root}/note.txt")));
    }
    for (id, path) in &files {
        assert!(bench.text(*id, "read_text_file", json!({"path": path})).await.starts_with("this is"));
    }
    assert_eq!(bench.service.find_tool_provider("files__read_text_file"), Some(files[0].0));
    assert_eq!(bench.service.find_tool_provider("files-2__read_text_file"), Some(files[1].0));
    let other = bench.call(files[0].0, "read_text_file", json!({"path": files[1].1})).await.unwrap();
    assert_eq!(other["isError"], true, "{other}");

    let mut config = node_server(&folder, "mcp-server-memory", &[]);
    let memory = bench.folder.path().join("memory.json");
    config.env_vars.insert(
        "MEMORY_FILE_PATH".to_owned(),
        EnvVarConfig::plain("MEMORY_FILE_PATH", memory.to_str().unwrap()),
    );
    let id = bench.running(config).await;
    let entity =
        json!({"entities": [{"name": "Draftboard", "entityType": "program", "observations": ["draws"]}]});
    bench.call(id, "create_entities", entity).await.unwrap();
    bench.service.restart(id).await.unwrap();
    assert!(bench.text(id, "read_graph", json!({})).await.contains("Draftboard"), "state outlives a restart");
    bench.ends_clean().await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn time_and_git_in_the_newer_era() {
    let Some(folder) = mcp_servers() else { return };
    let bench = McpServiceFixture::new();
    let time = bench.running(python_server(&folder, "mcp-server-time", &["--local-timezone=UTC"])).await;
    assert_eq!(protocol(&bench, time), "2026-07-28");
    assert!(bench.text(time, "get_current_time", json!({"timezone": "UTC"})).await.contains("UTC"));

    let repository = bench.folder.path().join("repository");
    let made = Command::new("git").args(["init", "--quiet"]).arg(&repository).status().unwrap();
    assert!(made.success());
    let path = repository.to_str().unwrap();
    let git = bench.running(python_server(&folder, "mcp-server-git", &["--repository", path])).await;
    let status = bench.text(git, "git_status", json!({"repo_path": path})).await;
    assert!(status.contains("No commits yet") || status.contains("nothing to commit"), "{status}");
    bench.ends_clean().await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn fastmcp_over_http_with_and_without_a_token() {
    let Some(folder) = mcp_servers() else { return };
    let bench = McpServiceFixture::new();
    let python = folder.join("venv/bin/python");
    let script = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/fixtures/fastmcp_http.py");
    let script = script.to_str().unwrap();
    let port = free_port();
    let serving = serve(&python, &[script, &port.to_string()], port);
    let id = bench
        .running(ManagedServerConfig::http("open", &format!("http://127.0.0.1:{port}/mcp"), HttpAuth::None))
        .await;
    assert_eq!(protocol(&bench, id), "2026-07-28");
    assert_eq!(
        bench.call(id, "add", json!({"a": 2, "b": 3})).await.unwrap()["structuredContent"]["result"],
        5
    );
    assert_eq!(bench.text(id, "steps", json!({})).await, "done");
    // The connection is lost, reported and restored.
    drop(serving);
    let failure = bench.call(id, "add", json!({"a": 2, "b": 3})).await.unwrap_err();
    assert_eq!(failure.code, RefusalCode::NetworkError, "{failure}");
    bench.until("the loss is seen", |service| !service.status(id).unwrap().is_connected()).await;
    let _serving = serve(&python, &[script, &port.to_string()], port);
    bench.service.start(id).await.unwrap();
    assert_eq!(
        bench.call(id, "add", json!({"a": 2, "b": 4})).await.unwrap()["structuredContent"]["result"],
        6
    );

    let port = free_port();
    let _guarded = serve(&python, &[script, &port.to_string(), "letmein-please"], port);
    let url = format!("http://127.0.0.1:{port}/mcp");
    let guarded = bench.add(ManagedServerConfig::http("guarded", &url, HttpAuth::None));
    let failure = bench.service.start(guarded).await.unwrap_err();
    assert!(failure.message.contains("rejected the credentials"), "{failure}");
    assert_eq!(
        bench.status(guarded),
        ManagedServerStatus::NeedsCredentials { missing: vec!["auth".to_owned()] }
    );
    bench.service.set_secret(guarded, "auth", &Secret::new("letmein-please").unwrap()).unwrap();
    bench.service.start(guarded).await.unwrap();
    bench.service.approve_all(guarded).unwrap();
    assert_eq!(
        bench.text(guarded, "echo", json!({"text": "it is letmein-please"})).await,
        "it is [redacted]"
    );
    bench.ends_clean().await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn everything_over_http_in_the_older_era_survives_a_lost_session() {
    let Some(folder) = mcp_servers() else { return };
    let bench = McpServiceFixture::new();
    let program = folder.join("node_modules/.bin/mcp-server-everything");
    let port = free_port();
    let serving = serve(&program, &["streamableHttp"], port);
    let id = bench
        .running(ManagedServerConfig::http("older", &format!("http://127.0.0.1:{port}/mcp"), HttpAuth::None))
        .await;
    assert_eq!(protocol(&bench, id), "2025-11-25");
    assert_eq!(bench.text(id, "echo", json!({"message": "one"})).await, "Echo: one");
    // The same URL and another process, which does not know the session.
    drop(serving);
    let _serving = serve(&program, &["streamableHttp"], port);
    wait_until_async("an answer of the other process", async || {
        let answer = bench.call(id, "echo", json!({"message": "two"})).await;
        answer.is_ok_and(|value| value["content"][0]["text"] == "Echo: two")
    })
    .await;
    bench.ends_clean().await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn nobody_there_says_so() {
    let bench = McpServiceFixture::new();
    let url = format!("http://127.0.0.1:{}/mcp", free_port());
    let id = bench.add(ManagedServerConfig::http("nobody", &url, HttpAuth::None));
    let failure = bench.service.start(id).await.unwrap_err();
    assert_eq!(failure.code, RefusalCode::NetworkError);
    assert!(failure.message.contains("refused"), "{failure}");
    assert!(matches!(bench.status(id), ManagedServerStatus::Error { .. }));
}
