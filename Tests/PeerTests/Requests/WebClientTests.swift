// SPDX-License-Identifier: Apache-2.0
// Copyright (c) the Duplex authors

#if os(Linux)
import DuplexServer
import DuplexSockets
import DuplexTestTimes
import Testing

/// Clients that others wrote, with what they ask web servers for, directly and by way of nginx and haproxy.
@Suite(.serialized, .timeLimit(minutes: 5)) struct WebClientTests {
    private enum Client: String, CaseIterable {
        case requests
        case httpx
        case aiohttp
        case curl
        case node

        func command(_ url: String, proxied: Bool) -> [String] {
            let folder = Peer.path("Tests/PeerTests/Peers")
            if self == .node { return [Peer.node, "\(folder)/web_client.mjs", url] }
            return [Peer.python, "\(folder)/web_client.py", rawValue, url] + (proxied ? ["--proxied"] : [])
        }
    }

    /// All of them at the same time.
    private static func play(_ address: SocketAddress, proxied: Bool) async throws {
        try await withThrowingTaskGroup { tasks in
            for client in Client.allCases {
                tasks.addTask {
                    let command = client.command("http://\(address)", proxied: proxied)
                    let output = try await PeerProcess.run(command, environment: Peer.environment)
                    #expect(output.hasPrefix("ok ") && !output.hasPrefix("ok 0"), "\(client): \(output)")
                }
            }
            try await tasks.waitForAll()
        }
    }

    @Test("curl, requests, httpx, aiohttp and Node's fetch get what they ask for")
    func clients() async throws {
        try await DemoServer.make().withRunning { try await Self.play($0, proxied: false) }
    }

    @Test("They do by way of a proxy", arguments: CorpusProxy.allCases)
    func proxied(proxy: CorpusProxy) async throws {
        try await DemoServer.make().withRunning { address in
            try await proxy.withRunning(to: address) { port, _ in try await Self.play(port, proxied: true) }
        }
    }

    private static func browse(_ address: SocketAddress) async throws {
        let script = Peer.path("Tests/PeerTests/Peers/web_browser.py")
        let urls = ["http://127.0.0.1:\(address.port)", "http://localhost:\(address.port)"]
        let output = try await PeerProcess.run([Peer.python, script] + urls, environment: Peer.environment)
        let lines = output.split(separator: "\n")
        #expect(lines.count == 15 && lines.allSatisfy { $0.hasPrefix("ok: ") }, "\(output)")
    }

    @Test("Chromium fetches, sends forms and files, keeps cookies, and asks before it goes to another origin")
    func browser() async throws {
        try await DemoServer.make().withRunning { try await Self.browse($0) }
    }

    @Test("It does by way of a proxy", arguments: CorpusProxy.allCases)
    func proxiedBrowser(proxy: CorpusProxy) async throws {
        try await DemoServer.make().withRunning { address in
            try await proxy.withRunning(to: address) { port, _ in try await Self.browse(port) }
        }
    }

    private static func load(_ address: SocketAddress) async throws {
        let url = "http://\(address)/hello"
        let wrk = ["-c", "50", "-t", "2", "-d", "1s", url]
        let wrked = try await PeerProcess.run([try ForwardProxyTests.program("wrk")] + wrk)
        #expect(wrked.contains("Requests/sec") && !wrked.contains(" 0 requests in"))
        #expect(!wrked.contains("Non-2xx") && !wrked.contains("Socket errors"), "\(wrked)")
        let h2load = ["--h1", "-c", "20", "-m", "4", "-n", "4000", url]
        let loaded = try await PeerProcess.run([try ForwardProxyTests.program("h2load")] + h2load)
        #expect(loaded.contains("4000 succeeded, 0 failed, 0 errored, 0 timeout"), "\(loaded)")
    }

    @Test("wrk and h2load have every request of theirs answered")
    func load() async throws {
        try await DemoServer.make().withRunning { try await Self.load($0) }
    }

    @Test("They have by way of a proxy", arguments: CorpusProxy.allCases)
    func proxiedLoad(proxy: CorpusProxy) async throws {
        try await DemoServer.make().withRunning { address in
            try await proxy.withRunning(to: address) { port, _ in try await Self.load(port) }
        }
    }
}
#endif
