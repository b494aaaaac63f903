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
            if shared?.hasPage != true { server.files("/", option, from: folder, serving: serving) }
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
            response.fields[name] = value
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
