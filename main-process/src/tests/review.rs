//! Agents propose through a real writer, a reviewer decides on the window's channel, and nobody else can.

use super::{Agents, PATIENCE, call, exchange};
use crate::{
    responses::{JsonResponder, wait_for},
    writer::WriterMsg,
};
use crossbeam_channel::{Receiver, bounded};
use serde_json::{Value, json};
use shared_protocol::{
    ProposalId, ProposalState, Refusal,
    decisions::{
        AcceptProposal, CloseProposal, DecidedProposal, GrantApproval, OpenProposal, ProposalDecision,
        ReviewRequest, SubmitDecision,
    },
    mcp::McpMode,
    messages::{FromTerminal, ToRenderer, ToTerminal},
    proposal::{ReviewVerdict, Risk},
    request::Request,
    requests::{ReadAudit, RedoLast, RevertOperation, RunCommand, SetAgentMode, UndoLast},
    review::{ApprovalGrant, AuditEntry, AuditEvent, ProposalDetails, ReviewView},
    terraform::ApplyRequestPlanState,
};
use std::{
    collections::BTreeSet,
    io::{BufRead as _, BufReader, Write as _},
    os::unix::net::UnixStream,
};
use test_support::mcp;
use workspace::Reviewer;

pub(super) fn guarded() -> Agents {
    guarding(Agents::start())
}

pub(super) fn guarding(agents: Agents) -> Agents {
    agents.request(SetAgentMode { mode: McpMode::Guarded });
    agents
}

impl Agents {
    /// As the window's own channel does it.
    pub(super) fn review<R: Request<Frame = ReviewRequest> + Into<ReviewRequest>>(
        &self,
        request: R,
    ) -> Result<R::Response, Refusal> {
        let response = wait_for(PATIENCE, |responder| {
            self.running().host.review(Into::into(request), "ada".to_owned(), JsonResponder(responder));
        })?;
        Ok(serde_json::from_value(response).expect("the response of the request"))
    }

    /// As the window's own channel does it.
    pub(super) fn decide<D: Request<Frame = ProposalDecision> + Into<ProposalDecision>>(
        &self,
        decision: D,
    ) -> Result<D::Response, Refusal> {
        let reviewer = Reviewer::in_window("ada".to_owned());
        let response = wait_for(PATIENCE, |responder| {
            self.running().host.decide(Into::into(decision), reviewer, JsonResponder(responder));
        })?;
        Ok(serde_json::from_value(response).expect("the response of the decision"))
    }

    pub(super) fn opened(&self, id: ProposalId) -> ProposalDetails {
        self.review(OpenProposal { proposal: id }).unwrap()
    }

    /// A request to apply or destroy, once it is not being planned any more.
    pub(super) fn planned(&self, id: ProposalId) -> ProposalDetails {
        test_support::wait_for("the plan", || {
            let opened = self.opened(id);
            let state = opened.plan.as_ref().map(|plan| &plan.state);
            let is_planned = !matches!(state, None | Some(ApplyRequestPlanState::Planning { .. }));
            is_planned.then_some(opened)
        })
    }

    pub(super) fn yes(&self, id: ProposalId) -> ReviewVerdict {
        let opened = self.opened(id);
        let confirmed = opened.elements.iter().map(|element| element.subject.clone()).collect();
        opened.verdict(None, confirmed)
    }

    /// The messages to a window.
    pub(super) fn window(&self) -> Receiver<ToRenderer> {
        let (queue, heard) = bounded(1_024);
        self.running().host.send(WriterMsg::Attach(queue)).unwrap();
        heard
    }

    pub(super) fn audit(&self) -> Vec<AuditEntry> {
        let lines = self.request(ReadAudit { after: 0, limit: 1_000 });
        journal::check_audit(None, &lines).unwrap();
        lines.iter().map(|line| serde_json::from_str(&line.text).unwrap()).collect()
    }
}

pub(super) fn ok(stream: &UnixStream, tool: &str, arguments: Value) -> Value {
    let envelope = call(stream, tool, arguments);
    assert_eq!(envelope["ok"], json!(true), "{envelope}");
    envelope["data"].clone()
}

pub(super) fn id_of(data: &Value) -> ProposalId {
    data["proposal"]["id"].as_str().unwrap().parse().unwrap()
}

fn note(name: &str) -> Value {
    json!({ "typeId": "notes/sticky", "name": name })
}

/// The next view of the queue of which this holds.
pub(super) fn view_with(heard: &Receiver<ToRenderer>, holds: impl Fn(&ReviewView) -> bool) -> ReviewView {
    loop {
        if let ToRenderer::Review(view) = heard.recv_timeout(PATIENCE).unwrap()
            && holds(&view)
        {
            return *view;
        }
    }
}

#[test]
fn an_agent_builds_a_reviewer_takes_all_but_one_and_one_undo_takes_it_back() {
    let agents = guarded();
    let heard = agents.window();
    let (stream, _) = agents.bridge();
    for name in ["a", "b", "c"] {
        ok(&stream, "add_resource", note(name));
    }
    let drafted = view_with(&heard, |view| view.proposals.iter().any(|brief| brief.counts.added == 3));
    assert_eq!(drafted.proposals[0].state, ProposalState::Draft, "the window sees each call as it comes");
    assert_eq!(drafted.undecided_count(), 0);
    // The agent sees it as the reviewer does: of what is there now there is nothing to see.
    let bytes =
        |of: &str| ok(&stream, "get_board_image", json!({ "of": of, "longestSide": 256 }))["bytes"].clone();
    assert_ne!(bytes("proposal"), bytes("board"));
    let submitted = ok(&stream, "submit_proposal", json!({ "title": "Three notes", "rationale": "Because" }));
    let id = id_of(&submitted);
    assert_eq!(view_with(&heard, |view| view.undecided_count() == 1).proposals[0].title, "Three notes");

    let opened = agents.opened(id);
    assert_eq!(opened.rationale, "Because");
    let but_c: BTreeSet<_> =
        opened.elements.iter().filter(|e| !e.text.contains(" c")).map(|e| e.subject.clone()).collect();
    assert_eq!(but_c.len(), 2);
    let before = agents.running().document();
    let decided =
        agents.decide(AcceptProposal { verdict: opened.verdict(Some(but_c), BTreeSet::new()) }).unwrap();
    let DecidedProposal { proposal, applied, .. } = decided;
    assert_eq!(proposal.state, ProposalState::Open, "the rest waits");
    let names = |agents: &Agents| {
        let nodes = agents.running().document().nodes;
        nodes.iter().map(|node| node.name.to_string()).collect::<BTreeSet<_>>()
    };
    assert_eq!(names(&agents), BTreeSet::from(["a".to_owned(), "b".to_owned()]));
    let mine = ok(&stream, "get_proposal", json!({ "id": id }));
    assert_eq!((&mine["state"], &mine["decisions"][0]["elements"]), (&json!("open"), &json!(2)));
    agents.running().request(UndoLast {}).unwrap();
    assert_eq!(agents.running().document().nodes, before.nodes);
    agents.running().request(RedoLast {}).unwrap();
    let revision = applied.unwrap().revision;
    agents.running().request(RevertOperation { revision, partial: false }).unwrap();
    assert!(names(&agents).is_empty());
    let events: Vec<AuditEvent> = agents.audit().iter().map(|entry| entry.event).collect();
    assert_eq!(events, [AuditEvent::Begin, AuditEvent::Submit, AuditEvent::Accept]);
}

/// The proposals that a window was sent until the queue says this, by number and count of elements.
fn proposals_until(heard: &Receiver<ToRenderer>, last: (u64, usize)) -> Vec<(u64, usize)> {
    let mut sent = Vec::new();
    while sent.last() != Some(&last) {
        if let ToRenderer::Proposal(details) = heard.recv_timeout(PATIENCE).unwrap() {
            sent.push((details.brief.number, details.elements.len()));
        }
    }
    sent
}

#[test]
fn a_window_is_sent_the_draft_that_it_follows_or_the_proposal_that_a_person_opened() {
    let agents = guarded();
    let (stream, _) = agents.bridge();
    let heard = agents.window();
    let first = id_of(&ok(&stream, "add_resource", note("a")));
    ok(&stream, "add_resource", note("b"));
    assert_eq!(proposals_until(&heard, (1, 2)), [(1, 1), (1, 2)]);
    // What changes nothing of it sends nothing of it; submitting does.
    agents.request(RunCommand { command: crate::testing::add_note() });
    ok(&stream, "submit_proposal", json!({ "title": "Two" }));
    let second = id_of(&ok(&stream, "add_resource", note("c")));
    assert_eq!(proposals_until(&heard, (2, 1)), [(1, 2), (2, 1)]);
    // While a person looks at one, the other is not sent, and what they open is the response.
    agents.review(OpenProposal { proposal: first }).unwrap();
    ok(&stream, "add_resource", note("d"));
    agents.review(CloseProposal { proposal: first }).unwrap();
    assert_eq!(proposals_until(&heard, (2, 2)), [(2, 2)]);
    // A draft that was closed is not followed.
    agents.review(CloseProposal { proposal: second }).unwrap();
    ok(&stream, "add_resource", note("e"));
    let all = |message: ToRenderer| matches!(message, ToRenderer::Proposal(_)).then_some(());
    assert_eq!(heard.try_iter().find_map(all), None);
}

#[test]
fn fifty_calls_at_once_through_the_writer_are_all_there_in_one_draft() {
    let agents = guarded();
    let (stream, _) = agents.bridge();
    let mut text = String::new();
    for index in 0..50 {
        let request = mcp::stateless_call(index, "add_resource", note(&format!("n{index}")));
        text += &format!("{request}\n");
    }
    (&mut &stream).write_all(text.as_bytes()).unwrap();
    let mut reader = BufReader::new(&stream);
    let (mut ids, mut drafts) = (BTreeSet::new(), BTreeSet::new());
    for _ in 0..50 {
        let mut line = String::new();
        reader.read_line(&mut line).unwrap();
        let message: Value = serde_json::from_str(&line).unwrap();
        let envelope = &message["result"]["structuredContent"];
        assert_eq!(envelope["ok"], json!(true), "{envelope}");
        ids.insert(envelope["data"]["instanceId"].to_string());
        drafts.insert(id_of(&envelope["data"]));
    }
    assert_eq!((ids.len(), drafts.len()), (50, 1));
    let opened = agents.opened(*drafts.first().unwrap());
    assert_eq!((opened.steps.len(), opened.brief.counts.added), (50, 50));
}

/// The messages of terminals and bridges cannot express a decision, except for those that wait for a code.
#[test]
fn no_message_of_a_terminal_decides_without_the_code() {
    let agents = guarded();
    let heard = agents.window();
    let (stream, _) = agents.bridge();
    ok(&stream, "add_resource", note("waits"));
    let id = id_of(&ok(&stream, "submit_proposal", json!({ "title": "Waits" })));
    let verdict = agents.yes(id);
    let value = json!(verdict);
    for message in [
        json!({ "request": { "review": { "accept": value } } }),
        json!({ "request": { "accept": value } }),
        json!({ "request": { "run": { "accept": value } } }),
        json!({ "accept": value }),
        json!({ "review": { "accept": value } }),
        json!({ "review": { "ask": value } }),
        json!({ "review": { "grant": { "scope": "all" } } }),
        json!({ "request": { "grant": { "scope": "all" } } }),
    ] {
        assert!(serde_json::from_value::<FromTerminal>(message.clone()).is_err(), "{message}");
    }
    let terminal = || {
        let record = agents.record();
        let mut stream = UnixStream::connect(&record.socket).unwrap();
        stream.set_read_timeout(Some(PATIENCE)).unwrap();
        let hello = FromTerminal::Hello {
            protocol: shared_protocol::messages::PROTOCOL_VERSION,
            token: record.token.reveal().to_owned(),
        };
        assert!(matches!(exchange(&mut stream, &hello), ToTerminal::Welcome { .. }));
        stream
    };
    let mut person = terminal();
    let accept = ProposalDecision::from(AcceptProposal { verdict: verdict.clone() });
    let submit = SubmitDecision { decision: accept.into() };
    let ask = FromTerminal::Review(submit.into());
    let confirm = |code: &str| FromTerminal::Confirm { code: code.to_owned() };
    assert!(
        matches!(exchange(&mut person, &confirm("00000000")), ToTerminal::Refused(_)),
        "nothing was asked"
    );
    let shown = exchange(&mut person, &ask);
    assert!(
        matches!(&shown, ToTerminal::Response(shown) if shown["place"].as_str().is_some_and(|place| place.contains("window"))),
        "{shown:?}"
    );
    let code = view_with(&heard, |view| !view.codes.is_empty()).codes.remove(0).code;
    assert!(!format!("{shown:?}").contains(&code), "the terminal is not told");
    // Another connection with the right code, and this one with a wrong code.
    assert!(matches!(exchange(&mut terminal(), &confirm(&code)), ToTerminal::Refused(_)));
    let wrong = if code == "12345678" { "87654321" } else { "12345678" };
    assert!(matches!(exchange(&mut person, &confirm(wrong)), ToTerminal::Refused(_)));
    assert!(agents.running().document().nodes.is_empty());
    let right = exchange(&mut person, &confirm(&code));
    assert!(
        matches!(right, ToTerminal::Response(ref decided) if decided["proposal"].is_object()),
        "{right:?}"
    );
    assert_eq!(agents.running().document().nodes.len(), 1);
    assert!(matches!(exchange(&mut person, &confirm(&code)), ToTerminal::Refused(_)), "it is used up");
    let events: Vec<AuditEvent> = agents.audit().iter().map(|entry| entry.event).collect();
    assert_eq!(events.iter().filter(|event| **event == AuditEvent::WrongCode).count(), 4);
    assert!(events.contains(&AuditEvent::CodeShown) && events.contains(&AuditEvent::Accept));
    let accepted = agents.audit().into_iter().find(|entry| entry.event == AuditEvent::Accept).unwrap();
    assert_eq!(accepted.way, "terminal");
}

#[test]
fn a_replayed_decision_and_one_while_the_workspace_moves_are_refused() {
    let agents = guarded();
    let (stream, _) = agents.bridge();
    ok(&stream, "add_resource", note("x"));
    let id = id_of(&ok(&stream, "submit_proposal", json!({ "title": "X" })));
    let seen = agents.yes(id);
    agents.running().request(RunCommand { command: crate::testing::add_note() }).unwrap();
    assert!(agents.decide(AcceptProposal { verdict: seen }).is_err(), "the base moved");
    let now = agents.yes(id);
    agents.decide(AcceptProposal { verdict: now.clone() }).unwrap();
    let nodes = agents.running().document().nodes.len();
    assert!(agents.decide(AcceptProposal { verdict: now }).is_err());
    assert_eq!(agents.running().document().nodes.len(), nodes);
}

#[test]
fn what_is_no_change_of_the_boards_is_done_once_a_person_says_so() {
    let agents = guarded();
    let (stream, _) = agents.bridge();
    let path = agents.running().root.join("draftboard.toml");
    let before = std::fs::read_to_string(&path).unwrap();
    let asked = ok(&stream, "set_project_config", json!({ "config": { "description": "By an agent" } }));
    let id = id_of(&asked);
    assert_eq!(std::fs::read_to_string(&path).unwrap(), before, "it waits");
    let opened = agents.opened(id);
    assert!(opened.elements[0].files[0].text.contains("+description = \"By an agent\""));
    agents.decide(AcceptProposal { verdict: agents.yes(id) }).unwrap();
    let after = std::fs::read_to_string(&path).unwrap();
    assert!(after.contains("By an agent") && after.contains("# A Draftboard project."), "{after}");
    let mine = ok(&stream, "get_proposal", json!({ "id": id }));
    assert_eq!(
        (&mine["state"], &mine["outcome"]),
        (&json!("accepted"), &json!("draftboard.toml was changed"))
    );
    // A file that was changed meanwhile is left alone.
    let again = ok(&stream, "set_project_config", json!({ "config": { "description": "Again" } }));
    std::fs::write(&path, after.replace("By an agent", "By hand")).unwrap();
    let id = id_of(&again);
    agents.decide(AcceptProposal { verdict: agents.yes(id) }).unwrap();
    assert!(std::fs::read_to_string(&path).unwrap().contains("By hand"));
    // Opening another workspace takes a deliberate yes.
    let open = ok(&stream, "open_project", json!({ "projectPath": "/nowhere/at/all" }));
    let careless = agents.opened(id_of(&open)).verdict(None, BTreeSet::new());
    assert!(agents.decide(AcceptProposal { verdict: careless }).is_err());
}

#[test]
fn no_standing_approval_lets_an_agent_say_what_is_run() {
    let agents = guarded();
    let grant = ApprovalGrant {
        client: None,
        scope: "all:destructive".parse().unwrap(),
        boards: Vec::new(),
        expires: None,
    };
    agents.review(GrantApproval { grant }).unwrap();
    let (stream, _) = agents.bridge();
    let path = agents.running().root.join("draftboard.toml");
    let set = |config: Value| call(&stream, "set_project_config", json!({ "config": config }));
    let plain = set(json!({ "infrastructure": { "tags": { "team": "core" } } }));
    assert_eq!(plain["data"]["status"], json!("accepted"), "{plain}");
    let before = std::fs::read_to_string(&path).unwrap();
    for program in [
        json!({ "infrastructure": { "program": "/tmp/anything" } }),
        json!({ "infrastructure": { "boards": { "main": { "program": "/tmp/anything" } } } }),
        json!({ "infrastructure": { "tags": null, "program": "tofu" } }),
    ] {
        let refused = set(program);
        assert_eq!(refused["error"]["code"], json!("VALIDATION_ERROR"), "{refused}");
    }
    for guarded in [
        json!({ "infrastructure": { "backend": { "type": "http" } } }),
        json!({ "infrastructure": { "providers": { "aws": { "http_proxy": "http://x" } } } }),
    ] {
        let asked = set(guarded);
        assert_eq!(asked["data"]["status"], json!("submitted"), "{asked}");
        let opened = agents.opened(id_of(&asked["data"]));
        assert!(opened.brief.risks.contains(&Risk::Security), "{opened:?}");
        assert!(opened.elements[0].risks.contains(&Risk::Security));
    }
    assert_eq!(std::fs::read_to_string(&path).unwrap(), before);
}

/// The agent is refused what would only confuse the reviewer: a redacted value that is written back, a key that
/// there is not, a value of another type.
#[test]
fn a_configuration_that_cannot_be_right_is_refused_before_anybody_reviews_it() {
    let agents = guarded();
    let (stream, _) = agents.bridge();
    let path = agents.running().root.join("draftboard.toml");
    let secret = "\n[infrastructure.providers.aws]\nsecret_key = \"hunter2\"\nregion = \"eu\"\n";
    std::fs::write(&path, std::fs::read_to_string(&path).unwrap() + secret).unwrap();
    let set = |config: Value| call(&stream, "set_project_config", json!({ "config": config }));
    let read = ok(&stream, "get_project_config", json!({}));
    let redacted = read["infrastructure"].clone();
    for (config, field, words) in [
        (
            json!({ "infrastructure": { "providers": { "aws": { "secret_key": "[redacted]" } } } }),
            "config.infrastructure.providers.aws.secret_key",
            "[redacted]",
        ),
        (json!({ "description": 3 }), "config.description", "expected a text"),
        (json!({ "region": "eu" }), "config.region", "not a setting"),
        (
            json!({ "infrastructure": { "providers": { "aws": { "region": 5 } } } }),
            "config.infrastructure.providers.aws.region",
            "expected a text",
        ),
        (
            json!({ "infrastructure": { "boards": { "nowhere": { "currency": "EUR" } } } }),
            "config.infrastructure.boards.nowhere",
            "there is no board `nowhere`",
        ),
        (json!({ "infrastructure": { "tags": ["a"] } }), "config.infrastructure.tags", "expected an object"),
        (json!({ "infrastructure": { "naming": { "template": "no name" } } }), "config", "naming.template"),
    ] {
        let refused = set(config);
        assert_eq!(refused["error"]["code"], json!("VALIDATION_ERROR"), "{refused}");
        assert_eq!(refused["error"]["field"], json!(field), "{refused}");
        assert!(refused["error"]["message"].as_str().unwrap().contains(words), "{refused}");
    }
    // The same in a property of a node: the secret that is there would be lost.
    let written = json!({ "typeId": "notes/sticky", "properties": { "text": "[redacted]" } });
    let refused = call(&stream, "add_resource", written);
    assert_eq!(refused["error"]["field"], json!("properties.text"), "{refused}");
    let waiting = ok(&stream, "list_proposals", json!({}));
    assert_eq!(waiting["proposals"], json!([]), "{redacted}");
    let plain = set(json!({ "infrastructure": { "providers": { "aws": { "region": "us" } } } }));
    assert_eq!(plain["data"]["status"], json!("submitted"), "{plain}");
}

#[test]
fn agent_and_reviewer_are_told_what_went_apart() {
    let agents = guarded();
    let (stream, _) = agents.bridge();
    agents.running().request(RunCommand { command: crate::testing::add_note() }).unwrap();
    let node = agents.running().document().nodes[0].clone();
    let label = json!({ "instanceId": node.id, "properties": {}, "label": "Theirs" });
    ok(&stream, "update_resource", label);
    let id = id_of(&ok(&stream, "submit_proposal", json!({ "title": "Relabel" })));
    let mine = json!({ "updateNode": { "node": node.id, "label": "Mine" } });
    agents.running().request(RunCommand { command: serde_json::from_value(mine).unwrap() }).unwrap();
    let told = ok(&stream, "get_proposal", json!({ "id": id }));
    assert_eq!(told["state"], json!("stale"), "{told}");
    assert!(told["why"][0].as_str().unwrap().contains("“Mine”"), "{told}");
    let clash = &told["clashes"][0];
    assert_eq!((&clash["field"], &clash["name"]), (&json!("label"), &json!(node.name)), "{told}");
    let moments = (&clash["before"], &clash["now"], &clash["proposed"]);
    assert_eq!(moments, (&json!(node.label), &json!("Mine"), &json!("Theirs")), "{told}");
    let opened = agents.opened(id);
    assert_eq!(opened.clashes.len(), 1, "{opened:?}");
    assert!(opened.clashes[0].by.is_some(), "the journal knows who");
}
