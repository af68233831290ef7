//! The worker's state: a device and the current run.

use crate::bench::Bench;
use crate::check::Check;
use crate::device::{Devices, cpu_adapter, fallback};
use crate::run::Run;
use palimpsest_plan::BackendError;
use palimpsest_protocol::{Command, Event, Failure, Fallback, Look, Phase, RunId};
use palimpsest_spec::Settings;
use palimpsest_train::{Engine, TrainError};

/// Steps of one burst when nothing else limits it.
const NO_LIMIT: u32 = u32::MAX;

/// Carries out commands; every result is an event.
pub struct Desk {
    devices: Devices,
    run: Option<Run>,
    check: Option<Check>,
    bench: Option<Bench>,
}

impl Desk {
    /// A desk on opened devices.
    pub fn new(devices: Devices) -> Desk {
        Desk { devices, run: None, check: None, bench: None }
    }

    /// Whether [`Desk::advance`] has work without a new command.
    pub fn is_busy(&self) -> bool {
        self.check.is_some() || self.bench.is_some() || self.run.as_ref().is_some_and(|run| run.is_training() || run.owes_evaluation())
    }

    /// Carries out one command.
    pub async fn handle(&mut self, command: Command) -> Vec<Event> {
        match command {
            Command::Open { run, settings, look } => self.open(run, Settings::from_link(&settings).0, look).await,
            Command::Train => self.with_run(Run::train),
            Command::Pause => self.with_run(Run::pause),
            Command::Step => {
                let Some(run) = &mut self.run else { return no_run() };
                let outcome = run.single().await;
                self.settle(outcome).await
            }
            Command::Reset => {
                let Some(run) = &mut self.run else { return no_run() };
                let outcome = run.reset().await;
                self.settle(outcome).await
            }
            Command::Look(look) => {
                // the next Open says again what to show
                let Some(run) = &mut self.run else { return Vec::new() };
                run.look = look;
                let outcome = run.show().await;
                self.settle(outcome).await
            }
            Command::SelfCheck => {
                let wants_cpu = self.run.as_ref().is_some_and(|run| run.settings.wants_cpu());
                match Check::new(self.devices.engine(wants_cpu).0) {
                    Ok(check) => self.check = Some(check),
                    Err(error) => return vec![Event::Refused(error)],
                }
                Vec::new()
            }
            Command::Bench { settings } => {
                let settings = Settings::from_link(&settings).0;
                let (engine, _) = self.devices.engine(settings.wants_cpu());
                self.bench = Some(Bench::new(engine.clone(), self.devices.adapter(&engine), &settings));
                Vec::new()
            }
            Command::Cancel => {
                self.check = None;
                let stopped = self.bench.take().map(|_| Event::BenchDone { cut: Some("it was stopped".to_owned()) });
                stopped.into_iter().collect()
            }
        }
    }

    /// A burst of training, or one row of the self-check or the benchmark; training waits for those.
    pub async fn advance(&mut self) -> Vec<Event> {
        if let Some(check) = &mut self.check {
            let outcome = check.advance().await;
            let outcome = outcome.map_err(|error| (check.close(Some(error.to_string())), error));
            return self.row(outcome).await;
        }
        if let Some(bench) = &mut self.bench {
            let outcome = bench.advance().await;
            let outcome = outcome.map_err(|error| (Event::BenchDone { cut: Some(error.to_string()) }, error));
            return self.row(outcome).await;
        }
        match &mut self.run {
            Some(run) if run.is_training() && !run.owes_evaluation() => {
                let outcome = run.advance(NO_LIMIT).await;
                self.settle(outcome).await
            }
            Some(run) if run.owes_evaluation() => {
                let outcome = run.evaluate().await;
                self.settle(outcome).await
            }
            _ => Vec::new(),
        }
    }

    /// Tells of a row of the self-check or the benchmark, or of its end: its last row, or an error with the closing event.
    async fn row(&mut self, outcome: Result<Event, (Event, TrainError)>) -> Vec<Event> {
        let (event, error) = match outcome {
            Ok(event) => (event, None),
            Err((closing, error)) => (closing, Some(error)),
        };
        match event {
            Event::CheckDone { .. } => self.check = None,
            Event::BenchDone { .. } => self.bench = None,
            _ => {}
        }
        let mut events = vec![event];
        if let Some(error) = error {
            events.extend(self.settle(Err(error)).await);
        }
        events
    }

    fn with_run(&mut self, act: impl Fn(&mut Run)) -> Vec<Event> {
        let Some(run) = &mut self.run else { return no_run() };
        act(run);
        vec![run.phase_event()]
    }

    /// Builds a run. A model that does not fit the GPU goes to the CPU, and the page is told.
    async fn open(&mut self, id: RunId, settings: Settings, look: Look) -> Vec<Event> {
        // the old run's buffers go before the new one's are made
        self.run = None;
        let wants_cpu = settings.wants_cpu();
        let mut events = vec![self.devices.event(wants_cpu)];
        let (engine, _) = self.devices.engine(wants_cpu);
        let mut opened = Run::open(&engine, id, settings.clone(), look).await;
        if let (Engine::Gpu(_), Err(TrainError::Backend(error))) = (&engine, &opened) {
            let reason = fallback(error.clone());
            if !matches!(reason, Fallback::Limit(_)) {
                self.devices.lose(reason.clone());
            }
            events.push(Event::Device { adapter: cpu_adapter(), fallback: Some(reason) });
            opened = Run::open(&Engine::Cpu, id, settings, look).await;
        }
        let mut run = match opened {
            Ok(run) => run,
            Err(error) => {
                // the page shows it as that run's end, and opens another when a setting changes
                let phase = Phase::Failed(Failure { step: 0, message: error.to_string() });
                events.push(Event::Phase { run: id, phase, step: 0 });
                return events;
            }
        };
        events.push(Event::Opened { run: id, facts: run.facts(&self.devices) });
        events.push(run.phase_event());
        let outcome = run.first_look().await;
        self.run = Some(run);
        events.extend(Box::pin(self.settle(outcome)).await);
        events
    }

    /// Turns an outcome into events. A lost device moves the run to the CPU; any other error ends it.
    async fn settle(&mut self, outcome: Result<Vec<Event>, TrainError>) -> Vec<Event> {
        let error = match outcome {
            Ok(events) => return events,
            Err(error) => error,
        };
        let Some(run) = &mut self.run else { return vec![Event::Refused(error.to_string())] };
        if let TrainError::Backend(BackendError::DeviceLost(reason)) = error {
            let (id, settings, look, training) = (run.id, run.settings.clone(), run.look, run.is_training());
            self.devices.lose(Fallback::DeviceLost(reason));
            let mut events = Box::pin(self.open(id, settings, look)).await;
            if training {
                events.extend(self.with_run(Run::train));
            }
            return events;
        }
        run.fail(error.to_string());
        vec![run.phase_event()]
    }
}

fn no_run() -> Vec<Event> {
    vec![Event::Refused("there is no run yet: open one first".to_owned())]
}
