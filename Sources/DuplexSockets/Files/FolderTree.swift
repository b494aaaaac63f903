// SPDX-License-Identifier: Apache-2.0
// Copyright (c) the Duplex authors

#if canImport(Glibc)
import Glibc
#else
import Darwin
#endif

/// What is done with a file or a folder and all that is below it, without following a link.
///
/// Each call blocks for as long as the disks take. Folders deeper than ``depthLimit`` are an error: each one on the way is
/// open meanwhile.
package enum FolderTree {
    package static let depthLimit = 200

    /// What a tree takes.
    package struct Size: Sendable, Hashable {
        package var bytes: UInt64 = 0
        package var entries = 0

        package init() {}
    }

    /// Takes what has that name away, with all that is below; nothing is there is no error.
    package static func remove(_ name: String, in folder: OpenedFolder, depth: Int = 0) throws(SocketError) {
        guard let status = try folder.status(of: name) else { return }
        if status.kind != .folder { return try folder.removeFile(name) }
        let inner = try descend(into: name, of: folder, depth)
        // Read whole each time: names may come while others go.
        while true {
            try inner.nameUnreadable()
            let (names, isCut) = try inner.names(atMost: 10_000)
            for name in names { try remove(name, in: inner, depth: depth + 1) }
            if !isCut { break }
        }
        try folder.removeFolder(name)
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
    ///   - depth: how deep it is below the tree's top.
    /// - Throws: ``SocketError``; what was copied until then stays.
    package static func copy(
        _ name: String,
        in folder: OpenedFolder,
        to target: OpenedFolder,
        as newName: String,
        onlyItself: Bool = false,
        isWhole: Bool = false,
        attributes: [String],
        depth: Int = 0
    ) throws(SocketError) {
        guard let status = try folder.status(of: name) else { throw OpenedFolder.fault(name, "isn't there", ENOENT) }
        switch status.kind {
        case .file: try copyFile(try folder.file(name), to: target, as: newName, attributes)
        case .folder:
            let inner = try descend(into: name, of: folder, depth)
            try target.makeFolder(newName)
            let copy = try target.folder(newName)
            try copyAttributes(attributes, from: try folder.file(name), to: try target.file(newName))
            if onlyItself { return }
            if isWhole, try inner.hasUnreadable() { throw OpenedFolder.stays(name) }
            for name in try inner.names(atMost: .max).names {
                try self.copy(
                    name,
                    in: inner,
                    to: copy,
                    as: name,
                    isWhole: isWhole,
                    attributes: attributes,
                    depth: depth + 1
                )
            }
        case .link, .other: if isWhole { throw OpenedFolder.stays(name) }
        }
    }

    /// Copies a file that is open.
    package static func copyFile(
        _ file: OpenedFile,
        to target: OpenedFolder,
        as name: String,
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

    /// What a tree takes; what can't be looked at counts for nothing.
    package static func size(of folder: OpenedFolder, depth: Int = 0) throws(SocketError) -> Size {
        var size = Size()
        for name in try folder.names(atMost: .max).names {
            guard let status = try? folder.status(of: name) else { continue }
            size.entries += 1
            if status.kind == .file { size.bytes += status.size }
            guard status.kind == .folder, let inner = try? descend(into: name, of: folder, depth),
                let below = try? self.size(of: inner, depth: depth + 1)
            else { continue }
            size.bytes += below.bytes
            size.entries += below.entries
        }
        return size
    }

    private static func descend(
        into name: String,
        of folder: OpenedFolder,
        _ depth: Int
    ) throws(SocketError) -> OpenedFolder {
        if depth >= depthLimit { throw OpenedFolder.fault(name, "lies too deep", ELOOP) }
        return try folder.folder(name)
    }
}
