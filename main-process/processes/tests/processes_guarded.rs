//! External programs under a warden: whatever happens, nothing they started is left.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, clippy::print_stdout, reason = "a test")]

use std::ffi::OsString;
use std::io::{BufRead, BufReader, Read, Write};
use std::path::Path;
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

use processes::{
    Environment, ExitReason, GuardError, GuardedProgram, ProgramLaunch, StdStream, WardenCommandLine,
    run_warden, spawn_guarded,
};
use rustix::process::Signal;
use test_support::{PATIENCE, processes as process_table, processes::signal, wait_until, wait_until_within};

const PART: &str = "DRAFTBOARD_TEST_PART";
/// Inherited by everything a test starts, so that nothing can hide from the count at its end.
const MARK: &str = "DRAFTBOARD_TEST_MARK";
const SCRIPT: &str = "DRAFTBOARD_TEST_SCRIPT";

/// Daemons as they come: one in the background, one with a session of its own, one in front.
const FAMILY: &str = "sleep 300 & (setsid sleep 300 &) ; sleep 300";
/// The same, but none of them ends when asked.
const STUBBORN: &str = r#"trap "" TERM; sleep 300 & (setsid sleep 300 &) ; sleep 300; sleep 300"#;

/// No test of its own: the processes that the tests below start run this.
#[test]
fn child_entry() {
    let Ok(part) = std::env::var(PART) else { return };
    match part.as_str() {
        "warden" => {
            let argv: Vec<OsString> = std::env::args_os().skip_while(|arg| arg != "--").skip(1).collect();
            std::process::exit(run_warden(&argv).into());
        }
        "main" => {
            let mark = std::env::var(MARK).unwrap();
            let child = shell(&std::env::var(SCRIPT).unwrap(), &mark, |_| {}).unwrap();
            println!("warden={}", child.warden_pid());
            loop {
                std::thread::park();
            }
        }
        other => panic!("no such part: {other}"),
    }
}

fn warden() -> WardenCommandLine {
    let args = ["child_entry", "--exact", "--nocapture", "--test-threads=1", "--"].map(OsString::from);
    WardenCommandLine { exe: std::env::current_exe().unwrap(), args: args.into() }
}

/// Runs a script under a warden.
fn shell(
    script: &str,
    mark: &str,
    change: impl FnOnce(&mut ProgramLaunch),
) -> Result<GuardedProgram, GuardError> {
    let mut program = ProgramLaunch::new("sh", ["-c", script]);
    program.environment = Environment::inheriting(["PATH"]).with(PART, "warden").with(MARK, mark);
    program.grace_period = Duration::from_secs(2);
    change(&mut program);
    spawn_guarded(&warden(), &program)
}

fn new_mark() -> String {
    static COUNT: std::sync::atomic::AtomicU32 = std::sync::atomic::AtomicU32::new(0);
    let count = COUNT.fetch_add(1, std::sync::atomic::Ordering::Relaxed);
    format!("{}-{count}-end", std::process::id())
}

/// Returns every living process with this mark and its program.
fn marked(mark: &str) -> Vec<(u32, String)> {
    let marked = process_table::with_environment(format!("{MARK}={mark}").as_ref());
    marked.into_iter().map(|pid| (pid, process_table::program_name(pid))).collect()
}

fn wait_for_sleepers(mark: &str, count: usize) {
    let is_sleeper = |(_, name): &&(u32, String)| name == "sleep";
    wait_until("all sleepers", || marked(mark).iter().filter(is_sleeper).count() >= count);
}

fn wait_until_stopped(pids: &[u32]) {
    wait_until("stopped processes", || pids.iter().all(|pid| process_table::is_stopped(*pid)));
}

fn assert_none_left_within(mark: &str, limit: Duration) {
    wait_until_within(limit, "the end of all marked processes", || marked(mark).is_empty());
}

fn reason(child: &mut GuardedProgram) -> ExitReason {
    child.wait(Some(PATIENCE)).unwrap().expect("ended in time").into()
}

/// Starts a process that stands for main, kills it with SIGKILL and expects that nothing is left of the
/// script.
fn check_main_killed(script: &str, sleepers: usize, limit: Duration) {
    let mark = new_mark();
    let mut main = Command::new(std::env::current_exe().unwrap())
        .args(["child_entry", "--exact", "--nocapture", "--test-threads=1"])
        .env(PART, "main")
        .env(MARK, &mark)
        .env(SCRIPT, script)
        .stdout(Stdio::piped())
        .spawn()
        .unwrap();
    let output = BufReader::new(main.stdout.take().unwrap());
    assert!(output.lines().any(|line| line.unwrap().contains("warden=")));
    wait_for_sleepers(&mark, sleepers);
    main.kill().unwrap();
    main.wait().unwrap();
    assert_none_left_within(&mark, limit);
}

#[test]
fn nothing_is_left_when_main_is_killed() {
    check_main_killed(FAMILY, 3, Duration::from_secs(5));
}

#[test]
fn nothing_is_left_when_main_is_killed_even_of_those_who_will_not_end() {
    // Two seconds of grace, one for the rest, then they are killed.
    check_main_killed(STUBBORN, 3, Duration::from_secs(8));
}

#[test]
fn stopping_ends_the_whole_family_at_once_when_it_listens() {
    let mark = new_mark();
    let mut child = shell(FAMILY, &mark, |_| {}).unwrap();
    wait_for_sleepers(&mark, 3);
    let begin = Instant::now();
    let status = child.stop().unwrap();
    assert_eq!(ExitReason::from(status), ExitReason::Killed);
    assert!(begin.elapsed() < Duration::from_secs(1), "{:?}", begin.elapsed());
    assert_eq!(marked(&mark), []);
}

#[test]
fn those_who_will_not_end_are_killed_after_their_grace() {
    let mark = new_mark();
    let grace = Duration::from_millis(200);
    let mut child = shell(STUBBORN, &mark, |program| program.grace_period = grace).unwrap();
    wait_for_sleepers(&mark, 3);
    let begin = Instant::now();
    child.stop().unwrap();
    assert!(begin.elapsed() >= grace, "{:?}", begin.elapsed());
    assert_eq!(marked(&mark), []);
}

#[test]
fn a_family_that_keeps_growing_is_killed_too() {
    let mark = new_mark();
    let growing =
        r#"trap "" TERM; while :; do setsid sh -c 'trap "" TERM; sleep 300 & sleep 300' & sleep 0.01; done"#;
    let mut child =
        shell(growing, &mark, |program| program.grace_period = Duration::from_millis(100)).unwrap();
    wait_for_sleepers(&mark, 10);
    child.stop().unwrap();
    assert_eq!(marked(&mark), []);
}

#[test]
fn stopped_processes_are_ended_as_well() {
    let mark = new_mark();
    let mut child = shell("sleep 300 & sleep 300 & kill -STOP $$", &mark, |_| {}).unwrap();
    wait_for_sleepers(&mark, 2);
    let mut pids: Vec<u32> = marked(&mark).into_iter().map(|(pid, _)| pid).collect();
    pids.retain(|pid| *pid != child.warden_pid());
    for pid in &pids {
        signal(*pid, Signal::STOP);
    }
    wait_until_stopped(&pids);
    let begin = Instant::now();
    child.stop().unwrap();
    assert!(begin.elapsed() < Duration::from_secs(2), "{:?}", begin.elapsed());
    assert_eq!(marked(&mark), []);
}

#[test]
fn a_program_that_cleans_up_is_asked_once_and_left_in_peace() {
    let mark = new_mark();
    let notes = tempfile::tempdir().unwrap();
    let file = notes.path().join("notes");
    // Its helper must not be asked before the program itself is done: it is still needed.
    let script = format!(
        r#"sh -c 'trap "echo helper >> {0}; exit" TERM; while :; do sleep 0.02; done' & helper=$!
           trap 'echo asked >> {0}; sleep 0.3; echo stopping >> {0}; kill $helper; wait $helper; echo done >> {0}; exit 5' TERM
           while :; do sleep 0.02; done"#,
        file.display()
    );
    let mut child = shell(&script, &mark, |_| {}).unwrap();
    wait_for_sleepers(&mark, 2);
    let status = child.stop().unwrap();
    assert_eq!(std::fs::read_to_string(&file).unwrap(), "asked\nstopping\nhelper\ndone\n");
    assert_eq!(ExitReason::from(status), ExitReason::Failed(5));
    assert_eq!(marked(&mark), []);
}

#[test]
fn the_exit_of_the_program_is_told_exactly() {
    for (script, expected) in [
        ("exit 0", ExitReason::Clean),
        ("exit 7", ExitReason::Failed(7)),
        ("exit 139", ExitReason::Failed(139)),
        ("ulimit -c 0; kill -SEGV $$", ExitReason::Crashed(11)),
        ("kill -KILL $$", ExitReason::Killed),
    ] {
        let mut child = shell(script, &new_mark(), |_| {}).unwrap();
        assert_eq!(reason(&mut child), expected, "{script}");
    }
}

#[test]
fn the_exit_code_of_the_warden_is_that_of_a_shell() {
    let code = |script: &str| {
        // Without a reader of its reports: only the code is left.
        let (ours, theirs) = std::os::unix::net::UnixStream::pair().unwrap();
        let mut command = Command::new("sh");
        command.args(["-c", r#"exec 3<&0 </dev/null; exec "$0" "$@""#]);
        command.arg(std::env::current_exe().unwrap()).args(warden().args).args(["sh", "-c", script]);
        command.env(PART, "warden").stdin(Stdio::from(std::os::fd::OwnedFd::from(theirs)));
        let status = command.stdout(Stdio::null()).stderr(Stdio::null()).status().unwrap();
        drop(ours);
        status.code()
    };
    assert_eq!(code("exit 9"), Some(9));
    assert_eq!(code("kill -TERM $$"), Some(143));
}

#[test]
fn what_a_program_leaves_behind_ends_with_it() {
    let mark = new_mark();
    let mut child = shell("sleep 300 & (setsid sleep 300 &) ; exit 3", &mark, |_| {}).unwrap();
    assert_eq!(reason(&mut child), ExitReason::Failed(3));
    assert_eq!(marked(&mark), []);
}

#[test]
fn a_program_that_is_not_there_is_named() {
    let mut program = ProgramLaunch::new("no-such-program", ["x"]);
    program.environment = Environment::clean().with("PATH", "/usr/bin:/bin").with(PART, "warden");
    let error = spawn_guarded(&warden(), &program).unwrap_err();
    assert!(error.to_string().contains("no-such-program could not be started"), "{error}");
    assert!(
        matches!(error, GuardError::Program { source, .. } if source.kind() == std::io::ErrorKind::NotFound)
    );
}

#[test]
fn the_streams_belong_to_the_program_alone() {
    let mark = new_mark();
    let script = "read line; echo \"got $line\"; exec >&-; exec sleep 8";
    let mut child = shell(script, &mark, |program| {
        program.stdin = StdStream::Pipe;
        program.stdout = StdStream::Pipe;
    })
    .unwrap();
    child.take_stdin().unwrap().write_all(b"hello\n").unwrap();
    let begin = Instant::now();
    // Ends although the program runs on: nobody but the program had its output open.
    let mut output = String::new();
    child.take_stdout().unwrap().read_to_string(&mut output).unwrap();
    assert!(output.ends_with("got hello\n"), "{output}");
    assert!(begin.elapsed() < Duration::from_secs(5), "the warden kept the output open");
    assert!(child.wait(Some(Duration::ZERO)).unwrap().is_none());
    child.stop().unwrap();
}

#[test]
fn the_program_gets_no_other_descriptor() {
    // The first line ends what the test runner has printed before.
    let mut child =
        shell("echo; exec ls /proc/self/fd", &new_mark(), |program| program.stdout = StdStream::Pipe)
            .unwrap();
    let mut output = String::new();
    child.take_stdout().unwrap().read_to_string(&mut output).unwrap();
    let numbers: Vec<&str> = output.lines().filter(|line| line.parse::<u32>().is_ok()).collect();
    // The last is the one that `ls` lists with.
    assert_eq!(numbers, ["0", "1", "2", "3"]);
    assert_eq!(reason(&mut child), ExitReason::Clean);
}

#[test]
fn dropping_ends_everything_in_the_background() {
    let mark = new_mark();
    let child = shell(FAMILY, &mark, |_| {}).unwrap();
    wait_for_sleepers(&mark, 3);
    let begin = Instant::now();
    drop(child);
    assert!(begin.elapsed() < Duration::from_millis(500));
    assert_none_left_within(&mark, Duration::from_secs(5));
}

#[test]
fn a_warden_asked_by_a_signal_ends_its_family() {
    let mark = new_mark();
    let mut child = shell(FAMILY, &mark, |_| {}).unwrap();
    wait_for_sleepers(&mark, 3);
    signal(child.warden_pid(), Signal::TERM);
    assert_eq!(reason(&mut child), ExitReason::Killed);
    assert_eq!(marked(&mark), []);
}

#[test]
fn when_the_warden_is_killed_main_clears_its_session() {
    let mark = new_mark();
    // The one in a session of its own is out of reach then; everybody else is not.
    let mut child = shell("sleep 300 & sleep 300 & sleep 300", &mark, |_| {}).unwrap();
    wait_for_sleepers(&mark, 3);
    signal(child.warden_pid(), Signal::KILL);
    assert_eq!(reason(&mut child), ExitReason::Killed);
    assert_none_left_within(&mark, Duration::from_secs(2));
}

#[test]
fn killing_works_even_when_the_warden_itself_hangs() {
    let mark = new_mark();
    let mut child = shell(STUBBORN, &mark, |_| {}).unwrap();
    wait_for_sleepers(&mark, 3);
    signal(child.warden_pid(), Signal::STOP);
    wait_until_stopped(&[child.warden_pid()]);
    let begin = Instant::now();
    child.kill().unwrap();
    assert!(begin.elapsed() < Duration::from_secs(2), "{:?}", begin.elapsed());
    assert_none_left_within(&mark, Duration::from_secs(1));
}

#[test]
fn a_program_runs_in_the_folder_it_is_given() {
    let folder = tempfile::tempdir().unwrap();
    let folder = folder.path().canonicalize().unwrap();
    let mut child =
        shell("pwd > here", &new_mark(), |program| program.folder = Some(folder.clone())).unwrap();
    assert_eq!(reason(&mut child), ExitReason::Clean);
    let here = std::fs::read_to_string(folder.join("here")).unwrap();
    assert_eq!(Path::new(here.trim()), folder);
}
