// SPDX-License-Identifier: Apache-2.0
// Copyright (c) the Duplex authors

import DuplexServer
import DuplexTestTimes
import DuplexTesting
import DuplexTopics
import DuplexWire
import Testing

@Suite("What the app is asked about a client of the JSON protocol", .timeLimit(minutes: 1))
struct TopicAccessTests {
    @Test("It sees the deed, the name, whether that is a pattern, and the request")
    func asked() async throws {
        let topics = Topics()
        var server = WebServer(port: 0)
        server.topics("/:user", of: topics) { access in
            topics["log"].publish(
                "\(access.action) \(access.topic) \(access.isPattern) \(access.request.path) \(access.isWithin("a"))"
            )
            return true
        }
        try await WebServer.testing(server) { client async throws in
            var log = topics["log"].makeAsyncIterator()
            let socket = try await client.webSocket("/ann")
            try await socket.send(#"{"subscribe":"a/#"}"#)
            try await socket.send(#"{"publish":"ab","text":""}"#)
            #expect(await log.next()?.text == "subscribe a/# true /ann true")
            #expect(await log.next()?.text == "publish ab false /ann false")
            // A mark behind the slash makes one character of both, and still a segment below.
            try await socket.send(#"{"publish":"a/\u0301b","text":""}"#)
            #expect(await log.next()?.text.hasSuffix("/ann true") == true)
        }
    }
}
