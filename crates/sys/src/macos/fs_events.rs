//! A stream of FSEvents.

use std::ffi::{CStr, CString, c_char, c_void};
use std::fmt;
use std::io;

/// Flags of reports.
pub mod flags {
    /// Changes below the path were not reported one by one.
    pub const MUST_SCAN_SUBDIRECTORIES: u32 = 0x1;
    /// This process was too slow.
    pub const USER_DROPPED: u32 = 0x2;
    /// The kernel had no room.
    pub const KERNEL_DROPPED: u32 = 0x4;
    /// The watched directory itself was renamed or removed.
    pub const ROOT_CHANGED: u32 = 0x20;
    /// The file was created at some time.
    pub const CREATED: u32 = 0x100;
    /// The file was removed at some time.
    pub const REMOVED: u32 = 0x200;
    /// The file has, or had, another name.
    pub const RENAMED: u32 = 0x800;
    /// The content was written.
    pub const MODIFIED: u32 = 0x1000;
    /// The inode, the Finder's information, the owner or the attributes were changed.
    pub const METADATA: u32 = 0x400 | 0x2000 | 0x4000 | 0x8000;
    /// The file is a clone.
    pub const CLONED: u32 = 0x40_0000;
}

/// A report: a path, and what happened to it since the last report on it.
#[derive(Debug, Clone)]
pub struct FsEventReport {
    /// The path, without links.
    pub path: CString,
    /// A set of [`flags`].
    pub flags: u32,
}

/// A receiver of reports, on a thread of the system.
type FsEventReceiver = Box<dyn Fn(FsEventReport) + Send + Sync>;

/// A running stream.
pub struct FsEventStream {
    stream: *mut c_void,
    queue: *mut c_void,
}

// SAFETY: the system's functions for streams and queues may be called by any thread.
unsafe impl Send for FsEventStream {}

impl fmt::Debug for FsEventStream {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.debug_struct("Stream").finish_non_exhaustive()
    }
}

#[repr(C)]
struct FsEventContext {
    version: isize,
    info: *mut c_void,
    retain: Option<extern "C" fn(*const c_void) -> *const c_void>,
    release: Option<extern "C" fn(*mut c_void)>,
    copy_description: Option<extern "C" fn(*const c_void) -> *const c_void>,
}

type FsEventCallback = extern "C" fn(*mut c_void, *mut c_void, usize, *mut *const c_char, *const u32, *const u64);

#[link(name = "CoreServices", kind = "framework")]
unsafe extern "C" {
    fn FSEventStreamCreate(
        allocator: *const c_void,
        callback: FsEventCallback,
        context: *const FsEventContext,
        paths: *const c_void,
        since: u64,
        latency: f64,
        flags: u32,
    ) -> *mut c_void;
    fn FSEventStreamSetDispatchQueue(stream: *mut c_void, queue: *mut c_void);
    fn FSEventStreamStart(stream: *mut c_void) -> u8;
    fn FSEventStreamFlushSync(stream: *mut c_void);
    fn FSEventStreamStop(stream: *mut c_void);
    fn FSEventStreamInvalidate(stream: *mut c_void);
    fn FSEventStreamRelease(stream: *mut c_void);
}

#[link(name = "CoreFoundation", kind = "framework")]
unsafe extern "C" {
    static kCFTypeArrayCallBacks: c_void;
    fn CFStringCreateWithFileSystemRepresentation(allocator: *const c_void, path: *const c_char) -> *const c_void;
    fn CFArrayCreate(
        allocator: *const c_void,
        values: *const *const c_void,
        count: isize,
        callbacks: *const c_void,
    ) -> *const c_void;
    fn CFRelease(object: *const c_void);
}

unsafe extern "C" {
    fn dispatch_queue_create(label: *const c_char, attributes: *const c_void) -> *mut c_void;
    fn dispatch_release(queue: *mut c_void);
}

/// From now on.
const SINCE_NOW: u64 = u64::MAX;
/// Report at once, watch the root itself, and name files.
const NO_DEFER_ROOT_FILES: u32 = 0x2 | 0x4 | 0x10;
/// Seconds that the system may gather reports.
const LATENCY: f64 = 0.01;

impl FsEventStream {
    /// Starts a stream of the changes below a directory.
    pub fn start(directory: &CStr, receiver: FsEventReceiver) -> io::Result<Self> {
        let failed = || io::Error::other("FSEvents has no stream");
        let paths = path_list(directory).ok_or_else(failed)?;
        let info = Box::into_raw(Box::new(receiver)).cast();
        let context = FsEventContext { version: 0, info, retain: None, release: Some(release), copy_description: None };
        let (none, flags) = (std::ptr::null(), NO_DEFER_ROOT_FILES);
        // SAFETY: the context is copied, the list is retained, and the callback has the type that the system expects.
        let stream = unsafe { FSEventStreamCreate(none, report, &raw const context, paths, SINCE_NOW, LATENCY, flags) };
        // SAFETY: the list is ours, and the stream has its own hold on it.
        unsafe { CFRelease(paths) };
        if stream.is_null() {
            release(info);
            return Err(failed());
        }
        // SAFETY: a C string, and no attributes: a serial queue.
        let queue = unsafe { dispatch_queue_create(c"agent-bash.watch".as_ptr(), std::ptr::null()) };
        let running = Self { stream, queue };
        // SAFETY: both are alive.
        unsafe { FSEventStreamSetDispatchQueue(stream, queue) };
        // SAFETY: it is scheduled.
        let is_started = unsafe { FSEventStreamStart(stream) } != 0;
        if is_started { Ok(running) } else { Err(failed()) }
    }

    /// Returns after the reports of all changes so far have been received.
    pub fn flush(&self) {
        // SAFETY: the stream is alive. It does not run on this thread's queue.
        unsafe { FSEventStreamFlushSync(self.stream) };
    }
}

impl Drop for FsEventStream {
    fn drop(&mut self) {
        // SAFETY: the stream is alive. Stopping a stream that did not start has no effect.
        unsafe { FSEventStreamStop(self.stream) };
        // SAFETY: as above. No report begins from now on.
        unsafe { FSEventStreamInvalidate(self.stream) };
        // SAFETY: the last hold of ours. The receiver is released with the stream itself.
        unsafe { FSEventStreamRelease(self.stream) };
        // SAFETY: the last hold of ours.
        unsafe { dispatch_release(self.queue) };
    }
}

/// Creates a list of one path.
fn path_list(path: &CStr) -> Option<*const c_void> {
    // SAFETY: a C string.
    let text = unsafe { CFStringCreateWithFileSystemRepresentation(std::ptr::null(), path.as_ptr()) };
    if text.is_null() {
        return None;
    }
    let callbacks = &raw const kCFTypeArrayCallBacks;
    // SAFETY: one value, which the list retains.
    let list = unsafe { CFArrayCreate(std::ptr::null(), &raw const text, 1, callbacks) };
    // SAFETY: the text is ours, and the list has its own hold on it.
    unsafe { CFRelease(text) };
    (!list.is_null()).then_some(list)
}

extern "C" fn release(info: *mut c_void) {
    // SAFETY: it was made of a box, and is released once.
    drop(unsafe { Box::from_raw(info.cast::<FsEventReceiver>()) });
}

extern "C" fn report(
    _stream: *mut c_void,
    info: *mut c_void,
    count: usize,
    paths: *mut *const c_char,
    flags: *const u32,
    _ids: *const u64,
) {
    // SAFETY: it is the receiver, which lives as long as the stream.
    let receiver = unsafe { &*info.cast::<FsEventReceiver>() };
    // SAFETY: the system passes this many paths.
    let paths = unsafe { std::slice::from_raw_parts(paths, count) };
    // SAFETY: and as many flags.
    let flags = unsafe { std::slice::from_raw_parts(flags, count) };
    for (path, flags) in paths.iter().zip(flags) {
        // SAFETY: each is a C string that lives during this call.
        let path = unsafe { CStr::from_ptr(*path) }.to_owned();
        receiver(FsEventReport { path, flags: *flags });
    }
}
