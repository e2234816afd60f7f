//! Other engines than our own: runtimes with devices of their own, on which arrays lie and for which jaxprs are compiled.
//!
//! An engine brings its devices when it is added; from then on work whose operands are on them, or whose default device
//! is one of them, goes there whole ([`perform`]). What is compiled for an operation is kept by the operation, its
//! params, the types of its operands and where they lie.

use std::collections::HashMap;
use std::sync::{Arc, LazyLock, Mutex, PoisonError, RwLock};

use pullback_base::array::Held;
use pullback_base::array::place::{DeviceId, FIRST_FOREIGN, Layout, Place, use_places};
use pullback_base::{Array, Aval, Error, ErrorKind, Result};
use pullback_core::control::{JIT, Jit};
use pullback_ir::{Builder, Jaxpr, JaxprRef, Params, PrimRef, Val, Vals};
use rustc_hash::FxBuildHasher;
use smallvec::SmallVec;

use crate::placement::{is_on, out_layouts};

/// A program for the devices of an engine.
pub struct Program<'a> {
    /// The name of the function, for people.
    pub name: &'a str,
    /// What it does.
    pub jaxpr: &'a JaxprRef,
    /// Which operands' memory results may take over.
    pub donated: &'a [bool],
    /// The devices, as the numbers that the engine was given.
    pub devices: &'a [DeviceId],
    /// Where each operand lies.
    pub ins: &'a [Layout],
    /// Where each result lies.
    pub outs: &'a [Layout],
}

/// A runtime with devices of its own.
pub trait Engine: Send + Sync {
    /// The name of its platform, for people and errors.
    fn platform(&self) -> &str;

    /// Brings an array's elements to its devices.
    ///
    /// # Errors
    /// When a device has no memory for them.
    fn put(&self, array: &Array, layout: &Layout) -> Result<Arc<dyn Held>>;

    /// Compiles a program.
    ///
    /// # Errors
    /// `NotImplemented` for what the engine cannot do; what its compiler raises.
    fn compile(&self, program: &Program<'_>) -> Result<Arc<dyn DeviceCode>>;
}

/// A compiled program of an engine.
pub trait DeviceCode: Send + Sync {
    /// Starts a run. Operands that the program donates are gone afterwards, but for those that others hold too.
    ///
    /// # Errors
    /// When an operand is gone, or a device has no memory.
    fn run(&self, args: &[Arc<dyn Held>]) -> Result<Vec<Arc<dyn Held>>>;
}

/// Devices that one engine may have.
const PER_ENGINE: DeviceId = FIRST_FOREIGN;

static ENGINES: RwLock<Vec<Arc<dyn Engine>>> = RwLock::new(Vec::new());

/// The number of the first device of the engine that is added next, and the engine that `make` makes of it.
///
/// # Errors
/// What `make` raises.
pub fn add_engine<E: Engine + 'static>(make: impl FnOnce(DeviceId) -> Result<Arc<E>>) -> Result<(DeviceId, Arc<E>)> {
    let mut engines = ENGINES.write().unwrap_or_else(PoisonError::into_inner);
    let first = FIRST_FOREIGN + engines.len() as DeviceId * PER_ENGINE;
    let made = make(first)?;
    engines.push(made.clone());
    use_places();
    Ok((first, made))
}

/// The engine that a device belongs to; `None` for our own.
pub fn engine_of(device: DeviceId) -> Option<Arc<dyn Engine>> {
    if device < FIRST_FOREIGN {
        return None;
    }
    let number = (device - FIRST_FOREIGN) / PER_ENGINE;
    ENGINES.read().unwrap_or_else(PoisonError::into_inner).get(number as usize).cloned()
}

/// The platform of a device, as errors name it.
pub(crate) fn platform_of(device: DeviceId) -> String {
    engine_of(device).map_or_else(|| "CPU".to_string(), |engine| engine.platform().to_uppercase())
}

/// The array on the devices of a layout, with its elements on their way there.
///
/// # Errors
/// When the array was deleted, or a device has no memory for it.
pub fn put(array: &Array, place: Option<Arc<Place>>) -> Result<Array> {
    let engine = place.as_ref().and_then(|place| engine_of(first_device(&place.layout)));
    let placed = array.placed(place.clone())?;
    if let (Some(engine), Some(place)) = (engine, place) {
        placed.held_or_put(|_| engine.put(array, &place.layout))?;
    }
    Ok(placed)
}

/// The first device of a layout.
pub(crate) fn first_device(layout: &Layout) -> DeviceId {
    match layout {
        Layout::Device(id) => *id,
        Layout::Split(mesh, _) => mesh.devices.first().copied().unwrap_or(0),
    }
}

/// What a compiled operation depends on. All operands of a program on one device lie there.
#[derive(PartialEq, Eq, Hash)]
struct Key {
    prim: PrimRef,
    params: Params,
    avals: SmallVec<[Aval; 4]>,
    target: Layout,
    ins: SmallVec<[Layout; 2]>,
}

/// A compiled operation.
struct Call {
    code: Arc<dyn DeviceCode>,
    /// The operands that it takes, by number.
    taken: Vec<usize>,
    outs: Vec<(Aval, Arc<Place>)>,
    /// The same results when nobody asked for these devices.
    uncommitted: Vec<Arc<Place>>,
}

/// Programs that are kept before all are forgotten.
const MAX_KEPT: usize = 8192;

type Calls = HashMap<Key, Arc<Call>, FxBuildHasher>;

static CALLS: LazyLock<Mutex<Calls>> = LazyLock::new(Mutex::default);

fn calls() -> std::sync::MutexGuard<'static, Calls> {
    CALLS.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Programs by the identity of their params, which are held so that no others get it, and the device they run on: a call
/// that was made before, with operands there, needs nothing else to be found out.
type Direct = HashMap<(usize, DeviceId), (Params, Arc<Call>), FxBuildHasher>;

static DIRECT: LazyLock<Mutex<Direct>> = LazyLock::new(Mutex::default);

fn direct() -> std::sync::MutexGuard<'static, Direct> {
    DIRECT.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Forgets all compiled programs.
pub(crate) fn clear() {
    let old = (std::mem::take(&mut *calls()), std::mem::take(&mut *direct()));
    drop(old);
}

/// The identity of the params of a program; nothing for other primitives.
fn identity(prim: PrimRef, params: &Params) -> Option<usize> {
    let object = if prim == JIT { params.object()? } else { return None };
    Some(Arc::as_ptr(object).cast::<()>() as usize)
}

/// Remembers that a program ran on a device, for [`perform_directly`].
pub(crate) fn remember_direct(prim: PrimRef, params: &Params, ins: &[Val], target: &Layout) {
    let (Some(id), Layout::Device(device)) = (identity(prim, params), target) else { return };
    if direct().contains_key(&(id, *device)) {
        return;
    }
    let avals = ins.iter().map(|val| val.aval().sharded(None)).collect();
    let key = Key { prim, params: params.clone(), avals, target: target.clone(), ins: SmallVec::new() };
    let Some(call) = calls().get(&key).cloned() else { return };
    let mut direct = direct();
    let old = if direct.len() >= MAX_KEPT { std::mem::take(&mut *direct) } else { Direct::default() };
    direct.insert((id, *device), (params.clone(), call));
    drop(direct);
    drop(old);
}

/// Where a value is committed, if it is to one device.
fn committed_device(val: &Val) -> Option<DeviceId> {
    let Val::Array(array) = val else { return None };
    match array.place()? {
        place if !place.is_committed => None,
        place => match place.layout {
            Layout::Device(device) => Some(device),
            Layout::Split(..) => None,
        },
    }
}

/// Whether a value is committed to anything.
fn is_committed(val: &Val) -> bool {
    matches!(val, Val::Array(array) if array.place().is_some_and(|place| place.is_committed))
}

/// Performs a program that ran before on the device where its operands lie; nothing where that is not so, or was not
/// remembered.
pub(crate) fn perform_directly(prim: PrimRef, params: &Params, ins: &[Val], default: DeviceId) -> Option<Result<Vals>> {
    let id = identity(prim, params)?;
    let device = ins.iter().find_map(committed_device).unwrap_or(default);
    let call = direct().get(&(id, device)).map(|(_, call)| call.clone())?;
    let mut commits = false;
    for &at in &call.taken {
        match committed_device(&ins[at]) {
            Some(own) if own == device => commits = true,
            None if !is_committed(&ins[at]) && !ins[at].is_tracer() => {}
            Some(_) | None => return None,
        }
    }
    if !commits && device != default {
        return None;
    }
    let engine = engine_of(device)?;
    let layout = Layout::Device(device);
    Some(run_call(&call, commits, |at| held_at(&*engine, prim, &ins[at], &layout)))
}

/// Runs a compiled operation on operands by number.
fn run_call(call: &Call, is_committed: bool, operand: impl Fn(usize) -> Result<Arc<dyn Held>>) -> Result<Vals> {
    let args = call.taken.iter().map(|&at| operand(at)).collect::<Result<SmallVec<[Arc<dyn Held>; 8]>>>()?;
    let outs = call.code.run(&args)?;
    let places = call.outs.iter().zip(&call.uncommitted);
    let array = |(held, ((aval, place), uncommitted)): (Arc<dyn Held>, (&(Aval, Arc<Place>), &Arc<Place>))| {
        let place = if is_committed { place } else { uncommitted };
        Val::Array(Array::on_device(*aval, held, Some(place.clone())))
    };
    Ok(outs.into_iter().zip(places).map(array).collect())
}

/// Performs a primitive on the devices of `target`, which belong to `engine`.
///
/// # Errors
/// `UnexpectedTracer` for a tracer; what compiling and running raise.
pub(crate) fn perform(
    engine: &Arc<dyn Engine>,
    (prim, params): (PrimRef, &Params),
    ins: &[Val],
    target: &Layout,
    is_committed: bool,
) -> Result<Vals> {
    let layouts: SmallVec<[Layout; 2]> = match target {
        Layout::Device(_) => SmallVec::new(),
        Layout::Split(mesh, _) => ins.iter().map(|val| is_on(val, mesh)).collect(),
    };
    let avals = ins.iter().map(|val| val.aval().sharded(None)).collect();
    let key = Key { prim, params: params.clone(), avals, target: target.clone(), ins: layouts };
    let known = calls().get(&key).cloned();
    let call = match known {
        Some(call) => call,
        None => remember(&**engine, key, ins)?,
    };
    run_call(&call, is_committed, |at| {
        let layout = match target {
            Layout::Device(_) => target.clone(),
            Layout::Split(mesh, _) => is_on(&ins[at], mesh),
        };
        held_at(&**engine, prim, &ins[at], &layout)
    })
}

/// The elements of an operand on the devices of a layout.
fn held_at(engine: &dyn Engine, prim: PrimRef, val: &Val, layout: &Layout) -> Result<Arc<dyn Held>> {
    match val {
        Val::Array(array) if array.place().is_some_and(|place| place.layout == *layout) => {
            array.held_or_put(|_| engine.put(array, layout))
        }
        Val::Array(array) => engine.put(array, layout),
        Val::Literal(scalar) => engine.put(&Array::scalar(*scalar), layout),
        Val::Tracer(_) => Err(leaked(prim, val)),
    }
}

fn leaked(prim: PrimRef, val: &Val) -> Error {
    let text = format!("{} outside of a trace was given a leaked tracer of type {}", prim.name(), val.aval());
    Error::new(ErrorKind::UnexpectedTracer, text)
}

/// Compiles an operation and keeps it.
fn remember(engine: &dyn Engine, key: Key, ins: &[Val]) -> Result<Arc<Call>> {
    if let Some(leak) = ins.iter().find(|val| val.is_tracer()) {
        return Err(leaked(key.prim, leak));
    }
    // Compiled without the lock: compiling may take long, and a second compilation does no harm.
    let call = Arc::new(compile(engine, &key)?);
    let mut calls = calls();
    let old = if calls.len() >= MAX_KEPT { std::mem::take(&mut *calls) } else { Calls::default() };
    calls.insert(key, call.clone());
    drop(calls);
    // Functions of a front end may go with them: outside of the lock.
    drop(old);
    Ok(call)
}

fn compile(engine: &dyn Engine, key: &Key) -> Result<Call> {
    let (jaxpr, taken, donated, name) = program_of(key)?;
    let ins: Vec<Layout> = match &key.target {
        Layout::Device(_) => vec![key.target.clone(); taken.len()],
        Layout::Split(..) => taken.iter().map(|&at| key.ins[at].clone()).collect(),
    };
    let taken_avals: Vec<Aval> = taken.iter().map(|&at| key.avals[at]).collect();
    let out_avals = jaxpr.out_avals();
    let outs = out_layouts(&key.target, (key.prim, &key.params), (&jaxpr, &taken_avals, &ins), &out_avals);
    let devices = key.target.devices();
    let program = Program { name: &name, jaxpr: &jaxpr, donated: &donated, devices: &devices, ins: &ins, outs: &outs };
    crate::count_compilation();
    let code = engine.compile(&program)?;
    let place = |is_committed: bool| move |layout: &Layout| Arc::new(Place { layout: layout.clone(), is_committed });
    let uncommitted = outs.iter().map(place(false)).collect();
    let outs = out_avals.into_iter().zip(outs.iter().map(place(true))).collect();
    Ok(Call { code, taken, outs, uncommitted })
}

/// The jaxpr of an operation, which operands it takes, which of those are donated, and its name.
fn program_of(key: &Key) -> Result<(JaxprRef, Vec<usize>, Vec<bool>, String)> {
    let Some(jit) = key.params.get::<Jit>() else {
        let outs = key.prim.abstract_eval(&key.params, &key.avals)?;
        outs.iter().try_for_each(|aval| aval.check_extent())?;
        let builder = Builder::new();
        let ins: Vec<Val> = key.avals.iter().map(|&aval| builder.input(aval)).collect();
        let outs = builder.record(key.prim, &key.params, &ins, &outs);
        let jaxpr = JaxprRef::new(builder.finish(&outs, None).0);
        return Ok((jaxpr, (0..key.avals.len()).collect(), vec![], key.prim.name().to_string()));
    };
    let used = jit.jaxpr.used_inputs();
    let name = jit.name.to_string();
    if jit.keep_unused || used.iter().all(|used| *used) {
        return Ok((jit.jaxpr.clone(), (0..used.len()).collect(), jit.donated_invars.clone(), name));
    }
    let taken: Vec<usize> = (0..used.len()).filter(|&at| used[at]).collect();
    let mut jaxpr = Jaxpr::clone(&jit.jaxpr);
    jaxpr.invars = taken.iter().map(|&at| jit.jaxpr.invars[at]).collect();
    let donated = taken.iter().map(|&at| jit.donated_invars[at]).collect();
    Ok((JaxprRef::new(jaxpr), taken, donated, name))
}
