//! Terraform through the executable: the commands, with and without a running Draftboard, and what is left of a run when its
//! Draftboard is killed.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, clippy::print_stdout, reason = "a test")]

mod support;

use serde_json::{Value, json};
use std::{
    fs,
    io::Write as _,
    path::{Path, PathBuf},
    process::{Command, Stdio},
};
use support::{
    client::Client,
    home::{HomeFixture, Outcome, Running, finished, serving},
};
use test_support::{
    KilledOnDrop, free_port,
    requirements::{
        AWS_PROVIDER, MOTO, TERMINAL, TERRAFORM, TestRequirement, moto_program, provider_mirror,
        terraform_program,
    },
    wait_for, wait_for_exit,
};

struct TerraformFixture {
    home: HomeFixture,
    workspace: PathBuf,
}

impl TerraformFixture {
    fn new(template: &str) -> Self {
        let home = HomeFixture::new();
        let workspace = home.workspace("workspace", template);
        Self { home, workspace }
    }

    fn command(&self, arguments: &[&str]) -> Command {
        let mut command = self.home.command();
        // Settings of whoever runs the tests have no place here.
        command.env_remove("TF_CLI_CONFIG_FILE").args(arguments).arg("-w").arg(&self.workspace);
        command
    }

    fn run(&self, arguments: &[&str]) -> Outcome {
        finished(self.command(arguments))
    }

    fn data(&self, arguments: &[&str]) -> Value {
        let mut all = arguments.to_vec();
        all.push("--json");
        self.run(&all).data()
    }

    fn edit(&self, commands: &Value) {
        let file = self.home.path("commands.json");
        fs::write(&file, commands.to_string()).unwrap();
        self.data(&["edit", "-f", file.to_str().unwrap()]);
    }

    fn add(&self, name: &str, props: Value) {
        self.edit(&json!([{ "addNode": {
            "board": "infrastructure", "type": "terraform/core/terraform_data", "name": name, "props": props
        } }]));
    }

    fn serve(&self) -> Running {
        let mut command = serving(&self.home, &self.workspace);
        command.env_remove("TF_CLI_CONFIG_FILE");
        let running = Running::start(command);
        assert!(running.line().unwrap().contains("ready"));
        running
    }

    /// At a terminal, where somebody types this.
    fn at_terminal(&self, arguments: &[&str], typed: &str) -> Outcome {
        let inner = self.command(arguments);
        let words: Vec<String> =
            std::iter::once(inner.get_program()).chain(inner.get_args()).map(quoted).collect();
        let mut command = Command::new("script");
        command.args(["-qec", &words.join(" "), "/dev/null"]).current_dir(self.home.path("home"));
        for (name, value) in inner.get_envs() {
            match value {
                Some(value) => command.env(name, value),
                None => command.env_remove(name),
            };
        }
        let mut child =
            command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
        // Held to the end: closing it would be an answer too.
        let mut keyboard = child.stdin.take().unwrap();
        keyboard.write_all(typed.as_bytes()).unwrap();
        let mut screen = child.stdout.take().unwrap();
        let shown = std::thread::spawn(move || std::io::read_to_string(&mut screen).unwrap());
        let code = wait_for_exit(&mut child).expect("it ends").code();
        drop(keyboard);
        Outcome { code, out: shown.join().unwrap(), err: String::new() }
    }
}

fn quoted(word: &std::ffi::OsStr) -> String {
    format!("'{}'", word.to_str().unwrap().replace('\'', "'\\''"))
}

#[test]
fn files_are_printed_compared_and_written() {
    let bench = TerraformFixture::new("blank");
    bench.add("first", json!({ "input": "one" }));
    let printed = bench.run(&["hcl"]);
    assert_eq!(printed.code, Some(0), "{printed:?}");
    assert!(printed.out.contains("==> main.tf <==") && printed.out.contains("terraform_data"), "{printed:?}");
    let check = bench.run(&["hcl", "--check"]);
    assert!(check.code == Some(1) && check.out.contains("not written yet: main.tf"), "{check:?}");
    let wrote = bench.run(&["hcl", "--write"]);
    assert!(wrote.out.contains("wrote: terraform/infrastructure/main.tf"), "{wrote:?}");
    assert_eq!(bench.run(&["hcl", "--check"]).code, Some(0));
    bench.edit(&json!([{ "updateNode": { "node": "infrastructure/first", "set": { "input": "two" } } }]));
    let check = bench.run(&["hcl", "--check"]);
    assert!(check.code == Some(1) && check.out.contains("differs: main.tf"), "{check:?}");
    let diff = bench.run(&["hcl", "infrastructure", "--diff"]);
    assert!(diff.out.contains("-  input = \"one\"\n+  input = \"two\"\n"), "{diff:?}");
    let data = bench.data(&["hcl"]);
    assert!(data["files"]["main.tf"].as_str().unwrap().contains("\"two\""));

    let out = bench.home.path("out");
    assert_eq!(bench.run(&["hcl", "--out", out.to_str().unwrap()]).code, Some(0));
    assert!(fs::read_to_string(out.join("main.tf")).unwrap().contains("\"two\""));
    fs::write(out.join("main.tf"), "# mine\n").unwrap();
    let refused = bench.run(&["hcl", "--out", out.to_str().unwrap()]);
    assert!(
        refused.code == Some(1) && refused.err.contains("was not generated by Draftboard"),
        "{refused:?}"
    );
    assert_eq!(fs::read_to_string(out.join("main.tf")).unwrap(), "# mine\n");

    assert_eq!(bench.run(&["hcl", "--check", "--diff"]).code, Some(2));
    let unknown = bench.run(&["hcl", "nowhere"]);
    assert!(unknown.code == Some(1) && unknown.err.contains("The infrastructure boards are infrastructure"));
    bench.edit(
        &json!([{ "updateNode": { "node": "infrastructure/first", "set": { "extra": "not hcl {" } } }]),
    );
    let wrong = bench.run(&["hcl"]);
    assert!(wrong.code == Some(1) && wrong.err.contains("error: first"), "{wrong:?}");
}

#[test]
fn the_same_through_a_running_draftboard() {
    let bench = TerraformFixture::new("blank");
    bench.add("first", json!({ "input": "one" }));
    let direct = bench.data(&["hcl"]);
    let running = bench.serve();
    assert_eq!(bench.data(&["hcl"]), direct);
    assert_eq!(bench.data(&["cost"])["unknown"], bench.data(&["cost"])["unknown"]);
    let folder = bench.home.path("Network");
    fs::create_dir(&folder).unwrap();
    fs::write(folder.join("main.tf"), "resource \"terraform_data\" \"a\" {\n  input = \"x\"\n}\n").unwrap();
    let imported = bench.data(&["import", folder.to_str().unwrap()]);
    assert!(imported["board"].is_string(), "{imported}");
    let both = bench.run(&["hcl"]);
    assert!(
        both.code == Some(1) && both.err.contains("name one") && both.err.contains("network"),
        "{both:?}"
    );
    assert!(bench.data(&["hcl", "network"])["files"]["main.tf"].as_str().unwrap().contains("\"a\""));
    assert_eq!(running.stop().code, Some(0));
    // And without it, where the operation is in the journal.
    assert!(bench.data(&["hcl", "network"])["files"]["main.tf"].as_str().unwrap().contains("\"a\""));
    bench.run(&["undo"]);
    assert_eq!(bench.run(&["hcl", "network"]).code, Some(1));
    let direct = bench.data(&["import", folder.to_str().unwrap(), "--into", "again"]);
    assert!(direct["board"].is_string(), "{direct}");
    let taken = bench.run(&["import", folder.to_str().unwrap(), "--into", "again"]);
    assert!(taken.code == Some(1) && taken.err.contains("already"), "{taken:?}");
    bench.home.assert_deserted();
}

/// The workspace is somebody else's: what it names is not run, by whatever command.
#[test]
fn a_workspace_does_not_choose_the_program_that_runs() {
    const IGNORED: &str = "`program` in draftboard.toml is ignored";
    let bench = TerraformFixture::new("blank");
    bench.add("first", json!({ "input": "one" }));
    let (evil, ran) = (bench.workspace.join("evil.sh"), bench.home.path("ran"));
    let script = format!("#!/bin/sh\necho \"$@\" >> {}\necho 'Terraform v1.9.0'\n", ran.display());
    program_at(&evil, &script);
    let config = bench.workspace.join("draftboard.toml");
    let before = fs::read_to_string(&config).unwrap();
    for set in ["./evil.sh", evil.to_str().unwrap()] {
        for table in ["[infrastructure]", "[infrastructure.boards.infrastructure]"] {
            fs::write(&config, format!("{before}\n{table}\nprogram = {set:?}\n")).unwrap();
            let shown = bench.run(&["hcl"]);
            assert!(shown.err.contains(IGNORED), "{shown:?}");
            let validated = bench.run(&["terraform", "validate"]);
            assert!(format!("{validated:?}").contains(IGNORED), "{validated:?}");
            drop(bench.run(&["terraform", "plan"]));
        }
    }
    let running = bench.serve();
    drop(bench.run(&["hcl"]));
    drop(bench.run(&["terraform", "plan"]));
    let ended = running.stop();
    assert!(ended.err.contains(IGNORED), "{ended:?}");
    assert!(!ran.exists(), "it ran: {:?}", fs::read_to_string(&ran));

    // The user's own settings choose it.
    let own = bench.home.path("own.sh");
    let script = format!("#!/bin/sh\necho \"$1\" >> {}\necho 'Terraform v1.9.0'\n", ran.display());
    program_at(&own, &script);
    let settings = bench.home.path("config/draftboard/settings.toml");
    fs::create_dir_all(settings.parent().unwrap()).unwrap();
    fs::write(&settings, format!("[terraform]\nprogram = {:?}\n", own.to_str().unwrap())).unwrap();
    let validated = bench.run(&["terraform", "validate"]);
    let calls = fs::read_to_string(&ran).unwrap();
    assert!(calls.starts_with("version\n") && calls.ends_with("validate\n"), "{calls} {validated:?}");
}

/// Written by a process of its own: a child that another test forks now would hold ours open, and what is open for writing
/// cannot be run.
fn program_at(path: &Path, script: &str) {
    let draft = path.with_extension("draft");
    fs::write(&draft, script).unwrap();
    let made = Command::new("install").args(["-m", "755"]).args([&draft, path]).status().unwrap();
    assert!(made.success());
}

#[test]
fn costs_say_what_is_not_known() {
    let bench = TerraformFixture::new("three-tier");
    let priced = bench.data(&["cost"]);
    assert!(priced["monthly"].as_f64().unwrap() > 100.0, "{priced}");
    assert_eq!((&priced["unknown"], &priced["usageBased"]), (&json!(0), &json!(0)), "{priced}");
    let words = bench.run(&["cost"]);
    let none = bench.run(&["cost", "--missing"]);
    assert!(none.code == Some(0) && none.err.contains("no prices are missing"), "{none:?}");
    let prices = "\nPrices: AWS public price list (example; check before use), 2025-06-30\n";
    assert!(words.out.contains(prices), "{words:?}");
    fs::remove_dir_all(bench.workspace.join("prices")).unwrap();
    let shown = bench.run(&["cost"]);
    assert!(shown.code == Some(0) && shown.out.contains("unpriced"), "{shown:?}");
    let total = shown.out.lines().find(|line| line.starts_with("total of known prices")).unwrap();
    assert!(!total.contains("0.00") && !total.contains("no currency"), "{shown:?}");
    // As the guide has it: the shell makes the empty file before the command runs.
    fs::create_dir(bench.workspace.join("prices")).unwrap();
    fs::write(bench.workspace.join("prices/own.json"), "").unwrap();
    let missing = bench.run(&["cost", "--missing"]);
    assert_eq!(missing.code, Some(0), "{missing:?}");
    let mut book: Value = serde_json::from_str(&missing.out).unwrap();
    for price in book["prices"].as_array_mut().unwrap() {
        price["price"] = json!(0.5);
        price["source"] = json!("https://example.com/prices");
        price["date"] = json!("2026-01-31");
    }
    let before = bench.data(&["cost"]);
    fs::write(bench.workspace.join("prices/own.json"), book.to_string()).unwrap();
    let after = bench.data(&["cost"]);
    assert!(after["monthly"].as_f64().unwrap() > 0.0, "{after}");
    assert!(after["unknown"].as_u64().unwrap() < before["unknown"].as_u64().unwrap());
    fs::write(bench.workspace.join("prices/own.json"), "{").unwrap();
    let wrong = bench.run(&["cost"]);
    assert!(wrong.code == Some(1) && wrong.err.contains("prices/own.json"), "{wrong:?}");
}

#[test]
fn what_terraform_complains_about_is_told_with_its_detail_and_its_place() {
    if !TERRAFORM.is_available() {
        return;
    }
    let bench = TerraformFixture::new("blank");
    let verbatim = |name: &str, text: &str| {
        bench.edit(&json!([{ "addNode": {
            "board": "infrastructure", "type": "terraform/core/verbatim", "name": name, "props": { "text": text }
        } }]));
    };
    verbatim(
        "wanted",
        "variable \"shelf\" {\n  type = string\n}\n\noutput \"shelf\" {\n  value = var.shelf\n}\n",
    );
    assert_eq!(bench.run(&["terraform", "init"]).code, Some(0));
    let plan = bench.run(&["terraform", "plan"]);
    assert_eq!(plan.code, Some(1), "{plan:?}");
    assert!(plan.out.contains("Error: No value for required variable"), "{plan:?}");
    assert!(plan.out.contains("\"shelf\" is not set") && plan.out.contains(".tf line "), "{plan:?}");
    assert!(!plan.err.contains("terraform init"), "{plan:?}");
    let log = plan.err.split("the log is ").nth(1).unwrap().lines().next().unwrap().trim();
    assert!(
        fs::read_to_string(bench.workspace.join(log)).unwrap().contains("\"shelf\" is not set"),
        "{plan:?}"
    );
    verbatim("inner", "module \"inner\" {\n  source = \"./inner\"\n}\n");
    let plan = bench.run(&["terraform", "plan"]);
    assert_eq!(plan.code, Some(1), "{plan:?}");
    assert!(plan.err.contains("Run `draftboard terraform init infrastructure` first."), "{plan:?}");
}

/// Init to destroy, typed at a terminal; what is there is looked at in between.
fn life(bench: &TerraformFixture) {
    let init = bench.run(&["terraform", "init"]);
    assert_eq!(init.code, Some(0), "{init:?}");
    let validate = bench.run(&["terraform", "validate"]);
    assert!(validate.out.contains("The configuration is valid."), "{validate:?}");
    let plan = bench.data(&["terraform", "plan"]);
    assert_eq!(plan["run"]["summary"], json!({ "add": 1, "change": 0, "remove": 0 }));
    assert_eq!(plan["changes"][0]["action"], json!("create"));
    let unattended = bench.run(&["terraform", "apply"]);
    assert!(
        unattended.code == Some(1) && unattended.err.contains("need a confirmation at a terminal"),
        "{unattended:?}"
    );
    if !TERMINAL.is_available() {
        return;
    }
    let state = bench.workspace.join("terraform/infrastructure/terraform.tfstate");
    let declined = bench.at_terminal(&["terraform", "apply"], "no\n");
    assert!(
        declined.code == Some(1) && declined.out.contains("the operation was cancelled; nothing was changed"),
        "{declined:?}"
    );
    assert!(!state.exists());
    let applied = bench.at_terminal(&["terraform", "apply"], "yes\n");
    assert!(applied.code == Some(0) && applied.out.contains("Creation complete"), "{applied:?}");
    bench.edit(&json!([{ "updateNode": { "node": "infrastructure/first", "set": { "input": "two" } } }]));
    let changed = bench.at_terminal(&["terraform", "apply"], "yes\n");
    assert!(changed.code == Some(0) && changed.out.contains("update  terraform_data.first"), "{changed:?}");
    let wrong = bench.at_terminal(&["terraform", "destroy"], "yes\n");
    assert!(
        wrong.code == Some(1) && wrong.out.contains("the operation was cancelled; nothing was changed"),
        "{wrong:?}"
    );
    let destroyed = bench.at_terminal(&["terraform", "destroy"], "infrastructure\n");
    assert!(destroyed.code == Some(0) && destroyed.out.contains("Destruction complete"), "{destroyed:?}");
    let left: Value = serde_json::from_str(&fs::read_to_string(&state).unwrap()).unwrap();
    assert_eq!(left["resources"], json!([]));
}

#[test]
fn a_whole_life_without_a_running_draftboard() {
    if !TERRAFORM.is_available() {
        return;
    }
    let bench = TerraformFixture::new("blank");
    bench.add("first", json!({ "input": "one" }));
    life(&bench);
    bench.home.assert_deserted();
}

#[test]
fn a_whole_life_through_a_running_draftboard() {
    if !TERRAFORM.is_available() {
        return;
    }
    let bench = TerraformFixture::new("blank");
    bench.add("first", json!({ "input": "one" }));
    let running = bench.serve();
    life(&bench);
    // The run is over a moment before everybody is told how the nodes stand.
    wait_for("what was destroyed to be so for agents", || {
        let status = bench.data(&["call", "get_deployment_status"]);
        status.as_object().unwrap().values().all(|status| *status == json!("destroyed")).then_some(())
    });
    assert_eq!(running.stop().code, Some(0));
    bench.home.assert_deserted();
}

#[test]
fn secrets_come_from_the_environment_and_are_written_nowhere() {
    if !TERRAFORM.is_available() {
        return;
    }
    let bench = TerraformFixture::new("blank");
    bench.edit(&json!([
        { "addNode": { "board": "infrastructure", "type": "terraform/core/variable", "name": "token",
            "props": { "type": "string", "sensitive": true } } },
        { "addNode": { "board": "infrastructure", "type": "terraform/core/terraform_data", "name": "holder",
            "props": { "input": { "$hcl": "var.token" }, "extra":
                "provisioner \"local-exec\" {\n  command = \"echo $TF_VAR_token\"\n}\n" } } }
    ]));
    let running = bench.serve();
    assert_eq!(bench.run(&["terraform", "init"]).code, Some(0));
    let without = bench.run(&["terraform", "plan"]);
    assert!(without.code == Some(1), "{without:?}");
    let mut with = bench.command(&["terraform", "plan"]);
    with.env("TF_VAR_token", "hush-hush-hush");
    let planned = finished(with);
    assert_eq!(planned.code, Some(0), "{planned:?}");
    // It is known from then on, and what it does is not told.
    let mut client = Client::connect(&bench.home, &bench.workspace).unwrap();
    let run = start(&mut client, "applyPlan");
    let lines = until(&mut client, run, |view, _| {
        view["state"].get("running").is_none() && view["state"] != "running"
    });
    assert!(lines.iter().any(|line| line.contains("(sensitive)")), "{lines:#?}");
    assert_eq!(running.stop().code, Some(0));
    let found = grep(&bench.workspace, "hush-hush-hush");
    let found: Vec<&PathBuf> =
        found.iter().filter(|path| !path.to_string_lossy().contains("terraform.tfstate")).collect();
    assert!(found.is_empty(), "{found:?}");
}

fn grep(folder: &Path, needle: &str) -> Vec<PathBuf> {
    let mut found = Vec::new();
    for entry in fs::read_dir(folder).unwrap().flatten() {
        let path = entry.path();
        if path.is_dir() {
            found.extend(grep(&path, needle));
        } else {
            let bytes = fs::read(&path).unwrap_or_default();
            if bytes.windows(needle.len()).any(|window| window == needle.as_bytes()) {
                found.push(path);
            }
        }
    }
    found
}

fn board_of(client: &mut Client) -> String {
    let document = client.request(json!({ "readDocument": {} })).unwrap().unwrap();
    document["boards"][0]["id"].as_str().unwrap().to_owned()
}

fn start(client: &mut Client, operation: &str) -> u64 {
    let board = board_of(client);
    let run =
        json!({ "startRun": { "board": board, "operation": operation, "confirmed": true, "secrets": [] } });
    let started = client.request(run).unwrap().unwrap();
    started.as_u64().unwrap_or_else(|| panic!("{started}"))
}

/// The lines of a run up to the moment when it is so.
fn until(client: &mut Client, run: u64, is_so: impl Fn(&Value, &[String]) -> bool) -> Vec<String> {
    let mut lines = Vec::new();
    wait_for("a run to come so far", || {
        let asked = json!({ "readRunLines": { "run": run, "from": lines.len() } });
        let answer = client.request(asked).unwrap().unwrap();
        let texts =
            answer[1].as_array().unwrap().iter().map(|line| line["text"].as_str().unwrap().to_owned());
        lines.extend(texts);
        is_so(&answer[0], &lines).then(|| lines.clone())
    })
}

#[test]
fn a_killed_draftboard_leaves_no_process_and_the_next_one_says_what_happened() {
    if !TERRAFORM.is_available() {
        return;
    }
    let bench = TerraformFixture::new("blank");
    let marker = 9_000_000 + u64::from(std::process::id());
    let extra =
        format!("provisioner \"local-exec\" {{\n  command = \"echo started; exec sleep {marker}\"\n}}\n");
    bench.add("slow", json!({ "extra": extra }));
    assert_eq!(bench.run(&["terraform", "init"]).code, Some(0));
    let mut running = bench.serve();
    let mut client = Client::connect(&bench.home, &bench.workspace).unwrap();
    let run = start(&mut client, "apply");
    until(&mut client, run, |_, lines| {
        lines.iter().any(|line| line.contains("started") && !line.contains("sleep"))
    });
    assert!(bench.home.processes().len() > 2, "main, a warden, terraform");
    running.kill();
    wait_for("nothing to be left", || bench.home.processes().is_empty().then_some(()));

    let running = bench.serve();
    let mut client = Client::connect(&bench.home, &bench.workspace).unwrap();
    let board = board_of(&mut client);
    let history = client.request(json!({ "listRuns": { "board": board } })).unwrap().unwrap();
    let last = &history[0];
    assert_eq!((&last["operation"], &last["state"]), (&json!("apply"), &json!("interrupted")), "{history}");
    let log = fs::read_to_string(bench.workspace.join(last["log"].as_str().unwrap())).unwrap();
    assert!(log.contains("started"), "{log}");
    drop(client);
    let plan = bench.run(&["terraform", "plan"]);
    assert!(plan.err.contains("was interrupted"), "{plan:?}");
    assert!(
        !bench.run(&["terraform", "plan"]).err.contains("was interrupted"),
        "it is told until something else was run"
    );
    assert_eq!(running.stop().code, Some(0));
    bench.home.assert_deserted();
}

#[test]
fn a_cancelled_run_leaves_no_process() {
    if !TERRAFORM.is_available() {
        return;
    }
    let bench = TerraformFixture::new("blank");
    let marker = 9_500_000 + u64::from(std::process::id());
    let extra =
        format!("provisioner \"local-exec\" {{\n  command = \"echo started; exec sleep {marker}\"\n}}\n");
    bench.add("slow", json!({ "extra": extra }));
    assert_eq!(bench.run(&["terraform", "init"]).code, Some(0));
    let running = bench.serve();
    let mut client = Client::connect(&bench.home, &bench.workspace).unwrap();
    let run = start(&mut client, "apply");
    until(&mut client, run, |_, lines| {
        lines.iter().any(|line| line.contains("started") && !line.contains("sleep"))
    });
    client.request(json!({ "cancelRun": { "run": run } })).unwrap().unwrap();
    until(&mut client, run, |view, _| view["state"].get("cancelled").is_some());
    assert_eq!(bench.home.processes(), [running.pid()], "main alone is left");
    assert_eq!(running.stop().code, Some(0));
}

#[test]
fn the_rehearsal_is_applied_and_then_has_nothing_to_do() {
    if !TERRAFORM.is_available() || !TERMINAL.is_available() {
        return;
    }
    let bench = TerraformFixture::new("example");
    assert_eq!(bench.run(&["terraform", "init", "rehearsal"]).code, Some(0));
    let applied = bench.at_terminal(&["terraform", "apply", "rehearsal"], "yes\n");
    assert!(applied.code == Some(0) && applied.out.contains("Creation complete"), "{applied:?}");
    let again = bench.data(&["terraform", "plan", "rehearsal"]);
    assert_eq!(again["run"]["summary"], json!({ "add": 0, "change": 0, "remove": 0 }));

    // What is built on the database is replaced when the database goes.
    bench.edit(&json!([{ "remove": { "nodes": ["rehearsal/database"] } }]));
    let without = bench.data(&["terraform", "plan", "rehearsal"]);
    assert_eq!(without["run"]["summary"], json!({ "add": 2, "change": 0, "remove": 3 }), "{without}");
    let changes = without["changes"].as_array().unwrap();
    let action = |name: &str| {
        let address = format!("terraform_data.{name}");
        changes.iter().find(|change| change["address"] == *address).map(|change| &change["action"])
    };
    assert_eq!(action("database"), Some(&json!("delete")), "{without}");
    assert_eq!((action("web"), action("report")), (Some(&json!("replace")), Some(&json!("replace"))));
}

#[test]
fn the_function_of_the_example_is_there_where_its_file_says() {
    let bench = TerraformFixture::new("three-tier");
    assert_eq!(bench.run(&["hcl", "--write"]).code, Some(0));
    let folder = bench.workspace.join("terraform/three-tier");
    let main = fs::read_to_string(folder.join("main.tf")).unwrap();
    let named = main.lines().find_map(|line| line.trim().strip_prefix("filename")).unwrap();
    let package = fs::read(folder.join(named.trim_matches([' ', '=', '"']))).unwrap();
    assert!(package.starts_with(b"PK\x03\x04"), "a zip file");
    // Stored, not compressed: the source stands in it as it is.
    let source = fs::read(bench.workspace.join("functions/notify/index.mjs")).unwrap();
    assert!(package.windows(source.len()).any(|window| window == source), "made of another source");
}

/// A server that answers as AWS does; killed when dropped.
struct Moto {
    _child: KilledOnDrop,
    address: String,
}

impl Moto {
    fn start() -> Self {
        // The port is free at this moment; a server that loses it to another ends at once and the wait below says so.
        let port = free_port();
        let mut command = Command::new(moto_program());
        command
            .args(["-H", "127.0.0.1", "-p", &port.to_string()])
            .stdout(Stdio::null())
            .stderr(Stdio::null());
        let mut child = KilledOnDrop(command.spawn().unwrap());
        wait_for("moto to listen", || {
            assert!(child.try_wait().unwrap().is_none(), "moto ended");
            std::net::TcpStream::connect(("127.0.0.1", port)).ok()
        });
        Self { _child: child, address: format!("http://127.0.0.1:{port}") }
    }
}

/// Takes minutes: the provider waits for load balancers and databases at a pace of its own.
#[test]
fn the_example_is_deployed_with_the_real_provider() {
    if ![TERRAFORM, AWS_PROVIDER, MOTO].iter().all(TestRequirement::is_available) {
        return;
    }
    let (program, mirror) = (terraform_program().unwrap(), provider_mirror("aws").unwrap());
    let moto = Moto::start();
    let bench = TerraformFixture::new("example");
    let config = bench.workspace.join("draftboard.toml");
    // The provider on this machine may be older than the one that is asked for by default.
    let any = "\n[infrastructure.providers.aws]\nversion = \">= 5.0\"\n";
    fs::write(&config, fs::read_to_string(&config).unwrap() + any).unwrap();
    assert_eq!(bench.run(&["hcl", "three-tier", "--write"]).code, Some(0));
    let rc = bench.home.path("terraformrc");
    let installation = format!("filesystem_mirror {{\n    path = \"{}\"\n  }}", mirror.display());
    fs::write(&rc, format!("provider_installation {{\n  {installation}\n}}\n")).unwrap();
    let run = |arguments: &[&str]| {
        let mut command = Command::new(program);
        command.current_dir(bench.workspace.join("terraform/three-tier")).args(arguments);
        for (name, _) in std::env::vars_os() {
            if name.to_string_lossy().starts_with("AWS_") || name.to_string_lossy().starts_with("TF_") {
                command.env_remove(name);
            }
        }
        command
            .env("TF_CLI_CONFIG_FILE", &rc)
            .env("AWS_ENDPOINT_URL", &moto.address)
            .env("AWS_ACCESS_KEY_ID", "none")
            .env("AWS_SECRET_ACCESS_KEY", "none")
            .env("AWS_EC2_METADATA_DISABLED", "true")
            .env("AWS_CONFIG_FILE", bench.home.path("none"))
            .env("AWS_SHARED_CREDENTIALS_FILE", bench.home.path("none"));
        let output = command.output().unwrap();
        let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
        (output.status.code(), text(&output.stdout) + &text(&output.stderr))
    };
    let succeed = |arguments: &[&str]| {
        let (code, said) = run(arguments);
        assert_eq!(code, Some(0), "{arguments:?}: {said}");
        said
    };
    succeed(&["init", "-no-color", "-input=false"]);
    let valid = succeed(&["validate", "-no-color"]);
    assert!(valid.contains("The configuration is valid") && !valid.contains("Warning"), "{valid}");
    let applied = succeed(&["apply", "-no-color", "-input=false", "-auto-approve"]);
    assert!(applied.contains("Apply complete! Resources: 31 added"), "{applied}");
    let (code, said) = run(&["plan", "-no-color", "-input=false", "-detailed-exitcode"]);
    assert_eq!(code, Some(0), "a second plan has something to do: {said}");
    let destroyed = succeed(&["destroy", "-no-color", "-input=false", "-auto-approve"]);
    assert!(destroyed.contains("Destroy complete! Resources: 31 destroyed"), "{destroyed}");
}
