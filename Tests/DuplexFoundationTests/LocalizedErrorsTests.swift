// SPDX-License-Identifier: Apache-2.0
// Copyright (c) the Duplex authors

import DuplexFoundation
import DuplexServer
import DuplexSockets
import DuplexTopics
import DuplexWebSockets
import DuplexWire
import Foundation
import Testing

@Suite("Errors as Foundation shows them")
struct LocalizedErrorsTests {
    @Test("The description is the sentence, without code and hint, which is the suggestion")
    func sentences() {
        var error = SocketError(.cannotConnect, message: "The server could not be reached.")
        #expect(error.localizedDescription == "The server could not be reached." && error.recoverySuggestion == nil)
        error.hint = "is it running?"
        #expect(error.localizedDescription == "The server could not be reached.")
        #expect(error.recoverySuggestion == "is it running?")
        let outer = WebSocketError(.cannotConnect, message: "There is no connection.", cause: error)
        #expect(outer.localizedDescription == "There is no connection." && outer.recoverySuggestion == "is it running?")
    }

    @Test("Errors of other kinds have their sentences, also as any error")
    func others() {
        let problem: any Error = Problem(.conflict, "Sold out.")
        #expect(problem.localizedDescription == "Sold out.")
        let protocolError: any Error = HTTPProtocolError(.bodyTooLarge, "the body is longer than 2 bytes")
        #expect(protocolError.localizedDescription == "the body is longer than 2 bytes")
        let failure: any Error = ReconnectFailure(.timedOut, message: "It took too long.")
        #expect(failure.localizedDescription.contains("It took too long."))
    }
}
