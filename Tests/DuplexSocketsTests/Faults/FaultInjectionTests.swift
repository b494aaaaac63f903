// SPDX-License-Identifier: Apache-2.0
// Copyright (c) the Duplex authors

#if DEBUG && os(Linux)
import DuplexTestNetworks
import DuplexTestProcesses
import DuplexTestTimes
import Glibc
import Testing

@testable import DuplexSockets

/// Each system call fails in turn, at each of its first occurrences: what comes of it is an error that says why, or success;
/// no descriptor stays open, nothing hangs, and the other connections go on.
///
/// Each test has a process of its own, in which nobody else opens descriptors.
@Suite struct FaultInjectionTests {
    typealias Transport = FaultScenario.Transport

    /// How a call is made to fail, and whether somebody has to be told.
    struct Failing {
        var fault: FaultPlan.Fault
        var count = 1
        /// Whether it may pass unnoticed: it is tried again, or what it is for is no more than useful.
        var isForgiven = false

        static func fatal(_ code: Int32) -> Failing { Failing(fault: .fails(code)) }
        static func forgiven(_ code: Int32, count: Int = 1) -> Failing {
            Failing(fault: .fails(code), count: count, isForgiven: true)
        }
        static func cut(to limit: Int, count: Int) -> Failing {
            Failing(fault: .isCut(to: limit), count: count, isForgiven: true)
        }

        var errno: Int32? {
            switch fault {
            case .fails(let code), .failsAfterwards(let code): code
            case .isCut: nil
            }
        }
    }

    /// How each call of the scenario fails.
    private static func failings(of call: SystemCall) -> [Failing] {
        switch call {
        case .socket: [EMFILE, ENFILE, ENOBUFS, ENOMEM, EACCES].map(Failing.fatal)
        case .connect:
            [ECONNREFUSED, ETIMEDOUT, ENETUNREACH, EADDRNOTAVAIL, EACCES].map(Failing.fatal)
                // Of a Unix socket it says that somebody listens there, with a full backlog.
                + [.forgiven(EAGAIN)]
                + [EINTR, EINPROGRESS].map { Failing(fault: .failsAfterwards($0), isForgiven: true) }
        case .accept: [EMFILE, ENOMEM, ECONNABORTED, EINTR, EAGAIN, EPERM].map { .forgiven($0) }
        case .bind: [EACCES, EADDRINUSE].map(Failing.fatal) + [.forgiven(EADDRNOTAVAIL)]
        case .listen: [EADDRINUSE, EOPNOTSUPP].map(Failing.fatal)
        case .duplicate: [.fatal(EMFILE)]
        case .receive:
            [ECONNRESET, ETIMEDOUT, ENOMEM].map(Failing.fatal) + retried
                + [.cut(to: 1, count: 500), .cut(to: 1_448, count: .max)]
        case .send:
            [EPIPE, ECONNRESET, ENOBUFS].map(Failing.fatal) + retried
                + [.cut(to: 1, count: 500), .cut(to: 1_448, count: .max)]
        case .shutdown: [Failing(fault: .failsAfterwards(ENOTCONN), isForgiven: true)]
        case .setOption: [ENOBUFS, EINVAL].map { .forgiven($0) }
        case .getOption: [.fatal(ENOBUFS)]
        case .localName, .remoteName: [.forgiven(ENOBUFS)]
        case .watch: [ENOMEM, ENOSPC].map(Failing.fatal)
        case .wait: [.forgiven(EINTR), .forgiven(EINTR, count: 200)]
        case .clearWakeup: [.forgiven(EAGAIN), .forgiven(EINTR, count: 20)]
        case .startThread: [.fatal(EAGAIN)]
        case .lookUp: [EAI_AGAIN, EAI_NONAME, EAI_FAIL, EAI_MEMORY].map { .forgiven($0) }
        case .openFolder: [EACCES, EMFILE].map(Failing.fatal)
        case .lockFolder: [.forgiven(ENOLCK), .forgiven(EWOULDBLOCK, count: 3)]
        case .fileStatus: [.fatal(EACCES)]
        case .setPermissions: [.fatal(EPERM)]
        case .unlink: [.forgiven(EACCES)]
        case .openFile: [EACCES, EMFILE, ENOENT].map(Failing.fatal)
        case .readFile: [.fatal(EIO), .forgiven(EINTR), .cut(to: 1, count: 100), .cut(to: 1_448, count: .max)]
        case .sendFile:
            [EIO, EPIPE, ECONNRESET].map(Failing.fatal) + retried
                // Where the system can't move the bytes, they are read and sent.
                + [.forgiven(EINVAL), .cut(to: 1, count: 500), .cut(to: 1_448, count: .max)]
        case .receiveDatagrams: [ENOMEM, ENETDOWN].map(Failing.fatal) + retried + [.cut(to: 1, count: .max)]
        case .sendDatagrams:
            [ENOBUFS, EPERM, ENETUNREACH].map(Failing.fatal) + retried + [.cut(to: 1, count: .max)]
        // TemporaryFileTests, OpenedFolderTests, WritableFileTests.
        case .writeFile, .renameFile, .makeFolder, .syncFile: []
        // Where it can't be told what is in the cache, or little is, a thread reads it.
        case .readCached:
            [.forgiven(EAGAIN), .forgiven(EAGAIN, count: .max), .forgiven(EPERM), .forgiven(EOPNOTSUPP, count: .max)]
        case .openNetlink, .askNetlink, .receiveNetlink: []
        case .makePoller, .makeTimer, .makeWakeup, .random: []
        }
    }

    /// What a transfer is tried again after.
    private static var retried: [Failing] {
        [
            .forgiven(EINTR), .forgiven(EINTR, count: 1_000), .forgiven(EAGAIN), .forgiven(EAGAIN, count: 50),
        ]
    }

    /// The calls that happen before there are connections: loops being made.
    private static let ofLoops: [SystemCall] = [.makePoller, .makeTimer, .makeWakeup, .watch, .startThread]

    /// The calls that a connection is sure to bring about.
    private static func calls(over transport: Transport) -> [SystemCall] {
        let all: [SystemCall]
        switch transport {
        case .tcp, .unix: return streamCalls(over: transport)
        case .tls: all = [.socket, .connect, .accept, .receive, .send, .shutdown, .watch, .wait]
        case .local: all = [.socket, .bind, .setOption, .connect, .getOption]
        case .file:
            all = [.openFile, .duplicate, .fileStatus, .readFile, .readCached, .sendFile, .receive, .send, .watch]
        case .udp: all = [.socket, .bind, .setOption, .connect, .localName, .receiveDatagrams, .sendDatagrams]
        }
        return all.filter { $0 != .watch || !SystemPoller.isPollWanted }
    }

    private static func streamCalls(over transport: Transport) -> [SystemCall] {
        SystemCall.allCases.filter { call in
            switch call {
            case .makePoller, .makeTimer, .makeWakeup, .random: false
            case .openFile, .readFile, .sendFile, .receiveDatagrams, .sendDatagrams: false
            case .writeFile, .renameFile, .readCached, .makeFolder, .syncFile: false
            case .openNetlink, .askNetlink, .receiveNetlink: false
            // poll(2) is told with each call what to watch.
            case .watch: !SystemPoller.isPollWanted
            case .startThread, .lookUp, .getOption, .setOption: transport == .tcp
            case .duplicate, .openFolder, .lockFolder, .fileStatus, .setPermissions, .unlink: transport == .unix
            default: true
            }
        }
    }

    /// The first occurrences of a call that are struck.
    private static func occurrences(over transport: Transport) -> Int {
        [.tcp, .unix].contains(transport) ? 12 : 8
    }

    @Test(
        "While connections are made, used and closed",
        arguments: Transport.allCases.flatMap { transport in calls(over: transport).map { (transport, $0) } }
    )
    func connections(transport: Transport, call: SystemCall) async {
        let child = await #expect(processExitsWith: .success, observing: [\.standardErrorContent]) {
            [transport = transport as Transport, name = call.rawValue as String] in
            do {
                let call = try #require(SystemCall(rawValue: name))
                try await Self.strike(call, FaultScenario(transport: transport, watchdog: try Watchdog()))
            } catch {
                FaultScenario.report("\(transport) \(name): \(error)")
            }
        }
        Self.expectNoReport(child)
    }

    /// What a process has said before it ended: what was wrong in it, or that something hangs.
    private static func expectNoReport(_ child: ExitTest.Result?) {
        let text = child.map { String(decoding: $0.standardErrorContent, as: UTF8.self) }
        #expect(text == "")
    }

    private static func strike(_ call: SystemCall, _ scenario: FaultScenario) async throws {
        // What the runtime opens when it is first used stays open: the first run isn't counted.
        await useTimers()
        _ = try await scenario.run([], "first")
        let whole = try await scenario.run([], "whole")
        if !whole.errors.isEmpty || !whole.faults.isEmpty {
            FaultScenario.report("without any fault: \(whole.errors) \(whole.faults)")
        }
        guard let count = whole.counts[call] else { return FaultScenario.report("\(call) is never made") }
        for number in 1...min(count, occurrences(over: scenario.transport)) {
            for failing in failings(of: call) { try await strike(call, failing, number, scenario) }
        }
    }

    private static func strike(
        _ call: SystemCall,
        _ failing: Failing,
        _ number: Int,
        _ scenario: FaultScenario
    ) async throws {
        let rule = FaultPlan.Rule(call, failing.fault, first: number, count: failing.count)
        let outcome = try await scenario.run([rule], "\(call) \(number): \(failing.fault)")
        var wrong = outcome.faults
        let errors = outcome.errors.compactMap { $0 as? SocketError }
        if errors.count < outcome.errors.count { wrong.append("an error of another kind") }
        let isByPeer = { (error: SocketError) in error.isByPeer(over: scenario.transport) }
        if errors.contains(where: { $0.errno == nil && $0.causes.isEmpty && !isByPeer($0) }) {
            wrong.append("an error without a cause")
        }
        if outcome.strikes > 0, !failing.isForgiven, let errno = failing.errno {
            // A server whose handshake has failed has nobody to tell but its log.
            let isLogged = scenario.transport == .tls && errors.allSatisfy(isByPeer)
            if !errors.isEmpty && !outcome.names(errno) && !isLogged { wrong.append("nobody is told errno \(errno)") }
        }
        if !wrong.isEmpty {
            FaultScenario.report("\(scenario.transport) \(call) \(number), \(failing.fault): \(wrong), \(errors)")
        }
    }

    @Test("While several calls fail in one run, at random, the same for the same seed", arguments: Transport.allCases)
    func several(transport: Transport) async {
        let child = await #expect(processExitsWith: .success, observing: [\.standardErrorContent]) {
            [transport = transport as Transport] in
            do {
                let scenario = FaultScenario(transport: transport, watchdog: try Watchdog())
                await useTimers()
                _ = try await scenario.run([], "first")
                for seed in 1...60 {
                    let rules = Self.rules(seed: UInt64(seed))
                    let outcome = try await scenario.run(rules, "seed \(seed)")
                    if !outcome.faults.isEmpty {
                        FaultScenario.report(
                            "\(transport) seed \(seed), \(rules): \(outcome.faults), \(outcome.errors)"
                        )
                    }
                }
            } catch {
                FaultScenario.report("\(transport): \(error)")
            }
        }
        Self.expectNoReport(child)
    }

    private static func rules(seed: UInt64) -> [FaultPlan.Rule] {
        var generator = SeededGenerator(seed: seed)
        return (0..<4).compactMap { _ in
            guard let call = SystemCall.allCases.randomElement(using: &generator),
                let failing = failings(of: call).randomElement(using: &generator)
            else { return nil }
            let first = Int.random(in: 1...8, using: &generator)
            return FaultPlan.Rule(call, failing.fault, first: first, count: failing.count)
        }
    }

    @Test("A monitor of the network that can't be opened says why; one that can't go on ends with that")
    func monitor() async {
        await #expect(processExitsWith: .success) {
            let watchdog = try Watchdog()
            for (call, code) in [(SystemCall.openNetlink, EMFILE), (.receiveNetlink, ENOMEM), (.watch, ENOMEM)] {
                if call == .watch && SystemPoller.isPollWanted { continue }
                watchdog.watch("\(call)")
                let plan = FaultPlan()
                let group = try plan.run { try EventLoopGroup(loops: 1) }
                let before = DescriptorCensus.sockets()
                plan.arm([FaultPlan.Rule(call, .fails(code))])
                await expectSocketError(errno: code) {
                    let monitor = try plan.run { () throws(SocketError) in try NetworkMonitor(on: group) }
                    for try await _ in monitor.changes {}
                }
                #expect(plan.strikes == 1, "\(call)")
                let hasComeBack = await DescriptorCensus.comesBack(to: before)
                #expect(hasComeBack, "\(call): \(before) before, \(DescriptorCensus.sockets()) after")
                await group.stop()
            }
            watchdog.rest()
        }
    }

    /// Goes on by telling a change that comes behind the fault: an interface that goes down and is up again.
    @Test(
        "A monitor that can't ask for what there is, or has missed something, goes on",
        .timeLimit(minutes: 5),
        .enabled(if: TestNetwork.obstacle == nil, "Network namespaces can't be made here."),
        arguments: [
            FaultPlan.Rule(.askNetlink, .fails(ENOBUFS), count: 3), FaultPlan.Rule(.receiveNetlink, .fails(ENOBUFS)),
        ]
    )
    func deafMonitor(rule: FaultPlan.Rule) async throws {
        try await TestNetwork.with { network in
            let plan = FaultPlan()
            let group = try plan.run { try EventLoopGroup(loops: 1) }
            // What can't be asked for is asked for at the beginning; what is missed is missed by those who listen already.
            if rule.call == .askNetlink { plan.arm([rule]) }
            let monitor = try plan.run { () throws(SocketError) in try NetworkMonitor(on: group) }
            var changes = monitor.changes.makeAsyncIterator()
            if rule.call == .receiveNetlink { plan.arm([rule]) }
            try network.takeDown()
            while plan.strikes == 0 { await Task.yield() }
            try network.bringUp()
            var seen: [NetworkChange] = []
            while seen.last != .interfaceUp(network.interface) { seen.append(try #require(try await changes.next())) }
            #expect(rule.call == .askNetlink || seen.contains(.missed))
            monitor.stop()
            while try await changes.next() != nil {}
            await group.stop()
        }
    }

    @Test("While loops are started", arguments: ofLoops)
    func loops(call: SystemCall) async {
        await #expect(processExitsWith: .success) { [name = call.rawValue as String] in
            let call = try #require(SystemCall(rawValue: name))
            let watchdog = try Watchdog()
            let plan = FaultPlan()
            let first = try plan.run { try EventLoopGroup(loops: 2) }
            await first.stop()
            let count = plan.counts[call] ?? 0
            #expect(count >= 2 || SystemPoller.isPollWanted)
            for number in 1...max(1, count) {
                let before = DescriptorCensus.sockets()
                watchdog.watch("\(call) \(number)")
                plan.arm([FaultPlan.Rule(call, .fails(ENOMEM), first: number)])
                do throws(SocketError) {
                    let group = try plan.run { () throws(SocketError) in try EventLoopGroup(loops: 2) }
                    await group.stop()
                    #expect(plan.strikes == 0, "call \(number) failed, and nobody was told")
                } catch {
                    #expect(error.errno == ENOMEM)
                    #expect(plan.strikes == 1)
                }
                let hasComeBack = await DescriptorCensus.comesBack(to: before)
                #expect(hasComeBack, "\(call) \(number): \(before) before, \(DescriptorCensus.sockets()) after")
            }
            watchdog.rest()
        }
    }

    @Test("What can be bound for one loop and not for the next isn't accepted from", arguments: 1...4)
    func boundInPart(number: Int) throws {
        let plan = FaultPlan()
        plan.arm([FaultPlan.Rule(.bind, .fails(EADDRNOTAVAIL), first: number)])
        let sockets = try plan.run { () throws(SocketError) in
            try ListeningSockets(.tcp(port: 0), loops: 2, backlog: 1)
        }
        let descriptors = sockets.perLoop.joined()
        defer { for descriptor in descriptors { SystemCalls.close(descriptor) } }
        #expect(!descriptors.isEmpty)
        for descriptor in descriptors {
            var isListening: Int32 = 0
            var size = socklen_t(MemoryLayout<Int32>.size)
            let code = unsafe getsockopt(descriptor, SOL_SOCKET, SO_ACCEPTCONN, &isListening, &size)
            #expect(code == 0 && isListening == 1)
        }
    }

    @Test("Random numbers come whole, however often they are interrupted, and in whatever pieces")
    func random() {
        let plan = FaultPlan()
        for fault in [FaultPlan.Fault.fails(EINTR), .isCut(to: 1), .isCut(to: 255)] {
            plan.arm([FaultPlan.Rule(.random, fault, count: 40)])
            let bytes = plan.run { EntropyPool().bytes(1_024) }
            #expect(plan.strikes >= 4)
            // Not one of 32 pieces is what the buffer was before it was filled.
            let pieces = stride(from: 0, to: 1_024, by: 32).map { bytes[$0..<($0 + 32)] }
            #expect(pieces.allSatisfy { $0.contains { $0 != 0 } })
        }
    }
}

extension SocketError {
    /// Whether it is what one side is told when the other has failed.
    fileprivate func isByPeer(over transport: FaultScenario.Transport) -> Bool {
        let codes: [Code] = [.endOfStream, .timedOut, .closed, .unknownHost, .nameServiceFailed]
        return codes.contains(code) || transport == .tls && [.tls, .truncated, .connectionReset].contains(code)
    }
}
#endif
