// SPDX-License-Identifier: Apache-2.0
// Copyright (c) the Duplex authors

package import DuplexSockets
package import DuplexWire
import HTTPTypes

/// A file at a path, with what its responses begin with, and its siblings that are coded.
///
/// Belongs to whoever has made it.
final class ServedFile {
    /// The file, a sibling that holds the same in a coding, or what this server has compressed.
    struct Form: Sendable {
        /// What is sent, or what it is compressed from.
        let file: OpenedFile
        /// `nil` for the file itself.
        let coding: String?
        let tag: EntityTag?
        let headers: PreparedFields
        /// Whether it is what this server compresses.
        let isCompressed: Bool
        /// Whether a further change of the file shows in its status.
        let isSettled: Bool
        /// The file in gzip, where this server has compressed it.
        var bytes: [UInt8]?
    }

    /// Below the folder.
    let path: String
    let type: MediaType
    let plain: Form
    /// Those that are there, best first; `nil` until somebody has asked for one.
    var siblings: [Form]?
    /// Whether a coding may be chosen for it.
    let mayBeCoded: Bool
    /// Whether it is one that this server compresses.
    let mayBeCompressed: Bool
    /// What it is where this server has compressed it; its bytes are had from elsewhere.
    private(set) lazy var compressed = Self.form(plain.file, "gzip", name, options, varies: true, isCompressed: true)
    /// Until when it stands for its path; then it is looked for again.
    var standsUntil = Instant(nanoseconds: 0)
    /// When it was asked for last.
    var lastUse = Instant(nanoseconds: 0)
    private let options: FileOptions
    private let name: String

    init(_ file: OpenedFile, path: String, name: String, _ options: FileOptions) {
        self.path = path
        self.name = name
        self.options = options
        type = options.type(of: name)
        mayBeCompressed = options.mayCompress(type, file.size)
        mayBeCoded = mayBeCompressed || options.usesPrecompressed && type.isCompressible
        plain = Self.form(file, nil, name, options, varies: mayBeCoded)
    }

    /// A sibling of the file as what is sent in its place; nil for one that is older.
    func sibling(_ file: OpenedFile, _ coding: String) -> Form? {
        guard file.kind == .file, file.modified.seconds >= plain.file.modified.seconds else { return nil }
        return Self.form(file, coding, name, options, varies: true)
    }

    private static func form(
        _ file: OpenedFile,
        _ coding: String?,
        _ name: String,
        _ options: FileOptions,
        varies: Bool,
        isCompressed: Bool = false
    ) -> Form {
        var tag = file.status.tag
        // Other bytes than those of the file.
        if isCompressed { tag = tag.flatMap { EntityTag("\($0.text)-gzip") } }
        var headers: HTTPFields = [
            .lastModified: HTTPDate.string(UnixTime(seconds: file.modified.seconds)),
            .cacheControl: options.cacheControl(of: name), .xContentTypeOptions: "nosniff",
        ]
        if !isCompressed { headers[.acceptRanges] = "bytes" }
        headers[.eTag] = tag?.description
        if varies { headers[.vary] = HTTPField.Name.acceptEncoding.rawName }
        if let coding { headers[.contentEncoding] = coding }
        if options.sendsAsAttachments {
            headers[.contentDisposition] = ContentDisposition.attachment(filename: name).description
        }
        return Form(
            file: file,
            coding: coding,
            tag: tag,
            headers: PreparedFields(headers),
            isCompressed: isCompressed,
            isSettled: file.status.isSettled(now: .now)
        )
    }
}

extension FileStatus {
    /// A strong tag of a file, which is another one whenever its content is, as far as the file system's clock tells.
    ///
    /// It is strong from the beginning: clients that synchronize compare the texts of tags, and would take a weak one
    /// that becomes strong for a change. See ``isSettled(now:)`` for the parts of files.
    package var tag: EntityTag? {
        let changed = UInt64(bitPattern: changed.seconds &* 1_000_000_000 &+ changed.nanoseconds)
        return EntityTag([number, size, changed].map { String($0, radix: 36) }.joined(separator: "-"))
    }

    /// Whether a further change shows: the last one is so long ago that the file system's clock has gone on since (RFC 9110
    /// section 8.8.1).
    package func isSettled(now: UnixTime) -> Bool { now.seconds - changed.seconds >= 2 }
}
