//! How kernels lay their work over workgroups.

use super::column_sum::column_sum;
use super::text;
use crate::kernel::{Access, Dispatch, Header, Output, Recorder, Region, WORKGROUP, fold};

/// Workgroups (or, for columns, pieces) that keep a large GPU busy; sums over rows are cut into at most so many.
const PIECES: usize = 256;

/// Rows of a matrix over lanes: a few numbers per lane, many rows per workgroup.
#[derive(Clone, Copy, Debug)]
pub(super) struct Rows {
    count: usize,
    width: usize,
    lanes: usize,
    per_group: usize,
}

impl Rows {
    /// Rows of `width` numbers.
    pub(super) fn new(count: usize, width: usize) -> Rows {
        let lanes = width.div_ceil(4).next_power_of_two().min(WORKGROUP as usize);
        Rows { count, width, lanes, per_group: WORKGROUP as usize / lanes }
    }

    /// Invocations that share a row.
    pub(super) fn lanes(self) -> u32 {
        self.lanes as u32
    }

    /// Constants of every kernel over rows.
    pub(super) fn header(self) -> Header {
        let header = Header::new().size("WORKGROUP", WORKGROUP).size("LANES", self.lanes).size("ROWS", self.per_group);
        header.size("COUNT", self.count).size("WIDTH", self.width)
    }

    /// Rows that one workgroup walks where it sums over them; a multiple of the rows it holds at once.
    pub(super) fn chunk(self) -> usize {
        self.count.div_ceil(PIECES).next_multiple_of(self.per_group)
    }

    /// Workgroups that walk chunks.
    pub(super) fn chunks(self) -> usize {
        self.count.div_ceil(self.chunk())
    }

    /// Constants of a kernel that walks chunks.
    pub(super) fn chunk_header(self) -> Header {
        let header = self.header().size("CHUNK", self.chunk()).size("CHUNKS", self.chunks());
        header.size("PER_LANE", self.width.div_ceil(self.lanes))
    }

    /// Records a kernel with one row per group of lanes.
    pub(super) fn dispatch(self, r: &mut impl Recorder, label: &'static str, source: String, bindings: Vec<(Region, Access)>) {
        let groups = fold(self.count.div_ceil(self.per_group), r.limits());
        r.dispatch(Dispatch { label, source, bindings, groups });
    }

    /// Records a kernel that walks chunks, and the sum of its partial rows of `width` numbers into a weight's gradient.
    pub(super) fn dispatch_chunks(
        self,
        r: &mut impl Recorder,
        label: &'static str,
        source: String,
        bindings: Vec<(Region, Access)>,
        partial: Region,
        weight: Output,
    ) {
        let groups = fold(self.chunks(), r.limits());
        r.dispatch(Dispatch { label, source, bindings, groups });
        column_sum(r, partial, self.chunks(), self.width, &[weight]);
    }
}

/// Columns of a matrix, each walked by several invocations, a chunk of rows each.
#[derive(Clone, Copy, Debug)]
pub(super) struct Columns {
    count: usize,
    columns: usize,
}

impl Columns {
    /// `count` rows of `columns` numbers.
    pub(super) fn new(count: usize, columns: usize) -> Columns {
        Columns { count, columns }
    }

    fn chunk(self) -> usize {
        self.count.div_ceil(PIECES).max(4)
    }

    /// Chunks of rows; partial sums have so many rows.
    pub(super) fn chunks(self) -> usize {
        self.count.div_ceil(self.chunk())
    }

    /// Constants of a kernel over columns.
    pub(super) fn header(self) -> Header {
        let header = Header::new().size("WORKGROUP", WORKGROUP).size("COUNT", self.count).size("COLUMNS", self.columns);
        header.size("CHUNK", self.chunk()).size("CHUNKS", self.chunks())
    }

    /// Records a kernel with one invocation per element.
    pub(super) fn dispatch_elements(self, r: &mut impl Recorder, label: &'static str, source: String, bindings: Vec<(Region, Access)>) {
        elements(r, label, self.count * self.columns, source, bindings);
    }

    /// Records a kernel with one invocation per column and chunk.
    pub(super) fn dispatch_chunks(self, r: &mut impl Recorder, label: &'static str, source: String, bindings: Vec<(Region, Access)>) {
        elements(r, label, self.chunks() * self.columns, source, bindings);
    }
}

/// Records a kernel with one invocation per element.
pub(super) fn elements(r: &mut impl Recorder, label: &'static str, count: usize, source: String, bindings: Vec<(Region, Access)>) {
    let groups = fold(count.div_ceil(WORKGROUP as usize), r.limits());
    r.dispatch(Dispatch { label, source, bindings, groups });
}

/// Constants of a kernel with one invocation per element.
pub(super) fn elements_header(count: usize) -> Header {
    Header::new().size("WORKGROUP", WORKGROUP).size("COUNT", count)
}

/// `place(column)`: where a part-major column (part, head, element) lies in a token's packed row `[heads, stride]`.
/// `parts` are widths and slots.
pub(super) fn place(parts: impl Iterator<Item = (usize, usize)>, heads: usize, stride: usize) -> String {
    let mut text = "fn place(column: u32) -> u32 {\n".to_owned();
    let mut first = 0;
    for (width, slot) in parts {
        let end = first + heads * width;
        text.push_str(&format!(
            "    if (column < {end}u) {{ let i = column - {first}u; return (i / {width}u) * {stride}u + {slot}u + i % {width}u; }}\n"
        ));
        first = end;
    }
    text.push_str("    return 0u;\n}");
    text
}

/// Shared text of kernels over rows with sums.
pub(super) fn rows_source(header: Header, parts: &[&str]) -> String {
    let mut all = vec![text::INDEX, text::ROWS];
    all.extend_from_slice(parts);
    header.source(&all)
}
