// SPDX-License-Identifier: Apache-2.0
// Copyright (c) the Duplex authors

import DuplexServer
import DuplexWire
import HTTPTypes

/// Why a request isn't done, as WebDAV says it (RFC 4918 sections 13 and 16).
enum WebDAVRefusal: Error {
    /// A condition that doesn't hold.
    case condition(HTTPResponse.Status, XMLElement)
    /// What stands in the way is elsewhere.
    case elsewhere([(href: String, status: HTTPResponse.Status, error: XMLElement?)])

    static let type: MediaType = "application/xml; charset=utf-8"
    /// The most bytes of the URLs of what stands in the way, one URL excepted.
    static let bound = 16_384

    /// As many of these URLs as an answer has: a client mends one at a time, and there may be a thousand.
    static func told(_ hrefs: [String]) -> [String] {
        var size = 0
        return Array(
            hrefs.enumerated().prefix { index, href in
                size += href.utf8.count
                return index == 0 || size <= bound
            }.map(\.element)
        )
    }

    var response: Response {
        switch self {
        case .condition(let status, let element):
            Response(status: status, type: Self.type, body: .text(MultiStatus.document(.dav("error", [element]))))
        case .elsewhere(let resources):
            Response(
                status: .multi,
                type: Self.type,
                body: .text(
                    MultiStatus().start
                        + resources.map { MultiStatus.response($0.href, $0.status, error: $0.error) }.joined()
                        + MultiStatus.end
                )
            )
        }
    }
}
