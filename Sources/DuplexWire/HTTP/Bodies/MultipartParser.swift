// SPDX-License-Identifier: Apache-2.0
// Copyright (c) the Duplex authors

package import HTTPTypes

/// Takes a body of several parts apart, in input that arrives in pieces of any size: `multipart/form-data` (RFC 7578) and
/// its relatives (RFC 2046 section 5.1).
///
/// It keeps the head of the part that begins, and nothing of its content: what might be the beginning of a delimiter is
/// known by its length.
package struct MultipartParser: Sendable {
    private enum State {
        /// In front of the first part, where mail programs once wrote to those that knew no parts.
        case preamble
        /// After a delimiter, so many bytes of `--` having come; blanks may follow, then the line ends.
        case delimited(dashes: Int, hasBlanks: Bool, hasReturn: Bool)
        case head
        case content
        /// The content has ended, and the event of it hasn't been given.
        case ending
        /// After the last part, where nothing counts any more.
        case epilogue
        case failed(HTTPProtocolError)
    }

    private let delimiter: [UInt8]
    private let limits: MultipartLimits
    private var state = State.preamble
    /// How many bytes of a delimiter the last bytes are.
    ///
    /// The body begins as behind a line end.
    private var matched = 2
    /// How many of those aren't the part's: its head's own line end.
    private var foreign = 2
    private var lines = LineReader()
    private var headers = HTTPFields()
    private var fieldLines = 0
    private var headLength = 0
    private var partCount = 0
    private var partLength = 0
    private var length = 0

    /// Makes a parser.
    ///
    /// - Parameters:
    ///   - type: The media type of the body, with its parameter `boundary`.
    ///   - limits: What the parts may be.
    /// - Throws: ``HTTPProtocolError`` with 415 if the type isn't a `multipart`, with 400 if it has no boundary, or one that is
    ///   none (RFC 2046 section 5.1.1).
    package init(_ type: MediaType, limits: MultipartLimits = MultipartLimits()) throws(HTTPProtocolError) {
        guard type.matches("multipart/*") else {
            throw HTTPProtocolError(
                .unsupportedMediaType,
                "the body is no form in parts, but \(Quotation.of(type.rawValue))"
            )
        }
        guard let boundary = type[parameter: "boundary"], Self.isBoundary(boundary) else {
            throw HTTPProtocolError(.malformedMultipart, "the media type of the body names no boundary of its parts")
        }
        delimiter = Array("\r\n--\(boundary)".utf8)
        self.limits = limits
    }

    private static func isBoundary(_ text: String) -> Bool {
        (1...70).contains(text.utf8.count) && text.utf8.last != Grammar.space
            && text.utf8.allSatisfy { byte in
                Grammar.isLetter(byte) || Grammar.isDigit(byte) || "'()+_,-./:=? ".utf8.contains(byte)
                    || Grammar.isTokenByte(byte)
            }
    }

    /// Takes input up to the next event, and returns it.
    ///
    /// Call it until it returns nil, then again with the next input. An error comes again at each further call.
    ///
    /// - Parameters:
    ///   - input: The piece of the body at hand; may be empty.
    ///   - position: Where to begin; left after the last byte taken.
    /// - Returns: What comes next, or nil when the input has no more.
    /// - Throws: ``HTTPProtocolError`` with 400 for what isn't parts, with 413 beyond the limits.
    package mutating func next(
        _ input: Span<UInt8>,
        from position: inout Int
    ) throws(HTTPProtocolError) -> MultipartEvent? {
        do throws(HTTPProtocolError) {
            while position < input.count || isEnding {
                if let event = try advance(input, from: &position) { return event }
            }
            return nil
        } catch {
            state = .failed(error)
            throw error
        }
    }

    /// Takes note that the body has ended.
    ///
    /// - Throws: ``HTTPProtocolError`` if the last part hasn't.
    package func finish() throws(HTTPProtocolError) {
        switch state {
        case .epilogue: return
        case .failed(let error): throw error
        default: throw HTTPProtocolError(.malformedMultipart, "the body ended before its last part did")
        }
    }

    private var isEnding: Bool {
        switch state {
        case .ending, .failed: true
        default: false
        }
    }

    private mutating func advance(
        _ input: Span<UInt8>,
        from position: inout Int
    ) throws(HTTPProtocolError) -> MultipartEvent? {
        switch state {
        case .preamble: try skipPreamble(input, from: &position)
        case .delimited(let dashes, let hasBlanks, let hasReturn):
            try endDelimiter(input[position], dashes, hasBlanks, hasReturn)
            position += 1
        case .head: return try readHead(input, from: &position)
        case .content: return try readContent(input, from: &position)
        case .ending:
            state = .delimited(dashes: 0, hasBlanks: false, hasReturn: false)
            return .end
        case .epilogue: position = input.count
        case .failed(let error): throw error
        }
        return nil
    }

    // MARK: Delimiters

    private mutating func skipPreamble(_ input: Span<UInt8>, from position: inout Int) throws(HTTPProtocolError) {
        let start = position
        var nobodys: [UInt8]?
        let isOver = take(input, from: &position, into: &nobodys)
        length += position - start
        if length > limits.headSize.bytes { throw malformed("nothing in the body is a part") }
        if isOver {
            length = 0
            state = .delimited(dashes: 0, hasBlanks: false, hasReturn: false)
        }
    }

    /// Takes the bytes behind a delimiter: two dashes behind the last part, then blanks, then the end of the line.
    private mutating func endDelimiter(
        _ byte: UInt8,
        _ dashes: Int,
        _ hasBlanks: Bool,
        _ hasReturn: Bool
    ) throws(HTTPProtocolError) {
        switch byte {
        case UInt8(ascii: "-") where !hasBlanks && !hasReturn:
            state = dashes == 0 ? .delimited(dashes: 1, hasBlanks: false, hasReturn: false) : .epilogue
        case _ where Grammar.isBlank(byte) && dashes == 0 && !hasReturn:
            state = .delimited(dashes: 0, hasBlanks: true, hasReturn: false)
        case Grammar.carriageReturn where dashes == 0 && !hasReturn:
            state = .delimited(dashes: 0, hasBlanks: true, hasReturn: true)
        case Grammar.lineFeed where hasReturn: try beginHead()
        default: throw malformed("a boundary has the \(Quotation.of(byte)) behind it")
        }
    }

    /// Takes bytes up to the end of the next delimiter, or all.
    ///
    /// - Parameters:
    ///   - input: The piece at hand.
    ///   - position: Where to begin; left after the last byte taken.
    ///   - content: What those that belong to no delimiter are appended to; nil where nobody wants them.
    /// - Returns: Whether a delimiter has ended.
    private mutating func take(_ input: Span<UInt8>, from position: inout Int, into content: inout [UInt8]?) -> Bool {
        while position < input.count {
            if matched == 0 {
                let start = position
                position = input.raw.firstOffset(of: Grammar.carriageReturn, from: start) ?? input.count
                content?.append(input.extracting(start..<position).raw)
                if position == input.count { return false }
            }
            guard input[position] == delimiter[matched] else {
                // Only the first byte of a delimiter can begin another one.
                content?.append(delimiter.span.extracting(foreign..<max(foreign, matched)).raw)
                (matched, foreign) = (0, 0)
                continue
            }
            matched += 1
            position += 1
            if matched == delimiter.count {
                (matched, foreign) = (0, 0)
                return true
            }
        }
        return false
    }

    // MARK: Parts

    private mutating func beginHead() throws(HTTPProtocolError) {
        partCount += 1
        if partCount > limits.partCount { throw tooLarge("the form has more than \(limits.partCount) parts") }
        (headers, fieldLines, headLength, partLength) = ([:], 0, 0, 0)
        state = .head
    }

    private mutating func readHead(
        _ input: Span<UInt8>,
        from position: inout Int
    ) throws(HTTPProtocolError) -> MultipartEvent? {
        let line: LineReader.Line?
        do throws(LineReader.Fault) {
            line = try lines.read(input, from: &position, atMost: limits.headSize.bytes - headLength)
        } catch {
            throw describe(error)
        }
        guard let line else { return nil }
        headLength += line.count + 2
        if line.count == 0 {
            // A part without content may end with the line that its head ends with.
            (matched, foreign) = (2, 2)
            state = .content
            return .begin(MultipartHead(headers))
        }
        if fieldLines >= limits.headFields {
            throw tooLarge("the head of a part has more than \(limits.headFields) fields")
        }
        fieldLines += 1
        switch line {
        case .inInput(let range): try FieldLine.unfold(input.extracting(range), into: &headers)
        case .assembled(let bytes): try FieldLine.unfold(bytes.span, into: &headers)
        }
        return nil
    }

    private mutating func readContent(
        _ input: Span<UInt8>,
        from position: inout Int
    ) throws(HTTPProtocolError) -> MultipartEvent? {
        var content: [UInt8]? = []
        let isOver = take(input, from: &position, into: &content)
        let piece = content ?? []
        partLength += piece.count
        length += piece.count
        if partLength > limits.partSize.bytes { throw tooLarge("a part is longer than \(limits.partSize)") }
        if length > limits.totalSize.bytes { throw tooLarge("all parts are longer than \(limits.totalSize)") }
        if isOver { state = .ending }
        return piece.isEmpty ? nil : .piece(piece)
    }

    // MARK: Errors

    private func malformed(_ message: String) -> HTTPProtocolError { HTTPProtocolError(.malformedMultipart, message) }

    private func tooLarge(_ message: String) -> HTTPProtocolError { HTTPProtocolError(.bodyTooLarge, message) }

    private func describe(_ fault: LineReader.Fault) -> HTTPProtocolError {
        switch fault {
        case .bareLineBreak: malformed("a carriage return or line feed stands alone in the head of a part")
        case .control(let byte): malformed("the head of a part has the control \(Quotation.of(byte))")
        case .tooLong: tooLarge("the head of a part is longer than \(limits.headSize)")
        }
    }
}

/// The head of one part of a form (RFC 7578 section 4).
package struct MultipartHead: Sendable, Hashable {
    /// The fields of the part.
    package let headers: HTTPFields
    /// What the part is; nil where it doesn't say so rightly.
    package let disposition: ContentDisposition?

    init(_ headers: HTTPFields) {
        self.headers = headers
        disposition = headers[.contentDisposition].flatMap(ContentDisposition.init(field:))
    }

    /// The name of the form's field; empty where the part names none.
    package var name: String { disposition?.name ?? "" }
    /// The name of the file as the sender calls it; nil for what is no file.
    ///
    /// It may have anything in it: see
    /// ``ContentDisposition/safeFilename``.
    package var filename: String? { disposition?.filename }
    /// The media type; plain text where the part names none (RFC 7578 section 4.4).
    package var mediaType: MediaType { MediaType(rawValue: headers[.contentType] ?? "text/plain") }
}

/// The next thing that a body of several parts has.
package enum MultipartEvent: Sendable, Hashable {
    /// A part begins.
    case begin(MultipartHead)
    /// Some bytes of the part, at least one.
    case piece([UInt8])
    /// The part has ended.
    case end
}

/// What the parts of a form may make this side hold or take.
public struct MultipartLimits: Sendable, Hashable {
    /// The most parts.
    ///
    /// Default: 1,000.
    package var partCount: Int
    /// The longest part.
    ///
    /// Default: as long as the body may be.
    package var partSize: ByteCount
    /// The longest sum of all parts.
    ///
    /// Default: as long as the body may be.
    package var totalSize: ByteCount
    /// The longest head of a part, with its line ends.
    ///
    /// Default: 8 KiB.
    package var headSize: ByteCount
    /// The most fields in the head of a part.
    ///
    /// Default: 32.
    package var headFields: Int

    /// Makes limits.
    public init(
        partCount: Int = 1_000,
        partSize: ByteCount = .unlimited,
        totalSize: ByteCount = .unlimited,
        headSize: ByteCount = .kibibytes(8),
        headFields: Int = 32
    ) {
        self.partCount = partCount
        self.partSize = partSize
        self.totalSize = totalSize
        self.headSize = headSize
        self.headFields = headFields
    }
}
