//! HCL as text: expressions, bodies, and the layout that `terraform fmt` would give them.
//!
//! Owns: quoting, and where spaces and lines go. Must not know: nodes, types, providers.

mod body;
mod expression;
mod quote;

pub use body::{Body, Item};
pub use expression::Expression;
pub use quote::{is_identifier, quoted};
