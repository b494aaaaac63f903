// SPDX-License-Identifier: Apache-2.0
// Copyright (c) the Duplex authors

/// One message of the kernel's about its network (rtnetlink(7)), as far as it matters here.
struct NetlinkMessage: Equatable {
    /// What a message is about.
    enum Content: Equatable {
        /// An interface is there, or has changed.
        case link(index: UInt32, name: String, isUp: Bool)
        /// An interface is gone.
        case linkGone(index: UInt32)
        /// An interface has an address; it isn't usable while the link is asked whether somebody has it already.
        /// One that is unchanged since it was made may be new; the kernel also says so of one that takes the place of another.
        case address(index: UInt32, bytes: [UInt8], isUsable: Bool, isUnchanged: Bool = false)
        /// An address is gone.
        case addressGone(index: UInt32, bytes: [UInt8])
        /// A route to other machines was made, changed or taken away.
        case route
        /// All of an answer has come.
        case done
        /// A request failed, with the system's error number.
        case failed(Int32)
        /// The kernel has lost messages.
        case overrun
    }

    /// The number of this socket's request that this answers; 0 for what the kernel says of its own accord.
    var sequence: UInt32
    /// Whether what is listed changed meanwhile, so that something may be missing in the answer.
    var isInterrupted = false
    var content: Content
}

/// Reads the messages of one datagram; asks nobody, and reads nothing beyond the end of what it is given.
///
/// Numbers are in the order of the machine. What isn't understood is left out; what can't be, since a length leads out of
/// the datagram, ends the reading of it.
struct NetlinkParser {
    private let bytes: [UInt8]

    /// The number of the socket that reads; what the kernel sends to everybody may have the number of another's
    /// request.
    private var port: UInt32 = 0

    private init(bytes: [UInt8], port: UInt32 = 0) {
        self.bytes = bytes
        self.port = port
    }

    /// Reads a datagram.
    ///
    /// - Parameters:
    ///   - bytes: all of it.
    ///   - port: the number of the socket, which answers to its requests have.
    /// - Returns: the messages, in their order, and whether the datagram was whole.
    static func messages(in bytes: [UInt8], port: UInt32) -> (messages: [NetlinkMessage], isWhole: Bool) {
        let parser = NetlinkParser(bytes: bytes, port: port)
        var messages: [NetlinkMessage] = []
        var position = 0
        while position < bytes.count {
            guard let length = parser.uint32(position).map(Int.init), length >= headSize,
                length <= bytes.count - position
            else { return (messages, false) }
            if let message = parser.message(position..<(position + length)) { messages.append(message) }
            // The last one may lack what would fill it up.
            position += aligned(length)
        }
        return (messages, true)
    }

    // MARK: Numbers

    private static let headSize = 16

    private static func aligned(_ length: Int) -> Int { (length + 3) & ~3 }

    private func uint8(_ position: Int) -> UInt8? {
        bytes.indices.contains(position) ? bytes[position] : nil
    }

    private func uint16(_ position: Int) -> UInt16? {
        guard let low = uint8(position), let high = uint8(position + 1) else { return nil }
        return UInt16(littleEndian: UInt16(low) | UInt16(high) << 8)
    }

    private func uint32(_ position: Int) -> UInt32? {
        guard position >= 0, position <= bytes.count - 4 else { return nil }
        let value = (0..<4).reduce(UInt32(0)) { $0 | UInt32(bytes[position + $1]) << UInt32(8 * $1) }
        return UInt32(littleEndian: value)
    }

    // MARK: Messages

    /// The numbers of the kinds of messages.
    private enum Kind {
        static let failure: UInt16 = 2
        static let done: UInt16 = 3
        static let overrun: UInt16 = 4
        static let newLink: UInt16 = 16
        static let deletedLink: UInt16 = 17
        static let newAddress: UInt16 = 20
        static let deletedAddress: UInt16 = 21
        static let newRoute: UInt16 = 24
        static let deletedRoute: UInt16 = 25
    }

    private func message(_ range: Range<Int>) -> NetlinkMessage? {
        let start = range.lowerBound
        guard let kind = uint16(start + 4), let flags = uint16(start + 6), let sequence = uint32(start + 8),
            let asker = uint32(start + 12)
        else { return nil }
        guard let content = content(kind, (start + Self.headSize)..<range.upperBound) else { return nil }
        let answered = asker == port ? sequence : 0
        return NetlinkMessage(sequence: answered, isInterrupted: flags & 0x10 != 0, content: content)
    }

    private func content(_ kind: UInt16, _ body: Range<Int>) -> NetlinkMessage.Content? {
        switch kind {
        case Kind.failure:
            guard body.count >= 4, let code = uint32(body.lowerBound) else { return nil }
            // An error of 0 is an acknowledgement.
            let number = Int32(bitPattern: code)
            return number < 0 && number > .min ? .failed(-number) : nil
        case Kind.done: return .done
        case Kind.overrun: return .overrun
        case Kind.newLink, Kind.deletedLink: return link(body, isGone: kind == Kind.deletedLink)
        case Kind.newAddress, Kind.deletedAddress: return address(body, isGone: kind == Kind.deletedAddress)
        case Kind.newRoute, Kind.deletedRoute: return route(body)
        default: return nil
        }
    }

    /// `struct ifinfomsg`: family, type, index, flags.
    private func link(_ body: Range<Int>, isGone: Bool) -> NetlinkMessage.Content? {
        let size = 16
        // Messages of other families have what an interface is to them, such as the port of a bridge.
        guard body.count >= size, uint8(body.lowerBound) == 0, let index = uint32(body.lowerBound + 4),
            let flags = uint32(body.lowerBound + 8)
        else { return nil }
        if isGone { return .linkGone(index: index) }
        guard let attributes = attributes(body.dropFirst(size)), let name = attributes[3] else { return nil }
        // Switched on, and running: a cable without a link is no way.
        let isUp = flags & 0x1 != 0 && flags & 0x40 != 0
        return .link(index: index, name: String(decoding: name.prefix { $0 != 0 }, as: UTF8.self), isUp: isUp)
    }

    /// `struct ifaddrmsg`: family, length of the prefix, flags, scope, index.
    private func address(_ body: Range<Int>, isGone: Bool) -> NetlinkMessage.Content? {
        let size = 8
        guard body.count >= size, let family = uint8(body.lowerBound), let shortFlags = uint8(body.lowerBound + 2),
            let index = uint32(body.lowerBound + 4), let attributes = attributes(body.dropFirst(size)),
            // Where there are two, the first is the peer's.
            let bytes = attributes[2] ?? attributes[1],
            family == 2 && bytes.count == 4 || family == 10 && bytes.count == 16
        else { return nil }
        if isGone { return .addressGone(index: index, bytes: bytes) }
        let longFlags = attributes[8].flatMap { $0.count == 4 ? NetlinkParser(bytes: $0).uint32(0) : nil }
        let flags = longFlags ?? UInt32(shortFlags)
        // Tentative, or found to be somebody else's (RFC 4862 section 5.4).
        let isUsable = flags & 0x48 == 0
        return .address(index: index, bytes: bytes, isUsable: isUsable, isUnchanged: isUnchanged(attributes[6] ?? []))
    }

    /// `struct ifa_cacheinfo`: two lifetimes, and when the address was made and changed.
    private func isUnchanged(_ times: [UInt8]) -> Bool {
        let times = NetlinkParser(bytes: times)
        guard let made = times.uint32(8), let changed = times.uint32(12) else { return false }
        return made == changed
    }

    /// `struct rtmsg`: family, lengths, table, protocol, scope, type, flags.
    private func route(_ body: Range<Int>) -> NetlinkMessage.Content? {
        guard body.count >= 12, let type = uint8(body.lowerBound + 7), let flags = uint32(body.lowerBound + 8) else {
            return nil
        }
        // Local, broadcast, anycast and multicast ones come and go with addresses; clones are the kernel's memory.
        return (2...5).contains(type) || flags & 0x200 != 0 ? nil : .route
    }

    /// The attributes by their numbers; `nil` when one of them leads out of the message.
    private func attributes(_ range: Range<Int>) -> [UInt16: [UInt8]]? {
        var attributes: [UInt16: [UInt8]] = [:]
        var position = range.lowerBound
        while position < range.upperBound {
            guard range.upperBound - position >= 4, let length = uint16(position).map(Int.init), length >= 4,
                length <= range.upperBound - position, let type = uint16(position + 2)
            else { return nil }
            attributes[type & 0x3FFF] = Array(bytes[(position + 4)..<(position + length)])
            position += Self.aligned(length)
        }
        return attributes
    }
}
