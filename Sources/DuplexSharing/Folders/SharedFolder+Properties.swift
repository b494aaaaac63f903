// SPDX-License-Identifier: Apache-2.0
// Copyright (c) the Duplex authors

import DuplexSockets
import Logging
import Synchronization

#if canImport(Glibc)
import Glibc
#else
import Darwin
#endif

// What clients note of files and folders beside their content, what keeps it where the file system doesn't, and files of the
// server's own.

extension SharedFolder {
    /// What a file system says that doesn't take an attribute.
    private static let refusals: Set<Int32> = [ENOTSUP, EOPNOTSUPP, ENOSPC, E2BIG, ERANGE, EPERM, EACCES]

    /// Has properties kept that the file system doesn't keep, unless that is done already.
    ///
    /// - Parameter make: makes what keeps them, in a place of its own.
    func keepProperties(by make: (OwnPlace) -> any PropertyKeeping) {
        propertyKeeper.withLock { keeper in
            if keeper == nil { keeper = make(OwnPlace(store.state, path: path, group: "properties")) }
        }
    }

    /// Has kept properties follow a change that is done: it isn't undone if they can't.
    func follow(_ path: FolderPath, _ change: (any PropertyKeeping) throws(SocketError) -> Void) {
        guard let keeper = propertyKeeper.withLock({ $0 }) else { return }
        do throws(SocketError) { try change(keeper) } catch {
            options.logger.warning(
                "The properties of something in a shared folder haven't followed it.",
                metadata: ["path": "\(path)", "error": "\(error)"]
            )
        }
    }

    /// The properties that were noted of a file or folder, with which they go where it goes.
    ///
    /// Blocks for as long as the disk takes.
    ///
    /// - Parameter path: where it is.
    /// - Returns: what was noted; nil if nothing was.
    /// - Throws: ``FolderError``.
    func notedProperties(of path: FolderPath) throws(FolderError) -> [UInt8]? {
        shows(path) ? try noted(of: path) : nil
    }

    /// Changes what is noted of a file or folder, as a whole.
    ///
    /// - Parameters:
    ///   - path: where it is.
    ///   - visitor: who does it.
    ///   - change: makes of what is noted what is to be; nil for nothing. Must not call this folder.
    /// - Throws: ``FolderError``; what `change` and ``FolderOptions/before`` throw.
    func changeProperties(
        of path: FolderPath,
        by visitor: FolderVisitor,
        _ change: @escaping @Sendable ([UInt8]?) throws(FolderError) -> [UInt8]?
    ) async throws {
        try await perform(FolderOperation(.change, path, by: visitor)) { [self] () throws(FolderError) in
            try changing.withLock { (_) throws(FolderError) in try note(try change(try noted(of: path)), of: path) }
        }
    }

    /// What is new has none: some may be left of something that went by another program, or as the process was ended.
    func forgetProperties(of path: FolderPath) async {
        if propertyKeeper.withLock({ $0 == nil }) { return }
        try? await Self.run { [self] () throws(FolderError) in
            follow(path) { keeper throws(SocketError) in try keeper.remove(path) }
        }
    }

    private func noted(of path: FolderPath) throws(FolderError) -> [UInt8]? {
        try FolderStore.attempt(path) { () throws(SocketError) in
            var fault: SocketError?
            do throws(SocketError) {
                if let value = try propertyKeeper.withLock({ $0 })?.value(of: path) { return value }
            } catch { fault = error }
            if let value = try attribute(of: path) { return value }
            // Nobody knows whether there are some.
            if let fault { throw fault }
            return nil
        }
    }

    private func attribute(of path: FolderPath) throws(SocketError) -> [UInt8]? {
        guard case .found(let file) = try store.folder.find(path.text), file.kind != .other else { return nil }
        do throws(SocketError) {
            return try file.attribute(FolderStore.properties)
        } catch  where Self.refusals.contains(error.errno ?? 0) {
            return nil
        }
    }

    private func note(_ value: [UInt8]?, of path: FolderPath) throws(FolderError) {
        let file = try store.open(path)
        let keeper = propertyKeeper.withLock { $0 }
        try FolderStore.attempt(path) { () throws(SocketError) in
            do throws(SocketError) {
                try file.setAttribute(FolderStore.properties, value)
            } catch  where Self.refusals.contains(error.errno ?? 0) {
                guard let keeper else { throw error }
                // What is kept beside comes first, so what may be left with the file counts no more.
                try keeper.set(value, of: path)
                try? file.setAttribute(FolderStore.properties, nil)
                return
            }
            try keeper?.set(nil, of: path)
        }
    }

    // MARK: Files of the server's own

    /// Whether a file or folder is at a path, as far as that is known; blocks for as long as the disk takes.
    func has(_ path: FolderPath) -> Bool {
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
    func ownBytes(of name: String, in group: String, atMost limit: Int) throws(FolderError) -> [UInt8]? {
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
    func replaceOwnBytes(
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

/// Keeps the properties that clients have given to files and folders if the file system doesn't keep them with those: it has no
/// extended attributes, or no room for so many bytes.
///
/// Calls block for as long as the disk takes, and throw `SocketError` with the number of an error.
protocol PropertyKeeping: Sendable {
    /// Returns the properties of what is at a path; nil for none.
    func value(of path: FolderPath) throws(SocketError) -> [UInt8]?

    /// Sets the properties of what is at a path; nil removes them.
    func set(_ value: [UInt8]?, of path: FolderPath) throws(SocketError)

    /// Takes properties along with what was moved, and with all below it; what was there before has none any more.
    func move(_ from: FolderPath, to path: FolderPath) throws(SocketError)

    /// Gives a copy the properties of what was copied; what was there before has none any more.
    func copy(_ from: FolderPath, to path: FolderPath, onlyItself: Bool) throws(SocketError)

    /// Removes the properties of what has gone, and of all below it.
    func remove(_ path: FolderPath) throws(SocketError)
}
