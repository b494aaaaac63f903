// SPDX-License-Identifier: Apache-2.0
// Copyright (c) the Duplex authors

#if canImport(Glibc)
import Glibc
#else
import Darwin
#endif

/// One question to one name server, and its answer: over UDP, and over TCP where UDP won't do.
///
/// Lives on one loop. It is over with an answer, an error or the deadline, and then nothing of it is left open.
final class NameServerExchange: DescriptorHandler, TimerTarget {
    /// So many datagrams that aren't the answer look like somebody who guesses; the question is asked over TCP then, where
    /// guessing is of no use (RFC 5452 section 9.3 has counting them as a defence).
    static let foreignLimit = 16
    private static let datagramsPerTurn = 16
    /// The most octets of any message.
    private static let sizeLimit = 65_535

    private enum Stage {
        case datagram
        case connecting
        case sending
        case receiving
        case over
    }

    private let server: SocketAddress
    private let timeout: Duration
    private let core: LoopCore
    private let counters: NameServerCounters
    private var query: DNSQuery
    private var completion: ((Result<DNSAnswer, SocketError>) -> Void)?
    private var stage = Stage.over
    private var descriptor: Int32 = -1
    private var timer: TimerID?
    private var foreign = 0
    /// What goes out over TCP, and how much of it has gone.
    private var output: [UInt8] = []
    private var sent = 0
    /// What has come over TCP.
    private var input: [UInt8] = []

    /// Prepares an exchange.
    ///
    /// - Parameters:
    ///   - question: what to ask.
    ///   - server: the server to ask.
    ///   - timeout: how long the whole may take.
    ///   - core: the loop that it runs on.
    ///   - counters: where it is counted.
    ///   - completion: called once, on the loop; not after ``cancel()``.
    init(
        _ question: DNSQuestion,
        to server: SocketAddress,
        within timeout: Duration,
        core: LoopCore,
        counters: NameServerCounters,
        completion: @escaping (Result<DNSAnswer, SocketError>) -> Void
    ) {
        query = DNSQuery(id: Self.newID(core), question: question)
        self.server = server
        self.timeout = timeout
        self.core = core
        self.counters = counters
        self.completion = completion
    }

    /// An identity that can't be guessed (RFC 5452 section 9.2).
    private static func newID(_ core: LoopCore) -> UInt16 {
        UInt16(truncatingIfNeeded: core.entropy.next())
    }

    /// Asks.
    ///
    /// - Parameter usesTCP: whether over TCP at once.
    func start(usesTCP: Bool) {
        timer = core.schedule(self, at: core.readClock().advanced(by: timeout))
        if usesTCP { startStream() } else { startDatagram() }
    }

    /// Gives up: everything is closed and nobody is notified.
    func cancel() {
        completion = nil
        end()
    }

    func timerFired(_ timer: TimerID, now: Instant) {
        guard timer == self.timer else { return }
        self.timer = nil
        counters.count { $0.timeouts += 1 }
        fail(.timedOut, "gave no answer within \(timeout.rounded)")
    }

    func loopStopped() {
        finish(.failure(SocketError(.loopStopped, message: "The event loop was stopped during a look-up.")))
    }

    func ready(_ readiness: Readiness) {
        switch stage {
        case .datagram: receiveDatagrams()
        case .connecting: connected()
        case .sending: send()
        case .receiving: receive()
        case .over: break
        }
    }

    // MARK: UDP

    private func startDatagram() {
        do {
            try open(try NameServerSocket.datagram(to: server), .datagram, for: .readable)
        } catch {
            finish(.failure(error))
            return
        }
        counters.count { $0.datagrams += 1 }
        // A datagram goes whole or not at all; where there is no room for so few bytes, something is wrong.
        switch NameServerSocket.send(descriptor, query.encoded[...]) {
        case .transferred: break
        case .wouldBlock: fail(.cannotConnect, "can't be sent to now")
        case .failed(let code): fail(.cannotConnect, "can't be reached", code)
        }
    }

    private func receiveDatagrams() {
        for _ in 0..<Self.datagramsPerTurn {
            guard case .datagram = stage else { return }
            var bytes: [UInt8] = []
            switch core.receive(from: descriptor, limit: Self.sizeLimit, { bytes = [UInt8](copying: $0.bytes) }) {
            case .transferred: take(query.read(bytes))
            case .wouldBlock: return
            case .failed(let code): fail(.cannotConnect, "can't be reached", code)
            }
        }
    }

    private func take(_ reply: DNSQuery.Reply) {
        switch reply {
        case .foreign:
            counters.count { $0.ignored += 1 }
            foreign += 1
            if foreign >= Self.foreignLimit { startStream() }
        case .truncated:
            counters.count { $0.truncated += 1 }
            startStream()
        case .refused(let code) where code.mayMeanOptions && query.hasOptions:
            withoutOptions()
            startDatagram()
        default:
            end(with: reply)
        }
    }

    /// Asks once more as it was done before there were options (RFC 6891 section 7).
    private func withoutOptions() {
        query.hasOptions = false
        query.id = Self.newID(core)
    }

    private func end(with reply: DNSQuery.Reply) {
        switch reply {
        case .answer(let answer): finish(.success(answer))
        case .refused(let code): fail(.nameServiceFailed, "has no answer: \(code)")
        case .malformed, .foreign, .truncated: fail(.nameServiceFailed, "sent something that isn't an answer")
        }
    }

    // MARK: TCP

    private func startStream() {
        let message = query.encoded
        // Each message has its length in front (RFC 1035 section 4.2.2), and goes in one piece with it (RFC 7766 section 8).
        output = [UInt8(message.count >> 8), UInt8(message.count & 0xFF)] + message
        sent = 0
        input = []
        counters.count { $0.streams += 1 }
        do {
            let descriptor = try SystemCalls.streamSocket(server.family)
            let code = SystemCalls.connect(descriptor, to: server)
            guard code == 0 || code == EINPROGRESS else {
                SystemCalls.close(descriptor)
                fail(.cannotConnect, "can't be reached over TCP", code)
                return
            }
            try open(descriptor, .connecting, for: .writable)
        } catch {
            finish(.failure(error))
        }
    }

    private func connected() {
        let code = SystemCalls.pendingError(descriptor)
        guard code == 0 else {
            fail(.cannotConnect, "can't be reached over TCP", code)
            return
        }
        stage = .sending
        send()
    }

    private func send() {
        while sent < output.count {
            switch NameServerSocket.send(descriptor, output[sent...]) {
            case .transferred(let count): sent += count
            case .wouldBlock: return
            case .failed(let code):
                fail(.connectionReset, "broke the connection", code)
                return
            }
        }
        stage = .receiving
        core.modify(descriptor, interest: .readable)
    }

    private func receive() {
        while case .receiving = stage {
            let length = input.count < 2 ? 0 : Int(input[0]) << 8 | Int(input[1])
            let missing = 2 + length - input.count
            if input.count >= 2 && missing == 0 {
                takeStreamed(query.read(Array(input.dropFirst(2))))
                return
            }
            let result = core.receive(from: descriptor, limit: missing) { input.append($0.bytes) }
            switch result {
            case .transferred(0): fail(.endOfStream, "ended the connection before it answered")
            case .transferred: continue
            case .wouldBlock: return
            case .failed(let code): fail(.connectionReset, "broke the connection", code)
            }
        }
    }

    private func takeStreamed(_ reply: DNSQuery.Reply) {
        if case .refused(let code) = reply, code.mayMeanOptions, query.hasOptions {
            withoutOptions()
            startStream()
        } else {
            end(with: reply)
        }
    }

    // MARK: The socket

    /// Puts a descriptor in the place of the one before.
    private func open(_ descriptor: Int32, _ stage: Stage, for interest: Readiness) throws(SocketError) {
        close()
        do {
            try core.watch(descriptor, for: interest, handler: self)
        } catch {
            SystemCalls.close(descriptor)
            throw error
        }
        self.descriptor = descriptor
        self.stage = stage
    }

    private func close() {
        if descriptor >= 0 {
            core.unwatch(descriptor)
            SystemCalls.close(descriptor)
        }
        descriptor = -1
        stage = .over
    }

    private func fail(_ code: SocketError.Code, _ what: String, _ errno: Int32? = nil) {
        let kind = query.question.type == .ipv6 ? "IPv6" : "IPv4"
        let message = "The name server \(server), asked for the \(kind) addresses of “\(query.question.name)”, \(what)."
        finish(.failure(SocketError(code, message: message, errno: errno)))
    }

    private func finish(_ result: Result<DNSAnswer, SocketError>) {
        let completion = completion
        self.completion = nil
        end()
        completion?(result)
    }

    private func end() {
        close()
        if let timer { core.cancel(timer) }
        timer = nil
    }
}
