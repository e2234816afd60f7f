//! The floating-point mode of programs: subnormal operands and results count as zero.

/// While it lives, the thread flushes subnormals; dropping it restores the mode of before.
#[must_use = "the mode lasts as long as the guard"]
#[derive(Debug)]
pub struct FlushSubnormals {
    before: u64,
    /// The mode belongs to the thread, so the guard stays there.
    _thread: std::marker::PhantomData<*const ()>,
}

impl FlushSubnormals {
    /// Switches the mode on for this thread.
    pub fn new() -> FlushSubnormals {
        let before = mode::get();
        mode::set(before | mode::FLUSH);
        FlushSubnormals { before, _thread: std::marker::PhantomData }
    }
}

impl Default for FlushSubnormals {
    fn default() -> FlushSubnormals {
        FlushSubnormals::new()
    }
}

impl Drop for FlushSubnormals {
    fn drop(&mut self) {
        mode::set(self.before);
    }
}

#[cfg(target_arch = "x86_64")]
mod mode {
    use std::arch::asm;

    /// Flush to zero, and denormals are zero.
    pub(super) const FLUSH: u64 = 1 << 15 | 1 << 6;

    pub(super) fn get() -> u64 {
        let mut mode = 0u32;
        // SAFETY: stores the control register to a local; SSE is part of the architecture.
        unsafe { asm!("stmxcsr [{}]", in(reg) &raw mut mode, options(nostack, preserves_flags)) };
        mode.into()
    }

    pub(super) fn set(mode: u64) {
        let mode = mode as u32;
        // SAFETY: the value came from `get`, with defined bits added. Rust assumes the default mode when it folds
        // constants; programs are machine code of their own or work on values that only running knows.
        unsafe { asm!("ldmxcsr [{}]", in(reg) &raw const mode, options(nostack, preserves_flags)) };
    }
}

#[cfg(target_arch = "aarch64")]
mod mode {
    use std::arch::asm;

    /// Flush to zero.
    pub(super) const FLUSH: u64 = 1 << 24;

    pub(super) fn get() -> u64 {
        let mode: u64;
        // SAFETY: reads the control register.
        unsafe { asm!("mrs {}, fpcr", out(reg) mode, options(nomem, nostack, preserves_flags)) };
        mode
    }

    pub(super) fn set(mode: u64) {
        // SAFETY: the value came from `get`, with a defined bit added.
        unsafe { asm!("msr fpcr, {}", in(reg) mode, options(nomem, nostack, preserves_flags)) };
    }
}

#[cfg(not(any(target_arch = "x86_64", target_arch = "aarch64")))]
mod mode {
    pub(super) const FLUSH: u64 = 0;

    pub(super) fn get() -> u64 {
        0
    }

    pub(super) fn set(_: u64) {}
}

#[cfg(all(test, any(target_arch = "x86_64", target_arch = "aarch64")))]
mod tests {
    use super::*;
    use std::hint::black_box;

    #[test]
    fn subnormals_vanish_while_the_guard_lives() {
        let product = || black_box(1e-40f32) * black_box(1.5);
        assert!(product() > 0.0);
        {
            let _guard = FlushSubnormals::new();
            assert_eq!(product().to_bits(), 0);
        }
        assert!(product() > 0.0);
    }
}
