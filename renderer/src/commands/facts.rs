//! What the table needs to know to say which commands make sense now.

use crate::view::View;

#[derive(Debug, Clone, Copy, Default)]
pub(crate) struct Facts<'a> {
    pub(crate) workspace: bool,
    pub(crate) board: bool,
    pub(crate) held: bool,
    pub(crate) nodes: usize,
    pub(crate) edges: usize,
    pub(crate) undo: Option<&'a str>,
    pub(crate) redo: Option<&'a str>,
}

impl<'a> Facts<'a> {
    pub(crate) fn of(view: Option<&View<'a>>) -> Self {
        let Some(view) = view else { return Self::default() };
        Self {
            workspace: true,
            board: view.board().is_some(),
            held: view.is_held(),
            nodes: view.selected_nodes().len(),
            edges: view.selected_edges().len(),
            undo: view.status.undo.as_deref(),
            redo: view.status.redo.as_deref(),
        }
    }
}
