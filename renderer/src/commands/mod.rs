//! The commands of the workbench in one table. Menus, shortcuts, context menus, the command palette and the shortcut
//! sheet all read it, so they cannot disagree.

#[cfg(test)]
mod docs;
mod facts;
mod keys;
mod table;

pub(crate) use facts::Facts;
pub(crate) use keys::{Keys, pressed};
pub(crate) use table::TABLE;

use crate::panel_id::{PanelId, Side};
use shared_protocol::terraform::RunOperation;
use std::borrow::Cow;

#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(crate) enum CommandId {
    Welcome,
    OpenFolder,
    OpenExample,
    StartDemo,
    Save,
    ExportBoard,
    Quit,
    Undo,
    Redo,
    Cut,
    Copy,
    Paste,
    Duplicate,
    Delete,
    SelectAll,
    Deselect,
    Rename,
    EnterContainer,
    LeaveContainer,
    QuickAdd,
    ConnectTo,
    LinkTo,
    AddNote,
    AlignLeft,
    AlignRight,
    AlignTop,
    AlignBottom,
    AlignCentre,
    AlignMiddle,
    DistributeHorizontally,
    DistributeVertically,
    Tidy,
    Nudge(Towards, Reach),
    NewBoard,
    RenameBoard,
    RemoveBoard,
    NewEntity,
    EditEntity,
    DeleteEntity,
    OpenEntity,
    SpecBack,
    SpecForward,
    DrawMap,
    ShowOnMap,
    Coverage,
    Knowledge,
    /// Runs Terraform on the board.
    Run(RunOperation),
    CancelRun,
    ShowChanges,
    ImportTerraform,
    PreviewSelection,
    PreviewInspect,
    PreviewRestart,
    PreviewStop,
    PreviewClose,
    ZoomIn,
    ZoomOut,
    ZoomFull,
    ZoomToFit,
    ZoomToSelection,
    ToggleSide(Side),
    Panel(PanelId),
    ClosePanel,
    ResetLayout,
    ToggleMinimap,
    LightTheme,
    DarkTheme,
    HighContrastTheme,
    SystemTheme,
    CommandPalette,
    Shortcuts,
    ReportProblem,
    SetupGuide,
    AddServer,
    ImportServers,
    SearchRegistry,
    Settings,
    ReviewNewest,
    ReviewNext,
    ReviewPrevious,
    ReviewTick,
    ReviewPlan,
    ReviewDecide,
    ReviewBlink,
    ReviewOverlay,
    ReviewSideBySide,
    ReviewList,
    CloseProposal,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(crate) enum Towards {
    Left,
    Right,
    Up,
    Down,
}

impl Towards {
    pub(crate) fn step(self, reach: Reach) -> (i32, i32) {
        let by = match reach {
            Reach::Unit => 1,
            Reach::Ten => 10,
        };
        match self {
            Self::Left => (-by, 0),
            Self::Right => (by, 0),
            Self::Up => (0, -by),
            Self::Down => (0, by),
        }
    }
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(crate) enum Reach {
    Unit,
    Ten,
}

/// The menu of a command. Nudges are in no menu.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Menu {
    File,
    Edit,
    Arrange,
    Board,
    Specs,
    Preview,
    Servers,
    Review,
    View,
    Help,
    None,
}

impl Menu {
    pub(crate) const SHOWN: [Self; 10] = [
        Self::File,
        Self::Edit,
        Self::Arrange,
        Self::Board,
        Self::Specs,
        Self::Preview,
        Self::Servers,
        Self::Review,
        Self::View,
        Self::Help,
    ];

    pub(crate) fn title(self) -> &'static str {
        match self {
            Self::File => "File",
            Self::Edit => "Edit",
            Self::Arrange => "Arrange",
            Self::Board => "Board",
            Self::Specs => "Specs",
            Self::Preview => "Preview",
            Self::Servers => "Servers",
            Self::Review => "Review",
            Self::View => "View",
            Self::Help => "Help",
            Self::None => "Keys",
        }
    }
}

/// One row of the table.
#[derive(Debug)]
pub(crate) struct CommandDef {
    pub(crate) id: CommandId,
    pub(crate) text: &'static str,
    pub(crate) menu: Menu,
    /// Draws a separator above the command in its menu.
    pub(crate) starts_group: bool,
    /// Menus show the first one.
    pub(crate) keys: &'static [Keys],
    pub(crate) needs: Needs,
    /// Also active while a text field has focus, because no text field uses these keys.
    pub(crate) while_typing: bool,
}

/// The precondition of a command.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Needs {
    Nothing,
    Workspace,
    Board,
    EditableBoard,
    InfrastructureBoard,
    /// A Terraform run in progress.
    Run,
    /// At least this many selected nodes, on an editable board.
    EditableNodes(usize),
    /// Selected nodes or edges, on an editable board.
    EditableSelection,
    Nodes,
    Selection,
    Undo,
    Redo,
    /// A spec bundle.
    Bundle,
    /// A bundle with domain knowledge.
    Knowledge,
    /// An entity open in the reader.
    Entity,
    /// A selected node that represents an entity.
    EntityNode,
    Back,
    Forward,
    /// A selection that can be previewed.
    Showable,
    /// A preview session.
    Preview,
    /// An open proposal. Takes precedence over other commands with the same keys.
    Review,
}

impl Needs {
    /// Returns whether the command applies only while the board is visible.
    pub(crate) fn is_about_board(self) -> bool {
        matches!(
            self,
            Self::Board
                | Self::EditableBoard
                | Self::EditableNodes(_)
                | Self::EditableSelection
                | Self::Nodes
                | Self::Selection
                | Self::EntityNode
        )
    }
}

impl CommandDef {
    pub(crate) fn is_enabled(&self, facts: &Facts<'_>) -> bool {
        let editable = facts.board && !facts.held;
        match self.needs {
            Needs::Nothing => true,
            Needs::Workspace => facts.workspace,
            Needs::Board => facts.board,
            Needs::EditableBoard => editable,
            Needs::InfrastructureBoard => facts.infrastructure,
            Needs::Run => facts.running,
            Needs::EditableNodes(least) => editable && facts.nodes >= least,
            Needs::EditableSelection => editable && facts.nodes + facts.edges > 0,
            Needs::Nodes => facts.board && facts.nodes > 0,
            Needs::Selection => facts.nodes + facts.edges > 0,
            Needs::Undo => facts.undo.is_some(),
            Needs::Redo => facts.redo.is_some(),
            Needs::Bundle => facts.bundle,
            Needs::Knowledge => facts.knowledge,
            Needs::Entity => facts.entity,
            Needs::EntityNode => facts.entity_node,
            Needs::Back => facts.back,
            Needs::Forward => facts.forward,
            Needs::Showable => facts.showable,
            Needs::Preview => facts.preview,
            Needs::Review => facts.reviewing,
        }
    }

    /// The text in menus. Undo and redo include the operation they affect.
    pub(crate) fn caption(&self, facts: &Facts<'_>) -> Cow<'static, str> {
        let what = match self.id {
            CommandId::Undo => facts.undo,
            CommandId::Redo => facts.redo,
            _ => None,
        };
        match what {
            Some(what) => {
                let short: String = what.chars().take(40).collect();
                let more = if short.len() < what.len() { "…" } else { "" };
                Cow::Owned(format!("{} {short}{more}", self.text))
            }
            None => Cow::Borrowed(self.text),
        }
    }
}

pub(crate) fn find(id: CommandId) -> Option<&'static CommandDef> {
    TABLE.iter().find(|def| def.id == id)
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::BTreeSet;

    #[test]
    fn every_command_stands_in_the_table_once_and_no_two_share_keys() {
        let mut ids = BTreeSet::new();
        let mut keys: Vec<(Keys, bool)> = Vec::new();
        for def in TABLE {
            assert!(ids.insert(def.id), "{:?} twice", def.id);
            // Review commands may reuse keys: they come first in the table and win while a proposal is open.
            let reviews = def.needs == Needs::Review;
            for key in def.keys {
                let taken = |(other, theirs): &(Keys, bool)| other == key && (reviews || !theirs);
                assert!(!keys.iter().any(taken), "{key:?} twice, again for {:?}", def.id);
                keys.push((*key, reviews));
            }
        }
    }

    #[test]
    fn captions_say_what_would_be_undone() {
        let facts = Facts { undo: Some("moves web"), ..Facts::default() };
        let undo = find(CommandId::Undo).unwrap();
        assert_eq!(undo.caption(&facts), "Undo moves web");
        assert!(undo.is_enabled(&facts));
        assert!(!find(CommandId::Redo).unwrap().is_enabled(&facts));
    }

    #[test]
    fn a_held_board_can_be_looked_at_only() {
        let facts = Facts { workspace: true, board: true, held: true, nodes: 3, ..Facts::default() };
        for id in [CommandId::Delete, CommandId::Duplicate, CommandId::AlignLeft, CommandId::QuickAdd] {
            assert!(!find(id).unwrap().is_enabled(&facts), "{id:?}");
        }
        for id in [CommandId::Copy, CommandId::SelectAll, CommandId::ZoomToFit, CommandId::Save] {
            assert!(find(id).unwrap().is_enabled(&facts), "{id:?}");
        }
    }
}
