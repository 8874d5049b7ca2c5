//! Recorded exchanges with the server that bundles were made for, replayed against the real executable that serves bundles by
//! itself. What is compared, and what may differ, is as for the crate `bundles`; differences of the server come on top.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, clippy::print_stdout, reason = "a test")]

#[path = "../../main-process/bundles/tests/replay/compare.rs"]
mod compare;
#[path = "../../main-process/bundles/tests/replay/differences.rs"]
mod differences;
#[path = "../../main-process/bundles/tests/replay/judge.rs"]
mod judge;
#[path = "../../main-process/bundles/tests/replay/rules.rs"]
mod rules;
#[path = "../../main-process/bundles/tests/replay/run.rs"]
mod run;
mod server;
#[path = "../support/mod.rs"]
mod support;

use differences::Difference;
use serde_json::json;
use std::{
    collections::BTreeSet,
    path::{Path, PathBuf},
};
use support::{
    home::HomeFixture,
    mcp::{Agent, Era},
};

pub(crate) fn fixtures() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("main-process/bundles/tests/fixtures")
}

/// Where the server differs and the crate alone does not.
static OF_THE_SERVER: &[Difference] = &[];

#[test]
fn recorded_exchanges_with_the_executable() {
    let shared = run::Place::with_all();
    let mut servers = server::Servers::default();
    judge::judge(OF_THE_SERVER, |case| {
        let own = run::writes(case).then(|| run::Place::of(case));
        run::replay(own.as_ref().unwrap_or(&shared), case, |launch, case| servers.start(launch, case))
    });
}

#[test]
fn every_tool_and_prompt_is_listed_under_its_name() {
    let home = HomeFixture::new();
    let mut command = home.command();
    command.arg("mcp").arg("--bundle").arg(fixtures().join("bundles/minimal"));
    let mut agent = Agent::of(command, Era::Handshake);
    agent.greet();
    let mut listed = |method: &str, key: &str| -> BTreeSet<String> {
        let answer = agent.ask(method, method, json!({}));
        let names =
            answer["result"][key].as_array().unwrap().iter().map(|item| item["name"].as_str().unwrap());
        names.map(str::to_owned).collect()
    };
    let tools: BTreeSet<String> = bundles::TOOLS.iter().map(|tool| tool.name.to_owned()).collect();
    let prompts: BTreeSet<String> = bundles::PROMPTS.iter().map(|prompt| prompt.name.to_owned()).collect();
    assert_eq!((listed("tools/list", "tools"), listed("prompts/list", "prompts")), (tools, prompts));
}
