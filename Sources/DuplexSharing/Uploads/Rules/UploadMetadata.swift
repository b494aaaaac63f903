// SPDX-License-Identifier: Apache-2.0
// Copyright (c) the Duplex authors

import DuplexWire
import HTTPTypes

/// What a client says of an upload: keys, and values in base64 (tus, Upload-Metadata).
struct UploadMetadata: Sendable, Hashable {
    /// As it was sent.
    let text: String
    private let values: [String: [UInt8]]

    /// That of an upload without metadata.
    static let none = UploadMetadata(text: "", values: [:])

    private init(text: String, values: [String: [UInt8]]) {
        self.text = text
        self.values = values
    }

    /// Reads the field; nil if a key comes twice, or a value isn't base64.
    ///
    /// Elements may be empty, such as the last one (RFC 9110 section 5.6.1.2).
    init?(_ text: String) {
        var values: [String: [UInt8]] = [:]
        for pair in Grammar.list(text) {
            let parts = pair.split(separator: " ", maxSplits: 1)
            guard let key = parts.first, values[String(key)] == nil else { return nil }
            guard parts.count > 1 else {
                values[String(key)] = []
                continue
            }
            guard let value = Base64.decode(String(parts[1])) else { return nil }
            values[String(key)] = value
        }
        self.init(text: text, values: values)
    }

    /// A value that is text in UTF-8.
    subscript(key: String) -> String? {
        values[key].flatMap { String(validating: $0, as: UTF8.self) }
    }
}

/// Whether an upload is a part of another one, or made of such (tus, Upload-Concat).
enum UploadConcatenation: Sendable, Hashable {
    case none
    case partial
    /// The URLs of the parts, in their order.
    case final([String])

    /// How many parts there may be.
    private static let limit = 1_000

    /// Reads the field, or none; nil where it says neither.
    init?(_ field: String?) {
        guard let field else {
            self = .none
            return
        }
        if field == "partial" {
            self = .partial
            return
        }
        let parts = field.split(separator: ";", maxSplits: 1)
        guard parts.count == 2, parts[0] == "final" else { return nil }
        let urls = parts[1].split(separator: " ").map(String.init)
        guard !urls.isEmpty, urls.count <= Self.limit else { return nil }
        self = .final(urls)
    }

    /// The value of the field.
    var text: String? {
        switch self {
        case .none: nil
        case .partial: "partial"
        case .final(let urls): "final;" + urls.joined(separator: " ")
        }
    }
}

/// What the bytes of one request are to give (tus, Upload-Checksum).
struct UploadChecksum: Sendable, Hashable {
    enum Algorithm: String, Sendable, CaseIterable {
        case sha1, sha256, md5

        var count: Int {
            switch self {
            case .md5: 16
            case .sha1: 20
            case .sha256: 32
            }
        }
    }

    let algorithm: Algorithm
    let digest: [UInt8]

    /// Reads the field.
    init(_ field: String) throws(UploadRefusal) {
        let parts = field.split(separator: " ")
        guard parts.count == 2, let algorithm = Algorithm(rawValue: String(parts[0])) else {
            throw UploadRefusal(.badRequest, "Upload-Checksum is sha1, sha256 or md5, and the digest in base64.")
        }
        guard let digest = Base64.decode(String(parts[1])), digest.count == algorithm.count else {
            throw UploadRefusal(.badRequest, "A digest by \(parts[0]) has \(algorithm.count) bytes, in base64.")
        }
        self.algorithm = algorithm
        self.digest = digest
    }
}
