// SPDX-License-Identifier: Apache-2.0
// Copyright (c) the Duplex authors

import Testing

@testable import DuplexSockets

@Suite struct LookupDeadlineTests {
    private func resolve(_ resolver: any Resolver, within timeout: Duration) async throws -> Resolution {
        try await LookupDeadline.resolve(resolver, "host", within: timeout, on: EventLoopGroup.shared.next())
    }

    @Test("An answer in time is the answer, and so is an error")
    func inTime() async throws {
        let answer = try Resolution(literals: ["192.0.2.1"])
        #expect(try await resolve(ScriptedResolver { _ in .success(answer) }, within: .seconds(60)) == answer)
        let failing = ScriptedResolver { _ in .failure(SocketError(.unknownHost, message: "no")) }
        #expect(await socketError { _ = try await resolve(failing, within: .seconds(60)) }?.message == "no")
    }

    @Test("What doesn't answer is left behind, whether it heeds cancelling or not", arguments: [true, false])
    func tooLate(heedsCancelling: Bool) async {
        let resolver = ScriptedResolver(heedsCancelling: heedsCancelling)
        let error = await socketError { _ = try await resolve(resolver, within: .milliseconds(20)) }
        #expect(error?.code == .timedOut)
        #expect(error?.message.contains("“host”") == true)
        await resolver.wasCancelled(1)
        // A late answer is dropped, and nobody is hurt.
        resolver.answer(.success(Resolution([])))
    }

    @Test("Cancelling ends the wait at once, whether or not the resolver heeds it", arguments: [true, false])
    func cancelling(heedsCancelling: Bool) async {
        let resolver = ScriptedResolver(heedsCancelling: heedsCancelling)
        let task = Task { try await resolve(resolver, within: .seconds(3_600)) }
        await resolver.wasAsked(1)
        task.cancel()
        await #expect(throws: CancellationError.self) { try await task.value }
        await resolver.wasCancelled(1)
        resolver.answer(.success(Resolution([])))
    }
}
