//! The panels of the page, one component a file.

mod accuracy;
mod bench;
mod chart;
mod chart_reading;
mod chip;
mod control;
mod controls;
mod header;
mod in_turn;
mod key_list;
mod memory;
mod moments;
mod notices;
mod run_row;
mod runs_table;
mod self_check;
mod strip_row;
mod ticks;
mod timeline;
mod transport;

pub(crate) use accuracy::AccuracyPanel;
pub(crate) use bench::BenchPanel;
pub(crate) use chart::Chart;
pub(crate) use controls::Controls;
pub(crate) use header::Header;
pub(crate) use in_turn::InTurn;
pub(crate) use key_list::KeyList;
pub(crate) use memory::Memory;
pub(crate) use notices::Notices;
pub(crate) use runs_table::RunsTable;
pub(crate) use self_check::SelfCheck;
pub(crate) use timeline::Timeline;
pub(crate) use transport::Transport;
