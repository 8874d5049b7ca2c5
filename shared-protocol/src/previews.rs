//! Preview sessions as window and terminals know them. What the preview process itself hears and says is in
//! [`crate::preview`]; nothing of that reaches a window before it was checked.

use crate::{
    NodeId, Value,
    preview::{InputEvent, MAX_SCREEN, MAX_SCREEN_PIXELS, Mode, Screen},
};
use serde::{Deserialize, Serialize};
use std::fmt;

/// Sessions at a time.
pub const MAX_SESSIONS: usize = 8;
/// Lines of a session's log that are kept.
pub const MAX_LOG: usize = 1_000;

/// One session; never used again in the same run.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(transparent)]
pub struct SessionId(pub u32);

impl std::str::FromStr for SessionId {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let number = text.strip_prefix("preview-").unwrap_or(text).parse().ok();
        number.map(Self).ok_or_else(|| format!("{text:?} is no preview such as preview-1"))
    }
}

impl fmt::Display for SessionId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "preview-{}", self.0)
    }
}

/// A picture that a preview drew, as data: rows from the top, four bytes a pixel, colours multiplied by their alpha.
#[derive(Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Pixels {
    pub width: u32,
    pub height: u32,
    pub rgba: Vec<u8>,
}

impl Pixels {
    /// Columns and rows, if there are exactly the bytes for them and no more than a screen has.
    pub fn size(&self) -> Option<[usize; 2]> {
        let side = 1..=MAX_SCREEN;
        let [width, height] = [self.width, self.height].map(|side| side as usize);
        let is_screen = side.contains(&self.width)
            && side.contains(&self.height)
            && width * height <= MAX_SCREEN_PIXELS
            && self.rgba.len() == width * height * 4;
        is_screen.then_some([width, height])
    }
}

impl fmt::Debug for Pixels {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Pixels({} × {})", self.width, self.height)
    }
}

/// What a session shows.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub enum Shown {
    /// A page: a route of an interface board with all it contains.
    Route(NodeId),
    /// One component with its defaults.
    Component { component: String },
    /// One component with a named set of props.
    Variant { component: String, variant: String },
}

// ---- what may be asked ------------------------------------------------------------------------------------------------

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub enum PreviewRequest {
    /// Answered by [`PreviewAnswer::Started`]; the session shows itself in the next view.
    Start {
        shows: Shown,
        screen: Screen,
    },
    /// Ends the process; the session stays as stopped, with its log.
    Stop(SessionId),
    /// Stops it if need be and forgets it.
    Close(SessionId),
    /// Starts the process again, also one that was stopped, crashed or is stuck. Lifts quarantine.
    Restart(SessionId),
    /// Shows another page in the same session.
    Navigate {
        session: SessionId,
        route: NodeId,
    },
    Screen {
        session: SessionId,
        screen: Screen,
    },
    Mode {
        session: SessionId,
        mode: Mode,
    },
    /// Chooses an instance, as a click on it in inspect mode does; none for nothing.
    Select {
        session: SessionId,
        instance: Option<String>,
    },
    /// Lines after a number, oldest first. Answered by [`PreviewAnswer::Log`].
    Log {
        session: SessionId,
        after: u64,
    },
    /// What is on the session's screen as a PNG file, once a frame of the present content is there.
    Shot {
        session: SessionId,
        path: String,
    },
    /// All sessions and components. Answered by [`PreviewAnswer::All`].
    List,
}

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub enum PreviewAnswer {
    Started(SessionId),
    Log(Vec<LoggedLine>),
    All(Box<PreviewsView>),
    /// The screenshot is in this file.
    Saved {
        path: String,
        bytes: u64,
    },
    Done,
}

/// What the window does in a session; not answered.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub enum PreviewGesture {
    /// To the components. At most [`crate::preview::MAX_EVENTS`] at once; sent in interact and in inspect mode alike.
    Input(Vec<InputEvent>),
    /// Values that are shown and not kept, while a control is being dragged; each message replaces the one before, and an
    /// empty one ends it. What is kept is set by a command.
    Try(Vec<Tried>),
}

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Tried {
    pub instance: String,
    /// A JSON Pointer into the props.
    pub path: String,
    pub value: Value,
}

// ---- what the window is told ------------------------------------------------------------------------------------------

/// All sessions, whenever something about one is other than it was; frames and boxes travel apart.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub struct PreviewsView {
    pub sessions: Vec<SessionView>,
    /// The components of the workspace, for starting one by itself.
    pub components: Vec<ComponentView>,
    /// Why nothing can be shown on this machine.
    pub unavailable: Option<String>,
}

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct SessionView {
    pub id: SessionId,
    pub shows: Shown,
    /// In words: the page's title, the component's.
    pub title: String,
    pub state: SessionState,
    pub screen: Screen,
    pub mode: Mode,
    /// The page that is shown, where it is one.
    pub route: Option<NodeId>,
    pub selected: Option<SelectedInstance>,
    /// In inspect mode, under the pointer.
    pub hovered: Option<String>,
    pub problems: Vec<SessionProblem>,
    /// Components that ended the process twice and are left out.
    pub quarantined: Vec<String>,
    /// Lines in the log so far.
    pub logged: u64,
    /// How long the newest frame took to make.
    pub frame_micros: u64,
}

/// The states of the workbench's contract, each with what belongs to it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub enum SessionState {
    /// The process is being started.
    Creating,
    /// Locked in; what it is to show is on its way.
    Loading,
    Ready,
    /// Files or the page changed and the next frame is awaited; the last one stays.
    Reloading,
    Stopped,
    /// It crashed, hung, broke a rule or ran out of its budget.
    Failed(Failed),
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Failed {
    /// What happened, in a line.
    pub what: String,
    /// The last lines that the process wrote.
    pub detail: Vec<String>,
    /// It starts again by itself at this moment (milliseconds since 1970, UTC); else it waits for a person.
    pub again_at: Option<u64>,
}

/// What is selected in a session, with what the inspector needs.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct SelectedInstance {
    pub instance: String,
    pub component: String,
    /// The node on the board that it is, or is part of.
    pub node: Option<NodeId>,
    /// The component's file and line, from the workspace's folder.
    pub file: String,
    pub line: u32,
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct SessionProblem {
    pub file: String,
    pub line: u32,
    pub column: u32,
    pub message: String,
    pub instance: Option<String>,
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct ComponentView {
    pub id: String,
    pub title: String,
    pub variants: Vec<String>,
    pub file: String,
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct LoggedLine {
    pub number: u64,
    /// Milliseconds since 1970, UTC.
    pub time: u64,
    pub level: LogLevel,
    pub message: String,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub enum LogLevel {
    Debug,
    Info,
    Warn,
    Error,
}

/// Where an instance is on a session's screen, in points.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct ShownInstance {
    pub id: String,
    pub component: String,
    pub parent: Option<String>,
    /// The node on the board that it is.
    pub node: Option<NodeId>,
    /// Left, top, width, height.
    pub rect: [f32; 4],
    /// The part of the screen in which it can be seen.
    pub clip: [f32; 4],
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn pixels_have_a_size_only_if_they_are_all_there() {
        let of = |width, height, bytes| Pixels { width, height, rgba: vec![0; bytes] }.size();
        assert_eq!(of(3, 2, 24), Some([3, 2]));
        for (width, height, bytes) in [
            (3, 2, 23),
            (3, 2, 25),
            (0, 2, 0),
            (2, 0, 0),
            (MAX_SCREEN + 1, 1, 16_388),
            (u32::MAX, u32::MAX, 4),
        ] {
            assert_eq!(of(width, height, bytes), None, "{width} × {height} of {bytes} bytes");
        }
    }
}
