// SPDX-License-Identifier: Apache-2.0
// Copyright (c) the Duplex authors

package import HTTPTypes

/// A coding that a content was put into for its way (RFC 9110 section 8.4.1), of those that this package knows.
package enum ContentCoding: String, Sendable, Hashable, CaseIterable {
    /// gzip (RFC 1952), also as `x-gzip`.
    case gzip
    /// Deflate in the wrapping of zlib (RFC 1950); what comes without it, as some send it, is taken, too.
    case deflate

    /// The most codings of one content that are taken off.
    package static let bound = 2

    /// The codings that are accepted: the value of `Accept-Encoding` in a response (RFC 9110 section 12.5.3).
    package static let accepted = allCases.map(\.rawValue).joined(separator: ", ")

    /// The codings that a content is in, by its `Content-Encoding`.
    ///
    /// `identity`, which is none, is passed over, as are empty members.
    ///
    /// - Parameter headers: the fields of the request.
    /// - Returns: the codings in the order in which they were applied; they are taken off from the last one on.
    /// - Throws: ``HTTPProtocolError`` with 415 for a coding that isn't known, for more than ``bound``, and for what is no list.
    package static func applied(in headers: HTTPFields) throws(HTTPProtocolError) -> [ContentCoding] {
        var codings: [ContentCoding] = []
        for value in headers[values: .contentEncoding] {
            var scanner = FieldScanner(value)
            scanner.skipCommas()
            while !scanner.isAtEnd {
                let name = scanner.token()
                scanner.skipBlanks()
                guard let name, scanner.isAtEnd || scanner.isAt(",") else { throw unknown(value) }
                scanner.skipCommas()
                if Grammar.matches(name, "identity") { continue }
                guard let coding = ContentCoding(name: name) else { throw unknown(name) }
                guard codings.count < bound else {
                    throw HTTPProtocolError(.unsupportedMediaType, "the body is in more than \(bound) codings")
                }
                codings.append(coding)
            }
        }
        return codings
    }

    private init?(name: String) {
        let name = Grammar.lowercased(name)
        self.init(rawValue: name == "x-gzip" ? "gzip" : name)
    }

    private static func unknown(_ text: String) -> HTTPProtocolError {
        HTTPProtocolError(
            .unsupportedMediaType,
            "the body is in the coding \(Quotation.of(text)); \(accepted) are taken"
        )
    }
}

/// Which responses are compressed, and how hard (RFC 9110 sections 8.4 and 12.5.3).
///
/// Hazard: where a page holds a secret, and text that a stranger may choose, its compressed length reveals the secret
/// to whoever sees lengths on the network (BREACH). Disable it for such pages, or keep the two apart.
public struct ResponseCompression: Sendable, Hashable {
    /// The shortest body that is compressed.
    ///
    /// Default: 1 KiB.
    package var threshold: ByteCount
    /// How hard to try: from 1, the fastest, to 9, the tightest.
    ///
    /// Default: 6.
    package var level: Int
    private var isEnabled = true

    /// Makes rules.
    ///
    /// - Parameters:
    ///   - threshold: the shortest body that is compressed. Default: 1 KiB. One whose length isn't known counts as long.
    ///   - level: how hard to try: from 1, the fastest, to 9, the tightest. Default: 6.
    public init(threshold: ByteCount = .kibibytes(1), level: Int = 6) {
        self.threshold = threshold
        self.level = min(max(level, 1), 9)
    }

    /// What is right for most: text of 1 KiB and more, at level 6.
    package static let standard = ResponseCompression()
    /// Nothing is compressed.
    public static let disabled: ResponseCompression = {
        var compression = ResponseCompression()
        compression.isEnabled = false
        return compression
    }()

    /// What to do with a response.
    package enum Verdict: Sendable, Hashable {
        /// It is the same for all clients.
        case same
        /// It would be compressed for another client: `Vary` says so.
        case plain
        /// It is put into that coding.
        case coded(ContentCoding)
    }

    /// Judges a response.
    ///
    /// - Parameters:
    ///   - status: its status: a part of a content, and a response without one, are the same for all.
    ///   - type: its media type: text, and what is like it.
    ///   - headers: its other fields: one that names a coding, a range, a digest of the bytes, or `no-transform` is the same for
    ///     all.
    ///   - length: how long its body is; nil where that isn't known.
    ///   - codings: what the client takes.
    /// - Returns: what to do with it.
    package func verdict(
        status: HTTPResponse.Status,
        type: MediaType?,
        headers: HTTPFields,
        length: Int?,
        accepting codings: @autoclosure () -> CodingPreferences
    ) -> Verdict {
        guard isEnabled, length ?? .max >= max(1, threshold.bytes), Self.isWhole(status), type?.isCompressible == true,
            !Self.fixing.contains(where: headers.contains), !headers.hasToken("no-transform", in: .cacheControl)
        else { return .same }
        return Self.coding(codings()).map(Verdict.coded) ?? .plain
    }

    private static func isWhole(_ status: HTTPResponse.Status) -> Bool {
        switch status.code {
        case ..<200, 204, 205, 206, 304: false
        default: true
        }
    }

    /// Fields that are about the bytes as they are.
    private static let fixing: [HTTPField.Name] =
        [.contentEncoding, .contentRange]
        + ["Content-Digest", "Repr-Digest", "Digest", "Content-MD5"].compactMap { HTTPField.Name($0) }

    /// gzip, which every client has, unless it wants deflate and not that.
    private static func coding(_ preferences: CodingPreferences) -> ContentCoding? {
        let plain = preferences.weight(of: "identity")
        return [ContentCoding.gzip, .deflate].first { coding in
            let weight = preferences.weight(of: coding.rawValue)
            return weight > 0 && weight >= plain
        }
    }
}

extension MediaType {
    /// Whether contents of this type get much shorter: text, and what is written as text, and some that are like it.
    ///
    /// Not a stream of events, each of which is short and is to arrive at once.
    package var isCompressible: Bool {
        guard let essence, essence != "text/event-stream" else { return false }
        return essence.hasPrefix("text/") || Self.compressibleSuffixes.contains(where: essence.hasSuffix)
            || Self.compressible.contains(essence)
    }

    private static let compressibleSuffixes = ["+json", "+xml", "+text", "+yaml"]
    private static let compressible: Set<String> = [
        "application/json", "application/x-ndjson", "application/jsonl", "application/xml", "application/javascript",
        "application/x-javascript", "application/wasm", "application/yaml", "application/toml", "application/sql",
        "application/rtf", "application/x-www-form-urlencoded", "application/vnd.ms-fontobject", "font/ttf", "font/otf",
        "image/bmp", "image/x-icon", "image/vnd.microsoft.icon",
    ]
}
