// SPDX-License-Identifier: Apache-2.0
// Copyright (c) the Duplex authors

import DuplexTestProcesses
import Glibc
import Synchronization
import Testing

@testable import DuplexSockets

/// A name server written by hand, on a thread of its own: it answers what a test has it answer, right or wrong.
final class NameServerPeer: Sendable {
    /// A question that has arrived.
    struct Question: Sendable {
        var bytes: [UInt8]
        var id: UInt16
        var name: String
        var type: DNSType
        var hasOptions: Bool
        var sender: SocketAddress
        var isStream: Bool
        /// How many had come before.
        var number: Int

        /// An answer to it.
        func answer(
            _ literals: String...,
            id: UInt16? = nil,
            flags: UInt16 = 0x8180,
            name: String? = nil,
            type: DNSType? = nil,
            timeToLive: UInt32 = 300
        ) throws -> [UInt8] {
            let addresses = try literals.map { try SocketAddress($0, port: 0) }
            var message = DNSBuilder(id: id ?? self.id, flags: flags, questions: 1, answers: UInt16(addresses.count))
            message.addQuestion(name ?? self.name, type ?? self.type)
            for address in addresses {
                let kind = address.isIPv6 ? DNSType.ipv6 : .ipv4
                message.addRecord(DNSBuilder.pointer(to: 12), kind, timeToLive: timeToLive, address.bytes)
            }
            return message.bytes
        }

        /// An answer that names another host, and says nothing about it.
        func alias(_ target: String, timeToLive: UInt32 = 300) -> [UInt8] {
            var message = DNSBuilder(id: id, questions: 1, answers: 1)
            message.addQuestion(name, type)
            message.addRecord(DNSBuilder.pointer(to: 12), .alias, timeToLive: timeToLive, DNSBuilder.octets(target))
            return message.bytes
        }

        /// An answer that there is nothing, for so many seconds.
        func nothing(flags: UInt16 = 0x8180, seconds: UInt32) -> [UInt8] {
            var message = DNSBuilder(id: id, flags: flags, questions: 1, authorities: 1)
            message.addQuestion(name, type)
            message.addZone("zone", timeToLive: seconds, minimum: 3_600)
            return message.bytes
        }
    }

    /// A datagram, or a message of a stream, that goes out.
    struct Reply: Sendable {
        var bytes: [UInt8]
        /// Whether it comes from another port than the question went to.
        var isFromElsewhere = false
        /// Whom it goes to; who has asked by default.
        var receiver: SocketAddress?
        /// Over a stream: how many bytes go at once, and whether they stand alone, without their length.
        var piece = Int.max
        var isBare = false

        init(_ bytes: [UInt8]) {
            self.bytes = bytes
        }

        func with(_ change: (inout Reply) -> Void) -> Reply {
            var reply = self
            change(&reply)
            return reply
        }
    }

    typealias Script = @Sendable (Question) throws -> [Reply]

    let address: SocketAddress
    private let datagrams: Int32
    private let elsewhere: Int32
    /// A listener on the port, or what keeps it from others, so that connecting to it is refused.
    private let stream: Int32
    private let listens: Bool
    private let stopping: Wakeup
    private let ended: Wakeup
    private let script: Script
    private let received = Mutex<[Question]>([])
    private let arrivals: AsyncStream<Void>
    private let arrival: AsyncStream<Void>.Continuation

    /// What has been asked so far.
    var questions: [Question] { received.withLock { $0 } }

    private init(listens: Bool, _ script: @escaping Script) throws {
        (datagrams, address, stream) = try Self.open(listens)
        self.listens = listens
        elsewhere = try Self.datagramSocket(try SocketAddress("127.0.0.1", port: 0)).0
        stopping = try Wakeup()
        ended = try Wakeup()
        self.script = script
        (arrivals, arrival) = AsyncStream.makeStream()
    }

    /// What a server is to answer.
    struct Answers: Sendable {
        fileprivate let listens: Bool
        fileprivate let script: Script

        /// Runs a server for the length of a closure.
        func serve(_ body: (NameServerPeer) async throws -> Void) async throws {
            let peer = try NameServerPeer(listens: listens, script)
            try LoopThread(name: "names-peer").start { peer.run() }
            do {
                try await body(peer)
            } catch {
                peer.stop()
                throw error
            }
            peer.stop()
        }
    }

    /// Describes a server.
    ///
    /// - Parameters:
    ///   - listens: whether it takes TCP connections.
    ///   - script: what it sends for each question.
    /// - Returns: the server, which is still to be run.
    static func answering(listens: Bool = true, _ script: @escaping Script) -> Answers {
        Answers(listens: listens, script: script)
    }

    /// Waits until so many questions have come.
    func wasAsked(_ count: Int) async {
        if questions.count >= count { return }
        for await _ in arrivals where questions.count >= count { return }
    }

    private func stop() {
        stopping.signal()
        #expect(Descriptors.isReady(ended.descriptor, milliseconds: 120_000), "the name server of the test hangs")
        stopping.close()
        ended.close()
    }

    // MARK: Sockets

    /// A UDP socket, and one for TCP with the same port.
    private static func open(_ listens: Bool) throws -> (Int32, SocketAddress, Int32) {
        for _ in 0..<100 {
            let (descriptor, address) = try datagramSocket(try SocketAddress("127.0.0.1", port: 0))
            if let stream = stream(at: address, listens) { return (descriptor, address, stream) }
            // Somebody else has the port for TCP.
            SystemCalls.close(descriptor)
        }
        throw SocketError(.cannotBind, message: "No port is free for both UDP and TCP.")
    }

    private static func stream(at address: SocketAddress, _ listens: Bool) -> Int32? {
        guard listens else { return try? ListeningSockets.bound(address, sharesPort: false) }
        let sockets = try? ListeningSockets(.tcp(host: "127.0.0.1", port: address.port), loops: 1, backlog: 16)
        return sockets?.perLoop.first?.first
    }

    private static func datagramSocket(_ wanted: SocketAddress) throws -> (Int32, SocketAddress) {
        let descriptor = socket(AF_INET, Int32(SOCK_DGRAM.rawValue) | Int32(SOCK_CLOEXEC.rawValue), 0)
        let code = unsafe wanted.withSystemAddress { unsafe bind(descriptor, $0, $1) }
        try #require(code == 0)
        return (descriptor, try #require(SocketAddress.local(of: descriptor)))
    }

    // MARK: The thread

    private func run() {
        while !Descriptors.isReady(stopping.descriptor, milliseconds: 0) {
            var entries = [datagrams, listens ? stream : -1, stopping.descriptor].map {
                pollfd(fd: $0, events: Int16(POLLIN), revents: 0)
            }
            guard unsafe poll(&entries, nfds_t(entries.count), 60_000) > 0 else { continue }
            if entries[0].revents != 0 { takeDatagram() }
            if entries[1].revents != 0 { takeConnection() }
        }
        for descriptor in [datagrams, elsewhere, stream] { SystemCalls.close(descriptor) }
        ended.signal()
    }

    private func takeDatagram() {
        var bytes = [UInt8](repeating: 0, count: 65_535)
        var storage = sockaddr_storage()
        var length = socklen_t(MemoryLayout<sockaddr_storage>.size)
        let count = unsafe withUnsafeMutablePointer(to: &storage) { pointer in
            unsafe pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) { address in
                unsafe recvfrom(datagrams, &bytes, bytes.count, 0, address, &length)
            }
        }
        guard count >= 0, let sender = SocketAddress(storage, length: length) else { return }
        for reply in replies(Array(bytes.prefix(count)), sender, isStream: false) {
            let source = reply.isFromElsewhere ? elsewhere : datagrams
            let sent = unsafe (reply.receiver ?? sender).withSystemAddress { address, length in
                unsafe sendto(source, reply.bytes, reply.bytes.count, 0, address, length)
            }
            if sent != reply.bytes.count { Issue.record("A reply could not be sent: errno \(errno)") }
        }
    }

    private func takeConnection() {
        guard case .accepted(let descriptor, let sender?) = SystemCalls.accept(stream) else { return }
        defer { SystemCalls.close(descriptor) }
        var input: [UInt8] = []
        while input.count < 2 || input.count < 2 + Int(input[0]) << 8 + Int(input[1]) {
            guard Descriptors.isReady(descriptor, milliseconds: 60_000), let bytes = Descriptors.read(descriptor),
                !bytes.isEmpty
            else { return }
            input += bytes
        }
        for reply in replies(Array(input.dropFirst(2)), sender, isStream: true) {
            let count = reply.bytes.count
            var rest = (reply.isBare ? [] : [UInt8(count >> 8), UInt8(count & 0xFF)]) + reply.bytes
            try? SystemOption.noDelay.set(true, on: descriptor)
            while !rest.isEmpty {
                guard case .transferred(let sent) = Descriptors.send(descriptor, Array(rest.prefix(reply.piece))) else {
                    return
                }
                rest.removeFirst(sent)
            }
        }
    }

    private func replies(_ bytes: [UInt8], _ sender: SocketAddress, isStream: Bool) -> [Reply] {
        var reader = DNSReader(bytes)
        do {
            let head = try reader.head()
            guard let asked = try reader.question() else { throw DNSMalformed() }
            let question = received.withLock { received -> Question in
                let question = Question(
                    bytes: bytes,
                    id: head.id,
                    name: asked.name.description,
                    type: asked.type,
                    hasOptions: head.additionals == 1,
                    sender: sender,
                    isStream: isStream,
                    number: received.count
                )
                received.append(question)
                return question
            }
            arrival.yield()
            return try script(question)
        } catch {
            Issue.record("The name server of the test got no question it understands: \(error)")
            return []
        }
    }
}

extension Descriptors {
    /// Whether no socket of this machine comes to be connected to an address of 127.0.0.1, nor about to be.
    ///
    /// One that was just closed may be there for a moment: a process that is being started has a copy of it.
    static func areGone(connectedTo address: SocketAddress) async -> Bool {
        await comesTrue { sockets(connectedTo: address) == 0 }
    }

    /// How many sockets of this machine are connected to an address of 127.0.0.1, or are about to be.
    ///
    /// While others come and go, the system may tell a socket twice or not at all. So it is asked until it says the same
    /// twice in a row.
    static func sockets(connectedTo address: SocketAddress) -> Int {
        var last = connected(to: address)
        for _ in 0..<100 {
            let next = connected(to: address)
            if next == last { break }
            last = next
        }
        return last.count
    }

    /// The kinds and local addresses of those sockets.
    private static func connected(to address: SocketAddress) -> Set<[Substring]> {
        let port = String(address.port, radix: 16, uppercase: true)
        let remote = "0100007F:" + String(repeating: "0", count: 4 - port.count) + port
        var found: Set<[Substring]> = []
        for kind in ["udp", "tcp"] {
            let text = text(of: "/proc/net/\(kind)")
            if text.count <= 1 { Issue.record("The system doesn't tell its sockets.") }
            // Connected over UDP is 01, too; of TCP these are established, and waiting for the answer to a SYN.
            for line in lines(of: text, with: remote).map({ $0.split(separator: " ") })
            where line.count > 3 && line[2] == remote && ["01", "02"].contains(line[3]) {
                found.insert([kind[...], line[1]])
            }
        }
        return found
    }

    /// The lines that have some word: a machine may have many thousands of others, which aren't taken apart.
    private static func lines(of text: [CChar], with word: String) -> [String] {
        let lineEnd = CChar(UInt8(ascii: "\n"))
        var lines: [String] = []
        var start = 0
        while let hit = place(of: word, in: text, from: start) {
            let first = text[..<hit].lastIndex(of: lineEnd).map { $0 + 1 } ?? 0
            let end = text[hit...].firstIndex(of: lineEnd) ?? text.count - 1
            lines.append(String(decoding: text[first..<end].map { UInt8(bitPattern: $0) }, as: UTF8.self))
            start = end
        }
        return lines
    }

    private static func place(of word: String, in text: [CChar], from start: Int) -> Int? {
        unsafe text.withUnsafeBufferPointer { text in
            guard let base = text.baseAddress, let hit = unsafe strstr(base + start, word) else { return nil }
            return unsafe UnsafePointer(hit) - base
        }
    }

    /// With a zero behind it; nothing else for a file that can't be read.
    private static func text(of path: String) -> [CChar] {
        let descriptor = unsafe open(path, O_RDONLY | O_CLOEXEC)
        guard descriptor >= 0 else { return [0] }
        defer { SystemCalls.close(descriptor) }
        var text: [CChar] = []
        var bytes = [CChar](repeating: 0, count: 1 << 16)
        while true {
            let count = unsafe Glibc.read(descriptor, &bytes, bytes.count)
            guard count > 0 else { break }
            text += bytes.prefix(count)
        }
        return text + [0]
    }
}
