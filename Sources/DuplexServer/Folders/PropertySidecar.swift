// SPDX-License-Identifier: Apache-2.0
// Copyright (c) the Duplex authors

import DuplexSockets
import DuplexWire
import Synchronization

#if canImport(Glibc)
import Glibc
#else
import Darwin
#endif

/// The properties that clients have given to files and folders, where the file system doesn't keep them with those: it has no
/// extended attributes, or no room for so many bytes.
///
/// All of them are in one file, which is read once and replaced as a whole. What is moved by other programs loses them. Calls
/// block for as long as the disk takes.
final class PropertySidecar: Sendable {
    private let state: FolderState
    /// Nil until it was read.
    private let table = Mutex<[FolderPath: [UInt8]]?>(nil)

    private static let group = "properties"
    private static let name = "all"
    /// The most bytes of the file.
    static let bound = 16 << 20

    init(state: FolderState) {
        self.state = state
    }

    /// The properties of what is at a path.
    func value(of path: FolderPath) throws(SocketError) -> [UInt8]? {
        try table.withLock { (table) throws(SocketError) in try load(&table)[path] }
    }

    /// Whether there may be some, as far as that is known without asking the disk.
    func mayHave(_ path: FolderPath) -> Bool {
        table.withLock { table in table.map { $0[path] != nil } ?? true }
    }

    /// Sets them; nil takes them away.
    func set(_ value: [UInt8]?, of path: FolderPath) throws(SocketError) {
        try change { all in all[path] = value }
    }

    /// The same for a change that is done: it isn't undone where they can't follow.
    func follow(_ change: (PropertySidecar) throws(SocketError) -> Void) {
        try? change(self)
    }

    /// What was moved takes them along, with all below it; what was there before has none any more.
    func move(_ from: FolderPath, to path: FolderPath) throws(SocketError) {
        try change { all in
            let moved = all.filter { $0.key.isWithin(from) }
            all = all.filter { !$0.key.isWithin(from) && !$0.key.isWithin(path) }
            Self.add(moved, from, path, to: &all)
        }
    }

    /// What was copied has them, too.
    func copy(_ from: FolderPath, to path: FolderPath, onlyItself: Bool) throws(SocketError) {
        try change { all in
            let copied = all.filter { onlyItself ? $0.key == from : $0.key.isWithin(from) }
            all = all.filter { !$0.key.isWithin(path) }
            Self.add(copied, from, path, to: &all)
        }
    }

    /// What has gone has none any more.
    func remove(_ path: FolderPath) throws(SocketError) {
        try change { all in all = all.filter { !$0.key.isWithin(path) } }
    }

    private static func add(
        _ some: [FolderPath: [UInt8]],
        _ from: FolderPath,
        _ path: FolderPath,
        to all: inout [FolderPath: [UInt8]]
    ) {
        for (key, value) in some {
            // It may lie deeper now than a path leads, and come back.
            let names = path.names + key.names.dropFirst(from.names.count)
            if let moved = FolderPath(ofAnyDepth: names) { all[moved] = value }
        }
    }

    // MARK: The file

    private func change(_ body: (inout [FolderPath: [UInt8]]) -> Void) throws(SocketError) {
        try table.withLock { (table) throws(SocketError) in
            var all = try load(&table)
            let before = all
            body(&all)
            if all == before { return }
            let bytes = Self.bytes(of: all)
            if bytes.count > Self.bound {
                throw SocketError(.system, message: "There is no more room for properties.", errno: ENOSPC)
            }
            try state.write(bytes, to: Self.name, in: Self.group)
            table = all
        }
    }

    private func load(_ table: inout [FolderPath: [UInt8]]?) throws(SocketError) -> [FolderPath: [UInt8]] {
        if let table { return table }
        let bytes = try state.bytes(of: Self.name, in: Self.group, atMost: Self.bound) ?? []
        let all = Self.table(of: bytes)
        table = all
        return all
    }

    /// A line for each: the path and the value, both in base16.
    static func bytes(of table: [FolderPath: [UInt8]]) -> [UInt8] {
        let lines = table.map { Base16.encode(Array($0.key.text.utf8)) + " " + Base16.encode($0.value) + "\n" }
        return Array(lines.sorted().joined().utf8)
    }

    static func table(of bytes: [UInt8]) -> [FolderPath: [UInt8]] {
        var table: [FolderPath: [UInt8]] = [:]
        for line in bytes.split(separator: UInt8(ascii: "\n")) {
            let parts = line.split(separator: UInt8(ascii: " "), omittingEmptySubsequences: false).compactMap {
                Base16.decode(String(decoding: $0, as: UTF8.self))
            }
            guard parts.count == 2, let text = String(validating: parts[0], as: UTF8.self),
                let path = FolderPath(ofAnyDepth: text.split(separator: "/").map(String.init))
            else { continue }
            table[path] = parts[1]
        }
        return table
    }
}
