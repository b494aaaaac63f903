// SPDX-License-Identifier: Apache-2.0
// Copyright (c) the Duplex authors

import DuplexSockets
import Testing

@testable import DuplexWebSockets

@Suite("How far an attempt came")
struct HandshakeTimelineTests {
    @Test("It is one line, with the parts that there were")
    func line() throws {
        let connecting = ConnectTimeline(
            names: .milliseconds(14),
            attempts: [],
            proxy: .milliseconds(3),
            tls: .microseconds(1_250),
            total: .milliseconds(30)
        )
        let timeline = HandshakeTimeline(
            .upgrade,
            connecting: connecting,
            upgrade: .milliseconds(106),
            requests: 2,
            total: .milliseconds(212)
        )
        #expect(
            timeline.description
                == "names 14 ms · proxy 3.0 ms · TLS 1.3 ms · upgrade 106 ms · 2 requests · in all 212 ms"
        )
    }

    @Test("Stages follow one another")
    func order() {
        #expect(HandshakeTimeline.Stage.allCases == HandshakeTimeline.Stage.allCases.sorted())
        #expect(HandshakeTimeline.Stage(SocketError(.unknownHost, message: "")) == .names)
        #expect(HandshakeTimeline.Stage(SocketError(.untrustedPeer, message: "")) == .tls)
        #expect(HandshakeTimeline.Stage(SocketError(.proxyRefused, message: "")) == .proxy)
        #expect(HandshakeTimeline.Stage(SocketError(.invalidOptions, message: "")) == .request)
    }
}
