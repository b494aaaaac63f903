// SPDX-License-Identifier: Apache-2.0
// Copyright (c) the Duplex authors

/// One direction of a connection within the process: what was sent and not received yet, and what goes wrong with it.
///
/// A value without a clock or a lock; see ``MemoryLink``.
package struct MemoryFlow: Sendable {
    /// What goes wrong.
    ///
    /// Default: nothing.
    ///
    /// Bytes are counted from when it was set: from the beginning of the connection, or anew by ``MemoryFlow/set(_:)``.
    package struct Faults: Sendable, Hashable {
        /// The most bytes that one receive takes.
        package var pieceSize: Int?
        /// The number of bytes after which the connection is reset.
        package var resetAfter: Int?
        /// The number of bytes after which the stream ends; the rest is thrown away.
        package var endAfter: Int?
        /// The number of bytes after which nothing more gets through until it is released.
        package var stallAfter: Int?
        /// The reader takes that many bytes, and then nothing for the interval.
        package var pace: Pace?

        package init() {}
    }

    /// How fast a slow reader takes bytes.
    package struct Pace: Sendable, Hashable {
        package var bytes: Int
        package var interval: Duration

        package init(bytes: Int, interval: Duration) {
            self.bytes = bytes
            self.interval = interval
        }
    }

    /// The most bytes that wait: a sender that has filled it waits for the receiver.
    let capacity: Int
    private(set) var faults: Faults
    private var bytes: [UInt8] = []
    private var start = 0
    /// How many bytes were received so far.
    private(set) var passed = 0
    /// How many of them had been received when the faults were set.
    private var passedBefore = 0
    /// How many bytes of the present interval of the pace are left.
    private var allowance = Int.max
    /// Whether the sender sends no more.
    private(set) var hasFinished = false

    init(capacity: Int, faults: Faults = Faults()) {
        self.capacity = max(1, capacity)
        self.faults = faults
        renewAllowance()
    }

    private var count: Int { bytes.count - start }

    /// How many bytes the sender may still send before it has to wait.
    var room: Int { hasEndedEarly ? capacity : max(0, capacity - count) }

    /// Whether bytes lie unread.
    var hasUnread: Bool { count > 0 }

    /// Whether all that was sent was received, and nothing follows.
    var hasEnded: Bool { hasEndedEarly || (hasFinished && count == 0) }

    /// What the places of the faults are compared with.
    private var counted: Int { passed - passedBefore }

    private var hasEndedEarly: Bool { faults.endAfter.map { counted >= $0 } ?? false }

    /// Whether the connection is to be reset now.
    var isCutOff: Bool { faults.resetAfter.map { counted >= $0 } ?? false }

    /// How many bytes one receive may take now.
    var available: Int {
        if hasEndedEarly { return 0 }
        var length = min(count, faults.pieceSize ?? count, allowance)
        for place in [faults.resetAfter, faults.endAfter, faults.stallAfter] {
            if let place { length = min(length, max(0, place - counted)) }
        }
        return length
    }

    /// Whether bytes wait that only the pace holds back.
    var waitsForPace: Bool { faults.pace != nil && allowance == 0 && count > 0 }

    /// Takes bytes of the sender.
    mutating func send(_ piece: UnsafeRawBufferPointer) -> Int {
        // What follows an early end is thrown away.
        if hasEndedEarly { return piece.count }
        let taken = min(piece.count, room)
        unsafe bytes.append(contentsOf: piece.prefix(taken))
        return taken
    }

    /// Gives bytes to the receiver.
    mutating func receive(into buffer: UnsafeMutableRawBufferPointer) -> Int {
        let taken = min(buffer.count, available)
        unsafe bytes.withUnsafeBytes { source in
            unsafe buffer.copyBytes(from: source[start..<(start + taken)])
        }
        start += taken
        passed += taken
        if faults.pace != nil { allowance -= taken }
        if count == 0 || start >= capacity {
            bytes.removeFirst(start)
            start = 0
        }
        return taken
    }

    /// The sender sends no more.
    mutating func finish() {
        hasFinished = true
    }

    /// Drops what wasn't received.
    mutating func drop() {
        bytes = []
        start = 0
    }

    /// Replaces what goes wrong from here on; bytes are counted anew.
    mutating func set(_ faults: Faults) {
        self.faults = faults
        passedBefore = passed
        renewAllowance()
    }

    /// Lets what was held back through.
    mutating func release() {
        faults.stallAfter = nil
    }

    /// Lets that many bytes through of those that are held back.
    mutating func release(_ count: Int) {
        faults.stallAfter = max(faults.stallAfter ?? counted, counted) + count
    }

    /// Another interval of the pace has begun.
    mutating func renewAllowance() {
        allowance = faults.pace.map { max(1, $0.bytes) } ?? .max
    }
}
