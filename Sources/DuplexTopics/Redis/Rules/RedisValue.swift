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

/// Why a Redis server hasn't done what a command asked for, in the server's own words.
struct RedisErrorReply: Error, Sendable, Hashable, CustomStringConvertible {
    /// The kind of error: the first word of the text; an open set.
    struct Kind: RawRepresentable, Sendable, Hashable {
        /// The word.
        let rawValue: String

        init(rawValue: String) {
            self.rawValue = rawValue
        }

        /// Any error without a kind of its own.
        static let general = Kind(rawValue: "ERR")
        /// Nobody has logged in on the connection.
        static let authenticationRequired = Kind(rawValue: "NOAUTH")
        /// The user isn't known, is switched off, or has another password.
        static let wrongPassword = Kind(rawValue: "WRONGPASS")
        /// The user may not run the command, or not with this key or channel.
        static let noPermission = Kind(rawValue: "NOPERM")
        /// Another node of the cluster has the slot.
        static let moved = Kind(rawValue: "MOVED")
        /// The slot is on its way to another node, which has this key.
        static let ask = Kind(rawValue: "ASK")
        /// Several keys of one command, some of which are on their way to another node.
        static let tryAgain = Kind(rawValue: "TRYAGAIN")
        /// The server reads its data from the disk.
        static let loading = Kind(rawValue: "LOADING")
        /// The server is a replica.
        static let readOnly = Kind(rawValue: "READONLY")
        /// The server is a replica that has lost its master.
        static let masterDown = Kind(rawValue: "MASTERDOWN")
        /// Nobody in the cluster has the slot, or the cluster has lost its majority.
        static let clusterDown = Kind(rawValue: "CLUSTERDOWN")
        /// The server doesn't know the script.
        static let noScript = Kind(rawValue: "NOSCRIPT")
        /// The server knows no version of the protocol but 2.
        static let noProtocol = Kind(rawValue: "NOPROTO")
    }

    /// What the server has said.
    let text: String

    init(_ text: String) {
        self.text = text
    }

    /// The first word.
    var kind: Kind { Kind(rawValue: String(text.prefix { $0 != " " })) }

    /// Where MOVED and ASK point to; `nil` for other errors, and where there is no sense in what they say.
    var redirection: RedisRedirection? {
        guard kind == .moved || kind == .ask else { return nil }
        return RedisRedirection(text)
    }

    var description: String { text }
}

/// Where another node of a cluster is to be asked.
struct RedisRedirection: Sendable, Hashable {
    /// The slot of the key.
    let slot: Int
    /// The node; `nil` where it is the one that has answered, which doesn't know its own name.
    let host: String?
    /// The node's port.
    let port: Int

    /// Reads `MOVED 3999 127.0.0.1:6381`; the host may be an IPv6 address without brackets.
    init?(_ text: String) {
        let words = text.split(separator: " ")
        guard words.count >= 3, let slot = Int(words[1]), (0..<RedisSlot.count).contains(slot),
            let colon = words[2].lastIndex(of: ":"), let port = Int(words[2][words[2].index(after: colon)...]),
            (1...65_535).contains(port)
        else { return nil }
        self.slot = slot
        self.port = port
        let host = words[2][..<colon]
        self.host = host.isEmpty || host == "?" ? nil : String(host)
    }
}
