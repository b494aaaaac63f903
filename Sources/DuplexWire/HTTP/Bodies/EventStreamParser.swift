// SPDX-License-Identifier: Apache-2.0
// Copyright (c) the Duplex authors

/// What an event stream may make this side hold.
package struct EventStreamLimits: Sendable, Hashable {
    /// The longest line, without its end.
    ///
    /// Default: 1 MiB.
    package var lineSize: ByteCount
    /// The most data of one event, with the line feeds between its lines.
    ///
    /// Default: 1 MiB.
    package var eventSize: ByteCount

    /// Makes limits.
    package init(lineSize: ByteCount = .mebibytes(1), eventSize: ByteCount = .mebibytes(1)) {
        self.lineSize = lineSize
        self.eventSize = eventSize
    }
}

/// The next thing that an event stream has.
public enum EventStreamItem: Sendable, Hashable {
    /// An event with data: its type, `message` where the stream names none; the lines of its data, with line feeds between
    /// them; the id that holds from it on, its own or the last one before, empty for none.
    case event(type: String, data: String, lastEventID: String)
    /// How long to wait before connecting again.
    case retry(Duration)
    /// The text of a comment's line.
    case comment(String)
}

/// Takes an event stream apart, in input that arrives in pieces of any size (WHATWG HTML section 9.2.6).
///
/// What isn't UTF-8 is replaced, as the standard says. An event that the end of the stream cuts short is dropped.
package struct EventStreamParser: Sendable {
    private let limits: EventStreamLimits
    /// The line that has begun.
    private var line: [UInt8] = []
    /// Whether the last byte was a carriage return, which ended a line: a line feed behind it belongs to it.
    private var isBehindReturn = false
    /// Whether the first line is still to come, where a byte order mark may stand.
    private var isFirst = true
    private var type = ""
    private var data: [UInt8] = []
    private var id = ""
    private var failure: EventStreamError?

    /// What to send as `Last-Event-ID` when connecting again; empty for none.
    ///
    /// That of the last event that came whole, with data or without.
    package private(set) var lastEventID: String

    /// Makes a parser.
    ///
    /// - Parameters:
    ///   - limits: what the stream may make it hold.
    ///   - lastEventID: that of the stream before, where this one goes on. Default: none.
    package init(limits: EventStreamLimits = EventStreamLimits(), lastEventID: String = "") {
        self.limits = limits
        self.lastEventID = lastEventID
        id = lastEventID
    }

    /// Takes input up to the next item, and returns it.
    ///
    /// Call it until it returns nil, then again with the next input. An error comes again at each further call.
    ///
    /// - Parameters:
    ///   - input: the piece of the stream at hand; may be empty.
    ///   - position: where to begin; left after the last byte taken.
    /// - Returns: what comes next, or nil when the input has no more.
    /// - Throws: ``EventStreamError`` beyond the limits.
    package mutating func next(
        _ input: Span<UInt8>,
        from position: inout Int
    ) throws(EventStreamError) -> EventStreamItem? {
        if let failure { throw failure }
        do throws(EventStreamError) {
            while position < input.count {
                if let item = try takeLine(input, from: &position) { return item }
            }
            return nil
        } catch {
            failure = error
            throw error
        }
    }

    private mutating func takeLine(
        _ input: Span<UInt8>,
        from position: inout Int
    ) throws(EventStreamError) -> EventStreamItem? {
        if isBehindReturn {
            isBehindReturn = false
            if input[position] == 0x0A {
                position += 1
                return nil
            }
        }
        var end = position
        while end < input.count, input[end] != 0x0A, input[end] != 0x0D { end += 1 }
        guard end - position <= limits.lineSize.bytes - line.count else {
            throw EventStreamError(.lineTooLong, "A line of the event stream is longer than \(limits.lineSize).")
        }
        line.append(input.extracting(position..<end).raw)
        guard end < input.count else {
            position = end
            return nil
        }
        isBehindReturn = input[end] == 0x0D
        position = end + 1
        return try endLine()
    }

    private mutating func endLine() throws(EventStreamError) -> EventStreamItem? {
        var line: [UInt8] = []
        swap(&line, &self.line)
        var start = 0
        if isFirst {
            isFirst = false
            if line.starts(with: [0xEF, 0xBB, 0xBF]) { start = 3 }
        }
        // The memory serves for the next line, unless this one was long.
        defer { if line.capacity <= 4_096 { keep(&line) } }
        if start == line.count { return dispatch() }
        guard let colon = line[start...].firstIndex(of: 0x3A) else { return try take(line[start...], []) }
        let hasSpace = colon + 1 < line.count && line[colon + 1] == 0x20
        return try take(line[start..<colon], line[(colon + (hasSpace ? 2 : 1))...])
    }

    private mutating func keep(_ line: inout [UInt8]) {
        line.removeAll(keepingCapacity: true)
        swap(&line, &self.line)
    }

    private mutating func take(
        _ name: ArraySlice<UInt8>,
        _ value: ArraySlice<UInt8>
    ) throws(EventStreamError) -> EventStreamItem? {
        switch String(decoding: name, as: UTF8.self) {
        case "": return .comment(String(decoding: value, as: UTF8.self))
        case "data":
            guard value.count <= limits.eventSize.bytes - data.count else {
                throw EventStreamError(.eventTooLong, "An event of the stream is longer than \(limits.eventSize).")
            }
            data += value
            data.append(0x0A)
        case "event": type = String(decoding: value, as: UTF8.self)
        case "id": if !value.contains(0) { id = String(decoding: value, as: UTF8.self) }
        case "retry": return Self.retry(value)
        default: break
        }
        return nil
    }

    /// Digits only; a time that is no number of 64 bits is none that anybody waits for.
    private static func retry(_ value: ArraySlice<UInt8>) -> EventStreamItem? {
        guard !value.isEmpty, value.allSatisfy(Grammar.isDigit) else { return nil }
        return Int64(String(decoding: value, as: UTF8.self)).map { .retry(.milliseconds($0)) }
    }

    /// The empty line behind an event.
    private mutating func dispatch() -> EventStreamItem? {
        lastEventID = id
        defer {
            type = ""
            data.removeAll(keepingCapacity: data.capacity <= 4_096)
        }
        if data.isEmpty { return nil }
        let text = String(decoding: data.dropLast(), as: UTF8.self)
        return .event(type: type.isEmpty ? "message" : type, data: text, lastEventID: lastEventID)
    }
}

/// What is wrong with a server-sent event, or with a stream of them.
///
/// ``code`` is for programs, ``message`` for people.
public struct EventStreamError: Error, Sendable, Hashable, CustomStringConvertible {
    /// The kinds of faults; later versions may add some.
    @nonexhaustive
    public enum Code: String, Sendable {
        /// A field would break out of its line: it has a line end, or U+0000.
        case invalidField
        /// A line of a stream is longer than the limit.
        case lineTooLong
        /// An event of a stream has more data than the limit.
        case eventTooLong
        /// The reader takes less than is sent, and was ended by its ``SlowReaderPolicy``.
        case slowReader
        /// The feed takes no further event.
        case finished
    }

    /// The kind of fault.
    public let code: Code
    /// What was seen, in plain words.
    public let message: String

    /// Makes an error.
    package init(_ code: Code, _ message: String) {
        self.code = code
        self.message = message
    }

    /// The code and the message in one line.
    public var description: String { "EventStreamError.\(code.rawValue): \(message)" }
}
