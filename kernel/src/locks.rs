//! Locks, and the two rules about them.
//!
//! *Whoever waits for a lock does not hold the interpreter's lock*: a thread that has the one and
//! waits for the other stops every Python thread of the process, for ever if the thread it waits for
//! needs the interpreter. *No thread has two of them at a time*: a second reader's lock is refused
//! once a writer waits, who in turn waits for the first.
//!
//! The compiler holds us to both. A lock is taken with a [`Detached`], which exists only where the
//! interpreter's lock was given back, and it is lent to the guard for as long as that lives. What
//! comes from Python is read before, and made into Python's objects after.

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::{
    Mutex, MutexGuard, PoisonError, RwLock, RwLockReadGuard, RwLockWriteGuard, TryLockError,
};

use pyo3::exceptions::PyRuntimeError;
use pyo3::prelude::*;
use pyo3::sync::MutexExt;

/// Proof that this thread does not hold the interpreter's lock, nor any of these.
pub struct Detached(());

impl Detached {
    /// For a thread of the kernel's own, which never held the interpreter's lock.
    pub fn own_thread() -> Self {
        Detached(())
    }
}

/// Does work without the interpreter's lock; a panic becomes an exception.
pub fn detached<T: Send>(
    py: Python<'_>,
    job: impl Send + FnOnce(&mut Detached) -> PyResult<T>,
) -> PyResult<T> {
    py.detach(|| guarded(|| job(&mut Detached(()))))
}

/// Turns a panic into an exception: PyO3 would make one of it that passes every `except Exception`.
pub fn guarded<T>(job: impl FnOnce() -> PyResult<T>) -> PyResult<T> {
    caught(job)?
}

/// The same for whoever has to know whether there was a panic.
fn caught<T>(job: impl FnOnce() -> T) -> PyResult<T> {
    catch_unwind(AssertUnwindSafe(job)).map_err(|panic| {
        let text = panic.downcast_ref::<String>().map(String::as_str);
        let text = text
            .or_else(|| panic.downcast_ref::<&str>().copied())
            .unwrap_or("no reason given");
        PyRuntimeError::new_err(format!("the kernel failed, which is a bug in it: {text}"))
    })
}

/// Something that many threads read at a time, or one changes.
pub struct Shared<T>(RwLock<T>);

impl<T> Shared<T> {
    pub fn new(content: T) -> Self {
        Shared(RwLock::new(content))
    }

    pub fn read<'a>(&'a self, _: &'a mut Detached) -> RwLockReadGuard<'a, T> {
        self.0.read().unwrap_or_else(PoisonError::into_inner)
    }

    /// For whoever holds the interpreter's lock and has a short question, for which it is not worth
    /// giving that back: none if there is, or may soon be, somebody who changes what is inside.
    pub fn read_if_free(&self) -> Option<RwLockReadGuard<'_, T>> {
        match self.0.try_read() {
            Ok(guard) => Some(guard),
            Err(TryLockError::Poisoned(poisoned)) => Some(poisoned.into_inner()),
            Err(TryLockError::WouldBlock) => None,
        }
    }

    /// Fails once a change has panicked: what is inside may be half changed, and must be made anew.
    pub fn write<'a>(&'a self, _: &'a mut Detached) -> PyResult<RwLockWriteGuard<'a, T>> {
        self.0.write().map_err(|_| {
            PyRuntimeError::new_err("an earlier change failed in the kernel; make the index anew")
        })
    }
}

/// Something that one thread at a time takes from or adds to, in no time at all.
#[derive(Default)]
pub struct Brief<T>(Mutex<T>);

impl<T> Brief<T> {
    pub fn new(content: T) -> Self {
        Brief(Mutex::new(content))
    }

    pub fn lock<'a>(&'a self, _: &'a mut Detached) -> MutexGuard<'a, T> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// For whoever may hold the interpreter's lock: none if another thread has this one.
    pub fn lock_if_free(&self) -> Option<MutexGuard<'_, T>> {
        self.0.try_lock().ok()
    }
}

/// Something that one thread at a time works on, and asks Python questions meanwhile.
///
/// This one lock is held while Python runs, so the rules are kept otherwise: whoever waits for it
/// gives the interpreter's lock back, and the thread that has it is refused a second time. Python
/// code that we know nothing of may run on it, such as the handler of a signal.
pub struct Asking<T> {
    content: Mutex<T>,
    /// The mark of the thread that has the lock, or [`NOBODY`].
    owner: AtomicUsize,
    broken: AtomicBool,
}

/// No thread's mark.
const NOBODY: usize = 0;

impl<T> Asking<T> {
    pub fn new(content: T) -> Self {
        Asking {
            content: Mutex::new(content),
            owner: AtomicUsize::new(NOBODY),
            broken: AtomicBool::new(false),
        }
    }

    /// Fails once a job has panicked: what is inside may be half changed, and must be made anew.
    pub fn work<R>(&self, py: Python<'_>, job: impl FnOnce(&mut T) -> PyResult<R>) -> PyResult<R> {
        let here = thread_mark();
        if self.owner.load(Ordering::Relaxed) == here {
            return Err(PyRuntimeError::new_err(
                "the index is being used by this very thread, further out",
            ));
        }
        let mut content = self
            .content
            .lock_py_attached(py)
            .unwrap_or_else(PoisonError::into_inner);
        if self.broken.load(Ordering::Relaxed) {
            return Err(PyRuntimeError::new_err(
                "an earlier call failed in the kernel; make the index anew",
            ));
        }
        self.owner.store(here, Ordering::Relaxed);
        let result = caught(|| job(&mut content));
        self.owner.store(NOBODY, Ordering::Relaxed);
        if result.is_err() {
            self.broken.store(true, Ordering::Relaxed);
        }
        result?
    }
}

/// A number that no other thread has now, and that is not [`NOBODY`].
fn thread_mark() -> usize {
    thread_local!(static HERE: u8 = const { 0 });
    HERE.with(|here| std::ptr::from_ref(here) as usize)
}
