//! The benchmark: the device's rates, then rows as they come.

use palimpsest_protocol::{Adapter, BenchCase, BenchRow, Event, Pass, Rates};

/// What the benchmark has found.
#[derive(Clone, Debug, Default, PartialEq)]
pub(crate) struct Bench {
    /// What is or was measured on; `None` before the first time.
    pub(crate) begun: Option<Begun>,
    /// Rows so far.
    pub(crate) rows: Vec<BenchRow>,
    /// What could not be measured, and why.
    pub(crate) skipped: Vec<(BenchCase, String)>,
    /// Whether rows are still to come.
    pub(crate) running: bool,
    /// Why the last one ended early, if it did.
    pub(crate) cut: Option<String>,
}

/// What is measured on.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Begun {
    /// The device.
    pub(crate) adapter: Adapter,
    /// What it can do at most.
    pub(crate) rates: Rates,
    /// Of this build; empty when unknown.
    pub(crate) revision: String,
    /// Cases in all.
    pub(crate) cases: u32,
}

impl Bench {
    /// A benchmark was asked for: what there was goes.
    pub(crate) fn ask(&mut self) {
        *self = Bench { running: true, ..Bench::default() };
    }

    /// Learns from an event.
    pub(crate) fn apply(&mut self, event: &Event) -> bool {
        match event {
            Event::BenchBegun { adapter, rates, revision, rows } => {
                let begun = Begun { adapter: adapter.clone(), rates: *rates, revision: revision.clone(), cases: *rows };
                *self = Bench { begun: Some(begun), running: true, ..Bench::default() };
            }
            Event::Benched(row) => self.rows.push(row.clone()),
            Event::BenchSkipped { case, reason } => self.skipped.push((case.clone(), reason.clone())),
            Event::BenchDone { cut } => (self.running, self.cut) = (false, cut.clone()),
            _ => return false,
        }
        true
    }

    /// Cases done, and cases in all.
    pub(crate) fn place(&self) -> (usize, usize) {
        (self.rows.len() + self.skipped.len(), self.begun.as_ref().map_or(0, |begun| begun.cases as usize))
    }

    /// Rows of one kind of pass.
    pub(crate) fn of(&self, pass: Pass) -> Vec<BenchRow> {
        self.rows.iter().filter(|row| row.case.pass == pass).cloned().collect()
    }

    /// All rows as comma-separated values: seconds, bytes and operations, shares as fractions.
    pub(crate) fn csv(&self) -> String {
        let mut writer = csv::Writer::from_writer(Vec::new());
        // Writing to memory fails only for rows of unequal length, and these are all made here.
        let _ = writer.write_record(COLUMNS);
        for row in &self.rows {
            let _ = writer.write_record(self.cells(row));
        }
        writer.into_inner().ok().and_then(|bytes| String::from_utf8(bytes).ok()).unwrap_or_default()
    }

    fn cells(&self, row: &BenchRow) -> [String; COLUMNS.len()] {
        let begun = self.begun.as_ref();
        let (case, best) = (&row.case, row.best());
        let pass = match case.pass {
            Pass::Forward => "forward",
            Pass::ForwardBackward => "forward_backward",
            Pass::Step => "step",
        };
        [
            case.rule.clone(),
            case.form.clone(),
            case.chunk.map(|chunk| chunk.to_string()).unwrap_or_default(),
            pass.to_owned(),
            case.batch.to_string(),
            case.time.to_string(),
            case.heads.to_string(),
            case.key.to_string(),
            case.value.to_string(),
            best.median.to_string(),
            best.min.to_string(),
            best.max.to_string(),
            (if row.gpu.is_some() { "timestamps" } else { "wall" }).to_owned(),
            row.wall.median.to_string(),
            row.samples.to_string(),
            row.repeats.to_string(),
            row.dispatches.to_string(),
            row.state.to_string(),
            row.bytes.to_string(),
            row.flops.to_string(),
            row.copy_share.to_string(),
            row.fma_share.to_string(),
            begun.map(|begun| begun.adapter.name.clone()).unwrap_or_default(),
            begun.map(|begun| begun.revision.clone()).unwrap_or_default(),
        ]
    }
}

const COLUMNS: [&str; 24] = [
    "rule",
    "form",
    "chunk",
    "pass",
    "B",
    "T",
    "H",
    "K",
    "V",
    "median_s",
    "min_s",
    "max_s",
    "clock",
    "wall_median_s",
    "samples",
    "repeats",
    "dispatches",
    "state_floats",
    "bytes",
    "flops",
    "copy_share",
    "fma_share",
    "adapter",
    "revision",
];

#[cfg(test)]
pub(crate) mod tests {
    use super::*;
    use palimpsest_protocol::{AdapterKind, Timing};

    pub(crate) fn row(rule: &str, form: &str, time: u32, pass: Pass) -> BenchRow {
        let case = BenchCase { rule: rule.into(), form: form.into(), chunk: None, pass, batch: 2, time, heads: 2, key: 8, value: 8 };
        let wall = Timing { median: 2e-3, min: 1e-3, max: 4e-3 };
        BenchRow {
            nanoseconds_per_token: 2e6 / f64::from(2 * time),
            case,
            gpu: None,
            wall,
            samples: 5,
            repeats: 10,
            dispatches: 1,
            state: 128,
            bytes: 4000,
            flops: 8000,
            bytes_per_second: 2e6,
            flops_per_second: 4e6,
            copy_share: 0.5,
            fma_share: 0.25,
        }
    }

    fn begun(rows: u32) -> Event {
        let adapter = Adapter { kind: AdapterKind::Gpu, name: "card, the second".into(), interface: "test".into() };
        let rates = Rates { copy_bytes_per_second: 4e6, fma_flops_per_second: 16e6, timestamps: false };
        Event::BenchBegun { adapter, rates, revision: "abc".into(), rows }
    }

    #[test]
    fn rows_are_counted_until_the_end() {
        let mut bench = Bench::default();
        assert!(bench.apply(&begun(3)) && bench.running);
        bench.apply(&Event::Benched(row("a", "recurrent", 64, Pass::Forward)));
        let case = row("a", "recurrent", 64, Pass::ForwardBackward).case;
        bench.apply(&Event::BenchSkipped { case, reason: "too large".into() });
        assert_eq!((bench.place(), bench.of(Pass::Forward).len(), bench.of(Pass::ForwardBackward).len()), ((2, 3), 1, 0));
        bench.apply(&Event::BenchDone { cut: Some("it was stopped".into()) });
        assert!(!bench.running && bench.cut.is_some() && bench.rows.len() == 1);
        assert!(!bench.apply(&Event::CheckDone { passed: 0, failed: 0, cut: None }));
        bench.ask();
        assert!(bench.running && bench.rows.is_empty() && bench.begun.is_none());
    }

    #[test]
    fn values_are_separated_by_commas_and_quoted_where_they_hold_one() {
        let mut bench = Bench::default();
        bench.apply(&begun(1));
        bench.apply(&Event::Benched(row("a", "recurrent", 64, Pass::Forward)));
        let csv = bench.csv();
        let lines: Vec<&str> = csv.lines().collect();
        assert_eq!(lines.len(), 2);
        assert!(lines[0].starts_with("rule,form,chunk,pass,B,T,") && lines[0].ends_with("adapter,revision"));
        assert!(
            lines[1].starts_with("a,recurrent,,forward,2,64,2,8,8,0.002,0.001,0.004,wall,")
                && lines[1].ends_with("\"card, the second\",abc")
        );
    }
}
