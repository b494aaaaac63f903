// SPDX-License-Identifier: Apache-2.0
// Copyright (c) the Duplex authors

import DuplexSockets
import DuplexWire
import Foundation

/// What the system says of a file or folder; encoded as the page gets it.
struct FileFacts: Sendable, Codable {
    /// Where it is in its folder, and what it is called; both are empty until they are set.
    var path = ""
    var name = ""
    /// `file` or `folder`.
    var kind: String
    var size: Int?
    /// In seconds since 1970.
    var modified: Double?
    /// What may be done with it, as ``mode(_:)`` has it.
    var mode: String?
    var owner: String?
    var group: String?
    var links: Int?
    var number: Int?
    var attributes: [Attribute]
    /// The media type of a file.
    var type: String?
    /// What the part for databases calls it.
    var database: String?

    var isFile: Bool { kind == "file" }

    /// Looks at what is at a path; blocks.
    init(_ path: String) throws {
        let attributes = try FileManager.default.attributesOfItem(atPath: path)
        func number(_ key: FileAttributeKey) -> Int? { (attributes[key] as? NSNumber)?.intValue }
        func time(_ key: FileAttributeKey) -> Double? { (attributes[key] as? Date)?.timeIntervalSince1970 }
        let isFile = attributes[.type] as? FileAttributeType == .typeRegular
        kind = isFile ? "file" : "folder"
        if isFile { size = number(.size) }
        modified = time(.modificationDate)
        mode = number(.posixPermissions).map { Self.mode($0) }
        owner = Self.owner(attributes[.ownerAccountName], number(.ownerAccountID))
        group = Self.owner(attributes[.groupOwnerAccountName], number(.groupOwnerAccountID))
        links = number(.referenceCount)
        self.number = number(.systemFileNumber)
        self.attributes = FileAttribute.all(at: path).map { Attribute($0) }
    }

    /// An extended attribute: as text where all of it can be seen, in base 16 otherwise, and the first 512 bytes at most.
    struct Attribute: Sendable, Codable, Equatable {
        var name: String
        var size: Int
        var text: String?
        var hex: String?
        var cut: Bool
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

extension FileFacts.Attribute {
    init(_ attribute: FileAttribute) {
        let shown = attribute.bytes.prefix(512)
        // Many end with a zero, as texts of C do.
        let text = String(prefixOfUTF8: shown.last == 0 ? shown.dropLast() : shown)
        let isSeen =
            text.map { text in text.unicodeScalars.allSatisfy { $0.value >= 0x20 && $0.value != 0x7F } } == true
        self.init(
            name: attribute.name,
            size: attribute.size,
            text: isSeen ? text : nil,
            hex: isSeen ? nil : Base16.encode(shown),
            cut: shown.count < attribute.size
        )
    }
}
