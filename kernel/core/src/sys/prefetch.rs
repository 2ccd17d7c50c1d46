//! Having memory fetched before it is needed.
//!
//! The records of candidates lie scattered over megabytes. Waiting for each in turn would take longer
//! than all the work on them.

/// Has the processor fetch a record that will be looked at soon. Does nothing where there is no such
/// record, or no way to ask for it.
#[inline]
pub fn prefetch<T>(records: &[T], place: usize) {
    #[cfg(target_arch = "x86_64")]
    if let Some(record) = records.get(place) {
        use std::arch::x86_64::{_MM_HINT_T0, _mm_prefetch};
        // SAFETY: a hint that reads nothing and cannot fault; every x86-64 processor has it.
        unsafe { _mm_prefetch::<_MM_HINT_T0>(std::ptr::from_ref(record).cast()) };
    }
    #[cfg(not(target_arch = "x86_64"))]
    let _ = (records, place);
}
