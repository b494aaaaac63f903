// SPDX-License-Identifier: Apache-2.0
// Copyright (c) the Duplex authors

import HTTPTypes

/// The differences between a request's head and a response's: the first line, and what follows from the two parts.
protocol HeadGrammar {
    associatedtype StartLine: Sendable
    associatedtype Head

    /// Whether an empty line before the first one is passed over.
    static var skipsEmptyLine: Bool { get }
    /// Whether folded fields are unfolded, and not refused.
    static var unfoldsFields: Bool { get }
    /// The code for a first line that has a byte that no first line has.
    static var malformedStartLine: HTTPProtocolError.Code { get }
    /// The code for a first line that is longer than it may be.
    ///
    /// - Parameter line: its beginning.
    /// - Returns: the code.
    static func overlongStartLine(_ line: [UInt8]) -> HTTPProtocolError.Code
    static func startLine(_ line: Span<UInt8>) throws(HTTPProtocolError) -> StartLine
    static func head(_ start: StartLine, _ headers: HTTPFields) throws(HTTPProtocolError) -> Head
}

/// Puts an HTTP head together from input in pieces of any size: a first line, fields, and an empty line.
///
/// Lines are judged when they are complete and lengths at each byte, so the result is the same for every cut. Until the
/// head is complete the parser owns its fields and the unfinished line; a fresh one owns no memory.
struct HeadParser<Grammar: HeadGrammar>: Sendable {
    private enum State {
        /// Nothing has been taken of the head that comes next.
        case fresh
        // Elsewhere, since most connections have neither most of the time.
        indirect case begun(Progress)
        indirect case failed(HTTPProtocolError)
    }

    /// What has been taken of a head.
    fileprivate struct Progress {
        var hasSkipped = false
        var start: Grammar.StartLine?
        var headers = HTTPFields()
        /// The lines of the fields.
        var fieldLines = 0
        /// The line that has begun.
        var lines = LineReader()
        /// The bytes of those that are complete, with their line ends.
        var finishedLines = 0
    }

    private var state = State.fresh
    let bounds: HeadBounds

    init(limits: HTTPLimits) {
        bounds = HeadBounds(limits)
    }

    /// Whether nothing has been taken of the head that comes next.
    var isFresh: Bool {
        if case .fresh = state { true } else { false }
    }

    /// Whether a head has begun and isn't complete.
    var isMidHead: Bool {
        if case .begun(let head) = state { head.start != nil || head.lines.hasText } else { false }
    }

    /// Takes input up to the end of the head; an error comes again at each further call.
    mutating func parse(_ input: Span<UInt8>, from position: inout Int) throws(HTTPProtocolError) -> Grammar.Head? {
        var progress: Progress
        switch state {
        case .fresh: progress = Progress()
        case .begun(let head): progress = head
        case .failed(let error): throw error
        }
        guard position < input.count else { return nil }
        // What has come is then owned once, and grows where it is.
        state = .fresh
        do throws(HTTPProtocolError) {
            while let line = try progress.nextLine(input, from: &position, bounds) {
                if let head = try progress.take(line, of: input, bounds) { return head }
            }
            state = .begun(progress)
            return nil
        } catch {
            state = .failed(error)
            throw error
        }
    }
}

extension HeadParser.Progress {
    fileprivate mutating func nextLine(
        _ input: Span<UInt8>,
        from position: inout Int,
        _ bounds: HeadBounds
    ) throws(HTTPProtocolError) -> LineReader.Line? {
        let rest = bounds.head - finishedLines
        do throws(LineReader.Fault) {
            let line = try lines.read(input, from: &position, atMost: isAtStart ? min(bounds.startLine, rest) : rest)
            guard let line else { return nil }
            finishedLines += line.count + 2
            return line
        } catch {
            throw describe(error, bounds)
        }
    }

    private var isAtStart: Bool { start == nil }

    private func describe(_ fault: LineReader.Fault, _ bounds: HeadBounds) -> HTTPProtocolError {
        switch fault {
        case .bareLineBreak:
            HTTPProtocolError(.bareLineBreak, "a carriage return or line feed stands alone in the head")
        case .control(let byte):
            HTTPProtocolError(
                isAtStart ? Grammar.malformedStartLine : .invalidFieldValue,
                "the \(isAtStart ? "first line" : "fields") of the head has the control \(Quotation.of(byte))"
            )
        case .tooLong where isAtStart:
            HTTPProtocolError(
                Grammar.overlongStartLine(lines.assembled),
                "the first line is longer than \(bounds.startLine) bytes"
            )
        case .tooLong:
            HTTPProtocolError(.headTooLarge, "the head is longer than \(bounds.head) bytes")
        }
    }

    fileprivate mutating func take(
        _ line: LineReader.Line,
        of input: Span<UInt8>,
        _ bounds: HeadBounds
    ) throws(HTTPProtocolError) -> Grammar.Head? {
        switch line {
        case .inInput(let range): try take(input.extracting(range), bounds)
        case .assembled(let bytes): try take(bytes.span, bounds)
        }
    }

    private mutating func take(_ line: Span<UInt8>, _ bounds: HeadBounds) throws(HTTPProtocolError) -> Grammar.Head? {
        if let start {
            if line.isEmpty { return try Grammar.head(start, headers) }
            try append(line, bounds)
        } else if Grammar.skipsEmptyLine && line.isEmpty && !hasSkipped {
            hasSkipped = true
        } else {
            start = try Grammar.startLine(line)
        }
        return nil
    }

    private mutating func append(_ line: Span<UInt8>, _ bounds: HeadBounds) throws(HTTPProtocolError) {
        if fieldLines >= bounds.headers {
            throw HTTPProtocolError(.tooManyFields, "the head has more than \(bounds.headers) fields")
        }
        fieldLines += 1
        if Grammar.unfoldsFields {
            try FieldLine.unfold(line, into: &headers)
        } else {
            headers.append(try FieldLine.field(line))
        }
    }
}

extension LineReader.Line {
    /// The bytes of the line without its line end.
    var count: Int {
        switch self {
        case .inInput(let range): range.count
        case .assembled(let bytes): bytes.count
        }
    }
}

/// How long a head may be.
///
/// In few bytes: each connection has them.
struct HeadBounds: Sendable {
    private let headSize: Int32
    private let startLineSize: UInt16
    private let fieldCount: UInt16

    /// All of it, with its line ends; at most 2 GiB.
    var head: Int { Int(headSize) }
    /// The first line, with its line end.
    var startLine: Int { Int(startLineSize) }
    /// The number of fields.
    var headers: Int { Int(fieldCount) }

    init(_ limits: HTTPLimits) {
        headSize = Int32(clamping: limits.headSize.bytes)
        // 8,000 bytes are what RFC 9112 section 3 recommends to support at least.
        startLineSize = UInt16(clamping: min(8_192, limits.headSize.bytes))
        // The collection of fields itself has room for fewer than 65,535.
        fieldCount = UInt16(clamping: min(limits.headFields, 65_000))
    }
}

/// Reads the heads of requests from input that arrives in pieces of any size (RFC 9112 section 3).
///
/// The result is the same wherever the input is cut, errors included. What can be read in two ways is refused rather
/// than mended: that's what request smuggling lives on (RFC 9112 section 11.2).
public struct RequestHeadParser: Sendable {
    private var parser: HeadParser<RequestGrammar>

    /// Makes a parser within these limits.
    ///
    /// - Parameter limits: Of these, `headSize` and `headFields` count; the request line has at most 8 KiB of the
    ///   former.
    public init(limits: HTTPLimits = .internet) {
        parser = HeadParser(limits: limits)
    }

    /// Whether a head has begun and isn't complete; a client that is silent for too long then is answered with 408.
    public var isMidHead: Bool { parser.isMidHead }

    /// Takes input up to the end of a head, and returns the head, or nil if its end hasn't arrived.
    ///
    /// What follows the head stays untouched: a body, the next request, or frames. The parser is then ready for the
    /// next head. After an error it isn't: each further call throws it again.
    ///
    /// - Parameters:
    ///   - input: The piece at hand.
    ///   - position: Where to begin; left after the last byte taken.
    /// - Returns: The head, or nil when more input is needed.
    /// - Throws: ``HTTPProtocolError`` with the status to answer.
    public mutating func parse(
        _ input: Span<UInt8>,
        from position: inout Int
    ) throws(HTTPProtocolError) -> RequestHead? {
        try parse(input, from: &position, last: nil)
    }

    /// The same, where what is as in an earlier head, all of it or all of its fields, isn't read anew.
    ///
    /// - Parameters:
    ///   - input: The piece at hand.
    ///   - position: Where to begin; left after the last byte taken.
    ///   - last: a head that was read within the same limits, if any.
    /// - Returns: The head, or nil when more input is needed.
    /// - Throws: ``HTTPProtocolError`` with the status to answer.
    mutating func parse(
        _ input: Span<UInt8>,
        from position: inout Int,
        last: RequestHeadText?
    ) throws(HTTPProtocolError) -> RequestHead? {
        if parser.isFresh, let text = WholeHead.read(input.raw, from: &position, bounds: parser.bounds, last: last) {
            return RequestHead(content: RequestHeadContent(text))
        }
        return try parser.parse(input, from: &position)
    }
}

/// The request line, and the head made from it.
enum RequestGrammar: HeadGrammar {
    struct StartLine {
        let method: HTTPRequest.Method
        let target: String
        let version: HTTPVersion
    }

    // RFC 9112 section 2.2: some clients send an empty line behind a body.
    static var skipsEmptyLine: Bool { true }
    // RFC 9112 section 5.2: a server may refuse them, and other recipients on the way may see other fields.
    static var unfoldsFields: Bool { false }
    static var malformedStartLine: HTTPProtocolError.Code { .malformedRequestLine }

    // RFC 9112 section 3: whose method has no end yet has one that is longer than any that there is.
    static func overlongStartLine(_ line: [UInt8]) -> HTTPProtocolError.Code {
        line.contains(Grammar.space) ? .uriTooLong : .unknownMethod
    }

    static func startLine(_ line: Span<UInt8>) throws(HTTPProtocolError) -> StartLine {
        guard let methodEnd = line.firstIndex(of: Grammar.space), let targetEnd = line.lastIndex(of: Grammar.space),
            methodEnd < targetEnd
        else {
            throw HTTPProtocolError(
                .malformedRequestLine,
                "the request line is \(Quotation.of(line)), not METHOD target HTTP/1.1"
            )
        }
        let version = try version(line.extracting((targetEnd + 1)...))
        guard let method = HTTPRequest.Method(Grammar.string(line.extracting(..<methodEnd))) else {
            throw HTTPProtocolError(.malformedRequestLine, "the request line has no method: \(Quotation.of(line))")
        }
        let target = line.extracting((methodEnd + 1)..<targetEnd)
        for index in target.indices where Grammar.isBlank(target[index]) {
            throw HTTPProtocolError(.malformedRequestLine, "the request target has white space: \(Quotation.of(line))")
        }
        if target.isEmpty { throw HTTPProtocolError(.malformedRequestLine, "the request target is empty") }
        return StartLine(method: method, target: Grammar.string(target), version: version)
    }

    private static func version(_ text: Span<UInt8>) throws(HTTPProtocolError) -> HTTPVersion {
        guard let version = HTTPVersion(text) else {
            throw HTTPProtocolError(
                .malformedRequestLine,
                "the request line ends in \(Quotation.of(text)), not in HTTP/1.1"
            )
        }
        guard version.major == 1 else {
            throw HTTPProtocolError(
                .unsupportedVersion,
                "the request is in \(version); HTTP/1.1 is what is understood here"
            )
        }
        return version
    }

    static func head(_ start: StartLine, _ headers: HTTPFields) throws(HTTPProtocolError) -> RequestHead {
        try RequestHead(method: start.method, target: start.target, version: start.version, headers: headers)
    }
}

extension Span<UInt8> {
    /// The first place at which the byte stands.
    func firstIndex(of byte: UInt8) -> Int? {
        for index in indices where self[index] == byte { return index }
        return nil
    }

    /// The last place at which the byte stands.
    func lastIndex(of byte: UInt8) -> Int? {
        for index in indices.reversed() where self[index] == byte { return index }
        return nil
    }
}

/// Reads the heads of responses from input that arrives in pieces of any size (RFC 9112 section 4).
///
/// The result is the same wherever the input is cut, errors included. Folded fields are unfolded (RFC 9112 section 5.2).
public struct ResponseHeadParser: Sendable {
    private var parser: HeadParser<ResponseGrammar>

    /// Makes a parser within these limits.
    ///
    /// - Parameter limits: Of these, `headSize` and `headFields` count; the status line has at most 8 KiB of the
    ///   former. Each line of a folded field counts as a field.
    public init(limits: HTTPLimits = .internet) {
        parser = HeadParser(limits: limits)
    }

    /// Whether a head has begun and isn't complete.
    public var isMidHead: Bool { parser.isMidHead }

    /// Takes input up to the end of a head, and returns the head, or nil if its end hasn't arrived.
    ///
    /// What follows the head stays untouched: a body, the next response, or frames. The parser is then ready for the
    /// next head. After an error it isn't: each further call throws it again.
    ///
    /// - Parameters:
    ///   - input: The piece at hand.
    ///   - position: Where to begin; left after the last byte taken.
    /// - Returns: The head, or nil when more input is needed.
    /// - Throws: ``HTTPProtocolError`` saying what is wrong with the head.
    public mutating func parse(
        _ input: Span<UInt8>,
        from position: inout Int
    ) throws(HTTPProtocolError) -> ResponseHead? {
        try parser.parse(input, from: &position)
    }
}

/// The status line, and the head made from it.
enum ResponseGrammar: HeadGrammar {
    struct StartLine {
        let status: HTTPResponse.Status
        let version: HTTPVersion
    }

    static var skipsEmptyLine: Bool { false }
    // RFC 9112 section 5.2: a user agent unfolds them.
    static var unfoldsFields: Bool { true }
    static var malformedStartLine: HTTPProtocolError.Code { .malformedStatusLine }

    static func overlongStartLine(_ line: [UInt8]) -> HTTPProtocolError.Code { .headTooLarge }

    /// Reads a status line such as `HTTP/1.1 101 Switching Protocols`.
    ///
    /// The reason, and with some servers the space before it, may be missing.
    static func startLine(_ line: Span<UInt8>) throws(HTTPProtocolError) -> StartLine {
        guard line.count >= 12, let version = HTTPVersion(line.extracting(..<8)), line[8] == Grammar.space,
            let code = Grammar.decimal(Grammar.array(line.extracting(9..<12))), (100...599).contains(code),
            line.count == 12 || line[12] == Grammar.space
        else {
            throw HTTPProtocolError(
                .malformedStatusLine,
                "the answer begins with \(Quotation.of(line)), not with HTTP/1.1 and a status"
            )
        }
        guard version.major == 1 else {
            throw HTTPProtocolError(
                .unsupportedVersion,
                "the answer is in \(version); HTTP/1.1 is what is understood here"
            )
        }
        let reason = line.extracting(min(13, line.count)...)
        return StartLine(status: HTTPResponse.Status(code: code, reasonPhrase: latin(reason)), version: version)
    }

    /// The reason, each byte for the character of that number: the one encoding in which every reason can be kept.
    private static func latin(_ bytes: Span<UInt8>) -> String {
        var text = ""
        for index in bytes.indices { text.unicodeScalars.append(Unicode.Scalar(bytes[index])) }
        return text
    }

    static func head(_ start: StartLine, _ headers: HTTPFields) throws(HTTPProtocolError) -> ResponseHead {
        ResponseHead(status: start.status, version: start.version, headers: headers)
    }
}
