// SPDX-License-Identifier: Apache-2.0
// Copyright (c) the Duplex authors

/// A value that a Redis server sends (RESP3, and what is left of RESP2).
///
/// Attributes, which a client may ignore, are taken off and dropped.
enum RedisValue: Sendable, Hashable {
    /// `_`, and the nulls of RESP2: a bulk string or an array of the length -1.
    case null
    /// `+`: a short text without line ends, such as `OK`.
    case simple(String)
    /// `$`: bytes.
    case bulk([UInt8])
    /// `-` and `!`: the command has failed.
    case error(RedisErrorReply)
    /// `:`
    case integer(Int64)
    /// `,`
    case double(Double)
    /// `#`
    case boolean(Bool)
    /// `(`: a whole number of any length, as it was written.
    case bigNumber(String)
    /// `=`: a text for people, and three characters that say what kind it is of: `txt` or `mkd`.
    case verbatim(format: String, [UInt8])
    /// `*`
    case array([RedisValue])
    /// `~`: as an array; that nothing is in it twice isn't checked.
    case set([RedisValue])
    /// `%`: in the order of the server.
    case map([Pair])

    /// A key of a map and what it stands for.
    struct Pair: Sendable, Hashable {
        var key: RedisValue
        var value: RedisValue

        init(_ key: RedisValue, _ value: RedisValue) {
            self.key = key
            self.value = value
        }
    }

    /// The bytes of a string of any kind; `nil` for anything else.
    var bytes: [UInt8]? {
        switch self {
        case .bulk(let bytes), .verbatim(_, let bytes): bytes
        case .simple(let text), .bigNumber(let text): Array(text.utf8)
        default: nil
        }
    }

    /// The text of a string of any kind, what isn't UTF-8 replaced; `nil` for anything else.
    var text: String? {
        switch self {
        case .bulk(let bytes), .verbatim(_, let bytes): String(decoding: bytes, as: UTF8.self)
        case .simple(let text), .bigNumber(let text): text
        default: nil
        }
    }

    /// A whole number, also one that is written as a string; `nil` for anything else.
    var integer: Int64? {
        if case .integer(let number) = self { return number }
        return text.flatMap { Int64($0) }
    }

    /// The elements of an array or a set; `nil` for anything else.
    var elements: [RedisValue]? {
        switch self {
        case .array(let elements), .set(let elements): elements
        default: nil
        }
    }

    /// What stands under a name in a map, or in an array in which names and values take turns, as RESP2 writes a map.
    ///
    /// - Parameter name: the name.
    /// - Returns: the value; `nil` when there is none.
    func value(of name: String) -> RedisValue? {
        switch self {
        case .map(let pairs): return pairs.first { $0.key.text == name }?.value
        case .array(let elements):
            let index = stride(from: 0, to: elements.count - 1, by: 2).first { elements[$0].text == name }
            return index.map { elements[$0 + 1] }
        default: return nil
        }
    }
}

/// What comes next from a Redis server.
enum RedisMessage: Sendable, Hashable {
    /// The answer to the oldest command that has none yet.
    case answer(RedisValue)
    /// `>`: what nobody asked for, such as a message of a subscription; its kind first. One element at least.
    case push([RedisValue])
}
