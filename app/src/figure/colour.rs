//! The colour maps, moved so that zero is the page: ColorBrewer's RdBu for signed numbers, its Blues for those that cannot be
//! negative.
//!
//! On a light page only the pale end is shifted to the page's colour. On a dark page lightness is mirrored about the page's
//! own, so that larger magnitudes stand out from the page in both themes and keep their hue.

use colorous::Gradient;
use oklab::{Oklab, Rgb, oklab_to_srgb, srgb_to_oklab};

/// The page behind a figure.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) enum Ground {
    /// Dark ink on light.
    #[default]
    Light,
    /// Light ink on dark.
    Dark,
}

impl Ground {
    /// The page's colour; `style/tokens.css` has the same as `--page`.
    pub(crate) const fn page(self) -> [u8; 3] {
        match self {
            Ground::Light => [0xf8, 0xf8, 0xf7],
            Ground::Dark => [0x14, 0x16, 0x1a],
        }
    }
}

/// Which map a figure uses.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) enum Sign {
    /// From -limit to limit.
    #[default]
    Both,
    /// From 0 to limit.
    Positive,
}

/// The maps over one page.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Maps {
    /// From -1 to 1; the middle is the page.
    diverging: Vec<[u8; 3]>,
    /// From 0, the page, to 1.
    sequential: Vec<[u8; 3]>,
}

/// Shades on one side of zero.
const SHADES: usize = 128;

impl Maps {
    /// The maps over a page.
    pub(crate) fn on(ground: Ground) -> Maps {
        // RdBu runs from red to blue; here blue is negative and red positive.
        let side = |sign: f64| move |share: f64| shade(colorous::RED_BLUE, 0.5, 0.5 - 0.5 * sign * share, share, ground);
        let negative = (1..=SHADES).rev().map(|i| side(-1.0)(i as f64 / SHADES as f64));
        let positive = (1..=SHADES).map(|i| side(1.0)(i as f64 / SHADES as f64));
        let diverging = negative.chain([ground.page()]).chain(positive).collect();
        let blues = (1..=SHADES).map(|i| i as f64 / SHADES as f64).map(|share| shade(colorous::BLUES, 0.0, share, share, ground));
        Maps { diverging, sequential: [ground.page()].into_iter().chain(blues).collect() }
    }

    /// Colour of `number` where `limit` is the strongest; what is not a number is magenta, which no map holds.
    pub(crate) fn colour(&self, number: f32, limit: f32, sign: Sign) -> [u8; 3] {
        if !number.is_finite() {
            return [0xff, 0x00, 0xff];
        }
        let share = if limit > 0.0 { (number / limit).clamp(-1.0, 1.0) } else { 0.0 };
        match sign {
            Sign::Both => self.diverging[((share + 1.0) * SHADES as f32).round() as usize],
            Sign::Positive => self.sequential[(share.max(0.0) * SHADES as f32).round() as usize],
        }
    }

    /// RGBA bytes of a matrix, row by row, for a canvas.
    pub(crate) fn pixels(&self, values: &[f32], limit: f32, sign: Sign) -> Vec<u8> {
        let rgba = |value: &f32| {
            let [r, g, b] = self.colour(*value, limit, sign);
            [r, g, b, 0xff]
        };
        values.iter().flat_map(rgba).collect()
    }

    /// The diverging map as a CSS gradient from left (-limit) to right (limit), for legends.
    pub(crate) fn css(&self) -> String {
        let stop = |i: usize| {
            let [r, g, b] = self.diverging[i * SHADES / 8];
            format!("rgb({r} {g} {b})")
        };
        format!("linear-gradient(to right, {})", (0..=16).map(stop).collect::<Vec<_>>().join(", "))
    }
}

/// The published colour at `t`, moved from the map's pale end to the page by as much as `share` is near zero.
fn shade(map: Gradient, pale: f64, t: f64, share: f64, ground: Ground) -> [u8; 3] {
    let (page, pale, colour) = (lab(ground.page()), published(map, pale), published(map, t));
    let near = 1.0 - share as f32;
    let fall = pale.l - colour.l;
    let l = match ground {
        Ground::Light => page.l - fall,
        Ground::Dark => page.l + fall * 1.05,
    };
    let (a, b) = (colour.a - near * (pale.a - page.a), colour.b - near * (pale.b - page.b));
    let Rgb { r, g, b } = oklab_to_srgb(Oklab { l: l.clamp(0.0, 1.0), a, b });
    [r, g, b]
}

fn published(map: Gradient, t: f64) -> Oklab {
    let colour = map.eval_continuous(t);
    lab([colour.r, colour.g, colour.b])
}

fn lab([r, g, b]: [u8; 3]) -> Oklab {
    srgb_to_oklab(Rgb { r, g, b })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn from_page(maps: &Maps, ground: Ground, number: f32, sign: Sign) -> f32 {
        (lab(maps.colour(number, 1.0, sign)).l - lab(ground.page()).l).abs()
    }

    #[test]
    fn zero_is_the_page_and_magnitude_leaves_it() {
        for ground in [Ground::Light, Ground::Dark] {
            let maps = Maps::on(ground);
            for (sign, direction) in [(Sign::Both, -1.0), (Sign::Both, 1.0), (Sign::Positive, 1.0)] {
                assert_eq!(maps.colour(0.0, 2.0, sign), ground.page());
                assert_eq!(maps.colour(5.0, 0.0, sign), ground.page());
                let steps: Vec<f32> = (0..=10).map(|i| from_page(&maps, ground, direction * i as f32 / 10.0, sign)).collect();
                assert!(steps.windows(2).all(|pair| pair[1] > pair[0] - 1e-3), "{ground:?} {sign:?} {steps:?}");
                assert!(steps[10] > 0.4, "{ground:?} {sign:?} {steps:?}");
            }
        }
    }

    #[test]
    fn signs_differ_in_hue_and_beyond_the_limit_is_clamped() {
        let maps = Maps::on(Ground::Light);
        let [red, _, blue] = maps.colour(0.7, 1.0, Sign::Both);
        assert!(red > blue, "positive is red");
        let [red, _, blue] = maps.colour(-0.7, 1.0, Sign::Both);
        assert!(blue > red, "negative is blue");
        assert_eq!(maps.colour(9.0, 1.0, Sign::Both), maps.colour(1.0, 1.0, Sign::Both));
        assert_eq!(maps.colour(-1.0, 1.0, Sign::Positive), Ground::Light.page());
        assert_eq!(maps.colour(f32::NAN, 1.0, Sign::Both), [0xff, 0, 0xff]);
    }

    #[test]
    fn pixels_are_rgba() {
        let pixels = Maps::on(Ground::Dark).pixels(&[0.0, 1.0], 1.0, Sign::Both);
        assert_eq!(pixels.len(), 8);
        assert_eq!(&pixels[..4], &[0x14, 0x16, 0x1a, 0xff]);
    }

    #[test]
    fn the_style_sheet_has_the_same_page() {
        let sheet = include_str!("../../style/tokens.css");
        for ground in [Ground::Light, Ground::Dark] {
            let [r, g, b] = ground.page();
            assert!(sheet.contains(&format!("--page: #{r:02x}{g:02x}{b:02x};")), "{ground:?}");
        }
    }
}
