//! The module: `@main` and the private functions it calls, each written once.
//!
//! A function is known by the jaxpr that it holds, or by name, params and operand types when a primitive asks for one;
//! functions of equal text are one, whatever they came from.

use std::fmt::Write;
use std::sync::Arc;

use pullback_base::array::place::{Mesh, Spec};
use pullback_base::{Aval, DType, Error, Result, Shape};
use pullback_ir::hlo::{HloBody, HloValue, HloValues, spec_text};
use pullback_ir::{Effects, Jaxpr, JaxprRef, Params, PrimRef};
use pullback_loops::HostCall;
use rustc_hash::{FxHashMap, FxHashSet};

use crate::cost::Cost;
use crate::function::Function;
use crate::text::{push_name, push_names, push_quoted, push_result_types, push_type, push_types, symbol};

/// What happens to the memory of an argument.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Donation {
    /// The result with this number takes it over.
    Result(usize),
    /// Whatever may use it.
    Any,
}

/// What a module says beside its program.
#[derive(Clone, Debug, Default)]
pub struct Options {
    /// Name of the function, for example `jit_f`.
    pub name: String,
    /// Names of arguments, for locations.
    pub arg_names: Vec<String>,
    /// What each argument donates; missing entries donate nothing.
    pub donations: Vec<Option<Donation>>,
    /// A name for each result, for example `result['a']`; none when empty.
    pub result_names: Vec<String>,
    /// Whether every operation says where the user asked for it.
    pub debug_info: bool,
    /// How the program is divided over devices; one device runs all of it when there is none.
    pub division: Option<Division>,
    /// What the program may leave to the process that runs it.
    pub host: Option<Arc<dyn Host>>,
}

/// What a call of a function of the host has beside the function's own operands and results.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Calling {
    /// Nothing.
    Plain,
    /// A token, a number of 32 bits, after both: that of effects in order.
    InOrder,
    /// The number of the device after the operands, and a token after the results. All devices call, and the first one's
    /// call counts.
    ByFirst,
}

/// Work of programs that the process does that runs them: calls by number, through XLA's foreign functions.
pub trait Host {
    /// The name of the handler.
    fn target(&self) -> &str;

    /// The number by which a program calls a function, given the types of operands and results.
    ///
    /// # Errors
    /// For types that it cannot be given.
    fn function(&self, function: &Arc<dyn HostCall>, calling: Calling, ins: &[Aval], outs: &[Aval]) -> Result<i64>;

    /// The number by which a program has a primitive done.
    ///
    /// # Errors
    /// When the process cannot do it.
    fn primitive(&self, prim: PrimRef, params: &Params, ins: &[Aval], outs: &[Aval]) -> Result<i64>;
}

impl std::fmt::Debug for dyn Host {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(self.target())
    }
}

/// How a program is divided over the devices of a mesh.
#[derive(Clone)]
pub struct Division {
    /// The devices.
    pub mesh: Arc<Mesh>,
    /// How each argument is split.
    pub ins: Vec<Spec>,
    /// How each result is split.
    pub outs: Vec<Spec>,
}

impl std::fmt::Debug for Division {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Division").field("ins", &self.ins).field("outs", &self.outs).finish_non_exhaustive()
    }
}

/// What is known of something that a primitive asked to be a function.
#[derive(Clone)]
pub(crate) enum Outlined {
    /// Too short for a function.
    InPlace,
    /// The function and the types of its results.
    Function(String, Vec<Aval>),
}

/// By what an outlined function is known.
type OutlineKey = (String, Params, Vec<Aval>);

#[derive(Default)]
pub(crate) struct Module {
    /// Texts of finished private functions, without `func.func private @name`.
    functions: Vec<(String, String)>,
    costs: FxHashMap<String, Cost>,
    by_text: FxHashMap<String, String>,
    names: FxHashSet<String>,
    next_suffix: FxHashMap<String, u32>,
    by_jaxpr: FxHashMap<(u64, Vec<Aval>, String), String>,
    /// Held, so that the identities above stay taken.
    jaxprs: Vec<JaxprRef>,
    outlined: FxHashMap<OutlineKey, Outlined>,
    pub(crate) debug_info: bool,
    /// Axes of the meshes that the program names; the position is part of a mesh's name.
    meshes: Vec<Vec<(Arc<str>, usize)>>,
    /// The mesh on each of whose devices the operations being written run by themselves.
    pub(crate) manual: Option<Arc<Mesh>>,
    n_channels: u32,
    pub(crate) host: Option<Arc<dyn Host>>,
    /// Whether a token goes through all functions and loops, so that effects keep their order.
    pub(crate) is_ordered: bool,
    /// The devices that run the program together, where they are several.
    pub(crate) division: Option<Arc<Mesh>>,
}

/// The type of the token: a number that nobody reads.
pub(crate) fn token_aval() -> Aval {
    Aval::new(&[], DType::I32)
}

/// A module, and what it asks for.
#[derive(Clone, Debug)]
pub struct Text {
    /// The text.
    pub text: String,
    /// The costs.
    pub cost: Cost,
}

/// The module of a jaxpr.
///
/// # Errors
/// `NotImplemented` for a primitive that has no StableHLO form, named; what rules raise.
pub fn module_text(jaxpr: &Jaxpr, options: &Options) -> Result<Text> {
    // Without a host that runs it, the order is for whoever reads the text.
    let is_ordered = options.host.is_some() && jaxpr.effects().union(Effects::ORDERED) == jaxpr.effects();
    let division = options.division.as_ref().map(|division| division.mesh.clone());
    let division = division.filter(|mesh| mesh.devices.len() > 1);
    if let (true, Some(mesh)) = (is_ordered, &division) {
        let n_devices = mesh.devices.len();
        return Err(Error::value_error(format!(
            "Ordered effects are not supported for more than 1 device; the program of {} is for {n_devices}. Pass \
             ordered=False, or run it on one device.",
            options.name
        )));
    }
    let (debug_info, host) = (options.debug_info, options.host.clone());
    let mut module = Module { debug_info, host, is_ordered, division, ..Module::default() };
    module.names.insert("main".into());
    let (main, cost) = main_function(&mut module, jaxpr, options)?;
    let mut out = String::with_capacity(
        main.len() + module.functions.iter().map(|(_, text)| text.len() + 40).sum::<usize>() + 200,
    );
    // Without a division of the arguments the devices are those of the mesh that the program names.
    let n = module.meshes.first().map_or(1, |axes| axes.iter().map(|(_, size)| size).product());
    writeln!(
        out,
        "module @{} attributes {{mhlo.num_partitions = {n} : i32, mhlo.num_replicas = 1 : i32}} {{",
        symbol(&options.name)
    )
    .expect("a string takes all text");
    module.push_meshes(&mut out);
    out.push_str("  func.func public @main");
    out.push_str(&main);
    for (name, text) in &module.functions {
        out.push_str("  func.func private @");
        out.push_str(name);
        out.push_str(text);
    }
    out.push_str("}\n");
    Ok(Text { text: out, cost })
}

/// The aval of a value at the border of the program: keys are their words.
pub(crate) fn border(aval: Aval) -> Aval {
    if !aval.dtype.is_key() {
        return aval;
    }
    let mut words: Shape = aval.shape.clone();
    words.push(aval.dtype.size_bytes() / 4);
    Aval::new(&words, DType::U32)
}

fn main_function(module: &mut Module, jaxpr: &Jaxpr, options: &Options) -> Result<(String, Cost)> {
    let debug_info = module.debug_info;
    let mut main = Function::new(
        module,
        2,
        options.name.strip_prefix("jit_").map_or_else(|| options.name.clone(), |name| format!("jit({name})")),
    );
    let avals: Vec<Aval> = jaxpr.in_avals().into_iter().map(border).collect();
    let args = main.arguments(&avals);
    let ins: HloValues = args.iter().zip(jaxpr.in_avals()).map(|(&arg, aval)| main.bitcast_border(arg, aval)).collect();
    main.begin_order();
    let outs = main.write_jaxpr(jaxpr, &ins)?;
    let outs: HloValues = outs.iter().map(|&out| main.bitcast_border(out, border(out.aval))).collect();
    main.finish("return", &outs);
    let (body, cost) = main.into_parts();
    let division = options.division.as_ref();
    let mut out = String::from("(");
    for (i, arg) in args.iter().enumerate() {
        out.push_str(if i == 0 { "" } else { ", " });
        push_argument(&mut out, *arg);
        let sharding = division.map(|division| sharding_attribute(module, division, &division.ins[i], arg.aval));
        push_attributes(&mut out, [sharding, donation_attribute(options.donations.get(i).copied().flatten())]);
        if let Some(name) = options.arg_names.get(i).filter(|_| debug_info) {
            out.push_str(" loc(");
            push_quoted(&mut out, name);
            out.push(')');
        }
    }
    out.push_str(") -> (");
    for (i, result) in outs.iter().enumerate() {
        out.push_str(if i == 0 { "" } else { ", " });
        push_type(&mut out, result.aval);
        let name = options.result_names.get(i).map(|name| {
            let mut text = String::from("jax.result_info = ");
            push_quoted(&mut text, name);
            text
        });
        let sharding = division.map(|division| sharding_attribute(module, division, &division.outs[i], result.aval));
        push_attributes(&mut out, [name, sharding]);
    }
    out.push_str(") {\n");
    out.push_str(&body);
    out.push_str("  }\n");
    Ok((out, cost))
}

/// Which result takes over the memory of which donated argument: the first free one of its shape and dtype. Also the
/// donated arguments that none can use.
pub fn donations(donated: &[bool], ins: &[Aval], outs: &[Aval]) -> (Vec<Option<Donation>>, Vec<usize>) {
    let mut free: FxHashMap<Aval, std::collections::VecDeque<usize>> = FxHashMap::default();
    for (number, out) in outs.iter().enumerate() {
        free.entry(out.weak(false)).or_default().push_back(number);
    }
    let (mut found, mut unusable) = (vec![None; ins.len()], vec![]);
    for (i, aval) in ins.iter().enumerate().filter(|(i, _)| donated.get(*i).copied().unwrap_or(false)) {
        match free.get_mut(&aval.weak(false)).and_then(std::collections::VecDeque::pop_front) {
            Some(number) => found[i] = Some(Donation::Result(number)),
            None => unusable.push(i),
        }
    }
    (found, unusable)
}

fn push_argument(out: &mut String, arg: HloValue) {
    push_name(out, arg.name);
    out.push_str(": ");
    push_type(out, arg.aval);
}

fn donation_attribute(donation: Option<Donation>) -> Option<String> {
    Some(match donation? {
        Donation::Result(number) => format!("tf.aliasing_output = {number} : i32"),
        Donation::Any => "jax.buffer_donor = true".into(),
    })
}

fn sharding_attribute(module: &mut Module, division: &Division, spec: &Spec, aval: Aval) -> String {
    let mesh = module.mesh_name(&division.mesh);
    format!("sdy.sharding = #sdy.sharding<@{mesh}, {}>", spec_text(spec, aval.rank()))
}

/// ` {a, b}` of those that are there.
fn push_attributes(out: &mut String, attributes: [Option<String>; 2]) {
    let given: Vec<String> = attributes.into_iter().flatten().collect();
    if !given.is_empty() {
        write!(out, " {{{}}}", given.join(", ")).expect("a string takes all text");
    }
}

pub(crate) fn quoted(name: &str) -> String {
    let mut text = String::new();
    push_quoted(&mut text, name);
    text
}

impl Module {
    /// The name of a mesh, which the module then declares.
    pub(crate) fn mesh_name(&mut self, mesh: &Mesh) -> String {
        let at = self.meshes.iter().position(|known| *known == mesh.axes).unwrap_or_else(|| {
            self.meshes.push(mesh.axes.clone());
            self.meshes.len() - 1
        });
        if at == 0 { "mesh".into() } else { format!("mesh_{}", at - 1) }
    }

    fn push_meshes(&self, out: &mut String) {
        for (at, axes) in self.meshes.iter().enumerate() {
            let name = if at == 0 { "mesh".to_string() } else { format!("mesh_{}", at - 1) };
            let axes: Vec<String> = axes.iter().map(|(name, size)| format!("{}={size}", quoted(name))).collect();
            writeln!(out, "  sdy.mesh @{name} = <[{}]>", axes.join(", ")).expect("a string takes all text");
        }
    }

    /// A number for operations that devices meet in.
    pub(crate) fn channel(&mut self) -> u32 {
        self.n_channels += 1;
        self.n_channels
    }

    /// What of the surroundings a function depends on: inside of a map over devices another one is written.
    fn surroundings(&mut self) -> String {
        match self.manual.clone() {
            Some(mesh) => self.mesh_name(&mesh),
            None => String::new(),
        }
    }

    /// The function that holds a jaxpr.
    pub(crate) fn function_of(&mut self, name: &str, jaxpr: &JaxprRef, ins: &[HloValue]) -> Result<String> {
        let key = (jaxpr.id(), avals_of(ins), self.surroundings());
        if let Some(known) = self.by_jaxpr.get(&key) {
            return Ok(known.clone());
        }
        let (function, _, _, cost) =
            self.write(name, &key.1, &mut |function, args| function.write_jaxpr(jaxpr, args))?;
        let function = self.add(name, function, cost);
        self.jaxprs.push(jaxpr.clone());
        self.by_jaxpr.insert(key, function.clone());
        Ok(function)
    }

    /// The function that a primitive asks for, or the word that it is too short to be one.
    pub(crate) fn outlined(
        &mut self,
        name: &str,
        params: &Params,
        ins: &[HloValue],
        body: HloBody<'_>,
    ) -> Result<Outlined> {
        let key = (name.to_string() + &self.surroundings(), params.clone(), avals_of(ins));
        if let Some(known) = self.outlined.get(&key) {
            return Ok(known.clone());
        }
        const MAX_IN_PLACE: usize = 8;
        let (text, outs, n_ops, cost) = self.write(name, &key.2, &mut |function, args| body(function, args))?;
        let outlined = if n_ops <= MAX_IN_PLACE {
            Outlined::InPlace
        } else {
            Outlined::Function(self.add(name, text, cost), outs)
        };
        self.outlined.insert(key, outlined.clone());
        Ok(outlined)
    }

    /// Text, result types, number of operations and costs of a function.
    fn write(
        &mut self,
        name: &str,
        avals: &[Aval],
        body: &mut dyn FnMut(&mut Function<'_>, &[HloValue]) -> Result<HloValues>,
    ) -> Result<(String, Vec<Aval>, usize, Cost)> {
        let mut function = Function::new(self, 2, format!("jit({name})"));
        let mut args = function.arguments(avals);
        args.extend(function.token_argument());
        let mut outs = body(&mut function, &args[..avals.len()])?;
        let out_avals = avals_of(&outs);
        outs.extend(function.token());
        function.finish("return", &outs);
        let n_ops = function.n_ops();
        let (body, cost) = function.into_parts();
        let mut out = String::from("(");
        for (i, arg) in args.iter().enumerate() {
            out.push_str(if i == 0 { "" } else { ", " });
            push_argument(&mut out, *arg);
        }
        out.push_str(") -> ");
        push_result_types(&mut out, &avals_of(&outs));
        out.push_str(" {\n");
        out.push_str(&body);
        out.push_str("  }\n");
        Ok((out, out_avals, n_ops, cost))
    }

    /// Adds a function, unless one of the same text is there; gives its name.
    fn add(&mut self, name: &str, text: String, cost: Cost) -> String {
        if let Some(known) = self.by_text.get(&text) {
            return known.clone();
        }
        let name = self.fresh_name(&symbol(name));
        self.costs.insert(name.clone(), cost);
        self.by_text.insert(text.clone(), name.clone());
        self.functions.push((name.clone(), text));
        name
    }

    /// What one call of a function costs.
    pub(crate) fn cost_of(&self, function: &str) -> Cost {
        self.costs.get(function).copied().unwrap_or_default()
    }

    fn fresh_name(&mut self, base: &str) -> String {
        let next = self.next_suffix.entry(base.to_string()).or_insert(0);
        let mut name = base.to_string();
        while !self.names.insert(name.clone()) {
            name = format!("{base}_{next}");
            *next += 1;
        }
        name
    }
}

/// Types of values.
pub(crate) fn avals_of(values: &[HloValue]) -> Vec<Aval> {
    values.iter().map(|value| value.aval).collect()
}

/// `return %0, %1 : tensor<f32>, tensor<i32>`.
pub(crate) fn push_terminator(out: &mut String, name: &str, outs: &[HloValue]) {
    out.push_str(name);
    if !outs.is_empty() {
        out.push(' ');
        push_names(out, outs);
        out.push_str(" : ");
        push_types(out, outs.iter().map(|value| value.aval));
    }
}

/// A primitive that gave another number of results than it should.
pub(crate) fn wrong_results(name: &str, got: usize, want: usize) -> Error {
    Error::internal(format!("the StableHLO form of {name} gave {got} results, not {want}"))
}
