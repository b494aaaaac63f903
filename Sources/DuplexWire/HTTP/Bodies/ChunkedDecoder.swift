// SPDX-License-Identifier: Apache-2.0
// Copyright (c) the Duplex authors

import HTTPTypes

/// Takes the chunked coding off a body (RFC 9112 section 7.1).
///
/// Sizes are hexadecimal digits and nothing else, and every line ends in CR LF: lenience here is how one recipient's
/// body becomes another's request. Extensions are read past, within bounds, and dropped.
struct ChunkedDecoder: Sendable {
    private enum State {
        case size
        case data(rest: Int)
        case dataEnd
        case trailers
    }

    /// The longest line with a chunk's size and extensions; all that is known to be sent is far shorter.
    private static let sizeLineBound = 1_024

    private var state = State.size
    private var lines = LineReader()
    private var received = 0
    private var trailers: TrailerSection
    /// What is left of the bytes for extensions and trailers: without a bound on their sum, tiny chunks with long
    /// extensions would have the peer's bytes read forever for a body that hardly grows.
    private var overhead: Int
    private let bodyBound: Int

    init(limits: HTTPLimits, unfoldsTrailers: Bool) {
        overhead = limits.headSize.bytes
        bodyBound = limits.bodySize.bytes
        trailers = TrailerSection(limits: limits, unfolds: unfoldsTrailers)
    }

    /// Takes input up to the end of the next piece, and returns the piece, or nil if the input has no more of the body.
    mutating func next(_ input: Span<UInt8>, from position: inout Int) throws(HTTPProtocolError) -> BodyPiece? {
        while position < input.count {
            if case .data(let rest) = state { return takeData(input, from: &position, rest: rest) }
            guard let line = try nextLine(input, from: &position) else { return nil }
            let isLast =
                switch line {
                case .inInput(let range): try take(input.extracting(range))
                case .assembled(let bytes): try take(bytes.span)
                }
            if isLast { return .end(trailers: trailers.headers) }
        }
        return nil
    }

    private mutating func takeData(_ input: Span<UInt8>, from position: inout Int, rest: Int) -> BodyPiece {
        let range = input.range(upTo: rest, from: &position)
        state = range.count == rest ? .dataEnd : .data(rest: rest - range.count)
        return .data(range)
    }

    private var lineBound: Int {
        switch state {
        case .size: Self.sizeLineBound
        // Nothing stands between the data and its line end.
        case .data, .dataEnd: 2
        case .trailers: overhead
        }
    }

    private mutating func nextLine(
        _ input: Span<UInt8>,
        from position: inout Int
    ) throws(HTTPProtocolError) -> LineReader.Line? {
        do throws(LineReader.Fault) {
            return try lines.read(input, from: &position, atMost: lineBound)
        } catch {
            throw describe(error)
        }
    }

    private func describe(_ fault: LineReader.Fault) -> HTTPProtocolError {
        switch (state, fault) {
        case (.trailers, .tooLong): HTTPProtocolError(.headTooLarge, "the trailers are too long")
        case (_, .tooLong):
            HTTPProtocolError(.malformedChunk, "a chunk has too long a size line, or more data than its size")
        case (_, .bareLineBreak):
            HTTPProtocolError(.malformedChunk, "a carriage return or line feed stands alone between chunks")
        case (_, .control(let byte)):
            HTTPProtocolError(.malformedChunk, "the control \(Quotation.of(byte)) stands between chunks")
        }
    }

    /// Acts on a complete line, and says whether it was the body's last.
    private mutating func take(_ line: Span<UInt8>) throws(HTTPProtocolError) -> Bool {
        switch state {
        case .size:
            try takeSize(line)
        case .data, .dataEnd:
            guard line.isEmpty else {
                throw HTTPProtocolError(.malformedChunk, "a chunk has more data than its size")
            }
            state = .size
        case .trailers:
            if line.isEmpty { return true }
            try trailers.append(line)
            try spend(line.count + 2)
        }
        return false
    }

    private mutating func takeSize(_ line: Span<UInt8>) throws(HTTPProtocolError) {
        let (size, digits) = try Self.size(line)
        try spend(line.count - digits)
        guard size <= bodyBound - received else { throw .bodyTooLarge(bodyBound) }
        received += size
        state = size == 0 ? .trailers : .data(rest: size)
    }

    /// The size that the line gives in hexadecimal digits, and how many digits they are.
    private static func size(_ line: Span<UInt8>) throws(HTTPProtocolError) -> (size: Int, digits: Int) {
        var size = 0
        var digits = 0
        // Fifteen digits, leading zeroes counted, can't overflow 63 bits (RFC 9112 section 7.1 warns of just that).
        while digits < min(line.count, 15), let digit = Base16.value(of: line[digits]) {
            size = size << 4 | Int(digit)
            digits += 1
        }
        guard digits > 0, isExtension(line.extracting(digits...)) else {
            throw HTTPProtocolError(
                .malformedChunk,
                "a chunk's size is \(Quotation.of(line)), not a hexadecimal number"
            )
        }
        return (size, digits)
    }

    /// Whether that is nothing, or extensions.
    ///
    /// White space before the semicolon is to be taken though nobody should send it (RFC 9112 section 7.1.1); white
    /// space with nothing behind it isn't in the grammar.
    private static func isExtension(_ rest: Span<UInt8>) -> Bool {
        var index = 0
        while index < rest.count, Grammar.isBlank(rest[index]) { index += 1 }
        return rest.isEmpty || (index < rest.count && rest[index] == UInt8(ascii: ";"))
    }

    private mutating func spend(_ count: Int) throws(HTTPProtocolError) {
        overhead -= count
        if overhead < 2 {
            throw HTTPProtocolError(.headTooLarge, "the body's chunk extensions and trailers are too long")
        }
    }
}

/// The fields behind the last chunk of a body (RFC 9112 section 7.1.2), bounded in their number.
///
/// A field that decides how a message is framed, routed, authenticated or understood comes too late in a trailer:
/// whoever took it up there would read another message than those who acted on the head. It is judged like the others
/// and then dropped (RFC 9110 section 6.5.1).
private struct TrailerSection: Sendable {
    private(set) var headers = HTTPFields()
    private var count = 0
    private let bound: Int
    private let unfolds: Bool
    /// Whether the last field was dropped, and what is folded with it.
    private var isDropping = false

    init(limits: HTTPLimits, unfolds: Bool) {
        self.unfolds = unfolds
        // The collection of fields itself has room for fewer than 65,535.
        bound = min(limits.headFields, 65_000)
    }

    /// Takes a line of the section.
    mutating func append(_ line: Span<UInt8>) throws(HTTPProtocolError) {
        count += 1
        if count > bound { throw HTTPProtocolError(.tooManyFields, "more than \(bound) trailers follow") }
        if unfolds, !line.isEmpty, Grammar.isBlank(line[0]), isDropping || !headers.isEmpty {
            if !isDropping { try FieldLine.unfold(line, into: &headers) }
            return
        }
        let field = try FieldLine.field(line)
        isDropping = !Self.isAllowed(field.name)
        if !isDropping { headers.append(field) }
    }

    /// Whether a field of that name may follow a body.
    static func isAllowed(_ name: HTTPField.Name) -> Bool {
        let name = name.canonicalName
        return !headOnly.contains(name) && !name.hasPrefix("if-") && !name.hasPrefix("sec-")
    }

    /// The fields of framing and of the connection, then of routing, requests, credentials and the content's form.
    private static let headOnly: Set<String> = [
        "content-length", "transfer-encoding", "trailer", "te", "connection", "keep-alive", "proxy-connection",
        "upgrade", "host", "forwarded", "x-forwarded-for", "x-forwarded-host", "x-forwarded-proto", "max-forwards",
        "expect", "cache-control", "pragma", "range", "age", "date", "expires", "location", "retry-after", "vary",
        "warning", "authorization", "www-authenticate", "proxy-authorization", "proxy-authenticate", "cookie",
        "set-cookie", "origin", "content-encoding", "content-type", "content-range",
    ]
}
