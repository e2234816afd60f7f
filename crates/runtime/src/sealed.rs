//! Files that are whole or are not there, and whose bytes are those that were written.
//!
//! The first bytes of a sealed block say what it is, how long, and what it sums to: one that was cut short or changed on
//! the way is told from one that is as it was. Against who changes a file on purpose the sum is no defence.

use std::path::Path;

const HEAD_BYTES: usize = 24;

/// The head and the parts, one after the other.
pub fn seal(magic: &[u8; 8], parts: &[&[u8]]) -> Vec<u8> {
    let n_bytes: usize = parts.iter().map(|part| part.len()).sum();
    let mut sealed = Vec::with_capacity(HEAD_BYTES + n_bytes);
    sealed.extend(magic);
    sealed.extend((n_bytes as u64).to_le_bytes());
    sealed.extend([0; 8]);
    parts.iter().for_each(|part| sealed.extend(*part));
    let sum = sum(0, &sealed[HEAD_BYTES..]);
    sealed[16..HEAD_BYTES].copy_from_slice(&sum.to_le_bytes());
    sealed
}

/// What a sealed block holds; `None` where it is not whole, or of another kind.
pub fn open<'a>(magic: &[u8; 8], sealed: &'a [u8]) -> Option<&'a [u8]> {
    let (head, body) = sealed.split_at_checked(HEAD_BYTES)?;
    let number = |at: usize| u64::from_le_bytes(head[at..at + 8].try_into().expect("eight bytes"));
    (head.starts_with(magic) && number(8) == body.len() as u64 && number(16) == sum(0, body)).then_some(body)
}

/// 64 bits that say which bytes these are, from a start of one's own: FNV-1a over words of eight bytes.
pub fn sum(start: u64, bytes: &[u8]) -> u64 {
    const PRIME: u64 = 0x0000_0100_0000_01b3;
    let step = |sum: u64, word: u64| (sum ^ word).wrapping_mul(PRIME).rotate_left(23);
    let (words, rest) = bytes.as_chunks::<8>();
    let mut last = [0; 8];
    last[..rest.len()].copy_from_slice(rest);
    let start = 0xcbf2_9ce4_8422_2325 ^ start;
    let all = words.iter().chain([&last]).fold(start, |sum, word| step(sum, u64::from_le_bytes(*word)));
    step(all, bytes.len() as u64)
}

/// Writes a file beside its place and moves it there.
///
/// # Errors
/// When the folder cannot be made or the file not be written; then nothing is left of it.
pub fn write_whole(file: &Path, bytes: &[u8]) -> std::io::Result<()> {
    if let Some(folder) = file.parent() {
        std::fs::create_dir_all(folder)?;
    }
    let draft = file.with_extension(format!("draft{}-{:?}", std::process::id(), std::thread::current().id()));
    let written = std::fs::write(&draft, bytes).and_then(|()| std::fs::rename(&draft, file));
    if written.is_err() {
        let _ = std::fs::remove_file(&draft);
    }
    written
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_was_changed_is_not_opened() {
        const MAGIC: &[u8; 8] = b"PULLTEST";
        for body in [&b""[..], b"1234567", b"12345678", b"123456789, and more"] {
            let sealed = seal(MAGIC, &[body]);
            assert_eq!(open(MAGIC, &sealed), Some(body));
            assert_eq!(open(b"PULLELSE", &sealed), None);
            for at in 0..sealed.len() {
                let mut changed = sealed.clone();
                changed[at] ^= 0x10;
                assert_eq!(open(MAGIC, &changed), None, "byte {at}");
                assert_eq!(open(MAGIC, &sealed[..at]), None, "{at} bytes");
            }
        }
    }
}
