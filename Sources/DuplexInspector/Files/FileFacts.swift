// SPDX-License-Identifier: Apache-2.0
// Copyright (c) the Duplex authors

import DuplexWire
import Foundation

/// What the system says of a file or folder.
struct FileFacts: Sendable {
    let isFile: Bool
    /// Whether it has the size of a SQLite database, which is made of pages of 512 bytes or a multiple.
    let mayBeDatabase: Bool
    private let members: [JSONText.Member]

    /// Looks at what is at a path; blocks.
    init(_ path: String) throws {
        let attributes = try FileManager.default.attributesOfItem(atPath: path)
        func number(_ key: FileAttributeKey) -> Int? { (attributes[key] as? NSNumber)?.intValue }
        func time(_ key: FileAttributeKey) -> Double? { (attributes[key] as? Date)?.timeIntervalSince1970 }
        isFile = attributes[.type] as? FileAttributeType == .typeRegular
        mayBeDatabase = isFile && (number(.size) ?? 0).isMultiple(of: 512)
        var members = JSONText.Members()
        members.add("kind", isFile ? "file" : "folder")
        if isFile { members.add("size", number(.size)) }
        members.add("modified", time(.modificationDate))
        members.add("mode", number(.posixPermissions).map { Self.mode($0) })
        members.add("owner", Self.owner(attributes[.ownerAccountName], number(.ownerAccountID)))
        members.add("group", Self.owner(attributes[.groupOwnerAccountName], number(.groupOwnerAccountID)))
        members.add("links", number(.referenceCount))
        members.add("number", number(.systemFileNumber))
        self.members = members.all
    }

    func add(to members: inout JSONText.Members) {
        for member in self.members { members.add(member.name, member.value) }
    }

    /// As `ls` writes it, and in octal: `rw-r--r-- (644)`.
    static func mode(_ bits: Int) -> String {
        let letters = Array("rwxrwxrwx").enumerated().map { bits & (0o400 >> $0) != 0 ? $1 : "-" }
        return "\(String(letters)) (\(String(bits & 0o7777, radix: 8)))"
    }

    private static func owner(_ name: Any?, _ number: Int?) -> String? {
        let texts = [name as? String, number.map { "(\($0))" }].compactMap(\.self)
        return texts.isEmpty ? nil : texts.joined(separator: " ")
    }
}
