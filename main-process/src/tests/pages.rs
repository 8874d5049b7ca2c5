//! Pages before and after a proposal, through the real writer and the part that keeps previews. Each preview is a thread that
//! paints its screen in a colour that follows from what it is told to show.

use super::{Agents, review::guarding};
use crate::testing::Running;
use authority::proposals::{AgentRequest, CallingClient, DraftSelector, ProposalInput, ProposalSubmission};
use crossbeam_channel::bounded;
use frame_memory::{DescriptorChannel, FrameMemoryWriter};
use mcp_server::ReviewSubmitter as _;
use preview_sessions::{PreviewLauncher, PreviewProcess};
use serde_json::json;
use shared_protocol::{
    Command, NodeId, ProposalId, RefusalCode,
    decisions::{DrawPagePictures, ReadConsequences},
    framing::{decode_json, encode_json},
    preview_wire::{
        FromPreview, LandlockLevel, MAX_FROM_PREVIEW_BYTES, MAX_TO_PREVIEW_BYTES, PREVIEW_PROTOCOL_VERSION,
        PreviewScreen, SandboxReport, ToPreview,
    },
    proposal::Proposer,
    review::{PageRendering, ProposalConsequences, ProposedPagePictures},
};
use std::{
    collections::BTreeMap,
    hash::{DefaultHasher, Hash as _, Hasher as _},
    os::unix::net::UnixStream,
};

fn painters() -> PreviewLauncher {
    PreviewLauncher::new("test", || {
        let (ours, theirs) = UnixStream::pair().unwrap();
        std::thread::spawn(move || paint(theirs));
        Ok(PreviewProcess { channel: ours, process: None })
    })
}

fn paint(stream: UnixStream) {
    let mut channel = DescriptorChannel::new(stream, MAX_TO_PREVIEW_BYTES);
    let sandbox = SandboxReport {
        first_out_of_memory: true,
        not_root: true,
        namespaces: true,
        no_capabilities: true,
        no_new_privileges: true,
        not_dumpable: true,
        no_new_executable_memory: true,
        landlock: LandlockLevel::None,
        limits: true,
        system_calls: true,
    };
    let say = |channel: &DescriptorChannel, message: &FromPreview| {
        // Main may have ended it.
        let _ = channel.send(&encode_json(message, MAX_FROM_PREVIEW_BYTES).unwrap(), None);
    };
    say(
        &channel,
        &FromPreview::Hello { protocol: PREVIEW_PROTOCOL_VERSION, build: "test".to_owned(), sandbox },
    );
    let (mut memory, mut scene, mut files) = (None, None, BTreeMap::new());
    let mut is_drawn = true;
    while let Ok(frame) = channel.receive() {
        match decode_json::<ToPreview>(&frame).unwrap() {
            ToPreview::Screen { generation, screen } => {
                let [width, height] = screen.pixels();
                let writer =
                    FrameMemoryWriter::new(channel.take_descriptor().unwrap(), width, height).unwrap();
                memory = Some((writer, generation, width * height));
                is_drawn = false;
            }
            ToPreview::Component { file, text } => drop(files.insert(file, text)),
            ToPreview::Scene { revision, instances, overrides, .. } => {
                scene = Some((revision, format!("{instances:?} {overrides:?}")));
                is_drawn = false;
            }
            ToPreview::Ping { number } => {
                if let (false, Some((writer, generation, count)), Some((revision, shown))) =
                    (is_drawn, &mut memory, &scene)
                {
                    let mut colour = DefaultHasher::new();
                    (shown, &files).hash(&mut colour);
                    let [red, green, blue, ..] = colour.finish().to_be_bytes();
                    let sequence = writer.write_frame(&vec![[red, green, blue, 255]; *count]);
                    let (generation, revision) = (*generation, *revision);
                    say(&channel, &FromPreview::Frame { generation, sequence, revision, micros: 1 });
                    is_drawn = true;
                }
                say(&channel, &FromPreview::Pong { number });
            }
            _ => {}
        }
    }
}

fn agents() -> Agents {
    guarding(Agents::with(|link| Running::with_previews(link, painters())))
}

impl Agents {
    fn node(&self, name: &str) -> NodeId {
        self.running().document().nodes.iter().find(|node| node.name.as_str() == name).unwrap().id
    }

    fn propose(&self, command: serde_json::Value) -> ProposalId {
        let command: Command = serde_json::from_value(command).unwrap();
        let proposer = Proposer { key: "k".into(), name: "claude".into(), version: "2".into() };
        let client = CallingClient { proposer, connected: true, inherited_key: None };
        let ask = AgentRequest::Propose {
            draft: DraftSelector::New,
            what: ProposalInput::Command(Box::new(command)),
            submit: Some(ProposalSubmission { title: "Other".into(), ..ProposalSubmission::default() }),
        };
        let (done, answered) = bounded(1);
        self.running().host.submit(client, ask, Box::new(move |result| drop(done.send(result))));
        answered.recv_timeout(super::PATIENCE).unwrap().unwrap().response.proposal.id
    }

    fn consequences(&self, id: ProposalId) -> ProposalConsequences {
        self.review(ReadConsequences { proposal: id }).unwrap()
    }

    fn pictures(&self, all: &ProposalConsequences, place: usize) -> ProposedPagePictures {
        let screen = PreviewScreen::new(64, 40, 1.0, false).unwrap();
        let (proposal, hash, page) = (all.proposal, all.hash, all.pages[place].page);
        self.review(DrawPagePictures { proposal, hash, page, screen }).unwrap()
    }
}

fn colour(look: &PageRendering) -> [u8; 4] {
    let PageRendering::Drawn(pixels) = look else { panic!("{look:?}") };
    assert_eq!(pixels.size(), Some([64, 40]));
    let (rows, _) = pixels.rgba.as_chunks::<4>();
    assert!(rows.iter().all(|pixel| *pixel == rows[0]));
    rows[0]
}

#[test]
fn a_page_is_drawn_before_and_after_and_only_pages_that_would_look_different_are() {
    let agents = agents();
    let (home, open) = (agents.node("home"), agents.node("open"));
    let id = agents.propose(json!({ "updateNode": { "node": open, "set": { "label": "Open sesame" } } }));
    let all = agents.consequences(id);
    let pages: Vec<NodeId> = all.pages.iter().map(|page| page.page).collect();
    assert_eq!((pages, all.more_pages), (vec![home], 0));
    let pictures = agents.pictures(&all, 0);
    assert_eq!((pictures.proposal, pictures.hash, pictures.page), (id, all.hash, home));
    assert_ne!(colour(&pictures.now), colour(&pictures.proposed));
    assert_eq!(colour(&pictures.now), colour(&agents.pictures(&all, 0).now), "the same is drawn the same");

    let set = json!([{ "instance": open, "path": "/label", "value": "Overridden" }]);
    let over = agents.propose(json!({ "setOverrides": { "set": set } }));
    let all = agents.consequences(over);
    assert_eq!(
        all.pages.iter().map(|page| page.page).collect::<Vec<_>>(),
        [home],
        "an override is on a page"
    );
    let pictures = agents.pictures(&all, 0);
    assert_ne!(colour(&pictures.now), colour(&pictures.proposed));

    let gone = agents.propose(json!({ "remove": { "nodes": [home] } }));
    let all = agents.consequences(gone);
    let place = all.pages.iter().position(|page| page.page == home).unwrap();
    let pictures = agents.pictures(&all, place);
    assert_eq!(pictures.proposed, PageRendering::Absent);
    colour(&pictures.now);

    let note = agents.propose(json!({ "addNode": { "board": "locker-app", "type": "notes/sticky" } }));
    assert_eq!(agents.consequences(note).pages, [], "a note is for those who draw");
}

#[test]
fn a_picture_is_of_what_was_seen_and_of_a_size_that_can_be() {
    let agents = agents();
    let open = agents.node("open");
    let ids = ["one", "two"]
        .map(|label| agents.propose(json!({ "updateNode": { "node": open, "set": { "label": label } } })));
    let [one, two] = ids.map(|id| agents.consequences(id));
    let screen = PreviewScreen::new(64, 40, 1.0, false).unwrap();
    let ask = |hash, screen| {
        let (proposal, page) = (one.proposal, one.pages[0].page);
        agents.review(DrawPagePictures { proposal, hash, page, screen })
    };
    assert_eq!(ask(two.hash, screen).unwrap_err().code, RefusalCode::Stale);
    let huge = PreviewScreen { width: 4_096, height: 4_096, ..screen };
    assert_eq!(ask(one.hash, huge).unwrap_err().code, RefusalCode::BadRequest);
    let unknown = DrawPagePictures {
        proposal: ProposalId::from_bits(1),
        hash: one.hash,
        page: one.pages[0].page,
        screen,
    };
    assert_eq!(agents.review(unknown).unwrap_err().code, RefusalCode::NotFound);
}
