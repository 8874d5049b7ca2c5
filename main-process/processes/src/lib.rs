//! Starting, supervising and finding processes.
//!
//! Owns: the private runtime directory, the rule of one instance per workspace and the discovery of a running main
//! process, starting the roles of this executable with their channel, restarts with back-off, and running external
//! programs so that none of their processes outlives main. Must not know: the messages on a channel, boards, MCP, the
//! window.
//!
//! Every child dies with main, even when main is killed with `SIGKILL`: roles by their parent-death signal
//! and by the end of their channel, external programs by their [warden].

mod child_setup;
mod environment;
pub mod exit_reason;
pub mod instance;
mod proc_stat;
mod process_group;
mod process_tree;
mod program;
mod readiness;
pub mod restart;
mod role;
pub mod runtime_dir;
pub mod supervisor;
pub mod warden;

pub use proc_stat::{ProcStat, cpu_ticks};
pub use readiness::timespec;

pub use environment::{EnvPolicy, Environment};
pub use exit_reason::ExitReason;
pub use instance::{
    DiscoveryRecord, InstanceToken, LockError, PublishError, PublishedInstance, WorkspaceLock,
};
pub use process_group::{ProcessGroup, SpawnError, StdStream};
pub use program::{ProcessGroupSpawner, ProgramLaunch, ProgramSpawner, RunningProgram};
pub use restart::{Backoff, RestartDecision, RestartPolicy};
pub use role::{RoleProcess, inherited_channel, spawn_detached, spawn_role};
pub use runtime_dir::{RuntimeDir, RuntimeDirError, RuntimeDirs};
pub use supervisor::{ChildEvent, ChildEventKind, ChildId, ChildSpec, Supervisor, SupervisorError};
pub use warden::{GuardError, GuardedProgram, WardenCommandLine, run_warden, spawn_guarded};
