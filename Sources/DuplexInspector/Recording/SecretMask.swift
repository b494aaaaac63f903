// SPDX-License-Identifier: Apache-2.0
// Copyright (c) the Duplex authors

import DuplexWire
import HTTPTypes

/// Takes secrets out of what is recorded, before anybody sees it.
///
/// Masked are the fields that carry credentials, the password of a URL, and what the app names: fields, items of queries and
/// of forms in a body, and members in JSON, in bodies and in messages. Other formats are left as they are, CBOR among them.
/// What is compressed, and nobody has it plain, is left out where the app names anything: only its size is shown. What lets
/// somebody in to an inspector of this process is masked wherever it stands.
struct SecretMask: Sendable {
    /// Fields that are always masked.
    static let always: Set<String> = ["authorization", "proxy-authorization", "cookie", "set-cookie"]
    /// What takes the place of a secret.
    static let sign = JSONMask.sign

    /// What the app names, in lower case.
    private let names: Set<String>

    /// Makes a mask.
    ///
    /// - Parameter names: what is secret beside the fields that always are, in any case. Default: nothing.
    init(_ names: some Sequence<String> = []) {
        self.names = Set(names.map { $0.lowercased() })
    }

    /// A mask for messages in one direction of one connection, fragment by fragment.
    var messages: JSONMask { JSONMask(names) }

    // MARK: Parts

    /// The fields, masked; of credentials their scheme stays.
    func masked(_ fields: HTTPFields) -> HTTPFields {
        var result = HTTPFields()
        for field in fields {
            var field = field
            if Self.always.contains(field.name.canonicalName) || names.contains(field.name.canonicalName) {
                field.value = Self.scheme(of: field) + Self.sign
            }
            if [.referer, .location, .contentLocation].contains(field.name) { field.value = masked(url: field.value) }
            field.value = InspectorSecret.masked(field.value)
            result.append(field)
        }
        return result
    }

    private static func scheme(of field: HTTPField) -> String {
        guard field.name == .authorization || field.name == .proxyAuthorization else { return "" }
        let words = field.value.split(separator: " ", maxSplits: 1)
        return words.count == 2 ? "\(words[0]) " : ""
    }

    /// The URL, masked: the password in it, and items of its query.
    func masked(url: String) -> String { InspectorSecret.masked(withoutItems(url)) }

    /// An error in words, which may quote the URL that it is about.
    private func masked(words: String, of url: String) -> String {
        InspectorSecret.masked(url.isEmpty ? words : words.replacing(url, with: masked(url: url)))
    }

    private func withoutItems(_ url: String) -> String {
        let parts = url.split(separator: "#", maxSplits: 1, omittingEmptySubsequences: false)
        let words = parts[0].split(separator: "?", maxSplits: 1, omittingEmptySubsequences: false)
        var result = Self.withoutPassword(words[0])
        if words.count == 2 { result += "?" + masked(items: words[1]) }
        // What signs people in may hand a token over so (RFC 6749 section 4.2.2).
        if parts.count == 2 { result += "#" + masked(fragment: parts[1]) }
        return result
    }

    /// A fragment is items, or a path of the page's own with a query.
    private func masked(fragment: Substring) -> String {
        guard let mark = fragment.firstIndex(of: "?") else { return masked(items: fragment) }
        return fragment[...mark] + masked(items: fragment[fragment.index(after: mark)...])
    }

    private static func withoutPassword(_ url: Substring) -> String {
        let begin = url.hasPrefix("//") ? url.index(url.startIndex, offsetBy: 2) : url.firstRange(of: "://")?.upperBound
        guard let start = begin else { return String(url) }
        let authority = url[start...].prefix { $0 != "/" && $0 != "#" }
        guard let end = authority.lastIndex(of: "@"), let colon = authority[..<end].firstIndex(of: ":") else {
            return String(url)
        }
        return url[...colon] + sign + url[end...]
    }

    /// Items of a query or a form.
    private func masked(items: Substring) -> String {
        if names.isEmpty { return String(items) }
        return items.split(separator: "&", omittingEmptySubsequences: false).map { item in
            let name = item.prefix { $0 != "=" }
            let plain = PercentDecoding.decode(name, plusIsSpace: true) ?? String(name)
            return names.contains(plain.lowercased()) && name.count < item.count ? "\(name)=\(Self.sign)" : String(item)
        }.joined(separator: "&")
    }

    /// A body, masked by its type.
    func masked(body: RecordedBytes, type: String?) -> RecordedBytes {
        if body.bytes.isEmpty { return body }
        if body.isCoded, !names.isEmpty { return RecordedBytes([], of: body.size) }
        var bytes: [UInt8]
        if names.isEmpty {
            bytes = body.bytes
        } else if let type, MediaType(rawValue: type).matches(.urlEncodedForm) {
            bytes = Array(masked(items: Substring(String(decoding: body.bytes, as: UTF8.self))).utf8)
        } else {
            var mask = messages
            bytes = mask.mask(body.bytes)
        }
        return Self.replacing(body, by: InspectorSecret.masked(bytes))
    }

    /// Bytes in place of others, cut where those were.
    private static func replacing(_ old: RecordedBytes, by bytes: [UInt8]) -> RecordedBytes {
        if bytes == old.bytes { return old }
        return RecordedBytes(bytes, of: old.isCut ? max(old.size, UInt64(bytes.count) + 1) : UInt64(bytes.count))
    }

    // MARK: Wholes

    /// A request and its response, masked.
    func masked(_ exchange: RecordedExchange) -> RecordedExchange {
        var result = exchange
        result.url = masked(url: exchange.url)
        result.requestFields = masked(exchange.requestFields)
        result.responseFields = masked(exchange.responseFields)
        result.requestBody = masked(body: exchange.requestBody, type: exchange.requestFields[.contentType])
        result.responseBody = masked(body: exchange.responseBody, type: exchange.responseFields[.contentType])
        result.error = exchange.error.map { masked(words: $0, of: exchange.url) }
        return result
    }

    /// A WebSocket and its frames, masked.
    func masked(_ connection: RecordedConnection) -> RecordedConnection {
        var result = connection
        result.url = masked(url: connection.url)
        result.requestFields = masked(connection.requestFields)
        result.responseFields = masked(connection.responseFields)
        var frames = MaskedFrames(messages)
        result.frames = connection.frames.map { frames.next($0) }
        for index in result.errors.indices {
            result.errors[index].message = masked(words: result.errors[index].message, of: connection.url)
        }
        return result
    }

    /// Some frames of a connection, masked; of the others only those are read whose messages these go on with.
    ///
    /// - Parameters:
    ///   - frames: all of them.
    ///   - range: the places of those that are wanted.
    /// - Returns: these.
    func masked(_ frames: [RecordedFrame], _ range: Range<Int>) -> [RecordedFrame] {
        let before = frames[..<range.lowerBound]
        let starts = [true, false].compactMap { isOutgoing -> Int? in
            let next = frames[range].first { $0.isOutgoing == isOutgoing && !$0.opcode.isControl }
            guard next?.opcode == .continuation else { return nil }
            return before.lastIndex {
                $0.isOutgoing == isOutgoing && !$0.opcode.isControl && $0.opcode != .continuation
            } ?? 0
        }
        var masking = MaskedFrames(messages)
        let all = frames[(starts.min() ?? range.lowerBound)..<range.upperBound].map { masking.next($0) }
        return all.suffix(range.count)
    }

    /// A recording, masked.
    func masked(_ recording: Recording) -> Recording {
        Recording(
            exchanges: recording.exchanges.map { masked($0) },
            connections: recording.connections.map { masked($0) }
        )
    }

    /// The frames of one connection, whose messages may be in fragments.
    struct MaskedFrames: Sendable {
        private let fresh: JSONMask
        private var masks: [Bool: JSONMask] = [:]
        /// Directions in which a fragment was cut, or is gone: secrets in the rest of the message can't be recognized.
        private var hidden: Set<Bool> = []

        init(_ mask: JSONMask) {
            fresh = mask
        }

        /// The next frame, masked.
        mutating func next(_ frame: RecordedFrame) -> RecordedFrame {
            if frame.opcode.isControl { return frame }
            if frame.opcode != .continuation {
                masks[frame.isOutgoing] = fresh
                hidden.remove(frame.isOutgoing)
            } else if masks[frame.isOutgoing] == nil, fresh.masksAnything {
                hidden.insert(frame.isOutgoing)
            }
            var result = frame
            if hidden.contains(frame.isOutgoing) || frame.payload.isCoded && fresh.masksAnything {
                result.payload = RecordedBytes([], of: frame.payload.size)
            } else {
                let bytes = masks[frame.isOutgoing, default: fresh].mask(frame.payload.bytes)
                result.payload = SecretMask.replacing(frame.payload, by: InspectorSecret.masked(bytes))
            }
            if frame.payload.isCut { hidden.insert(frame.isOutgoing) }
            return result
        }
    }
}
