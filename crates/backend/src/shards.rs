//! Maps over devices: one thread for each device runs the program on its parts; collectives meet in a team.
//!
//! The thread that asked waits, and lets its front end do what it must meanwhile: give up locks that callbacks of the
//! devices need, and see whether the user interrupts.

use std::cell::Cell;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::{Arc, Condvar, Mutex, OnceLock, PoisonError};
use std::time::Duration;

use pullback_base::array::place::{Layout, Mesh, read_region, write_region};
use pullback_base::{Array, Aval, Error, Result};
use pullback_core::control::ShardMap;
use pullback_core::prims::SpecParam;
use pullback_core::prims::team::Team;
use pullback_ir::JaxprRef;
use pullback_loops::HostCall;

use crate::executable;

/// Waits until `step`, which waits for at most the given time, says that all is done. An error ends the wait; the work
/// is then told to stop, and waited for.
pub type Wait = fn(step: &mut (dyn FnMut(Duration) -> bool + Send)) -> Result<()>;

static WAIT: OnceLock<Wait> = OnceLock::new();

/// Lets a front end take part in waiting. The first one stays.
pub fn set_wait(wait: Wait) {
    let _ = WAIT.set(wait);
}

/// How long a front end is away at most.
const STEP: Duration = Duration::from_millis(50);

fn wait_for(step: &mut (dyn FnMut(Duration) -> bool + Send)) -> Result<()> {
    match WAIT.get() {
        Some(wait) => wait(step),
        None => {
            while !step(STEP) {}
            Ok(())
        }
    }
}

thread_local! {
    static IS_DEVICE: Cell<bool> = const { Cell::new(false) };
}

/// Whether this thread is a device's: whoever started it waits, so it need not let others run, nor start work again.
pub(crate) fn is_device() -> bool {
    IS_DEVICE.get()
}

/// Counts devices that are done.
#[derive(Default)]
struct Done {
    n: Mutex<usize>,
    changed: Condvar,
}

impl Done {
    fn add(&self) {
        *self.n.lock().unwrap_or_else(PoisonError::into_inner) += 1;
        self.changed.notify_all();
    }

    fn is_reached(&self, wanted: usize, timeout: Duration) -> bool {
        let n = self.n.lock().unwrap_or_else(PoisonError::into_inner);
        let wait = self.changed.wait_timeout_while(n, timeout, |n| *n < wanted);
        *wait.unwrap_or_else(PoisonError::into_inner).0 >= wanted
    }
}

/// Runs `program` for each position of a team, each on a thread of its own. The first error ends all.
///
/// # Errors
/// What the first device to fail raises, or what the wait of the front end does.
pub fn run_on_devices<T: Send>(team: &Arc<Team>, program: impl Fn(usize) -> Result<T> + Sync) -> Result<Vec<T>> {
    let (n, done) = (team.size(), Done::default());
    let device = |position: usize| {
        IS_DEVICE.set(true);
        let run = || team.run_as(position, || program(position));
        let result = catch_unwind(AssertUnwindSafe(run)).unwrap_or_else(|_| {
            let error = Error::internal(format!("the program of device {position} panicked"));
            team.fail(error.clone());
            Err(error)
        });
        done.add();
        result
    };
    let (waited, results) = std::thread::scope(|scope| {
        let threads: Vec<_> = (0..n).map(|position| scope.spawn(move_position(&device, position))).collect();
        let waited = wait_for(&mut |timeout| done.is_reached(n, timeout));
        if let Err(error) = &waited {
            team.fail(error.clone());
            // Programs without collectives look at the flag; it is lowered once all have ended.
            pullback_runtime::interrupt::raise();
            while !done.is_reached(n, STEP) {}
            pullback_runtime::interrupt::clear();
        }
        (waited, threads.into_iter().map(|thread| thread.join()).collect::<Vec<_>>())
    });
    waited?;
    if let Some(error) = team.failure() {
        return Err(error);
    }
    results.into_iter().map(|result| result.unwrap_or_else(|_| Err(Error::internal("a device thread died")))).collect()
}

fn move_position<'a, T>(device: &'a (dyn Fn(usize) -> T + Sync), position: usize) -> impl FnOnce() -> T + Send + 'a {
    move || device(position)
}

/// One map, ready to run.
struct ShardMapCall {
    mesh: Arc<Mesh>,
    jaxpr: JaxprRef,
    ins: Vec<(Aval, Layout)>,
    outs: Vec<(Aval, Layout)>,
}

/// The host call of a map.
pub(crate) fn runner(p: &ShardMap, ins: &[Aval], outs: &[Aval]) -> Arc<dyn HostCall> {
    let mesh = p.mesh.0.clone();
    let layouts = |avals: &[Aval], specs: &[SpecParam]| {
        let layout = |(&aval, spec): (&Aval, &SpecParam)| (aval, Layout::Split(mesh.clone(), spec.entries.clone()));
        avals.iter().zip(specs).map(layout).collect()
    };
    let (ins, outs) = (layouts(ins, &p.in_specs), layouts(outs, &p.out_specs));
    Arc::new(ShardMapCall { mesh: mesh.clone(), jaxpr: p.jaxpr.clone(), ins, outs })
}

impl ShardMapCall {
    /// The part of an operand that a device gets.
    fn part((aval, layout): &(Aval, Layout), bytes: &[u8], position: usize) -> Result<Array> {
        let region = layout.region(&aval.shape, position);
        let shape: Vec<usize> = region.iter().map(ExactSizeIterator::len).collect();
        let part = read_region(bytes, &aval.shape, &region, aval.dtype.size_bytes())?;
        Ok(Array::new(aval.with_shape(&shape), part))
    }
}

impl HostCall for ShardMapCall {
    fn call(&self, ins: &[&[u8]], outs: &mut [&mut [u8]]) -> Result<()> {
        // Compiled before the threads start, so that it happens once.
        let program = executable(&self.jaxpr)?;
        let team = Arc::new(Team::new(self.mesh.axes.clone()));
        let results = run_on_devices(&team, |position| {
            let parts = self.ins.iter().zip(ins).map(|(operand, bytes)| ShardMapCall::part(operand, bytes, position));
            program.run(&parts.collect::<Result<Vec<Array>>>()?, &[])
        })?;
        for (position, parts) in results.iter().enumerate() {
            for (((aval, layout), part), out) in self.outs.iter().zip(parts).zip(&mut *outs) {
                if layout.is_first_holder(position) {
                    let region = layout.region(&aval.shape, position);
                    write_region(out, &aval.shape, &region, aval.dtype.size_bytes(), part.buffer()?.bytes());
                }
            }
        }
        Ok(())
    }

    fn name(&self) -> String {
        "shard_map".into()
    }
}
