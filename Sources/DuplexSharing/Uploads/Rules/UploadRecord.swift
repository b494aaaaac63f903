// SPDX-License-Identifier: Apache-2.0
// Copyright (c) the Duplex authors

import DuplexWire

/// What is known of an upload besides its bytes, as it is kept beside them.
struct UploadRecord: Sendable, Hashable {
    /// Nil until it is known.
    var length: UInt64?
    var metadata: UploadMetadata
    var concatenation: UploadConcatenation
    /// Who began it; only the same user resumes it.
    var user: String?
    var expires: UnixTime
    /// From where on the bytes are those of a request whose checksum hasn't been looked at.
    var uncheckedFrom: UInt64?
    /// Where the file is, once it has its name.
    var path: String?

    init(
        length: UInt64?,
        metadata: UploadMetadata,
        concatenation: UploadConcatenation,
        user: String?,
        expires: UnixTime
    ) {
        self.length = length
        self.metadata = metadata
        self.concatenation = concatenation
        self.user = user
        self.expires = expires
    }

    private static let first = "duplex upload 1"
    private static let last = "end"

    /// Lines, the last of which says that none is missing.
    var bytes: [UInt8] {
        var lines = [Self.first, "expires \(expires.seconds)"]
        if let length { lines.append("length \(length)") }
        if let uncheckedFrom { lines.append("unchecked \(uncheckedFrom)") }
        let texts = [
            ("metadata", metadata.text.isEmpty ? nil : metadata.text), ("concat", concatenation.text), ("user", user),
            ("path", path),
        ]
        for case (let name, let text?) in texts { lines.append("\(name) \(Base64.encode(Array(text.utf8)))") }
        return Array((lines + [Self.last, ""]).joined(separator: "\n").utf8)
    }

    /// Reads them; nil where anything is missing, or isn't known.
    init?(_ bytes: [UInt8]) {
        guard let values = Self.values(bytes), let expires = values["expires"].flatMap({ Int64($0) }),
            let metadata = Self.text(values["metadata"]).map(UploadMetadata.init) ?? UploadMetadata.none,
            let concatenation = UploadConcatenation(Self.text(values["concat"]))
        else { return nil }
        self.init(
            length: values["length"].flatMap { UInt64($0) },
            metadata: metadata,
            concatenation: concatenation,
            user: Self.text(values["user"]),
            expires: UnixTime(seconds: expires)
        )
        uncheckedFrom = values["unchecked"].flatMap { UInt64($0) }
        path = Self.text(values["path"])
    }

    private static func values(_ bytes: [UInt8]) -> [String: String]? {
        guard let text = String(validating: bytes, as: UTF8.self) else { return nil }
        var lines = text.split(separator: "\n", omittingEmptySubsequences: false)
        guard lines.count >= 4, lines.removeFirst() == first, lines.removeLast().isEmpty, lines.removeLast() == last
        else { return nil }
        var values: [String: String] = [:]
        for line in lines {
            let parts = line.split(separator: " ", maxSplits: 1, omittingEmptySubsequences: false)
            guard parts.count == 2 else { return nil }
            values[String(parts[0])] = String(parts[1])
        }
        return values
    }

    private static func text(_ value: String?) -> String? {
        value.flatMap(Base64.decode).flatMap { String(validating: $0, as: UTF8.self) }
    }
}
