//! The command line: one module per verb, and one total match from the verb to its module. Results go to standard output,
//! everything else to standard error; exit code 0 is success, 1 a finding or refusal, 2 wrong usage.

mod audit;
mod board_at;
mod bundle;
mod call;
mod completions;
mod connect;
mod cost;
mod doctor;
mod edit;
mod export;
mod hcl;
mod import;
mod key;
mod log;
mod manifest;
mod mcp;
mod new;
mod open;
mod overrides;
mod preview;
mod read;
mod redo;
mod report;
mod resolve;
mod revert;
mod review;
mod save;
mod schema;
mod serve;
mod serve_bundles;
mod server;
mod standalone_terraform;
mod status;
mod terraform;
mod undo;
mod validate;
mod window;
mod workspace_at;

use agents::{
    SettingsOverrides,
    standalone::{self, StandaloneBundles},
};
use clap::{CommandFactory, Parser, Subcommand};
use crash_reports::{CrashRole, record_panics};
use shared_protocol::{Refusal, RefusalCode, mcp::McpMode, review::ApprovalScope};
use std::{ffi::OsString, path::PathBuf, process::ExitCode};
use terminal_client::format;

/// How to start the roles of this executable; the outermost crate knows them.
#[derive(Debug, Clone)]
pub struct RoleEntryPoints {
    pub exe: PathBuf,
}

const WRONG_USAGE: u8 = 2;

const AFTER_HELP: &str =
    "Without a command, opens WORKSPACE in the window, or else the last workspace or the example.";

#[derive(Debug, Parser)]
#[command(name = "draftboard", version, about = "A board for specs, interfaces and infrastructure, with proposals from agents under review", after_help = AFTER_HELP, args_conflicts_with_subcommands = true)]
struct CommandLine {
    /// The workspace to open: a folder with a draftboard.toml
    workspace: Option<PathBuf>,
    #[command(subcommand)]
    command: Option<Verb>,
}

#[derive(Debug, Clone, clap::Args)]
struct WorkspaceArguments {
    /// The workspace [default: the one that contains the current folder]
    #[arg(long, short = 'w', value_name = "FOLDER", global = true)]
    workspace: Option<PathBuf>,
    /// Prints JSON
    #[arg(long, global = true)]
    json: bool,
}

/// Spec bundles that are served without a workspace.
#[derive(Debug, Clone, clap::Args)]
struct StandaloneArguments {
    /// Serves the bundle in this folder, without a workspace; can be repeated
    #[arg(long, value_name = "FOLDER", conflicts_with = "config")]
    bundle: Vec<PathBuf>,
    /// Serves the bundles that a bundles.yaml lists, without a workspace
    #[arg(long, value_name = "FILE")]
    config: Option<PathBuf>,
    /// A standing approval for agents in this run: `all`, or a list of diagram, bundles, interface,
    /// terraform-plan, each with `:destructive` to include removals; never covers Terraform apply or destroy
    #[arg(long, value_name = "SCOPE")]
    standing_approval: Option<ApprovalScope>,
}

impl StandaloneArguments {
    fn is_meant(&self) -> bool {
        !self.bundle.is_empty() || self.config.is_some()
    }

    fn standalone(self, mode: Option<McpMode>) -> Result<StandaloneBundles, Refusal> {
        let sources = standalone::sources(&self.bundle, self.config.as_ref())?;
        Ok(StandaloneBundles { sources, mode: mode.unwrap_or_default(), approval: self.standing_approval })
    }

    /// Refuses an approval for a bridge, which only forwards: the running Draftboard holds approvals.
    fn refuse_approval(&self) -> Result<(), Refusal> {
        match self.standing_approval {
            None => Ok(()),
            Some(_) => Err(Refusal::new(
                RefusalCode::BadRequest,
                "--standing-approval works only with --bundle or --config, or with `draftboard serve`",
            )
            .hint("Name bundles with --bundle or --config.")),
        }
    }
}

#[derive(Debug, Subcommand)]
enum Verb {
    /// Opens a workspace in the window
    #[command(after_help = "Example: draftboard open ~/projects/parcels")]
    Open {
        /// The workspace folder [default: the one that contains the current folder]
        workspace: Option<PathBuf>,
    },
    /// Runs without a window until stopped; prints one line when ready
    #[command(after_help = "Examples:\n  draftboard serve ~/projects/parcels --json\n  \
            draftboard serve --bundle specs/lockers --mode guarded --standing-approval bundles")]
    Serve {
        /// The workspace folder [default: the one that contains the current folder]
        folder: Option<PathBuf>,
        /// The agent mode for this run: off, observe or guarded [default: from the settings]
        #[arg(long)]
        mode: Option<McpMode>,
        /// The MCP port for this run; 0 uses any free port [default: from the settings]
        #[arg(long)]
        port: Option<u16>,
        #[command(flatten)]
        bundles: StandaloneArguments,
        #[command(flatten)]
        at: WorkspaceArguments,
    },
    /// Creates a workspace
    #[command(after_help = "Example: draftboard new ~/projects/parcels --template example")]
    New {
        /// The folder of the new workspace; created if missing
        folder: PathBuf,
        /// The content of the new workspace
        #[arg(long, value_enum, default_value = "blank")]
        template: new::TemplateArgument,
        #[command(flatten)]
        at: WorkspaceArguments,
    },
    /// Shows running instances, or the state of one workspace
    #[command(
        after_help = "Examples:\n  draftboard status\n  draftboard status -w ~/projects/parcels --json"
    )]
    Status(WorkspaceArguments),
    /// Saves all changes to files
    #[command(after_help = "Example: draftboard save")]
    Save(WorkspaceArguments),
    /// Undoes the last operation
    #[command(after_help = "Example: draftboard undo")]
    Undo(WorkspaceArguments),
    /// Redoes the last undone operation
    #[command(after_help = "Example: draftboard redo")]
    Redo(WorkspaceArguments),
    /// Lists operations, newest first
    #[command(after_help = "Example: draftboard log --limit 5")]
    Log {
        /// The maximum number of operations
        #[arg(long, default_value_t = 20)]
        limit: u32,
        #[command(flatten)]
        at: WorkspaceArguments,
    },
    /// Reverts one operation and keeps later ones
    #[command(after_help = "Example: draftboard revert 41")]
    Revert {
        /// The number of the operation in `draftboard log`
        operation: u64,
        /// Reverts only the changes that do not conflict with later ones
        #[arg(long)]
        partial: bool,
        #[command(flatten)]
        at: WorkspaceArguments,
    },
    /// Applies commands from a JSON file as one operation
    #[command(after_help = edit::HELP)]
    Edit {
        /// A list of commands; `-` reads standard input
        #[arg(long, short = 'f')]
        file: PathBuf,
        /// The summary in the log
        #[arg(long, short = 'm')]
        summary: Option<String>,
        #[command(flatten)]
        at: WorkspaceArguments,
    },
    /// Lists all problems of the workspace; exit code 1 if there is an error or an unreadable file
    #[command(
        after_help = "Examples:\n  draftboard validate\n  draftboard validate ~/projects/parcels --json"
    )]
    Validate {
        /// The workspace folder [default: the one that contains the current folder]
        folder: Option<PathBuf>,
        #[command(flatten)]
        at: WorkspaceArguments,
    },
    /// Exports a board as an image or a Markdown document
    #[command(after_help = "Example: draftboard export infrastructure --to infrastructure.png")]
    Export {
        /// The name of the board
        board: String,
        /// The file to write; its name ends in .png, .svg or .md
        #[arg(long, value_name = "FILE")]
        to: PathBuf,
        #[command(flatten)]
        at: WorkspaceArguments,
    },
    /// Prints, compares or writes the Terraform files of a board; exit code 1 if they have errors
    #[command(after_help = hcl::HELP)]
    Hcl(hcl::HclArguments),
    /// Estimates the monthly cost of a board
    #[command(after_help = cost::HELP)]
    Cost(cost::CostArguments),
    /// Imports a TerraStudio project or a folder of .tf files as a board
    #[command(after_help = import::HELP)]
    Import(import::ImportArguments),
    /// Runs Terraform on a board; apply and destroy ask for confirmation
    #[command(after_help = terraform::HELP)]
    Terraform(terraform::TerraformArguments),
    /// Manages previews of pages and components in the running Draftboard
    #[command(after_help = preview::HELP)]
    Preview {
        #[command(subcommand)]
        what: preview::PreviewSubcommand,
        #[command(flatten)]
        at: WorkspaceArguments,
    },
    /// Manages overrides
    #[command(after_help = overrides::HELP)]
    Override {
        #[command(subcommand)]
        what: overrides::OverrideSubcommand,
        #[command(flatten)]
        at: WorkspaceArguments,
    },
    /// Connects an MCP client to the running Draftboard over standard input and output
    #[command(
        after_help = "MCP clients start this command; `draftboard connect CLIENT` configures them.\n\n\
            Examples:\n  draftboard mcp --workspace ~/projects/parcels --launch\n  \
            draftboard mcp --bundle specs/lockers --bundle specs/payments\n  \
            draftboard mcp --config bundles.yaml --mode guarded --standing-approval bundles"
    )]
    Mcp {
        /// The workspace [default: the one that contains the current folder, or else the only open one]
        #[arg(long, short = 'w', value_name = "FOLDER")]
        workspace: Option<PathBuf>,
        /// Starts Draftboard, without a window, when a call needs it and none is running
        #[arg(long)]
        launch: bool,
        #[command(flatten)]
        bundles: StandaloneArguments,
        /// The agent mode for these bundles: observe or guarded [default: observe]
        #[arg(long)]
        mode: Option<McpMode>,
    },
    /// Validates, lists, reads and searches spec bundles
    #[command(subcommand, after_help = bundle::HELP)]
    Bundle(bundle::BundleSubcommand),
    /// Calls a tool, as an agent would
    #[command(after_help = "Examples:\n  draftboard call get_workbench_context\n  \
            draftboard call list_resources board=infrastructure limit=5\n  \
            draftboard call search --args '{\"query\": \"subnet\"}' --json")]
    Call {
        /// The name of the tool
        tool: String,
        /// Arguments as key=value; a value that is not valid JSON is text
        #[arg(value_name = "KEY=VALUE", conflicts_with = "args")]
        pairs: Vec<String>,
        /// All arguments as one JSON object
        #[arg(long, value_name = "JSON")]
        args: Option<String>,
        #[command(flatten)]
        at: WorkspaceArguments,
    },
    /// Reads a resource, as an agent would
    #[command(after_help = "Example: draftboard read draftboard://workspace/context")]
    Read {
        /// The URI of the resource
        uri: String,
        #[command(flatten)]
        at: WorkspaceArguments,
    },
    /// Adds Draftboard to the configuration of an MCP client
    #[command(
        after_help = "Examples:\n  draftboard connect claude-desktop\n  draftboard connect vscode -w ~/projects/parcels --print"
    )]
    Connect(connect::ConnectClientArguments),
    /// Reviews proposals from agents
    #[command(
        after_help = "Each decision asks for a code that the running Draftboard shows in its own window or terminal.\n\n\
            Examples:\n  draftboard review\n  draftboard review show 3\n  draftboard review accept 3 --only n-0123456789ab\n  \
            draftboard review reject 3 --reason 'The database must stay private'"
    )]
    Review {
        #[command(subcommand)]
        what: Option<review::ReviewSubcommand>,
        #[command(flatten)]
        at: WorkspaceArguments,
    },
    /// Manages MCP servers that Draftboard runs, and their tools
    #[command(subcommand, alias = "upstream", after_help = server::HELP)]
    Server(server::ServerSubcommand),
    /// Checks and approves tool manifests, and sets their credentials
    #[command(subcommand, after_help = manifest::HELP)]
    Manifest(manifest::ManifestSubcommand),
    /// Exports or verifies the audit log
    #[command(after_help = audit::HELP)]
    Audit {
        #[command(subcommand)]
        what: audit::AuditSubcommand,
        #[command(flatten)]
        at: WorkspaceArguments,
    },
    /// Manages the key of this device, which signs decisions
    #[command(after_help = key::HELP)]
    Key(key::KeyArguments),
    /// Chooses the version of a held board to keep
    #[command(after_help = "Example: draftboard resolve infrastructure --keep mine")]
    Resolve {
        /// The name of the board
        board: String,
        /// The version to keep
        #[arg(long, value_enum)]
        keep: resolve::KeepVersionArgument,
        #[command(flatten)]
        at: WorkspaceArguments,
    },
    /// Checks for missing dependencies and shows how to fix them
    #[command(after_help = "Example: draftboard doctor")]
    Doctor(WorkspaceArguments),
    /// Prints versions and the latest crash report for a problem report; sends nothing
    #[command(after_help = "Example: draftboard report > report.txt")]
    Report(WorkspaceArguments),
    /// Prints the JSON Schema of a file format, for editors and generators
    #[command(after_help = "Example: draftboard schema component > component.schema.json")]
    Schema {
        /// The file format
        #[arg(value_enum)]
        of: schema::PrintedSchemaKind,
    },
    /// Prints a shell completion script
    #[command(
        after_help = "Example: draftboard completions bash > ~/.local/share/bash-completion/completions/draftboard"
    )]
    Completions {
        /// The shell
        shell: clap_complete::Shell,
    },
}

fn role_of(verb: Option<&Verb>) -> CrashRole {
    match verb {
        None | Some(Verb::Open { .. }) => CrashRole::Main,
        Some(Verb::Serve { .. }) => CrashRole::Serve,
        Some(Verb::Mcp { .. }) => CrashRole::Bridge,
        Some(_) => CrashRole::CommandLine,
    }
}

/// Runs the command line.
pub fn main(arguments: impl IntoIterator<Item = OsString>, roles: &RoleEntryPoints) -> ExitCode {
    let given: Vec<OsString> = arguments.into_iter().collect();
    let arguments = match CommandLine::try_parse_from(&given) {
        Ok(arguments) => arguments,
        Err(error) if error.use_stderr() && given.iter().any(|word| word == "--json") => {
            let message = error.render().to_string();
            format::refuse(&Refusal::new(RefusalCode::BadRequest, message.trim_end()), true);
            return ExitCode::from(WRONG_USAGE);
        }
        Err(error) => error.exit(),
    };
    record_panics(role_of(arguments.command.as_ref()));
    match arguments.command {
        None => open::run(arguments.workspace.as_deref(), roles),
        Some(verb) => run(verb, roles),
    }
}

/// Runs a verb in its module.
fn run(verb: Verb, roles: &RoleEntryPoints) -> ExitCode {
    match verb {
        Verb::Open { workspace } => open::run(workspace.as_deref(), roles),
        Verb::Serve { folder, mode, port, bundles, at } => {
            serve::run(folder.as_deref(), SettingsOverrides { mode, port }, bundles, &at, roles)
        }
        Verb::New { folder, template, at } => new::run(&folder, template, at.json),
        Verb::Status(at) => status::run(&at),
        Verb::Save(at) => save::run(&at),
        Verb::Undo(at) => undo::run(&at),
        Verb::Redo(at) => redo::run(&at),
        Verb::Log { limit, at } => log::run(limit, &at),
        Verb::Revert { operation, partial, at } => revert::run(operation, partial, &at),
        Verb::Edit { file, summary, at } => edit::run(&file, summary, &at),
        Verb::Validate { folder, at } => validate::run(folder.as_deref(), &at),
        Verb::Export { board, to, at } => export::run(&board, &to, &at),
        Verb::Hcl(arguments) => hcl::run(&arguments),
        Verb::Cost(arguments) => cost::run(&arguments),
        Verb::Import(arguments) => import::run(&arguments),
        Verb::Terraform(arguments) => terraform::run(&arguments),
        Verb::Preview { what, at } => preview::run(what, &at),
        Verb::Override { what, at } => overrides::run(what, &at),
        Verb::Mcp { workspace, launch, bundles, mode } => mcp::run(workspace, launch, bundles, mode, roles),
        Verb::Bundle(verb) => bundle::run(verb),
        Verb::Call { tool, pairs, args, at } => call::run(&tool, args.as_deref(), &pairs, &at),
        Verb::Read { uri, at } => read::run(&uri, &at),
        Verb::Connect(arguments) => connect::run(&arguments, roles),
        Verb::Review { what, at } => review::run(what, &at),
        Verb::Server(verb) => server::run(verb),
        Verb::Manifest(verb) => manifest::run(&verb),
        Verb::Audit { what, at } => audit::run(&what, &at),
        Verb::Key(arguments) => key::run(arguments),
        Verb::Resolve { board, keep, at } => resolve::run(&board, keep, &at),
        Verb::Doctor(at) => doctor::run(at.json),
        Verb::Report(at) => report::run(at.json),
        Verb::Schema { of } => schema::run(of),
        Verb::Completions { shell } => completions::run(shell, CommandLine::command()),
    }
}

#[cfg(test)]
mod tests {
    use super::CommandLine;
    use clap::{Command, CommandFactory as _};

    /// Commands that print no result: they run a program or print a file of another format.
    const WITHOUT_JSON: [&str; 4] = ["open", "mcp", "schema", "completions"];

    fn check_help(path: &str, command: &Command, missing: &mut Vec<String>) {
        let subcommands: Vec<&Command> =
            command.get_subcommands().filter(|command| command.get_name() != "help").collect();
        if command.get_about().is_none() {
            missing.push(format!("{path}: a description"));
        }
        for argument in command.get_arguments().filter(|argument| argument.get_help().is_none()) {
            missing.push(format!("{path}: help for {}", argument.get_id()));
        }
        if subcommands.is_empty() {
            let help = command.get_after_help().map(ToString::to_string).unwrap_or_default();
            if !help.contains("Example") || !help.contains(path) {
                missing.push(format!("{path}: an example"));
            }
            let has_json = command.get_arguments().any(|argument| argument.get_id() == "json");
            if !has_json && !WITHOUT_JSON.contains(&command.get_name()) {
                missing.push(format!("{path}: --json"));
            }
        }
        for subcommand in subcommands {
            check_help(&format!("{path} {}", subcommand.get_name()), subcommand, missing);
        }
    }

    #[test]
    fn every_command_has_a_description_help_for_each_argument_an_example_and_json() {
        let mut command = CommandLine::command();
        command.build();
        let mut missing = Vec::new();
        check_help("draftboard", &command, &mut missing);
        assert_eq!(missing, Vec::<String>::new());
    }
}
