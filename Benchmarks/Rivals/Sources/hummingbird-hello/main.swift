// SPDX-License-Identifier: Apache-2.0
// Copyright (c) the Duplex authors

// Answers with Hummingbird on one event loop: prints its port, then serves until it is ended.

import Glibc
import Hummingbird
import Logging
import NIOPosix

var logger = Logger(label: "hello")
logger.logLevel = .error
let router = Router()
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
