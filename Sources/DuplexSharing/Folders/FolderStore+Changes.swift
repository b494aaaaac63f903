// SPDX-License-Identifier: Apache-2.0
// Copyright (c) the Duplex authors

import DuplexSockets
import Logging

#if canImport(Glibc)
import Glibc
#else
import Darwin
#endif

// What changes the names in a shared folder.

extension FolderStore {
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
    func move(_ from: FolderPath, to path: FolderPath, _ clash: NameClash) throws(FolderError) -> FolderChange {
        try Self.checkRoute(from, path)
        let source = try source(from)
        let target = try place(of: path)
        return try Self.attempt(path) { () throws(SocketError) in
            do throws(SocketError) {
                return try put(source.place, at: target, path, clash, from: from)
            } catch  where error.code == .otherFileSystem {
                let change = try stage(source.place, for: target, path, clash, isMove: true)
                try delete(source.place)
                return change
            }
        }
    }

    /// Copies something, with a number also to where it is; a link that leads to a file below is copied as that file.
    func copy(
        _ from: FolderPath,
        to path: FolderPath,
        _ clash: NameClash,
        onlyItself: Bool
    ) throws(FolderError) -> FolderChange {
        if from != path || clash != .number { try Self.checkRoute(from, path) }
        let source = try source(from)
        let target = try place(of: path)
        if source.status.kind == .link {
            let file = try open(from)
            if file.kind != .file { throw FolderError(.notPermitted, "“\(from)” leads to a folder: it isn't copied.") }
            return try Self.attempt(path) { () throws(SocketError) in
                try stage(for: target, path, clash) { staging throws(SocketError) in
                    try FolderTree.copyFile(file, to: staging.folder, as: staging.name, [Self.properties])
                }
            }
        }
        return try Self.attempt(path) { () throws(SocketError) in
            try stage(source.place, for: target, path, clash, onlyItself: onlyItself)
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
        _ clash: NameClash,
        onlyItself: Bool = false,
        isMove: Bool = false
    ) throws(SocketError) -> FolderChange {
        try stage(for: target, path, clash) { staging throws(SocketError) in
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
        _ clash: NameClash,
        _ make: (Place) throws(SocketError) -> Void
    ) throws(SocketError) -> FolderChange {
        let staging = try stagingPlace(for: target)
        do throws(SocketError) {
            try make(staging)
            return try put(staging, at: target, path, clash)
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
    ///   - clash: what happens to a file that is there.
    ///   - from: where the source is, if clients see it there.
    /// - Returns: where it is.
    /// - Throws: `SocketError`, and everything is as it was.
    func put(
        _ source: Place,
        at target: Place,
        _ path: FolderPath,
        _ clash: NameClash,
        from: FolderPath? = nil
    ) throws(SocketError) -> FolderChange {
        switch clash {
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
        _ clash: NameClash
    ) throws(SocketError) -> FolderChange {
        try source.folder.writableFile(source.name).sync()
        let isKept = clash == .replace ? try exchange(source, target) : false
        let change =
            isKept ? FolderChange(path: path, replaced: true) : try put(source, at: target, path, clash)
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
}
