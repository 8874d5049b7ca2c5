//! Preview devices with their size in points, and the zoom at which they are shown.

use egui::{Vec2, vec2};
use shared_protocol::preview_wire::{MAX_SCREEN_SIDE_POINTS, PreviewScreen};

#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(crate) enum PreviewDevice {
    #[default]
    Phone,
    Tablet,
    Laptop,
    /// The size of the panel.
    Fit,
    /// A size set by another client.
    Custom {
        width: u32,
        height: u32,
    },
}

impl PreviewDevice {
    pub(crate) const OFFERED: [Self; 4] = [Self::Phone, Self::Tablet, Self::Laptop, Self::Fit];

    pub(crate) fn name(self) -> &'static str {
        match self {
            Self::Phone => "Phone",
            Self::Tablet => "Tablet",
            Self::Laptop => "Laptop",
            Self::Fit => "Fit",
            Self::Custom { .. } => "Custom",
        }
    }

    /// The size in points. `None` for [`PreviewDevice::Fit`].
    pub(crate) fn size(self) -> Option<[u32; 2]> {
        match self {
            Self::Phone => Some([390, 844]),
            Self::Tablet => Some([820, 1180]),
            Self::Laptop => Some([1280, 800]),
            Self::Fit => None,
            Self::Custom { width, height } => Some([width, height]),
        }
    }

    /// Returns the device that matches the size of a screen.
    pub(crate) fn for_screen(screen: PreviewScreen) -> Self {
        let own = [screen.width, screen.height];
        let known = Self::OFFERED.into_iter().find(|device| device.size() == Some(own));
        known.unwrap_or(Self::Custom { width: screen.width, height: screen.height })
    }
}

/// The scale from points of the page to points of the window.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(crate) enum PreviewZoom {
    /// The largest scale at which the whole screen is visible, up to 100 %.
    #[default]
    Whole,
    Percent(u16),
}

impl PreviewZoom {
    pub(crate) const OFFERED: [Self; 6] = [
        Self::Whole,
        Self::Percent(50),
        Self::Percent(75),
        Self::Percent(100),
        Self::Percent(150),
        Self::Percent(200),
    ];

    pub(crate) fn name(self) -> String {
        match self {
            Self::Whole => "Whole screen".to_owned(),
            Self::Percent(percent) => format!("{percent} %"),
        }
    }
}

/// The minimum share of the available size at which a page is shown pixel for pixel instead of scaled.
const MIN_EXACT_SHARE: f32 = 0.94;

/// Returns the shown size of a screen in points of the window: pixel for pixel when that nearly fills the available size.
pub(crate) fn shown_size(
    screen: PreviewScreen,
    zoom: PreviewZoom,
    room: Vec2,
    pixels_per_point: f32,
) -> Vec2 {
    let [width, height] = screen.pixels();
    let exact = vec2(width as f32, height as f32) / pixels_per_point;
    if zoom != PreviewZoom::Whole {
        return exact;
    }
    let points = vec2(screen.width as f32, screen.height as f32);
    let most = points * (room.x / points.x).min(room.y / points.y).min(1.0);
    if exact.x <= most.x && exact.x >= MIN_EXACT_SHARE * most.x { exact } else { most }
}

/// Returns the screen to request, so that its pixels match the pixels of the window as closely as possible. `room` is in
/// points of the window.
pub(crate) fn screen_for(
    device: PreviewDevice,
    zoom: PreviewZoom,
    dark: bool,
    room: Vec2,
    pixels_per_point: f32,
) -> Option<PreviewScreen> {
    let share = match (zoom, device.size()) {
        (PreviewZoom::Percent(percent), _) => f32::from(percent) / 100.0,
        (PreviewZoom::Whole, Some([width, height])) => {
            (room.x / width as f32).min(room.y / height as f32).min(1.0)
        }
        (PreviewZoom::Whole, None) => 1.0,
    };
    // The offset compensates for rounding errors.
    let exact = (share * pixels_per_point * 4.0 + 0.01).floor();
    let quarters = if zoom == PreviewZoom::Whole && exact < MIN_EXACT_SHARE * share * pixels_per_point * 4.0 {
        // Too much of the room would stay empty. Rendering at double scale and showing it scaled down stays sharp.
        (share * pixels_per_point * 8.0).ceil()
    } else {
        exact
    };
    let quarters = quarters.clamp(2.0, 16.0);
    let whole = |points: f32| {
        let page = points * pixels_per_point * 4.0 / quarters;
        (page.max(1.0) as u32).clamp(160, MAX_SCREEN_SIDE_POINTS)
    };
    let [width, height] = device.size().unwrap_or_else(|| [whole(room.x), whole(room.y)]);
    // A screen that is too large at this scale is rendered at a coarser one.
    (2..=quarters as u8)
        .rev()
        .map(|quarters| PreviewScreen { width, height, quarters, dark })
        .find(PreviewScreen::is_valid)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_screen_is_drawn_as_large_as_it_is_shown() {
        let at =
            |device, zoom, room| screen_for(device, zoom, false, room, 1.0).map(|screen| screen.pixels());
        assert_eq!(at(PreviewDevice::Phone, PreviewZoom::Whole, vec2(400.0, 900.0)), Some([390, 844]));
        assert_eq!(at(PreviewDevice::Phone, PreviewZoom::Whole, vec2(400.0, 640.0)), Some([292, 633]));
        assert_eq!(
            at(PreviewDevice::Phone, PreviewZoom::Whole, vec2(400.0, 600.0)),
            Some([585, 1266]),
            "twice as fine"
        );
        assert_eq!(at(PreviewDevice::Laptop, PreviewZoom::Whole, vec2(400.0, 700.0)), Some([960, 600]));
        assert_eq!(at(PreviewDevice::Fit, PreviewZoom::Whole, vec2(400.5, 700.0)), Some([400, 700]));
        assert_eq!(at(PreviewDevice::Fit, PreviewZoom::Percent(50), vec2(400.0, 700.0)), Some([400, 700]));
        assert_eq!(at(PreviewDevice::Fit, PreviewZoom::Whole, vec2(0.0, f32::NAN)), Some([160, 160]));
        let fine =
            screen_for(PreviewDevice::Phone, PreviewZoom::Percent(200), true, vec2(1.0, 1.0), 2.0).unwrap();
        assert_eq!((fine.scale(), fine.dark), (4.0, true));
        let huge = PreviewDevice::Custom { width: 4096, height: 4096 };
        assert_eq!(
            at(huge, PreviewZoom::Percent(200), vec2(1.0, 1.0)),
            Some([4096, 4096]),
            "as much as there may be"
        );
    }

    #[test]
    fn what_is_nearly_as_large_as_the_room_is_shown_pixel_for_pixel() {
        let phone = |quarters| PreviewScreen { width: 390, height: 844, quarters, dark: false };
        let shown = |screen, room| shown_size(screen, PreviewZoom::Whole, room, 1.0);
        assert_eq!(shown(phone(3), vec2(400.0, 640.0)), vec2(292.0, 633.0));
        let smaller = shown(phone(6), vec2(400.0, 600.0));
        assert!((smaller.y - 600.0).abs() < 0.1 && smaller.x < 280.0, "{smaller}");
        assert_eq!(shown(phone(8), vec2(4000.0, 6000.0)), vec2(390.0, 844.0), "no larger than life");
        assert_eq!(shown_size(phone(8), PreviewZoom::Percent(200), vec2(1.0, 1.0), 1.0), vec2(780.0, 1688.0));
    }

    #[test]
    fn devices_are_recognised() {
        for device in [PreviewDevice::Phone, PreviewDevice::Tablet, PreviewDevice::Laptop] {
            let screen = screen_for(device, PreviewZoom::Whole, false, vec2(300.0, 300.0), 1.0).unwrap();
            assert_eq!(PreviewDevice::for_screen(screen), device);
        }
        let other = PreviewScreen::new(100, 100, 1.0, false).unwrap();
        assert_eq!(PreviewDevice::for_screen(other), PreviewDevice::Custom { width: 100, height: 100 });
    }
}
