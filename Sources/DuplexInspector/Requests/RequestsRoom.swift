// SPDX-License-Identifier: Apache-2.0
// Copyright (c) the Duplex authors

import DuplexServer
import DuplexWire
import Foundation

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
        routes.get("/requests/curl") { request in
            let exchange = mask.masked(try exchange(request))
            guard let command = CurlCommand(exchange) else {
                throw Problem(.badRequest, "No command line can say this request: its method or its fields are none.")
            }
            return InspectorAnswer.object { $0.add("command", command.text) }
        }
    }

    private func exchange(_ request: Request) throws -> RecordedExchange {
        guard let number = try request.queryItems["id"].flatMap(UInt64.init),
            let exchange = history.ring.all.first(where: { $0.id == number })
        else { throw Problem(.notFound, "That request isn't kept any more.") }
        return exchange
    }
}

/// The requests as a viewer watches them; they are kept while there is one.
final class RequestsTopic: LiveTopic {
    private let history: RequestHistory
    private let mask: SecretMask
    private let look: RequestLook

    init(_ history: RequestHistory, _ mask: SecretMask) {
        self.history = history
        self.mask = mask
        look = history.look()
    }

    func news(since position: UInt64, upTo limit: Int) async throws -> LiveNews? {
        let part = history.ring.items(since: position, upTo: .max, newest: 500)
        guard part.position != position || part.lost > 0 else { return nil }
        let items = part.items.map { ExchangeJSON.line(mask.masked($0)) }
        return LiveNews(items: items, position: part.position, lost: part.lost)
    }
}
