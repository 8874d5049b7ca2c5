//! Colour arithmetic on gamma-encoded, premultiplied values, as egui expects.

/// Red, green, blue and alpha, premultiplied by alpha.
pub(crate) type Pixel = [u8; 4];

pub(crate) const TRANSPARENT: Pixel = [0; 4];

/// Computes a value for each of the four channels. Always inlined, unlike `array::map`, because every inner
/// loop uses it.
#[inline(always)]
pub(crate) fn per_channel<T>(compute: impl Fn(usize) -> T) -> [T; 4] {
    [compute(0), compute(1), compute(2), compute(3)]
}

/// `a × b / 255`, rounded to nearest.
#[inline]
fn multiply_channels(a: u8, b: u8) -> u8 {
    // Exact for all 65,536 pairs, without a division.
    let product = u32::from(a) * u32::from(b) + 128;
    ((product + (product >> 8)) >> 8) as u8
}

/// Multiplies a vertex colour by a texel.
#[inline]
pub(crate) fn multiply(a: Pixel, b: Pixel) -> Pixel {
    per_channel(|channel| multiply_channels(a[channel], b[channel]))
}

/// Paints `source` over `target`. A source with colour but without alpha adds light, like egui's additive
/// colours.
#[inline]
pub(crate) fn paint_over(target: &mut Pixel, source: Pixel) {
    let [.., alpha] = source;
    for (target, source) in target.iter_mut().zip(source) {
        *target = source.saturating_add(multiply_channels(*target, 255 - alpha));
    }
}

#[inline]
pub(crate) fn paint_run(run: &mut [Pixel], source: Pixel) {
    match source {
        TRANSPARENT => {}
        [.., 255] => run.fill(source),
        _ => run.iter_mut().for_each(|target| paint_over(target, source)),
    }
}

/// Divides alpha out of a colour, as image files store it.
///
/// Additive light (colour without alpha) cannot be stored that way and becomes transparent.
pub(crate) fn unmultiply([red, green, blue, alpha]: Pixel) -> Pixel {
    match alpha {
        0 => TRANSPARENT,
        255 => [red, green, blue, 255],
        _ => {
            let alpha_wide = u32::from(alpha);
            let divide =
                |channel: u8| ((u32::from(channel) * 255 + alpha_wide / 2) / alpha_wide).min(255) as u8;
            [divide(red), divide(green), divide(blue), alpha]
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn multiplying_rounds_to_nearest_for_every_pair() {
        for a in 0..=255_u8 {
            for b in 0..=255_u8 {
                let exact = (f64::from(a) * f64::from(b) / 255.0).round();
                assert_eq!(f64::from(multiply_channels(a, b)), exact, "{a} × {b}");
            }
        }
    }

    #[test]
    fn half_transparent_red_over_known_backgrounds() {
        let red = [128, 0, 0, 128];
        let over = |mut background: Pixel| {
            paint_over(&mut background, red);
            background
        };
        assert_eq!(over([255, 255, 255, 255]), [255, 127, 127, 255]);
        assert_eq!(over([0, 0, 0, 255]), [128, 0, 0, 255]);
        assert_eq!(over([0, 0, 0, 0]), red);
        assert_eq!(over([100, 50, 200, 255]), [178, 25, 100, 255]);
    }

    #[test]
    fn additive_colours_add_and_stop_at_white() {
        let mut pixel = [100, 100, 250, 255];
        paint_over(&mut pixel, [20, 0, 20, 0]);
        assert_eq!(pixel, [120, 100, 255, 255]);
    }

    #[test]
    fn unmultiplying_undoes_multiplying() {
        assert_eq!(unmultiply([12, 34, 56, 255]), [12, 34, 56, 255]);
        assert_eq!(unmultiply([64, 0, 128, 128]), [128, 0, 255, 128]);
        assert_eq!(unmultiply([1, 2, 3, 0]), [0, 0, 0, 0]);
        assert_eq!(unmultiply([200, 0, 0, 100]), [255, 0, 0, 100], "more colour than alpha is cut off");
    }
}
