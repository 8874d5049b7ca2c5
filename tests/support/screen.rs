//! A display without anybody before it, and the programs that look at it.

use super::{
    home::{Home, finished},
    processes, wait_for,
};
use serde_json::Value;
use std::{
    io::{BufRead, BufReader},
    path::Path,
    process::{Child, Command, Stdio},
};

/// In pixels.
pub(crate) const USUAL: (usize, usize) = (1280, 800);

pub(crate) struct Screen {
    server: Child,
    name: String,
    size: (usize, usize),
}

impl Screen {
    /// None, loudly, when the machine lacks what it takes to show a window.
    pub(crate) fn open(home: &Home, size: (usize, usize)) -> Option<Self> {
        let mut command = Command::new("Xvfb");
        let pixels = format!("{}x{}x24", size.0, size.1);
        command.args(["-displayfd", "1", "-screen", "0", &pixels, "-nolisten", "tcp"]);
        let mut server =
            match command.stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::null()).spawn() {
                Ok(server) => server,
                Err(error) => return without(&format!("Xvfb is not installed ({error})")),
            };
        let mut line = String::new();
        BufReader::new(server.stdout.take().unwrap()).read_line(&mut line).unwrap();
        let screen = Self { server, name: format!(":{}", line.trim()), size };
        assert!(screen.name.len() > 1, "Xvfb names its display");
        let mut doctor = home.command();
        doctor.args(["doctor", "--json"]).env("DISPLAY", &screen.name);
        let findings = finished(doctor).json();
        let missing = |finding: &&Value| finding["verdict"] == "missing";
        if let Some(lacking) = findings["data"].as_array().unwrap().iter().find(missing) {
            return without(&format!("a window cannot be shown here: {lacking}"));
        }
        Some(screen)
    }

    pub(crate) fn command(&self, home: &Home, workspace: &Path) -> Command {
        let mut command = self.bare_command(home);
        command.arg(workspace);
        command
    }

    /// Without a workspace: the last one, or the example.
    pub(crate) fn bare_command(&self, home: &Home) -> Command {
        let mut command = home.command();
        command.env("DISPLAY", &self.name);
        command
    }

    /// The window that belongs to a process, once it is shown. Without xdotool there is no telling: `Err`.
    pub(crate) fn window_of(&self, pid: u32) -> Result<Option<String>, ()> {
        let found = self.tool("xdotool", &["search", "--onlyvisible", "--pid", &pid.to_string()]).ok_or(())?;
        Ok(found.lines().next().map(str::to_owned))
    }

    /// A renderer of this main process that is not `other` and shows its window.
    pub(crate) fn renderer_shown(&self, main: u32, other: Option<u32>) -> u32 {
        wait_for("a renderer with a window", || {
            let renderer = processes::role_of(main, "renderer").filter(|pid| Some(*pid) != other)?;
            match self.window_of(renderer) {
                Ok(window) => window.map(|_| renderer),
                Err(()) => Some(renderer),
            }
        })
    }

    /// What a program says about this display; none when it is not installed.
    pub(crate) fn tool(&self, program: &str, arguments: &[&str]) -> Option<String> {
        let output = Command::new(program).args(arguments).env("DISPLAY", &self.name).output().ok()?;
        Some(String::from_utf8_lossy(&output.stdout).into_owned())
    }

    /// A picture of all that is shown, as raw colours.
    pub(crate) fn picture(&self) -> Option<Vec<u8>> {
        let output = Command::new("import")
            .args(["-window", "root", "-depth", "8", "rgb:-"])
            .env("DISPLAY", &self.name)
            .output();
        let (width, height) = self.size;
        output.ok().map(|output| output.stdout).filter(|bytes| bytes.len() == width * height * 3)
    }
}

/// The machine lacks what a test at a window needs, which is said aloud. CI sets `DRAFTBOARD_REQUIRE_SCREEN`, and then it is a
/// failure.
pub(crate) fn without<T>(why: &str) -> Option<T> {
    assert!(std::env::var_os("DRAFTBOARD_REQUIRE_SCREEN").is_none(), "{why}");
    println!("SKIPPED: {why}");
    None
}

impl Drop for Screen {
    fn drop(&mut self) {
        drop(self.server.kill());
        drop(self.server.wait());
    }
}
