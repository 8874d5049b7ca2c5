//! A service in a temporary folder whose processes can be counted.
#![allow(
    dead_code,
    unreachable_pub,
    clippy::expect_used,
    clippy::panic,
    clippy::unwrap_used,
    reason = "a test, and not each uses all of it"
)]

use mcp_client::{
    ManagedServerConfig, ManagedServerStatus, ManagedServersService, ManagedServersSetup,
    inherited_environment,
};
use processes::Backoff;
use serde_json::Value;
use shared_protocol::{Refusal, managed_servers::PackageKind};
use std::{
    ffi::OsString,
    net::TcpStream,
    path::Path,
    process::{Command, Stdio},
    sync::Arc,
    time::Duration,
};
use tempfile::TempDir;
use test_support::{
    KilledOnDrop, PATIENCE, processes as process_table, python_interpreter, try_wait_for_within, wait_until,
    wait_until_async,
};
use uuid::Uuid;

pub struct McpServiceFixture {
    pub folder: TempDir,
    pub service: Arc<ManagedServersService>,
    mark: String,
}

/// The time in which killed processes are gone.
const MAX_EXIT_TIME: Duration = Duration::from_secs(5);
pub const MARK: &str = "DRAFTBOARD_TEST_MARK";

impl McpServiceFixture {
    pub fn new() -> Self {
        Self::with(|_| {})
    }

    pub fn with(adapt: impl FnOnce(&mut ManagedServersSetup)) -> Self {
        let folder = tempfile::tempdir().unwrap();
        let mark = Uuid::new_v4().to_string();
        let mut setup = ManagedServersSetup::new(&folder.path().join("config"), &folder.path().join("data"));
        setup.environment = inherited_environment();
        setup.environment.push((MARK.into(), OsString::from(&mark)));
        setup.backoff = quick_backoff();
        adapt(&mut setup);
        let service =
            Arc::new(ManagedServersService::open(setup, tokio::runtime::Handle::current()).unwrap());
        Self { folder, service, mark }
    }

    /// Opens a new service on the same files.
    pub fn reopened(&self) -> ManagedServersService {
        let setup =
            ManagedServersSetup::new(&self.folder.path().join("config"), &self.folder.path().join("data"));
        ManagedServersService::open(setup, tokio::runtime::Handle::current()).unwrap()
    }

    pub fn add(&self, config: ManagedServerConfig) -> Uuid {
        self.service.create(config).unwrap().id
    }

    /// Starts a server and approves its tools.
    pub async fn running(&self, config: ManagedServerConfig) -> Uuid {
        let id = self.add(config);
        self.service
            .start(id)
            .await
            .unwrap_or_else(|failure| panic!("{failure:?}\n{:?}", self.service.log(id)));
        self.service.approve_all(id).unwrap();
        id
    }

    pub async fn call(&self, id: Uuid, tool: &str, arguments: Value) -> Result<Value, Refusal> {
        self.service.call_tool(id, tool, &arguments).await.map(|answer| answer.value())
    }

    /// Returns the first text of the answer.
    pub async fn text(&self, id: Uuid, tool: &str, arguments: Value) -> String {
        let value =
            self.call(id, tool, arguments).await.unwrap_or_else(|failure| panic!("{tool}: {failure:?}"));
        value["content"][0]["text"].as_str().unwrap_or_else(|| panic!("{value}")).to_owned()
    }

    pub fn status(&self, id: Uuid) -> ManagedServerStatus {
        self.service.status(id).unwrap()
    }

    /// Waits for a condition and checks it whenever the service reports a change.
    pub async fn until(&self, what: &str, mut holds: impl FnMut(&ManagedServersService) -> bool) {
        let mut changes = self.service.changes();
        let wait = async {
            while !holds(&self.service) {
                changes.changed().await.unwrap();
            }
        };
        if tokio::time::timeout(PATIENCE, wait).await.is_err() {
            let states: Vec<_> =
                self.service.list().iter().map(|server| self.service.details(server.id)).collect();
            panic!("it never came about that {what}: {states:#?}");
        }
    }

    /// Returns the command lines of all processes that this service or its children started.
    pub fn processes(&self) -> Vec<String> {
        processes_with(&format!("{MARK}={}", self.mark))
    }

    /// Waits until `count` processes run.
    pub async fn until_processes(&self, count: usize) {
        wait_until_async(&format!("{count} processes"), async || self.processes().len() == count).await;
    }

    pub async fn ends_clean(self) {
        self.service.shutdown_all().await.unwrap();
        self.assert_nothing_left();
    }

    #[track_caller]
    pub fn assert_nothing_left(&self) {
        self.assert_processes(0);
    }

    /// Waits a moment, because killed processes may still be exiting and new ones still starting.
    #[track_caller]
    pub fn assert_processes(&self, count: usize) {
        let look = || (self.processes().len() == count).then_some(());
        assert!(
            try_wait_for_within(MAX_EXIT_TIME, look).is_some(),
            "{count} expected: {:?}",
            self.processes()
        );
    }
}

pub fn quick_backoff() -> Backoff {
    let first_delay = Duration::from_millis(20);
    let max_delay = Duration::from_millis(100);
    Backoff { first_delay, max_delay, healthy_after: PATIENCE, max_restarts: 3, has_jitter: true }
}

pub fn processes_with(variable: &str) -> Vec<String> {
    let found = process_table::with_environment(variable.as_ref());
    found.into_iter().map(|pid| process_table::command_line(pid).join(" ")).collect()
}

pub fn fixture(mode: &str) -> ManagedServerConfig {
    let script = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/fixtures/server.py");
    let mut config = ManagedServerConfig::stdio(mode, PackageKind::Binary, python_interpreter());
    config.args = vec![script.to_string_lossy().into_owned(), mode.to_owned()];
    config.limits.grace_ms = 400;
    config.limits.handshake_ms = 120_000;
    config
}

/// A third-party Node server.
pub fn node_server(folder: &Path, name: &str, arguments: &[&str]) -> ManagedServerConfig {
    installed(name, &folder.join("node_modules/.bin").join(name), arguments)
}

/// A third-party Python server.
pub fn python_server(folder: &Path, name: &str, arguments: &[&str]) -> ManagedServerConfig {
    installed(name, &folder.join("venv/bin").join(name), arguments)
}

fn installed(name: &str, program: &Path, arguments: &[&str]) -> ManagedServerConfig {
    let mut config = ManagedServerConfig::stdio(name, PackageKind::Binary, &program.to_string_lossy());
    config.args = arguments.iter().map(|&argument| argument.to_owned()).collect();
    config
}

pub fn serve(program: &Path, arguments: &[&str], port: u16) -> KilledOnDrop {
    let mut command = Command::new(program);
    command
        .args(arguments)
        .env("PORT", port.to_string())
        .stdin(Stdio::null())
        .stdout(Stdio::null())
        .stderr(Stdio::null());
    let serving = KilledOnDrop(command.spawn().unwrap());
    let what = format!("{} to listen", program.display());
    wait_until(&what, || TcpStream::connect(("127.0.0.1", port)).is_ok());
    serving
}
