//! The socket: the hello, messages either way, and the end.

use crate::shop::{Shop, response};
use renderer::{MainConnection, MainConnectionEvent};
use shared_protocol::{
    Command, Revision,
    decisions::WindowRequest,
    framing::{FrameDecoder, MAX_FROM_RENDERER_BYTES, MAX_TO_RENDERER_BYTES, decode, encode},
    messages::{ChildHello, FromRenderer, PROTOCOL_VERSION, ProcessRole, ToRenderer, WorkspaceStatus},
    requests::{Quit, SaveFiles, UndoLast, WorkbenchRequest},
};
use std::{
    io::{Read, Write},
    os::unix::net::UnixStream,
};
use test_support::{PATIENCE, wait_for};

struct Peer {
    stream: UnixStream,
    reader: FrameDecoder,
}

impl Peer {
    fn pair() -> (Self, MainConnection) {
        let (ours, theirs) = UnixStream::pair().unwrap();
        ours.set_read_timeout(Some(PATIENCE)).unwrap();
        let link = MainConnection::on_stream(theirs, egui::Context::default()).unwrap();
        (Self { stream: ours, reader: FrameDecoder::new(MAX_FROM_RENDERER_BYTES) }, link)
    }

    fn send(&mut self, message: &ToRenderer) {
        self.stream.write_all(&encode(message, MAX_TO_RENDERER_BYTES).unwrap()).unwrap();
    }

    fn hear(&mut self) -> FromRenderer {
        loop {
            if let Some(frame) = self.reader.next_frame().unwrap() {
                return decode(&frame).unwrap();
            }
            let mut bytes = [0; 4096];
            let count = self.stream.read(&mut bytes).unwrap();
            assert!(count > 0, "the window hung up");
            self.reader.push(&bytes[..count]);
        }
    }
}

fn next(link: &mut MainConnection) -> MainConnectionEvent {
    wait_for("an event of main", || link.next_event())
}

#[test]
fn it_answers_the_challenge_and_then_talks() {
    let (mut peer, mut link) = Peer::pair();
    peer.send(&ToRenderer::Challenge { protocol: PROTOCOL_VERSION, token: [7; 32] });
    let FromRenderer::Hello(ChildHello { protocol, role, token, build }) = peer.hear() else {
        panic!("no hello")
    };
    assert_eq!((protocol, role, token), (PROTOCOL_VERSION, ProcessRole::Renderer, [7; 32]));
    assert!(!build.is_empty());
    let first = link.request(WorkbenchRequest::from(SaveFiles {}));
    let second = link.request(WorkbenchRequest::from(UndoLast {}));
    assert_ne!(first, second);
    assert_eq!(
        peer.hear(),
        FromRenderer::Request { id: first, request: WindowRequest::Workbench(SaveFiles {}.into()) }
    );
    assert_eq!(
        peer.hear(),
        FromRenderer::Request { id: second, request: WindowRequest::Workbench(UndoLast {}.into()) }
    );
    peer.send(&ToRenderer::Status(WorkspaceStatus { saved: Revision(4), ..WorkspaceStatus::default() }));
    assert!(
        matches!(next(&mut link), MainConnectionEvent::Message(ToRenderer::Status(status)) if status.saved == Revision(4))
    );
    // The last words are written before the link is gone.
    link.request(WorkbenchRequest::from(Quit {}));
    drop(link);
    assert!(matches!(
        peer.hear(),
        FromRenderer::Request { request: WindowRequest::Workbench(WorkbenchRequest::Quit(_)), .. }
    ));
}

#[test]
fn the_end_of_main_is_told() {
    let (mut peer, mut link) = Peer::pair();
    peer.send(&ToRenderer::Challenge { protocol: PROTOCOL_VERSION, token: [7; 32] });
    peer.hear();
    drop(peer);
    assert!(matches!(next(&mut link), MainConnectionEvent::Closed { why: None }));
}

#[test]
fn anything_but_this_protocol_ends_it() {
    let wrong = [
        encode(&ToRenderer::Raise, MAX_TO_RENDERER_BYTES).unwrap(),
        encode(
            &ToRenderer::Challenge { protocol: PROTOCOL_VERSION + 1, token: [0; 32] },
            MAX_TO_RENDERER_BYTES,
        )
        .unwrap(),
        vec![0, 0, 0, 3, 0xff, 0xff, 0xff],
        vec![0xff; 16],
    ];
    for bytes in wrong {
        let (mut peer, mut link) = Peer::pair();
        peer.stream.write_all(&bytes).unwrap();
        assert!(matches!(next(&mut link), MainConnectionEvent::Closed { why: Some(_) }), "{bytes:?}");
    }
}

#[test]
fn a_gap_in_the_patches_asks_for_everything_again() {
    let mut shop = Shop::open();
    let rename = |title: &str| Command::UpdateBoard {
        board: shop.infrastructure.into(),
        title: Some(title.into()),
        name: None,
    };
    let (missed, next) = (rename("Missed"), rename("Next"));
    shop.main.quietly(&missed).unwrap();
    shop.main.run(next);
    shop.window.run();
    assert_eq!(shop.main.heard().into_iter().filter(|said| *said == FromRenderer::Resync).count(), 1);
    assert!(shop.shows("Board Production"), "nothing half applied");
    shop.main.send_workspace();
    shop.window.run();
    assert!(shop.shows("Board Next"));
}

#[test]
fn a_full_queue_is_told_and_never_waited_for() {
    let (outgoing, _kept) = crossbeam_channel::bounded(1);
    let (_to_window, incoming) = crossbeam_channel::bounded(1);
    let mut link = MainConnection::from_channels(outgoing, incoming);
    link.request(WorkbenchRequest::from(SaveFiles {}));
    assert!(link.next_event().is_none());
    let second = link.request(WorkbenchRequest::from(SaveFiles {}));
    assert!(
        matches!(link.next_event(), Some(MainConnectionEvent::NotSent { request, .. }) if request == second)
    );
}

#[test]
fn a_response_to_no_request_or_of_another_type_ends_the_window() {
    let mut shop = Shop::open();
    shop.main.send(ToRenderer::Response { request: 77, result: response(Ok(())) });
    shop.window.run();
    assert!(shop.window.state().lost().is_some_and(|why| why.contains("was not sent")));
    for wrong in [Vec::new(), vec![1, 9], vec![1, 0, 0]] {
        let mut shop = Shop::open();
        shop.press_with(egui::Modifiers::COMMAND, egui::Key::S);
        let request = shop.main.request_id(|request| matches!(request, WorkbenchRequest::SaveFiles(_)));
        shop.main.send(ToRenderer::Response { request, result: Ok(wrong.clone()) });
        shop.window.run();
        assert!(shop.window.state().lost().is_some_and(|why| why.contains("a response")), "{wrong:?}");
    }
}
