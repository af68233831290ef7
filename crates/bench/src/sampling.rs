//! Warm-up, then samples of many passes each.

use palimpsest_protocol::Timing;
use web_time::Instant;

/// Most passes of one sample: enough for a kernel of a few microseconds.
const MOST_REPEATS: u32 = 4096;
/// Samples that a slow case gets whatever it costs.
const FEWEST: usize = 3;

/// How long to measure.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Effort {
    /// Samples of each case.
    pub samples: u32,
    /// Seconds that a sample takes at least: passes are repeated until then, so that waiting for the device weighs little.
    pub sample_seconds: f64,
    /// Seconds after which no further sample of a case begins, once there are three.
    pub case_seconds: f64,
}

/// What was measured: times of one pass.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Times {
    pub(crate) gpu: Option<Timing>,
    pub(crate) wall: Timing,
    pub(crate) samples: u32,
    pub(crate) repeats: u32,
}

/// Times `run`, which makes so many passes in a row, waits for them, and gives the GPU seconds of all of them where it can.
/// A sample has at most `most` passes.
pub(crate) async fn measure<E>(effort: Effort, most: u32, mut run: impl AsyncFnMut(u32) -> Result<Option<f64>, E>) -> Result<Times, E> {
    // Drivers finish compiling and memory is touched in the first pass.
    run(1).await?;
    let most = most.clamp(1, MOST_REPEATS);
    let mut repeats = 1;
    loop {
        let start = Instant::now();
        run(repeats).await?;
        let seconds = start.elapsed().as_secs_f64();
        if seconds >= effort.sample_seconds || repeats == most {
            break;
        }
        // a first guess is mostly waiting: grow in several turns
        let factor = (1.2 * effort.sample_seconds / seconds.max(1e-6)).clamp(1.2, 8.0);
        repeats = ((f64::from(repeats) * factor).ceil() as u32).min(most);
    }
    let (mut gpu, mut wall) = (Vec::new(), Vec::new());
    let begun = Instant::now();
    while wall.len() < effort.samples as usize && (wall.len() < FEWEST || begun.elapsed().as_secs_f64() < effort.case_seconds) {
        let start = Instant::now();
        let seconds = run(repeats).await?;
        wall.push(start.elapsed().as_secs_f64() / f64::from(repeats));
        gpu.extend(seconds.map(|seconds| seconds / f64::from(repeats)));
    }
    let samples = wall.len() as u32;
    let gpu = if gpu.len() == wall.len() { timing(gpu) } else { None };
    let nothing = Timing { median: f64::NAN, min: f64::NAN, max: f64::NAN };
    Ok(Times { gpu, wall: timing(wall).unwrap_or(nothing), samples, repeats })
}

/// Median (of an even number, the mean of the middle two), smallest and largest.
fn timing(mut seconds: Vec<f64>) -> Option<Timing> {
    seconds.sort_by(f64::total_cmp);
    let (&min, &max) = (seconds.first()?, seconds.last()?);
    let median = (seconds[(seconds.len() - 1) / 2] + seconds[seconds.len() / 2]) / 2.0;
    Some(Timing { median, min, max })
}

#[cfg(test)]
mod tests {
    use super::*;
    use pollster::block_on;
    use std::time::Duration;

    const EFFORT: Effort = Effort { samples: 5, sample_seconds: 0.004, case_seconds: 10.0 };

    #[test]
    fn short_passes_are_repeated_and_the_median_is_of_one() {
        let mut passes = 0;
        let run = async |repeats: u32| {
            passes += repeats;
            std::thread::sleep(Duration::from_micros(200) * repeats);
            Ok::<_, ()>(Some(1e-4 * f64::from(repeats)))
        };
        let times = block_on(measure(EFFORT, 1000, run)).unwrap();
        assert!(times.repeats > 4 && times.samples == 5, "{times:?}");
        assert!((2e-4..2e-3).contains(&times.wall.median) && times.wall.min <= times.wall.median && times.wall.median <= times.wall.max);
        let gpu = times.gpu.unwrap();
        assert!((gpu.median - 1e-4).abs() < 1e-9 && passes > 5 * times.repeats);
    }

    #[test]
    fn a_slow_case_ends_early_and_a_missing_stamp_leaves_wall_time() {
        let effort = Effort { samples: 100, sample_seconds: 0.0, case_seconds: 0.0 };
        let mut calls = 0;
        let run = async |_: u32| {
            calls += 1;
            Ok::<_, ()>((calls != 4).then_some(1.0))
        };
        let times = block_on(measure(effort, 1, run)).unwrap();
        assert_eq!((times.samples, times.gpu), (FEWEST as u32, None));
    }

    #[test]
    fn a_median_of_an_even_number_is_between() {
        let timing = timing(vec![4.0, 1.0, 2.0, 9.0]).unwrap();
        assert_eq!((timing.median, timing.min, timing.max), (3.0, 1.0, 9.0));
    }
}
