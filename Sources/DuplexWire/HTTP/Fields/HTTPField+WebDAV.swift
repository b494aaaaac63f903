// SPDX-License-Identifier: Apache-2.0
// Copyright (c) the Duplex authors

package import HTTPTypes

// The fields and methods of WebDAV; here, since `CORSPolicy` of the server names them, too.

extension HTTPField.Name {
    /// How far down a request reaches (RFC 4918 section 10.2).
    package static let depth = token("Depth")
    /// What a server knows of WebDAV (RFC 4918 section 10.1).
    package static let dav = token("DAV")
    /// Where something is to go (RFC 4918 section 10.3).
    package static let destination = token("Destination")
    /// The locks that a client has, and what is to be so (RFC 4918 section 10.4).
    package static let davIf = token("If")
    /// The lock that was made, or is to go (RFC 4918 section 10.5).
    package static let lockToken = token("Lock-Token")
    /// Whether what is at the destination may go (RFC 4918 section 10.6).
    package static let overwrite = token("Overwrite")
    /// How long a lock is to hold (RFC 4918 section 10.7).
    package static let timeout = token("Timeout")
    /// Shows authoring tools of Microsoft that a server knows WebDAV, not FrontPage.
    package static let msAuthorVia = token("MS-Author-Via")
    /// The length of a body that the Finder sends in chunks.
    package static let xExpectedEntityLength = token("X-Expected-Entity-Length")

    private static func token(_ text: StaticString) -> Self {
        guard let name = Self("\(text)") else { preconditionFailure("\(text) is no name of a field.") }
        return name
    }
}

extension HTTPRequest.Method {
    package static let propfind = token("PROPFIND")
    package static let proppatch = token("PROPPATCH")
    package static let mkcol = token("MKCOL")
    package static let copy = token("COPY")
    package static let move = token("MOVE")
    package static let lock = token("LOCK")
    package static let unlock = token("UNLOCK")

    private static func token(_ text: StaticString) -> Self {
        guard let method = Self("\(text)") else { preconditionFailure("\(text) is no method.") }
        return method
    }
}
