// SPDX-License-Identifier: Apache-2.0
// Copyright (c) the Duplex authors

import DuplexServer
import DuplexSockets
import Logging

#if canImport(Glibc)
import Glibc
#else
import Darwin
#endif

/// What is done on the disk for a ``SharedFolder``; blocks for as long as that takes.
///
/// Knows of no policy but that no path leads out. What is made gets its name whole, or not at all.
final class FolderStore: Sendable {
    /// Something that has a name in a folder.
    struct Place {
        let folder: OpenedFolder
        let name: String
    }

    let folder: ConfinedFolder
    let root: OpenedFolder
    let state: FolderState
    let logger: Logger

    /// Opens a folder, and takes away what others have left in it that were ended.
    init(path: String, _ logger: Logger = FolderOptions().logger) throws(SocketError) {
        folder = try ConfinedFolder(path: path)
        guard case .found(let file) = try folder.find(""), let root = OpenedFolder(file) else {
            throw SocketError(.unreadableFile, message: "“\(path)” can't be read.")
        }
        self.root = root
        self.logger = logger
        state = FolderState(root: root, logger)
        // What can't be cleared up, as on a disk that is only read, is no reason not to share.
        state.sweep()
    }

    /// Does something at a path, and says what the system said in words of paths.
    static func attempt<Value>(
        _ path: FolderPath,
        _ body: () throws(SocketError) -> Value
    ) throws(FolderError) -> Value {
        do throws(SocketError) { return try body() } catch { throw FolderError(error, path) }
    }

    // MARK: Looking

    /// What is at a path: a link that leads to something below is that.
    func status(of path: FolderPath) throws(FolderError) -> FileStatus? {
        if path.isRoot { return root.status }
        guard let place = try existingPlace(of: path) else { return nil }
        return try Self.attempt(path) { () throws(SocketError) in try look(at: place, path) }
    }

    private func look(at place: Place, _ path: FolderPath) throws(SocketError) -> FileStatus? {
        let status = try place.folder.status(of: place.name)
        if status?.kind != .link { return status }
        return try folder.status(of: path.text)
    }

    // MARK: Places

    /// Where something is, or is to be; `nil` where there is no folder for it.
    func existingPlace(of path: FolderPath) throws(FolderError) -> Place? {
        if path.isRoot { throw FolderError(.notPermitted, "The folder itself stays what it is.") }
        let finding = try Self.attempt(path) { () throws(SocketError) in try folder.find(path.parent.text) }
        guard case .found(let file) = finding, let folder = OpenedFolder(file) else { return nil }
        return Place(folder: folder, name: path.name)
    }

    /// Where something is to be.
    func place(of path: FolderPath) throws(FolderError) -> Place {
        guard let place = try existingPlace(of: path) else {
            throw FolderError(.noParent, "There is no folder “\(path.parent)”.")
        }
        return place
    }

    /// Where something is that is there.
    func source(_ path: FolderPath) throws(FolderError) -> (place: Place, status: FileStatus) {
        guard let place = try existingPlace(of: path),
            let status = try Self.attempt(path, { () throws(SocketError) in try place.folder.status(of: place.name) })
        else { throw FolderError(.nothing, "There is nothing at “\(path)”.") }
        return (place, status)
    }

    /// Where something can be made that is to have its place there: on the same file system.
    func stagingPlace(for target: Place) throws(SocketError) -> Place {
        let temporary = try state.temporaryFolder()
        let name = FolderState.randomName()
        if temporary.status.device == target.folder.status.device { return Place(folder: temporary, name: name) }
        state.sweep(beside: target.folder, now: .now)
        return Place(folder: target.folder, name: FolderState.prefixBeside + name)
    }

    // MARK: What is in a folder

    /// Something in a folder, by the name that the file system has.
    struct Found {
        let name: FileName
        let status: FileStatus
    }

    /// What is in a folder, in no order: files and folders, and links to such that are below.
    func entries(of path: FolderPath, atMost limit: Int, showsHidden: Bool) throws(FolderError) -> FolderListing {
        let (found, isTruncated) = try content(of: FileName(path.text), path, atMost: limit, showsHidden: showsHidden)
        var listing = FolderListing(entries: [], isTruncated: isTruncated)
        for one in found {
            guard let name = one.name.text, FolderPath.isName(name) else {
                if FolderEntry(one.name.escaped, one.status) != nil { listing.unlisted += 1 }
                continue
            }
            guard let entry = FolderEntry(name, one.status) else { continue }
            if path.appending(name) == nil || listing.entries.count == limit {
                listing.isTruncated = true
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
    ) throws(FolderError) -> (found: [Found], isTruncated: Bool) {
        guard let folder = OpenedFolder(try open(place, path)) else {
            throw FolderError(.isFile, "“\(path)” is a file.")
        }
        return try Self.attempt(path) { () throws(SocketError) in
            // One more is read, since the folder of our own may be among them.
            let (names, isTruncated) = try folder.allNames(atMost: limit == .max ? limit : limit + 1)
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
            return (found, isTruncated)
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

    // MARK: Changing names

    /// The attribute that clients' properties are in: it goes where a file goes.
    static let properties = "user.duplex.properties"
    /// How many numbers are tried for a name.
    private static let numberLimit = 1_000
    /// How often a name is tried that others change meanwhile.
    private static let attempts = 16

    func createFolder(_ path: FolderPath) throws(FolderError) {
        let place = try place(of: path)
        try Self.attempt(path) { () throws(SocketError) in try place.folder.makeFolder(place.name) }
    }

    /// Moves something; over file systems it is copied first.
    func move(_ from: FolderPath, to path: FolderPath, _ conflict: NameConflict) throws(FolderError) -> FolderChange {
        try Self.checkRoute(from, path)
        let source = try source(from)
        let target = try place(of: path)
        return try Self.attempt(path) { () throws(SocketError) in
            do throws(SocketError) {
                return try put(source.place, at: target, path, conflict, from: from)
            } catch  where error.code == .otherFileSystem {
                let change = try stage(source.place, for: target, path, conflict, isMove: true)
                try delete(source.place)
                return change
            }
        }
    }

    /// Copies something, with a number also to where it is; a link that leads to a file below is copied as that file.
    func copy(
        _ from: FolderPath,
        to path: FolderPath,
        _ conflict: NameConflict,
        onlyItself: Bool
    ) throws(FolderError) -> FolderChange {
        if from != path || conflict != .number { try Self.checkRoute(from, path) }
        let source = try source(from)
        let target = try place(of: path)
        if source.status.kind == .link {
            let file = try open(from)
            if file.kind != .file { throw FolderError(.notPermitted, "“\(from)” leads to a folder: it isn't copied.") }
            return try Self.attempt(path) { () throws(SocketError) in
                try stage(for: target, path, conflict) { staging throws(SocketError) in
                    try FolderTree.copyFile(file, to: staging.folder, as: staging.name, [Self.properties])
                }
            }
        }
        return try Self.attempt(path) { () throws(SocketError) in
            try stage(source.place, for: target, path, conflict, onlyItself: onlyItself)
        }
    }

    /// Into itself nothing goes, nor into its own place, nor in the place of a folder that it is in.
    private static func checkRoute(_ from: FolderPath, _ path: FolderPath) throws(FolderError) {
        if path.isWithin(from) || from.isWithin(path) {
            throw FolderError(.sameplace, "“\(from)” can't go to “\(path)”: the one is in the other.")
        }
    }

    /// Copies something beside its place, and puts it there.
    private func stage(
        _ source: Place,
        for target: Place,
        _ path: FolderPath,
        _ conflict: NameConflict,
        onlyItself: Bool = false,
        isMove: Bool = false
    ) throws(SocketError) -> FolderChange {
        try stage(for: target, path, conflict) { staging throws(SocketError) in
            try FolderTree.copy(
                source.name,
                in: source.folder,
                to: staging.folder,
                as: staging.name,
                onlyItself: onlyItself,
                isWhole: isMove,
                attributes: [Self.properties]
            )
        }
    }

    /// Has something made beside its place, and puts it there; of what fails nothing stays.
    private func stage(
        for target: Place,
        _ path: FolderPath,
        _ conflict: NameConflict,
        _ make: (Place) throws(SocketError) -> Void
    ) throws(SocketError) -> FolderChange {
        let staging = try stagingPlace(for: target)
        do throws(SocketError) {
            try make(staging)
            return try put(staging, at: target, path, conflict)
        } catch {
            clear(staging)
            throw error
        }
    }

    // MARK: Names

    /// Gives something its place, at once and as a whole; what was there is gone then, or has stayed.
    ///
    /// - Parameters:
    ///   - source: what gets the place.
    ///   - target: the place.
    ///   - path: the place, too.
    ///   - conflict: what happens to a file that is there.
    ///   - from: where the source is, if clients see it there.
    /// - Returns: where it is.
    /// - Throws: `SocketError`, and everything is as it was.
    func put(
        _ source: Place,
        at target: Place,
        _ path: FolderPath,
        _ conflict: NameConflict,
        from: FolderPath? = nil
    ) throws(SocketError) -> FolderChange {
        switch conflict {
        case .refuse:
            try source.folder.rename(source.name, to: target.folder, as: target.name, .refuse)
            return FolderChange(path: path, replaced: false)
        case .number:
            let name = try number(source, at: target)
            return FolderChange(path: path.named(name), replaced: false)
        case .replace:
            return FolderChange(path: path, replaced: try replace(source, at: target, from: from))
        }
    }

    /// The same for a file, which stays there behind a loss of power.
    ///
    /// What can't be made sure of is undone: the file that was there is kept until then, under the other name.
    func put(
        syncing source: Place,
        at target: Place,
        _ path: FolderPath,
        _ conflict: NameConflict
    ) throws(SocketError) -> FolderChange {
        try source.folder.writableFile(source.name).sync()
        let isKept = conflict == .replace ? try exchange(source, target) : false
        let change =
            isKept ? FolderChange(path: path, replaced: true) : try put(source, at: target, path, conflict)
        do throws(SocketError) { try target.folder.sync() } catch {
            try undo(change, source, target, isKept: isKept, error)
        }
        if isKept { clear(source) }
        return change
    }

    /// Gives a file the place of another, which gets its name; returns false where there is no other, or no way to do that.
    private func exchange(_ source: Place, _ target: Place) throws(SocketError) -> Bool {
        guard let there = try target.folder.status(of: target.name), there.kind != .folder else { return false }
        do throws(SocketError) {
            try source.folder.rename(source.name, to: target.folder, as: target.name, .exchange)
            return true
        } catch  where [ENOENT, EINVAL, ENOTSUP].contains(error.errno ?? 0) {
            return false
        }
    }

    /// Takes a file out of its place again; where that can't be done it stays, and is logged.
    private func undo(
        _ change: FolderChange,
        _ source: Place,
        _ target: Place,
        isKept: Bool,
        _ error: SocketError
    ) throws(SocketError) {
        do throws(SocketError) {
            if isKept {
                try source.folder.rename(source.name, to: target.folder, as: target.name, .exchange)
            } else if !change.replaced {
                try target.folder.rename(change.path.name, to: source.folder, as: source.name, .refuse)
            } else {
                throw error
            }
        } catch let other {
            return logger.warning(
                "A file is in its place, and may not be after a loss of power.",
                metadata: ["path": "\(change.path)", "error": "\(error)", "undoing": "\(other)"]
            )
        }
        throw error
    }

    private func number(_ source: Place, at target: Place) throws(SocketError) -> String {
        for number in 0..<Self.numberLimit {
            let name = Self.numbered(target.name, number)
            do throws(SocketError) {
                try source.folder.rename(source.name, to: target.folder, as: name, .refuse)
                return name
            } catch  where error.code == .fileExists && number + 1 < Self.numberLimit {}
        }
        throw SocketError(.fileExists, message: "There are too many of “\(target.name)”.", errno: EEXIST)
    }

    /// `a.txt`, `a (1).txt`, `a (2).txt`; as long as names may be.
    static func numbered(_ name: String, _ number: Int) -> String {
        if number == 0 { return name }
        let dot = name.lastIndex(of: ".").flatMap { $0 == name.startIndex ? nil : $0 } ?? name.endIndex
        let (end, mark) = (name[dot...], " (\(number))")
        var stem = name[..<dot]
        while stem.count > 1, stem.utf8.count + end.utf8.count + mark.utf8.count > FolderPath.nameLimit {
            stem.removeLast()
        }
        return stem + mark + end
    }

    /// Returns whether something was there.
    private func replace(_ source: Place, at target: Place, from: FolderPath?) throws(SocketError) -> Bool {
        for _ in 0..<Self.attempts {
            let status = try source.folder.status(of: source.name)
            guard let there = try target.folder.status(of: target.name) else {
                do throws(SocketError) {
                    try source.folder.rename(source.name, to: target.folder, as: target.name, .refuse)
                    return false
                } catch  where error.code == .fileExists { continue }
            }
            if there.kind != .folder && status?.kind != .folder {
                try source.folder.rename(source.name, to: target.folder, as: target.name, .replace)
                return true
            }
            // Two names of one folder, which differ where the file system sees no difference: it is all there is.
            if let status, status.isSame(as: there) {
                try source.folder.rename(source.name, to: target.folder, as: target.name, .replace)
                return true
            }
            // What was there takes the other place, so that at no time there is nothing, and goes from there.
            var note: String?
            if let from { note = try state.note(there, leaves: from) }
            defer { note.map(state.forget) }
            do throws(SocketError) {
                try source.folder.rename(source.name, to: target.folder, as: target.name, .exchange)
            } catch  where error.errno == ENOENT { continue }
            do throws(SocketError) {
                // It has been replaced, whatever is left of it on the disk.
                clear(try takeOut(source))
            } catch {
                try? source.folder.rename(source.name, to: target.folder, as: target.name, .exchange)
                throw error
            }
            return true
        }
        throw SocketError(.system, message: "“\(target.name)” is changed all the time.", errno: EAGAIN)
    }

    // MARK: Removing for good

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
    private func takeOut(_ place: Place) throws(SocketError) -> Place {
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

// The names in a folder.

/// What is in a folder of a ``SharedFolder``, as clients see it.
struct FolderListing: Sendable {
    /// Files and folders, in no order.
    var entries: [FolderEntry]
    /// Whether there are more: than were asked for, or than paths lead to, which have a hundred names at most.
    var isTruncated: Bool
    /// How many there are whose names can't be in a path: they aren't UTF-8, or have characters that nobody could read.
    var unlisted = 0
}
