// SPDX-License-Identifier: Apache-2.0
// Copyright (c) the Duplex authors

import DuplexServer
import DuplexSockets

// The names in a folder.

/// What is in a folder of a ``SharedFolder``, as clients see it.
struct FolderListing: Sendable {
    /// Files and folders, in no order.
    var entries: [FolderEntry]
    /// Whether there are more: than were asked for, or than paths lead to, which have a hundred names at most.
    var isCut: Bool
    /// How many there are whose names can't be in a path: they aren't UTF-8, or have characters that nobody could read.
    var unlisted = 0
}

extension FolderStore {
    /// Something in a folder, by the name that the file system has.
    struct Found {
        let name: FileName
        let status: FileStatus
    }

    /// What is in a folder, in no order: files and folders, and links to such that are below.
    func entries(of path: FolderPath, atMost limit: Int, showsHidden: Bool) throws(FolderError) -> FolderListing {
        let (found, isCut) = try content(of: FileName(path.text), path, atMost: limit, showsHidden: showsHidden)
        var listing = FolderListing(entries: [], isCut: isCut)
        for one in found {
            guard let name = one.name.text, FolderPath.isName(name) else {
                if FolderEntry(one.name.escaped, one.status) != nil { listing.unlisted += 1 }
                continue
            }
            guard let entry = FolderEntry(name, one.status) else { continue }
            if path.appending(name) == nil || listing.entries.count == limit {
                listing.isCut = true
            } else {
                listing.entries.append(entry)
            }
        }
        return listing
    }

    /// What is in a folder, whatever its names are, without the folder's own files.
    ///
    /// Who goes through a whole tree doesn't follow links to folders: they may lead back to where they are.
    ///
    /// - Parameters:
    ///   - place: where the folder is, by the names that the file system has.
    ///   - path: the same in text, for errors.
    ///   - limit: how many names are read.
    ///   - showsHidden: whether names are among them that begin with a dot.
    ///   - followsFolders: whether links to folders are among them.
    /// - Returns: what was found, and whether there are more names.
    /// - Throws: ``FolderError`` with `nothing` or `isFile` where there is no folder that can be read.
    func content(
        of place: FileName,
        _ path: FolderPath,
        atMost limit: Int,
        showsHidden: Bool,
        followsFolders: Bool = true
    ) throws(FolderError) -> (found: [Found], isCut: Bool) {
        guard let folder = OpenedFolder(try open(place, path)) else {
            throw FolderError(.isFile, "“\(path)” is a file.")
        }
        return try Self.attempt(path) { () throws(SocketError) in
            // One more is read, since the folder of our own may be among them.
            let (names, isCut) = try folder.allNames(atMost: limit == .max ? limit : limit + 1)
            var found: [Found] = []
            for name in names where (showsHidden || !name.isHidden) && !OwnName.isOwn(name.escaped) {
                guard let own = try folder.status(of: name) else { continue }
                if own.kind != .link {
                    found.append(Found(name: name, status: own))
                } else if let there = try self.folder.status(of: place.appending(name)),
                    followsFolders || there.kind != .folder
                {
                    found.append(Found(name: name, status: there))
                }
            }
            return (found, isCut)
        }
    }

    /// Opens what is at a path for reading.
    func open(_ path: FolderPath) throws(FolderError) -> OpenedFile { try open(FileName(path.text), path) }

    /// Opens what is at a path of the names that the file system has; `path` is the same in text.
    func open(_ place: FileName, _ path: FolderPath) throws(FolderError) -> OpenedFile {
        let finding = try Self.attempt(path) { () throws(SocketError) in try folder.find(place) }
        guard case .found(let file) = finding, file.kind != .other else {
            throw FolderError(.nothing, "There is nothing at “\(path)”.")
        }
        return file
    }
}
