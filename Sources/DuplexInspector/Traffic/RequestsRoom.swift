// SPDX-License-Identifier: Apache-2.0
// Copyright (c) the Duplex authors

import DuplexFoundation
import DuplexServer
import DuplexSockets
import DuplexWire
import Foundation
import HTTPTypes

/// The last requests of the server.
struct RequestsRoom: InspectorRoom {
    let page = "requests"
    /// How many requests a viewer gets at a time at most.
    private static let newest = 500

    let history: RequestHistory
    let mask: SecretMask

    func add(to routes: inout InspectorRoutes) {
        let (history, mask) = (history, mask)
        routes.watch("requests") { _ in
            LiveRingTopic(history.ring, newest: Self.newest, holding: history.look()) { part in
                part.items.map { exchange in
                    var line = ExchangeJSON(line: exchange)
                    line.url = mask.masked(url: exchange.url)
                    return line
                }
            }
        }
        routes.get("/requests/one") { request in
            let exchange = mask.masked(try exchange(request))
            return try InspectorAnswer.json(ExchangeJSON(whole: exchange))
        }
        routes.change(.replaying, "/requests/repeat") { request, note in try await repeated(request, note) }
        routes.get("/requests/curl") { request in
            let exchange = mask.masked(try exchange(request))
            guard let command = CurlCommand(exchange) else {
                throw Problem(.badRequest, "No command line can say this request: its method or its fields are none.")
            }
            return try InspectorAnswer.json(CommandLine(command: command.text))
        }
    }

    private struct Wish: Decodable {
        var id: UInt64
    }

    /// A request as a command line.
    struct CommandLine: Codable {
        var command: String
    }

    /// How a repeated request was answered.
    struct Repeated: Codable {
        var status: Int
        /// How many bytes the body had.
        var size: Int
        var seconds: Double
    }

    /// Makes a kept request again, of this server and of no other: anybody can choose the host that it named.
    private func repeated(_ request: Request, _ note: ChangeNote) async throws -> Response {
        let id = try await request.decode(Wish.self, decoder: CompactJSON.decoder).id
        let exchange = try exchange(id)
        note.says("repeats \(exchange.method) \(mask.masked(url: exchange.url))")
        let scheme = exchange.url.hasPrefix("https:") ? "https" : "http"
        guard let local = exchange.local, local.path == nil, let target = ReplayTarget("\(scheme)://\(local)") else {
            throw Problem(.badRequest, "It didn't come by a port of this machine.")
        }
        if exchange.requestBody.isCut { throw Problem(.badRequest, "Its body isn't kept whole.") }
        var client = ReplayClient(target: target)
        // It is this server itself, whatever its certificate is for.
        client.tls.trust = .insecure
        do {
            let answer = try await client.send(exchange)
            let (status, size) = (answer.status, Int(clamping: answer.size))
            return try InspectorAnswer.json(Repeated(status: status, size: size, seconds: answer.seconds))
        } catch { throw Problem(.badGateway, "It wasn't answered: \(error)") }
    }

    private func exchange(_ request: Request) throws -> RecordedExchange {
        try exchange(try request.query["id"].flatMap(UInt64.init) ?? 0)
    }

    private func exchange(_ id: UInt64) throws(Problem) -> RecordedExchange {
        guard let exchange = history.ring.all.first(where: { $0.id == id }) else {
            throw Problem(.notFound, "That request isn't kept any more.")
        }
        return exchange
    }
}

/// A recorded request as the page gets it.
struct ExchangeJSON: Codable, Sendable {
    var id: Int
    /// In seconds since 1970.
    var began: Double
    var peer: String?
    var route: String?
    var method: String
    var url: String
    var status: Int
    /// Bytes of the bodies.
    var received: Int
    var sent: Int
    /// In seconds, as are its parts.
    var total: Double
    var error: String?

    // What a list of requests hasn't.

    var local: String?
    var version: String?
    var reason: String?
    /// Names with their values.
    var requestHeaders: [[String]]?
    var requestBody: Body?
    var responseHeaders: [[String]]?
    var responseBody: Body?
    var head: Double?
    var handler: Double?
    var sending: Double?

    /// A body: as text where it is UTF-8, in base64 otherwise.
    struct Body: Codable, Equatable, Sendable {
        var size: Int
        var cut: Bool
        var text: String?
        var data: String?

        init(_ body: RecordedBytes) {
            size = Int(clamping: body.size)
            cut = body.isCut
            text = String(prefixOfUTF8: body.bytes[...])
            if text == nil { data = Data(body.bytes).base64EncodedString() }
        }
    }

    /// What a list has of it.
    init(line exchange: RecordedExchange) {
        id = Int(clamping: exchange.id)
        began = exchange.began
        peer = exchange.peer?.description
        route = exchange.route
        method = exchange.method
        url = exchange.url
        status = exchange.status
        received = Int(clamping: exchange.requestBody.size)
        sent = Int(clamping: exchange.responseBody.size)
        total = exchange.durations.total
        error = exchange.error
    }

    /// All of it.
    init(whole exchange: RecordedExchange) {
        self.init(line: exchange)
        local = exchange.local?.description
        version = exchange.version
        reason = exchange.reason
        requestHeaders = Self.pairs(exchange.requestHeaders)
        requestBody = Body(exchange.requestBody)
        responseHeaders = Self.pairs(exchange.responseHeaders)
        responseBody = Body(exchange.responseBody)
        head = exchange.durations.head
        handler = exchange.durations.handler
        sending = exchange.durations.sending
    }

    private static func pairs(_ headers: HTTPFields) -> [[String]] { headers.map { [$0.name.rawName, $0.value] } }
}
