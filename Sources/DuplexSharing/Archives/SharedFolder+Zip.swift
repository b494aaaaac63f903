// SPDX-License-Identifier: Apache-2.0
// Copyright (c) the Duplex authors

public import DuplexServer
import DuplexSockets
import DuplexWire

// A shared folder as a zip.

extension SharedFolder {
    /// The files and folders at some paths, with all that is in them, as a zip that is made while it is sent.
    ///
    /// ```swift
    /// server.get("/photos.zip") { request in
    ///     var response = Response(type: "application/zip", body: try await folder.zip(of: [photos]))
    ///     response.attach(as: "photos.zip")
    ///     return response
    /// }
    /// ```
    ///
    /// Files are read off the loops, one after the other, as fast as the client takes them. What is at a path has its last name in
    /// the zip, numbered where that comes twice; the folder itself has none. What is hidden is left out,
    /// and so are links to folders.
    ///
    /// A tree may be as deep as the file system has it. Names in a zip are UTF-8, as other names are read differently by each program.
    /// Of a name that isn't, each byte that isn't UTF-8 is `%` and two digits; characters that nobody could read are `_`.
    ///
    /// A file is read up to the size that it has when it is its turn. One that is changed meanwhile is in the zip as it was read,
    /// and one that is cut short ends where it ended. What can't be read is left out, and so is what lies deeper than a path in a zip may
    /// say. They are named in a last entry, `errors.txt`, as is what has another name, so that nobody takes the zip for whole.
    ///
    /// About 1 MiB is held for each response, the names of the folders that are open, and about 80 bytes and its name for each
    /// file that has been sent.
    ///
    /// - Parameters:
    ///   - paths: of files and folders.
    ///   - method: whether files are deflated. Default: they are stored, as pictures and films get no shorter.
    ///   - saysLength: whether the response has a length, so that a client can show how far it is. All files are looked at before,
    ///     and one that is shorter when it is its turn cuts the connection; of what is deflated it can't be known, and one that needs an `errors.txt` has none. Default: no.
    ///   - visitor: who reads it. Default: the app.
    /// - Returns: the body.
    /// - Throws: ``FolderError`` where there is nothing at one of the paths, or it may not be read.
    public func zip(
        of paths: [FolderPath],
        method: ZipMethod = .stored,
        saysLength: Bool = false,
        by visitor: FolderVisitor = .app
    ) async throws -> ResponseBody {
        var roots: [FolderWalk.Step] = []
        var names = ZipNames()
        for path in paths {
            // Looking at all of them may take long.
            try Task.checkCancellation()
            try checkReading(visitor, path)
            guard let entry = try await entry(at: path) else {
                throw FolderError(.nothing, "There is nothing at “\(path)”.")
            }
            let place = FileName(path.text)
            roots.append(FolderWalk.Step(place: place, entry: entry, name: names.file(path.name)))
        }
        let walk = FolderWalk(folder: self, roots: roots, visitor: visitor)
        let stream = ZipStream(method)
        if !saysLength { return stream.body(of: walk) }
        var items: [ZipItem] = []
        for try await item in walk { items.append(item) }
        return stream.body(of: items, saysLength: items.allSatisfy(\.isWhole))
    }
}

/// What is in some folders, from the top down: an item for each file and folder.
struct FolderWalk: AsyncSequence, Sendable {
    /// Something whose turn will come.
    struct Step: Sendable {
        /// The path of it in the shared folder, by the names that the file system has.
        var place: FileName
        var entry: FolderEntry
        /// Where it is in the zip.
        var name: String
        /// Told of it in the zip.
        var remark: String?

        /// As the app is asked for it.
        var path: FolderPath { FolderPath(showing: place.components) }
    }

    struct AsyncIterator: AsyncIteratorProtocol {
        fileprivate let walk: FolderWalk
        /// The last one is the next.
        fileprivate var steps: [Step]

        mutating func next() async throws -> ZipItem? {
            while let step = steps.popLast() {
                if step.name.utf8.count > ZipName.limit { return step.item(.missing("lies too deep for a zip")) }
                guard step.entry.kind == .folder else { return file(step) }
                guard let content = try await walk.content(of: step) else {
                    return step.item(.missing("can't be read"))
                }
                steps += content.reversed()
                // The shared folder itself has no name.
                if !step.name.isEmpty { return step.item(.folder) }
            }
            return nil
        }

        private func file(_ step: Step) -> ZipItem {
            step.item(
                .file(size: step.entry.size) { [walk] in
                    try await SharedFolder.$warden.withValue(walk.warden) {
                        try await walk.folder.open(step.place, step.path, by: walk.visitor)
                    }
                }
            )
        }
    }

    let folder: SharedFolder
    let roots: [Step]
    let visitor: FolderVisitor
    /// That of the task that has asked for the zip: another one sends it.
    fileprivate let warden = SharedFolder.warden

    init(folder: SharedFolder, roots: [Step], visitor: FolderVisitor) {
        self.folder = folder
        self.roots = roots
        self.visitor = visitor
    }

    func makeAsyncIterator() -> AsyncIterator { AsyncIterator(walk: self, steps: roots.reversed()) }

    /// What is in a folder; nil where it can't be read, or has gone meanwhile.
    private func content(of step: Step) async throws -> [Step]? {
        typealias Content = [FolderStore.Found]?
        let found = try await SharedFolder.look(on: SharedFolder.walks) { [folder] () throws(FolderError) -> Content in
            do throws(FolderError) {
                return try folder.store.content(
                    of: step.place,
                    step.path,
                    atMost: .max,
                    showsHidden: folder.options.showsHidden,
                    followsFolders: false
                ).found
            } catch  where step.name.isEmpty {
                // Of the shared folder itself nothing is left.
                throw error
            } catch {
                return nil
            }
        }
        return found.map { Self.steps(below: step, $0) }
    }

    /// Names that can be as they are come first, so that others aren't the same.
    private static func steps(below step: Step, _ found: [FolderStore.Found]) -> [Step] {
        let found = found.sorted { $0.name.bytes.lexicographicallyPrecedes($1.name.bytes) }
        var names = ZipNames()
        for name in found.compactMap(\.name.text) where FolderPath.isName(name) { _ = names.file(name) }
        return found.compactMap { one in
            guard let entry = FolderEntry(one.name.escaped, one.status) else { return nil }
            var (name, remark) = (entry.name, String?.none)
            if !FolderPath.isName(name) || one.name.text == nil {
                name = names.file(ZipName.safe(name))
                remark =
                    one.name.text == nil
                    ? "had a name that isn't UTF-8: % and digits are its bytes" : "had a name that can't be read"
            }
            return Step(
                place: step.place.appending(one.name),
                entry: entry,
                name: step.name.isEmpty ? name : "\(step.name)/\(name)",
                remark: remark
            )
        }
    }
}

extension FolderWalk.Step {
    fileprivate func item(_ content: ZipItem.Content) -> ZipItem {
        var item = ZipItem(name, content, modified: entry.modified)
        item.remark = remark
        return item
    }
}
