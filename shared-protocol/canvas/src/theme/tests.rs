use super::*;

fn luminance(colour: Color32) -> f64 {
    let linear = |channel: u8| {
        let part = f64::from(channel) / 255.0;
        if part <= 0.040_45 { part / 12.92 } else { ((part + 0.055) / 1.055).powf(2.4) }
    };
    0.2126 * linear(colour.r()) + 0.7152 * linear(colour.g()) + 0.0722 * linear(colour.b())
}

fn contrast(a: Color32, b: Color32) -> f64 {
    let (a, b) = (luminance(a), luminance(b));
    (a.max(b) + 0.05) / (a.min(b) + 0.05)
}

const ACCENTS: [Accent; 9] = [
    Accent::Grey,
    Accent::Blue,
    Accent::Teal,
    Accent::Green,
    Accent::Yellow,
    Accent::Orange,
    Accent::Red,
    Accent::Purple,
    Accent::Pink,
];

#[track_caller]
fn check(theme: &WorkbenchTheme, what: &str, front: Color32, back: Color32, least: f64) {
    let found = contrast(front, back);
    assert!(
        found >= least,
        "{what} ({}): {found:.2} is below {least}",
        if theme.dark { "dark" } else { "light" }
    );
}

#[test]
fn text_can_be_read_on_every_ground() {
    for (theme, least) in [
        (WorkbenchTheme::light(), 4.5),
        (WorkbenchTheme::dark(), 4.5),
        (WorkbenchTheme::high_contrast(), 7.0),
    ] {
        let grounds = [
            ("app", theme.surface_app),
            ("panel", theme.surface_panel),
            ("card", theme.surface_card),
            ("inset", theme.surface_inset),
            ("raised", theme.surface_raised),
            ("canvas", theme.canvas),
            ("container 0", theme.containers[0]),
            ("container 1", theme.containers[1]),
            ("container 2", theme.containers[2]),
        ];
        for (ground, colour) in grounds {
            for (text, front) in
                [("text", theme.text), ("muted", theme.text_muted), ("subtle", theme.text_subtle)]
            {
                check(&theme, &format!("{text} on {ground}"), front, colour, least);
            }
            for (text, front) in [
                ("danger", theme.danger),
                ("warning", theme.warning),
                ("success", theme.success),
                ("accent", theme.accent),
            ] {
                check(&theme, &format!("{text} on {ground}"), front, colour, least);
            }
        }
        for (ground, colour) in
            [("selection", theme.selection), ("hover", theme.hover), ("pressed", theme.pressed)]
        {
            check(&theme, &format!("text on {ground}"), theme.text, colour, least);
            check(&theme, &format!("muted on {ground}"), theme.text_muted, colour, least);
        }
        check(&theme, "accent text", theme.accent_text, theme.accent, least);
        check(&theme, "accent text, hovered", theme.accent_text, theme.accent_hover, least);
        for status in [theme.danger, theme.warning, theme.success] {
            check(&theme, "status glyph", theme.status_text, status, least);
        }
        for tone in WorkbenchTheme::TONES {
            let (paper, ink) = theme.note_colours(tone);
            check(&theme, &format!("{tone} note"), ink, paper, 7.0);
        }
    }
}

#[test]
fn parts_can_be_told_from_their_ground() {
    for (theme, least) in [
        (WorkbenchTheme::light(), 3.0),
        (WorkbenchTheme::dark(), 3.0),
        (WorkbenchTheme::high_contrast(), 4.5),
    ] {
        for ground in
            [theme.canvas, theme.surface_card, theme.containers[0], theme.containers[1], theme.containers[2]]
        {
            check(&theme, "edge", theme.edge, ground, least);
            check(&theme, "strong border", theme.border_strong, ground, least);
            check(&theme, "focus", theme.focus, ground, least);
        }
        for accent in ACCENTS {
            // Badges and chips: the theme's text on the wash of a colour.
            check(&theme, &format!("text on {accent:?} tile"), theme.text, theme.tile(accent), 4.5);
            check(
                &theme,
                &format!("{accent:?} icon on its tile"),
                theme.accent(accent),
                theme.tile(accent),
                least,
            );
            check(&theme, &format!("{accent:?} on card"), theme.accent(accent), theme.surface_card, least);
        }
    }
}

#[test]
fn code_can_be_read_on_every_line() {
    for (theme, least) in [
        (WorkbenchTheme::light(), 4.5),
        (WorkbenchTheme::dark(), 4.5),
        (WorkbenchTheme::high_contrast(), 7.0),
    ] {
        for ink in CodeToken::ALL {
            for (ground, colour) in [
                ("panel", theme.surface_panel),
                ("marked", theme.hover),
                ("added", theme.added_colour()),
                ("removed", theme.removed()),
            ] {
                check(&theme, &format!("{ink:?} on {ground}"), theme.code(ink), colour, least);
            }
        }
    }
}
