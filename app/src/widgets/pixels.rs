//! A matrix as pixels on a canvas, one per cell, scaled by the style sheet.

use crate::figure::{Maps, Sign};
use crate::theme::Theme;
use leptos::{html::Canvas, prelude::*};
use std::sync::Arc;
use wasm_bindgen::{Clamped, JsCast};
use web_sys::{CanvasRenderingContext2d, HtmlCanvasElement, ImageData};

/// A matrix with the limit of its colours.
#[derive(Clone, Debug, Default, PartialEq)]
pub(crate) struct Grid {
    /// Row-major.
    pub(crate) values: Arc<Vec<f32>>,
    /// Cells across.
    pub(crate) columns: usize,
    /// The magnitude that gets the strongest colour.
    pub(crate) limit: f32,
    /// Which map.
    pub(crate) sign: Sign,
}

impl Grid {
    /// Cells down.
    pub(crate) fn rows(&self) -> usize {
        self.values.len().checked_div(self.columns).unwrap_or(0)
    }

    /// One number.
    pub(crate) fn at(&self, row: usize, column: usize) -> Option<f32> {
        (column < self.columns).then(|| self.values.get(row * self.columns + column).copied()).flatten()
    }
}

/// Draws `grid` whenever it or the theme changes. Hidden from assistive technology: its owner gives the words.
#[component]
pub(crate) fn Pixels(#[prop(into)] grid: Signal<Grid>) -> impl IntoView {
    let canvas = NodeRef::<Canvas>::new();
    let maps = expect_context::<Theme>().maps;
    Effect::new(move || {
        if let Some(canvas) = canvas.get() {
            grid.with(|grid| draw(&canvas, grid, &maps.get()));
        }
    });
    view! { <canvas node_ref=canvas class="pixels" aria-hidden="true"></canvas> }
}

fn draw(canvas: &HtmlCanvasElement, grid: &Grid, maps: &Maps) {
    let (columns, rows) = (grid.columns as u32, grid.rows() as u32);
    if columns == 0 || rows == 0 {
        return;
    }
    if canvas.width() != columns || canvas.height() != rows {
        canvas.set_width(columns);
        canvas.set_height(rows);
    }
    let bytes = maps.pixels(&grid.values[..(columns * rows) as usize], grid.limit, grid.sign);
    let Ok(image) = ImageData::new_with_u8_clamped_array_and_sh(Clamped(&bytes), columns, rows) else { return };
    let context = canvas.get_context("2d").ok().flatten().and_then(|c| c.dyn_into::<CanvasRenderingContext2d>().ok());
    if let Some(context) = context {
        // Fails only for an image of another origin.
        let _ = context.put_image_data(&image, 0.0, 0.0);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_grid_knows_its_cells() {
        let grid = Grid { values: Arc::new(vec![1.0, 2.0, 3.0, 4.0, 5.0, 6.0]), columns: 3, limit: 6.0, sign: Sign::Both };
        assert_eq!(grid.rows(), 2);
        assert_eq!(grid.at(1, 2), Some(6.0));
        assert_eq!(grid.at(0, 3), None);
        assert_eq!(Grid::default().rows(), 0);
    }
}
