// SPDX-License-Identifier: Apache-2.0
// Copyright (c) the Duplex authors

import DuplexSockets
import DuplexWire
import Foundation
import HTTPTypes

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
    var requestFields: [[String]]?
    var requestBody: Body?
    var responseFields: [[String]]?
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
        requestFields = Self.pairs(exchange.requestFields)
        requestBody = Body(exchange.requestBody)
        responseFields = Self.pairs(exchange.responseFields)
        responseBody = Body(exchange.responseBody)
        head = exchange.durations.head
        handler = exchange.durations.handler
        sending = exchange.durations.sending
    }

    private static func pairs(_ fields: HTTPFields) -> [[String]] { fields.map { [$0.name.rawName, $0.value] } }
}
