//! Setting files aside: copies a damaged file, or the losing version of a conflict, to `.draftboard/aside/`.

use super::{STATE_FOLDER, WorkspaceFiles};
use crate::{FileError, WorkspacePath};
use rustix::{
    fd::AsFd as _,
    fs::{AtFlags, Mode},
    io::Errno,
};
use safe_fs::PathProblem;
use std::{
    fs::File,
    io::{self, Read},
};

const ASIDE_FOLDER: [&str; 2] = [STATE_FOLDER, "aside"];
const MAX_COPIES: u32 = 10_000;

impl WorkspaceFiles {
    /// Copies a file to `.draftboard/aside/` and returns the path of the copy. The original stays in place; the
    /// caller overwrites or removes it afterwards, so that at least one copy exists at any time.
    pub fn set_aside(&self, path: &WorkspacePath, reason: &str) -> Result<WorkspacePath, FileError> {
        let mut file = self.open_regular(path)?;
        self.copy_aside(path, reason, &mut file)
    }

    /// As [`Self::set_aside`] for content that is not in a file, such as our version after the other one was
    /// chosen.
    pub fn set_aside_bytes(
        &self,
        path: &WorkspacePath,
        reason: &str,
        bytes: &[u8],
    ) -> Result<WorkspacePath, FileError> {
        self.copy_aside(path, reason, &mut &bytes[..])
    }

    fn copy_aside(
        &self,
        path: &WorkspacePath,
        reason: &str,
        content: &mut dyn Read,
    ) -> Result<WorkspacePath, FileError> {
        self.refuse_read_only(path)?;
        let folder = safe_fs::create_folder(self.root_fd.as_fd(), &ASIDE_FOLDER)
            .map_err(|errno| FileError::of_errno(ASIDE_FOLDER.join("/"), errno))?;
        for number in 1..=MAX_COPIES {
            let name = aside_name(path, reason, number);
            let kept = WorkspacePath::parse(format!("{}/{name}", ASIDE_FOLDER.join("/")))?;
            match safe_fs::create_new(folder.as_fd(), &name, Mode::RUSR | Mode::WUSR) {
                Ok(mut file) => {
                    return copy_synced(content, &mut file)
                        .and_then(|()| Ok(rustix::fs::fsync(&folder)?))
                        .map(|()| kept.clone())
                        .map_err(|error| {
                            let _ = rustix::fs::unlinkat(&folder, &name, AtFlags::empty());
                            FileError::of_io(&kept, &error)
                        });
                }
                Err(PathProblem::System(Errno::EXIST)) => {}
                Err(problem) => return Err(FileError::of_problem(&kept, problem)),
            }
        }
        let problem = format!("{MAX_COPIES} versions are already set aside; remove some");
        Err(FileError::Failed { path: ASIDE_FOLDER.join("/"), problem })
    }
}

fn copy_synced(content: &mut dyn Read, file: &mut File) -> io::Result<()> {
    io::copy(content, file)?;
    file.sync_all()
}

/// Returns the name of a copy: `main.board.json` with the reason `damaged` becomes `main-damaged-1.board.json`.
fn aside_name(path: &WorkspacePath, reason: &str, number: u32) -> String {
    let (_, name) = path.split();
    let (stem, ending) =
        name.split_once('.').map_or((name, String::new()), |(stem, rest)| (stem, format!(".{rest}")));
    let fits = |c: &char| c.is_ascii_alphanumeric() || *c == '-';
    let reason: String = reason.chars().filter(fits).take(40).collect();
    let stem: String = stem.chars().take(40).collect();
    let ending: String = if ending.len() <= 60 { ending } else { String::new() };
    format!("{stem}-{reason}-{number}{ending}")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_safe_whatever_they_come_from() {
        let name = |path: &str, reason| aside_name(&WorkspacePath::parse(path).unwrap(), reason, 1);
        assert_eq!(name("boards/main.board.json", "damaged"), "main-damaged-1.board.json");
        assert_eq!(name("README", "../../x y"), "README-xy-1");
        assert!(name(&"ü".repeat(120), "r").len() < 255);
    }
}
