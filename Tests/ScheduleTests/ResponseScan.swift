// SPDX-License-Identifier: Apache-2.0
// Copyright (c) the Duplex authors

/// Reads responses as a naive client does: once, behind the last byte (RFC 9112 sections 6 and 7).
struct ResponseScan {
    struct Answer: Equatable, Sendable {
        var status: Int
        /// `nil` where it is of no interest.
        var body: [UInt8]?

        static func == (one: Answer, other: Answer) -> Bool {
            one.status == other.status && (one.body == nil || other.body == nil || one.body == other.body)
        }
    }

    private(set) var answers: [Answer] = []
    /// What came behind the last one.
    private(set) var rest: [UInt8] = []
    /// Whether all of them are whole.
    private(set) var isWhole = true

    /// Reads what came back.
    ///
    /// - Parameters:
    ///   - bytes: all of it.
    ///   - isHead: whether each request asked for a head alone.
    init(_ bytes: [UInt8], isHead: [Bool]) {
        var bytes = bytes[...]
        while !bytes.isEmpty, isWhole {
            guard let head = Self.takeHead(&bytes) else {
                isWhole = false
                return
            }
            if head.status == 101 {
                answers.append(Answer(status: 101, body: nil))
                rest = Array(bytes)
                return
            }
            if head.status < 200 { continue }
            let hasBody = !(answers.count < isHead.count && isHead[answers.count])
            guard let body = hasBody ? Self.takeBody(&bytes, head.headers) : [] else {
                isWhole = false
                return
            }
            answers.append(Answer(status: head.status, body: hasBody ? body : nil))
        }
    }

    private static func takeHead(_ bytes: inout ArraySlice<UInt8>) -> (status: Int, headers: [String: String])? {
        guard let end = bytes.indices.first(where: { bytes[$0...].starts(with: [13, 10, 13, 10]) }) else { return nil }
        let lines = String(decoding: bytes[..<end], as: UTF8.self).split(separator: "\r\n")
        bytes = bytes[(end + 4)...]
        let status = lines.first.flatMap { $0.split(separator: " ").dropFirst().first }.flatMap { Int($0) }
        var headers: [String: String] = [:]
        for line in lines.dropFirst() {
            let parts = line.split(separator: ":", maxSplits: 1)
            headers[parts[0].lowercased()] = parts.last.map { String($0.drop { $0 == " " }) }
        }
        return status.map { ($0, headers) }
    }

    /// Takes a body; `nil` where it is cut.
    private static func takeBody(_ bytes: inout ArraySlice<UInt8>, _ headers: [String: String]) -> [UInt8]? {
        if headers["transfer-encoding"] == "chunked" { return takeChunks(&bytes) }
        guard let count = headers["content-length"].flatMap({ Int($0) }) else {
            defer { bytes = [] }
            return Array(bytes)
        }
        guard bytes.count >= count else { return nil }
        defer { bytes = bytes.dropFirst(count) }
        return Array(bytes.prefix(count))
    }

    private static func takeChunks(_ bytes: inout ArraySlice<UInt8>) -> [UInt8]? {
        var body: [UInt8] = []
        while let end = bytes.firstIndex(of: 10) {
            let line = String(decoding: bytes[..<end], as: UTF8.self).prefix { $0.isHexDigit }
            guard let count = Int(line, radix: 16), bytes.count >= end - bytes.startIndex + 1 + count + 2 else {
                return nil
            }
            body += bytes[(end + 1)..<(end + 1 + count)]
            bytes = bytes[(end + 1 + count + 2)...]
            if count == 0 { return body }
        }
        return nil
    }
}
