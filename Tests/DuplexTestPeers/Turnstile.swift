// SPDX-License-Identifier: Apache-2.0
// Copyright (c) the Duplex authors

/// Lets a few tests at once have connections.
///
/// The test runner starts all of them together, and hundreds of servers and clients on two loops would be so slow that
/// time-outs pass which aren't what is tested.
private actor Turnstile {
    static let shared = Turnstile()
    /// Whether the task has a place already.
    @TaskLocal static var isInside = false

    private var places = 4
    private var waiting: [CheckedContinuation<Void, Never>] = []

    func enter() async {
        if places > 0 {
            places -= 1
        } else {
            await withCheckedContinuation { waiting.append($0) }
        }
    }

    /// Gives the place to the one who has waited longest.
    func leave() {
        if waiting.isEmpty { places += 1 } else { waiting.removeFirst().resume() }
    }
}

/// Runs the body when it is its turn; at once within another such body.
package func inTurn<Result>(_ body: () async throws -> Result) async throws -> Result {
    if Turnstile.isInside { return try await body() }
    await Turnstile.shared.enter()
    do {
        let result = try await Turnstile.$isInside.withValue(true) { try await body() }
        await Turnstile.shared.leave()
        return result
    } catch {
        await Turnstile.shared.leave()
        throw error
    }
}
