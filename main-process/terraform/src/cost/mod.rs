//! What a board costs a month.
//!
//! Owns: price books, and sums over them. Must not know: where prices come from; every one names its source. No price is
//! part of this crate: a workspace brings its own book, and [`missing`] writes down what it would need. The bundled
//! example brings one, with its source and date.

mod book;
mod estimate;

pub use book::{BookError, Price, PriceBook};
pub use estimate::{Basis, Component, Estimate, Estimates, Total, Wanted, estimate, estimate_one, missing};
