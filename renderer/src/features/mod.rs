//! The features of the window. Each folder owns its panels, dialogs, state, messages and their handling.
//! A feature may use what another one exports at its top level, and nothing of `app`.

pub(crate) mod inspector;
pub(crate) mod review;
pub(crate) mod terraform;
