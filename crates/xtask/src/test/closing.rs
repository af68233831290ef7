//! The lines with which a runner says how its tests went.

/// Who runs the tests of a stage.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) enum Runner {
    /// Says how it went by its exit code only.
    Silent,
    Nextest,
    CargoTest,
    /// Like CargoTest, but there may be no test at all.
    DocTest,
    /// `palimpsest verify`.
    Verify,
    Playwright,
}

impl Runner {
    /// Whether `line` is one of the runner's result lines.
    pub(crate) fn closes_with(self, line: &str) -> bool {
        let text = line.trim();
        match self {
            Self::Silent => false,
            Self::Nextest => text.starts_with("Summary ["),
            // One line per binary, most of them without a test.
            Self::CargoTest | Self::DocTest => text.starts_with("test result: ") && !text.contains(" 0 passed; 0 failed;"),
            Self::Verify => text
                .split_once(" passed, ")
                .is_some_and(|(passed, rest)| is_number(passed) && rest.strip_suffix(" failed").is_some_and(is_number)),
            Self::Playwright => text.split_once(' ').is_some_and(|(count, rest)| {
                let outcomes = ["passed", "failed", "flaky", "skipped", "did not run", "interrupted"];
                // The count of passed tests is followed by the time: `4 passed (12.3s)`.
                is_number(count) && outcomes.contains(&rest.split_once(" (").map_or(rest, |(outcome, _)| outcome))
            }),
        }
    }

    /// Whether a run without a result line is a failure: nothing was tested then.
    pub(crate) fn must_close(self) -> bool {
        !matches!(self, Self::Silent | Self::DocTest)
    }
}

fn is_number(text: &str) -> bool {
    !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_digit())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn kept(runner: Runner, output: &str) -> Vec<&str> {
        output.lines().filter(|line| runner.closes_with(line)).collect()
    }

    #[test]
    fn nextest_closes_with_its_summary() {
        let output =
            "        PASS [   0.004s] palimpsest-spec summary\n────────────\n     Summary [   0.512s] 12 tests run: 12 passed, 0 skipped\n";
        assert_eq!(kept(Runner::Nextest, output), ["     Summary [   0.512s] 12 tests run: 12 passed, 0 skipped"]);
    }

    #[test]
    fn cargo_test_closes_once_per_binary_that_has_tests() {
        let some = "test result: ok. 3 passed; 0 failed; 0 ignored; 0 measured; 0 filtered out; finished in 0.00s";
        let bad = "test result: FAILED. 0 passed; 1 failed; 0 ignored; 0 measured; 0 filtered out; finished in 0.00s";
        let ten = "test result: ok. 10 passed; 0 failed; 0 ignored; 0 measured; 0 filtered out; finished in 0.00s";
        let none = "test result: ok. 0 passed; 0 failed; 0 ignored; 0 measured; 0 filtered out; finished in 0.00s";
        assert_eq!(kept(Runner::DocTest, &[some, none, "test a ... ok", bad, ten].join("\n")), [some, bad, ten]);
    }

    #[test]
    fn verify_closes_with_its_count_and_not_with_a_file() {
        let output = "gdn.mild.json o 3.1e-8 passed\n44 passed, 0 failed files\n44 passed, 0 failed\n";
        assert_eq!(kept(Runner::Verify, output), ["44 passed, 0 failed"]);
    }

    #[test]
    fn playwright_closes_with_a_line_per_outcome() {
        let output = "  ✓  1 [webgpu] › load.spec.ts:3:1 › 4 passed (1.0s)\n  1) [webgpu] › load.spec.ts:3:1\n  1 failed\n    [webgpu] › load.spec.ts\n  2 skipped\n  1 did not run\n  4 passed (12.3s)\n";
        assert_eq!(kept(Runner::Playwright, output), ["  1 failed", "  2 skipped", "  1 did not run", "  4 passed (12.3s)"]);
    }

    #[test]
    fn a_silent_runner_closes_with_nothing() {
        assert!(kept(Runner::Silent, "1 passed, 0 failed\n").is_empty());
        assert!(!Runner::Silent.must_close() && !Runner::DocTest.must_close() && Runner::Verify.must_close());
    }
}
