// SPDX-License-Identifier: Apache-2.0
// Copyright (c) the Duplex authors

import DuplexServer
import DuplexWebSockets
import DuplexWire
import HTTPTypes

/// The server that `duplex serve` runs: the demo page, an echo, a chat room, and an echo at every other path.
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
    static func addRoutes(to server: inout WebServer, echoPath: String, style: HandlerStyle) {
        for resource in DemoPage.resources {
            server.get(resource.path) { request in response(resource, host: request.head.host) }
        }
        // For scripts/bench: the least that a request can ask for, of a handler that never waits and of one that may.
        server.get("/hello") { _ in greeting }
        server.get("/hello/async") { _ in await slowGreeting() }
        addBodies(to: &server)
        for path in [echoPath, "*"] {
            switch style {
            case .sync: server.webSocket(path, handler: EchoHandler())
            case .async: server.webSocket(path, handler: echo)
            case .broadcast: server.webSocket(path, handler: BroadcastHandler())
            }
        }
        let room = ChatRoom()
        server.webSocket(DemoPage.chatPath) { socket in try await room.welcome(socket) }
    }

    /// Bodies of any length, in and out, for clients that want to see how theirs goes.
    private static func addBodies(to server: inout WebServer) {
        for method in [HTTPRequest.Method.post, .put] {
            server.on(method, "/count", .bodySize(.unlimited)) { request in
                var count = 0
                for try await piece in request.body { count += piece.count }
                return "\(count)\n"
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

    /// The resource, with the tag by which the server tells whether the client has it already: it asks each time, since
    /// the page and its parts are of one version of the command.
    static func response(_ resource: DemoPage.Resource, host: String) -> Response {
        var response = Response(type: resource.contentType, body: .text(resource.body))
        response.fields[.eTag] = resource.entityTag?.description
        for (name, value) in DemoPage.headers(host: isPlain(host) ? host : "localhost") {
            guard let name = HTTPField.Name(name) else { continue }
            response.fields[name] = value
        }
        return response
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
