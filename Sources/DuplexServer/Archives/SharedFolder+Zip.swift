// SPDX-License-Identifier: Apache-2.0
// Copyright (c) the Duplex authors

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
    /// A file is read up to the size that it has when it is its turn. One that is changed meanwhile is in the zip as it was read,
    /// and one that is cut short ends where it ended. What can't be read is left out. Both are named in a last entry, `errors.txt`,
    /// so that nobody takes the zip for whole.
    ///
    /// About 1 MiB is held for each response, the names of the folders that are open, and about 80 bytes and its name for each
    /// file that has been sent.
    ///
    /// - Parameters:
    ///   - paths: of files and folders.
    ///   - method: whether files are deflated. Default: they are stored, as pictures and films get no shorter.
    ///   - saysLength: whether the response has a length, so that a client can show how far it is. All files are looked at before,
    ///     and one that is shorter when it is its turn cuts the connection; of what is deflated it can't be known. Default: no.
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
        var names: Set<String> = []
        for path in paths {
            try checkReading(visitor, path)
            guard let entry = try await entry(at: path) else {
                throw FolderError(.nothing, "There is nothing at “\(path)”.")
            }
            roots.append(FolderWalk.Step(path: path, entry: entry, name: Self.free(path.name, &names)))
        }
        let walk = FolderWalk(folder: self, roots: roots, visitor: visitor)
        let stream = ZipStream(method)
        if !saysLength { return stream.body(of: walk) }
        var items: [ZipItem] = []
        for try await item in walk { items.append(item) }
        return stream.body(of: items, saysLength: true)
    }

    /// The name, with a number where it comes for another time.
    private static func free(_ name: String, _ names: inout Set<String>) -> String {
        var (free, number) = (name, 1)
        while !names.insert(free).inserted {
            number += 1
            free = ZipName.numbered(name, number)
        }
        return free
    }
}

/// What is in some folders, from the top down: an item for each file and folder.
struct FolderWalk: AsyncSequence, Sendable {
    /// Something whose turn will come.
    struct Step: Sendable {
        var path: FolderPath
        var entry: FolderEntry
        /// Where it is in the zip.
        var name: String
    }

    struct AsyncIterator: AsyncIteratorProtocol {
        fileprivate let walk: FolderWalk
        /// The last one is the next.
        fileprivate var steps: [Step]

        mutating func next() async throws -> ZipItem? {
            while let step = steps.popLast() {
                guard step.entry.kind == .folder else { return file(step) }
                steps += try await walk.content(of: step).reversed()
                // The shared folder itself has no name.
                if !step.name.isEmpty { return ZipItem(step.name, .folder, modified: step.entry.modified) }
            }
            return nil
        }

        private func file(_ step: Step) -> ZipItem {
            let content = ZipItem.Content.file(size: step.entry.size) { [walk] in
                try await SharedFolder.$warden.withValue(walk.warden) {
                    try await walk.folder.open(step.path, by: walk.visitor)
                }
            }
            return ZipItem(step.name, content, modified: step.entry.modified)
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

    /// What is in a folder; one that has gone meanwhile has nothing in it.
    private func content(of step: Step) async throws -> [Step] {
        let entries = try await SharedFolder.run { [folder] () throws(FolderError) -> [FolderEntry] in
            do throws(FolderError) {
                return try folder.store.entries(
                    of: step.path,
                    atMost: .max,
                    showsHidden: folder.options.showsHidden,
                    followsFolders: false
                ).entries
            } catch  where error.code == .nothing || error.code == .isFile {
                return []
            }
        }
        return entries.sorted { $0.name < $1.name }.compactMap { entry in
            guard let path = step.path.appending(entry.name) else { return nil }
            return Step(path: path, entry: entry, name: step.name.isEmpty ? entry.name : "\(step.name)/\(entry.name)")
        }
    }
}
