//! One run in the table: its name to edit, its numbers, what can be done with it.

use super::chart_reading::RunMark;
use crate::desk::desk;
use crate::figure::{count, duration, percent, percent_interval};
use crate::session::{Run, SessionStoreFields, keep};
use leptos::prelude::*;
use palimpsest_protocol::RunId;

/// A row.
#[component]
pub(crate) fn RunRow(id: RunId) -> impl IntoView {
    let desk = desk();
    let runs = desk.session.runs();
    let of = move |read: fn(&Run) -> String| move || runs.with(|runs| runs.get(id).map(read).unwrap_or_default());
    let mark = runs.with_untracked(|runs| runs.get(id).map(|run| run.mark).unwrap_or_default());
    let shown = move || runs.with(|runs| runs.get(id).is_some_and(|run| run.shown));
    let current = Memo::new(move |_| runs.with(|runs| runs.current == Some(id)));
    let change = move |change: &dyn Fn(&mut Run)| {
        runs.update(|runs| {
            if let Some(run) = runs.get_mut(id) {
                change(run);
            }
            keep(&runs.all);
        });
    };
    let rename = move |event| {
        let name = event_target_value(&event);
        if !name.trim().is_empty() {
            change(&|run| (run.name, run.renamed) = (name.trim().to_owned(), true));
        }
    };
    // A written name need not tell the rule.
    let renamed = Memo::new(move |_| runs.with(|runs| runs.get(id).is_some_and(|run| run.renamed)));
    let load = move |_| {
        let link = runs.with_untracked(|runs| runs.get(id).map(|run| run.link.clone()));
        if let Some(link) = link {
            desk.load(&link);
        }
    };
    let delete = move |_| {
        runs.update(|runs| {
            runs.delete(id);
            keep(&runs.all);
        });
    };
    let accuracy = of(|run| run.evaluation().map_or_else(|| "–".to_owned(), |e| percent(e.accuracy)));
    let interval = of(|run| run.evaluation().map(percent_interval).unwrap_or_default().replacen(", ", "\n", 1));
    view! {
        <tr class:run-hidden=move || !shown() class:run-current=current>
            <th scope="row">
                <span class="run-name">
                    <RunMark mark />
                    <input class="rename" aria-label="Name of this run" prop:value=of(|run| run.name.clone()) on:change=rename />
                </span>
                <Show when=move || renamed.get()><span class="run-rule quiet">{of(|run| run.rule.clone())}</span></Show>
                <span class="row-actions">
                    <button class="word" aria-pressed=move || (!shown()).to_string() on:click=move |_| change(&|run| run.shown = !run.shown)>
                        {move || if shown() { "Hide" } else { "Show" }}
                    </button>
                    <button class="word" on:click=load>"Load"</button>
                    <button class="word" disabled=current on:click=delete>"Delete"</button>
                </span>
            </th>
            <td class="num">{of(steps_to_99)}</td>
            <td class="num interval">{of(|run| duration(run.seconds()))}</td>
            <td class="num interval">{accuracy}<br />{interval}</td>
        </tr>
    }
}

fn steps_to_99(run: &Run) -> String {
    match run.reached() {
        Some((step, seconds)) => format!("{} ({})", count(step.into()), duration(seconds)),
        None if run.over() => "not reached".to_owned(),
        None => "not yet".to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::session::tests_support::{evaluation, run};

    #[test]
    fn a_row_says_what_was_reached() {
        let mut seen = run(40);
        assert_eq!(steps_to_99(&seen), "not yet");
        seen.phase = palimpsest_protocol::Phase::Done;
        assert_eq!(steps_to_99(&seen), "not reached");
        seen.evaluations = vec![evaluation(40, 0.984)];
        seen.evaluations[0].reached_99 = Some((30, 2.0));
        assert_eq!(steps_to_99(&seen), "30 (2.0 s)");
    }
}
