//! What main and the preview say to each other: JSON, because the preview runs what others wrote and nothing it sends is
//! believed before it has been decoded strictly and checked.
//!
//! Owns the messages, their bounds, and [`Conversation`]: what the preview may say at this point of the conversation.
//! Sizes are in points unless they say pixels. Types hold no recursion but JSON values, whose parser bounds the depth.

use crate::v0::{JsonPointer, PreviewLogLevel};
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

mod conversation;

pub use conversation::{Conversation, Violation};

/// Raised with every change of a message; both ends must have the same.
pub const PREVIEW_PROTOCOL: u32 = 4;

/// Bytes of one message to the preview: a component file of the largest size, every character escaped.
pub const MAX_TO_PREVIEW: usize = 8 << 20;
/// Bytes of one message from it.
pub const MAX_FROM_PREVIEW: usize = 4 << 20;
/// Instances on one screen, those that components show in turn included.
pub const MAX_INSTANCES: usize = 10_000;
/// Problems told at once.
pub const MAX_PROBLEMS_TOLD: usize = 200;
/// Characters of a text that the preview sends: a log line, a message, a typed value.
pub const MAX_TOLD: usize = 4_000;
/// Characters of an id.
pub const MAX_ID: usize = 256;
/// Events in one message.
pub const MAX_EVENTS: usize = 256;
/// Characters that the preview may say it has no font for, in one message.
pub const MAX_MISSING_CHARS: usize = 512;
/// Points of a side of the screen.
pub const MAX_SCREEN: u32 = 4_096;
/// Pixels of a screen in all.
pub const MAX_SCREEN_PIXELS: usize = 4_096 * 4_096;

/// How large the screen of the preview is and how it looks. A frame memory for exactly this many pixels comes with it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct Screen {
    pub width: u32,
    pub height: u32,
    /// Pixels per point, in quarters: 4 is one, 8 is two.
    pub quarters: u8,
    pub dark: bool,
}

impl Screen {
    /// None for sizes that are not offered.
    pub fn new(width: u32, height: u32, scale: f32, dark: bool) -> Option<Self> {
        let quarters = (scale * 4.0).round();
        let screen = Self { width, height, quarters: quarters as u8, dark };
        (quarters == scale * 4.0 && screen.is_valid()).then_some(screen)
    }

    pub fn is_valid(&self) -> bool {
        let side = 1..=MAX_SCREEN;
        let [width, height] = self.pixels();
        side.contains(&self.width)
            && side.contains(&self.height)
            && (2..=16).contains(&self.quarters)
            && width > 0
            && height > 0
            && width * height <= MAX_SCREEN_PIXELS
    }

    pub fn scale(&self) -> f32 {
        f32::from(self.quarters) / 4.0
    }

    /// Columns and rows.
    pub fn pixels(&self) -> [usize; 2] {
        [self.width, self.height].map(|points| points as usize * usize::from(self.quarters) / 4)
    }
}

/// What a session shows.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "type", rename_all = "camelCase", rename_all_fields = "camelCase", deny_unknown_fields)]
pub enum Target {
    /// A page: the instances of the scene.
    Route { route: String },
    /// One component with its defaults.
    Component { component: String },
    /// One component with a named set of props.
    Variant { component: String, variant: String },
}

/// An instance on a page. Parents come before their children.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct SceneInstance {
    pub id: String,
    pub component: String,
    #[serde(default, skip_serializing_if = "Map::is_empty")]
    pub props: Map<String, Value>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub parent: Option<String>,
    /// Absent means `children`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub slot: Option<String>,
}

/// A value laid over a prop of an instance.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct SceneOverride {
    pub instance: String,
    pub path: JsonPointer,
    pub value: Value,
}

/// Whether input drives the components or chooses among them.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub enum Mode {
    #[default]
    Interact,
    Inspect,
}

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", rename_all_fields = "camelCase", deny_unknown_fields)]
pub enum InputEvent {
    /// The pointer is there.
    Move {
        x: f32,
        y: f32,
    },
    Leave,
    Press {
        x: f32,
        y: f32,
    },
    Release {
        x: f32,
        y: f32,
    },
    Scroll {
        dy: f32,
    },
    Type {
        text: String,
    },
    Key {
        key: EditKey,
    },
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub enum EditKey {
    Backspace,
    Delete,
    Enter,
    Escape,
    Tab,
    BackTab,
    Left,
    Right,
    Up,
    Down,
    Home,
    End,
    /// The same, with what lies on the way selected.
    SelectLeft,
    SelectRight,
    SelectHome,
    SelectEnd,
    SelectAll,
}

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(tag = "type", rename_all = "camelCase", rename_all_fields = "camelCase", deny_unknown_fields)]
pub enum ToPreview {
    /// The answer to the hello.
    Welcome {
        session: String,
    },
    /// Comes with the descriptor of a frame memory. `generation` goes up with each.
    Screen {
        generation: u32,
        screen: Screen,
    },
    /// A component file is new or has changed.
    Component {
        file: String,
        text: String,
    },
    ComponentRemoved {
        file: String,
    },
    /// A picture of the workspace, as PNG in base64.
    Image {
        path: String,
        png: String,
    },
    /// A font of the system, for characters that were missing. Comes with the descriptor of its file.
    Font {
        name: String,
        /// Which face of a collection.
        index: u32,
    },
    /// What to show from now on. `revision` goes up with each.
    Scene {
        revision: u64,
        target: Target,
        instances: Vec<SceneInstance>,
        overrides: Vec<SceneOverride>,
    },
    /// All props of one instance.
    Props {
        revision: u64,
        instance: String,
        props: Map<String, Value>,
    },
    /// All overrides.
    Overrides {
        revision: u64,
        overrides: Vec<SceneOverride>,
    },
    Mode {
        mode: Mode,
    },
    Input {
        events: Vec<InputEvent>,
    },
    /// To be answered with a pong; how main knows that the preview is not stuck.
    Ping {
        number: u64,
    },
    /// Forget what was typed and ticked, and begin again.
    Reset,
}

/// Which layers of the sandbox hold.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct SandboxReport {
    pub no_new_privileges: bool,
    pub not_dumpable: bool,
    pub no_new_executable_memory: bool,
    pub landlock: LandlockLevel,
    pub limits: bool,
    pub system_calls: bool,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub enum LandlockLevel {
    Full,
    /// The kernel knows some of what was asked for.
    Partial,
    None,
}

/// Where an instance is on the screen.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct InstanceBox {
    pub id: String,
    pub component: String,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub parent: Option<String>,
    /// Left, top, width, height.
    pub rect: [f32; 4],
    /// The part of the screen in which it can be seen.
    pub clip: [f32; 4],
    /// The component's file, and in another component's file the line that shows it.
    pub file: String,
    pub line: u32,
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct PreviewProblem {
    pub file: String,
    pub line: u32,
    pub column: u32,
    pub message: String,
    /// The instance in which it happened, if it is not the file's alone.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub instance: Option<String>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub enum OverrideStatus {
    Applied,
    InstanceMissing,
    PathInvalid,
}

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(tag = "type", rename_all = "camelCase", rename_all_fields = "camelCase", deny_unknown_fields)]
pub enum FromPreview {
    /// The first message, sent when the sandbox is closed.
    Hello {
        protocol: u32,
        build: String,
        sandbox: SandboxReport,
    },
    /// Characters that no font of the preview has; each is told once.
    Missing {
        characters: String,
    },
    /// A frame lies in the memory of this generation.
    Frame {
        generation: u32,
        sequence: u64,
        revision: u64,
        micros: u64,
    },
    /// What is where in the frame, in the order in which it is drawn.
    Instances {
        revision: u64,
        instances: Vec<InstanceBox>,
    },
    /// One for each override, in order.
    Overrides {
        revision: u64,
        statuses: Vec<OverrideStatus>,
    },
    /// Everything that is wrong at present.
    Problems {
        problems: Vec<PreviewProblem>,
    },
    /// In inspect mode, under the pointer.
    Hovered {
        instance: Option<String>,
    },
    /// In inspect mode, pressed.
    Picked {
        instance: Option<String>,
    },
    /// In interact mode, something was done: pressed, changed to a value.
    Action {
        instance: String,
        action: String,
        value: Value,
    },
    Log {
        level: PreviewLogLevel,
        message: String,
    },
    Pong {
        number: u64,
    },
}
