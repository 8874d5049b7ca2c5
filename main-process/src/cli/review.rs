//! `draftboard review`: the queue in a terminal. The person submits a decision, main shows a code in its own window or
//! terminal, and the person types it here. Without a person at a terminal nothing is decided.

use super::{WorkspaceArguments, format, workspace_at};
use authority::unified_diff;
use clap::Subcommand;
use shared_protocol::{
    ProposalState, ProposalSubject, Refusal, RefusalCode,
    decisions::{
        AcceptProposal, DecidedProposal, ListQueue, PersonDecision, ProposalDecision, RejectProposal,
        ShowProposal,
    },
    proposal::ElementChangeKind,
    request::Request,
    review::{FieldChange, FieldClash, ProposalBrief, ProposalDetails, ProposedElement},
    terraform::{ApplyRequestPlanState, ApplyRequestPlanView, PlanCounts, PlannedAction},
};
use std::{
    collections::BTreeSet,
    fmt::Write as _,
    io::{BufRead as _, IsTerminal as _, Write as _},
    process::ExitCode,
};
use terminal_client::TerminalClient;

#[derive(Debug, Clone, Subcommand)]
pub(super) enum ReviewSubcommand {
    /// Lists open proposals, including drafts
    #[command(after_help = "Example: draftboard review list")]
    List,
    /// Shows one proposal with all its changes
    #[command(after_help = "Example: draftboard review show 3")]
    Show {
        /// The number or id of the proposal
        proposal: String,
    },
    /// Accepts a proposal, or selected changes with their dependencies
    #[command(
        after_help = "Examples:\n  draftboard review accept 3\n  draftboard review accept 3 --only n-0123456789ab"
    )]
    Accept {
        /// The number or id of the proposal
        proposal: String,
        /// Accepts only these changes, by the ids that `show` lists
        #[arg(long, value_name = "ID", num_args = 1..)]
        only: Vec<String>,
    },
    /// Rejects a proposal
    #[command(after_help = "Example: draftboard review reject 3 --reason 'The database must stay private'")]
    Reject {
        /// The number or id of the proposal
        proposal: String,
        /// The reason that the agent receives
        #[arg(long)]
        reason: String,
    },
}

pub(super) fn run(asked: Option<ReviewSubcommand>, at: &WorkspaceArguments) -> ExitCode {
    let done = connect(at).and_then(|client| match asked.unwrap_or(ReviewSubcommand::List) {
        ReviewSubcommand::List => list(client, at.json),
        ReviewSubcommand::Show { proposal } => show(client, proposal, at.json),
        ReviewSubcommand::Accept { proposal, only } => accept(client, proposal, &only, at.json),
        ReviewSubcommand::Reject { proposal, reason } => reject(client, proposal, reason, at.json),
    });
    match done {
        Ok(()) => ExitCode::SUCCESS,
        Err(refusal) => format::refuse(&refusal, at.json),
    }
}

fn connect(at: &WorkspaceArguments) -> Result<TerminalClient, Refusal> {
    let record = workspace_at::instance(at.workspace.as_deref())?;
    Ok(TerminalClient::connect(&record)?)
}

fn list(mut client: TerminalClient, json: bool) -> Result<(), Refusal> {
    let proposals = client.request(ListQueue {})?;
    if json {
        format::print_json(&serde_json::json!({ "ok": true, "data": proposals }));
    } else if proposals.is_empty() {
        format::print("No proposals to review");
    } else {
        format::print_visible(&proposals.iter().map(line).collect::<Vec<_>>().join("\n"));
    }
    Ok(())
}

fn line(brief: &ProposalBrief) -> String {
    let counts = brief.counts;
    let risks: Vec<&str> = brief.risks.iter().map(|risk| risk.label()).collect();
    let risks = if risks.is_empty() { String::new() } else { format!("  [{}]", risks.join(", ")) };
    let title =
        if brief.title.is_empty() { "(draft)".to_owned() } else { format::visible_line(&brief.title) };
    format!(
        "{:>4}  {:<6} {title}  by {}  +{} ~{} -{}{risks}",
        brief.number,
        brief.state_label(),
        format::visible_line(&brief.proposer.name),
        counts.added,
        counts.changed,
        counts.removed,
    )
}

fn open_proposal(client: &mut TerminalClient, proposal: String) -> Result<ProposalDetails, Refusal> {
    Ok(client.request(ShowProposal { proposal })?)
}

fn show(mut client: TerminalClient, proposal: String, json: bool) -> Result<(), Refusal> {
    let opened = open_proposal(&mut client, proposal)?;
    if json {
        format::print_json(&serde_json::json!({ "ok": true, "data": opened }));
    } else {
        print_opened(&opened);
    }
    Ok(())
}

/// Colours each line by its change. Texts of the agent are escaped first, so that none can colour itself.
fn print_opened(opened: &ProposalDetails) {
    let coloured = std::io::stdout().is_terminal() && std::env::var_os("NO_COLOR").is_none();
    let paint = |colour: &str, text: &str| match coloured {
        true => format!("\x1b[{colour}m{}\x1b[0m", format::visible_line(text)),
        false => format::visible_line(text),
    };
    let by_sign = |line: &str| match line.chars().next() {
        Some('+') => paint("32", line),
        Some('-') => paint("31", line),
        Some('@') => paint("36", line),
        _ => format::visible(line),
    };
    let mut text = format!("{}\n", format::visible(&line(&opened.brief)));
    if !opened.rationale.is_empty() {
        let quoted =
            opened.rationale.lines().map(|line| format!("  | {line}")).collect::<Vec<_>>().join("\n");
        let _ = writeln!(text, "The agent's reasons (unverified):\n{}", format::visible(&quoted));
    }
    if let ProposalState::Stale { why } = &opened.brief.state {
        for reason in why {
            let _ = writeln!(text, "{}", paint("33", &format!("! changed in the workspace: {reason}")));
        }
    }
    for clash in &opened.clashes {
        let _ = writeln!(text, "{}", paint("33", &clash_line(clash)));
    }
    for conflict in &opened.conflicts {
        let _ = writeln!(text, "{}", paint("31", &format!("! conflict: {conflict}")));
    }
    for check in &opened.checks {
        let _ = writeln!(text, "{}", paint("33", &format!("? {}", check.message)));
    }
    let places = opened.elements.iter().filter(|element| element.kind == ElementChangeKind::Placed).count();
    for element in opened.elements.iter().filter(|element| element.kind != ElementChangeKind::Placed) {
        let (sign, colour) = match element.kind {
            ElementChangeKind::Removed => ('-', "31"),
            ElementChangeKind::Added => ('+', "32"),
            ElementChangeKind::Changed | ElementChangeKind::Placed => ('~', "33"),
        };
        let _ = writeln!(text, "{}", paint(colour, &format!("{sign} {}  {}", element.subject, element.text)));
        for field in element.differences.iter().filter(|field| field.field != "place") {
            for line in field_lines(field) {
                let _ = writeln!(text, "      {}", by_sign(&line));
            }
        }
        for file in &element.files {
            for line in file.text.lines() {
                let _ = writeln!(text, "      {}", by_sign(line));
            }
        }
    }
    if places > 0 {
        let _ = writeln!(text, "~ {places} moved or resized");
    }
    if let Some(plan) = &opened.plan {
        for (colour, line) in plan_lines(plan) {
            let _ = writeln!(text, "{}", paint(colour, &line));
        }
    }
    format::print(&text);
}

/// The plan of a request to apply or destroy, destructive changes first.
fn plan_lines(plan: &ApplyRequestPlanView) -> Vec<(&'static str, String)> {
    if let Some(obstacle) = plan.obstacle() {
        return vec![("33", format!("! Cannot be accepted yet. {obstacle}"))];
    }
    let ApplyRequestPlanState::Ready { hash, counts, changes, .. } = &plan.state else { return Vec::new() };
    let PlanCounts { add, change, remove } = counts;
    let mut lines =
        vec![("1", format!("Plan by Draftboard: {add} to add, {change} to change, {remove} to destroy"))];
    for change in changes {
        let (sign, colour) = match change.action {
            PlannedAction::Delete => ("-", "31"),
            PlannedAction::Replace => ("-/+", "31"),
            PlannedAction::Update => ("~", "33"),
            PlannedAction::Create => ("+", "32"),
            PlannedAction::Read => ("<=", "36"),
        };
        let why = change.reason.as_ref().map_or_else(String::new, |why| format!(" ({why})"));
        lines.push((colour, format!("  {sign} {}{why}", change.address)));
    }
    lines.push(("2", format!("  Accepting applies exactly this plan: {hash}")));
    lines
}

fn clash_line(clash: &FieldClash) -> String {
    let shown = |value: &Option<String>| value.clone().unwrap_or_else(|| "nothing".to_owned());
    let by = clash.by.as_ref().map_or_else(String::new, |by| format!(" (by {by})"));
    let FieldClash { name, field, before, now, proposed, .. } = clash;
    format!(
        "! {field} of {name}: was {}, is now {}{by}, proposed {}",
        shown(before),
        shown(now),
        shown(proposed)
    )
}

/// One line for a short value; a diff for a value with several lines.
fn field_lines(field: &FieldChange) -> Vec<String> {
    let FieldChange { field, before, after } = field;
    let is_short = |value: &Option<String>| value.as_ref().is_none_or(|value| !value.contains('\n'));
    if is_short(before) && is_short(after) {
        let shown = |value: &Option<String>| value.clone().unwrap_or_else(|| "nothing".to_owned());
        return vec![format!("{field}: {} -> {}", shown(before), shown(after))];
    }
    let text = |value: &Option<String>| value.clone().unwrap_or_default();
    unified_diff(field, &text(before), &text(after)).lines().map(str::to_owned).collect()
}

fn accept(mut client: TerminalClient, proposal: String, only: &[String], json: bool) -> Result<(), Refusal> {
    person_is_here()?;
    let opened = open_proposal(&mut client, proposal)?;
    print_opened(&opened);
    if let Some(obstacle) = opened.plan.as_ref().and_then(|plan| plan.obstacle()) {
        let message = format!("proposal {} cannot be accepted yet: {obstacle}", opened.brief.number);
        let hint = "Run the plan again in the window, or reject the proposal with a reason.";
        return Err(Refusal::new(RefusalCode::Conflict, message).hint(hint));
    }
    let chosen =
        if only.is_empty() { None } else { Some(opened.with_dependencies(select_subjects(&opened, only)?)) };
    if let Some(effect) = chosen.as_ref().and_then(|chosen| opened.effect_without_cause(chosen)) {
        let causes: Vec<String> = effect.effect_of.iter().map(ToString::to_string).collect();
        let message = format!("{} is a side effect of removing {}", effect.subject, causes.join(" or "));
        let hint = format!("Add {} to --only, or leave both out.", causes.join(" or "));
        return Err(Refusal::new(RefusalCode::BadRequest, message).hint(hint));
    }
    if let Some(chosen) = chosen.as_ref().filter(|chosen| chosen.len() > only.len()) {
        let ids: Vec<String> = chosen.iter().map(ToString::to_string).collect();
        print_line(&format!("Including dependencies: {}", ids.join(", ")));
    }
    let is_taken = |subject: &ProposalSubject| chosen.as_ref().is_none_or(|chosen| chosen.contains(subject));
    let destructive: BTreeSet<ProposalSubject> = opened
        .elements
        .iter()
        .filter(|element| element.destructive && is_taken(&element.subject))
        .map(|element| element.subject.clone())
        .collect();
    confirm_each(&opened, &destructive)?;
    let verdict = opened.verdict(chosen, destructive);
    decide(client, AcceptProposal { verdict }, json)
}

/// Asks about every removal by itself, together with its effects.
fn confirm_each(opened: &ProposalDetails, destructive: &BTreeSet<ProposalSubject>) -> Result<(), Refusal> {
    let is_cause = |element: &&ProposedElement| {
        destructive.contains(&element.subject)
            && !element.effect_of.iter().any(|cause| destructive.contains(cause))
    };
    let causes: Vec<&ProposedElement> = opened.elements.iter().filter(is_cause).collect();
    for (index, cause) in causes.iter().enumerate() {
        let name = format::visible_line(&cause.text);
        print_line(&format!("Confirm {} of {}: {} {name}", index + 1, causes.len(), cause.subject));
        for effect in opened.effects_of(&cause.subject) {
            print_line(&format!("  side effect: {} {}", effect.subject, format::visible_line(&effect.text)));
        }
        if !matches!(prompt("Type y to confirm, or anything else to cancel: ")?.as_str(), "y" | "yes") {
            return Err(Refusal::new(
                RefusalCode::ConfirmationRequired,
                "the proposal was not accepted: a removal was not confirmed",
            ));
        }
    }
    Ok(())
}

fn select_subjects(opened: &ProposalDetails, only: &[String]) -> Result<Vec<ProposalSubject>, Refusal> {
    let find = |id: &String| {
        let found = opened.elements.iter().find(|element| element.subject.to_string() == *id);
        found.map(|element| element.subject.clone()).ok_or_else(|| {
            Refusal::new(
                RefusalCode::NotFound,
                format!("proposal {} has no change {id}", opened.brief.number),
            )
        })
    };
    only.iter().map(find).collect()
}

fn reject(mut client: TerminalClient, proposal: String, reason: String, json: bool) -> Result<(), Refusal> {
    person_is_here()?;
    let opened = open_proposal(&mut client, proposal)?;
    let ProposalBrief { id, version, .. } = opened.brief;
    decide(client, RejectProposal { proposal: id, version, reason }, json)
}

/// Submits a decision and asks the person for the code that Draftboard shows elsewhere.
pub(super) fn decide_with_code<D: Request>(
    client: &mut TerminalClient,
    decision: D,
) -> Result<D::Response, Refusal>
where
    PersonDecision: From<D::Frame>,
{
    person_is_here()?;
    Ok(client.decide(decision, |place| prompt(&format!("The code is shown in {place}. Code: ")))?)
}

fn decide(
    mut client: TerminalClient,
    decision: impl Request<Response = DecidedProposal, Frame = ProposalDecision>,
    json: bool,
) -> Result<(), Refusal> {
    let DecidedProposal { proposal, applied, notice } = decide_with_code(&mut client, decision)?;
    if json {
        let data = serde_json::json!({ "proposal": proposal, "applied": applied, "notice": notice });
        format::print_json(&serde_json::json!({ "ok": true, "data": data }));
        return Ok(());
    }
    let mut text = format!("Proposal {} is {}", proposal.number, proposal.state_label());
    if let Some(applied) = applied {
        let _ = write!(text, " (revision {}); `draftboard undo` reverts it", applied.revision);
    }
    if let Some(notice) = notice {
        let _ = write!(text, "; {notice}");
    }
    format::print_visible(&text);
    Ok(())
}

/// Refuses without a terminal: a script or an agent with a shell must not decide.
pub(super) fn person_is_here() -> Result<(), Refusal> {
    if std::io::stdin().is_terminal() {
        return Ok(());
    }
    Err(Refusal::new(RefusalCode::ConfirmationRequired, "a decision needs a person at a terminal")
        .hint("Run this in a terminal, or decide in the window."))
}

pub(super) fn prompt(question: &str) -> Result<String, Refusal> {
    prompt_bounded(question, 200)
}

/// As [`prompt`], for a key, a token or a passphrase: a terminal does not show it.
pub(super) fn prompt_secret(question: &str) -> Result<String, Refusal> {
    use rustix::termios::{LocalModes, OptionalActions, tcgetattr, tcsetattr};
    let stdin = std::io::stdin();
    let Ok(shown) = tcgetattr(&stdin) else { return prompt_bounded(question, 20_000) };
    let mut hidden = shown.clone();
    hidden.local_modes.remove(LocalModes::ECHO);
    let is_hidden = tcsetattr(&stdin, OptionalActions::Flush, &hidden).is_ok();
    let typed = prompt_bounded(question, 20_000);
    if is_hidden {
        print_line("");
        // The shell restores the terminal as well.
        let _ = tcsetattr(&stdin, OptionalActions::Now, &shown);
    }
    typed
}

fn prompt_bounded(question: &str, limit: u64) -> Result<String, Refusal> {
    print_line(question);
    let mut typed = String::new();
    let read = std::io::Read::take(std::io::stdin().lock(), limit).read_line(&mut typed);
    read.map_err(|error| Refusal::new(RefusalCode::BadRequest, error.to_string()))?;
    Ok(typed.trim().to_owned())
}

pub(super) fn print_line(text: &str) {
    let mut err = std::io::stderr().lock();
    let line = if text.ends_with(' ') { "" } else { "\n" };
    // A closed terminal shows in the answer.
    let _ = write!(err, "{}{line}", format::visible(text)).and_then(|()| err.flush());
}
