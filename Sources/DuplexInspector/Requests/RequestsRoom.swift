// SPDX-License-Identifier: Apache-2.0
// Copyright (c) the Duplex authors

import DuplexFoundation
import DuplexServer
import DuplexSockets
import DuplexWire

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
        let id = try await request.decode(Wish.self).id
        let exchange = try exchange(id)
        note.says("repeats \(exchange.method) \(mask.masked(url: exchange.url))")
        let scheme = exchange.url.hasPrefix("https:") ? "https" : "http"
        guard let local = exchange.local, local.path == nil, let target = ReplayTarget("\(scheme)://\(local)") else {
            throw Problem(.badRequest, "It didn't come by a port of this machine.")
        }
        if exchange.requestBody.isCut { throw Problem(.badRequest, "Its body isn't kept whole.") }
        var client = ReplayClient(target: target)
        // It is this server itself, whatever its certificate is for.
        client.tls.trust = .anyone
        do {
            let answer = try await client.send(exchange)
            let (status, size) = (answer.status, Int(clamping: answer.size))
            return try InspectorAnswer.json(Repeated(status: status, size: size, seconds: answer.seconds))
        } catch { throw Problem(.badGateway, "It wasn't answered: \(error)") }
    }

    private func exchange(_ request: Request) throws -> RecordedExchange {
        try exchange(try request.queryItems["id"].flatMap(UInt64.init) ?? 0)
    }

    private func exchange(_ id: UInt64) throws(Problem) -> RecordedExchange {
        guard let exchange = history.ring.all.first(where: { $0.id == id }) else {
            throw Problem(.notFound, "That request isn't kept any more.")
        }
        return exchange
    }
}
