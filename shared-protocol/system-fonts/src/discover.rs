//! Lists the fonts of the system and finds those that cover a character.

use crate::{
    FallbackFonts, FontFile, MAX_FONT_BYTES, MAX_FONTS,
    font::covers,
    scripts::{CjkRegion, ScriptGroup, group_of},
};
use fontdb::{Database, FaceInfo, Source, Stretch, Style};
use std::{
    collections::{BTreeMap, BTreeSet},
    path::PathBuf,
    sync::OnceLock,
};

/// Every upright face in the font folders, read once per process.
pub struct SystemFontList {
    fonts: Database,
    locale: String,
}

impl SystemFontList {
    /// Returns the fonts of this machine. The first call reads all font folders, which takes tens of milliseconds and
    /// longer on a cold disk: never call it while rendering a frame.
    pub fn of_system() -> &'static Self {
        static LIST: OnceLock<SystemFontList> = OnceLock::new();
        LIST.get_or_init(|| Self::in_folders(&system_folders(), locale()))
    }

    /// Reads the fonts of these folders.
    pub fn in_folders(folders: &[PathBuf], locale: String) -> Self {
        let mut fonts = Database::new();
        for folder in folders {
            fonts.load_fonts_dir(folder);
        }
        let slanted: Vec<fontdb::ID> =
            fonts.faces().filter(|face| face.style != Style::Normal).map(|face| face.id).collect();
        slanted.into_iter().for_each(|id| fonts.remove_face(id));
        Self { fonts, locale }
    }

    /// Returns as few fonts as possible that together cover these characters, the most specific first. Characters that
    /// no font covers are ignored.
    pub fn find(&self, characters: &BTreeSet<char>) -> Vec<FontFile> {
        let region = CjkRegion::for_locale(&self.locale, characters.iter().copied());
        let mut by_group: BTreeMap<ScriptGroup, Vec<char>> = BTreeMap::new();
        for character in characters {
            by_group.entry(group_of(*character)).or_default().push(*character);
        }
        let mut chosen: Vec<&FaceInfo> = Vec::new();
        // `Common` is the last group, so shared characters come from a font that was chosen for a script.
        for (group, characters) in by_group {
            let mut faces: Vec<&FaceInfo> =
                self.fonts.faces().filter(|face| path_of(face).is_some()).collect();
            faces.sort_by_cached_key(|&face| (rank(face, &group, region), family_name(face), face.index));
            for character in characters {
                if chosen.len() >= MAX_FONTS {
                    break;
                }
                if chosen.iter().any(|face| self.has(face, character)) {
                    continue;
                }
                chosen.extend(faces.iter().find(|face| self.has(face, character)));
            }
        }
        chosen.into_iter().filter_map(font_file).collect()
    }

    /// Returns whether any font covers a character.
    pub fn covers(&self, character: char) -> bool {
        self.fonts.faces().any(|face| self.has(face, character))
    }

    fn has(&self, face: &FaceInfo, character: char) -> bool {
        let has = |bytes: &[u8], index: u32| {
            bytes.len() as u64 <= MAX_FONT_BYTES && covers(bytes, index, character)
        };
        self.fonts.with_face_data(face.id, has).unwrap_or(false)
    }
}

impl FallbackFonts {
    /// Finds system fonts for the missing characters and adds them. Returns whether text may look different now. Reads
    /// files.
    pub fn load_wanted(&self) -> bool {
        let wanted = self.take_requested();
        if wanted.is_empty() {
            return false;
        }
        let mut is_other = false;
        for found in SystemFontList::of_system().find(&wanted) {
            // The characters of an unreadable font stay boxes.
            is_other |= found.load().is_ok_and(|font| self.add(font));
        }
        is_other
    }
}

/// Ranks a face, best first: the family of the script and region, then sans-serif of normal weight and width.
fn rank(face: &FaceInfo, group: &ScriptGroup, region: CjkRegion) -> (u8, u8, u16) {
    let name = family_name(face);
    let is_fitting = match group {
        ScriptGroup::Cjk => name.contains("Sans") && name.ends_with(region.suffix()),
        ScriptGroup::Named(script) => name.strip_prefix("Noto Sans ") == Some(script.as_str()),
        ScriptGroup::Common => name.contains("Symbols") || name.contains("Math") || name == "DejaVu Sans",
    };
    let is_mono = face.monospaced || name.contains("Mono");
    let style = if is_mono {
        3
    } else if name.contains("Serif") || face.stretch != Stretch::Normal {
        2
    } else {
        u8::from(!name.contains("Sans"))
    };
    (u8::from(!is_fitting || is_mono), style, face.weight.0.abs_diff(fontdb::Weight::NORMAL.0))
}

fn family_name(face: &FaceInfo) -> &str {
    face.families.first().map_or("", |(name, _)| name.as_str())
}

fn path_of(face: &FaceInfo) -> Option<&PathBuf> {
    match &face.source {
        Source::File(path) | Source::SharedFile(path, _) => Some(path),
        Source::Binary(_) => None,
    }
}

fn font_file(face: &FaceInfo) -> Option<FontFile> {
    // The weight keeps faces of one family apart.
    let name = match face.weight {
        fontdb::Weight::NORMAL => family_name(face).to_owned(),
        weight => format!("{} {}", family_name(face), weight.0),
    };
    Some(FontFile { name, path: path_of(face)?.clone(), index: face.index })
}

/// The folders where fonts are installed. Never includes a workspace.
fn system_folders() -> Vec<PathBuf> {
    let set = |name: &str| std::env::var_os(name).filter(|value| !value.is_empty());
    let home = set("HOME").map(PathBuf::from);
    let own = set("XDG_DATA_HOME").map(PathBuf::from).or_else(|| Some(home.as_ref()?.join(".local/share")));
    let shared = set("XDG_DATA_DIRS").unwrap_or_else(|| "/usr/local/share:/usr/share".into());
    let mut folders: Vec<PathBuf> = ["/usr/share/fonts", "/usr/local/share/fonts", "/run/host/fonts"]
        .map(PathBuf::from)
        .into_iter()
        .chain(std::env::split_paths(&shared).map(|folder| folder.join("fonts")))
        .chain(own.map(|folder| folder.join("fonts")))
        .chain(home.map(|home| home.join(".fonts")))
        .filter(|folder| folder.is_absolute())
        .collect();
    folders.sort();
    folders.dedup();
    folders
}

fn locale() -> String {
    let names = ["LC_ALL", "LC_CTYPE", "LANG"];
    let set = |name: &&str| std::env::var(name).ok().filter(|value| !value.is_empty());
    names.iter().find_map(set).unwrap_or_default()
}
