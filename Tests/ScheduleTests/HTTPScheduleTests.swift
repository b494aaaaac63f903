// SPDX-License-Identifier: Apache-2.0
// Copyright (c) the Duplex authors

import DuplexServer
import DuplexSockets
import DuplexTestPeers
import DuplexTestTimes
import DuplexTesting
import DuplexWebSockets
import DuplexWire
import Logging
import Testing

/// A server answers each request of a connection once, in order and with what it asked for, however the bytes arrive and however
/// the connection ends; nothing of it is left behind.
///
/// `DUPLEX_SCHEDULES` says how many are performed, from `DUPLEX_SEED` on; scripts/more/heavy performs a million.
@Suite struct HTTPScheduleTests {
    private static func routes(_ server: inout WebServer) {
        server.get("/now/:number") { request in "now \(request.parameters["number", default: ""])" }
        server.get("/later/:number") { request async in
            for _ in 0..<Self.number(request) % 5 { await Task.yield() }
            return "later \(Self.number(request))"
        }
        server.get("/stream/:number") { request in
            let pieces = HTTPSchedule.pieces(Self.number(request))
            return Response(type: .octetStream) { writer in
                for piece in pieces {
                    try await writer.write(piece)
                    await Task.yield()
                }
            }
        }
        server.put("/whole/:number") { request in
            Response(type: .octetStream, body: .bytes(try await request.body.collect()))
        }
        server.put("/held/:number") { request in
            var bytes: [UInt8] = []
            for try await piece in request.body {
                bytes += piece
                for _ in 0..<3 { await Task.yield() }
            }
            return Response(type: .octetStream, body: .bytes(bytes))
        }
        server.put("/ignored/:number") { request async in
            await Task.yield()
            return "ignored \(Self.number(request))"
        }
        server.webSocket("/socket") { socket in
            for try await message in socket.messages { try await socket.send(message) }
        }
    }

    private static func number(_ request: Request) -> Int { Int(request.parameters["number", default: ""]) ?? 0 }

    @Test("In memory, in the loop's time", .timeLimit(minutes: 60))
    func memory() async throws {
        var server = WebServer(port: 0)
        server.logger = Logger(label: "tests") { _ in SwiftLogNoOpLogHandler() }
        Self.routes(&server)
        try await server.test(within: .limit(seconds: 3_600)) { client in
            var failed = 0
            for seed in ScheduleCount.seeds where failed < 5 {
                let schedule = HTTPSchedule(seed: seed)
                let fault = try await client.loop.perform(seed) { try await Self.perform(schedule, client) }
                if let fault {
                    failed += 1
                    Issue.record("\(fault): \(schedule)")
                }
            }
        }
    }

    /// Plays the client.
    ///
    /// - Returns: what was wrong, if anything was.
    private static func perform(_ schedule: HTTPSchedule, _ client: TestClient) async throws -> String? {
        let loop = client.loop
        let options = client.routed(ConnectOptions())
        let socket = try await Socket.connect(to: .host("localhost", port: 80), options: options, on: loop.group)
        let received = Bulletin<(bytes: [UInt8], hasEnded: Bool)>(([], false))
        let reading = Task(executorPreference: loop.loop) {
            while let bytes = try? await socket.read() { received.change { $0.bytes += bytes } }
            received.change { $0.hasEnded = true }
        }
        var position = 0
        for step in schedule.steps {
            switch step {
            case .turn: await loop.settle()
            case .send(let count):
                // A connection that has ended takes no more.
                try? await socket.write(Array(schedule.bytes[position..<(position + count)]))
                position += count
            }
        }
        if schedule.ending == .reset { await socket.reset() }
        // Frames come back before the end of the stream is seen.
        if schedule.ending == .upgrade { await loop.settle() }
        if [.endOfStream, .cut, .upgrade].contains(schedule.ending) { await socket.finishWriting() }
        await loop.settle()
        for _ in 0..<200 where !received.value.hasEnded { await loop.advance(by: .milliseconds(500)) }
        let (bytes, hasEnded) = received.value
        await socket.close()
        reading.cancel()
        await reading.value
        await loop.settle()
        if !hasEnded { return "the connection didn't end" }
        return schedule.fits(bytes)
            ? nil : "what came back isn't what had to: \(String(decoding: bytes.prefix(2_000), as: UTF8.self))"
    }
}
