//! Preview sessions as seen by the window and terminals. The messages of the preview process itself are in
//! [`crate::preview_wire`]; main checks them before anything reaches a window.

use crate::{
    NodeId, PropValue,
    preview_wire::{
        MAX_SCREEN_PIXELS, MAX_SCREEN_SIDE_POINTS, PreviewInputEvent, PreviewMode, PreviewScreen,
    },
};
use serde::{Deserialize, Serialize};
use std::fmt;

/// The maximum number of open sessions.
pub const MAX_PREVIEW_SESSIONS: usize = 8;
/// The maximum number of stored log lines of a session.
pub const MAX_PREVIEW_LOG_LINES: usize = 1_000;

/// The id of a session, never reused in the same run.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(transparent)]
pub struct PreviewId(pub u32);

impl std::str::FromStr for PreviewId {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let number = text.strip_prefix("preview-").unwrap_or(text).parse().ok();
        number
            .map(Self)
            .ok_or_else(|| format!("{text:?} is not a preview id: expected an id such as preview-1"))
    }
}

impl fmt::Display for PreviewId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "preview-{}", self.0)
    }
}

/// An image rendered by a preview: rows from the top, four bytes a pixel, premultiplied alpha.
#[derive(Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct PreviewImage {
    pub width: u32,
    pub height: u32,
    pub rgba: Vec<u8>,
}

impl PreviewImage {
    /// Returns columns and rows, if the number of bytes matches and the size is within the limits of a screen.
    pub fn size(&self) -> Option<[usize; 2]> {
        let side = 1..=MAX_SCREEN_SIDE_POINTS;
        let [width, height] = [self.width, self.height].map(|side| side as usize);
        let is_screen = side.contains(&self.width)
            && side.contains(&self.height)
            && width * height <= MAX_SCREEN_PIXELS
            && self.rgba.len() == width * height * 4;
        is_screen.then_some([width, height])
    }
}

impl fmt::Debug for PreviewImage {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "PreviewImage({} × {})", self.width, self.height)
    }
}

/// The content that a session shows.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub enum PreviewTarget {
    /// A page: a route of an interface board with its content.
    Route(NodeId),
    /// One component with its defaults.
    Component { component: String },
    /// One component with a named set of props.
    Variant { component: String, variant: String },
}

// ---- requests --------------------------------------------------------------------------------------------------------

/// Input from the window to a session; not answered.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub enum PreviewGesture {
    /// Input events for the components, at most [`crate::preview_wire::MAX_INPUT_EVENTS`] in one message; sent in both modes.
    Input(Vec<PreviewInputEvent>),
    /// Transient values while a control is dragged. Each message replaces the previous one; an empty message ends the
    /// drag. A command sets the final value.
    Try(Vec<TransientPropValue>),
}

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct TransientPropValue {
    pub instance: String,
    /// A JSON Pointer into the props.
    pub path: String,
    pub value: PropValue,
}

// ---- notifications ----------------------------------------------------------------------------------------------------

/// All sessions; sent after every change. Frames and instance boxes are sent separately.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub struct PreviewsView {
    pub sessions: Vec<PreviewSessionView>,
    /// The components of the workspace that can be previewed on their own.
    pub components: Vec<ComponentView>,
    /// Why previews are unavailable on this machine.
    pub unavailable: Option<String>,
}

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct PreviewSessionView {
    pub id: PreviewId,
    pub shows: PreviewTarget,
    /// The title of the page or of the component.
    pub title: String,
    pub state: PreviewSessionStatus,
    pub screen: PreviewScreen,
    pub mode: PreviewMode,
    /// The shown page, if the session shows one.
    pub route: Option<NodeId>,
    pub selected: Option<SelectedInstance>,
    /// The instance under the pointer in inspect mode.
    pub hovered: Option<String>,
    pub problems: Vec<PreviewSourceProblem>,
    /// Components that are skipped because they ended the process twice.
    pub quarantined: Vec<String>,
    /// The number of log lines so far.
    pub logged: u64,
    /// The render time of the newest frame.
    pub frame_micros: u64,
}

/// The session states of the workbench contract, each with its own data.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub enum PreviewSessionStatus {
    /// The process is starting.
    Creating,
    /// The sandbox is closed; the content is loading.
    Loading,
    Ready,
    /// Files or the page changed; the last frame stays visible until the next one arrives.
    Reloading,
    Stopped,
    /// The process crashed, hung, broke the protocol or exceeded its limits.
    Failed(PreviewFailure),
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct PreviewFailure {
    /// A one-line description of the failure.
    pub what: String,
    /// The last lines of process output.
    pub detail: Vec<String>,
    /// The time of the automatic restart (milliseconds since 1970, UTC); `None` when a person must restart it.
    pub again_at: Option<u64>,
}

/// The selected instance of a session, for the inspector.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct SelectedInstance {
    pub instance: String,
    pub component: String,
    /// The node on the board that is, or contains, the instance.
    pub node: Option<NodeId>,
    /// The component's file and line, relative to the workspace folder.
    pub file: String,
    pub line: u32,
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct PreviewSourceProblem {
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
pub struct PreviewLogLine {
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

/// The position of an instance on the screen of a session, in points.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct PreviewInstanceBox {
    pub id: String,
    pub component: String,
    pub parent: Option<String>,
    /// The node on the board.
    pub node: Option<NodeId>,
    /// Left, top, width, height.
    pub rect: [f32; 4],
    /// The visible part of the screen.
    pub clip: [f32; 4],
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn pixels_have_a_size_only_if_they_are_all_there() {
        let of = |width, height, bytes| PreviewImage { width, height, rgba: vec![0; bytes] }.size();
        assert_eq!(of(3, 2, 24), Some([3, 2]));
        for (width, height, bytes) in [
            (3, 2, 23),
            (3, 2, 25),
            (0, 2, 0),
            (2, 0, 0),
            (MAX_SCREEN_SIDE_POINTS + 1, 1, 16_388),
            (u32::MAX, u32::MAX, 4),
        ] {
            assert_eq!(of(width, height, bytes), None, "{width} × {height} of {bytes} bytes");
        }
    }
}
