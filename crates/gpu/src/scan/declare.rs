//! What stands above a scan kernel's text: sizes, slots and bindings, each with one owner in Rust.

use crate::kernel::{Access, Dispatch, Header, Recorder, Region, fold};
use palimpsest_plan::{Plan, Scan, TensorId};
use palimpsest_rules::{Kind, StepSlots};
use std::fmt::Write;

const STEPS: &str = include_str!("../../../../shaders/kernels/scan_steps.wgsl");

/// A scan kernel being declared: constants, then bindings in order.
pub(super) struct Kernel {
    label: &'static str,
    header: Header,
    declarations: String,
    bindings: Vec<(Region, Access)>,
}

impl Kernel {
    /// A kernel with the sizes of `op` and its packed steps as binding 0.
    pub(super) fn new(label: &'static str, op: &Scan) -> Kernel {
        let shape = op.shape;
        let kernel = Kernel { label, header: Header::new(), declarations: slot_functions(op), bindings: Vec::new() };
        kernel
            .size("B", shape.batch)
            .size("T", shape.time)
            .size("H", shape.heads)
            .size("K", shape.key)
            .size("V", shape.value)
            .size("K4", shape.key / 4)
            .size("V4", shape.value / 4)
            .size("STRIDE4", op.layout.stride / 4)
            .size("STEPS", op.layout.steps.len())
            .size("DECAY_SCALAR", DECAY_SCALAR)
            .size("DECAY_KEY", DECAY_KEY)
            .read("steps", Region::Tensor(op.steps))
    }

    /// `const NAME: u32`
    pub(super) fn size(mut self, name: &str, value: usize) -> Kernel {
        self.header = self.header.size(name, value);
        self
    }

    /// `const NAME: bool`
    pub(super) fn flag(mut self, name: &str, value: bool) -> Kernel {
        self.header = self.header.flag(name, value);
        self
    }

    /// A buffer of `vec4<f32>` to read.
    pub(super) fn read(self, name: &str, region: Region) -> Kernel {
        self.bind(name, "vec4<f32>", region, Access::Read)
    }

    /// A buffer of `vec4<f32>` to write.
    pub(super) fn write(self, name: &str, region: Region) -> Kernel {
        self.bind(name, "vec4<f32>", region, Access::ReadWrite)
    }

    /// A buffer of any element.
    pub(super) fn bind(mut self, name: &str, element: &str, region: Region, access: Access) -> Kernel {
        let mode = match access {
            Access::Read => "read",
            Access::ReadWrite => "read_write",
        };
        let index = self.bindings.len();
        let _ = writeln!(self.declarations, "@group(0) @binding({index}) var<storage, {mode}> {name}: array<{element}>;");
        self.bindings.push((region, access));
        self
    }

    /// `fn name(at: u32) -> element`: reads a buffer, or gives zero when there is none.
    pub(super) fn read_or_zero(mut self, name: &str, element: &str, region: Option<Region>) -> Kernel {
        let body = match region {
            Some(region) => {
                self = self.bind(&format!("{name}_buffer"), element, region, Access::Read);
                format!("{name}_buffer[at]")
            }
            None => format!("{element}()"),
        };
        let _ = writeln!(self.declarations, "fn {name}(at: u32) -> {element} {{ return {body}; }}");
        self
    }

    /// `fn name(at: u32, value: element)`: sets or adds to a buffer, or does nothing when there is none.
    pub(super) fn write_or_drop(mut self, name: &str, element: &str, region: Option<Region>, adds: bool) -> Kernel {
        let mut body = String::new();
        if let Some(region) = region {
            self = self.bind(&format!("{name}_buffer"), element, region, Access::ReadWrite);
            body = format!("{name}_buffer[at] {} value;", if adds { "+=" } else { "=" });
        }
        let _ = writeln!(self.declarations, "fn {name}(at: u32, value: {element}) {{ {body} }}");
        self
    }

    /// Records one launch of `workgroups` workgroups of the text in `parts`.
    pub(super) fn dispatch(self, parts: &[&str], workgroups: usize, r: &mut impl Recorder) {
        let groups = fold(workgroups, r.limits());
        let source = self.header.source(&[&self.declarations, STEPS, &parts.concat()]);
        r.dispatch(Dispatch { label: self.label, source, bindings: self.bindings, groups });
    }
}

const DECAY_NONE: usize = 0;
const DECAY_SCALAR: usize = 1;
const DECAY_KEY: usize = 2;

fn decay_kind(slots: &StepSlots) -> usize {
    match slots.decay {
        None => DECAY_NONE,
        Some((_, Kind::Scalar)) => DECAY_SCALAR,
        Some(_) => DECAY_KEY,
    }
}

/// Functions of a step's index: where its parts start in a row, in vec4s, and which it has.
fn slot_functions(op: &Scan) -> String {
    let slot = |part: Option<usize>| format!("{}u", part.unwrap_or(0) / 4);
    let mut text = String::new();
    let mut function = |name: &str, result: &str, value: &dyn Fn(&StepSlots) -> String| {
        let _ = writeln!(text, "fn {name}(s: u32) -> {result} {{");
        let values: Vec<String> = op.layout.steps.iter().map(value).collect();
        // One return per run of equal values: nothing is left to decide when all steps are alike.
        for (s, pair) in values.windows(2).enumerate().filter(|(_, pair)| pair[0] != pair[1]) {
            let _ = writeln!(text, "    if (s <= {s}u) {{ return {}; }}", pair[0]);
        }
        let _ = writeln!(text, "    return {};\n}}", values.last().map_or("", String::as_str));
    };
    function("decay_kind", "u32", &|slots| format!("{}u", decay_kind(slots)));
    function("decay_slot", "u32", &|slots| slot(slots.decay.map(|(first, _)| first)));
    function("key_slot", "u32", &|slots| slot(Some(slots.key)));
    function("erase_slot", "u32", &|slots| slot(slots.erase));
    function("write_slot", "u32", &|slots| slot(slots.write));
    function("has_erase", "bool", &|slots| slots.erase.is_some().to_string());
    function("has_write", "bool", &|slots| slots.write.is_some().to_string());
    let decays = op.layout.steps.iter().filter_map(|slots| {
        let (first, kind) = slots.decay?;
        let width = if kind == Kind::Scalar { 1 } else { op.shape.key / 4 };
        Some(format!("(part >= {}u && part < {}u)", first / 4, first / 4 + width))
    });
    let decays: Vec<String> = decays.collect();
    let decays = if decays.is_empty() { "false".to_owned() } else { decays.join(" || ") };
    let _ = writeln!(text, "fn is_decay(part: u32) -> bool {{ return {decays}; }}");
    text
}

/// Whether a step of the rule decays the state.
pub(super) fn decays(op: &Scan) -> bool {
    op.layout.steps.iter().any(|slots| slots.decay.is_some())
}

/// Whether a step of the rule erases.
pub(super) fn erases(op: &Scan) -> bool {
    op.layout.steps.iter().any(|slots| slots.erase.is_some())
}

/// The gradient of a tensor, when the plan has one.
pub(super) fn gradient(plan: &Plan, tensor: Option<TensorId>) -> Option<Region> {
    let has = |id: &TensorId| plan.gradient(*id).is_some() || plan.parameter_offset(*id).is_some();
    tensor.filter(has).map(Region::Gradient)
}

/// A buffer for the backward pass: kept with the scan's output when there is one, else shared with other scans.
pub(super) fn kept(op: &Scan, label: &'static str, floats: usize, r: &mut impl Recorder) -> Region {
    Region::Scratch(if r.plan().backward.is_empty() { r.scratch(label, floats) } else { r.saved(op.o, label, floats) })
}
