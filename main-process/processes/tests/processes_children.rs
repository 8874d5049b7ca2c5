//! Roles as real processes: their channel, their end, their restarts.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, clippy::print_stdout, reason = "a test")]

use std::ffi::OsString;
use std::io::{BufRead, BufReader, Read, Write};
use std::os::unix::net::UnixStream;
use std::path::PathBuf;
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

use crossbeam_channel::Receiver;
use processes::{
    Backoff, ChildEvent, ChildEventKind, ChildId, ChildSpec, Environment, ExitReason, RestartPolicy,
    RoleProcess, SpawnError, StdStream, Supervisor, inherited_channel, spawn_role,
};
use test_support::{PATIENCE, processes::is_alive, wait_until, wait_until_within};

const PART: &str = "DRAFTBOARD_TEST_PART";

/// No test of its own: the processes that the tests below start run this.
#[test]
fn child_entry() {
    let Ok(part) = std::env::var(PART) else { return };
    match part.as_str() {
        "tell-what-you-have" => tell_what_you_have(),
        "take-a-channel-that-is-not-there" => {
            let error = inherited_channel().unwrap_err();
            std::process::exit(if error.to_string().contains("descriptor 3") { 0 } else { 1 });
        }
        "start-a-deaf-child" => {
            let child = play("be-deaf");
            println!("pid={}", child.process.pid());
            stay_for_ever();
        }
        "be-deaf" => stay_for_ever(),
        "have-a-child" => {
            let mut channel = inherited_channel().unwrap();
            let mut sleeper = Command::new("sleep").arg("300").spawn().unwrap();
            writeln!(channel, "{}", sleeper.id()).unwrap();
            sleeper.wait().unwrap();
        }
        "crash" => {
            // No core files in the source tree.
            let none = rustix::process::Rlimit { current: Some(0), maximum: Some(0) };
            rustix::process::setrlimit(rustix::process::Resource::Core, none).unwrap();
            std::process::abort();
        }
        "be-polite" => {
            let mut channel = inherited_channel().unwrap();
            channel.write_all(b"ready\n").unwrap();
            std::io::copy(&mut channel, &mut std::io::sink()).unwrap();
            channel.write_all(b"bye\n").unwrap();
            std::process::exit(0);
        }
        other => panic!("no such part: {other}"),
    }
}

fn stay_for_ever() -> ! {
    loop {
        std::thread::park();
    }
}

fn tell_what_you_have() {
    let mut channel = inherited_channel().unwrap();
    let again = inherited_channel().is_err();
    let descriptors: Vec<String> = std::fs::read_dir("/proc/self/fd")
        .unwrap()
        .map(|entry| entry.unwrap().path())
        // Without the one that lists.
        .filter(|path| !std::fs::read_link(path).is_ok_and(|to| to.ends_with("fd")))
        .map(|path| path.file_name().unwrap().to_str().unwrap().to_owned())
        .collect();
    let mut names: Vec<String> = std::env::vars().map(|(name, _)| name).collect();
    names.sort();
    let leader = rustix::process::getsid(None).unwrap() == rustix::process::getpid();
    let stdin = std::io::stdin().read(&mut [0; 8]).unwrap();
    let mut sorted = descriptors;
    sorted.sort();
    writeln!(channel, "fds={sorted:?} env={names:?} leader={leader} again_fails={again} stdin={stdin}")
        .unwrap();
    std::process::exit(0);
}

fn this_binary() -> PathBuf {
    std::env::current_exe().unwrap()
}

fn entry_args() -> Vec<OsString> {
    ["child_entry", "--exact", "--nocapture", "--test-threads=1"].map(OsString::from).into()
}

fn play(part: &str) -> RoleProcess {
    spawn_role(&this_binary(), &entry_args(), &Environment::clean().with(PART, part), StdStream::Inherit)
        .unwrap()
}

fn line(channel: &UnixStream) -> String {
    channel.set_read_timeout(Some(PATIENCE)).unwrap();
    let mut text = String::new();
    BufReader::new(channel).read_line(&mut text).unwrap();
    text.trim().to_owned()
}

fn assert_dead_within(pid: u32, limit: Duration) {
    wait_until_within(limit, "the end of a process", || !is_alive(pid));
}

#[test]
fn a_child_has_its_channel_and_nothing_else_of_ours() {
    // Descriptors without close-on-exec, as careless C code makes them.
    let null = std::fs::File::open("/dev/null").unwrap();
    let _leaks: Vec<_> = (0..5).map(|_| rustix::io::dup(&null).unwrap()).collect();
    let mut child = play("tell-what-you-have");
    assert_eq!(
        line(&child.channel),
        r#"fds=["0", "1", "2", "3"] env=["DRAFTBOARD_TEST_PART"] leader=true again_fails=true stdin=0"#
    );
    assert!(child.process.wait(Some(PATIENCE)).unwrap().unwrap().success());
}

#[test]
fn a_process_started_by_hand_has_no_channel() {
    let mut by_hand = Command::new("sh");
    by_hand.args(["-c", r#"exec 3<&-; exec "$0" "$@""#]).arg(this_binary()).args(entry_args());
    let status =
        by_hand.env(PART, "take-a-channel-that-is-not-there").stdout(Stdio::null()).status().unwrap();
    assert!(status.success());
}

#[test]
fn a_program_that_is_not_there_is_an_error_and_not_a_child() {
    let nowhere = PathBuf::from("/nowhere/draftboard");
    let error = spawn_role(&nowhere, &[], &Environment::clean(), StdStream::Null).unwrap_err();
    assert!(matches!(error, SpawnError::Start { .. }) && error.to_string().contains("/nowhere/draftboard"));
}

#[test]
fn a_child_that_never_listens_dies_when_its_parent_is_killed() {
    let mut parent = Command::new(this_binary())
        .args(entry_args())
        .env(PART, "start-a-deaf-child")
        .stdout(Stdio::piped())
        .spawn()
        .unwrap();
    let output = BufReader::new(parent.stdout.take().unwrap());
    let leaf: u32 = output
        .lines()
        .find_map(|line| line.unwrap().split_once("pid=").map(|(_, pid)| pid.parse().unwrap()))
        .unwrap();
    assert!(is_alive(leaf));
    parent.kill().unwrap();
    parent.wait().unwrap();
    assert_dead_within(leaf, Duration::from_secs(2));
}

#[test]
fn dropping_a_child_ends_it_with_its_process_group() {
    let child = play("have-a-child");
    let grandchild: u32 = line(&child.channel).parse().unwrap();
    let pid = child.process.pid();
    assert!(is_alive(pid) && is_alive(grandchild));
    drop(child);
    assert!(!is_alive(pid));
    assert_dead_within(grandchild, Duration::from_secs(2));
}

#[test]
fn standard_error_can_be_read() {
    let environment = Environment::clean().with(PART, "no such thing");
    let mut child = spawn_role(&this_binary(), &entry_args(), &environment, StdStream::Pipe).unwrap();
    let mut words = String::new();
    child.process.take_stderr().unwrap().read_to_string(&mut words).unwrap();
    assert!(words.contains("no such part: no such thing"), "{words}");
    assert!(child.process.take_stderr().is_none());
    assert_eq!(child.process.wait(None).unwrap().map(ExitReason::from), Some(ExitReason::Failed(101)));
}

fn restarts(max_restarts: u32) -> RestartPolicy {
    RestartPolicy::new(Backoff::of_role(max_restarts))
}

fn spec(part: &str, policy: RestartPolicy) -> ChildSpec {
    ChildSpec {
        name: part.to_owned(),
        exe: this_binary(),
        args: entry_args(),
        env: Environment::clean().with(PART, part),
        stderr: StdStream::Null,
        policy,
    }
}

fn next(events: &Receiver<ChildEvent>, id: ChildId) -> ChildEventKind {
    let event = events.recv_timeout(PATIENCE).expect("an event");
    assert_eq!(event.id, id);
    event.kind
}

fn next_started(events: &Receiver<ChildEvent>, id: ChildId) -> (u32, UnixStream) {
    match next(events, id) {
        ChildEventKind::Started { pid, channel, .. } => (pid, channel),
        other => panic!("expected a start, got {other:?}"),
    }
}

/// The kinds of events without what differs from run to run.
fn shape(kind: &ChildEventKind) -> String {
    match kind {
        ChildEventKind::Started { .. } => "started".to_owned(),
        ChildEventKind::StartFailed { .. } => "start failed".to_owned(),
        ChildEventKind::Exited { reason, .. } => format!("exited: {reason}"),
        ChildEventKind::Restarting { after } => format!("restarting in {after:?}"),
        ChildEventKind::GaveUp { reason } => format!("gave up: {reason}"),
        ChildEventKind::Stopped => "stopped".to_owned(),
    }
}

#[test]
fn a_crasher_is_restarted_with_growing_pauses_and_given_up_at_the_third_crash() {
    let (supervisor, events) = Supervisor::launch().unwrap();
    let id = supervisor.start(spec("crash", restarts(2))).unwrap();
    let mut shapes = Vec::new();
    let mut starts = Vec::new();
    while !shapes.last().is_some_and(|last: &String| last.starts_with("gave up")) {
        let kind = next(&events, id);
        if let ChildEventKind::Started { .. } = kind {
            starts.push(Instant::now());
        }
        shapes.push(shape(&kind));
    }
    let crashed = "exited: crashed (aborted)";
    assert_eq!(
        shapes,
        [
            "started",
            crashed,
            "restarting in 100ms",
            "started",
            crashed,
            "restarting in 200ms",
            "started",
            crashed,
            "gave up: crashed (aborted)"
        ]
    );
    let pauses: Vec<Duration> = starts.windows(2).map(|pair| pair[1] - pair[0]).collect();
    assert!(pauses[0] >= Duration::from_millis(95) && pauses[1] >= Duration::from_millis(195), "{pauses:?}");
}

#[test]
fn a_polite_child_stops_at_the_end_of_its_channel_and_has_the_last_word() {
    let (supervisor, events) = Supervisor::launch().unwrap();
    let id = supervisor.start(spec("be-polite", restarts(2))).unwrap();
    let (pid, channel) = next_started(&events, id);
    assert_eq!(line(&channel), "ready");
    supervisor.stop(id, PATIENCE).unwrap();
    assert_eq!(line(&channel), "bye");
    assert_eq!(shape(&next(&events, id)), "exited: ended normally");
    assert_eq!(shape(&next(&events, id)), "stopped");
    assert!(!is_alive(pid));
}

#[test]
fn a_deaf_child_is_killed_when_its_time_is_over() {
    let (supervisor, events) = Supervisor::launch().unwrap();
    let id = supervisor.start(spec("be-deaf", restarts(2))).unwrap();
    let (pid, _channel) = next_started(&events, id);
    let asked = Instant::now();
    supervisor.stop(id, Duration::from_millis(150)).unwrap();
    assert_eq!(shape(&next(&events, id)), "exited: did not respond in time and was stopped");
    assert!(asked.elapsed() >= Duration::from_millis(150));
    assert_eq!(shape(&next(&events, id)), "stopped");
    assert!(!is_alive(pid));
}

#[test]
fn a_child_killed_for_a_reason_counts_as_crashed_for_it() {
    let (supervisor, events) = Supervisor::launch().unwrap();
    let id = supervisor.start(spec("be-deaf", restarts(1))).unwrap();
    let (_, _channel) = next_started(&events, id);
    supervisor.kill(id, ExitReason::SandboxViolation).unwrap();
    let forbidden = "violated its sandbox and was stopped";
    assert_eq!(shape(&next(&events, id)), format!("exited: {forbidden}"));
    assert_eq!(shape(&next(&events, id)), "restarting in 100ms");
    let (_, _channel) = next_started(&events, id);
    supervisor.kill(id, ExitReason::SandboxViolation).unwrap();
    assert_eq!(shape(&next(&events, id)), format!("exited: {forbidden}"));
    assert_eq!(shape(&next(&events, id)), format!("gave up: {forbidden}"));
}

#[test]
fn a_child_killed_by_a_stranger_is_restarted() {
    let (supervisor, events) = Supervisor::launch().unwrap();
    let id = supervisor.start(spec("be-deaf", restarts(1))).unwrap();
    let (pid, _channel) = next_started(&events, id);
    rustix::process::kill_process(
        rustix::process::Pid::from_raw(i32::try_from(pid).unwrap()).unwrap(),
        rustix::process::Signal::KILL,
    )
    .unwrap();
    assert!(shape(&next(&events, id)).starts_with("exited: was killed from outside"));
    assert_eq!(shape(&next(&events, id)), "restarting in 100ms");
    next_started(&events, id);
    supervisor.shutdown(Duration::ZERO);
}

#[test]
fn a_program_that_cannot_start_is_tried_again_and_given_up() {
    let (supervisor, events) = Supervisor::launch().unwrap();
    let missing = ChildSpec { exe: "/nowhere/draftboard".into(), ..spec("missing", restarts(1)) };
    let id = supervisor.start(missing).unwrap();
    match next(&events, id) {
        ChildEventKind::StartFailed { error } => assert!(error.contains("/nowhere/draftboard"), "{error}"),
        other => panic!("{other:?}"),
    }
    assert_eq!(shape(&next(&events, id)), "restarting in 100ms");
    assert_eq!(shape(&next(&events, id)), "start failed");
    assert_eq!(shape(&next(&events, id)), "gave up: could not be started");
}

#[test]
fn stopping_a_child_that_waits_for_its_restart_cancels_that() {
    let (supervisor, events) = Supervisor::launch().unwrap();
    let missing = ChildSpec { exe: "/nowhere/draftboard".into(), ..spec("missing", restarts(8)) };
    let id = supervisor.start(missing).unwrap();
    assert_eq!(shape(&next(&events, id)), "start failed");
    assert_eq!(shape(&next(&events, id)), "restarting in 100ms");
    supervisor.stop(id, PATIENCE).unwrap();
    assert_eq!(shape(&next(&events, id)), "stopped");
    // The restart of another child that is started now is due later, and no event of the first comes before it.
    let missing = ChildSpec { exe: "/nowhere/draftboard".into(), ..spec("later", restarts(8)) };
    let later = supervisor.start(missing).unwrap();
    for expected in ["start failed", "restarting in 100ms", "start failed"] {
        assert_eq!(shape(&next(&events, later)), expected);
    }
}

#[test]
fn shutdown_ends_all_children_and_then_the_events() {
    let (supervisor, events) = Supervisor::launch().unwrap();
    let ids: Vec<ChildId> = ["be-polite", "be-deaf"]
        .iter()
        .map(|part| supervisor.start(spec(part, restarts(2))).unwrap())
        .collect();
    let pids: Vec<u32> = ids.iter().map(|id| next_started(&events, *id).0).collect();
    supervisor.shutdown(Duration::from_millis(200));
    assert!(pids.iter().all(|pid| !is_alive(*pid)));
    let last: Vec<String> = events.iter().map(|event| shape(&event.kind)).collect();
    assert_eq!(last.iter().filter(|shape| *shape == "stopped").count(), 2, "{last:?}");
}

#[test]
fn shutdown_gets_through_when_nobody_reads_events() {
    let (supervisor, events) = Supervisor::launch().unwrap();
    for _ in 0..40 {
        let missing = ChildSpec { exe: "/nowhere/draftboard".into(), ..spec("missing", restarts(98)) };
        supervisor.start(missing).unwrap();
    }
    wait_until("a full queue of events", || events.is_full());
    let begin = Instant::now();
    supervisor.shutdown(Duration::from_millis(100));
    assert!(begin.elapsed() < Duration::from_secs(5));
}
