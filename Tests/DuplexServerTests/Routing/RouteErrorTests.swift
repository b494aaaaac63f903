// SPDX-License-Identifier: Apache-2.0
// Copyright (c) the Duplex authors

import DuplexServer
import Testing

@Suite struct RouteErrorTests {
    @Test("It prints the route and what is wrong with it")
    func text() async {
        var server = WebServer(port: 0)
        server.get("nowhere") { _ in "" }
        await #expect {
            try await server.run()
        } throws: { error in
            "\(error)" == "GET nowhere: A path begins with a slash." && (error as? RouteError)?.code == .badPath
        }
    }
}
