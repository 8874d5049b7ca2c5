//! Tests of package types: the fetch and start commands of each, recorded by fake runners.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, reason = "a test")]

mod common;

use common::McpServiceFixture;
use mcp_client::{EnvVarConfig, ManagedServerConfig, ManagedServerStatus, ManagedServersSetup, Secret};
use serde_json::json;
use shared_protocol::{
    RefusalCode,
    managed_servers::{PackageKind, StartPhase},
};
use std::{fs, os::unix::fs::PermissionsExt as _, path::Path};

/// Puts a folder of programs in front of PATH. Each records its arguments, then runs `body`.
fn with_programs(programs: &[(&str, &str)]) -> (McpServiceFixture, tempfile::TempDir) {
    let folder = tempfile::tempdir().unwrap();
    let fixture = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/fixtures/server.py");
    for (name, body) in programs {
        let path = folder.path().join(name);
        let log = folder.path().join("calls");
        let text = format!(
            "#!/bin/sh\necho \"{name} $*\" >> '{}'\nSERVER='exec python3 {} plain'\n{body}\n",
            log.display(),
            fixture.display()
        );
        fs::write(&path, text).unwrap();
        fs::set_permissions(&path, fs::Permissions::from_mode(0o755)).unwrap();
    }
    let front = folder.path().to_owned();
    let bench = McpServiceFixture::with(|setup: &mut ManagedServersSetup| {
        for (name, value) in &mut setup.environment {
            if name == "PATH" {
                let mut paths = vec![front.clone()];
                paths.extend(std::env::split_paths(&value));
                *value = std::env::join_paths(paths).unwrap();
            }
        }
    });
    (bench, folder)
}

fn calls(folder: &tempfile::TempDir) -> Vec<String> {
    fs::read_to_string(folder.path().join("calls")).unwrap_or_default().lines().map(str::to_owned).collect()
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn npm_packages_are_fetched_once_and_started_without_the_network() {
    let npx = "case \"$*\" in *--offline*) $SERVER;; esac";
    let (bench, folder) = with_programs(&[("npx", npx)]);
    let mut config = ManagedServerConfig::stdio("time", PackageKind::Npm, "@scope/time@1.2.3");
    config.args = vec!["--zone".to_owned(), "a b".to_owned()];
    let id = bench.running(config).await;
    assert_eq!(bench.text(id, "echo", json!({"text": "x"})).await, "x");
    bench.service.restart(id).await.unwrap();
    let fetch = "npx --yes --package @scope/time@1.2.3 -- node --version";
    let start = "npx --yes --offline -- @scope/time@1.2.3 --zone a b";
    assert_eq!(calls(&folder), [fetch, start, start]);
    bench.ends_clean().await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn fetching_is_a_step_that_is_seen_that_fails_for_itself_and_that_can_be_stopped() {
    let npx = "case \"$*\" in *missing*) echo 'npm error code E404' >&2; exit 1;; *slow*) sleep 600;; *) exit 9;; esac";
    let (bench, _folder) = with_programs(&[("npx", npx)]);
    let missing = bench.add(ManagedServerConfig::stdio("missing", PackageKind::Npm, "missing"));
    let failure = bench.service.start(missing).await.unwrap_err();
    assert_eq!((failure.code, failure.field.as_deref()), (RefusalCode::NotFound, Some("package.identifier")));
    assert!(failure.message.starts_with("Package not found"), "{failure}");
    let other = bench.add(ManagedServerConfig::stdio("other", PackageKind::Npm, "other"));
    let failure = bench.service.start(other).await.unwrap_err();
    assert!(failure.message.contains("Fetching the package failed: npx exited with code 9"), "{failure}");

    let slow = bench.add(ManagedServerConfig::stdio("slow", PackageKind::Npm, "slow"));
    let service = bench.service.clone();
    let starting = tokio::spawn(async move { service.start(slow).await });
    let installing = ManagedServerStatus::Starting { phase: StartPhase::Installing };
    bench.until("it is being fetched", |service| service.status(slow).as_ref() == Some(&installing)).await;
    bench.service.stop(slow).await.unwrap();
    assert_eq!(bench.processes(), Vec::<String>::new(), "whoever was answered finds nothing left");
    assert_eq!(starting.await.unwrap().unwrap_err().code, RefusalCode::Conflict);

    let mut hasty = ManagedServerConfig::stdio("hasty", PackageKind::Npm, "slow");
    hasty.limits.install_ms = 100;
    let hasty = bench.add(hasty);
    let failure = bench.service.start(hasty).await.unwrap_err();
    assert!(failure.message.contains("Fetching the package took longer"), "{failure}");
    bench.ends_clean().await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn python_packages_run_by_uvx_or_from_a_virtual_environment() {
    let uvx = "case \"$*\" in *--offline*) $SERVER;; esac";
    let python = "if [ \"$2\" = venv ]; then mkdir -p \"$3/bin\"; cp \"$0\" \"$3/bin/pip\"; \
                  printf '#!/bin/sh\\n%s\\n' \"$SERVER\" > \"$3/bin/clock\"; chmod +x \"$3/bin/clock\"; fi";
    let (bench, folder) = with_programs(&[("uvx", uvx), ("python3.fake", python)]);
    let uv = bench.running(ManagedServerConfig::stdio("uv", PackageKind::Pypi, "clock[zones]==1.2")).await;
    assert_eq!(bench.text(uv, "echo", json!({"text": "x"})).await, "x");
    assert_eq!(
        calls(&folder),
        ["uvx --from clock[zones]==1.2 python -c ", "uvx --offline --from clock[zones]==1.2 clock"]
    );
    bench.service.stop(uv).await.unwrap();

    // The fixture needs the real Python, so the fake one that creates environments is put in front only now.
    let real = std::env::split_paths(&std::env::var_os("PATH").unwrap())
        .map(|path| path.join("python3"))
        .find(|path| path.exists());
    fs::rename(folder.path().join("python3.fake"), folder.path().join("python3")).unwrap();
    let text = fs::read_to_string(folder.path().join("python3")).unwrap();
    fs::write(
        folder.path().join("python3"),
        text.replace("exec python3", &format!("exec {}", real.unwrap().display())),
    )
    .unwrap();
    let mut config = ManagedServerConfig::stdio("venv", PackageKind::Pypi, "clock==1.2");
    config.package.runtime_hint = Some("venv".to_owned());
    let venv = bench.running(config).await;
    assert_eq!(bench.text(venv, "echo", json!({"text": "y"})).await, "y");
    let calls = calls(&folder);
    assert!(
        calls[2].starts_with("python3.fake -m venv ")
            && calls[3].ends_with(" install --disable-pip-version-check --no-input clock==1.2"),
        "{calls:?}"
    );
    bench.ends_clean().await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn containers_get_names_of_variables_and_are_cleared_away() {
    let docker = "case \"$1\" in run) $SERVER;; esac";
    let (bench, folder) = with_programs(&[("docker", docker)]);
    let mut config = ManagedServerConfig::stdio("boxed", PackageKind::Docker, "example/clock:1");
    config.env_vars.insert("TOKEN".to_owned(), EnvVarConfig::secret("TOKEN", "later"));
    config.args = vec!["--utc".to_owned()];
    let id = bench.add(config);
    bench.service.set_secret(id, "TOKEN", &Secret::new("very-secret").unwrap()).unwrap();
    bench.service.start(id).await.unwrap();
    bench.service.approve_all(id).unwrap();
    assert_eq!(bench.text(id, "env", json!({"name": "TOKEN"})).await, "[redacted]");
    bench.service.stop(id).await.unwrap();
    let calls = calls(&folder);
    assert_eq!(
        calls[..2],
        ["docker version --format {{.Server.Version}}", "docker pull --quiet example/clock:1"]
    );
    let run: Vec<&str> = calls[2].split(' ').collect();
    assert_eq!(run[..5], ["docker", "run", "--rm", "-i", "--init"]);
    assert_eq!(run[7..], ["--env", "TOKEN", "example/clock:1", "--utc"]);
    assert_eq!(calls[3..], [format!("docker rm --force {}", run[6])]);
    bench.ends_clean().await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_container_that_was_only_starting_is_cleared_away_before_the_end() {
    let (bench, folder) = with_programs(&[("docker", "case \"$1\" in run) sleep 600;; esac")]);
    let id = bench.add(ManagedServerConfig::stdio("boxed", PackageKind::Docker, "example/clock:1"));
    let service = bench.service.clone();
    let starting = tokio::spawn(async move { service.start(id).await });
    let connecting = ManagedServerStatus::Starting { phase: StartPhase::Connecting };
    bench.until("it is connecting", |service| service.status(id).as_ref() == Some(&connecting)).await;
    bench.until_processes(2).await;
    bench.service.shutdown_all().await.unwrap();
    let calls = calls(&folder);
    assert!(calls.last().unwrap().starts_with("docker rm --force draftboard-boxed-"), "{calls:?}");
    assert_eq!(bench.processes(), Vec::<String>::new());
    assert!(starting.await.unwrap().is_err());
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn docker_that_does_not_run_is_named() {
    let (bench, _folder) =
        with_programs(&[("docker", "echo 'Cannot connect to the Docker daemon' >&2; exit 1")]);
    let id = bench.add(ManagedServerConfig::stdio("boxed", PackageKind::Docker, "example/clock:1"));
    let failure = bench.service.start(id).await.unwrap_err();
    assert_eq!(failure.code, RefusalCode::ServiceUnavailable);
    assert!(failure.message.starts_with("Docker not running"), "{failure}");
    bench.ends_clean().await;
}
