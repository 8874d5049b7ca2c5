//! A file that exists while main runs. The file of a process that is gone shows that it ended unexpectedly: by a signal, by
//! the kernel, or with the machine.

use super::{
    CrashReport, CrashRole, CrashStore,
    store::{prepare, refuse_links},
    write,
};
use processes::ProcStat;
use serde::{Deserialize, Serialize};
use std::{
    fs, io,
    path::{Path, PathBuf},
};

const PREFIX: &str = "running-";

#[derive(Debug, Serialize, Deserialize)]
struct MarkerFile {
    pid: u32,
    /// In clock ticks since boot: pids are reused, this pair is not.
    start_time: u64,
    /// The boot of the machine, because the ticks restart with each.
    boot: String,
    has_window: bool,
    version: String,
}

/// Held while main runs; dropping it marks an orderly end.
#[derive(Debug)]
pub struct RunningMarker {
    path: PathBuf,
}

fn boot() -> String {
    fs::read_to_string("/proc/sys/kernel/random/boot_id").unwrap_or_default().trim().to_owned()
}

impl RunningMarker {
    /// Records the processes that left a marker and are gone, and leaves one for this process.
    pub fn place(role: CrashRole) -> io::Result<Self> {
        let folder = user_folders::crashes();
        prepare(&folder)?;
        record_gone(&folder);
        let pid = std::process::id();
        let marker = MarkerFile {
            pid,
            start_time: ProcStat::read(pid)?.start_time,
            boot: boot(),
            has_window: role == CrashRole::Main,
            version: env!("CARGO_PKG_VERSION").to_owned(),
        };
        let path = folder.join(format!("{PREFIX}{pid}"));
        safe_fs::write_private(&path, &serde_json::to_vec(&marker)?)?;
        Ok(Self { path })
    }
}

impl Drop for RunningMarker {
    fn drop(&mut self) {
        // The next start reports a marker that could not be removed.
        drop(fs::remove_file(&self.path));
    }
}

/// Records the processes that left a marker and are gone. Creates no folder.
pub(super) fn record_all_gone() {
    let folder = user_folders::crashes();
    if refuse_links(&folder).is_ok() {
        record_gone(&folder);
    }
}

fn record_gone(folder: &Path) {
    let Ok(entries) = fs::read_dir(folder) else { return };
    for entry in entries.filter_map(Result::ok) {
        let is_marker = entry.file_name().to_str().is_some_and(|name| name.starts_with(PREFIX));
        if !is_marker {
            continue;
        }
        let read =
            fs::read(entry.path()).ok().and_then(|text| serde_json::from_slice::<MarkerFile>(&text).ok());
        let Some(marker) = read else {
            drop(fs::remove_file(entry.path()));
            continue;
        };
        let is_same_boot = marker.boot == boot();
        let stat = ProcStat::read(marker.pid).ok().filter(|_| is_same_boot);
        if stat.is_some_and(|stat| !stat.is_dead() && stat.start_time == marker.start_time) {
            continue;
        }
        // Only the process that removes a marker records it, so two that start at once do not record it twice.
        if fs::remove_file(entry.path()).is_ok() {
            record(&marker, is_same_boot);
        }
    }
}

fn record(marker: &MarkerFile, is_same_boot: bool) {
    let role = if marker.has_window { CrashRole::Main } else { CrashRole::Serve };
    // A panic has its own, more detailed report.
    if CrashStore::of_user().has(role, marker.pid) {
        return;
    }
    let how = if is_same_boot { "a signal or the kernel ended it" } else { "the computer was restarted" };
    write(&CrashReport {
        role,
        pid: marker.pid,
        uptime: None,
        summary: format!("version {} ended without closing its workspace: {how}", marker.version),
        location: None,
        thread: None,
        backtrace: None,
        lines: Vec::new(),
    });
}
