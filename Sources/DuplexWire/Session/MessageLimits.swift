// SPDX-License-Identifier: Apache-2.0
// Copyright (c) the Duplex authors

/// What ``Limits`` says of messages: the part that each connection keeps at hand.
struct MessageLimits: Sendable {
    let messageSize: ByteCount
    let frameSize: ByteCount
    let fragments: Int

    init(_ limits: Limits) {
        messageSize = limits.messageSize
        frameSize = limits.frameSize
        fragments = limits.fragments
    }
}
