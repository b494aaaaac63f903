// SPDX-License-Identifier: Apache-2.0
// Copyright (c) the Duplex authors

#if canImport(Glibc)
import Glibc
#else
import Darwin
#endif

/// What a descriptor stood for at some time; its number may have been given to something else since.
struct OpenFile {
    private let descriptor: Int32
    private let identity: Identity

    private struct Identity: Equatable {
        var device: UInt64
        var inode: UInt64

        init?(_ descriptor: Int32) {
            var status = stat()
            guard unsafe fstat(descriptor, &status) == 0 else { return nil }
            (device, inode) = (UInt64(truncatingIfNeeded: status.st_dev), UInt64(truncatingIfNeeded: status.st_ino))
        }
    }

    /// Remembers what a descriptor stands for; `nil` when it isn't open.
    init?(_ descriptor: Int32) {
        guard let identity = Identity(descriptor) else { return nil }
        (self.descriptor, self.identity) = (descriptor, identity)
    }

    /// Whether the descriptor still stands for that.
    var isOpen: Bool { Identity(descriptor) == identity }
}
