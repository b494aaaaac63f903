// SPDX-License-Identifier: Apache-2.0
// Copyright (c) the Duplex authors

package import HTTPTypes

/// Writes the body of an answer that concerns several resources (RFC 4918 section 13), piece by piece.
package enum MultiStatus {
    private static let scope = [(prefix: "D", namespace: XMLName.davNamespace)]

    /// What stands at the beginning of every document.
    package static let declaration = "<?xml version=\"1.0\" encoding=\"utf-8\"?>\n"
    /// The beginning.
    package static let start = declaration + "<D:multistatus xmlns:D=\"DAV:\">\n"
    /// The end.
    package static let end = "</D:multistatus>\n"

    /// The end, with a sentence for people about all of it (RFC 4918 section 14.25); nil for none.
    package static func end(_ description: String?) -> String {
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
    package static func response(
        _ href: String,
        _ properties: [(status: HTTPResponse.Status, elements: [XMLElement])],
        error: XMLElement? = nil
    ) -> String {
        var writer = XMLWriter(within: scope)
        writer.begin(.dav("response"))
        writer.leaf(.dav("href"), href)
        for (status, elements) in properties where !elements.isEmpty {
            writer.begin(.dav("propstat"))
            writer.begin(.dav("prop"))
            for element in elements { writer.add(element) }
            writer.end()
            writer.leaf(.dav("status"), line(status))
            if let error, status == .forbidden { writer.add(.dav("error", [error])) }
            writer.end()
        }
        // One of them is there in any case (RFC 4918 section 14.24).
        if properties.allSatisfy(\.elements.isEmpty) {
            writer.add(.dav("propstat", [.dav("prop"), .dav("status", text: line(.ok))]))
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
    package static func response(
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
    package static func document(_ root: XMLElement) -> String {
        var writer = XMLWriter()
        writer.add(root)
        return declaration + writer.text + "\n"
    }

    private static func line(_ status: HTTPResponse.Status) -> String {
        "HTTP/1.1 \(status.code) \(status.reasonPhrase)"
    }
}
