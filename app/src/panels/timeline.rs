//! The sequence: chips, answers and scrubber on the token axis.

use super::chip::{Chip, answer_at, class, sentence};
use super::token_axis::{TokenAxis, longest};
use crate::desk::desk;
use crate::session::SessionStoreFields;
use leptos::prelude::*;
use palimpsest_protocol::Sample;
use palimpsest_tasks::{Legend, Role};
use std::sync::Arc;

/// The sequence panel.
#[component]
pub(crate) fn Timeline() -> impl IntoView {
    let desk = desk();
    let whole = desk.axis.whole;
    let view_part = desk.session.view();
    let sample = Memo::new(move |_| view_part.with(|view| view.sample.clone()));
    let legend = Memo::new(move |_| desk.legend());
    let score = move || {
        sample.with(|sample| {
            sample.as_ref().map(|s| {
                let right = s.labels.iter().filter(|l| l.target == l.answer).count();
                format!("{right} of {} answers right", s.labels.len())
            })
        })
    };
    let here = move || {
        sample.with(|sample| {
            sample.as_ref().map_or_else(|| "The sample comes with the model.".to_owned(), |s| sentence(s, desk.token.get(), legend.get()))
        })
    };
    let other = move |_| desk.set("sample", &(desk.look.get_untracked().sample + 1).to_string());
    view! {
        <section class="timeline" aria-label="Sequence">
            <div class="panel-head">
                <h2>"Sequence"</h2>
                <span class="num" data-testid="score">{score}</span>
                <span class="push"></span>
                <button class="plain" aria-pressed=move || whole.get().to_string() on:click=move |_| whole.update(|w| *w = !*w)>
                    "Whole sequence"
                </button>
                <button class="plain" on:click=other>"Next sample"</button>
            </div>
            {move || sample.get().map(|sample| view! { <Sequence sample legend=legend.get() /> })}
            <p class="here" data-testid="here">{here}</p>
            <RoleLegend legend />
        </section>
    }
}

/// Shapes of the roles, with their words.
#[component]
fn RoleLegend(legend: Memo<&'static [Legend]>) -> impl IntoView {
    let shown = move || legend.get().iter().filter(|entry| entry.role != Role::Filler);
    let entry =
        |entry: &Legend| view! { <li><span class=format!("chip {}", class(entry.role)) aria-hidden="true"></span> {entry.text}</li> };
    view! { <ul class="roles" data-testid="roles">{move || shown().map(entry).collect::<Vec<_>>()}</ul> }
}

/// The chips, what the model answers under them, and the place.
#[component]
fn Sequence(sample: Arc<Sample>, legend: &'static [Legend]) -> impl IntoView {
    let desk = desk();
    let tokens = sample.tokens.len();
    let chips: Vec<_> = (0..tokens)
        .map(|position| {
            let (text, token_role) = (sample.texts[position].clone(), sample.roles[position]);
            view! { <Chip position text token_role meaning=Legend::text(legend, token_role) /> }
        })
        .collect();
    let answers = (0..tokens).filter_map(|position| answer_at(&sample, position).map(|answer| (position, answer)));
    let said: Vec<_> = answers
        .map(|(position, a)| {
            let class = if a.right { "answer answer-right" } else { "answer answer-wrong" };
            let word = if a.right { "right" } else { "wrong" };
            let column = format!("grid-column:{}", position + 1);
            view! { <span class=class style=column title=word>{a.answer}<span class="unseen">{format!(" {word}")}</span></span> }
        })
        .collect();
    let width = longest(&sample);
    let place = move || desk.token.get().min(tokens.saturating_sub(1));
    view! {
        <TokenAxis tokens longest=width>
            <div class="axis-row chips" aria-hidden="true">{chips}</div>
            <div class="axis-row answers" aria-hidden="true">{said}</div>
            <input
                class="scrubber"
                type="range"
                min="0"
                max=tokens.saturating_sub(1)
                step="1"
                aria-label="Token"
                aria-valuetext=move || sentence(&sample, place(), legend)
                data-testid="scrubber"
                prop:value=move || place().to_string()
                on:input=move |event| {
                    if let Ok(token) = event_target_value(&event).parse() {
                        desk.token.set(token);
                    }
                }
            />
        </TokenAxis>
    }
}
