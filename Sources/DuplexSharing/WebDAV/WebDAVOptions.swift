// SPDX-License-Identifier: Apache-2.0
// Copyright (c) the Duplex authors

package import DuplexServer

/// How a folder is shared by WebDAV; see `webDAV` of `RouteBuilder`.
public struct WebDAVOptions: Sendable {
    /// For how long a lock holds at most, unless its client refreshes it.
    ///
    /// Default: an hour. A client that asks for less gets that.
    public var lockTime: Duration = .seconds(3_600)
    /// How many locks there may be at a time.
    ///
    /// Default: 1,000. They are kept in one file, which is written at each change.
    package var lockLimit = 1_000
    /// How many locks one user may hold at a time.
    ///
    /// Default: 200. Clients that don't log in count as one user.
    package var userLockLimit = 200
    /// How many bytes the properties may have that clients give to a file or a folder.
    ///
    /// Default: 64 KiB, in XML.
    package var propertySize: ByteCount = .kibibytes(64)
    /// Whether the files are taken that the Finder makes beside others: `.DS_Store`, and those that begin with `._`.
    ///
    /// Default: no: writing one is answered with 403, and the Finder does without. They are taken only where
    /// `FolderOptions.showsHidden` is set, too, as are all names that begin with a dot.
    public var takesFinderFiles = false

    /// The hosts by which clients know the server, such as `files.example` or `files.example:8443`.
    ///
    /// For a proxy in front that sends another `Host`, and neither `X-Forwarded-Host` nor `Forwarded`: clients name what
    /// is to be copied or moved by whole URLs, which would lead to another server (502). A host without a port stands for
    /// any port. Default: none.
    public var publicHosts: [String] = []

    /// Makes options.
    public init() {}
}
