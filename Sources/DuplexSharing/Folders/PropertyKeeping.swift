// SPDX-License-Identifier: Apache-2.0
// Copyright (c) the Duplex authors

import DuplexSockets

/// Keeps the properties that clients have given to files and folders if the file system doesn't keep them with those: it has no
/// extended attributes, or no room for so many bytes.
///
/// Calls block for as long as the disk takes, and throw `SocketError` with the number of an error.
protocol PropertyKeeping: Sendable {
    /// Returns the properties of what is at a path; nil for none.
    func value(of path: FolderPath) throws(SocketError) -> [UInt8]?

    /// Sets the properties of what is at a path; nil removes them.
    func set(_ value: [UInt8]?, of path: FolderPath) throws(SocketError)

    /// Takes properties along with what was moved, and with all below it; what was there before has none any more.
    func move(_ from: FolderPath, to path: FolderPath) throws(SocketError)

    /// Gives a copy the properties of what was copied; what was there before has none any more.
    func copy(_ from: FolderPath, to path: FolderPath, onlyItself: Bool) throws(SocketError)

    /// Removes the properties of what has gone, and of all below it.
    func remove(_ path: FolderPath) throws(SocketError)
}
