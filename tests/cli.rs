//! Every command through the executable: exit codes, what goes to which stream, and what a refusal says.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, clippy::print_stdout, reason = "a test")]

mod support;

use serde_json::{Value, json};
use std::{
    fs,
    path::{Path, PathBuf},
};
use support::home::{HomeFixture, Outcome, Running, finished};
use test_support::{
    requirements::{FONTS, OTHER_USER, TERRAFORM},
    wait_for,
};

/// A home with one blank workspace.
struct CliFixture {
    home: HomeFixture,
    workspace: PathBuf,
}

impl CliFixture {
    fn new() -> Self {
        let home = HomeFixture::new();
        let workspace = home.workspace("workspace", "blank");
        Self { home, workspace }
    }

    /// A command on the workspace.
    fn run(&self, arguments: &[&str]) -> Outcome {
        let mut all = arguments.to_vec();
        all.extend(["-w", self.workspace.to_str().unwrap()]);
        self.home.run(&all)
    }

    /// What it answers in JSON.
    fn data(&self, arguments: &[&str]) -> Value {
        let mut all = arguments.to_vec();
        all.push("--json");
        self.run(&all).data()
    }

    fn commands(&self, commands: &Value) -> String {
        let file = self.home.path("commands.json");
        fs::write(&file, commands.to_string()).unwrap();
        file.to_str().unwrap().to_owned()
    }

    fn edit(&self, commands: &Value) -> Value {
        self.data(&["edit", "-f", &self.commands(commands)])
    }

    fn state(&self) -> Value {
        self.data(&["status"])
    }

    fn boards(&self) -> Vec<(String, Vec<u8>)> {
        files_below(&self.workspace.join("boards"))
    }
}

fn files_below(folder: &Path) -> Vec<(String, Vec<u8>)> {
    let mut files: Vec<(String, Vec<u8>)> = fs::read_dir(folder)
        .unwrap()
        .map(|entry| entry.unwrap().path())
        .map(|path| (path.file_name().unwrap().to_str().unwrap().to_owned(), fs::read(&path).unwrap()))
        .collect();
    files.sort();
    files
}

fn add(name: &str) -> Value {
    json!({"addNode": {"board": "infrastructure", "type": "terraform/core/group", "name": name}})
}

/// Exit code 1, nothing on standard output, and all of these words on standard error.
fn assert_refused(outcome: &Outcome, words: &[&str]) {
    assert_eq!((outcome.code, outcome.out.as_str()), (Some(1), ""), "{outcome:?}");
    for word in words {
        assert!(outcome.err.contains(word), "{word}: {outcome:?}");
    }
}

#[test]
fn new_makes_a_workspace_that_opens_and_does_not_replace_one() {
    let home = HomeFixture::new();
    for (template, boards) in [("blank", 1), ("three-tier", 1), ("interface", 1), ("spec", 1), ("example", 4)]
    {
        let folder = home.path(template);
        let folder = folder.to_str().unwrap();
        let made = home.run(&["new", folder, "--template", template, "--json"]);
        assert_eq!(made.data(), json!({ "workspace": folder }));
        let view = home.run(&["status", "-w", folder, "--json"]).data();
        assert_eq!(
            (&view["boards"], &view["revision"], &view["saved"]),
            (&json!(boards), &json!(0), &json!(0))
        );
        assert_eq!(home.run(&["validate", "-w", folder]).code, Some(0), "a new workspace has no errors");
        let before = files_below(&Path::new(folder).join("boards"));
        assert_refused(&home.run(&["new", folder]), &["is already a workspace", "draftboard "]);
        assert_eq!(files_below(&Path::new(folder).join("boards")), before);
    }
    let said = home.run(&["new", home.path("third").to_str().unwrap()]);
    assert!(said.out.contains("Open it with: draftboard") && said.err.is_empty(), "{said:?}");
    fs::write(home.path("file"), "").unwrap();
    assert_refused(&home.run(&["new", home.path("file/below").to_str().unwrap()]), &["choose a folder"]);
}

#[test]
fn an_edit_is_one_operation_or_nothing() {
    let bench = CliFixture::new();
    assert_eq!(bench.run(&["log"]).out, "No changes yet.\n");
    assert_refused(
        &bench.run(&["edit", "-f", "-"]),
        &["standard input does not contain a JSON list of commands"],
    );
    let file = bench.commands(&json!([add("a"), add("b")]));
    let applied = bench.data(&["edit", "-f", &file, "-m", "Two groups"]);
    assert_eq!((&applied["revision"], &applied["summary"]), (&json!(1), &json!("Two groups")));
    assert_eq!(applied["created"].as_array().unwrap().len(), 2);
    let before = (bench.state(), bench.data(&["log"]), bench.boards());

    let refused = bench.run(&["edit", "-f", &bench.commands(&json!([add("c"), add("a")]))]);
    assert_refused(&refused, &["command 1", "`a` is taken", "a_2", "No command of the batch was applied"]);
    let nowhere = json!([{"addNode": {"board": "infrastucture", "type": "terraform/core/group"}}]);
    assert_refused(
        &bench.run(&["edit", "-f", &bench.commands(&nowhere)]),
        &["no board `infrastucture`", "infrastructure"],
    );
    let elsewhere = json!([{"addNode": {"board": "main", "type": "terraform/core/group"}}]);
    assert_refused(
        &bench.run(&["edit", "-f", &bench.commands(&elsewhere)]),
        &["no board `main`", "infrastructure"],
    );
    for (what, text) in [
        ("no JSON", "[{"),
        ("no list", r#"{"addNode": {}}"#),
        ("no command", r#"[{"fly": {}}]"#),
        ("an unknown field", r#"[{"remove": {"nodes": [], "force": true}}]"#),
    ] {
        let file = bench.home.path("bad.json");
        fs::write(&file, text).unwrap();
        let refused = bench.run(&["edit", "-f", file.to_str().unwrap()]);
        assert_refused(
            &refused,
            &["bad.json does not contain a JSON list of commands", "draftboard edit --help"],
        );
        assert!(refused.err.contains("line 1"), "{what} says where: {refused:?}");
    }
    assert_refused(&bench.run(&["edit", "-f", "/nowhere/at/all"]), &["/nowhere/at/all could not be read"]);
    assert_eq!((bench.state()["revision"].clone(), bench.data(&["log"]), bench.boards()), {
        let (state, log, boards) = before;
        (state["revision"].clone(), log, boards)
    });

    // From standard input, too.
    let mut command = bench.home.command();
    command.args(["edit", "-f", "-", "--json", "-w"]).arg(&bench.workspace);
    command.stdin(fs::File::open(bench.commands(&json!([add("d")]))).unwrap());
    assert_eq!(finished(command).data()["revision"], 2);
}

#[test]
fn unknown_types_come_with_a_few_suggestions() {
    let bench = CliFixture::new();
    for wrong in ["aws/networking/vcp", "aws/network/subnet", "terraform/core/grup", "x"] {
        let command = json!([{"addNode": {"board": "infrastructure", "type": wrong}}]);
        let refused = bench.run(&["edit", "-f", &bench.commands(&command), "--json"]);
        assert_eq!(refused.code, Some(1));
        let error = &refused.json()["error"];
        let suggestions = error["suggestions"].as_array().unwrap();
        assert!(suggestions.len() <= 5, "{error}");
        assert!(wrong == "x" || !suggestions.is_empty(), "{error}");
        assert!(error["message"].as_str().unwrap().contains(wrong), "{error}");
    }
    let command = json!([{"addNode": {"board": "infrastructure", "type": "aws/networking/vcp"}}]);
    let refused = bench.run(&["edit", "-f", &bench.commands(&command)]);
    assert_refused(&refused, &["did you mean", "aws/networking/vpc"]);
}

#[test]
fn undo_redo_and_the_log_tell_one_story() {
    let bench = CliFixture::new();
    assert_refused(&bench.run(&["undo"]), &["nothing to undo"]);
    assert_refused(&bench.run(&["redo"]), &["nothing to redo"]);
    let [a, b] =
        ["a", "b"].map(|name| bench.edit(&json!([add(name)]))["summary"].as_str().unwrap().to_owned());
    assert_eq!(bench.state()["nodes"], 2);
    assert_eq!(bench.data(&["undo"])["revision"], 3);
    assert_eq!(bench.state()["nodes"], 1);
    assert_eq!(bench.data(&["redo"])["revision"], 4);
    assert_eq!(bench.state()["nodes"], 2);
    assert_refused(&bench.run(&["redo"]), &["nothing to redo"]);
    let log = bench.data(&["log"]);
    let log: Vec<(u64, &str)> = log
        .as_array()
        .unwrap()
        .iter()
        .map(|entry| (entry["revision"].as_u64().unwrap(), entry["summary"].as_str().unwrap()))
        .collect();
    assert_eq!(log, [(4, format!("Redo: {b}").as_str()), (3, &format!("Undo: {b}")), (2, &b), (1, &a)]);
    assert_eq!(bench.data(&["log", "--limit", "1"]).as_array().unwrap().len(), 1);
    let said = bench.run(&["log"]);
    assert_eq!(said.out.lines().count(), 4);
    assert!(said.out.contains("tester") && said.err.is_empty(), "{said:?}");
    bench.data(&["undo"]);
    bench.data(&["undo"]);
    assert_eq!(bench.state()["nodes"], 0, "undo goes on behind what was redone");
}

#[test]
fn an_older_operation_is_reverted_where_it_can_be() {
    let bench = CliFixture::new();
    let said = bench.edit(&json!([add("a")]))["summary"].clone();
    bench.edit(&json!([add("b")]));
    assert_eq!(bench.data(&["revert", "1"])["summary"], format!("Revert 1: {}", said.as_str().unwrap()));
    assert_eq!(bench.state()["nodes"], 1);
    assert_refused(&bench.run(&["revert", "99"]), &["operation 99", "draftboard log"]);

    // Later work stands in the way of a part.
    bench.edit(&json!([add("c"), add("d")]));
    bench.edit(&json!([
        {"updateNode": {"node": "c", "label": "First"}},
        {"updateNode": {"node": "d", "label": "First"}}
    ]));
    let labelled = bench.state()["revision"].as_u64().unwrap();
    bench.edit(&json!([{"updateNode": {"node": "d", "label": "Second"}}]));
    let (before, revision) = (bench.state()["revision"].clone(), labelled.to_string());
    let refused = bench.run(&["revert", &revision]);
    assert_refused(&refused, &["conflicts with later changes", "1 of 2 changes", "partial"]);
    assert_eq!(bench.state()["revision"], before);
    bench.data(&["revert", &revision, "--partial"]);
    let exported = bench.home.path("board.md");
    bench.data(&["export", "infrastructure", "--to", exported.to_str().unwrap()]);
    let text = fs::read_to_string(exported).unwrap();
    assert!(text.contains("Second") && !text.contains("First"), "{text}");
}

#[test]
fn validate_fails_for_errors_only() {
    let bench = CliFixture::new();
    let clean = bench.run(&["validate"]);
    assert_eq!((clean.code, clean.out.as_str(), clean.err.as_str()), (Some(0), "No problems\n", ""));
    // A bucket without the name that it must have.
    bench.edit(&json!([{"addNode": {"board": "infrastructure", "type": "aws/storage/s3_bucket"}}]));
    let found = bench.run(&["validate"]);
    assert_eq!((found.code, found.err.as_str()), (Some(1), ""), "{found:?}");
    assert!(found.out.contains("error: infrastructure/") && found.out.contains(".bucket"), "{found:?}");
    assert!(!found.out.contains(" n-"), "an id says nothing to a person: {found:?}");
    let json = bench.run(&["validate", "--json"]);
    assert_eq!((json.code, &json.json()["ok"]), (Some(1), &json!(false)));
    assert!(json.json()["data"].as_array().unwrap().iter().any(|problem| problem["field"] == "bucket"));
}

#[test]
fn an_export_draws_other_scripts_and_not_boxes() {
    let home = HomeFixture::new();
    let doctor = home.run(&["doctor", "--json"]).json();
    let fonts = doctor["data"].as_array().unwrap().iter().find(|finding| finding["what"] == "fonts").unwrap();
    if fonts["verdict"] != "ok" {
        return FONTS.skip(&fonts["found"].to_string());
    }
    let workspace = home.workspace("words", "blank");
    let workspace = workspace.to_str().unwrap();
    let edit = |commands: Value| {
        fs::write(home.path("home/edit.json"), commands.to_string()).unwrap();
        let edited = home.run(&["edit", "-f", "edit.json", "-w", workspace]);
        assert_eq!(edited.code, Some(0), "{edited:?}");
    };
    edit(serde_json::json!([
        {"addBoard": {"kind": "infrastructure", "title": "Words"}},
        {"addNode": {"board": "words", "type": "aws/storage/s3_bucket", "name": "bucket"}}
    ]));
    let drawn = |label: &str| {
        edit(serde_json::json!([{"updateNode": {"node": "words/bucket", "label": label}}]));
        let exported = home.run(&["export", "words", "--to", "words.png", "-w", workspace]);
        assert_eq!(exported.code, Some(0), "{exported:?}");
        fs::read(home.path("home/words.png")).unwrap()
    };
    // As boxes, texts of the same length look the same.
    for (one, other) in
        [("数据库", "缓存层"), ("한국어", "데이터"), ("אבג", "דהו"), ("กขค", "งจฉ"), ("कखग", "घचछ")]
    {
        assert!(drawn(one) != drawn(other), "{one} and {other} are drawn alike");
    }
}

#[test]
fn a_board_is_exported_in_the_format_of_the_file_s_name() {
    let home = HomeFixture::new();
    let workspace = home.workspace("example", "example");
    let workspace = workspace.to_str().unwrap();
    let export =
        |board: &str, file: &str| home.run(&["export", board, "--to", file, "-w", workspace, "--json"]);
    for board in ["spec", "three-tier", "locker-app"] {
        // A name without a folder means the folder one is in.
        let bytes = export(board, "out.png").data()["bytes"].as_u64().unwrap();
        let png = fs::read(home.path("home/out.png")).unwrap();
        assert_eq!(png.len() as u64, bytes);
        assert_eq!(png[..8], *b"\x89PNG\r\n\x1a\n");
        let side = |at: usize| u32::from_be_bytes(png[at..at + 4].try_into().unwrap());
        assert_eq!(&png[12..16], b"IHDR");
        assert!(side(16) > 100 && side(20) > 100 && side(16) <= 16_384, "{} × {}", side(16), side(20));
        export(board, "out.SVG").data();
        let svg = fs::read_to_string(home.path("home/out.SVG")).unwrap();
        assert!(svg.trim_start().starts_with("<svg") && svg.trim_end().ends_with("</svg>"), "{svg}");
        export(board, "out.md").data();
        assert!(fs::read_to_string(home.path("home/out.md")).unwrap().starts_with('#'));
    }
    let spec = fs::read_to_string(home.path("home/out.md")).unwrap();
    export("locker-app", "again.md").data();
    assert_eq!(
        fs::read_to_string(home.path("home/again.md")).unwrap(),
        spec,
        "the same board, the same text"
    );
    for (board, file, words) in [
        ("spec", "out.gif", &["out.gif", ".png, .svg or .md"][..]),
        ("spec", "out", &[".png, .svg or .md"]),
        ("speck", "out.png", &["no board `speck`", "spec, rehearsal, three-tier"]),
        ("spec", "/nowhere/at/all/out.md", &["could not be written"]),
    ] {
        assert_refused(&home.run(&["export", board, "--to", file, "-w", workspace]), words);
    }
}

#[test]
fn the_example_has_no_problems_and_is_saved_as_it_came() {
    let home = HomeFixture::new();
    let workspace = home.workspace("example", "example");
    let folder = workspace.to_str().unwrap();
    let found = home.run(&["validate", "-w", folder]);
    assert_eq!((found.code, found.out.trim()), (Some(0), "No problems"), "{found:?}");
    for board in ["rehearsal", "three-tier"] {
        let hcl = home.run(&["hcl", board, "-w", folder]);
        assert!(hcl.code == Some(0) && hcl.err.is_empty(), "{hcl:?}");
    }
    let fresh = files_below(&workspace.join("boards"));
    let nodes = [
        ("rehearsal/web", "Web service"),
        ("three-tier/db", "Locker database"),
        ("locker-app/code", "Code"),
        ("spec/guess", "Guessed code"),
    ];
    // Every board is written with a change and then with the change taken back.
    for change in ["!", ""] {
        let edits: Vec<Value> = nodes
            .iter()
            .map(|(node, label)| json!({"updateNode": {"node": node, "label": format!("{label}{change}")}}))
            .collect();
        let file = home.path("edits.json");
        fs::write(&file, json!(edits).to_string()).unwrap();
        home.run(&["edit", "-f", file.to_str().unwrap(), "-w", folder, "--json"]).data();
        let saved = home.run(&["save", "-w", folder, "--json"]).data();
        assert_eq!(saved["files"].as_array().unwrap().len(), nodes.len(), "{saved}");
        assert_eq!(files_below(&workspace.join("boards")) == fresh, change.is_empty());
    }
}

#[test]
fn saved_files_are_the_same_for_the_same_content() {
    let bench = CliFixture::new();
    let fresh = bench.boards();
    assert_eq!(bench.data(&["save"]), json!({"revision": 0, "files": []}), "nothing to save");
    assert_eq!(bench.boards(), fresh);
    bench.edit(&json!([
        {"addNode": {"board": "infrastructure", "type": "aws/networking/vpc", "name": "net", "props": {"cidr_block": "10.0.0.0/16"}}},
        {"addNode": {"board": "infrastructure", "type": "aws/networking/subnet", "name": "a", "parent": "net",
                     "props": {"cidr_block": "10.0.1.0/24"}}},
        {"addBoard": {"kind": "spec", "title": "Spec"}}
    ]));
    assert_eq!(bench.boards(), fresh, "an edit alone writes no file");
    assert_ne!(bench.state()["saved"], bench.state()["revision"]);
    let saved = bench.data(&["save"]);
    assert_eq!(saved["files"], json!(["boards/infrastructure.board.json", "boards/spec.board.json"]));
    let first = bench.boards();
    assert_ne!(first, fresh);
    assert_eq!(bench.data(&["save"])["files"], json!([]));
    assert_eq!(bench.boards(), first, "saved twice");
    assert_eq!(bench.state()["saved"], bench.state()["revision"]);

    // There and back leaves not a byte of difference.
    bench.edit(&json!([{"updateNode": {"node": "net", "label": "Elsewhere"}}]));
    bench.data(&["save"]);
    assert_ne!(bench.boards(), first);
    bench.data(&["undo"]);
    bench.data(&["save"]);
    assert_eq!(bench.boards(), first);

    // Without the journal the files alone give the same workspace, and writing it gives the same files.
    let copy = bench.home.path("copy");
    fs::create_dir_all(copy.join("boards")).unwrap();
    fs::copy(bench.workspace.join("draftboard.toml"), copy.join("draftboard.toml")).unwrap();
    for (name, bytes) in &first {
        fs::write(copy.join("boards").join(name), bytes).unwrap();
    }
    let other = CliFixture { home: HomeFixture::new(), workspace: copy };
    let counts = |view: &Value| (view["boards"].clone(), view["nodes"].clone(), view["edges"].clone());
    assert_eq!(counts(&other.state()), counts(&bench.state()));
    other.edit(&json!([{"updateNode": {"node": "a", "label": "x"}}]));
    other.data(&["undo"]);
    other.data(&["save"]);
    assert_eq!(other.boards(), first);
}

#[test]
fn commands_are_the_same_with_and_without_a_running_draftboard() {
    let bench = CliFixture::new();
    let alone = bench.edit(&json!([add("a")]));
    let running = Running::serve(&bench.home, &bench.workspace);
    let together = bench.edit(&json!([add("b")]));
    assert_eq!((&alone["revision"], &together["revision"]), (&json!(1), &json!(2)));
    assert_eq!(bench.state()["pid"], running.pid());
    assert_eq!(bench.data(&["log"]).as_array().unwrap().len(), 2);
    assert_refused(&bench.run(&["revert", "77"]), &["operation 77", "draftboard log"]);
    bench.data(&["undo"]);
    bench.data(&["save"]);
    assert_eq!(running.stop().code, Some(0));
    assert_eq!(bench.state()["revision"], 3);
    assert_eq!(bench.data(&["redo"])["revision"], 4);
}

#[test]
fn every_command_speaks_json() {
    let bench = CliFixture::new();
    bench.edit(&json!([add("a")]));
    let file = bench.commands(&json!([add("z")]));
    let out = bench.home.path("x.md");
    let out = out.to_str().unwrap();
    let good: &[&[&str]] = &[
        &["status"],
        &["log"],
        &["validate"],
        &["undo"],
        &["redo"],
        &["revert", "1"],
        &["edit", "-f", &file],
        &["save"],
        &["export", "infrastructure", "--to", out],
    ];
    let bad: &[&[&str]] = &[
        &["redo"],
        &["revert", "99"],
        &["edit", "-f", &file],
        &["export", "nothing", "--to", out],
        &["resolve", "infrastructure", "--keep", "mine"],
        &["resolve", "nothing", "--keep", "theirs"],
    ];
    for (arguments, ok) in good.iter().map(|a| (a, true)).chain(bad.iter().map(|a| (a, false))) {
        let mut all = arguments.to_vec();
        all.push("--json");
        let outcome = bench.run(&all);
        let json = outcome.json();
        assert_eq!(
            (outcome.code, &json["ok"]),
            (Some(i32::from(!ok)), &json!(ok)),
            "{arguments:?}: {outcome:?}"
        );
        assert_eq!(outcome.err, "", "{arguments:?}");
        let part = if ok { "data" } else { "error" };
        assert!(json.get(part).is_some(), "{arguments:?}: {json}");
        if !ok {
            let error = &json["error"];
            assert!(
                error["code"].is_string() && error["message"].as_str().is_some_and(|text| !text.is_empty()),
                "{error}"
            );
        }
    }
    let folder = bench.home.path("new");
    for (arguments, ok) in [
        (vec!["new", folder.to_str().unwrap(), "--json"], true),
        (vec!["new", folder.to_str().unwrap(), "--json"], false),
        (vec!["status", "--json"], true),
        (vec!["serve", "/nowhere/at/all", "--json"], false),
        (vec!["log", "--json"], false),
    ] {
        assert_eq!(bench.home.run(&arguments).json()["ok"], ok, "{arguments:?}");
    }
}

#[test]
fn the_doctor_lists_what_it_looked_at() {
    let home = HomeFixture::new();
    let outcome = home.run(&["doctor", "--json"]);
    let json = outcome.json();
    let findings = json["data"].as_array().unwrap();
    assert!(findings.len() >= 6, "{json}");
    let missing = findings.iter().any(|finding| finding["verdict"] == "missing");
    assert_eq!((&json["ok"], outcome.code), (&json!(!missing), Some(i32::from(missing))));
    for finding in findings {
        assert!(finding["verdict"] == "ok" || finding["fix"].is_string(), "it says what to do: {finding}");
    }
    let display = findings.iter().find(|finding| finding["what"] == "display").unwrap();
    assert_eq!(display["verdict"], "missing");
    assert_eq!(
        home.run(&["doctor"]).out.lines().filter(|line| !line.starts_with(' ')).count(),
        findings.len()
    );
}

#[test]
fn completions_are_there_for_the_common_shells() {
    let home = HomeFixture::new();
    for (shell, word) in
        [("bash", "complete"), ("zsh", "#compdef draftboard"), ("fish", "complete -c draftboard")]
    {
        let script = home.run(&["completions", shell]);
        assert_eq!((script.code, script.err.as_str()), (Some(0), ""));
        assert!(
            script.out.len() > 1_000 && script.out.contains(word) && script.out.contains("validate"),
            "{shell}"
        );
    }
    assert_eq!(home.run(&["completions", "tcl"]).code, Some(2));
    // A reader that had enough is no fault of ours.
    let mut command = home.command();
    let (reader, writer) = std::io::pipe().unwrap();
    drop(reader);
    command.args(["completions", "zsh"]).stdout(writer).stderr(std::process::Stdio::piped());
    let output = command.output().unwrap();
    assert!(!String::from_utf8_lossy(&output.stderr).contains("panicked"), "{output:?}");
}

#[test]
fn wrong_usage_is_exit_code_two() {
    let bench = CliFixture::new();
    for arguments in [
        &["log", "--limit", "many"][..],
        &["log", "--nonsense"],
        &["edit"],
        &["revert"],
        &["revert", "one"],
        &["export", "infrastructure"],
        &["resolve", "infrastructure"],
        &["resolve", "infrastructure", "--keep", "both"],
        &["new"],
        &["new", "x", "--template", "nice"],
        &["save", "extra"],
        &["completions"],
        &["one", "two"],
    ] {
        let outcome = bench.home.run(arguments);
        assert_eq!((outcome.code, outcome.out.as_str()), (Some(2), ""), "{arguments:?}: {outcome:?}");
        assert!(
            outcome.err.starts_with("error: ") && outcome.err.contains("--help"),
            "{arguments:?}: {outcome:?}"
        );
    }
    for arguments in [&["--help"][..], &["help"], &["edit", "--help"], &["--version"]] {
        let outcome = bench.home.run(arguments);
        assert_eq!((outcome.code, outcome.err.as_str()), (Some(0), ""), "{arguments:?}");
        assert!(outcome.out.contains("draftboard"), "{arguments:?}: {outcome:?}");
    }
}

#[test]
fn what_is_no_workspace_is_told_with_the_way_to_one() {
    let home = HomeFixture::new();
    let folder = home.path("home");
    let folder = folder.to_str().unwrap();
    for verb in ["status", "log", "validate", "save", "undo", "redo"] {
        assert_refused(&home.run(&[verb, "-w", folder]), &["is not a workspace", "draftboard new"]);
        assert_refused(&home.run(&[verb, "-w", "/nowhere/at/all"]), &["does not exist", "draftboard new"]);
    }
    assert_refused(&home.run(&["serve", folder]), &["is not a workspace", "draftboard new"]);
    assert_refused(&home.run(&["serve"]), &["no workspace here", "draftboard new"]);
    assert_refused(&home.run(&["log"]), &["no workspace here", "--workspace", "draftboard new"]);
    assert_eq!(fs::read_dir(folder).unwrap().count(), 0, "looking leaves nothing behind");
    // From a folder within, the workspace around it is meant.
    let workspace = home.workspace("workspace", "blank");
    let mut command = home.command();
    command.arg("log").current_dir(workspace.join("boards"));
    assert_eq!(finished(command).code, Some(0));
}

#[test]
fn a_newer_format_is_refused_politely_and_left_alone() {
    let newer = |text: &str| text.replacen("1", "99", 1);
    for file in ["draftboard.toml", "boards/infrastructure.board.json"] {
        let bench = CliFixture::new();
        let path = bench.workspace.join(file);
        let text = newer(&fs::read_to_string(&path).unwrap());
        assert!(text.contains("99"), "{text}");
        fs::write(&path, &text).unwrap();
        for arguments in [&["status"][..], &["log"], &["save"], &["validate"]] {
            let refused = bench.run(arguments);
            assert_refused(&refused, &[file, "newer Draftboard", "format 99", "update Draftboard"]);
        }
        assert_refused(
            &bench.home.run(&["serve", bench.workspace.to_str().unwrap()]),
            &["update Draftboard"],
        );
        assert_eq!(fs::read_to_string(&path).unwrap(), text);
    }
    // With a journal it is the same; and one that changes under a running Draftboard is shown as it was, read-only.
    let bench = CliFixture::new();
    bench.edit(&json!([add("a")]));
    bench.data(&["save"]);
    let path = bench.workspace.join("boards/infrastructure.board.json");
    let good = fs::read_to_string(&path).unwrap();
    let text = newer(&good);
    let running = Running::serve(&bench.home, &bench.workspace);
    fs::write(&path, &text).unwrap();
    let held = wait_for("the board to be held", || {
        let held = bench.state()["held"].clone();
        (held != json!([])).then_some(held)
    });
    assert!(held[0]["message"].as_str().is_some_and(|text| text.contains("update Draftboard")), "{held}");
    let commands = bench.commands(&json!([add("b")]));
    assert_refused(&bench.run(&["edit", "-f", &commands]), &["read-only", "update Draftboard"]);
    bench.data(&["save"]);
    assert_eq!(running.stop().code, Some(0));
    assert_refused(&bench.run(&["edit", "-f", &commands]), &["update Draftboard"]);
    assert_eq!(fs::read_to_string(&path).unwrap(), text);
    fs::write(&path, &good).unwrap();
    assert_eq!(bench.data(&["edit", "-f", &commands])["revision"], 2);
}

#[test]
fn a_conflict_is_decided_from_the_terminal() {
    for (keep, label) in [("mine", "Ours"), ("theirs", "Theirs")] {
        let bench = CliFixture::new();
        bench.edit(&json!([add("a"), {"updateNode": {"node": "a", "label": "Before"}}]));
        bench.data(&["save"]);
        bench.edit(&json!([{"updateNode": {"node": "a", "label": "Ours"}}]));
        let path = bench.workspace.join("boards/infrastructure.board.json");
        let text = fs::read_to_string(&path).unwrap();
        fs::write(&path, text.replace("Before", "Theirs")).unwrap();
        let held = bench.state()["held"].clone();
        assert_eq!(
            (&held[0]["why"], &held[0]["name"]),
            (&json!("conflict"), &json!("infrastructure")),
            "{held}"
        );
        assert_refused(&bench.run(&["edit", "-f", &bench.commands(&json!([add("b")]))]), &["read-only"]);
        bench.data(&["save"]);
        assert!(
            fs::read_to_string(&path).unwrap().contains("Theirs"),
            "nothing is overwritten before the decision"
        );
        bench.data(&["resolve", "infrastructure", "--keep", keep]);
        assert_eq!(bench.state()["held"], json!([]));
        bench.data(&["save"]);
        assert!(fs::read_to_string(&path).unwrap().contains(label), "{keep}");
    }
}

/// What was promoted and what could not be, each with its address and the reason, for machines.
#[test]
fn promoting_answers_with_what_was_applied_and_what_failed() {
    let bench = CliFixture::new();
    let own = "format: 1\nid: ui.card\ntitle: Card\nprops:\n  title: { control: string, default: Old } # kept\nview: { type: text, text: =props.title }\n";
    let file = bench.workspace.join("components/card.component.yaml");
    fs::create_dir_all(file.parent().unwrap()).unwrap();
    fs::write(&file, own).unwrap();
    let set = |instance: &str, path: &str, value: &str| {
        bench.data(&["override", "set", instance, path, value, "--component"]);
    };
    set("ui.card", "/title", "New");
    set("ui.row", "/gap", "4");
    let outcome = bench.run(&["override", "promote", "--all", "--json"]);
    assert_eq!(outcome.code, Some(1), "{outcome:?}");
    let answer = outcome.json();
    let failed = &answer["data"]["failed"];
    assert_eq!((&answer["ok"], &answer["data"]["applied"]), (&json!(false), &json!([])), "{answer}");
    assert_eq!(
        (&failed[0]["address"]["instance"], &failed[0]["code"]),
        (&json!("ui.row"), &json!("unpromotable"))
    );
    assert!(failed[0]["message"].as_str().unwrap().contains("built in") && failed[1].is_null(), "{answer}");
    assert_eq!(fs::read_to_string(&file).unwrap(), own, "all or nothing");
    let listed = bench.data(&["override", "list"]);
    assert_eq!(listed[0]["standing"], json!({ "applies": "ui.card" }), "{listed}");

    let done = bench.data(&["override", "promote", "ui.card", "--component"]);
    assert_eq!((&done["applied"][0]["instance"], &done["failed"]), (&json!("ui.card"), &json!([])), "{done}");
    assert_eq!(fs::read_to_string(&file).unwrap(), own.replace("Old", "New"));
    assert_eq!(bench.data(&["override", "list"]).as_array().unwrap().len(), 1);
}

#[test]
fn the_schema_of_component_files_is_printed() {
    let printed = HomeFixture::new().run(&["schema", "component"]);
    let schema: Value = serde_json::from_str(&printed.out).unwrap();
    assert_eq!((printed.code, &schema["type"]), (Some(0), &json!("object")));
}

// ---- a workspace that somebody else prepared --------------------------------------------------------------------------

/// Puts something that must not be opened where Draftboard has a file of its own.
enum Trap {
    Link(PathBuf),
    Pipe,
}

impl Trap {
    fn set(&self, path: &Path) {
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        drop(fs::remove_file(path));
        match self {
            Self::Link(target) => std::os::unix::fs::symlink(target, path).unwrap(),
            Self::Pipe => rustix::fs::mkfifoat(rustix::fs::CWD, path, rustix::fs::Mode::RWXU).unwrap(),
        }
    }
}

const CANARY: &str = "precious\n";

/// Sets one trap in a new workspace and uses it in every way. Gives what was said and where the canary is.
fn walk_into(trap: &str, is_link: bool) -> String {
    let home = HomeFixture::new();
    let workspace = home.workspace("workspace", "three-tier");
    let at = workspace.to_str().unwrap();
    let canary = home.path("canary");
    fs::write(&canary, CANARY).unwrap();
    let kind = if is_link { Trap::Link(canary.clone()) } else { Trap::Pipe };
    kind.set(&workspace.join(trap));
    let commands = home.path("commands.json");
    let add = json!([{"addNode": {"board": "three-tier", "type": "terraform/core/group", "name": "added"}}]);
    fs::write(&commands, add.to_string()).unwrap();
    let mut said = String::new();
    // Each of these ends, or the test says that it hangs.
    let serving = Running::starting_to_serve(&home, &workspace);
    drop(serving.line());
    said.push_str(&serving.stop().err);
    for arguments in [
        &["validate"][..],
        &["edit", "-f", commands.to_str().unwrap()],
        &["save"],
        &["status"],
        &["hcl"],
        &["hcl", "--write"],
        &["terraform", "plan"],
        &["manifest", "check"],
    ] {
        if arguments[0] == "terraform" && !trap.contains("terraform/") {
            continue;
        }
        let mut all = arguments.to_vec();
        all.extend(["-w", at]);
        let outcome = home.run(&all);
        said.push_str(&outcome.out);
        said.push_str(&outcome.err);
    }
    assert_eq!(fs::read_to_string(&canary).unwrap(), CANARY, "{trap} was followed: {said}");
    assert!(!said.contains("precious"), "{trap} was read: {said}");
    said
}

#[test]
fn no_link_or_pipe_of_a_workspace_is_opened() {
    // Without the program a run does not come as far as the files.
    let has_terraform = TERRAFORM.is_available();
    for (trap, is_named) in [
        (".draftboard/terraform/three-tier.lock", true),
        (".draftboard/terraform/three-tier/000001-plan.log", false),
        (".draftboard/terraform/three-tier/000001-plan.json", false),
        (".draftboard/aside", false),
        (".draftboard/trials", false),
        (".draftboard/lock", true),
        (".draftboard/.gitignore", true),
        (".draftboard/mcp.json", false),
        (".draftboard/journal.db", true),
        (".draftboard/journal.db-wal", true),
        (".draftboard/journal.db-shm", true),
        (".draftboard/journal.db-journal", true),
        ("terraform/three-tier/main.tf", true),
        ("terraform/three-tier/terraform.tfstate", has_terraform),
        ("terraform/three-tier/draftboard.tfplan", has_terraform),
        ("boards/three-tier.board.json", true),
        ("boards/other.board.json", true),
        ("modules/types.json", true),
        ("components/a.component.yaml", true),
        ("links.json", true),
        ("manifests", true),
        ("manifests/a.json", true),
    ] {
        for is_link in [true, false] {
            let said = walk_into(trap, is_link);
            let name = trap.rsplit('/').next().unwrap();
            assert!(!is_named || said.contains(name), "{trap} is not named: {said}");
        }
    }
}

#[test]
fn a_workspace_whose_own_folder_is_a_link_is_refused() {
    let bench = CliFixture::new();
    let outside = bench.home.path("outside");
    fs::create_dir(&outside).unwrap();
    drop(fs::remove_dir_all(bench.workspace.join(".draftboard")));
    std::os::unix::fs::symlink(&outside, bench.workspace.join(".draftboard")).unwrap();
    assert_refused(&bench.run(&["validate"]), &[".draftboard", "link"]);
    assert_eq!(fs::read_dir(&outside).unwrap().count(), 0);
}

#[test]
fn an_import_reads_no_link_and_no_pipe() {
    let bench = CliFixture::new();
    let canary = bench.home.path("canary");
    fs::write(&canary, "resource \"x\" \"precious\" {}\n").unwrap();
    for trap in [Trap::Link(canary), Trap::Pipe] {
        let folder = bench.home.path("imported");
        drop(fs::remove_dir_all(&folder));
        trap.set(&folder.join("main.tf"));
        let refused = bench.run(&["import", folder.to_str().unwrap()]);
        assert_refused(&refused, &["main.tf"]);
        assert!(!refused.err.contains("precious"), "{refused:?}");
        assert!(
            refused.err.contains("symbolic link") || refused.err.contains("not a regular file"),
            "{refused:?}"
        );
    }
}

#[test]
fn files_written_elsewhere_replace_no_link() {
    let home = HomeFixture::new();
    let workspace = home.workspace("workspace", "three-tier");
    let (out, canary) = (home.path("out"), home.path("canary"));
    fs::write(&canary, CANARY).unwrap();
    Trap::Link(canary.clone()).set(&out.join("main.tf"));
    let refused = home.run(&["hcl", "--out", out.to_str().unwrap(), "-w", workspace.to_str().unwrap()]);
    assert_refused(&refused, &["main.tf", "symbolic link"]);
    assert_eq!(fs::read_to_string(&canary).unwrap(), CANARY);
}

// ---- a journal that is taken away -------------------------------------------------------------------------------------

/// What happens to `.draftboard` while Draftboard runs.
type Loss = fn(&Path);

fn overwrite_start(path: &Path, bytes: &[u8]) {
    use std::os::unix::fs::FileExt as _;
    fs::OpenOptions::new().write(true).open(path).unwrap().write_all_at(bytes, 0).unwrap();
}

fn truncate(path: &Path) {
    fs::OpenOptions::new().write(true).open(path).unwrap().set_len(0).unwrap();
}

const LOSSES: [(&str, Loss); 8] = [
    ("the folder is deleted", |state| fs::remove_dir_all(state).unwrap()),
    ("the database is deleted", |state| fs::remove_file(state.join("journal.db")).unwrap()),
    ("the database is replaced", |state| {
        fs::write(state.join("other"), "not a journal").unwrap();
        fs::rename(state.join("other"), state.join("journal.db")).unwrap();
    }),
    ("the database is truncated", |state| truncate(&state.join("journal.db"))),
    ("the log is deleted", |state| fs::remove_file(state.join("journal.db-wal")).unwrap()),
    ("the log is truncated", |state| truncate(&state.join("journal.db-wal"))),
    ("the database is overwritten", |state| overwrite_start(&state.join("journal.db"), &[0xAA; 4096])),
    ("the lock is deleted", |state| fs::remove_file(state.join("lock")).unwrap()),
];

fn names(bench: &CliFixture) -> Vec<String> {
    let document = bench.home.run(&["save", "-w", bench.workspace.to_str().unwrap()]);
    assert_eq!(document.code, Some(0), "{document:?}");
    let text = fs::read_to_string(bench.workspace.join("boards/infrastructure.board.json")).unwrap();
    let board: Value = serde_json::from_str(&text).unwrap();
    let nodes = board["nodes"].as_object().unwrap().values();
    let mut names: Vec<String> = nodes.map(|node| node["name"].as_str().unwrap().to_owned()).collect();
    names.sort();
    names
}

#[test]
fn a_journal_that_is_taken_away_loses_nothing_that_was_acknowledged() {
    for (what, lose) in LOSSES {
        let bench = CliFixture::new();
        let mut serving = Running::serve(&bench.home, &bench.workspace);
        for number in 1..=6 {
            bench.edit(&json!([add(&format!("n{number}"))]));
        }
        lose(&bench.workspace.join(".draftboard"));
        let applied = bench.edit(&json!([add("n7")]));
        assert_eq!(applied["revision"], json!(7), "{what}");
        let state = bench.state();
        if what != "the lock is deleted" {
            let notices = state["notices"].to_string();
            assert!(notices.contains("journal") && notices.contains("recreated"), "{what}: {state}");
        }
        serving.kill();
        let state = bench.state();
        assert_eq!((&state["revision"], &state["nodes"]), (&json!(7), &json!(7)), "{what}");
        let expected: Vec<String> = (1..=7).map(|number| format!("n{number}")).collect();
        assert_eq!(names(&bench), expected, "{what}");
        if what == "the folder is deleted" || what.ends_with("replaced") {
            assert_eq!(bench.data(&["log"]).as_array().unwrap().len(), 7, "the history is kept: {what}");
        }
        if what == "the database is replaced" {
            let aside = fs::read(bench.workspace.join(".draftboard/aside/journal-1.db")).unwrap();
            assert_eq!(aside, b"not a journal");
        }
    }
}

#[test]
fn a_lost_journal_is_noticed_while_nothing_is_changed() {
    let bench = CliFixture::new();
    let serving = Running::serve(&bench.home, &bench.workspace);
    bench.edit(&json!([add("a")]));
    fs::remove_dir_all(bench.workspace.join(".draftboard")).unwrap();
    wait_for("a notice", || {
        let state = bench.state();
        state["notices"].to_string().contains("recreated").then_some(())
    });
    assert!(bench.workspace.join(".draftboard/journal.db").is_file());
    assert!(bench.workspace.join(".draftboard/lock").is_file());
    let said = serving.stop().err;
    assert!(said.contains("recreated"), "{said}");
}

#[test]
fn nothing_is_acknowledged_in_a_folder_that_is_gone() {
    let bench = CliFixture::new();
    let _serving = Running::serve(&bench.home, &bench.workspace);
    let mut client = support::client::Client::connect(&bench.home, &bench.workspace).unwrap();
    let run = |name: &str| json!({"runCommand": {"command": {"batch": {"summary": name, "commands": [add(name)]}}}});
    client.request(run("a")).unwrap().unwrap();
    let moved = bench.home.path("moved");
    fs::rename(&bench.workspace, &moved).unwrap();
    let refused = client.request(run("b")).unwrap().unwrap_err();
    assert!(refused.to_string().contains("was deleted, moved or replaced"), "{refused}");
    fs::rename(&moved, &bench.workspace).unwrap();
    client.request(run("c")).unwrap().unwrap();
}

// ---- everything that is wrong -----------------------------------------------------------------------------------------

#[test]
fn validate_names_what_it_cannot_read() {
    for (file, text) in [
        ("boards/three-tier.board.json", "<<<<<<< HEAD\n{}\n=======\n{}\n>>>>>>> theirs\n"),
        ("draftboard.toml", "name = \n"),
        ("modules/mine.json", "{ not json"),
        ("specs/lockers/sdd-bundle.yaml", "{{{"),
        ("components/mine.component.yaml", "{{{"),
        ("links.json", "{ not json"),
        (".draftboard/overrides.v0.json", "{ not json"),
        ("prices/aws-example.json", "{"),
        ("manifests/a.json", "{"),
        ("terraform/three-tier/own.tf", "resource \"aws_vpc\" {{{\n"),
        ("terraform/three-tier/own.tf.json", "{"),
    ] {
        let home = HomeFixture::new();
        let workspace = home.workspace("workspace", "example");
        let folder = workspace.to_str().unwrap();
        let before = home.run(&["validate", folder]);
        assert_eq!(before.code, Some(0), "{before:?}");
        let path = workspace.join(file);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(&path, text).unwrap();
        let name = path.file_name().unwrap().to_str().unwrap();
        let name = if name == "sdd-bundle.yaml" { "specs/lockers" } else { name };
        // As a command of its own, and through a running Draftboard.
        let alone = home.run(&["validate", folder]);
        let _serving = Running::serve(&home, &workspace);
        for outcome in [alone, home.run(&["validate", folder])] {
            assert_eq!(outcome.code, Some(1), "{file}: {outcome:?}");
            assert!(
                outcome.out.contains(name) && !outcome.out.contains("No problems"),
                "{file}: {outcome:?}"
            );
        }
    }
}

#[test]
fn validate_names_settings_that_are_unknown_or_not_of_their_form() {
    let bench = CliFixture::new();
    let config = bench.workspace.join("draftboard.toml");
    let clean = fs::read_to_string(&config).unwrap();
    for (text, words) in [
        ("[infrastucture]\ncurrency = 'EUR'\n", "Did you mean `infrastructure`?"),
        ("[infrastructure.providers.aws]\nregion = 5\n", "`infrastructure.providers.aws.region` is a number"),
        ("[infrastructure]\nrequired-version = 'banana'\n", "expected a version constraint"),
        ("[infrastructure.backend]\ntype = 'nonexistent'\n", "expected a backend of Terraform"),
    ] {
        fs::write(&config, format!("{clean}\n{text}")).unwrap();
        let found = bench.run(&["validate"]);
        assert_eq!(found.code, Some(1), "{text}: {found:?}");
        assert!(
            found.out.contains("error: draftboard.toml: ") && found.out.contains(words),
            "{text}: {found:?}"
        );
    }
    fs::write(&config, format!("{clean}\n[infrastructure.boards.gone]\ncurrency = 'EUR'\n")).unwrap();
    let found = bench.run(&["validate"]);
    assert!(found.code == Some(0) && found.out.contains("warning: draftboard.toml: "), "{found:?}");
}

// ---- a folder that may only be read -----------------------------------------------------------------------------------

#[test]
fn a_folder_that_may_only_be_read_opens_for_reading() {
    use std::os::unix::{fs::PermissionsExt as _, process::CommandExt as _};
    const NOBODY: u32 = 65534;
    if !OTHER_USER.is_available() {
        return;
    }
    let home = HomeFixture::new();
    let workspace = home.workspace("workspace", "three-tier");
    drop(fs::remove_dir_all(workspace.join(".draftboard")));
    for name in ["run", "state", "data", "config", "home"] {
        rustix::fs::chown(home.path(name), Some(rustix::fs::Uid::from_raw(NOBODY)), None).unwrap();
    }
    for folder in workspace.ancestors().take(2) {
        fs::set_permissions(folder, fs::Permissions::from_mode(0o755)).unwrap();
    }
    let program = home.path("draftboard");
    fs::copy(support::home::DRAFTBOARD, &program).unwrap();
    let as_nobody = |arguments: &[&str]| {
        let mut command = std::process::Command::new(&program);
        let usual = home.command();
        command.envs(usual.get_envs().filter_map(|(name, value)| Some((name, value?))));
        for (name, _) in usual.get_envs().filter(|(_, value)| value.is_none()) {
            command.env_remove(name);
        }
        command.args(arguments).current_dir("/").stdin(std::process::Stdio::null()).uid(NOBODY).gid(NOBODY);
        command
    };
    let at = workspace.to_str().unwrap();
    let validated = finished(as_nobody(&["validate", at]));
    assert_eq!(validated.code, Some(0), "{validated:?}");
    let picture = home.path("home/board.svg");
    let exported =
        finished(as_nobody(&["export", "three-tier", "--to", picture.to_str().unwrap(), "-w", at]));
    assert_eq!((exported.code, picture.is_file()), (Some(0), true), "{exported:?}");
    let add = json!([{"addNode": {"board": "three-tier", "type": "terraform/core/group", "name": "a"}}]);
    let commands = home.path("commands.json");
    fs::write(&commands, add.to_string()).unwrap();
    let edit = ["edit", "-f", commands.to_str().unwrap(), "-w", at];
    let words = ["The workspace is read-only"];
    assert_refused(&finished(as_nobody(&edit)), &words);
    let serving = Running::start(as_nobody(&["serve", at, "--json", "--port", "0"]));
    assert!(serving.line().is_some_and(|line| line.contains("\"ready\":true")));
    assert_refused(&finished(as_nobody(&edit)), &words);
    assert_refused(&finished(as_nobody(&["save", "-w", at])), &words);
    let status = finished(as_nobody(&["status", "-w", at]));
    assert!(status.out.contains("The workspace is read-only"), "{status:?}");
    assert!(!workspace.join(".draftboard").exists(), "nothing is written");
    assert_eq!(serving.stop().code, Some(0));

    // The state of another user, who keeps it to himself, is as good as none.
    let state = workspace.join(".draftboard");
    fs::create_dir(&state).unwrap();
    fs::write(state.join("overrides.v0.json"), "{ not json").unwrap();
    fs::set_permissions(&state, fs::Permissions::from_mode(0o700)).unwrap();
    let validated = finished(as_nobody(&["validate", at]));
    assert_eq!(validated.code, Some(0), "{validated:?}");
    assert!(validated.out.contains("belongs to another user and is not read"), "{validated:?}");
}
