// SPDX-License-Identifier: Apache-2.0
// Copyright (c) the Duplex authors

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
