//! The state that decides which commands are enabled.

#[derive(Debug, Clone, Copy, Default)]
pub(crate) struct CommandFacts<'a> {
    pub(crate) workspace: bool,
    pub(crate) board: bool,
    pub(crate) held: bool,
    /// The board generates Terraform files.
    pub(crate) infrastructure: bool,
    /// A Terraform run of the board is in progress.
    pub(crate) running: bool,
    pub(crate) nodes: usize,
    pub(crate) edges: usize,
    pub(crate) undo: Option<&'a str>,
    pub(crate) redo: Option<&'a str>,
    /// The workspace has a spec bundle.
    pub(crate) bundle: bool,
    /// A spec bundle has domain knowledge.
    pub(crate) knowledge: bool,
    pub(crate) entity: bool,
    pub(crate) entity_node: bool,
    pub(crate) back: bool,
    pub(crate) forward: bool,
    /// A proposal waits for a decision.
    pub(crate) waiting_proposal: bool,
    /// A proposal is open.
    pub(crate) reviewing: bool,
    pub(crate) showable: bool,
    pub(crate) preview: bool,
}
