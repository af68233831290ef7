//! The controls, made from the one table of settings.

use super::control::Control;
use crate::desk::desk;
use crate::table::{Group, groups};
use leptos::prelude::*;
use palimpsest_spec::Settings;

/// All groups. What a group shows depends on the settings: each task has its own rows.
#[component]
pub(crate) fn Controls() -> impl IntoView {
    let draft = desk().draft;
    let all = Memo::new(move |_| draft.with(groups));
    let titles = Memo::new(move |_| all.with(|all| all.iter().map(|group| group.title).collect::<Vec<_>>()));
    let differs = Memo::new(move |_| draft.with(|draft| *draft != Settings::default()));
    view! {
        <section class="controls" aria-label="Settings">
            <For each=move || titles.get() key=|title| *title let:title>
                <GroupView title all />
            </For>
            <button class="plain" disabled=move || !differs.get() on:click=move |_| draft.set(Settings::default())>"All settings to their defaults"</button>
        </section>
    }
}

/// Essentials in sight, the rest behind "more".
#[component]
fn GroupView(title: &'static str, all: Memo<Vec<Group>>) -> impl IntoView {
    let keys = move |essential: bool| {
        Memo::new(move |_| {
            all.with(|all| {
                let group = all.iter().find(|group| group.title == title);
                group
                    .map(|g| g.rows.iter().filter(|row| row.essential == essential).map(|row| row.key.clone()).collect::<Vec<_>>())
                    .unwrap_or_default()
            })
        })
    };
    let (essential, more) = (keys(true), keys(false));
    let hidden_changes = move || {
        all.with(|all| all.iter().filter(|g| g.title == title).flat_map(|g| &g.rows).filter(|row| !row.essential && row.changed()).count())
    };
    let summary = move || match hidden_changes() {
        0 => "More".to_owned(),
        1 => "More (1 changed)".to_owned(),
        n => format!("More ({n} changed)"),
    };
    view! {
        <fieldset class="group">
            <legend>{title}</legend>
            <For each=move || essential.get() key=String::clone let:key><Control name=key all /></For>
            <About title />
            <Show when=move || more.with(|more| !more.is_empty())>
                <details>
                    <summary>{summary}</summary>
                    <For each=move || more.get() key=String::clone let:key><Control name=key all /></For>
                </details>
            </Show>
        </fieldset>
    }
}

/// What the chosen rule or task is: a sentence, its equations, its source.
#[component]
fn About(title: &'static str) -> impl IntoView {
    let draft = desk().draft;
    let about = Memo::new(move |_| draft.with(|draft| crate::table::about(draft, title)));
    move || {
        about.get().map(|about| {
            view! {
                <div class="about">
                    <p>{about.sentence}</p>
                    {(!about.equations.is_empty()).then(|| {
                        let text = about.equations.join("\n");
                        view! { <details><summary>"Equations"</summary><pre class="equations">{text}</pre></details> }
                    })}
                    <p class="quiet">{about.cites}</p>
                </div>
            }
        })
    }
}
