//! A `serve` at a terminal that shows codes, an agent's workspace, and reviewers at other terminals.

use super::{
    client::Client,
    home::{HomeFixture, Outcome, serving},
    terminal::{CODE_LABEL, TerminalFixture},
};
use serde_json::json;
use std::{
    collections::BTreeSet,
    path::{Path, PathBuf},
    process::Command,
};
use test_support::wait_for;

/// What a reviewer is asked about something grave.
const GRAVE: &str = "Type y to confirm, or anything else to cancel: ";

pub(crate) struct ReviewFixture {
    pub(crate) home: HomeFixture,
    pub(crate) workspace: PathBuf,
    pub(crate) serve: TerminalFixture,
}

impl ReviewFixture {
    /// None, loudly, where nothing gives a program a terminal.
    pub(crate) fn new(template: &str) -> Option<Self> {
        let home = HomeFixture::new();
        let workspace = home.workspace("workspace", template);
        let mut command = serving(&home, &workspace);
        command.args(["--mode", "guarded"]);
        let serve = TerminalFixture::open(&command)?;
        serve.wait_for("ready");
        Some(Self { home, workspace, serve })
    }

    pub(crate) fn client(&self) -> Client {
        Client::connect(&self.home, &self.workspace).unwrap()
    }

    pub(crate) fn command(&self, arguments: &[&str]) -> Command {
        Self::review(&self.home, &self.workspace, arguments)
    }

    fn review(home: &HomeFixture, workspace: &Path, arguments: &[&str]) -> Command {
        let mut command = home.command();
        command.arg("review").args(arguments).arg("-w").arg(workspace);
        command
    }

    pub(crate) fn reviewer(&self, arguments: &[&str]) -> TerminalFixture {
        TerminalFixture::open(&self.command(arguments)).unwrap()
    }

    /// The newest code that the terminal of `serve` shows, after so many.
    pub(crate) fn code(&self, shown_before: usize) -> String {
        self.serve.review_code(shown_before)
    }

    /// A person decides, with the code, and confirms what is grave.
    pub(crate) fn decide(&self, arguments: &[&str]) -> Outcome {
        self.decide_in(&self.workspace, arguments)
    }

    /// The same in another workspace that was opened in place of the first.
    pub(crate) fn decide_in(&self, workspace: &Path, arguments: &[&str]) -> Outcome {
        let shown = self.serve.screen().matches(CODE_LABEL).count();
        let mut reviewer = TerminalFixture::open(&Self::review(&self.home, workspace, arguments)).unwrap();
        let mut confirmed = 0;
        loop {
            let asked = wait_for("a question", || {
                let screen = reviewer.screen();
                let is_asked = screen.matches(GRAVE).count() > confirmed || screen.contains("Code: ");
                is_asked.then_some(screen)
            });
            if asked.contains("Code: ") {
                break;
            }
            reviewer.write("y");
            confirmed += 1;
        }
        reviewer.write(&self.code(shown));
        let outcome = reviewer.end();
        assert_eq!(outcome.code, Some(0), "{arguments:?}: {outcome:?}");
        outcome
    }

    /// The newest that waits, by its number.
    pub(crate) fn waiting(&self) -> String {
        self.waiting_in(&self.workspace)
    }

    pub(crate) fn waiting_in(&self, workspace: &Path) -> String {
        wait_for("something that waits", || {
            let mut list = Self::review(&self.home, workspace, &["list", "--json"]);
            list.stdin(std::process::Stdio::null());
            let listed = super::home::finished(list).data();
            let numbers = listed.as_array()?.iter().filter(|p| p["state"] == "open");
            numbers.filter_map(|proposal| proposal["number"].as_u64()).max().map(|number| number.to_string())
        })
    }

    pub(crate) fn names(&self) -> BTreeSet<String> {
        let document = self.client().request(json!({ "readDocument": {} })).unwrap().unwrap();
        let nodes = document["nodes"].as_array().unwrap();
        nodes.iter().map(|node| node["name"].as_str().unwrap().to_owned()).collect()
    }
}
