//! The contract's rules against third-party servers. Each test is named after its rules and covers every server that
//! can show them:
//!
//! | Rule | Servers |
//! |---|---|
//! | MC-T1, T2, T3, T4, T9 | everything, filesystem, memory, time, git over stdio; FastMCP over HTTP, where nothing is started |
//! | MC-T5, T8 | all of them at once, filesystem twice, one that fails among them |
//! | MC-T6, T7 | everything, whose tool `get-env` returns its environment; FastMCP, which requires a bearer token |
//! | MC-NT1, NT2, NT3, NT4 | all of them |
//! | package types | npm by `npx` and PyPI in a virtual environment, fetched and then started |
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, reason = "a test")]

mod common;

use common::{McpServiceFixture, node_server, python_server, serve};
use mcp_client::{
    EnvVarConfig, HttpAuth, ManagedServerConfig, ManagedServerSource, ManagedServerStatus,
    ManagedServersSetup, Secret,
};
use serde_json::{Value, json};
use shared_protocol::{
    RefusalCode,
    managed_servers::{PackageKind, StartPhase},
};
use std::{
    path::{Path, PathBuf},
    process::Command,
};
use test_support::{
    KilledOnDrop, free_port,
    requirements::{PACKAGES, mcp_servers},
};
use uuid::Uuid;

/// A server and a call that shows that it works.
struct Real {
    config: ManagedServerConfig,
    tool: &'static str,
    arguments: Value,
    /// A text that the answer contains.
    answers: &'static str,
    /// The minimum number of its processes.
    processes: usize,
}

/// All servers with their working folder. FastMCP runs as long as `_fastmcp` is held.
struct All {
    bench: McpServiceFixture,
    real: Vec<Real>,
    _fastmcp: KilledOnDrop,
}

fn named(name: &str, config: ManagedServerConfig) -> ManagedServerConfig {
    ManagedServerConfig { name: name.to_owned(), ..config }
}

fn fastmcp(folder: &Path, token: Option<&str>) -> (KilledOnDrop, String) {
    let script = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/fixtures/fastmcp_http.py");
    let port = free_port();
    let mut arguments = vec![script.to_str().unwrap().to_owned(), port.to_string()];
    arguments.extend(token.map(str::to_owned));
    let arguments: Vec<&str> = arguments.iter().map(String::as_str).collect();
    let serving = serve(&folder.join("venv/bin/python"), &arguments, port);
    (serving, format!("http://127.0.0.1:{port}/mcp"))
}

fn all() -> Option<All> {
    let folder = mcp_servers()?;
    let bench = McpServiceFixture::new();
    let place = |name: &str| -> PathBuf {
        let path = bench.folder.path().join(name);
        std::fs::create_dir_all(&path).unwrap();
        path
    };
    let mut real = Vec::new();
    let mut add = |config, tool, arguments, answers, processes| {
        real.push(Real { config, tool, arguments, answers, processes });
    };
    let everything = node_server(&folder, "mcp-server-everything", &["stdio"]);
    add(named("everything", everything), "echo", json!({"message": "hello"}), "Echo: hello", 1);
    for name in ["one", "two"] {
        let root = place(name);
        std::fs::write(root.join("note.txt"), "a note").unwrap();
        let root = root.to_str().unwrap();
        let config = named("files", node_server(&folder, "mcp-server-filesystem", &[root]));
        add(config, "read_text_file", json!({"path": format!("{root}/note.txt")}), "a note", 1);
    }
    let mut memory = named("memory", node_server(&folder, "mcp-server-memory", &[]));
    let kept = bench.folder.path().join("memory.json");
    let variable = EnvVarConfig::plain("MEMORY_FILE_PATH", kept.to_str().unwrap());
    memory.env_vars.insert("MEMORY_FILE_PATH".to_owned(), variable);
    add(memory, "read_graph", json!({}), "entities", 1);
    let time = python_server(&folder, "mcp-server-time", &["--local-timezone=UTC"]);
    add(named("time", time), "get_current_time", json!({"timezone": "UTC"}), "UTC", 1);
    let repository = place("repository");
    assert!(Command::new("git").args(["init", "--quiet"]).arg(&repository).status().unwrap().success());
    let path = repository.to_str().unwrap().to_owned();
    let git = python_server(&folder, "mcp-server-git", &["--repository", &path]);
    add(named("git", git), "git_status", json!({"repo_path": path}), "Repository status", 1);
    let (serving, url) = fastmcp(&folder, None);
    add(
        ManagedServerConfig::http("fastmcp", &url, HttpAuth::None),
        "echo",
        json!({"text": "hello"}),
        "hello",
        0,
    );
    Some(All { bench, real, _fastmcp: serving })
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn mc_t1_t2_t3_t4_t9_each_is_started_used_and_stopped_and_its_status_is_true() {
    let Some(All { bench, real, _fastmcp }) = all() else { return };
    for Real { config, tool, arguments, answers, processes } in real {
        let name = config.name.clone();
        let id = bench.add(config);
        assert_eq!(bench.status(id), ManagedServerStatus::Stopped, "{name}");
        assert!(bench.processes().is_empty(), "{name}");
        bench.service.start(id).await.unwrap_or_else(|failure| panic!("{name}: {failure:?}"));
        // T1: its processes run; T9: the status reports it.
        let running = bench.processes().len();
        assert!(
            if processes == 0 { running == 0 } else { running >= processes },
            "{name}: {:?}",
            bench.processes()
        );
        assert!(
            matches!(bench.status(id), ManagedServerStatus::NeedsApproval { .. }),
            "{name}: {:?}",
            bench.status(id)
        );
        // T3.
        bench.service.approve_all(id).unwrap();
        let ManagedServerStatus::Running { tools } = bench.status(id) else {
            panic!("{name}: {:?}", bench.status(id))
        };
        let slug = bench.service.get(id).unwrap().slug;
        assert!(tools.contains(&format!("{slug}__{tool}")), "{name}: {tools:?}");
        assert_eq!(bench.service.available_tools().len(), tools.len(), "{name}");
        // T4.
        let text = bench.text(id, tool, arguments.clone()).await;
        assert!(text.contains(answers), "{name}: {text}");
        // T2.
        bench.service.stop(id).await.unwrap();
        assert_eq!(bench.processes(), Vec::<String>::new(), "{name}");
        assert_eq!(bench.status(id), ManagedServerStatus::Stopped, "{name}");
        assert!(bench.service.available_tools().is_empty(), "{name}");
        let failure = bench.call(id, tool, arguments).await.unwrap_err();
        assert_eq!(failure.code, RefusalCode::ServiceUnavailable, "{name}");
        bench.service.delete(id).unwrap();
    }
    bench.ends_clean().await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn mc_t5_t8_a_failed_one_does_not_block_others_and_shutdown_stops_all() {
    let Some(All { bench, real, _fastmcp }) = all() else { return };
    let folder = mcp_servers().unwrap();
    // Git exits immediately on an unknown option.
    let nowhere = bench.folder.path().join("nowhere");
    let failing = python_server(&folder, "mcp-server-git", &["--no-such-option", nowhere.to_str().unwrap()]);
    let failing = bench.add(named("failing", failing));
    let ids: Vec<Uuid> = real.iter().map(|real| bench.add(real.config.clone())).collect();
    bench.service.launch_enabled();
    bench
        .until("all others run and the failing one is given up", |service| {
            ids.iter().all(|&id| service.status(id).unwrap().is_connected())
                && matches!(service.status(failing), Some(ManagedServerStatus::Error { .. }))
        })
        .await;
    for (id, Real { tool, arguments, answers, .. }) in ids.iter().zip(real) {
        bench.service.approve_all(*id).unwrap();
        assert!(bench.text(*id, tool, arguments).await.contains(answers), "{tool}");
    }
    let slugs: Vec<String> = ids.iter().map(|&id| bench.service.get(id).unwrap().slug).collect();
    assert!(slugs.contains(&"files".to_owned()) && slugs.contains(&"files-2".to_owned()), "{slugs:?}");
    assert!(bench.service.available_tools().iter().all(|tool| tool.server != failing));
    bench.service.shutdown_all().await.unwrap();
    assert_eq!(bench.processes(), Vec::<String>::new());
    assert!(ids.iter().all(|&id| bench.status(id) == ManagedServerStatus::Stopped));
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn mc_t6_t7_variables_are_set_and_secrets_come_from_the_store() {
    let Some(folder) = mcp_servers() else { return };
    let bench = McpServiceFixture::new();
    let mut config = node_server(&folder, "mcp-server-everything", &["stdio"]);
    config.env_vars.insert("REGION".to_owned(), EnvVarConfig::plain("REGION", "north-by-northwest"));
    config.env_vars.insert("API_KEY".to_owned(), EnvVarConfig::secret("API_KEY", "somewhere"));
    let id = bench.add(config);
    assert_eq!(bench.service.start(id).await.unwrap_err().code, RefusalCode::ValidationError);
    assert_eq!(
        bench.status(id),
        ManagedServerStatus::NeedsCredentials { missing: vec!["API_KEY".to_owned()] }
    );
    bench.service.set_secret(id, "API_KEY", &Secret::new("hunter2-hunter2").unwrap()).unwrap();
    bench.service.start(id).await.unwrap();
    bench.service.approve_all(id).unwrap();
    let told = bench.text(id, "get-env", json!({})).await;
    assert!(told.contains("north-by-northwest"), "{told}");
    // The secret arrived and is redacted in the answer.
    assert!(told.contains("API_KEY") && told.contains("[redacted]") && !told.contains("hunter2"), "{told}");
    let (_serving, url) = fastmcp(&folder, Some("letmein-please"));
    let auth = HttpAuth::Bearer { secret_ref: "somewhere-else".to_owned() };
    let guarded = bench.add(ManagedServerConfig::http("guarded", &url, auth));
    assert_eq!(bench.service.start(guarded).await.unwrap_err().code, RefusalCode::ValidationError);
    bench.service.set_secret(guarded, "auth", &Secret::new("letmein-please").unwrap()).unwrap();
    bench.service.start(guarded).await.unwrap();
    bench.ends_clean().await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn mc_nt1_nt2_nt3_nt4_what_must_not_be_done_is_not_done_with_any_of_them() {
    let Some(All { bench, real, _fastmcp }) = all() else { return };
    for Real { config, tool, arguments, .. } in real {
        let name = config.name.clone();
        // NT1.
        let id = bench.add(ManagedServerConfig { enabled: false, id: Uuid::new_v4(), ..config.clone() });
        assert_eq!(bench.service.start(id).await.unwrap_err().code, RefusalCode::Conflict, "{name}");
        assert_eq!(bench.status(id), ManagedServerStatus::Disabled, "{name}");
        assert!(bench.processes().is_empty(), "{name}");
        bench.service.delete(id).unwrap();
        // NT2: also while a server that has the tool runs.
        let id = bench.running(ManagedServerConfig { id: Uuid::new_v4(), ..config.clone() }).await;
        let nobody = Uuid::new_v4();
        assert_eq!(
            bench.call(nobody, tool, arguments).await.unwrap_err().code,
            RefusalCode::NotFound,
            "{name}"
        );
        bench.service.delete(id).unwrap();
        bench.service.shutdown_all().await.unwrap();
        // NT3.
        let nameless = ManagedServerConfig { id: Uuid::new_v4(), name: " ".to_owned(), ..config.clone() };
        let failure = bench.service.create(nameless).unwrap_err();
        assert_eq!(
            (failure.code, failure.field.as_deref()),
            (RefusalCode::ValidationError, Some("name")),
            "{name}"
        );
        // NT4.
        let mut asking = ManagedServerConfig { id: Uuid::new_v4(), ..config };
        asking.source = ManagedServerSource::Official { name: name.clone(), version: "1".to_owned() };
        let field = match &mut asking.transport {
            mcp_client::ManagedServerTransport::Http { auth, .. } => {
                *auth = HttpAuth::Bearer { secret_ref: "not-there".to_owned() };
                "transport.auth"
            }
            mcp_client::ManagedServerTransport::Stdio => {
                asking.env_vars.insert("TOKEN".to_owned(), EnvVarConfig::secret("TOKEN", "not-there"));
                "env_vars.TOKEN"
            }
        };
        let failure = bench.service.create(asking).unwrap_err();
        assert_eq!(
            (failure.code, failure.field.as_deref()),
            (RefusalCode::ValidationError, Some(field)),
            "{name}"
        );
        assert!(failure.message.starts_with("Missing required credentials"), "{failure}");
        assert!(bench.service.list().is_empty() && bench.reopened().list().is_empty(), "{name}");
    }
    bench.ends_clean().await;
}

/// A service with its own home, so that packages are fetched there.
fn at_home() -> (McpServiceFixture, tempfile::TempDir) {
    let home = tempfile::tempdir().unwrap();
    let path = home.path().to_owned();
    let bench = McpServiceFixture::with(|setup: &mut ManagedServersSetup| {
        for (name, value) in &mut setup.environment {
            if name == "HOME" {
                *value = path.clone().into_os_string();
            }
        }
    });
    (bench, home)
}

/// Starts a server and checks that its package is fetched first. Prints a message and returns `None` when the package
/// is not available.
async fn fetched_and_started(bench: &McpServiceFixture, config: ManagedServerConfig) -> Option<Uuid> {
    let id = bench.add(config);
    let service = bench.service.clone();
    let starting = tokio::spawn(async move { service.start(id).await });
    let installing = ManagedServerStatus::Starting { phase: StartPhase::Installing };
    bench.until("it is being fetched", |service| service.status(id).as_ref() == Some(&installing)).await;
    match starting.await.unwrap() {
        Ok(()) => Some(id),
        Err(failure) => {
            let (log, _) = bench.service.log(id).unwrap();
            let is_offline = [
                "ENOTFOUND",
                "EAI_AGAIN",
                "ECONNREFUSED",
                "ETIMEDOUT",
                "NameResolutionError",
                "NewConnectionError",
            ];
            let is_offline = log.iter().any(|line| is_offline.iter().any(|sign| line.contains(sign)));
            assert!(is_offline, "{failure:?} {log:?}");
            PACKAGES.skip(&failure.to_string());
            None
        }
    }
}

/// Returns the version of an installed package.
fn version_of(package: &str) -> String {
    let file: Value = serde_json::from_str(include_str!("servers/package.json")).unwrap();
    file["dependencies"][package].as_str().unwrap().to_owned()
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn an_npm_package_is_fetched_by_npx_and_started_without_the_network() {
    if mcp_servers().is_none() {
        return;
    }
    let (bench, _home) = at_home();
    let package = "@modelcontextprotocol/server-sequential-thinking";
    let identifier = format!("{package}@{}", version_of("@modelcontextprotocol/server-everything"));
    let config = ManagedServerConfig::stdio("thinking", PackageKind::Npm, &identifier);
    let Some(id) = fetched_and_started(&bench, config).await else { return };
    bench.service.approve_all(id).unwrap();
    let thought =
        json!({"thought": "one", "nextThoughtNeeded": false, "thoughtNumber": 1, "totalThoughts": 1});
    assert!(bench.text(id, "sequentialthinking", thought).await.contains("thoughtNumber"));
    let (log, _) = bench.service.log(id).unwrap();
    assert!(log.iter().any(|line| line.contains(&format!("npx --yes --package {identifier}"))), "{log:?}");
    // A fetched package is not fetched again.
    bench.service.restart(id).await.unwrap();
    let (log, _) = bench.service.log(id).unwrap();
    assert_eq!(log.iter().filter(|line| line.contains("npx --yes --package")).count(), 1, "{log:?}");
    bench.ends_clean().await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_pypi_package_is_fetched_into_an_environment_of_its_own_and_started_there() {
    if mcp_servers().is_none() {
        return;
    }
    let (bench, _home) = at_home();
    let wanted = include_str!("servers/requirements.txt");
    let identifier = wanted.lines().find(|line| line.starts_with("mcp-server-time")).unwrap().trim();
    let mut config = ManagedServerConfig::stdio("time", PackageKind::Pypi, identifier);
    config.package.runtime_hint = Some("venv".to_owned());
    config.args = vec!["--local-timezone=UTC".to_owned()];
    let Some(id) = fetched_and_started(&bench, config).await else { return };
    bench.service.approve_all(id).unwrap();
    assert!(bench.text(id, "get_current_time", json!({"timezone": "UTC"})).await.contains("UTC"));
    let inside = bench.folder.path().join("data/pypi");
    assert!(
        bench.processes().iter().any(|line| line.contains(inside.to_str().unwrap())),
        "{:?}",
        bench.processes()
    );
    bench.ends_clean().await;
}
