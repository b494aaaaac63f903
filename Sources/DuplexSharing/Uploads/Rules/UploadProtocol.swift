// SPDX-License-Identifier: Apache-2.0
// Copyright (c) the Duplex authors

import DuplexWire
import HTTPTypes

/// Why a request of a resumable upload isn't done, and the status that says so.
struct UploadRefusal: Error, Sendable, Hashable {
    let status: HTTPResponse.Status
    /// What was wrong, in a sentence for people.
    let message: String

    init(_ status: HTTPResponse.Status, _ message: String) {
        self.status = status
        self.message = message
    }

    /// Somebody else works on it (RFC 4918 section 11.3).
    static func locked(_ message: String) -> UploadRefusal {
        UploadRefusal(HTTPResponse.Status(code: 423, reasonPhrase: "Locked"), message)
    }

    /// What came isn't what its checksum says; tus has a status of its own for it.
    static let mismatch = UploadRefusal(
        HTTPResponse.Status(code: 460, reasonPhrase: "Checksum Mismatch"),
        "What came isn't what its checksum says: it was dropped."
    )
}

/// What tus 1.0.0 says of this server, and the fields that it has (https://tus.io/protocols/resumable-upload).
enum UploadProtocol {
    static let version = "1.0.0"
    /// What there is beyond the core.
    static let extensions =
        "creation,creation-with-upload,creation-defer-length,termination,checksum,checksum-trailer,expiration,concatenation"
    /// The media type of what is appended.
    static let contentType = "application/offset+octet-stream"

    static let resumable = HTTPField.Name.tusResumable
    static let versions = HTTPField.Name.tusVersion
    static let extensionList = HTTPField.Name.tusExtension
    static let maximum = HTTPField.Name.tusMaxSize
    static let algorithms = HTTPField.Name.tusChecksumAlgorithm
    static let offset = HTTPField.Name.uploadOffset
    static let length = HTTPField.Name.uploadLength
    static let deferred = HTTPField.Name.uploadDeferLength
    static let metadata = HTTPField.Name.uploadMetadata
    static let checksum = HTTPField.Name.uploadChecksum
    static let concatenation = HTTPField.Name.uploadConcat
    static let expires = HTTPField.Name.uploadExpires
    /// Where a finished upload is; this server's own.
    static let path = HTTPField.Name.uploadPath
    static let method = HTTPField.Name.xHTTPMethodOverride

    /// The method that is meant: some clients can send GET and POST alone.
    static func method(_ method: HTTPRequest.Method, _ headers: HTTPFields) -> HTTPRequest.Method {
        headers[Self.method].flatMap { HTTPRequest.Method($0) } ?? method
    }

    /// Throws for a version that isn't supported; OPTIONS needs none.
    static func checkVersion(_ headers: HTTPFields) throws(UploadRefusal) {
        if headers[resumable] == version { return }
        throw UploadRefusal(.preconditionFailed, "This server speaks tus \(version): say so by Tus-Resumable.")
    }

    /// What OPTIONS is answered with.
    ///
    /// - Parameter maximum: the most bytes that an upload may have; nil where there is no bound.
    /// - Returns: the fields.
    static func description(maximum: UInt64?) -> HTTPFields {
        var headers: HTTPFields = [resumable: version, versions: version, extensionList: extensions]
        headers[algorithms] = UploadChecksum.Algorithm.allCases.map(\.rawValue).joined(separator: ",")
        if let maximum { headers[Self.maximum] = String(maximum) }
        return headers
    }

    /// A number of bytes; nil where the field is missing.
    static func count(_ name: HTTPField.Name, _ headers: HTTPFields) throws(UploadRefusal) -> UInt64? {
        guard let text = headers[name] else { return nil }
        guard let number = Grammar.decimal(text.utf8) else {
            throw UploadRefusal(.badRequest, "\(name.rawName) is a number of bytes.")
        }
        return UInt64(number)
    }

    /// Throws where a body isn't what is appended.
    static func checkContentType(_ headers: HTTPFields) throws(UploadRefusal) {
        let type = headers[.contentType].map(MediaType.init(rawValue:))?.essence
        if type != contentType || headers[.contentEncoding] != nil {
            throw UploadRefusal(.unsupportedMediaType, "What is appended is of the type \(contentType), in no coding.")
        }
    }

    static func tooLong(_ maximum: UInt64) -> UploadRefusal {
        UploadRefusal(.contentTooLarge, "An upload may have \(maximum) bytes at most.")
    }
}
