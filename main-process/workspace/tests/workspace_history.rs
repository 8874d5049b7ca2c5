//! Undo, redo and revert over restarts; groups of commands; what the designer saw; types that come with the files.
#![allow(clippy::unwrap_used, clippy::panic, reason = "a test")]

mod workspace_fixture;

use shared_protocol::{
    Actor, ActorKind, ElementId, RefusalCode, Revision,
    limits::MAX_HISTORY_OPERATIONS,
    messages::{BoardViewport, Presence},
};
use std::fs;
use workspace::Mutation;
use workspace_fixture::WorkspaceFixture;

#[test]
fn undo_and_redo_go_on_after_a_restart() {
    for crashed in [false, true] {
        let restart =
            |bench: &mut WorkspaceFixture| if crashed { bench.crash_and_open() } else { bench.reopen() };
        let mut bench = WorkspaceFixture::new();
        for name in ["a", "b", "c"] {
            bench.add("main", name);
        }
        bench.undo();
        restart(&mut bench);
        assert_eq!(bench.names(), ["a", "b"]);
        let status = bench.ws().status();
        assert!(status.undo.unwrap().contains('b') && status.redo.is_some());
        bench.redo();
        assert_eq!(bench.names(), ["a", "b", "c"]);
        bench.undo();
        bench.undo();
        restart(&mut bench);
        bench.redo();
        restart(&mut bench);
        bench.redo();
        assert_eq!(bench.names(), ["a", "b", "c"]);
        for _ in 0..3 {
            bench.undo();
            restart(&mut bench);
        }
        assert_eq!(bench.names(), [""; 0]);
        assert_eq!(bench.mutate(&Mutation::Undo).unwrap_err().code, RefusalCode::NotFound);
        bench.redo();
        bench.add("main", "d");
        restart(&mut bench);
        assert_eq!(
            bench.mutate(&Mutation::Redo).unwrap_err().code,
            RefusalCode::NotFound,
            "an edit ends what could be redone"
        );
    }
}

#[test]
fn undo_and_redo_are_named_by_what_was_done_however_often() {
    let mut bench = WorkspaceFixture::new();
    bench.add("main", "a");
    let done = bench.log()[0].summary.clone();
    for _ in 0..3 {
        assert_eq!(bench.ws().status().undo, Some(done.clone()));
        assert_eq!(bench.undo().summary, format!("Undo: {done}"));
        assert_eq!(bench.ws().status().redo, Some(done.clone()));
        assert_eq!(bench.redo().summary, format!("Redo: {done}"));
    }
}

#[test]
fn an_older_operation_is_reverted_after_a_restart_or_names_what_is_in_the_way() {
    let mut bench = WorkspaceFixture::new();
    bench.add("main", "a");
    bench.label("a", "first");
    bench.add("main", "b");
    bench.reopen();
    bench.mutate(&Mutation::Revert { revision: Revision(2), partial: false }).unwrap();
    assert_eq!((bench.label_of("a"), bench.names()), ("a".to_owned(), vec!["a".into(), "b".into()]));
    bench.label("a", "second");
    let before = bench.content();
    let refusal = bench.mutate(&Mutation::Revert { revision: Revision(2), partial: false }).unwrap_err();
    assert_eq!((refusal.code, bench.content()), (RefusalCode::Conflict, before));
    assert_eq!(
        bench.mutate(&Mutation::Revert { revision: Revision(99), partial: false }).unwrap_err().code,
        RefusalCode::NotFound
    );
    bench.undo();
    bench.undo();
    assert_eq!(bench.label_of("a"), "first");
}

#[test]
fn history_is_bounded_and_outlives_compaction() {
    let mut bench = WorkspaceFixture::new();
    bench.add("main", "a");
    let actor = Actor::new(ActorKind::Window, "ada");
    let total = MAX_HISTORY_OPERATIONS + 50;
    let mut done = 0;
    while done < total {
        let moments: Vec<_> = (0..500).map(|_| bench.moment()).collect();
        let mut group = bench.workspace().begin();
        for moment in moments {
            done += 1;
            let command = format!(r#"{{"updateNode":{{"node":"a","label":"label {done}"}}}}"#);
            group
                .run(&Mutation::Run(Box::new(serde_json::from_str(&command).unwrap())), &actor, moment)
                .unwrap();
        }
        group.commit().unwrap();
    }
    bench.crash_and_open();
    assert_eq!(bench.label_of("a"), format!("label {done}"));
    assert!(
        bench.ws().log(usize::MAX).unwrap().len() <= MAX_HISTORY_OPERATIONS + 5_500,
        "{}",
        bench.ws().log(usize::MAX).unwrap().len()
    );
    bench.reopen();
    assert_eq!(bench.ws().log(usize::MAX).unwrap().len(), MAX_HISTORY_OPERATIONS);
    assert_eq!(bench.ws().changes_since(Revision(1)).unwrap(), None, "no longer kept");
    assert_eq!(bench.ws().changes_since(Revision(bench.revision() - 2)).unwrap().unwrap().len(), 2);
    for _ in 0..20 {
        bench.undo();
    }
    assert_eq!(bench.label_of("a"), format!("label {}", done - 20));
    bench.crash_and_open();
    bench.redo();
    assert_eq!(bench.label_of("a"), format!("label {}", done - 19));
}

#[test]
fn a_group_is_seen_when_it_is_durable_and_its_members_see_each_other() {
    let mut bench = WorkspaceFixture::new();
    bench.add("main", "held");
    bench.run(r#"{"addBoard":{"kind":"spec","title":"Other"}}"#);
    bench.save();
    bench.write("main", "{");
    bench.look("main");
    let actor = Actor::new(ActorKind::Window, "ada");
    let run = |command: &str| Mutation::Run(Box::new(serde_json::from_str(command).unwrap()));
    let moments: Vec<_> = (0..5).map(|_| bench.moment()).collect();
    let before = bench.content();
    let revision = bench.revision();
    {
        let mut group = bench.workspace().begin();
        group
            .run(
                &run(r#"{"addNode":{"board":"other","type":"notes/sticky","name":"x"}}"#),
                &actor,
                moments[0],
            )
            .unwrap();
        // Never committed.
    }
    assert_eq!(bench.content(), before);
    let mut group = bench.workspace().begin();
    group
        .run(&run(r#"{"addNode":{"board":"other","type":"notes/sticky","name":"a"}}"#), &actor, moments[1])
        .unwrap();
    let refusal = group.run(&run(r#"{"remove":{"nodes":["held"]}}"#), &actor, moments[2]).unwrap_err();
    assert_eq!(refusal.code, RefusalCode::ReadOnly);
    group.run(&run(r#"{"updateNode":{"node":"a","label":"seen"}}"#), &actor, moments[3]).unwrap();
    group.run(&Mutation::Undo, &actor, moments[4]).unwrap();
    let patches = group.commit().unwrap();
    let revisions: Vec<u64> = patches.iter().map(|patch| patch.revision.0 - revision).collect();
    assert_eq!(revisions, [1, 2, 3]);
    assert_ne!(bench.label_of("a"), "seen");
    bench.crash_and_open();
    assert_eq!(bench.names(), ["a", "held"]);
    bench.redo();
    assert_eq!(bench.label_of("a"), "seen");
}

#[test]
fn what_the_designer_saw_survives_a_restart() {
    let mut bench = WorkspaceFixture::new();
    bench.add("main", "a");
    let board = bench.board("main");
    let presence = Presence {
        board: Some(board),
        selection: vec![ElementId::Node(bench.find("a").unwrap().id)],
        viewports: vec![(board, BoardViewport { x: 1.5, y: -2.0, zoom: 0.25 })],
        window: "{}".to_owned(),
        ..Presence::default()
    };
    bench.workspace().set_presence(presence.clone());
    bench.crash_and_open();
    assert_eq!(bench.ws().presence(), &presence);
    bench.reopen();
    assert_eq!(bench.ws().view().presence, presence);
    assert_eq!(bench.log().len(), 1, "looking is no operation");
}

const MODULE: &str = r#"{"format":1,"module":"own","title":"Own","types":[
    {"id":"own/thing","title":"Thing","category":"Own","root":true,"props":[{"key":"size","label":"Size","kind":"number"}]}
]}"#;

#[test]
fn types_come_change_and_go_with_their_files() {
    let mut bench = WorkspaceFixture::new();
    let title = |bench: &WorkspaceFixture| {
        let view = bench.ws().registry_view();
        view.types.iter().find(|def| def.id.as_str() == "own/thing").map(|def| def.title.clone())
    };
    let add = r#"{"addNode":{"board":"main","type":"own/thing","name":"thing","props":{"size":3}}}"#;
    assert!(bench.try_run(add).is_err());
    let file = bench.root().join("modules/own.json");
    fs::create_dir_all(file.parent().unwrap()).unwrap();
    fs::write(&file, MODULE).unwrap();
    bench.look_at("modules/own.json");
    assert_eq!(title(&bench).as_deref(), Some("Thing"));
    bench.run(add);
    assert_eq!(bench.ws().problems(), []);
    let revision = bench.revision();

    // One bad entry is named, the others stay.
    fs::write(
        &file,
        MODULE
            .replace("\"types\":[", "\"types\":[{\"id\":\"own/bad\",\"title\":3},")
            .replace("Thing", "Gadget"),
    )
    .unwrap();
    bench.look_at("modules/own.json");
    assert_eq!(title(&bench).as_deref(), Some("Gadget"));
    let problems = bench.ws().registry_view().problems;
    assert!(problems.len() == 1 && format!("{problems:?}").contains("own/bad"), "{problems:?}");
    bench.reopen();
    assert_eq!((title(&bench).as_deref(), bench.ws().registry_view().problems), (Some("Gadget"), problems));

    // A file that cannot be read is a notice for as long as it is so.
    fs::write(&file, [0xff, 0xfe]).unwrap();
    bench.look_at("modules/own.json");
    assert_eq!((title(&bench), bench.notices().len()), (None, 1));
    assert!(bench.notices()[0].contains("modules/own.json"), "{:?}", bench.notices());
    assert_eq!(bench.ws().problems().len(), 1, "the node has no type");
    bench.reopen();
    assert_eq!(bench.notices().len(), 1);
    fs::write(&file, MODULE).unwrap();
    bench.look_at_everything();
    assert_eq!(
        (title(&bench).as_deref(), bench.notices(), bench.ws().problems()),
        (Some("Thing"), vec![], vec![])
    );
    assert_eq!(bench.revision(), revision, "types are no content");
    fs::remove_file(&file).unwrap();
    bench.look_at("modules/own.json");
    assert_eq!((title(&bench), bench.ws().problems().len()), (None, 1));
    assert_eq!(bench.names(), ["thing"]);
}

#[test]
fn broken_settings_leave_the_last_good_ones() {
    let mut bench = WorkspaceFixture::new();
    let file = bench.root().join("draftboard.toml");
    let whole = "format = 1\nname = \"Shop\"\n[types.\"notes/sticky\"]\ntitle = \"Remark\"\n";
    let title = |bench: &WorkspaceFixture| {
        let view = bench.ws().registry_view();
        view.types.iter().find(|def| def.id.as_str() == "notes/sticky").unwrap().title.clone()
    };
    fs::write(&file, whole).unwrap();
    bench.look_at("draftboard.toml");
    assert_eq!((title(&bench).as_str(), bench.ws().name()), ("Remark", "Shop"));
    for broken in ["format = 1\nname = \n", "format = 2\nname = 'x'\n"] {
        fs::write(&file, broken).unwrap();
        bench.look_at("draftboard.toml");
        assert_eq!((title(&bench).as_str(), bench.ws().name()), ("Remark", "Shop"));
        let [notice] = &bench.notices()[..] else { panic!("{:?}", bench.notices()) };
        assert!(notice.contains("draftboard.toml"), "{notice}");
    }
    fs::remove_file(&file).unwrap();
    bench.look_at("draftboard.toml");
    assert_eq!((title(&bench).as_str(), bench.notices().len()), ("Remark", 1));
    fs::write(&file, whole.replace("Remark", "Note")).unwrap();
    bench.look_at("draftboard.toml");
    assert_eq!((title(&bench).as_str(), bench.notices()), ("Note", vec![]));

    fs::write(&file, "format = 1\nname = \n").unwrap();
    bench.reopen();
    assert_eq!((bench.ws().name(), bench.notices().len()), ("shop", 1), "it opens all the same");
    fs::write(&file, whole).unwrap();
    bench.look_at_everything();
    assert_eq!((bench.ws().name(), bench.notices()), ("Shop", vec![]));
}

#[test]
fn a_stray_file_is_a_notice_while_it_is_there() {
    let mut bench = WorkspaceFixture::new();
    let stray = bench.root().join("boards/Not A Board.json");
    fs::write(&stray, "{}").unwrap();
    bench.look_at("boards/Not A Board.json");
    assert_eq!(bench.notices().len(), 1);
    bench.reopen();
    assert_eq!(bench.notices().len(), 1);
    fs::remove_file(&stray).unwrap();
    bench.look_at("boards/Not A Board.json");
    assert_eq!(bench.notices(), [""; 0]);
}
