// SPDX-License-Identifier: Apache-2.0
// Copyright (c) the Duplex authors

import Testing

@testable import DuplexSockets
@testable import DuplexWebSockets
@testable import DuplexWire

@Suite("Stories of connections")
struct TimelineReportTests {
    private func milliseconds(_ number: Int) -> Duration { .milliseconds(number) }

    private func connecting() throws -> ConnectTimeline {
        let attempt = ConnectTimeline.Attempt(
            address: try SocketAddress("192.0.2.1", port: 443),
            start: milliseconds(2),
            end: milliseconds(5),
            outcome: .connected
        )
        return ConnectTimeline(
            nameLookup: milliseconds(2),
            addresses: [attempt.address],
            attempts: [attempt],
            tls: milliseconds(4),
            total: milliseconds(9)
        )
    }

    @Test("A connection that has ended, as an object of JSON and by its stages")
    func closed() throws {
        let zero = Instant(nanoseconds: 5_000)
        let security = HandshakeTimeline.Security(version: .tls13, isResumed: false)
        let handshake = HandshakeTimeline(
            .upgrade,
            began: zero,
            connecting: try connecting(),
            security: security,
            upgrade: milliseconds(1),
            isOpen: true,
            requests: 1,
            total: milliseconds(10)
        )
        let timeline = WebSocketTimeline(
            handshake: handshake,
            attempt: 3,
            remoteAddress: try SocketAddress("192.0.2.1", port: 443),
            began: zero,
            security: security,
            tls: milliseconds(4),
            upgrade: milliseconds(1),
            opened: zero.advanced(by: milliseconds(10)),
            firstMessage: zero.advanced(by: milliseconds(11)),
            closed: zero.advanced(by: milliseconds(500)),
            bytesReceived: 7,
            bytesSent: 8
        )
        let report = TimelineReport(
            ConnectionID(number: 7),
            .client,
            timeline,
            CloseReport(),
            nil,
            url: "wss://b.example/chat"
        )
        let members = [
            #""time":"now","connection":"ws-7","url":"wss://b.example/chat","role":"client","attempt":3,"outcome":"closed""#,
            #""remote":"192.0.2.1:443","stage":"upgrade","requests":1,"names_took_us":2000"#,
            #""resolved":["192.0.2.1:443"]"#,
            #""addresses":[{"address":"192.0.2.1:443","start_us":2000,"end_us":5000,"outcome":"connected"}]"#,
            #""steps":[{"stage":"names","start_us":0,"end_us":2000,"outcome":"done"}"#,
            #"{"stage":"connecting","start_us":2000,"end_us":5000,"outcome":"done"}"#,
            #"{"stage":"tls","start_us":5000,"end_us":9000,"outcome":"done"}"#,
            #"{"stage":"upgrade","start_us":9000,"end_us":10000,"outcome":"done"}]"#,
            #""tls":"TLS 1.3","tls_resumed":false,"tls_took_us":4000,"upgrade_took_us":1000,"opened_us":10000"#,
            #""first_message_us":11000,"closed_us":500000,"bytes_in":7,"bytes_out":8,"code":1006,"clean":false"#,
        ]
        let text = report.json(at: "now").text
        #expect(text == "{" + members.joined(separator: ",") + "}")
        let stages = report.stages.map { "\($0.name) \($0.took / .milliseconds(1))" }
        #expect(
            stages == [
                "names 2.0", "connecting 3.0", "tls 4.0", "upgrade 1.0", "opening 10.0", "first_message 1.0",
            ]
        )
    }

    @Test("All times are since the beginning of the attempt, also those of addresses after a redirect")
    func origin() throws {
        let handshake = HandshakeTimeline(
            .upgrade,
            began: Instant(nanoseconds: 5_000),
            connecting: try connecting(),
            upgrade: milliseconds(1),
            isOpen: false,
            requests: 2,
            total: milliseconds(110)
        )
        var error = WebSocketError(.timedOut, message: "late")
        error.timeline = handshake
        let text = TimelineReport(failed: error, url: "wss://b.example/").json(at: "now").text
        #expect(text.contains(#""address":"192.0.2.1:443","start_us":102000,"end_us":105000,"#))
        #expect(text.contains(#"{"stage":"connecting","start_us":102000,"end_us":105000,"#))
        #expect(text.contains(#""url":"wss://b.example/""#) && text.contains(#""failed_us":110000"#))
    }

    @Test("An attempt that failed, with how far it came and why")
    func failed() throws {
        var error = WebSocketError(.cannotConnect, message: "no \"way\"")
        let plain = TimelineReport(failed: error)
        #expect(plain.stages.isEmpty && plain.handshake == nil)
        let members = [
            #""time":"now","role":"client","attempt":1,"outcome":"failed""#,
            #""error":"WebSocketError.cannotConnect: no \"way\"""#,
        ]
        #expect(plain.json(at: "now").text == "{" + members.joined(separator: ",") + "}")
        error.timeline = HandshakeTimeline(.tls, connecting: try connecting(), requests: 1, total: milliseconds(9))
        let text = TimelineReport(failed: error).json(at: "now").text
        #expect(text.contains(#""stage":"tls","requests":1,"#) && text.contains(#""failed_us":9000,"#))
        #expect(!text.contains("opened_us"))
    }
}
