// SPDX-License-Identifier: Apache-2.0
// Copyright (c) the Duplex authors

#if os(Linux)
import DuplexServer
import DuplexSockets
import DuplexTestPeers
import DuplexTestTimes
import HTTPTypes
import Logging
import Synchronization
import Testing

/// The corpus by way of nginx and haproxy, which share connections to our server among their clients: what they take for
/// so many requests we must take for as many, and each for the same.
@Suite(.serialized, .timeLimit(minutes: 5)) struct RequestCorpusProxyTests {
    /// What the handlers have seen: the name that the proxy gave, and what the request was.
    private final class Seen: Sendable {
        let requests = Mutex<[(name: String?, summary: String)]>([])
    }

    /// What a client has received up to the end.
    private struct Visit {
        let request: RequestCase
        let port: Int
        /// The names of the requests that were answered by a handler.
        let names: [String]
    }

    @Test("A proxy in front and our server count the same requests", arguments: CorpusProxy.allCases)
    func counts(proxy: CorpusProxy) async throws {
        let seen = Seen()
        var server = WebServer(host: "127.0.0.1", port: 0)
        server.logger = Logger(label: "tests") { _ in SwiftLogNoOpLogHandler() }
        server.allowedHosts = ["*"]
        server.use(
            .after { request, response in
                // As the client is to know which of its requests that answers.
                if let name = HTTPField.Name(CorpusProxy.field) { response.headers[name] = request.headers[name] }
            }
        )
        server.answerCorpus { request, summary in
            let name = HTTPField.Name(CorpusProxy.field).flatMap { request.headers[$0] }
            seen.requests.withLock { $0.append((name, summary)) }
        }
        try await server.withRunning { address in
            try await proxy.withRunning(to: address) { port, log in
                let visits = try await Self.visitAll(port)
                let lines = try await Self.log(log, naming: seen.requests.withLock { $0.compactMap(\.name) })
                Self.compare(seen.requests.withLock(\.self), lines, visits)
            }
        }
    }

    /// Plays all cases, a few at a time.
    private static func visitAll(_ address: SocketAddress) async throws -> [Visit] {
        var cases = try RequestCorpus.families.flatMap { try RequestCorpus.cases(of: $0) }[...]
        return try await withThrowingTaskGroup(of: Visit.self) { tasks in
            var visits: [Visit] = []
            for request in cases.prefix(16) { tasks.addTask { try await visit(request, address) } }
            cases = cases.dropFirst(16)
            while let visit = try await tasks.next() {
                visits.append(visit)
                guard let request = cases.popFirst() else { continue }
                tasks.addTask { try await Self.visit(request, address) }
            }
            return visits
        }
    }

    /// Sends all of a case, ends the stream, and reads to the end.
    ///
    /// A reset takes what was received with it, as from a proxy that closes with bytes unread; what the server has seen
    /// counts all the same.
    private static func visit(_ request: RequestCase, _ address: SocketAddress) async throws -> Visit {
        let peer = try await RawPeer.connect(to: address)
        let port = peer.socket.localAddress?.port ?? 0
        try? await peer.send(request.bytes)
        await peer.finishWriting()
        let received = (try? await peer.readToEnd()) ?? []
        await peer.close()
        let lines = String(decoding: received, as: UTF8.self).split(separator: "\r\n")
        let prefix = CorpusProxy.field.lowercased() + ": "
        let names = lines.filter { $0.lowercased().hasPrefix(prefix) }.map { String($0.dropFirst(prefix.count)) }
        return Visit(request: request, port: port, names: names)
    }

    /// The log, once it has all these names: it is written behind the answer.
    private static func log(
        _ read: () throws -> [CorpusProxy.Line],
        naming names: [String]
    ) async throws
        -> [CorpusProxy.Line]
    {
        let end = ContinuousClock.now.advanced(by: .seconds(10))
        while true {
            let lines = try read()
            let missing = Set(names).subtracting(lines.map(\.name))
            if missing.isEmpty || ContinuousClock.now >= end { return lines }
            await Task.yield()
        }
    }

    private static func compare(
        _ seen: [(name: String?, summary: String)],
        _ lines: [CorpusProxy.Line],
        _ visits: [Visit]
    ) {
        let ports = Dictionary(lines.map { ($0.name, $0.port) }) { first, _ in first }
        let cases = Dictionary(visits.map { ($0.port, $0.request.name) }) { $1 }
        // The corpus as a whole gets through where it is right.
        #expect(seen.count > 250)
        for (name, summary) in seen where name.flatMap({ ports[$0] }) == nil {
            Issue.record("\(summary) was seen, and \(name ?? "none") is no request of the proxy's")
        }
        for (name, count) in Dictionary(grouping: seen.compactMap(\.name), by: \.self).mapValues(\.count)
        where count > 1 {
            Issue.record("\(cases[ports[name] ?? 0] ?? "?"): one request of the proxy's was seen \(count) times")
        }
        let named = Set(seen.compactMap(\.name))
        for line in lines where line.status == 200 && !named.contains(line.name) {
            Issue.record("\(cases[line.port] ?? "?"): the proxy has an answer to a request that wasn't seen")
        }
        for visit in visits {
            for name in visit.names where ports[name] != visit.port {
                Issue.record("\(visit.request): was answered with what another's request was answered with")
            }
        }
    }
}
#endif
