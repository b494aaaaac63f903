// SPDX-License-Identifier: Apache-2.0
// Copyright (c) the Duplex authors

import DuplexTestTimes
import Glibc
import Testing

@testable import DuplexSockets

@Suite struct ConnectRaceTests {
    /// Runs a race on a loop of its own, which has to hold nothing afterwards; in a time that is moved, if that is said.
    private func report(
        _ addresses: [SocketAddress],
        _ options: ConnectOptions,
        moving time: Duration? = nil
    ) async throws -> ConnectRace.Report {
        let loop = try time == nil ? EventLoop() : makeManualGroup().0
        let report = await withCheckedContinuation { continuation in
            loop.execute { core in
                do throws(SocketError) {
                    try ConnectRace(addresses, core: core, options: options) { report in
                        #expect(core.watchedCount == 0 && core.timerCount == 0)
                        continuation.resume(returning: report)
                    }.start()
                } catch {
                    continuation.resume(returning: ConnectRace.Report(result: .failure(error), attempts: []))
                }
            }
            if let time { loop.execute { core in core.moveClock(by: time) {} } }
        }
        await loop.stop()
        return report
    }

    private func race(
        _ addresses: [SocketAddress],
        within timeout: Duration = .limit(seconds: 20)
    ) async throws -> Int32 {
        try await report(addresses, ConnectOptions(timeout: timeout)).result.get()
    }

    @Test("Addresses that refuse are passed over at once, and every refusal is reported")
    func refused() async throws {
        let (refusing, address) = try Descriptors.refusing()
        defer { SystemCalls.close(refusing) }
        // With the delay between attempts, forty of them would take longer than they are given.
        let addresses = [SocketAddress](repeating: address, count: 40)
        await #expect { try await race(addresses, within: .seconds(8)) } throws: {
            let error = $0 as? SocketError
            return error?.code == .cannotConnect && error?.causes.count == 40
                && error?.causes.allSatisfy { $0.errno == 111 && $0.message.contains("\(address)") } == true
        }
    }

    @Test("The next address wins when one refuses and one gives no answer, and the loser is closed")
    func failover() async throws {
        let (refusing, refused) = try Descriptors.refusing()
        let (silent, unanswered) = try Descriptors.silent()
        let (listener, address) = try Descriptors.listener()
        defer { for descriptor in silent + [refusing, listener] { SystemCalls.close(descriptor) } }
        let descriptor = try await race([refused, unanswered, address])
        #expect(SocketAddress.remote(of: descriptor) == address)
        SystemCalls.close(descriptor)
    }

    @Test("An address that gives no answer fails the race at its deadline")
    func deadline() async throws {
        let (silent, address) = try Descriptors.silent()
        defer { for descriptor in silent { SystemCalls.close(descriptor) } }
        await #expect { try await race([address], within: .milliseconds(60)) } throws: {
            let error = $0 as? SocketError
            return error?.code == .timedOut && error?.causes.map(\.code) == [.timedOut]
        }
    }

    @Test("A race that is cancelled tells nobody and leaves nothing open")
    func cancelling() async throws {
        let (listener, address) = try Descriptors.listener()
        defer { SystemCalls.close(listener) }
        let second = address
        try await withLoop { loop in
            try await loop.run { core in
                let race = try ConnectRace([address, second], core: core, options: ConnectOptions()) { _ in
                    Issue.record("A race that was cancelled has told its end.")
                }
                race.start()
                race.cancel()
            }
            let far = try Descriptors.accept(listener)
            #expect(Descriptors.read(far) == [])
            SystemCalls.close(far)
        }
    }

    // MARK: Order and times

    @Test("An attempt that gives no answer doesn't hold the next one up for longer than the delay, and is abandoned")
    func attemptDelay() async throws {
        let (silent, unanswered) = try Descriptors.silent()
        let (listener, address) = try Descriptors.listener()
        defer { for descriptor in silent + [listener] { SystemCalls.close(descriptor) } }
        var options = ConnectOptions(timeout: .limit(seconds: 20))
        options.attemptDelay = .milliseconds(60)
        let report = try await report([unanswered, address], options)
        SystemCalls.close(try report.result.get())
        #expect(report.attempts.map(\.address) == [unanswered, address])
        #expect(report.attempts.map(\.outcome) == [.abandoned, .connected])
        #expect(report.attempts[1].start - report.attempts[0].start >= .milliseconds(60))
        #expect(report.attempts[0].end >= report.attempts[1].end)
    }

    @Test("Without a delay all addresses are tried together")
    func together() async throws {
        let (silent, unanswered) = try Descriptors.silent()
        let (listener, address) = try Descriptors.listener()
        defer { for descriptor in silent + [listener] { SystemCalls.close(descriptor) } }
        var options = ConnectOptions(timeout: .limit(seconds: 20))
        options.attemptDelay = .zero
        let report = try await report([unanswered, unanswered, address, unanswered], options)
        SystemCalls.close(try report.result.get())
        #expect(report.attempts.map(\.outcome) == [.abandoned, .abandoned, .connected, .abandoned])
        // Nothing was waited for between them: the last began before the first to answer had.
        #expect(report.attempts[3].start <= report.attempts[2].end)
    }

    @Test("An attempt that takes too long is given up, and the next begins at once, however long the delay")
    func attemptTimeout() async throws {
        let (silent, unanswered) = try Descriptors.silent()
        let (listener, address) = try Descriptors.listener()
        defer { for descriptor in silent + [listener] { SystemCalls.close(descriptor) } }
        var options = ConnectOptions(timeout: .seconds(3_600))
        options.attemptDelay = .seconds(3_600)
        options.attemptTimeout = .milliseconds(30)
        let report = try await report([unanswered, unanswered, address], options)
        SystemCalls.close(try report.result.get())
        #expect(report.attempts.map(\.outcome) == [.timedOut, .timedOut, .connected])
        for (one, next) in zip(report.attempts, report.attempts.dropFirst()) { #expect(next.start >= one.end) }
    }

    @Test("Where each address takes too long, the error is a time-out with a cause for each")
    func allTimedOut() async throws {
        let (silent, unanswered) = try Descriptors.silent()
        defer { for descriptor in silent { SystemCalls.close(descriptor) } }
        var options = ConnectOptions(timeout: .seconds(3_600))
        options.attemptTimeout = .milliseconds(30)
        let report = try await report([unanswered, unanswered], options)
        guard case .failure(let error) = report.result else { throw CancellationError() }
        #expect(error.code == .timedOut && error.causes.map(\.code) == [.timedOut, .timedOut])
        #expect(error.causes.allSatisfy { $0.message.contains("\(unanswered) didn't answer within 30 ms") })
    }

    @Test("The deadline of the whole reports what failed before, what was under way, and what wasn't tried")
    func deadlineOfAll() async throws {
        let (refusing, refused) = try Descriptors.refusing()
        let (silent, unanswered) = try Descriptors.silent()
        defer { for descriptor in silent + [refusing] { SystemCalls.close(descriptor) } }
        var options = ConnectOptions(timeout: .milliseconds(60))
        options.attemptDelay = .seconds(3_600)
        let report = try await report([refused, unanswered, refused, refused], options)
        guard case .failure(let error) = report.result else { throw CancellationError() }
        #expect(error.code == .timedOut && error.causes.map(\.code) == [.cannotConnect, .timedOut])
        #expect(error.message.contains("2 more had not been tried"))
        #expect(report.attempts.map(\.outcome) == [.failed(errno: 111), .timedOut])
    }

    @Test("A failure that comes while others are under way starts the next address at once")
    func failureStartsNext() async throws {
        let (silent, unanswered) = try Descriptors.silent()
        let (refusing, refused) = try Descriptors.refusing()
        let (listener, address) = try Descriptors.listener()
        defer { for descriptor in silent + [refusing, listener] { SystemCalls.close(descriptor) } }
        var options = ConnectOptions(timeout: .limit(seconds: 20))
        options.attemptDelay = .seconds(1)
        let report = try await report([unanswered, refused, address], options, moving: options.attemptDelay)
        SystemCalls.close(try report.result.get())
        #expect(report.attempts.map(\.outcome) == [.abandoned, .failed(errno: 111), .connected])
        let attempts = report.attempts
        #expect(attempts[1].start - attempts[0].start >= options.attemptDelay)
        #expect(attempts[2].start - attempts[1].end < options.attemptDelay)
    }

    @Test("A race whose loop stops ends with an error")
    func stopping() async throws {
        let (silent, unanswered) = try Descriptors.silent()
        defer { for descriptor in silent { SystemCalls.close(descriptor) } }
        let loop = try EventLoop()
        async let report = withCheckedContinuation { continuation in
            loop.execute { core in
                let race = try? ConnectRace([unanswered], core: core, options: ConnectOptions()) {
                    continuation.resume(returning: $0)
                }
                race?.start()
            }
        }
        // Behind the start of the race in the loop's queue, or before it: either way it must end.
        await loop.stop()
        guard case .failure(let error) = await report.result else { throw CancellationError() }
        #expect(error.code == .loopStopped)
    }
}

@Suite struct ConnectAttemptTests {
    @Test("A connection of a port with itself is a refusal")
    func itself() async throws {
        // Of all addresses that lead back here, one that no other test and no other process uses.
        let pid = getpid()
        let address = try SocketAddress("127.\(pid >> 14 & 0x7F | 0x80).\(pid >> 7 & 0x7F | 0x80).77", port: 20_077)
        var options = ConnectOptions(timeout: .seconds(20))
        options.localAddress = .address(address.host)
        options.localPort = address.port
        let group = try EventLoopGroup(loops: 1)
        let error = await connectError(.address(address), options, on: group)
        #expect(error?.causes.map(\.errno) == [ECONNREFUSED])
        let left = try await group.loops[0].run { core in [core.watchedCount, core.timerCount] }
        #expect(left == [0, 0])
        await group.stop()
    }

    #if os(Linux)
    @Test("A Unix socket whose backlog is full is tried until there is room")
    func busy() async throws {
        let address = try SocketAddress.unix("@duplex-busy-\(getpid())")
        let sockets = try ListeningSockets(.unix("@duplex-busy-\(getpid())"), loops: 1, backlog: 0)
        let listener = try #require(sockets.perLoop.first?.first)
        defer { SystemCalls.close(listener) }
        var fillers: [Int32] = []
        defer { for filler in fillers { SystemCalls.close(filler) } }
        var code: Int32 = 0
        while code == 0 {
            let filler = try SystemCalls.streamSocket(.unix)
            fillers.append(filler)
            code = SystemCalls.connect(filler, to: address)
        }
        #expect(code == EAGAIN)
        try await withLoop { loop in
            let timeout = Duration.seconds(120)
            async let connected = Connector.connect(to: .address(address), on: loop, timeout: timeout) { channel in
                let descriptor = channel.value.descriptor
                let result = unsafe Array("x".utf8).withUnsafeBytes { unsafe SystemCalls.send(descriptor, $0) }
                channel.value.close()
                return result
            }
            // The fillers that got in, then the one that had to wait.
            try await waitUntilTimed(loop)
            for _ in fillers.dropLast() { SystemCalls.close(try Descriptors.accept(listener)) }
            let far = try Descriptors.accept(listener)
            #expect(Descriptors.read(far) == Array("x".utf8))
            SystemCalls.close(far)
            #expect(try await connected == .transferred(1))
        }
    }

    @Test("A Unix socket whose backlog stays full fails at the deadline, and leaves nothing behind")
    func busyForEver() async throws {
        let address = try SocketAddress.unix("@duplex-full-\(getpid())")
        let sockets = try ListeningSockets(.unix("@duplex-full-\(getpid())"), loops: 1, backlog: 0)
        let listener = try #require(sockets.perLoop.first?.first)
        defer { SystemCalls.close(listener) }
        let filler = try SystemCalls.streamSocket(.unix)
        defer { SystemCalls.close(filler) }
        #expect(SystemCalls.connect(filler, to: address) == 0)
        try await withLoop { loop in
            let error = await #expect(throws: SocketError.self) {
                try await Connector.connect(to: .address(address), on: loop, timeout: .milliseconds(60)) {
                    $0.value.close()
                }
            }
            #expect(error?.code == .timedOut && error?.causes.map(\.code) == [.timedOut])
            let left = try await loop.run { core in [core.watchedCount, core.timerCount] }
            #expect(left == [0, 0])
            // One that has no descriptor watched must not be forgotten when the loop stops.
            let task = Task {
                try await Connector.connect(to: .address(address), on: loop, timeout: .seconds(3_600)) {
                    $0.value.close()
                }
            }
            try await waitUntilTimed(loop)
            await loop.stop()
            await #expect { try await task.value } throws: { ($0 as? SocketError)?.code == .loopStopped }
        }
    }

    /// Waits until the loop has timers: those of the attempt, which has found the backlog full.
    private func waitUntilTimed(_ loop: EventLoop) async throws {
        let deadline = ContinuousClock.now.advanced(by: .seconds(120))
        while try await loop.run({ core in core.timerCount }) < 2 { try #require(ContinuousClock.now < deadline) }
    }
    #endif
}
