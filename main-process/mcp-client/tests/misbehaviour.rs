//! Tests of servers that crash, hang, flood, return false data and refuse to exit: none leaves a process, blocks
//! another server or has a wrong status.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, reason = "a test")]

mod common;

use common::{McpServiceFixture, fixture};
use mcp_client::{EnvVarConfig, ManagedServerConfig, ManagedServerStatus, SERVER_BACKOFF, ToolApprovalState};
use serde_json::json;
use shared_protocol::RefusalCode;
use std::time::Duration;
use test_support::wait_until_async;

fn is_running(status: Option<ManagedServerStatus>) -> bool {
    matches!(status, Some(ManagedServerStatus::Running { .. }))
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_crash_during_a_call_is_told_not_repeated_and_recovered_from() {
    let bench = McpServiceFixture::new();
    let tally = bench.folder.path().join("tally");
    let mut config = fixture("plain");
    config.env_vars.insert("TALLY".to_owned(), EnvVarConfig::plain("TALLY", &tally.to_string_lossy()));
    let id = bench.running(config).await;
    let failure = bench.call(id, "crash", json!({})).await.unwrap_err();
    assert_eq!(failure.code, RefusalCode::ServiceUnavailable);
    assert!(failure.message.contains("not retried"), "{failure}");
    let fell = |line: &String| line.contains("exited with code 7") && line.contains("about to fall over");
    bench.until("its fall is in the log", |service| service.log(id).unwrap().0.iter().any(fell)).await;
    bench.until("it runs again", |service| is_running(service.status(id))).await;
    assert_eq!(bench.text(id, "echo", json!({"text": "back"})).await, "back");
    assert_eq!(std::fs::read_to_string(tally).unwrap(), "crash\necho\n");
    bench.ends_clean().await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn who_crashes_again_and_again_is_given_up_until_a_person_starts_it() {
    let bench = McpServiceFixture::new();
    let id = bench.add(fixture("ends"));
    bench.service.launch_enabled();
    bench
        .until("it is backing off", |service| {
            matches!(service.status(id), Some(ManagedServerStatus::Backoff { .. }))
        })
        .await;
    bench
        .until("it is given up", |service| {
            matches!(service.status(id), Some(ManagedServerStatus::Error { .. }))
        })
        .await;
    let ManagedServerStatus::Error { message } = bench.status(id) else { panic!("{:?}", bench.status(id)) };
    for part in ["exited with code 3", "cannot work like this", "Gave up after 3 attempts"] {
        assert!(message.contains(part), "{message}");
    }
    assert_eq!(bench.service.start(id).await.unwrap_err().code, RefusalCode::ServiceUnavailable);
    bench.ends_clean().await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_call_that_hangs_is_cancelled_and_holds_up_nobody() {
    let bench = McpServiceFixture::new();
    let mut config = fixture("plain");
    config
        .tools
        .insert("hang".to_owned(), mcp_client::ToolSettings { idle_ms: Some(200), ..Default::default() });
    let id = bench.running(config).await;
    let hang = bench.call(id, "hang", json!({}));
    let echo = bench.call(id, "echo", json!({"text": "quick"}));
    let (hang, echo) = tokio::join!(hang, echo);
    assert!(echo.is_ok());
    let failure = hang.unwrap_err();
    assert_eq!(failure.code, RefusalCode::NetworkError);
    assert!(failure.message.contains("hang of plain took longer than 200 ms"), "{failure}");
    assert_eq!(bench.text(id, "cancelled", json!({})).await, "1");
    // One failing tool does not change the status of its server.
    assert!(is_running(bench.service.status(id)));
    bench.ends_clean().await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn whoever_stops_waiting_cancels_the_call() {
    let bench = McpServiceFixture::new();
    let id = bench.running(fixture("plain")).await;
    let arguments = json!({});
    let call = bench.service.call_tool(id, "hang", &arguments);
    assert!(tokio::time::timeout(Duration::from_millis(100), call).await.is_err());
    wait_until_async("the cancellation", async || bench.text(id, "cancelled", json!({})).await == "1").await;
    bench.ends_clean().await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn progress_is_passed_on_and_keeps_a_call_alive_up_to_its_total_time() {
    let bench = McpServiceFixture::new();
    let mut config = fixture("plain");
    config.limits.idle_ms = 600;
    config.limits.total_ms = 3_000;
    let id = bench.running(config).await;
    let (sender, mut receiver) = tokio::sync::mpsc::channel(64);
    let arguments = json!({"steps": 5, "ms": 250});
    let answer = bench.service.call_tool_with_progress(id, "steps", &arguments, Some(sender)).await;
    assert!(!answer.unwrap().is_error);
    let mut heard = Vec::new();
    while let Ok(progress) = receiver.try_recv() {
        heard.push((progress.progress, progress.message.unwrap()));
    }
    // The last notification and the result may arrive in either order.
    assert!(heard.len() >= 4, "{heard:?}");
    assert_eq!(heard[0], (1.0, "step 1".to_owned()));
    let failure = bench.call(id, "steps", json!({"steps": 200, "ms": 100})).await.unwrap_err();
    assert!(failure.message.contains("took longer than 3 s"), "{failure}");
    bench.ends_clean().await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn the_stubborn_and_their_children_are_killed() {
    let bench = McpServiceFixture::new();
    for mode in ["stubborn", "grandchild"] {
        let id = bench.running(fixture(mode)).await;
        bench.assert_processes(if mode == "grandchild" { 2 } else { 1 });
        bench.service.stop(id).await.unwrap();
        assert_eq!(bench.status(id), ManagedServerStatus::Stopped);
        bench.assert_nothing_left();
    }
    // Also when the server exits by itself and leaves a child.
    let id = bench.running(ManagedServerConfig { name: "orphans".to_owned(), ..fixture("grandchild") }).await;
    bench.call(id, "crash", json!({})).await.unwrap_err();
    let fell = |line: &String| line.contains("exited with code 7");
    bench.until("its fall is in the log", |service| service.log(id).unwrap().0.iter().any(fell)).await;
    bench.until("it runs again", |service| is_running(service.status(id))).await;
    bench.assert_processes(2);
    bench.ends_clean().await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn floods_and_junk_do_no_harm() {
    let bench = McpServiceFixture::new();
    for mode in ["flood", "junk"] {
        let id = bench.running(fixture(mode)).await;
        assert_eq!(bench.text(id, "echo", json!({"text": mode})).await, mode);
        let (log, _) = bench.service.log(id).unwrap();
        assert!(log.len() <= 400);
    }
    bench.ends_clean().await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn other_versions_are_refused_by_name_and_old_servers_are_asked_in_their_own_way() {
    let bench = McpServiceFixture::new();
    let id = bench.add(fixture("wrong-version"));
    let failure = bench.service.start(id).await.unwrap_err();
    assert_eq!(failure.code, RefusalCode::UnsupportedCapability);
    assert!(failure.message.contains("1999-01-01") && failure.message.contains("2025-11-25"), "{failure}");
    assert!(matches!(bench.status(id), ManagedServerStatus::Error { .. }));
    let old = bench.running(fixture("ends-at-discover")).await;
    assert_eq!(bench.text(old, "echo", json!({"text": "hello"})).await, "hello");
    assert_eq!(bench.service.details(old).unwrap().protocol.as_deref(), Some("2025-11-25"));
    bench.ends_clean().await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn large_answers_broken_promises_and_wrong_arguments_are_refused() {
    let bench = McpServiceFixture::new();
    let id = bench.running(fixture("plain")).await;
    let failure = bench.call(id, "big", json!({"bytes": 5_000_000})).await.unwrap_err();
    assert_eq!(failure.code, RefusalCode::LimitExceeded);
    assert_eq!(bench.text(id, "big", json!({"bytes": 1_000_000})).await.len(), 1_000_000);
    assert_eq!(bench.call(id, "right", json!({})).await.unwrap()["structuredContent"], json!({"n": 1}));
    let failure = bench.call(id, "wrong", json!({})).await.unwrap_err();
    assert_eq!(failure.code, RefusalCode::ServiceUnavailable);
    assert!(failure.message.contains("does not match its output schema"), "{failure}");
    let failure = bench.call(id, "echo", json!({"text": 42_424_242})).await.unwrap_err();
    assert_eq!(
        (failure.code, failure.field.as_deref()),
        (RefusalCode::ValidationError, Some("arguments.text"))
    );
    assert!(!failure.message.contains("42424242"), "{failure}");
    assert_eq!(bench.call(id, "echo", json!([1])).await.unwrap_err().code, RefusalCode::ValidationError);
    assert_eq!(bench.text(id, "calls", json!({})).await, r#"{"big": 2, "calls": 1, "right": 1, "wrong": 1}"#);
    // A line over the limit closes the connection immediately, so that the caller does not wait.
    let failure = bench.call(id, "big", json!({"bytes": 17 << 20})).await.unwrap_err();
    assert_eq!(failure.code, RefusalCode::ServiceUnavailable);
    bench.until("it runs again", |service| is_running(service.status(id))).await;
    bench.ends_clean().await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn questions_are_declined_at_once() {
    let bench = McpServiceFixture::new();
    let id = bench.running(fixture("plain")).await;
    assert_eq!(bench.text(id, "ask", json!({})).await, r#"{"action": "decline"}"#);
    bench.ends_clean().await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_changed_tool_is_hidden_until_a_person_has_seen_the_difference() {
    let bench = McpServiceFixture::new();
    let lists = bench.folder.path().join("lists");
    let mut config = fixture("plain");
    config.env_vars.insert("LISTS".to_owned(), EnvVarConfig::plain("LISTS", &lists.to_string_lossy()));
    let id = bench.add(config);
    bench.service.start(id).await.unwrap();
    assert!(matches!(bench.status(id), ManagedServerStatus::NeedsApproval { .. }));
    assert!(bench.service.available_tools().is_empty());
    assert_eq!(bench.call(id, "echo", json!({"text": "x"})).await.unwrap_err().code, RefusalCode::Conflict);
    bench.service.approve_all(id).unwrap();
    assert_eq!(bench.service.find_tool_provider("plain__echo"), Some(id));
    assert!(bench.service.available_tools().iter().all(|tool| tool.exposed.len() <= 64));

    let tool = |service: &mcp_client::ManagedServersService, name: &str| {
        service.tools(id).into_iter().find(|tool| tool.name == name)
    };
    bench.call(id, "change", json!({})).await.unwrap();
    bench.until("the change is seen", |service| tool(service, "fresh").is_some()).await;
    assert_eq!(bench.service.find_tool_provider("plain__echo"), None);
    assert_eq!(tool(&bench.service, "fresh").unwrap().approval, ToolApprovalState::New);
    let changed = tool(&bench.service, "echo").unwrap();
    let ToolApprovalState::Changed { differences } = &changed.approval else { panic!("{changed:?}") };
    assert_eq!(differences.len(), 1);
    assert_eq!(differences[0].path, "description");
    assert_eq!(bench.call(id, "echo", json!({"text": "x"})).await.unwrap_err().code, RefusalCode::Conflict);
    assert_eq!(bench.service.approve(id, "echo", "another").unwrap_err().code, RefusalCode::Conflict);
    bench.service.approve(id, "echo", &changed.hash).unwrap();
    assert_eq!(bench.text(id, "echo", json!({"text": "again"})).await, "again");
    // Twenty notifications cause one more request, or two when they arrive slowly.
    let asked = std::fs::read_to_string(&lists).unwrap().lines().count();
    assert!((2..=3).contains(&asked), "{asked}");
    bench.ends_clean().await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn twenty_start_at_once_and_one_that_is_stuck_holds_up_none() {
    let bench = McpServiceFixture::with(|setup| setup.backoff = SERVER_BACKOFF);
    let stuck = bench.add(fixture("silent"));
    let others: Vec<_> = (0..19)
        .map(|number| bench.add(ManagedServerConfig { name: format!("plain {number}"), ..fixture("plain") }))
        .collect();
    bench.service.launch_enabled();
    bench
        .until("nineteen are there", |service| {
            others.iter().all(|&id| service.status(id).unwrap().is_connected())
        })
        .await;
    assert!(matches!(bench.status(stuck), ManagedServerStatus::Starting { .. }), "{:?}", bench.status(stuck));
    assert_eq!(bench.processes().len(), 20);
    bench.ends_clean().await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_handshake_has_a_time_and_a_start_can_be_stopped() {
    let bench = McpServiceFixture::new();
    let mut config = fixture("silent");
    config.limits.handshake_ms = 300;
    let id = bench.add(config);
    let failure = bench.service.start(id).await.unwrap_err();
    assert_eq!(failure.code, RefusalCode::NetworkError);
    assert!(failure.message.starts_with("Handshake timed out"), "{failure}");
    bench.assert_nothing_left();

    let slow = bench.add(ManagedServerConfig { name: "slow".to_owned(), ..fixture("silent") });
    let service = bench.service.clone();
    let starting = tokio::spawn(async move { service.start(slow).await });
    bench
        .until("it is starting", |service| {
            matches!(service.status(slow), Some(ManagedServerStatus::Starting { .. }))
        })
        .await;
    bench.until_processes(1).await;
    bench.service.stop(slow).await.unwrap();
    assert_eq!(bench.processes(), Vec::<String>::new(), "whoever was answered finds nothing left");
    assert_eq!(starting.await.unwrap().unwrap_err().code, RefusalCode::Conflict);
    assert_eq!(bench.status(slow), ManagedServerStatus::Stopped);
    // A server deleted during its start: shutdown waits for it, too.
    let service = bench.service.clone();
    let starting = tokio::spawn(async move { service.start(slow).await });
    bench.until_processes(1).await;
    bench.service.delete(slow).unwrap();
    bench.service.shutdown_all().await.unwrap();
    assert_eq!(bench.processes(), Vec::<String>::new());
    assert_eq!(starting.await.unwrap().unwrap_err().code, RefusalCode::Conflict);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_server_that_ignores_the_newer_protocol_costs_its_time_once() {
    let bench = McpServiceFixture::new();
    let id = bench.add(fixture("ignores-discover"));
    bench.service.start(id).await.unwrap();
    bench.service.stop(id).await.unwrap();
    let marks = || std::fs::read_dir(bench.folder.path().join("data/older")).map_or(0, Iterator::count);
    assert_eq!(marks(), 1, "it is known from now on");
    // Faster than the detection of the legacy era takes.
    let mut config = bench.service.get(id).unwrap();
    config.limits.handshake_ms = 8_000;
    bench.service.update(config).unwrap();
    bench.service.start(id).await.unwrap();
    assert_eq!(bench.service.details(id).unwrap().protocol.as_deref(), Some("2025-11-25"));
    bench.service.stop(id).await.unwrap();
    let plain = bench.running(fixture("plain")).await;
    assert!(bench.status(plain).is_connected());
    assert_eq!(marks(), 1, "whoever answers at once is asked each time");
    bench.ends_clean().await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_held_request_that_ends_is_made_again_and_nothing_is_missed() {
    let bench = McpServiceFixture::new();
    let mut config = fixture("newer");
    config.args[0] = config.args[0].replace("server.py", "newer.py");
    let id = bench.add(config);
    bench.service.start(id).await.unwrap();
    assert_eq!(bench.service.details(id).unwrap().protocol.as_deref(), Some("2026-07-28"));
    bench.until("what changed while nothing was held is seen", |service| service.tools(id).len() >= 2).await;
    bench.until("what the next one told is seen", |service| service.tools(id).len() == 3).await;
    bench.ends_clean().await;
}
