// SPDX-License-Identifier: Apache-2.0
// Copyright (c) the Duplex authors

import DuplexWire
import Foundation
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
    func masked(_ headers: HTTPFields) -> HTTPFields {
        var result = HTTPFields()
        for field in headers {
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
        result.requestHeaders = masked(exchange.requestHeaders)
        result.responseHeaders = masked(exchange.responseHeaders)
        result.requestBody = masked(body: exchange.requestBody, type: exchange.requestHeaders[.contentType])
        result.responseBody = masked(body: exchange.responseBody, type: exchange.responseHeaders[.contentType])
        result.error = exchange.error.map { masked(words: $0, of: exchange.url) }
        return result
    }

    /// A WebSocket and its frames, masked.
    func masked(_ connection: RecordedConnection) -> RecordedConnection {
        var result = connection
        result.url = masked(url: connection.url)
        result.requestHeaders = masked(connection.requestHeaders)
        result.responseHeaders = masked(connection.responseHeaders)
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

/// Masks the values of named members in JSON that comes in pieces, such as the fragments of a message.
///
/// It reads what it needs of the syntax and nothing more: what is cut, or isn't JSON, goes through it as well.
struct JSONMask: Sendable {
    /// What takes the place of a value.
    static let sign = "[masked]"
    /// How long a name may be in the text; longer ones are no secret's.
    private static let longestName = 1_024

    private let names: Set<String>
    private var state = State.outside
    private var name: [UInt8] = []

    private enum State {
        case outside
        /// In a string that may be a name.
        case string(isEscaped: Bool)
        case behindString
        case beforeValue
        case hiddenString(isEscaped: Bool)
        /// In a number, or a word.
        case hiddenWord
        /// In an object or an array.
        case hidden(depth: Int, inString: Bool, isEscaped: Bool)
    }

    /// Whether there is a name that it masks.
    var masksAnything: Bool { !names.isEmpty }

    /// Masks members of these names, which are in lower case.
    init(_ names: Set<String>) {
        self.names = names
    }

    /// The next piece, masked.
    mutating func mask(_ bytes: [UInt8]) -> [UInt8] {
        if names.isEmpty { return bytes }
        var result: [UInt8] = []
        result.reserveCapacity(bytes.count)
        for byte in bytes { take(byte, into: &result) }
        return result
    }

    private mutating func take(_ byte: UInt8, into result: inout [UInt8]) {
        switch state {
        case .outside:
            result.append(byte)
            if byte == UInt8(ascii: "\"") { beginString() }
        case .string(let isEscaped):
            result.append(byte)
            if byte == UInt8(ascii: "\""), !isEscaped {
                state = .behindString
            } else {
                if name.count < Self.longestName { name.append(byte) }
                state = .string(isEscaped: byte == UInt8(ascii: "\\") && !isEscaped)
            }
        case .behindString:
            result.append(byte)
            if Self.isSpace(byte) { return }
            if byte == UInt8(ascii: "\"") { return beginString() }
            state = byte == UInt8(ascii: ":") && isSecret ? .beforeValue : .outside
        case .beforeValue:
            if Self.isSpace(byte) { return result.append(byte) }
            result += Array("\"\(Self.sign)\"".utf8)
            switch byte {
            case UInt8(ascii: "\""): state = .hiddenString(isEscaped: false)
            case UInt8(ascii: "{"), UInt8(ascii: "["): state = .hidden(depth: 1, inString: false, isEscaped: false)
            default: state = .hiddenWord
            }
        case .hiddenString(let isEscaped):
            let ends = byte == UInt8(ascii: "\"") && !isEscaped
            state = ends ? .outside : .hiddenString(isEscaped: byte == UInt8(ascii: "\\") && !isEscaped)
        case .hiddenWord:
            guard Self.isSpace(byte) || ",}]".utf8.contains(byte) else { return }
            result.append(byte)
            state = .outside
        case .hidden(let depth, let inString, let isEscaped): hide(byte, depth, inString, isEscaped)
        }
    }

    private mutating func beginString() {
        name.removeAll(keepingCapacity: true)
        state = .string(isEscaped: false)
    }

    private mutating func hide(_ byte: UInt8, _ depth: Int, _ inString: Bool, _ isEscaped: Bool) {
        var (depth, inString) = (depth, inString)
        switch byte {
        case UInt8(ascii: "\"") where !isEscaped: inString.toggle()
        case UInt8(ascii: "{") where !inString, UInt8(ascii: "[") where !inString: depth += 1
        case UInt8(ascii: "}") where !inString, UInt8(ascii: "]") where !inString: depth -= 1
        default: break
        }
        let escapes = inString && byte == UInt8(ascii: "\\") && !isEscaped
        state = depth == 0 ? .outside : .hidden(depth: depth, inString: inString, isEscaped: escapes)
    }

    private static func isSpace(_ byte: UInt8) -> Bool {
        byte == 0x20 || byte == 0x09 || byte == 0x0A || byte == 0x0D
    }

    private var isSecret: Bool {
        var text = String(decoding: name, as: UTF8.self)
        if name.contains(UInt8(ascii: "\\")) {
            let quoted = Data([0x22] + name + [0x22])
            guard let plain = try? JSONDecoder().decode(String.self, from: quoted) else { return false }
            text = plain
        }
        return names.contains(text.lowercased())
    }
}
