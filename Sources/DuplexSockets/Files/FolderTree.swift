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
