//! A program at a terminal of its own.

use super::{
    home::{Outcome, ended},
    wait_for,
};
use std::{
    io::{Read, Write},
    process::{Child, ChildStdin, Command, Stdio},
    sync::{Arc, Mutex},
};

/// A program at a terminal of its own, and what is on its screen.
pub(crate) struct Terminal {
    pub(crate) child: Child,
    keyboard: Option<ChildStdin>,
    screen: Arc<Mutex<String>>,
}

impl Terminal {
    /// None, loudly, where there is no `script` to give it a terminal.
    pub(crate) fn open(inner: &Command) -> Option<Self> {
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
        let piped = command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::null()).spawn();
        let Ok(mut child) = piped else {
            assert!(std::env::var_os("CI").is_none(), "`script` is not installed");
            println!("SKIPPED: `script` is not installed");
            return None;
        };
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

    pub(crate) fn write(&mut self, text: &str) {
        self.keyboard.as_mut().unwrap().write_all(format!("{text}\n").as_bytes()).unwrap();
    }

    pub(crate) fn end(mut self) -> Outcome {
        let code = ended(&mut self.child).expect("it ends").code();
        Outcome { code, out: self.screen(), err: String::new() }
    }
}

impl Drop for Terminal {
    fn drop(&mut self) {
        drop(self.child.kill());
        drop(self.child.wait());
    }
}
