// SPDX-License-Identifier: Apache-2.0
// Copyright (c) the Duplex authors

import HTTPTypes

/// Reads the head of a request that lies whole in the input, in one pass and without a string for each field.
///
/// Clients that keep a connection send the same fields again and again, and often the same head: that isn't read twice.
///
/// The short way of ``RequestHeadParser``. It takes what nearly all clients send: a known method, a path, HTTP/1.1, one
/// plain Host, a length or chunks. At anything else, and at every fault, it takes nothing and says nothing: the parser
/// that goes line by line then judges the same bytes. So there is one place that finds faults, and this one accepts a part
/// of what that one accepts.
struct WholeHead {
    private var position: Int
    /// Which one it is of ``methods``: a number needs no counting of references where this is handed on.
    private var method = 0
    private var places = RequestHeadText.Places(target: 0..<0, pathEnd: 0, host: 0..<0, headers: 0)
    private var hasHost = false
    private var length: Int?
    private var isChunked = false
    private var closes = false
    private var expectsContinue = false
    private var hasUpgrade = false
    private var hasContentCoding = false
    private var hasConditions = false
    private var hasRange = false
    private var hasAcceptedCodings = false
    private var fieldCount = 0

    private static let methods: [HTTPRequest.Method] = [.get, .post, .put, .patch, .head, .delete, .options]
    private static let get = KnownText("GET ")
    private static let post = KnownText("POST ")
    private static let put = KnownText("PUT ")
    private static let patch = KnownText("PATCH ")
    private static let head = KnownText("HEAD ")
    private static let delete = KnownText("DELETE ")
    private static let options = KnownText("OPTIONS ")
    private static let version = KnownText(" HTTP/1.1\r\n")
    private static let host = KnownText("host")
    private static let expect = KnownText("expect")
    private static let upgrade = KnownText("upgrade")
    private static let connection = KnownText("connection")
    private static let contentLength = KnownText("content-length")
    private static let contentEncoding = KnownText("content-encoding")
    private static let transferEncoding = KnownText("transfer-encoding")
    private static let range = KnownText("range")
    private static let acceptEncoding = KnownText("accept-encoding")
    /// What the names of conditions begin with; other names that do are taken for one, too.
    private static let condition = KnownText("if-")
    private static let chunked = KnownText("chunked")
    private static let hundredContinue = KnownText("100-continue")
    private static let close = KnownText("close")

    private init(from start: Int) {
        position = start
    }

    /// The head at that place of the input, if it is there to its end and nothing about it is unusual.
    ///
    /// - Parameters:
    ///   - input: what has come.
    ///   - position: where the head begins; left behind it, or where it was.
    ///   - bounds: of the head, its first line and its fields.
    ///   - last: a head that was read within the same bounds: what its fields say isn't found out again where they are
    ///     the same. Default: none.
    /// - Returns: what the head says, or nil.
    static func read(
        _ input: RawSpan,
        from position: inout Int,
        bounds: HeadBounds,
        last: RequestHeadText? = nil
    ) -> RequestHeadText? {
        if let last, last.isAt(position, of: input) {
            position += last.count
            return last
        }
        var head = WholeHead(from: position)
        guard head.takeRequestLine(input, bound: bounds.startLine) else { return nil }
        let result: RequestHeadText
        if let last, last.isAt(head.position, of: input, from: last.fieldStart) {
            head.position += last.count - last.fieldStart
            guard head.position - position <= bounds.head else { return nil }
            result = head.result(input, from: position, fieldsOf: last)
        } else {
            guard head.takeFields(input, atMost: bounds.headers), head.position - position <= bounds.head, head.hasHost,
                head.length == nil || !head.isChunked
            else { return nil }
            result = head.result(input, from: position)
        }
        position = head.position
        return result
    }

    /// The fields are those of another head: so is what they say.
    private func result(_ input: RawSpan, from start: Int, fieldsOf last: RequestHeadText) -> RequestHeadText {
        var summary = last.summary
        summary.method = Self.methods[method]
        var places = places.moved(by: -start)
        let offset = places.headers - last.fieldStart
        places.host = (last.hostRange.lowerBound + offset)..<(last.hostRange.upperBound + offset)
        return RequestHeadText(summary, [UInt8](copying: input.extracting(start..<position)), places)
    }

    private func result(_ input: RawSpan, from start: Int) -> RequestHeadText {
        let framing: BodyFraming = isChunked ? .chunked : length.map { $0 == 0 ? .none : .length($0) } ?? .none
        let summary = RequestSummary(
            method: Self.methods[method],
            framing: framing,
            keepsAlive: !closes,
            expectsContinue: expectsContinue,
            hasUpgrade: hasUpgrade,
            hasContentCoding: hasContentCoding,
            hasConditions: hasConditions,
            hasRange: hasRange,
            hasAcceptedCodings: hasAcceptedCodings
        )
        let bytes = [UInt8](copying: input.extracting(start..<position))
        return RequestHeadText(summary, bytes, places.moved(by: -start))
    }

    // MARK: The request line

    private mutating func takeRequestLine(_ input: RawSpan, bound: Int) -> Bool {
        let start = position
        guard takeMethod(input) else { return false }
        let target = position
        var pathEnd = -1
        while position < input.byteCount {
            let byte = input.byte(at: position)
            if !Grammar.isVisible(byte) || byte == UInt8(ascii: "#") { break }
            if byte == UInt8(ascii: "?") && pathEnd < 0 { pathEnd = position }
            position += 1
        }
        places.target = target..<position
        places.pathEnd = pathEnd < 0 ? position : pathEnd
        guard position > target, input.byte(at: target) == UInt8(ascii: "/"), takeVersion(input) else { return false }
        places.headers = position
        return position - start <= bound
    }

    /// One of the methods that there is a constant for, and the space behind it.
    private mutating func takeMethod(_ input: RawSpan) -> Bool {
        guard input.byteCount - position >= 8 else { return false }
        // The order of `methods`.
        let method: Int? =
            switch input.byte(at: position) {
            case UInt8(ascii: "G"): takes(input, Self.get) ? 0 : nil
            case UInt8(ascii: "P"):
                takes(input, Self.post) ? 1 : takes(input, Self.put) ? 2 : takes(input, Self.patch) ? 3 : nil
            case UInt8(ascii: "H"): takes(input, Self.head) ? 4 : nil
            case UInt8(ascii: "D"): takes(input, Self.delete) ? 5 : nil
            case UInt8(ascii: "O"): takes(input, Self.options) ? 6 : nil
            default: nil
            }
        guard let method else { return false }
        self.method = method
        return true
    }

    private mutating func takeVersion(_ input: RawSpan) -> Bool {
        takes(input, Self.version)
    }

    /// Moves behind the text, if it stands here.
    private mutating func takes(_ input: RawSpan, _ text: KnownText) -> Bool {
        guard text.isAt(position, of: input) else { return false }
        position += text.count
        return true
    }

    private mutating func takesLineEnd(_ input: RawSpan) -> Bool {
        guard position + 2 <= input.byteCount, input.byte(at: position) == Grammar.carriageReturn,
            input.byte(at: position + 1) == Grammar.lineFeed
        else { return false }
        position += 2
        return true
    }

    // MARK: Fields

    /// The fields and the empty line that ends them.
    private mutating func takeFields(_ input: RawSpan, atMost bound: Int) -> Bool {
        while true {
            if takesLineEnd(input) { return fieldCount <= bound }
            guard takeField(input) else { return false }
            fieldCount += 1
        }
    }

    private mutating func takeField(_ input: RawSpan) -> Bool {
        let name = position
        while position < input.byteCount, Grammar.isTokenByte(input.byte(at: position)) { position += 1 }
        let colon = position
        guard colon > name, colon < input.byteCount, input.byte(at: colon) == UInt8(ascii: ":") else { return false }
        position = input.endOfText(from: colon + 1)
        let value = input.trimmed((colon + 1)..<position)
        guard takesLineEnd(input) else { return false }
        return note(input, name: name..<colon, value: value)
    }

    /// Takes note of a field that a server asks for in every request.
    ///
    /// - Returns: false where the longer way has to judge.
    private mutating func note(_ input: RawSpan, name: Range<Int>, value: Range<Int>) -> Bool {
        switch name.count {
        case 4 where Self.host.isAnyCaseAt(name.lowerBound, of: input):
            guard !hasHost, Self.isPlainHost(input, value) else { return false }
            hasHost = true
            places.host = value
        case 5 where Self.range.isAnyCaseAt(name.lowerBound, of: input):
            hasRange = true
        case 6 where Self.expect.isAnyCaseAt(name.lowerBound, of: input):
            guard value.count == 12, Self.hundredContinue.isAnyCaseAt(value.lowerBound, of: input) else { return false }
            expectsContinue = true
        case 7 where Self.upgrade.isAnyCaseAt(name.lowerBound, of: input):
            hasUpgrade = true
        case 10 where Self.connection.isAnyCaseAt(name.lowerBound, of: input):
            closes = closes || Self.has(Self.close, input, value)
        case 14 where Self.contentLength.isAnyCaseAt(name.lowerBound, of: input):
            guard length == nil, let count = Self.decimal(input, value) else { return false }
            length = count
        case 15 where Self.acceptEncoding.isAnyCaseAt(name.lowerBound, of: input):
            hasAcceptedCodings = true
        case 16 where Self.contentEncoding.isAnyCaseAt(name.lowerBound, of: input):
            hasContentCoding = true
        case 17 where Self.transferEncoding.isAnyCaseAt(name.lowerBound, of: input):
            guard !isChunked, value.count == 7, Self.chunked.isAnyCaseAt(value.lowerBound, of: input) else {
                return false
            }
            isChunked = true
        case 8, 13, 17, 19:
            if Self.condition.isAnyCaseAt(name.lowerBound, of: input) { hasConditions = true }
        default: break
        }
        return true
    }

    /// Whether that is a host name or an IPv4 address in ASCII, perhaps with a port, as nearly all are.
    private static func isPlainHost(_ input: RawSpan, _ value: Range<Int>) -> Bool {
        var index = value.lowerBound
        while index < value.upperBound, isPlainHostByte(input.byte(at: index)) { index += 1 }
        guard index > value.lowerBound else { return false }
        guard index < value.upperBound else { return true }
        // A zero in front would be left out of the host and the port that the longer way makes.
        guard input.byte(at: index) == UInt8(ascii: ":"), (2...6).contains(value.upperBound - index),
            input.byte(at: index + 1) != UInt8(ascii: "0"),
            let port = decimal(input, (index + 1)..<value.upperBound)
        else { return false }
        return port <= 65_535
    }

    private static func isPlainHostByte(_ byte: UInt8) -> Bool {
        Grammar.isDigit(byte) || byte == UInt8(ascii: ".") || Grammar.isLetter(byte) || byte == UInt8(ascii: "-")
    }

    /// Whether a comma-separated list has that member.
    private static func has(_ token: KnownText, _ input: RawSpan, _ value: Range<Int>) -> Bool {
        var start = value.lowerBound
        while start < value.upperBound {
            var end = start
            while end < value.upperBound, input.byte(at: end) != UInt8(ascii: ",") { end += 1 }
            let member = input.trimmed(start..<end)
            if member.count == token.count && token.isAnyCaseAt(member.lowerBound, of: input) { return true }
            start = end + 1
        }
        return false
    }

    /// The number that up to fifteen digits spell.
    private static func decimal(_ input: RawSpan, _ value: Range<Int>) -> Int? {
        guard (1...15).contains(value.count) else { return nil }
        var number = 0
        for index in value {
            let byte = input.byte(at: index)
            guard Grammar.isDigit(byte) else { return nil }
            // Fifteen digits fit.
            number = number &* 10 &+ Int(byte &- 0x30)
        }
        return number
    }
}

extension RequestHeadText.Places {
    /// The same places counted from elsewhere.
    func moved(by offset: Int) -> Self {
        Self(
            target: (target.lowerBound + offset)..<(target.upperBound + offset),
            pathEnd: pathEnd + offset,
            host: (host.lowerBound + offset)..<(host.upperBound + offset),
            headers: headers + offset
        )
    }
}

extension RawSpan {
    /// The range without the blanks at its ends.
    func trimmed(_ range: Range<Int>) -> Range<Int> {
        var (start, end) = (range.lowerBound, range.upperBound)
        while start < end, Grammar.isBlank(byte(at: start)) { start += 1 }
        while end > start, Grammar.isBlank(byte(at: end - 1)) { end -= 1 }
        return start..<end
    }

    /// The place of the first control byte other than the tab, from that place on, or the end.
    func endOfText(from start: Int) -> Int {
        var index = start
        while index + 8 <= byteCount {
            let word = littleEndianWord(at: index)
            // The lowest bit that is set is that of the first byte below 0x20 or equal to 0x7F; those above may be wrong.
            let low = (word &- 0x2020_2020_2020_2020) & ~word
            let delete = word ^ 0x7F7F_7F7F_7F7F_7F7F
            let found = (low | ((delete &- 0x0101_0101_0101_0101) & ~delete)) & 0x8080_8080_8080_8080
            if found == 0 {
                index += 8
                continue
            }
            index += found.trailingZeroBitCount / 8
            if byte(at: index) != Grammar.tab { return index }
            index += 1
        }
        while index < byteCount, !Grammar.isControl(byte(at: index)) { index += 1 }
        return index
    }

    /// The bytes from that place on, the first one lowest; at least so many of them, which are there.
    @inline(__always)
    fileprivate func word(at start: Int, count: Int) -> UInt64 {
        if start + 8 <= byteCount { return littleEndianWord(at: start) }
        var word: UInt64 = 0
        for index in 0..<count { word |= UInt64(byte(at: start + index)) << (8 * UInt64(index)) }
        return word
    }
}

/// A short text of ASCII that is looked for in input, compared eight bytes at a time.
struct KnownText: Sendable {
    let count: Int
    private let words: [3 of UInt64]
    /// Which bits of the last word, or of the only one, are the text's.
    private let lastMask: UInt64

    /// Makes a text of up to 24 bytes.
    init(_ text: String) {
        let bytes = Array(text.utf8)
        precondition(bytes.count <= 24, "A known text has up to 24 bytes.")
        count = bytes.count
        words = [Self.word(bytes, 0), Self.word(bytes, 8), Self.word(bytes, 16)]
        let rest = count == 0 ? 0 : (count - 1) % 8 + 1
        lastMask = rest == 8 ? .max : (1 << (8 * UInt64(rest))) - 1
    }

    private static func word(_ bytes: [UInt8], _ start: Int) -> UInt64 {
        var word: UInt64 = 0
        for (index, byte) in bytes.dropFirst(start).prefix(8).enumerated() {
            word |= UInt64(byte) << (8 * UInt64(index))
        }
        return word
    }

    /// Whether the text stands at that place.
    @inline(__always)
    func isAt(_ start: Int, of input: RawSpan) -> Bool { compare(input, start, 0) }

    /// Whether the text stands at that place in either case; the text is in lower case, and the input has no controls there.
    ///
    /// Letters of either case, digits and hyphens become what the text has by the bit that parts the cases, and nothing
    /// else but controls does.
    @inline(__always)
    func isAnyCaseAt(_ start: Int, of input: RawSpan) -> Bool { compare(input, start, 0x2020_2020_2020_2020) }

    @inline(__always)
    private func compare(_ input: RawSpan, _ start: Int, _ fold: UInt64) -> Bool {
        guard start + count <= input.byteCount else { return false }
        var offset = 0
        while offset + 8 < count {
            if input.littleEndianWord(at: start + offset) | fold != words[offset / 8] { return false }
            offset += 8
        }
        let last = input.word(at: start + offset, count: count - offset)
        return ((last | fold) ^ words[min(offset / 8, 2)]) & lastMask == 0
    }
}
