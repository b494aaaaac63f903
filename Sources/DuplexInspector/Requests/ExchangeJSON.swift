// SPDX-License-Identifier: Apache-2.0
// Copyright (c) the Duplex authors

import DuplexSockets
import DuplexWire
import Foundation
import HTTPTypes

/// A recorded request as the page gets it.
enum ExchangeJSON {
    /// What a list has of it.
    static func line(_ exchange: RecordedExchange) -> JSONText { .object(members(exchange).all) }

    /// All of it.
    static func whole(_ exchange: RecordedExchange) -> JSONText {
        var members = members(exchange)
        members.add("local", exchange.local?.description)
        members.add("version", exchange.version)
        members.add("reason", exchange.reason)
        members.add("requestFields", fields(exchange.requestFields))
        members.add("requestBody", body(exchange.requestBody))
        members.add("responseFields", fields(exchange.responseFields))
        members.add("responseBody", body(exchange.responseBody))
        members.add("head", exchange.durations.head)
        members.add("handler", exchange.durations.handler)
        members.add("sending", exchange.durations.sending)
        return .object(members.all)
    }

    private static func members(_ exchange: RecordedExchange) -> JSONText.Members {
        var members = JSONText.Members()
        members.add("id", .integer(Int64(clamping: exchange.id)))
        members.add("began", exchange.began)
        members.add("peer", exchange.peer?.description)
        members.add("route", exchange.route)
        members.add("method", exchange.method)
        members.add("url", exchange.url)
        members.add("status", exchange.status)
        members.add("received", .integer(Int64(clamping: exchange.requestBody.size)))
        members.add("sent", .integer(Int64(clamping: exchange.responseBody.size)))
        members.add("total", exchange.durations.total)
        members.add("error", exchange.error)
        return members
    }

    private static func fields(_ fields: HTTPFields) -> JSONText {
        .array(fields.map { .array([.string($0.name.rawName), .string($0.value)]) })
    }

    /// As text where it is UTF-8, in base64 otherwise.
    private static func body(_ body: RecordedBytes) -> JSONText {
        var members = JSONText.Members()
        members.add("size", .integer(Int64(clamping: body.size)))
        members.add("cut", body.isCut)
        if let text = String(prefixOfUTF8: body.bytes[...]) {
            members.add("text", text)
        } else {
            members.add("data", Data(body.bytes).base64EncodedString())
        }
        return .object(members.all)
    }
}
