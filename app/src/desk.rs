//! What the person holds: the controls' draft, the place in the sequence, and the actions of buttons and keys.

use crate::bridge::{Bridge, News};
use crate::notes::Notes;
use crate::panels::AxisView;
use crate::session::{Frame, Next, Primary, Session, SessionStoreFields, View, WorkerLink, hear, keep};
use crate::table::{seen_as, set};
use leptos::prelude::*;
use palimpsest_protocol::{Command, Event, Look, Phase, RunId, Sample};
use palimpsest_rules::StepParts;
use palimpsest_spec::{Correction, Settings};
use palimpsest_tasks::Legend;
use reactive_stores::Store;

/// Shared by all panels; a copy is as good as the original.
#[derive(Clone, Copy)]
pub(crate) struct Desk {
    /// What came from the worker.
    pub(crate) session: Store<Session>,
    /// What the controls say.
    pub(crate) draft: RwSignal<Settings>,
    /// Layer, head and sample on show, as the settings say.
    pub(crate) look: Memo<Look>,
    /// Token on show, from 0.
    pub(crate) token: RwSignal<usize>,
    /// Index of the frame on show within [`Frame::all`].
    pub(crate) frame: RwSignal<usize>,
    /// Step under the chart's pointer.
    pub(crate) pointed: RwSignal<Option<u32>>,
    /// Whether the list of keys is shown.
    pub(crate) keys: RwSignal<bool>,
    /// Whether the benchmark is shown.
    pub(crate) bench_open: RwSignal<bool>,
    /// What did not fit, in the link or with the last change of a control.
    pub(crate) notes: Notes,
    /// How the token axes are scrolled.
    pub(crate) axis: AxisView,
    /// A sentence about a worker that is slow to answer.
    pub(crate) late: RwSignal<Option<String>>,
    /// Whether the place has been put on a token worth seeing.
    placed: StoredValue<bool>,
    bridge: Bridge,
}

impl Desk {
    /// A desk with the settings of the address.
    pub(crate) fn new(session: Store<Session>, settings: Settings, corrections: Vec<Correction>) -> Desk {
        let draft = RwSignal::new(settings);
        Desk {
            session,
            draft,
            look: Memo::new(move |_| draft.with(look)),
            notes: Notes::new(corrections),
            axis: AxisView::new(),
            placed: StoredValue::new(false),
            token: RwSignal::new(0),
            frame: RwSignal::new(usize::MAX),
            pointed: RwSignal::new(None),
            keys: RwSignal::new(false),
            bench_open: RwSignal::new(false),
            late: RwSignal::new(None),
            bridge: Bridge::new(),
        }
    }

    /// Starts the worker and asks for the first run.
    pub(crate) fn start(self, self_check: bool) {
        self.bridge.start(move |news| self.hear(news));
        self.open(&self.draft.get_untracked());
        if self_check {
            self.bridge.send(Command::SelfCheck);
        }
        Effect::watch(move || self.look.get(), move |look, _, _| self.bridge.send(Command::Look(*look)), false);
    }

    fn hear(self, news: News) {
        match news {
            News::Dead(reason) => self.end(reason),
            News::Late(sentence) => self.late.set(Some(sentence)),
            News::Event(event) => {
                hear(self.session, &event);
                self.react(&event);
            }
        }
    }

    /// The worker has stopped, and with it the run in work and those to come.
    fn end(self, reason: String) {
        self.session.queue().update(|queue| queue.clear());
        self.session.runs().update(|runs| runs.end_current(&reason));
        self.session.worker_link().update(|link| (link.dead, link.adapter) = (Some(reason), None));
    }

    fn react(self, event: &Event) {
        match event {
            Event::Device { .. } => self.late.set(None),
            Event::Opened { facts, .. } => {
                let look = self.look.get_untracked();
                // Full-attention layers hold no state, and another model may have fewer heads.
                if let Some(layer) = facts.scan_layers.last().filter(|_| !facts.scan_layers.contains(&look.layer)) {
                    self.set("layer", &(layer + 1).to_string());
                }
                if look.head >= facts.heads {
                    self.set("head", &facts.heads.to_string());
                }
            }
            Event::Sampled { sample, .. } => self.place_at_first_question(sample),
            Event::Phase { phase: Phase::Done | Phase::Failed(_), .. } => self.session.runs().with_untracked(|runs| keep(&runs.all)),
            _ => {}
        }
        let mut next = Next::Nothing;
        self.session.queue().try_maybe_update(|queue| {
            let before = queue.clone();
            next = queue.react(event);
            (*queue != before, ())
        });
        match next {
            Next::Train => self.bridge.send(Command::Train),
            Next::Open(waiting) => self.open_next(&waiting.link),
            Next::Nothing => {}
        }
    }

    /// The steps of the rule whose memory is on show.
    pub(crate) fn rule_steps(self) -> Vec<StepParts> {
        self.of_shown(|settings| settings.rule().steps().to_vec())
    }

    /// What the tokens on show are for, in the words of their task.
    pub(crate) fn legend(self) -> &'static [Legend] {
        self.of_shown(|settings| settings.task().legend())
    }

    /// Something that the settings of the run on show decide.
    fn of_shown<T: Default>(self, read: impl Fn(Settings) -> T) -> T {
        let run = self.session.view().with(|view| view.run);
        let link = self.session.runs().with(|runs| run.and_then(|id| runs.get(id)).map(|run| run.link.clone()));
        link.map(|link| read(Settings::from_link(&link).0)).unwrap_or_default()
    }

    /// Asks for a run; the one in view stays as a curve if it has trained.
    pub(crate) fn open(self, settings: &Settings) -> Option<RunId> {
        if self.session.worker_link().with_untracked(|link| link.dead.is_some()) {
            self.session.worker_link().update(|link| *link = WorkerLink::default());
            self.bridge.start(move |news| self.hear(news));
        }
        let run = self.session.runs().try_update(|runs| runs.open(settings))?;
        self.bridge.send(Command::Open { run, settings: settings.run_link(), look: self.look.get_untracked() });
        Some(run)
    }

    fn open_next(self, link: &str) {
        let (settings, _) = Settings::from_link(link);
        if let Some(run) = self.open(&settings) {
            self.session.queue().update(|queue| queue.take_up(run));
        }
    }

    /// Trains these settings one after the other, from the first on.
    pub(crate) fn train_in_turn(self, links: Vec<String>) {
        let first = self.session.queue().try_update(|queue| queue.fill(links)).flatten();
        if let Some(first) = first {
            self.open_next(&first.link);
        }
    }

    /// Drops runs to come; the one in work stops.
    pub(crate) fn stop_queue(self) {
        self.session.queue().update(|queue| queue.clear());
        self.bridge.send(Command::Pause);
    }

    /// Whether the controls differ from the run in view in a way that needs a new start.
    pub(crate) fn changed(self) -> bool {
        let link = self.draft.with(Settings::run_link);
        self.session.runs().with(|runs| runs.current().is_some_and(|run| run.link != link))
    }

    /// What the large button does now.
    pub(crate) fn primary(self) -> Primary {
        let changed = self.changed();
        self.session.worker_link().with(|link| self.session.runs().with(|runs| Primary::of(link, runs.current(), changed)))
    }

    /// Presses the large button.
    pub(crate) fn press(self) {
        match untrack(|| self.primary()) {
            Primary::Train => self.bridge.send(Command::Train),
            Primary::Pause => self.bridge.send(Command::Pause),
            Primary::StartNew => self.start_new(),
            Primary::NextSeed => {
                self.draft.update(Settings::next_seed);
                self.start_new();
            }
            Primary::Nothing => {}
        }
    }

    /// Trains the controls' settings as a new run.
    pub(crate) fn start_new(self) {
        self.train_in_turn(vec![self.draft.with_untracked(Settings::run_link)]);
    }

    /// One training step.
    pub(crate) fn step(self) {
        self.bridge.send(Command::Step);
    }

    /// The same initial weights again.
    pub(crate) fn reset(self) {
        self.session.queue().update(|queue| queue.clear());
        self.bridge.send(Command::Reset);
    }

    /// Runs the self-check again.
    pub(crate) fn check(self) {
        self.bridge.send(Command::SelfCheck);
    }

    /// Measures what each rule costs, at the controls' sizes.
    pub(crate) fn measure(self) {
        self.session.bench().update(|bench| bench.ask());
        self.bridge.send(Command::Bench { settings: self.draft.with_untracked(Settings::to_link) });
    }

    /// Stops measuring after the case in work.
    pub(crate) fn stop_measuring(self) {
        self.bridge.send(Command::Cancel);
    }

    /// Puts a run's settings into the controls; what is on show stays.
    pub(crate) fn load(self, link: &str) {
        self.draft.update(|draft| *draft = seen_as(draft, Settings::from_link(link).0));
    }

    /// Sets one setting from text, and tells what had to move with it.
    pub(crate) fn set(self, key: &str, text: &str) {
        let moved = self.draft.try_update(|draft| set(draft, key, text)).unwrap_or_default();
        self.notes.changed(key, moved);
    }

    /// The first sample opens at its first question: there the memory has something to show.
    fn place_at_first_question(self, sample: &Sample) {
        if let Some(label) = sample.labels.first().filter(|_| !self.placed.get_value()) {
            self.placed.set_value(true);
            self.token.set(label.position as usize);
        }
    }

    /// Moves along the sequence.
    pub(crate) fn move_token(self, by: isize) {
        let tokens = self.session.view().with_untracked(tokens);
        self.token.update(|token| *token = token.saturating_add_signed(by).min(tokens.saturating_sub(1)));
    }

    /// Moves along the moments, over into the neighbouring token.
    pub(crate) fn move_frame(self, by: isize) {
        let (tokens, frames) = self.session.view().with_untracked(|view| (tokens(view), frames(view).len()));
        let frame = self.frame.get_untracked().min(frames - 1);
        let place = (self.token.get_untracked() * frames + frame).saturating_add_signed(by).min((tokens * frames).saturating_sub(1));
        self.token.set(place / frames);
        self.frame.set(place % frames);
    }
}

/// What the settings show.
fn look(settings: &Settings) -> Look {
    Look { layer: settings.layer() as u32, head: settings.head() as u32, sample: settings.sample() }
}

/// Tokens of the sequence on show.
fn tokens(view: &View) -> usize {
    view.sample.as_ref().map_or(0, |sample| sample.tokens.len())
}

/// Frames of each token on show.
pub(crate) fn frames(view: &View) -> Vec<Frame> {
    Frame::all(view.traced.as_ref().map_or(1, |traced| traced.trace.steps))
}

/// The desk, from any component.
pub(crate) fn desk() -> Desk {
    expect_context()
}
