// SPDX-License-Identifier: Apache-2.0
// Copyright (c) the Duplex authors

/// What ``MessageLimits`` says of putting messages together: the part that each connection keeps at hand.
struct AssemblyLimits: Sendable {
    let messageSize: ByteCount
    let frameSize: ByteCount
    let fragments: Int
    // Four bytes each, as every idle connection holds them: milliseconds up to 49 days, and bytes in a second.
    private let milliseconds: UInt32
    private let rate: UInt32

    init(_ limits: MessageLimits) {
        messageSize = limits.messageSize
        frameSize = limits.frameSize
        fragments = limits.fragments
        milliseconds = limits.messageTime.map { UInt32(clamping: max(0, $0.wholeNanoseconds) / 1_000_000) } ?? .max
        rate = UInt32(clamping: limits.minimumRate.bytes)
    }

    private init(messageSize: ByteCount, fragments: Int) {
        self.messageSize = messageSize
        frameSize = messageSize
        self.fragments = fragments
        milliseconds = .max
        rate = 0
    }

    /// The limits of a message that is given in pieces: nothing of it is kept, so it may take its time.
    func streamed(_ limit: ByteCount) -> AssemblyLimits {
        AssemblyLimits(messageSize: limit, fragments: fragments)
    }

    /// How slowly a message that begins now may come; `nil` for as slowly as its sender likes.
    func pace(now: Instant) -> BodyPace? {
        milliseconds == .max ? nil : BodyPace(patience: .milliseconds(milliseconds), rate: Int(rate), now: now)
    }
}
