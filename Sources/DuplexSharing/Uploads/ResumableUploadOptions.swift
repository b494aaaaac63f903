// SPDX-License-Identifier: Apache-2.0
// Copyright (c) the Duplex authors

public import DuplexWire

/// How resumable uploads are taken; see `RouteBuilder.resumableUploads(_:_:folder:options:)`.
public struct ResumableUploadOptions: Sendable {
    /// The most bytes that an upload may have.
    ///
    /// Default: as many as ``FolderOptions/fileSize`` allows.
    public var size: ByteCount = .unlimited
    /// How long an upload may rest before it is given up, and its bytes are removed.
    ///
    /// Default: a day.
    public var lifetime: Duration = .seconds(86_400)
    /// How many uploads there may be that aren't whole.
    ///
    /// One more is refused with 507. Default: 1,000.
    public var unfinishedCount = 1_000
    /// How many bytes uploads that aren't whole may have together, by the lengths that were said.
    ///
    /// One more is refused with 507. Default: as many as the disk takes.
    public var unfinishedSize: ByteCount = .unlimited
    /// What happens where a file has the name of an upload, unless its metadata say so by `clash`.
    ///
    /// Default: it is refused.
    public var onConflict = NameConflict.refuse

    /// Makes options.
    public init() {}
}
