// SPDX-License-Identifier: Apache-2.0
// Copyright (c) the Duplex authors

import DuplexSockets
import DuplexWire

// Files that are written on another file system than the shared folder's own, and so beside their places.

extension FolderState {
    /// What their names begin with.
    static let prefixBeside = FolderPath.ownName + "-"
    /// How old they are when nobody can be writing them any more.
    static let ageBeside: Int64 = 86_400

    /// Takes away what was left in a folder on another file system by whoever was ended while writing there: what nobody has
    /// touched for a day.
    func sweep(beside folder: OpenedFolder, now: UnixTime) {
        guard let names = try? folder.names(atMost: .max).names else { return }
        for name in names where name.utf8.starts(with: Self.prefixBeside.utf8) {
            guard let status = try? folder.status(of: name), status.changed.seconds < now.seconds - Self.ageBeside
            else {
                continue
            }
            do throws(SocketError) { try FolderTree.remove(name, in: folder) } catch { stays(name, error) }
        }
    }
}
