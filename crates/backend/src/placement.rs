//! Where results lie: computations follow the committed operands, and results are split as their operands are.
//!
//! Programs run on whole arrays, since all devices share one memory; a split is a fact about the result. How a split
//! passes through an operation is said by the primitive ([`pullback_ir::Splits`]): strictly where types speak of it, freely
//! along the axes of a mesh where the system decides.

use std::cell::{Cell, RefCell};
use std::sync::atomic::{AtomicU32, Ordering};
use std::sync::{Arc, OnceLock};

use pullback_base::array::place::{DeviceId, FIRST_FOREIGN, Layout, Mesh, Place, Spec, places_in_use, use_places};
use pullback_base::array::{Buffer, Held};
use pullback_base::sharding::{self, AxisKind};
use pullback_base::{Array, Aval, Error, Result};
use pullback_core::control::{Jit, ShardMap};
use pullback_core::prims::ShardingConstraint;
use pullback_ir::{Atom, Jaxpr, OutSharding, ParamField, Params, Passing, PrimRef, Val, Vals};

use crate::engine::{Engine, engine_of, first_device, perform, perform_directly, platform_of, remember_direct};
use crate::untyped::{has_shardings, untyped};
use crate::{checks, flags};

thread_local! {
    static DEFAULT: Cell<Option<DeviceId>> = const { Cell::new(None) };
}

/// Stands for a default device that is to be found out.
const UNKNOWN: DeviceId = DeviceId::MAX;

/// The device of uncommitted work where a thread names none.
static OF_PROCESS: AtomicU32 = AtomicU32::new(0);

/// Sets the device on which uncommitted work of this thread is done, and gives the one before; `None` is the first.
pub fn set_default_device(device: Option<DeviceId>) -> Option<DeviceId> {
    if device.is_some_and(|id| id != 0) {
        use_places();
    }
    DEFAULT.replace(device)
}

/// The device on which uncommitted work of this thread is done; the first one while that is not found out.
pub fn default_device() -> DeviceId {
    let device = DEFAULT.get().unwrap_or_else(|| OF_PROCESS.load(Ordering::Relaxed));
    if device == UNKNOWN { 0 } else { device }
}

/// Finds the default device of the process.
pub type FindDefault = fn() -> Result<DeviceId>;

static FIND_DEFAULT: OnceLock<FindDefault> = OnceLock::new();

/// Says that the default device of the process is to be found out when it matters, and how. The first one stays.
pub fn find_default_device_with(find: FindDefault) {
    let _ = FIND_DEFAULT.set(find);
    use_places();
    let _ = OF_PROCESS.compare_exchange(0, UNKNOWN, Ordering::Relaxed, Ordering::Relaxed);
}

/// Finds out the default device, where that was not done yet.
fn ensure_default_device() -> Result<()> {
    if OF_PROCESS.load(Ordering::Relaxed) == UNKNOWN && DEFAULT.get().is_none() {
        let find = FIND_DEFAULT.get().expect("the device is unknown once there is a way to find it");
        set_process_default_device(find()?);
    }
    Ok(())
}

/// Sets the device of uncommitted work on threads that name none.
pub fn set_process_default_device(device: DeviceId) {
    if device != 0 {
        use_places();
    }
    OF_PROCESS.store(device, Ordering::Relaxed);
}

/// The place of what is computed from nothing that is committed.
pub fn uncommitted() -> Option<Arc<Place>> {
    // A failure to find it is raised by the first operation.
    let _ = ensure_default_device();
    if let Some(mesh) = mesh_of_types(None, None) {
        return Some(Arc::new(Place { layout: Layout::Split(mesh, vec![]), is_committed: true }));
    }
    let device = default_device();
    (device != 0).then(|| Arc::new(Place { layout: Layout::Device(device), is_committed: false }))
}

fn committed(val: &Val) -> Option<&Arc<Place>> {
    match val {
        Val::Array(array) => array.place().filter(|place| place.is_committed),
        Val::Literal(_) | Val::Tracer(_) => None,
    }
}

/// The device that the first committed operand is on.
pub(crate) fn place_of_work(ins: &[Val]) -> Option<DeviceId> {
    ins.iter().find_map(committed).map(|place| first_device(&place.layout))
}

/// The name under which an error speaks of an operand.
fn operand_name(prim: PrimRef, params: &Params, n: usize, number: usize) -> String {
    let names = params.get::<Jit>().and_then(|jit| jit.jaxpr.debug.clone()).map(|debug| debug.arg_names.clone());
    let function = params.get::<Jit>().map_or_else(|| prim.name().to_string(), |jit| jit.name.to_string());
    let name = match names.and_then(|names| names.get(number).cloned()) {
        Some(name) => name,
        None if n == 2 && params.get::<Jit>().is_none() => ["x", "y"][number].to_string(),
        None => format!("args[{number}]"),
    };
    format!("{name} of {function}")
}

/// The devices of the computation: those of its committed operands, which must agree.
fn common_place(prim: PrimRef, params: &Params, ins: &[Val], used: &[bool]) -> Result<Option<Arc<Place>>> {
    let mut first: Option<(usize, &Arc<Place>)> = None;
    for (number, val) in ins.iter().enumerate().filter(|(number, _)| used[*number]) {
        let Some(place) = committed(val) else { continue };
        let Some((earlier, other)) = first else {
            first = Some((number, place));
            continue;
        };
        if other.layout.devices() != place.layout.devices() {
            let describe = |number: usize, place: &Place| {
                let name = operand_name(prim, params, ins.len(), number);
                let aval = ins[number].aval().weak(false).long();
                let devices = place.layout.devices();
                let platform = platform_of(devices[0]);
                let devices: Vec<DeviceId> = devices.iter().map(|device| device % FIRST_FOREIGN).collect();
                format!("argument {name} with shape {aval} and with device ids {devices:?} on platform {platform}")
            };
            return Err(Error::value_error(format!(
                "Received incompatible devices for jitted computation. Got {} and {}. Move one of them with jax.device_put.",
                describe(earlier, other),
                describe(number, place)
            )));
        }
        if matches!((&other.layout, &place.layout), (Layout::Device(_), Layout::Split(..))) {
            first = Some((number, place));
        }
    }
    Ok(first.map(|(_, place)| place.clone()))
}

/// Performs `run` and places its results.
///
/// # Errors
/// `Value` when operands are committed to different devices; what `run` raises.
pub(crate) fn placed(
    prim: PrimRef,
    params: &Params,
    ins: &[Val],
    run: impl FnOnce(&Params) -> Result<Vals>,
) -> Result<Vals> {
    if !places_in_use() {
        return run(params);
    }
    ensure_default_device()?;
    if !checks::is_armed()
        && let Some(outs) = perform_directly(prim, params, ins, default_device())
    {
        return outs;
    }
    let used = used_operands(params, ins.len());
    let place = common_place(prim, params, ins, &used)?;
    let avals: Vec<Aval> = ins.iter().map(Val::aval).collect();
    // Types say first whether the operation is one.
    let types = if has_shardings(prim, params, &avals) { Some(prim.abstract_eval(params, &avals)?) } else { None };
    let bare = untyped(prim, params)?;
    let (target, is_committed) = target_of(prim, params, place.as_deref());
    if let Some(engine) = engine_of(first_device(&target)) {
        let outs = on_engine(&engine, (prim, &bare), ins, &target, is_committed)?;
        return match types {
            Some(types) => put_as_typed(outs, &types),
            None => {
                remember_direct(prim, params, ins, &target);
                Ok(outs)
            }
        };
    }
    let outs = run(&bare)?;
    if let Some(asked) = asked_place(prim, params) {
        return place_all(outs, |_| Some(asked.clone()));
    }
    let mesh = match (mesh_inside(params), place.as_deref()) {
        // A program that names a mesh runs on it, wherever its operands are.
        (Some(mesh), _) => Some(mesh),
        (None, Some(Place { layout: Layout::Split(mesh, _), .. })) => Some(mesh.clone()),
        (None, Some(Place { layout: Layout::Device(_), .. }) | None) => {
            mesh_of_types(types.as_deref(), place.as_deref())
        }
    };
    let Some(mesh) = mesh else {
        return place_all(outs, |_| place.clone().or_else(uncommitted));
    };
    let specs: Vec<Spec> = ins.iter().map(|val| spec_on(val, &mesh)).collect();
    let out_avals: Vec<Aval> = types.map_or_else(|| outs.iter().map(Val::aval).collect(), |types| types.into_vec());
    let specs = specs_of(prim, params, &avals, &specs, &out_avals, &mesh);
    let split = |(spec, &aval): (Spec, &Aval)| {
        Arc::new(Place { layout: Layout::Split(mesh.clone(), with_type(spec, aval, &mesh)), is_committed: true })
    };
    let places: Vec<Arc<Place>> = specs.into_iter().zip(&out_avals).map(split).collect();
    let typed = |(out, aval): (Val, Aval)| match out {
        Val::Array(array) if aval.sharding.is_some() => {
            Ok(Val::Array(array.reinterpret(array.aval().sharded(aval.sharding))?))
        }
        other => Ok(other),
    };
    let outs = outs.into_iter().zip(out_avals).map(typed).collect::<Result<Vals>>()?;
    place_all(outs, |number| Some(places[number].clone()))
}

thread_local! {
    static CONTEXT: RefCell<Option<Arc<Mesh>>> = const { RefCell::new(None) };
}

/// Sets the mesh of the context of this thread, and gives the one before.
pub fn set_context_mesh(mesh: Option<Arc<Mesh>>) -> Option<Arc<Mesh>> {
    CONTEXT.replace(mesh)
}

/// The mesh on which results lie whose operands name none: that of the context, where types speak of its axes or all of
/// them are explicit.
fn mesh_of_types(types: Option<&[Aval]>, place: Option<&Place>) -> Option<Arc<Mesh>> {
    let context = CONTEXT.with_borrow(Clone::clone)?;
    let is_split = types.is_some_and(|types| types.iter().any(|aval| aval.sharding.is_some()));
    let is_explicit = context.kinds.contains(&AxisKind::Explicit) && place.is_none();
    (is_split || is_explicit).then_some(context)
}

/// Results of another engine, split as their types say.
fn put_as_typed(outs: Vals, types: &[Aval]) -> Result<Vals> {
    let put = |(out, &aval): (Val, &Aval)| match &out {
        Val::Array(array) if aval.sharding.is_some() => {
            let Some(Layout::Split(mesh, spec)) = array.place().map(|place| &place.layout) else { return Ok(out) };
            let layout = Layout::Split(mesh.clone(), with_type(padded(spec, aval.rank()), aval, mesh));
            let placed = crate::put(array, Some(Arc::new(Place { layout, is_committed: true })))?;
            // Sums that are still to be made stand in the type alone.
            placed.reinterpret(placed.aval().sharded(aval.sharding)).map(Val::Array)
        }
        _ => Ok(out),
    };
    outs.into_iter().zip(types).map(put).collect()
}

/// Performs a primitive on another engine, and looks at the results where the settings ask for it.
fn on_engine(
    engine: &Arc<dyn Engine>,
    (prim, params): (PrimRef, &Params),
    ins: &[Val],
    target: &Layout,
    is_committed: bool,
) -> Result<Vals> {
    if !checks::is_armed() {
        return perform(engine, (prim, params), ins, target, is_committed);
    }
    checks::check_may_run(prim, params, ins)?;
    // What is donated is needed to run again: who else holds it keeps it.
    let held = ins.iter().filter_map(|val| if let Val::Array(array) = val { array.held() } else { None });
    let _kept: Vec<Arc<dyn Held>> = held.collect();
    let flagged = match target {
        Layout::Device(_) => flags::with_flag(params, checks::forbidden())?,
        Layout::Split(..) => None,
    };
    let mut outs = perform(engine, (prim, flagged.as_ref().unwrap_or(params)), ins, target, is_committed)?;
    let flag = flagged.and_then(|_| outs.pop());
    if flag.is_none_or(|flag| flags::is_set(&flag).unwrap_or(true)) {
        checks::check(prim, params, ins, &outs)?;
    }
    Ok(outs)
}

/// Where an operation is performed, from where its operands are committed; and whether its results are committed there.
fn target_of(prim: PrimRef, params: &Params, place: Option<&Place>) -> (Layout, bool) {
    if let Some(asked) = asked_place(prim, params) {
        return (asked.layout.clone(), true);
    }
    if let Some(Place { layout: Layout::Split(mesh, _), .. }) = place {
        return (Layout::Split(mesh.clone(), vec![]), true);
    }
    if let Some(mesh) = mesh_inside(params) {
        return (Layout::Split(mesh, vec![]), true);
    }
    place.map_or_else(|| (Layout::Device(default_device()), false), |place| (place.layout.clone(), true))
}

/// How an operand lies on the devices of a mesh: as it is split there, else whole.
pub(crate) fn is_on(val: &Val, mesh: &Arc<Mesh>) -> Layout {
    match val {
        Val::Array(array) => match array.place().map(|place| &place.layout) {
            Some(Layout::Split(own, spec)) if own.is_like(mesh) => Layout::Split(mesh.clone(), spec.clone()),
            _ => Layout::Split(mesh.clone(), vec![]),
        },
        Val::Literal(_) | Val::Tracer(_) => Layout::Split(mesh.clone(), vec![]),
    }
}

/// Where the results of a program lie, from where its operands do.
pub(crate) fn out_layouts(
    target: &Layout,
    (prim, params): (PrimRef, &Params),
    (jaxpr, avals, ins): (&Jaxpr, &[Aval], &[Layout]),
    outs: &[Aval],
) -> Vec<Layout> {
    let Layout::Split(mesh, _) = target else { return vec![target.clone(); outs.len()] };
    if let Some(asked) = asked_place(prim, params) {
        return vec![asked.layout.clone(); outs.len()];
    }
    let spec = |(layout, aval): (&Layout, &Aval)| match layout {
        Layout::Split(_, spec) => padded(spec, aval.rank()),
        Layout::Device(_) => vec![vec![]; aval.rank()],
    };
    let specs: Vec<Spec> = ins.iter().zip(avals).map(spec).collect();
    let specs = specs_of_jaxpr(jaxpr, &specs, mesh);
    let split = |(spec, &aval): (Spec, &Aval)| Layout::Split(mesh.clone(), with_type(spec, aval, mesh));
    specs.into_iter().zip(outs).map(split).collect()
}

/// A place that the operation itself asks for.
fn asked_place(prim: PrimRef, params: &Params) -> Option<Arc<Place>> {
    let layout = match prim.name() {
        "sharding_constraint" => params.get::<ShardingConstraint>()?.sharding.layout.clone(),
        _ => return None,
    };
    Some(Arc::new(Place { layout, is_committed: true }))
}

/// The mesh that an operation, or one inside of it, names.
fn mesh_inside(params: &Params) -> Option<Arc<Mesh>> {
    if let Some(map) = params.get::<ShardMap>() {
        return Some(map.mesh.0.clone());
    }
    if let Some(ShardingConstraint { sharding, .. }) = params.get()
        && let Layout::Split(mesh, _) = &sharding.layout
    {
        return Some(mesh.clone());
    }
    if sharding::in_use()
        && let Some(mesh) = params.fields().iter().find_map(|(_, value)| OutSharding::from_value(value)?.mesh)
    {
        return Some(mesh);
    }
    params.jaxprs().iter().find_map(|jaxpr| jaxpr.eqns.iter().find_map(|eqn| mesh_inside(&eqn.params)))
}

fn place_all(outs: Vals, place: impl Fn(usize) -> Option<Arc<Place>>) -> Result<Vals> {
    let put = |(number, out): (usize, Val)| match out {
        Val::Array(array) => {
            let wanted = place(number);
            let same = match (array.place(), &wanted) {
                (None, None) => true,
                (Some(a), Some(b)) => a.layout == b.layout && a.is_committed == b.is_committed,
                (None, Some(_)) | (Some(_), None) => false,
            };
            Ok(Val::Array(if same { array } else { array.placed(wanted)? }))
        }
        other => Ok(other),
    };
    outs.into_iter().enumerate().map(put).collect()
}

/// Operands that the computation looks at: a jitted function leaves unused ones where they are.
fn used_operands(params: &Params, n: usize) -> Vec<bool> {
    let Some(jit) = params.get::<Jit>() else { return vec![true; n] };
    if jit.keep_unused {
        return vec![true; n];
    }
    jit.jaxpr.used_inputs()
}

/// The split of a value over a mesh; whole when it lies elsewhere.
fn spec_on(val: &Val, mesh: &Arc<Mesh>) -> Spec {
    let found = committed(val).map(|place| place.layout.clone());
    match found {
        Some(Layout::Split(own, spec)) if own.devices == mesh.devices => padded(&spec, val.aval().rank()),
        _ => vec![vec![]; val.aval().rank()],
    }
}

fn padded(spec: &Spec, rank: usize) -> Spec {
    let mut spec = spec.clone();
    spec.resize(rank, vec![]);
    spec
}

fn trimmed(mut spec: Spec) -> Spec {
    while spec.last().is_some_and(Vec::is_empty) {
        spec.pop();
    }
    spec
}

/// Splits of the results of one operation from those of its operands.
fn specs_of(prim: PrimRef, params: &Params, ins: &[Aval], specs: &[Spec], outs: &[Aval], mesh: &Mesh) -> Vec<Spec> {
    if let Some(map) = params.get::<ShardMap>() {
        return map.out_specs.iter().zip(outs).map(|(spec, aval)| padded(&spec.entries, aval.rank())).collect();
    }
    let ranks: Vec<Spec> = specs.iter().zip(ins).map(|(spec, aval)| padded(spec, aval.rank())).collect();
    let size_of = |name: &str| mesh.size_of(name);
    let passing = Passing { name: prim.name(), ins, specs: &ranks, outs, is_strict: false, size_of: &size_of };
    match prim.pass(params, &passing) {
        Some(found) => found.unwrap_or_else(|_| passing.whole()),
        None => match params.jaxprs().first() {
            Some(jaxpr) if jaxpr.invars.len() == ins.len() && jaxpr.outs.len() == outs.len() && !prim.is("scan") => {
                specs_of_jaxpr(jaxpr, &ranks, mesh)
            }
            _ => passing.whole(),
        },
    }
}

/// How a result lies that is split freely so, of a type that says how explicit axes split it.
fn with_type(free: Spec, aval: Aval, mesh: &Mesh) -> Spec {
    if mesh.kinds.iter().all(|kind| *kind != AxisKind::Explicit) {
        return trimmed(free);
    }
    let entry = |(axis, names): (usize, Vec<Arc<str>>)| match aval.entry(axis) {
        [] => names.into_iter().filter(|name| !mesh.is_explicit(name)).collect(),
        own => own.to_vec(),
    };
    padded(&free, aval.rank()).into_iter().enumerate().map(entry).collect()
}

/// Splits of the results of a jaxpr from those of its inputs.
fn specs_of_jaxpr(jaxpr: &Jaxpr, ins: &[Spec], mesh: &Mesh) -> Vec<Spec> {
    let mut specs: Vec<Spec> = jaxpr.vars.iter().map(|aval| vec![vec![]; aval.rank()]).collect();
    for (var, spec) in jaxpr.invars.iter().zip(ins) {
        specs[var.index()].clone_from(spec);
    }
    for eqn in &jaxpr.eqns {
        let avals: Vec<Aval> = eqn.ins.iter().map(|&atom| jaxpr.aval(atom)).collect();
        let operand = |atom: &Atom| match atom {
            Atom::Var(var) => specs[var.index()].clone(),
            Atom::Literal(_) => vec![],
        };
        let operands: Vec<Spec> = eqn.ins.iter().map(operand).collect();
        let outs = match asked_place(eqn.prim, &eqn.params).as_deref() {
            Some(Place { layout: Layout::Split(_, spec), .. }) => vec![padded(spec, avals[0].rank())],
            Some(Place { layout: Layout::Device(_), .. }) | None => {
                specs_of(eqn.prim, &eqn.params, &avals, &operands, jaxpr.eqn_out_avals(eqn), mesh)
            }
        };
        for (var, spec) in eqn.outs().zip(outs) {
            specs[var.index()] = spec;
        }
    }
    let out = |atom: &Atom| match atom {
        Atom::Var(var) => specs[var.index()].clone(),
        Atom::Literal(_) => vec![],
    };
    jaxpr.outs.iter().map(out).collect()
}

/// The array that `parts` make, each the part of its device in order.
///
/// # Errors
/// When a part was deleted.
pub fn assemble(aval: Aval, layout: Layout, parts: &[Array]) -> Result<Array> {
    let mut whole = Buffer::allocate(aval.size_bytes())?;
    for (position, part) in parts.iter().enumerate() {
        let region = layout.region(&aval.shape, position);
        let element = aval.dtype.size_bytes();
        pullback_base::array::place::write_region(
            whole.bytes_mut(),
            &aval.shape,
            &region,
            element,
            part.buffer()?.bytes(),
        );
    }
    crate::put(&Array::new(aval, whole.freeze()), Some(Arc::new(Place { layout, is_committed: true })))
}
