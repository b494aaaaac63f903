// SPDX-License-Identifier: Apache-2.0
// Copyright (c) the Duplex authors

import DuplexBase
import DuplexTestPeers

/// A connection of HTTP as it may come to pass: what a client asks for, how its bytes are cut, and how it ends.
///
/// All of it follows from the seed, so a failure is repeated by its number.
struct HTTPSchedule: Sendable, CustomStringConvertible {
    /// Who answers a request.
    enum Route: String, Sendable, CaseIterable {
        /// A route without a task.
        case now
        /// A task that waits a few times.
        case later
        /// A task that writes its response in pieces.
        case stream
        /// A task that reads the body whole.
        case whole
        /// A task that reads the body piece by piece, and waits between them.
        case held
        /// A task that leaves the body alone.
        case ignored
        /// Nobody.
        case nobody

        var hasBody: Bool { self == .whole || self == .held || self == .ignored }
    }

    /// How the connection ends.
    enum Ending: String, Sendable, CaseIterable {
        /// The client ends its side behind its last byte.
        case endOfStream
        /// The last request says that it is the last one; what comes behind it isn't answered.
        case closes
        /// The last request is of HTTP/1.0.
        case old
        /// What comes last is no request.
        case violation
        /// The body of the last request is cut.
        case cut
        /// The last request opens a WebSocket, whose frames come right behind it.
        case upgrade
        /// The client resets the connection.
        case reset
    }

    enum Step: Sendable {
        case send(Int)
        case turn
    }

    let seed: UInt64
    let ending: Ending
    private(set) var bytes: [UInt8] = []
    private(set) var steps: [Step] = []
    /// What must come back, in this order.
    private(set) var answers: [ResponseScan.Answer] = []
    /// Whether each request asks for a head alone.
    private(set) var isHead: [Bool] = []
    private var random: SeededGenerator

    init(seed: UInt64) {
        self.seed = seed
        random = SeededGenerator(seed: seed)
        ending = Ending.allCases.pick(&random)
        for number in 0..<[0, 1, 2, 5, 12].pick(&random) { addRequest(number) }
        addEnding()
        steps = .cutting(bytes.count, &random)
    }

    var description: String {
        "DUPLEX_SEED=\(seed): \(answers.count) answers, ending \(ending), \(bytes.count) bytes, \(steps.count) steps"
    }

    /// Whether what came back is what had to.
    func fits(_ received: [UInt8]) -> Bool {
        let scan = ResponseScan(received, isHead: isHead)
        switch ending {
        // Whatever has come is right as far as it goes.
        case .reset: return scan.answers == Array(answers.prefix(scan.answers.count))
        case .cut: return scan.answers.prefix(answers.count) == answers[...] && scan.answers.count <= answers.count + 1
        case .upgrade: return scan.answers == answers && scan.rest == Self.echoes
        default: return scan.answers == answers && scan.rest.isEmpty && scan.isWhole
        }
    }

    // MARK: What the client sends

    private mutating func addRequest(_ number: Int, headers: String = "", version: String = "1.1") {
        let route = Route.allCases.pick(&random)
        // What nobody wants is read past up to a bound.
        let most = route == .ignored ? 5_000 : 70_000
        let body = route.hasBody ? random.bytes(min(most, [0, 1, 100, 5_000, 70_000].pick(&random))) : []
        let isHead = !route.hasBody && .oneIn(5, &random)
        let method = route.hasBody ? "PUT" : isHead ? "HEAD" : "GET"
        var head = "\(method) /\(route)/\(number) HTTP/\(version)\r\nHost: localhost\r\n\(headers)"
        let isChunked = route.hasBody && version == "1.1" && Bool.random(using: &random)
        if isChunked { head += "Transfer-Encoding: chunked\r\n" }
        if route.hasBody && !isChunked { head += "Content-Length: \(body.count)\r\n" }
        // A response in place of 100 ends the connection, since the body may not come (RFC 9110 section 10.1.1). Whether it comes
        // in time depends on the handler.
        let mayExpect = route.hasBody && route != .ignored && version == "1.1"
        if mayExpect && .oneIn(4, &random) { head += "Expect: 100-continue\r\n" }
        bytes += Array("\(head)\r\n".utf8) + (isChunked ? chunked(body) : body)
        add(answer(to: route, number, body), isHead: isHead)
    }

    private mutating func add(_ answer: ResponseScan.Answer, isHead: Bool = false) {
        answers.append(isHead ? ResponseScan.Answer(status: answer.status, body: nil) : answer)
        self.isHead.append(isHead)
    }

    private func answer(to route: Route, _ number: Int, _ body: [UInt8]) -> ResponseScan.Answer {
        switch route {
        case .now, .later, .ignored: .init(status: 200, body: Array("\(route) \(number)".utf8))
        case .stream: .init(status: 200, body: Self.pieces(number).flatMap(\.self))
        case .whole, .held: .init(status: 200, body: body)
        // What it says to people is the server's.
        case .nobody: .init(status: 404, body: nil)
        }
    }

    /// What the route ``Route/stream`` writes.
    static func pieces(_ number: Int) -> [[UInt8]] {
        (0...number % 4).map { [UInt8](repeating: UInt8(truncatingIfNeeded: number + $0), count: 1 + $0 * 9_000) }
    }

    private mutating func chunked(_ body: [UInt8]) -> [UInt8] {
        var coded: [UInt8] = []
        var rest = body[...]
        while !rest.isEmpty {
            let chunk = rest.prefix([1, 10, 3_000, 70_000].pick(&random))
            coded += Array("\(String(chunk.count, radix: 16))\r\n".utf8) + chunk + Array("\r\n".utf8)
            rest = rest.dropFirst(chunk.count)
        }
        return coded + Array("0\r\n\r\n".utf8)
    }

    // MARK: The end

    private mutating func addEnding() {
        switch ending {
        case .endOfStream, .reset: break
        case .closes:
            addRequest(100, headers: "Connection: close\r\n")
            if Bool.random(using: &random) { bytes += Array("GET /now/101 HTTP/1.1\r\nHost: localhost\r\n\r\n".utf8) }
        case .old: addRequest(100, version: "1.0")
        case .violation:
            bytes += Array("GET /now/1 HTTP/1.1\r\nHost: localhost\r\nNo field\r\n\r\n".utf8)
            add(.init(status: 400, body: nil))
        case .cut:
            let route = [Route.whole, .held].pick(&random)
            bytes += Array("PUT /\(route)/1 HTTP/1.1\r\nHost: localhost\r\nContent-Length: 2000\r\n\r\n".utf8)
            bytes += random.bytes(Int.random(in: 0..<2_000, using: &random))
        case .upgrade:
            bytes += Array(RawPeer.upgradeRequest("/socket").utf8)
            for frame in Self.frames { bytes += frame.bytes(key: [1, 2, 3, 4]) }
            add(.init(status: 101, body: nil))
        }
    }

    private static let frames: [RawFrame] = [.text("one"), .binary([1, 2, 3])]
    /// Of a route that sends messages back.
    private static let echoes = frames.flatMap { $0.bytes(key: nil) }
}

extension [HTTPSchedule.Step] {
    /// Cuts so many bytes into pieces, with turns of the loop between some of them.
    fileprivate static func cutting(_ count: Int, _ random: inout SeededGenerator) -> [HTTPSchedule.Step] {
        let pieces = [1, 2, 5, 40].pick(&random)
        let ends = (1..<pieces).map { _ in Int.random(in: 0...count, using: &random) }.sorted() + [count]
        var steps: [HTTPSchedule.Step] = []
        for (start, end) in zip([0] + ends, ends) {
            if Bool.random(using: &random) { steps.append(.turn) }
            if end > start { steps.append(.send(end - start)) }
        }
        return steps
    }
}
