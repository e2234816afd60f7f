//! Compiled programs on disk, so that what one process compiled is loaded by the next.
//!
//! A file is named by all that its contents depend on: the full text of the jaxpr and its constants, what is donated, the
//! instructions of the machine and the sources of the engine. Its head says how long it is and what it sums to. A file
//! that was cut short or changed, or that another process is writing, is none: the program is compiled anew, and the file
//! replaced, whole, by renaming one written beside it. Where nothing can be written, nothing is. Without a folder, which
//! is the user's setting, neither is done. Programs with effects, and with host functions are not kept.

use std::fs::{self, File};
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{PoisonError, RwLock};
use std::time::{Duration, Instant, SystemTime};

use pullback_base::Result;
use pullback_codegen::Engine;
use pullback_core::find_primitive;
use pullback_ir::{Dialect, Eqn, JaxprRef, ParamValue, jaxpr_text};
use pullback_native::Compiled;
use pullback_runtime::sealed;

use crate::cpu::CpuCode;

/// Where compiled programs are kept, and what is not worth keeping.
#[derive(Clone, Debug)]
pub struct CacheSettings {
    /// The folder.
    pub folder: PathBuf,
    /// Programs that compiled faster are not written.
    pub least_time: Duration,
    /// Smaller ones are not written.
    pub least_bytes: u64,
    /// Bytes of all files, beyond which those used longest ago go.
    pub most_bytes: Option<u64>,
}

static SETTINGS: RwLock<Option<CacheSettings>> = RwLock::new(None);
static N_LOADED: AtomicU64 = AtomicU64::new(0);

/// Sets where compiled programs are kept; `None` keeps none.
pub fn set_cache(settings: Option<CacheSettings>) {
    *SETTINGS.write().unwrap_or_else(PoisonError::into_inner) = settings;
}

/// Programs that were loaded in this process so far in place of being compiled.
pub fn n_loaded() -> u64 {
    N_LOADED.load(Ordering::Relaxed)
}

const SUFFIX: &str = "pullback";

/// 64 bits of parts with their lengths, from a start of one's own.
fn sum(start: u64, parts: &[&[u8]]) -> u64 {
    parts.iter().fold(start, |sum, part| sealed::sum(sum, part))
}

/// The code of a jaxpr: from the folder, else compiled and, where that is wanted, written there.
pub(crate) fn compiled(
    jaxpr: &JaxprRef,
    donated: &[bool],
    compile: impl FnOnce() -> Result<CpuCode>,
) -> Result<CpuCode> {
    let settings = SETTINGS.read().unwrap_or_else(PoisonError::into_inner).clone();
    let Some(settings) = settings.filter(|_| may_be_kept(jaxpr)) else { return compile() };
    let Some(file) = file_of(&settings.folder, jaxpr, donated) else { return compile() };
    if let Some(known) = read(&file, jaxpr) {
        N_LOADED.fetch_add(1, Ordering::Relaxed);
        return Ok(known);
    }
    let start = Instant::now();
    let made = compile()?;
    if start.elapsed() >= settings.least_time
        && made.interpreted.is_none()
        && let Ok(bytes) = made.compiled.save()
        && bytes.len() as u64 >= settings.least_bytes
    {
        // A failure costs only time, so it is not told.
        let _ = sealed::write_whole(&file, &bytes);
        settings.most_bytes.into_iter().for_each(|most| forget_oldest(&settings.folder, most));
    }
    Ok(made)
}

/// Whether a text says all that the code depends on.
fn may_be_kept(jaxpr: &JaxprRef) -> bool {
    jaxpr.effects().is_none() && jaxpr.eqns.iter().all(is_told)
}

/// Whether a text tells all of an equation: its primitive is one of ours, which has one meaning in a build; no jaxpr inside
/// has constants; and of what a text only names, it has no more than rules of derivatives, which code does not depend on.
fn is_told(eqn: &Eqn) -> bool {
    let is_ours = find_primitive(eqn.prim.name()).is_some_and(|known| known == eqn.prim);
    let has_rules = ["custom_jvp_call", "custom_vjp_call"].contains(&eqn.prim.name());
    let is_plain = |value: &ParamValue| has_rules || !matches!(value, ParamValue::Opaque(_));
    let is_closed = |inner: &JaxprRef| inner.consts.is_empty() && inner.eqns.iter().all(is_told);
    is_ours && eqn.params.fields().iter().all(|(_, value)| is_plain(value)) && eqn.params.jaxprs().iter().all(is_closed)
}

/// The file of a program: 128 bits of all that it depends on. `None` when a constant is gone, or for another engine.
fn file_of(folder: &Path, jaxpr: &JaxprRef, donated: &[bool]) -> Option<PathBuf> {
    let text = jaxpr_text(jaxpr, Dialect::Full);
    let consts = jaxpr.consts.iter().map(|array| array.to_bytes().ok()).collect::<Option<Vec<_>>>()?;
    let donated: Vec<u8> = donated.iter().map(|&donated| u8::from(donated)).collect();
    let asked = std::env::var("PULLBACK_ENGINE").unwrap_or_default();
    let engine = format!("{:?} {asked} {}", Engine::of_this_machine(), std::env::consts::ARCH);
    let build = concat!(env!("CARGO_PKG_VERSION"), " ", env!("PULLBACK_SOURCES"), " ", cfg!(debug_assertions));
    let mut parts: Vec<&[u8]> = vec![text.as_bytes(), &donated, engine.as_bytes(), build.as_bytes()];
    parts.extend(consts.iter().map(Vec::as_slice));
    Some(folder.join(format!("{:016x}{:016x}.{SUFFIX}", sum(0, &parts), sum(1, &parts))))
}

/// The program of a file, where it is one for this jaxpr.
fn read(file: &Path, jaxpr: &JaxprRef) -> Option<CpuCode> {
    let compiled = Compiled::load(&fs::read(file).ok()?).ok()?;
    if compiled.in_avals() != jaxpr.in_avals() || compiled.out_avals() != jaxpr.out_avals() {
        return None;
    }
    // That it was used is noted where that may be; it decides only what goes first.
    let _ = File::options().append(true).open(file).and_then(|file| file.set_modified(SystemTime::now()));
    Some(CpuCode { compiled, interpreted: None })
}

/// Removes the files that were used longest ago until the others fit.
fn forget_oldest(folder: &Path, most: u64) {
    let Ok(entries) = fs::read_dir(folder) else { return };
    let ours = entries.flatten().filter(|entry| entry.path().extension().is_some_and(|suffix| suffix == SUFFIX));
    let mut files: Vec<(SystemTime, u64, PathBuf)> = ours
        .filter_map(|entry| {
            let facts = entry.metadata().ok()?;
            Some((facts.modified().ok()?, facts.len(), entry.path()))
        })
        .collect();
    files.sort();
    let mut all: u64 = files.iter().map(|(_, size, _)| size).sum();
    for (_, size, path) in files {
        if all <= most {
            return;
        }
        if fs::remove_file(path).is_ok() {
            all -= size;
        }
    }
}
