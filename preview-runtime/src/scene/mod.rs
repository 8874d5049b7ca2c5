//! Builds elements from components and a scene: the content of the screen, without layout.
//!
//! Owns: props, overrides and states, loops, conditions, slots and nested components, all within a budget. Must not know:
//! layout, pixels, messages, the sandbox.

mod boxes;
mod build;
mod controls;
mod element;
mod kept;
mod list;
mod overrides;
mod state;

pub use build::{Limits, build, build_again};
pub(crate) use element::{Content, Control, ControlKind, Element, Fit, Flow};
pub use element::{Placed, Tree};
pub use kept::Kept;
pub(crate) use list::list_height;
pub(crate) use overrides::props_of;
pub(crate) use state::MAX_TYPED;
pub use state::{Caret, Interaction, Key, Open, Typed};

use shared_protocol::preview::{SceneInstance, SceneOverride, Target};

/// The content of a session.
#[derive(Debug, Clone, PartialEq)]
pub struct Scene {
    pub target: Target,
    /// Parents precede their children.
    pub instances: Vec<SceneInstance>,
    pub overrides: Vec<SceneOverride>,
}

impl Default for Scene {
    fn default() -> Self {
        let target = Target::Route { route: String::new() };
        Self { target, instances: Vec::new(), overrides: Vec::new() }
    }
}
