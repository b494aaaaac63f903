// SPDX-License-Identifier: Apache-2.0
// Copyright (c) the Duplex authors

import DuplexWebSockets
import DuplexWire
import Testing

@testable import DuplexServer

@Suite struct RouteSettingsTests {
    @Test("Options narrow the settings in their order, the last one counting, and leave the rest")
    func narrowing() {
        let settings = RouteSettings().with([
            .limits(.local), .bodySize(3), .subprotocols("a"), .subprotocols("b", isRequired: true), .origins(.any),
            .compression(.required), .keepalive(.disabled), .closeTimeout(.seconds(1)),
        ])
        #expect(settings.http.bodySize == 3 && settings.messages.messageSize == MessageLimits.local.messageSize)
        #expect(settings.subprotocols == ["b"] && settings.requiresSubprotocol)
        #expect(settings.compression == WebSocketCompression.required && settings.closeTimeout == .seconds(1))
        #expect(RouteSettings().with([]).subprotocols.isEmpty)
    }
}
