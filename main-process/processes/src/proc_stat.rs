//! The status of a process in `/proc/<pid>/stat`.

use super::process_tree::children_of;
use std::io;

/// The fields that identify a process and its state.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ProcStat {
    state: u8,
    pub parent: u32,
    pub session: u32,
    /// Clock ticks since boot. Together with the pid it identifies one process; a pid alone is reused.
    pub start_time: u64,
    /// CPU time in clock ticks, in user mode and in the kernel.
    pub cpu_ticks: u64,
}

impl ProcStat {
    pub fn read(pid: u32) -> io::Result<Self> {
        let text = std::fs::read(format!("/proc/{pid}/stat"))?;
        Self::parse(&text).ok_or_else(|| io::Error::from(io::ErrorKind::InvalidData))
    }

    /// A zombie runs no code; it waits for its parent to reap it.
    pub fn is_dead(&self) -> bool {
        matches!(self.state, b'Z' | b'X' | b'x')
    }

    /// The second field is the program's name in parentheses and may itself hold spaces, parentheses and
    /// bytes that are no text, so everything is counted from the *last* closing one.
    fn parse(text: &[u8]) -> Option<Self> {
        let name_end = text.iter().rposition(|byte| *byte == b')')?;
        let rest = std::str::from_utf8(text.get(name_end + 1..)?).ok()?;
        let fields: Vec<&str> = rest.split_ascii_whitespace().collect();
        Some(Self {
            state: *fields.first()?.as_bytes().first()?,
            parent: fields.get(1)?.parse().ok()?,
            session: fields.get(3)?.parse().ok()?,
            start_time: fields.get(19)?.parse().ok()?,
            cpu_ticks: fields.get(11)?.parse::<u64>().ok()?.saturating_add(fields.get(12)?.parse().ok()?),
        })
    }
}

/// The CPU time of a process and its living descendants, in hundredths of a second.
pub fn cpu_ticks(pid: u32) -> Option<u64> {
    let own = ProcStat::read(pid).ok()?.cpu_ticks;
    Some(children_of(pid).into_iter().filter_map(cpu_ticks).fold(own, u64::saturating_add))
}

#[cfg(test)]
mod tests {
    use super::ProcStat;

    #[test]
    fn a_name_with_parentheses_does_not_shift_the_fields() {
        let text = b"42 (a ) Z 1 (x) S 7 8 9 0 -1 1 2 3 4 5 6 7 8 9 20 0 1 0 12345 99 100";
        let stat = ProcStat::parse(text).unwrap();
        assert_eq!((stat.parent, stat.session, stat.start_time, stat.cpu_ticks), (7, 9, 12345, 6 + 7));
        assert!(!stat.is_dead());
    }

    #[test]
    fn own_process_is_alive_and_has_a_start_time() {
        let stat = ProcStat::read(std::process::id()).unwrap();
        assert!(!stat.is_dead());
        assert!(stat.start_time > 0);
    }

    #[test]
    fn garbage_is_no_stat() {
        for text in [&b""[..], b"42", b"42 (x)", b"42 (x) S one", b")\xff\xff"] {
            assert_eq!(ProcStat::parse(text), None);
        }
    }
}
