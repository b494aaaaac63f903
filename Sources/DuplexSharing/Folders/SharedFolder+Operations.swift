// SPDX-License-Identifier: Apache-2.0
// Copyright (c) the Duplex authors

import DuplexSockets
import Synchronization

// What is done in a shared folder.

extension SharedFolder {
    // MARK: Looking

    /// What is at a path.
    ///
    /// - Parameter path: the path.
    /// - Returns: the file or folder; `nil` where there is none.
    /// - Throws: ``FolderError`` where the disk can't say.
    public func entry(at path: FolderPath) async throws -> FolderEntry? {
        if !shows(path) { return nil }
        return try await Self.look { [store] () throws(FolderError) in
            try store.status(of: path).flatMap { FolderEntry(path.name, $0) }
        }
    }

    /// What is in a folder, in no order; links to places outside, pipes and devices aren't, nor what has a name that can't be in a
    /// path.
    ///
    /// - Parameter path: of the folder.
    /// - Returns: files and folders, and whether there are more than ``FolderOptions/listingLimit``, or any that lie deeper than
    ///   paths lead.
    /// - Throws: ``FolderError`` with `nothing` or `isFile` where there is no folder.
    public func entries(of path: FolderPath) async throws -> (entries: [FolderEntry], isCut: Bool) {
        let listing = try await listing(of: path)
        return (listing.entries, listing.isCut)
    }

    /// The same, and how many have names that can't be in a path.
    func listing(of path: FolderPath) async throws -> FolderListing {
        if !shows(path) { throw FolderError(.nothing, "There is nothing at “\(path)”.") }
        return try await Self.look { [store, options] () throws(FolderError) in
            try store.entries(of: path, atMost: options.listingLimit, showsHidden: options.showsHidden)
        }
    }

    /// Opens what is at a path for reading.
    func open(_ path: FolderPath, by visitor: FolderVisitor) async throws -> OpenedFile {
        try await perform(FolderOperation(.read, path, by: visitor)) { [store] () throws(FolderError) in
            try store.open(path)
        }
    }

    /// Opens what is at a path of the names that the file system has; the app is asked for the same in text.
    func open(_ place: FileName, _ path: FolderPath, by visitor: FolderVisitor) async throws -> OpenedFile {
        try await perform(FolderOperation(.read, path, by: visitor)) { [store] () throws(FolderError) in
            try store.open(place, path)
        }
    }

    // MARK: Changing

    /// Makes a folder.
    ///
    /// - Parameters:
    ///   - path: where; what it is in has to be there.
    ///   - visitor: who does it. Default: the app.
    /// - Throws: ``FolderError``; what ``FolderOptions/before`` throws.
    public func createFolder(_ path: FolderPath, by visitor: FolderVisitor = .app) async throws {
        try await perform(FolderOperation(.createFolder, path, by: visitor)) { [self] () throws(FolderError) in
            try store.createFolder(path)
            // Something that went by another program may have left some.
            follow(path) { keeper throws(SocketError) in try keeper.remove(path) }
        }
    }

    /// Gives something another name or place, at once and as a whole; over file systems it is copied first.
    ///
    /// - Parameters:
    ///   - from: where it is.
    ///   - path: where it is to be.
    ///   - clash: what happens where something is there already. Default: it is an error.
    ///   - visitor: who does it. Default: the app.
    /// - Returns: where it is now.
    /// - Throws: ``FolderError``, and everything is as it was; what ``FolderOptions/before`` throws.
    @discardableResult
    public func move(
        _ from: FolderPath,
        to path: FolderPath,
        clash: NameClash = .refuse,
        by visitor: FolderVisitor = .app
    ) async throws -> FolderChange {
        let operation = FolderOperation(.move, from, to: path, by: visitor)
        return try await perform(operation, on: Self.trees) { [self] () throws(FolderError) in
            if try store.status(of: from)?.kind == .file { try checkFile(path, size: nil) }
            if clash == .replace { usage.forget() }
            let change = try store.move(from, to: path, clash)
            follow(change.path) { keeper throws(SocketError) in try keeper.move(from, to: change.path) }
            return change
        }
    }

    /// Copies something with all that is in it, whatever the names are and however deep; the copy gets its name when it is whole.
    ///
    /// Links within a folder, pipes and devices are left out.
    ///
    /// - Parameters:
    ///   - from: where it is.
    ///   - path: where the copy is to be.
    ///   - clash: what happens where something is there already. Default: it is an error.
    ///   - onlyItself: whether what is in a folder is left out. Default: no.
    ///   - visitor: who does it. Default: the app.
    /// - Returns: where the copy is.
    /// - Throws: ``FolderError``, and everything is as it was; what ``FolderOptions/before`` throws.
    @discardableResult
    public func copy(
        _ from: FolderPath,
        to path: FolderPath,
        clash: NameClash = .refuse,
        onlyItself: Bool = false,
        by visitor: FolderVisitor = .app
    ) async throws -> FolderChange {
        let operation = FolderOperation(.copy, from, to: path, by: visitor)
        return try await perform(operation, on: Self.trees) { [self] () throws(FolderError) in
            let size = try size(of: from, onlyItself: onlyItself)
            if size.isFile { try checkFile(path, size: size.bytes) }
            try checkRoom(for: size.bytes)
            let change = try store.copy(from, to: path, clash, onlyItself: onlyItself)
            change.replaced ? usage.forget() : usage.add(size.bytes)
            follow(change.path) { keeper throws(SocketError) in
                try keeper.copy(from, to: change.path, onlyItself: onlyItself)
            }
            return change
        }
    }

    private func size(
        of path: FolderPath,
        onlyItself: Bool
    ) throws(FolderError) -> (bytes: UInt64, isFile: Bool) {
        guard let status = try store.status(of: path) else {
            throw FolderError(.nothing, "There is nothing at “\(path)”.")
        }
        if status.kind == .file { return (status.size, true) }
        guard !onlyItself, let folder = OpenedFolder(try store.open(path)) else { return (0, false) }
        return (
            try FolderStore.attempt(path) { () throws(SocketError) in try FolderTree.size(of: folder).bytes }, false
        )
    }

    /// Removes something for good, with all that is in it, however deep: at once out of sight.
    ///
    /// - Parameters:
    ///   - path: where it is.
    ///   - visitor: who does it. Default: the app.
    /// - Throws: ``FolderError``, and what can't be removed is where it was; what ``FolderOptions/before`` throws.
    public func delete(_ path: FolderPath, by visitor: FolderVisitor = .app) async throws {
        try await perform(
            FolderOperation(.delete, path, by: visitor),
            on: Self.trees
        ) { [self] () throws(FolderError) in
            defer { usage.forget() }
            try store.delete(path)
            follow(path) { keeper throws(SocketError) in try keeper.remove(path) }
        }
    }

    // MARK: The trash

    /// Moves something into the trash, from which it can be restored; items older than ``FolderOptions/trashAge`` are
    /// removed.
    ///
    /// - Parameters:
    ///   - path: where it is.
    ///   - visitor: who does it. Default: the app.
    /// - Returns: what is in the trash now.
    /// - Throws: ``FolderError``; what ``FolderOptions/before`` throws.
    @discardableResult
    public func discard(_ path: FolderPath, by visitor: FolderVisitor = .app) async throws -> TrashedItem {
        let operation = FolderOperation(.delete, path, by: visitor)
        return try await perform(operation, on: Self.trees) { [self] () throws(FolderError) in
            let (trash, now) = (FolderTrash(store: store), UnixTime.now)
            let item = try trash.take(path, now: now)
            follow(path) { keeper throws(SocketError) in try keeper.remove(path) }
            if isTrashDue(now) {
                // What can't be cleared up now is cleared up the next time.
                try? trash.empty(before: now.advanced(by: .zero - options.trashAge))
                try? trash.sweep(before: UnixTime(seconds: now.seconds - 3_600))
            }
            return item
        }
    }

    /// Whether it is time to look for what is old in the trash: once a minute, as all that is in it is looked at.
    private func isTrashDue(_ now: UnixTime) -> Bool {
        trashLooked.withLock { looked in
            if let looked, now.seconds - looked.seconds < 60 { return false }
            looked = now
            return true
        }
    }

    /// What is in the trash, the latest first.
    ///
    /// - Returns: the items.
    /// - Throws: ``FolderError``.
    public func trash() async throws -> [TrashedItem] {
        try await Self.look(on: Self.walks) { [store] () throws(FolderError) in try FolderTrash(store: store).items() }
    }

    /// One thing in the trash, whatever else is there.
    ///
    /// - Parameter id: its name in the trash.
    /// - Returns: the item; `nil` where there is none of that name.
    /// - Throws: ``FolderError``.
    public func trashedItem(_ id: String) async throws -> TrashedItem? {
        try await Self.look { [store] () throws(FolderError) in try FolderTrash(store: store).item(id) }
    }

    /// Puts something from the trash back where it was, with a number where something else is there.
    ///
    /// - Parameters:
    ///   - item: what is in the trash.
    ///   - visitor: who does it. Default: the app.
    /// - Returns: where it is now.
    /// - Throws: ``FolderError``; what ``FolderOptions/before`` throws.
    @discardableResult
    public func restore(_ item: TrashedItem, by visitor: FolderVisitor = .app) async throws -> FolderChange {
        try await perform(FolderOperation(.restore, item.path, by: visitor)) { [self] () throws(FolderError) in
            let change = try FolderTrash(store: store).restore(item.id)
            follow(change.path) { keeper throws(SocketError) in try keeper.remove(change.path) }
            return change
        }
    }

    /// Removes for good what is in the trash.
    ///
    /// - Parameter visitor: who does it. Default: the app.
    /// - Throws: ``FolderError`` of the first item that can't be removed, which is in the trash still; the others have gone.
    public func emptyTrash(by visitor: FolderVisitor = .app) async throws {
        try check(FolderOperation(.delete, .root, by: visitor))
        try await Self.run(on: Self.trees) { [store, usage] () throws(FolderError) in
            defer { usage.forget() }
            try FolderTrash(store: store).empty(before: UnixTime(seconds: .max))
        }
    }
}
