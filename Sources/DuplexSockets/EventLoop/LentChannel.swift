// SPDX-License-Identifier: Apache-2.0
// Copyright (c) the Duplex authors

/// A channel that somebody else keeps for as long as this is there and for the whole turn in which it goes.
///
/// What a loop watches is called in each turn, and it keeps what is no longer watched until the turn has ended: so the
/// call needn't count references.
@safe struct LentChannel {
    private let channel: Unmanaged<Channel>

    init(_ channel: Channel) {
        unsafe self.channel = .passUnretained(channel)
    }

    /// Calls the channel, as ``DescriptorHandler/ready(_:)`` says.
    @inline(__always)
    func ready(_ readiness: Readiness) {
        unsafe channel._withUnsafeGuaranteedRef { $0.ready(readiness) }
    }
}
