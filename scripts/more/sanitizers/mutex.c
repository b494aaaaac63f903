// SPDX-License-Identifier: Apache-2.0
// Copyright (c) the Duplex authors

// Tells ThreadSanitizer what a contended `Synchronization.Mutex` does. `scripts/more/sanitize thread` links it in.
//
// On Linux a mutex that is free is taken, and one that nobody waits for is given back, by an atomic instruction that the
// compiler puts into the caller: ThreadSanitizer sees it. When threads meet there, three functions of the standard library
// do it by a futex. The library isn't compiled for ThreadSanitizer, so that what they order looks like a race. Here they
// say what they have done, about the same word that the atomic instructions are about. To leave out reports by a list of
// suppressions would hide the races of the code that holds a mutex, and not mend reports of what is handed on by one.
//
// The names are those of the standard library's binary interface; the linker's --wrap brings its calls here.

#include <sanitizer/tsan_interface.h>
#include <stdbool.h>
#include <stdint.h>

#define LOCK "$s15Synchronization12_MutexHandleV9_lockSlowyys6UInt32VF"
#define TRY_LOCK "$s15Synchronization12_MutexHandleV12_tryLockSlowSbyF"
#define UNLOCK "$s15Synchronization12_MutexHandleV11_unlockSlowyyF"

#define METHOD __attribute__((swiftcall))
#define SELF __attribute__((swift_context)) void *self

METHOD void real_lock(uint32_t thread, SELF) __asm__("__real_" LOCK);
METHOD void told_lock(uint32_t thread, SELF) __asm__("__wrap_" LOCK);

METHOD bool real_try_lock(SELF) __asm__("__real_" TRY_LOCK);
METHOD bool told_try_lock(SELF) __asm__("__wrap_" TRY_LOCK);

METHOD void real_unlock(SELF) __asm__("__real_" UNLOCK);
METHOD void told_unlock(SELF) __asm__("__wrap_" UNLOCK);

METHOD void told_lock(uint32_t thread, SELF) {
    real_lock(thread, self);
    __tsan_acquire(self);
}

METHOD bool told_try_lock(SELF) {
    bool is_locked = real_try_lock(self);
    if (is_locked) __tsan_acquire(self);
    return is_locked;
}

METHOD void told_unlock(SELF) {
    __tsan_release(self);
    real_unlock(self);
}
