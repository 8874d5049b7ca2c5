//! Every type that crosses a process or a file boundary, and the versions of those boundaries.
//!
//! Owns: ids and revisions, the registry's module format, the graph, commands, changes, operations, refusals, the
//! messages between processes and their framing, and the v0 workbench shapes. Must not know: files, sockets, clocks,
//! threads, egui, MCP. Decoding never panics on any input.
//!
//! Types that travel between main and renderer are encoded with `postcard`, which is not self-describing. They have
//! no flattened or internally tagged fields, and a field is skipped always or never. The only recursive types are
//! [`PropValue`], which travels as JSON text (the parser bounds its depth), and [`Command::Batch`], which bounds its own
//! depth.

pub mod bundle;
pub mod change;
pub mod command;
pub mod decisions;
pub mod framing;
pub mod graph;
pub mod ids;
pub mod limits;
pub mod managed_servers;
pub mod mcp;
pub mod messages;
pub mod names;
pub mod ordered_value;
pub mod overrides;
pub mod preview_sessions;
pub mod preview_wire;
pub mod proposal;
pub mod refusal;
pub mod registry;
pub mod request;
pub mod requests;
pub mod review;
pub mod secret_names;
pub mod terraform;
pub mod text;
pub mod trace_link;
pub mod v0;
pub mod value;

pub use change::{Actor, ActorKind, Change, Operation, OperationKind};
pub use command::{AddNode, Command, EdgeEndpointRef, EdgeRef, GraphFragment, NodeRef};
pub use graph::{
    Board, BoardKind, BoardPoint, Edge, EdgeEndpoint, GraphDocument, Node, Placement, Provenance,
};
pub use ids::{BoardId, EdgeId, ElementId, NodeId, ProposalId, Revision, TraceLinkId};
pub use names::{BoardName, NameError, NodeName, PortId, PropKey, SourcePath, TypeId};
pub use ordered_value::{OrderedMembers, OrderedValue};
pub use overrides::{
    OrphanReason, Override, OverrideKey, OverrideResolution, OverrideScope, OverrideSelector, SetOverride,
};
pub use proposal::{Proposal, ProposalState, ProposalSubject};
pub use refusal::{Refusal, RefusalCode};
pub use registry::TypeDef;
pub use value::PropValue;
