//! A home of its own for the executable, so that a test neither sees nor leaves anything elsewhere.

use serde_json::Value;
use std::{
    fs,
    io::{BufRead, BufReader, Read},
    os::unix::fs::PermissionsExt,
    path::{Path, PathBuf},
    process::{Command, Stdio},
    sync::mpsc,
    time::Duration,
};
use test_support::{KilledOnDrop, PATIENCE, processes, wait_for_exit};

pub(crate) const DRAFTBOARD: &str = env!("CARGO_BIN_EXE_draftboard");

pub(crate) struct HomeFixture {
    folder: tempfile::TempDir,
    root: PathBuf,
}

/// How a command ended and what it said.
#[derive(Debug)]
pub(crate) struct Outcome {
    pub(crate) code: Option<i32>,
    pub(crate) out: String,
    pub(crate) err: String,
}

impl HomeFixture {
    pub(crate) fn new() -> Self {
        let folder = tempfile::tempdir().unwrap();
        let root = folder.path().canonicalize().unwrap();
        for name in ["run", "state", "data", "config", "home"] {
            fs::create_dir(root.join(name)).unwrap();
        }
        fs::set_permissions(root.join("run"), fs::Permissions::from_mode(0o700)).unwrap();
        Self { folder, root }
    }

    pub(crate) fn path(&self, name: &str) -> PathBuf {
        self.root.join(name)
    }

    /// Where the records and sockets of running Draftboards are.
    pub(crate) fn runtime(&self) -> PathBuf {
        self.path("run/draftboard")
    }

    pub(crate) fn command(&self) -> Command {
        let mut command = Command::new(DRAFTBOARD);
        command.current_dir(self.path("home")).stdin(Stdio::null());
        for (name, folder) in [
            ("XDG_RUNTIME_DIR", "run"),
            ("XDG_STATE_HOME", "state"),
            ("XDG_DATA_HOME", "data"),
            ("XDG_CONFIG_HOME", "config"),
            ("HOME", "home"),
        ] {
            command.env(name, self.path(folder));
        }
        for name in ["DISPLAY", "WAYLAND_DISPLAY", "DRAFTBOARD_LOG"] {
            command.env_remove(name);
        }
        command.env("USER", "tester");
        command
    }

    pub(crate) fn run(&self, arguments: &[&str]) -> Outcome {
        let mut command = self.command();
        command.args(arguments);
        finished(command)
    }

    /// A new workspace in a folder of this name.
    pub(crate) fn workspace(&self, name: &str, template: &str) -> PathBuf {
        let folder = self.path(name);
        let made = self.run(&["new", folder.to_str().unwrap(), "--template", template]);
        assert_eq!(made.code, Some(0), "{made:?}");
        folder
    }

    /// The crash reports that were written, oldest first: name and text.
    pub(crate) fn crash_reports(&self) -> Vec<(String, String)> {
        let files = fs::read_dir(self.path("state/draftboard/crashes")).into_iter().flatten().flatten();
        let name = |file: fs::DirEntry| file.file_name().into_string().unwrap();
        let mut names: Vec<String> = files.map(name).filter(|name| name.ends_with(".txt")).collect();
        names.sort();
        let folder = self.path("state/draftboard/crashes");
        names.into_iter().map(|name| (name.clone(), fs::read_to_string(folder.join(name)).unwrap())).collect()
    }

    pub(crate) fn assert_deserted(&self) {
        assert!(self.processes().is_empty(), "processes are left: {:?}", self.processes());
    }

    /// Every process that was started with this home and is alive.
    pub(crate) fn processes(&self) -> Vec<u32> {
        processes::with_environment(self.root.as_os_str())
    }
}

impl Drop for HomeFixture {
    fn drop(&mut self) {
        // After a failed test, too: nothing may go on in a folder that is about to vanish.
        processes::kill_with_environment(self.root.as_os_str());
        let _ = &self.folder;
    }
}

impl Outcome {
    pub(crate) fn json(&self) -> Value {
        serde_json::from_str(&self.out).unwrap_or_else(|error| panic!("not JSON ({error}): {self:?}"))
    }

    /// What a successful command with `--json` answered.
    pub(crate) fn data(&self) -> Value {
        let json = self.json();
        assert_eq!((self.code, &json["ok"]), (Some(0), &Value::Bool(true)), "{self:?}");
        json["data"].clone()
    }
}

/// Runs a command to its end, which must come.
pub(crate) fn finished(mut command: Command) -> Outcome {
    let mut child = command.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
    let (out, err) = (gather(child.stdout.take().unwrap()), gather(child.stderr.take().unwrap()));
    let status = wait_for_exit(&mut child).unwrap_or_else(|| {
        child.kill().unwrap();
        child.wait().unwrap();
        panic!("{command:?} did not end")
    });
    let text = |gathered: mpsc::Receiver<String>| gathered.recv_timeout(PATIENCE).unwrap();
    Outcome { code: status.code(), out: text(out), err: text(err) }
}

fn gather(mut stream: impl Read + Send + 'static) -> mpsc::Receiver<String> {
    let (done, gathered) = mpsc::channel();
    std::thread::spawn(move || {
        let mut bytes = Vec::new();
        drop(stream.read_to_end(&mut bytes));
        drop(done.send(String::from_utf8_lossy(&bytes).into_owned()));
    });
    gathered
}

/// `draftboard serve`, on any free port: many run at a time here.
pub(crate) fn serving(home: &HomeFixture, workspace: &Path) -> Command {
    let mut command = home.command();
    command.arg("serve").arg(workspace).args(["--json", "--port", "0"]);
    command
}

/// A long-running Draftboard; killed when dropped.
pub(crate) struct Running {
    child: KilledOnDrop,
    out: mpsc::Receiver<String>,
    err: mpsc::Receiver<String>,
}

impl Running {
    pub(crate) fn start(mut command: Command) -> Self {
        let mut child = command.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
        let (lines, out) = mpsc::channel();
        let stdout = BufReader::new(child.stdout.take().unwrap());
        std::thread::spawn(move || {
            stdout.lines().map_while(Result::ok).try_for_each(|line| lines.send(line).map_err(drop))
        });
        let err = gather(child.stderr.take().unwrap());
        Self { child: KilledOnDrop(child), out, err }
    }

    /// `draftboard serve`, as soon as it says that it is ready.
    pub(crate) fn serve(home: &HomeFixture, workspace: &Path) -> Self {
        let mut running = Self::starting_to_serve(home, workspace);
        let line =
            running.line().unwrap_or_else(|| panic!("it ended before it was ready: {:?}", running.end()));
        let ready: Value = serde_json::from_str(&line).unwrap();
        assert_eq!(
            (&ready["ready"], &ready["pid"]),
            (&Value::Bool(true), &Value::from(running.pid())),
            "{line}"
        );
        running
    }

    pub(crate) fn starting_to_serve(home: &HomeFixture, workspace: &Path) -> Self {
        Self::start(serving(home, workspace))
    }

    pub(crate) fn pid(&self) -> u32 {
        self.child.id()
    }

    /// The next line of its output; none when it has ended without one.
    pub(crate) fn line(&self) -> Option<String> {
        match self.out.recv_timeout(PATIENCE) {
            Ok(line) => Some(line),
            Err(mpsc::RecvTimeoutError::Disconnected) => None,
            Err(mpsc::RecvTimeoutError::Timeout) => panic!("it says nothing"),
        }
    }

    /// The next line of its output, if it comes in this time.
    pub(crate) fn line_within(&self, time: Duration) -> Option<String> {
        self.out.recv_timeout(time).ok()
    }

    /// `SIGKILL`, and gone when this returns.
    pub(crate) fn kill(&mut self) {
        self.child.kill().unwrap();
        self.child.wait().unwrap();
    }

    /// Asks it to end and waits for that.
    pub(crate) fn stop(mut self) -> Outcome {
        processes::terminate(self.pid());
        self.end()
    }

    /// Waits until it ends by itself.
    pub(crate) fn end(&mut self) -> Outcome {
        let status = wait_for_exit(&mut self.child).expect("it ends");
        let out: Vec<String> = self.out.iter().collect();
        Outcome {
            code: status.code(),
            out: out.join("\n"),
            err: self.err.recv_timeout(PATIENCE).unwrap_or_default(),
        }
    }
}
