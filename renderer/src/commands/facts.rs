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
    /// The reader shows an entity.
    pub(crate) entity: bool,
    /// The selected node represents an entity.
    pub(crate) entity_node: bool,
    pub(crate) back: bool,
    pub(crate) forward: bool,
    /// A proposal waits for a decision.
    pub(crate) waiting_proposal: bool,
    /// A proposal is open.
    pub(crate) reviewing: bool,
    /// The selection can be previewed.
    pub(crate) showable: bool,
    /// A preview session is open.
    pub(crate) preview: bool,
}
