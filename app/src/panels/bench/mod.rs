//! `?bench`: what does each rule cost on this device? Scans alone, at the sizes of the controls.

mod plot;
mod rows;

use super::ticks::Ticks;
use crate::desk::desk;
use crate::figure::{count, number};
use crate::session::{Bench, SessionStoreFields};
use crate::widgets::{CopyButton, CopyLink};
use leptos::prelude::*;
use palimpsest_protocol::{AdapterKind, Pass, Rates};
use palimpsest_rules::find;
use palimpsest_spec::Settings;
use plot::{Plot, Quantity};
use rows::Rows;

/// Choice, progress, plot and table of the benchmark.
#[component]
pub(crate) fn BenchPanel() -> impl IntoView {
    let desk = desk();
    let bench = desk.session.bench();
    let link = desk.session.worker_link();
    let pass = RwSignal::new(Pass::Forward);
    let quantity = RwSignal::new(Quantity::PerToken);
    let pointed = RwSignal::new(None);
    let rows = Memo::new(move |_| bench.with(|bench| bench.of(pass.get())));
    let running = Memo::new(move |_| bench.with(|bench| bench.running));
    let some = Memo::new(move |_| bench.with(|bench| !bench.rows.is_empty()));
    let on_gpu = Memo::new(move |_| {
        let asked = desk.draft.with(Settings::wants_cpu);
        !asked && link.with(|link| link.adapter.as_ref().is_none_or(|adapter| adapter.kind == AdapterKind::Gpu))
    });
    let none = Memo::new(move |_| desk.draft.with(|draft| draft.lengths().is_empty()));
    let csv = Memo::new(move |_| bench.with(Bench::csv));
    view! {
        <section class="bench" aria-label="Benchmark" data-testid="bench">
            <div class="panel-head">
                <h2>{move || format!("What does each rule cost on this {}?", if on_gpu.get() { "GPU" } else { "CPU" })}</h2>
                <span class="push"></span>
                <button class="plain" on:click=move |_| desk.bench_open.set(false)>"Close"</button>
            </div>
            <p class="quiet">{move || desk.draft.with(sizes)}</p>
            <div class="bench-choice">
                <Ticks key_name="rules" legend="Rules (none ticked: all)" />
                <Ticks key_name="lengths" legend="Lengths T, tokens" />
            </div>
            <div class="buttons">
                <Show
                    when=move || running.get()
                    fallback=move || {
                        view! {
                            <button class="plain" disabled=move || none.get() on:click=move |_| desk.measure() data-testid="measure">
                                {move || if none.get() { "Choose a length" } else { "Measure" }}
                            </button>
                        }
                    }
                >
                    <button class="plain" on:click=move |_| desk.stop_measuring() data-testid="stop-bench">"Stop"</button>
                </Show>
                <CopyLink />
                <Show when=move || some.get()>
                    <CopyButton label="Copy as CSV" copied="CSV copied" failed="Copy it from below" text=move || csv.get_untracked() />
                </Show>
            </div>
            <Show when=move || running.get()>
                <Progress />
            </Show>
            <p role="status" data-testid="bench-standing">{move || bench.with(standing)}</p>
            <Show when=move || some.get()>
                <div class="bench-views">
                    <Segments name="What a pass runs" choices=PASSES chosen=pass />
                    <Segments name="What the plot shows" choices=QUANTITIES chosen=quantity />
                </div>
                <Plot rows quantity pointed />
                <Rows rows pointed />
                <p class="quiet">{move || bench.with(|bench| bench.begun.as_ref().map(|begun| ceiling(begun.rates)))}</p>
                <details>
                    <summary>"All rows as CSV"</summary>
                    <pre class="csv num" tabindex="0" data-testid="csv">{move || csv.get()}</pre>
                </details>
            </Show>
            {move || bench.with(skipped)}
        </section>
    }
}

const PASSES: &[(Pass, &str)] = &[(Pass::Forward, "Forward"), (Pass::ForwardBackward, "Forward and backward")];
const QUANTITIES: &[(Quantity, &str)] = &[(Quantity::PerToken, "Time per token"), (Quantity::PerPass, "Time per pass")];

/// Buttons of which one is on.
#[component]
fn Segments<T: Copy + PartialEq + Send + Sync + 'static>(
    name: &'static str,
    choices: &'static [(T, &'static str)],
    chosen: RwSignal<T>,
) -> impl IntoView {
    let buttons: Vec<_> = choices
        .iter()
        .map(|&(choice, label)| {
            let here = move || chosen.get() == choice;
            view! {
                <button class="segment" class:segment-here=here aria-pressed=move || here().to_string() on:click=move |_| chosen.set(choice)>
                    {label}
                </button>
            }
        })
        .collect();
    view! { <div class="segments" role="group" aria-label=name>{buttons}</div> }
}

/// How far the benchmark is.
#[component]
fn Progress() -> impl IntoView {
    let bench = desk().session.bench();
    let done = move || bench.with(|bench| bench.place().0.to_string());
    let all = move || bench.with(|bench| bench.place().1.max(1).to_string());
    view! { <div class="progress"><progress aria-label="Cases measured" value=done max=all></progress></div> }
}

/// What stays the same in all cases.
fn sizes(settings: &Settings) -> String {
    let forms = match settings.form() {
        palimpsest_spec::Form::Auto => format!("both forms, chunks of {}", settings.chunk()),
        palimpsest_spec::Form::Recurrent => "the recurrent form".to_owned(),
        palimpsest_spec::Form::Chunked => format!("the chunked form, chunks of {}", settings.chunk()),
    };
    format!(
        "The scan alone, at the sizes of the controls: B = {}, H = {}, K = {}, V = {}; {forms}. Training waits while this measures.",
        settings.batch(),
        settings.heads(),
        settings.key(),
        settings.value()
    )
}

/// Where the benchmark stands, in a sentence.
fn standing(bench: &Bench) -> String {
    let (done, all) = bench.place();
    let Some(begun) = &bench.begun else {
        return match (bench.running, &bench.cut) {
            (true, _) => "First the ceiling: how fast this device copies, and multiplies and adds.".to_owned(),
            (false, Some(reason)) => format!("Nothing was measured: {reason}."),
            (false, None) => "Nothing is measured yet.".to_owned(),
        };
    };
    let clock = if begun.rates.timestamps { "GPU timestamps" } else { "the wall clock over passes in a row" };
    match (bench.running, &bench.cut) {
        (true, _) => {
            let last = bench.rows.last().map(|row| format!(", last {}, T {}", rule_name(&row.case.rule), count(row.case.time.into())));
            format!("Measuring by {clock}: {done} of {all}{}.", last.unwrap_or_default())
        }
        (false, None) => format!("{done} cases measured on {} by {clock}.", begun.adapter.name),
        (false, Some(reason)) => {
            format!("{done} of {all} cases measured on {} by {clock}; the rest was not: {reason}.", begun.adapter.name)
        }
    }
}

/// What shares are shares of.
fn ceiling(rates: Rates) -> String {
    format!(
        "Shares are of what two small kernels reached on this device a moment before: {} GB/s copied, {} GFLOP/s multiplied and added. \
         Bytes count what must move once, operations what the equations need once; a share above 100 % means that caches held it.",
        number(rates.copy_bytes_per_second / 1e9),
        number(rates.fma_flops_per_second / 1e9)
    )
}

/// Cases that do not fit this device.
fn skipped(bench: &Bench) -> Option<impl IntoView + use<>> {
    (!bench.skipped.is_empty()).then(|| {
        let lines: Vec<_> = bench.skipped.iter().map(|(_, reason)| view! { <li>{reason.clone()}</li> }).collect();
        view! { <details><summary>{format!("{} cases could not be measured", lines.len())}</summary><ul class="by-rule">{lines}</ul></details> }
    })
}

/// A rule's name.
fn rule_name(slug: &str) -> String {
    find(slug).map_or_else(|| slug.to_owned(), |rule| rule.name().to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;
    use palimpsest_protocol::Event;

    #[test]
    fn every_state_has_its_sentence() {
        let mut bench = Bench::default();
        assert_eq!(standing(&bench), "Nothing is measured yet.");
        bench.ask();
        assert!(standing(&bench).starts_with("First the ceiling"));
        bench.apply(&Event::BenchDone { cut: Some("it was stopped".into()) });
        assert_eq!(standing(&bench), "Nothing was measured: it was stopped.");
    }

    #[test]
    fn sizes_name_the_forms() {
        let said = |link: &str| sizes(&Settings::from_link(link).0);
        assert!(said("v=1&chunk=32").contains("both forms, chunks of 32"));
        assert!(said("v=1&form=recurrent&key=16").contains("K = 16") && said("v=1&form=recurrent").contains("the recurrent form"));
    }
}
