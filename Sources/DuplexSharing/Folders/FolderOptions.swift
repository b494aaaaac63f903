// SPDX-License-Identifier: Apache-2.0
// Copyright (c) the Duplex authors

public import DuplexSockets
public import Logging

/// The rules of a ``SharedFolder``: what may be done in it, and who may.
public struct FolderOptions: Sendable {
    /// What somebody may do.
    public enum Access: Int, Sendable, Comparable {
        /// Nothing.
        case none
        /// Look and read.
        case read
        /// That, and write, move and delete.
        case readAndWrite

        /// Whether the first one allows less.
        public static func < (left: Access, right: Access) -> Bool { left.rawValue < right.rawValue }
    }

    /// What somebody may do.
    ///
    /// Default: everybody that the route lets in may read and write.
    public var access: @Sendable (FolderVisitor) -> Access = { _ in .readAndWrite }
    /// Called before each operation; an error that it throws, such as a `Problem`, is the response, and nothing is
    /// done.
    ///
    /// Default: nothing.
    public var before: @Sendable (FolderOperation) async throws -> Void = { _ in }
    /// Called after each operation.
    ///
    /// Default: nothing.
    public var after: @Sendable (FolderOperation) async -> Void = { _ in }
    /// The ends of names that files may be written with, without the dot and in lower case.
    ///
    /// Default: all.
    public var allowedExtensions: Set<String>?
    /// Whether names that begin with a dot are shown, read and written.
    ///
    /// Default: no. Those that begin with `.duplex` never are.
    public var showsHidden = false
    /// How many bytes the files in the folder may have together, those in the trash and unfinished uploads among them.
    ///
    /// What others write there is seen a minute later. Default: as many as the disk takes.
    public var quota: ByteCount?
    /// The most bytes that a file may have.
    ///
    /// Default: as many as the disk takes.
    public var fileSize: ByteCount = .unlimited
    /// Whether a file is on the disk, and not only with the system, before it is reported as written.
    ///
    /// It costs a few milliseconds for each. Default: no: a loss of power may take the last seconds.
    public var syncs = false
    /// How long what was deleted stays in the trash.
    ///
    /// Default: 30 days. With zero it is removed the next time. It is looked at when something is deleted, at most once a minute.
    public var trashAge: Duration = .seconds(30 * 86_400)
    /// How many entries of a folder are listed at most.
    ///
    /// Default: 10,000.
    public var listingLimit = 10_000
    /// Gets what can't be removed from the disk, and why.
    ///
    /// Default: swift-log's logger for the label `duplex.folder`.
    public var logger = Logger(label: "duplex.folder")

    /// Makes options.
    public init() {}

    /// Whether a file may be written with that name.
    func allows(_ name: String) -> Bool {
        guard let allowedExtensions else { return true }
        guard let dot = name.lastIndex(of: ".") else { return allowedExtensions.contains("") }
        return allowedExtensions.contains(name[name.index(after: dot)...].lowercased())
    }
}
