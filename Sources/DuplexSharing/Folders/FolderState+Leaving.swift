// SPDX-License-Identifier: Apache-2.0
// Copyright (c) the Duplex authors

import DuplexSockets

// Folders that are replaced. What replaces one gets its name by an exchange, so that at no time there is none; for a moment the
// old one has the other name, and it isn't to stay there where the process is killed.

extension FolderState {
    private static let leavingPrefix = "leaving-"
    /// A note is two numbers and a path.
    private static let leavingLimit = 64 * 1_024

    /// Notes that something is to leave the place that it is about to get.
    ///
    /// - Parameters:
    ///   - status: of what is to leave.
    ///   - path: the place.
    /// - Returns: the name of the note.
    /// - Throws: `SocketError`.
    func note(_ status: FileStatus, leaves path: FolderPath) throws(SocketError) -> String {
        let name = Self.leavingPrefix + Self.randomName()
        try temporaryFolder().makeFile(name).write(Array("\(status.device)\n\(status.number)\n\(path.text)".utf8))
        return name
    }

    /// It has left.
    func forget(_ note: String) {
        try? temporaryFolder().removeFile(note)
    }

    /// Takes what had to leave when its process was ended into that process's temporary folder, with which it goes.
    func finishLeaving(in temporary: OpenedFolder) {
        for name in (try? temporary.names(atMost: .max).names) ?? [] where name.hasPrefix(Self.leavingPrefix) {
            try? finishLeaving(by: name, in: temporary)
        }
    }

    private func finishLeaving(by name: String, in temporary: OpenedFolder) throws(SocketError) {
        let file = try temporary.file(name)
        let bytes = try file.range(from: 0, count: file.size).readAll(atMost: Self.leavingLimit)
        let lines = String(decoding: bytes, as: UTF8.self).split(separator: "\n", maxSplits: 2).map(String.init)
        guard lines.count == 3, let path = FolderPath(lines[2]), !path.isRoot else { return }
        var place = root
        for name in path.parent.names { place = try place.folder(name) }
        // Unless it never came there.
        guard let status = try place.status(of: path.name), String(status.device) == lines[0],
            String(status.number) == lines[1]
        else { return }
        try place.rename(path.name, to: temporary, as: Self.randomName(), .refuse)
    }
}
