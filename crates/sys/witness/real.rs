//! The C library's own functions.

/// Defines a function that returns the C library's own function of this name.
macro_rules! real {
    ($function:ident, $name:literal, $type:ty) => {
        fn $function() -> $type {
            use core::ffi::c_void;
            use core::sync::atomic::{AtomicPtr, Ordering};
            static REAL: AtomicPtr<c_void> = AtomicPtr::new(core::ptr::null_mut());
            let mut real = REAL.load(Ordering::Relaxed);
            if real.is_null() {
                // SAFETY: The name ends with a null byte.
                real = unsafe { $crate::symbol::<c_void>($crate::RTLD_NEXT, $name) }.cast_mut();
                REAL.store(real, Ordering::Relaxed);
            }
            // SAFETY: Every C library has the function, with this type.
            unsafe { core::mem::transmute::<*mut c_void, $type>(real) }
        }
    };
}
