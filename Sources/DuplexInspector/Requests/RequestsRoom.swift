// SPDX-License-Identifier: Apache-2.0
// Copyright (c) the Duplex authors

import DuplexFoundation
import DuplexServer
import DuplexSockets
import DuplexWire
import Foundation
import Synchronization

/// The last requests of the server.
struct RequestsRoom: InspectorRoom {
    let page = "requests"
    let history: RequestHistory
    let mask: SecretMask

    func add(to routes: inout InspectorRoutes) {
        let (history, mask) = (history, mask)
        routes.watch("requests") { _ in RequestsTopic(history, mask) }
        routes.get("/requests/one") { request in
            let exchange = mask.masked(try exchange(request))
            return InspectorAnswer.json(ExchangeJSON.whole(exchange))
        }
        routes.change(.replaying, "/requests/repeat") { request, note in try await repeated(request, note) }
        routes.get("/requests/curl") { request in
            let exchange = mask.masked(try exchange(request))
            guard let command = CurlCommand(exchange) else {
                throw Problem(.badRequest, "No command line can say this request: its method or its fields are none.")
            }
            return InspectorAnswer.object { $0.add("command", command.text) }
        }
    }

    private struct Wish: Decodable {
        var id: UInt64
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
            return InspectorAnswer.object { members in
                members.add("status", answer.status)
                members.add("size", .integer(Int64(clamping: answer.size)))
                members.add("seconds", answer.seconds)
            }
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

/// The requests as a viewer watches them; they are kept while there is one.
final class RequestsTopic: LiveTopic {
    private let history: RequestHistory
    private let mask: SecretMask
    private let look: LiveHold
    private let hasBegun = Atomic<Bool>(false)

    init(_ history: RequestHistory, _ mask: SecretMask) {
        self.history = history
        self.mask = mask
        look = history.look()
    }

    func news(since position: UInt64, upTo limit: Int) async throws -> LiveNews? {
        let part = history.ring.items(since: position, upTo: .max, newest: 500)
        // The first news may be that there is nothing: the viewer knows by it that requests are kept from then on.
        let isFirst = !hasBegun.exchange(true, ordering: .relaxed)
        guard isFirst || part.position != position || part.lost > 0 else { return nil }
        let items = part.items.map { exchange in
            var line = exchange
            line.url = mask.masked(url: exchange.url)
            return ExchangeJSON.line(line)
        }
        return LiveNews(items: items, position: part.position, lost: part.lost)
    }
}
