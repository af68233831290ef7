//! The worker without its browser, on the CPU: commands become the right events.

use palimpsest_protocol::{Command, Event, Fallback, Look, Phase, RunId};
use palimpsest_worker::{Desk, Devices};
use pollster::block_on;

const SMALL: &str = "length=16&pairs=2&vocab=16&width=16&heads=1&key=8&value=8&layers=1&batch=8&mlp=0&eval=16&eval_every=5&steps=10";

fn open(settings: &str) -> (Desk, Vec<Event>) {
    let mut desk = Desk::new(Devices::cpu_only());
    let command = Command::Open { run: RunId(7), settings: settings.to_owned(), look: Look::default() };
    let mut events = block_on(desk.handle(command));
    assert!(!events.iter().any(|event| matches!(event, Event::Evaluated { .. })), "the picture does not wait for the evaluation");
    while desk.is_busy() {
        events.extend(block_on(desk.advance()));
    }
    (desk, events)
}

fn train(desk: &mut Desk) -> Vec<Event> {
    let mut events = block_on(desk.handle(Command::Train));
    while desk.is_busy() {
        events.extend(block_on(desk.advance()));
    }
    events
}

#[test]
fn an_opened_run_is_shown_untrained() {
    let (desk, events) = open(SMALL);
    assert!(matches!(events[0], Event::Device { fallback: Some(Fallback::Asked), .. }));
    assert!(events.iter().any(|event| matches!(event, Event::Opened { run: RunId(7), facts } if facts.steps == 10 && facts.state == 64)));
    assert!(events.iter().any(|event| matches!(event, Event::Sampled { .. })));
    assert!(events.iter().any(|event| matches!(event, Event::Traced { trace, .. } if trace.tokens == 16)));
    assert!(
        events
            .iter()
            .any(|event| matches!(event, Event::Evaluated { evaluation, .. } if evaluation.step == 0 && evaluation.examples == 16))
    );
    assert!(!desk.is_busy());
}

#[test]
fn training_ends_done_and_reset_starts_again() {
    let (mut desk, _) = open(SMALL);
    let events = train(&mut desk);
    assert!(matches!(events.last(), Some(Event::Phase { phase: Phase::Done, step: 10, .. })));
    let losses: usize =
        events.iter().map(|event| if let Event::Progress { progress, .. } = event { progress.losses.len() } else { 0 }).sum();
    assert_eq!(losses, 10);
    let events = block_on(desk.handle(Command::Reset));
    assert!(matches!(events[0], Event::Phase { phase: Phase::Ready, step: 0, .. }));
    let events = block_on(desk.handle(Command::Step));
    assert!(events.iter().any(|event| matches!(event, Event::Phase { phase: Phase::Paused, step: 1, .. })));
}

#[test]
fn looking_elsewhere_changes_what_is_shown() {
    let (mut desk, _) = open(&format!("{SMALL}&layers=2&heads=2"));
    let events = block_on(desk.handle(Command::Look(Look { layer: 1, head: 1, sample: 3 })));
    assert!(events.iter().any(|event| matches!(event, Event::Sampled { sample, .. } if sample.index == 3)));
    assert!(events.iter().any(|event| matches!(event, Event::Traced { layer: 1, head: 1, .. })));
}

#[test]
fn the_self_check_passes_on_this_processor() {
    let (mut desk, _) = open(SMALL);
    block_on(desk.handle(Command::SelfCheck));
    let mut rows = 0;
    while desk.is_busy() {
        for event in block_on(desk.advance()) {
            match event {
                Event::Checked(row) => {
                    assert!(row.passed, "{row:?}");
                    rows += 1;
                }
                Event::CheckDone { passed, failed, cut } => assert_eq!((passed, failed, cut), (rows, 0, None)),
                other => panic!("{other:?}"),
            }
        }
    }
    assert!(rows >= 22);
}

#[test]
fn the_benchmark_gives_a_row_per_case_and_can_be_stopped() {
    let (mut desk, _) = open(SMALL);
    let command = |lengths| Command::Bench { settings: format!("{SMALL}&rules=linear,eda&form=recurrent&batch=1&lengths={lengths}") };
    block_on(desk.handle(command("64")));
    let mut events = Vec::new();
    while desk.is_busy() {
        events.extend(block_on(desk.advance()));
    }
    assert!(matches!(&events[0], Event::BenchBegun { rates, rows: 4, .. } if rates.copy_bytes_per_second > 0.0), "{:?}", events[0]);
    for event in &events[1..5] {
        let Event::Benched(row) = event else { panic!("{event:?}") };
        assert!(row.gpu.is_none() && row.wall.median > 0.0 && row.case.time == 64 && row.state == 64, "{row:?}");
        assert!(row.copy_share > 0.0 && row.fma_share > 0.0 && row.nanoseconds_per_token > 0.0, "{row:?}");
    }
    assert_eq!(events[5..], [Event::BenchDone { cut: None }]);

    block_on(desk.handle(command("64,128")));
    block_on(desk.advance());
    assert!(desk.is_busy());
    assert!(matches!(&block_on(desk.handle(Command::Cancel))[..], [Event::BenchDone { cut: Some(_) }]));
    assert!(!desk.is_busy());
}

#[test]
fn a_command_without_a_run_is_refused() {
    let mut desk = Desk::new(Devices::cpu_only());
    assert!(matches!(block_on(desk.handle(Command::Step))[0], Event::Refused(_)));
}
