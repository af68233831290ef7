//! The sequence: chips, answers, scrubber and strips on one token axis.

use super::chip::{Chip, answer_at, role, sentence};
use super::strip_row::StripRow;
use crate::desk::desk;
use crate::session::SessionStoreFields;
use leptos::{html::Div, prelude::*};
use palimpsest_protocol::Sample;
use palimpsest_tasks::Role;
use std::sync::Arc;

/// The sequence panel.
#[component]
pub(crate) fn Timeline() -> impl IntoView {
    let desk = desk();
    let view_part = desk.session.view();
    let sample = Memo::new(move |_| view_part.with(|view| view.sample.clone()));
    let whole = RwSignal::new(false);
    let score = move || {
        sample.with(|sample| {
            sample.as_ref().map(|s| {
                let right = s.labels.iter().filter(|l| l.target == l.answer).count();
                format!("{right} of {} answers right", s.labels.len())
            })
        })
    };
    let here = move || {
        sample
            .with(|sample| sample.as_ref().map_or_else(|| "The sample comes with the model.".to_owned(), |s| sentence(s, desk.token.get())))
    };
    let other = move |_| desk.set("sample", &(desk.look.get_untracked().sample + 1).to_string());
    view! {
        <section class="timeline" aria-label="Sequence">
            <div class="panel-head">
                <h2>"Sequence"</h2>
                <span class="num" data-testid="score">{score}</span>
                <RoleLegend />
                <span class="push"></span>
                <button class="plain" aria-pressed=move || whole.get().to_string() on:click=move |_| whole.update(|w| *w = !*w)>
                    "Whole sequence"
                </button>
                <button class="plain" on:click=other>"Another sample"</button>
            </div>
            <p class="here" data-testid="here">{here}</p>
            {move || sample.get().map(|sample| view! { <Axis sample whole /> })}
        </section>
    }
}

/// Shapes of the roles, with their words.
#[component]
fn RoleLegend() -> impl IntoView {
    let shown = [Role::Key, Role::Value, Role::Query];
    view! {
        <span class="roles" aria-hidden="true">
            {shown.map(|r| view! { <span class=format!("chip {}", role(r).0)>{role(r).1}</span> })}
        </span>
    }
}

/// Rows that share one axis of tokens; they scroll together and the place stays in sight.
#[component]
fn Axis(sample: Arc<Sample>, whole: RwSignal<bool>) -> impl IntoView {
    let desk = desk();
    let tokens = sample.tokens.len();
    let longest = sample.texts.iter().map(|text| text.chars().count()).max().unwrap_or(1);
    let scroller = NodeRef::<Div>::new();
    Effect::new(move || {
        let token = desk.token.get();
        if let Some(scroller) = scroller.get() {
            let column = f64::from(scroller.scroll_width()) / tokens.max(1) as f64;
            let (left, width) = (f64::from(scroller.scroll_left()), f64::from(scroller.client_width()));
            let start = token as f64 * column;
            if start < left || start + column > left + width {
                scroller.set_scroll_left((start - width / 2.0) as i32);
            }
        }
    });
    let chips: Vec<_> = (0..tokens)
        .map(|position| view! { <Chip position text=sample.texts[position].clone() token_role=sample.roles[position] /> })
        .collect();
    let answers: Vec<_> = (0..tokens).filter_map(|position| answer_at(&sample, position).map(|answer| (position, answer))).collect();
    let said: Vec<_> = answers
        .iter()
        .map(|(position, a)| {
            let class = if a.right { "answer answer-right" } else { "answer answer-wrong" };
            let word = if a.right { "right" } else { "wrong" };
            let column = format!("grid-column:{}", position + 1);
            view! { <span class=class style=column title=word>{a.answer.clone()}<span class="unseen">{format!(" {word}")}</span></span> }
        })
        .collect();
    let text = sample.clone();
    let place = move || desk.token.get().min(tokens.saturating_sub(1));
    let lined = format!("--tokens:{tokens};--chars:{longest}");
    view! {
        <div class="axis" class:axis-whole=move || whole.get() style=lined>
            <div class="axis-scroll" node_ref=scroller>
                <div class="axis-rows">
                    <div class="playhead" style:--at=move || place().to_string() aria-hidden="true"></div>
                    <div class="axis-row chips" aria-hidden="true">{chips}</div>
                    <div class="axis-row answers" aria-hidden="true">{said}</div>
                    <input
                        class="scrubber"
                        type="range"
                        min="0"
                        max=tokens.saturating_sub(1)
                        step="1"
                        aria-label="Token"
                        aria-valuetext=move || sentence(&text, place())
                        data-testid="scrubber"
                        prop:value=move || place().to_string()
                        on:input=move |event| {
                            if let Ok(token) = event_target_value(&event).parse() {
                                desk.token.set(token);
                            }
                        }
                    />
                    <Strips />
                </div>
            </div>
        </div>
    }
}

/// All strips of the shown layer and head.
#[component]
fn Strips() -> impl IntoView {
    let view_part = desk().session.view();
    let traced = Memo::new(move |_| view_part.with(|view| view.traced.clone()));
    move || {
        traced.get().map(|traced| {
            let first = traced.trace.first;
            traced.strips.iter().cloned().map(|strip| view! { <StripRow strip first /> }).collect::<Vec<_>>()
        })
    }
}
