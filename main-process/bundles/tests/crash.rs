//! Kills the writing of fifty changes at a hundred points in time. Afterwards all changes are present, or none.
#![allow(clippy::unwrap_used, clippy::panic, clippy::print_stdout, reason = "a test")]

mod support;

use bundles::call_writing;
use serde_json::{Value, json};
use std::{
    io::{BufRead as _, BufReader},
    path::{Path, PathBuf},
    process::{Command, Stdio},
    thread,
    time::{Duration, Instant},
};

const ENTITIES: usize = 50;
const KILLS: u32 = 100;
const FOLDER: &str = "BUNDLES_CRASH_FOLDER";
const VALUE: &str = "BUNDLES_CRASH_VALUE";

fn id(index: usize) -> String {
    format!("N-{index:02}")
}

fn changes(value: &str) -> Value {
    let changes = (0..ENTITIES).map(|index| {
        json!({"operation": "update", "entityType": "Note", "entityId": id(index), "fieldPath": "title", "value": value})
    });
    json!({"changes": changes.collect::<Vec<_>>(), "dryRun": false})
}

/// The child process that the test below starts and kills.
#[test]
#[ignore = "run by the test that kills it"]
fn child() {
    let (Ok(folder), Ok(value)) = (std::env::var(FOLDER), std::env::var(VALUE)) else { return };
    let mut bundles = support::load(Path::new(&folder));
    println!("\nready");
    let answer = call_writing(&mut bundles, "apply_changes", &changes(&value));
    assert!(answer.is_ok(), "{}", answer.to_text());
}

/// The time at which the child is killed.
enum Kill {
    Never,
    After(Duration),
    /// After this delay from the creation of the record, during the writing.
    AfterRecord(Duration),
}

/// Starts the batch and kills it or lets it finish. Returns the duration.
fn run(folder: &Path, value: &str, kill: &Kill) -> Duration {
    let mut child = Command::new(std::env::current_exe().unwrap())
        .args(["--ignored", "--exact", "child", "--nocapture"])
        .env(FOLDER, folder)
        .env(VALUE, value)
        .stdout(Stdio::piped())
        .stderr(Stdio::null())
        .spawn()
        .unwrap();
    let mut lines = BufReader::new(child.stdout.take().unwrap()).lines();
    assert!(lines.any(|line| line.unwrap() == "ready"));
    let start = Instant::now();
    match kill {
        Kill::Never => {}
        Kill::After(delay) => {
            // The moment of the kill is what is tried; nothing is waited for.
            thread::sleep(*delay);
            child.kill().unwrap();
        }
        Kill::AfterRecord(delay) => {
            while !record(folder).exists() && child.try_wait().unwrap().is_none() {
                // Much shorter than the writing, in the middle of which the kill has to come.
                thread::sleep(Duration::from_micros(50));
            }
            thread::sleep(*delay);
            child.kill().unwrap();
        }
    }
    child.wait().unwrap();
    start.elapsed()
}

fn record(folder: &Path) -> PathBuf {
    folder.join(".draftboard/bundle-changes.json")
}

fn titles(folder: &Path) -> Vec<String> {
    let bundles = support::load(folder);
    let bundle = bundles.iter().next().unwrap();
    assert_eq!(bundle.diagnostics().iter().filter(|finding| finding.is_error()).count(), 0);
    let title = |index| bundle.entity("Note", &id(index)).unwrap().data().text("title").unwrap().to_owned();
    (0..ENTITIES).map(title).collect()
}

#[test]
fn all_or_none_whenever_it_is_killed() {
    let folder = tempfile::tempdir().unwrap();
    support::new_bundle(folder.path());
    for index in 0..ENTITIES {
        let next = id((index + 1) % ENTITIES);
        let text = format!("# {index}\nid: {}\ntitle: start # here\nnext: {next}\n", id(index));
        support::note(folder.path(), &id(index), &text);
    }
    let whole = (0..3).map(|_| run(folder.path(), "whole", &Kill::Never)).min().unwrap();
    assert!(titles(folder.path()).iter().all(|title| title == "whole"));
    let (mut before, mut done, mut undone, mut finished_later) = ("whole".to_owned(), 0, 0, 0);
    for kill in 0..KILLS {
        let value = format!("kill {kill}");
        let part = whole * (kill / 2) / (KILLS / 2);
        run(folder.path(), &value, &if kill % 2 == 0 { Kill::After(part) } else { Kill::AfterRecord(part) });
        finished_later += usize::from(record(folder.path()).exists());
        let titles = titles(folder.path());
        assert!(titles.iter().all(|title| *title == titles[0]), "{kill}: {titles:?}");
        assert!(titles[0] == value || titles[0] == before, "{kill}: {} {before}", titles[0]);
        *(if titles[0] == value { &mut done } else { &mut undone }) += 1;
        before.clone_from(&titles[0]);
    }
    println!("a whole change takes {whole:?}");
    assert!(
        done > 0 && undone > 0 && finished_later > 0,
        "the kills must meet the work: {done} done, {finished_later} of them by the next load, {undone} undone"
    );
    let left: Vec<_> =
        std::fs::read_dir(folder.path().join("notes")).unwrap().map(|entry| entry.unwrap()).collect();
    assert_eq!(left.len(), ENTITIES, "{left:?}");
}
