//! The controls, made from the one table of settings.

use super::control::Control;
use crate::desk::desk;
use crate::table::{Line, about, groups, lines, seen_as};
use leptos::{html::Details, prelude::*};
use palimpsest_spec::{Group, Settings};

/// All groups. What a group shows depends on the settings: each task has its own rows.
#[component]
pub(crate) fn Controls() -> impl IntoView {
    let draft = desk().draft;
    let all = Memo::new(move |_| draft.with(lines));
    let shown = Memo::new(move |_| all.with(|all| groups(all)));
    let differs = Memo::new(move |_| all.with(|all| all.iter().any(Line::changed)));
    view! {
        <section class="controls" aria-label="Settings">
            <For each=move || shown.get() key=|group| *group let:group>
                <GroupView group all />
            </For>
            <button
                class="plain"
                disabled=move || !differs.get()
                on:click=move |_| draft.update(|draft| *draft = seen_as(draft, Settings::default()))
            >
                "All settings to their defaults"
            </button>
        </section>
    }
}

/// Essentials in sight, the rest behind "more".
#[component]
fn GroupView(group: Group, all: Memo<Vec<Line>>) -> impl IntoView {
    let keys = move |essential: bool| {
        Memo::new(move |_| {
            let own = |line: &&Line| line.group == group && line.essential == essential;
            all.with(|all| all.iter().filter(own).map(|line| line.key).collect::<Vec<_>>())
        })
    };
    let (essential, more) = (keys(true), keys(false));
    let hidden = move |line: &&Line| line.group == group && !line.essential && line.changed();
    let summary = move || match all.with(|all| all.iter().filter(hidden).count()) {
        0 => "More".to_owned(),
        changed => format!("More ({changed} changed)"),
    };
    // A correction of a hidden field brings it into sight.
    let details = NodeRef::<Details>::new();
    let notes = desk().notes;
    let corrected = Memo::new(move |_| more.with(|keys| keys.iter().any(|key| !notes.about(key).is_empty())));
    Effect::new(move || {
        if let Some(details) = details.get().filter(|_| corrected.get()) {
            let _ = details.set_attribute("open", "");
        }
    });
    view! {
        <fieldset class="group">
            <legend>{group.label()}</legend>
            <For each=move || essential.get() key=|key| *key let:key><Control key_name=key all /></For>
            <AboutChoice group />
            <Show when=move || more.with(|more| !more.is_empty())>
                <details node_ref=details>
                    <summary>{summary}</summary>
                    <For each=move || more.get() key=|key| *key let:key><Control key_name=key all /></For>
                </details>
            </Show>
        </fieldset>
    }
}

/// What the chosen rule or task is: a sentence, its equations, its source.
#[component]
fn AboutChoice(group: Group) -> impl IntoView {
    let draft = desk().draft;
    let text = Memo::new(move |_| draft.with(|draft| about(draft, group)));
    move || {
        text.get().map(|about| {
            let equations = (!about.equations.is_empty()).then(|| {
                view! { <details><summary>"Equations"</summary><pre class="equations" tabindex="0">{about.equations.join("\n")}</pre></details> }
            });
            view! { <div class="about"><p>{about.sentence}</p>{equations}<p class="quiet">{about.cites}</p></div> }
        })
    }
}
