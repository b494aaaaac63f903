// SPDX-License-Identifier: Apache-2.0
// Copyright (c) the Duplex authors

import DuplexDeflate
import DuplexTestPeers
import DuplexWebSockets
import DuplexWire

/// A connection as it may come to pass: what the peer sends, how it is cut, how it ends, and what the app does meanwhile.
///
/// All of it follows from the seed, so a failure is repeated by its number.
struct Schedule: Sendable, CustomStringConvertible {
    /// How the app receives.
    enum Receiver: String, Sendable, CaseIterable {
        /// A synchronous handler.
        case handler
        /// A task on the connection's loop.
        case task
        /// A task that has nothing to do with the loop.
        case elsewhere
        /// A task on the loop that reads each message in pieces.
        case pieces
    }

    /// How the peer ends the connection.
    enum Ending: String, Sendable, CaseIterable {
        case close
        case violation
        case endOfStream
        case reset
        /// The app closes, and the peer answers.
        case answer
    }

    enum Step: Sendable {
        /// Sends so many bytes.
        case send(Int)
        /// Lets the connection take what has come.
        case turn
    }

    /// What the connection is configured with, by its index in ``settings``.
    struct Settings: Sendable {
        var limits: MessageLimits
        var isCompressed: Bool
    }

    static let settings: [Settings] = {
        let internet = MessageLimits.internet
        var one = internet
        one.inboxMessages = 1
        var small = internet.with(messageSize: .kibibytes(2))
        small.inboxBytes = 256
        let choices = [
            internet, one, small, internet.with(fragments: 8),
            internet.with(messageRate: .perSecond(200, burst: 20), byteRate: .perSecond(.kibibytes(8))),
        ]
        return choices.flatMap { limits in [false, true].map { Settings(limits: limits, isCompressed: $0) } }
    }()

    let seed: UInt64
    let role: WebSocketSession.Role
    let receiver: Receiver
    let ending: Ending
    let settingsIndex: Int
    let echoes: Bool
    /// After so many messages the app takes no more until the peer has sent all.
    let pausesAfter: Int?
    /// After so many messages the app closes.
    let closesAfter: Int?
    /// Before this message the app begins to receive and is cancelled.
    let cancelsBefore: Int?
    /// Of the handshake's head this side sends so many bytes by themselves.
    let headCut: Int?
    private(set) var bytes: [UInt8] = []
    /// How many of the bytes come with the end of the handshake's head.
    private(set) var withHandshake = 0
    private(set) var steps: [Step] = []
    private var inflated: [[UInt8]: [UInt8]] = [:]
    private var random: SeededGenerator

    var settings: Settings { Self.settings[settingsIndex] }

    /// Whether the peer is read more slowly, which takes time.
    var isPaced: Bool { settings.limits.messageRate != nil }

    var model: ReceiverModel {
        ReceiverModel(
            bytes,
            role: role,
            limits: receiver == .pieces ? pieceLimits : settings.limits,
            inflated: inflated
        )
    }

    /// Messages in pieces have no bound but the number of fragments.
    private var pieceLimits: MessageLimits { MessageLimits.unlimited.with(fragments: settings.limits.fragments) }

    init(seed: UInt64) {
        self.seed = seed
        var random = SeededGenerator(seed: seed)
        role = Bool.random(using: &random) ? .server : .client
        let settingsIndex = Int.random(in: 0..<Self.settings.count, using: &random)
        let isPaced = Self.settings[settingsIndex].limits.messageRate != nil
        // The time that pacing takes is the loop's, which a task elsewhere doesn't see.
        let receivers: [Receiver] = isPaced ? [.handler, .task, .pieces] : Receiver.allCases
        receiver = receivers.pick(&random)
        self.settingsIndex = settingsIndex
        ending = Ending.allCases.pick(&random)
        echoes = Bool.random(using: &random)
        let isTask = receiver == .task || receiver == .pieces
        pausesAfter = isTask && !echoes && .oneIn(3, &random) ? Int.random(in: 0..<4, using: &random) : nil
        closesAfter = ending == .answer ? Int.random(in: 0..<20, using: &random) : nil
        cancelsBefore = receiver == .task && .oneIn(4, &random) ? Int.random(in: 0..<4, using: &random) : nil
        headCut = .oneIn(3, &random) ? Int.random(in: 1..<60, using: &random) : nil
        self.random = random
        makeBytes()
        makeSteps()
    }

    var description: String {
        "DUPLEX_SEED=\(seed): \(role), \(receiver), ending \(ending), settings \(settingsIndex), \(bytes.count) bytes, "
            + "\(withHandshake) with the handshake, \(steps.count) steps, head cut at \(headCut ?? 0), echoes \(echoes), "
            + "pauses after \(pausesAfter ?? -1), closes after \(closesAfter ?? -1), cancels before \(cancelsBefore ?? -1)"
    }
}

// MARK: - What the peer sends

extension Schedule {
    private mutating func makeBytes() {
        let most = Int.random(in: 0...(.oneIn(6, &random) ? 150_000 : 4_000), using: &random)
        var count = [0, 1, 3, 10, 40].pick(&random)
        while count > 0, bytes.count < most {
            count -= 1
            if .oneIn(12, &random) { addCrowd() } else { addMessage() }
        }
        switch ending {
        case .close:
            add([RawFrame.close(), .close(1_000), .close(1_001, "later"), .close(4_321)].pick(&random))
            if .oneIn(4, &random) { addMessage() }
        case .violation: addViolation()
        case .endOfStream where .oneIn(3, &random) && !bytes.isEmpty && settings.limits.messageSize > .kibibytes(2):
            // In the middle of a frame, perhaps; one whose length is too much has failed by then.
            bytes.removeLast(Int.random(in: 0..<min(bytes.count, 40), using: &random))
        case .answer: for _ in 0..<(closesAfter ?? 0) { addMessage() }
        default: break
        }
    }

    private mutating func add(_ frame: RawFrame) {
        bytes += frame.bytes(key: role == .server ? data(4) : nil)
    }

    /// Many frames that cost their sender next to nothing: more than a turn takes.
    private mutating func addCrowd() {
        let count = Int.random(in: 400...1_500, using: &random)
        switch Int.random(in: 0..<4, using: &random) {
        case 0: for _ in 0..<count { add(.text("")) }
        case 1: for number in 0..<count { add(.text("\(number)")) }
        case 2: for number in 0..<count { add(number % 3 == 0 ? .text("*") : .pong()) }
        default:
            add(.text("", isFinal: false))
            // An app may ask for pieces after the message has begun; and one that closes does so before a violation.
            let isSmall = receiver == .pieces || ending == .answer
            let size = isSmall ? settings.limits.messageSize.bytes / 8 : .max
            let most = min(count, settings.limits.fragments - 2, size)
            for number in 0..<most { add(.continuation(Array("\(number) ".utf8), isFinal: false)) }
            add(.continuation(Array("end".utf8)))
        }
    }

    private mutating func addMessage() {
        let isText = Bool.random(using: &random)
        let most = settings.limits.messageSize.bytes
        let sizes = [0, 1, 5, 20, 64, 125, 126, 127, 300, 1_000, 2_000, 20_000, 65_535, 65_536]
        let bound = .oneIn(5, &random) ? most : min(most, 3_000)
        let size = sizes.filter { $0 <= bound }.pick(&random)
        let payload = isText ? text(size) : data(size)
        let isCompressed = settings.isCompressed && Bool.random(using: &random)
        let sent = isCompressed ? deflated(payload) : payload
        let pieces = cut(sent, into: .oneIn(4, &random) ? Int.random(in: 2...6, using: &random) : 1)
        for (index, piece) in pieces.enumerated() {
            if .oneIn(8, &random) { addControl() }
            let opcode: UInt8 = index > 0 ? 0 : isText ? 1 : 2
            let bits: UInt8 = isCompressed && index == 0 ? 0x40 : 0
            add(RawFrame(opcode, piece, isFinal: index == pieces.count - 1, reservedBits: bits))
        }
    }

    private mutating func addControl() {
        let payload = data(Int.random(in: 0...125, using: &random))
        add(Bool.random(using: &random) ? .ping(payload) : .pong(payload))
    }

    private mutating func addViolation() {
        let most = settings.limits.messageSize.bytes
        // Pieces have no bound; and more than the network holds isn't taken while the app pauses.
        let canBeTooLarge = receiver != .pieces && most < 100_000
        switch Int.random(in: 0..<(canBeTooLarge ? 8 : 7), using: &random) {
        case 0: add(RawFrame(1, Array("Hello".utf8), reservedBits: 0x20))
        case 1: add(RawFrame(5))
        case 2: add(RawFrame(1, [0xFF]))
        case 3: add(.continuation([1]))
        case 4: add(RawFrame(9, [], isFinal: false))
        case 5: bytes += RawFrame.text("no").bytes(key: role == .server ? nil : [1, 2, 3, 4])
        case 6: add(RawFrame(8, [3]))
        default: add(.binary([UInt8](repeating: 0, count: most + 1)))
        }
        // Frames behind it are of no account.
        if Bool.random(using: &random) { add(.ping()) }
    }

    /// A text of that many bytes, from anywhere in one that is made once.
    private mutating func text(_ size: Int) -> [UInt8] {
        let start = Int.random(in: 0..<Self.sampleText.count - 70_000, using: &random)
        var bytes = Self.sampleText[start...].drop { $0 & 0xC0 == 0x80 }.prefix(size)
        // No character is cut.
        if Self.sampleText[bytes.endIndex] & 0xC0 == 0x80 {
            while let byte = bytes.popLast(), byte & 0xC0 == 0x80 {}
        }
        return Array(bytes) + [UInt8](repeating: 0x2E, count: size - bytes.count)
    }

    private static let sampleText: [UInt8] = {
        var random = SeededGenerator(seed: 1)
        let characters = ["a", "β", "語", "🙂", " "].map { Array($0.utf8) }
        return (0..<50_000).flatMap { _ in characters.pick(&random) }
    }()

    /// Any bytes, from anywhere in some that are made once.
    private mutating func data(_ size: Int) -> [UInt8] {
        let start = Int.random(in: 0...(Self.sampleData.count - size), using: &random)
        return Array(Self.sampleData[start..<(start + size)])
    }

    private static let sampleData: [UInt8] = {
        var random = SeededGenerator(seed: 2)
        return random.bytes(100_000)
    }()

    private mutating func deflated(_ payload: [UInt8]) -> [UInt8] {
        var output: [UInt8] = []
        let isDeflated = Deflater(keepsContext: false).deflate(payload.span.raw, into: &output)
        precondition(isDeflated, "There is memory for a short message.")
        inflated[output] = payload
        return output
    }

    private mutating func cut(_ bytes: [UInt8], into count: Int) -> [[UInt8]] {
        let ends = (1..<count).map { _ in Int.random(in: 0...bytes.count, using: &random) }.sorted() + [bytes.count]
        return zip([0] + ends, ends).map { Array(bytes[$0..<$1]) }
    }

    private mutating func makeSteps() {
        switch Int.random(in: 0..<4, using: &random) {
        case 0: withHandshake = 0
        case 1: withHandshake = Int.random(in: 0...bytes.count, using: &random)
        default: withHandshake = bytes.count
        }
        let rest = bytes.count - withHandshake
        let pieces = [1, 2, 5, 30].pick(&random)
        let ends = (1..<pieces).map { _ in Int.random(in: 0...rest, using: &random) }.sorted() + [rest]
        for (start, end) in zip([0] + ends, ends) {
            if Bool.random(using: &random) { steps.append(.turn) }
            if end > start { steps.append(.send(end - start)) }
        }
        if Bool.random(using: &random) { steps.append(.turn) }
    }
}
