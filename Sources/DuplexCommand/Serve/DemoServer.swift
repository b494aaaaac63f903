// SPDX-License-Identifier: Apache-2.0
// Copyright (c) the Duplex authors

import DuplexServer
import DuplexSharing
import DuplexTopics
import DuplexWebSockets
import DuplexWire
import Foundation
import HTTPTypes

/// The server that `duplex serve` runs: the demo page or a folder, an echo, a chat room, events,
/// and an echo at every other path.
enum DemoServer {
    /// How connections are handled: with an echo, or with a broadcast.
    enum HandlerStyle: String, Sendable, CaseIterable {
        /// On the loop, from within the call that brings the message.
        case sync
        /// In a task for each connection.
        case async
        /// Every message goes to all connections.
        case broadcast
    }

    /// Adds the routes to a server.
    ///
    /// - Parameters:
    ///   - server: what to add them to.
    ///   - echoPath: the path of the echo; paths that nothing else claims echo too.
    ///   - style: how the echo handles its connections.
    ///   - folder: its files answer GET where nothing else does; without one the demo page is at `/`.
    ///   - showsHidden: whether names in the folder that begin with a dot are shown.
    ///   - shared: the same folder, where clients may change it.
    ///   - showsPage: whether the demo page is there beside a folder, at `/demo`.
    ///   - isInspected: whether there is an inspector, to which no page of the folder may get.
    ///   - topics: the chat room's, and the clients'.
    ///   - offersTopics: whether clients may subscribe and publish.
    static func addRoutes(
        to server: inout WebServer,
        echoPath: String,
        style: HandlerStyle,
        folder: String? = nil,
        showsHidden: Bool = false,
        shared: SharedContent? = nil,
        showsPage: Bool = false,
        isInspected: Bool = false,
        topics: DemoTopics = DemoTopics(),
        offersTopics: Bool = false
    ) {
        let log = DemoLog()
        if folder == nil || showsPage { addPage(to: &server, at: folder == nil ? "/" : "/demo", log) }
        shared?.addRoutes(to: &server, log.option)
        if let folder {
            var serving = FileOptions()
            serving.showsListings = true
            serving.showsHidden = showsHidden
            let option = isInspected ? RouteOption.all(log.option, InspectedServer.sandbox) : log.option
            if shared?.hasPage != true { server.files("/", option, folder: folder, options: serving) }
        } else {
            // For scripts/bench: the least that a request can ask for, of a handler that never waits and of one that may.
            server.get("/hello") { _ in greeting }
            server.get("/hello/async") { _ in await slowGreeting() }
            addBodies(to: &server)
        }
        let events = DemoEvents()
        server.events(DemoPage.eventsPath, log.option, retry: .seconds(1)) { try await events.send(on: $0) }
        if offersTopics { topics.addRoutes(to: &server, log.option) }
        addSockets(to: &server, echoPath, style, log, topics)
    }

    private static func addSockets(
        to server: inout WebServer,
        _ echoPath: String,
        _ style: HandlerStyle,
        _ log: DemoLog,
        _ topics: DemoTopics
    ) {
        for path in [echoPath, "*"] {
            switch style {
            case .sync: server.webSocket(path, log.option, handler: EchoHandler())
            case .async: server.webSocket(path, log.option, handler: echo)
            case .broadcast: server.webSocket(path, log.option, handler: BroadcastHandler())
            }
        }
        // Other servers of the same room have begun at another time.
        let isAlone = topics.topics.state == nil
        let room = ChatRoom(topics.chat, firstNumber: isAlone ? 1 : Int(Date().timeIntervalSince1970 * 1_000_000))
        server.webSocket(DemoPage.chatPath, log.option) { socket in try await room.welcome(socket) }
    }

    /// The page, its parts and what it talks to beside WebSockets and events.
    private static func addPage(to server: inout WebServer, at path: String, _ log: DemoLog) {
        for file in DemoPage.files {
            server.get(DemoPage.path(of: file, page: path), log.option) { request in
                response(file, host: request.head.host)
            }
        }
        for method in [HTTPRequest.Method.post, .put] {
            server.on(method, DemoPage.uploadPath, log.option, .bodySize(.unlimited)) { request in
                "\(try await count(request.body))\n"
            }
        }
        server.post(DemoPage.formPath, log.option) { request in
            var response = try await DemoForm(request).response(for: request)
            protect(&response, host: request.head.host)
            return response
        }
        server.events(DemoPage.logPath, of: log.feed, replay: 20)
    }

    private static func count(_ body: RequestBody) async throws -> Int {
        var count = 0
        for try await piece in body { count += piece.count }
        return count
    }

    /// Bodies of any length, in and out, for clients that want to see how theirs goes.
    private static func addBodies(to server: inout WebServer) {
        for method in [HTTPRequest.Method.post, .put] {
            server.on(method, "/count", .bodySize(.unlimited)) { request in
                "\(try await count(request.body))\n"
            }
        }
        server.get("/bytes/:count") { request -> Response in
            guard let count = request.parameters["count"].flatMap({ Int($0) }), count >= 0 else {
                return .text("A count of bytes is a number.\n", status: .badRequest)
            }
            return Response(type: "application/octet-stream", body: zeros(count))
        }
    }

    private static func zeros(_ count: Int) -> ResponseBody {
        .writer(length: count) { writer in
            let piece = [UInt8](repeating: 0, count: min(count, 64 * 1_024))
            var left = count
            while left > 0 {
                try await writer.write(left >= piece.count ? piece : Array(piece[..<left]))
                left -= min(left, piece.count)
            }
        }
    }

    private static let greeting = "Hello, World!"

    /// The same from a function that might wait and doesn't.
    private static func slowGreeting() async -> String { greeting }

    /// A file of the page, with the fields that protect it.
    static func response(_ file: PageFile, host: String) -> Response {
        var response = file.response
        protect(&response, host: host)
        return response
    }

    /// Adds the fields by which browsers let pages do little.
    private static func protect(_ response: inout Response, host: String) {
        for (name, value) in DemoPage.headers(host: isPlain(host) ? host : "localhost") {
            guard let name = HTTPField.Name(name) else { continue }
            response.headers[name] = value
        }
    }

    /// A host may have punctuation by the grammar of URLs (RFC 3986 section 3.2.2), some of which would begin a directive of
    /// its own in the policy.
    private static func isPlain(_ host: String) -> Bool {
        host.utf8.allSatisfy { byte in
            switch byte {
            case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "0")...UInt8(ascii: "9"): true
            case UInt8(ascii: "-"), UInt8(ascii: "."), UInt8(ascii: ":"), UInt8(ascii: "["), UInt8(ascii: "]"): true
            default: false
            }
        }
    }
}

/// The topics of `duplex serve`: of this process, or joined by a Redis with those of other servers.
struct DemoTopics: Sendable {
    /// Where clients speak the JSON protocol of topics.
    static let path = "/topics"
    /// Where a topic is a stream of events: `/topics/events?topic=room/42`.
    static let eventsPath = "/topics/events"
    /// The topic of the chat room, which only the room itself publishes to.
    static let chat = "chat"

    let topics: Topics

    /// Makes topics of this process.
    init() {
        topics = Topics(options: Self.options)
    }

    /// Makes topics that a Redis joins with those of other servers.
    ///
    /// - Parameter redis: its URL; `nil` for topics of this process.
    /// - Throws: `TopicError` for a URL that isn't one.
    init(redis: String?) throws(TopicError) {
        topics =
            if let redis { try Topics(.redis(redis), options: Self.options) } else { Topics(options: Self.options) }
    }

    private static var options: TopicOptions {
        var options = TopicOptions()
        // The pattern is one.
        try? options.keep("room/#")
        // The page shows how many are there now.
        options.presenceGrace = .zero
        return options
    }

    var chat: Topic { topics[Self.chat] }

    /// Lets clients subscribe to all topics, and publish to all but the chat room's.
    func addRoutes(to server: inout WebServer, _ option: RouteOption) {
        server.topics(Self.path, option, of: topics) { access in
            access.action == .subscribe || access.action == .presence || !access.isWithin(Self.chat)
        }
        let topics = topics
        server.events(Self.eventsPath, option) { stream in
            let name = try stream.request.query["topic"] ?? "room/1"
            try await stream.subscribe(to: topics[name], replay: .last(20))
        }
        server.get("/topics.js", option) { _ in TopicScript.response }
    }
}

/// The events of `duplex serve`: a count that goes on where the client has lost it.
///
/// Each stream ends after some events, so that clients show how they come back: a browser by itself, with the id of the last event.
struct DemoEvents: Sendable {
    /// The time from one event to the next.
    var interval = Duration.milliseconds(500)
    /// How many events a stream has.
    var count = 10

    /// What a client may name as the last event: others begin anew.
    private static let numbers = 0..<1_000_000_000

    /// Sends the events of one stream; see `RouteBuilder.events`.
    ///
    /// The data is the number of the event, and the id that the client has come back with: `{"number":11,"after":"10"}`.
    func send(on stream: EventStream) async throws {
        let last = stream.lastEventID.flatMap { Int($0) }.flatMap { Self.numbers.contains($0) ? $0 : nil } ?? 0
        for number in (last + 1)...(last + count) {
            if number > last + 1 { try await Task.sleep(for: interval) }
            let after = last == 0 ? "null" : "\"\(last)\""
            try await stream.send("{\"number\":\(number),\"after\":\(after)}", event: "tick", id: "\(number)")
        }
    }
}

/// The last requests, as events for the demo page.
///
/// Everybody who sees the page sees them, so they have neither the address of a client nor the query.
private struct DemoLog: Sendable {
    /// One event for each request, with JSON such as
    /// `{"method":"GET","path":"/","status":200,"microseconds":41,"bytes":5120}`.
    let feed = EventFeed(keeping: 100)

    /// The longest part of a path that is shown.
    private static let pathBound = 120

    /// Has the requests of a route be seen here.
    var option: RouteOption {
        .completed { [feed] request, outcome in
            let members = [
                JSONText.Member(name: "method", value: .string(request.method.rawValue)),
                JSONText.Member(name: "path", value: .string(String(request.path.prefix(Self.pathBound)))),
                JSONText.Member(name: "status", value: .integer(Int64(outcome.status?.code ?? 0))),
                JSONText.Member(name: "microseconds", value: .integer(outcome.duration.wholeNanoseconds / 1_000)),
                JSONText.Member(name: "bytes", value: .integer(Int64(outcome.bytesSent))),
            ]
            // A feed that is never finished takes every event whose type has no line end.
            _ = try? feed.publish(JSONText.object(members).text, event: "request")
        }
    }
}

/// A folder that clients may change, by a page and as a disk on the network.
struct SharedContent: Sendable {
    /// Where the disk is.
    static let webDAVPath = "/dav"

    let folder: SharedFolder
    /// Whether there is the page; else there are the files, and listings.
    let hasPage: Bool
    let hasWebDAV: Bool
    /// How the disk is shared.
    var sharing = WebDAVOptions()

    /// Adds its routes to a server.
    ///
    /// - Parameters:
    ///   - server: what to add them to.
    ///   - option: settings of these routes that differ from the server's.
    func addRoutes(to server: inout WebServer, _ option: RouteOption) {
        var options = sharing
        // Beside other hidden names those of the Finder are nothing special.
        options.takesFinderFiles = folder.options.showsHidden
        if hasWebDAV { server.webDAV(Self.webDAVPath, option, folder: folder, options: options) }
        if hasPage { server.uploader("/", option, folder: folder) }
    }
}

/// Publishes every message to all connections, the one that it came from among them.
///
/// Of what is sent to a connection that doesn't take it, the oldest is dropped.
struct BroadcastHandler: WebSocketHandler {
    private let topic = Topics()["broadcast"]

    func opened(_ socket: isolated WebSocket) {
        _ = try? socket.subscribe(to: topic, slow: .dropOldest(keeping: 100))
    }

    func received(_ bytes: RawSpan, _ kind: Message.Kind, on socket: isolated WebSocket) {
        topic.publish(bytes, kind)
    }
}

/// Sends every message back from within the call that brings it: the synchronous way to handle a connection.
struct EchoHandler: WebSocketHandler {
    func received(_ bytes: RawSpan, _ kind: Message.Kind, on socket: isolated WebSocket) {
        socket.enqueue(bytes, kind)
    }
}

/// Sends every message back, one after the other, until the peer closes: the `async` way.
func echo(_ socket: isolated WebSocket) async throws {
    for try await message in socket.messages { try await socket.send(message) }
}
