// SPDX-License-Identifier: Apache-2.0
// Copyright (c) the Duplex authors

import HTTPTypes

/// `name: value`, one line of a head (RFC 9112 section 5).
enum FieldLine {
    /// Appends the field that the line spells, or adds a folded line to the last field, with a space between them.
    ///
    /// User agents unfold responses (RFC 9112 section 5.2), and readers of forms the heads of parts (RFC 5322 section
    /// 2.2.3). A folded line before all fields is refused.
    ///
    /// Hazard: bound the number of lines, and not of fields: each line copies the value.
    static func unfold(_ line: Span<UInt8>, into headers: inout HTTPFields) throws(HTTPProtocolError) {
        guard !line.isEmpty, Grammar.isBlank(line[0]), let last = headers.indices.last else {
            return headers.append(try field(line))
        }
        let rest = Grammar.string(line.extracting(value(in: line, from: 0)))
        let begun = headers[last].value
        if !rest.isEmpty { headers[last].value = begun.isEmpty ? rest : "\(begun) \(rest)" }
    }

    /// The field that the line spells; control characters have been refused before.
    static func field(_ line: Span<UInt8>) throws(HTTPProtocolError) -> HTTPField {
        // RFC 9112 section 5.2: a server refuses folded lines, since not everyone would take them for one.
        if !line.isEmpty, Grammar.isBlank(line[0]) {
            throw HTTPProtocolError(
                .obsoleteLineFolding,
                "a line of the head begins with white space: \(Quotation.of(line))"
            )
        }
        let nameEnd = try endOfName(line)
        guard let name = HTTPField.Name(Grammar.string(line.extracting(..<nameEnd))) else {
            throw HTTPProtocolError(.invalidFieldName, "a line of the head has no field name: \(Quotation.of(line))")
        }
        return HTTPField(name: name, value: Grammar.array(line.extracting(value(in: line, from: nameEnd + 1))))
    }

    /// Where the colon stands, with nothing but a token before it: white space there has hidden fields from some
    /// recipients and not from others (RFC 9112 section 5.1).
    private static func endOfName(_ line: Span<UInt8>) throws(HTTPProtocolError) -> Int {
        for index in line.indices where !Grammar.isTokenByte(line[index]) {
            if line[index] == UInt8(ascii: ":"), index > 0 { return index }
            break
        }
        throw HTTPProtocolError(
            .invalidFieldName,
            "a line of the head doesn't begin with a field name: \(Quotation.of(line))"
        )
    }

    /// Where the value stands, without the white space around it.
    private static func value(in line: Span<UInt8>, from begin: Int) -> Range<Int> {
        var start = begin
        var end = line.count
        while start < end, Grammar.isBlank(line[start]) { start += 1 }
        while end > start, Grammar.isBlank(line[end - 1]) { end -= 1 }
        return start..<end
    }
}

/// Finds lines that end in CR LF, in input that arrives in pieces of any size.
///
/// Every byte is judged as it passes: a fault is found at the same byte however the input was cut. Between calls the
/// reader owns the unfinished line and nothing else; a line that lies whole in one piece isn't copied.
struct LineReader: Sendable {
    /// A line without its line end.
    enum Line {
        /// The line's place in the input that was handed in.
        case inInput(Range<Int>)
        /// The line, put together from several pieces.
        case assembled([UInt8])
    }

    /// What a line can't have.
    enum Fault: Error {
        case bareLineBreak
        case control(UInt8)
        case tooLong
    }

    /// What is kept of the current line; of one that is too long all that was taken.
    private(set) var assembled: [UInt8] = []
    private var endsInReturn = false
    /// The bytes of the current line that have passed, its line end included.
    private(set) var length = 0

    /// Whether a byte of the current line's text has passed.
    var hasText: Bool { length > (endsInReturn ? 1 : 0) }

    /// Takes input up to the end of the line, and returns the line, or nil if its end hasn't arrived.
    ///
    /// - Parameters:
    ///   - input: The piece at hand.
    ///   - position: Where to begin; left after the last byte taken, which is the offending one on a fault.
    ///   - bound: The most bytes that the line may have, its line end included.
    /// - Returns: The line without its line end, or nil when more input is needed.
    /// - Throws: What the line has that no line may have.
    mutating func read(
        _ input: Span<UInt8>,
        from position: inout Int,
        atMost bound: Int
    ) throws(Fault) -> Line? {
        let start = position
        while position < input.count {
            let byte = input[position]
            position += 1
            length += 1
            if length > bound {
                keep(input, from: start, to: position)
                throw .tooLong
            }
            if try isEnd(byte) { return finish(input, from: start, to: position) }
        }
        keep(input, from: start, to: position - (endsInReturn ? 1 : 0))
        return nil
    }

    /// Whether the byte ends the line.
    ///
    /// A CR or an LF alone never does, since those who read on at one of them see other
    /// lines than those who don't (RFC 9112 sections 2.2 and 11.1).
    private mutating func isEnd(_ byte: UInt8) throws(Fault) -> Bool {
        if endsInReturn {
            guard byte == Grammar.lineFeed else { throw .bareLineBreak }
            return true
        }
        if byte == Grammar.carriageReturn {
            endsInReturn = true
        } else if byte == Grammar.lineFeed {
            throw .bareLineBreak
        } else if Grammar.isControl(byte) {
            throw .control(byte)
        }
        return false
    }

    private mutating func finish(_ input: Span<UInt8>, from start: Int, to end: Int) -> Line {
        defer { self = LineReader() }
        let textEnd = max(start, end - 2)
        if assembled.isEmpty { return .inInput(start..<textEnd) }
        keep(input, from: start, to: textEnd)
        return .assembled(assembled)
    }

    private mutating func keep(_ input: Span<UInt8>, from start: Int, to end: Int) {
        if start < end { Grammar.append(input.extracting(start..<end), to: &assembled) }
    }
}
