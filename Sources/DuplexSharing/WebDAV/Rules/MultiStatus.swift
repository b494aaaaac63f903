// SPDX-License-Identifier: Apache-2.0
// Copyright (c) the Duplex authors

import HTTPTypes

/// Writes the body of an answer that concerns several resources (RFC 4918 section 13), piece by piece.
///
/// The properties that a request names are written once, and their namespaces are declared once, at the beginning: a name of
/// some bytes, which escaping makes six times as long, isn't multiplied by the number of resources.
struct MultiStatus: Sendable {
    /// A property in an answer.
    enum Property: Sendable, Hashable {
        /// With its value.
        case value(XMLElement)
        /// One of those that the request names, without a value: its place among them.
        case name(Int)
    }

    private static let scope = [(prefix: "D", namespace: XMLName.davNamespace)]

    /// What stands at the beginning of every document.
    static let declaration = "<?xml version=\"1.0\" encoding=\"utf-8\"?>\n"
    /// The end.
    static let end = "</D:multistatus>\n"

    /// The beginning.
    let start: String
    /// The empty elements of the properties that are named.
    private let tags: [String]

    /// Begins an answer.
    ///
    /// - Parameter names: the properties that the request names.
    init(naming names: [XMLName] = []) {
        // Namespaces as names without a local part, which are compared byte by byte.
        var prefixes = [XMLName.dav(""): "D:", XMLName("", in: XMLName.xmlNamespace): "xml:", XMLName("", in: ""): ""]
        var scope = Self.scope
        tags = names.map { name in
            let namespace = XMLName("", in: name.namespace)
            if let prefix = prefixes[namespace] { return "<\(prefix)\(name.local)/>" }
            let prefix = "n\(scope.count)"
            prefixes[namespace] = prefix + ":"
            scope.append((prefix, name.namespace))
            return "<\(prefix):\(name.local)/>"
        }
        var writer = XMLWriter()
        writer.begin(.dav("multistatus"), declaring: scope)
        start = Self.declaration + writer.text + "\n"
    }

    /// The end, with a sentence for people about all of it (RFC 4918 section 14.25); nil for none.
    static func end(_ description: String?) -> String {
        guard let description else { return end }
        var writer = XMLWriter(within: scope)
        writer.leaf(.dav("responsedescription"), description)
        return writer.text + "\n" + end
    }

    /// Properties of a resource, by their status.
    ///
    /// - Parameters:
    ///   - href: the URL of the resource.
    ///   - properties: the properties with each status; a status without any is left out.
    ///   - error: which condition didn't hold for those that are forbidden (RFC 4918 section 16).
    /// - Returns: the piece.
    func response(
        _ href: String,
        _ properties: [(status: HTTPResponse.Status, properties: [Property])],
        error: XMLElement? = nil
    ) -> String {
        var writer = XMLWriter(within: Self.scope)
        writer.begin(.dav("response"))
        writer.leaf(.dav("href"), href)
        for (status, properties) in properties where !properties.isEmpty {
            writer.begin(.dav("propstat"))
            writer.begin(.dav("prop"))
            for property in properties {
                switch property {
                case .value(let element): writer.add(element)
                case .name(let index): writer.add(written: tags[index])
                }
            }
            writer.end()
            writer.leaf(.dav("status"), Self.line(status))
            if let error, status == .forbidden { writer.add(.dav("error", [error])) }
            writer.end()
        }
        // One of them is there in any case (RFC 4918 section 14.24).
        if properties.allSatisfy(\.properties.isEmpty) {
            writer.add(.dav("propstat", [.dav("prop"), .dav("status", text: Self.line(.ok))]))
        }
        writer.end()
        return writer.text + "\n"
    }

    /// The result for a resource.
    ///
    /// - Parameters:
    ///   - href: its URL.
    ///   - status: the status.
    ///   - error: which condition it was that didn't hold (RFC 4918 section 16).
    ///   - description: a sentence for people.
    /// - Returns: the piece.
    static func response(
        _ href: String,
        _ status: HTTPResponse.Status,
        error: XMLElement? = nil,
        description: String? = nil
    ) -> String {
        var parts: [XMLElement] = [.dav("href", text: href), .dav("status", text: line(status))]
        if let error { parts.append(.dav("error", [error])) }
        if let description { parts.append(.dav("responsedescription", text: description)) }
        var writer = XMLWriter(within: scope)
        writer.add(.dav("response", parts))
        return writer.text + "\n"
    }

    /// A document of its own.
    static func document(_ root: XMLElement) -> String {
        declaration + root.written + "\n"
    }

    private static func line(_ status: HTTPResponse.Status) -> String {
        "HTTP/1.1 \(status.code) \(status.reasonPhrase)"
    }
}

// MARK: The statuses of WebDAV

extension HTTPResponse.Status {
    /// Of several resources (RFC 4918 section 11.1).
    static let multi = HTTPResponse.Status(code: 207, reasonPhrase: "Multi-Status")
    /// RFC 4918 section 11.3.
    static let locked = HTTPResponse.Status(code: 423, reasonPhrase: "Locked")
    /// Something else had to be done first, and wasn't (RFC 4918 section 11.4).
    static let failedDependency = HTTPResponse.Status(code: 424, reasonPhrase: "Failed Dependency")
    /// RFC 4918 section 11.5.
    static let insufficientStorage = HTTPResponse.Status(code: 507, reasonPhrase: "Insufficient Storage")
}
