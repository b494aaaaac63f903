// SPDX-License-Identifier: Apache-2.0
// Copyright (c) the Duplex authors

import DuplexSockets
import Synchronization

#if canImport(Glibc)
import Glibc
#else
import Darwin
#endif

// What clients note of files and folders beside their content, and files of the server's own.

extension SharedFolder {
    /// What a file system says that doesn't take an attribute.
    private static let refusals: Set<Int32> = [ENOTSUP, EOPNOTSUPP, ENOSPC, E2BIG, ERANGE, EPERM, EACCES]

    /// The properties that were noted of a file or folder, with which they go where it goes.
    ///
    /// Blocks for as long as the disk takes.
    ///
    /// - Parameter path: where it is.
    /// - Returns: what was noted; nil if nothing was.
    /// - Throws: ``FolderError``.
    package func notedProperties(of path: FolderPath) throws(FolderError) -> [UInt8]? {
        shows(path) ? try noted(of: path) : nil
    }

    /// Changes what is noted of a file or folder, as a whole.
    ///
    /// - Parameters:
    ///   - path: where it is.
    ///   - visitor: who does it.
    ///   - change: makes of what is noted what is to be; nil for nothing. Must not call this folder.
    /// - Throws: ``FolderError``; what `change` and ``FolderOptions/before`` throw.
    package func changeProperties(
        of path: FolderPath,
        by visitor: FolderVisitor,
        _ change: @escaping @Sendable ([UInt8]?) throws(FolderError) -> [UInt8]?
    ) async throws {
        try await perform(FolderOperation(.change, path, by: visitor)) { [self] () throws(FolderError) in
            try changing.withLock { (_) throws(FolderError) in try note(try change(try noted(of: path)), of: path) }
        }
    }

    /// What is new has none: those may be left that lay beside something that went as the process was ended.
    func forgetProperties(of path: FolderPath) async {
        guard sidecar.mayHave(path) else { return }
        try? await Self.run { [sidecar] () throws(FolderError) in
            sidecar.follow { beside throws(SocketError) in try beside.remove(path) }
        }
    }

    private func noted(of path: FolderPath) throws(FolderError) -> [UInt8]? {
        try FolderStore.attempt(path) { () throws(SocketError) in
            if let value = try sidecar.value(of: path) { return value }
            guard case .found(let file) = try store.folder.find(path.text), file.kind != .other else { return nil }
            do throws(SocketError) {
                return try file.attribute(FolderStore.properties)
            } catch  where Self.refusals.contains(error.errno ?? 0) {
                return nil
            }
        }
    }

    private func note(_ value: [UInt8]?, of path: FolderPath) throws(FolderError) {
        let file = try store.open(path)
        try FolderStore.attempt(path) { () throws(SocketError) in
            do throws(SocketError) {
                try file.setAttribute(FolderStore.properties, value)
                try sidecar.set(nil, of: path)
            } catch  where Self.refusals.contains(error.errno ?? 0) {
                // What is beside comes first, so what may be left with the file counts no more.
                try sidecar.set(value, of: path)
                try? file.setAttribute(FolderStore.properties, nil)
            }
        }
    }

    // MARK: Files of the server's own

    /// Whether a file or folder is at a path, as far as that is known; blocks for as long as the disk takes.
    package func has(_ path: FolderPath) -> Bool {
        let status = try? store.status(of: path)
        return (status ?? nil).flatMap { FolderEntry(path.name, $0) } != nil
    }

    /// What was written last under that name; `nil` where nothing was.
    ///
    /// Blocks for as long as the disk takes.
    ///
    /// - Parameters:
    ///   - name: of the file.
    ///   - group: what it belongs to.
    ///   - limit: the most bytes that are read; more are an error.
    /// - Returns: the bytes.
    /// - Throws: ``FolderError``.
    package func ownBytes(of name: String, in group: String, atMost limit: Int) throws(FolderError) -> [UInt8]? {
        try FolderStore.attempt(.root) { () throws(SocketError) in
            try store.state.bytes(of: name, in: group, atMost: limit)
        }
    }

    /// Replaces it as a whole, one at a time.
    ///
    /// - Parameters:
    ///   - name: of the file.
    ///   - group: what it belongs to.
    ///   - bytes: returns the new content, once no other writer is active.
    /// - Throws: ``FolderError``.
    package func replaceOwnBytes(
        of name: String,
        in group: String,
        with bytes: @escaping @Sendable () -> [UInt8]
    ) async throws {
        try await Self.run { [self] () throws(FolderError) in
            try changing.withLock { (_) throws(FolderError) in
                try FolderStore.attempt(.root) { () throws(SocketError) in
                    try store.state.write(bytes(), to: name, in: group)
                }
            }
        }
    }
}
