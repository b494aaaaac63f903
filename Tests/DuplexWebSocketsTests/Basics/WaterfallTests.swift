// SPDX-License-Identifier: Apache-2.0
// Copyright (c) the Duplex authors

import Testing

@testable import DuplexSockets
@testable import DuplexWebSockets
@testable import DuplexWire

@Suite("Pictures of timelines")
struct WaterfallTests {
    private let zero = Instant(nanoseconds: 0)

    private func milliseconds(_ number: Int) -> Duration { .milliseconds(number) }

    @Test("Bars lie where their stages lie in time, with how long each took")
    func bars() {
        let waterfall = Waterfall(rows: [
            Waterfall.Row(label: "names", start: .zero, end: milliseconds(10)),
            Waterfall.Row(label: "TCP lost", start: milliseconds(10), end: milliseconds(40), isLost: true),
            Waterfall.Row(label: "upgrade", start: milliseconds(35), end: milliseconds(40)),
        ])
        #expect(
            waterfall.lines(width: 58) == [
                "names    ██████████                                  10 ms",
                "TCP lost           ░░░░░░░░░░░░░░░░░░░░░░░░░░░░░░    30 ms",
                "upgrade                                     █████   5.0 ms",
            ]
        )
    }

    @Test("A stage of no time has a mark, and one at the end too")
    func shortest() {
        let waterfall = Waterfall(rows: [
            Waterfall.Row(label: "a", start: .zero, end: .zero),
            Waterfall.Row(label: "b", start: .zero, end: milliseconds(29)),
            Waterfall.Row(label: "c", start: milliseconds(29), end: milliseconds(29)),
        ])
        #expect(
            waterfall.lines(width: 1) == [
                "a █                               0.0 ms",
                "b █████████████████████████████    29 ms",
                "c                             █   0.0 ms",
            ]
        )
        #expect(Waterfall().lines(width: 80) == [])
    }

    @Test("A long wait for the first message is cut, and leaves the others room")
    func openEnd() {
        let waterfall = Waterfall(rows: [
            Waterfall.Row(label: "a", start: .zero, end: milliseconds(10)),
            Waterfall.Row(label: "b", start: milliseconds(10), end: .seconds(60), isOpenEnded: true),
        ])
        #expect(
            waterfall.lines(width: 40) == [
                "a ████████                         10 ms",
                "b        █████████████████████▶ 59990 ms",
            ]
        )
    }

    @Test("Labels that are too long are cut; every line has the width")
    func widths() {
        let label = String(repeating: "x", count: 90)
        let waterfall = Waterfall(rows: [Waterfall.Row(label: label, start: .zero, end: milliseconds(1))])
        for width in [40, 41, 80, 120] {
            let lines = waterfall.lines(width: width)
            #expect(lines.map(\.count) == [width])
            #expect(lines[0].hasPrefix(String(repeating: "x", count: width * 2 / 5 - 1) + "… █"))
        }
    }

    private func connecting() throws -> ConnectTimeline {
        let lost = ConnectTimeline.Attempt(
            address: try SocketAddress("2001:db8::1", port: 443),
            start: milliseconds(10),
            end: milliseconds(40),
            outcome: .abandoned
        )
        let chosen = ConnectTimeline.Attempt(
            address: try SocketAddress("192.0.2.1", port: 443),
            start: milliseconds(30),
            end: milliseconds(40),
            outcome: .connected
        )
        return ConnectTimeline(
            nameLookup: milliseconds(10),
            attempts: [lost, chosen],
            proxy: milliseconds(10),
            tls: milliseconds(20),
            total: milliseconds(70)
        )
    }

    @Test("A whole client: names, each address, proxy, TLS, upgrade, first message")
    func client() throws {
        let handshake = HandshakeTimeline(
            .upgrade,
            connecting: try connecting(),
            security: HandshakeTimeline.Security(version: .tls13, isResumed: true),
            upgrade: milliseconds(10),
            isOpen: true,
            requests: 1,
            total: milliseconds(80)
        )
        let timeline = WebSocketTimeline(
            handshake: handshake,
            began: zero,
            opened: zero.advanced(by: milliseconds(80)),
            firstMessage: zero.advanced(by: milliseconds(100))
        )
        #expect(
            timeline.waterfall(width: 80) == [
                "names                           ████                                       10 ms",
                "TCP [2001:db8::1]:443 abandoned    ░░░░░░░░░░░░░                           30 ms",
                "TCP 192.0.2.1:443                          █████                           10 ms",
                "proxy                                          █████                       10 ms",
                "TLS 1.3 resumed                                    █████████               20 ms",
                "upgrade                                                    █████           10 ms",
                "first message                                                  ████████    20 ms",
            ]
        )
    }

    @Test("A connection alone, without a WebSocket")
    func connection() throws {
        let lines = try connecting().waterfall(width: 75)
        #expect(
            lines == [
                "names                          █████                                  10 ms",
                "TCP [2001:db8::1]:443 abandon…      ░░░░░░░░░░░░░░░                   30 ms",
                "TCP 192.0.2.1:443                             █████                   10 ms",
                "proxy                                              █████              10 ms",
                "TLS                                                     ██████████    20 ms",
            ]
        )
    }

    @Test("An error of connecting shows where it failed; one that is about nothing else shows nothing")
    func socketError() throws {
        var error = SocketError(.tls, message: "no")
        #expect(error.waterfall() == [])
        error.timeline = try connecting()
        let lines = error.waterfall(width: 75)
        #expect(lines.count == 5 && lines[4].hasPrefix("TLS ") && lines[4].contains("░"))
        let others = try connecting().waterfall(width: 75)
        #expect(lines.prefix(4) == others.prefix(4))
        error = SocketError(.unknownHost, message: "no")
        error.timeline = ConnectTimeline(nameLookup: nil, attempts: [], total: milliseconds(3))
        #expect(error.waterfall(width: 40) == ["names ░░░░░░░░░░░░░░░░░░░░░░░░░   3.0 ms"])
    }

    @Test("An attempt that failed shows where, and what came before; a server begins with TLS")
    func others() throws {
        let failed = HandshakeTimeline(.tls, connecting: try connecting(), requests: 2, total: milliseconds(140))
        let lines = failed.waterfall(width: 80)
        #expect(lines.count == 6)
        #expect(lines[0].hasPrefix("requests before ") && lines[0].hasSuffix(" 70 ms") && lines[5].contains("░"))
        let refused = HandshakeTimeline(
            .upgrade,
            connecting: try connecting(),
            upgrade: milliseconds(10),
            requests: 1,
            total: milliseconds(80)
        )
        #expect(refused.waterfall(width: 80).last?.contains("░") == true)
        let early = HandshakeTimeline(.request, connecting: nil, requests: 0, total: milliseconds(3))
        #expect(early.waterfall(width: 40) == ["request ░░░░░░░░░░░░░░░░░░░░░░░   3.0 ms"])
        let server = WebSocketTimeline(
            began: zero,
            security: HandshakeTimeline.Security(version: .tls13, isResumed: false),
            tls: milliseconds(20),
            upgrade: milliseconds(10),
            opened: zero.advanced(by: milliseconds(40))
        )
        #expect(
            server.waterfall(width: 40) == [
                "TLS 1.3 ████████████               20 ms",
                "upgrade                  ██████    10 ms",
            ]
        )
    }
}
