// SPDX-License-Identifier: Apache-2.0
// Copyright (c) the Duplex authors

import DuplexFoundation
import DuplexServer
import DuplexTesting
import DuplexWebSockets
import DuplexWire
import Foundation
import HTTPTypes
import Testing

@testable import DuplexInspector

/// A server with an inspector at `/_inspect`, for tests, and a client that has its token.
struct InspectorFixture {
    let client: TestClient
    let inspector: Inspector

    /// Runs a server with an inspector.
    ///
    /// - Parameters:
    ///   - options: those of the inspector.
    ///   - server: what else the server has. Default: nothing.
    ///   - body: gets the two.
    /// - Throws: what `body` throws.
    static func run(
        _ options: InspectorOptions = InspectorOptions(),
        _ server: WebServer = WebServer(port: 0),
        _ body: (InspectorFixture) async throws -> Void
    ) async throws {
        var server = server
        let inspector = server.inspector("/_inspect", options: options)
        try await server.test { client async throws in
            try await body(InspectorFixture(client: client, inspector: inspector))
        }
    }

    /// Options with which these changes may be made.
    static func allowing(_ changes: InspectorChange...) -> InspectorOptions {
        var options = InspectorOptions()
        options.allowedChanges = Set(changes)
        return options
    }

    /// What a program sends to be let in.
    var token: HTTPFields { [.authorization: "Bearer \(inspector.token)"] }

    func get(_ path: String, _ headers: HTTPFields = [:]) async throws -> TestResponse {
        try await client.get("/_inspect/" + path, headers: token.merging(headers))
    }

    /// Posts JSON, in which single quotes stand for double ones.
    func post(_ path: String, _ json: String, _ headers: HTTPFields = [:]) async throws -> TestResponse {
        var all = token.merging(headers)
        all[.contentType] = "application/json"
        let body = Array(json.replacing("'", with: "\"").utf8)
        return try await client.request(.post, "/_inspect/" + path, headers: all, body: body)
    }

    /// The viewer's connection of a page.
    func live() async throws -> LivePage {
        var options = WebSocketOptions()
        options.headers = token
        return LivePage(socket: try await client.webSocket("/_inspect/live", options: options))
    }
}

/// What a page does over its WebSocket.
struct LivePage {
    let socket: WebSocket

    func watch(
        _ topic: String,
        as number: Int = 1,
        since position: UInt64 = 0,
        _ parameters: [String: String] = [:]
    ) async throws {
        let named = parameters.map { "\"\($0.key)\":\"\($0.value)\"" }.joined(separator: ",")
        try await socket.send(
            #"{"watch":\#(number),"topic":"\#(topic)","since":\#(position),"parameters":{\#(named)}}"#
        )
    }

    /// The next message, with items of that type.
    func next<Item: Decodable>(_ item: Item.Type = ReadJSON.self) async throws -> LiveMessage<Item> {
        guard case .text(let text) = try await socket.receive() else { throw LiveRefusal("That is no text.") }
        return try CompactJSON.value(of: text)
    }

    /// The first message of which that holds.
    func news(where isWanted: (LiveMessage<ReadJSON>) -> Bool) async throws -> LiveMessage<ReadJSON> {
        while true {
            let news = try await next()
            if isWanted(news) { return news }
        }
    }

    /// The next items of a topic of which there are some.
    func items<Item: Decodable>(of number: Int = 1, _ item: Item.Type) async throws -> [Item] {
        while true {
            guard case .text(let text) = try await socket.receive() else { throw LiveRefusal("That is no text.") }
            guard try CompactJSON.value(LiveMessage<ReadJSON>.self, of: text).watch == number else { continue }
            let items = try CompactJSON.value(LiveMessage<Item>.self, of: text).items ?? []
            if !items.isEmpty { return items }
        }
    }
}

/// Any value of JSON, to be looked into.
enum ReadJSON: Decodable, Equatable {
    case null
    case bool(Bool)
    case number(Double)
    case string(String)
    case array([ReadJSON])
    case object([String: ReadJSON])

    init(from decoder: any Decoder) throws {
        let container = try decoder.singleValueContainer()
        if container.decodeNil() {
            self = .null
        } else if let value = try? container.decode(Bool.self) {
            self = .bool(value)
        } else if let value = try? container.decode(Double.self) {
            self = .number(value)
        } else if let value = try? container.decode(String.self) {
            self = .string(value)
        } else if let value = try? container.decode([ReadJSON].self) {
            self = .array(value)
        } else {
            self = .object(try container.decode([String: ReadJSON].self))
        }
    }

    /// Of a response.
    init(_ response: TestResponse) throws {
        self = try JSONDecoder().decode(ReadJSON.self, from: Data(response.body))
    }

    subscript(name: String) -> ReadJSON? { if case .object(let members) = self { members[name] } else { nil } }
    subscript(index: Int) -> ReadJSON? {
        if case .array(let values) = self, values.indices.contains(index) { values[index] } else { nil }
    }
    var text: String? { if case .string(let text) = self { text } else { nil } }
    var number: Double? { if case .number(let number) = self { number } else { nil } }
    var values: [ReadJSON] { if case .array(let values) = self { values } else { [] } }
}

extension HTTPFields {
    /// These, and others in the place of those of the same name.
    func merging(_ others: HTTPFields) -> HTTPFields {
        var all = self
        for field in others { all[field.name] = field.value }
        return all
    }
}

extension ConnectionFacts {
    /// As little as a recorder needs.
    init(_ socket: WebSocket) { self.init(id: "\(socket.id)", kind: .webSocket, state: "open") }
}
