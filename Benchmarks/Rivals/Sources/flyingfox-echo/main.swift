// SPDX-License-Identifier: Apache-2.0
// Copyright (c) the Duplex authors

// An echo with FlyingFox: prints its port, then serves until it is ended.
//
//   flyingfox-echo [FOLDER]     with a folder, what scripts/bench web measures: its files, JSON, and uploads

import FlyingFox
import Foundation

struct Item: Codable {
    let id: Int
    let name: String
    let price: Double
    let tags: [String]
}

struct Echo: WSMessageHandler {
    func makeMessages(for client: AsyncStream<WSMessage>) async throws -> AsyncStream<WSMessage> { client }
}

func addWebRoutes(_ folder: String) async throws {
    let root = URL(fileURLWithPath: folder)
    let items = try JSONDecoder().decode([Item].self, from: Data(contentsOf: root.appendingPathComponent("items.json")))
    let encoder = JSONEncoder()
    encoder.outputFormatting = .sortedKeys
    await server.appendRoute("GET /hello") { _ in HTTPResponse(statusCode: .ok, body: Data("Hello, World!".utf8)) }
    await server.appendRoute("GET /json") { _ in
        HTTPResponse(statusCode: .ok, headers: [.contentType: "application/json"], body: try encoder.encode(items))
    }
    await server.appendRoute("POST /count") { request in
        var count = 0
        for try await piece in request.bodySequence { count += piece.count }
        return HTTPResponse(statusCode: .ok, body: Data("\(count)".utf8))
    }
    for name in ["100k", "1m"] {
        let file = FileHTTPHandler(path: root.appendingPathComponent(name), contentType: "application/octet-stream")
        await server.appendRoute(HTTPRoute("GET /\(name)"), to: file)
    }
}

// Its log would come before the port.
let server = HTTPServer(address: try .inet(ip4: "127.0.0.1", port: 0), logger: .disabled)
await server.appendRoute("GET /echo", to: .webSocket(Echo()))
if CommandLine.arguments.count > 1 { try await addWebRoutes(CommandLine.arguments[1]) }
let running = Task { try await server.run() }
try await server.waitUntilListening()
if case .ip4(_, let port) = await server.listeningAddress { print(port) }
fflush(nil)
try await running.value
