// SPDX-License-Identifier: Apache-2.0
// Copyright (c) the Duplex authors

import DuplexWire

/// Reads a document in pieces into a tree: what expat calls on its way, within bounds.
///
/// Comments and processing instructions are left out. A document type ends the reading, so that there are no entities but
/// the five of XML itself, and nothing is ever fetched.
final class XMLReader {
    private let limits: XMLLimits
    private let parser: ExpatParser
    private var length = 0
    private var elementCount = 0
    /// The elements that are open, the outermost first.
    private var open: [XMLElement] = []
    /// The text behind the last tag, which expat gives in pieces.
    private var pending = ""
    private var root: XMLElement?
    private var failure: (code: XMLError.Code, message: String)?

    init(_ limits: XMLLimits = XMLLimits()) {
        self.limits = limits
        parser = ExpatParser()
    }

    /// Takes the next bytes of the document.
    func append(_ bytes: Span<UInt8>) throws(XMLError) {
        length += bytes.count
        if length > limits.bytes { fail(.tooLarge, "The document is longer than \(limits.bytes) bytes.") }
        try run(bytes, isLast: false)
    }

    /// Takes the next bytes of the document.
    func append(_ bytes: [UInt8]) throws(XMLError) {
        try append(bytes.span)
    }

    /// The element that is the document, which has ended.
    func finish() throws(XMLError) -> XMLElement {
        try run([UInt8]().span, isLast: true)
        // expat takes no document without an element.
        return root ?? XMLElement(XMLName("", in: ""))
    }

    /// The whole of a document that is there already.
    static func element(of text: [UInt8], _ limits: XMLLimits = XMLLimits()) throws(XMLError) -> XMLElement {
        let reader = XMLReader(limits)
        try reader.append(text)
        return try reader.finish()
    }

    private func run(_ bytes: Span<UInt8>, isLast: Bool) throws(XMLError) {
        if failure == nil, !parser.parse(bytes, isLast: isLast, for: self), failure == nil {
            failure = (.malformed, "This is no XML: \(parser.fault).")
        }
        if let failure { throw XMLError(code: failure.code, message: failure.message, line: parser.line) }
    }

    private func fail(_ code: XMLError.Code, _ message: String) {
        if failure == nil { failure = (code, message) }
        parser.stop()
    }

    // MARK: What expat calls

    func start(_ name: ExpatParser.Name, _ attributes: [(name: ExpatParser.Name, value: String)]) {
        endText()
        elementCount += 1
        if open.count >= limits.depth { return fail(.tooLarge, "Elements lie more than \(limits.depth) deep.") }
        if elementCount > limits.elements { return fail(.tooLarge, "There are more than \(limits.elements) elements.") }
        if attributes.count > limits.attributes {
            return fail(.tooLarge, "An element has more than \(limits.attributes) attributes.")
        }
        let names = [name] + attributes.map(\.name)
        if names.contains(where: { $0.length > limits.name }) {
            return fail(.tooLarge, "A name is longer than \(limits.name) bytes with its namespace.")
        }
        let all = attributes.map { XMLElement.Attribute($0.name.xml, $0.value, prefix: $0.name.prefix) }
        open.append(XMLElement(name.xml, prefix: name.prefix, attributes: all))
    }

    func end() {
        endText()
        guard let element = open.popLast() else { return }
        if open.isEmpty { root = element } else { open[open.count - 1].children.append(.element(element)) }
    }

    /// A piece of a text, which expat cuts where it likes: at each line, too.
    func text(_ piece: String) {
        if !open.isEmpty { pending += piece }
    }

    private func endText() {
        guard !pending.isEmpty, let last = open.indices.last else { return }
        open[last].children.append(.text(pending))
        pending = ""
    }

    func documentType() {
        fail(.documentType, "A document type isn't taken, nor are entities.")
    }
}

/// Why a document isn't read.
struct XMLError: Error, Sendable, Hashable, CustomStringConvertible {
    enum Code: Sendable, Hashable {
        /// It isn't well-formed XML with namespaces, or of no encoding that is known.
        case malformed
        /// It has a document type, in which entities would be declared.
        case documentType
        /// It is longer, deeper or has more in it than is taken.
        case tooLarge
    }

    let code: Code
    /// A sentence for whoever wrote the document.
    let message: String
    /// The line in which reading ended, counted from 1.
    let line: Int

    var description: String { "line \(line): \(message)" }
}

/// What a document may make the reader hold.
struct XMLLimits: Sendable, Hashable {
    /// The length of the document in bytes.
    var bytes = 1 << 20
    /// How deep elements may lie in one another.
    var depth = 32
    /// The number of elements.
    var elements = 4_096
    /// The number of attributes of one element.
    var attributes = 64
    /// The length of a name with its namespace in bytes: each element holds a copy of it.
    var name = 1_024
}
