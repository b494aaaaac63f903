// SPDX-License-Identifier: Apache-2.0
// Copyright (c) the Duplex authors

import DuplexSockets
import DuplexWire

/// What lets somebody in to an inspector of this process: no inspector shows it, its own or another one.
///
/// It is known for as long as it is kept.
final class InspectorSecret: Sendable {
    /// What is shown in its place.
    static let sign = "••••••"

    private static let living = LivingObjects<InspectorSecret>()

    private let patterns: [BytePattern]

    /// - Parameter texts: the token, and what a browser has in its place; also as they are written in a URL.
    init(_ texts: [String]) {
        patterns = Set(texts + texts.map(PercentEncoding.segment)).map { BytePattern(Array($0.utf8)) }
        Self.living.add(self)
    }

    /// Bytes without the secrets of any inspector.
    static func masked(_ bytes: [UInt8]) -> [UInt8] {
        var bytes = bytes
        for pattern in living.all.flatMap(\.patterns) { bytes = pattern.replaced(in: bytes, by: Array(sign.utf8)) }
        return bytes
    }

    /// A text without the secrets of any inspector.
    static func masked(_ text: String) -> String {
        let bytes = Array(text.utf8)
        let masked = masked(bytes)
        return masked.count == bytes.count && masked == bytes ? text : String(decoding: masked, as: UTF8.self)
    }
}

/// Bytes that are looked for in others, of which most aren't looked at, by Horspool's way.
struct BytePattern: Sendable {
    private let bytes: [UInt8]
    /// How far it is moved on behind a place that ends in a byte.
    private let steps: [Int]

    init(_ bytes: [UInt8]) {
        self.bytes = bytes
        var steps = [Int](repeating: max(1, bytes.count), count: 256)
        for (index, byte) in bytes.dropLast().enumerated() { steps[Int(byte)] = bytes.count - 1 - index }
        self.steps = steps
    }

    /// Where it is first, from a place on.
    func place(in others: [UInt8], from start: Int = 0) -> Int? {
        guard let last = bytes.last else { return nil }
        var place = start
        while place + bytes.count <= others.count {
            let end = others[place + bytes.count - 1]
            if end == last, others[place..<(place + bytes.count)].elementsEqual(bytes) { return place }
            place += steps[Int(end)]
        }
        return nil
    }

    /// The others with something in its place.
    func replaced(in others: [UInt8], by sign: [UInt8]) -> [UInt8] {
        guard var place = place(in: others) else { return others }
        var (result, start) = ([UInt8](), 0)
        while true {
            result += others[start..<place] + sign
            start = place + bytes.count
            guard let next = self.place(in: others, from: start) else { break }
            place = next
        }
        return result + others[start...]
    }
}
