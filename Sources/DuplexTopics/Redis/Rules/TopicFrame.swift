// SPDX-License-Identifier: Apache-2.0
// Copyright (c) the Duplex authors

import DuplexWire

/// A message of a topic on its way between machines, and as it is kept there.
///
/// One byte of version, which is 1, and one that says what follows: 1 for a binary message, 2 for one with a place. Then, where
/// it has a place, the epoch behind one byte of its length, and the offset in eight. Then the ``tail``. Numbers begin with
/// their highest byte.
struct TopicFrame: Sendable, Hashable {
    /// Where the message stands in what is kept of its topic.
    struct Place: Sendable, Hashable {
        var epoch: String
        var offset: UInt64

        init(epoch: String, offset: UInt64) {
            self.epoch = epoch
            self.offset = offset
        }
    }

    /// What is no frame.
    enum Fault: Error, Sendable, Hashable {
        /// It ends too early.
        case truncated
        /// It is of a version that isn't known, or its flags aren't.
        case unknown
        /// A text in it isn't UTF-8.
        case notText
    }

    /// The longest epoch and the longest name of an origin, in bytes.
    static let longestName = 255
    private static let version: UInt8 = 1

    /// What was published.
    var message: Message
    /// Where it stands; `nil` where nothing is kept.
    var place: Place?
    /// Who has published it.
    var origin: String
    /// Its number among those of its origin.
    var number: UInt64

    /// Makes a frame.
    ///
    /// - Parameters:
    ///   - message: what was published.
    ///   - place: where it stands; its epoch has ``longestName`` bytes at most.
    ///   - origin: who has published it; ``longestName`` bytes at most.
    ///   - number: its number.
    init(_ message: Message, at place: Place? = nil, from origin: String, number: UInt64) {
        precondition(origin.utf8.count <= Self.longestName, "The name of an origin is too long.")
        precondition((place?.epoch.utf8.count ?? 0) <= Self.longestName, "An epoch is too long.")
        self.message = message
        self.place = place
        self.origin = origin
        self.number = number
    }

    /// What is the same wherever the message comes to stand: its number in eight bytes, its origin behind one byte of its
    /// length, and what was published.
    var tail: [UInt8] {
        var bytes: [UInt8] = []
        bytes.reserveCapacity(9 + origin.utf8.count + message.byteCount)
        Self.append(number, to: &bytes)
        Self.append(origin, to: &bytes)
        switch message {
        case .text(let text): bytes += text.utf8
        case .binary(let payload): bytes += payload
        }
        return bytes
    }

    /// The flags of a frame without a place.
    static func flags(of kind: Message.Kind) -> UInt8 { kind == .text ? 0 : 1 }

    /// The frame.
    var encoded: [UInt8] {
        var bytes = [Self.version, Self.flags(of: message.kind) | (place == nil ? 0 : 2)]
        if let place {
            Self.append(place.epoch, to: &bytes)
            Self.append(place.offset, to: &bytes)
        }
        return bytes + tail
    }

    private static func append(_ number: UInt64, to bytes: inout [UInt8]) {
        for shift in stride(from: 56, through: 0, by: -8) { bytes.append(UInt8(truncatingIfNeeded: number >> shift)) }
    }

    private static func append(_ name: String, to bytes: inout [UInt8]) {
        bytes.append(UInt8(name.utf8.count))
        bytes += name.utf8
    }

    /// Reads a frame.
    ///
    /// - Parameter bytes: one frame, whole.
    /// - Throws: ``Fault``.
    init(_ bytes: [UInt8]) throws(Fault) {
        var reader = ByteFieldReader(bytes)
        let (version, flags) = (try reader.byte(), try reader.byte())
        guard version == Self.version, flags & ~3 == 0 else { throw .unknown }
        if flags & 2 != 0 {
            place = Place(epoch: try reader.text(Int(try reader.byte())), offset: try reader.number(8))
        }
        number = try reader.number(8)
        origin = try reader.text(Int(try reader.byte()))
        message = flags & 1 == 0 ? .text(try reader.text(reader.left)) : .binary(Array(try reader.bytes(reader.left)))
    }
}

/// Takes fields out of bytes, one behind the other.
private struct ByteFieldReader {
    private let all: [UInt8]
    private var position = 0

    init(_ bytes: [UInt8]) {
        all = bytes
    }

    /// How many bytes there are yet.
    var left: Int { all.count - position }

    mutating func bytes(_ count: Int) throws(TopicFrame.Fault) -> ArraySlice<UInt8> {
        guard count <= left else { throw .truncated }
        defer { position += count }
        return all[position..<position + count]
    }

    mutating func byte() throws(TopicFrame.Fault) -> UInt8 {
        guard left > 0 else { throw .truncated }
        defer { position += 1 }
        return all[position]
    }

    mutating func number(_ count: Int) throws(TopicFrame.Fault) -> UInt64 {
        try bytes(count).reduce(0) { $0 << 8 | UInt64($1) }
    }

    mutating func text(_ count: Int) throws(TopicFrame.Fault) -> String {
        guard let text = String(validating: try bytes(count), as: UTF8.self) else { throw .notText }
        return text
    }
}

/// Somebody has come to a topic or gone, on the way between machines.
///
/// One byte of version, which is 1, one that says what has happened, the id behind four bytes of its length, and their
/// info. Numbers begin with their highest byte.
struct PresenceFrame: Sendable, Hashable {
    /// What has happened.
    enum Kind: UInt8, Sendable, Hashable {
        case joined = 0
        case left = 1
    }

    var kind: Kind
    var id: String
    var info: String

    init(_ kind: Kind, id: String, info: String) {
        self.kind = kind
        self.id = id
        self.info = info
    }

    /// Reads a frame.
    ///
    /// - Parameter bytes: one frame, whole.
    /// - Throws: ``TopicFrame/Fault``.
    init(_ bytes: [UInt8]) throws(TopicFrame.Fault) {
        var reader = ByteFieldReader(bytes)
        guard try reader.byte() == 1, let kind = Kind(rawValue: try reader.byte()) else { throw .unknown }
        self.kind = kind
        id = try reader.text(Int(try reader.number(4)))
        info = try reader.text(reader.left)
    }

    /// The frame.
    var encoded: [UInt8] {
        let count = UInt32(id.utf8.count)
        let length = [24, 16, 8, 0].map { UInt8(truncatingIfNeeded: count >> $0) }
        return [1, kind.rawValue] + length + Array(id.utf8) + Array(info.utf8)
    }
}
