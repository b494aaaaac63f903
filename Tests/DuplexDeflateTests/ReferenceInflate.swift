// SPDX-License-Identifier: Apache-2.0
// Copyright (c) the Duplex authors

/// A slow inflate, bit by bit as RFC 1951 says it, that is only there to say who is right.
struct ReferenceInflate {
    private let input: [UInt8]
    private var bit = 0
    private(set) var bytes: [UInt8] = []
    private var windowCount: Int
    /// Whether a set of codes leaves bits without a meaning, which isn't one code of one bit.
    private(set) var hasIncompleteCode = false
    private(set) var isCorrupt = false
    /// How far back the farthest reference reaches.
    private(set) var farthest = 0

    private enum Fault: Error { case corrupt, cut }

    private init(_ input: [UInt8], window: [UInt8]) {
        self.input = input
        bytes = Array(window.suffix(32_768))
        windowCount = bytes.count
    }

    /// Inflates a message as a receiver does, with the end that the sender has left out.
    static func message(_ payload: [UInt8], window: [UInt8]) -> ReferenceInflate {
        var stream = ReferenceInflate(payload + [0x00, 0x00, 0xFF, 0xFF], window: window)
        do {
            while true {
                let last = try stream.block()
                if last { stream.bit = (stream.bit + 7) / 8 * 8 }
                let left = stream.input.count * 8 - stream.bit
                if last && left <= 32 {
                    stream.isCorrupt = left < 32
                    break
                }
                if !last && left < 3 { break }
            }
        } catch {
            stream.isCorrupt = true
        }
        stream.bytes.removeFirst(stream.windowCount)
        return stream
    }

    private mutating func bits(_ count: Int) throws -> Int {
        var number = 0
        for index in 0..<count {
            guard bit < input.count * 8 else { throw Fault.cut }
            number |= Int(input[bit / 8] >> (bit % 8) & 1) << index
            bit += 1
        }
        return number
    }

    /// A set of codes by their lengths.
    private struct Codes {
        var first: [Int] = []
        var sorted: [[Int]] = []
    }

    private mutating func codes(_ lengths: [Int], isOfLengths: Bool = false) throws -> Codes {
        var codes = Codes()
        codes.sorted = (0..<16).map { length in lengths.indices.filter { lengths[$0] == length && length > 0 } }
        var code = 0
        for length in 1..<16 {
            code <<= 1
            codes.first.append(code)
            code += codes.sorted[length].count
            if code > 1 << length { throw Fault.corrupt }
        }
        let longest = lengths.max() ?? 0
        if code < 1 << 15, longest > 0, isOfLengths || longest > 1 { hasIncompleteCode = true }
        return codes
    }

    private mutating func symbol(_ codes: Codes) throws -> Int {
        var code = 0
        for length in 1..<16 {
            code = code << 1 | (try bits(1))
            let index = code - codes.first[length - 1]
            if index >= 0, index < codes.sorted[length].count { return codes.sorted[length][index] }
        }
        throw Fault.corrupt
    }

    private mutating func block() throws -> Bool {
        let isLast = try bits(1) == 1
        switch try bits(2) {
        case 0: try stored()
        case 1:
            let literals = try codes(
                [Int](repeating: 8, count: 144) + [Int](repeating: 9, count: 112) + [Int](repeating: 7, count: 24)
                    + [Int](repeating: 8, count: 8)
            )
            try coded(literals, try codes([Int](repeating: 5, count: 32)))
        case 2:
            let (literals, distances) = try header()
            try coded(literals, distances)
        default: throw Fault.corrupt
        }
        return isLast
    }

    private mutating func stored() throws {
        bit = (bit + 7) / 8 * 8
        let length = try bits(16)
        guard try bits(16) == ~length & 0xFFFF else { throw Fault.corrupt }
        for _ in 0..<length { bytes.append(UInt8(try bits(8))) }
    }

    private mutating func header() throws -> (Codes, Codes) {
        let literals = try bits(5) + 257
        let distances = try bits(5) + 1
        let count = try bits(4) + 4
        if literals > 286 || distances > 30 { throw Fault.corrupt }
        var lengths = [Int](repeating: 0, count: 19)
        for index in [16, 17, 18, 0, 8, 7, 9, 6, 10, 5, 11, 4, 12, 3, 13, 2, 14, 1, 15].prefix(count) {
            lengths[index] = try bits(3)
        }
        let codes = try codes(lengths, isOfLengths: true)
        var all: [Int] = []
        while all.count < literals + distances {
            switch try symbol(codes) {
            case 16:
                guard let last = all.last else { throw Fault.corrupt }
                all += [Int](repeating: last, count: 3 + (try bits(2)))
            case 17: all += [Int](repeating: 0, count: 3 + (try bits(3)))
            case 18: all += [Int](repeating: 0, count: 11 + (try bits(7)))
            case let length: all.append(length)
            }
        }
        guard all.count == literals + distances, all[256] > 0 else { throw Fault.corrupt }
        return (try self.codes(Array(all[..<literals])), try self.codes(Array(all[literals...])))
    }

    private mutating func coded(_ literals: Codes, _ distances: Codes) throws {
        while true {
            let symbol = try symbol(literals)
            if symbol == 256 { return }
            if symbol < 256 {
                bytes.append(UInt8(symbol))
                continue
            }
            guard symbol <= 285 else { throw Fault.corrupt }
            let length = try length(symbol)
            let number = try self.symbol(distances)
            guard number < 30 else { throw Fault.corrupt }
            let extra = max(0, number / 2 - 1)
            let distance = (number < 4 ? number + 1 : ((2 + number % 2) << extra) + 1) + (try bits(extra))
            guard distance <= bytes.count else { throw Fault.corrupt }
            farthest = max(farthest, distance)
            for _ in 0..<length { bytes.append(bytes[bytes.count - distance]) }
        }
    }

    private mutating func length(_ symbol: Int) throws -> Int {
        if symbol < 265 { return symbol - 254 }
        if symbol == 285 { return 258 }
        let extra = (symbol - 261) / 4
        return 3 + ((4 + (symbol - 261) % 4) << extra) + (try bits(extra))
    }
}
