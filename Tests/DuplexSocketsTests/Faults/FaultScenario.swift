// SPDX-License-Identifier: Apache-2.0
// Copyright (c) the Duplex authors

#if DEBUG && os(Linux)
import DuplexTestProcesses
import DuplexTestTimes
import Glibc
import Logging
import Synchronization
import Testing

@testable import DuplexSockets

/// A listener, a connection to it, an echo of 300 KB, the end of both streams and the end of all, with some system call
/// failing, while another connection of the same loops goes on; or the like with datagrams.
struct FaultScenario {
    enum Transport: String, CaseIterable, Codable, CustomTestStringConvertible {
        case tcp, unix, tls
        /// TCP from an address that the client has chosen.
        case local
        /// TCP, and what is sent comes from a file.
        case file
        /// Datagrams in batches, to a member of a group.
        case udp
        var testDescription: String { rawValue }
    }

    /// What came of one run.
    struct Outcome {
        /// What the client, the handler of the server, and the listener ended with.
        var errors: [any Error] = []
        var counts: [SystemCall: Int] = [:]
        var strikes = 0
        /// What must not be, whatever failed.
        var faults: [String] = []

        /// Whether the errors, or those that led to them, name that error number.
        func names(_ errno: Int32) -> Bool {
            func isNamed(in error: SocketError) -> Bool {
                error.errno == errno || error.causes.contains(where: isNamed)
            }
            return errors.contains { ($0 as? SocketError).map(isNamed) == true }
        }
    }

    static let payload = (0..<300_000).map { UInt8(truncatingIfNeeded: $0 &* 31 &+ $0 / 251) }
    /// Longer than any run takes, and what every wait in it is bounded by.
    static let patience = Duration.seconds(5)

    let transport: Transport
    let watchdog: Watchdog

    /// Says what was found: in order, as the process of an exit test that fails has its output thrown away.
    static func report(_ text: String) {
        _ = unsafe write(2, text + "\n", text.utf8.count + 1)
    }

    /// Runs it once.
    func run(_ rules: [FaultPlan.Rule], _ name: String) async throws -> Outcome {
        watchdog.watch("\(transport) \(name)")
        defer { watchdog.rest() }
        let before = DescriptorCensus.sockets()
        let threads = ThreadCensus.loops()
        let plan = FaultPlan()
        let group = try plan.run { try EventLoopGroup(loops: 2) }
        let bystander = try await Bystander(group)
        plan.spare(bystander.descriptors)
        let path = "/tmp/duplex-faults-\(getpid()).sock"
        if transport == .unix { try Self.leaveStale(path) }
        if transport == .file { try Self.leavePayload(path) }
        async let exchanges = bystander.exchangeUntilEnded()
        plan.arm(rules)
        var outcome = await attempt(plan, group, path)
        (outcome.counts, outcome.strikes) = (plan.counts, plan.strikes)
        plan.arm()
        bystander.end()
        do {
            if try await exchanges == 0 { outcome.faults.append("the other connection exchanged nothing") }
        } catch {
            outcome.faults.append("the other connection failed: \(error)")
        }
        await bystander.close()
        await group.stop()
        if await !DescriptorCensus.comesBack(to: before) {
            outcome.faults.append("descriptors are left: \(before) before, \(DescriptorCensus.sockets()) after")
        }
        if await !comesTrue(within: .limit(seconds: 10), { ThreadCensus.loops() <= threads }) {
            outcome.faults.append("\(ThreadCensus.loops() - threads) threads of loops are left")
        }
        // The census doesn't count files.
        if TestFile(path: path, descriptor: -1).openCount > 0 { outcome.faults.append("the file is left open") }
        _ = unsafe unlink(path)
        return outcome
    }

    /// A file of a Unix socket that nobody listens at any more.
    private static func leaveStale(_ path: String) throws {
        _ = unsafe unlink(path)
        SystemCalls.close(try ListeningSockets.bound(try .unix(path), sharesPort: false))
    }

    private func attempt(_ plan: FaultPlan, _ group: EventLoopGroup, _ path: String) async -> Outcome {
        let errors = Errors()
        if transport == .udp {
            await errors.keep { try await Self.exchangeDatagrams(group) }
            return Outcome(errors: errors.all)
        }
        do {
            let logger = Logger(label: "tests") { _ in SwiftLogNoOpLogHandler() }
            let listener = try plan.run {
                try SocketListener.bind(
                    transport == .unix ? .unix(path, permissions: 0o600) : .tcp(port: 0),
                    on: group,
                    tls: transport == .tls ? TLSServerOptions(try Self.identity.get()) : nil,
                    logger: logger
                )
            }
            let (endpoint, options) = try client(of: listener, path)
            let server = Task { [patience = Self.patience] in
                try await listener.serve { socket in
                    await errors.keep { try await Self.echo(socket, patience) }
                }
            }
            await errors.keep {
                try await converse(endpoint, options, group, file: transport == .file ? path : nil, errors)
            }
            server.cancel()
            await errors.keep { try await server.value }
            await listener.close()
        } catch {
            errors.add(error)
        }
        return Outcome(errors: errors.all)
    }

    private static func echo(_ socket: isolated Socket, _ patience: Duration) async throws {
        while let bytes = try await socket.read(timeout: patience) {
            try await socket.write(bytes, timeout: patience)
        }
        socket.finishWriting()
        // The client closes, or is gone.
        _ = try await socket.read(timeout: patience)
    }

    private func converse(
        _ endpoint: Endpoint,
        _ options: ConnectOptions,
        _ group: EventLoopGroup,
        file: String?,
        _ errors: Errors
    ) async throws {
        let (payload, patience) = (Self.payload, Self.patience)
        let client = try await Socket.connect(to: endpoint, options: options, on: group)
        do {
            async let written: Void = Self.writePayload(to: client, from: file, errors)
            let echoed = try await client.read(exactly: payload.count, timeout: patience)
            try await written
            await client.finishWriting()
            let rest = try await client.read(timeout: patience)
            guard echoed == payload, rest == nil else {
                throw SocketError(.invalidUTF8, message: "The echo isn't what was sent.")
            }
            await client.close()
        } catch {
            await client.close()
            throw error
        }
    }
}

/// Errors of several tasks.
final class Errors: Sendable {
    private let errors = Mutex<[any Error]>([])

    var all: [any Error] { errors.withLock { $0 } }

    func add(_ error: any Error) {
        errors.withLock { $0.append(error) }
    }

    /// Cancelling is how a server is ended here.
    func keep(_ body: () async throws -> Void) async {
        do { try await body() } catch is CancellationError {} catch { add(error) }
    }
}

/// Two sockets that are connected before anything fails, one on each loop, and talk to each other all the while.
private final class Bystander: Sendable {
    let near: Socket
    let far: Socket
    let descriptors: [Int32]
    private let hasEnded = Atomic(false)

    init(_ group: EventLoopGroup) async throws {
        let listener = try SocketListener.bind(.tcp(host: "127.0.0.1", port: 0), on: group)
        var iterator = listener.makeAsyncIterator()
        async let accepted = iterator.next()
        near = try await Socket.connect(to: .address(listener.localAddress), on: group)
        guard let other = try await accepted else { throw CancellationError() }
        far = other
        await listener.close()
        var descriptors: [Int32] = []
        for socket in [near, far] {
            descriptors.append(try await socket.loop.run { _ in socket.channel.value.descriptor })
        }
        self.descriptors = descriptors
    }

    /// - Returns: how many round trips there were.
    func exchangeUntilEnded() async throws -> Int {
        var count = 0
        repeat {
            try await near.write([UInt8](repeating: UInt8(truncatingIfNeeded: count), count: 100))
            let there = try await far.read(exactly: 100, timeout: .limit(seconds: 10))
            try await far.write(there)
            let back = try await near.read(exactly: 100, timeout: .limit(seconds: 10))
            try #require(back.allSatisfy { $0 == UInt8(truncatingIfNeeded: count) })
            count += 1
        } while !hasEnded.load(ordering: .relaxed)
        return count
    }

    func end() {
        hasEnded.store(true, ordering: .relaxed)
    }

    func close() async {
        await near.reset()
        await far.reset()
    }
}

/// Ends the process when something takes longer than it may, and says what.
final class Watchdog: Sendable {
    private let loop: EventLoop
    private let bite: LoopBound<Bite>

    private final class Bite: TimerTarget {
        var name = ""
        var timer: TimerID?

        func timerFired(_ timer: TimerID, now: Instant) {
            guard timer == self.timer else { return }
            FaultScenario.report("hangs: \(name)")
            exit(0)
        }
    }

    init() throws {
        loop = try EventLoop(name: "watchdog")
        bite = LoopBound(Bite(), on: loop.thread)
    }

    /// Gives what has that name 30 seconds.
    func watch(_ name: String) {
        loop.execute { [bite] core in
            if let timer = bite.value.timer { core.cancel(timer) }
            bite.value.name = name
            bite.value.timer = core.schedule(bite.value, at: .now().advanced(by: .seconds(30)))
        }
    }

    func rest() {
        loop.execute { [bite] core in
            if let timer = bite.value.timer.take() { core.cancel(timer) }
        }
    }
}

/// Counts the descriptors of this process.
enum DescriptorCensus {
    /// How many there are of each kind, besides files.
    static func sockets() -> [String: Int] {
        var counts: [String: Int] = [:]
        for name in ThreadCensus.entries(of: "/proc/self/fd") {
            var buffer = [CChar](repeating: 0, count: 256)
            let length = unsafe readlink("/proc/self/fd/" + name, &buffer, buffer.count)
            let target = String(decoding: buffer.prefix(max(0, length)).map { UInt8(bitPattern: $0) }, as: UTF8.self)
            let kind = target.hasPrefix("/") ? "file" : String(target.prefix { $0 != "[" || target.hasPrefix("anon") })
            if length > 0 && !kind.hasPrefix("pipe") && kind != "file" { counts[kind, default: 0] += 1 }
        }
        return counts
    }

    /// Whether there are no more than before, within ten seconds.
    ///
    /// A loop that has stopped, or a socket that was dropped, may give its descriptors back a moment later, and the
    /// runtime's own come and go.
    static func comesBack(to before: [String: Int]) async -> Bool {
        let began = ContinuousClock.now
        while true {
            let more = sockets().filter { $0.value > before[$0.key, default: 0] }
            if more.isEmpty { return true }
            let waited = began.duration(to: .now)
            if waited > .seconds(1) && isRuntimes(more, before) { return true }
            if waited > .seconds(10) { return false }
            await Task.yield()
        }
    }

    /// Whether one timer or event is all there is more, for the first time in the process: the runtime makes one of each
    /// for its threads, whenever it first has too many or too few of them.
    private static func isRuntimes(_ more: [String: Int], _ before: [String: Int]) -> Bool {
        guard more.count == 1, let (kind, count) = more.first, count == before[kind, default: 0] + 1 else {
            return false
        }
        guard ["anon_inode:[timerfd]", "anon_inode:[eventfd]"].contains(kind) else { return false }
        return runtimes.withLock { $0.insert(kind).inserted }
    }

    private static let runtimes = Mutex<Set<String>>([])
}
#endif
