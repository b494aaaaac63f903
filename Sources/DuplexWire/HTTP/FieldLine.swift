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
    static func unfold(_ line: Span<UInt8>, into fields: inout HTTPFields) throws(HTTPError) {
        guard !line.isEmpty, Grammar.isBlank(line[0]), let last = fields.indices.last else {
            return fields.append(try field(line))
        }
        let rest = Grammar.string(line.extracting(value(in: line, from: 0)))
        let begun = fields[last].value
        if !rest.isEmpty { fields[last].value = begun.isEmpty ? rest : "\(begun) \(rest)" }
    }

    /// The field that the line spells; control characters have been refused before.
    static func field(_ line: Span<UInt8>) throws(HTTPError) -> HTTPField {
        // RFC 9112 section 5.2: a server refuses folded lines, since not everyone would take them for one.
        if !line.isEmpty, Grammar.isBlank(line[0]) {
            throw HTTPError(.obsoleteLineFolding, "a line of the head begins with white space: \(Quotation.of(line))")
        }
        let nameEnd = try endOfName(line)
        guard let name = HTTPField.Name(Grammar.string(line.extracting(..<nameEnd))) else {
            throw HTTPError(.invalidFieldName, "a line of the head has no field name: \(Quotation.of(line))")
        }
        return HTTPField(name: name, value: Grammar.array(line.extracting(value(in: line, from: nameEnd + 1))))
    }

    /// Where the colon stands, with nothing but a token before it: white space there has hidden fields from some
    /// recipients and not from others (RFC 9112 section 5.1).
    private static func endOfName(_ line: Span<UInt8>) throws(HTTPError) -> Int {
        for index in line.indices where !Grammar.isTokenByte(line[index]) {
            if line[index] == UInt8(ascii: ":"), index > 0 { return index }
            break
        }
        throw HTTPError(.invalidFieldName, "a line of the head doesn't begin with a field name: \(Quotation.of(line))")
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
