// SPDX-License-Identifier: Apache-2.0
// Copyright (c) the Duplex authors

import DuplexSockets

// Small files of the server's own, which are read and replaced as a whole.

extension FolderState {
    /// What was written last under that name; `nil` where nothing was.
    ///
    /// - Parameters:
    ///   - name: of the file.
    ///   - group: the folder that it is in.
    ///   - limit: the most bytes that are read.
    /// - Returns: the bytes.
    /// - Throws: `SocketError`, also where there is more.
    func bytes(of name: String, in group: String, atMost limit: Int) throws(SocketError) -> [UInt8]? {
        guard let home = try existingFolder(group), try home.status(of: name) != nil else { return nil }
        let file = try home.file(name)
        return try file.range(from: 0, count: file.size).readAll(atMost: limit)
    }

    /// Replaces it: whoever reads it gets the old bytes or the new ones, also behind a loss of power.
    func write(_ bytes: [UInt8], to name: String, in group: String) throws(SocketError) {
        let (home, temporary) = (try folder(group), try temporaryFolder())
        let newName = Self.randomName()
        let file = try temporary.makeFile(newName)
        do throws(SocketError) {
            try file.write(bytes)
            try file.sync()
            try temporary.rename(newName, to: home, as: name, .replace)
            try home.sync()
        } catch {
            try? temporary.removeFile(newName)
            throw error
        }
    }
}
