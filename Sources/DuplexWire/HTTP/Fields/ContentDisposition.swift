// SPDX-License-Identifier: Apache-2.0
// Copyright (c) the Duplex authors

/// Whether a content is to be shown or kept, and by what name: the field `Content-Disposition` (RFC 6266), as of a part of
/// a form, too (RFC 7578 section 4.2).
package struct ContentDisposition: Sendable, Hashable, CustomStringConvertible {
    /// The kind in lower case: `inline`, `attachment`, or `form-data`.
    package let kind: String
    /// The parameters as they were sent, `filename*` undecoded.
    package let parameters: [FieldParameter]

    /// The most parameters; a field with more is malformed.
    static let parameterBound = 16

    private init(kind: String, parameters: [FieldParameter]) {
        self.kind = kind
        self.parameters = parameters
    }

    /// The content is to be kept, under that name.
    ///
    /// - Parameter filename: Any text; without it the client chooses a name.
    /// - Returns: The value of the field.
    package static func attachment(filename: String? = nil) -> ContentDisposition {
        Self.named("attachment", filename)
    }

    /// The content is to be shown; whoever keeps it does so under that name.
    ///
    /// - Parameter filename: Any text; without it the client chooses a name.
    /// - Returns: The value of the field.
    package static func inline(filename: String? = nil) -> ContentDisposition {
        Self.named("inline", filename)
    }

    private static func named(_ kind: String, _ filename: String?) -> ContentDisposition {
        guard let filename else { return ContentDisposition(kind: kind, parameters: []) }
        let plain = filename.unicodeScalars.map { isPlain($0) ? Character($0) : "_" }
        var parameters = [FieldParameter(name: "filename", value: String(plain))]
        // Clients that know the second one prefer it (RFC 6266 section 4.3).
        if String(plain) != filename {
            parameters.append(FieldParameter(name: "filename*", value: ExtendedText.encode(filename)))
        }
        return ContentDisposition(kind: kind, parameters: parameters)
    }

    /// What every client takes for itself within a quoted string: neither marks nor what some decode.
    private static func isPlain(_ scalar: Unicode.Scalar) -> Bool {
        scalar.isASCII && scalar.value >= 0x20 && scalar.value != 0x7F && !["\"", "\\", "%", "/"].contains(scalar)
    }

    /// Reads the value of a field; nil for one that is malformed or has a parameter twice.
    ///
    /// Within a quoted string a backslash is one where it doesn't stand before a quotation mark or another: browsers send
    /// names of files as they are.
    package init?(field value: String) {
        var scanner = FieldScanner(value)
        scanner.skipBlanks()
        guard let kind = scanner.token() else { return nil }
        var parameters: [FieldParameter] = []
        scanner.skipBlanks()
        while scanner.skip(";") {
            scanner.skipBlanks()
            if scanner.isAtEnd || scanner.isAt(";") { continue }
            guard parameters.count < Self.parameterBound, let parameter = Self.parameter(&scanner),
                !parameters.contains(where: { $0.name == parameter.name })
            else { return nil }
            parameters.append(parameter)
            scanner.skipBlanks()
        }
        guard scanner.isAtEnd else { return nil }
        self.kind = Grammar.lowercased(kind)
        self.parameters = parameters
    }

    private static func parameter(_ scanner: inout FieldScanner) -> FieldParameter? {
        guard let name = scanner.token() else { return nil }
        scanner.skipBlanks()
        guard scanner.skip("=") else { return nil }
        scanner.skipBlanks()
        guard let value = scanner.isAt("\"") ? quotedName(&scanner) : scanner.token() else { return nil }
        return FieldParameter(name: name, value: value)
    }

    private static func quotedName(_ scanner: inout FieldScanner) -> String? {
        guard scanner.skip("\"") else { return nil }
        var text: [UInt8] = []
        while !scanner.isAtEnd {
            if scanner.skip("\"") { return String(decoding: text, as: UTF8.self) }
            if scanner.skip("\\"), !escapes(scanner) {
                text.append(UInt8(ascii: "\\"))
                continue
            }
            if scanner.isAtEnd { return nil }
            text.append(scanner.bytes[scanner.position])
            scanner.position += 1
        }
        return nil
    }

    /// Whether the backslash before escapes what follows: another, or a quotation mark that isn't the last one.
    private static func escapes(_ scanner: FieldScanner) -> Bool {
        if scanner.isAt("\\") { return true }
        var ahead = scanner
        guard ahead.skip("\"") else { return false }
        ahead.skipBlanks()
        return !ahead.isAtEnd && !ahead.isAt(";")
    }

    private subscript(name: String) -> String? {
        parameters.first { $0.name == name }?.value
    }

    /// The name of the field of a form.
    package var name: String? { self["name"] }

    /// The name of the file as the sender calls it: of `filename*`, decoded, where it can be, or else of `filename`.
    ///
    /// It may be a path, and have anything in it: see ``safeFilename``.
    package var filename: String? {
        self["filename*"].flatMap(ExtendedText.decode) ?? self["filename"]
    }

    /// What a file may be called here: what stands after the last slash or backslash, without control characters.
    ///
    /// It is nil for nothing, `.` and `..`. It may begin with a point, and be the name of a file that is there.
    package var safeFilename: String? {
        guard let filename else { return nil }
        let last = filename.unicodeScalars.split(omittingEmptySubsequences: false) { $0 == "/" || $0 == "\\" }.last
        var name = ""
        if let last { name.unicodeScalars += last.filter { $0.properties.generalCategory != .control } }
        return ["", ".", ".."].contains(name) ? nil : name
    }

    /// The field's value.
    package var description: String {
        parameters.reduce(into: kind) { text, parameter in
            text += "; \(parameter.name)="
            let isPlain = parameter.name.hasSuffix("*") && parameter.value.utf8.allSatisfy(Self.isExtendedByte)
            text += isPlain ? parameter.value : QuotedText.of(parameter.value)
        }
    }

    /// RFC 8187 section 3.2.1.
    private static func isExtendedByte(_ byte: UInt8) -> Bool {
        Grammar.isTokenByte(byte) || byte == UInt8(ascii: "%") || byte == UInt8(ascii: "'")
    }
}
