// SPDX-License-Identifier: Apache-2.0
// Copyright (c) the Duplex authors

package import HTTPTypes

/// Why a request of a resumable upload isn't done, and the status that says so.
package struct UploadRefusal: Error, Sendable, Hashable {
    package let status: HTTPResponse.Status
    /// What was wrong, in a sentence for people.
    package let message: String

    package init(_ status: HTTPResponse.Status, _ message: String) {
        self.status = status
        self.message = message
    }

    /// Somebody else works on it (RFC 4918 section 11.3).
    package static func locked(_ message: String) -> UploadRefusal {
        UploadRefusal(HTTPResponse.Status(code: 423, reasonPhrase: "Locked"), message)
    }

    /// What came isn't what its checksum says; tus has a status of its own for it.
    package static let mismatch = UploadRefusal(
        HTTPResponse.Status(code: 460, reasonPhrase: "Checksum Mismatch"),
        "What came isn't what its checksum says: it was dropped."
    )
}

/// What tus 1.0.0 says of this server, and the fields that it has (https://tus.io/protocols/resumable-upload).
package enum UploadProtocol {
    package static let version = "1.0.0"
    /// What there is beyond the core.
    package static let extensions =
        "creation,creation-with-upload,creation-defer-length,termination,checksum,checksum-trailer,expiration,concatenation"
    /// The media type of what is appended.
    package static let contentType = "application/offset+octet-stream"

    package static let resumable = name("Tus-Resumable")
    package static let versions = name("Tus-Version")
    package static let extensionList = name("Tus-Extension")
    package static let maximum = name("Tus-Max-Size")
    package static let algorithms = name("Tus-Checksum-Algorithm")
    package static let offset = name("Upload-Offset")
    package static let length = name("Upload-Length")
    package static let deferred = name("Upload-Defer-Length")
    package static let metadata = name("Upload-Metadata")
    package static let checksum = name("Upload-Checksum")
    package static let concatenation = name("Upload-Concat")
    package static let expires = name("Upload-Expires")
    /// Where a finished upload is; this server's own.
    package static let path = name("Upload-Path")
    package static let method = name("X-HTTP-Method-Override")

    /// The fields that clients send.
    package static let requestFields = [
        resumable, offset, length, deferred, metadata, checksum, concatenation, method,
    ]
    /// The fields that clients read.
    package static let responseFields = [
        resumable, versions, extensionList, maximum, algorithms, offset, length, deferred, metadata, concatenation,
        expires,
        path,
    ]

    private static func name(_ text: StaticString) -> HTTPField.Name {
        guard let name = HTTPField.Name("\(text)") else { preconditionFailure("\(text) is no name of a field.") }
        return name
    }

    /// The method that is meant: some clients can send GET and POST alone.
    package static func method(_ method: HTTPRequest.Method, _ fields: HTTPFields) -> HTTPRequest.Method {
        fields[Self.method].flatMap { HTTPRequest.Method($0) } ?? method
    }

    /// Throws for a version that isn't supported; OPTIONS needs none.
    package static func checkVersion(_ fields: HTTPFields) throws(UploadRefusal) {
        if fields[resumable] == version { return }
        throw UploadRefusal(.preconditionFailed, "This server speaks tus \(version): say so by Tus-Resumable.")
    }

    /// What OPTIONS is answered with.
    ///
    /// - Parameter maximum: the most bytes that an upload may have; nil where there is no bound.
    /// - Returns: the fields.
    package static func description(maximum: UInt64?) -> HTTPFields {
        var fields: HTTPFields = [resumable: version, versions: version, extensionList: extensions]
        fields[algorithms] = UploadChecksum.Algorithm.allCases.map(\.rawValue).joined(separator: ",")
        if let maximum { fields[Self.maximum] = String(maximum) }
        return fields
    }

    /// A number of bytes; nil where the field is missing.
    static func count(_ name: HTTPField.Name, _ fields: HTTPFields) throws(UploadRefusal) -> UInt64? {
        guard let text = fields[name] else { return nil }
        guard let number = Grammar.decimal(text.utf8) else {
            throw UploadRefusal(.badRequest, "\(name.rawName) is a number of bytes.")
        }
        return UInt64(number)
    }

    /// Throws where a body isn't what is appended.
    static func checkContentType(_ fields: HTTPFields) throws(UploadRefusal) {
        let type = fields[.contentType].map(MediaType.init(rawValue:))?.essence
        if type != contentType || fields[.contentEncoding] != nil {
            throw UploadRefusal(.unsupportedMediaType, "What is appended is of the type \(contentType), in no coding.")
        }
    }

    static func tooLong(_ maximum: UInt64) -> UploadRefusal {
        UploadRefusal(.contentTooLarge, "An upload may have \(maximum) bytes at most.")
    }
}
