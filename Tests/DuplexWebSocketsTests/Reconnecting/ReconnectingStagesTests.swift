// SPDX-License-Identifier: Apache-2.0
// Copyright (c) the Duplex authors

import DuplexSockets
import DuplexTestPeers
import DuplexTestTimes
import DuplexWebSockets
import DuplexWire
import Testing

/// The attempts of a client that reconnects, as they are told while they happen.
@Suite(.timeLimit(minutes: 1)) struct ReconnectingStagesTests {
    @Test("Each attempt's stages have its number, for all observers and the options' own callback, to the end")
    func attempts() async throws {
        try await withListener { url, accept in
            let recorder = StageRecorder()
            var options = ReconnectOptions()
            options.webSocketOptions.onStage = { recorder.tell($0) }
            let client = ReconnectingWebSocket(url, policy: .constant(.zero), options: options)
            let observers = (0..<2).map { _ in client.stages }
            let states = client.stateChanges
            await client.start()
            let first = try await accept()
            _ = try await first.readHead()
            await first.reset()
            let second = try await accept()
            try await second.acceptWebSocket()
            await ReconnectingWebSocket.changes(states, until: "open")
            await second.reset()
            // What is under way when the client is closed is given up.
            let third = try await accept()
            _ = try await third.readHead()
            await client.close()
            let begun = ["connecting began", "connecting ended", "upgrade began"]
            let expected = ["failed", "ended", "abandoned"].flatMap { begun + ["upgrade \($0)"] }
            for observer in observers {
                var events: [StageEvent] = []
                for await event in observer { events.append(event) }
                #expect(events.map(\.words) == expected)
                #expect(events.map(\.attempt) == [1, 1, 1, 1, 2, 2, 2, 2, 3, 3, 3, 3])
            }
            #expect(recorder.words == expected)
            await third.reset()
        }
    }

    @Test("Whoever comes late gets the last event first, and what follows")
    func late() async throws {
        try await withListener { url, accept in
            let client = ReconnectingWebSocket(url)
            await client.start()
            let peer = try await accept()
            _ = try await peer.readHead()
            var stages = client.stages.makeAsyncIterator()
            #expect(await stages.next()?.words == "upgrade began")
            await client.close()
            #expect(await stages.next()?.words == "upgrade abandoned")
            #expect(await stages.next() == nil)
            await peer.reset()
        }
    }
}
