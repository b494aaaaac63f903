// SPDX-License-Identifier: Apache-2.0
// Copyright (c) the Duplex authors

import DuplexSockets
import DuplexWire
import Foundation

/// What the system says of a file or folder.
struct FileFacts: Sendable {
    let isFile: Bool
    private let members: [JSONText.Member]

    /// Looks at what is at a path; blocks.
    init(_ path: String) throws {
        let attributes = try FileManager.default.attributesOfItem(atPath: path)
        func number(_ key: FileAttributeKey) -> Int? { (attributes[key] as? NSNumber)?.intValue }
        func time(_ key: FileAttributeKey) -> Double? { (attributes[key] as? Date)?.timeIntervalSince1970 }
        isFile = attributes[.type] as? FileAttributeType == .typeRegular
        var members = JSONText.Members()
        members.add("kind", isFile ? "file" : "folder")
        if isFile { members.add("size", number(.size)) }
        members.add("modified", time(.modificationDate))
        members.add("mode", number(.posixPermissions).map { Self.mode($0) })
        members.add("owner", Self.owner(attributes[.ownerAccountName], number(.ownerAccountID)))
        members.add("group", Self.owner(attributes[.groupOwnerAccountName], number(.groupOwnerAccountID)))
        members.add("links", number(.referenceCount))
        members.add("number", number(.systemFileNumber))
        members.add("attributes", .array(FileAttribute.all(at: path).map(Self.json)))
        self.members = members.all
    }

    func add(to members: inout JSONText.Members) {
        for member in self.members { members.add(member.name, member.value) }
    }

    /// An extended attribute: as text where all of it can be seen, in base 16 otherwise, and the first 512 bytes at most.
    static func json(_ attribute: FileAttribute) -> JSONText {
        let shown = attribute.bytes.prefix(512)
        // Many end with a zero, as texts of C do.
        let text = String(prefixOfUTF8: shown.last == 0 ? shown.dropLast() : shown)
        let isSeen =
            text.map { text in text.unicodeScalars.allSatisfy { $0.value >= 0x20 && $0.value != 0x7F } } == true
        var members = JSONText.Members()
        members.add("name", attribute.name)
        members.add("size", attribute.size)
        members.add("text", isSeen ? text : nil)
        members.add("hex", isSeen ? nil : Base16.encode(shown))
        members.add("cut", shown.count < attribute.size)
        return .object(members.all)
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
