// SPDX-License-Identifier: Apache-2.0
// Copyright (c) the Duplex authors

import DuplexServer
import DuplexSockets
import DuplexTestPeers
import DuplexTestTimes
import DuplexTesting
import DuplexTopics
import Testing

extension PeerTests {
    /// The client of topics for pages, as Node runs it.
    struct TopicPageTests {
        private static func play(_ topics: Topics, _ proxy: FaultProxy, _ address: SocketAddress) async throws {
            var control = topics["control"].messages().makeAsyncIterator()
            let script = Peer.path("Tests/PeerTests/Peers/topics_client.mjs")
            let command = [Peer.node, "--experimental-websocket", script, "\(address)", "\(proxy.address)"]
            async let output = PeerProcess.run(command, environment: ["NODE_NO_WARNINGS": "1"])
            #expect(try await control.next()?.text == "ready")
            topics["news/1"].publish("first")
            #expect(try await control.next()?.text == "begin")
            var number = 0
            for count in stride(from: 1, to: 900, by: 97) {
                let resets = proxy.counters.resets
                proxy.faults = .reset(after: count, in: .toClient)
                for _ in 0..<20 {
                    number += 1
                    topics["kept"].publish("\(number)")
                }
                try await proxy.wait { $0.resets > resets }
                proxy.faults = .none
            }
            topics["kept"].publish("end")
            #expect(try await control.next()?.text == "end")
            topics["news/1"].publish("over")
            let lines = try await output.split(separator: "\n").map { String($0) }
            let kept = lines.filter { $0.hasPrefix("kept ") }
            #expect(kept == ["kept before false"] + (1...number).map { "kept \($0) false" } + ["kept end false"])
            for line in ["secret notAllowed", "notAllowed", "news/1 first false", "joined node", "left 0", "closed"] {
                #expect(lines.count { $0 == line } >= 1, "\(line)")
            }
            #expect(lines.suffix(4).first == "news/1 over true")
            #expect(lines.suffix(3).first == #"room 1 [{"name":"node"}]"#)
        }

        @Test(
            "However often its connection is lost it goes on where it was, and says where it can't",
            .timeLimit(minutes: 2)
        )
        func node() async throws {
            var options = TopicOptions()
            options.presenceGrace = .zero
            try options.keep("kept", .init(count: 10_000))
            let topics = Topics(options: options)
            topics["kept"].publish("before")
            try await withServer { server in
                server.get("/topics.js") { _ in TopicScript.response }
                server.topics("/topics", of: topics, member: { _ in "node" }) { $0.topic != "secret" }
            } _: { address in
                try await FaultProxy.withProxy(to: .address(address)) { proxy in
                    try await Self.play(topics, proxy, address)
                }
            }
        }
    }
}
