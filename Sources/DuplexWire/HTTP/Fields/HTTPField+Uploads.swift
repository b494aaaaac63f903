// SPDX-License-Identifier: Apache-2.0
// Copyright (c) the Duplex authors

package import HTTPTypes

// The fields of resumable uploads; here, since `CORSPolicy` of the server names them, too (https://tus.io/protocols/resumable-upload).

extension HTTPField.Name {
    package static let tusResumable = token("Tus-Resumable")
    package static let tusVersion = token("Tus-Version")
    package static let tusExtension = token("Tus-Extension")
    package static let tusMaxSize = token("Tus-Max-Size")
    package static let tusChecksumAlgorithm = token("Tus-Checksum-Algorithm")
    package static let uploadOffset = token("Upload-Offset")
    package static let uploadLength = token("Upload-Length")
    package static let uploadDeferLength = token("Upload-Defer-Length")
    package static let uploadMetadata = token("Upload-Metadata")
    package static let uploadChecksum = token("Upload-Checksum")
    package static let uploadConcat = token("Upload-Concat")
    package static let uploadExpires = token("Upload-Expires")
    /// Where a finished upload is; this server's own.
    package static let uploadPath = token("Upload-Path")
    package static let xHTTPMethodOverride = token("X-HTTP-Method-Override")

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

    private static func token(_ text: StaticString) -> Self {
        guard let name = Self("\(text)") else { preconditionFailure("\(text) is no name of a field.") }
        return name
    }
}
