//! `SIGKILL` at any moment: what was acknowledged is there, once; what was not is there once or not at all.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, clippy::print_stdout, reason = "a test")]

mod support;

use journal::{Journal, read_board};
use serde_json::{Value, json};
use shared_protocol::BoardName;
use std::{
    collections::{BTreeMap, BTreeSet},
    fs,
    path::{Path, PathBuf},
    time::{Duration, Instant},
};
use support::{
    client::{Client, ConnectionLost},
    home::{HomeFixture, Running},
};
use test_support::RandomSource;

const KILLS: usize = 200;
/// Connections that work at the same time, so that their commands meet in one group.
const WRITERS: usize = 6;
/// Nodes a writer keeps before it removes some.
const MOST_NODES: usize = 24;
/// The longest a round works before it is killed.
const ROUND_MS: usize = 40;

/// What a writer asks for.
#[derive(Debug, Clone)]
enum Wish {
    /// Nodes by name, all or none.
    Add(Vec<String>),
    Relabel {
        name: String,
        label: String,
    },
    Remove(String),
    RenameBoard(String),
}

/// One connection's part of the workspace: a board that nobody else touches, so that its content is known exactly.
struct Writer {
    number: usize,
    board: String,
    board_name: String,
    /// Name to id and label, as acknowledged.
    nodes: BTreeMap<String, (String, String)>,
    asked: u64,
    /// Asked for when the process was killed: summary and wish.
    open: Option<(String, Wish)>,
    random: RandomSource,
}

/// Acknowledged operations: revision to summary.
type Acknowledged = BTreeMap<u64, String>;

impl Writer {
    /// Works until the process is gone. Every twentieth time it saves as well.
    fn work(&mut self, mut client: Client) -> Acknowledged {
        let mut acknowledged = Acknowledged::new();
        loop {
            if self.random.below(20) == 0 {
                match client.request(json!({ "saveFiles": {} })) {
                    Ok(saved) => drop(saved.unwrap_or_else(|refusal| panic!("save: {refusal}"))),
                    Err(ConnectionLost(_)) => return acknowledged,
                }
            }
            let wish = self.wish();
            self.asked += 1;
            let summary = format!("w{}-{}", self.number, self.asked);
            let request = self.request(&summary, &wish);
            self.open = Some((summary.clone(), wish.clone()));
            let applied = match client.request(request) {
                Ok(Ok(applied)) => applied,
                Ok(Err(refusal)) => panic!("{wish:?}: {refusal}"),
                Err(ConnectionLost(_)) => return acknowledged,
            };
            self.open = None;
            assert_eq!(applied["summary"], summary.as_str());
            let again = acknowledged.insert(applied["revision"].as_u64().unwrap(), summary);
            assert_eq!(again, None, "one revision acknowledged twice");
            let created: Vec<String> = applied["created"].as_array().unwrap().iter().map(id_of).collect();
            self.grant(&wish, |index, _| created[index].clone());
        }
    }

    fn wish(&mut self) -> Wish {
        let name = |writer: &mut Self| {
            let at = writer.random.below(writer.nodes.len());
            writer.nodes.keys().nth(at).unwrap().clone()
        };
        match self.random.below(40) {
            0 => Wish::RenameBoard(format!("board-{}-{}", self.number, self.asked)),
            1..=8 if !self.nodes.is_empty() => {
                Wish::Relabel { name: name(self), label: format!("at {}", self.asked) }
            }
            _ if self.nodes.len() >= MOST_NODES => Wish::Remove(name(self)),
            _ => {
                let count = 1 + self.random.below(3);
                Wish::Add((0..count).map(|n| format!("n{}_{}_{n}", self.number, self.asked)).collect())
            }
        }
    }

    fn request(&self, summary: &str, wish: &Wish) -> Value {
        let id = |name: &String| self.nodes[name].0.clone();
        let commands: Vec<Value> = match wish {
            Wish::Add(names) => {
                let add = |name| json!({"addNode": {"board": self.board, "type": "notes/sticky", "name": name, "label": "new"}});
                names.iter().map(add).collect()
            }
            Wish::Relabel { name, label } => vec![json!({"updateNode": {"node": id(name), "label": label}})],
            Wish::Remove(name) => vec![json!({"remove": {"nodes": [id(name)]}})],
            Wish::RenameBoard(name) => vec![json!({"updateBoard": {"board": self.board, "name": name}})],
        };
        json!({"runCommand": {"command": {"batch": {"summary": summary, "commands": commands}}}})
    }

    /// The wish came true.
    fn grant(&mut self, wish: &Wish, id: impl Fn(usize, &str) -> String) {
        match wish {
            Wish::Add(names) => {
                for (index, name) in names.iter().enumerate() {
                    self.nodes.insert(name.clone(), (id(index, name), "new".to_owned()));
                }
            }
            Wish::Relabel { name, label } => self.nodes.get_mut(name).unwrap().1.clone_from(label),
            Wish::Remove(name) => drop(self.nodes.remove(name)),
            Wish::RenameBoard(name) => self.board_name.clone_from(name),
        }
    }

    /// The document holds exactly what was acknowledged, and the open wish only if the log says so.
    fn compare(&mut self, document: &Value, logged: &BTreeSet<String>) -> usize {
        let there: BTreeMap<String, (String, String)> = document["nodes"]
            .as_array()
            .unwrap()
            .iter()
            .filter(|node| node["board"] == self.board.as_str())
            .map(|node| (text(&node["name"]), (text(&node["id"]), text(&node["label"]))))
            .collect();
        let mut came_true = 0;
        if let Some((summary, wish)) = self.open.take()
            && logged.contains(&summary)
        {
            came_true = 1;
            let id = |_: usize, name: &str| there.get(name).map_or_else(String::new, |(id, _)| id.clone());
            self.grant(&wish, id);
        }
        assert_eq!(there, self.nodes, "the nodes of writer {}", self.number);
        let board =
            document["boards"].as_array().unwrap().iter().find(|board| board["id"] == self.board.as_str());
        assert_eq!(board.unwrap()["name"], self.board_name.as_str());
        came_true
    }
}

fn text(value: &Value) -> String {
    value.as_str().unwrap().to_owned()
}

/// `{"node": "n-…"}` or plain text, depending on who wrote it.
fn id_of(created: &Value) -> String {
    created.as_str().or_else(|| created.as_object()?.values().next()?.as_str()).unwrap().to_owned()
}

struct Trial {
    home: HomeFixture,
    workspace: PathBuf,
    writers: Vec<Writer>,
    acknowledged: Acknowledged,
    /// All up to here were found in the log.
    verified: u64,
    /// Operations in the log that nobody was told of.
    unacknowledged: usize,
    kills: usize,
    /// Kills after which a file was announced in the journal and its writing not confirmed.
    cut_saves: usize,
    random: RandomSource,
    /// How long a start takes.
    start: Duration,
}

impl Trial {
    fn new() -> Self {
        let home = HomeFixture::new();
        let workspace = home.workspace("workspace", "blank");
        let mut random = RandomSource::from_environment_or_clock();
        let running = Running::serve(&home, &workspace);
        let mut client = Client::connect(&home, &workspace).unwrap();
        let mut acknowledged = Acknowledged::new();
        let mut writers = Vec::new();
        for number in 0..WRITERS {
            let board_name = format!("board-{number}");
            let command = json!({"addBoard": {"kind": "spec", "title": board_name, "name": board_name}});
            let applied = client.request(json!({ "runCommand": { "command": command } })).unwrap().unwrap();
            acknowledged.insert(applied["revision"].as_u64().unwrap(), text(&applied["summary"]));
            let board = id_of(&applied["created"][0]);
            let nodes = BTreeMap::new();
            writers.push(Writer {
                number,
                board,
                board_name,
                nodes,
                asked: 0,
                open: None,
                random: RandomSource::new(random.number()),
            });
        }
        assert_eq!(running.stop().code, Some(0));
        let (verified, unacknowledged, kills, cut_saves) = (0, 0, 0, 0);
        let start = Duration::from_millis(100);
        Self {
            home,
            workspace,
            writers,
            acknowledged,
            verified,
            unacknowledged,
            kills,
            cut_saves,
            random,
            start,
        }
    }

    /// Killed before it is ready, as often as not while it reads or mends what the kill before left.
    fn kill_at_the_start(&mut self) {
        let mut running = Running::starting_to_serve(&self.home, &self.workspace);
        let most = self.start.as_micros() as usize;
        // A random moment of the kill is what is tried, here and below; nothing is waited for.
        std::thread::sleep(Duration::from_micros(self.random.below(most) as u64));
        running.kill();
        self.kills += 1;
    }

    fn kill_at_work(&mut self) {
        let begun = Instant::now();
        let mut running = Running::serve(&self.home, &self.workspace);
        self.start = (self.start * 7 + begun.elapsed()) / 8;
        self.check_running();
        let clients: Vec<Client> =
            (0..WRITERS).map(|_| Client::connect(&self.home, &self.workspace).unwrap()).collect();
        let mut saver = Client::connect(&self.home, &self.workspace).unwrap();
        let pause = Duration::from_micros(self.random.below(ROUND_MS * 1_000) as u64);
        let in_a_save =
            (self.random.below(3) == 0).then(|| Duration::from_micros(self.random.below(8_000) as u64));
        let done: Vec<Acknowledged> = std::thread::scope(|scope| {
            let work = |(writer, client): (_, _)| {
                let writer: &mut Writer = writer;
                scope.spawn(move || writer.work(client))
            };
            let working: Vec<_> = self.writers.iter_mut().zip(clients).map(work).collect();
            std::thread::sleep(pause);
            if let Some(moment) = in_a_save {
                saver.say(&json!({"request": "save"})).unwrap();
                std::thread::sleep(moment);
            }
            running.kill();
            working.into_iter().map(|writer| writer.join().expect("a writer was refused or fooled")).collect()
        });
        self.kills += 1;
        for (revision, summary) in done.into_iter().flatten() {
            assert_eq!(
                self.acknowledged.insert(revision, summary),
                None,
                "revision {revision} acknowledged twice"
            );
        }
    }

    /// What the restarted process says.
    fn check_running(&mut self) {
        let mut client = Client::connect(&self.home, &self.workspace).unwrap();
        let document = client.request(json!({ "readDocument": {} })).unwrap().unwrap();
        let ids: BTreeSet<String> =
            document["nodes"].as_array().unwrap().iter().map(|node| text(&node["id"])).collect();
        assert_eq!(ids.len(), document["nodes"].as_array().unwrap().len(), "a node twice");
        let revision = document["revision"].as_u64().unwrap();
        let newest = self.acknowledged.last_key_value().map_or(0, |(revision, _)| *revision);
        assert!(revision >= newest, "revision {newest} was acknowledged, {revision} is there");

        let news = revision - self.verified;
        let log = client.request(json!({ "readLog": {"limit": news}})).unwrap().unwrap();
        let log: Vec<(u64, String)> = log
            .as_array()
            .unwrap()
            .iter()
            .map(|entry| (entry["revision"].as_u64().unwrap(), text(&entry["summary"])))
            .collect();
        let expected: Vec<u64> = (self.verified + 1..=revision).rev().collect();
        assert_eq!(
            log.iter().map(|(revision, _)| *revision).collect::<Vec<_>>(),
            expected,
            "each revision once"
        );
        let summaries: BTreeSet<String> = log.iter().map(|(_, summary)| summary.clone()).collect();
        assert_eq!(summaries.len(), log.len(), "an operation twice: {log:?}");
        let mut unknown = 0;
        for (revision, summary) in &log {
            match self.acknowledged.get(revision) {
                Some(acknowledged) => assert_eq!(summary, acknowledged),
                None => unknown += 1,
            }
        }
        let came_true: usize =
            self.writers.iter_mut().map(|writer| writer.compare(&document, &summaries)).sum();
        assert_eq!(unknown, came_true, "operations that nobody asked for: {log:?}");
        self.unacknowledged += unknown;
        self.verified = revision;
        let instance = client.request(json!({ "describeInstance": {} })).unwrap().unwrap();
        assert_eq!(instance["held"], json!([]), "no board is in conflict with itself");
    }

    /// What lies there while nobody runs.
    fn check_files(&mut self) {
        let boards = fs::read_dir(self.workspace.join("boards")).unwrap().map(|entry| entry.unwrap().path());
        for path in boards {
            let file = path.file_name().unwrap().to_str().unwrap();
            // What an interrupted save leaves is nobody's board, and gone after the next start.
            let Some(name) = file.strip_suffix(".board.json").filter(|name| !name.starts_with('.')) else {
                continue;
            };
            let name: BoardName = name.parse().unwrap();
            read_board(&fs::read_to_string(&path).unwrap(), &name).unwrap_or_else(|error| panic!("{error}"));
        }
        let copy = tempfile::tempdir().unwrap();
        for file in ["journal.db", "journal.db-wal"] {
            let from = self.workspace.join(".draftboard").join(file);
            if from.exists() {
                fs::copy(from, copy.path().join(file)).unwrap();
            }
        }
        let journal = Journal::open(copy.path()).unwrap();
        let pending = journal.file_records().unwrap().iter().any(|(_, known)| known.pending.is_some());
        self.cut_saves += usize::from(pending);
        let chain = journal.verify().unwrap();
        let newest = self.acknowledged.last_key_value().map_or(0, |(revision, _)| *revision);
        assert!(chain.last.0 >= newest, "{chain:?} ends before {newest}");
    }

    /// A good end: everything once more, saved and read back.
    fn finish(&mut self) {
        let running = Running::serve(&self.home, &self.workspace);
        self.check_running();
        let mut client = Client::connect(&self.home, &self.workspace).unwrap();
        client.request(json!({ "saveFiles": {} })).unwrap().unwrap();
        let document = client.request(json!({ "readDocument": {} })).unwrap().unwrap();
        let validated = self.home.run(&["validate", "--json", "-w", self.workspace.to_str().unwrap()]);
        assert_eq!(validated.data(), json!([]));
        assert_eq!(running.stop().code, Some(0));

        let mut saved: BTreeMap<String, Value> = BTreeMap::new();
        for board in document["boards"].as_array().unwrap() {
            let path = self.workspace.join("boards").join(format!("{}.board.json", text(&board["name"])));
            let read = read_board(&fs::read_to_string(path).unwrap(), &text(&board["name"]).parse().unwrap())
                .unwrap();
            for node in &read.nodes {
                let before = saved.insert(node.id.to_string(), serde_json::to_value(node).unwrap());
                assert!(before.is_none(), "a node in two files");
            }
        }
        let there =
            document["nodes"].as_array().unwrap().iter().map(|node| (text(&node["id"]), node.clone()));
        assert_eq!(saved, there.collect(), "the files hold the document");
        let files = list(&self.workspace.join("boards"));
        assert_eq!(
            files.len(),
            document["boards"].as_array().unwrap().len(),
            "nothing else is left: {files:?}"
        );
        assert_eq!(list(&self.home.runtime()), ["records.lock"], "sockets and records are gone");
        Journal::open(&self.workspace.join(".draftboard")).unwrap().verify().unwrap();
        self.home.assert_deserted();
    }
}

fn list(folder: &Path) -> Vec<String> {
    let mut names: Vec<String> = fs::read_dir(folder)
        .unwrap()
        .map(|entry| entry.unwrap().file_name().into_string().unwrap())
        .collect();
    names.sort();
    names
}

#[test]
fn acknowledged_is_durable_and_exactly_once() {
    let kills = std::env::var("DRAFTBOARD_KILLS").ok().and_then(|kills| kills.parse().ok()).unwrap_or(KILLS);
    let begun = Instant::now();
    let mut trial = Trial::new();
    while trial.kills < kills {
        if trial.random.below(4) == 0 {
            trial.kill_at_the_start();
        } else {
            trial.kill_at_work();
        }
        trial.check_files();
    }
    trial.finish();
    let Trial { kills, acknowledged, unacknowledged, cut_saves, start, .. } = &trial;
    println!(
        "{kills} kills ({cut_saves} left a save unfinished), {} operations acknowledged and each found once, {unacknowledged} \
         more that were durable before their answer got through; a start takes {} ms; {:.1} s in all",
        acknowledged.len(),
        start.as_millis(),
        begun.elapsed().as_secs_f32()
    );
    assert!(acknowledged.len() > *kills, "the trial did some work");
}
