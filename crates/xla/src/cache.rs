//! Executables on disk, so that a program that one process compiled is loaded by the next.
//!
//! A file is named by all that it depends on: the text, the options, the plugin and its version. Its first bytes say how
//! long it is and what it sums to; a file that was cut short, or that the plugin does not take, is compiled anew and
//! replaced. The folder is the user's setting; without one nothing is written.

use std::path::{Path, PathBuf};
use std::sync::{PoisonError, RwLock};
use std::time::{Duration, Instant};

use pullback_base::Result;
use pullback_pjrt::{CompileOptions, Executable};
use pullback_runtime::sealed;

use crate::engine::XlaEngine;

/// Where executables are kept, and what is not worth keeping.
#[derive(Clone, Debug)]
pub struct CacheSettings {
    /// The folder.
    pub folder: PathBuf,
    /// Programs that compiled faster are not written.
    pub least_time: Duration,
}

static SETTINGS: RwLock<Option<CacheSettings>> = RwLock::new(None);

/// Sets the folder of executables; `None` keeps none.
pub fn set_cache(settings: Option<CacheSettings>) {
    *SETTINGS.write().unwrap_or_else(PoisonError::into_inner) = settings;
}

const MAGIC: &[u8; 8] = b"PULLXLA2";

fn sum(start: u64, parts: &[&[u8]]) -> u64 {
    parts.iter().fold(start, |sum, part| sealed::sum(sum, part))
}

/// The file of a program: 128 bits of all that it depends on.
fn file_of(folder: &Path, engine: &XlaEngine, text: &str, options: &CompileOptions) -> Result<PathBuf> {
    let client = engine.client();
    let (platform, version) = (client.platform()?, client.platform_version()?);
    let plugin = client.plugin();
    // The library itself tells builds of one version apart.
    let library = std::fs::metadata(plugin.path()).map_or(0, |facts| facts.len()).to_le_bytes();
    let api = format!("{:?}", plugin.version());
    let encoded = options.encode();
    let parts = [text.as_bytes(), &encoded, platform.as_bytes(), version.as_bytes(), &library, api.as_bytes()];
    Ok(folder.join(format!("{:016x}{:016x}.xla", sum(0, &parts), sum(1, &parts))))
}

/// The bytes of a file whose head is right.
fn read(file: &Path) -> Option<Vec<u8>> {
    sealed::open(MAGIC, &std::fs::read(file).ok()?).map(<[u8]>::to_vec)
}

/// Writes a file whole or not at all; a failure costs only time, so it is not told.
fn write(file: &Path, body: &[u8]) {
    let _ = sealed::write_whole(file, &sealed::seal(MAGIC, &[body]));
}

/// The executable of a text: from the folder, else compiled.
pub(crate) fn compiled(engine: &XlaEngine, text: &str, options: &CompileOptions) -> Result<Executable> {
    let settings = SETTINGS.read().unwrap_or_else(PoisonError::into_inner).clone();
    let Some(settings) = settings else { return engine.client().compile(text, options) };
    let file = file_of(&settings.folder, engine, text, options)?;
    if let Some(known) = read(&file).and_then(|bytes| engine.client().load(&bytes, options).ok()) {
        return Ok(known);
    }
    let start = Instant::now();
    let made = engine.client().compile(text, options)?;
    if start.elapsed() >= settings.least_time
        && let Ok(bytes) = made.serialize()
    {
        write(&file, &bytes);
    }
    Ok(made)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn files_that_were_cut_short_are_not_read() {
        let file = std::env::temp_dir().join(format!("pullback-xla-{}.xla", std::process::id()));
        write(&file, b"an executable");
        assert_eq!(read(&file).as_deref(), Some(&b"an executable"[..]));
        let whole = std::fs::read(&file).expect("written");
        for bad in [&whole[..whole.len() - 1], &whole[..10], &[], &[&whole[..30], b"!", &whole[31..]].concat()] {
            std::fs::write(&file, bad).expect("written");
            assert_eq!(read(&file), None, "{bad:?}");
        }
        std::fs::remove_file(&file).expect("it is there");
        assert_eq!(read(&file), None);
    }
}
