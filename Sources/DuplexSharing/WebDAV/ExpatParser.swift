// SPDX-License-Identifier: Apache-2.0
// Copyright (c) the Duplex authors

import CDuplexExpat
import DuplexWire

// The one file of this module that says `unsafe` for expat: it calls functions with strings that it lends for the length of
// a call, and with the reader as a pointer, which is held by whoever calls `parse` until it returns.

/// expat's parser, with names in namespaces.
@safe final class ExpatParser {
    /// A name as expat has it.
    struct Name {
        let xml: XMLName
        let prefix: String
        /// The bytes of all of it.
        let length: Int

        /// Reads namespace, name and prefix; without a namespace there is the name alone (expat.h,
        /// XML_SetReturnNSTriplet).
        init(_ text: String) {
            let parts = text.utf8.split(separator: ExpatParser.separator, omittingEmptySubsequences: false)
                .map { String(Substring($0)) }
            xml = parts.count > 1 ? XMLName(parts[1], in: parts[0]) : XMLName(text, in: "")
            prefix = parts.count > 2 ? parts[2] : ""
            length = text.utf8.count
        }
    }

    /// Stands between the parts of a name: no character that XML has.
    private static let separator: UInt8 = 1

    private let parser: XML_Parser?

    init() {
        unsafe parser = XML_ParserCreateNS(nil, XML_Char(Self.separator))
        unsafe XML_SetReturnNSTriplet(parser, 1)
        unsafe XML_SetElementHandler(
            parser,
            { reader, name, attributes in
                unsafe ExpatParser.reader(reader)?.start(ExpatParser.name(name), ExpatParser.list(attributes))
            },
            { reader, _ in unsafe ExpatParser.reader(reader)?.end() }
        )
        unsafe XML_SetCharacterDataHandler(parser) { reader, text, length in
            let bytes = unsafe UnsafeRawBufferPointer(start: text, count: Int(length))
            unsafe ExpatParser.reader(reader)?.text(String(decoding: bytes, as: UTF8.self))
        }
        unsafe XML_SetStartDoctypeDeclHandler(parser) { reader, _, _, _, _ in
            unsafe ExpatParser.reader(reader)?.documentType()
        }
    }

    deinit {
        unsafe XML_ParserFree(parser)
    }

    /// Has expat take bytes, and call the reader; false when it found a fault, or was stopped.
    func parse(_ bytes: Span<UInt8>, isLast: Bool, for reader: XMLReader) -> Bool {
        // Without memory for it there is no parser.
        guard unsafe parser != nil else { return false }
        unsafe XML_SetUserData(parser, Unmanaged.passUnretained(reader).toOpaque())
        defer { unsafe XML_SetUserData(parser, nil) }
        return unsafe bytes.withUnsafeBytes { source in
            let start = unsafe source.baseAddress?.assumingMemoryBound(to: XML_Char.self)
            return unsafe XML_Parse(parser, start, Int32(clamping: source.count), isLast ? 1 : 0) == XML_STATUS_OK
        }
    }

    /// Ends what is being parsed, from within a call of it.
    func stop() {
        unsafe cduplex_expat_stop(parser)
    }

    /// The line at which it stands.
    var line: Int { unsafe parser == nil ? 0 : Int(clamping: XML_GetCurrentLineNumber(parser)) }

    /// What it found wrong, in expat's words.
    var fault: String {
        guard unsafe parser != nil, let words = unsafe XML_ErrorString(XML_GetErrorCode(parser)) else {
            return "out of memory"
        }
        return unsafe String(cString: words)
    }

    private static func reader(_ data: UnsafeMutableRawPointer?) -> XMLReader? {
        unsafe data.map { unsafe Unmanaged<XMLReader>.fromOpaque($0).takeUnretainedValue() }
    }

    private static func name(_ text: UnsafePointer<XML_Char>?) -> Name {
        Name(unsafe text.map { unsafe String(cString: $0) } ?? "")
    }

    /// Names and values in turn, with a null pointer behind them.
    private static func list(
        _ attributes: UnsafeMutablePointer<UnsafePointer<XML_Char>?>?
    ) -> [(name: Name, value: String)] {
        var list: [(name: Name, value: String)] = []
        guard let attributes = unsafe attributes else { return list }
        var index = 0
        while let key = unsafe attributes[index], let value = unsafe attributes[index + 1] {
            unsafe list.append((name(key), String(cString: value)))
            index += 2
        }
        return list
    }
}
