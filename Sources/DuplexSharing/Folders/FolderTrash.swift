// SPDX-License-Identifier: Apache-2.0
// Copyright (c) the Duplex authors

import DuplexSockets
public import DuplexWire

/// A deleted item, which can be restored.
public struct TrashedItem: Sendable, Hashable {
    /// Its name in the trash.
    public let id: String
    /// Where it was.
    public let path: FolderPath
    /// What it is.
    public let kind: FolderEntry.Kind
    /// How many bytes a file has; 0 for a folder.
    public let size: UInt64
    /// When it was deleted.
    public let deleted: UnixTime
}

/// What was deleted from a ``SharedFolder``, each in a folder of its own with a note of where it was.
struct FolderTrash {
    private static let folderName = "trash"
    private static let itemName = "item"
    private static let noteName = "note"
    /// A note is a number and a path.
    private static let noteLimit = 64 * 1_024

    let store: FolderStore

    /// Puts something into the trash.
    func take(_ path: FolderPath, now: UnixTime) throws(FolderError) -> TrashedItem {
        let source = try store.source(path)
        guard let entry = FolderEntry(path.name, source.status) else {
            throw FolderError(.notPermitted, "“\(path)” is neither a file nor a folder.")
        }
        let id = FolderState.randomName()
        try FolderStore.attempt(path) { () throws(SocketError) in
            let trash = try store.state.folder(Self.folderName)
            try trash.makeFolder(id)
            let place = try trash.folder(id)
            do throws(SocketError) {
                // The note first: what has none can't come back.
                try Self.write("\(now.seconds)\n\(path.text)\n", in: place)
                try source.place.folder.rename(source.place.name, to: place, as: Self.itemName, .refuse)
            } catch {
                store.clear(FolderStore.Place(folder: trash, name: id))
                throw error
            }
        }
        return TrashedItem(id: id, path: path, kind: entry.kind, size: entry.size, deleted: now)
    }

    /// On a full disk there may still be room for the text of a link, which file systems have beside a name.
    private static func write(_ note: String, in place: OpenedFolder) throws(SocketError) {
        do throws(SocketError) { try place.makeFile(noteName).write(Array(note.utf8)) } catch  where error.isOutOfSpace
        {
            try? place.removeFile(noteName)
            try place.makeLink(noteName, note)
        }
    }

    private static func note(in place: OpenedFolder) -> String? {
        if let text = try? place.link(noteName) { return text }
        guard let file = try? place.file(noteName),
            let bytes = try? file.range(from: 0, count: file.size).readAll(atMost: noteLimit)
        else { return nil }
        return String(validating: bytes, as: UTF8.self)
    }

    /// What is in the trash, the latest first.
    func items() throws(FolderError) -> [TrashedItem] {
        let found = try FolderStore.attempt(.root) { () throws(SocketError) -> [TrashedItem] in
            guard let trash = try store.state.existingFolder(Self.folderName) else { return [] }
            return try trash.names(atMost: .max).names.compactMap { item($0, in: trash) }
        }
        return found.sorted { ($1.deleted.seconds, $1.id) < ($0.deleted.seconds, $0.id) }
    }

    /// What is there under that name; `nil` where nothing is.
    func item(_ id: String) throws(FolderError) -> TrashedItem? {
        guard let trash = try trash() else { return nil }
        return item(id, in: trash)
    }

    private func item(_ id: String, in trash: OpenedFolder) -> TrashedItem? {
        guard let place = try? trash.folder(id), let status = try? place.status(of: Self.itemName),
            let note = Self.note(in: place)
        else { return nil }
        let lines = note.split(separator: "\n", omittingEmptySubsequences: false)
        guard lines.count == 3, let seconds = Int64(lines[0]), let path = FolderPath(String(lines[1])), !path.isRoot,
            let entry = FolderEntry(path.name, status)
        else { return nil }
        let deleted = UnixTime(seconds: seconds)
        return TrashedItem(id: id, path: path, kind: entry.kind, size: entry.size, deleted: deleted)
    }

    /// Puts something back where it was, with a number where something else is there; folders that are gone are made again.
    func restore(_ id: String) throws(FolderError) -> FolderChange {
        guard let trash = try trash(), let item = item(id, in: trash) else {
            throw FolderError(.nothing, "That isn't in the trash.")
        }
        var parents: [FolderPath] = []
        var parent = item.path.parent
        while !parent.isRoot, try store.status(of: parent) == nil {
            parents.append(parent)
            parent = parent.parent
        }
        for path in parents.reversed() { try store.createFolder(path) }
        let target = try store.place(of: item.path)
        return try FolderStore.attempt(item.path) { () throws(SocketError) in
            let source = FolderStore.Place(folder: try trash.folder(id), name: Self.itemName)
            let change = try store.put(source, at: target, item.path, .number)
            // It is back: what may be left in the trash is a note of nothing.
            store.clear(FolderStore.Place(folder: trash, name: id))
            return change
        }
    }

    /// Takes everything out for good that was deleted before.
    ///
    /// - Throws: ``FolderError`` of the first item that can't be removed whole: it is in the trash still, and the others have gone.
    func empty(before time: UnixTime) throws(FolderError) {
        guard let trash = try trash() else { return }
        var fault: FolderError?
        for item in try items() where item.deleted.seconds < time.seconds {
            do throws(SocketError) {
                // Its note goes last, as what has none is no item.
                try store.delete(FolderStore.Place(folder: try trash.folder(item.id), name: Self.itemName))
                try FolderTree.remove(item.id, in: trash)
            } catch {
                store.state.stays("\(Self.folderName)/\(item.id)", error)
                if fault == nil { fault = FolderError(deleting: item.path, error) }
            }
        }
        if let fault { throw fault }
    }

    /// Takes out what was never put in whole: its process was ended meanwhile.
    func sweep(before time: UnixTime) throws(FolderError) {
        guard let trash = try trash() else { return }
        let names = try FolderStore.attempt(.root) { () throws(SocketError) in try trash.names(atMost: .max).names }
        for id in names where item(id, in: trash) == nil {
            guard let status = try? trash.status(of: id), status.changed.seconds < time.seconds else { continue }
            store.clear(FolderStore.Place(folder: trash, name: id))
        }
    }

    private func trash() throws(FolderError) -> OpenedFolder? {
        try FolderStore.attempt(.root) { () throws(SocketError) in try store.state.existingFolder(Self.folderName) }
    }
}
