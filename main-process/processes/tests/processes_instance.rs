//! One main process per workspace, found by others, with real processes on both sides.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, clippy::print_stdout, reason = "a test")]

use std::fs;
use std::io::{BufRead, BufReader, Read, Write};
use std::os::unix::fs::{MetadataExt, PermissionsExt};
use std::os::unix::net::UnixStream;
use std::os::unix::process::CommandExt;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

use processes::instance::{self, DiscoveryError, DiscoveryRecord};
use processes::{LockError, PublishError, PublishedInstance, RuntimeDir, WorkspaceLock};
use test_support::requirements::OTHER_USER;

const RUNTIME: &str = "DRAFTBOARD_TEST_RUNTIME";
const WORKSPACE: &str = "DRAFTBOARD_TEST_WORKSPACE";
const SOCKET: &str = "DRAFTBOARD_TEST_SOCKET";

/// No test of its own: a second process that connects to a socket, or serves a workspace until it is killed
/// or its input ends.
#[test]
fn child_entry() {
    if let Some(socket) = std::env::var_os(SOCKET) {
        let mut stream = UnixStream::connect(socket).unwrap();
        stream.set_read_timeout(Some(Duration::from_secs(10))).unwrap();
        let turned_away = stream.read(&mut [0]).is_ok_and(|count| count == 0);
        std::process::exit(if turned_away { 0 } else { 1 });
    }
    let (Some(runtime), Some(workspace)) = (std::env::var_os(RUNTIME), std::env::var_os(WORKSPACE)) else {
        return;
    };
    let runtime = RuntimeDir::at(Path::new(&runtime)).unwrap();
    let instance = publish(&runtime, Path::new(&workspace)).unwrap();
    println!("published");
    let _ = std::io::stdin().read(&mut [0]);
    drop(instance);
    std::process::exit(0);
}

fn publish(runtime: &RuntimeDir, workspace: &Path) -> Result<PublishedInstance, PublishError> {
    PublishedInstance::publish(runtime, &[], WorkspaceLock::acquire(workspace).unwrap(), "1.2.3")
}

fn find(runtime: &RuntimeDir, workspace: &Path) -> Result<Option<DiscoveryRecord>, DiscoveryError> {
    instance::find(std::slice::from_ref(runtime), workspace)
}

fn list(runtime: &RuntimeDir) -> Result<Vec<DiscoveryRecord>, DiscoveryError> {
    instance::list(std::slice::from_ref(runtime))
}

struct Place {
    folder: tempfile::TempDir,
    runtime: RuntimeDir,
    workspace: PathBuf,
}

fn place() -> Place {
    let folder = tempfile::tempdir().unwrap();
    let runtime = RuntimeDir::at(&folder.path().join("run")).unwrap();
    let workspace = folder.path().canonicalize().unwrap().join("workspace");
    fs::create_dir(&workspace).unwrap();
    Place { folder, runtime, workspace }
}

impl Place {
    fn another_process(&self) -> Child {
        let mut process = Command::new(std::env::current_exe().unwrap())
            .args(["child_entry", "--exact", "--nocapture", "--test-threads=1"])
            .env(RUNTIME, self.runtime.path())
            .env(WORKSPACE, &self.workspace)
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .spawn()
            .unwrap();
        let output = BufReader::new(process.stdout.take().unwrap());
        assert!(output.lines().any(|line| line.unwrap().contains("published")));
        process
    }

    fn files(&self) -> Vec<String> {
        let mut names: Vec<String> = fs::read_dir(self.runtime.path())
            .unwrap()
            .map(|entry| entry.unwrap().path().extension().unwrap().to_str().unwrap().to_owned())
            .filter(|extension| extension != "lock")
            .collect();
        names.sort();
        names
    }
}

#[test]
fn an_instance_is_found_connected_to_and_gone_when_dropped() {
    let place = place();
    let instance = publish(&place.runtime, &place.workspace).unwrap();
    assert_eq!(place.files(), ["json", "sock"]);

    let found = find(&place.runtime, &place.workspace).unwrap().unwrap();
    assert_eq!((found.pid, found.version.as_str()), (std::process::id(), "1.2.3"));
    assert_eq!(found.workspace, place.workspace);
    assert!(found.token.matches(instance.record().token.reveal()));

    let mut client = UnixStream::connect(&found.socket).unwrap();
    client.write_all(b"hi").unwrap();
    let mut received = [0; 2];
    instance.accept().unwrap().read_exact(&mut received).unwrap();
    assert_eq!(&received, b"hi");

    for name in fs::read_dir(place.runtime.path()).unwrap() {
        let path = name.unwrap().path();
        assert_eq!(fs::symlink_metadata(&path).unwrap().mode() & 0o777, 0o600, "{path:?}");
    }
    drop(instance);
    assert_eq!(place.files(), Vec::<String>::new());
    assert!(find(&place.runtime, &place.workspace).unwrap().is_none());
}

#[test]
fn a_process_of_another_user_is_turned_away() {
    if !OTHER_USER.is_available() {
        return;
    }
    let place = place();
    let instance = publish(&place.runtime, &place.workspace).unwrap();
    // As if every wall around the socket had fallen.
    let socket = &instance.record().socket;
    for (path, mode) in
        [(place.folder.path(), 0o755), (place.runtime.path(), 0o755), (socket.as_path(), 0o666)]
    {
        fs::set_permissions(path, fs::Permissions::from_mode(mode)).unwrap();
    }
    let stranger = Command::new(std::env::current_exe().unwrap())
        .args(["child_entry", "--exact", "--nocapture", "--test-threads=1"])
        .env(SOCKET, socket)
        .uid(65534)
        .gid(65534)
        .stdout(Stdio::null())
        .spawn();
    // Other users may be kept from this binary by a folder above it.
    let Ok(mut stranger) = stranger else { return OTHER_USER.skip("another user may not run this binary") };
    std::thread::scope(|scope| {
        let accepted = scope.spawn(|| instance.accept().unwrap());
        let turned_away = stranger.wait().unwrap().success();
        let still_waiting = !accepted.is_finished();
        let _friend = UnixStream::connect(socket).unwrap();
        accepted.join().unwrap();
        assert!(turned_away && still_waiting);
    });
}

#[test]
fn another_way_to_name_the_workspace_finds_the_same_instance() {
    let place = place();
    let _instance = publish(&place.runtime, &place.workspace).unwrap();
    let link = place.workspace.with_file_name("link");
    std::os::unix::fs::symlink(&place.workspace, &link).unwrap();
    assert!(find(&place.runtime, &link).unwrap().is_some());
    assert!(find(&place.runtime, &place.workspace.join("../workspace")).unwrap().is_some());
}

#[test]
fn a_second_process_is_refused_and_told_who_is_first() {
    let place = place();
    let mut first = place.another_process();
    match WorkspaceLock::acquire(&place.workspace).unwrap_err() {
        LockError::Held { pid, .. } => assert_eq!(pid, Some(first.id())),
        other => panic!("{other}"),
    }
    let listed = list(&place.runtime).unwrap();
    assert_eq!(listed.iter().map(|record| record.pid).collect::<Vec<_>>(), [first.id()]);

    // It leaves nothing behind when it ends in order.
    drop(first.stdin.take());
    assert!(first.wait().unwrap().success());
    assert_eq!(place.files(), Vec::<String>::new());
    WorkspaceLock::acquire(&place.workspace).unwrap();
}

#[test]
fn what_a_killed_process_left_is_ignored_cleaned_and_replaced() {
    let place = place();
    let mut first = place.another_process();
    first.kill().unwrap();
    // Not yet waited for: a zombie is dead as well.
    let begin = Instant::now();
    while find(&place.runtime, &place.workspace).unwrap().is_some() {
        assert!(begin.elapsed().as_secs() < 5);
    }
    // The socket is left to the next holder of the lock.
    assert_eq!(place.files(), ["sock"]);
    first.wait().unwrap();
    assert!(list(&place.runtime).unwrap().is_empty());

    let second = publish(&place.runtime, &place.workspace).unwrap();
    assert_eq!(find(&place.runtime, &place.workspace).unwrap().unwrap().pid, std::process::id());
    UnixStream::connect(&second.record().socket).unwrap();
    drop(second);
    assert_eq!(place.files(), Vec::<String>::new());
}

/// Leaves the record of a killed process, changed.
fn rewrite_record(place: &Place, change: impl Fn(&mut serde_json::Value)) -> PathBuf {
    let mut first = place.another_process();
    let path = fs::read_dir(place.runtime.path())
        .unwrap()
        .map(|entry| entry.unwrap().path())
        .find(|path| path.extension().is_some_and(|extension| extension == "json"))
        .unwrap();
    let mut record: serde_json::Value = serde_json::from_slice(&fs::read(&path).unwrap()).unwrap();
    first.kill().unwrap();
    first.wait().unwrap();
    change(&mut record);
    fs::write(&path, record.to_string()).unwrap();
    path
}

#[test]
fn a_pid_that_was_given_to_somebody_else_is_not_the_instance() {
    let place = place();
    let path = rewrite_record(&place, |record| {
        record["pid"] = std::process::id().into();
        record["start_time"] = 1.into(); // long before this process
    });
    assert!(list(&place.runtime).unwrap().is_empty());
    assert!(!path.exists());
}

#[test]
fn the_record_of_a_living_process_is_never_removed() {
    let place = place();
    let mut sleeper = Command::new("sleep").arg("60").spawn().unwrap();
    let stat = fs::read_to_string(format!("/proc/{}/stat", sleeper.id())).unwrap();
    let start_time: u64 =
        stat.rsplit(')').next().unwrap().split_whitespace().nth(19).unwrap().parse().unwrap();
    let path = rewrite_record(&place, |record| {
        record["pid"] = sleeper.id().into();
        record["start_time"] = start_time.into();
    });
    assert_eq!(list(&place.runtime).unwrap().len(), 1);
    assert!(path.exists());
    // Nor is its place taken, even if its lock file was removed under it.
    let refusal = publish(&place.runtime, &place.workspace).unwrap_err();
    assert!(matches!(refusal, PublishError::AlreadyRunning { pid } if pid == sleeper.id()));
    // Nor by a process whose environment leads it to another directory.
    let other = RuntimeDir::at(&place.folder.path().join("other")).unwrap();
    let lock = WorkspaceLock::acquire(&place.workspace).unwrap();
    let elsewhere = std::slice::from_ref(&place.runtime);
    let refusal = PublishedInstance::publish(&other, elsewhere, lock, "1.2.3").unwrap_err();
    assert!(matches!(refusal, PublishError::AlreadyRunning { pid } if pid == sleeper.id()));
    let both = [other, place.runtime.clone()];
    assert!(instance::find(&both, &place.workspace).unwrap().is_some());
    assert_eq!(instance::list(&both).unwrap().len(), 1);
    sleeper.kill().unwrap();
    sleeper.wait().unwrap();
    publish(&place.runtime, &place.workspace).unwrap();
}

#[test]
fn a_process_we_cannot_see_but_that_answers_is_alive() {
    let place = place();
    let instance = publish(&place.runtime, &place.workspace).unwrap();
    let path = instance.record().socket.with_extension("json");
    let mut record: serde_json::Value = serde_json::from_slice(&fs::read(&path).unwrap()).unwrap();
    record["pid"] = 4_194_000.into(); // beyond every pid in use here
    fs::write(&path, record.to_string()).unwrap();
    assert_eq!(list(&place.runtime).unwrap().len(), 1);
    assert!(path.exists());
}

#[test]
fn what_is_no_record_is_left_alone() {
    let place = place();
    let strangers = ["notes.json", "0123456789abcdef.json", "fedcba9876543210.txt"];
    for name in strangers {
        fs::write(place.runtime.path().join(name), "{\"pid\": 1}").unwrap();
    }
    assert!(list(&place.runtime).unwrap().is_empty());
    assert!(strangers.iter().all(|name| place.runtime.path().join(name).exists()));
}

#[test]
fn a_socket_path_that_is_too_long_says_so() {
    let place = place();
    let deep = place.runtime.path().join("x".repeat(100));
    let runtime = RuntimeDir::at(&deep).unwrap();
    let error = publish(&runtime, &place.workspace).unwrap_err();
    assert!(matches!(error, PublishError::PathTooLong { .. }), "{error}");
}
