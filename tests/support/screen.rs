//! A display without anybody before it, and the programs that look at it.

use super::home::{HomeFixture, finished};
use serde_json::Value;
use std::{
    io::{BufRead, BufReader},
    path::Path,
    process::{Command, Stdio},
    time::Duration,
};
use test_support::{KilledOnDrop, processes, requirements::SCREEN, wait_for};

/// In pixels.
pub(crate) const USUAL: (usize, usize) = (1280, 800);

const BETWEEN_PICTURES: Duration = Duration::from_millis(150);

pub(crate) struct ScreenFixture {
    _server: KilledOnDrop,
    name: String,
    size: (usize, usize),
}

impl ScreenFixture {
    /// None, loudly, when the machine lacks what it takes to show a window.
    pub(crate) fn open(home: &HomeFixture, size: (usize, usize)) -> Option<Self> {
        if !SCREEN.is_available() {
            return None;
        }
        let mut command = Command::new("Xvfb");
        let pixels = format!("{}x{}x24", size.0, size.1);
        command.args(["-displayfd", "1", "-screen", "0", &pixels, "-nolisten", "tcp"]);
        command.stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::null());
        let mut server = command.spawn().unwrap();
        let mut line = String::new();
        BufReader::new(server.stdout.take().unwrap()).read_line(&mut line).unwrap();
        let screen = Self { _server: KilledOnDrop(server), name: format!(":{}", line.trim()), size };
        assert!(screen.name.len() > 1, "Xvfb names its display");
        let mut doctor = home.command();
        doctor.args(["doctor", "--json"]).env("DISPLAY", &screen.name);
        let findings = finished(doctor).json();
        let missing = |finding: &&Value| finding["verdict"] == "missing";
        if let Some(lacking) = findings["data"].as_array().unwrap().iter().find(missing) {
            SCREEN.skip(&format!("a window cannot be shown here: {lacking}"));
            return None;
        }
        Some(screen)
    }

    pub(crate) fn command(&self, home: &HomeFixture, workspace: &Path) -> Command {
        let mut command = self.bare_command(home);
        command.arg(workspace);
        command
    }

    /// Without a workspace: the last one, or the example.
    pub(crate) fn bare_command(&self, home: &HomeFixture) -> Command {
        let mut command = home.command();
        command.env("DISPLAY", &self.name);
        command
    }

    /// The window that belongs to a process, once it is shown.
    pub(crate) fn window_of(&self, pid: u32) -> Option<String> {
        let found = self.tool("xdotool", &["search", "--onlyvisible", "--pid", &pid.to_string()]);
        found.lines().next().map(str::to_owned)
    }

    /// A renderer of this main process that is not `other` and shows its window.
    pub(crate) fn renderer_shown(&self, main: u32, other: Option<u32>) -> u32 {
        wait_for("a renderer with a window", || {
            let renderer =
                processes::roles_of(main, "renderer").into_iter().find(|pid| Some(*pid) != other)?;
            self.window_of(renderer).map(|_| renderer)
        })
    }

    /// What a program says about this display.
    pub(crate) fn tool(&self, program: &str, arguments: &[&str]) -> String {
        String::from_utf8_lossy(&self.output(program, arguments)).into_owned()
    }

    /// A picture of all that is shown, as raw colours.
    pub(crate) fn picture(&self) -> Vec<u8> {
        let bytes = self.output("import", &["-window", "root", "-depth", "8", "rgb:-"]);
        let (width, height) = self.size;
        assert_eq!(bytes.len(), width * height * 3, "three colours for each pixel");
        bytes
    }

    /// A picture of a window that is drawn and at rest: two pictures in a row are the same.
    pub(crate) fn settled(&self) -> Vec<u8> {
        let mut before = self.picture();
        wait_for("a picture that stays", || {
            // Only pictures that are some frames apart tell rest from a moment between two frames.
            std::thread::sleep(BETWEEN_PICTURES);
            let now = std::mem::replace(&mut before, self.picture());
            (now == before && now.iter().any(|byte| *byte != now[0])).then_some(now)
        })
    }

    fn output(&self, program: &str, arguments: &[&str]) -> Vec<u8> {
        Command::new(program).args(arguments).env("DISPLAY", &self.name).output().unwrap().stdout
    }
}
