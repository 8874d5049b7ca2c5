//! A program at a terminal of its own.

use super::home::Outcome;
use std::{
    io::{Read, Write},
    process::{ChildStdin, Command, Stdio},
    sync::{Arc, Mutex},
};
use test_support::{KilledOnDrop, requirements::TERMINAL, wait_for, wait_for_exit};

/// What stands before a code on the terminal of `serve`.
pub(crate) const CODE_LABEL: &str = "Code (valid for one minute): ";

/// A program at a terminal of its own, and what is on its screen.
pub(crate) struct TerminalFixture {
    pub(crate) child: KilledOnDrop,
    keyboard: Option<ChildStdin>,
    screen: Arc<Mutex<String>>,
}

impl TerminalFixture {
    /// None, loudly, where there is no `script` to give it a terminal.
    pub(crate) fn open(inner: &Command) -> Option<Self> {
        if !TERMINAL.is_available() {
            return None;
        }
        let quoted = |word: &std::ffi::OsStr| format!("'{}'", word.to_str().unwrap().replace('\'', "'\\''"));
        let words: Vec<String> =
            std::iter::once(inner.get_program()).chain(inner.get_args()).map(quoted).collect();
        let mut command = Command::new("script");
        command.args(["-qefc", &words.join(" "), "/dev/null"]).current_dir("/");
        for (name, value) in inner.get_envs() {
            match value {
                Some(value) => command.env(name, value),
                None => command.env_remove(name),
            };
        }
        command.env("TERM", "xterm-256color").env_remove("NO_COLOR");
        command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::null());
        let mut child = KilledOnDrop(command.spawn().unwrap());
        let screen = Arc::new(Mutex::new(String::new()));
        let (mut out, shown) = (child.stdout.take().unwrap(), Arc::clone(&screen));
        std::thread::spawn(move || {
            let mut bytes = [0; 4096];
            while let Ok(read @ 1..) = out.read(&mut bytes) {
                shown.lock().unwrap().push_str(&String::from_utf8_lossy(&bytes[..read]));
            }
        });
        let keyboard = child.stdin.take();
        Some(Self { child, keyboard, screen })
    }

    pub(crate) fn screen(&self) -> String {
        self.screen.lock().unwrap().clone()
    }

    pub(crate) fn wait_for(&self, text: &str) -> String {
        wait_for(text, || Some(self.screen()).filter(|screen| screen.contains(text)))
    }

    /// The newest code for a review that is shown, after so many.
    pub(crate) fn review_code(&self, shown_before: usize) -> String {
        wait_for("a code", || {
            let screen = self.screen();
            let code: String = screen.split(CODE_LABEL).nth(1 + shown_before)?.chars().take(8).collect();
            Some(code).filter(|code| code.len() == 8)
        })
    }

    pub(crate) fn write(&mut self, text: &str) {
        self.keyboard.as_mut().unwrap().write_all(format!("{text}\n").as_bytes()).unwrap();
    }

    pub(crate) fn end(mut self) -> Outcome {
        let code = wait_for_exit(&mut self.child).expect("it ends").code();
        Outcome { code, out: self.screen(), err: String::new() }
    }
}
