// SPDX-License-Identifier: Apache-2.0
// Copyright (c) the Duplex authors

import DuplexSockets
import Logging

// What goes for good: at once out of sight, then from the disk.

extension FolderStore {
    /// Removes something with all that is in it; what can't be removed is in its place then, and is an error.
    func delete(_ path: FolderPath) throws(FolderError) {
        let source = try source(path).place
        do throws(SocketError) { try delete(source) } catch {
            logger.warning(
                "Something in a shared folder can't be deleted whole.",
                metadata: ["path": "\(path)", "error": "\(error)"]
            )
            throw FolderError(deleting: path, error)
        }
    }

    func delete(_ place: Place) throws(SocketError) {
        let taken = try takeOut(place)
        do throws(SocketError) { try FolderTree.remove(taken.name, in: taken.folder) } catch {
            do throws(SocketError) {
                try taken.folder.rename(taken.name, to: place.folder, as: place.name, .refuse)
            } catch let other {
                // Something has its name by now, or the whole of it has gone all the same.
                if (try? taken.folder.status(of: taken.name)) != nil { state.stays(taken.name, other) }
            }
            throw error
        }
    }

    /// Takes something out of everybody's sight.
    ///
    /// - Returns: where it is now.
    /// - Throws: `SocketError`, and it is where it was.
    func takeOut(_ place: Place) throws(SocketError) -> Place {
        let name = FolderState.randomName()
        do throws(SocketError) {
            let temporary = try state.temporaryFolder()
            try place.folder.rename(place.name, to: temporary, as: name, .refuse)
            return Place(folder: temporary, name: name)
        } catch  where error.code == .otherFileSystem || error.isOutOfSpace {
            // A full disk may have no room for a folder of our own.
            let name = FolderState.prefixBeside + name
            try place.folder.rename(place.name, to: place.folder, as: name, .refuse)
            return Place(folder: place.folder, name: name)
        }
    }

    /// Removes what nobody sees; what can't be removed now is tried again when the folder is opened.
    func clear(_ place: Place) {
        do throws(SocketError) {
            try FolderTree.remove(place.name, in: place.folder)
        } catch { state.stays(place.name, error) }
    }
}
