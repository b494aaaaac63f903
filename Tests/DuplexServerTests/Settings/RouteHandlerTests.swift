// SPDX-License-Identifier: Apache-2.0
// Copyright (c) the Duplex authors

import DuplexTesting
import HTTPTypes
import Testing

@testable import DuplexServer

@Suite struct RouteHandlerTests {
    private static func isImmediate(_ handler: RouteHandler) -> Bool {
        if case .immediate = handler { true } else { false }
    }

    @Test("A handler that doesn't wait stays one behind steps that don't, and is a task behind others")
    func immediate() {
        let handler = RouteHandler.immediate { _ in Response(status: .ok) }
        #expect(Self.isImmediate(handler.behind([])))
        #expect(Self.isImmediate(handler.behind([.before { _ in nil }, .before { _ in nil }])))
        #expect(!Self.isImmediate(handler.behind([.before { _ in nil }, .beforeWaiting { _ in nil }])))
        #expect(!Self.isImmediate(handler.behind([.around { request, next in try await next(request) }])))
        #expect(!Self.isImmediate(RouteHandler.task { _ in Response(status: .ok) }.behind([.before { _ in nil }])))
    }
}
