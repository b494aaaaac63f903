// SPDX-License-Identifier: Apache-2.0
// Copyright (c) the Duplex authors

import DuplexServer
import DuplexSockets
import DuplexWire
import Synchronization

/// The locks of a shared folder, which hold over a restart: they are kept in a file of the folder's own.
final class WebDAVLocks: Sendable {
    private let folder: SharedFolder
    private let table: Mutex<LockTable>
    private let now: @Sendable () -> UnixTime

    private static let name = "locks"
    private static let group = "webdav"

    /// Reads the locks that are there; blocks for as long as the disk takes.
    ///
    /// Where they can't be read there are none.
    init(_ folder: SharedFolder, _ options: WebDAVOptions, now: @escaping @Sendable () -> UnixTime) {
        var table = LockTable(bound: options.lockLimit, userBound: options.userLockLimit)
        let bytes = try? folder.ownBytes(of: Self.name, in: Self.group, atMost: LockDocument.bound)
        for lock in LockDocument.locks(in: (bytes ?? nil) ?? []) {
            // What was locked may have gone while the process was ended.
            guard let path = FolderPath(lock.root.text), folder.has(path) else { continue }
            try? table.add(lock, now: now())
        }
        self.folder = folder
        self.table = Mutex(table)
        self.now = now
    }

    /// Looks at the table.
    func look<Value: Sendable>(_ body: (LockTable, UnixTime) -> Value) -> Value {
        table.withLock { body($0, now()) }
    }

    /// Changes the table, and writes it; returns when it is on the disk.
    func change<Value: Sendable>(_ body: (inout LockTable, UnixTime) throws -> Value) async throws -> Value {
        let value = try table.withLock { table in try body(&table, now()) }
        try await save()
        return value
    }

    /// Takes away the locks on what isn't there any more.
    ///
    /// - Parameters:
    ///   - path: what has gone, with all below it.
    ///   - isKept: whether a lock on the path itself stays: something else is there now.
    func removeAll(from path: FolderPath, exceptItsOwn isKept: Bool = false) async {
        let root = ResourcePath(path.text)
        let hasChanged = table.withLock { table in
            let own = isKept ? table.all(now: now()).filter { $0.root == root } : []
            guard table.removeAll(from: root) else { return false }
            for lock in own { try? table.add(lock, now: now()) }
            return true
        }
        // What is done is done: a lock on nothing isn't read again.
        if hasChanged { try? await save() }
    }

    /// Removes a lock that no client knows.
    func drop(_ lock: WebDAVLock) async {
        if table.withLock({ $0.remove(lock.token, on: lock.root, now: now()) }) != nil { try? await save() }
    }

    private func save() async throws {
        try await folder.replaceOwnBytes(of: Self.name, in: Self.group) { [self] in
            // What holds when it is written, so that the last one written is the last state there was.
            LockDocument.bytes(of: table.withLock { $0.all(now: now()) })
        }
    }
}

/// The file that locks are kept in over a restart.
enum LockDocument {
    private static let namespace = "urn:duplex:locks"
    /// As many locks as there may be, each with an owner of some length.
    private static let limits = XMLLimits(bytes: 64 << 20, depth: 40, elements: 1 << 20)
    /// The most bytes of it.
    static var bound: Int { limits.bytes }

    private static func name(_ local: String) -> XMLName { XMLName(local, in: namespace) }

    static func bytes(of locks: [WebDAVLock]) -> [UInt8] {
        var writer = XMLWriter()
        writer.begin(name("locks"), prefix: "l")
        for lock in locks {
            var values = [
                ("token", lock.token), ("path", lock.root.text), ("scope", lock.scope.rawValue),
                ("expires", String(lock.expiry.seconds)),
            ]
            if lock.isDeep { values.append(("deep", "yes")) }
            if let user = lock.user { values.append(("user", user)) }
            let attributes = values.map { XMLElement.Attribute(XMLName($0.0, in: ""), $0.1) }
            let children = lock.owner.map { [XMLElement.Node.element($0)] } ?? []
            writer.add(XMLElement(name("lock"), prefix: "l", attributes: attributes, children: children))
        }
        writer.end()
        return Array((MultiStatus.declaration + writer.text).utf8)
    }

    /// The locks in it; what can't be read is left out.
    static func locks(in bytes: [UInt8]) -> [WebDAVLock] {
        guard let root = try? XMLReader.element(of: bytes, limits), root.name == name("locks") else { return [] }
        return root.elements.compactMap { element in
            func value(_ name: String) -> String? { element.attribute(XMLName(name, in: "")) }
            guard element.name == name("lock"), let token = value("token"), let path = value("path"),
                let scope = value("scope").flatMap(WebDAVLock.Scope.init(rawValue:)),
                let seconds = value("expires").flatMap({ Int64($0) })
            else { return nil }
            return WebDAVLock(
                token: token,
                root: ResourcePath(path),
                isDeep: value("deep") == "yes",
                scope: scope,
                owner: element.elements.first,
                user: value("user"),
                expiry: UnixTime(seconds: seconds)
            )
        }
    }
}
