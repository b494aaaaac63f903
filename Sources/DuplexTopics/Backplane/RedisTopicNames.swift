// SPDX-License-Identifier: Apache-2.0
// Copyright (c) the Duplex authors

import DuplexWire

/// What keys and channels of topics are called in Redis: `prefix:{topic}:what`.
///
/// The braces have all that is of one topic lie in one slot of a cluster.
struct RedisTopicNames: Sendable {
    private let prefix: [UInt8]
    private static let ending = Array("}:".utf8)
    private static let messages = Array("messages".utf8)
    /// Stands in front of a topic that begins with a closing brace, since nothing between the braces would be no tag; no topic has
    /// it in its name.
    private static let guardian: UInt8 = 0x1F

    /// - Parameter prefix: distinguishes this app's keys from others'.
    /// - Throws: ``TopicError`` with `invalidName` when it is empty, or has braces, which would make another tag.
    init(_ prefix: String) throws(TopicError) {
        guard !prefix.isEmpty, !prefix.utf8.contains(where: { "{}".utf8.contains($0) }) else {
            throw TopicError(.invalidName, "A prefix of keys in Redis isn't empty, and has no braces.")
        }
        self.prefix = Array((prefix + ":{").utf8)
    }

    private func base(_ topic: some Sequence<UInt8>, startsWithBrace: Bool) -> [UInt8] {
        prefix + (startsWithBrace ? [Self.guardian] : []) + topic + Self.ending
    }

    /// A key of a topic.
    func key(_ what: String, of topic: String) -> [UInt8] {
        base(topic.utf8, startsWithBrace: topic.utf8.first == UInt8(ascii: "}")) + what.utf8
    }

    /// The channel that messages of a topic are published to.
    func channel(of topic: String) -> [UInt8] {
        key("messages", of: topic)
    }

    /// The topic that a channel is of; `nil` for a channel of something else.
    func topic(ofChannel channel: [UInt8]) -> String? {
        let end = Self.ending + Self.messages
        guard channel.starts(with: prefix), channel.count > prefix.count + end.count,
            channel.suffix(end.count).elementsEqual(end)
        else { return nil }
        var name = channel[prefix.count..<channel.count - end.count]
        if name.first == Self.guardian { name.removeFirst() }
        return String(validating: name, as: UTF8.self)
    }

    /// A pattern of Redis that matches the channels of all topics of a pattern, and some more.
    func glob(of pattern: String) -> [UInt8] {
        var topic: [UInt8] = []
        for byte in pattern.utf8 {
            switch byte {
            case UInt8(ascii: "+"): topic.append(UInt8(ascii: "*"))
            case UInt8(ascii: "#"):
                // `a/#` is `a`, too.
                if topic.last == UInt8(ascii: "/") { topic.removeLast() }
                topic.append(UInt8(ascii: "*"))
            default: Self.append(byte, to: &topic)
            }
        }
        var glob: [UInt8] = []
        for byte in prefix { Self.append(byte, to: &glob) }
        if topic.first == UInt8(ascii: "}") { glob.append(Self.guardian) }
        return glob + topic + Self.ending + Self.messages
    }

    private static func append(_ byte: UInt8, to glob: inout [UInt8]) {
        if "*?[]\\".utf8.contains(byte) { glob.append(UInt8(ascii: "\\")) }
        glob.append(byte)
    }
}
