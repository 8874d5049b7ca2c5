//! The command table, in menu order.

use super::{
    CommandDef, CommandId as Id, CommandMenu, CommandRequirement, KeyChord, NudgeDirection, NudgeDistance,
};
use crate::panel_id::{PanelId, PanelSide};
use egui::Key;
use shared_protocol::terraform::TerraformOperation as Run;

const fn row(
    id: Id,
    menu: CommandMenu,
    text: &'static str,
    keys: &'static [KeyChord],
    needs: CommandRequirement,
) -> CommandDef {
    CommandDef { id, text, menu, starts_group: false, keys, needs, while_typing: false }
}

const fn group(def: CommandDef) -> CommandDef {
    CommandDef { starts_group: true, ..def }
}

const fn while_typing(def: CommandDef) -> CommandDef {
    CommandDef { while_typing: true, ..def }
}

const fn nudge(
    towards: NudgeDirection,
    reach: NudgeDistance,
    text: &'static str,
    keys: &'static [KeyChord],
) -> CommandDef {
    row(Id::Nudge(towards, reach), CommandMenu::None, text, keys, CommandRequirement::EditableNodes(1))
}

const fn panel(id: PanelId, text: &'static str, keys: &'static [KeyChord]) -> CommandDef {
    row(Id::Panel(id), CommandMenu::View, text, keys, CommandRequirement::Workspace)
}

const fn run(operation: Run, text: &'static str) -> CommandDef {
    row(Id::Run(operation), CommandMenu::Board, text, &[], CommandRequirement::InfrastructureBoard)
}

const fn side(side: PanelSide, text: &'static str, keys: &'static [KeyChord]) -> CommandDef {
    row(Id::ToggleSide(side), CommandMenu::View, text, keys, CommandRequirement::Workspace)
}

const fn review(id: Id, text: &'static str, keys: &'static [KeyChord]) -> CommandDef {
    row(id, CommandMenu::Review, text, keys, CommandRequirement::Review)
}

pub(crate) const COMMANDS: &[CommandDef] = &[
    // First, because these reuse keys that have another meaning when no proposal is open.
    review(Id::ReviewNext, "Next element", &[KeyChord::plain(Key::J)]),
    review(Id::ReviewPrevious, "Previous element", &[KeyChord::plain(Key::K)]),
    review(Id::ReviewTick, "Tick or untick element", &[KeyChord::plain(Key::A)]),
    review(Id::ReviewPlan, "Go to plan", &[]),
    review(Id::ReviewDecide, "Decide…", &[KeyChord::plain(Key::Enter)]),
    group(review(Id::ReviewOverlay, "Show as overlay", &[])),
    review(Id::ReviewSideBySide, "Show side by side", &[]),
    review(Id::ReviewList, "Show as list", &[]),
    review(Id::ReviewBlink, "Hold to show the proposed state", &[KeyChord::plain(Key::B)]),
    group(review(Id::CloseProposal, "Close proposal", &[])),
    group(row(
        Id::ReviewNewest,
        CommandMenu::Review,
        "Open newest proposal",
        &[],
        CommandRequirement::Workspace,
    )),
    row(Id::Panel(PanelId::Audit), CommandMenu::Review, "Audit", &[], CommandRequirement::Workspace),
    while_typing(row(
        Id::Welcome,
        CommandMenu::File,
        "Open or create workspace…",
        &[KeyChord::ctrl(Key::O), KeyChord::ctrl(Key::N)],
        CommandRequirement::Workspace,
    )),
    row(Id::OpenFolder, CommandMenu::File, "Open folder…", &[], CommandRequirement::Workspace),
    row(Id::OpenExample, CommandMenu::File, "Open example workspace", &[], CommandRequirement::Workspace),
    row(Id::StartDemo, CommandMenu::File, "Show me a proposal", &[], CommandRequirement::Workspace),
    group(while_typing(row(
        Id::Save,
        CommandMenu::File,
        "Save",
        &[KeyChord::ctrl(Key::S)],
        CommandRequirement::Workspace,
    ))),
    group(while_typing(row(
        Id::ExportBoard,
        CommandMenu::File,
        "Export board…",
        &[KeyChord::ctrl(Key::E)],
        CommandRequirement::Board,
    ))),
    row(
        Id::ImportTerraform,
        CommandMenu::File,
        "Import Terraform folder…",
        &[],
        CommandRequirement::Workspace,
    ),
    group(while_typing(row(
        Id::Settings,
        CommandMenu::File,
        "Settings…",
        &[KeyChord::ctrl(Key::Comma)],
        CommandRequirement::Nothing,
    ))),
    group(while_typing(row(
        Id::Quit,
        CommandMenu::File,
        "Quit",
        &[KeyChord::ctrl(Key::Q)],
        CommandRequirement::Nothing,
    ))),
    row(Id::Undo, CommandMenu::Edit, "Undo", &[KeyChord::ctrl(Key::Z)], CommandRequirement::Undo),
    row(
        Id::Redo,
        CommandMenu::Edit,
        "Redo",
        &[KeyChord::ctrl_shift(Key::Z), KeyChord::ctrl(Key::Y)],
        CommandRequirement::Redo,
    ),
    group(row(
        Id::Cut,
        CommandMenu::Edit,
        "Cut",
        &[KeyChord::ctrl(Key::X)],
        CommandRequirement::EditableNodes(1),
    )),
    row(Id::Copy, CommandMenu::Edit, "Copy", &[KeyChord::ctrl(Key::C)], CommandRequirement::Nodes),
    row(Id::Paste, CommandMenu::Edit, "Paste", &[KeyChord::ctrl(Key::V)], CommandRequirement::EditableBoard),
    row(
        Id::Duplicate,
        CommandMenu::Edit,
        "Duplicate",
        &[KeyChord::ctrl(Key::D)],
        CommandRequirement::EditableNodes(1),
    ),
    row(
        Id::Delete,
        CommandMenu::Edit,
        "Delete",
        &[KeyChord::plain(Key::Delete), KeyChord::plain(Key::Backspace)],
        CommandRequirement::EditableSelection,
    ),
    group(row(
        Id::SelectAll,
        CommandMenu::Edit,
        "Select all",
        &[KeyChord::ctrl(Key::A)],
        CommandRequirement::Board,
    )),
    row(
        Id::Deselect,
        CommandMenu::Edit,
        "Deselect",
        &[KeyChord::plain(Key::Escape)],
        CommandRequirement::Selection,
    ),
    group(row(
        Id::EnterContainer,
        CommandMenu::Edit,
        "Enter container",
        &[KeyChord::plain(Key::Enter)],
        CommandRequirement::Nodes,
    )),
    row(
        Id::LeaveContainer,
        CommandMenu::Edit,
        "Leave container",
        &[KeyChord::shift(Key::Enter)],
        CommandRequirement::Nodes,
    ),
    group(row(
        Id::Rename,
        CommandMenu::Edit,
        "Rename",
        &[KeyChord::plain(Key::F2)],
        CommandRequirement::EditableNodes(1),
    )),
    row(
        Id::QuickAdd,
        CommandMenu::Edit,
        "Quick add…",
        &[KeyChord::plain(Key::Tab)],
        CommandRequirement::EditableBoard,
    ),
    row(
        Id::ConnectTo,
        CommandMenu::Edit,
        "Connect to…",
        &[KeyChord::plain(Key::L)],
        CommandRequirement::EditableNodes(1),
    ),
    row(
        Id::LinkTo,
        CommandMenu::Edit,
        "Link to…",
        &[KeyChord::shift(Key::L)],
        CommandRequirement::EditableNodes(1),
    ),
    row(
        Id::AddNote,
        CommandMenu::Edit,
        "Add sticky note",
        &[KeyChord::plain(Key::C)],
        CommandRequirement::EditableBoard,
    ),
    row(
        Id::AlignLeft,
        CommandMenu::Arrange,
        "Align left",
        &[KeyChord::alt(Key::A)],
        CommandRequirement::EditableNodes(2),
    ),
    row(
        Id::AlignRight,
        CommandMenu::Arrange,
        "Align right",
        &[KeyChord::alt(Key::D)],
        CommandRequirement::EditableNodes(2),
    ),
    row(
        Id::AlignTop,
        CommandMenu::Arrange,
        "Align top",
        &[KeyChord::alt(Key::W)],
        CommandRequirement::EditableNodes(2),
    ),
    row(
        Id::AlignBottom,
        CommandMenu::Arrange,
        "Align bottom",
        &[KeyChord::alt(Key::S)],
        CommandRequirement::EditableNodes(2),
    ),
    row(
        Id::AlignCentre,
        CommandMenu::Arrange,
        "Align horizontal centres",
        &[KeyChord::alt(Key::H)],
        CommandRequirement::EditableNodes(2),
    ),
    row(
        Id::AlignMiddle,
        CommandMenu::Arrange,
        "Align vertical centres",
        &[KeyChord::alt(Key::V)],
        CommandRequirement::EditableNodes(2),
    ),
    group(row(
        Id::DistributeHorizontally,
        CommandMenu::Arrange,
        "Distribute horizontally",
        &[KeyChord::alt_shift(Key::H)],
        CommandRequirement::EditableNodes(3),
    )),
    row(
        Id::DistributeVertically,
        CommandMenu::Arrange,
        "Distribute vertically",
        &[KeyChord::alt_shift(Key::V)],
        CommandRequirement::EditableNodes(3),
    ),
    group(row(
        Id::Tidy,
        CommandMenu::Arrange,
        "Tidy",
        &[KeyChord::ctrl_shift(Key::L)],
        CommandRequirement::EditableBoard,
    )),
    nudge(NudgeDirection::Left, NudgeDistance::Unit, "Nudge left", &[KeyChord::plain(Key::ArrowLeft)]),
    nudge(NudgeDirection::Right, NudgeDistance::Unit, "Nudge right", &[KeyChord::plain(Key::ArrowRight)]),
    nudge(NudgeDirection::Up, NudgeDistance::Unit, "Nudge up", &[KeyChord::plain(Key::ArrowUp)]),
    nudge(NudgeDirection::Down, NudgeDistance::Unit, "Nudge down", &[KeyChord::plain(Key::ArrowDown)]),
    nudge(NudgeDirection::Left, NudgeDistance::Ten, "Nudge left by 10", &[KeyChord::shift(Key::ArrowLeft)]),
    nudge(
        NudgeDirection::Right,
        NudgeDistance::Ten,
        "Nudge right by 10",
        &[KeyChord::shift(Key::ArrowRight)],
    ),
    nudge(NudgeDirection::Up, NudgeDistance::Ten, "Nudge up by 10", &[KeyChord::shift(Key::ArrowUp)]),
    nudge(NudgeDirection::Down, NudgeDistance::Ten, "Nudge down by 10", &[KeyChord::shift(Key::ArrowDown)]),
    row(
        Id::NewBoard,
        CommandMenu::Board,
        "New board…",
        &[KeyChord::ctrl_shift(Key::N)],
        CommandRequirement::Workspace,
    ),
    row(Id::RenameBoard, CommandMenu::Board, "Rename board…", &[], CommandRequirement::EditableBoard),
    group(row(Id::RemoveBoard, CommandMenu::Board, "Remove board…", &[], CommandRequirement::EditableBoard)),
    row(
        Id::NewEntity,
        CommandMenu::Specs,
        "New entity…",
        &[KeyChord::ctrl_shift(Key::E)],
        CommandRequirement::Bundle,
    ),
    row(Id::EditEntity, CommandMenu::Specs, "Edit entity", &[], CommandRequirement::Entity),
    row(Id::DeleteEntity, CommandMenu::Specs, "Delete entity…", &[], CommandRequirement::Entity),
    group(row(
        Id::SpecBack,
        CommandMenu::Specs,
        "Back",
        &[KeyChord::alt(Key::ArrowLeft)],
        CommandRequirement::Back,
    )),
    row(
        Id::SpecForward,
        CommandMenu::Specs,
        "Forward",
        &[KeyChord::alt(Key::ArrowRight)],
        CommandRequirement::Forward,
    ),
    group(row(Id::DrawMap, CommandMenu::Specs, "Draw map…", &[], CommandRequirement::Bundle)),
    row(Id::ShowOnMap, CommandMenu::Specs, "Show on map", &[], CommandRequirement::Entity),
    row(
        Id::OpenEntity,
        CommandMenu::Specs,
        "Open entity",
        &[KeyChord::plain(Key::O)],
        CommandRequirement::EntityNode,
    ),
    group(row(Id::Coverage, CommandMenu::Specs, "Coverage", &[], CommandRequirement::Bundle)),
    row(Id::Knowledge, CommandMenu::Specs, "Domain knowledge", &[], CommandRequirement::Knowledge),
    group(run(Run::Init, "Terraform init")),
    run(Run::Validate, "Terraform validate"),
    run(Run::Plan, "Terraform plan"),
    run(Run::ApplyPlan, "Terraform apply plan…"),
    run(Run::Apply, "Terraform apply…"),
    run(Run::Drift, "Terraform check drift"),
    run(Run::PlanDestroy, "Terraform plan destroy"),
    run(Run::Destroy, "Terraform destroy…"),
    row(Id::CancelRun, CommandMenu::Board, "Cancel run", &[], CommandRequirement::Run),
    group(row(
        Id::ShowChanges,
        CommandMenu::Board,
        "Show planned changes",
        &[],
        CommandRequirement::InfrastructureBoard,
    )),
    row(
        Id::PreviewSelection,
        CommandMenu::Preview,
        "Preview selection",
        &[KeyChord::plain(Key::F5)],
        CommandRequirement::Showable,
    ),
    row(
        Id::Panel(PanelId::Preview),
        CommandMenu::Preview,
        "Preview panel",
        &[KeyChord::ctrl_shift(Key::V)],
        CommandRequirement::Workspace,
    ),
    row(
        Id::PreviewInspect,
        CommandMenu::Preview,
        "Inspect",
        &[KeyChord::ctrl_shift(Key::C)],
        CommandRequirement::Preview,
    ),
    group(row(
        Id::PreviewRestart,
        CommandMenu::Preview,
        "Restart",
        &[KeyChord::shift(Key::F5)],
        CommandRequirement::Preview,
    )),
    row(Id::PreviewStop, CommandMenu::Preview, "Stop", &[], CommandRequirement::Preview),
    row(Id::PreviewClose, CommandMenu::Preview, "Close", &[], CommandRequirement::Preview),
    row(
        Id::Panel(PanelId::Upstreams),
        CommandMenu::Servers,
        "Upstreams",
        &[KeyChord::ctrl_shift(Key::U)],
        CommandRequirement::Workspace,
    ),
    group(row(
        Id::AddServer,
        CommandMenu::Servers,
        "Add upstream server…",
        &[],
        CommandRequirement::Workspace,
    )),
    row(
        Id::ImportServers,
        CommandMenu::Servers,
        "Import upstream servers…",
        &[],
        CommandRequirement::Workspace,
    ),
    row(
        Id::SearchRegistry,
        CommandMenu::Servers,
        "Search server registry…",
        &[],
        CommandRequirement::Workspace,
    ),
    row(
        Id::ZoomIn,
        CommandMenu::View,
        "Zoom in",
        &[KeyChord::ctrl(Key::Plus), KeyChord::ctrl(Key::Equals)],
        CommandRequirement::Board,
    ),
    row(Id::ZoomOut, CommandMenu::View, "Zoom out", &[KeyChord::ctrl(Key::Minus)], CommandRequirement::Board),
    row(
        Id::ZoomFull,
        CommandMenu::View,
        "Zoom to 100%",
        &[KeyChord::shift(Key::Num0)],
        CommandRequirement::Board,
    ),
    row(
        Id::ZoomToFit,
        CommandMenu::View,
        "Zoom to fit",
        &[KeyChord::shift(Key::Num1)],
        CommandRequirement::Board,
    ),
    row(
        Id::ZoomToSelection,
        CommandMenu::View,
        "Zoom to selection",
        &[KeyChord::shift(Key::Num2), KeyChord::plain(Key::F)],
        CommandRequirement::Nodes,
    ),
    row(Id::ToggleMinimap, CommandMenu::View, "Minimap", &[], CommandRequirement::Board),
    group(panel(PanelId::Palette, "Palette", &[KeyChord::ctrl_shift(Key::P)])),
    panel(PanelId::Outline, "Outline", &[KeyChord::ctrl_shift(Key::O)]),
    panel(PanelId::Specs, "Specs", &[KeyChord::ctrl_shift(Key::B)]),
    panel(PanelId::Reader, "Spec page", &[]),
    panel(PanelId::Inspector, "Inspector", &[KeyChord::ctrl_shift(Key::I)]),
    panel(PanelId::Problems, "Problems", &[KeyChord::ctrl_shift(Key::M)]),
    panel(PanelId::Terraform, "Terraform", &[KeyChord::ctrl_shift(Key::T)]),
    panel(PanelId::Hcl, "HCL", &[]),
    panel(PanelId::Review, "Review", &[KeyChord::ctrl_shift(Key::R)]),
    panel(PanelId::Proposal, "Proposal", &[]),
    panel(PanelId::Agents, "Agents", &[]),
    panel(PanelId::Log, "Log", &[KeyChord::ctrl_shift(Key::H)]),
    group(side(PanelSide::Left, "Left panels", &[KeyChord::ctrl(Key::Num1)])),
    side(PanelSide::Right, "Right panels", &[KeyChord::ctrl(Key::Num2)]),
    side(PanelSide::Bottom, "Bottom panels", &[KeyChord::ctrl(Key::Num3)]),
    row(Id::ClosePanel, CommandMenu::View, "Close panel", &[], CommandRequirement::Nothing),
    row(Id::ResetLayout, CommandMenu::View, "Reset layout", &[], CommandRequirement::Nothing),
    group(row(Id::LightTheme, CommandMenu::View, "Light theme", &[], CommandRequirement::Nothing)),
    row(Id::DarkTheme, CommandMenu::View, "Dark theme", &[], CommandRequirement::Nothing),
    row(Id::HighContrastTheme, CommandMenu::View, "High contrast theme", &[], CommandRequirement::Nothing),
    row(Id::SystemTheme, CommandMenu::View, "Use system theme", &[], CommandRequirement::Nothing),
    while_typing(row(
        Id::CommandPalette,
        CommandMenu::Help,
        "Command palette…",
        &[KeyChord::ctrl(Key::K)],
        CommandRequirement::Nothing,
    )),
    row(Id::SetupGuide, CommandMenu::Help, "Connect an agent", &[], CommandRequirement::Nothing),
    row(
        Id::Shortcuts,
        CommandMenu::Help,
        "Keyboard shortcuts",
        &[KeyChord::plain(Key::Questionmark)],
        CommandRequirement::Nothing,
    ),
    row(Id::ReportProblem, CommandMenu::Help, "Report a problem…", &[], CommandRequirement::Nothing),
];
