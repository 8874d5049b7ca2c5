//! The stdio bridge, with a real main process that comes and goes.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, clippy::print_stdout, reason = "a test")]

mod support;

use serde_json::{Value, json};
use std::{
    fs,
    io::{Read, Write},
    os::unix::{fs::PermissionsExt, net::UnixStream, process::CommandExt},
    path::{Path, PathBuf},
    process::Command,
};
use support::{
    home::{DRAFTBOARD, HomeFixture, Running, finished, serving},
    mcp::{Agent, Era, SDK_ENVIRONMENT, USER_RUNTIME, in_own_run_folder, record},
};
use test_support::{processes, requirements::OTHER_USER, wait_for};

const ERAS: [Era; 2] = [Era::Handshake, Era::Stateless];
const CONTEXT: &str = "draftboard://workspace/context";
const CALLS: usize = 20;

fn edit(home: &HomeFixture, workspace: &Path, name: &str) {
    let file = home.path("edit.json");
    let commands =
        json!([{"addNode": {"board": "infrastructure", "type": "terraform/core/group", "name": name}}]);
    fs::write(&file, commands.to_string()).unwrap();
    let done = home.run(&["edit", "-f", file.to_str().unwrap(), "-w", workspace.to_str().unwrap()]);
    assert_eq!(done.code, Some(0), "{done:?}");
}

/// The code of a refused call; none when it was done.
fn refused(answer: &Value) -> Option<&str> {
    answer["result"]["structuredContent"]["error"]["code"].as_str()
}

#[test]
fn main_is_killed_and_restarted_during_calls_and_the_session_goes_on() {
    for era in ERAS {
        let home = HomeFixture::new();
        let workspace = home.workspace("workspace", "blank");
        let mut main = Running::serve(&home, &workspace);
        let mut agent = Agent::greeted(&home, &workspace, era, &[]);
        agent.watch(CONTEXT);
        let tools = agent.ask("tools", "tools/list", json!({}))["result"]["tools"].clone();
        assert!(tools.as_array().is_some_and(|tools| !tools.is_empty()));

        // Stopped first, so that all calls are under way for certain.
        processes::stop(main.pid());
        for id in 0..CALLS {
            agent.request(id, "tools/call", json!({"name": "get_workbench_context", "arguments": {}}));
        }
        agent.request("read", "resources/read", json!({"uri": CONTEXT}));
        // The bridge answers this by itself, in its turn: by then it has passed on everything before it.
        agent.say(&json!("no request"));
        agent.hear("the answer to what is no request", |message| message["error"].is_object());
        main.kill();
        for id in 0..CALLS {
            let answer = agent.hear("an answer to every call", |message| message["id"] == id);
            assert_eq!(refused(&answer), Some("BRIDGE_DISCONNECTED"), "{era:?}: {answer}");
            assert_eq!(answer["result"]["isError"], true);
        }
        let read = agent.hear("an answer to the read", |message| message["id"] == "read");
        assert_eq!(read["error"]["data"]["code"], "BRIDGE_DISCONNECTED", "{read}");
        assert_eq!(agent.ask("tools again", "tools/list", json!({}))["result"]["tools"], tools, "{era:?}");

        // Calls made while nobody is there wait for whoever comes.
        agent.request("early", "tools/call", json!({"name": "get_workbench_context", "arguments": {}}));
        let _main = Running::serve(&home, &workspace);
        let early = agent.hear("the call that waited", |message| message["id"] == "early");
        if refused(&early).is_some() {
            // The machine was too busy to start it in time; a later call must find it.
            assert_eq!(refused(&early), Some("BRIDGE_DISCONNECTED"));
        }
        let later = wait_for("the session to work again", || {
            let answer = agent.call("later", "get_workbench_context");
            refused(&answer).is_none().then_some(answer)
        });
        assert_eq!(later["result"]["structuredContent"]["ok"], true, "{later}");
        agent.rest();
        edit(&home, &workspace, "after");
        agent.hear_update(CONTEXT);
        let (status, _, _) = agent.end();
        assert!(status.success(), "{status}");
    }
}

#[test]
fn killing_at_any_moment_leaves_no_call_without_an_answer() {
    for era in ERAS {
        let home = HomeFixture::new();
        let workspace = home.workspace("workspace", "example");
        let mut main = Running::serve(&home, &workspace);
        let mut agent = Agent::greeted(&home, &workspace, era, &[]);
        for round in 0..3 {
            for id in 0..CALLS {
                agent.request(
                    format!("{round}-{id}"),
                    "tools/call",
                    json!({"name": "get_diagram", "arguments": {}}),
                );
                if id == round * 7 {
                    main.kill();
                }
            }
            main = Running::serve(&home, &workspace);
            for id in 0..CALLS {
                let answer = agent.hear("an answer", |message| message["id"] == format!("{round}-{id}"));
                assert!(matches!(refused(&answer), None | Some("BRIDGE_DISCONNECTED")), "{answer}");
            }
        }
        wait_for("the session to work again", || {
            refused(&agent.call("last", "get_workbench_context")).is_none().then_some(())
        });
    }
}

#[test]
fn everything_is_listed_before_draftboard_runs_and_calls_say_how_to_start_it() {
    for era in ERAS {
        let home = HomeFixture::new();
        let workspace = home.workspace("workspace", "blank");
        let mut agent = Agent::greeted(&home, &workspace, era, &[]);
        let mut lists = Vec::new();
        for (method, key) in [
            ("tools/list", "tools"),
            ("resources/list", "resources"),
            ("resources/templates/list", "resourceTemplates"),
            ("prompts/list", "prompts"),
        ] {
            let answer = agent.ask(method, method, json!({}));
            let items = answer["result"][key].clone();
            let text = items.to_string();
            assert!(!text.contains("test_") && !text.contains("test://"), "what only tests need: {text}");
            assert!(items.as_array().is_some_and(|items| !items.is_empty()), "{era:?} {method}: {answer}");
            lists.push((method, key, items));
        }
        agent.watch(CONTEXT);
        let answer = agent.call("c", "get_workbench_context");
        assert_eq!(refused(&answer), Some("BRIDGE_DISCONNECTED"), "{answer}");
        let hint = answer["result"]["structuredContent"]["error"]["details"]["hints"][0].as_str().unwrap();
        assert!(hint.contains("draftboard serve") && hint.contains(workspace.to_str().unwrap()), "{hint}");
        assert!(home.processes().len() <= 1, "nothing was started");

        let _main = Running::serve(&home, &workspace);
        agent.hear_update(CONTEXT);
        for (method, key, items) in lists {
            let answer = agent.ask(format!("{method} again"), method, json!({}));
            assert_eq!(answer["result"][key], items, "{era:?}: what was listed is what there is");
        }
        let changed = agent.rest().into_iter().filter(|message| {
            message["method"].as_str().is_some_and(|method| method.ends_with("list_changed"))
        });
        assert_eq!(changed.count(), 0, "nothing differs");
        edit(&home, &workspace, "seen");
        agent.hear_update(CONTEXT);
    }
}

#[test]
fn a_call_launches_draftboard_and_a_look_does_not() {
    for era in ERAS {
        let home = HomeFixture::new();
        let workspace = home.workspace("workspace", "blank");
        let mut agent = Agent::greeted(&home, &workspace, era, &["--launch"]);
        agent.ask("look", "ping", json!({}));
        // Whatever is launched is launched before the answer.
        assert_eq!(home.processes().len(), 1, "only the bridge");
        let answer = agent.call("c", "get_workbench_context");
        assert_eq!(answer["result"]["structuredContent"]["ok"], true, "{answer}");
        let pid = record(&home, &workspace)["pid"].as_u64().unwrap() as u32;
        let (status, _, _) = agent.end();
        assert!(status.success());
        assert!(processes::is_alive(pid), "it stays for the next client");
        processes::terminate(pid);
        wait_for("its end", || (!processes::is_alive(pid)).then_some(()));
        home.assert_deserted();
    }
}

#[test]
fn the_end_of_input_ends_it_and_calls_under_way_are_answered_first() {
    let home = HomeFixture::new();
    let workspace = home.workspace("workspace", "example");
    let _main = Running::serve(&home, &workspace);
    for era in ERAS {
        let mut agent = Agent::greeted(&home, &workspace, era, &[]);
        agent.watch(CONTEXT);
        agent.request("last", "tools/call", json!({"name": "get_diagram", "arguments": {}}));
        let (status, rest, _) = agent.end();
        assert!(status.success() && rest.iter().any(|message| message["id"] == "last"), "{era:?} {status}");
    }
    // Without a word, too.
    let (status, rest, _) = Agent::start(&home, &workspace, Era::Stateless, &[]).end();
    assert!(status.success() && rest.is_empty());
}

#[test]
fn what_is_no_message_is_answered_and_the_next_one_works() {
    let home = HomeFixture::new();
    let workspace = home.workspace("workspace", "blank");
    let _main = Running::serve(&home, &workspace);
    let mut agent = Agent::greeted(&home, &workspace, Era::Stateless, &[]);
    agent.say(&json!("just a text"));
    let answer = agent.hear("an answer", |message| message["id"].is_null() && message.get("error").is_some());
    assert_eq!(answer["error"]["code"], -32600);
    agent.say(&json!("x".repeat(33 << 20)));
    let answer = agent.hear("an answer", |message| message["id"].is_null() && message.get("error").is_some());
    assert!(answer["error"]["message"].as_str().unwrap().contains("33554432"), "{answer}");
    assert_eq!(refused(&agent.call("c", "get_workbench_context")), None);
}

#[test]
fn no_log_holds_a_token() {
    let home = HomeFixture::new();
    let workspace = home.workspace("workspace", "blank");
    let mut command = serving(&home, &workspace);
    command.env("DRAFTBOARD_LOG", "trace");
    let main = Running::start(command);
    main.line().expect("it is ready");
    let record = record(&home, &workspace);
    let mut errors = Vec::new();
    for era in ERAS {
        let mut agent = Agent::greeted(&home, &workspace, era, &[]);
        agent.call("c", "get_workbench_context");
        errors.push(agent.end().2);
    }
    let outcome = main.stop();
    errors.extend([outcome.err, outcome.out]);
    for key in ["token", "mcp_token"] {
        let token = record[key].as_str().unwrap_or_else(|| panic!("{key} in {record}"));
        assert!(token.len() >= 32);
        assert!(errors.iter().all(|text| !text.contains(token)), "{key} was logged");
    }
    assert!(errors.iter().any(|text| text.contains("TRACE") || text.contains("DEBUG")), "the log was on");
}

const AS_NOBODY: &str = "DRAFTBOARD_TEST_SOCKET";
const NOBODY: u32 = 65534;

#[test]
fn another_user_is_turned_away_even_with_the_token() {
    if !OTHER_USER.is_available() {
        return;
    }
    let home = HomeFixture::new();
    let workspace = home.workspace("workspace", "blank");
    let _main = Running::serve(&home, &workspace);
    let record = record(&home, &workspace);
    let socket = PathBuf::from(record["socket"].as_str().unwrap());
    // The folder keeps others out already; here it is opened to see that this is not all.
    for folder in home.runtime().ancestors().take(3) {
        fs::set_permissions(folder, fs::Permissions::from_mode(0o755)).unwrap();
    }
    fs::set_permissions(&socket, fs::Permissions::from_mode(0o777)).unwrap();
    let program = home.path("as-nobody");
    fs::copy(std::env::current_exe().unwrap(), &program).unwrap();
    let mut command = Command::new(&program);
    command.args(["--exact", "as_nobody", "--nocapture"]).env(AS_NOBODY, &socket);
    command.env("DRAFTBOARD_TEST_TOKEN", record["token"].as_str().unwrap()).current_dir("/");
    let outcome = command.uid(NOBODY).gid(NOBODY).output().unwrap();
    let said = String::from_utf8_lossy(&outcome.stdout);
    assert!(outcome.status.success() && said.contains("turned away as 65534"), "{outcome:?}");
}

/// Not a test by itself: what the one above runs as another user.
#[test]
fn as_nobody() {
    let Some(socket) = std::env::var_os(AS_NOBODY) else { return };
    let mut stream = UnixStream::connect(socket).expect("the socket itself is open to all");
    let hello = json!({"hello": {"protocol": 2, "token": std::env::var("DRAFTBOARD_TEST_TOKEN").unwrap()}})
        .to_string();
    let mut framed = (hello.len() as u32).to_be_bytes().to_vec();
    framed.extend(hello.as_bytes());
    // It may be closed before this is read.
    drop(stream.write_all(&framed));
    let mut answer = Vec::new();
    drop(stream.read_to_end(&mut answer));
    assert!(answer.is_empty(), "{}", String::from_utf8_lossy(&answer));
    println!("turned away as {}", rustix::process::geteuid().as_raw());
}

/// The bridge as an SDK starts it: with the variables that it hands down by itself, and no other.
fn of_an_sdk(home: &HomeFixture, arguments: &[&str]) -> Command {
    let mut command = Command::new(DRAFTBOARD);
    command.env_clear().current_dir(home.path("home")).arg("mcp").args(arguments);
    for name in SDK_ENVIRONMENT {
        match name {
            "HOME" => drop(command.env(name, home.path("home"))),
            _ => drop(std::env::var_os(name).map(|value| command.env(name, value))),
        }
    }
    command
}

fn context(command: Command) -> Value {
    let mut agent = Agent::of(command, Era::Stateless);
    agent.greet();
    let answer = agent.call("c", "get_workbench_context");
    let text = answer["result"]["content"][0]["text"].as_str().unwrap();
    serde_json::from_str(text).unwrap()
}

/// As a session of the desktop starts it, with the runtime folder of the user.
fn of_the_desktop(mut command: Command) -> Command {
    command.env("XDG_RUNTIME_DIR", USER_RUNTIME);
    command
}

#[test]
fn a_bridge_with_the_environment_of_an_sdk_finds_the_window_s_draftboard() {
    if !in_own_run_folder("a_bridge_with_the_environment_of_an_sdk_finds_the_window_s_draftboard") {
        return;
    }
    let home = HomeFixture::new();
    let workspace = home.workspace("workspace", "blank");
    let named = ["--workspace", workspace.to_str().unwrap()];
    let fallback = Path::new("/tmp/draftboard-0");

    // Nobody is there: the error names every folder.
    for arguments in [&[][..], &named] {
        let refused = context(of_an_sdk(&home, arguments));
        let message = refused["error"]["message"].as_str().unwrap();
        assert!(
            message.contains("/run/user/0/draftboard") && message.contains("/tmp/draftboard-0"),
            "{message}"
        );
        assert!(message.contains("pass XDG_RUNTIME_DIR in the client's `env`"), "{message}");
    }
    let main = Running::start(of_the_desktop(serving(&home, &workspace)));
    assert!(main.line().unwrap().contains("ready"));
    assert!(!fallback.exists(), "looking makes nothing");
    // With two of them and none named, both are listed.
    let other = home.workspace("other", "blank");
    let second = Running::start(of_the_desktop(serving(&home, &other)));
    assert!(second.line().unwrap().contains("ready"));
    let unclear = context(of_an_sdk(&home, &[]));
    let message = unclear["error"]["message"].as_str().unwrap();
    for words in [workspace.to_str().unwrap(), other.to_str().unwrap(), "`--workspace PATH`"] {
        assert!(message.contains(words), "{words}: {message}");
    }
    assert!(second.stop().code.is_some());
    for arguments in [&[][..], &named] {
        assert_eq!(context(of_an_sdk(&home, arguments))["ok"], true);
    }
    // A folder that others can enter, or that leads elsewhere, is skipped; what it pretends is not believed.
    fs::create_dir(fallback).unwrap();
    fs::set_permissions(fallback, fs::Permissions::from_mode(0o777)).unwrap();
    assert_eq!(context(of_an_sdk(&home, &named))["ok"], true);
    fs::remove_dir(fallback).unwrap();
    std::os::unix::fs::symlink(USER_RUNTIME, fallback).unwrap();
    assert_eq!(context(of_an_sdk(&home, &named))["ok"], true);
    assert!(main.stop().code.is_some());
    let message = context(of_an_sdk(&home, &named))["error"]["message"].as_str().unwrap().to_owned();
    assert!(message.contains("/tmp/draftboard-0 (skipped: "), "{message}");
    fs::remove_file(fallback).unwrap();

    // The other way round: what a reduced environment started is found by a window, and is the only one.
    assert_eq!(context(of_an_sdk(&home, &["--launch", named[0], named[1]]))["ok"], true);
    let mut status = of_the_desktop(home.command());
    status.args(["status", "--json"]);
    let listed = finished(status).data();
    assert_eq!(listed.as_array().unwrap().len(), 1, "{listed}");
    assert!(fallback.join("records.lock").exists(), "it was started with a reduced environment");
    let second = finished(of_the_desktop(serving(&home, &workspace)));
    assert!(
        second.code != Some(0) && (second.out + &second.err).contains("already open"),
        "two of one workspace"
    );
    let mut edit = of_the_desktop(home.command());
    edit.args(["call", "get_workbench_context", "-w", named[1], "--json"]);
    assert_eq!(finished(edit).code, Some(0));
}
