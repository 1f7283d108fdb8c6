//! The environment of this process.

/// Returns the variables of this process: pointers to texts, and a null pointer behind the last one.
pub(crate) fn environ() -> *const *const libc::c_char {
    // SAFETY: a library may not name the array itself, and asks for its place.
    let place = unsafe { libc::_NSGetEnviron() };
    // SAFETY: the place is always there, and holds the array.
    unsafe { *place }.cast_const().cast()
}
