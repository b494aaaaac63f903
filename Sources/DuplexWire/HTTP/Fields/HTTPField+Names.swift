// SPDX-License-Identifier: Apache-2.0
// Copyright (c) the Duplex authors

package import HTTPTypes

// Here, since `CORSPolicy` of the server names them, too: the fields of resumable uploads
// (<https://tus.io/protocols/resumable-upload>), and the fields and methods of WebDAV.

extension HTTPField.Name {
    /// A name that is written in the source; traps for what isn't a token.
    package init(known text: StaticString) {
        guard let name = Self("\(text)") else { preconditionFailure("\(text) is no name of a field.") }
        self = name
    }

    package static let tusResumable = Self(known: "Tus-Resumable")
    package static let tusVersion = Self(known: "Tus-Version")
    package static let tusExtension = Self(known: "Tus-Extension")
    package static let tusMaxSize = Self(known: "Tus-Max-Size")
    package static let tusChecksumAlgorithm = Self(known: "Tus-Checksum-Algorithm")
    package static let uploadOffset = Self(known: "Upload-Offset")
    package static let uploadLength = Self(known: "Upload-Length")
    package static let uploadDeferLength = Self(known: "Upload-Defer-Length")
    package static let uploadMetadata = Self(known: "Upload-Metadata")
    package static let uploadChecksum = Self(known: "Upload-Checksum")
    package static let uploadConcat = Self(known: "Upload-Concat")
    package static let uploadExpires = Self(known: "Upload-Expires")
    /// Where a finished upload is; this server's own.
    package static let uploadPath = Self(known: "Upload-Path")
    package static let xHTTPMethodOverride = Self(known: "X-HTTP-Method-Override")

    /// The fields of uploads that clients send.
    package static let uploadRequestFields: [Self] = [
        tusResumable, uploadOffset, uploadLength, uploadDeferLength, uploadMetadata, uploadChecksum, uploadConcat,
        xHTTPMethodOverride,
    ]
    /// The fields of uploads that clients read.
    package static let uploadResponseFields: [Self] = [
        tusResumable, tusVersion, tusExtension, tusMaxSize, tusChecksumAlgorithm, uploadOffset, uploadLength,
        uploadDeferLength, uploadMetadata, uploadConcat, uploadExpires, uploadPath,
    ]

    /// How far down a request reaches (RFC 4918 section 10.2).
    package static let depth = Self(known: "Depth")
    /// What a server knows of WebDAV (RFC 4918 section 10.1).
    package static let dav = Self(known: "DAV")
    /// Where something is to go (RFC 4918 section 10.3).
    package static let destination = Self(known: "Destination")
    /// The locks that a client has, and what is to be so (RFC 4918 section 10.4).
    package static let davIf = Self(known: "If")
    /// The lock that was made, or is to go (RFC 4918 section 10.5).
    package static let lockToken = Self(known: "Lock-Token")
    /// Whether what is at the destination may go (RFC 4918 section 10.6).
    package static let overwrite = Self(known: "Overwrite")
    /// How long a lock is to hold (RFC 4918 section 10.7).
    package static let timeout = Self(known: "Timeout")
    /// Shows authoring tools of Microsoft that a server knows WebDAV, not FrontPage.
    package static let msAuthorVia = Self(known: "MS-Author-Via")
    /// The length of a body that the Finder sends in chunks.
    package static let xExpectedEntityLength = Self(known: "X-Expected-Entity-Length")
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
