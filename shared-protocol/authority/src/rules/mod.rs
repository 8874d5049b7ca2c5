//! The rules for values, visibility, containment and connections. Each rule is one function, shared by the authority
//! (to decide), the problem list (to warn) and the canvas (to dim invalid targets).

mod connections;
mod containment;
mod props;
mod similar;

pub use connections::{AllowedConnection, connection};
pub use containment::may_contain;
pub use props::{check_prop, condition_holds, is_visible, may_vary};
pub use similar::similar;

pub(crate) use connections::{edges_sharing_limit, overfull_port, rule_for};
pub(crate) use containment::check_node_containment;
pub(crate) use props::{check_value, check_visible, effective_value, require_editable, takes_expression};
