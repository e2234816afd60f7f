//! Files whose bytes were tampered with: an error, or arrays that can be read; never a panic.
//!
//! `PULLBACK_FUZZ_PROGRAMS=N` says how many files, `PULLBACK_FUZZ_SEED` where they begin; `cargo xtask fuzz saved` sets both.

use pullback::prelude::*;

/// A number that depends on a seed alone.
struct Draw(u64);

impl Draw {
    fn below(&mut self, n: usize) -> usize {
        // Numbers of a linear congruence, of which the high bits are good.
        self.0 = self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (self.0 >> 33) as usize % n.max(1)
    }
}

fn tampered(mut bytes: Vec<u8>, draw: &mut Draw) -> Vec<u8> {
    for _ in 0..=draw.below(3) {
        let at = draw.below(bytes.len());
        match draw.below(4) {
            0 if !bytes.is_empty() => bytes[at] = draw.below(256) as u8,
            // Digits and signs of the head, which is a text.
            1 if !bytes.is_empty() => bytes[at] = b"0123456789-[]{},:\"e"[draw.below(19)],
            2 => bytes.truncate(at),
            _ => bytes.insert(at, draw.below(256) as u8),
        }
    }
    bytes
}

fn setting(name: &str, default: u64) -> u64 {
    std::env::var(name).ok().and_then(|text| text.parse().ok()).unwrap_or(default)
}

#[test]
fn tampered_files_are_errors_or_arrays() -> Result<()> {
    let folder = std::env::temp_dir().join(format!("pullback-tampered-{}", std::process::id()));
    std::fs::create_dir_all(&folder).expect("a folder for the test");
    let path = folder.join("tree.safetensors");
    let tree = (arr![[1.0, 2.0], [3.0, 4.0]], arr![5.0]);
    pullback::files::save(&path, &tree)?;
    let whole = std::fs::read(&path).expect("it was written");
    let (first, n) = (setting("PULLBACK_FUZZ_SEED", 1), setting("PULLBACK_FUZZ_PROGRAMS", 500));
    let mut refused = 0;
    for seed in first..first + n {
        let bytes = tampered(whole.clone(), &mut Draw(seed));
        std::fs::write(&path, &bytes).expect("a file of the test");
        match pullback::files::load(&path) {
            Ok(found) => found.values().for_each(|array| drop(array.to_string())),
            Err(_) => refused += 1,
        }
        // What loads into the tree has its types.
        if let Ok(found) = pullback::files::load_into(&path, &tree) {
            let types = |(a, b): &(Array, Array)| [a, b].map(|x| (x.shape().to_vec(), x.dtype()));
            assert_eq!(types(&found), types(&tree), "seed {seed}");
        }
    }
    std::fs::remove_dir_all(&folder).expect("the test's own folder");
    assert!(refused > 0 || n < 50, "nothing was refused");
    Ok(())
}
