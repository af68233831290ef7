//! The diverging map: ColorBrewer's RdBu, moved so that zero is the page.
//!
//! On a light page only its centre is shifted to the page's colour. On a dark page its lightness is mirrored about the page's own,
//! so that larger magnitudes stand out from the page in both themes and keep their hue.

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

/// Colours of numbers from -limit to limit.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Diverging {
    table: Vec<[u8; 3]>,
}

/// Half of the table without its centre.
const HALF: usize = 128;

impl Diverging {
    /// The map over a page.
    pub(crate) fn on(ground: Ground) -> Diverging {
        let page = lab(ground.page());
        let centre = published(0.5);
        let table = (0..=2 * HALF).map(|index| {
            let signed = index as f64 / HALF as f64 - 1.0;
            // RdBu runs from red to blue; here blue is negative and red positive, as in most physics.
            let shade = published(0.5 - 0.5 * signed);
            let near = 1.0 - signed.abs() as f32;
            let fall = centre.l - shade.l;
            let l = match ground {
                Ground::Light => page.l - fall,
                Ground::Dark => page.l + fall * 1.05,
            };
            let a = shade.a - near * (centre.a - page.a);
            let b = shade.b - near * (centre.b - page.b);
            let Rgb { r, g, b } = oklab_to_srgb(Oklab { l: l.clamp(0.0, 1.0), a, b });
            [r, g, b]
        });
        let mut table: Vec<[u8; 3]> = table.collect();
        table[HALF] = ground.page();
        Diverging { table }
    }

    /// Colour of `number` where `limit` is the strongest; what is not a number is magenta, which the map does not hold.
    pub(crate) fn colour(&self, number: f32, limit: f32) -> [u8; 3] {
        if !number.is_finite() {
            return [0xff, 0x00, 0xff];
        }
        let share = if limit > 0.0 { (number / limit).clamp(-1.0, 1.0) } else { 0.0 };
        self.table[((share + 1.0) * HALF as f32).round() as usize]
    }

    /// RGBA bytes of a matrix, row by row, for a canvas.
    pub(crate) fn pixels(&self, values: &[f32], limit: f32) -> Vec<u8> {
        values
            .iter()
            .flat_map(|value| {
                let [r, g, b] = self.colour(*value, limit);
                [r, g, b, 0xff]
            })
            .collect()
    }

    /// The map as a CSS gradient from left (-limit) to right (limit), for legends.
    pub(crate) fn css(&self) -> String {
        let stops: Vec<String> = (0..=16)
            .map(|i| {
                let [r, g, b] = self.table[i * HALF / 8];
                format!("rgb({r} {g} {b})")
            })
            .collect();
        format!("linear-gradient(to right, {})", stops.join(", "))
    }
}

fn published(t: f64) -> Oklab {
    let colour = colorous::RED_BLUE.eval_continuous(t);
    lab([colour.r, colour.g, colour.b])
}

fn lab([r, g, b]: [u8; 3]) -> Oklab {
    srgb_to_oklab(Rgb { r, g, b })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn distance_from_page(map: &Diverging, ground: Ground, number: f32) -> f32 {
        (lab(map.colour(number, 1.0)).l - lab(ground.page()).l).abs()
    }

    #[test]
    fn zero_is_the_page_and_magnitude_leaves_it() {
        for ground in [Ground::Light, Ground::Dark] {
            let map = Diverging::on(ground);
            assert_eq!(map.colour(0.0, 2.0), ground.page());
            assert_eq!(map.colour(5.0, 0.0), ground.page());
            for sign in [-1.0, 1.0] {
                let steps: Vec<f32> = (0..=10).map(|i| distance_from_page(&map, ground, sign * i as f32 / 10.0)).collect();
                assert!(steps.windows(2).all(|pair| pair[1] > pair[0] - 1e-3), "{ground:?} {steps:?}");
                assert!(steps[10] > 0.4, "{ground:?} {steps:?}");
            }
        }
    }

    #[test]
    fn signs_differ_in_hue_and_beyond_the_limit_is_clamped() {
        let map = Diverging::on(Ground::Light);
        let [red, _, blue] = map.colour(0.7, 1.0);
        assert!(red > blue, "positive is red");
        let [red, _, blue] = map.colour(-0.7, 1.0);
        assert!(blue > red, "negative is blue");
        assert_eq!(map.colour(9.0, 1.0), map.colour(1.0, 1.0));
        assert_eq!(map.colour(f32::NAN, 1.0), [0xff, 0, 0xff]);
    }

    #[test]
    fn pixels_are_rgba() {
        let map = Diverging::on(Ground::Dark);
        let pixels = map.pixels(&[0.0, 1.0], 1.0);
        assert_eq!(pixels.len(), 8);
        assert_eq!(&pixels[..4], &[0x14, 0x16, 0x1a, 0xff]);
    }
}
