//! A service in a temporary folder whose processes can be counted.
#![allow(
    dead_code,
    unreachable_pub,
    clippy::expect_used,
    clippy::panic,
    clippy::unwrap_used,
    clippy::print_stderr,
    reason = "a test, and not each uses all of it"
)]

use processes::Backoff;
use serde_json::Value;
use shared_protocol::Refusal;
use std::{
    ffi::OsString,
    net::{TcpListener, TcpStream},
    path::{Path, PathBuf},
    process::{Child, Command, Stdio},
    sync::{Arc, OnceLock},
    time::{Duration, Instant},
};
use tempfile::TempDir;
use upstreams::{McpConfig, McpPackageType, McpService, McpServiceSetup, McpStatus, inherited_environment};
use uuid::Uuid;

/// Long enough for a loaded machine; tests that pass do not wait for it.
pub const LONG: Duration = Duration::from_secs(180);

pub struct Bench {
    pub folder: TempDir,
    pub service: Arc<McpService>,
    mark: String,
}

pub const MARK: &str = "DRAFTBOARD_TEST_MARK";

impl Bench {
    pub fn new() -> Self {
        Self::with(|_| {})
    }

    pub fn with(adapt: impl FnOnce(&mut McpServiceSetup)) -> Self {
        let folder = tempfile::tempdir().unwrap();
        let mark = Uuid::new_v4().to_string();
        let mut setup = McpServiceSetup::new(&folder.path().join("config"), &folder.path().join("data"));
        setup.environment = inherited_environment();
        setup.environment.push((MARK.into(), OsString::from(&mark)));
        setup.backoff = quick_backoff();
        adapt(&mut setup);
        let service = Arc::new(McpService::open(setup, tokio::runtime::Handle::current()).unwrap());
        Self { folder, service, mark }
    }

    /// Opens a new service on the same files.
    pub fn reopened(&self) -> McpService {
        let setup =
            McpServiceSetup::new(&self.folder.path().join("config"), &self.folder.path().join("data"));
        McpService::open(setup, tokio::runtime::Handle::current()).unwrap()
    }

    pub fn add(&self, config: McpConfig) -> Uuid {
        self.service.create(config).unwrap().id
    }

    /// Starts a server and approves its tools.
    pub async fn running(&self, config: McpConfig) -> Uuid {
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

    pub fn status(&self, id: Uuid) -> McpStatus {
        self.service.status(id).unwrap()
    }

    /// Waits for a condition and checks it whenever the service reports a change.
    pub async fn until(&self, what: &str, mut holds: impl FnMut(&McpService) -> bool) {
        let mut changes = self.service.changes();
        let wait = async {
            while !holds(&self.service) {
                changes.changed().await.unwrap();
            }
        };
        if tokio::time::timeout(LONG, wait).await.is_err() {
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
        let wait = async {
            while self.processes().len() != count {
                tokio::time::sleep(Duration::from_millis(10)).await;
            }
        };
        tokio::time::timeout(LONG, wait).await.unwrap_or_else(|_| panic!("{:?}", self.processes()));
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
        let start = Instant::now();
        while self.processes().len() != count && start.elapsed() < Duration::from_secs(5) {
            std::thread::sleep(Duration::from_millis(10));
        }
        assert_eq!(self.processes().len(), count, "{:?}", self.processes());
    }
}

pub fn quick_backoff() -> Backoff {
    let first_delay = Duration::from_millis(20);
    let max_delay = Duration::from_millis(100);
    Backoff { first_delay, max_delay, healthy_after: LONG, max_restarts: 3, has_jitter: true }
}

pub fn processes_with(variable: &str) -> Vec<String> {
    let mut found = Vec::new();
    for entry in std::fs::read_dir("/proc").unwrap().flatten() {
        let environment = std::fs::read(entry.path().join("environ")).unwrap_or_default();
        if environment.split(|&byte| byte == 0).any(|entry| entry == variable.as_bytes()) {
            let line = std::fs::read(entry.path().join("cmdline")).unwrap_or_default();
            found.push(String::from_utf8_lossy(&line).replace('\0', " "));
        }
    }
    found
}

pub fn fixture(mode: &str) -> McpConfig {
    let script = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/fixtures/server.py");
    let mut config = McpConfig::stdio(mode, McpPackageType::Binary, python());
    config.args = vec![script.to_string_lossy().into_owned(), mode.to_owned()];
    config.limits.grace_ms = 400;
    config.limits.handshake_ms = 120_000;
    config
}

/// Returns the interpreter itself; the program on PATH may be a script that searches for it each time.
fn python() -> &'static str {
    static PYTHON: OnceLock<String> = OnceLock::new();
    PYTHON.get_or_init(|| {
        let asked =
            Command::new("python3").args(["-c", "import sys; print(sys.executable)"]).output().unwrap();
        String::from_utf8(asked.stdout).unwrap().trim().to_owned()
    })
}

/// Returns the folder of installed third-party servers. Prints a message and returns `None` when they are not
/// installed, which is a failure when CI sets `DRAFTBOARD_REQUIRE_UPSTREAM_SERVERS`.
pub fn servers() -> Option<PathBuf> {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
    let folder = std::env::var_os("DRAFTBOARD_UPSTREAM_SERVERS")
        .map_or_else(|| root.join("target/upstream-servers"), PathBuf::from);
    if folder.join("installed").is_file() {
        return Some(folder.canonicalize().unwrap());
    }
    let missing = "SKIPPED: other people's MCP servers are not installed; run scripts/install-upstreams";
    assert!(std::env::var_os("DRAFTBOARD_REQUIRE_UPSTREAM_SERVERS").is_none(), "{missing}");
    eprintln!("{missing}");
    None
}

/// A third-party Node server.
pub fn node_server(folder: &Path, name: &str, arguments: &[&str]) -> McpConfig {
    installed(name, &folder.join("node_modules/.bin").join(name), arguments)
}

/// A third-party Python server.
pub fn python_server(folder: &Path, name: &str, arguments: &[&str]) -> McpConfig {
    installed(name, &folder.join("venv/bin").join(name), arguments)
}

fn installed(name: &str, program: &Path, arguments: &[&str]) -> McpConfig {
    let mut config = McpConfig::stdio(name, McpPackageType::Binary, &program.to_string_lossy());
    config.args = arguments.iter().map(|&argument| argument.to_owned()).collect();
    config
}

/// A running HTTP server. Killed when dropped.
pub struct Serving(Child);

impl Drop for Serving {
    fn drop(&mut self) {
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

pub fn free_port() -> u16 {
    TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap().port()
}

pub fn serve(program: &Path, arguments: &[&str], port: u16) -> Serving {
    let mut command = Command::new(program);
    command
        .args(arguments)
        .env("PORT", port.to_string())
        .stdin(Stdio::null())
        .stdout(Stdio::null())
        .stderr(Stdio::null());
    let serving = Serving(command.spawn().unwrap());
    let start = Instant::now();
    while TcpStream::connect(("127.0.0.1", port)).is_err() {
        assert!(start.elapsed() < LONG, "{} does not listen", program.display());
        std::thread::sleep(Duration::from_millis(20));
    }
    serving
}
