// SPDX-License-Identifier: Apache-2.0
// Copyright (c) the Duplex authors

/// What a loop calls in nearly every turn, for each connection: what ``Channel`` is to it.
///
/// A class, not a protocol: a call costs a look into its table, and a reference is one word.
package class LoopChannel {
    package init() {}

    /// See ``DescriptorHandler/ready(_:)``.
    package func ready(_ readiness: Readiness) {
        preconditionFailure("ready(_:) is overridden")
    }

    /// See ``Flushable/flush()``.
    package func flush() {
        preconditionFailure("flush() is overridden")
    }
}

/// A channel that is kept from here on until ``letGo()``.
///
/// What a loop watches is called in each turn, and it keeps what is no longer watched until the turn has ended: so the
/// call needn't count references.
@safe struct HeldChannel {
    private let channel: Unmanaged<LoopChannel>

    init(_ channel: LoopChannel) {
        unsafe self.channel = .passRetained(channel)
    }

    /// The channel, which is no longer kept by this: called once.
    func letGo() -> LoopChannel { unsafe channel.takeRetainedValue() }

    var object: LoopChannel { unsafe channel.takeUnretainedValue() }

    /// Calls the channel, as ``DescriptorHandler/ready(_:)`` says.
    @inline(__always)
    func ready(_ readiness: Readiness) {
        unsafe channel._withUnsafeGuaranteedRef { $0.ready(readiness) }
    }
}

/// The channels that are flushed at the end of a turn, in the order in which they asked.
///
/// Each is kept until it was flushed. An array of references would count each of them twice more, and ask the runtime how
/// to release them.
@safe struct FlushList: ~Copyable {
    // Retained when it is put in here, and released where it is taken out.
    private var channels: [Unmanaged<LoopChannel>] = unsafe []
    /// The first one that is still to be flushed: what lies before it isn't kept any more.
    private var next = 0

    deinit {
        for index in unsafe channels.indices[next...] { unsafe channels[index].release() }
    }

    var isEmpty: Bool { unsafe next == channels.count }

    /// Keeps the channel until it was flushed.
    @inline(__always)
    mutating func append(_ channel: LoopChannel) {
        unsafe channels.append(.passRetained(channel))
    }

    /// Flushes them in their order, for a share of the turn, and forgets those; once none is left, the memory serves again.
    ///
    /// Nothing may be appended to this list meanwhile: whoever is flushed asks for another turn.
    mutating func flush(_ core: LoopCore) {
        var share = TurnShare()
        while unsafe next < channels.count {
            unsafe channels[next]._withUnsafeGuaranteedRef { $0.flush() }
            unsafe channels[next].release()
            next += 1
            if share.isOver(core) { break }
        }
        guard isEmpty else { return }
        unsafe channels.removeAll(keepingCapacity: true)
        next = 0
    }

    /// Puts what is left of another list in front of its own, and empties that.
    mutating func prepend(_ left: inout FlushList) {
        unsafe channels.replaceSubrange(..<next, with: left.channels[left.next...])
        next = 0
        unsafe left.channels = []
        left.next = 0
    }
}
