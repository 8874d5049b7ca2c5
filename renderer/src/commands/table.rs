//! The command table, in menu order.

use super::{
    CommandDef, CommandId as Id, CommandMenu as Menu, CommandRequirement as Needs, KeyChord as Keys,
    NudgeDirection as Towards, NudgeDistance,
};
use crate::panel_id::{PanelId, PanelSide};
use egui::Key;
use shared_protocol::terraform::TerraformOperation as Run;

const fn row(id: Id, menu: Menu, text: &'static str, keys: &'static [Keys], needs: Needs) -> CommandDef {
    CommandDef { id, text, menu, starts_group: false, keys, needs, while_typing: false }
}

const fn group(def: CommandDef) -> CommandDef {
    CommandDef { starts_group: true, ..def }
}

const fn while_typing(def: CommandDef) -> CommandDef {
    CommandDef { while_typing: true, ..def }
}

const fn nudge(
    towards: Towards,
    reach: NudgeDistance,
    text: &'static str,
    keys: &'static [Keys],
) -> CommandDef {
    row(Id::Nudge(towards, reach), Menu::None, text, keys, Needs::EditableNodes(1))
}

const fn panel(id: PanelId, text: &'static str, keys: &'static [Keys]) -> CommandDef {
    row(Id::Panel(id), Menu::View, text, keys, Needs::Workspace)
}

const fn run(operation: Run, text: &'static str) -> CommandDef {
    row(Id::Run(operation), Menu::Board, text, &[], Needs::InfrastructureBoard)
}

const fn side(side: PanelSide, text: &'static str, keys: &'static [Keys]) -> CommandDef {
    row(Id::ToggleSide(side), Menu::View, text, keys, Needs::Workspace)
}

const fn review(id: Id, text: &'static str, keys: &'static [Keys]) -> CommandDef {
    row(id, Menu::Review, text, keys, Needs::Review)
}

pub(crate) const COMMANDS: &[CommandDef] = &[
    // First, because these reuse keys that have another meaning when no proposal is open.
    review(Id::ReviewNext, "Next change", &[Keys::plain(Key::J)]),
    review(Id::ReviewPrevious, "Previous change", &[Keys::plain(Key::K)]),
    review(Id::ReviewTick, "Tick or untick change", &[Keys::plain(Key::A)]),
    review(Id::ReviewPlan, "Go to plan", &[]),
    review(Id::ReviewDecide, "Decide…", &[Keys::plain(Key::Enter)]),
    group(review(Id::ReviewOverlay, "Show as overlay", &[])),
    review(Id::ReviewSideBySide, "Show side by side", &[]),
    review(Id::ReviewList, "Show as list", &[]),
    review(Id::ReviewBlink, "Hold to show the proposed state", &[Keys::plain(Key::B)]),
    group(review(Id::CloseProposal, "Close proposal", &[])),
    group(row(Id::ReviewNewest, Menu::Review, "Open newest proposal", &[], Needs::WaitingProposal)),
    row(Id::Panel(PanelId::Audit), Menu::Review, "Audit", &[], Needs::Workspace),
    while_typing(row(
        Id::Welcome,
        Menu::File,
        "Open or create workspace…",
        &[Keys::ctrl(Key::O), Keys::ctrl(Key::N)],
        Needs::Workspace,
    )),
    row(Id::OpenFolder, Menu::File, "Open folder…", &[], Needs::Workspace),
    row(Id::OpenExample, Menu::File, "Open example workspace", &[], Needs::Workspace),
    row(Id::StartDemo, Menu::File, "Show me a proposal", &[], Needs::Workspace),
    group(while_typing(row(Id::Save, Menu::File, "Save", &[Keys::ctrl(Key::S)], Needs::Workspace))),
    group(while_typing(row(
        Id::ExportBoard,
        Menu::File,
        "Export board…",
        &[Keys::ctrl(Key::E)],
        Needs::Board,
    ))),
    row(Id::ImportTerraform, Menu::File, "Import Terraform folder…", &[], Needs::Workspace),
    group(while_typing(row(
        Id::Settings,
        Menu::File,
        "Settings…",
        &[Keys::ctrl(Key::Comma)],
        Needs::Nothing,
    ))),
    group(while_typing(row(Id::Quit, Menu::File, "Quit", &[Keys::ctrl(Key::Q)], Needs::Nothing))),
    row(Id::Undo, Menu::Edit, "Undo", &[Keys::ctrl(Key::Z)], Needs::Undo),
    row(Id::Redo, Menu::Edit, "Redo", &[Keys::ctrl_shift(Key::Z), Keys::ctrl(Key::Y)], Needs::Redo),
    group(row(Id::Cut, Menu::Edit, "Cut", &[Keys::ctrl(Key::X)], Needs::EditableNodes(1))),
    row(Id::Copy, Menu::Edit, "Copy", &[Keys::ctrl(Key::C)], Needs::Nodes),
    row(Id::Paste, Menu::Edit, "Paste", &[Keys::ctrl(Key::V)], Needs::EditableBoard),
    row(Id::Duplicate, Menu::Edit, "Duplicate", &[Keys::ctrl(Key::D)], Needs::EditableNodes(1)),
    row(
        Id::Delete,
        Menu::Edit,
        "Delete",
        &[Keys::plain(Key::Delete), Keys::plain(Key::Backspace)],
        Needs::EditableSelection,
    ),
    group(row(Id::SelectAll, Menu::Edit, "Select all", &[Keys::ctrl(Key::A)], Needs::Board)),
    row(Id::Deselect, Menu::Edit, "Deselect", &[Keys::plain(Key::Escape)], Needs::Selection),
    group(row(Id::EnterContainer, Menu::Edit, "Enter container", &[Keys::plain(Key::Enter)], Needs::Nodes)),
    row(Id::LeaveContainer, Menu::Edit, "Leave container", &[Keys::shift(Key::Enter)], Needs::Nodes),
    group(row(Id::Rename, Menu::Edit, "Rename", &[Keys::plain(Key::F2)], Needs::EditableNodes(1))),
    row(Id::QuickAdd, Menu::Edit, "Quick add…", &[Keys::plain(Key::Tab)], Needs::EditableBoard),
    row(Id::ConnectTo, Menu::Edit, "Connect to…", &[Keys::plain(Key::L)], Needs::EditableNodes(1)),
    row(Id::LinkTo, Menu::Edit, "Link to…", &[Keys::shift(Key::L)], Needs::EditableNodes(1)),
    row(Id::AddNote, Menu::Edit, "Add sticky note", &[Keys::plain(Key::C)], Needs::EditableBoard),
    row(Id::AlignLeft, Menu::Arrange, "Align left", &[Keys::alt(Key::A)], Needs::EditableNodes(2)),
    row(Id::AlignRight, Menu::Arrange, "Align right", &[Keys::alt(Key::D)], Needs::EditableNodes(2)),
    row(Id::AlignTop, Menu::Arrange, "Align top", &[Keys::alt(Key::W)], Needs::EditableNodes(2)),
    row(Id::AlignBottom, Menu::Arrange, "Align bottom", &[Keys::alt(Key::S)], Needs::EditableNodes(2)),
    row(
        Id::AlignCentre,
        Menu::Arrange,
        "Align horizontal centres",
        &[Keys::alt(Key::H)],
        Needs::EditableNodes(2),
    ),
    row(
        Id::AlignMiddle,
        Menu::Arrange,
        "Align vertical centres",
        &[Keys::alt(Key::V)],
        Needs::EditableNodes(2),
    ),
    group(row(
        Id::DistributeHorizontally,
        Menu::Arrange,
        "Distribute horizontally",
        &[Keys::alt_shift(Key::H)],
        Needs::EditableNodes(3),
    )),
    row(
        Id::DistributeVertically,
        Menu::Arrange,
        "Distribute vertically",
        &[Keys::alt_shift(Key::V)],
        Needs::EditableNodes(3),
    ),
    group(row(Id::Tidy, Menu::Arrange, "Tidy", &[Keys::ctrl_shift(Key::L)], Needs::EditableBoard)),
    nudge(Towards::Left, NudgeDistance::Unit, "Nudge left", &[Keys::plain(Key::ArrowLeft)]),
    nudge(Towards::Right, NudgeDistance::Unit, "Nudge right", &[Keys::plain(Key::ArrowRight)]),
    nudge(Towards::Up, NudgeDistance::Unit, "Nudge up", &[Keys::plain(Key::ArrowUp)]),
    nudge(Towards::Down, NudgeDistance::Unit, "Nudge down", &[Keys::plain(Key::ArrowDown)]),
    nudge(Towards::Left, NudgeDistance::Ten, "Nudge left by 10", &[Keys::shift(Key::ArrowLeft)]),
    nudge(Towards::Right, NudgeDistance::Ten, "Nudge right by 10", &[Keys::shift(Key::ArrowRight)]),
    nudge(Towards::Up, NudgeDistance::Ten, "Nudge up by 10", &[Keys::shift(Key::ArrowUp)]),
    nudge(Towards::Down, NudgeDistance::Ten, "Nudge down by 10", &[Keys::shift(Key::ArrowDown)]),
    row(Id::NewBoard, Menu::Board, "New board…", &[Keys::ctrl_shift(Key::N)], Needs::Workspace),
    row(Id::RenameBoard, Menu::Board, "Rename board…", &[], Needs::EditableBoard),
    group(row(Id::RemoveBoard, Menu::Board, "Remove board…", &[], Needs::EditableBoard)),
    row(Id::NewEntity, Menu::Specs, "New entity…", &[Keys::ctrl_shift(Key::E)], Needs::Bundle),
    row(Id::EditEntity, Menu::Specs, "Edit entity", &[], Needs::Entity),
    row(Id::DeleteEntity, Menu::Specs, "Delete entity…", &[], Needs::Entity),
    group(row(Id::SpecBack, Menu::Specs, "Back", &[Keys::alt(Key::ArrowLeft)], Needs::Back)),
    row(Id::SpecForward, Menu::Specs, "Forward", &[Keys::alt(Key::ArrowRight)], Needs::Forward),
    group(row(Id::DrawMap, Menu::Specs, "Draw map…", &[], Needs::Bundle)),
    row(Id::ShowOnMap, Menu::Specs, "Show on map", &[], Needs::Entity),
    row(Id::OpenEntity, Menu::Specs, "Open entity", &[Keys::plain(Key::O)], Needs::EntityNode),
    group(row(Id::Coverage, Menu::Specs, "Coverage", &[], Needs::Bundle)),
    row(Id::Knowledge, Menu::Specs, "Domain knowledge", &[], Needs::Knowledge),
    group(run(Run::Init, "Terraform init")),
    run(Run::Validate, "Terraform validate"),
    run(Run::Plan, "Terraform plan"),
    run(Run::ApplyPlan, "Terraform apply plan…"),
    run(Run::Apply, "Terraform apply…"),
    run(Run::Drift, "Terraform check drift"),
    run(Run::PlanDestroy, "Terraform plan destroy"),
    run(Run::Destroy, "Terraform destroy…"),
    row(Id::CancelRun, Menu::Board, "Cancel run", &[], Needs::Run),
    group(row(Id::ShowChanges, Menu::Board, "Show planned changes", &[], Needs::InfrastructureBoard)),
    row(Id::PreviewSelection, Menu::Preview, "Preview selection", &[Keys::plain(Key::F5)], Needs::Showable),
    row(
        Id::Panel(PanelId::Preview),
        Menu::Preview,
        "Preview panel",
        &[Keys::ctrl_shift(Key::V)],
        Needs::Workspace,
    ),
    row(Id::PreviewInspect, Menu::Preview, "Inspect", &[Keys::ctrl_shift(Key::C)], Needs::Preview),
    group(row(Id::PreviewRestart, Menu::Preview, "Restart", &[Keys::shift(Key::F5)], Needs::Preview)),
    row(Id::PreviewStop, Menu::Preview, "Stop", &[], Needs::Preview),
    row(Id::PreviewClose, Menu::Preview, "Close", &[], Needs::Preview),
    row(
        Id::Panel(PanelId::ManagedServers),
        Menu::Servers,
        "Managed servers",
        &[Keys::ctrl_shift(Key::U)],
        Needs::Workspace,
    ),
    group(row(Id::AddServer, Menu::Servers, "Add managed server…", &[], Needs::Workspace)),
    row(Id::ImportServers, Menu::Servers, "Import managed servers…", &[], Needs::Workspace),
    row(Id::SearchRegistry, Menu::Servers, "Search server registry…", &[], Needs::Workspace),
    row(Id::ZoomIn, Menu::View, "Zoom in", &[Keys::ctrl(Key::Plus), Keys::ctrl(Key::Equals)], Needs::Board),
    row(Id::ZoomOut, Menu::View, "Zoom out", &[Keys::ctrl(Key::Minus)], Needs::Board),
    row(Id::ZoomFull, Menu::View, "Zoom to 100%", &[Keys::shift(Key::Num0)], Needs::Board),
    row(Id::ZoomToFit, Menu::View, "Zoom to fit", &[Keys::shift(Key::Num1)], Needs::Board),
    row(
        Id::ZoomToSelection,
        Menu::View,
        "Zoom to selection",
        &[Keys::shift(Key::Num2), Keys::plain(Key::F)],
        Needs::Nodes,
    ),
    row(Id::ToggleMinimap, Menu::View, "Minimap", &[], Needs::Board),
    group(panel(PanelId::Palette, "Palette", &[Keys::ctrl_shift(Key::P)])),
    panel(PanelId::Outline, "Outline", &[Keys::ctrl_shift(Key::O)]),
    panel(PanelId::Specs, "Specs", &[Keys::ctrl_shift(Key::B)]),
    panel(PanelId::Reader, "Spec page", &[]),
    panel(PanelId::Inspector, "Inspector", &[Keys::ctrl_shift(Key::I)]),
    panel(PanelId::Problems, "Problems", &[Keys::ctrl_shift(Key::M)]),
    panel(PanelId::Terraform, "Terraform", &[Keys::ctrl_shift(Key::T)]),
    panel(PanelId::Hcl, "HCL", &[]),
    panel(PanelId::Review, "Review", &[Keys::ctrl_shift(Key::R)]),
    panel(PanelId::Proposal, "Proposal", &[]),
    panel(PanelId::Agents, "Agents", &[]),
    panel(PanelId::Log, "Log", &[Keys::ctrl_shift(Key::H)]),
    group(side(PanelSide::Left, "Left panels", &[Keys::ctrl(Key::Num1)])),
    side(PanelSide::Right, "Right panels", &[Keys::ctrl(Key::Num2)]),
    side(PanelSide::Bottom, "Bottom panels", &[Keys::ctrl(Key::Num3)]),
    row(Id::ClosePanel, Menu::View, "Close panel", &[], Needs::Nothing),
    row(Id::ResetLayout, Menu::View, "Reset layout", &[], Needs::Nothing),
    group(row(Id::LightTheme, Menu::View, "Light theme", &[], Needs::Nothing)),
    row(Id::DarkTheme, Menu::View, "Dark theme", &[], Needs::Nothing),
    row(Id::HighContrastTheme, Menu::View, "High contrast theme", &[], Needs::Nothing),
    row(Id::SystemTheme, Menu::View, "Use system theme", &[], Needs::Nothing),
    while_typing(row(
        Id::CommandPalette,
        Menu::Help,
        "Command palette…",
        &[Keys::ctrl(Key::K)],
        Needs::Nothing,
    )),
    row(Id::SetupGuide, Menu::Help, "Connect an agent…", &[], Needs::Nothing),
    row(Id::Shortcuts, Menu::Help, "Keyboard shortcuts", &[Keys::plain(Key::Questionmark)], Needs::Nothing),
    row(Id::ReportProblem, Menu::Help, "Report a problem…", &[], Needs::Nothing),
];
