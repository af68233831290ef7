//! Train, step, reset; where the page stands; speed and sizes.

use crate::desk::desk;
use crate::figure::{count, duration, rate};
use crate::session::{Primary, Run, SessionStoreFields, standing};
use leptos::prelude::*;

/// The buttons and numbers of the run in view.
#[component]
pub(crate) fn Transport() -> impl IntoView {
    let desk = desk();
    let session = desk.session;
    let primary = Memo::new(move |_| desk.primary());
    let idle = move || matches!(primary.get(), Primary::Nothing);
    let no_step = move || idle() || session.runs().with(|runs| runs.current().is_none_or(Run::over));
    let sentence = move || {
        session.worker_link().with(|link| session.runs().with(|runs| session.queue().with(|queue| standing(link, runs.current(), queue))))
    };
    view! {
        <section class="transport" aria-label="Training">
            <div class="buttons">
                <button class="primary" disabled=idle on:click=move |_| desk.press() data-testid="train">{move || primary.get().word()}</button>
                <button class="plain" disabled=no_step on:click=move |_| desk.step()>"Step"</button>
                <button class="plain" disabled=idle on:click=move |_| desk.reset()>"Reset"</button>
            </div>
            <Changed />
            <p class="standing" role="status" data-testid="standing">{sentence}</p>
            <Figures />
        </section>
    }
}

/// Says that the controls differ from the run in view.
#[component]
fn Changed() -> impl IntoView {
    let desk = desk();
    let differs = Memo::new(move |_| desk.changed() && desk.session.runs().with(|runs| runs.current().is_some_and(|run| !run.untouched())));
    let put_back = move |_| {
        let link = desk.session.runs().with_untracked(|runs| runs.current().map(|run| run.link.clone()));
        if let Some(link) = link {
            desk.load(&link);
        }
    };
    view! {
        <Show when=move || differs.get()>
            <div class="changed" role="status">
                <p>"The controls differ from the run in view. A new run takes them up; this one stays as a curve."</p>
                <button class="plain" on:click=move |_| desk.start_new()>"Start new run"</button>
                <button class="plain" on:click=put_back>"Put settings back"</button>
            </div>
        </Show>
    }
}

/// Progress, speed, sizes.
#[component]
fn Figures() -> impl IntoView {
    let runs = desk().session.runs();
    let of =
        move |read: fn(&Run) -> Option<String>| move || runs.with(|runs| runs.current().and_then(read)).unwrap_or_else(|| "–".to_owned());
    let steps = of(|run| run.facts.as_ref().map(|facts| format!("{} of {}", count(run.step.into()), count(facts.steps.into()))));
    let share = move || {
        runs.with(|runs| runs.current().and_then(|run| run.facts.as_ref().map(|facts| f64::from(run.step) / f64::from(facts.steps.max(1)))))
            .unwrap_or(0.0)
    };
    let rows = [
        ("Steps/s", of(|run| run.progress.as_ref().map(|p| rate(p.steps_per_second)))),
        ("Tokens/s", of(|run| run.progress.as_ref().map(|p| rate(p.tokens_per_second)))),
        ("Time", of(|run| run.progress.as_ref().map(|p| duration(p.seconds)))),
        ("Time left", of(|run| run.progress.as_ref().filter(|_| !run.over()).map(|p| duration(p.seconds_left)))),
        ("Parameters", of(|run| run.facts.as_ref().map(|f| count(f.parameters)))),
        ("State size", of(|run| run.facts.as_ref().map(|f| format!("{} numbers", count(f.state))))),
    ];
    view! {
        <div class="progress">
            <progress max="1" prop:value=share aria-label="Steps done"></progress>
            <span class="num">{steps}</span>
        </div>
        <dl class="figures">
            {rows.map(|(name, number)| view! { <div><dt>{name}</dt><dd class="num">{number}</dd></div> })}
        </dl>
    }
}
