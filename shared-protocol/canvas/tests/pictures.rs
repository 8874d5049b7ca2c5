//! Boards drawn without a window. With `CANVAS_PICTURES=folder` the pictures are saved for inspection.

#![allow(clippy::unwrap_used, clippy::panic, reason = "a test fails by panicking")]

mod common;

use canvas::{
    BoardDeployStatus, BoardScene, Camera, Canvas, WorkbenchTheme, board_bounds, draw_board, to_markdown,
    to_svg,
};
use common::{BOARD, shop};
use egui::{Event, Modifiers, PointerButton, Pos2, Rect, pos2, vec2};
use egui_kittest::Harness;
use rasteriser::{PixelSurface, render_ui};
use shared_protocol::{
    ElementId,
    messages::BoardViewport,
    terraform::{BoardTerraformView, DeploymentState, PlanState, PlannedAction},
};
use std::{cell::RefCell, collections::BTreeSet};

fn draw(theme: &WorkbenchTheme, zoom: f32, selection: &BTreeSet<ElementId>) -> PixelSurface {
    let shop = shop();
    let scene = BoardScene {
        snapshot: &shop.snapshot,
        board: BOARD,
        selection,
        problems: &shop.problems,
        theme,
        read_only: false,
    };
    let size = vec2(1500.0, 760.0);
    let viewport = BoardViewport { x: 690.0, y: 260.0, zoom };
    let surface = render_ui(size, 1.0, theme.canvas, |ui| {
        let view = Rect::from_min_size(Pos2::ZERO, size);
        draw_board(ui.painter(), &scene, Camera::new(viewport, view, ui.pixels_per_point()), None);
    });
    surface.unwrap()
}

fn keep(name: &str, bytes: &[u8]) {
    if let Some(folder) = std::env::var_os("CANVAS_PICTURES") {
        std::fs::write(std::path::Path::new(&folder).join(name), bytes).unwrap();
    }
}

#[test]
fn a_board_is_drawn_at_every_level_of_detail_in_both_themes() {
    let shop = shop();
    let selection: BTreeSet<ElementId> = [ElementId::Node(shop.web), ElementId::Node(shop.private)].into();
    for (name, theme) in [
        ("light", WorkbenchTheme::light()),
        ("dark", WorkbenchTheme::dark()),
        ("high-contrast", WorkbenchTheme::high_contrast()),
    ] {
        for zoom in [2.0, 1.0, 0.5, 0.38, 0.2, 0.08] {
            let surface = draw(&theme, zoom, &selection);
            let bytes = surface.into_png().unwrap();
            // An empty picture compresses to a few bytes.
            assert!(bytes.len() > 3_000, "{name} at {zoom}: {} bytes", bytes.len());
            keep(&format!("{name}-{zoom}.png"), &bytes);
        }
    }
}

#[test]
fn an_svg_holds_every_label_and_no_markup_of_others() {
    let shop = shop();
    let theme = WorkbenchTheme::light();
    let (selection, problems) = (BTreeSet::new(), &shop.problems);
    let scene = BoardScene {
        snapshot: &shop.snapshot,
        board: BOARD,
        selection: &selection,
        problems,
        theme: &theme,
        read_only: true,
    };
    let svg = to_svg(&scene);
    for label in ["Web server", "Orders", "Production network", "Do receipts have", "queries"] {
        assert!(svg.contains(label), "{label}");
    }
    assert!(svg.starts_with("<svg ") && svg.trim_end().ends_with("</svg>"));
    assert!(!svg.contains("NaN"));
    keep("board.svg", svg.as_bytes());
}

#[test]
fn a_document_nests_nodes_and_masks_what_is_secret() {
    let shop = shop();
    let text = to_markdown(&shop.snapshot, BOARD);
    keep("board.md", text.as_bytes());
    assert!(text.contains("- **Production network** (`production_network_1`) – Network"), "{text}");
    assert!(text.contains("    - **Web server**"), "{text}");
    assert!(text.contains("      - Instance size: t3.small"), "{text}");
    assert!(text.contains("Token: ••••") && !text.contains("hunter2"), "{text}");
    assert!(text.contains("Role → Deploy role"), "{text}");
    assert!(text.contains("| Web server · Talks to | Orders · Connections | queries |"), "{text}");
}

#[test]
fn bounds_hold_everything() {
    let shop = shop();
    let bounds = board_bounds(&shop.snapshot, BOARD).unwrap();
    for node in shop.snapshot.nodes_on(BOARD) {
        let place = shop.snapshot.absolute_placement(node.id).unwrap();
        assert_eq!(bounds.union(place), bounds);
    }
}

/// The pictures that are compared with `tests/snapshots`: one per level of detail, and the gestures that draw most. The
/// others are drawn for inspection only. `UPDATE_SNAPSHOTS=1` writes the stored pictures again.
const STORED: [&str; 11] = [
    "light-near",
    "high-contrast-near",
    "dark-titles",
    "light-blocks",
    "dark-far",
    "dark-guides",
    "light-connect",
    "light-refused",
    "dark-many",
    "light-planned",
    "dark-applying",
];

/// Near, further out, and in the middle of a gesture.
#[test]
fn boards_look_as_they_did() {
    let themes = [
        ("light", WorkbenchTheme::light()),
        ("dark", WorkbenchTheme::dark()),
        ("high-contrast", WorkbenchTheme::high_contrast()),
    ];
    let folder = std::env::var_os("CANVAS_PICTURES");
    let mut results = egui_kittest::SnapshotResults::new();
    for (theme_name, theme) in themes {
        for look in LOOKS {
            let name = format!("{theme_name}-{}", look.name);
            let is_stored = STORED.contains(&name.as_str());
            if !is_stored && folder.is_none() {
                continue;
            }
            let image = picture(&theme, &look);
            if let Some(folder) = &folder {
                image.save(std::path::Path::new(folder).join(format!("{name}.png"))).unwrap();
            }
            if is_stored {
                results.add(egui_kittest::try_image_snapshot(&image, name));
            }
        }
    }
}

struct Look {
    name: &'static str,
    zoom: f32,
    /// The point where the button is pressed, and the drag distance.
    drag: Option<(Pos2, Pos2, Modifiers)>,
}

const fn look(name: &'static str, zoom: f32) -> Look {
    Look { name, zoom, drag: None }
}

const fn drag(name: &'static str, from: Pos2, to: Pos2, modifiers: Modifiers) -> Look {
    Look { name, zoom: 1.0, drag: Some((from, to, modifiers)) }
}

const WEB: Pos2 = pos2(680.0, 190.0);
const PORT: Pos2 = pos2(772.0, 214.0);

const LOOKS: [Look; 15] = [
    look("near", 1.0),
    look("minimap", 1.7),
    look("titles", 0.48),
    look("blocks", 0.2),
    look("far", 0.1),
    drag("guides", WEB, pos2(683.0, 390.0), Modifiers::NONE),
    drag("refused", WEB, pos2(440.0, 500.0), Modifiers::NONE),
    drag("into", WEB, pos2(1120.0, 260.0), Modifiers::NONE),
    drag("connect", PORT, pos2(1000.0, 330.0), Modifiers::NONE),
    drag("no-connect", PORT, pos2(150.0, 270.0), Modifiers::NONE),
    drag("marquee", pos2(570.0, 140.0), pos2(1000.0, 400.0), Modifiers::NONE),
    drag("duplicate", WEB, pos2(640.0, 380.0), Modifiers::ALT),
    look("many", 0.9),
    look("planned", 1.0),
    look("applying", 1.0),
];

/// The status of a plan, or of a running apply; `None` for the other scenes.
fn standings(shop: &common::Shop, look: &str) -> Option<BoardDeployStatus> {
    let mut told = BoardTerraformView {
        board: BOARD,
        run: None,
        statuses: Vec::new(),
        planned: Vec::new(),
        drifted: Vec::new(),
        findings: Vec::new(),
        plan: PlanState::None,
        interrupted: None,
    };
    match look {
        "planned" => {
            told.planned = vec![
                (shop.network, PlannedAction::Update),
                (shop.private, PlannedAction::Create),
                (shop.database, PlannedAction::Replace),
            ];
            told.drifted = vec![(shop.web, PlannedAction::Update)];
            told.statuses =
                vec![(shop.web, DeploymentState::Created), (shop.database, DeploymentState::Created)];
        }
        "applying" => {
            told.statuses = vec![
                (shop.network, DeploymentState::Created),
                (shop.private, DeploymentState::Updating),
                (shop.database, DeploymentState::Failed),
                (shop.web, DeploymentState::Creating),
            ];
        }
        _ => {}
    }
    BoardDeployStatus::from_board(&told)
}

fn picture(theme: &WorkbenchTheme, look: &Look) -> image::RgbaImage {
    let shop = shop();
    let mut selected = BTreeSet::from([ElementId::Node(shop.private)]);
    if look.name == "many" {
        selected.insert(ElementId::Node(shop.web));
    }
    let selection = RefCell::new(selected);
    let mut canvas = Canvas::new();
    canvas.set_viewport(BoardViewport { x: 690.0, y: 280.0, zoom: look.zoom });
    canvas.set_deploy_status(standings(&shop, look.name));
    let theme = theme.clone();
    let mut harness = Harness::builder()
        .with_size(vec2(1420.0, 700.0))
        .renderer(rasteriser::SnapshotRenderer::new())
        .build_ui(move |ui| {
            let now = selection.borrow().clone();
            let scene = BoardScene {
                snapshot: &shop.snapshot,
                board: BOARD,
                selection: &now,
                problems: &shop.problems,
                theme: &theme,
                read_only: false,
            };
            for event in canvas.show(ui, &scene) {
                if let canvas::CanvasEvent::Select(wanted) = event {
                    selection.replace(wanted);
                }
            }
        });
    harness.run();
    if let Some((from, to, modifiers)) = look.drag {
        harness.hover_at(from);
        harness.step();
        harness.event(Event::ModifiersChanged(modifiers));
        let button = PointerButton::Primary;
        harness.event(Event::PointerButton { pos: from, button, pressed: true, modifiers });
        harness.step();
        harness.hover_at(from + (to - from) * 0.5);
        harness.hover_at(to);
        harness.step();
        harness.step();
    }
    harness.render().unwrap()
}

const ICONS: &str = "server database network subnet gateway firewall shield key lock globe cloud bucket disk queue bell \
    function container cluster registry loadbalancer route dns monitor identity folder layers code data page button \
    text input checkbox select card image list badge tabs dialog row column grid form note arrow frame requirement \
    feature task threat decision actor box";

#[test]
fn icons_are_drawn_at_the_sizes_they_are_used_at() {
    let theme = WorkbenchTheme::light();
    let size = vec2(1080.0, 330.0);
    let surface = render_ui(size, 1.0, theme.surface_card, |ui| {
        for (place, word) in ICONS.split_whitespace().enumerate() {
            let corner = pos2((place % 18) as f32 * 60.0 + 6.0, (place / 18) as f32 * 110.0 + 8.0);
            for (side, down) in [(16.0, 0.0), (20.0, 24.0), (32.0, 54.0)] {
                let rect = Rect::from_min_size(corner + vec2(0.0, down), vec2(side, side));
                canvas::paint_icon(ui.painter(), word, rect, theme.accent);
            }
        }
    });
    let bytes = surface.unwrap().into_png().unwrap();
    assert!(bytes.len() > 5_000);
    keep("icons.png", &bytes);
}
