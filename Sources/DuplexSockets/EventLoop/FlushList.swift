// SPDX-License-Identifier: Apache-2.0
// Copyright (c) the Duplex authors

/// The channels that are flushed at the end of a turn, in the order in which they asked.
///
/// Each is kept until it was flushed. An array of references would count each of them twice more, and ask the runtime how
/// to release them.
@safe struct FlushList: ~Copyable {
    // Retained when it is put in here, and released where it is taken out.
    private var channels: [Unmanaged<LoopChannel>] = unsafe []

    deinit {
        for index in unsafe channels.indices { unsafe channels[index].release() }
    }

    var isEmpty: Bool { unsafe channels.isEmpty }

    /// Keeps the channel until ``flushAll()``.
    @inline(__always)
    mutating func append(_ channel: LoopChannel) {
        unsafe channels.append(.passRetained(channel))
    }

    /// Flushes each of them and forgets it; its memory serves again.
    ///
    /// Nothing may be appended to this list meanwhile: whoever is flushed asks for another turn.
    mutating func flushAll() {
        for index in unsafe channels.indices {
            unsafe channels[index]._withUnsafeGuaranteedRef { $0.flush() }
            unsafe channels[index].release()
        }
        unsafe channels.removeAll(keepingCapacity: true)
    }
}
