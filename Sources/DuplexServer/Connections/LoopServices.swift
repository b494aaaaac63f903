// SPDX-License-Identifier: Apache-2.0
// Copyright (c) the Duplex authors

import DuplexSockets
import DuplexWire
import Logging
import Tracing

/// Who keeps the connections of a loop and the tasks of their handlers.
protocol ConnectionOwner: AnyObject, Sendable {
    /// Runs a task on the loop, a child of the server's.
    func spawn(_ body: @escaping @concurrent @Sendable () async -> Void)
    /// Forgets a connection that has ended.
    func remove(_ connection: HTTPConnection)
    /// Makes a WebSocket of a connection whose handshake has been answered.
    func open(_ upgrade: Upgrade, from connection: HTTPConnection)
}

/// What all connections of a server have in common on one loop.
///
/// Belongs to the loop's thread.
final class LoopServices {
    let loop: EventLoop
    let core: LoopCore
    let session: HTTPServerSession.SharedSettings
    let closeTimeout: Duration
    let ends: EndSummary
    let logger: Logger
    let tracer: (any Tracer)?
    private(set) var table: RouteTable
    /// What routes of earlier tables are called whose code connections have run last.
    private var earlierNames: [ObjectIdentifier: String] = [:]
    /// The requests that have come since the start.
    var requests: UInt64 = 0
    /// Whether the server has begun to end.
    var isStopping = false
    unowned let owner: any ConnectionOwner
    /// The last heads of the connections that had requests last.
    let heads = RecentHeads()
    private var lastNumber: UInt32 = 0
    /// The last request that was for an allowed host: most are for the same one.
    private var allowed: RequestHeadText?
    /// Memory for what is being written of a response, on its way to the channel.
    private var scratch: [UInt8] = []
    /// Memory for the content of a short file, until it is behind its head.
    private var content: [UInt8] = []

    /// Connections with a task, which may last longer than they do.
    private var runners: Set<HTTPConnection> = []
    private var date = ""
    private var dateEnds: Instant?
    /// The first lines of the last response: those of the next are often the same.
    private var start: ResponseStart?

    init(loop: EventLoop, owner: any ConnectionOwner, settings: ServingSettings, table: RouteTable) {
        self.loop = loop
        self.owner = owner
        self.table = table
        core = loop.core
        session = HTTPServerSession.SharedSettings(settings.session)
        closeTimeout = settings.closeTimeout
        ends = settings.ends
        logger = settings.logger
        tracer = settings.tracer
    }

    var now: Instant { core.now }

    /// A number for one more connection.
    func nextNumber() -> UInt32 {
        lastNumber &+= 1
        return lastNumber
    }

    /// Has other routes answer from now on.
    func replace(_ table: RouteTable) {
        let routes = runners.compactMap(\.lastRoute)
        let named = routes.compactMap { route in name(of: route).map { (route, $0) } }
        earlierNames = Dictionary(named) { first, _ in first }
        self.table = table
        // Other routes may be for other hosts.
        allowed = nil
    }

    /// What a route is called whose code a connection has run last, also once others have taken its place.
    func name(of route: ObjectIdentifier) -> String? { table.name(of: route) ?? earlierNames[route] }

    /// Whether a request is for a host that the server answers for, where it came by, or that a route is for.
    func allowsHost(of head: RequestHead, _ hosts: borrowing AllowedHosts) -> Bool {
        if !hosts.isRestricted { return true }
        if let allowed, head.text.hasHost(of: allowed) { return true }
        guard hosts.contain(head.host) || table.hasRoutes(forHost: head.host) else { return false }
        allowed = head.text
        return true
    }

    /// The value of Date (RFC 9110 section 6.6.1); made once in a second.
    func dateValue() -> String {
        if let dateEnds, now < dateEnds { return date }
        date = HTTPDate.string(.now)
        dateEnds = now.advanced(by: .seconds(1))
        start = nil
        return date
    }

    /// The first lines of a response.
    func start(of response: Response) -> ResponseStart {
        let date = dateValue()
        if let start, start.isOf(response.status, response.mediaType) { return start }
        let start = ResponseStart(response.status, mediaType: response.mediaType, date: date)
        self.start = start
        return start
    }

    func noteRunner(_ connection: HTTPConnection) {
        runners.insert(connection)
    }

    func forgetRunner(_ connection: HTTPConnection) {
        runners.remove(connection)
    }

    /// The routes whose handlers are at work in tasks.
    var runningRoutes: [String] { runners.compactMap(\.presentRoute) }

    /// The route whose code a task of these has run last, as people call it.
    func route(of task: TaskIdentity) -> String? {
        runners.first { $0.isRun(by: task) }?.lastRoute.flatMap(name)
    }

    /// Empty memory to read a short file into, which ``giveContent(_:)`` takes back.
    func takeContent() -> [UInt8] {
        var bytes: [UInt8] = []
        swap(&bytes, &content)
        return bytes
    }

    /// Takes memory back.
    func giveContent(_ bytes: inout [UInt8]) {
        bytes.removeAll(keepingCapacity: true)
        swap(&bytes, &content)
    }

    /// Empty memory to write into, which ``giveScratch(_:)`` takes back.
    func takeScratch() -> [UInt8] {
        var bytes: [UInt8] = []
        swap(&bytes, &scratch)
        return bytes
    }

    /// Takes memory back, unless a large head has made it large.
    func giveScratch(_ bytes: inout [UInt8]) {
        guard bytes.capacity <= 64 * 1_024 else { return }
        bytes.removeAll(keepingCapacity: true)
        swap(&bytes, &scratch)
    }
}

/// What of a server's settings its connections ask for.
struct ServingSettings: Sendable {
    var session: HTTPServerSession.Settings
    var closeTimeout: Duration
    var ends: EndSummary
    var logger: Logger
    var tracer: (any Tracer)?
}

// As a member of the sets of connections: each is one of its own.
extension HTTPConnection: Hashable {
    static func == (one: HTTPConnection, other: HTTPConnection) -> Bool { one === other }

    func hash(into hasher: inout Hasher) {
        hasher.combine(ObjectIdentifier(self))
    }
}
