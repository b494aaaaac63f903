// SPDX-License-Identifier: Apache-2.0
// Copyright (c) the Duplex authors

import DuplexFoundation
import DuplexServer
import DuplexWire

// What changes the folder. What is refused is refused before anything is done, as far as that can be known.

extension UploaderHandler {
    private struct NewFolder: Decodable {
        var path: String
    }

    private struct NewName: Decodable {
        var path: String
        var name: String
    }

    private struct NewPlaces: Decodable {
        var from: [String]
        var to: String
        var clash: String?
    }

    private struct Unwanted: Decodable {
        var paths: [String]
        var forever: Bool?
    }

    private struct Items: Decodable {
        var ids: [String]
    }

    /// Makes a folder.
    func create(_ request: Request) async throws -> Response {
        try await answer {
            let visitor = try writer(request)
            let path = try Self.path(try await request.decode(NewFolder.self).path)
            try await folder.createFolder(path, by: visitor)
            return try Self.changed([(nil, FolderChange(path: path, replaced: false))])
        }
    }

    /// Gives something another name where it is.
    func rename(_ request: Request) async throws -> Response {
        try await answer {
            let visitor = try writer(request)
            let wanted = try await request.decode(NewName.self)
            let path = try Self.path(wanted.path)
            let change = try await folder.move(path, to: try Self.path(path.parent, wanted.name), by: visitor)
            return try Self.changed([(path, change)])
        }
    }

    static func changed(_ changes: [(from: FolderPath?, change: FolderChange)]) throws -> Response {
        try UploaderAnswer.json(UploaderAnswer.Changed(changes))
    }

    // MARK: Other places

    /// Moves things into a folder.
    func move(_ request: Request) async throws -> Response {
        try await transfer(request, isMove: true)
    }

    /// Copies things into a folder.
    func copy(_ request: Request) async throws -> Response {
        try await transfer(request, isMove: false)
    }

    private func transfer(_ request: Request, isMove: Bool) async throws -> Response {
        try await answer {
            let visitor = try writer(request)
            let wanted = try await request.decode(NewPlaces.self)
            let (to, clash) = (try Self.path(wanted.to), try Self.clash(wanted.clash))
            let sources = try wanted.from.map { text throws in try Self.path(text) }
            let targets = try sources.map { path throws in try Self.path(to, path.name) }
            guard try await folder.entry(at: to)?.kind == .folder else {
                throw FolderError(.nothing, "There is no folder “\(to)”.")
            }
            try await check(sources, areApart: isMove)
            if clash != .number { try await checkNames(targets, areFree: clash == .refuse) }
            var changes: [(from: FolderPath?, change: FolderChange)] = []
            for (path, target) in Swift.zip(sources, targets) {
                let change =
                    isMove
                    ? try await folder.move(path, to: target, clash: clash, by: visitor)
                    : try await folder.copy(path, to: target, clash: clash, by: visitor)
                changes.append((path, change))
            }
            return try Self.changed(changes)
        }
    }

    /// Throws where one of them isn't there, or, where they are to be apart, is in another one, with which it would be gone.
    private func check(_ paths: [FolderPath], areApart: Bool) async throws {
        let all = Set(paths)
        if all.count < paths.count { throw FolderError(.sameplace, "One of the paths is named twice.") }
        for path in paths {
            if path.isRoot { throw FolderError(.notPermitted, "The folder itself stays what it is.") }
            if try await folder.entry(at: path) == nil {
                throw FolderError(.nothing, "There is nothing at “\(path)”.")
            }
            var parent = path.parent
            while areApart, !parent.isRoot {
                if all.contains(parent) { throw FolderError(.sameplace, "“\(path)” is in “\(parent)”.") }
                parent = parent.parent
            }
        }
    }

    /// Throws where two are the same, or, where they are to be free, something has one of them.
    private func checkNames(_ targets: [FolderPath], areFree: Bool) async throws {
        var names: Set<FolderPath> = []
        for target in targets {
            let isTaken = areFree ? try await folder.entry(at: target) != nil : false
            if isTaken || !names.insert(target).inserted {
                throw FolderError(.exists, "There is “\(target)” already.")
            }
        }
    }

    // MARK: The trash

    /// Puts things into the trash, or removes them for good.
    func delete(_ request: Request) async throws -> Response {
        try await answer {
            let visitor = try writer(request)
            let wanted = try await request.decode(Unwanted.self)
            let paths = try wanted.paths.map { text throws in try Self.path(text) }
            try await check(paths, areApart: true)
            var trashed: [UploaderAnswer.Place] = []
            for path in paths {
                if wanted.forever == true {
                    try await folder.delete(path, by: visitor)
                    continue
                }
                let item = try await folder.discard(path, by: visitor)
                trashed.append(UploaderAnswer.Place(id: item.id, path: item.path.text))
            }
            return try UploaderAnswer.json(UploaderAnswer.Trashed(trashed: trashed))
        }
    }

    /// What is in the trash, for those who can have it back.
    func trash(_ request: Request) async throws -> Response {
        try await answer {
            _ = try writer(request)
            let items = try await folder.trash().filter { folder.shows($0.path) }
            return try await UploaderAnswer.long { UploaderAnswer.Trash(items: items.map { UploaderAnswer.Item($0) }) }
        }
    }

    /// Takes things out of the trash, to where they were.
    func restore(_ request: Request) async throws -> Response {
        try await answer {
            let visitor = try writer(request)
            let ids = try await request.decode(Items.self).ids
            if Set(ids).count < ids.count { throw FolderError(.nothing, "One of these is named twice.") }
            var items: [TrashedItem] = []
            for id in ids {
                guard let item = try await folder.trashedItem(id) else {
                    throw FolderError(.nothing, "That isn't in the trash.")
                }
                items.append(item)
            }
            var restored: [UploaderAnswer.Place] = []
            for item in items {
                let change = try await folder.restore(item, by: visitor)
                restored.append(UploaderAnswer.Place(id: item.id, path: change.path.text))
            }
            return try UploaderAnswer.json(UploaderAnswer.Restored(restored: restored))
        }
    }

    /// Removes for good what is in the trash.
    func empty(_ request: Request) async throws -> Response {
        try await answer {
            let visitor = try writer(request)
            try await folder.emptyTrash(by: visitor)
            return try UploaderAnswer.json([String: String]())
        }
    }
}
