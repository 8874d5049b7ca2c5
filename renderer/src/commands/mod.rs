//! The commands of the workbench in one table. Menus, shortcuts, context menus, the command palette and the shortcut
//! sheet all read it, so they cannot disagree.

#[cfg(test)]
mod docs_tests;
mod facts;
mod keys;
mod table;

pub(crate) use facts::CommandFacts;
pub(crate) use keys::{KeyChord, consume_presses};
pub(crate) use table::COMMANDS;

use crate::panel_id::{PanelId, PanelSide};
use shared_protocol::terraform::TerraformOperation;
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
    Nudge(NudgeDirection, NudgeDistance),
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
    Run(TerraformOperation),
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
    ToggleSide(PanelSide),
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
pub(crate) enum NudgeDirection {
    Left,
    Right,
    Up,
    Down,
}

impl NudgeDirection {
    pub(crate) fn step(self, reach: NudgeDistance) -> (i32, i32) {
        let by = match reach {
            NudgeDistance::Unit => 1,
            NudgeDistance::Ten => 10,
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
pub(crate) enum NudgeDistance {
    Unit,
    Ten,
}

/// The menu of a command. Nudges are in no menu.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum CommandMenu {
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

impl CommandMenu {
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
            Self::Servers => "Managed servers",
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
    pub(crate) menu: CommandMenu,
    /// Draws a separator above the command in its menu.
    pub(crate) starts_group: bool,
    /// Menus show the first one.
    pub(crate) keys: &'static [KeyChord],
    pub(crate) needs: CommandRequirement,
    /// Also active while a text field has focus, because no text field uses these keys.
    pub(crate) while_typing: bool,
}

/// The precondition of a command.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum CommandRequirement {
    Nothing,
    Workspace,
    Board,
    EditableBoard,
    InfrastructureBoard,
    Run,
    /// At least this many selected nodes, on an editable board.
    EditableNodes(usize),
    /// Selected nodes or edges, on an editable board.
    EditableSelection,
    Nodes,
    Selection,
    Undo,
    Redo,
    Bundle,
    Knowledge,
    Entity,
    EntityNode,
    Back,
    Forward,
    Showable,
    Preview,
    /// A proposal that waits for a decision.
    WaitingProposal,
    /// An open proposal. Takes precedence over other commands with the same keys.
    Review,
}

impl CommandRequirement {
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
    pub(crate) fn is_enabled(&self, facts: &CommandFacts<'_>) -> bool {
        let editable = facts.board && !facts.held;
        match self.needs {
            CommandRequirement::Nothing => true,
            CommandRequirement::Workspace => facts.workspace,
            CommandRequirement::Board => facts.board,
            CommandRequirement::EditableBoard => editable,
            CommandRequirement::InfrastructureBoard => facts.infrastructure,
            CommandRequirement::Run => facts.running,
            CommandRequirement::EditableNodes(least) => editable && facts.nodes >= least,
            CommandRequirement::EditableSelection => editable && facts.nodes + facts.edges > 0,
            CommandRequirement::Nodes => facts.board && facts.nodes > 0,
            CommandRequirement::Selection => facts.nodes + facts.edges > 0,
            CommandRequirement::Undo => facts.undo.is_some(),
            CommandRequirement::Redo => facts.redo.is_some(),
            CommandRequirement::Bundle => facts.bundle,
            CommandRequirement::Knowledge => facts.knowledge,
            CommandRequirement::Entity => facts.entity,
            CommandRequirement::EntityNode => facts.entity_node,
            CommandRequirement::Back => facts.back,
            CommandRequirement::Forward => facts.forward,
            CommandRequirement::Showable => facts.showable,
            CommandRequirement::Preview => facts.preview,
            CommandRequirement::WaitingProposal => facts.waiting_proposal,
            CommandRequirement::Review => facts.reviewing,
        }
    }

    /// The text in menus. Undo and redo include the operation they affect.
    pub(crate) fn caption(&self, facts: &CommandFacts<'_>) -> Cow<'static, str> {
        let what = match self.id {
            CommandId::Undo => facts.undo,
            CommandId::Redo => facts.redo,
            _ => None,
        };
        match what {
            Some(what) => {
                Cow::Owned(format!("{} {}", self.text, shared_protocol::text::truncate_chars(what, 40)))
            }
            None => Cow::Borrowed(self.text),
        }
    }
}

pub(crate) fn find(id: CommandId) -> Option<&'static CommandDef> {
    COMMANDS.iter().find(|def| def.id == id)
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::BTreeSet;

    #[test]
    fn every_command_stands_in_the_table_once_and_no_two_share_keys() {
        let mut ids = BTreeSet::new();
        let mut keys: Vec<(KeyChord, bool)> = Vec::new();
        for def in COMMANDS {
            assert!(ids.insert(def.id), "{:?} twice", def.id);
            // Review commands may reuse keys: they come first in the table and win while a proposal is open.
            let reviews = def.needs == CommandRequirement::Review;
            for key in def.keys {
                let taken = |(other, theirs): &(KeyChord, bool)| other == key && (reviews || !theirs);
                assert!(!keys.iter().any(taken), "{key:?} twice, again for {:?}", def.id);
                keys.push((*key, reviews));
            }
        }
    }

    #[test]
    fn the_newest_proposal_can_be_opened_only_when_one_waits() {
        let newest = find(CommandId::ReviewNewest).unwrap();
        let mut facts = CommandFacts { workspace: true, ..CommandFacts::default() };
        assert!(!newest.is_enabled(&facts));
        facts.waiting_proposal = true;
        assert!(newest.is_enabled(&facts));
    }

    #[test]
    fn captions_say_what_would_be_undone() {
        let facts = CommandFacts { undo: Some("moves web"), ..CommandFacts::default() };
        let undo = find(CommandId::Undo).unwrap();
        assert_eq!(undo.caption(&facts), "Undo moves web");
        assert!(undo.is_enabled(&facts));
        assert!(!find(CommandId::Redo).unwrap().is_enabled(&facts));
    }

    #[test]
    fn a_held_board_can_be_looked_at_only() {
        let facts =
            CommandFacts { workspace: true, board: true, held: true, nodes: 3, ..CommandFacts::default() };
        for id in [CommandId::Delete, CommandId::Duplicate, CommandId::AlignLeft, CommandId::QuickAdd] {
            assert!(!find(id).unwrap().is_enabled(&facts), "{id:?}");
        }
        for id in [CommandId::Copy, CommandId::SelectAll, CommandId::ZoomToFit, CommandId::Save] {
            assert!(find(id).unwrap().is_enabled(&facts), "{id:?}");
        }
    }
}
