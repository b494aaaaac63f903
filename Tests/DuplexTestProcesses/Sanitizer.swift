// SPDX-License-Identifier: Apache-2.0
// Copyright (c) the Duplex authors

#if canImport(Glibc)
import Glibc
#else
import Darwin
#endif

/// ThreadSanitizer or AddressSanitizer, in whose builds everything takes several times the time and the memory.
package enum Sanitizer {
    /// Whether this is a build with one.
    package static var isPresent: Bool {
        ["__tsan_init", "__asan_init"].contains { (name: String) in
            unsafe dlsym(nil, name) != nil
        }
    }
}
