// SPDX-License-Identifier: Apache-2.0
// Copyright (c) the Duplex authors

#if canImport(Glibc)
import Glibc
#else
import Darwin
#endif

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
