//! Draws every variant of every component of a folder, light and dark, for a designer to review after a change.
//!
//! `cargo run -p preview-runtime --example draw_components -- FOLDER OUT [SCALE]`
#![allow(clippy::print_stdout, clippy::print_stderr, reason = "a tool for the terminal")]

use components::{ComponentLibrary, is_component_file};
use preview_runtime::{
    PagePainter,
    scene::{BuildLimits, PreviewInteraction, PreviewScene, build},
};
use serde_json::{Map, Value};
use shared_protocol::preview_wire::{PreviewScreen, SceneInstance, SceneTarget};
use std::{error::Error, fs, path::Path, sync::Arc};

fn main() -> Result<(), Box<dyn Error>> {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let [folder, out, rest @ ..] = &arguments[..] else {
        return Err("usage: draw_components FOLDER OUT [SCALE]".into());
    };
    let scale: f32 = rest.first().map_or(Ok(1.0), |scale| scale.parse())?;
    let library = library(Path::new(folder))?;
    for problem in library.problems() {
        println!("{problem}");
    }
    fs::create_dir_all(out)?;
    for dark in [false, true] {
        let name = if dark { "dark" } else { "light" };
        let instances = serde_json::from_str(include_str!("page.json"))?;
        let scene = PreviewScene {
            target: SceneTarget::Route { route: "page".to_owned() },
            instances,
            overrides: Vec::new(),
        };
        let screen = PreviewScreen::new(1280, 1240, scale, dark).ok_or("invalid screen size")?;
        draw(&library, &scene, screen, &Path::new(out).join(format!("page-{name}.png")))?;
        for component in library.components() {
            let instances = variants(component);
            let height = 40 + 120 * instances.len() as u32;
            let scene = PreviewScene {
                target: SceneTarget::Route { route: component.id.clone() },
                instances,
                overrides: Vec::new(),
            };
            let file = Path::new(out).join(format!("{}-{name}.png", component.id));
            draw(
                &library,
                &scene,
                PreviewScreen::new(560, height.min(1_000), scale, dark).ok_or("invalid screen size")?,
                &file,
            )?;
        }
    }
    Ok(())
}

fn library(folder: &Path) -> Result<ComponentLibrary, Box<dyn Error>> {
    let mut library = ComponentLibrary::default();
    let mut files: Vec<_> = fs::read_dir(folder)?.collect::<Result<_, _>>()?;
    files.sort_by_key(fs::DirEntry::path);
    for file in files {
        let name = file.file_name().to_string_lossy().into_owned();
        if is_component_file(&name) {
            library.insert(&format!("components/{name}"), &fs::read_to_string(file.path())?);
        }
    }
    // Containers for the variants and for the page.
    let layouts = [
        ("sheet", "type: column, style: { padding: 6, gap: 6, align: start }"),
        ("page.row", "type: grid, style: { columns: 3, gap: 5 }"),
        ("page.two", "type: grid, style: { columns: 2, gap: 5, align: start }"),
        ("page.wall", "type: grid, style: { columns: 6, gap: 3 }"),
    ];
    for (id, view) in layouts {
        let props = "props: { children: { control: slot } }";
        let text = format!(
            "format: 1\nid: {id}\ntitle: {id}\n{props}\nview: {{ {view}, children: [{{ type: slot }}] }}\n"
        );
        library.insert(&format!("{id}.component.yaml"), &text);
    }
    library.rebuild_index();
    Ok(library)
}

fn variants(component: &components::Component) -> Vec<SceneInstance> {
    let instance =
        |id: &str, component: &str, props: Map<String, Value>, parent: Option<&str>| SceneInstance {
            id: id.to_owned(),
            component: component.to_owned(),
            props,
            parent: parent.map(str::to_owned),
            slot: None,
        };
    let mut instances = vec![instance("sheet", "sheet", Map::new(), None)];
    if component.variants.is_empty() {
        instances.push(instance("default", &component.id, Map::new(), Some("sheet")));
    }
    for variant in &component.variants {
        instances.push(instance(&variant.id, &component.id, variant.props.clone(), Some("sheet")));
    }
    instances
}

fn draw(
    library: &ComponentLibrary,
    scene: &PreviewScene,
    screen: PreviewScreen,
    file: &Path,
) -> Result<(), Box<dyn Error>> {
    let (tree, problems, _) =
        build(library, scene, &PreviewInteraction::default(), &BuildLimits::default(), None);
    for problem in problems {
        println!("{}:{}: {}", problem.file, problem.line, problem.message);
    }
    let mut painter = PagePainter::new(screen)?;
    painter.paint(&Arc::new(tree), scene, 0.0)?;
    fs::write(file, painter.surface().clone().into_png()?)?;
    Ok(())
}
