// SPDX-License-Identifier: Apache-2.0
// Copyright (c) the Duplex authors

import HTTPTypes

/// Takes the chunked coding off a body (RFC 9112 section 7.1).
///
/// Sizes are hexadecimal digits and nothing else, and every line ends in CR LF: lenience here is how one recipient's
/// body becomes another's request. Extensions and trailers are read past, within bounds, and dropped.
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
    private var trailerCount = 0
    /// What is left of the bytes for extensions and trailers: without a bound on their sum, tiny chunks with long
    /// extensions would have the peer's bytes read forever for a body that hardly grows.
    private var overhead: Int
    private let bodyBound: Int
    private let trailerBound: Int

    init(limits: Limits) {
        overhead = limits.headSize.bytes
        bodyBound = limits.bodySize.bytes
        trailerBound = limits.headFields
    }

    /// Takes input up to the end of the body, and says whether it has been reached.
    mutating func decode(
        _ input: Span<UInt8>,
        from position: inout Int,
        into body: inout [UInt8]
    ) throws(HTTPError) -> Bool {
        while position < input.count {
            if case .data(let rest) = state {
                let count = input.copy(upTo: rest, from: &position, to: &body)
                state = count == rest ? .dataEnd : .data(rest: rest - count)
                continue
            }
            guard let line = try nextLine(input, from: &position) else { return false }
            switch line {
            case .inInput(let range): if try take(input.extracting(range)) { return true }
            case .assembled(let bytes): if try take(bytes.span) { return true }
            }
        }
        return false
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
    ) throws(HTTPError) -> LineReader.Line? {
        do throws(LineReader.Fault) {
            return try lines.read(input, from: &position, atMost: lineBound)
        } catch {
            throw describe(error)
        }
    }

    private func describe(_ fault: LineReader.Fault) -> HTTPError {
        switch (state, fault) {
        case (.trailers, .tooLong): HTTPError(.headTooLarge, "the trailers are too long")
        case (_, .tooLong): HTTPError(.malformedChunk, "a chunk has too long a size line, or more data than its size")
        case (_, .bareLineBreak):
            HTTPError(.malformedChunk, "a carriage return or line feed stands alone between chunks")
        case (_, .control(let byte)):
            HTTPError(.malformedChunk, "the control \(Quotation.of(byte)) stands between chunks")
        }
    }

    /// Acts on a complete line, and says whether it was the body's last.
    private mutating func take(_ line: Span<UInt8>) throws(HTTPError) -> Bool {
        switch state {
        case .size:
            try takeSize(line)
        case .data, .dataEnd:
            guard line.isEmpty else {
                throw HTTPError(.malformedChunk, "a chunk has more data than its size")
            }
            state = .size
        case .trailers:
            if line.isEmpty { return true }
            try takeTrailer(line)
        }
        return false
    }

    private mutating func takeSize(_ line: Span<UInt8>) throws(HTTPError) {
        let size = try Self.size(line)
        let extensionSize = line.count - (line.firstIndex(of: UInt8(ascii: ";")) ?? line.count)
        try spend(extensionSize)
        guard size <= bodyBound - received else { throw .bodyTooLarge(bodyBound) }
        received += size
        state = size == 0 ? .trailers : .data(rest: size)
    }

    /// The size that the line gives in hexadecimal digits, up to its end or to the semicolon before extensions.
    private static func size(_ line: Span<UInt8>) throws(HTTPError) -> Int {
        var size = 0
        var digits = 0
        for index in line.indices {
            if line[index] == UInt8(ascii: ";"), digits > 0 { break }
            // Fifteen digits, leading zeroes counted, can't overflow 63 bits (RFC 9112 section 7.1 warns of just that).
            guard let digit = Grammar.hexadecimalValue(line[index]), digits < 15 else {
                digits = 0
                break
            }
            size = size << 4 | Int(digit)
            digits += 1
        }
        guard digits > 0 else {
            throw HTTPError(.malformedChunk, "a chunk's size is \(Quotation.of(line)), not a hexadecimal number")
        }
        return size
    }

    private mutating func takeTrailer(_ line: Span<UInt8>) throws(HTTPError) {
        trailerCount += 1
        if trailerCount > trailerBound { throw HTTPError(.tooManyFields, "more than \(trailerBound) trailers follow") }
        _ = try FieldLine.field(line)
        try spend(line.count + 2)
    }

    private mutating func spend(_ count: Int) throws(HTTPError) {
        overhead -= count
        if overhead < 2 { throw HTTPError(.headTooLarge, "the body's chunk extensions and trailers are too long") }
    }
}
