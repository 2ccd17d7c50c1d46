//! Large pages for large arrays.
//!
//! What is looked up lies scattered over tens of megabytes; with pages of 4 KB the processor spends
//! a sixth of the time on finding out where each page is. Linux gives pages of 2 MB where it is asked to.

/// Arrays smaller than this stay as they are: they would waste the rest of a page.
#[cfg(target_os = "linux")]
const LARGE: usize = 4 << 20;

/// Asks for large pages behind an array, if it is large. To be called when its memory has moved.
pub fn advise<T>(records: &Vec<T>) {
    #[cfg(target_os = "linux")]
    {
        let start = records.as_ptr() as usize;
        let end = start + records.capacity() * size_of::<T>();
        let (first, last) = (start.next_multiple_of(4096), end & !4095);
        if end - start >= LARGE && first < last {
            // SAFETY: the range lies inside memory that the array owns, spare capacity included; the
            // advice changes neither its contents nor its addresses, and may be ignored.
            unsafe {
                libc::madvise(
                    first as *mut libc::c_void,
                    last - first,
                    libc::MADV_HUGEPAGE,
                )
            };
        }
    }
    #[cfg(not(target_os = "linux"))]
    let _ = records;
}

/// Asks for large pages if the memory of an array is not where, or not as large as, it was.
pub fn advise_moved<T>(records: &Vec<T>, before: (usize, usize)) {
    if before != seat(records) {
        advise(records);
    }
}

/// Where the memory of an array is, and how large.
pub fn seat<T>(records: &Vec<T>) -> (usize, usize) {
    (records.as_ptr() as usize, records.capacity())
}
