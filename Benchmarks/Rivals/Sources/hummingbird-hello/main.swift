// SPDX-License-Identifier: Apache-2.0
// Copyright (c) the Duplex authors

// Answers with Hummingbird on one event loop: prints its port, then serves until it is ended.
//
//   hummingbird-hello [FOLDER]     with a folder, what scripts/bench web measures: its files, JSON, and uploads

import Foundation
import Hummingbird
import Logging
import NIOPosix

struct Item: Codable {
    let id: Int
    let name: String
    let price: Double
    let tags: [String]
}

var logger = Logger(label: "hello")
logger.logLevel = .error
let router = Router()
if CommandLine.arguments.count > 1 {
    let folder = CommandLine.arguments[1]
    let items = try JSONDecoder().decode(
        [Item].self,
        from: Data(contentsOf: URL(fileURLWithPath: "\(folder)/items.json"))
    )
    let encoder = JSONEncoder()
    encoder.outputFormatting = .sortedKeys
    router.get("/json") { [items, encoder] _, _ in
        let body = ByteBuffer(bytes: try encoder.encode(items))
        return Response(status: .ok, headers: [.contentType: "application/json"], body: .init(byteBuffer: body))
    }
    router.post("/count") { request, _ in
        var count = 0
        for try await piece in request.body { count += piece.readableBytes }
        return "\(count)"
    }
    router.addMiddleware { FileMiddleware(folder) }
}
router.get("/hello") { _, _ in "Hello, World!" }
let application = Application(
    router: router,
    configuration: ApplicationConfiguration(address: .hostname("127.0.0.1", port: 0)),
    onServerRunning: { channel in
        print(channel.localAddress?.port ?? 0)
        fflush(nil)
    },
    eventLoopGroupProvider: .shared(MultiThreadedEventLoopGroup(numberOfThreads: 1)),
    logger: logger
)
try await application.runService()
