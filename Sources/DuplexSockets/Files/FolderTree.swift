// SPDX-License-Identifier: Apache-2.0
// Copyright (c) the Duplex authors

#if canImport(Glibc)
import Glibc
#else
import Darwin
#endif

/// What is done with a file or a folder and all that is below it, without following a link.
///
/// Each call blocks for as long as the disks take. A tree may be as deep as a file system has it: a few folders are open at a time.
package enum FolderTree {
    /// What a tree takes.
    package struct Size: Sendable, Hashable {
        package var bytes: UInt64 = 0
        package var entries = 0

        package init() {}
    }

    /// What a tree takes; what can't be looked at counts for nothing, nor does what others move away meanwhile.
    package static func size(of folder: OpenedFolder) throws(SocketError) -> Size {
        var size = Size()
        var way = FolderDescent(from: folder)
        try count(&way, &size)
        while true {
            if let name = way.next() {
                do throws(SocketError) { try way.enter(name) } catch { continue }
                try? count(&way, &size)
            } else if way.depth == 0 {
                return size
            } else {
                do throws(SocketError) { _ = try way.leave() } catch { way.recover() }
            }
        }
    }

    /// Counts what is in a folder; folders in it are left to be gone into.
    private static func count(_ way: inout FolderDescent, _ size: inout Size) throws(SocketError) {
        let folder = way.folder
        for name in try folder.allNames(atMost: .max).names {
            guard let status = try? folder.status(of: name) else { continue }
            size.entries += 1
            switch status.kind {
            case .file: size.bytes += status.size
            case .folder: way.rest.append(name)
            case .link, .other: break
            }
        }
    }

    /// Copies what has that name to another one, which nothing has; links, pipes and devices are left out.
    ///
    /// - Parameters:
    ///   - name: of what is copied.
    ///   - folder: where that is.
    ///   - target: where the copy goes.
    ///   - newName: its name.
    ///   - onlyItself: whether what is in a folder is left out.
    ///   - isWhole: whether nothing else may be left out: what is copied goes away then.
    ///   - attributes: those extended attributes that are copied, too.
    /// - Throws: ``SocketError``; what was copied until then stays.
    package static func copy(
        _ name: String,
        in folder: OpenedFolder,
        to target: OpenedFolder,
        as newName: String,
        onlyItself: Bool = false,
        isWhole: Bool = false,
        attributes: [String]
    ) throws(SocketError) {
        guard let status = try folder.status(of: name) else { throw OpenedFolder.fault(name, "isn't there", ENOENT) }
        switch status.kind {
        case .file: try copyFile(try folder.file(name), to: target, as: newName, attributes)
        case .folder:
            var copy = TreeCopy(from: folder, to: target, isWhole: isWhole, attributes)
            try copy.enter(FileName(name), as: FileName(newName))
            if !onlyItself { try copy.run() }
        case .link, .other: if isWhole { throw OpenedFolder.stays(name) }
        }
    }

    /// Copies a file that is open.
    package static func copyFile(
        _ file: OpenedFile,
        to target: OpenedFolder,
        as name: some FileNaming,
        _ attributes: [String]
    ) throws(SocketError) {
        let copy = try target.makeFile(name)
        try copy.write(contentOf: file)
        try copy.setPermissions(file.status.permissions)
        try copyAttributes(attributes, from: file, to: try target.file(name))
    }

    /// Copies those extended attributes that are there; where a file system has none, none are.
    package static func copyAttributes(
        _ names: [String],
        from file: OpenedFile,
        to target: OpenedFile
    ) throws(SocketError) {
        for name in names {
            do throws(SocketError) {
                if let value = try file.attribute(name) { try target.setAttribute(name, value) }
            } catch  where error.errno == ENOTSUP {
                return
            }
        }
    }

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

/// The copying of a folder with all that is in it: two ways down that keep step.
private struct TreeCopy {
    private var source: FolderDescent
    private var target: FolderDescent
    private let isWhole: Bool
    private let attributes: [String]

    init(from folder: OpenedFolder, to target: OpenedFolder, isWhole: Bool, _ attributes: [String]) {
        source = FolderDescent(from: folder)
        self.target = FolderDescent(from: target)
        self.isWhole = isWhole
        self.attributes = attributes
    }

    /// Copies a folder without what is in it, and goes into both.
    mutating func enter(_ name: FileName, as newName: FileName) throws(SocketError) {
        try source.enter(name)
        try target.folder.makeFolder(newName)
        try target.enter(newName)
        try FolderTree.copyAttributes(attributes, from: source.folder.file, to: target.folder.file)
    }

    /// Copies what is in the folder that was entered.
    mutating func run() throws(SocketError) {
        try copyContent()
        while source.depth > 0 {
            if let name = source.next() {
                try enter(name, as: name)
                try copyContent()
            } else {
                _ = try source.leave()
                _ = try target.leave()
            }
        }
    }

    /// Copies the files in a folder; folders in it are left to be gone into.
    private mutating func copyContent() throws(SocketError) {
        let folder = source.folder
        for name in try folder.allNames(atMost: .max).names {
            guard let status = try folder.status(of: name) else { throw OpenedFolder.fault(name, "has gone", ENOENT) }
            switch status.kind {
            case .file: try FolderTree.copyFile(try folder.file(name), to: target.folder, as: name, attributes)
            case .folder: source.rest.append(name)
            case .link, .other: if isWhole { throw OpenedFolder.stays(name) }
            }
        }
    }
}

/// The removal of a folder with all that is in it, from the bottom up.
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

/// A way down into a tree and up again.
///
/// However deep it is, one folder is open at a time besides the one at the top, no path is longer than a name, and the stack of the
/// thread doesn't grow. The way up is `..`, which leads elsewhere where others have moved a folder meanwhile. So the folder there
/// has to be the one that was left before anything is done in it.
struct FolderDescent {
    private struct Level {
        let name: FileName
        let status: FileStatus
        /// The names that are still to be gone into.
        var rest: [FileName] = []
    }

    private let top: OpenedFolder
    private var topRest: [FileName] = []
    private var levels: [Level] = []
    /// The folder where the way is now.
    private(set) var folder: OpenedFolder

    /// How deep that is below the top.
    var depth: Int { levels.count }

    init(from top: OpenedFolder) {
        self.top = top
        folder = top
    }

    /// The names in the folder that are still to be gone into; the last one is the next.
    var rest: [FileName] {
        get { levels.last?.rest ?? topRest }
        set {
            if levels.isEmpty { topRest = newValue } else { levels[levels.count - 1].rest = newValue }
        }
    }

    /// Takes the next name out of ``rest``.
    mutating func next() -> FileName? {
        levels.isEmpty ? topRest.popLast() : levels[levels.count - 1].rest.popLast()
    }

    /// Goes down into a folder.
    mutating func enter(_ name: FileName) throws(SocketError) {
        let inner = try folder.folder(name)
        levels.append(Level(name: name, status: inner.status))
        folder = inner
    }

    /// Goes up.
    ///
    /// - Returns: the name of the folder that was left.
    /// - Throws: ``SocketError``, with EAGAIN where others have moved a folder on the way; then ``recover()`` before anything else.
    mutating func leave() throws(SocketError) -> FileName {
        let left = levels.removeLast()
        guard let above = levels.last else {
            folder = top
            return left.name
        }
        let parent = try folder.parent()
        guard parent.status.isSame(as: above.status) else {
            throw OpenedFolder.fault(above.name, "has been moved meanwhile", EAGAIN)
        }
        folder = parent
        return left.name
    }

    /// Goes to the deepest folder on the way that is still where it was.
    mutating func recover() {
        var (place, count) = (top, 0)
        for level in levels {
            guard let inner = try? place.folder(level.name), inner.status.isSame(as: level.status) else { break }
            (place, count) = (inner, count + 1)
        }
        levels.removeLast(levels.count - count)
        folder = place
    }
}
