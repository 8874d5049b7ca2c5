//! `draftboard key` and `draftboard audit verify` as a person uses them: with a keyring and without, on an open workspace and on
//! a closed one that somebody edited.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, clippy::print_stdout, reason = "a test")]

mod support;

use serde_json::Value;
use std::{
    fs,
    io::{BufRead as _, BufReader, Write as _},
    os::unix::fs::PermissionsExt as _,
    path::{Path, PathBuf},
    process::{Command, Stdio},
};
use support::home::{HomeFixture, Outcome, Running, finished, serving};
use test_support::{KilledOnDrop, requirements::KEYRING, wait_for, wait_until};

const PASSPHRASE: &str = "correct horse battery\n";

fn serve_guarded(home: &HomeFixture, workspace: &Path) -> Running {
    let mut command = serving(home, workspace);
    command.args(["--mode", "guarded"]);
    let running = Running::start(command);
    assert!(running.line().unwrap().contains("ready"));
    running
}

/// A workspace whose audit has a signed line.
fn with_a_line(home: &HomeFixture) -> PathBuf {
    let workspace = home.workspace("workspace", "blank");
    let running = serve_guarded(home, &workspace);
    let at = workspace.to_str().unwrap();
    let called = home.run(&["call", "add_resource", "typeId=notes/sticky", "name=first", "-w", at]);
    assert_eq!(called.code, Some(0), "{called:?}");
    assert_eq!(verify(home, &workspace).code, Some(0), "while it is open");
    assert_eq!(running.stop().code, Some(0));
    workspace
}

fn verify(home: &HomeFixture, workspace: &Path) -> Outcome {
    home.run(&["audit", "verify", "--json", "-w", workspace.to_str().unwrap()])
}

fn kinds(verified: &Outcome) -> Vec<String> {
    let findings = verified.json()["data"]["findings"].clone();
    findings.as_array().unwrap().iter().map(|found| found["kind"].as_str().unwrap().to_owned()).collect()
}

fn with_input(home: &HomeFixture, arguments: &[&str], input: &str) -> Outcome {
    let file = home.path("input");
    fs::write(&file, input).unwrap();
    let mut command = home.command();
    command.args(arguments).stdin(fs::File::open(file).unwrap());
    finished(command)
}

fn secret_files(home: &HomeFixture) -> Vec<PathBuf> {
    let all = fs::read_dir(home.path("config/draftboard")).unwrap().map(|entry| entry.unwrap().path());
    all.filter(|path| path.file_name().unwrap().to_str().unwrap().starts_with("device-key-")).collect()
}

#[test]
fn verifying_says_what_somebody_did_to_a_closed_journal() {
    let home = HomeFixture::new();
    let workspace = with_a_line(&home);
    let clean = verify(&home, &workspace);
    let data = clean.data();
    assert_eq!((&data["lines"], &data["signed"], &data["anchored"]), (&1.into(), &1.into(), &true.into()));

    let journal = workspace.join(".draftboard/journal.db");
    let meddle = |sql: &str| rusqlite::Connection::open(&journal).unwrap().execute_batch(sql).unwrap();
    meddle("DROP TRIGGER audit_stays; DELETE FROM audit");
    let cut = verify(&home, &workspace);
    assert_eq!((cut.code, kinds(&cut)), (Some(1), vec!["cutTail".to_owned()]), "{cut:?}");
    let words = home.run(&["audit", "verify", "-w", workspace.to_str().unwrap()]);
    assert!(words.out.contains("it was anchored with 1 audit line and has 0 audit lines now"), "{words:?}");

    // A Draftboard that opens it says so, too, and goes on.
    let running = serve_guarded(&home, &workspace);
    let at = workspace.to_str().unwrap();
    let status = || home.run(&["status", "--json", "-w", at]);
    wait_until("the notice", || status().out.contains("The audit does not hold"));
    let opened = verify(&home, &workspace);
    assert_eq!((opened.code, kinds(&opened)), (Some(1), vec!["cutTail".to_owned()]), "{opened:?}");
    assert_eq!(running.stop().code, Some(0));
    assert_eq!(home.run(&["audit", "settle", "-w", at]).code, Some(0));
    let settled = verify(&home, &workspace);
    assert_eq!(settled.code, Some(0), "{settled:?}");

    // A newer journal cannot be checked, and is left alone.
    meddle("PRAGMA user_version = 99");
    let before = fs::read(&journal).unwrap();
    let newer = verify(&home, &workspace);
    assert!(newer.code == Some(2) && newer.out.contains("newer Draftboard"), "{newer:?}");
    assert_eq!(fs::read(&journal).unwrap(), before);
    assert_eq!(verify(&home, &home.path("nothing")).code, Some(2));
    home.assert_deserted();
}

#[test]
fn a_key_is_backed_up_restored_replaced_and_trusted() {
    let home = HomeFixture::new();
    let none = home.run(&["key", "show"]);
    assert!(none.code == Some(1) && none.err.contains("no key yet"), "{none:?}");
    let workspace = with_a_line(&home);
    let shown = home.run(&["key", "show", "--json"]).data();
    let first = shown["key"]["id"].as_str().unwrap().to_owned();
    let secret = secret_files(&home).pop().unwrap();
    assert_eq!(fs::metadata(&secret).unwrap().permissions().mode() & 0o777, 0o600);
    let text = fs::read_to_string(&secret).unwrap();

    let backup = home.path("backup.json");
    let path = backup.to_str().unwrap();
    assert_eq!(with_input(&home, &["key", "export", path], "short\n").code, Some(1));
    let exported = with_input(&home, &["key", "export", path], PASSPHRASE);
    assert_eq!(exported.code, Some(0), "{exported:?}");
    assert_eq!(fs::metadata(&backup).unwrap().permissions().mode() & 0o777, 0o600);
    assert_eq!(with_input(&home, &["key", "export", path], PASSPHRASE).code, Some(1), "never over a file");

    // Others may read it: refused. Lost: restored.
    fs::set_permissions(&secret, fs::Permissions::from_mode(0o644)).unwrap();
    let refused = home.run(&["key", "show"]);
    assert!(refused.code == Some(1) && refused.err.contains("mode 0600"), "{refused:?}");
    fs::remove_file(&secret).unwrap();
    assert!(home.run(&["key", "show"]).err.contains("key import"));
    let wrong = with_input(&home, &["key", "import", path], "another passphrase\n");
    assert!(wrong.code == Some(1) && wrong.err.contains("the passphrase is wrong"), "{wrong:?}");
    assert_eq!(with_input(&home, &["key", "import", path], PASSPHRASE).code, Some(0));
    assert_eq!(home.run(&["key", "show", "--json"]).data()["key"]["id"], Value::from(first.as_str()));

    // Another device does not know the key until it trusts it, nor the next one.
    let elsewhere = HomeFixture::new();
    let lines = home.run(&["audit", "export", "-w", workspace.to_str().unwrap()]);
    let file = elsewhere.path("audit.jsonl");
    fs::write(&file, lines.out).unwrap();
    let verify_there = || elsewhere.run(&["audit", "verify", "--json", file.to_str().unwrap()]);
    assert_eq!(kinds(&verify_there()), ["unknownKey"]);
    let trust = |command: &Value| {
        let words: Vec<&str> = command.as_str().unwrap().split(' ').skip(1).collect();
        elsewhere.run(&words)
    };
    assert_eq!(trust(&shown["trustCommand"]).code, Some(0));
    assert_eq!(verify_there().code, Some(0));
    let rotated = home.run(&["key", "rotate", "--json"]).data();
    assert_eq!(trust(&rotated["trustCommand"]).code, Some(0));
    let listed = elsewhere.run(&["key", "list"]);
    assert!(listed.out.contains(&format!("replaces {first} and is signed by it")), "{listed:?}");
    assert_eq!(verify(&home, &workspace).code, Some(0), "the old key stays known");
    assert_eq!(elsewhere.run(&["key", "forget", &first]).code, Some(0));
    assert_eq!(kinds(&verify_there()), ["unknownKey"]);

    // Nothing that was printed or logged holds the secret.
    assert!(
        !exported.out.contains(text.trim()) && !fs::read_to_string(&backup).unwrap().contains(text.trim())
    );
}

const BUS: &str = r#"<busconfig><type>session</type><listen>unix:dir=FOLDER</listen>
<policy context="default"><allow send_destination="*" eavesdrop="true"/><allow eavesdrop="true"/><allow own="*"/></policy>
</busconfig>"#;

#[test]
fn the_key_is_in_the_keyring_where_one_answers() {
    if !KEYRING.is_available() {
        return;
    }
    let home = HomeFixture::new();
    let config = home.path("bus.conf");
    fs::write(&config, BUS.replace("FOLDER", home.path("run").to_str().unwrap())).unwrap();
    let bus = Command::new("dbus-daemon")
        .arg(format!("--config-file={}", config.display()))
        .args(["--nofork", "--print-address"])
        .stdout(Stdio::piped())
        .spawn();
    let mut bus = KilledOnDrop(bus.unwrap());
    let mut address = String::new();
    BufReader::new(bus.stdout.take().unwrap()).read_line(&mut address).unwrap();
    let address = address.trim().to_owned();
    let mut keyring = Command::new("gnome-keyring-daemon");
    keyring.args(["--foreground", "--unlock", "--components=secrets"]);
    keyring.env("DBUS_SESSION_BUS_ADDRESS", &address).stdin(Stdio::piped());
    for (name, folder) in [("HOME", "home"), ("XDG_RUNTIME_DIR", "run"), ("XDG_DATA_HOME", "home")] {
        keyring.env(name, home.path(folder));
    }
    let mut keyring = keyring.stdout(Stdio::null()).stderr(Stdio::null()).spawn().unwrap();
    keyring.stdin.take().unwrap().write_all(b"password").unwrap();
    let keyring = KilledOnDrop(keyring);

    let workspace = home.workspace("workspace", "blank");
    let with_keyring = |mut command: Command| {
        command.env("DBUS_SESSION_BUS_ADDRESS", &address);
        command
    };
    // The keyring is ready when it owns its name.
    let owns = || {
        let mut ask = with_keyring(Command::new("dbus-send"));
        ask.args([
            "--session",
            "--print-reply",
            "--dest=org.freedesktop.DBus",
            "/",
            "org.freedesktop.DBus.NameHasOwner",
        ]);
        let asked = ask.arg("string:org.freedesktop.secrets").output().unwrap();
        String::from_utf8_lossy(&asked.stdout).contains("true")
    };
    wait_until("the keyring", owns);
    let running = Running::start(with_keyring(serving(&home, &workspace)));
    assert!(running.line().unwrap().contains("ready"));
    let key = |arguments: &[&str]| {
        let mut command = with_keyring(home.command());
        command.arg("key").args(arguments).arg("--json");
        finished(command)
    };
    let shown = wait_for("the key", || Some(key(&["show"])).filter(|shown| shown.code == Some(0))).data();
    assert_eq!(shown["place"], "the desktop keyring");
    assert_eq!(secret_files(&home), Vec::<PathBuf>::new());
    assert_eq!(running.stop().code, Some(0));
    let rotated = key(&["rotate"]).data();
    assert_ne!(rotated["key"]["id"], shown["key"]["id"]);
    assert_eq!(key(&["show"]).data()["key"]["id"], rotated["key"]["id"]);

    // Without the keyring no second key is made in secret.
    drop(keyring);
    let silent = home.run(&["key", "show"]);
    assert!(silent.code == Some(1) && silent.err.contains("does not answer"), "{silent:?}");
    assert_eq!(secret_files(&home), Vec::<PathBuf>::new());
}
