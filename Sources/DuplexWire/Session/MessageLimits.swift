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

    private init(messageSize: ByteCount, fragments: Int) {
        self.messageSize = messageSize
        frameSize = messageSize
        self.fragments = fragments
    }

    /// The limits of a message that is given in pieces.
    func streamed(_ limit: ByteCount) -> MessageLimits {
        MessageLimits(messageSize: limit, fragments: fragments)
    }
}
