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

/// A channel that somebody else keeps for as long as this is there and for the whole turn in which it goes.
///
/// What a loop watches is called in each turn, and it keeps what is no longer watched until the turn has ended: so the
/// call needn't count references.
@safe struct LentChannel {
    private let channel: Unmanaged<LoopChannel>

    init(_ channel: LoopChannel) {
        unsafe self.channel = .passUnretained(channel)
    }

    /// Calls the channel, as ``DescriptorHandler/ready(_:)`` says.
    @inline(__always)
    func ready(_ readiness: Readiness) {
        unsafe channel._withUnsafeGuaranteedRef { $0.ready(readiness) }
    }
}
