// SPDX-License-Identifier: Apache-2.0
// Copyright (c) the Duplex authors

import FuzzSupport

@testable import DuplexTopics
@testable import DuplexWire

/// All that a parser tells of one stream.
struct Outcome: Equatable {
    var messages: [RedisMessage] = []
    var error: RedisProtocolError?

    /// By what it prints, since what is no number equals nothing.
    static func == (left: Self, right: Self) -> Bool {
        left.error == right.error && (left.messages == right.messages || "\(left)" == "\(right)")
    }
}

/// Called by libFuzzer for each input.
///
/// Of the options, bit 0 chooses tight limits.
@_cdecl("LLVMFuzzerTestOneInput")
public func testOneInput(_ start: UnsafePointer<UInt8>?, _ count: Int) -> CInt {
    guard let input = unsafe FuzzInput(start, count) else { return 0 }
    let isTight = input.options & 1 != 0
    let limits =
        isTight
        ? RedisLimits(lineSize: 16, bulkSize: 24, messageSize: 64, elements: 8, depth: 3)
        : RedisLimits(bulkSize: 4_096, elements: 4_096)
    let outcome = sameInEverySplit(input) { parse($0, limits) }
    for message in outcome.messages { check(message, limits) }
    return 0
}

private func parse(_ pieces: [[UInt8]], _ limits: RedisLimits) -> Outcome {
    var parser = RedisParser(limits: limits)
    var outcome = Outcome()
    do throws(RedisProtocolError) {
        for piece in pieces {
            var position = 0
            while let message = try parser.next(unsafe piece.span.bytes, from: &position) {
                outcome.messages.append(message)
            }
            require(position == piece.count, "bytes of a stream were left")
        }
    } catch {
        outcome.error = error
    }
    return outcome
}

/// What has come is within the limits, and its strings come again when they are sent as a command.
private func check(_ message: RedisMessage, _ limits: RedisLimits) {
    var strings: [[UInt8]] = []
    var elements = 0
    switch message {
    case .answer(let value): measure(value, 0, limits, &elements, &strings)
    case .push(let values):
        require(!values.isEmpty, "a push is empty")
        elements = values.count
        for value in values { measure(value, 1, limits, &elements, &strings) }
    }
    require(elements <= limits.elements, "a message has more values than allowed")
    guard !strings.isEmpty else { return }
    let command = RedisCommand(strings.map { RedisCommand.Word.bytes($0) })
    require(command.encoded.count == command.encodedCount, "a command isn't as long as it says")
    let again = parse([command.encoded], RedisLimits())
    let words = RedisValue.array(strings.map { RedisValue.bulk($0) })
    require(again.messages == [RedisMessage.answer(words)], "a command was written, and another read")
}

private func measure(
    _ value: RedisValue,
    _ depth: Int,
    _ limits: RedisLimits,
    _ elements: inout Int,
    _ strings: inout [[UInt8]]
) {
    require(depth <= limits.depth, "a value lies deeper than allowed")
    switch value {
    case .bulk(let bytes):
        require(bytes.count <= limits.bulkSize.bytes, "a string is longer than allowed")
        strings.append(bytes)
        checkFrames(bytes)
    case .array(let values), .set(let values):
        elements += values.count
        for value in values { measure(value, depth + 1, limits, &elements, &strings) }
    case .map(let pairs):
        elements += 2 * pairs.count
        for pair in pairs {
            measure(pair.key, depth + 1, limits, &elements, &strings)
            measure(pair.value, depth + 1, limits, &elements, &strings)
        }
    default: break
    }
}

/// What is read as a frame of a topic is written as it was.
private func checkFrames(_ bytes: [UInt8]) {
    if let frame = try? TopicFrame(bytes) {
        require(frame.encoded == bytes, "a message of a topic was read, and another written")
    }
    if let frame = try? PresenceFrame(bytes) {
        require(frame.encoded == bytes, "a change of presence was read, and another written")
    }
}
