// SPDX-License-Identifier: Apache-2.0
// Copyright (c) the Duplex authors

import DuplexServer
import DuplexSockets
import DuplexWebSockets
import DuplexWire
import Synchronization

/// Finds the connections of the process: those of its servers, and those that lie on its loops.
///
/// Nothing is noted for it while nobody looks: loops, servers and clients that connect again are known, and asked.
struct ConnectionCensus: Sendable {
    /// The most connections that are listed.
    static let limit = 5_000
    /// The most of one server, and of those that this process has made on one loop: a busy one hides no other.
    static let share = 1_000

    /// A connection, and what may be done with it.
    enum Subject: Sendable {
        case webSocket(WebSocket)
        case server(ServerConnection)
        case none
    }

    /// One of each connection.
    struct Entry: Sendable {
        var facts: ConnectionFacts
        var subject: Subject
    }

    /// Identifies connections that have no number of their own.
    private static let names = ConnectionNames()

    /// All connections that there are now.
    ///
    /// - Returns: at most ``limit`` of them, and whether there are more.
    static func take() async -> (entries: [Entry], isCut: Bool) {
        var entries: [Entry] = []
        var isCut = false
        for server in ServingLoops.all {
            let connections = await server.connections(upTo: share + 1)
            let room = min(share, limit - entries.count)
            isCut = isCut || connections.count > room
            for connection in connections.prefix(room) { entries.append(await entry(of: connection)) }
        }
        for loop in EventLoop.all {
            let others = await loop.look { resident in Self.resident(resident) }
            let room = min(share, limit - entries.count)
            isCut = isCut || others.count > room
            // The last ones are mostly the newest.
            entries += others.suffix(room)
        }
        for client in ReconnectingWebSocket.all where entries.count < limit && !client.loop.isStopped {
            entries.append(await entry(of: client))
        }
        // In an order that stays from look to look, the oldest first.
        entries.sort { one, other in
            let (first, second) = (one.facts.beginning, other.facts.beginning)
            return first != second ? first < second : one.facts.id < other.facts.id
        }
        return (entries, isCut)
    }

    /// The connection of that name; nil where it has gone.
    static func find(_ id: String) async -> Entry? {
        await take().entries.first { $0.facts.id == id }
    }

    // MARK: Of servers

    private static func entry(of connection: ServerConnection) async -> Entry {
        if case .webSocket(let socket) = connection.kind {
            var facts = facts(of: await socket.snapshot, tls: await socket.tls)
            facts.place = connection.route
            return Entry(facts: facts, subject: .webSocket(socket))
        }
        let kind = connection.isPushing ? ConnectionFacts.Kind.events : .http
        let state = connection.route == nil ? "idle" : connection.isPushing ? "open" : "answering"
        // Each connection has a client of its own.
        let id = connection.client.map { names.name("http", $0) } ?? "http"
        var facts = ConnectionFacts(id: id, kind: kind, state: state)
        facts.peer = connection.remoteAddress
        facts.local = connection.client?.listenerAddress
        facts.place = connection.route
        facts.security = connection.client?.tls.map { "\($0.version)" }
        facts.age = connection.age.inSeconds
        facts.queuedBytes = connection.queuedBytes
        facts.droppedMessages = connection.droppedEvents
        facts.bytesIn = connection.request.map { UInt64($0.bytesReceived) }
        facts.bytesOut = connection.request.map { UInt64($0.bytesSent) }
        facts.note = connection.request.map { "\($0.method.rawValue) \($0.path)" }
        return Entry(facts: facts, subject: .server(connection))
    }

    // MARK: On loops

    /// The facts of a user of a channel; on the loop.
    ///
    /// Servers list their own.
    private static func resident(_ object: AnyObject) -> Entry? {
        switch object {
        case let socket as WebSocket:
            return socket.assumeIsolated { socket in
                guard socket.isClient else { return nil }
                var facts = facts(of: socket.snapshot, tls: socket.tls)
                facts.place = socket.url
                return Entry(facts: facts, subject: .webSocket(socket))
            }
        case let socket as Socket:
            return socket.assumeIsolated { Entry(facts: facts(of: $0), subject: .none) }
        case let socket as UDPSocket:
            return socket.assumeIsolated { Entry(facts: facts(of: $0), subject: .none) }
        default:
            return nil
        }
    }

    private static func facts(of snapshot: WebSocketSnapshot, tls: TLSInfo?) -> ConnectionFacts {
        var facts = ConnectionFacts(id: "\(snapshot.id)", kind: .webSocket, state: "\(snapshot.state)")
        facts.isClient = snapshot.role == .client
        facts.peer = snapshot.remoteAddress
        facts.local = snapshot.localAddress
        facts.security = tls.map { "\($0.version)" }
        facts.subprotocol = snapshot.subprotocol
        facts.compression = snapshot.compression.map { "\($0)" }
        facts.age = snapshot.age.inSeconds
        facts.messagesIn = snapshot.counts.messagesReceived
        facts.messagesOut = snapshot.counts.messagesSent
        facts.bytesIn = UInt64(snapshot.counts.bytesReceived)
        facts.bytesOut = UInt64(snapshot.counts.bytesSent)
        facts.queuedBytes = snapshot.queuedBytes
        facts.inboxMessages = snapshot.inboxMessages
        facts.droppedMessages = snapshot.droppedMessages
        facts.latency = snapshot.latency
        facts.timeline = snapshot.timeline
        return facts
    }

    private static func facts(of socket: isolated Socket) -> ConnectionFacts {
        var facts = ConnectionFacts(id: names.name("tcp", socket), kind: .stream, state: "open")
        facts.isClient = socket.timeline != nil
        facts.peer = socket.remoteAddress
        facts.local = socket.localAddress
        facts.security = socket.tls.map { "\($0.version)" }
        facts.bytesIn = socket.bytesReceived
        facts.bytesOut = socket.bytesSent
        return facts
    }

    private static func facts(of socket: isolated UDPSocket) -> ConnectionFacts {
        var facts = ConnectionFacts(id: names.name("udp", socket), kind: .datagrams, state: "bound")
        facts.peer = socket.remoteAddress
        facts.local = socket.localAddress
        facts.messagesIn = Int(clamping: socket.datagramsReceived)
        facts.messagesOut = Int(clamping: socket.datagramsSent)
        facts.bytesIn = socket.bytesReceived
        facts.bytesOut = socket.bytesSent
        return facts
    }

    // MARK: Clients that connect again

    private static func entry(of client: ReconnectingWebSocket) async -> Entry {
        let (state, socket) = (await client.state, await client.connection)
        var facts = ConnectionFacts(id: names.name("client", client), kind: .reconnecting, state: "\(state)")
        facts.isClient = true
        facts.place = client.shownURLs.joined(separator: ", ")
        facts.inboxMessages = await client.undelivered.count
        facts.note = socket.map { "now \($0.id)" }
        return Entry(facts: facts, subject: .none)
    }
}

/// Gives objects names when they are first looked at, none of which is used again.
///
/// An address in memory is no name: the next object may have it, and what a page has shown for a while would be done to that.
/// So an object is known by a weak reference, which costs it something only once somebody looks.
final class ConnectionNames: Sendable {
    private let state = Mutex(State())

    private struct State {
        var last: UInt64 = 0
        var entries: [ObjectIdentifier: Entry] = [:]
        /// From how many entries on those of objects that have gone are taken out.
        var limit = 64
    }

    private struct Entry: Sendable {
        weak var object: (any AnyObject & Sendable)?
        let number: UInt64
    }

    /// The name of an object.
    ///
    /// - Parameters:
    ///   - prefix: what the name begins with.
    ///   - object: the object.
    /// - Returns: the same each time, such as `tcp-7`.
    func name(_ prefix: String, _ object: any AnyObject & Sendable) -> String {
        let number = state.withLock { state in
            let key = ObjectIdentifier(object)
            if let entry = state.entries[key], entry.object === object { return entry.number }
            if state.entries.count >= state.limit {
                state.entries = state.entries.filter { $0.value.object != nil }
                state.limit = max(64, state.entries.count * 2)
            }
            state.last += 1
            state.entries[key] = Entry(object: object, number: state.last)
            return state.last
        }
        return "\(prefix)-\(number)"
    }

    /// How many are known, those that have gone with them.
    var count: Int { state.withLock { $0.entries.count } }
}
