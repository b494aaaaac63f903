// SPDX-License-Identifier: Apache-2.0
// Copyright (c) the Duplex authors

public import HTTPTypes

/// The head of one part of a form (RFC 7578 section 4).
public struct MultipartHead: Sendable, Hashable {
    /// The fields of the part.
    public let fields: HTTPFields
    /// What the part is; nil where it doesn't say so rightly.
    public let disposition: ContentDisposition?

    init(_ fields: HTTPFields) {
        self.fields = fields
        disposition = fields[.contentDisposition].flatMap(ContentDisposition.init(field:))
    }

    /// The name of the form's field; empty where the part names none.
    public var name: String { disposition?.name ?? "" }
    /// The name of the file as the sender calls it; nil for what is no file.
    ///
    /// It may have anything in it: see
    /// ``ContentDisposition/safeFilename``.
    public var filename: String? { disposition?.filename }
    /// The media type; plain text where the part names none (RFC 7578 section 4.4).
    public var mediaType: MediaType { MediaType(rawValue: fields[.contentType] ?? "text/plain") }
}

/// The next thing that a body of several parts has.
public enum MultipartEvent: Sendable, Hashable {
    /// A part begins.
    case begin(MultipartHead)
    /// Some bytes of the part, at least one.
    case piece([UInt8])
    /// The part has ended.
    case end
}

/// What the parts of a form may make this side hold or take.
public struct MultipartLimits: Sendable, Hashable {
    /// The most parts.
    ///
    /// Default: 1,000.
    public var partCount: Int
    /// The longest part.
    ///
    /// Default: as long as the body may be.
    public var partSize: ByteCount
    /// The longest sum of all parts.
    ///
    /// Default: as long as the body may be.
    public var totalSize: ByteCount
    /// The longest head of a part, with its line ends.
    ///
    /// Default: 8 KiB.
    public var headSize: ByteCount
    /// The most fields in the head of a part.
    ///
    /// Default: 32.
    public var headFields: Int

    /// Makes limits.
    public init(
        partCount: Int = 1_000,
        partSize: ByteCount = .unlimited,
        totalSize: ByteCount = .unlimited,
        headSize: ByteCount = .kibibytes(8),
        headFields: Int = 32
    ) {
        self.partCount = partCount
        self.partSize = partSize
        self.totalSize = totalSize
        self.headSize = headSize
        self.headFields = headFields
    }
}
