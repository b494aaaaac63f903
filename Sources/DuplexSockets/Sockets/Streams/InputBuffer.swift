// SPDX-License-Identifier: Apache-2.0
// Copyright (c) the Duplex authors

/// What a read asks for.
package enum ReadGoal: Sendable, Equatable {
    /// What there is: one byte at least.
    case available(upTo: Int)
    /// That many bytes, no fewer.
    case exactly(Int)
    /// All up to the delimiter and with it.
    case until([UInt8], limit: Int)
    /// All up to a line feed, or up to the end of the stream, without the line end.
    case line(limit: Int)
    /// That many bytes, fewer only at the end of the stream, and they stay.
    case peek(Int)
    /// That something has arrived, which stays.
    case arrival

    /// Whether it can be asked for.
    ///
    /// - Throws: ``SocketError`` with ``SocketError/Code/invalidArgument``.
    package func check() throws(SocketError) {
        switch self {
        case .available(let count):
            if count < 1 { throw .invalidArgument("A read takes at least one byte, and not \(count).") }
        case .exactly(let count):
            if count < 0 { throw .invalidArgument("A read can't take \(count) bytes.") }
        case .until(let delimiter, let limit):
            if delimiter.isEmpty || limit < delimiter.count {
                let sizes = "\(delimiter.count) bytes, \(limit)"
                throw .invalidArgument("A delimiter has a byte at least and fits into the limit: \(sizes).")
            }
        case .line(let limit):
            if limit < 1 { throw .invalidArgument("A line has at least its end: its limit can't be \(limit).") }
        case .peek(let count):
            if count < 1 { throw .invalidArgument("A peek looks at one byte at least, and not \(count).") }
        case .arrival: break
        }
    }
}

/// What a read has come to.
enum ReadOutcome: Equatable {
    case bytes([UInt8])
    /// The stream has ended, and nothing is left of it.
    case end
    case failed(SocketError.Code, String)
}

/// Bytes that have arrived and that no read has taken: those in front of a delimiter that is still to come, and those
/// behind one.
///
/// Knows no socket. A reader receives only what its goal still needs (``missing(for:)``), so the buffer never holds more
/// than the largest goal asks for, and an idle one holds no memory.
struct InputBuffer: Sendable {
    private var bytes: [UInt8] = []
    private var start = 0

    /// The most that is received at once in search of a delimiter.
    private static let searchStep = 64 * 1_024

    /// The number of bytes that wait.
    var count: Int { bytes.count - start }
    var isEmpty: Bool { count == 0 }

    mutating func append(_ more: RawSpan) {
        if start > 0 {
            bytes.removeFirst(start)
            start = 0
        }
        bytes.append(more)
    }

    /// Takes all that waits.
    mutating func takeAll() -> [UInt8] { removeFirst(count) }

    /// Forgets all.
    mutating func removeAll() {
        bytes = []
        start = 0
    }

    /// How many bytes to receive at most for that goal, when what is there isn't enough; never less than one.
    func missing(for goal: ReadGoal) -> Int {
        switch goal {
        case .available(let wanted), .exactly(let wanted), .peek(let wanted): max(1, wanted - count)
        case .until(_, let limit), .line(let limit): max(1, min(Self.searchStep, limit - count))
        case .arrival: Self.searchStep
        }
    }

    /// Takes what the goal asks for.
    ///
    /// - Parameters:
    ///   - goal: what is asked for.
    ///   - hasEnded: whether nothing more arrives.
    ///   - searched: how many of the waiting bytes have been looked through for the delimiter; 0 at first, and moved.
    /// - Returns: `nil` when more has to arrive. What fails takes nothing.
    mutating func take(_ goal: ReadGoal, hasEnded: Bool, searched: inout Int) -> ReadOutcome? {
        switch goal {
        case .available(let limit):
            if isEmpty { return hasEnded ? .end : nil }
            return .bytes(removeFirst(min(count, limit)))
        case .exactly(let wanted):
            if count >= wanted { return .bytes(removeFirst(wanted)) }
            return hasEnded ? ended("after \(count) of \(wanted) bytes") : nil
        case .until(let delimiter, let limit):
            return takeUntil(delimiter, limit, hasEnded, &searched)
        case .line(let limit):
            return takeLine(limit, hasEnded, &searched)
        case .peek(let wanted):
            if count < wanted && !hasEnded { return nil }
            return isEmpty ? .end : .bytes(Array(bytes[start..<(start + min(count, wanted))]))
        case .arrival:
            if isEmpty { return hasEnded ? .end : nil }
            return .bytes([])
        }
    }

    private mutating func takeUntil(
        _ delimiter: [UInt8],
        _ limit: Int,
        _ hasEnded: Bool,
        _ searched: inout Int
    ) -> ReadOutcome? {
        if let length = length(upTo: delimiter, &searched) {
            return length > limit ? tooLong(limit) : .bytes(removeFirst(length))
        }
        if count >= limit { return tooLong(limit) }
        return hasEnded ? ended("after \(count) bytes without the delimiter") : nil
    }

    private mutating func takeLine(_ limit: Int, _ hasEnded: Bool, _ searched: inout Int) -> ReadOutcome? {
        let length = length(upTo: [Self.lineFeed], &searched)
        if let length, length <= limit {
            var line = removeFirst(length)
            line.removeLast()
            if line.last == Self.carriageReturn { line.removeLast() }
            return .bytes(line)
        }
        if length != nil || count >= limit { return tooLong(limit) }
        guard hasEnded else { return nil }
        return isEmpty ? .end : .bytes(removeFirst(count))
    }

    private static let lineFeed = UInt8(ascii: "\n")
    private static let carriageReturn = UInt8(ascii: "\r")

    private func ended(_ when: String) -> ReadOutcome {
        isEmpty ? .end : .failed(.endOfStream, "The stream ended \(when).")
    }

    private func tooLong(_ limit: Int) -> ReadOutcome {
        .failed(.limitExceeded, "No delimiter came within \(limit) bytes.")
    }

    /// The number of bytes up to the delimiter and with it; `nil` when it isn't there.
    ///
    /// Each byte is looked at once for each byte of the delimiter at most, however the input is cut.
    private func length(upTo delimiter: [UInt8], _ searched: inout Int) -> Int? {
        var position = searched
        while count - position >= delimiter.count {
            let candidate = start + position
            if bytes[candidate] == delimiter[0]
                && bytes[candidate..<(candidate + delimiter.count)].elementsEqual(delimiter)
            {
                return position + delimiter.count
            }
            position += 1
        }
        searched = position
        return nil
    }

    private mutating func removeFirst(_ taken: Int) -> [UInt8] {
        if start == 0 && taken == bytes.count {
            defer { bytes = [] }
            return bytes
        }
        let result = Array(bytes[start..<(start + taken)])
        start += taken
        if start == bytes.count { removeAll() }
        return result
    }
}
