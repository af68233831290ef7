//! A matrix to look at cell by cell, by pointer or keyboard.

use super::{Grid, Pixels};
use leptos::{ev, html::Div, prelude::*};

/// The chosen cell: row and column, from 0.
pub(crate) type Cell = Option<(usize, usize)>;

/// Draws `grid` and keeps `cell` at what the pointer or the arrow keys choose.
#[component]
pub(crate) fn HeatMap(#[prop(into)] grid: Signal<Grid>, cell: RwSignal<Cell>, #[prop(into)] label: Signal<String>) -> impl IntoView {
    let frame = NodeRef::<Div>::new();
    let shape = Memo::new(move |_| grid.with(|grid| (grid.rows(), grid.columns)));
    let point = move |event: ev::PointerEvent| {
        let Some(frame) = frame.get() else { return };
        let (rows, columns) = shape.get_untracked();
        let bounds = frame.get_bounding_client_rect();
        let across = (f64::from(event.client_x()) - bounds.left()) / bounds.width();
        let down = (f64::from(event.client_y()) - bounds.top()) / bounds.height();
        let inside = (0.0..1.0).contains(&across) && (0.0..1.0).contains(&down);
        cell.set(inside.then_some(((down * rows as f64) as usize, (across * columns as f64) as usize)));
    };
    let press = move |event: ev::KeyboardEvent| {
        let (rows, columns) = shape.get_untracked();
        if let Some(next) = step(cell.get_untracked(), &event.key(), rows, columns) {
            event.prevent_default();
            cell.set(next);
        }
    };
    let mark = move || {
        let (rows, columns) = shape.get();
        cell.get().filter(|(row, column)| *row < rows && *column < columns).map(|(row, column)| {
            let share = |index: usize, of: usize| format!("{:.4}%", 100.0 * index as f64 / of as f64);
            let place =
                format!("left:{};top:{};width:{};height:{}", share(column, columns), share(row, rows), share(1, columns), share(1, rows));
            view! { <span class="cell-mark" style=place></span> }
        })
    };
    let ratio = move || {
        let (rows, columns) = shape.get();
        format!("aspect-ratio:{columns}/{rows}")
    };
    view! {
        <div
            node_ref=frame
            class="heat-map"
            style=ratio
            tabindex="0"
            role="application"
            aria-roledescription="matrix"
            aria-label=label
            aria-describedby="cell-value"
            on:pointermove=point
            on:pointerdown=point
            on:pointerleave=move |event| if event.pointer_type() == "mouse" { cell.set(None) }
            on:keydown=press
        >
            <Pixels grid />
            {mark}
        </div>
    }
}

/// The cell after a key, `None` for keys that mean nothing here.
fn step(cell: Cell, key: &str, rows: usize, columns: usize) -> Option<Cell> {
    if rows == 0 || columns == 0 {
        return None;
    }
    let (row, column) = cell.unwrap_or((0, 0));
    let moved = match key {
        _ if cell.is_none() && key.starts_with("Arrow") => (0, 0),
        "ArrowUp" => (row.saturating_sub(1), column),
        "ArrowDown" => ((row + 1).min(rows - 1), column),
        "ArrowLeft" => (row, column.saturating_sub(1)),
        "ArrowRight" => (row, (column + 1).min(columns - 1)),
        "Home" => (row, 0),
        "End" => (row, columns - 1),
        "Escape" => return Some(None),
        _ => return None,
    };
    Some(Some(moved))
}

#[cfg(test)]
mod tests {
    use super::step;

    #[test]
    fn arrows_move_within_the_matrix() {
        assert_eq!(step(None, "ArrowDown", 4, 8), Some(Some((0, 0))));
        assert_eq!(step(Some((0, 0)), "ArrowUp", 4, 8), Some(Some((0, 0))));
        assert_eq!(step(Some((3, 6)), "ArrowRight", 4, 8), Some(Some((3, 7))));
        assert_eq!(step(Some((3, 7)), "ArrowDown", 4, 8), Some(Some((3, 7))));
        assert_eq!(step(Some((3, 7)), "Escape", 4, 8), Some(None));
        assert_eq!(step(Some((3, 7)), "x", 4, 8), None);
        assert_eq!(step(None, "ArrowUp", 0, 0), None);
    }
}
