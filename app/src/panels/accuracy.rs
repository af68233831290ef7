//! Does it work: the held-out accuracy, large, with what it stands on.

use crate::desk::desk;
use crate::figure::{number, percent, percent_interval};
use crate::session::SessionStoreFields;
use leptos::prelude::*;

/// Seconds of training between spoken accuracies.
const SPEAK_EVERY: f64 = 10.0;

/// Accuracy of the run in view.
#[component]
pub(crate) fn AccuracyPanel() -> impl IntoView {
    let runs = desk().session.runs();
    let evaluation = Memo::new(move |_| runs.with(|runs| runs.current().and_then(|run| run.evaluation().cloned())));
    let large = move || evaluation.with(|e| e.as_ref().map_or_else(|| "–".to_owned(), |e| percent(e.accuracy)));
    let detail = move || {
        evaluation.with(|e| match e {
            Some(e) => format!("{}, after step {}", percent_interval(e), e.step),
            None => "no answers yet: the first evaluation comes with training".to_owned(),
        })
    };
    let whose = move || runs.with(|runs| runs.current().map(|run| run.name.clone()));
    let exact = move || {
        evaluation.with(|e| {
            e.as_ref()
                .map(|e| format!("{} of {} sequences wholly right; held-out loss {} nats", e.exact, e.examples, number(e.loss.into())))
        })
    };
    // A screen reader hears the accuracy at intervals, not at every evaluation.
    let spoken = Memo::new(move |before: Option<&(f64, String)>| {
        evaluation.with(|e| match (e, before) {
            (Some(e), Some((at, text))) if e.seconds >= *at && e.seconds < at + SPEAK_EVERY && !text.is_empty() => (*at, text.clone()),
            (Some(e), _) => (e.seconds, format!("Accuracy {} after step {}", percent(e.accuracy), e.step)),
            (None, _) => (0.0, String::new()),
        })
    });
    view! {
        <section class="accuracy" aria-label="Held-out accuracy">
            <h2>"Held-out accuracy"</h2>
            <p class="quiet">{whose}</p>
            <p class="large num" data-testid="accuracy">{large}</p>
            <p class="num">{detail}</p>
            <p class="quiet">{exact}</p>
            <p class="unseen" aria-live="polite">{move || spoken.with(|s| s.1.clone())}</p>
        </section>
    }
}
