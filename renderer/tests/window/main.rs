//! The window as a person meets it, by accessible names, without a GPU or a socket. The main process on the other end
//! is a few lines around the real authority (`shop.rs`).

mod canvas_area;
mod inspector;
mod link;
mod looks;
mod panels;
mod shop;
mod shortcuts;
