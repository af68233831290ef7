//! The moments of a token as a row of buttons.

use crate::desk::{desk, frames};
use crate::session::{Frame, SessionStoreFields};
use leptos::prelude::*;

/// decay | erase | write, once per rank-one step, then read.
#[component]
pub(crate) fn Moments() -> impl IntoView {
    let desk = desk();
    let all = Memo::new(move |_| desk.session.view().with(frames));
    let steps = Memo::new(move |_| desk.rule_steps());
    move || {
        let all = all.get();
        let last = all.len() - 1;
        let several = all.len() > 4;
        let buttons: Vec<_> = all
            .into_iter()
            .enumerate()
            .map(|(index, frame)| {
                let here = move || desk.frame.get().min(last) == index;
                let word = match frame {
                    Frame::Edit { step, .. } if several => format!("{} {}", frame.word(), step + 1),
                    _ => frame.word().to_owned(),
                };
                view! {
                    <button
                        class="segment"
                        class:segment-here=here
                        aria-pressed=move || here().to_string()
                        title=move || steps.with(|steps| format!("{}  {}", frame.equation(), frame.about(steps)))
                        on:click=move |_| desk.frame.set(index)
                    >
                        {word}
                    </button>
                }
            })
            .collect();
        view! { <div class="segments" role="group" aria-label="Moment within the token">{buttons}</div> }
    }
}
