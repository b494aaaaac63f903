// SPDX-License-Identifier: Apache-2.0
// Copyright (c) the Duplex authors

import Testing

@testable import DuplexTopics

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
