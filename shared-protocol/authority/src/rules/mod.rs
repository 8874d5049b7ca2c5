//! The rules for values, visibility, containment and connections. Each rule is one function, shared by the authority
//! (to decide), the problem list (to warn) and the canvas (to dim invalid targets).

mod connections;
mod containment;
mod props;
mod similar;

pub use connections::{Connection, connection};
pub use containment::may_contain;
pub use props::{check_prop, holds, is_visible, may_vary};
pub use similar::similar;

pub(crate) use connections::{edge_is_full, edges_in_limit, rule_for};
pub(crate) use containment::check_place;
pub(crate) use props::{check_hidden, check_value, editable, effective, takes_expression};
