//! The default styles of controls.

use components::{
    Align, Border, Colour, ColourToken, Justify, RadiusStep, Shadow, Share, Style, StyleInsets, StyleLength,
    StyleRadius, StyleSpacing, ViewNodeKind,
};

/// The maximum number of options of a select.
pub(super) const MAX_SELECT_OPTIONS: usize = 500;

pub(super) fn base(kind: &ViewNodeKind) -> Option<Style> {
    Some(match kind {
        ViewNodeKind::Button { .. } => Style {
            align: Some(Align::Center),
            justify: Some(Justify::Center),
            gap: Some(StyleSpacing(8.0)),
            ..Style::default()
        },
        ViewNodeKind::Input { .. } | ViewNodeKind::Select { .. } => Style {
            align: Some(Align::Center),
            height: Some(StyleLength::Points(40.0)),
            padding: Some(StyleInsets { top: 0.0, right: 12.0, bottom: 0.0, left: 12.0 }),
            background: Some(Colour::Token(ColourToken::Surface)),
            border: Some(Border::Thin),
            border_colour: Some(Colour::Token(ColourToken::BorderStrong)),
            radius: Some(StyleRadius::Step(RadiusStep::Medium)),
            clip: Some(true),
            ..Style::default()
        },
        ViewNodeKind::Checkbox { .. } => Style {
            align: Some(Align::Center),
            justify: Some(Justify::Center),
            width: Some(StyleLength::Points(20.0)),
            height: Some(StyleLength::Points(20.0)),
            shrink: Some(Share(0.0)),
            background: Some(Colour::Token(ColourToken::Surface)),
            border: Some(Border::Thin),
            border_colour: Some(Colour::Token(ColourToken::BorderStrong)),
            radius: Some(StyleRadius::Step(RadiusStep::Small)),
            ..Style::default()
        },
        ViewNodeKind::Icon { .. } => square(20.0),
        _ => return None,
    })
}

fn square(side: f32) -> Style {
    let side = Some(StyleLength::Points(side));
    Style { width: side, height: side, shrink: Some(Share(0.0)), ..Style::default() }
}

/// The tick of a checkbox, which covers the whole box.
pub(super) fn tick() -> Style {
    Style {
        background: Some(Colour::Token(ColourToken::Primary)),
        colour: Some(Colour::Token(ColourToken::OnPrimary)),
        radius: Some(StyleRadius::Step(RadiusStep::Small)),
        ..square(20.0)
    }
}

pub(super) fn chevron() -> Style {
    square(18.0)
}

pub(super) fn caret() -> Style {
    Style {
        width: Some(StyleLength::Points(1.5)),
        height: Some(StyleLength::Points(18.0)),
        shrink: Some(Share(0.0)),
        background: Some(Colour::Token(ColourToken::Primary)),
        ..Style::default()
    }
}

pub(super) const CHOICE_HEIGHT: f32 = 34.0;
/// The padding and border of a list, above and below together.
pub(super) const LIST_EDGES: f32 = 10.0;

/// The list of a select, drawn over the page.
pub(super) fn list(width: f32) -> Style {
    Style {
        width: Some(StyleLength::Points(width)),
        padding: Some(StyleInsets { top: 4.0, right: 4.0, bottom: 4.0, left: 4.0 }),
        background: Some(Colour::Token(ColourToken::Raised)),
        border: Some(Border::Thin),
        border_colour: Some(Colour::Token(ColourToken::BorderStrong)),
        radius: Some(StyleRadius::Step(RadiusStep::Medium)),
        shadow: Some(Shadow::Medium),
        ..Style::default()
    }
}

pub(super) fn choice(is_chosen: bool, is_hovered: bool) -> Style {
    let ground = match (is_chosen, is_hovered) {
        (_, true) => Some(ColourToken::Sunken),
        (true, false) => Some(ColourToken::PrimarySoft),
        (false, false) => None,
    };
    Style {
        align: Some(Align::Center),
        height: Some(StyleLength::Points(CHOICE_HEIGHT)),
        padding: Some(StyleInsets { top: 0.0, right: 8.0, bottom: 0.0, left: 8.0 }),
        radius: Some(StyleRadius::Step(RadiusStep::Small)),
        background: ground.map(Colour::Token),
        ..Style::default()
    }
}
