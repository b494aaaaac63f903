// SPDX-License-Identifier: Apache-2.0
// Copyright (c) the Duplex authors

import DuplexSockets
import DuplexWire
import Testing

@testable import DuplexTopics

@Suite("How Redis is used")
struct RedisOptionsTests {
    @Test("The defaults are what the comments say")
    func defaults() {
        let options = RedisOptions()
        #expect(options.connectOptions.timeout == .seconds(10))
        #expect(options.responseTimeout == .seconds(10))
        #expect(options.pingInterval == .seconds(10))
        #expect(options.clientName == "duplex")
        #expect(options.unansweredCommands == 16_384)
        #expect(options.unansweredBytes == .mebibytes(16))
        #expect(options.backoff.bound(after: 1) == .milliseconds(100))
        #expect(options.backoff.bound(after: 30) == .seconds(5))
        #expect(options.whenDisconnected == .wait(commands: 1_024, bytes: .mebibytes(1), time: .seconds(5)))
        #expect(options.presenceLease == .seconds(30))
    }
}

@Suite("How Redis servers are arranged")
struct RedisDeploymentTests {
    @Test("What can be used passes, and is shown without passwords")
    func shows() throws {
        let deployments: [RedisDeployment] = [
            .one("redis://me:secret@a/1"),
            .sentinel("redis://me:secret@main", at: ["redis://:secret@s1:26379", "redis://s2:26379"]),
            .cluster(["rediss://me:secret@a:7000", "rediss://b:7000"]),
        ]
        for deployment in deployments {
            try deployment.check()
            #expect(!deployment.description.contains("secret"))
        }
        #expect(deployments[1].description == "main of the sentinels redis://s1:26379/0, redis://s2:26379/0")
    }

    @Test(
        "What leads nowhere is refused",
        arguments: [
            .sentinel("redis://main", at: []), .sentinel("unix:///run/redis", at: ["redis://s1:26379"]), .cluster([]),
            .cluster(["redis://a", "redis://b/1"]),
        ] as [RedisDeployment]
    )
    func refuses(deployment: RedisDeployment) {
        let error = #expect(throws: TopicError.self) { try deployment.check() }
        #expect(error?.code == .invalidURL)
    }
}
