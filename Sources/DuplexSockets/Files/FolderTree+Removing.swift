// SPDX-License-Identifier: Apache-2.0
// Copyright (c) the Duplex authors

// A tree is taken away from the bottom up.

extension FolderTree {
    /// Takes what has that name away, with all that is below; nothing is there is no error.
    ///
    /// - Parameters:
    ///   - name: of what is taken away.
    ///   - folder: where that is.
    ///   - batch: how many names of a folder are read at a time. Default: 10,000.
    /// - Throws: the first ``SocketError`` of what can't be taken away; all else has gone.
    package static func remove(
        _ name: some FileNaming,
        in folder: OpenedFolder,
        batch: Int = 10_000
    ) throws(SocketError) {
        guard let status = try folder.status(of: name) else { return }
        if status.kind != .folder { return try folder.removeFile(name) }
        var removal = TreeRemoval(in: folder, batch: batch)
        try removal.run(name.fileName)
    }
}

/// The removal of a folder with all that is in it.
private struct TreeRemoval {
    private struct Level {
        /// Whether the folder has more names than have been read.
        var isCut = false
        /// Whether something in it has gone since they were read.
        var hasChanged = false
    }

    private var way: FolderDescent
    private var levels: [Level] = []
    private let batch: Int
    private var fault: SocketError?

    init(in folder: OpenedFolder, batch: Int) {
        way = FolderDescent(from: folder)
        self.batch = batch
    }

    mutating func run(_ name: FileName) throws(SocketError) {
        way.rest = [name]
        while true {
            if let name = way.next() {
                do throws(SocketError) {
                    try way.enter(name)
                    levels.append(Level())
                    try removeFiles()
                } catch { note(error) }
            } else if let level = levels.last {
                // Those that stay would be read again and again.
                if level.isCut && level.hasChanged {
                    levels[levels.count - 1] = Level()
                    do throws(SocketError) { try removeFiles() } catch { note(error) }
                } else {
                    try leave()
                }
            } else {
                break
            }
        }
        if let fault { throw fault }
    }

    private mutating func note(_ error: SocketError) {
        if fault == nil { fault = error }
    }

    /// Takes the files in a folder away; folders in it are left to be gone into.
    private mutating func removeFiles() throws(SocketError) {
        let folder = way.folder
        var level = Level()
        let (names, isCut) = try folder.allNames(atMost: batch)
        level.isCut = isCut
        for name in names {
            do throws(SocketError) {
                guard let status = try folder.status(of: name) else { continue }
                if status.kind == .folder {
                    way.rest.append(name)
                } else {
                    try folder.removeFile(name)
                    level.hasChanged = true
                }
            } catch { note(error) }
        }
        levels[levels.count - 1] = level
    }

    /// Goes up, and takes away the folder that was left.
    ///
    /// - Throws: ``SocketError`` where there is no way up.
    private mutating func leave() throws(SocketError) {
        levels.removeLast()
        let name = try way.leave()
        do throws(SocketError) {
            try way.folder.removeFolder(name)
            if !levels.isEmpty { levels[levels.count - 1].hasChanged = true }
        } catch { note(error) }
    }
}
