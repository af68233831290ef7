//! Sums of the rows of a partial-sum matrix into gradients: the second phase of every sum over tokens.

use super::text;
use crate::kernel::{Access, Dispatch, Header, Output, Recorder, Region, WORKGROUP, fold};

/// More rows than this are summed in two steps.
const LONGEST: usize = 512;
/// Rows of the first of two steps, at least; its own result never is too long.
const FOLD: usize = 128;

/// `output[i] (+)= sum over rows of partial[row, columns of i]`, `partial` `[rows, stride]`: at the end of the backward pass if that
/// changes nothing, else here.
pub(super) fn column_sum(r: &mut impl Recorder, partial: Region, rows: usize, stride: usize, outputs: &[Output]) {
    if rows > LONGEST {
        let fold = FOLD.max(rows.div_ceil(LONGEST));
        let chunks = rows.div_ceil(fold);
        // One buffer is not read and written in one launch.
        let folded = match partial {
            Region::Partial { .. } => Region::Scratch(r.scratch("column sum", chunks * stride)),
            _ => r.partial(chunks * stride),
        };
        dispatch(r, partial, rows, stride, fold, &[Output::columns(folded, 0, stride, false)]);
        column_sum(r, folded, chunks, stride, outputs);
    } else if !r.sum_later(partial, rows, stride, outputs) {
        // The gradients of two parameters lie side by side for each run: over several runs each reaches into the other's.
        let together = if r.runs() == 1 { outputs.len() } else { 1 };
        outputs.chunks(together).for_each(|outputs| dispatch(r, partial, rows, stride, rows, outputs));
    }
}

fn dispatch(r: &mut impl Recorder, partial: Region, rows: usize, stride: usize, chunk: usize, outputs: &[Output]) {
    let total: usize = outputs.iter().map(|output| output.count).sum();
    let most = if total > 8192 { 4 } else { 32 };
    let parts = chunk.div_ceil(8).next_power_of_two().min(most);
    let columns = WORKGROUP as usize / parts;
    let chunks = rows.div_ceil(chunk);
    let column_groups = total.div_ceil(columns);
    let header = Header::new()
        .size("WORKGROUP", WORKGROUP)
        .size("ROWS", rows)
        .size("STRIDE", stride)
        .size("CHUNK", chunk)
        .size("PARTS", parts)
        .size("COLUMNS", columns)
        .size("COLUMN_GROUPS", column_groups)
        .size("OUTPUTS", total);
    let mut bindings = vec![(partial, Access::Read)];
    bindings.extend(outputs.iter().map(|output| (output.region, Access::ReadWrite)));
    r.dispatch(Dispatch {
        label: "column_sum",
        source: header.source(&[text::INDEX, &columns_text(outputs), include_str!("../../../../shaders/kernels/column_sum.wgsl")]),
        bindings,
        groups: fold(column_groups * chunks, r.limits()),
    });
}

/// Bindings of the outputs, and which output a number belongs to.
fn columns_text(outputs: &[Output]) -> String {
    let mut declarations = "@group(0) @binding(0) var<storage, read> partial: array<f32>;\n".to_owned();
    let (mut first_column, mut column_count, mut store) = (String::new(), String::new(), String::new());
    let mut first = 0;
    for (index, Output { count, group, group_stride, first: column, width, add, .. }) in outputs.iter().enumerate() {
        let sign = if *add { "+=" } else { "=" };
        let own = format!("    if (o < {}u) {{ let i = o - {first}u; ", first + count);
        declarations.push_str(&format!("@group(0) @binding({}) var<storage, read_write> output{index}: array<f32>;\n", index + 1));
        first_column.push_str(&format!("{own}return (i / {group}u) * {group_stride}u + {column}u + i % {group}u; }}\n"));
        column_count.push_str(&format!("    if (o < {}u) {{ return {width}u; }}\n", first + count));
        store.push_str(&format!("{own}output{index}[chunk * OUTPUTS + i] {sign} x; return; }}\n"));
        first += count;
    }
    format!(
        "{declarations}fn first_column(o: u32) -> u32 {{\n{first_column}    return 0u;\n}}\n\
         fn column_count(o: u32) -> u32 {{\n{column_count}    return 0u;\n}}\n\
         fn store(chunk: u32, o: u32, x: f32) {{\n{store}}}"
    )
}
