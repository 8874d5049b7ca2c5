//! Processes that a test starts.

use std::{
    net::TcpListener,
    ops::{Deref, DerefMut},
    process::{Child, Command},
    sync::OnceLock,
};

/// Returns a port that is free at this moment, for a program that cannot choose one itself.
pub fn free_port() -> u16 {
    TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap().port()
}

/// Returns Python's interpreter itself; the program on PATH may be a script that searches for it each time.
pub fn python_interpreter() -> &'static str {
    static INTERPRETER: OnceLock<String> = OnceLock::new();
    INTERPRETER.get_or_init(|| {
        let mut python = Command::new("python3");
        let asked = python.args(["-c", "import sys; print(sys.executable)"]).output().unwrap();
        String::from_utf8(asked.stdout).unwrap().trim().to_owned()
    })
}

/// A child process that does not outlive the test, also when the test fails.
#[derive(Debug)]
pub struct KilledOnDrop(pub Child);

impl Deref for KilledOnDrop {
    type Target = Child;

    fn deref(&self) -> &Child {
        &self.0
    }
}

impl DerefMut for KilledOnDrop {
    fn deref_mut(&mut self) -> &mut Child {
        &mut self.0
    }
}

impl Drop for KilledOnDrop {
    fn drop(&mut self) {
        // Both fail when the process has ended already.
        drop(self.0.kill());
        drop(self.0.wait());
    }
}
