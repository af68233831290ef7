//! One quantity along the tokens: a line of bars, or a row of pixels per channel.

use crate::desk::desk;
use crate::figure::{Sign, largest, number};
use crate::widgets::{Grid, Pixels};
use leptos::prelude::*;
use palimpsest_protocol::{Strip, StripShape};
use std::fmt::Write;
use std::sync::Arc;

/// A strip under the token axis, with its value at the place.
#[component]
pub(crate) fn StripRow(strip: Strip, first: usize) -> impl IntoView {
    let token = desk().token;
    let strip = Arc::new(strip);
    let width = channels(&strip);
    let tokens = strip.values.len() / width;
    let (low, high) = range(&strip.values);
    let at = {
        let strip = strip.clone();
        move || reading(&strip, token.get().wrapping_sub(first))
    };
    let span = format!("left:calc({first} * var(--column));width:calc({tokens} * var(--column))");
    let body = match strip.shape {
        StripShape::Scalar => {
            let (low, high) = scale(low, high);
            let path = bars(&strip.values, low, high);
            let zero = format!("M0 {0:.3}H{tokens}", high / (high - low));
            view! {
                <svg class="strip-bars" style=span viewBox=format!("0 0 {tokens} 1") preserveAspectRatio="none" aria-hidden="true">
                    <path class="bars" d=path></path>
                    <path class="zero" d=zero></path>
                </svg>
            }
            .into_any()
        }
        StripShape::Channels(_) => {
            let sign = if low < 0.0 { Sign::Both } else { Sign::Positive };
            let grid = Grid { values: Arc::new(turned(&strip.values, width)), columns: tokens, limit: largest(&strip.values), sign };
            view! { <div class="strip-pixels" style=span><Pixels grid=Signal::derive(move || grid.clone()) /></div> }.into_any()
        }
    };
    view! {
        <div class="strip">
            <div class="strip-head">
                <span>{strip.name.clone()}</span>
                <span class="num">{at}</span>
                <span class="quiet">{extent(&strip, low, high)}</span>
                <span class="quiet strip-about">{strip.about.clone()}</span>
            </div>
            <div class="strip-body">{body}</div>
        </div>
    }
}

fn channels(strip: &Strip) -> usize {
    match strip.shape {
        StripShape::Scalar => 1,
        StripShape::Channels(width) => (width as usize).max(1),
    }
}

fn range(values: &[f32]) -> (f32, f32) {
    let finite = values.iter().copied().filter(|v| v.is_finite());
    let (low, high) = finite.fold((f32::INFINITY, f32::NEG_INFINITY), |(low, high), v| (low.min(v), high.max(v)));
    if low <= high { (low, high) } else { (0.0, 0.0) }
}

/// What a line of bars spans: zero, and every value.
fn scale(low: f32, high: f32) -> (f32, f32) {
    let low = low.min(0.0);
    (low, high.max(0.0).max(low + 1e-6))
}

/// How to read the picture: what is drawn, from which number to which.
fn extent(strip: &Strip, low: f32, high: f32) -> String {
    let numbers = format!("{} to {}", number(low.into()), number(high.into()));
    match strip.shape {
        StripShape::Scalar if low < 0.0 => format!("bars from the zero line, {numbers}"),
        StripShape::Scalar => format!("bars from zero, {numbers}"),
        StripShape::Channels(width) => format!("{width} channels, stronger colour is more, {numbers}"),
    }
}

/// The value at a token of the window; mean and range for channels.
fn reading(strip: &Strip, token: usize) -> String {
    let width = channels(strip);
    let Some(values) = token.checked_mul(width).and_then(|start| strip.values.get(start..start.checked_add(width)?)) else {
        return "outside the window".to_owned();
    };
    match strip.shape {
        StripShape::Scalar => number(values[0].into()),
        StripShape::Channels(_) => format!("mean {}", number(f64::from(values.iter().sum::<f32>()) / width as f64)),
    }
}

/// `[tokens, width]` turned so that tokens run across.
fn turned(values: &[f32], width: usize) -> Vec<f32> {
    let tokens = values.len() / width;
    (0..width).flat_map(|channel| (0..tokens).map(move |token| values[token * width + channel])).collect()
}

/// One bar per token in a box of `tokens` by 1, from zero.
fn bars(values: &[f32], low: f32, high: f32) -> String {
    let y = |value: f32| 1.0 - (value - low) / (high - low);
    let mut path = String::new();
    for (token, value) in values.iter().enumerate().filter(|(_, value)| value.is_finite()) {
        // Writing to a String cannot fail.
        let _ = write!(path, "M{:.2} {:.3}V{:.3}H{:.2}V{:.3}Z", token as f32 + 0.1, y(0.0), y(*value), token as f32 + 0.9, y(0.0));
    }
    path
}

#[cfg(test)]
mod tests {
    use super::*;

    fn strip(shape: StripShape) -> Strip {
        Strip { name: "gate".into(), about: String::new(), shape, values: vec![0.0, 0.5, 1.0, -0.5] }
    }

    #[test]
    fn readings_follow_the_shape_and_the_window() {
        assert_eq!(reading(&strip(StripShape::Scalar), 1), "0.500");
        assert_eq!(reading(&strip(StripShape::Channels(2)), 0), "mean 0.250");
        assert_eq!(reading(&strip(StripShape::Channels(2)), 2), "outside the window");
        assert_eq!(reading(&strip(StripShape::Scalar), usize::MAX), "outside the window");
    }

    #[test]
    fn a_scale_holds_zero() {
        assert_eq!((scale(0.2, 0.9), scale(-0.5, -0.1), scale(-0.5, 0.5)), ((0.0, 0.9), (-0.5, 0.0), (-0.5, 0.5)));
        assert!(scale(0.0, 0.0).1 > 0.0);
        assert!(extent(&strip(StripShape::Scalar), -0.5, 1.0).contains("zero line, \u{2212}0.500 to 1.00"));
        assert!(extent(&strip(StripShape::Channels(2)), 0.0, 1.0).starts_with("2 channels"));
    }

    #[test]
    fn channels_are_turned() {
        assert_eq!(turned(&[1.0, 2.0, 3.0, 4.0, 5.0, 6.0], 2), vec![1.0, 3.0, 5.0, 2.0, 4.0, 6.0]);
    }

    #[test]
    fn bars_stand_on_zero() {
        assert_eq!(bars(&[1.0], 0.0, 1.0), "M0.10 1.000V0.000H0.90V1.000Z");
        assert_eq!(bars(&[f32::NAN], 0.0, 1.0), "");
        assert_eq!(range(&[f32::NAN]), (0.0, 0.0));
    }
}
