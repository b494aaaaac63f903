// SPDX-License-Identifier: Apache-2.0
// Copyright (c) the Duplex authors

import DuplexFoundation
import DuplexServer
import DuplexSockets
import DuplexWire
import HTTPTypes
import Synchronization

/// Answers the requests of the uploader's API with a shared folder.
final class UploaderHandler: Sendable {
    let folder: SharedFolder
    let options: UploaderOptions

    init(_ folder: SharedFolder, _ options: UploaderOptions) {
        self.folder = folder
        self.options = options
    }

    /// Has what the folder refuses answered as the problem that it is.
    func answer<Value>(_ body: () async throws -> Value) async throws -> Value {
        do { return try await body() } catch let error as FolderError { throw error.problem }
    }

    // MARK: What requests say

    /// Where a text leads.
    ///
    /// - Throws: `FolderError` with `badName` where that can't be a path.
    static func path(_ text: String) throws(FolderError) -> FolderPath {
        guard let path = FolderPath(text) else { throw FolderError(.badName, "That can't be a path here.") }
        return path
    }

    /// What is in a folder under that name.
    static func path(_ folder: FolderPath, _ name: String) throws(FolderError) -> FolderPath {
        guard let path = folder.appending(name) else { throw FolderError(.badName, "That can't be a name here.") }
        return path
    }

    /// The path that the query names; that of the folder itself where it names none.
    static func path(of request: Request) throws -> FolderPath {
        try path(request.query["path"] ?? "")
    }

    /// What happens to names that are taken.
    ///
    /// - Parameter text: `refuse`, `replace` or `number`; `nil` for the first.
    /// - Returns: the policy.
    /// - Throws: `Problem` with 400 for another text.
    static func conflict(_ text: String?) throws(Problem) -> NameConflict {
        guard let text else { return .refuse }
        guard let conflict = NameConflict(rawValue: text) else {
            throw Problem(.badRequest, "“clash” is refuse, replace or number.")
        }
        return conflict
    }

    // MARK: Who asks

    /// Throws where a client may not look.
    func checkReading(_ request: Request) throws(Problem) {
        do throws(FolderError) {
            try folder.checkReading(FolderVisitor(request), .root)
        } catch { throw error.problem }
    }

    /// Who makes a request that changes something.
    ///
    /// - Throws: `FolderError` with `notPermitted` where that visitor may not, before anything about the folder is
    ///   revealed.
    func writer(_ request: Request) throws(FolderError) -> FolderVisitor {
        let visitor = FolderVisitor(request)
        guard !options.isReadOnly, folder.mayWrite(visitor) else {
            throw FolderError(.notPermitted, "You may not change anything here.")
        }
        return visitor
    }

    // MARK: Looking

    /// What is in a folder.
    func list(_ request: Request) async throws -> Response {
        try await answer {
            let (path, visitor) = (try Self.path(of: request), FolderVisitor(request))
            try folder.checkReading(visitor, path)
            let listing = try await folder.listing(of: path)
            let room = try await folder.space()
            let mayWrite = !options.isReadOnly && folder.mayWrite(visitor)
            return try await UploaderAnswer.long {
                UploaderAnswer.Listing(
                    path: path.text,
                    entries: listing.entries.map { UploaderAnswer.Entry($0) },
                    isCut: listing.isTruncated,
                    unlisted: listing.unlisted,
                    mayWrite: mayWrite,
                    free: Int(clamping: room.free),
                    quota: room.quota.map { Int(clamping: $0) }
                )
            }
        }
    }

    /// What has a text in its name, in a folder and below it.
    func search(_ request: Request) async throws -> Response {
        try await answer {
            let path = try Self.path(of: request)
            guard let text = try request.query["text"], !text.isEmpty else {
                throw Problem(.badRequest, "“text” says what to look for in names.")
            }
            let (found, isTruncated) = try await folder.search(
                for: text,
                below: path,
                lookingAt: options.searchLimit,
                finding: options.resultLimit,
                by: FolderVisitor(request)
            )
            return try await UploaderAnswer.long {
                let entries = found.map { UploaderAnswer.Entry($0.entry, at: $0.path) }
                return UploaderAnswer.Found(entries: entries, isCut: isTruncated)
            }
        }
    }

    // MARK: Files

    /// A file to be kept.
    func download(_ request: Request) async throws -> Response {
        try await answer {
            let (path, file) = try await open(request)
            var response = try response(of: file, at: path, to: request)
            response.attach(as: path.name)
            return response
        }
    }

    /// A file to be shown in the page, in which it can do nothing.
    func view(_ request: Request) async throws -> Response {
        try await answer {
            let (path, file) = try await open(request)
            var response = try response(of: file, at: path, to: request)
            let type = MediaType.ofFile(named: path.name)
            response.headers[.contentSecurityPolicy] = UploaderPage.contentSecurityPolicy(ofView: type)
            response.headers[.xFrameOptions] = "SAMEORIGIN"
            response.headers[.contentDisposition] = ContentDisposition.inline(filename: path.name).description
            return response
        }
    }

    /// A file that pages of other sites can't have in themselves, and that nobody between keeps.
    private func response(of file: OpenedFile, at path: FolderPath, to request: Request) throws -> Response {
        var response = try SharedFolder.response(of: file, at: path, to: request)
        response.headers[.cacheControl] = "private, no-cache"
        response.headers[.crossOriginResourcePolicy] = "same-origin"
        return response
    }

    private func open(_ request: Request) async throws -> (path: FolderPath, file: OpenedFile) {
        let path = try Self.path(of: request)
        let file = try await folder.open(path, by: FolderVisitor(request))
        guard file.kind == .file else { throw Problem(.badRequest, "A folder is downloaded as a zip.") }
        return (path, file)
    }

    /// Files and folders as a zip that is made while it is sent; the query names them.
    func zip(_ request: Request) async throws -> Response {
        try await answer { try await zip(of: request.query[values: "path"], request) }
    }

    /// The same, of more than an address can name: a form does, a line for each, as no name has a line end.
    func zipOfForm(_ request: Request) async throws -> Response {
        try await answer {
            let lines = try await request.form()["paths"]?.split(whereSeparator: \.isNewline) ?? []
            return try await zip(of: lines.map(String.init), request)
        }
    }

    /// Of how many paths a zip is made at most: all of them are looked at before the response begins.
    private static let mostZipped = 10_000

    private func zip(of texts: [String], _ request: Request) async throws -> Response {
        var named: Set<FolderPath> = []
        // Each once: naming one often would make much of a few bytes.
        let paths = try texts.map { text throws in try Self.path(text) }.filter { named.insert($0).inserted }
        if paths.count > Self.mostZipped {
            throw Problem(.badRequest, "A zip is made of \(Self.mostZipped) paths at most.")
        }
        if paths.isEmpty { throw Problem(.badRequest, "“path” says, once for each, what the zip is made of.") }
        let body = try await folder.zip(of: paths, method: options.zips, by: FolderVisitor(request))
        var response = Response(type: "application/zip", headers: [.cacheControl: "no-store"], body: body)
        // The page has it come into a frame.
        response.headers[.contentSecurityPolicy] = UploaderPage.contentSecurityPolicy(ofView: "application/zip")
        response.headers[.xFrameOptions] = "SAMEORIGIN"
        response.headers[.crossOriginResourcePolicy] = "same-origin"
        response.attach(as: Self.zipName(of: paths))
        return response
    }

    /// That of the one that is in it, or of the folder that all are in.
    private static func zipName(of paths: [FolderPath]) -> String {
        let name = paths.count == 1 ? paths[0].name : paths[0].parent.name
        return "\(name.isEmpty ? "files" : name).zip"
    }

    // MARK: Changing

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
            let path = try Self.path(try await request.decode(NewFolder.self, decoder: CompactJSON.decoder).path)
            try await folder.createFolder(path, by: visitor)
            return try Self.changed([(nil, FolderChange(path: path, replaced: false))])
        }
    }

    /// Gives something another name where it is.
    func rename(_ request: Request) async throws -> Response {
        try await answer {
            let visitor = try writer(request)
            let wanted = try await request.decode(NewName.self, decoder: CompactJSON.decoder)
            let path = try Self.path(wanted.path)
            let change = try await folder.moving(path, to: try Self.path(path.parent, wanted.name), by: visitor)
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
            let wanted = try await request.decode(NewPlaces.self, decoder: CompactJSON.decoder)
            let (to, conflict) = (try Self.path(wanted.to), try Self.conflict(wanted.clash))
            let sources = try wanted.from.map { text throws in try Self.path(text) }
            let targets = try sources.map { path throws in try Self.path(to, path.name) }
            guard try await folder.entry(at: to)?.kind == .folder else {
                throw FolderError(.nothing, "There is no folder “\(to)”.")
            }
            try await check(sources, areApart: isMove)
            if conflict != .number { try await checkNames(targets, areFree: conflict == .refuse) }
            var changes: [(from: FolderPath?, change: FolderChange)] = []
            for (path, target) in Swift.zip(sources, targets) {
                let change =
                    isMove
                    ? try await folder.moving(path, to: target, onConflict: conflict, by: visitor)
                    : try await folder.copying(path, to: target, onConflict: conflict, by: visitor)
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
            let wanted = try await request.decode(Unwanted.self, decoder: CompactJSON.decoder)
            let paths = try wanted.paths.map { text throws in try Self.path(text) }
            try await check(paths, areApart: true)
            var trashed: [UploaderAnswer.Place] = []
            for path in paths {
                if wanted.forever == true {
                    try await folder.remove(path, by: visitor)
                    continue
                }
                let item = try await folder.moveToTrash(path, by: visitor)
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
            let ids = try await request.decode(Items.self, decoder: CompactJSON.decoder).ids
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
                let change = try await folder.restoring(item, by: visitor)
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

    // MARK: Forms

    /// How long the texts of the form may be.
    private static let textSize = ByteCount.kibibytes(64)

    /// Takes the files of a form (`multipart/form-data`), each whole or not at all.
    ///
    /// Its fields `path` and `clash` hold for the files behind them.
    func upload(_ request: Request) async throws -> Response {
        try await answer {
            let visitor = try writer(request)
            var (path, conflict) = (FolderPath.root, NameConflict.refuse)
            var changes: [(from: FolderPath?, change: FolderChange)] = []
            for try await part in try request.multipart() {
                switch (part.filename, part.name) {
                case (nil, "path"): path = try Self.path(try await part.text(limit: Self.textSize))
                case (nil, "clash"): conflict = try Self.conflict(try await part.text(limit: Self.textSize))
                // A browser sends that where nobody has chosen a file.
                case (nil, _), ("", _): break
                default:
                    let target = try Self.path(path, part.safeFilename ?? "")
                    changes.append((nil, try await write(part, to: target, conflict, by: visitor)))
                }
            }
            if changes.isEmpty { throw Problem(.badRequest, "The form has no file.") }
            return try Self.changed(changes)
        }
    }

    private func write(
        _ part: MultipartPart,
        to path: FolderPath,
        _ conflict: NameConflict,
        by visitor: FolderVisitor
    ) async throws -> FolderChange {
        let upload = try await folder.upload(to: path, onConflict: conflict, size: nil, by: visitor)
        for try await piece in part { try await upload.write(piece) }
        return try await upload.finish()
    }

    // MARK: Events

    /// Changes of a folder within so long are one event, but for the first.
    static let pause = Duration.milliseconds(200)

    /// Tells a client of each folder in which something changes, for as long as it stays.
    func sendChanges(_ stream: EventStream) async throws {
        let changes = FolderChanges()
        let number = folder.observe { [folder] path in if folder.shows(path) { changes.note(path) } }
        defer { folder.removeObserver(number) }
        // A client that sees this gets all later changes.
        try await stream.comment()
        for await _ in changes.signals {
            // A client that comes back looks at everything again.
            guard let paths = changes.take() else { return }
            for path in paths {
                let folder = UploaderAnswer.ChangedFolder(path: path.text)
                try await stream.send(try CompactJSON.text(of: folder), event: "change")
            }
            try await stream.request.connection.sleep(for: Self.pause)
        }
    }
}

/// The folders with changes that were not reported yet, each once.
///
/// Noted by any thread, and taken by one task.
final class FolderChanges: Sendable {
    private struct State {
        var paths: Set<FolderPath> = []
        /// Whether there were more than are held.
        var isLost = false
    }

    /// How many folders are held.
    static let bound = 1_000

    /// Has an element once there is something to take.
    let signals: AsyncStream<Void>
    private let signal: AsyncStream<Void>.Continuation
    private let state = Mutex(State())

    init() {
        (signals, signal) = AsyncStream.makeStream(bufferingPolicy: .bufferingNewest(1))
    }

    /// Something has changed in a folder.
    func note(_ path: FolderPath) {
        state.withLock { state in
            state.paths.insert(path)
            if state.paths.count <= Self.bound { return }
            state.isLost = true
            state.paths = []
        }
        signal.yield()
    }

    /// What has changed since this was asked.
    ///
    /// - Returns: the folders, in the order of their paths; `nil` where there were too many.
    func take() -> [FolderPath]? {
        let taken = state.withLock { state in
            defer { state = State() }
            return state
        }
        return taken.isLost ? nil : taken.paths.sorted { $0.text < $1.text }
    }
}
