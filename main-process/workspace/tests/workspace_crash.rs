//! Crashes in the middle of a save: what they leave is known as ours, and the next save finishes it.
#![allow(clippy::unwrap_used, clippy::panic, reason = "a test")]

mod workspace_fixture;

use journal::{Digest, Journal, WorkspaceFiles, WorkspacePath, write_board};
use processes::WorkspaceLock;
use shared_protocol::BoardName;
use std::{
    fs,
    path::PathBuf,
    sync::{
        Arc, Mutex,
        atomic::{AtomicBool, Ordering},
    },
    time::Duration,
};
use test_support::RandomSource;
use workspace::WorkspaceOwnership;
use workspace_fixture::WorkspaceFixture;

fn two_notes() -> WorkspaceFixture {
    let mut bench = WorkspaceFixture::new();
    bench.add("main", "a");
    bench.add("main", "b");
    bench.save();
    bench
}

/// The steps of a save, done by hand up to some point, as a crash would leave them.
#[test]
fn a_crash_in_the_middle_of_a_save_leaves_files_that_are_known_as_ours() {
    for steps in 0..=3 {
        let mut bench = two_notes();
        bench.label("a", "mine");
        bench.run(r#"{"addBoard":{"kind":"spec","title":"New"}}"#);
        let content = bench.content();
        let texts = ["main", "new"].map(|name| {
            let document = bench.ws().snapshot().board_document(bench.board(name));
            (WorkspacePath::board(&BoardName::parse(name).unwrap()), write_board(&document).unwrap())
        });
        bench.crash();
        {
            let files = WorkspaceFiles::open(bench.root()).unwrap();
            let mut journal = Journal::open(&files.state_folder()).unwrap();
            let pending = texts.clone().map(|(path, text)| (path, Digest::hash(text.as_bytes())));
            if steps > 0 {
                journal.record_pending(&pending).unwrap();
            }
            if steps > 1 {
                texts.iter().for_each(|(path, text)| files.write_atomic(path, text.as_bytes()).unwrap());
            }
            if steps > 2 {
                journal.confirm_pending(&[texts[0].0.clone()]).unwrap();
            }
        }
        bench.open();
        assert_eq!(
            (bench.content(), bench.held(), bench.notices()),
            (content.clone(), vec![], vec![]),
            "{steps}"
        );
        assert_eq!(bench.is_saved(), steps > 1);
        let log = bench.log().len();
        bench.look_at_everything();
        assert_eq!(bench.log().len(), log, "nothing is taken for somebody's edit");
        bench.save();
        assert!(bench.is_saved());
        bench.close();
        bench.edit_label("main", "b", "theirs");
        bench.open();
        assert_eq!((bench.label_of("b"), bench.held()), ("theirs".to_owned(), vec![]));
    }
}

#[test]
fn a_crash_between_writing_the_new_file_and_removing_the_old_one_is_finished_by_the_next_save() {
    let mut bench = two_notes();
    let old = bench.text("main");
    bench.run(r#"{"updateBoard":{"board":"main","name":"web"}}"#);
    let content = bench.content();
    let new = write_board(&bench.ws().snapshot().board_document(bench.board("web"))).unwrap();
    bench.crash();
    {
        let files = WorkspaceFiles::open(bench.root()).unwrap();
        let path = WorkspacePath::parse("boards/web.board.json").unwrap();
        let mut journal = Journal::open(&files.state_folder()).unwrap();
        journal.record_pending(&[(path.clone(), Digest::hash(new.as_bytes()))]).unwrap();
        files.write_atomic(&path, new.as_bytes()).unwrap();
        journal.confirm_pending(&[path]).unwrap();
    }
    assert_eq!(bench.text("main"), old);
    bench.open();
    assert_eq!((bench.content(), bench.notices()), (content, vec![]));
    assert!(!bench.is_saved());
    assert_eq!(bench.save(), ["boards/main.board.json"]);
    assert_eq!(bench.files(), ["web"]);
    assert!(bench.is_saved());
}

#[test]
fn a_crash_before_the_first_state_is_whole_is_no_harm() {
    let mut bench = two_notes();
    let content = bench.content();
    let mut clone = bench.clone_by_git();
    clone.close();
    // The records are there, the checkpoint is not.
    let journal = rusqlite::Connection::open(clone.root().join(".draftboard/journal.db")).unwrap();
    journal.execute_batch("DELETE FROM checkpoint").unwrap();
    drop(journal);
    clone.open();
    assert_eq!((clone.content(), clone.held()), (content, vec![]));
    assert!(clone.is_saved() && clone.ws().status().undo.is_none());
}

/// The lock of a folder to which something happens while it is looked at.
struct Troubled {
    lock: WorkspaceLock,
    folder: PathBuf,
    /// What happens at the next looks, the last of them first.
    troubles: Arc<Mutex<Vec<Trouble>>>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Trouble {
    None,
    /// The folder is deleted.
    Deleted,
    /// A file stands in the folder's place until the next look.
    File,
    JournalDeleted,
    LogDeleted,
    JournalReplaced,
    /// Somebody else has the lock.
    Held,
}

impl WorkspaceOwnership for Troubled {
    fn reacquire(&self) -> Result<(), String> {
        if self.folder.is_file() {
            fs::remove_file(&self.folder).unwrap();
        }
        let held = self.lock.hold().map_err(|error| error.to_string());
        let journal = self.folder.join("journal.db");
        match self.troubles.lock().unwrap().pop().unwrap_or(Trouble::None) {
            Trouble::None => {}
            Trouble::Deleted => drop(fs::remove_dir_all(&self.folder)),
            Trouble::File => {
                drop(fs::remove_dir_all(&self.folder));
                fs::write(&self.folder, "").unwrap();
            }
            Trouble::JournalDeleted => drop(fs::remove_file(journal)),
            Trouble::LogDeleted => drop(fs::remove_file(journal.with_extension("db-wal"))),
            Trouble::JournalReplaced => {
                drop(fs::remove_file(&journal));
                drop(fs::write(journal, "somebody else's"));
            }
            Trouble::Held => {
                return Err(format!(
                    "{} is already open in another Draftboard",
                    self.lock.workspace().display()
                ));
            }
        }
        held
    }
}

fn troubled() -> (WorkspaceFixture, Arc<Mutex<Vec<Trouble>>>) {
    let mut bench = WorkspaceFixture::new();
    let troubles = Arc::new(Mutex::new(Vec::new()));
    let folder = bench.root().join(".draftboard");
    let lock = WorkspaceLock::acquire(bench.root()).unwrap();
    bench.workspace().owned_by(Box::new(Troubled { lock, folder, troubles: troubles.clone() }));
    (bench, troubles)
}

/// The name, or why it was refused.
fn add(bench: &mut WorkspaceFixture, number: usize) -> Result<String, String> {
    let name = format!("n{number:03}");
    let command = format!(r#"{{"addNode":{{"board":"main","type":"notes/sticky","name":"{name}"}}}}"#);
    bench.try_run(&command).map(|_| name).map_err(|refusal| refusal.to_string())
}

#[test]
fn a_refused_change_is_nowhere_and_an_acknowledged_one_is_there_after_a_crash() {
    use Trouble::*;
    for trouble in [Deleted, File, JournalDeleted, LogDeleted, JournalReplaced, Held] {
        for looks in 0..4 {
            let (mut bench, troubles) = troubled();
            let mut acknowledged: Vec<String> =
                (0..3).filter_map(|number| add(&mut bench, number).ok()).collect();
            assert_eq!(acknowledged.len(), 3);
            let mut at = vec![trouble];
            at.extend(std::iter::repeat_n(None, looks));
            *troubles.lock().unwrap() = at;
            for number in 3..6 {
                match add(&mut bench, number) {
                    Ok(name) => acknowledged.push(name),
                    Err(message) => {
                        let root = bench.root().display().to_string();
                        assert!(!message.contains(&root), "agents are not told the path: {message}");
                    }
                }
            }
            troubles.lock().unwrap().clear();
            acknowledged.extend(add(&mut bench, 6));
            assert!(acknowledged.contains(&"n006".to_owned()), "{trouble:?} {looks}: it goes on");
            assert_eq!(bench.names(), acknowledged, "{trouble:?} {looks}");
            bench.crash_and_open();
            assert_eq!(bench.names(), acknowledged, "{trouble:?} {looks}, after a crash");
        }
    }
}

#[test]
fn whatever_happens_to_the_folder_a_crash_finds_what_was_acknowledged() {
    use Trouble::*;
    for seed in 1..=3_u64 {
        let mut random = RandomSource::new(seed);
        let kinds = [Deleted, File, JournalDeleted, LogDeleted, JournalReplaced, Held];
        let (mut bench, troubles) = troubled();
        let mut acknowledged = Vec::new();
        for number in 0..40 {
            if random.one_in(2) {
                let mut at: Vec<Trouble> =
                    (0..=random.below(3)).map(|_| kinds[random.below(kinds.len())]).collect();
                at.extend(std::iter::repeat_n(None, random.below(4)));
                *troubles.lock().unwrap() = at;
            }
            acknowledged.extend(add(&mut bench, number));
        }
        troubles.lock().unwrap().clear();
        acknowledged.extend(add(&mut bench, 99));
        assert_eq!(bench.names(), acknowledged, "seed {seed}");
        bench.crash_and_open();
        assert_eq!(bench.names(), acknowledged, "seed {seed}, after a crash");
    }
}

/// Another program deletes at any moment, also between the commit and the look at the files.
#[test]
fn a_folder_that_is_deleted_all_the_time_loses_nothing_that_was_acknowledged() {
    let (mut bench, _) = troubled();
    let (folder, stop) = (bench.root().join(".draftboard"), Arc::new(AtomicBool::new(false)));
    let deleting = std::thread::spawn({
        let stop = stop.clone();
        move || {
            for round in 0_u64.. {
                // The moment of the deletion is what is tried, so it is spread over the work and not waited for.
                std::thread::sleep(Duration::from_micros(round.wrapping_mul(7_919) % 20_000));
                if stop.load(Ordering::Relaxed) {
                    break;
                }
                drop(fs::remove_dir_all(&folder));
            }
        }
    });
    let mut acknowledged: Vec<String> = (0..80).filter_map(|number| add(&mut bench, number).ok()).collect();
    stop.store(true, Ordering::Relaxed);
    deleting.join().unwrap();
    acknowledged.extend(add(&mut bench, 999));
    assert!(acknowledged.contains(&"n999".to_owned()));
    assert_eq!(bench.names(), acknowledged);
    bench.crash_and_open();
    assert_eq!(bench.names(), acknowledged, "after a crash");
}
