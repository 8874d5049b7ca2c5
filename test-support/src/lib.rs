//! Support for the tests of every crate: repeatable randomness, waiting with a deadline, a disk of a few kilobytes, the process
//! table, MCP messages, and the list of programs that tests need beyond the Rust toolchain.
//!
//! It knows none of our crates, so every crate can use it without a cycle. It is a dev-dependency only; `scripts/check-arrows`
//! refuses it anywhere else.
#![allow(
    clippy::unwrap_used,
    clippy::panic,
    clippy::print_stdout,
    reason = "only tests use it; a test may unwrap and print"
)]

mod children;
pub mod mcp;
pub mod processes;
mod random;
pub mod requirements;
mod tmpfs;
mod waiting;

pub use children::{KilledOnDrop, free_port, python_interpreter};
pub use random::RandomSource;
pub use tmpfs::TmpfsFixture;
#[cfg(feature = "tokio")]
pub use waiting::wait_until_async;
pub use waiting::{
    PATIENCE, try_wait_for_within, wait_for, wait_for_exit, wait_for_within, wait_until, wait_until_within,
};
