// SPDX-License-Identifier: Apache-2.0
// Copyright (c) the Duplex authors

import DuplexTesting
import HTTPTypes
import Synchronization
import Testing

@testable import DuplexServer

@Suite("Who looks on at requests")
struct RequestObserverTests {
    private final class Notes: RequestObserver {
        let notes = Mutex<[String]>([])
        let gate: ObserverGate?

        init(_ gate: ObserverGate? = nil) { self.gate = gate }

        func began(_ request: Request, route: String?) { add("began \(route ?? "-")") }

        func ended(_ request: Request, _ outcome: RequestOutcome) { add("ended \(outcome.route ?? "-")") }

        func add(_ note: String) { notes.withLock { $0.append(note) } }
    }

    @Test("It learns of a request before any middleware does, and of its end behind all of them")
    func order() async throws {
        let notes = Notes()
        var server = WebServer(port: 0)
        server.use(
            .before { _ in
                notes.add("before")
                return nil
            },
            .after { _, _ in notes.add("after") },
            .observed(by: notes)
        )
        server.get("/a/:b") { _ in "" }
        try await server.test { client async throws in
            _ = try await client.get("/a/1")
            #expect(notes.notes.withLock { $0 } == ["began /a/:b", "before", "after", "ended /a/:b"])
        }
    }

    @Test("One of a route sees no other route's requests")
    func ofRoute() async throws {
        let notes = Notes()
        var server = WebServer(port: 0)
        server.get("/seen", .observed(by: notes)) { _ in "" }
        server.get("/other") { _ in "" }
        try await server.test { client async throws in
            for path in ["/other", "/nothing", "/seen"] { _ = try await client.get(path) }
            #expect(notes.notes.withLock { $0 } == ["began /seen", "ended /seen"])
        }
    }

    @Test("One that looks only at times observes the requests that come while it looks, to their end")
    func gates() async throws {
        let gate = ObserverGate()
        let notes = Notes(gate)
        var server = WebServer(port: 0)
        server.use(.observed(by: notes))
        // Each switches it while the request is answered: before and behind a wait, or at once.
        server.get("/open/:n") { _ async throws in
            gate.set(open: true)
            await Task.yield()
            return ""
        }
        server.get("/close") { _ async throws in
            await Task.yield()
            gate.set(open: false)
            return ""
        }
        server.get("/now/open") { _ in
            gate.set(open: true)
            return ""
        }
        server.get("/now/close") { _ in
            gate.set(open: false)
            return Response(body: .writer { writer in try await writer.write("piece") })
        }
        try await server.test { client async throws in
            for (open, close) in [("/open/1", "/close"), ("/now/open", "/now/close")] {
                for path in [open, close, close] { #expect(try await client.get(path).status == .ok) }
                let seen = notes.notes.withLock { notes in
                    defer { notes = [] }
                    return notes
                }
                #expect(seen == ["began \(close)", "ended \(close)"])
            }
        }
    }

    @Test("What has nothing left to write has nothing to do at the end")
    func finish() async {
        await CompletionObserver { _, _ in }.finish()
    }
}
