//! `palimpsest bench scan`.

use super::Stop;
use super::report::Report;
use crate::backend::{self, Backend};
use clap::ValueEnum;
use palimpsest_bench::{ScanChoice, rates};
use palimpsest_plan::{ScanForm, ScanShape};
use palimpsest_protocol::Pass;
use palimpsest_rules::{Rule, find, rules};
use palimpsest_spec::MOST_TOKENS_PER_CHUNK;
use pollster::block_on;

#[derive(clap::Args)]
pub(super) struct Args {
    /// Rules, by comma; all when absent
    #[arg(long, value_delimiter = ',', value_parser = rule, value_name = "RULE")]
    rule: Vec<&'static Rule>,
    /// Forms, by comma
    #[arg(long, value_enum, value_delimiter = ',', default_values_t = [Form::Recurrent, Form::Chunked])]
    form: Vec<Form>,
    /// What a pass runs, by comma
    #[arg(long, value_enum, value_delimiter = ',', default_values_t = [PassWord::Forward, PassWord::Both])]
    pass: Vec<PassWord>,
    /// Sequences, B
    #[arg(long, default_value_t = 64, value_parser = clap::value_parser!(u32).range(1..=65536), value_name = "B")]
    batch: u32,
    /// Tokens, T, by comma
    #[arg(long, value_delimiter = ',', default_value = "256", value_parser = clap::value_parser!(u32).range(1..=1 << 20), value_name = "T")]
    time: Vec<u32>,
    /// Heads, H
    #[arg(long, default_value_t = 2, value_parser = clap::value_parser!(u32).range(1..=1024), value_name = "H")]
    heads: u32,
    /// Key size, K, a multiple of 4 from 4 to 128
    #[arg(long, default_value_t = 32, value_parser = size, value_name = "K")]
    key: u32,
    /// Value size, V, a multiple of 4 from 4 to 128
    #[arg(long, default_value_t = 32, value_parser = size, value_name = "V")]
    value: u32,
    #[arg(long, value_delimiter = ',', help = backend::chunk_help(", by comma"), value_parser = clap::value_parser!(u16).range(1..=i64::from(MOST_TOKENS_PER_CHUNK)), value_name = "C")]
    chunk: Vec<u16>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
enum Form {
    /// Token by token
    Recurrent,
    /// In chunks, parallel within a chunk
    Chunked,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
enum PassWord {
    /// The reads alone; nothing is kept for a gradient
    Forward,
    /// Forward, then the gradient of all steps
    Both,
}

/// K and V: multiples of 4 from 4 to 128.
fn size(text: &str) -> Result<u32, String> {
    match text.parse::<u32>() {
        Ok(size) if (4..=128).contains(&size) && size.is_multiple_of(4) => Ok(size),
        _ => Err("not a multiple of 4 from 4 to 128".to_owned()),
    }
}

fn rule(slug: &str) -> Result<&'static Rule, String> {
    let slugs = || rules().iter().map(Rule::slug).collect::<Vec<_>>().join(", ");
    find(slug).ok_or_else(|| format!("no such rule; there are {}", slugs()))
}

impl Args {
    fn choice(&self) -> ScanChoice {
        let forms = self.form.iter().flat_map(|form| match form {
            Form::Recurrent => vec![ScanForm::Recurrent],
            Form::Chunked if self.chunk.is_empty() => vec![ScanForm::Chunked(backend::default_chunk())],
            Form::Chunked => self.chunk.iter().map(|&tokens| ScanForm::Chunked(tokens.into())).collect(),
        });
        let passes = self.pass.iter().map(|pass| match pass {
            PassWord::Forward => Pass::Forward,
            PassWord::Both => Pass::ForwardBackward,
        });
        let [batch, heads, key, value] = [self.batch, self.heads, self.key, self.value].map(|size| size as usize);
        ScanChoice {
            rules: if self.rule.is_empty() { rules().iter().collect() } else { self.rule.clone() },
            forms: forms.collect(),
            lengths: self.time.iter().map(|&time| time as usize).collect(),
            passes: passes.collect(),
            shape: ScanShape { batch, time: 0, heads, key, value },
        }
    }
}

pub(super) fn run(args: &super::Args, scan: &Args) -> Result<(), Stop> {
    if !scan.chunk.is_empty() && !scan.form.contains(&Form::Chunked) {
        return Err(Stop::Input("--chunk goes with --form chunked, and the form is recurrent".to_owned()));
    }
    let engine = args.open(Backend::Gpu)?;
    let choice = scan.choice();
    choice.forms.iter().for_each(|&form| backend::tell_form(&engine, form));
    let cases = choice.cases(engine.kind());
    // all before the first is measured: a size that cannot run should not be found out after minutes
    cases.iter().try_for_each(|case| case.check(&engine))?;
    let rates = block_on(rates(&engine, args.effort()))?;
    let report = Report::begin(args.json, &engine.adapter(), rates);
    for (index, case) in cases.iter().enumerate() {
        report.row(&block_on(case.measure(&engine, rates, args.effort()))?, index == 0);
    }
    Ok(())
}
