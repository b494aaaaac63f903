// SPDX-License-Identifier: Apache-2.0
// Copyright (c) the Duplex authors

// The routes that scripts/bench measures, on one event loop: prints its port, then serves until it is ended.
//
//   duplex-web FOLDER [--log] [--metrics] [--limits] [--tls CERTIFICATE KEY]
//
// The folder has what is sent. The options have each request logged to a file there, counted, and held to a rate and a time; or
// all of it sent by TLS.

import DuplexFoundation
import DuplexServer
import DuplexSharing
import DuplexSockets
import DuplexWire
import Foundation
import HTTPTypes

struct Item: Codable {
    let id: Int
    let name: String
    let price: Double
    let tags: [String]
}

let folder = CommandLine.arguments[1]
let options = Set(CommandLine.arguments.dropFirst(2))
let items = try JSONDecoder().decode([Item].self, from: Data(contentsOf: URL(fileURLWithPath: "\(folder)/items.json")))
let text = try String(contentsOfFile: "\(folder)/text.txt", encoding: .utf8)
let encoder = JSONEncoder()
// Every response is compared with the first one.
encoder.outputFormatting = .sortedKeys
let feed = EventFeed(keeping: 16)
let data = String(repeating: "x", count: 64)

var server = WebServer(host: .address("127.0.0.1"), port: 0)
server.limits = .local
server.eventLoops = try EventLoopGroup(loops: 1)
if let tls = CommandLine.arguments.firstIndex(of: "--tls") {
    server.tls = try .pem(certificatesAt: CommandLine.arguments[tls + 1], keyAt: CommandLine.arguments[tls + 2])
}
if options.contains("--log") {
    server.use(.accessLog(.file(try AccessLogFile(path: "\(folder)/access.log"))))
}
if options.contains("--metrics") { server.use(.metrics(ServerMetrics(CountingMetrics()))) }
if options.contains("--limits") {
    // Of requests from this machine the address isn't counted.
    let client = RateLimitKey.key { $0.remoteAddress?.host }
    server.use(.rateLimit(.perSecond(1_000_000_000), by: client), .timeLimit(.seconds(10)))
}
server.get("/hello") { _ in "Hello, World!" }
let ready = [UInt8](try Data(contentsOf: URL(fileURLWithPath: "\(folder)/items.json")))
server.get("/json-ready") { [ready] _ in Response(type: "application/json", body: .bytes(ready)) }
server.get("/json") { [items, encoder] _ in try Response(json: items, encoder: encoder) }
server.get("/text", .compressResponses()) { [text] _ in text }
for name in ["100k", "1m"] {
    server.get("/\(name)") { [folder] _ in
        Response(type: "application/octet-stream", body: try .file("\(folder)/\(name)"))
    }
}
server.post("/count", .bodySize(.unlimited)) { request in
    var count = 0
    for try await piece in request.body { count += piece.count }
    return "\(count)"
}
let shared = try SharedFolder(folder)
server.resumableUploads("/uploads", folder: shared)
server.get("/zip") { [shared] request in
    let query = try request.query
    let method = query.contains { $0.name == "method" && $0.value == "deflated" } ? ZipMethod.deflated() : .stored
    let paths = query.filter { $0.name == "path" }.compactMap { FolderPath($0.value) }
    return Response(type: "application/zip", body: try await shared.zip(of: paths, method: method))
}
server.files("/files", folder: folder)
// What is put: beside what nginx puts.
let put = "\(folder)/put/duplex"
if FileManager.default.fileExists(atPath: put) { server.webDAV("/dav", folder: try SharedFolder(put)) }
server.events("/feed", of: feed, heartbeat: nil)
server.post("/publish/:id") { [feed, data] request in
    try feed.publish(data, id: request.parameters["id"])
    return Response(.noContent)
}
try await server.run { address in
    print(address.port)
    fflush(nil)
}
