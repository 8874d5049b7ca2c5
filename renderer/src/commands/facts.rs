//! What the table needs to know to say which commands make sense now.

#[derive(Debug, Clone, Copy, Default)]
pub(crate) struct Facts<'a> {
    pub(crate) workspace: bool,
    pub(crate) board: bool,
    pub(crate) held: bool,
    /// The board becomes Terraform.
    pub(crate) infrastructure: bool,
    /// A run of it goes on.
    pub(crate) running: bool,
    pub(crate) nodes: usize,
    pub(crate) edges: usize,
    pub(crate) undo: Option<&'a str>,
    pub(crate) redo: Option<&'a str>,
    /// There is a spec bundle.
    pub(crate) bundle: bool,
    /// One of them has domain knowledge.
    pub(crate) knowledge: bool,
    /// The reader shows an entity.
    pub(crate) entity: bool,
    /// The selected node stands for an entity.
    pub(crate) entity_node: bool,
    pub(crate) back: bool,
    pub(crate) forward: bool,
    pub(crate) reviewing: bool,
    /// What is selected can be shown in a preview.
    pub(crate) showable: bool,
    /// There is a preview session.
    pub(crate) preview: bool,
}
