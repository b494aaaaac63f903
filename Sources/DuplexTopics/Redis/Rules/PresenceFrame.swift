// SPDX-License-Identifier: Apache-2.0
// Copyright (c) the Duplex authors

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
