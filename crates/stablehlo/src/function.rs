//! A function in the making: operations written one after the other, regions inside.

use std::cell::RefCell;
use std::fmt::Write;
use std::sync::Arc;

use pullback_base::array::place::{Mesh, Spec};
use pullback_base::{Array, Aval, DType, Error, Result, Scalar, Span};
use pullback_ir::hlo::{DeviceMap, HloBody, HloCx, HloName, HloRegion, HloValue, HloValues, spec_text};
use pullback_ir::lower::Elem;
use pullback_ir::{Atom, Batch, BatchDims, Effects, Emit, Jaxpr, JaxprRef, Params, PrimRef, Val};
use pullback_loops::{Builder, HostCall};
use smallvec::SmallVec;

use crate::cost::{self, Cost};
use crate::module::{Calling, Module, Outlined, avals_of, border, push_terminator, quoted, token_aval, wrong_results};
use crate::scalar;
use crate::text::{
    push_dense, push_element, push_name, push_names, push_number, push_quoted, push_result_types, push_type, push_types,
};

/// Writes the body of one function. Names are numbered through it, so none hides another.
pub(crate) struct Function<'m> {
    module: &'m mut Module,
    text: String,
    indent: usize,
    n_values: u32,
    n_args: u32,
    n_ops: usize,
    cost: Cost,
    /// How many regions are open: `call` has another name inside of them.
    depth: usize,
    /// Where in the program, for locations: `jit(f)`.
    path: String,
    /// The equation whose operations are written.
    place: (&'static str, Span),
    /// What the last effect in order gave, and the next one takes; nothing in programs without such effects.
    token: Option<HloValue>,
}

impl<'m> Function<'m> {
    pub(crate) fn new(module: &'m mut Module, indent: usize, path: String) -> Function<'m> {
        let place = ("", Span::UNKNOWN);
        Function {
            module,
            text: String::new(),
            indent,
            n_values: 0,
            n_args: 0,
            n_ops: 0,
            cost: Cost::default(),
            depth: 0,
            path,
            place,
            token: None,
        }
    }

    /// Begins the order of effects with a token of its own.
    pub(crate) fn begin_order(&mut self) {
        if self.module.is_ordered {
            self.token = Some(self.full(Scalar::int(DType::I32, 0), &[]));
        }
    }

    /// The argument by which a function or region is given the token.
    pub(crate) fn token_argument(&mut self) -> Option<HloValue> {
        if self.module.is_ordered {
            self.token = self.arguments(&[token_aval()]).pop();
        }
        self.token
    }

    /// The token after all that was written.
    pub(crate) fn token(&self) -> Option<HloValue> {
        self.token
    }

    /// Takes the token from the results of an operation, of which it is the last.
    fn take_token(&mut self, results: &mut HloValues) {
        if self.token.is_some() {
            self.token = results.pop();
        }
    }

    /// The values, and the token after them.
    fn with_token(&self, ins: &[HloValue]) -> HloValues {
        ins.iter().copied().chain(self.token).collect()
    }

    /// The types, and that of the token after them.
    fn and_token(&self, avals: &[Aval]) -> Vec<Aval> {
        avals.iter().copied().chain(self.token.map(|token| token.aval)).collect()
    }

    /// New arguments of the function or of a region.
    pub(crate) fn arguments(&mut self, avals: &[Aval]) -> HloValues {
        let first = self.n_args;
        self.n_args += avals.len() as u32;
        avals
            .iter()
            .zip(first..)
            .map(|(aval, n)| HloValue { aval: strong(*aval), name: HloName::Argument(n) })
            .collect()
    }

    pub(crate) fn n_ops(&self) -> usize {
        self.n_ops
    }

    pub(crate) fn into_parts(self) -> (String, Cost) {
        (self.text, self.cost)
    }

    /// Keys as words at the border of the program, and back.
    pub(crate) fn bitcast_border(&mut self, x: HloValue, aval: Aval) -> HloValue {
        if x.aval.dtype == aval.dtype {
            return x;
        }
        // The words of wide keys are an axis already.
        let is_wide = is_wide_key(x.aval) || is_wide_key(aval);
        if is_wide { HloValue { aval, ..x } } else { (self as &mut dyn HloCx).bitcast(x, &aval.shape, aval.dtype) }
    }

    fn start_line(&mut self) {
        for _ in 0..self.indent {
            self.text.push_str("  ");
        }
    }

    fn end_line(&mut self) {
        if self.module.debug_info {
            self.text.push_str(" loc(");
            push_location(&mut self.text, &self.path, self.place);
            self.text.push(')');
        }
        self.text.push('\n');
    }

    /// The line that ends a function or region.
    pub(crate) fn finish(&mut self, terminator: &str, outs: &[HloValue]) {
        self.start_line();
        push_terminator(&mut self.text, terminator, outs);
        self.end_line();
    }

    /// Begins the line of an operation with the names of its results.
    fn results(&mut self, outs: &[Aval]) -> HloValues {
        self.start_line();
        self.n_ops += 1;
        if outs.is_empty() {
            return HloValues::new();
        }
        let number = self.n_values;
        self.n_values += 1;
        push_name(&mut self.text, HloName::Result(number));
        if let [aval] = outs {
            self.text.push_str(" = ");
            return SmallVec::from_elem(HloValue { aval: strong(*aval), name: HloName::Result(number) }, 1);
        }
        self.text.push(':');
        push_number(&mut self.text, outs.len() as u64);
        self.text.push_str(" = ");
        let part = |(aval, part): (&Aval, u32)| HloValue { aval: strong(*aval), name: HloName::Part(number, part) };
        outs.iter().zip(0..).map(part).collect()
    }

    fn constant_line(&mut self, aval: Aval, dense: impl FnOnce(&mut String) -> Result<()>) -> Result<HloValue> {
        self.start_line();
        self.n_ops += 1;
        let name = HloName::Constant(self.n_values);
        self.n_values += 1;
        push_name(&mut self.text, name);
        self.text.push_str(" = stablehlo.constant ");
        dense(&mut self.text)?;
        self.text.push_str(" : ");
        push_type(&mut self.text, aval);
        self.end_line();
        Ok(HloValue { aval: strong(aval), name })
    }

    fn push_function_type(&mut self, ins: &[HloValue], outs: &[Aval]) {
        self.text.push('(');
        push_types(&mut self.text, ins.iter().map(|x| x.aval));
        self.text.push_str(") -> ");
        push_result_types(&mut self.text, outs);
    }

    /// `: type` in the manner of the operation.
    fn push_signature(&mut self, name: &str, ins: &[HloValue], outs: &[Aval]) {
        self.text.push_str(" : ");
        match signature(name, ins, outs) {
            Signature::Results => push_types(&mut self.text, outs.iter().copied()),
            Signature::Select => push_types(&mut self.text, [ins[0].aval, ins[1].aval].into_iter()),
            Signature::Arrow => {
                push_types(&mut self.text, ins.iter().map(|x| x.aval));
                self.text.push_str(" -> ");
                push_result_types(&mut self.text, outs);
            }
            Signature::Function => self.push_function_type(ins, outs),
        }
    }

    /// The operations of a region and what ends it; the line before has opened it. Gives what they cost.
    fn region(&mut self, args: &[HloValue], body: HloBody<'_>) -> Result<Cost> {
        self.region_until("stablehlo.return", false, args, body)
    }

    /// As [`Function::region`], with a terminator of its own, and perhaps the token as its last result.
    fn region_until(
        &mut self,
        terminator: &str,
        carries_token: bool,
        args: &[HloValue],
        body: HloBody<'_>,
    ) -> Result<Cost> {
        let around = std::mem::take(&mut self.cost);
        self.indent += 1;
        self.depth += 1;
        let outs = body(self, args);
        self.depth -= 1;
        let mut outs = outs?;
        if carries_token {
            outs.extend(self.token);
        }
        self.finish(terminator, &outs);
        self.indent -= 1;
        Ok(std::mem::replace(&mut self.cost, around))
    }

    fn block_header(&mut self, args: &[HloValue]) {
        if args.is_empty() {
            return;
        }
        self.start_line();
        self.text.push_str("^bb0(");
        self.push_arguments(args);
        self.text.push_str("):\n");
    }

    /// The equations of a jaxpr in place.
    pub(crate) fn write_jaxpr(&mut self, jaxpr: &Jaxpr, ins: &[HloValue]) -> Result<HloValues> {
        assert_eq!(jaxpr.invars.len(), ins.len(), "arguments of a jaxpr");
        let mut env: Vec<Option<HloValue>> = vec![None; jaxpr.vars.len()];
        for (var, array) in jaxpr.constvars.iter().zip(&jaxpr.consts) {
            env[var.index()] = Some(self.array(array)?);
        }
        for (var, arg) in jaxpr.invars.iter().zip(ins) {
            env[var.index()] = Some(*arg);
        }
        let around = self.place;
        for eqn in &jaxpr.eqns {
            let ins: SmallVec<[HloValue; 4]> = eqn.ins.iter().map(|&atom| self.operand(&env, atom)).collect();
            let span = if eqn.span.is_known() { eqn.span } else { around.1 };
            self.place = (eqn.prim.0.name(), span);
            let out_avals = jaxpr.eqn_out_avals(eqn);
            let outs = span.scope(|| match moves_wide_keys(eqn.prim, &ins) {
                true => self.write_by_words(eqn.prim, &eqn.params, &ins, out_avals),
                false => eqn.prim.hlo(eqn.prim, &eqn.params, self, &ins, out_avals),
            })?;
            if outs.len() != out_avals.len() {
                return Err(wrong_results(eqn.prim.0.name(), outs.len(), out_avals.len()));
            }
            for (var, out) in eqn.outs().zip(outs) {
                env[var.index()] = Some(out);
            }
        }
        self.place = around;
        Ok(jaxpr.outs.iter().map(|&atom| self.operand(&env, atom)).collect())
    }

    /// A primitive that moves keys, as the batch of what it does to each of their words.
    fn write_by_words(
        &mut self,
        prim: PrimRef,
        params: &Params,
        ins: &[HloValue],
        out_avals: &[Aval],
    ) -> Result<HloValues> {
        let dims: Vec<Option<usize>> = ins.iter().map(|x| is_wide_key(x.aval).then(|| x.aval.rank())).collect();
        let words: HloValues = ins.iter().map(|&x| HloValue { aval: border(x.aval), ..x }).collect();
        let out_dims = RefCell::new(BatchDims::new());
        let batch = Batch { size: WIDE_KEY_WORDS, name: None, split: None };
        let rule = |e: &dyn Emit, ins: &[Val]| {
            let made = prim.batch(params, e, &batch, ins, &dims)?;
            let (outs, dims) = made.ok_or_else(|| unsupported_on_keys(prim))?;
            *out_dims.borrow_mut() = dims;
            Ok(outs)
        };
        let outs = (self as &mut dyn HloCx).compose(&rule, &words)?;
        let out_dims = out_dims.into_inner();
        Ok(outs
            .iter()
            .zip(&out_dims)
            .zip(out_avals)
            .map(|((&out, &dim), &aval)| self.as_keys(out, dim, aval))
            .collect())
    }

    /// Words along an axis, as keys.
    fn as_keys(&mut self, words: HloValue, dim: Option<usize>, aval: Aval) -> HloValue {
        let rank = aval.rank();
        let cx = self as &mut dyn HloCx;
        let words = match dim {
            Some(dim) if dim == rank => words,
            Some(dim) => {
                let mut order: Vec<usize> = (0..=rank).filter(|&axis| axis != dim).collect();
                order.push(dim);
                cx.one("stablehlo.transpose", &format!("dims = {order:?}"), &[words], border(aval))
            }
            None => cx.broadcast_in_dim(words, &(0..rank).collect::<Vec<_>>(), &border(aval).shape),
        };
        HloValue { aval, ..words }
    }

    fn operand(&mut self, env: &[Option<HloValue>], atom: Atom) -> HloValue {
        match atom {
            Atom::Literal(scalar) => self.full(scalar, &[]),
            Atom::Var(var) => env[var.index()].expect("equations come after those they use"),
        }
    }

    /// A call of the process that runs the program.
    fn numbered_call(
        &mut self,
        target: &str,
        number: i64,
        has_side_effect: bool,
        ins: &[HloValue],
        outs: &[Aval],
    ) -> HloValues {
        let properties = call_properties(target, number, has_side_effect);
        self.generic("stablehlo.custom_call", &properties, ins, &mut [], outs).expect("there are no regions")
    }

    /// A call without results that all devices make, with their number: XLA takes effects only where devices run by
    /// themselves.
    fn call_by_first(&mut self, target: &str, number: i64, ins: &[HloValue]) -> Result<HloValues> {
        let mesh = self.module.division.clone().expect("several devices");
        let name = self.module.mesh_name(&mesh);
        let whole = |x: &HloValue| format!("<@{name}, {}>", spec_text(&vec![], x.aval.rank()));
        let specs: Vec<String> = ins.iter().map(whole).collect();
        let axes: Vec<String> = mesh.axes.iter().map(|(name, _)| quoted(name)).collect();
        let token = Aval::new(&[], DType::U32);
        self.results(&[token]);
        self.text.push_str("sdy.manual_computation(");
        push_names(&mut self.text, ins);
        let (specs, axes) = (specs.join(", "), axes.join(", "));
        let head = format!(") in_shardings=[{specs}] out_shardings=[<@{name}, []>] manual_axes={{{axes}}} (");
        self.text.push_str(&head);
        let args = self.arguments(&avals_of(ins));
        self.push_arguments(&args);
        self.text.push_str(") {\n");
        let cost = self.region_until("sdy.return", false, &args, &mut |cx, args| {
            let position = cx.op("stablehlo.partition_id", "", &[], &[token]);
            let operands: HloValues = args.iter().chain(&position).copied().collect();
            cx.generic("stablehlo.custom_call", &call_properties(target, number, true), &operands, &mut [], &[token])
        })?;
        self.cost.add(cost);
        self.start_line();
        self.text.push_str("} : ");
        self.push_function_type(ins, &[token]);
        self.end_line();
        Ok(HloValues::new())
    }

    /// `%arg0: tensor<f32>, %arg1: tensor<i32>`.
    fn push_arguments(&mut self, args: &[HloValue]) {
        for (i, arg) in args.iter().enumerate() {
            self.text.push_str(if i == 0 { "" } else { ", " });
            push_name(&mut self.text, arg.name);
            self.text.push_str(": ");
            push_type(&mut self.text, arg.aval);
        }
    }

    /// A call of a function that whoever runs the program must know by name.
    fn named_call(&mut self, name: &str, effects: Effects, ins: &[HloValue], outs: &[Aval]) -> Result<HloValues> {
        let properties = format!(
            "api_version = 4 : i32, backend_config = {{name = {}}}, call_target_name = \"pullback_host_callback\", \
             has_side_effect = {}",
            quoted(&name.replace(['"', '\\', '\n'], "_")),
            !effects.is_none()
        );
        self.generic("stablehlo.custom_call", &properties, ins, &mut [], outs)
    }

    fn call_line(&mut self, function: &str, ins: &[HloValue], outs: &[Aval]) -> HloValues {
        self.cost.add(self.module.cost_of(function));
        let (ins, outs) = (self.with_token(ins), self.and_token(outs));
        let mut results = self.results(&outs);
        self.text.push_str(if self.depth == 0 { "call @" } else { "func.call @" });
        self.text.push_str(function);
        self.text.push('(');
        push_names(&mut self.text, &ins);
        self.text.push_str(") : ");
        self.push_function_type(&ins, &outs);
        self.end_line();
        self.take_token(&mut results);
        results
    }
}

/// What a call of the process that runs the program says.
fn call_properties(target: &str, number: i64, has_side_effect: bool) -> String {
    format!(
        "api_version = 4 : i32, backend_config = {{number = {number} : i64}}, call_target_name = {}, \
         has_side_effect = {has_side_effect}",
        quoted(target)
    )
}

/// Words of the keys that are an axis here: no element type has so many bits.
const WIDE_KEY_WORDS: usize = 4;

/// Primitives that move elements, whatever they are.
const MOVEMENTS: &[&str] = &[
    "broadcast_in_dim",
    "concatenate",
    "copy",
    "dynamic_slice",
    "dynamic_update_slice",
    "gather",
    "pad",
    "reshape",
    "rev",
    "scatter",
    "slice",
    "split",
    "squeeze",
    "stack",
    "tile",
    "transpose",
    "unstack",
];

fn is_wide_key(aval: Aval) -> bool {
    aval.dtype.is_key() && aval.dtype.size_bytes() == 4 * WIDE_KEY_WORDS
}

fn moves_wide_keys(prim: PrimRef, ins: &[HloValue]) -> bool {
    ins.iter().any(|x| is_wide_key(x.aval)) && MOVEMENTS.contains(&prim.name())
}

fn unsupported_on_keys(prim: PrimRef) -> Error {
    let name = prim.name();
    Error::not_implemented(format!("StableHLO of primitive '{name}' is not implemented for keys of four words"))
}

/// How often the regions of an operation run.
fn times(name: &str, ins: &[HloValue], outs: &[Aval]) -> f64 {
    let size = |x: Option<Aval>| x.map_or(0.0, |x| x.size() as f64);
    let (first, last) = (size(ins.first().map(|x| x.aval)), size(ins.last().map(|x| x.aval)));
    match name {
        "stablehlo.reduce" => (first - size(outs.first().copied())).max(0.0),
        "stablehlo.scatter" => last,
        "stablehlo.sort" => first * first.max(2.0).log2().ceil(),
        _ => 1.0,
    }
}

/// Weak types mean nothing here.
fn strong(aval: Aval) -> Aval {
    if aval.weak_type { aval.weak(false) } else { aval }
}

/// How an operation in its short form says its types.
enum Signature {
    /// Those of the results, which are those of the operands or give them.
    Results,
    /// That of the condition and that of the cases.
    Select,
    /// Without parentheses.
    Arrow,
    /// As a function.
    Function,
}

fn signature(name: &str, ins: &[HloValue], outs: &[Aval]) -> Signature {
    match name {
        "stablehlo.constant" | "stablehlo.iota" | "stablehlo.complex" | "stablehlo.optimization_barrier" => {
            Signature::Results
        }
        "stablehlo.select" => Signature::Select,
        "stablehlo.broadcast_in_dim"
        | "stablehlo.reshape"
        | "stablehlo.slice"
        | "stablehlo.transpose"
        | "stablehlo.pad"
        | "stablehlo.concatenate"
        | "stablehlo.dynamic_slice"
        | "stablehlo.dynamic_update_slice"
        | "stablehlo.dot_general"
        | "stablehlo.compare"
        | "stablehlo.bitcast_convert"
        | "stablehlo.reduce"
        | "stablehlo.is_finite"
        | "stablehlo.real"
        | "stablehlo.imag"
        | "stablehlo.fft" => Signature::Function,
        _ if name.starts_with("chlo.") => Signature::Arrow,
        _ if outs.len() == 1 && ins.iter().all(|x| x.aval == strong(outs[0])) => Signature::Results,
        _ => Signature::Function,
    }
}

/// `"jit(f)/sin"("f"("file.py":14:0))`.
fn push_location(out: &mut String, path: &str, (prim, span): (&str, Span)) {
    let names = span.names().to_string();
    let parts = [path, &names, prim].into_iter().filter(|part| !part.is_empty());
    let name = parts.collect::<Vec<_>>().join("/");
    push_quoted(out, &name);
    let Some(place) = span.resolve() else { return };
    out.push('(');
    if !place.function.is_empty() {
        push_quoted(out, &place.function);
        out.push('(');
    }
    push_quoted(out, &place.file);
    write!(out, ":{}:0", place.line).expect("a string takes all text");
    out.push_str(if place.function.is_empty() { ")" } else { "))" });
}

impl HloCx for Function<'_> {
    fn op(&mut self, name: &str, attributes: &str, ins: &[HloValue], outs: &[Aval]) -> HloValues {
        let results = self.results(outs);
        self.cost.add(Cost::of(name, attributes, ins, outs));
        self.text.push_str(name);
        match name {
            "stablehlo.reduce" => {
                let (operands, inits) = ins.split_at(ins.len() / 2);
                for (i, (x, init)) in operands.iter().zip(inits).enumerate() {
                    self.text.push_str(if i == 0 { "(" } else { ", (" });
                    push_name(&mut self.text, x.name);
                    self.text.push_str(" init: ");
                    push_name(&mut self.text, init.name);
                    self.text.push(')');
                }
                self.text.push(' ');
                self.text.push_str(attributes);
            }
            "stablehlo.compare" => {
                let (direction, kind) = attributes.split_once(", ").expect("a direction and a kind");
                self.text.push(' ');
                self.text.push_str(direction);
                self.text.push_str(", ");
                push_names(&mut self.text, ins);
                self.text.push_str(", ");
                self.text.push_str(kind);
            }
            _ => {
                if !ins.is_empty() {
                    self.text.push(' ');
                    push_names(&mut self.text, ins);
                }
                if !attributes.is_empty() {
                    self.text.push_str(if ins.is_empty() || attributes.starts_with(['[', '<']) { " " } else { ", " });
                    self.text.push_str(attributes);
                }
            }
        }
        self.push_signature(name, ins, outs);
        self.end_line();
        results
    }

    fn generic(
        &mut self,
        name: &str,
        properties: &str,
        ins: &[HloValue],
        regions: &mut [HloRegion<'_>],
        outs: &[Aval],
    ) -> Result<HloValues> {
        let is_choice = name == "stablehlo.case" && self.token.is_some();
        let all_outs = if is_choice { self.and_token(outs) } else { outs.to_vec() };
        let before = self.token;
        let mut results = self.results(&all_outs);
        push_quoted(&mut self.text, name);
        self.text.push('(');
        push_names(&mut self.text, ins);
        self.text.push(')');
        if !properties.is_empty() {
            self.text.push_str(" <{");
            self.text.push_str(properties);
            self.text.push_str("}>");
        }
        let mut dearest = Cost::default();
        for (i, region) in regions.iter_mut().enumerate() {
            self.text.push_str(if i == 0 { " ({\n" } else { ", {\n" });
            let args = self.arguments(&region.args);
            self.block_header(&args);
            self.token = before;
            dearest = dearest.max(self.region_until("stablehlo.return", is_choice, &args, region.body)?);
            self.start_line();
            self.text.push('}');
        }
        // What a reduction reads and writes is its operands and results; branches are programs of their own.
        dearest.bytes *= f64::from(u8::from(name == "stablehlo.case"));
        if name == "stablehlo.sort" {
            // One for each comparison, whatever it takes.
            dearest = Cost { flops: 1.0, ..Cost::default() };
        }
        self.cost.add(dearest.times(times(name, ins, outs)));
        self.cost.bytes += cost::touched(name, ins, outs);
        self.text.push_str(if regions.is_empty() { " : " } else { ") : " });
        self.push_function_type(ins, &all_outs);
        self.end_line();
        if is_choice {
            self.take_token(&mut results);
        }
        Ok(results)
    }

    fn while_loop(
        &mut self,
        length: Option<usize>,
        inits: &[HloValue],
        condition: HloBody<'_>,
        body: HloBody<'_>,
    ) -> Result<HloValues> {
        let n = inits.len();
        let inits = self.with_token(inits);
        let avals: Vec<Aval> = inits.iter().map(|x| x.aval).collect();
        let mut results = self.results(&avals);
        let first = self.n_args;
        self.n_args += inits.len() as u32;
        let name = |(aval, n): (&Aval, u32)| HloValue { aval: *aval, name: HloName::Carried(n) };
        let carried: HloValues = avals.iter().zip(first..).map(name).collect();
        self.text.push_str("stablehlo.while(");
        for (i, (carried, init)) in carried.iter().zip(&inits).enumerate() {
            self.text.push_str(if i == 0 { "" } else { ", " });
            push_name(&mut self.text, carried.name);
            self.text.push_str(" = ");
            push_name(&mut self.text, init.name);
        }
        self.text.push_str(") : ");
        push_types(&mut self.text, avals.iter().copied());
        self.text.push('\n');
        self.start_line();
        self.text.push_str("cond {\n");
        let token = self.token.and(carried.last().copied());
        self.token = token;
        let mut cost = self.region(&carried[..n], condition)?;
        if self.token != token {
            let text = "effects in order in the condition of a while loop are not implemented on a device of a plugin; \
                        move the call to the body";
            return Err(Error::not_implemented(text));
        }
        self.start_line();
        self.text.push_str("} do {\n");
        cost.add(self.region_until("stablehlo.return", true, &carried[..n], body)?);
        self.cost.add(cost.times(length.unwrap_or(1) as f64));
        self.start_line();
        self.text.push('}');
        self.end_line();
        self.take_token(&mut results);
        Ok(results)
    }

    fn on_host(
        &mut self,
        prim: PrimRef,
        params: &Params,
        ins: &[HloValue],
        outs: &[Aval],
    ) -> Result<Option<HloValues>> {
        let Some(host) = self.module.host.clone() else { return Ok(None) };
        let number = host.primitive(prim, params, &avals_of(ins), outs)?;
        Ok(Some(self.numbered_call(host.target(), number, false, ins, outs)))
    }

    fn host_call(
        &mut self,
        function: &Arc<dyn HostCall>,
        effects: Effects,
        ins: &[HloValue],
        outs: &[Aval],
    ) -> Result<HloValues> {
        let Some(host) = self.module.host.clone() else { return self.named_call(&function.name(), effects, ins, outs) };
        let calling = match (effects, &self.module.division) {
            (Effects::ORDERED, _) => Calling::InOrder,
            // Inside of a map each device calls for itself.
            (Effects::UNORDERED, Some(_)) if self.module.manual.is_none() => Calling::ByFirst,
            _ => Calling::Plain,
        };
        let number = host.function(function, calling, &avals_of(ins), outs)?;
        match calling {
            Calling::Plain => Ok(self.numbered_call(host.target(), number, !effects.is_none(), ins, outs)),
            Calling::InOrder => {
                let (ins, outs) = (self.with_token(ins), self.and_token(outs));
                let mut results = self.numbered_call(host.target(), number, true, &ins, &outs);
                self.take_token(&mut results);
                Ok(results)
            }
            Calling::ByFirst if outs.is_empty() => self.call_by_first(host.target(), number, ins),
            Calling::ByFirst => Err(Error::not_implemented(format!(
                "a callback with effects and results ({}) in a program for several devices of a plugin is not implemented: \
                 its results would be those of one device. Call it inside of jax.shard_map, or use pure_callback.",
                function.name()
            ))),
        }
    }

    fn full(&mut self, scalar: Scalar, shape: &[usize]) -> HloValue {
        let aval = Aval::new(shape, scalar.dtype());
        let dense = |out: &mut String| {
            out.push_str("dense<");
            if aval.size() > 0 {
                push_element(out, scalar);
            }
            out.push('>');
            Ok(())
        };
        self.constant_line(aval, dense).expect("a number is at hand")
    }

    fn array(&mut self, array: &Array) -> Result<HloValue> {
        self.constant_line(array.aval(), |out| push_dense(out, array))
    }

    fn call(&mut self, name: &str, jaxpr: &JaxprRef, ins: &[HloValue]) -> Result<HloValues> {
        let function = self.module.function_of(name, jaxpr, ins)?;
        Ok(self.call_line(&function, ins, &jaxpr.out_avals()))
    }

    fn inline(&mut self, jaxpr: &JaxprRef, ins: &[HloValue]) -> Result<HloValues> {
        self.write_jaxpr(jaxpr, ins)
    }

    fn outline(&mut self, name: &str, params: &Params, ins: &[HloValue], body: HloBody<'_>) -> Result<HloValues> {
        match self.module.outlined(name, params, ins, body)? {
            Outlined::InPlace => body(self, ins),
            Outlined::Function(function, outs) => Ok(self.call_line(&function, ins, &outs)),
        }
    }

    fn devices(&self) -> Option<Arc<Mesh>> {
        self.module.manual.clone()
    }

    fn mesh_name(&mut self, mesh: &Mesh) -> String {
        self.module.mesh_name(mesh)
    }

    fn channel(&mut self) -> u32 {
        self.module.channel()
    }

    fn on_devices(&mut self, map: &DeviceMap<'_>, ins: &[HloValue], outs: &[Aval]) -> Result<HloValues> {
        let mesh = self.module.mesh_name(map.mesh);
        let shardings = |specs: &[&Spec], avals: &mut dyn Iterator<Item = Aval>| {
            let one = |(spec, aval): (&&Spec, Aval)| format!("<@{mesh}, {}>", spec_text(spec, aval.rank()));
            specs.iter().zip(avals).map(one).collect::<Vec<_>>().join(", ")
        };
        let in_text = shardings(&map.in_specs, &mut ins.iter().map(|x| x.aval));
        let out_text = shardings(&map.out_specs, &mut outs.iter().copied());
        let axes: Vec<String> = map.manual.iter().map(|name| quoted(name)).collect();
        let results = self.results(outs);
        self.text.push_str("sdy.manual_computation(");
        push_names(&mut self.text, ins);
        write!(
            self.text,
            ") in_shardings=[{in_text}] out_shardings=[{out_text}] manual_axes={{{}}} (",
            axes.join(", ")
        )
        .expect("a string takes all text");
        let args = self.arguments(&map.jaxpr.in_avals());
        self.push_arguments(&args);
        self.text.push_str(") {\n");
        let around = self.module.manual.replace(map.mesh.clone());
        let cost = self.region_until("sdy.return", false, &args, &mut |cx, args| cx.inline(map.jaxpr, args));
        self.module.manual = around;
        self.cost.add(cost?);
        self.start_line();
        self.text.push_str("} : ");
        self.push_function_type(ins, outs);
        self.end_line();
        Ok(results)
    }

    fn elementwise(
        &mut self,
        form: &dyn Fn(&mut Builder, &[Elem]) -> Elem,
        ins: &[HloValue],
        out: Aval,
    ) -> Result<HloValue> {
        scalar::elementwise(self, form, ins, out)
    }
}
