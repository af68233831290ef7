//! How many steps go into one burst, and how fast the run goes.

use web_time::{Duration, Instant};

/// A burst aims at this long: short enough that pause, look and reset feel immediate.
const TARGET: Duration = Duration::from_millis(80);
/// Largest burst, whatever the speed.
const LARGEST: u32 = 64;
/// Speeds are averaged over about this many seconds.
const WINDOW: f64 = 3.0;

/// Measures bursts, chooses the next one's size, and keeps the run's clock.
#[derive(Clone, Debug)]
pub(crate) struct Pace {
    burst: u32,
    started: Option<Instant>,
    /// Seconds of training so far.
    pub(crate) seconds: f64,
    /// Steps per second over the last seconds; 0 before the first burst.
    pub(crate) steps_per_second: f64,
}

impl Pace {
    pub(crate) fn new() -> Pace {
        Pace { burst: 1, started: None, seconds: 0.0, steps_per_second: 0.0 }
    }

    /// Steps of the next burst.
    pub(crate) fn burst(&self) -> u32 {
        self.burst
    }

    /// A burst begins.
    pub(crate) fn begin(&mut self) {
        self.started = Some(Instant::now());
    }

    /// A burst of `steps` has ended.
    pub(crate) fn end(&mut self, steps: u32) {
        let Some(started) = self.started.take() else { return };
        self.record(steps, started.elapsed());
    }

    fn record(&mut self, steps: u32, elapsed: Duration) {
        let seconds = elapsed.as_secs_f64().max(1e-9);
        self.seconds += seconds;
        let speed = f64::from(steps) / seconds;
        let weight = if self.steps_per_second == 0.0 { 1.0 } else { (seconds / WINDOW).min(1.0) };
        self.steps_per_second += weight * (speed - self.steps_per_second);
        if elapsed < TARGET / 2 {
            self.burst = (self.burst * 2).min(LARGEST);
        } else if elapsed > TARGET * 2 {
            self.burst = (self.burst / 2).max(1);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn bursts_grow_while_short_and_shrink_when_long() {
        let mut pace = Pace::new();
        for _ in 0..10 {
            pace.record(pace.burst, Duration::from_millis(5));
        }
        assert_eq!(pace.burst(), LARGEST);
        pace.record(64, Duration::from_millis(900));
        assert_eq!(pace.burst(), 32);
        assert!(pace.steps_per_second > 0.0 && pace.seconds > 0.9);
    }
}
