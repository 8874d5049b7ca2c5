//! A small disk that a test may fill or make read-only.

use crate::requirements;
use std::{
    fs::OpenOptions,
    io::Write,
    path::{Path, PathBuf},
    process::Command,
};
use tempfile::TempDir;

/// A mounted tmpfs, unmounted on drop.
pub struct TmpfsFixture {
    folder: TempDir,
}

impl TmpfsFixture {
    /// Returns `None` and reports the skip where nothing can be mounted.
    pub fn mount(kilobytes: u32) -> Option<Self> {
        requirements::MOUNT.is_available().then(|| Self::try_mount(kilobytes).unwrap())
    }

    pub(crate) fn try_mount(kilobytes: u32) -> Option<Self> {
        let folder = tempfile::tempdir().unwrap();
        let mut mount = Command::new("mount");
        mount.args(["-t", "tmpfs", "-o", &format!("size={kilobytes}k"), "tmpfs"]).arg(folder.path());
        mount.output().is_ok_and(|output| output.status.success()).then_some(Self { folder })
    }

    pub fn path(&self) -> &Path {
        self.folder.path()
    }

    /// Mounts it again as `ro` or `rw`.
    pub fn remount(&self, mode: &str) {
        let options = format!("remount,{mode}");
        assert!(Command::new("mount").args(["-o", &options]).arg(self.path()).status().unwrap().success());
    }

    /// Takes all space that is left, and returns the file that holds it.
    pub fn fill(&self) -> PathBuf {
        let filler = self.path().join("filler");
        let mut file = OpenOptions::new().create(true).append(true).open(&filler).unwrap();
        while file.write_all(&[7; 4096]).is_ok() {}
        filler
    }
}

impl Drop for TmpfsFixture {
    fn drop(&mut self) {
        drop(Command::new("umount").arg(self.path()).status());
    }
}
