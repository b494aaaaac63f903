// SPDX-License-Identifier: Apache-2.0
// Copyright (c) the Duplex authors

import DuplexWire

/// What a Redis server may make this side hold.
struct RedisLimits: Sendable, Hashable {
    /// The longest line, without its end: numbers, short texts, errors.
    ///
    /// Default: 64 KiB.
    var lineSize: ByteCount
    /// The longest bulk string.
    ///
    /// Default: 64 MiB. Redis itself takes up to 512 MiB.
    var bulkSize: ByteCount
    /// The most bytes of one message, all of its lines and strings together.
    ///
    /// Default: 128 MiB.
    var messageSize: ByteCount
    /// The most values in one message, those within others with them.
    ///
    /// Default: 262,144.
    var elements: Int
    /// How deep values may lie within others.
    ///
    /// Default: 16.
    var depth: Int

    /// Makes limits.
    init(
        lineSize: ByteCount = .kibibytes(64),
        bulkSize: ByteCount = .mebibytes(64),
        messageSize: ByteCount = .mebibytes(128),
        elements: Int = 262_144,
        depth: Int = 16
    ) {
        self.lineSize = lineSize
        self.bulkSize = bulkSize
        self.messageSize = messageSize
        self.elements = elements
        self.depth = depth
    }
}

/// Takes what a Redis server sends apart, in input that arrives in pieces of any size.
///
/// It reads RESP3, as of HELLO 3, and RESP2, which a server speaks before. Strings and lists whose length comes at their end
/// are refused: the protocol once had them, and no server sends them. A length that is announced reserves no memory.
struct RedisParser: Sendable {
    private let limits: RedisLimits
    private var stage = Stage.line
    /// The line or the bulk string that has begun and isn't whole.
    private var rest: [UInt8] = []
    /// The lists that have begun, the outermost first.
    private var open: [OpenList] = []
    /// What the message at hand has come to.
    private var elements = 0
    private var size = 0
    private var failure: RedisProtocolError?

    private enum Stage {
        case line
        /// The bytes of a string, and the line end after them.
        case bulk(Bulk, count: Int)
    }

    private enum Bulk {
        case bytes
        case error
        case verbatim
    }

    private enum List {
        case array
        case set
        case map
        case push
        case attribute
    }

    private struct OpenList {
        let kind: List
        /// How many values it still needs.
        var missing: Int
        var values: [RedisValue] = []
    }

    /// Makes a parser.
    init(limits: RedisLimits = RedisLimits()) {
        self.limits = limits
    }

    /// Takes input up to the end of the next message, and returns it.
    ///
    /// Call it until it returns nil, then again with the next input. An error comes again at each further call.
    ///
    /// - Parameters:
    ///   - input: the piece at hand; may be empty.
    ///   - position: where to begin; left behind the last byte taken.
    /// - Returns: what comes next, or nil when the input has no more.
    /// - Throws: ``RedisProtocolError`` for what isn't RESP, or is beyond the limits.
    mutating func next(
        _ input: RawSpan,
        from position: inout Int
    ) throws(RedisProtocolError) -> RedisMessage? {
        if let failure { throw failure }
        do throws(RedisProtocolError) {
            while position < input.byteCount {
                if let message = try step(input, from: &position) { return message }
            }
            return nil
        } catch {
            failure = error
            rest = []
            open = []
            throw error
        }
    }

    private mutating func step(
        _ input: RawSpan,
        from position: inout Int
    ) throws(RedisProtocolError) -> RedisMessage? {
        switch stage {
        case .line: try takeLine(input, from: &position)
        case .bulk(let kind, let count): try takeBulk(kind, count, input, from: &position)
        }
    }

    // MARK: Lines

    private mutating func takeLine(
        _ input: RawSpan,
        from position: inout Int
    ) throws(RedisProtocolError) -> RedisMessage? {
        let start = position
        // Before all else, so that what isn't a Redis server is known by its first byte.
        if rest.isEmpty { try Self.checkType(input.byte(at: start)) }
        let feed = input.firstOffset(of: 0x0A, from: start)
        let end = feed ?? input.byteCount
        // With the carriage return, of which it isn't known yet that it is one.
        guard rest.count + end - start <= limits.lineSize.bytes.saturating(plus: 1) else {
            throw RedisProtocolError(.limitExceeded, "A line of Redis is longer than \(limits.lineSize).")
        }
        position = feed.map { $0 + 1 } ?? end
        if feed == nil || !rest.isEmpty { rest.append(input.extracting(start..<end)) }
        guard feed != nil else { return nil }
        if rest.isEmpty { return try takeWhole(input.extracting(start..<end)) }
        var line: [UInt8] = []
        swap(&line, &rest)
        return try takeWhole(line.span.raw)
    }

    private static func checkType(_ byte: UInt8) throws(RedisProtocolError) {
        if "+-:$*_,#(!=%~>|".utf8.contains(byte) { return }
        throw RedisProtocolError(.malformed, "What answers isn't a Redis server: \(shown(byte)) begins no value.")
    }

    private static func shown(_ byte: UInt8) -> String {
        0x21...0x7E ~= byte ? "“\(UnicodeScalar(byte))”" : "the byte \(byte)"
    }

    /// Takes a line without its line feed.
    private mutating func takeWhole(_ line: RawSpan) throws(RedisProtocolError) -> RedisMessage? {
        let type = line.byte(at: 0)
        guard line.byteCount >= 2, line.byte(at: line.byteCount - 1) == 0x0D else {
            throw RedisProtocolError(.malformed, "A line of Redis ends without a carriage return.")
        }
        try count(line.byteCount + 1)
        let content = line.extracting(1..<(line.byteCount - 1))
        switch type {
        case UInt8(ascii: "$"): return try beginBulk(.bytes, content)
        case UInt8(ascii: "!"): return try beginBulk(.error, content)
        case UInt8(ascii: "="): return try beginBulk(.verbatim, content)
        case UInt8(ascii: "*"): return try begin(.array, content)
        case UInt8(ascii: "~"): return try begin(.set, content)
        case UInt8(ascii: "%"): return try begin(.map, content)
        case UInt8(ascii: ">"): return try begin(.push, content)
        case UInt8(ascii: "|"): return try begin(.attribute, content)
        default: return try complete(try Self.scalar(type, content))
        }
    }

    private static func scalar(_ type: UInt8, _ content: RawSpan) throws(RedisProtocolError) -> RedisValue {
        switch type {
        case UInt8(ascii: ":"): return .integer(try number(content))
        case UInt8(ascii: "+"): return .simple(try text(content))
        case UInt8(ascii: "-"): return .error(RedisErrorReply(try text(content)))
        case UInt8(ascii: "_"):
            if content.isEmpty { return .null }
        case UInt8(ascii: "#"):
            if content.byteCount == 1 {
                if content.byte(at: 0) == UInt8(ascii: "t") { return .boolean(true) }
                if content.byte(at: 0) == UInt8(ascii: "f") { return .boolean(false) }
            }
        case UInt8(ascii: ","):
            if let double = double(try text(content)) { return .double(double) }
        default:
            let text = try text(content)
            let digits = text.utf8.first.map { "+-".utf8.contains($0) } == true ? text.utf8.dropFirst() : text.utf8[...]
            if !digits.isEmpty && digits.allSatisfy({ (0x30...0x39).contains($0) }) { return .bigNumber(text) }
        }
        throw RedisProtocolError(.malformed, "A value of Redis of the kind \(shown(type)) isn't one.")
    }

    private static func double(_ text: String) -> Double? {
        switch text {
        case "inf", "+inf": return .infinity
        case "-inf": return -.infinity
        case "nan", "-nan", "+nan": return .nan
        default:
            // Swift would take hexadecimal digits and words of its own.
            let isPlain = text.utf8.allSatisfy { (0x30...0x39).contains($0) || "+-.eE".utf8.contains($0) }
            return isPlain ? Double(text) : nil
        }
    }

    /// What isn't UTF-8 is replaced; these texts are for people.
    private static func text(_ content: RawSpan) throws(RedisProtocolError) -> String {
        if content.firstOffset(of: 0x0D, from: 0) != nil {
            throw RedisProtocolError(.malformed, "A line of Redis has a carriage return within it.")
        }
        return String(decoding: [UInt8](copying: content), as: UTF8.self)
    }

    private static func number(_ content: RawSpan) throws(RedisProtocolError) -> Int64 {
        var index = 0
        var isNegative = false
        if content.byteCount > 0, content.byte(at: 0) == UInt8(ascii: "-") || content.byte(at: 0) == UInt8(ascii: "+") {
            isNegative = content.byte(at: 0) == UInt8(ascii: "-")
            index = 1
        }
        var number: Int64 = 0
        var isWrong = index == content.byteCount
        while index < content.byteCount && !isWrong {
            let digit = Int64(content.byte(at: index)) - 0x30
            guard (0...9).contains(digit) else { throw RedisProtocolError(.malformed, "A number of Redis isn't one.") }
            let (product, overflow) = number.multipliedReportingOverflow(by: 10)
            let (sum, carried) =
                isNegative ? product.subtractingReportingOverflow(digit) : product.addingReportingOverflow(digit)
            number = sum
            isWrong = overflow || carried
            index += 1
        }
        if isWrong { throw RedisProtocolError(.malformed, "A number of Redis is empty or has more than 64 bits.") }
        return number
    }

    /// The length of a string or a list; `nil` for -1, the null of RESP2.
    private static func length(_ content: RawSpan) throws(RedisProtocolError) -> Int? {
        if content.byteCount == 1, content.byte(at: 0) == UInt8(ascii: "?") {
            throw RedisProtocolError(.malformed, "A value of Redis doesn't say how long it is, which isn't supported.")
        }
        let number = try number(content)
        if number == -1 { return nil }
        guard number >= 0 else { throw RedisProtocolError(.malformed, "A length of Redis is negative: \(number).") }
        return Int(number)
    }

    // MARK: Strings

    private mutating func beginBulk(_ kind: Bulk, _ content: RawSpan) throws(RedisProtocolError) -> RedisMessage? {
        guard let length = try Self.length(content) else {
            guard case .bytes = kind else { throw RedisProtocolError(.malformed, "A length of Redis is negative: -1.") }
            return try complete(.null)
        }
        guard length <= limits.bulkSize.bytes else {
            let message = "A string of Redis has \(length) bytes, more than \(limits.bulkSize)."
            throw RedisProtocolError(.limitExceeded, message)
        }
        try count(length)
        stage = .bulk(kind, count: length)
        return nil
    }

    private mutating func takeBulk(
        _ kind: Bulk,
        _ count: Int,
        _ input: RawSpan,
        from position: inout Int
    ) throws(RedisProtocolError) -> RedisMessage? {
        let whole = count + 2
        if rest.isEmpty, input.byteCount - position >= whole {
            try Self.checkLineEnd(input.byte(at: position + count), input.byte(at: position + count + 1))
            let bytes = [UInt8](copying: input.extracting(position..<(position + count)))
            position += whole
            return try completeBulk(kind, bytes)
        }
        let taken = min(whole - rest.count, input.byteCount - position)
        rest.append(input.extracting(position..<(position + taken)))
        position += taken
        guard rest.count == whole else { return nil }
        try Self.checkLineEnd(rest[count], rest[count + 1])
        var bytes: [UInt8] = []
        swap(&bytes, &rest)
        bytes.removeLast(2)
        return try completeBulk(kind, bytes)
    }

    private static func checkLineEnd(_ first: UInt8, _ second: UInt8) throws(RedisProtocolError) {
        if first == 0x0D && second == 0x0A { return }
        throw RedisProtocolError(.malformed, "A string of Redis is longer than it was said to be.")
    }

    private mutating func completeBulk(_ kind: Bulk, _ bytes: [UInt8]) throws(RedisProtocolError) -> RedisMessage? {
        stage = .line
        switch kind {
        case .bytes: return try complete(.bulk(bytes))
        case .error: return try complete(.error(RedisErrorReply(String(decoding: bytes, as: UTF8.self))))
        case .verbatim:
            guard bytes.count >= 4, bytes[3] == UInt8(ascii: ":") else {
                throw RedisProtocolError(.malformed, "A text of Redis doesn't say of which kind it is.")
            }
            let format = String(decoding: bytes[..<3], as: UTF8.self)
            return try complete(.verbatim(format: format, Array(bytes[4...])))
        }
    }

    // MARK: Lists

    private mutating func begin(_ kind: List, _ content: RawSpan) throws(RedisProtocolError) -> RedisMessage? {
        guard let length = try Self.length(content) else {
            guard kind == .array else { throw RedisProtocolError(.malformed, "A length of Redis is negative: -1.") }
            return try complete(.null)
        }
        if kind == .push && (!open.isEmpty || length == 0) {
            throw RedisProtocolError(.malformed, "A push of Redis is empty, or lies within another value.")
        }
        let isPaired = kind == .map || kind == .attribute
        // Before it is doubled: a length may be any number.
        guard length <= (limits.elements - elements) / (isPaired ? 2 : 1) else {
            throw RedisProtocolError(.limitExceeded, "A message of Redis has more than \(limits.elements) values.")
        }
        guard open.count < limits.depth else {
            throw RedisProtocolError(
                .limitExceeded,
                "Values of Redis lie within others more than \(limits.depth) deep."
            )
        }
        let missing = isPaired ? 2 * length : length
        elements += missing
        let list = OpenList(kind: kind, missing: missing)
        if missing == 0 { return try end(list) }
        open.append(list)
        return nil
    }

    private mutating func end(_ list: OpenList) throws(RedisProtocolError) -> RedisMessage? {
        switch list.kind {
        case .array: return try complete(.array(list.values))
        case .set: return try complete(.set(list.values))
        case .map:
            let pairs = stride(from: 0, to: list.values.count, by: 2)
                .map { RedisValue.Pair(list.values[$0], list.values[$0 + 1]) }
            return try complete(.map(pairs))
        case .push: return end(with: .push(list.values))
        case .attribute: return nil
        }
    }

    /// Puts a value that is whole where it belongs.
    private mutating func complete(_ value: RedisValue) throws(RedisProtocolError) -> RedisMessage? {
        guard !open.isEmpty else { return end(with: .answer(value)) }
        open[open.count - 1].values.append(value)
        open[open.count - 1].missing -= 1
        guard open[open.count - 1].missing == 0 else { return nil }
        return try end(open.removeLast())
    }

    private mutating func end(with message: RedisMessage) -> RedisMessage {
        elements = 0
        size = 0
        return message
    }

    private mutating func count(_ bytes: Int) throws(RedisProtocolError) {
        guard bytes <= limits.messageSize.bytes - size else {
            throw RedisProtocolError(.limitExceeded, "A message of Redis is longer than \(limits.messageSize).")
        }
        size += bytes
    }
}

extension Int {
    fileprivate func saturating(plus other: Int) -> Int {
        let (sum, overflow) = addingReportingOverflow(other)
        return overflow ? .max : sum
    }
}

/// What a Redis server, or what answers in its place, has sent that isn't RESP, or is more than this side takes.
struct RedisProtocolError: Error, Sendable, Hashable, CustomStringConvertible {
    /// The kind of fault.
    enum Code: Sendable, Hashable {
        /// The bytes aren't RESP.
        case malformed
        /// A message is beyond ``RedisLimits``.
        case limitExceeded
    }

    /// The kind of fault.
    let code: Code
    /// What was seen, in plain words.
    let message: String

    init(_ code: Code, _ message: String) {
        self.code = code
        self.message = message
    }

    var description: String { message }
}
